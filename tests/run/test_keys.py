"""Typed keys: every function that only moves elements takes them, all others refuse in words."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from records import CALLS, FUNCTIONS

import jaxops
from jaxops import testing

KEYS = jax.random.split(jax.random.key(0), 48)
# The first one is what stands where no element is, as where `jnp.take` reads out of bounds.
KEYS = KEYS.at[0].set(jnp.take(KEYS, 48))

OF_DATA = {
    name: call
    for name, call in CALLS.items()
    if any(kind in ("data", "arrays") for kind, _ in call.values())
    and name.split(".")[0] not in ("IndexedSlices", "RaggedTensor")
    and not {"grads", "text"} & {kind for kind, _ in call.values()}
}
# Of their arguments the elements are added, compared or converted, or zeros are put beside them.
COMPUTE_WORDS = ("segment_", "embedding_", "diag", "band_part", "cast", "to_", "searchsorted")
COMPUTE_WORDS += ("scatter_nd_add", "scatter_nd_sub", "scatter_nd_m", "scatter_nd-", "v0.pad-")
# These have no form that moves positions.
COMPUTE_WORDS += ("boolean_mask", "dynamic_", "repeat")
COMPUTE = {
    name
    for name in OF_DATA
    if any(word in f"{name}-" for word in COMPUTE_WORDS)
    and not name.endswith(("to_space", "to_depth", "to_batch", "to_batch_nd", "to_space_nd"))
    and not name.endswith("broadcast_to")
}
OF_SHAPES = {
    name for name in OF_DATA if name.split(".")[-1] in ("shape", "shape_n", "size", "rank")
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


@pytest.mark.parametrize("name", sorted(OF_DATA.keys() - COMPUTE - OF_SHAPES))
def test_moved(name):
    arguments = with_positions(name)
    expected = [bits(KEYS[x]) for x in jax.tree.leaves(FUNCTIONS[name](**arguments))]

    def function(keys):
        return jax.tree.leaves(FUNCTIONS[name](**of_keys(name, arguments, keys)))

    batched = jax.vmap(function)(jnp.stack([KEYS, KEYS[::-1]]))
    for eager, compiled, mapped, theirs in zip(
        function(KEYS), jax.jit(function)(KEYS), batched, expected, strict=True
    ):
        assert eager.dtype == compiled.dtype == mapped.dtype == KEYS.dtype
        for keys in (eager, compiled, mapped[0]):
            np.testing.assert_array_equal(bits(keys), theirs, strict=True)


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
    with pytest.raises(TypeError, match="constant_values must be a key where tensor holds keys"):
        jaxops.pad(KEYS, [[0, 1]])


def test_of_a_choice():
    chosen = jaxops.where(np.arange(4) > 1, KEYS[:4], KEYS[9])
    np.testing.assert_array_equal(bits(chosen), bits(KEYS)[[9, 9, 2, 3]])
