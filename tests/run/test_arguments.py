"""_run/arguments: from what a caller passes to arrays."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops
from jaxops._run import arguments, on_host


class Wrapped:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


CONVERSIONS = {
    "operand": (np.float32, lambda x: arguments.to_operand(x, "op", "x")),
    "indices": (np.int32, lambda x: arguments.to_indices(x, "op", "x", "device")),
}


@pytest.mark.parametrize("wrap", [lambda x: x, Wrapped], ids=["array", "wrapped"])
@pytest.mark.parametrize("name", CONVERSIONS)
@pytest.mark.parametrize("n", [4, 100_000])
def test_memory_stays_the_callers(n, name, wrap):
    dtype, convert = CONVERSIONS[name]
    x = on_host.empty((n,), np.dtype(dtype))  # which the CPU backend can use without a copy
    x[:] = 0
    converted = convert(wrap(x))
    x[:] = 1
    np.testing.assert_array_equal(converted, np.zeros(n))


@pytest.mark.parametrize("name", CONVERSIONS)
@pytest.mark.usefixtures("x32")
def test_eager_arrays_are_as_jaxs(name):
    _, convert = CONVERSIONS[name]
    ours, theirs = convert([1, 2]), jnp.asarray(np.array([1, 2], np.int32))
    assert ours.dtype == theirs.dtype
    assert ours.sharding == theirs.sharding
    assert ours.committed == theirs.committed
    assert ours.weak_type == theirs.weak_type


def test_bools_of_other_bytes():
    """A view of bytes as bools: each that is not 0 counts once."""
    x = np.array([0, 1, 2, 255], np.uint8).view(bool)
    assert arguments.to_operand(x, "op", "x").astype(int).tolist() == [0, 1, 1, 1]
    # An eager call hands the array to JAX, which would copy the bytes to the result.
    assert jaxops.reverse(x, [0]).view(jnp.uint8).tolist() == [1, 1, 1, 0]
    set_from = jaxops.at(jnp.zeros(4, bool))[jnp.arange(4)].set(x)
    assert set_from.view(jnp.uint8).tolist() == [0, 1, 1, 1]


def test_indices_made_while_x64_was_on():
    """JAX would take their low 32 bits."""
    with jax.enable_x64(True):
        large, small = jnp.array([2**32 + 1]), jnp.array([1])
    assert large.dtype == jnp.int64
    with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[0\] = 4294967297 is not in"):
        jaxops.gather(jnp.arange(3.0), large)
    with pytest.raises(jaxops.OutOfBoundsError, match=r"4294967297\] does not index into shape"):
        jaxops.scatter_nd(large[:, None], jnp.ones(1), [3])
    assert jaxops.gather(jnp.arange(3.0), small).tolist() == [1]
    assert jaxops.gather(jnp.arange(3.0), large, mode="fill").tolist() == [0]


ROWS = [[2], [0]]
OF_ROWS = {
    "gather": lambda x: jaxops.gather(x, [2, 0]),
    "tensor_scatter_nd_add": lambda x: jaxops.tensor_scatter_nd_add(x, ROWS, x[:2]),
    "unsorted_segment_sum": lambda x: jaxops.unsorted_segment_sum(x, [1, 0, 0], 3, name="sums"),
    "matrix_band_part": lambda x: jaxops.matrix_band_part(x, 0, 0),
    "pad": lambda x: jaxops.pad(x, [[1, 0], [0, 0]]),
    "concat": lambda x: jaxops.concat([x, np.zeros((1, 2), x.dtype)], 0),
    "slice": lambda x: jaxops.slice(x, [1, 0], [2, 1]),
    "dynamic_stitch": lambda x: jaxops.dynamic_stitch([[2, 0, 1]], [x]),
    r"at\[...\].get": lambda x: jaxops.at(x)[jnp.array([1, 0])].get(),
    r"at\[...\].add": lambda x: jaxops.at(x)[jnp.array([1, 0])].add(x[:2]),
}


@pytest.mark.parametrize("dtype", ["int64", "float64", "complex128"])
@pytest.mark.parametrize("op", OF_ROWS)
def test_data_made_while_x64_was_on(op, dtype):
    """A program would have zeros of 32 bits beside them, or compute with their low bits."""
    with jax.enable_x64(True):
        x = jnp.arange(6).reshape(3, 2).astype(dtype) + 2**40 + 1
        expected = OF_ROWS[op](x)
    with jax.enable_x64(False):
        result = OF_ROWS[op](x)
        traced = [jax.jit(OF_ROWS[op]), lambda x: jax.vmap(OF_ROWS[op])(x[None])]
        if dtype != "int64":  # which has no derivative
            traced.append(lambda x: jax.jvp(OF_ROWS[op], [x], [x]))
        for function in traced:
            with pytest.raises(ValueError, match=f"{op}: .* must have 32 bits .* {dtype}; switch"):
                function(x)
    np.testing.assert_array_equal(np.asarray(result), np.asarray(expected), strict=True)


@pytest.mark.usefixtures("x32")
def test_data_of_64_bits_that_jax_allows():
    with jax.enable_x64(True):
        x = jnp.array([2.0**40 + 1])
    jax.config.update("jax_explicit_x64_dtypes", "allow")
    try:
        result = jax.jit(lambda x: jaxops.gather(x, [0]))(x)
        np.testing.assert_array_equal(result, np.array([2.0**40 + 1]), strict=True)
    finally:
        jax.config.update("jax_explicit_x64_dtypes", "warn")


TRACED = {
    "gather": lambda i: jaxops.gather(jnp.arange(3.0), i, mode="clip"),
    "scatter_nd": lambda i: jaxops.scatter_nd(i[:, None], i, [3]),
    "slice": lambda i: jaxops.slice(jnp.arange(3.0), i, [1], mode="fill"),
    "strided_slice": lambda i: jaxops.strided_slice(jnp.arange(3.0), i, [0], shrink_axis_mask=1),
    "dynamic_partition": lambda i: jaxops.dynamic_partition(i, i, 2, size=1),
    "one_hot": lambda i: jaxops.one_hot([i[0], 2], 3),
}


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("op", TRACED)
@pytest.mark.usefixtures("x32")
def test_traced_indices_made_while_x64_was_on(op, dtype):
    with jax.enable_x64(True):
        large = jnp.array([2**32 + 1], dtype)
    with pytest.raises(ValueError, match=f"{op}: .* must have 32 bits at most .* {dtype}; switch"):
        jax.jit(TRACED[op])(large)


def test_default_device():
    (device,) = jax.devices("cpu")[-1:]
    with jax.default_device(device):
        assert arguments.to_operand([1.0], "op", "x").devices() == {device}


def _filled(x, value):
    return jaxops.gather(x, [0, 9], mode="fill", fill_value=value)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
@pytest.mark.parametrize("value", [2, 2.5], ids=["int", "float"])
def test_python_numbers_adapt_inside_a_jit_too(x64, dtype, value):
    result = jax.jit(_filled)(np.ones(3, dtype), value)
    np.testing.assert_array_equal(result, np.array([1, value], dtype), strict=True)


def test_numbers_of_python_as_tensorflow_takes_them():
    """Also where 64-bit types are on; those that do not fit stay what they are."""
    taken = [arguments.as_tensorflow_takes(x) for x in (3, 2.5)]
    assert [x.dtype for x in taken] == [np.int32, np.float32]
    assert [arguments.as_tensorflow_takes(x) for x in (2**31, 1e39, True)] == [2**31, 1e39, True]


NO_PLACES = np.zeros((0, 1), np.int32)
WITH_NOTHING = {
    "concat": lambda x: jaxops.concat([[], x, []], 0),
    "setdiff1d": lambda x: jaxops.setdiff1d(x, [], size=2).out,
    "setdiff1d, exact": lambda x: jaxops.setdiff1d(np.array([1, 2**24 + 1], np.int32), []).out,
    "tensor_scatter_nd_update": lambda x: jaxops.tensor_scatter_nd_update(x, NO_PLACES, []),
    "dynamic_stitch": lambda x: jaxops.dynamic_stitch([[], [0, 1]], [[], x]),
    "dynamic_stitch, padded": lambda x: jaxops.dynamic_stitch([[], [0, 1]], [[], x], size=2),
    "where": lambda x: jaxops.concat([jaxops.where([True], [], x[:1]), x], 0),
    "setdiff1d of nothing": lambda x: jaxops.concat([jaxops.setdiff1d([], x, size=0).out, x], 0),
}


@pytest.mark.parametrize("name", WITH_NOTHING)
def test_empty_lists_have_no_dtype(name):
    """They take that of the others, in which float32 would round the second number."""
    x = np.array([1, 2**24 + 1], np.int32)
    for call in (WITH_NOTHING[name], jax.jit(WITH_NOTHING[name])):
        for given in (x, jnp.asarray(x)):
            np.testing.assert_array_equal(call(given), x, strict=True)


def test_empty_lists_among_lists_of_ints():
    assert jaxops.concat([[1, 2**24 + 1], []], 0).tolist() == [1, 2**24 + 1]
    assert jaxops.setdiff1d([], jnp.array([1], np.int16)).out.dtype == np.int16
    shape = jax.jit(lambda x: jnp.ones(jaxops.concat([jaxops.shape(x), []], 0)))
    assert shape(jnp.ones((2, 3))).shape == (2, 3)


@pytest.mark.parametrize("dtype", ["int4", "uint4"])
def test_numbers_of_4_bits_that_the_host_reads(dtype):
    """NumPy knows no limits of theirs."""
    numbers = jnp.array([0, 1, 1], dtype)
    for x in (numbers, np.asarray(numbers)):
        parts = jaxops.dynamic_partition(np.arange(3), x, 2)
        assert [part.tolist() for part in parts] == [[0], [1, 2]]
        assert jaxops.dynamic_stitch([x], [np.arange(3)]).tolist() == [0, 2]
        rows = jaxops.RaggedTensor.from_value_rowids(np.arange(3), x)
        assert rows.gather(x).to_list() == [[0], [1, 2], [1, 2]]
    with pytest.raises(jaxops.OutOfBoundsError, match="= 7 is not in"):
        jaxops.dynamic_partition([1], jnp.array([7], dtype), 2)


def test_lists_of_strings_without_dimensions():
    strings = [np.array("a"), np.array("b")]
    assert jaxops.gather(strings, 1) == "b"


TABLE = np.arange(6, dtype=np.float32).reshape(3, 2)
OTHER_ORDER = {
    "data": lambda x: jaxops.gather(x.astype(f"{x.dtype.byteorder}f4"), [1, 0]),
    "indices": lambda x: jaxops.gather(TABLE, x),
    "ids in a list": lambda x: jaxops.dynamic_stitch([x], [TABLE[:2]]),
    "shape": lambda x: jaxops.reshape(TABLE, x),
    "sizes": lambda x: jaxops.repeat(TABLE[:2], x, axis=0),
    "mask": lambda x: jaxops.boolean_mask(TABLE[:2], x),
    "fill value": lambda x: jaxops.pad(TABLE, [[1, 1], [0, 0]], constant_values=x[0]),
    "values that fit": lambda x: jaxops.tensor_scatter_nd_add(TABLE, [[0], [1]], x[:, None]),
    "text": lambda x: jaxops.string_to_number(x.astype(f"{x.dtype.byteorder}U9")),
    "strings": lambda x: jaxops.reverse(x.astype(f"{x.dtype.byteorder}U9"), [0]),
    "slices": lambda x: jaxops.IndexedSlices(x, x, (5,)).to_dense(),
    "norm": lambda x: jaxops.global_norm({"w": x.astype(f"{x.dtype.byteorder}f4")}),
    "sparse": lambda x: jaxops.SparseTensor(x[:, None], x, (5,)).values,
}


@pytest.mark.parametrize("of", ["i4", "i8"])
@pytest.mark.parametrize("name", OTHER_ORDER)
def test_arrays_of_either_byte_order(name, of):
    native = np.array([2, 3]) if name == "shape" else np.array([1, 0])
    little, big = (np.asarray(OTHER_ORDER[name](native.astype(order + of))) for order in "<>")
    assert little.dtype == big.dtype
    np.testing.assert_array_equal(little, big)


WIDE = {
    "gather": lambda x, i, mode: jaxops.gather(x, i, mode=mode),
    "scatter": lambda x, i, mode: jaxops.tensor_scatter_nd_add(x, i[:, None], x[:2], mode=mode),
    "slice": lambda x, i, mode: jaxops.slice(x, i[:1], [2], mode=mode),
    "strided_slice": lambda x, i, mode: jaxops.strided_slice(
        x, [i[0]], [0], shrink_axis_mask=1, mode=mode
    ),
    "unsorted_segment_sum": lambda x, i, mode: jaxops.unsorted_segment_sum(x[:2], i, 4, mode=mode),
    "segment_softmax": lambda x, i, mode: jaxops.segment_softmax(x[:2], i, 4, mode=mode),
    "at": lambda x, i, mode: jaxops.at(x)[i].get(mode=mode),
    "at-padding": lambda x, i, mode: jaxops.at(x)[i].get(mode=mode, padding_index=2),
}


@pytest.mark.parametrize("mode", ["error", "fill", "clip", "wrap", "promise_in_bounds"])
@pytest.mark.parametrize("name", WIDE)
def test_both_64_bit_types_of_numpy(name, mode, run):
    """`np.uint64` and `np.ulonglong` are one dtype, and JAX takes no scalar of the latter."""
    x = np.arange(5.0, dtype=np.float32)
    with jax.enable_x64(True):
        for types in ((np.longlong, np.int64), (np.ulonglong, np.uint64)):
            use = run(lambda x, i: WIDE[name](x, i, mode))
            first, second = (use(x, np.array([1, 2], dtype)) for dtype in types)
            np.testing.assert_array_equal(first, second)
