"""Windows that lie outside of an array, under every map, as programs for a GPU and a TPU have them.

Such a program has nothing of its platform in it, so it runs on the CPU of this machine.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import exported_for

import jaxops

SHAPE, SIZE, COUNT = (7, 3), (2, 3), 5
INT32 = np.iinfo(np.int32)
BEGINS = np.array([[1, 0], [-1, 2], [6, -2], [INT32.min, 0], [0, INT32.max]], np.int32)
# Which arguments have a dimension of the map: the array, or where windows begin.
MAPS = {
    "none": [],
    "arrays": [(0, None)],
    "begins": [(None, 0)],
    "both": [(0, 0)],
    "arrays-of-begins": [(0, None), (None, 0)],
    "begins-of-arrays": [(None, 0), (0, None)],
}


def mapped(function, maps):
    """The first of the maps is the innermost."""
    for in_axes in maps:
        function = jax.vmap(function, in_axes)
    return function


def window(x, begin):
    return jaxops.slice(x, begin, SIZE)


def arguments(maps):
    """An array and begins with the dimensions that the maps take, the outermost first."""
    shapes = [[COUNT for axes in reversed(maps) if axes[which] == 0] for which in (0, 1)]
    x = np.random.default_rng(0).normal(size=(*shapes[0], *SHAPE)).astype(np.float32)
    return x, BEGINS if shapes[1] else BEGINS[1]


def each(x, begin, maps):
    """Every window: its place in the result, that of its array, and where it begins."""
    for place in np.ndindex(*[COUNT] * len(maps)):
        axes = [*zip(place, reversed(maps), strict=True)]
        of_x = tuple(n for n, in_axes in axes if in_axes[0] == 0)
        of_begin = tuple(n for n, in_axes in axes if in_axes[1] == 0)
        yield place, of_x, begin[of_begin].astype(int)


def elements(begin):
    """The places in a window of the elements that lie inside, and their places in the array."""
    for at in np.ndindex(*SIZE):
        source = tuple(begin + at)
        if all(0 <= i < dim for i, dim in zip(source, SHAPE, strict=True)):
            yield at, source


def windows_by_loop(x, begin, maps):
    result = np.zeros((*[COUNT] * len(maps), *SIZE), np.float32)
    for place, of_x, start in each(x, begin, maps):
        for at, source in elements(start):
            result[place + at] = x[of_x + source]
    return result


def gradient_by_loop(x, begin, maps, cotangent):
    result = np.zeros_like(x)
    for place, of_x, start in each(x, begin, maps):
        for at, source in elements(start):
            result[of_x + source] += cotangent[place + at]
    return result


@pytest.mark.parametrize("maps", MAPS)
@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_values_and_derivatives(platform, maps):
    maps = MAPS[maps]
    x, begin = arguments(maps)
    cotangent = np.random.default_rng(1).normal(size=[COUNT] * len(maps) + [*SIZE])
    cotangent = cotangent.astype(np.float32)

    def all_of_them(x, begin, cotangent):
        function = mapped(window, maps)
        result, pullback = jax.vjp(lambda x: function(x, begin), x)
        of_square = jax.grad(lambda x: (function(x, begin) ** 2).sum())
        _, tangent = jax.jvp(lambda x: function(x, begin), (x,), (x,))
        return result, tangent, pullback(cotangent)[0], jax.jvp(of_square, (x,), (x,))

    args = x, begin, cotangent
    program = exported_for(platform, all_of_them, *args)
    result, tangent, gradient, of_square = program.call(*args)
    expected = windows_by_loop(x, begin, maps)
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(tangent, expected)
    by_loop = gradient_by_loop(x, begin, maps, cotangent)
    np.testing.assert_allclose(gradient, by_loop, 1e-6, 1e-6)
    by_loop = gradient_by_loop(x, begin, maps, 2 * expected)
    for first_or_second in of_square:  # which are the same, as a square has no third derivative
        np.testing.assert_allclose(first_or_second, by_loop, 1e-6, 1e-6)


@pytest.mark.parametrize("maps", ["none", "arrays", "both"])
@pytest.mark.parametrize("platform", ["cuda", "tpu"])
def test_the_gradient_updates_nothing(platform, maps):
    """An update of the padded array took 907 MB of temporaries for an array of 15 MB."""
    x, begin = arguments(MAPS[maps])
    cotangent = windows_by_loop(x, begin, MAPS[maps])

    def gradient(x, begin, cotangent):
        return jax.vjp(window, x, begin)[1](cotangent)[0]

    gradient = mapped(gradient, [(*in_axes, 0) for in_axes in MAPS[maps]])
    text = exported_for(platform, gradient, x, begin, cotangent).mlir_module()
    assert "stablehlo.scatter" not in text
    # The loop over windows writes each into the result.
    is_loop = platform == "tpu" and maps == "both"
    assert text.count("stablehlo.dynamic_update_slice") == int(is_loop)


def test_a_batch_shares_an_array():
    """The array is not copied for each window, and no gradient of its shape is made for each."""
    x = jax.ShapeDtypeStruct((1000, 1000), jnp.float32)
    begins = jax.ShapeDtypeStruct((50, 2), jnp.int32)

    def total(x, begins):
        return (jax.vmap(lambda b: jaxops.slice(x, b, [3, 4]))(begins) ** 2).sum()

    text = exported_for("cuda", jax.grad(total), x, begins).mlir_module()
    assert "50x1000x1000" not in text


@pytest.mark.parametrize("begin", [[4, 0], [-1, 1], [19, 0]])
def test_sparse_gradients_read_a_window_alone(begin):
    """Its elements in the table, and none outside."""
    table = np.arange(40, dtype=np.float32).reshape(20, 2)
    begin = np.array(begin, np.int32)

    def gradient(table, begin):
        def loss(table):
            return (jaxops.slice(table, begin, [3, 2]) ** 2).sum()

        _, slices = jaxops.sparse_value_and_grad(loss, tables="")(table)
        assert slices.values.size <= 12  # those of the CPU's branch, too
        return slices.to_dense()

    expected = np.zeros_like(table)
    for at in np.ndindex(3, 2):
        row, column = begin + at
        if 0 <= row < 20 and 0 <= column < 2:
            expected[row, column] = 2 * table[row, column]
    program = exported_for("tpu", gradient, table, begin)
    np.testing.assert_array_equal(program.call(table, begin), expected)
