"""Typed keys: every function that only moves elements takes them, all others refuse in words."""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import share
from records import CALLS, FUNCTIONS

import jaxops
from jaxops import testing

KEYS = jax.random.split(jax.random.key(0), 48)
# The first one is what stands where no element is, as where `jnp.take` reads out of bounds.
KEYS = KEYS.at[0].set(jnp.take(KEYS, 48))

OF_DATA = {
    name: call
    for name, call in CALLS.items()
    if (
        any(kind in ("data", "arrays") for kind, _ in call.values())
        or name.endswith(("fill", "one_hot"))
    )
    and not name.startswith("IndexedSlices")
    and not {"grads", "text"} & {kind for kind, _ in call.values()}
}
# These add, compare or convert elements.
COMPUTES = "segment_|embedding_|cast$|to_(bf|do|f|i)|searchsorted|reduce_|scatter_nd(?!_update)"
COMPUTE = {name for name in OF_DATA if re.search(COMPUTES, name)}
OF_SHAPES = {
    name
    for name in OF_DATA
    if name.split(".")[-1]
    in ("shape", "shape_n", "size", "rank", "nrows", "row_lengths", "value_rowids")
}


def with_positions(name):
    """The arguments of the record, in which data are the positions of elements."""
    start = 1  # 0 stands for what is put where no element is

    def positions(shape):
        nonlocal start
        start += int(np.prod(shape))
        return np.arange(start - int(np.prod(shape)), start, dtype=np.int32).reshape(shape)

    arguments = {}
    for arg, (kind, value) in CALLS[name].items():
        if kind == "data":
            value = positions(np.shape(value))
        elif kind == "arrays":
            value = [positions(np.shape(x)) for x in value]
        elif kind == "scalar":
            value = np.int32(47)
        if kind != "dtype" or name in COMPUTE:
            arguments[arg] = value
    return arguments


def of_keys(name, arguments, keys):
    kinds = {arg: kind for arg, (kind, _) in CALLS[name].items()}
    return {
        arg: jax.tree.map(lambda at: keys[at], x)
        if kinds[arg] in ("data", "arrays", "scalar")
        else x
        for arg, x in arguments.items()
    }


def bits(keys):
    return np.asarray(jax.random.key_data(keys))


BITS = bits(KEYS)


def are_keys(x):
    return jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def check_are(moved, positions):
    """Whether `moved` are the keys at `positions`; or those, where they are numbers of elements."""
    moved, positions = jax.tree.leaves(moved), jax.tree.leaves(positions)
    assert are_keys(moved[0])
    for ours, theirs in zip(moved, positions, strict=True):
        if are_keys(ours):
            theirs = np.minimum(theirs, len(BITS) - 1)  # as `KEYS` is indexed beyond its end
            ours, theirs = bits(ours), BITS[theirs]
        np.testing.assert_array_equal(ours, theirs, strict=True)


@functools.cache
def batch():
    return jnp.stack([KEYS, KEYS[::-1]])


def check_moved(function, positions):
    """Compiled, and under `vmap`; `test_lists_of_keys` and `test_exact` have eager calls."""

    @jax.jit
    def both(keys, batch):
        batched = jax.vmap(function)(batch)
        return function(keys), jax.tree.map(lambda x: x[0], batched)

    for moved in both(KEYS, batch()):
        check_are(moved, positions)


MOVE = sorted(OF_DATA.keys() - COMPUTE - OF_SHAPES, key=lambda name: (name.startswith("v0."), name))
OF_V0 = [name for name in MOVE if name.startswith("v0.")]  # which call the others


@pytest.mark.parametrize("name", [*MOVE[: -len(OF_V0)], *share(OF_V0, 4)])
def test_moved(name):
    arguments = with_positions(name)
    positions = FUNCTIONS[name](**arguments)

    def function(keys):
        return FUNCTIONS[name](**of_keys(name, arguments, keys))

    check_moved(function, positions)


@pytest.mark.parametrize("name", MOVE)
def test_lists_of_keys(name):
    arguments = with_positions(name)
    positions = FUNCTIONS[name](**arguments)
    lists = jax.tree.map(listed, of_keys(name, arguments, KEYS))
    check_are(FUNCTIONS[name](**lists), positions)


def listed(x):
    """Arrays of keys as nested lists of single keys."""
    is_array = isinstance(x, jax.Array) and are_keys(x) and x.ndim
    return [listed(row) for row in x] if is_array else x


# Results that are as long as values say that the host knows; and what other records leave out.
EXACT = {
    "boolean_mask": lambda x: jaxops.boolean_mask(x[:4], [True, False, True, True]),
    "boolean_mask-axis": lambda x: jaxops.boolean_mask(x.reshape(2, 24), np.arange(24) > 20, 1),
    "boolean_mask-return_size": lambda x: jaxops.boolean_mask(
        x, np.arange(48) > 44, return_size=True
    ),
    "repeat": lambda x: jaxops.repeat(x[:3], [2, 0, 1]),
    "repeat-return_size": lambda x: jaxops.repeat(x[:6].reshape(2, 3), [2, 1], 0, return_size=True),
    "repeat-size": lambda x: jaxops.repeat(x[:3], [2, 0, 1], size=5),
    "dynamic_partition": lambda x: jaxops.dynamic_partition(x[:3], [1, 0, 1], 2),
    "dynamic_partition-return_size": lambda x: jaxops.dynamic_partition(
        x[:3], [1, 0, 1], 2, return_size=True
    ),
    "dynamic_stitch": lambda x: jaxops.dynamic_stitch([[3, 1], 0], [x[4:6], x[9]]),
    "dynamic_stitch-return_size": lambda x: jaxops.dynamic_stitch(
        [[3, 1], [0]], [x[4:6], x[9:10]], return_size=True
    ),
    "RaggedTensor.gather": lambda x: jaxops.RaggedTensor.from_row_lengths(x, [5, 43]).gather([0]),
    "RaggedTensor.from_tensor": lambda x: jaxops.RaggedTensor.from_tensor(
        x.reshape(4, 12), lengths=[3, 0, 12, 1]
    ),
    "embedding_lookup": lambda x: jaxops.embedding_lookup(x, [3, 0]),
    "matrix_band_part": lambda x: jaxops.matrix_band_part(x[1:10].reshape(3, 3), 1, 0),
    "matrix_diag": lambda x: jaxops.matrix_diag(x[1:3]),
    "pad": lambda x: jaxops.pad(x[1:3], [[1, 2]]),
    "concat": lambda x: jaxops.concat([[x[1], x[2]], [x[3]]], 0),
    "stack": lambda x: jaxops.stack([x[1], x[2]]),
}


@pytest.mark.parametrize("case", EXACT)
def test_exact(case):
    function = EXACT[case]
    positions = function(jnp.arange(48))
    check_are(function(KEYS), positions)
    check_moved(function, positions)


@pytest.mark.parametrize("name", sorted(OF_SHAPES))
def test_of_shapes(name):
    arguments = with_positions(name)
    ours = FUNCTIONS[name](**of_keys(name, arguments, KEYS))
    jax.tree.map(np.testing.assert_array_equal, ours, FUNCTIONS[name](**arguments))


@pytest.mark.parametrize("name", sorted(COMPUTE))
def test_refused(name):
    call = of_keys(name, with_positions(name), KEYS)
    with pytest.raises((TypeError, ValueError), match=r"\w+: .*must .*received "):
        FUNCTIONS[name](**call)


def test_out_of_bounds():
    for indices in ([0, 48], [0, -1]):
        for function in (jaxops.gather, jax.jit(jaxops.gather)):
            testing.assert_out_of_bounds(lambda i, f=function: f(KEYS, i), jnp.array(indices))
        filled = jaxops.gather(KEYS, np.array(indices), mode="fill")
        np.testing.assert_array_equal(bits(filled)[1], np.full(2, 2**32 - 1, np.uint32))
        filled = jaxops.gather(KEYS, np.array(indices), mode="fill", fill_value=KEYS[3])
        np.testing.assert_array_equal(bits(filled)[1], bits(KEYS[3]))


def test_keys_beside_others_are_refused():
    other = jax.random.split(jax.random.key(0, impl="rbg"), 4)
    for x in (other, jnp.arange(3), np.arange(3)):
        with pytest.raises(TypeError, match=r"concat: .* must all be keys of one kind; received"):
            jaxops.concat([KEYS, x], 0)
    with pytest.raises(TypeError, match=r"fill_value must all be keys of one kind; received .*, 3"):
        jaxops.gather(KEYS, [1], mode="fill", fill_value=3)
    with pytest.raises(TypeError, match="constant_values must all be keys of one kind; received"):
        jaxops.pad(KEYS, [[0, 1]], constant_values=3)
    with pytest.raises(TypeError, match="condition must have a numeric or bool dtype"):
        jaxops.where(KEYS, KEYS, KEYS)
    for mask in (KEYS[:2], [KEYS[0], KEYS[1]]):
        with pytest.raises(TypeError, match="mask must have a numeric or bool dtype"):
            jaxops.boolean_mask([1, 2], mask)
    rows = KEYS[:4].reshape(2, 2)
    for size in (None, 4):
        with pytest.raises(TypeError, match="tensor must have a numeric or bool dtype"):
            jaxops.RaggedTensor.from_tensor(rows, padding=KEYS[1], size=size)
    with pytest.raises(ValueError, match="fill_value must be a scalar; received shape"):
        jaxops.gather(KEYS, [1], mode="fill", fill_value=KEYS[:2])
    with pytest.raises(TypeError, match="on_value and off_value must both be given"):
        jaxops.one_hot([1], 2, KEYS[1])
    with pytest.raises(ValueError, match="params must be an array or nested lists of equal"):
        jaxops.gather([KEYS[1], 3], [1])


def test_of_a_choice():
    chosen = jaxops.where(np.arange(4) > 1, KEYS[:4], KEYS[9])
    np.testing.assert_array_equal(bits(chosen), bits(KEYS)[[9, 9, 2, 3]])
