"""`checked` on 4 host devices: as without it in bounds, an error where one shard is outside."""

import host_devices
import pytest

pytestmark = pytest.mark.slow


def test_an_index_out_of_bounds_in_one_shard():
    outcomes = host_devices.outcome_of("checked_programs.py", 4)
    assert len(outcomes) == 9
    expected = [True, 4, "checked_programs.py"]
    assert {name: x for name, x in outcomes.items() if x != expected} == {}
