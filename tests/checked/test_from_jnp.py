"""docs/from_jnp.md: each row of its table, and its functions before and after."""

import re
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from docs_pages import DOCS
from jax import lax
from refusals.values import IN_JIT

import jaxops

# Code of JAX as the page has it fails there with 64-bit types, as `(b, 0)` has two dtypes then.
pytestmark = pytest.mark.usefixtures("x32")

PAGE = (DOCS / "from_jnp.md").read_text()
SHOWN = re.findall(r"^\| `(.*)` \| (\w.*) \| `(.*)` \| (.*) \|$", PAGE, re.M)


FITS = "x[jnp.minimum(i, 3)]"
WITH_ZEROS = "jnp.stack([x[i[0]], jnp.zeros(3)])"
SEGMENTS = "jax.ops.segment_{}({}, num_segments=4)"
# By the code of JAX: the same with what it does instead where something is out of bounds.
INSTEAD = {
    "x[i]": FITS,
    "x[i, j]": "x[jnp.minimum(i, 3), j]",
    "x[:, i]": "x[:, jnp.minimum(i, 2)]",
    'x.at[i].get(mode="fill", fill_value=0)': WITH_ZEROS,
    **{
        f"x.at[i].{kind}(v)": f"x.at[i[:1]].{kind}(v[:1])"
        for kind in ("set", "add", "subtract", "min", "max", "multiply")
    },
    'x.at[i].add(v, mode="drop")': "x.at[i[:1]].add(v[:1])",
    "x.at[i, j].set(0.0)": "x.at[i[0], j[0]].set(0.0)",
    "jnp.take(x, i, axis=0)": "jnp.stack([x[i[0]], jnp.full(3, jnp.nan)])",
    'jnp.take(x, i, axis=0, mode="fill", fill_value=0)': WITH_ZEROS,
    'jnp.take(x, i, axis=0, mode="clip")': FITS,
    'jnp.take(x, i, axis=0, mode="wrap")': "x[jnp.stack([i[0], 0])]",
    "jnp.take_along_axis(x, k, axis=1)": (
        "jnp.take_along_axis(x, jnp.minimum(k, 2), axis=1).at[0, 0].set(jnp.nan)"
    ),
    "lax.dynamic_slice(x, (b, 0), (2, 3))": "x[2:]",
    "lax.dynamic_update_slice(x, v, (b, 0))": "x.at[2:].set(v)",
    **{
        SEGMENTS.format(kind, "x, s"): SEGMENTS.format(kind, "x[:3], s[:3]")
        for kind in ("sum", "prod", "max", "min")
    },
    "jnp.bincount(s, length=4)": "jnp.bincount(s[:3], length=4)",
    "jax.nn.one_hot(i, 4)": "jax.nn.one_hot(i, 5)[:, :4]",
    "jnp.nonzero(m, size=2)": "jnp.nonzero(m)[0][:2]",
    "jnp.unique(s, size=3)": "jnp.unique(s)[:3]",
    "jnp.repeat(x, r, axis=0, total_repeat_length=4)": "jnp.repeat(x, r, axis=0)[:4]",
}


def with_infinity(sign):
    """An empty segment has it in `jax.ops`, and here the farthest finite number."""
    return lambda y: jnp.where(abs(y) == jnp.finfo(y.dtype).max, sign * jnp.inf, y)


# By the code of JAX: of the results of jaxops its own, where they differ.
SAME = {
    SEGMENTS.format("max", "x, s"): with_infinity(-1),
    SEGMENTS.format("min", "x, s"): with_infinity(1),
    "jnp.nonzero(m, size=2)": lambda y: y[:, 0],
    "jnp.unique(s, size=3)": lambda y: jnp.sort(y[0]),
}

GOOD = {
    "x": np.array([[5, 2, 9], [3, 8, 1], [7, 4, 6], [0, 11, 10]], np.float32),
    "v": np.array([[4, 12, 3], [13, 2, 7]], np.float32),
    "i": np.array([2, 0], np.int32),
    "j": np.array([1, 2], np.int32),
    "k": np.array([[2], [0], [1], [2]], np.int32),
    "b": np.int32(1),
    "s": np.array([0, 2, 1, 0], np.int32),
    "m": np.array([True, False, True, False]),
    "r": np.array([1, 0, 2, 1], np.int32),
}
# What has an element that is out of bounds, or one too many.
BAD = GOOD | {
    "i": np.array([2, 4], np.int32),
    "k": np.array([[3], [0], [1], [2]], np.int32),
    "b": np.int32(3),
    "s": np.array([0, 2, 1, 5], np.int32),
    "m": np.array([True, True, True, False]),
    "r": np.array([2, 1, 2, 1], np.int32),
}
MODULES = {"jax": jax, "jnp": jnp, "lax": lax, "jaxops": jaxops}


def function(code):
    return eval(f"lambda {', '.join(GOOD)}: {code}", MODULES)


def result(function, arguments):
    """In one program; of a function that raises the name of the error."""
    arguments = {name: jnp.asarray(value) for name, value in arguments.items()}
    try:
        with jaxops.typed_errors():
            return jax.block_until_ready(jax.jit(function)(**arguments))
    except jaxops.OutOfBoundsError:
        return "error"


def assert_same(ours, theirs):
    for one, other in zip(*map(jax.tree.leaves, (ours, theirs)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_has_no_index_out_of_bounds():
    without = {code for code, words, _, _ in SHOWN if words.startswith("has no")}
    assert len(without) == 5
    assert without | {*INSTEAD} == {code for code, *_ in SHOWN}


@pytest.mark.parametrize(("code", "_", "ours", "ways"), SHOWN, ids=[row[0] for row in SHOWN])
def test_row(code, _, ours, ways):
    same = SAME.get(code, lambda y: y)
    ours, theirs, is_silent = function(ours), function(code), re.search('mode="[fcw]', ours)
    assert_same(same(result(ours, GOOD)), result(theirs, GOOD))
    if code in INSTEAD:
        expected = function(INSTEAD[code])(**{name: jnp.asarray(x) for name, x in BAD.items()})
        assert_same(result(theirs, BAD), expected)
        if is_silent:
            assert_same(same(result(ours, BAD)), expected)
        else:
            assert result(ours, BAD) == "error"


@pytest.mark.parametrize(("code", "_", "ours", "ways"), SHOWN, ids=[row[0] for row in SHOWN])
def test_ways(code, _, ours, ways):
    """The first raises where the page names it; the second is the same code, with `at`."""
    checked = jaxops.checked(function(code), one_hot=True, repeat=True)
    assert_same(result(checked, GOOD), result(function(code), GOOD))
    assert (result(checked, BAD) == "error") == ("1" in ways)
    assert ("promise_in_bounds" in ours) == ("4" in ways)
    if "2" in ways:
        at = ours if "jaxops.at" in ours else re.sub(r"^x(\.at)?", "jaxops.at(x)", code)
        at = at if at.endswith(")") else f"{at}.get()"
        assert_same(result(function(at), GOOD), result(function(code), GOOD))
        assert (result(function(at), BAD) == "error") == ("1" in ways)


# --- what differs ---


def test_negative_indices():
    x, i = jnp.arange(4.0), jnp.array([-1])
    last = (
        x[i],
        x.at[i].get(),
        jnp.take(x, i),
        jnp.take_along_axis(x, i, 0),
        lax.dynamic_slice(x, (-1,), (1,)),
        jaxops.checked(lambda i: x[i])(i),
        jaxops.at(x)[i].get(),
    )
    assert [y.item() for y in last] == [3] * 7
    with pytest.raises(jaxops.OutOfBoundsError):
        jaxops.gather(x, i)
    assert jnp.bincount(i, length=2).tolist() == [1, 0]
    assert jaxops.unsorted_segment_sum(jnp.ones(1), i, 2).tolist() == [0, 0]


def test_what_fills_up():
    x = jnp.array([3, 2, 3])
    assert jnp.unique(x, size=3).tolist() == [2, 3, 2]
    assert jaxops.unique(x, size=3)[0].tolist() == [3, 2, 0]
    for fill in (0, 7):
        assert jnp.nonzero(x == 2, size=2, fill_value=fill)[0].tolist() == [1, fill]
        assert jaxops.where(x == 2, size=2, fill_value=fill)[:, 0].tolist() == [1, fill]
    assert jnp.nonzero(x == 2, size=2)[0].tolist() == jaxops.where(x == 2, size=2)[:, 0].tolist()
    lengths = jnp.array([1, 1, 0])
    theirs = jnp.repeat(x, lengths, total_repeat_length=4)
    np.testing.assert_array_equal(jaxops.repeat(x, lengths, size=4), theirs)


def test_dtypes():
    x = jnp.arange(300)
    assert jaxops.gather(x, np.array([100], np.int8)).tolist() == [100]
    assert jaxops.at(x)[np.array([-1], np.int8)].get().tolist() == [299]
    assert jnp.take(x, 300) == jnp.iinfo(x.dtype).min
    assert jaxops.one_hot([0], 2).dtype == jnp.float32
    assert jax.nn.one_hot(jnp.array([0]), 2).dtype == jnp.zeros(0).dtype


# --- whole functions ---

CODES = re.findall(r"^```python\n(def .*?)^```$", PAGE, re.M | re.S)  # before, after, before, ...


def defined(codes):
    names = dict(MODULES)
    for code in codes:
        exec(code, names)
    return SimpleNamespace(**names)


BEFORE, AFTER = defined(CODES[::2]), defined(CODES[1::2])


def arguments(name):
    rng = np.random.default_rng(0)

    def floats(*shape):
        return jnp.asarray(rng.normal(size=shape), jnp.float32)

    def ints(limit, *shape):
        return jnp.asarray(rng.integers(0, limit, shape), jnp.int32)

    return {
        "attend": lambda: (
            floats(5, 3),
            floats(8),
            ints(5, 8).at[5:].set(-1),
            jnp.array([0, 2, 2, 0, 4, -1, -1, -1]),
        ),
        "beam_step": lambda: (floats(3), ints(7, 3, 4), floats(3, 7), jnp.int32(2)),
        "replay": lambda: (floats(6, 2), jnp.int32(8), floats(3, 2), ints(6, 4)),
        "backups": lambda: (
            jnp.array([[-1, 0, 1, 2], [-1, 0, 0, 0]]),
            jnp.zeros((2, 4), int),
            jnp.zeros((2, 4)),
            jnp.array([3, 2]),
            floats(2),
        ),
    }[name]()


NAMES = ("attend", "beam_step", "replay", "backups")
# An argument by which an index is out of bounds, and its place.
WRONG = {
    "attend": (2, [0, 5, 2, 0, 4, -1, -1, -1]),
    "beam_step": (3, 4),
    "replay": (3, [0, 6, 2, 1]),
    "backups": (3, [7, 2]),
}


def is_float(x):
    return jnp.issubdtype(x.dtype, jnp.floating)


@pytest.mark.parametrize("name", NAMES)
def test_before_and_after(name):
    """The values are the same, and so are the gradients of all floats."""
    args = arguments(name)
    floats = tuple(n for n, x in enumerate(args) if is_float(x))

    def results(function):
        def total(*args):
            leaves = [y for y in jax.tree.leaves(function(*args)) if is_float(y)]
            return sum(
                (y * jnp.arange(y.size, dtype=y.dtype).reshape(y.shape)).sum() for y in leaves
            )

        if name == "backups":  # a loop of unknown length has no gradient
            return function(*args)
        return function(*args), jax.grad(total, floats)(*args)

    found = jax.jit(lambda: [results(getattr(module, name)) for module in (BEFORE, AFTER)])()
    for before, after in zip(*map(jax.tree.leaves, found), strict=True):
        np.testing.assert_allclose(before, after, 1e-5, 1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_silent_is_an_error(name):
    args = [*arguments(name)]
    place, wrong = WRONG[name]
    args[place] = jnp.array(wrong)
    jax.block_until_ready(getattr(BEFORE, name)(*args))
    with pytest.raises((jaxops.OutOfBoundsError, *IN_JIT)):
        jax.block_until_ready(jax.jit(getattr(AFTER, name))(*args))


def test_a_batch_at_the_end_of_the_buffer():
    """It goes on at the start, where before it was moved."""
    buffer, batch = jnp.zeros((5, 1)), jnp.array([[1.0], [2.0], [3.0]])
    sampled = jnp.arange(5)
    assert AFTER.replay(buffer, 8, batch, sampled)[1][:, 0].tolist() == [3, 0, 0, 1, 2]
    assert BEFORE.replay(buffer, 8, batch, sampled)[1][:, 0].tolist() == [0, 0, 1, 2, 3]
