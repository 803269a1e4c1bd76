"""sparse_value_and_grad: uses of a table other than lookups, with and without `tied`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from sparse_checks import assert_sparse, square, table
from sparse_patterns import WITHIN, assert_rows_first, params

import jaxops

I = jnp.array([3, 0, 3], jnp.int32)  # noqa: E741


def test_the_table_that_is_lost_is_named():
    """Not another one that is only looked up in the same loop."""

    def loss(a, b):
        return lax.scan(lambda c, row: (c + jnp.sum(row * a[0]), None), 0.0, b)[0]

    with pytest.raises(ValueError, match="table '1' must"):
        jaxops.sparse_value_and_grad(loss, tables=["0", "1"], argnums=(0, 1))(table(4), table(5))
    transformed = jaxops.sparse_value_and_grad(loss, tables=["0", "1"], argnums=(0, 1), tied=True)
    _, (a, b) = transformed(table(4), table(5))
    assert isinstance(a, jaxops.IndexedSlices)
    assert isinstance(b, jaxops.TiedGradient)


def test_one_of_two_tables_that_a_branch_chooses():
    """Rows of the other one are not read."""

    def loss(p):
        return square(lax.cond(p["a"][0, 0] > 9, lambda: p["a"], lambda: p["b"])[I])

    params = {"a": table(7, 3), "b": 2 * table(7, 3)}
    grads = assert_sparse(loss, params, tables=["a", "b"])
    np.testing.assert_array_equal(grads["a"].indices, [7, 7, 7])
    np.testing.assert_array_equal(grads["b"].indices, I)


def test_two_tables_that_change_places_in_a_loop():
    def loss(p):
        def step(carry, j):
            a, b, so_far = carry
            return (b, a, so_far + square(a[j])), None

        return lax.scan(step, (p["a"], p["b"], jnp.float32(0)), I)[0][2]

    params = {"a": table(7, 3), "b": 2 * table(7, 3)}
    with pytest.raises(ValueError, match="a use by scan"):
        jaxops.sparse_value_and_grad(loss, tables=["a", "b"])(params)
    assert_sparse(loss, params, tables=["a", "b"], tied=True)


def test_a_while_loop_of_a_tied_table_is_refused_as_by_jax():
    def loss(t):
        return lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + t[c[0]]), (0, 0.0))[1]

    with pytest.raises(ValueError, match="Reverse-mode differentiation does not work"):
        jaxops.sparse_value_and_grad(loss, tables="", tied=True)(table(5))


def chosen_by_a_while_loop(uses_table):
    """What a loop counts that also computes what is differentiated, under `jax.checkpoint`."""

    @jax.checkpoint
    def loss(params):
        t, w = params["embed"], params["w"]
        n, s = lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, c[1] * w), (0, 1.0))
        if uses_table == "inside":
            return lax.cond(
                n > 1, lambda: square(t[I]), lambda: jnp.float32(0)
            ) + lax.stop_gradient(s)
        x = lax.cond(n > 1, lambda: 3.0, lambda: 5.0)
        rows = t[lax.cond(n > 1, lambda: 3, lambda: 5)] if uses_table == "after" else t[I]
        return square(rows) * x + lax.stop_gradient(s)

    return loss


@pytest.mark.parametrize("uses_table", ["inside", "after", "elsewhere"])
@pytest.mark.parametrize("tied", [False, True])
def test_chosen_by_a_while_loop(uses_table, tied):
    params = {"embed": table(7, 3), "w": jnp.float32(2)}
    assert_sparse(chosen_by_a_while_loop(uses_table), params, tied=tied)


@pytest.mark.parametrize("within", ["jit", "checkpoint", "scan", "cond"])
def test_the_only_row_after_a_step(within):
    """The row is read at a constant position, and the gradient has one tap for each index."""

    def loss(p, i):
        return square(jnp.tanh(p["t"] @ p["w"])[i]) + square((2 * p["t"])[i])

    assert_rows_first(WITHIN[within](loss), {**params(), "t": table(1, 3)}, 0 * I)


def test_rows_in_an_array_reference():
    def loss(t, i):
        ref = jax.new_ref(jnp.zeros(3, t.dtype))

        def add(n, _):
            ref[...] += t[i[n]] ** 2

        lax.fori_loop(0, 3, add, None)
        return square(ref[...])

    assert_sparse(loss, table(7, 3), I, tables="")
