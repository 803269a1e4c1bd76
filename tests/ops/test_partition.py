"""dynamic_partition and dynamic_stitch beyond the harness: exact shapes, strings."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import assert_equal
from records.loops import floats
from records.partition import dynamic_partition
from records.stitch import dynamic_stitch

import jaxops

PARTITIONS = {
    "scalar": ([10, 20], 1, 2, [np.zeros((0, 2)), [[10, 20]]]),
    "none": (np.zeros((0, 3), np.int32), [], 2, [np.zeros((0, 3)), np.zeros((0, 3))]),
    "empty-rows": (np.zeros((2, 0), np.int32), [0, 0], 2, [np.zeros((2, 0)), np.zeros((0, 0))]),
    "scalars": (5, 1, 2, [[], [5]]),
    "strings": (["a", "b", "c"], [1, 0, 1], 2, [["b"], ["a", "c"]]),
}


@pytest.mark.parametrize("case", PARTITIONS)
def test_partition_exactly(case):
    data, partitions, num_partitions, expected = PARTITIONS[case]
    parts, sizes = jaxops.dynamic_partition(data, partitions, num_partitions, return_size=True)
    assert isinstance(parts, list)
    for part, rows in zip(parts, expected, strict=True):
        assert_equal(part, rows)
    assert_equal(sizes, [len(rows) for rows in expected])


@pytest.mark.parametrize("kind", [np.str_, np.bytes_, object, np.dtypes.StringDType()], ids=str)
def test_strings_of_static_size(kind):
    text = np.array(["a", "b", "c"]).astype(kind)
    fill_value = b"--" if kind is np.bytes_ else "--"
    parts, sizes = jaxops.dynamic_partition(
        text, [1, 1, 1], 2, size=[1, 2], fill_value=fill_value, return_size=True
    )
    assert parts[0].tolist() == [fill_value]
    assert parts[1].tolist() == text[:2].tolist()
    assert_equal(sizes, [0, 3])
    merged = jaxops.dynamic_stitch([[1, 1], [2]], [text[:2], text[2:]], size=4)
    assert merged.tolist() == ["" if fill_value == "--" else b"", *text[1:].tolist(), merged[0]]


def test_data_may_be_traced_while_the_rest_is_known():
    partitions, data = np.array([0, 1, 0], np.int32), floats(3, 2)
    expected = dynamic_partition(data, partitions, 2)
    for part, rows in zip(
        jax.jit(lambda x: jaxops.dynamic_partition(x, partitions, 2))(data), expected, strict=True
    ):
        assert_equal(part, rows)
    merged = jax.jit(lambda x, y: jaxops.dynamic_stitch([[0, 3], [0]], [x, y]))(data[:2], data[2:])
    assert_equal(merged, dynamic_stitch([[0, 3], [0]], [data[:2], data[2:]]))
    batched = jax.vmap(lambda x: jaxops.dynamic_partition(x, partitions, 2)[0])(data[None])
    assert_equal(batched[0], expected[0])


def test_gradients_of_exact_results():
    data = jnp.arange(3.0)
    partitions = np.array([0, 1, 0])
    gradient = jax.grad(lambda x: (jaxops.dynamic_partition(x, partitions, 2)[0] ** 2).sum())(data)
    assert_equal(gradient, [0, 0, 4])
    weights = jnp.array([10.0, 100])

    def stitched(x, y, size):
        merged = jaxops.dynamic_stitch([[0, 1, 0], [1]], [x, y], size=size)
        return (merged * weights).sum()

    # TensorFlow's tape sends 10, 100, 10 to x, though two of its elements were overwritten.
    for size in (None, 2):
        x_bar, y_bar = jax.grad(stitched, (0, 1))(data, jnp.ones(1), size)
        assert_equal(x_bar, [0, 0, 10])
        assert_equal(y_bar, [100])


def test_out_of_bounds_of_64_bit_values():
    for call in (
        lambda: jaxops.dynamic_partition(1, np.int64(2**33), 2, mode="error"),
        lambda: jaxops.dynamic_partition(1, np.int64(2**33), 2, size=1),
    ):
        with pytest.raises(jaxops.OutOfBoundsError, match=r"partitions = 8589934592 is not in"):
            call()


@pytest.mark.parametrize("mode", ["fill", "clip", "wrap"])
def test_modes_of_exact_results(mode):
    partitions, data = np.array([0, -1, 5, 1]), floats(4)
    expected = dynamic_partition(data, partitions, 3, mode=mode)
    for part, rows in zip(
        jaxops.dynamic_partition(data, partitions, 3, mode=mode), expected, strict=True
    ):
        assert_equal(part, rows)


@pytest.mark.parametrize(
    ("dtype", "limit"),
    [(np.int8, 300), pytest.param(np.int16, 70_000, marks=pytest.mark.slow), (np.int32, 300)],
)
def test_bounds_that_the_dtype_cannot_hold(dtype, limit):
    """-1 is out of bounds, though its bits are those of 255 or 65535."""
    numbers, data = np.array([-1, 0, 1], dtype), jnp.arange(3.0)
    with pytest.raises(jaxops.OutOfBoundsError, match=r"partitions\[0\] = -1 is not in \[0, "):
        jaxops.dynamic_partition(data, numbers, limit)
    with pytest.raises(jaxops.OutOfBoundsError, match=r"= -1 is not in \[0, "):
        jaxops.dynamic_stitch([numbers], [["x", "y", "z"]], size=limit)
    parts = jaxops.dynamic_partition(data, numbers, limit, mode="clip")
    assert [part.tolist() for part in parts[:3]] == [[0, 1], [2], []]


def test_ignored_numbers_beside_256_partitions():
    """No number of 8 bits is left for those that count for nothing."""
    parts = jaxops.dynamic_partition([1, 2, 3], [255, -1, 256], 256, mode="fill")
    assert parts[255].tolist() == [1]
    assert sum(part.size for part in parts) == 1


def test_a_new_count_compiles_nothing():
    data, rng = jnp.asarray(floats(64, 2)), np.random.default_rng(0)
    masks = [jnp.asarray(rng.random(64) < p) for p in (0.2, 0.5, 0.8)]
    numbers = [mask.astype(jnp.int32) for mask in masks]

    def run_all(mask, numbers):
        jaxops.boolean_mask(data, mask)
        parts = jaxops.dynamic_partition(data, numbers, 2)
        indices = jaxops.dynamic_partition(jnp.arange(64), numbers, 2)
        return jaxops.dynamic_stitch(indices, parts)

    assert_equal(run_all(masks[0], numbers[0]), data)
    with jax.no_tracing():
        for mask, number in zip(masks[1:], numbers[1:], strict=True):
            assert_equal(run_all(mask, number), data)


@pytest.mark.parametrize(("mode", "number"), [("clip", 2), ("wrap", 0)])
def test_uint64_beyond_int64(mode, number):
    """2^64 - 1 is divisible by 3; as an int64 it would be -1."""
    partitions = np.array([1, 2**64 - 1], np.uint64)
    parts = jaxops.dynamic_partition([10, 20], partitions, 3, mode=mode)
    assert [part.tolist() for part in parts] == [
        [20] if n == number else [10] if n == 1 else [] for n in range(3)
    ]
