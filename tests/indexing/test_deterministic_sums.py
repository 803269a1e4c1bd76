"""Sums in an order of their own: the same in every run, on every device."""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import names_with
from records import CASES, first_of_each_op, wanted

import jaxops
from jaxops._jax_internals import equations_in


@pytest.mark.parametrize("deterministic", [False, True])
def test_no_two_updates_meet_in_a_deterministic_program(deterministic):
    """On a CPU any sum repeats; what makes it so on a GPU is that targets are unique."""

    def gradient(table, indices):
        def total(t):
            return (jaxops.gather(t, indices, deterministic=deterministic) ** 2).sum()

        return jax.grad(total)(table)

    text = jax.jit(gradient).lower(jnp.ones(4), jnp.array([1, 1])).as_text()
    assert ("unique_indices = true" in text) == deterministic
    assert ("unique_indices = false" in text) != deterministic


DETERMINISTIC = {name: case for name, case in CASES.items() if case.has_deterministic}
FIRST = first_of_each_op(DETERMINISTIC)


def test_every_function_with_the_argument_has_a_case():
    without = names_with("deterministic", jaxops) - {*FIRST}
    assert not wanted(without, "a case with `has_deterministic`")


def sums_of_floats(program):
    """The names of the primitives that add rows of floats; sums of integers have no order."""
    return {
        eqn.primitive.name
        for eqn in equations_in(program)
        if re.search("scatter.(add|sub)|atomic_sums$", eqn.primitive.name)
        and jnp.issubdtype(eqn.outvars[0].aval.dtype, jnp.inexact)  # type: ignore[attr-defined]
    }


@pytest.mark.parametrize("name", FIRST.values())
def test_results_and_gradients_add_in_no_other_way(name):
    case = DETERMINISTIC[name]
    for mode in case.modes:

        def both(*args, deterministic, mode=mode):
            options = {"mode": mode, "deterministic": deterministic}
            return case.op(*args, **options), case.gradients(**options)(*args)

        for deterministic in (True, False):
            call = functools.partial(both, deterministic=deterministic)
            sums = sums_of_floats(jax.make_jaxpr(call)(*case.args))
            assert (sums == {"deterministic_scatter_add"}) == deterministic
            assert ("deterministic_scatter_add" in sums) == deterministic


# For each of two rows in turn the same. Summed one after the other these make 3, as neighbours and
# then as their sums 5.
UPDATES = np.repeat(np.array([2.0**24, 1, 1, 1, -(2.0**24), 1, 1, 1], np.float32), 2)

ROWS = np.array([[1], [0]] * 8, np.int32)


@pytest.mark.parametrize(("kind", "sign"), [("add", 1), ("sub", -1)])
def test_order_of_summation(kind, sign):
    op = getattr(jaxops, f"tensor_scatter_nd_{kind}")
    sums = op(jnp.zeros(3, jnp.float32), ROWS, sign * UPDATES, deterministic=True)
    np.testing.assert_array_equal(sums, [5, 5, 0])


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_index_vectors_of_no_components(dtype):
    """bfloat16 is scattered into as it is, other dtypes as rows."""
    x, none = jnp.array([1, 2], dtype), np.zeros((3, 0), np.int32)
    slopes = jax.grad(lambda x: jaxops.gather_nd(x, none, deterministic=True).sum())(x)
    np.testing.assert_array_equal(slopes, [3, 3])
    updates = jnp.ones((3, 2), dtype)
    added = jaxops.tensor_scatter_nd_add(x, none, updates, deterministic=True)
    np.testing.assert_array_equal(added, [4, 5])


def test_derivatives_by_the_tensor_or_the_updates_alone():
    def add(tensor, updates):
        return jaxops.tensor_scatter_nd_add(tensor, ROWS[:3], updates, deterministic=True)

    for n, expected in enumerate(([[1, 0], [0, 1]], [[0, 1, 0], [1, 0, 1]])):
        for derivative in (jax.jacfwd, jax.jacrev):
            np.testing.assert_array_equal(derivative(add, n)(jnp.ones(2), jnp.ones(3)), expected)
