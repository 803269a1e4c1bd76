"""`checked` around, between and within transformations of JAX: silent in bounds, else an error."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checked.transformed import TRANSFORMATIONS
from checks import raised, share

import jaxops

# Small integers: sums and products are exact in any order. Fourth derivatives are not constant.
X = jnp.arange(1.0, 5.0)
GOOD, BAD = jnp.array(2), jnp.array(4)


def subscript(x, i):
    return x[i] ** 5


def take(x, i):
    return jnp.take(x, i) ** 5


def take_and_select(x, i):
    taken = jnp.take(x, i)
    return jnp.where(taken > 2, taken**5, 2 * taken)


# JAX has no forward derivative of a `custom_vjp`, no reverse one of a `while_loop`.
REFUSED = {
    **{(forward, "custom_vjp"): "forward-mode" for forward in ("jvp", "linearize", "jacfwd")},
    **{
        (reverse, "while_loop"): "Reverse-mode"
        for reverse in ("grad", "value_and_grad", "vjp", "jacrev")
    },
    ("hessian", "while_loop"): "Reverse-mode|NoneType",  # an error within jax 0.10.0
    ("pmap", "pmap"): "should match the mesh",
}
PAIRS = list(itertools.product(TRANSFORMATIONS, repeat=2))


def transformed(names, where, function, **options):
    """The transformations of `names`, the first outermost; `checked` is before number `where`."""
    for number in reversed(range(len(names) + 1)):
        if number < len(names):
            function = TRANSFORMATIONS[names[number]](function)
        if number == where:
            function = jaxops.checked(function, **options)
    return function


def assert_checked(checked, unchecked, read):
    np.testing.assert_array_equal(checked(X, GOOD), unchecked(X, GOOD))
    for _ in range(2):
        error = raised(checked, X, BAD)
        line = read.__code__.co_firstlineno + 1
        assert error.where == f"test_transformed.py:{line} ({read.__name__})"
        assert (error.index, error.bound) == (4, 4)


@pytest.mark.parametrize(
    ("where", "jit"),
    [
        (0, True),
        (1, False),
        pytest.param(0, False, marks=pytest.mark.slow),
        pytest.param(1, True, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_a_transformation(name, where, jit):
    read = (take, subscript)[where]
    call = jax.jit if jit else lambda f: f
    checked, unchecked = (call(transformed([name], n, read)) for n in (where, None))
    assert_checked(checked, unchecked, read)


@pytest.mark.parametrize("where", ["outermost", "innermost"])
@pytest.mark.parametrize(
    "names", [names for n in TRANSFORMATIONS for names in [(n,), ("grad", n)]], ids="-of-".join
)
def test_a_transformation_with_all_options(names, where):
    """JAX makes parts of the programs of `jnp.where`, with other operands and the same name."""
    if names in REFUSED:
        return
    options = {"negative": "error", "one_hot": True, "repeat": True}
    number = 0 if where == "outermost" else len(names)
    checked, unchecked = (
        jax.jit(transformed(names, n, take_and_select, **options)) for n in (number, None)
    )
    np.testing.assert_array_equal(checked(X, GOOD), unchecked(X, GOOD))
    if "switch" not in names:  # it has another branch for negative numbers
        assert raised(checked, X, jnp.array(-1)).index == -1


@pytest.mark.slow
@pytest.mark.parametrize("names", share(PAIRS, 3), ids="-of-".join)
def test_two_transformations(names):
    unchecked = {read: jax.jit(transformed(names, None, read)) for read in (subscript, take)}
    if names in REFUSED:
        with pytest.raises((TypeError, ValueError), match=REFUSED[names]):
            unchecked[take](X, GOOD)
        return
    for where, read in enumerate((subscript, take, subscript)):
        assert_checked(jax.jit(transformed(names, where, read)), unchecked[read], read)
