"""strided_slice beside Python's indexing, and its single indices: several dtypes, long axes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from long_axes import LENGTHS, as_mode_has_it, indices_of
from records.arguments import TABLE

import jaxops
from jaxops._indexing import bounds, index_dtypes, policy
from jaxops._indexing.specs import ShrunkAxes
from jaxops._ops import strided_slice
from jaxops._run import arguments

INDEX = [
    np.s_[...],
    np.s_[:, ...],
    np.s_[1, 2:4, None, ..., :-3:-1, :],
    np.s_[None, 1, ..., None, -1],
    np.s_[::2, ::-1, 3:1:-1],
    np.s_[5:, 1],
    np.s_[:, -100:100:3],
    np.s_[()],
    np.s_[0, 0, 0, 0, 0],
]


@pytest.mark.parametrize("index", INDEX, ids=str)
@pytest.mark.parametrize("dtype", [np.int32, np.str_], ids=["int32", "str"])
def test_python_indexing(index, dtype):
    foo = np.arange(2 * 5 * 3 * 4 * 2).reshape(2, 5, 3, 4, 2).astype(dtype)
    spec = jaxops.strided_slice_spec(index)
    np.testing.assert_array_equal(jaxops.strided_slice(foo, *spec), foo[index])
    np.testing.assert_array_equal(foo[spec.to_index()], foo[index])


@pytest.mark.parametrize("index", [-1, -100])
def test_strided_slice_from_the_end(index):
    begin = jnp.array([index], jnp.int8)
    result = jaxops.strided_slice(TABLE, begin, [0], shrink_axis_mask=1)
    np.testing.assert_array_equal(result, TABLE[index])


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


@pytest.mark.parametrize("mode", ["fill", "clip", "wrap", "device"])
@pytest.mark.parametrize("length", LENGTHS)
def test_single_indices_count_from_the_end(length, mode, x64):
    """The second axis is short; its index -9 counts too far."""
    spec = ShrunkAxes("strided_slice", limits=(length, 5), axes=(0, 1), places=(0, 1))
    vectors = [(i, j) for i in indices_of(np.int32) for j in (-9, -2, 4, 5)]
    vectors = [v for v in vectors if -length <= v[0] < length]
    begin = jnp.array(vectors, jnp.int32)

    def positions():
        begins = jax.vmap(lambda b: strided_slice._from_the_end(b, spec, mode))(begin)
        if mode == "device":
            return begins, bounds.in_bounds(index_dtypes.widen(begins), spec)
        return policy.resolve(spec, begins, mode)

    if not x64 and length >= 2**32:
        with pytest.raises(ValueError, match=f"positions among {length} take 64 bits"):
            positions()
        return
    resolved, valid = positions()
    resolved, valid = np.asarray(resolved).tolist(), valid if valid is None else np.asarray(valid)
    for n, (i, j) in enumerate(vectors):
        first, second = i + length * (i < 0), j + 5 * (j < 0)
        expected = [as_mode_has_it(first, length, mode), as_mode_has_it(second, 5, mode)]
        if valid is not None:
            assert bool(valid[n]) == (None not in expected), (i, j)
        if None not in expected:
            assert resolved[n] == expected, (i, j)


def test_a_known_index_is_a_slice():
    program = jax.make_jaxpr(lambda x: jaxops.strided_slice(x, [-1], [0], shrink_axis_mask=1))
    assert "gather" not in str(program(TABLE))


def test_places_of_symbolic_dimensions_may_be_the_first_or_the_last():
    """JAX knows that `n - 2` is at least 0 and 2 at most `n`, and not that they differ."""
    (n,) = jax.export.symbolic_shape("n", constraints=["n >= 2", "n <= 4"])

    def parts(x):
        last = jaxops.strided_slice(x, [-2], [0], end_mask=1)
        ranges = [jaxops.strided_slice(x, [b], [e]) for b, e in ((0, 2), (-9, 2), (5, 9))]
        return last, *ranges, jaxops.strided_slice(x, [1], [0], shrink_axis_mask=1)

    shapes = [x.shape for x in jax.eval_shape(parts, jax.ShapeDtypeStruct((n,), "int8"))]
    assert shapes == [(2,), (2,), (2,), (0,), ()]


def test_ranges_alone_send_no_indices_to_the_device(monkeypatch):
    """That takes longer than the rest of an eager call."""
    monkeypatch.setattr(arguments, "to_indices", None)
    np.testing.assert_array_equal(jaxops.strided_slice(jnp.arange(4), [1], [3]), [1, 2])
