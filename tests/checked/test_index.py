"""The words for an index of JAX that is out of bounds."""

import dataclasses

import pytest

from jaxops._call_sites import CallSite
from jaxops._checked import setting
from jaxops._checked.index import (
    LATER,
    JaxIndex,
    NegativeIndex,
    OneHotClass,
    PutIndex,
    RepeatedLength,
    SegmentNumber,
    WideIndex,
)
from jaxops._checked.whose import Access

SITE = CallSite("model.py:3 (embed)", None)


def spec(kind=JaxIndex, limits=(4, 2), axes=(0, 2), sizes=(1, 3), shape=(4, 9, 4), wraps=True):
    return kind("take", limits, axes, sizes, shape, (wraps,) * len(axes))


@pytest.mark.parametrize(
    ("spec", "position", "index", "words", "value", "bound"),
    [
        (spec(), (1, 2), (7, 0), "index 7 at position [1, 2] is out of bounds for axis 0", 7, 4),
        (
            spec(),
            (),
            (-1, 0),
            "index -5 is out of bounds for axis 0 of an array of shape (4,",
            -5,
            4,
        ),
        (spec(wraps=False), (), (-1, 0), "index -1 is out of bounds for axis 0", -1, 4),
        (
            dataclasses.replace(spec(JaxIndex, (200,), (0,), (1,), (200,)), bits=8),
            (),
            (-57,),  # an int8 that JAX makes of -1
            "index -1 is out of bounds for axis 0 of an array of shape (200,); an int8 does not "
            "hold the size of the axis, which JAX adds",
            -1,
            200,
        ),
        (
            spec(),
            (),
            (0, 2),
            "index 2 is out of bounds for axis 2 of an array of shape (4, 9, 4), where a window "
            "of 3 begins in [0, 2)",
            2,
            2,
        ),
        (NegativeIndex("take", (9,)), (3,), (-2,), "index -2 at position [3] is negative", -2, 9),
        (
            spec(PutIndex, (6,), (0,), (1,), (6,)),
            (0,),
            (8,),
            "index 8 at position [0] is out of bounds for axis 0 of an array of shape (6,), flat",
            8,
            6,
        ),
        (OneHotClass("take", (3,)), (0,), (3,), "class 3 at position [0] is not in [0, 3)", 3, 3),
        (
            RepeatedLength("take", (1,), total=4),
            (0,),
            (3,),
            "the sum of repeats, 7, is not total_repeat_length, 4",
            7,
            4,
        ),
        (
            WideIndex("take", (2**32,), least=-(2**31)),
            (1,),
            (2**32 + 5,),
            "index 2147483653 at position [1] is out of bounds: int32 does not hold it",
            2**31 + 5,
            2**31,
        ),
        (
            WideIndex("take", (2**32,), least=-(2**31)),
            (1,),
            (-(2**63) + 2**31 - 1,),  # an int64 that came by overflow from 2**63 - 1 + 2**31
            "index 9223372036854775807 at position [1] is out of bounds: int32 does not hold it",
            2**63 - 1,
            2**31,
        ),
    ],
)
def test_words(spec, position, index, words, value, bound):
    error = spec.error(position, index, SITE)
    assert str(error).startswith(words)
    assert str(error).endswith("[Op:take] at model.py:3 (embed)")
    assert (error.index, error.bound, error.where) == (value, bound, "model.py:3 (embed)")


@pytest.mark.parametrize("start", range(-6, 7))
@pytest.mark.parametrize("wraps", [True, False])
def test_window_from_the_end(start, wraps):
    """The message names the number of the code, also if JAX has added the size of the axis."""
    size, window = 5, 3
    limit = size - window + 1
    begin = start + size if wraps and start < 0 else start  # as JAX hands it to the primitive
    if 0 <= begin < limit:
        return
    one = spec(limits=(limit,), axes=(0,), sizes=(window,), shape=(size,), wraps=wraps)
    text = str(one.error((), (begin,), SITE))
    assert f"index {start} is" in text or f"; {start} counts from the end to {begin} [" in text
    assert ("counts from" in text) == (wraps and limit <= begin < size)


def test_of_an_access():
    assert spec().of(Access("x[...]", SITE)) == JaxIndex(
        "x[...]", (4, 2), (0, 2), (1, 3), (4, 9, 4), (True, True)
    )
    padded = Access("", SITE, slack=True)
    assert spec().of(padded).limits == (5, 3)
    assert OneHotClass("one_hot", (3,)).of(padded).limits == (4,)
    assert RepeatedLength("repeat", (1,), total=4).of(padded).limits == (1,)
    assert spec(SegmentNumber).of(padded) == spec(SegmentNumber, (5, 3))
    assert spec().of(Access("", SITE)).operation == "take"


def test_the_call_of_a_function_that_jax_jits_is_found_while_it_runs():
    with setting.within(setting.Setting()):
        error = spec().error((1,), (7, 0), LATER)
        assert error is not None
        assert ("test_index.py:" in error.where, error.index) == (True, 7)
        assert spec().error((1,), (3, 0), LATER) is None  # in bounds, as that call has it
