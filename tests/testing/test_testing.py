"""assert_out_of_bounds, and the module as a whole."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import printed_by
from jax.core import Tracer
from own_gradients import counted

import jaxops
from jaxops import testing


def lookup(i):
    return jaxops.gather(jnp.arange(3.0), i)


def test_out_of_bounds_returns_the_error():
    error = testing.assert_out_of_bounds(lookup, jnp.array([0, 7]), match=r"= 7 is not in \[0, 3\)")
    assert isinstance(error, jaxops.OutOfBoundsError)
    assert (error.position, error.index, error.bound) == ((1,), 7, 3)
    assert lookup(jnp.array([2])) == 2  # and life goes on
    assert jax.jit(lookup)(jnp.array([2])) == 2


def test_a_function_that_is_compiled_already():
    def calls_it(i):
        return compiled(i) + 1

    compiled = jax.jit(lookup)
    for f in (compiled, calls_it):
        error = testing.assert_out_of_bounds(f, jnp.array([7]))
        assert (error.position, error.index, error.bound) == ((0,), 7, 3)
        assert error.where == f"test_testing.py:{lookup.__code__.co_firstlineno + 1} (lookup)"


def eager_only(i):
    return lookup(i) if not isinstance(i, Tracer) else i


def other_under_jit(i):
    if isinstance(i, Tracer):
        raise ValueError("anything is not in [0, 3)")
    return lookup(i)


def raises_key_error(i):
    raise KeyError("other")


NO_ERROR = {
    "in-bounds": (lookup, [1], None, "called as it is must raise .*; it raised nothing"),
    "eager-only": (
        eager_only,
        [7],
        None,
        "eager_only called under jit must raise .*; it raised nothing",
    ),
    "other": (raises_key_error, [7], None, "it raised KeyError: 'other'"),
    "another-under-jit": (other_under_jit, [7], "is not in", "under jit must raise .* ValueError"),
    "match": (lookup, [7], "= 8 is", "called as it is must raise with '= 8 is'; .* = 7 is not"),
}


@pytest.mark.parametrize("name", NO_ERROR)
def test_out_of_bounds_that_is_not_raised(name):
    f, indices, match, text = NO_ERROR[name]
    with pytest.raises(AssertionError, match=text):
        testing.assert_out_of_bounds(f, jnp.array(indices), match=match)


@pytest.mark.parametrize(
    ("check", "options", "most"),
    # 3 calls of `check_adjoint` are made while the function is transposed.
    [(testing.check_grads, {"directions": 1}, 26), (testing.check_adjoint, {}, 7)],
)
def test_cost_does_not_grow_with_the_size(check, options, most):
    calls = []
    for size in (10, 1_000_000):
        f = counted(lambda x: x * 3)
        check(f, np.ones(size, np.float32), jit=None, **options)
        calls.append(f.calls)
    assert calls[0] == calls[1] <= most


STATIC = [3, "word", b"word", None, np.array(["b", "a"]), np.array(["b", None], object)]
PASSED = [*STATIC, np.arange(2), np.array([True]), jax.random.key(0)]


@pytest.mark.parametrize("other", PASSED, ids=lambda x: type(getattr(x, "dtype", x)).__name__)
@pytest.mark.parametrize("check", [testing.check_grads, testing.check_adjoint])
def test_other_arguments_are_passed_as_they_are(check, other):
    is_static = any(other is x for x in STATIC)

    def double(x, passed):
        assert passed is other or not is_static
        return 2 * x

    check(double, np.ones(2, np.float32), other)


def test_it_needs_no_test_framework_and_is_imported_by_name():
    program = (
        "import sys, jaxops; assert 'jaxops.testing' not in sys.modules; import jaxops.testing; "
        "assert not {'pytest', 'chex'} & set(sys.modules)"
    )
    printed_by("-c", program)
