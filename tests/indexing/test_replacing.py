"""_indexing/replacing: the derivative of tensor_scatter_nd_update, of the update that stays."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops
from jaxops._jax_internals import equations_in

TABLE = np.arange(1, 49, dtype=np.float32).reshape(8, 6)
# Indices of which some come twice, by what they index; and one that is out of bounds.
INDICES = {
    "rows": [[3], [1], [3], [7], [1]],
    "elements": [[3, 2], [1, 5], [3, 2], [3, 3]],
    "matrices-of-vectors": [[[3], [1]], [[1], [0]]],
    "all": np.zeros((3, 0), np.int32),
    "outside": [[3], [8], [3]],
}


def replaced(table, indices, updates):
    """By loops; indices that are outside replace nothing."""
    result = np.array(table)
    for place in np.ndindex(*indices.shape[:-1]):
        if all(indices[place] < table.shape[: indices.shape[-1]]):
            result[tuple(indices[place])] = updates[place]
    return result


@pytest.mark.parametrize("name", INDICES)
def test_tangents_are_those_of_what_stays(name):
    indices = np.array(INDICES[name], np.int32)
    shape = (*indices.shape[:-1], *TABLE.shape[indices.shape[-1] :])
    updates, updates_dot = np.random.default_rng(0).integers(-9, 10, (2, *shape)).astype(np.float32)
    table_dot, cotangent = np.random.default_rng(1).integers(-9, 10, (2, 8, 6)).astype(np.float32)

    def function(table, updates):
        return jaxops.tensor_scatter_nd_update(table, indices, updates, mode="fill")

    out, out_dot = jax.jvp(function, (TABLE, updates), (table_dot, updates_dot))
    np.testing.assert_array_equal(out, replaced(TABLE, indices, updates))
    np.testing.assert_array_equal(out_dot, replaced(table_dot, indices, updates_dot))

    # The transpose of that: by where each number of the result comes from.
    numbers = np.arange(TABLE.size + updates.size).astype(np.float32)
    from_table, from_updates = np.split(numbers, [TABLE.size])
    sources = replaced(from_table.reshape(8, 6), indices, from_updates.reshape(shape))
    bars = np.zeros_like(numbers)
    bars[sources.astype(int)] = cotangent
    table_bar, updates_bar = jax.vjp(function, TABLE, updates)[1](cotangent)
    np.testing.assert_array_equal(table_bar, bars[: TABLE.size].reshape(8, 6))
    np.testing.assert_array_equal(updates_bar, bars[TABLE.size :].reshape(shape))


def test_updates_are_numbered_by_window():
    """Numbers of every element would take as much memory as the table, and the time of a copy."""

    def pull_back(table, updates, cotangent):
        indices = np.array(INDICES["rows"], np.int32)
        function = jaxops.tensor_scatter_nd_update
        return jax.vjp(lambda t, u: function(t, indices, u), table, updates)[1](cotangent)

    program = jax.make_jaxpr(pull_back)(TABLE, TABLE[:5], TABLE)
    results: list[Any] = [v.aval for eqn in equations_in(program) for v in eqn.outvars]
    assert max(x.size for x in results if jnp.issubdtype(x.dtype, jnp.integer)) == 8
