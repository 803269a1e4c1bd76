"""Indices of 8 and 16 bits, which cannot hold the bounds that they are held against."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops

LENGTH = 300
TABLE = np.arange(LENGTH * 3, dtype=np.float32).reshape(LENGTH, 3)
TALL = np.arange(200 * LENGTH, dtype=np.float32).reshape(200, LENGTH)
DTYPES = [np.int8, np.uint8, np.int16, np.uint16]

# A function of a vector of 4 indices below 100, and the same in NumPy.
OPS = {
    "gather": (lambda i, **k: jaxops.gather(TABLE, i, **k), lambda i: TABLE[i]),
    "gather-axis": (lambda i, **k: jaxops.gather(TABLE.T, i, axis=1, **k), lambda i: TABLE.T[:, i]),
    "gather-batch_dims": (
        # 200 rows: int8 could not number the batch either.
        lambda i, **k: jaxops.gather(TALL, jnp.tile(i, (200, 1)), batch_dims=1, **k),
        lambda i: TALL[:, i],
    ),
    "gather-deterministic": (
        lambda i, **k: jaxops.gather(TABLE, i, deterministic=True, **k), lambda i: TABLE[i],
    ),
    "gather_nd": (
        # Row-major positions reach 60,000.
        lambda i, **k: jaxops.gather_nd(TALL, jnp.stack([i, i], 1), **k), lambda i: TALL[i, i],
    ),
    "gather_nd-batch_dims": (
        lambda i, **k: jaxops.gather_nd(TALL, jnp.tile(i[:, None], (200, 1, 1)), batch_dims=1, **k),
        lambda i: TALL[:, i],
    ),
    "scatter_nd": (
        lambda i, **k: jaxops.scatter_nd(i[:, None], TABLE[:4], [LENGTH, 3], **k),
        lambda i: added(i, TABLE[:4]),
    ),
    "scatter_nd-deterministic": (
        lambda i, **k: jaxops.scatter_nd(
            i[:, None], TABLE[:4], [LENGTH, 3], deterministic=True, **k
        ),
        lambda i: added(i, TABLE[:4]),
    ),
    "slice": (
        lambda i, **k: jaxops.slice(TABLE, jnp.stack([i[0], i[3] * 0]), [150, 3], **k),
        lambda i: TABLE[i[0] : i[0] + 150],
    ),
    "strided_slice": (
        lambda i, **k: jaxops.strided_slice(TABLE, i[:1], [0], shrink_axis_mask=1, **k),
        lambda i: TABLE[i[0]],
    ),
    "dynamic_partition": (
        lambda i, **k: jaxops.dynamic_partition(TABLE[:4], i, LENGTH, size=4, **k)[99],
        lambda i: np.pad(TABLE[:4][i == 99], [(0, int((i != 99).sum())), (0, 0)]),
    ),
    "dynamic_stitch": (
        lambda i, **k: jaxops.dynamic_stitch([i], [TABLE[:4]], size=LENGTH, **k),
        lambda i: added(i[1:], TABLE[1:4]),  # the first is overwritten
    ),
    "one_hot": (
        lambda i, **k: jaxops.one_hot(i, LENGTH), lambda i: np.eye(LENGTH, dtype=np.float32)[i],
    ),
    "reverse_sequence": (
        lambda i, **k: jaxops.reverse_sequence(TALL[:4], i, 1, 0, **k),
        lambda i: np.stack([np.r_[TALL[n, : i[n]][::-1], TALL[n, i[n] :]] for n in range(4)]),
    ),
}  # fmt: skip


def added(indices, rows):
    total = np.zeros_like(TABLE)
    np.add.at(total, indices, rows)
    return total


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPS)
def test_narrow_indices(name, dtype, x64):
    function, oracle = OPS[name]
    indices = np.array([99, 5, 99, 0], dtype)
    expected = oracle(indices.astype(np.int64))
    np.testing.assert_array_equal(function(jnp.asarray(indices)), expected)
    np.testing.assert_array_equal(jax.jit(function)(jnp.asarray(indices)), expected)


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
@pytest.mark.parametrize("name", ["gather", "gather-axis", "gather-batch_dims"])
@pytest.mark.parametrize(("mode", "of"), [("clip", lambda i: max(i, 0)), ("wrap", LENGTH.__add__)])
def test_negative_ones(name, mode, of, dtype):
    """Modulo 300, which int8 does not hold."""
    function, oracle = OPS[name]
    indices = np.array([-1, -128, -7, -100], dtype)
    expected = oracle(np.array([of(int(i)) for i in indices]))
    np.testing.assert_array_equal(function(jnp.asarray(indices), mode=mode), expected)


@pytest.mark.parametrize("index", [-1, -100])
def test_strided_slice_from_the_end(index):
    begin = jnp.array([index], jnp.int8)
    result = jaxops.strided_slice(TABLE, begin, [0], shrink_axis_mask=1)
    np.testing.assert_array_equal(result, TABLE[index])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_beyond_the_end(dtype):
    """255 into 200, which int8 would have as -1."""
    with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[0\] = 255 is not in \[0, 200\)"):
        jaxops.gather(TALL, jnp.array([255], dtype))
    clipped = jaxops.gather(TALL, jnp.array([255], dtype), mode="clip")
    np.testing.assert_array_equal(clipped[0], TALL[199])


@pytest.mark.parametrize("dtypes", [("int32", "int64"), ("uint8", "int64"), ("int64", "uint32")])
def test_single_indices_of_several_dtypes(dtypes):
    """Joined without JAX's promotion, which may be strict, as here."""

    @jax.jit
    def element(i, j):
        return jaxops.strided_slice(TABLE, [i, j], [0, 0], shrink_axis_mask=3)

    with jax.enable_x64(True):
        assert (
            element(*(jnp.array(n, dtype) for n, dtype in zip((7, 2), dtypes, strict=True)))
            == TABLE[7, 2]
        )
        assert element(jnp.array(7, dtypes[0]), 2) == TABLE[7, 2]
