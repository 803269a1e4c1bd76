"""A sparse gradient where an array is wanted: each error says what takes it, and what makes one."""

import copy
import operator
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax import lax
from sparse_checks import slices

from jaxops import TiedGradient

GRADIENTS = {
    "slices": slices(),
    "tied": TiedGradient(jnp.ones((4, 2), jnp.float32), slices()),
}
BOTH = r"jaxops\.lazy\(optimizer\) takes a sparse gradient, and to_dense\(\) makes an array"
# The oldest JAX does not show the class of a tuple that is one of two trees that differ.
NAMED_TUPLE = "Expected named tuple" if jax.__version_info__ < (0, 10, 2) else BOTH
TABLE = jnp.ones((4, 2), jnp.float32)
WEIGHTS = jnp.ones((2, 3), jnp.float32)
BINARY = [operator.matmul, operator.pow, operator.floordiv, operator.mod, divmod]
BINARY += [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
ORDERS = [operator.lt, operator.le, operator.gt, operator.ge]


def of_optax(name):
    def call(gradient):
        optimizer, params = getattr(optax, name)(0.1), {"table": TABLE}
        optimizer.update({"table": gradient}, optimizer.init(params), params)

    return call


def with_axis(collective):
    return lambda g: jax.vmap(lambda _: collective(g, "i"), axis_name="i", axis_size=2)(TABLE[:2])


REFUSED = {
    **{f"gradient {f.__name__} array": lambda g, f=f: f(g, TABLE) for f in BINARY + ORDERS},
    **{f"array {f.__name__} gradient": lambda g, f=f: f(TABLE, g) for f in BINARY + ORDERS},
    **{f"NumPy {f.__name__} gradient": lambda g, f=f: f(np.ones((4, 2)), g) for f in BINARY},
    **{f"gradient {f.__name__} scalar": lambda g, f=f: f(g, 2) for f in BINARY},
    "scalar / gradient": lambda g: 2 / g,
    "array / gradient": lambda g: TABLE / g,
    "array - gradient": lambda g: TABLE - 0.1 * g,
    "NumPy - gradient": lambda g: np.ones((4, 2)) - g,
    "gradient * array": lambda g: g * TABLE,
    "abs": abs,
    "positive": operator.pos,
    "invert": operator.invert,
    "float": float,
    "int": int,
    "complex": complex,
    "round": round,
    "np.asarray": np.asarray,
    "np.sum": np.sum,
    "np.sqrt": np.sqrt,
    "np.add": lambda g: np.add(g, g),
    "np.multiply": lambda g: np.multiply(g, g),
    "np.multiply(out=)": lambda g: np.multiply(2.0, g, out=np.ones((4, 2))),
    "np.multiply(where=)": lambda g: np.multiply(2.0, g, where=False),
    "np.multiply(dtype=)": lambda g: np.multiply(2.0, g, dtype=np.float64),
    "np.linalg.norm": np.linalg.norm,
    "assert_allclose": lambda g: np.testing.assert_allclose(g, TABLE),
    "jnp.asarray": jnp.asarray,
    "jnp.sum": jnp.sum,
    "jnp.dot": lambda g: jnp.dot(g, WEIGHTS),
    "jnp.multiply": lambda g: jnp.multiply(2, g),
    "jnp.linalg.norm": jnp.linalg.norm,
    "jnp.where": lambda g: jnp.where(True, g, TABLE),
    "jnp.concatenate": lambda g: jnp.concatenate([g, g]),
    ".at[].add": lambda g: TABLE.at[0].add(g),
    "lax.add": lambda g: lax.add(g, TABLE),
    "lax.psum": with_axis(lax.psum),
    "lax.pmean": with_axis(lax.pmean),
    "map of two": lambda g: jax.tree.map(jnp.add, g, g),
    "map of one": lambda g: jax.tree.map(lambda x: 0.5 * x, g),
    "map of table and gradient": lambda g: jax.tree.map(lambda p, g: p - 0.1 * g, TABLE, g),
    "jax.grad": jax.grad(lambda g: jnp.sum(g.to_dense())),
    **{f"optax.{n}": of_optax(n) for n in ("sgd", "adam", "adamw", "adagrad", "lion", "lamb")},
    "optax.tree.norm": optax.tree.norm,
    "optax.tree.add": lambda g: optax.tree.add(g, g),
    "optax.clip": lambda g: optax.clip_by_global_norm(1.0).update(g, optax.EmptyState()),
}


@pytest.mark.parametrize("gradient", GRADIENTS)
@pytest.mark.parametrize("use", REFUSED)
def test_what_is_refused(use, gradient):
    # A lambda, as `jax.jit` of functions that NumPy wrote in C ends the process.
    for call in (REFUSED[use], jax.jit(lambda g: REFUSED[use](g))):
        with pytest.raises((TypeError, ValueError), match=f"{BOTH}|{NAMED_TUPLE}"):
            call(GRADIENTS[gradient])


@pytest.mark.parametrize("gradient", GRADIENTS)
def test_sums_with_arrays_are_refused(gradient):
    calls = [lambda g: g + TABLE, lambda g: TABLE + g, lambda g: g - TABLE]
    calls += [lambda g: optax.apply_updates(TABLE, g)]
    for call in calls:
        with pytest.raises(TypeError, match=r"add_to\(array\)|to_dense\(\) \+ array"):
            call(GRADIENTS[gradient])


@pytest.mark.parametrize("name", ["T", "ndim", "size", "sum", "astype", "at", "reshape", "mean"])
@pytest.mark.parametrize("gradient", GRADIENTS)
def test_attributes_of_arrays(gradient, name):
    assert not hasattr(GRADIENTS[gradient], name)
    with pytest.raises(AttributeError, match=BOTH):
        getattr(GRADIENTS[gradient], name)


def test_elements_of_slices():
    for call in (lambda g: g[0], list, lambda g: 1 in g):
        with pytest.raises(TypeError, match=BOTH):
            call(GRADIENTS["slices"])
    tied = GRADIENTS["tied"]
    assert (*tied,) == (tied.dense, tied[1])


@pytest.mark.parametrize("gradient", GRADIENTS)
def test_what_python_asks_any_object(gradient):
    """Which a method of Python's own must not answer with an error."""
    one = GRADIENTS[gradient]
    assert one  # as `if gradient:` and `gradient or default` ask
    assert repr(type(one)).startswith(f"<class 'jaxops.{type(one).__name__}'; ")
    assert not hasattr(one, "_private")
    for copied in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert type(copied) is type(one)
        np.testing.assert_array_equal(copied.to_dense(), one.to_dense())
    mapped = jax.tree.map(lambda x: x, one)
    np.testing.assert_array_equal(mapped.to_dense(), one.to_dense())
    assert jax.tree.structure(mapped) == jax.tree.structure(one)


@pytest.mark.parametrize("gradient", GRADIENTS)
@pytest.mark.parametrize("scalar", [2, np.float32(2), np.array(2.0, np.float32), jnp.float32(2)])
def test_scalars_from_both_sides(scalar, gradient):
    one = GRADIENTS[gradient]
    for scaled in (scalar * one, one * scalar, one / (1 / scalar)):
        assert type(scaled) is type(one)
        np.testing.assert_array_equal(scaled.to_dense(), 2 * one.to_dense())
