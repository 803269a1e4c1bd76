"""Windows of slice: those that reach outside of long axes, and those of scalars."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from long_axes import LENGTHS, as_mode_has_it, indices_of
from records.record import MODES

import jaxops
from jaxops._indexing import policy
from jaxops._indexing.specs import ScalarIndex
from jaxops._ops import slice


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
@pytest.mark.parametrize("mode", ["fill", "clip"])
@pytest.mark.parametrize("length", LENGTHS[:-3])
def test_windows_that_reach_outside(length, mode, dtype, x64):
    size = 4
    spec = ScalarIndex("slice", limits=(length,))

    @jax.vmap
    def positions(begin):
        run = slice._run_of_positions(begin, size, length, "slice", mode)
        return policy.resolve(spec, run[:, None], mode)

    begins = indices_of(dtype)
    resolved, valid = positions(jnp.array(begins, dtype))
    resolved, valid = np.asarray(resolved), valid if valid is None else np.asarray(valid)
    for n, begin in enumerate(begins):
        for step in range(size):
            expected = as_mode_has_it(begin + step, length, mode)
            if valid is not None:
                assert bool(valid[n, step]) == (expected is not None), (begin, step)
            if expected is not None:
                assert int(resolved[n, step, 0]) == expected, (begin, step)


def test_the_rest_beside_a_traced_begin():
    """A column at a step of a loop: only the begin of the dimension with -1 must be known."""
    x = np.arange(12).reshape(3, 4)

    def column(step):
        return jaxops.slice(x, [1, step], [-1, 1]), jaxops.slice(x, (step, 2), (1, -1))

    columns, rows = jax.jit(column)(2)
    np.testing.assert_array_equal(columns, x[1:, 2:3])
    np.testing.assert_array_equal(rows, x[2:, 2:])


@pytest.mark.parametrize("mode", MODES)
def test_the_window_of_a_scalar(mode):
    def window(x, begin):
        return jaxops.slice(x, begin, [], mode=mode)

    begin = jnp.zeros(0, jnp.int32)
    assert window(0.5, []) == window(0.5, begin) == jax.jit(window)(0.5, begin) == 0.5
    assert jax.grad(window)(0.5, begin) == 1
    assert jax.vmap(window)(jnp.array([0.5]), begin[None]).tolist() == [0.5]


def test_a_window_counts_nothing_from_the_end():
    program = jax.make_jaxpr(lambda x, b: jaxops.slice(x, b, [1], mode="promise_in_bounds"))
    assert "select_n" not in str(program(jnp.ones(3), jnp.array([1])))


def test_the_rest_after_known_jax_scalars():
    """A size of -1 needs the values of `begin`, which a list of arrays has as well as an array."""
    x, begin = np.arange(6).reshape(2, 3), jnp.array([1, 0])
    for given in (begin, [*begin], [begin[0], 0]):
        np.testing.assert_array_equal(jaxops.slice(x, given, [-1, 2]), x[1:, :2])
