"""Sparse gradients and lazy steps on meshes of explicit axes, of 1, 2 and 8 host devices."""

import functools

import pytest
from host_devices import NUMBERS, outcome_of

pytestmark = pytest.mark.slow


run = functools.partial(outcome_of, "explicit_programs.py")


@pytest.mark.parametrize("devices", NUMBERS)
def test_as_the_dense_gradient_on_one_device(devices):
    outcome = run(devices)
    assert outcome["programs"] > 50
    assert outcome["differ"] == {}


@pytest.mark.parametrize("devices", NUMBERS)
def test_tables_and_states_stay_where_they_are(devices):
    assert run(devices)["shared otherwise"] == {}


@pytest.mark.parametrize("devices", NUMBERS)
def test_a_bad_index_is_an_error(devices):
    assert "[Op:sharded_gather] at explicit_programs.py:" in run(devices)["error"]


@pytest.mark.parametrize("devices", NUMBERS)
def test_optimizers_are_judged(devices):
    assert run(devices)["refused"] == [True, True]


@pytest.mark.parametrize("devices", NUMBERS[1:])
def test_sharded_gather_sends_what_it_does_on_other_meshes(devices):
    sent = run(devices)["sent"]
    assert sent["Auto"]["all-to-all"]
    assert sent["Explicit"] == sent["Auto"]
