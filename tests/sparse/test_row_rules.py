"""Which steps treat each row by itself, primitive by primitive."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from row_wise_steps import ROWS, WIDTH, Stateless, slices, table

import jaxops
from jaxops import IndexedSlices

pytestmark = pytest.mark.usefixtures("standard_promotion")


def looped(g, p):
    """Halves the gradient of a row until its norm is small."""

    def halve(state):
        _, g = state
        return jnp.sum(g**2, axis=1) > 1, jnp.where(state[0][:, None], g / 2, g)

    return jax.lax.fori_loop(0, 4, lambda _, state: halve(state), (jnp.sum(g**2, axis=1) > 1, g))[1]


# As the dense optimizer, with other rows put back.
ROW_WISE = {
    "norm of each row": lambda g, p: g / (jnp.linalg.norm(g, axis=1, keepdims=True) + 1),
    "norms of parameters' rows": lambda g, p: g * jnp.linalg.norm(p, axis=-1, keepdims=True),
    "mean of each row": lambda g, p: g - jnp.mean(g, axis=1, keepdims=True),
    "softmax in rows": lambda g, p: g * jax.nn.softmax(p, axis=-1),
    "sorted rows": lambda g, p: g * jnp.sort(p, axis=1),
    "reversed rows": lambda g, p: g[:, ::-1] * p,
    "sums along rows": lambda g, p: jnp.cumsum(g, axis=1),
    "a column": lambda g, p: g * p[:, :1],
    "projected": lambda g, p: g @ jnp.ones((WIDTH, WIDTH)),
    "projected from the left": lambda g, p: (jnp.ones((WIDTH, WIDTH)) @ g.T).T,
    "products in rows": lambda g, p: g * jnp.einsum("nd,nd->n", g, p)[:, None],
    "transposed": lambda g, p: (g.T * p.T).T,
    "transposed sums": lambda g, p: g * jnp.sum((g * p).T, axis=0)[:, None],
    "transposed cubes": lambda g, p: g * jnp.sum(jnp.transpose(p[:, :, None], (2, 0, 1)), axis=2).T,
    "squeezed": lambda g, p: g * jnp.sum(jnp.squeeze(p[None], 0), axis=1, keepdims=True),
    "ravelled": lambda g, p: (g.ravel() * p.ravel()).reshape(g.shape),
    "sum of squares": lambda g, p: g * jnp.sum(g**2),
    "sums of columns": lambda g, p: g * jnp.sum(g, axis=0),
    "products of columns": lambda g, p: g @ (g.T @ g),
    "dot product": lambda g, p: g * jnp.vdot(g, p),
    "all finite": lambda g, p: jnp.where(jnp.all(jnp.isfinite(g)), g, 0),
    "any large": lambda g, p: jnp.where(jnp.any(jnp.abs(g) > 1), g, g * p),
    "checkpointed": jax.checkpoint(lambda g, p: jnp.sin(g) * p),
    "custom derivative": lambda g, p: jax.nn.relu(g) * p,
    "column numbers": lambda g, p: g * jax.lax.broadcasted_iota(jnp.float32, g.shape, 1),
    "ones": lambda g, p: g + jnp.ones_like(g),
    "mapped over columns": jax.vmap(lambda g, p: g * jnp.abs(p), in_axes=1, out_axes=1),
    "mapped over rows": jax.vmap(lambda g, p: g * jnp.sum(p)),
    "scanned columns": lambda g, p: jax.lax.scan(lambda c, x: (c + x, c * x), g[:, 0], g.T)[1].T,
    "looped": looped,
}


# Others, and words of the error.
MIXED = {
    "norm of parameters": (lambda g, p: g * jnp.linalg.norm(p), "reduce_sum"),
    "norm of columns of parameters": (lambda g, p: g * jnp.linalg.norm(p, axis=0), "reduce_sum"),
    "mean of gradients": (lambda g, p: g - g.mean(), "number of rows"),
    "mean of columns": (lambda g, p: g - g.mean(axis=0), "number of rows"),
    "weighted by size": (lambda g, p: g / g.shape[0], "number of rows"),
    "weighted by a power": (lambda g, p: g * 0.5 ** g.shape[0], "number of rows"),
    "sum of shifted": (lambda g, p: g * jnp.sum(jnp.exp(g)), "reduce_sum"),
    "product": (lambda g, p: g * jnp.prod(g), "reduce_prod"),
    "largest parameter": (lambda g, p: g * jnp.max(p), "reduce_max"),
    "softmax of columns": (lambda g, p: g * jax.nn.softmax(p, axis=0), "reduce_max"),
    "sorted columns": (lambda g, p: jnp.sort(g, axis=0), "mixes rows .sort"),
    "sums along columns": (lambda g, p: jnp.cumsum(g, axis=0), "mixes rows .cumsum"),
    "reversed columns": (lambda g, p: g[::-1], "mixes rows .rev"),
    "rolled": (lambda g, p: jnp.roll(g, 1, axis=0), "mixes rows"),
    "first row": (lambda g, p: g * p[0], "mixes rows"),
    "chosen rows": (lambda g, p: g * p[jnp.argsort(g[:, 0])], "rows"),
    "products of rows": (lambda g, p: g @ g.T @ g, "mixes rows .dot_general"),
    "products with parameters": (lambda g, p: g @ (p.T @ p), "mixes rows .dot_general"),
    "row numbers": (
        lambda g, p: g * jax.lax.broadcasted_iota(jnp.float32, g.shape, 0),
        "by their position .iota",
    ),
    "noise": (lambda g, p: g + jax.random.normal(jax.random.key(0), g.shape), "by their position"),
    "size as a power": (lambda g, p: jax.lax.integer_pow(g, g.shape[0]), "number of rows"),
    "by size": (lambda g, p: g if g.shape[0] > 100 else -g, "other numbers of rows"),
    "by small size": (lambda g, p: g if g.shape[0] < 100 else -g, "other numbers of rows"),
    "scanned rows": (
        lambda g, p: jax.lax.scan(lambda c, x: (c + x, c), jnp.zeros(WIDTH), g)[1],
        "loops over the rows",
    ),
    "while": (
        lambda g, p: jax.lax.while_loop(lambda g: jnp.sum(p) * jnp.sum(g) > 1, lambda g: g / 2, g),
        "reduce_sum",
    ),
    "branch by parameters": (
        lambda g, p: jax.lax.cond(jnp.sum(p) > 1, lambda: g, lambda: -g),
        "reduce_sum",
    ),
    "inverse": (lambda g, p: jnp.linalg.svd(g, full_matrices=False)[0], "mixes rows"),
}


@pytest.mark.parametrize("name", ROW_WISE)
def test_row_wise(name):
    optimizer, params, grads = Stateless(ROW_WISE[name]), table(), slices()
    lazy = jaxops.lazy(optimizer)
    received, _ = lazy.apply(grads, lazy.init(params), params)
    updates, _ = optimizer.update(grads.to_dense(), (), params)
    expected = np.array(params)
    expected[[1, 4]] = (params + updates)[np.array([1, 4])]
    np.testing.assert_allclose(received, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", MIXED)
def test_mixed_rows(name):
    step, words = MIXED[name]
    lazy = jaxops.lazy(Stateless(step))
    for call in (
        lambda: lazy.init(table()),
        lambda: lazy.apply(slices(), (), table()),
        lambda: jax.eval_shape(lazy.init, table()),
        lambda: jax.eval_shape(lazy.apply, slices(), (), table()),
    ):
        with pytest.raises(
            ValueError,
            match=f"each row of table '' by itself.*{words}.*Stateless|"
            f"each row of table '' by itself.*{words}.*test_row_rules.py",
        ):
            call()


@pytest.mark.parametrize("name", ["norm of each row", "mean of each row", "sums along rows"])
def test_parts_of_rows_are_rows_too(name):
    """By two indices each: an optimizer that works in whole rows does not see them."""
    lazy = jaxops.lazy(Stateless(ROW_WISE[name]))
    grads = IndexedSlices([1.0, 2.0], [7, 2], (ROWS, WIDTH))
    with pytest.raises(ValueError, match="each row of table '' by itself"):
        lazy.apply(grads, (), table())


@pytest.mark.parametrize("name", ["sum of squares", "all finite"])
def test_parts_of_rows(name):
    optimizer = Stateless(ROW_WISE[name])
    grads = IndexedSlices(jnp.array([1.0, 2.0, 0.5]), jnp.array([7, 2, 7]), (ROWS, WIDTH))
    received, _ = jaxops.lazy(optimizer).apply(grads, (), table())
    updates, _ = optimizer.update(grads.to_dense(), (), table())
    np.testing.assert_allclose(received, table() + updates, rtol=1e-6)
