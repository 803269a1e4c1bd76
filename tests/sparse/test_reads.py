"""sparse_value_and_grad: uses of a table other than lookups, with and without `tied`."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P
from sparse_checks import assert_sparse, square, table

import jaxops

I = jnp.array([3, 0, 3], jnp.int32)  # noqa: E741


def returned_by_a_loop(t):
    return square(lax.scan(lambda c, j: (c, t), 0.0, I)[1][0][I])


def put_into_a_carry(t):
    return square(lax.scan(lambda c, j: (t, None), jnp.zeros_like(t), I)[0][I])


def in_a_scan(t):
    return lax.scan(lambda c, j: (c + jnp.sum(t[j] @ t.T), None), 0.0, I)[0]


OTHER_USES = {  # others are in `test_whole_uses.py`; name of the operation in the message
    "transpose": (lambda t: jnp.sum(t[I] @ jaxops.transpose(t)), "transpose"),
    "jit": (lambda t: jax.jit(lambda t: jnp.sum(t[I] @ t.T))(t), "transpose"),
    "checkpoint": (jax.checkpoint(lambda t: jnp.sum(t[I] @ t.T)), "transpose"),
    "scan": (in_a_scan, "transpose"),
    "scan-checkpoint": (jax.checkpoint(in_a_scan), "transpose"),
    "scan-ys": (returned_by_a_loop, "scan"),
    "scan-carry": (put_into_a_carry, "scan"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_USES)
@pytest.mark.usefixtures("x32")
def test_other_uses(name):
    use, operation = OTHER_USES[name]

    def loss(p):
        return use(p["a"]["embed"]) + square(p["a"]["embed"][I]) + square(p["other"][I])

    params = {"a": {"embed": table(7, 3)}, "other": table(5)}
    tables = ["a/embed", "other"]
    message = rf"'a/embed' must be used by lookups.*a use by {operation} at .*{Path(__file__).name}"
    for call in (lambda f: f, jax.jit):
        with pytest.raises(ValueError, match=message):
            call(jaxops.sparse_value_and_grad(loss, tables=tables))(params)
    grads = assert_sparse(loss, params, tables=tables, tied=True)
    assert isinstance(grads["a"]["embed"], jaxops.TiedGradient)
    assert isinstance(grads["a"]["embed"].dense, jax.Array)
    assert isinstance(grads["other"], jaxops.IndexedSlices)


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


@pytest.mark.parametrize("cast", [lambda t: t, lambda t: 2 * t], ids=["plain", "scaled"])
def test_a_table_that_is_the_same_on_all_devices(cast):
    """So is its gradient, which `out_specs` say, and JAX must be able to prove."""
    mesh = jax.make_mesh((1,), ("d",), axis_types=(AxisType.Auto,))
    t, indices = table(), jnp.array([3, 0, 3])

    def local(t, indices):
        return square(cast(t)[indices])

    def loss(t, indices):
        return lax.psum(local(t, indices), "d")

    def gradient(t, indices):
        return jaxops.sparse_value_and_grad(loss, tables="")(t, indices)[1]

    mapped = jax.shard_map(gradient, mesh=mesh, in_specs=(P(), P("d")), out_specs=P())
    slices = jax.jit(mapped)(t, indices)
    np.testing.assert_array_equal(slices.indices, indices)
    np.testing.assert_allclose(slices.to_dense(), jax.grad(local)(t, indices), rtol=1e-6)


def doubled(backward):
    """Twice the table, with a backward rule of its own."""

    @jax.custom_vjp
    def function(t):
        return 2 * t

    function.defvjp(lambda t: (2 * t, t), backward)
    return function


# None is linear in the cotangent, or of one row at a time.
BACKWARD = {
    "with decay": lambda t, g: (g + 0.1 * t,),
    "masked": lambda t, g: (jnp.where(t > 1, g, 0.5),),
    "a row set": lambda t, g: (g.at[0].set(1.0),),
    "of integers": lambda t, g: (g.astype(jnp.int32).astype(g.dtype),),
    "reversed": lambda t, g: (-g,),
    "normalized": lambda t, g: (g / jnp.linalg.norm(g),),
}


@pytest.mark.parametrize("name", BACKWARD)
@pytest.mark.usefixtures("x32")
def test_functions_of_the_table_with_backward_rules_of_their_own(name):
    function = doubled(BACKWARD[name])

    def loss(t):
        return square(function(t)[I])

    with pytest.raises(ValueError, match=r"a use by custom_vjp_call at .*test_reads.py"):
        jaxops.sparse_value_and_grad(loss, tables="")(table(7, 3))
    gradient = assert_sparse(loss, table(7, 3), tables="", tied=True)
    assert isinstance(gradient, jaxops.TiedGradient)
