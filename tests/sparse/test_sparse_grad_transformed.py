"""sparse_value_and_grad: out-of-bounds indices, and under transformations."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import exported_for, printed_by
from jax import lax
from sparse_checks import EACH_WAY, assert_sparse, table

import jaxops

ROWS = 7
TABLE = table(ROWS, 3)
PARAMS = {"embed": TABLE, "w": jnp.float32(2)}
INDICES = jnp.array([3, 0, 3])
BAD = jnp.array([3, ROWS, 1])


def cube(rows):
    return jnp.sum(rows * rows * rows)


def loss(params, indices):
    return params["w"] * cube(jaxops.gather(params["embed"], indices))


def to_dense(grads):
    return {**grads, "embed": grads["embed"].to_dense()}


value_and_grad = jaxops.sparse_value_and_grad(loss, tables="embed")


def assert_equal(actual, expected):
    jax.tree.map(np.testing.assert_array_equal, actual, expected)


# --- out of bounds ---

# what row 1 of BAD, which is out of bounds, comes to
MODES = {
    "fill": (lambda t, i: jaxops.gather(t, i, mode="fill"), ROWS),
    "clip": (lambda t, i: jaxops.gather(t, i, mode="clip"), ROWS - 1),
    "wrap": (lambda t, i: jaxops.gather(t, i, mode="wrap"), 0),
    "take": (lambda t, i: jnp.nan_to_num(jnp.take(t, i, axis=0)), ROWS),
    "take-fill": (lambda t, i: jnp.take(t, i, axis=0, mode="fill", fill_value=1), ROWS),
    "take-clip": (lambda t, i: jnp.take(t, i, axis=0, mode="clip"), ROWS - 1),
    "take-wrap": (lambda t, i: jnp.take(t, i, axis=0, mode="wrap"), 0),
    "indexing": (lambda t, i: t[i], ROWS),
    "at-fill": (lambda t, i: t.at[i].get(mode="fill", fill_value=0), ROWS),
}


@pytest.mark.parametrize("run", EACH_WAY)
@pytest.mark.parametrize("name", MODES)
def test_out_of_bounds(name, run):
    read, row = MODES[name]

    def loss(t):
        return cube(read(t, BAD))

    slices = assert_sparse(loss, TABLE, tables="", run=run)
    np.testing.assert_array_equal(slices.indices, [3, row, 1])
    assert row != ROWS or not slices.values[1].any()


def test_an_element_out_of_bounds_is_no_other_element():
    """Counted row-major, column 3 of row 0 would be column 0 of row 1."""

    def loss(t):
        columns = jnp.array([3, 2, -4])
        return cube(t.at[jnp.array([0, 1, 2]), columns].get(mode="fill", fill_value=0))

    slices = assert_sparse(loss, TABLE, tables="")
    np.testing.assert_array_equal(slices.indices, [TABLE.size, 5, TABLE.size])


def test_on_cuda_what_is_out_of_bounds_contributes_nothing():
    gradient = lambda p, i: value_and_grad(p, i)[1]["embed"].to_dense()  # noqa: E731
    exported = exported_for("cuda", gradient, PARAMS, BAD)
    expected = jax.grad(loss)(PARAMS, jnp.array([3, 1]))["embed"]
    np.testing.assert_array_equal(exported.call(PARAMS, BAD), expected)


# --- transformations of the transformed function ---


def in_scan(params, indices):
    def step(so_far, i):
        return so_far + cube(params["embed"][i]) * params["w"], None

    return lax.scan(jax.checkpoint(step), jnp.float32(0), indices)[0]


LOSSES = {"gather": loss, "scan": in_scan}


@pytest.mark.parametrize("run", EACH_WAY)
@pytest.mark.parametrize("name", LOSSES)
def test_vmap(name, run):
    fun = LOSSES[name]
    batch = jnp.array([[3, 0, 3], [6, 6, 1]])
    transformed = jax.vmap(jaxops.sparse_value_and_grad(fun, tables="embed"), (None, 0))

    @run
    def both(params, batch):
        values, grads = transformed(params, batch)
        received = values, jax.vmap(to_dense)(grads)
        return grads["embed"], received, jax.vmap(jax.value_and_grad(fun), (None, 0))(params, batch)

    slices, received, expected = both(PARAMS, batch)
    assert slices.values.shape == (2, 3, 3)
    np.testing.assert_array_equal(slices.indices, batch)
    assert_equal(received, expected)


def test_of_itself():
    def norm(params):
        grads = value_and_grad(params, INDICES)[1]
        return jnp.sum(grads["embed"].values ** 2)

    grads = assert_sparse(norm, PARAMS)
    np.testing.assert_array_equal(grads["embed"].indices, INDICES)


@pytest.mark.parametrize("scale", [1, 2])
def test_callbacks(scale):
    """They run once, also where the table is computed with before it is looked up."""
    seen = []

    def loss(t, indices):
        def step(so_far, i):
            jax.debug.callback(lambda i: seen.append(int(i)), i)
            i = jax.pure_callback(lambda i: np.asarray(i + 1), jax.ShapeDtypeStruct((), i.dtype), i)
            return so_far + cube((t if scale == 1 else scale * t)[i]), None

        return lax.scan(step, jnp.float32(0), indices)[0]

    transformed = jaxops.sparse_value_and_grad(loss, tables="")
    for call in (transformed, jax.jit(transformed)):
        _, slices = call(TABLE, INDICES)
        jax.effects_barrier()
        assert sorted(seen) == [0, 3, 3]
        seen.clear()
        np.testing.assert_array_equal(slices.indices, [4, 1, 4])
        np.testing.assert_array_equal(slices.to_dense(), jax.grad(loss)(TABLE, INDICES))
        jax.effects_barrier()
        seen.clear()


SHARDED = """
import sys
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P
import jaxops
jax.config.update("jax_num_cpu_devices", 8)
mesh = Mesh(np.array(jax.devices()), ("d",))
tables = jnp.arange(240.0).reshape(8, 10, 3) % 5 - 2
indices = jnp.arange(16) % 10
check_vma = sys.argv[1] == "True"

def loss(t, i):
    rows = jaxops.gather(t, i)
    return lax.psum(jnp.sum(rows * (rows - 1)), "d")

def gradients(t, i):
    _, slices = jaxops.sparse_value_and_grad(loss, tables="")(t[0], i)
    return slices.to_dense()[None], slices.indices, jax.grad(loss)(t[0], i)[None]

sharded = jax.shard_map(
    gradients, mesh=mesh, in_specs=P("d"), out_specs=P("d"), check_vma=check_vma
)
actual, where, expected = jax.jit(sharded)(tables, indices)
np.testing.assert_array_equal(actual, expected)
np.testing.assert_array_equal(where, indices)

# One table that is the same on all devices. Under check_vma=True JAX sums its gradient over them.
STEPS = {
    "plain": lambda t, i: t,
    "scaled": lambda t, i: 2 * t,
    "tanh": lambda t, i: jnp.tanh(t),
    "cast": lambda t, i: t.astype(jnp.bfloat16).astype(t.dtype),
    "own copy": lambda t, i: lax.pcast(t, "d", to="varying"),
    "of an own copy": lambda t, i: 3 * lax.pcast(jnp.sin(t), "d", to="varying"),
    "a part": lambda t, i: t[1:],
    "with a row that differs": lambda t, i: jnp.concatenate([i[None, :1] * t[:1], t]),
    "scaled by what differs": lambda t, i: t * i[0],
    "chosen": lambda t, i: lax.cond(i[0] > 5, lambda: 2 * t, lambda: t),
}
if check_vma:
    for name, step in STEPS.items():
        def local(t, i):
            rows = step(t, i)[i % 9]
            looped = lax.scan(lambda c, k: (c + jnp.sum(step(t, i)[k]), None), 0 * rows[0, 0], i)[0]
            return jnp.sum(rows * (rows - 1)) + looped

        def gradients(t, i):
            loss = lambda t, i: lax.psum(local(t, i), "d")
            value, slices = jaxops.sparse_value_and_grad(loss, tables="")(t, i)
            return value, slices.to_dense()

        mapped = jax.shard_map(gradients, mesh=mesh, in_specs=(P(), P("d")), out_specs=P())
        actual = jax.jit(mapped)(tables[0], indices)
        if "own" in name:
            step = {"own copy": STEPS["plain"], "of an own copy": lambda t, i: 3 * jnp.sin(t)}[name]
        each = [jax.value_and_grad(local)(tables[0], part) for part in indices.reshape(8, -1)]
        for x, *parts in zip(actual, *each):
            np.testing.assert_allclose(x, sum(parts), rtol=1e-5, atol=1e-4, err_msg=name)
"""


@pytest.mark.slow
@pytest.mark.parametrize("check_vma", [False, True])
def test_shard_map(check_vma):
    """A table per device, and one for all."""
    printed_by("-c", SHARDED, check_vma)
