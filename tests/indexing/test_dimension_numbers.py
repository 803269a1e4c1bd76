"""_indexing/dimension_numbers: batches of those gathers that are primitives of their own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from records import gather as oracle
from records.loops import floats

import jaxops
from jaxops._indexing.dimension_numbers import is_widened
from jaxops.testing import check_adjoint

# Shapes of params and indices, arguments of `gather`, the primitive that it becomes.
GATHERS = {
    "rows": ((3, 5, 64), (4,), {"axis": 1}, "gather_rows"),
    "rows-batch": ((2, 3, 5, 64), (2, 4), {"axis": 2, "batch_dims": 1}, "gather_rows"),
    "columns": ((2, 4, 20), (128, 2), {"axis": 2}, "gather_columns"),
    **{
        f"deterministic-{axis}-{batch_dims}": (
            (2, 3, 4, 5)[: axis + 2],
            (2, 3, 2)[: batch_dims + 1],
            {"axis": axis, "batch_dims": batch_dims, "deterministic": True},
            "gather_with_deterministic_transpose",
        )
        for axis, batch_dims in [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
    },
}
LANES = 3


@pytest.mark.parametrize("name", GATHERS)
def test_a_table_that_lanes_share(name):
    """With the lanes along each axis of the indices, and of the table as well."""
    shape, indices_shape, options, primitive = GATHERS[name]
    params, length = floats(*shape), shape[options["axis"]]
    indices = np.random.default_rng(1).integers(0, length, (LANES, *indices_shape), np.int32)

    def gather(params, indices):
        return jaxops.gather(params, indices, **options)

    expected = [
        oracle.gather(params, i, options["axis"], options.get("batch_dims", 0)) for i in indices
    ]
    in_axes = [(None, lane) for lane in range(indices.ndim)]
    in_axes += [(lane, 0) for lane in range(params.ndim + 1)]

    @jax.jit
    def mapped(params, indices):
        results = []
        for table_axis, lane in in_axes:
            table = params
            if table_axis is not None:
                table = jnp.stack([params] * LANES, table_axis)
            call = jax.vmap(gather, (table_axis, lane))
            results.append(call(table, jnp.moveaxis(indices, 0, lane)))
        return results

    for axes, result in zip(in_axes, mapped(params, indices), strict=True):
        np.testing.assert_array_equal(result, expected, err_msg=f"in_axes={axes}")
    for table_axis, table in ((None, params), (0, np.stack([params] * LANES))):
        of_lanes = jax.vmap(gather, (table_axis, 0))
        assert primitive in str(jax.make_jaxpr(of_lanes)(table, indices))
        check_adjoint(lambda t, f=of_lanes: f(t, indices), table, by="vjp", jit=jax.jit)


def test_dtypes_that_xla_widens():
    """Floats of whole bytes in which its compiler for CPUs does not compute."""
    of = ("bfloat16", "float8_e4m3fn", "float4_e2m1fn", "float16", "float32", "int8", "bool")
    widened = [name for name in of if is_widened(jnp.dtype(name))]
    assert widened == ["bfloat16", "float8_e4m3fn"]
