"""Tables whose rows 1, 2 and 8 host devices share: rows go to and from their owners, exactly."""

import functools

import pytest
from host_devices import NUMBERS, outcome_of

pytestmark = pytest.mark.slow


run = functools.partial(outcome_of, "exchange_programs.py")


@pytest.mark.parametrize("devices", NUMBERS)
def test_as_on_one_device(devices):
    outcome = run(devices)
    ways = [way for way in outcome if way.startswith(("jit", "shard_map"))]
    assert len(ways) == (6 if devices == 8 else 4)
    for way in ways:
        assert outcome[way] == {}, way


@pytest.mark.parametrize("devices", NUMBERS)
def test_a_bad_index_is_an_error(devices):
    outcome = run(devices)
    rows = 20 * devices
    ways = [way for way in outcome if way.startswith("error")]
    assert len(ways) == 4
    for way in ways:
        message = f"= {rows} is not in [0, {rows}) [Op:sharded_gather] at exchange_programs.py:"
        assert message in outcome[way], way
