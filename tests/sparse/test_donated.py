"""Steps whose parameters are donated update tables in place: nothing of a table's size is made."""

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest
from fast import optimized_jit
from sparse_patterns import INDICES, composed, polynomial

import jaxops

pytestmark = [pytest.mark.usefixtures("x32", "standard_promotion")]

# Of the first ones the gradient does not depend on the rows: nothing but the value of the loss says
# that the table is read before it is updated.
LOSSES = {
    "sum": lambda p: jnp.sum(p["t"][INDICES]),
    "shifted": lambda p: jnp.sum(jaxops.gather(p["t"], INDICES) - 1),
    "weighted": lambda p: jnp.sum(p["t"][INDICES] @ p["w"]),
    "product of two tables": lambda p: jnp.sum(p["t"][INDICES] * p["u"][INDICES]),
    "logistic": lambda p: jnp.sum(jnp.logaddexp(0, -jnp.sum(p["t"][INDICES] * p["u"][INDICES], 1))),
    "in a scan": lambda p: jax.lax.scan(lambda c, i: (c + jnp.sum(p["t"][i]), None), 0.0, INDICES)[
        0
    ],
    "in a checkpoint": jax.checkpoint(lambda p: jnp.sum(p["t"][INDICES] * p["u"][INDICES])),
    "squared": lambda p: polynomial(p["t"][INDICES]),
}
OPTIMIZERS = {
    "sgd": lambda: jaxops.lazy(optax.sgd(0.1)),
    "adagrad": lambda: jaxops.lazy(optax.adagrad(0.1)),
    "adam": lambda: jaxops.lazy(optax.adam(0.1)),
}
OTHERS = {
    "momentum": lambda: jaxops.lazy(optax.sgd(0.1, momentum=0.5)),
    "rmsprop": lambda: jaxops.lazy(optax.rmsprop(0.1)),
    "catching up": lambda: jaxops.lazy(optax.adam(0.1), catch_up=True),
}


def temporaries(loss, lazy, rows, width=8, **options):
    table = jax.ShapeDtypeStruct((rows, width), jnp.float32)
    params = {"t": table, "u": table, "w": jax.ShapeDtypeStruct((width,), jnp.float32)}

    def step(params, state):
        if hasattr(lazy, "catch_up"):
            params, state = lazy.catch_up(params, state, {"t": INDICES, "u": INDICES})
        value, grads = jaxops.sparse_value_and_grad(loss, tables=["t", "u"], **options)(params)
        return value, *lazy.apply(grads, state, params)

    state = jax.eval_shape(lazy.init, params)
    compiled = optimized_jit(step, donate_argnums=(0, 1)).lower(params, state).compile()
    analysis: Any = compiled.memory_analysis()
    given = [x for x in jax.tree.leaves((params, state)) if x.shape[:1] == (rows,)]
    assert analysis.alias_size_in_bytes >= sum(x.size * x.dtype.itemsize for x in given)
    return analysis.temp_size_in_bytes


@pytest.mark.optimized
@pytest.mark.parametrize(
    ("name", "optimizer"),
    [*itertools.product(LOSSES, OPTIMIZERS), *(("squared", other) for other in OTHERS)],
)
def test_temporaries_do_not_grow_with_the_table(name, optimizer):
    lazy = (OPTIMIZERS | OTHERS)[optimizer]()
    small, large = (temporaries(LOSSES[name], lazy, rows) for rows in (20_000, 80_000))
    assert large <= small + 1000


# Read by lookups of their own, on which neither the loss nor its gradient depends.
AUX = {
    "rows": lambda p: p["t"][INDICES // 2],
    "numbers": lambda p: jnp.argmax(p["t"][INDICES // 2] @ p["w"]),
    "bools": lambda p: [p["u"][0] > 0, p["t"][INDICES // 2] > 0],
    "complex": lambda p: p["t"][INDICES // 2] * 1j,
    "of a call": jax.jit(lambda p: p["t"][INDICES // 2]),
}


@pytest.mark.optimized
@pytest.mark.parametrize("name", AUX)
def test_what_else_a_loss_returns_is_read_before_the_update(name):
    def loss(p):
        return LOSSES["sum"](p), AUX[name](p)

    lazy = OPTIMIZERS["sgd"]()
    small, large = (temporaries(loss, lazy, rows, has_aux=True) for rows in (20_000, 80_000))
    assert large <= small + 1000


# Others make arrays of one number a row, or need weights of other shapes.
PATTERNS = [
    ("scaled", name) for name in ("take", "fill", "gather_nd", "elements", "range", "mapped")
] + [(name, "gather") for name in ("tanh", "negated", "where", "reversed rows", "cond", "switch")]


@pytest.mark.slow
@pytest.mark.optimized
@pytest.mark.parametrize(("step", "lookup"), PATTERNS)
def test_patterns(step, lookup):
    """A step of a loss that is linear in the rows that it looks up copies no donated table."""

    def loss(p):
        p = {**p, "c": jnp.array([2.0, -1.0, 0.5]), "of_rows": jnp.ones(p["t"].shape[0])}
        return composed(step, lookup=lookup, total=jnp.sum)(p, INDICES)

    small, large = (temporaries(loss, OPTIMIZERS["sgd"](), rows) for rows in (20_000, 80_000))
    assert large <= small + 1000
