"""A wrong element is found by halves, in few calls."""

import pytest
from own_gradients import counted, normal, square, with_vjp

from jaxops import testing
from jaxops.testing._search import Place, Probe, find_worst


@pytest.mark.parametrize(
    ("received", "tolerance", "is_wrong"),
    [
        *[(2.0, 1.0, False), (2.25, 1.0, True), (-0.25, 1.0, True), (float("nan"), 1.0, True)],
        *[(1.0, 0.0, False), (1.25, 0.0, True)],
    ],
)
def test_more_than_the_tolerance_is_wrong(received, tolerance, is_wrong):
    assert Probe(1.0, received, tolerance).is_wrong == is_wrong


@pytest.mark.optimized
def test_one_wrong_element_in_a_million_is_found():
    f = counted(square)
    wrong = with_vjp(f, lambda x, c: (2 * x * c).at[765, 432].multiply(8))
    with pytest.raises(AssertionError, match=r"wrong at args\[0\]\[765,432\]:"):
        testing.check_grads(wrong, normal(1000, 1000), modes="rev", jit=None, directions=1)
    # 62 parts are looked at, each with all 14 steps: with the steps beside the best one of all
    # (6 evaluations) 5 of 320 faults among kinks were not named to the element, with all steps 1.
    assert f.calls < 1000


def test_the_worst_part_is_halved():
    """Of arrays of 3, 0 and 100 coordinates, of which two are wrong."""
    errors = {(0, 1): 3.0, (2, 70): 5.0, (2, 90): 4.0}
    parts = []

    def probe(leaf, start, stop):
        parts.append((leaf, start, stop))
        assert len(parts) < 100
        within = [e for (at, n), e in errors.items() if at == leaf and start <= n < stop]
        return Probe(0.0, max(within, default=0.0), 1.0)

    found = find_worst(probe, [3, 0, 100])
    assert found == Place(2, 70, 71, wrong=1, looked_at=25)
    halves = [(2, 0, 50), (2, 50, 100), (2, 50, 75), (2, 75, 100)]
    assert parts == [(0, 0, 3), (2, 0, 100), *halves, *((2, n, n + 1) for n in range(50, 75))]
    errors = {(2, n): 0.9 for n in range(100)}
    assert find_worst(probe, [3, 0, 100]) is None
