"""Gathers and scatters on meshes of explicit axes: how their results are shared."""

import functools

import jax
import jax.numpy as jnp
import pytest
from explicit_mesh import floats, ints, type_of
from jax.sharding import PartitionSpec as P

import jaxops
from jaxops._indexing import explicit_axes

in_columns = functools.partial(jaxops.gather, axis=1)
along_columns = functools.partial(jaxops.take_along_axis, axis=1)
in_batches = functools.partial(jaxops.gather, axis=2, batch_dims=1)

GATHERS = {
    "ids of a whole table": (jaxops.gather, floats(8, 4), ints(6, of=P("d")), "float32[6@d,4]"),
    "ids of columns": (
        jaxops.gather,
        floats(8, 4, of=P(None, "m")),
        ints(6, of=P("d")),
        "float32[6@d,4@m]",
    ),
    "ids of rows": (jaxops.gather, floats(8, 4, of=P("d")), ints(6, of=P("m")), "float32[6@m,4]"),
    "whole ids of rows": (jaxops.gather, floats(8, 4, of=P("d", "m")), ints(6), "float32[6,4@m]"),
    "ids of two axes": (
        jaxops.gather,
        floats(8, 4),
        ints(8, 6, of=P(("d", "m"))),
        "float32[8@(d,m),6,4]",
    ),
    "along an inner axis": (
        in_columns,
        floats(4, 8, 2, of=P("m")),
        ints(6, 2, of=P("d")),
        "float32[4@m,6@d,2,2]",
    ),
    "batch dims": (
        in_batches,
        floats(4, 2, 8, of=P("d", "m")),
        ints(4, 6, of=P("d")),
        "float32[4@d,2@m,6]",
    ),
    "batch dims of the indices, and more": (
        in_batches,
        floats(4, 2, 8),
        ints(4, 6, of=P("d", "m")),
        "float32[4@d,2,6@m]",
    ),
    "along an axis": (
        along_columns,
        floats(2, 4, 2),
        ints(2, 1, 2, of=P("d")),
        "float32[2@d,1,2]",
    ),
    "along an axis, of what lies behind it": (
        along_columns,
        floats(2, 4, 2),
        ints(2, 1, 2, of=P(None, None, "d")),
        "float32[2,1,2@d]",
    ),
    "index vectors": (
        jaxops.gather_nd,
        floats(8, 4, 2, of=P(None, None, "m")),
        ints(6, 2, of=P("d")),
        "float32[6@d,2@m]",
    ),
}


@pytest.mark.parametrize("case", GATHERS)
def test_what_is_gathered_is_shared_as_the_indices_and_the_windows(case):
    function, params, indices, expected = GATHERS[case]
    assert type_of(function, params, indices) == expected


@pytest.mark.parametrize("mode", ["device", "error", "fill", "clip", "wrap", "promise_in_bounds"])
@pytest.mark.parametrize("deterministic", [False, True])
def test_of_every_mode(mode, deterministic):
    options = {"mode": mode, "deterministic": deterministic}
    gather = functools.partial(jaxops.gather, **options)
    assert type_of(gather, floats(8, 4), ints(6, of=P("d"))) == "float32[6@d,4]"

    def gradient(table, ids):
        return jax.grad(lambda t: jnp.sum(gather(t, ids) ** 2))(table)

    table = floats(8, 4, of=P("m"))
    assert type_of(gradient, table, ints(6, of=P("d"))) == "float32[8@m,4]"


@pytest.mark.parametrize("kind", ["add", "sub", "update", "min", "max"])
@pytest.mark.parametrize("spec", [P(), P("d"), P("d", "m"), P(None, "m")], ids=str)
def test_what_is_scattered_into_is_shared_as_before(kind, spec):
    scatter = getattr(jaxops, f"tensor_scatter_nd_{kind}")
    tensor, updates = floats(8, 4, of=spec), floats(6, 4, of=P("d"))
    expected = str(jax.typeof(tensor))
    assert type_of(scatter, tensor, ints(6, 1, of=P("d")), updates) == expected

    def gradient(tensor, indices, updates):
        return jax.grad(lambda u: jnp.sum(scatter(tensor, indices, u) ** 2))(updates)

    assert type_of(gradient, tensor, ints(6, 1), updates) == str(jax.typeof(updates))


def test_a_mesh_is_that_of_arrays():
    """Among the arguments of an optimizer may be functions."""
    assert explicit_axes.mesh_of(len, "word", jnp.ones(2)) is None


SUMS = {
    "scatter_nd": lambda ids, rows: jaxops.scatter_nd(ids[:, None], rows, [10, 4]),
    "unsorted_segment_sum": lambda ids, rows: jaxops.unsorted_segment_sum(rows, ids, 10),
    "unsorted_segment_max": lambda ids, rows: jaxops.unsorted_segment_max(rows, ids, 10),
    "unsorted_segment_prod": lambda ids, rows: jaxops.unsorted_segment_prod(rows, ids, 10),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_rows_are_shared_as_the_windows(name):
    rows = floats(6, 4, of=P("d", "m"))
    assert type_of(SUMS[name], ints(6, of=P("d")), rows) == "float32[10,4@m]"
    assert type_of(SUMS[name], ints(6), rows) == "float32[10,4@m]"
