"""Lookups under `shard_map`, of a table that is the same on all devices and of one on each."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import printed_by
from fast import fast_jit
from jax import lax
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P
from sparse_patterns import CARRIED, WITHIN, composed, in_scan, params, polynomial, zero

import jaxops
from jaxops import _jax_internals

pytestmark = pytest.mark.usefixtures("x32")
INDICES = jnp.arange(16, dtype=jnp.int32) * 5 % 13


def own(t, i):
    """A copy of each device, under `shard_map`."""
    return _jax_internals.varying_over(t, _jax_internals.varying_axes(i))


# Of a table and indices that differ between devices.
STEPS = {
    "none": lambda t, i: t,
    "cast": lambda t, i: t.astype(jnp.bfloat16).astype(t.dtype),
    "own copy": own,
    "of an own copy": lambda t, i: 3 * own(jnp.sin(t), i),
    "a part": lambda t, i: t[1:],
    "with a row that differs": lambda t, i: jnp.concatenate([t[:1] * i[0].astype(t.dtype), t]),
    "scaled by what differs": lambda t, i: t * i[0].astype(t.dtype),
    "chosen by what differs": lambda t, i: lax.cond(i[0] > 5, lambda: 2 * t, lambda: t),
}


def plain_and_looped(step):
    def loss(p, i):
        return polynomial(step(p["t"], i)[i % 9])

    return lambda p, i: loss(p, i) + in_scan(loss)(p, i)


LOSSES = {
    **{name: WITHIN[name](composed("tanh")) for name in WITHIN if name not in CARRIED},
    **{f"step {name}": plain_and_looped(step) for name, step in STEPS.items()},
    "carry": WITHIN["carry"](composed()),
    "one branch reads, by what differs": lambda p, i: lax.cond(
        i[0] > 5, lambda: polynomial(p["t"][i]), lambda: zero(i)
    ),
}


def mapped(function, shape, in_specs, out_specs, check_vma):
    names = ("d", "m")[: len(shape)]
    mesh = jax.make_mesh(shape, names, axis_types=(AxisType.Auto,) * len(names))
    options = {"in_specs": in_specs, "out_specs": out_specs, "check_vma": check_vma}
    return fast_jit(jax.shard_map(function, mesh=mesh, **options))


def assert_as_on_one_device(name, shape, check_vma=True):
    """`jax.grad` of one device is compared: under `shard_map` it sums within the branches."""
    loss, p = LOSSES[name], params()

    def gradient(p, i):
        def summed(t):
            return lax.psum(loss({**p, "t": t}, i), "d")

        return jaxops.sparse_value_and_grad(summed, tables="")(p["t"])[1].to_dense()

    def on_one(p, parts):
        return jax.vmap(loss, (None, 0))(p, parts).sum()

    actual = mapped(gradient, shape, (P(), P("d")), P(), check_vma)(p, INDICES)
    expected = fast_jit(jax.grad(on_one))(p, INDICES.reshape(shape[0], -1))["t"]
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4, err_msg=name)


def assert_tables_of_devices(number, check_vma):
    tables = jnp.stack([n + params()["t"] for n in range(number)])

    def gradients(t, i):
        def loss(t):
            return lax.psum(polynomial(jaxops.gather(t, i)), "d")

        slices = jaxops.sparse_value_and_grad(loss, tables="")(t[0])[1]
        return slices.to_dense()[None], jax.grad(loss)(t[0])[None]

    both = mapped(gradients, (number,), (P("d"), P("d")), P("d"), check_vma)
    np.testing.assert_array_equal(*both(tables, INDICES))


@pytest.mark.parametrize(
    ("shape", "check_vma"),
    [((1,), True), ((1,), False), ((1, 1), True)],
    ids=["checked", "unchecked", "two axes"],
)
@pytest.mark.parametrize("name", LOSSES)
def test_gradients(name, shape, check_vma):
    assert_as_on_one_device(name, shape, check_vma)


ON_8_DEVICES = """
import jax
jax.config.update("jax_num_cpu_devices", 8)
from sparse.test_shard_mapped import LOSSES, assert_as_on_one_device, assert_tables_of_devices
for name in LOSSES:
    assert_as_on_one_device(name, (8,))
for check_vma in (False, True):
    assert_tables_of_devices(8, check_vma)
"""


@pytest.mark.slow
def test_on_8_devices():
    printed_by("-c", ON_8_DEVICES)


# Of a table and its gradient of no rows.
OF_NO_ROWS = {
    "psum": lambda t, g: jaxops.psum(g, "d"),
    "pmean": lambda t, g: jaxops.pmean(g, "d"),
    "psum of tied": lambda t, g: jaxops.psum(jaxops.TiedGradient(t, g), "d").slices,
    "psum twice": lambda t, g: jaxops.psum(jaxops.psum(g, "d"), "d"),
    "norm": lambda t, g: jaxops.global_norm(jaxops.psum(g, "d")),
    "add_to": lambda t, g: g.add_to(t),
    "lazy": lambda t, g: LAZY.apply(g, LAZY.init(t), t)[0],
}
LAZY = jaxops.lazy(jaxops.rowwise_adagrad(0.1))
FOUND_BY = {
    "gather": lambda t, i: jaxops.gather(t, i[:0]),
    "sharded_gather": lambda t, i: jaxops.sharded_gather(t, i[:0], "d"),
}


@pytest.mark.parametrize("check_vma", [True, False])
@pytest.mark.parametrize("lookup", FOUND_BY)
@pytest.mark.parametrize("name", OF_NO_ROWS)
def test_no_rows(name, lookup, check_vma):
    """JAX compiles no `all_gather` of them."""

    def step(t, i):
        loss = lambda t: jnp.sum(FOUND_BY[lookup](t, i) ** 2)  # noqa: E731
        _, g = jaxops.sparse_value_and_grad(loss, tables="")(own(t, i))
        results = OF_NO_ROWS[name](own(t, i), g)
        return jax.tree.map(lambda x: own(jnp.atleast_1d(x), i), jax.tree.leaves(results)[0])

    table = jnp.ones((4, 3))
    spec = P("d")
    result = mapped(step, (1,), (spec, spec), spec, check_vma)(table, INDICES)
    np.testing.assert_array_equal(result, table if result.size > 1 else 0 * result)
