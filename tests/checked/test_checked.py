"""The arguments of `checked`."""

import functools
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checked.jax_code import BAD, GOOD, PROGRAMS, X, bad_for
from checked.test_primitives import assert_same
from checks import printed_by, raised
from jax import export, lax

import jaxops

NEGATIVE = {
    "rows": lambda i: X[i],
    "row": lambda i: X[i[1]],
    "at": lambda i: X.at[i].set(0.0),
    "take": lambda i: jnp.take(X, i, axis=0),
    "take_along_axis": lambda i: jnp.take_along_axis(X, i[:, None], 0),
    "put": lambda i: jnp.put(X[:, 0], i, 0.0, inplace=False),
    "put_along_axis": lambda i: jnp.put_along_axis(X, i[:, None], 0.0, 0, inplace=False),
    "ufunc": lambda i: jnp.add.at(X, i, 1.0, inplace=False),
    "dynamic_slice": lambda i: lax.dynamic_slice(X, (i[1], i[0] * 0), (1, 3)),
    "index_in_dim": lambda i: lax.dynamic_index_in_dim(X, i[1]),
}


@pytest.mark.parametrize("name", NEGATIVE)
def test_negative_indices(name, run):
    program = NEGATIVE[name]
    indices = jnp.array([1, -2])
    lenient, strict = (run(jaxops.checked(program, negative=n)) for n in ("from_end", "error"))
    np.testing.assert_array_equal(lenient(indices), program(indices))
    np.testing.assert_array_equal(strict(GOOD), program(GOOD))
    assert raised(strict, indices).index == -2
    assert raised(lenient, jnp.array([1, -5])).index == -5


def test_negative_numbers_of_segments(run):
    def total(i):
        return jax.ops.segment_sum(X[:2], i, 4)

    lenient, strict = (run(jaxops.checked(total, negative=n)) for n in ("from_end", "error"))
    indices = jnp.array([1, -8])
    np.testing.assert_array_equal(lenient(indices), total(indices))
    error = raised(strict, indices)
    assert error.index == -8
    assert "index -8 at position [1] is negative, which negative='error' refuses" in str(error)
    for checked in (lenient, strict):
        error = raised(checked, jnp.array([1, 4]))
        assert "index 4 at position [1] is out of bounds for axis 0" in str(error)
    assert raised(lenient, jnp.array([-8, 4])).index == 4


WIDE = {
    **NEGATIVE,
    "element": lambda i: X[i[1], i[0]],
    "window": lambda i: X[i[1], 1:],
    "add-to-row": lambda i: X.at[i[1]].add(1.0),
}


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.uint32])
@pytest.mark.parametrize("name", WIDE)
def test_an_index_that_int32_does_not_hold(name, dtype, run):
    """JAX converts it to an int32, which may be in bounds."""
    program = WIDE[name]
    checked = run(jaxops.checked(program))
    with jax.enable_x64(True):
        good, largest = jnp.array([2, 3], dtype), jnp.iinfo(dtype).max
        np.testing.assert_array_equal(checked(good), program(good))
        wide = [2**32 + 2, largest] if largest > 2**32 else [largest]
        for index in [*wide, *([-(2**32) + 2] if jnp.iinfo(dtype).min else [])]:
            error = raised(checked, jnp.array([1, index], dtype))
            # A negative one has the size of the axis added. The check of the row, which has the
            # index that JAX cut, comes later.
            assert error.index in [index, *[index + 4] * (index < 0)]


NARROW = {
    **WIDE,
    "one_hot": lambda i: jax.nn.one_hot(i, 4),
    "segments": lambda i: jax.ops.segment_sum(X[:2], i, 4),
    "ref": lambda i: jax.new_ref(X)[i],
    "gather": lambda i: PROGRAMS["lax-gather"][0](X, i),
    "scatter": lambda i: PROGRAMS["lax-scatter"][0](X, i),
}


@pytest.mark.parametrize("dtype", [jnp.int4, jnp.uint4, np.int8, np.uint8, np.int16, np.uint16])
@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("negative", ["from_end", "error"])
def test_an_index_of_fewer_bits_than_int32(name, dtype, negative, run):
    checked = run(jaxops.checked(NARROW[name], negative=negative, one_hot=True))
    good, bad = GOOD.astype(dtype), jnp.array([1, 5], dtype)
    assert_same(checked(good), NARROW[name](good))
    assert raised(checked, bad).index == 5


@pytest.mark.parametrize(("dtype", "size"), [(np.int8, 200), (np.int8, 300), (np.int16, 2**16 - 9)])
def test_a_negative_index_to_which_jax_adds_a_size_that_does_not_fit(dtype, size, run):
    x = jnp.arange(size)
    ways = {
        "x[i]": lambda i: x[i[0]],
        "take": lambda i: jnp.take(x, i),
        "dynamic_slice": lambda i: lax.dynamic_slice(x, (i[0],), (1,)),
    }
    number = next(n for n in range(-1, -128, -1) if np.int64(n + size).astype(dtype) < 0)
    for name, way in ways.items():
        error = raised(run(jaxops.checked(way)), jnp.array([number], dtype))
        assert error.index == number, name


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32])
def test_the_largest_number_of_a_dtype_is_not_negative(dtype, run):
    largest = np.iinfo(dtype).max
    table = jnp.arange(min(largest, 2**15) + 1)
    take = run(jaxops.checked(lambda i: jnp.take(table, i), negative="error"))
    index = jnp.array([largest], dtype)
    if largest < len(table):
        assert take(index).tolist() == [largest]
    else:
        assert f"index {largest} at position [0] is out of bounds" in str(raised(take, index))


# `jnp.put` by int4 drops an update: JAX cuts the size of the array to 4 bits.
@pytest.mark.parametrize("dtype", [jnp.int2, jnp.uint2, jnp.uint4])
# With the options of fast.py XLA ends the process at a scatter by such indices.
@pytest.mark.parametrize("name", [name for name in NARROW if name != "scatter"])
def test_an_axis_whose_size_the_index_does_not_hold(name, dtype, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "X", jnp.ones((300, 3)))
    good = jnp.array([1, 0], dtype)
    assert_same(jaxops.checked(NARROW[name])(good), NARROW[name](good))


def test_a_negative_number_in_the_source():
    assert jaxops.checked(lambda: X[-1, -1], negative="error")() == 11


@pytest.mark.parametrize("axis", [-1, 0])
def test_one_hot(run, axis):
    def classes(i):
        return jax.nn.one_hot(i, 4, axis=axis)

    checked = run(jaxops.checked(classes, one_hot=True))
    np.testing.assert_array_equal(checked(GOOD), classes(GOOD))
    assert raised(checked, BAD).index == 4
    assert raised(checked, -BAD).index == -1
    jaxops.checked(classes)(BAD)


def test_repeat(run):
    def repeat(i):
        return jnp.repeat(X[:2], i, axis=0, total_repeat_length=5)

    checked = run(jaxops.checked(repeat, repeat=True))
    np.testing.assert_array_equal(checked(GOOD), repeat(GOOD))
    for repeats in ([3, 3], [1, 1]):
        error = raised(checked, jnp.array(repeats))
        assert (error.operation, error.index, error.bound) == ("repeat", sum(repeats), 5)


PADDED = {
    "rows": NEGATIVE["rows"],
    "take": NEGATIVE["take"],
    "put": NEGATIVE["put"],
}


@pytest.mark.parametrize("program", PADDED)
def test_outside(program, run):
    program = PADDED[program]
    padded = run(jaxops.checked(program, outside={"test_checked.py": "padding"}))
    anything = run(jaxops.checked(program, outside={"other.py": "padding", "*:<lambda>": "any"}))
    np.testing.assert_array_equal(padded(BAD), program(BAD))
    assert raised(padded, BAD + 1).index == 5
    np.testing.assert_array_equal(anything(BAD + 1), program(BAD + 1))


@pytest.mark.parametrize("name", PROGRAMS)
def test_padding_of_a_block(name, run):
    """Within the block the index that is out of bounds is no error; the one after it is."""
    program, bad = functools.partial(PROGRAMS[name][0], X), bad_for(name)
    number = raised(jaxops.checked(program), bad).index
    assert isinstance(number, int)

    @jaxops.checked
    def padded(i):
        with jaxops.padding_index(number):
            return program(i)

    assert_same(run(padded)(bad), program(bad))
    raised(run(padded), bad + 1)
    raised(jaxops.checked(lambda i: (padded(i), program(i))), bad)


def rows_with_padding(number, **options):
    @jaxops.checked(**options)
    def rows(i):
        with jaxops.padding_index(number):
            return X[i]

    return rows


def test_padding_that_is_negative():
    rows = rows_with_padding(-1, negative="error")
    np.testing.assert_array_equal(rows(jnp.array([1, -1])), X[jnp.array([1, 3])])
    assert raised(rows, jnp.array([-2, -1])).index == -2
    with jaxops.padding_index(-9):
        assert jaxops.checked(rows)(jnp.array([1, -1])).shape == (2, 3)  # the inner block counts
        raised(rows, jnp.array([1, -9]))


def test_padding_beyond_what_counts_from_the_end():
    rows = rows_with_padding(-9)
    assert rows(jnp.array([1, -9])).shape == (2, 3)
    assert raised(rows, jnp.array([-5, -9])).index == -5


@pytest.mark.parametrize("dtype", [np.int64, np.uint32])
def test_padding_is_none_of_the_numbers_that_int32_does_not_hold(dtype):
    with jax.enable_x64(True):
        for index in (2**31, 2**31 + 1, 2**32 - 1):
            assert raised(rows_with_padding(-1), jnp.array([index], dtype)).index == index


def test_padding_that_int32_does_not_hold():
    rows = rows_with_padding(2**40)
    with jax.enable_x64(True):
        assert rows(jnp.array([1, 2**40])).shape == (2, 3)
        assert raised(rows, jnp.array([2**40 + 1])).index == 2**40 + 1


def test_padding_of_one_axis_is_an_index_of_another():
    @jaxops.checked
    def elements(i, j):
        with jaxops.padding_index(3):
            return X[i, j]

    threes = jnp.array([3, 3])
    assert elements(threes, jnp.array([3, 0])).shape == (2,)
    assert raised(elements, threes, jnp.array([0, 7])).index == 7


def test_padding_of_a_block_says_nothing_elsewhere():
    with jaxops.padding_index(4):
        X[BAD]
        raised(jaxops.gather, X, BAD)
        raised(lambda: jaxops.at(X)[BAD].get())
        np.testing.assert_array_equal(jaxops.unchecked(lambda: X[BAD])(), X[BAD])
        assert raised(jaxops.checked(lambda: X[BAD + 1])).index == 5


def test_unchecked():
    program = jaxops.checked(lambda i: (jaxops.unchecked(lambda: X[i])(), X[i - 1]))
    assert program(BAD)[0].shape == (2, 3)
    raised(program, BAD + 1)


def test_a_backward_rule_that_runs_later():
    @jax.custom_vjp
    def f(x, i):
        return x[i].sum()

    f.defvjp(lambda x, i: (f(x, i), i), lambda i, bar: (X.at[i + 1].add(bar), None))
    value, pull = jax.vjp(jaxops.checked(lambda x: f(x, GOOD - 1)), X)
    assert pull(value)[0].shape == X.shape
    _, pull = jax.vjp(jaxops.checked(lambda x: f(x, GOOD)), X)
    assert raised(pull, value).where.endswith("(<lambda>)")


def _jvp_rule(x, i):
    f = jax.custom_jvp(lambda x, i: 2 * x)
    f.defjvp(lambda primals, tangents: (2 * primals[0], tangents[0] * X[primals[1], 0].sum()))
    return f(x, i)


def _forward_rule(x, i):
    f = jax.custom_vjp(lambda x, i: 2 * x)
    f.defvjp(lambda x, i: (2 * x, X[i, 0].sum()), lambda row, bar: (bar * row, None))
    return f(x, i)


PAST = 4  # the index of `BAD` that is out of bounds
AROUND = {
    "nothing": lambda f: f,
    "jit": jax.jit,
    "checkpoint": jax.checkpoint,
    "scan": lambda f: lambda x, i: lax.scan(lambda x, _: (f(x, i), None), x, length=1)[0],
    "cond": lambda f: lambda x, i: lax.cond(x > 0, f, lambda x, i: x, x, i),
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("f", [_jvp_rule, _forward_rule])
def test_rules_that_run_later(f, around):
    """JAX may run them when the function that is checked, or is not, has returned."""
    transformed = AROUND[around]
    gradient = jax.jit(jax.grad(transformed(jaxops.checked(f))))
    assert gradient(3.0, GOOD) == X[GOOD, 0].sum()
    assert raised(gradient, 3.0, BAD).index == PAST
    jaxops.checked(jax.grad(transformed(jaxops.unchecked(f))))(3.0, BAD)
    with_padding = jaxops.checked(jax.grad(transformed(_passing(f))))
    with_padding(3.0, BAD)
    assert raised(with_padding, 3.0, BAD + 1).index == PAST + 1


def test_a_rule_that_runs_within_itself():
    """Code after the rule is checked as before."""
    pulls = []

    def backward(_, bar):
        if pulls:
            pulls.pop()(bar)
        return (bar,)

    f = jax.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), backward)
    _, pull = jax.vjp(jaxops.checked(f), 1.0)
    pulls.append(pull)
    assert pull(2.0) == (2.0,)
    X[BAD]  # not checked
    pulls.append(pull)
    raised(jaxops.checked(lambda: [jaxops.unchecked(pull)(2.0), X[BAD]]))


def _passing(f):
    def with_padding(x, i):
        with jaxops.padding_index(PAST):
            return f(x, i)

    return with_padding


def test_options_of_a_decorator():
    @jaxops.checked(mode="error")
    def row(i):
        """A row."""
        return X[i]

    assert row.__doc__ == "A row."
    raised(row, BAD)


def test_export_is_refused_in_words():
    program = jax.jit(jaxops.checked(NEGATIVE["rows"]))
    with pytest.raises(ValueError, match=r"x\[...\]: .*Export a function that is not checked"):
        export.export(program)(GOOD)


EVERYTHING = """
import jax, jax.numpy as jnp, threading, jaxops
f = jax.jit(lambda x, i: x[i])
x, bad = jnp.arange(3), jnp.array([5])
f(x, bad)
jaxops.check_everything()
def raises(f):
    try:
        with jaxops.typed_errors():
            f(x, bad)
    except jaxops.OutOfBoundsError:
        return True
    return False
assert raises(f)
assert raises(lambda x, i: x[i])
assert not raises(jaxops.unchecked(f))
seen = []
thread = threading.Thread(target=lambda: seen.append(raises(f)))
thread.start()
thread.join()
assert seen == [True]
"""


def test_check_everything():
    printed_by("-c", EVERYTHING)


@pytest.mark.slow  # starts a process
@pytest.mark.parametrize(
    ("value", "raises"), [("1", True), ("0", False), ("", False), ("yes", None)]
)
def test_environment_variable(value, raises):
    code = "import jaxops, sys"
    if raises:
        code = EVERYTHING.replace("f(x, bad)\njaxops.check_everything()\n", "")
        assert code != EVERYTHING
        # A script may set JAX's variables after it imports jaxops.
        code = "import sys, jaxops; assert 'jax' not in sys.modules\n" + code
    elif raises is False:
        code += "; assert not {'jax', 'jaxops._checked'} & {*sys.modules}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "JAXOPS_CHECK_EVERYTHING": value},
    )
    if raises is None:
        assert "JAXOPS_CHECK_EVERYTHING must be 0 or 1; received 'yes'" in done.stderr
    else:
        assert done.returncode == 0, done.stderr
