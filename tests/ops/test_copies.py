"""The gradients of what copies its argument: long copies are added as slices, short ones summed."""

import jax
import numpy as np
import pytest
from checks import equations, primitives

import jaxops

LONG = 2**15
ROW = np.arange(LONG, dtype=np.float32)
SQUARE = ROW[: 2**14].reshape(2**7, 2**7)

# A function of long copies, its argument, and the shape in which its result has the copies apart
# from the argument, along the axes that are summed over.
LONG_COPIES = {
    "broadcast_to": (lambda x: jaxops.broadcast_to(x, [3, LONG]), ROW, (3, LONG), (0,)),
    "broadcast_to-1": (lambda x: jaxops.broadcast_to(x, [3, LONG]), ROW[None], (3, LONG), (0,)),
    "broadcast_to-many": (lambda x: jaxops.broadcast_to(x, [99, LONG]), ROW, (99, LONG), (0,)),
    "broadcast_to-short-too": (
        lambda x: jaxops.broadcast_to(x[:, None], [2, 2**7, 5, 2**7]),
        SQUARE,
        (2, 2**7, 5, 2**7),
        (0, 2),
    ),
    "broadcast_to-two": (
        lambda x: jaxops.broadcast_to(x, [2, 3, LONG]), ROW, (2, 3, LONG), (0, 1),
    ),
    "broadcast_to-none": (lambda x: jaxops.broadcast_to(x, [0, LONG]), ROW, (0, LONG), (0,)),
    "tile": (lambda x: jaxops.tile(x, [3]), ROW, (3, LONG), (0,)),
    "tile-short-too": (lambda x: jaxops.tile(x, [3, 2]), SQUARE, (3, 2**7, 2, 2**7), (0, 2)),
    "repeat": (lambda x: jaxops.repeat(x, 3, axis=0), ROW[None], (3, LONG), (0,)),
    "meshgrid": (
        lambda x: jaxops.meshgrid(np.zeros(3, np.float32), x, indexing="ij")[1],
        ROW,
        (3, LONG),
        (0,),
    ),
}  # fmt: skip


@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_accelerators_sum_long_copies(platform):
    """A TPU would write the slices first, and move three times the bytes."""

    def pull_back(x, cotangent):
        return jax.vjp(lambda x: jaxops.broadcast_to(x, [3, LONG]), x)[1](cotangent)

    traced = jax.jit(pull_back).trace(ROW, np.ones((3, LONG), np.float32))
    text = traced.lower(lowering_platforms=(platform,)).as_text()
    assert "stablehlo.reduce" in text
    assert "stablehlo.slice" not in text
    assert "stablehlo.slice" in traced.lower(lowering_platforms=("cpu",)).as_text()


@pytest.mark.parametrize("name", LONG_COPIES)
def test_long_copies_are_added_as_slices(name):
    """XLA's CPU compiler takes fifty times as long for a sum over them."""
    function, x, apart, axes = LONG_COPIES[name]
    y, pull_back = jax.vjp(function, x)
    cotangent = np.random.default_rng(0).integers(-9, 10, y.shape).astype(np.float32)
    expected = cotangent.reshape(apart).sum(axes).reshape(x.shape)
    np.testing.assert_array_equal(pull_back(cotangent)[0], expected)
    np.testing.assert_array_equal(jax.jvp(function, [x], [x])[1], function(x))

    computed = [*equations(jax.make_jaxpr(pull_back)(y), "cpu")]
    assert len(computed) < 50
    if "short-too" in name:
        assert computed[0].primitive.name in ("reduce_sum", "reshape"), "sums come first"
        assert "reduce_sum" in [eqn.primitive.name for eqn in computed[:2]]
    for eqn in computed:
        if eqn.primitive.name == "reduce_sum":
            shape, summed = eqn.invars[0].aval.shape, eqn.params["axes"]
            assert all(shape[d] <= 1 or np.prod(shape[d + 1 :]) < LONG for d in summed)
    assert "concatenate" not in str(jax.make_jaxpr(function)(x)), "fuses with what uses it"


SHORT_COPIES = {
    "broadcast_to": lambda x: jaxops.broadcast_to(x, [3, LONG - 1]),
    "tile": lambda x: jaxops.tile(x, [3]),
    "repeat": lambda x: jaxops.repeat(x[None], 3, axis=0),
    "meshgrid": lambda x: jaxops.meshgrid(np.zeros(3, np.float32), x, indexing="ij")[1],
}


@pytest.mark.parametrize("name", SHORT_COPIES)
def test_short_copies_are_summed(name):
    y, pull_back = jax.vjp(SHORT_COPIES[name], ROW[:-1])
    names = {*primitives(pull_back, y)}
    assert "reduce_sum" in names
    assert not names & {"add_any", "slice", "split"}


def test_integers_have_no_tangents():
    y = jax.make_jaxpr(lambda x: jaxops.broadcast_to(x, [3, LONG]))(np.arange(LONG))
    assert "custom_jvp" not in str(y)
