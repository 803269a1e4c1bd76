"""What the harness does not see of `_ops/filling.py` and `_ops/identities.py`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize(
    "numbers",
    [(5,), (0,), (3, 18, 3), (3, 1, -0.5), (1.3, 100.0, 0.1), (0.0, 1.0, 0.1), (2, 2), (10, 0, -3)],
)
def test_range_counts_as_a_loop_does(numbers):
    first, end, step = (0, *numbers, 1) if len(numbers) == 1 else (*numbers, 1)[:3]
    dtype = np.int32 if {type(n) for n in numbers} == {int} else np.float32
    expected, i = [], 0
    while (dtype(first) + dtype(i) * dtype(step) < end) if step > 0 else (first + i * step > end):
        expected.append(dtype(first) + dtype(i) * dtype(step))
        i += 1
    for result in (jaxops.range(*numbers), jax.jit(lambda: jaxops.range(*numbers) + 0)()):
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, np.array(expected, dtype))


def test_the_dtype_of_range():
    for numbers, dtype in [
        ((np.int32(3), np.float16(6)), np.float16),
        ((1, jnp.bfloat16(6)), jnp.bfloat16),
        ((np.float16(0), 3.0), np.float32),
        ((jnp.int32(3),), np.int32),
    ]:
        assert jaxops.range(*numbers).dtype == dtype
    assert jaxops.range(3, dtype=np.uint8).tolist() == [0, 1, 2]
    assert jaxops.range(10, 0, -3, dtype=jnp.float16).tolist() == [10, 7, 4, 1]


def test_python_numbers_have_32_bits():
    with jax.enable_x64(True):
        assert jaxops.fill([2], 3).dtype == jaxops.range(3).dtype == np.int32
        assert jaxops.fill([2], 3.0).dtype == jaxops.range(3.0).dtype == np.float32
        assert jaxops.range(2**31, 2**31 + 2).tolist() == [2**31, 2**31 + 1]


def test_python_floats_of_float64_are_not_rounded_to_32_bits():
    third = 1 / 3
    with jax.enable_x64(True):
        for numbers, expected in [
            ((third, 1.0), [third]),
            ((2 / 3 + third / 1e9,), [0.0]),
            ((0, 1, third), [0.0, third, 2 * third]),
            ((third, 0.5, 0.1), [third, third + 0.1]),
            ((1e10, 1e10 + 2), [1e10, 1e10 + 1]),
            ((0, 1, np.float32(third)), [0.0, float(np.float32(third)), 2 * np.float32(third)]),
        ]:
            assert jaxops.range(*numbers, dtype="float64").tolist() == expected
        for function in (jaxops.cast, jaxops.saturate_cast):
            assert function(third, "float64").tolist() == third
        assert jaxops.one_hot([0], 2, third, -third, dtype="float64").tolist() == [[third, -third]]


def test_no_gradient_flows_through_stop_gradient():
    def f(x):
        return jnp.sum(x * jaxops.stop_gradient(x))

    np.testing.assert_array_equal(jax.grad(f)(X), X)
    np.testing.assert_array_equal(jax.jvp(f, [X], [np.ones_like(X)])[1], X.sum())


def test_stop_gradient_of_strings():
    assert jaxops.stop_gradient("a").tolist() == "a"


def test_ranges_of_integers_are_computed_by_the_program_and_others_by_numpy():
    for step, is_computed in ((3, True), (0.5, False)):
        program = jax.make_jaxpr(lambda step=step: jaxops.range(1, 1000, step))()
        assert ("iota" in str(program)) == is_computed
