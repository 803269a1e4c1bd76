"""`jaxops.testing.check_adjoint`: right transposes pass, and what is wrong is found."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from own_gradients import normal, square, with_transpose, with_vjp

import jaxops
from jaxops import testing
from jaxops.testing import _adjoint

SCATTERED = np.array([3, 0, 3, 2])


def scatter(x):
    return jnp.zeros((5, *x.shape[1:]), x.dtype).at[SCATTERED].add(x)


LINEAR = {
    "scatter": (scatter, (np.ones((4, 2), np.float32),)),
    "bfloat16": (scatter, (np.ones((4, 2), jnp.bfloat16),)),
    "float16": (scatter, (np.ones((4, 2), np.float16),)),
    "complex": (lambda z: scatter(z) * 1j, (np.ones(4, np.complex64),)),
    "int32": (scatter, (np.ones((4, 2), np.int32),)),
    "int8-wraps-around": (lambda x: jnp.cumsum(x, dtype=np.int8), (np.ones(99, np.int8),)),
    "uint8": (scatter, (np.ones((4, 2), np.uint8),)),
    "pair": (lambda t: {"a": t[0] - t[1], "b": t[1][::-1]}, ([normal(3), normal(3)],)),
    "indices": (lambda x, i: jaxops.gather(x, i), (normal(3, 2), np.array([2, 2, 0]))),
    "mean": (lambda x: x.mean(0) / 3, (normal(7, 3),)),
    "matrix": (lambda x: normal(3, 5) @ x, (normal(5, 2),)),
    "no-elements": (lambda x: x[:0], (normal(3),)),
}


@pytest.mark.parametrize("by", ["linear_transpose", "vjp"])
@pytest.mark.parametrize("name", LINEAR)
def test_adjoints_pass(name, by):
    f, args = LINEAR[name]
    if by == "vjp" and "int" in name:
        with pytest.raises(TypeError, match="floating-point"):
            testing.check_adjoint(f, *args, by=by)
        return
    for seed in range(3):
        testing.check_adjoint(f, *args, by=by, seed=seed)


def reverse(x):
    return x[::-1] * 2


def custom_transpose(f, transpose):
    def g(x):
        return jax.custom_derivatives.linear_call(
            lambda _, x: f(x), lambda _, c: transpose(c), (), x
        )

    return g


WRONG_LINEAR = {
    "affine": (
        lambda x: x + 1,
        normal(2, 2),
        "linear_transpose",
        "at 0 it is 1 in result\\[0,0\\]",
    ),
    "square": (square, normal(3), "linear_transpose", r"not linear: f\(x \+ z\) is .*result\[0\]"),
    "transpose": (
        with_transpose(lambda b: jnp.roll(b, 1), lambda b: jnp.roll(b, 1)),
        *(normal(5), "linear_transpose", r"wrong transpose at args\[0\]\[\d\]:"),
    ),
    "element": (
        with_vjp(reverse, lambda _, c: reverse(c).at[7].add(1)),
        *(normal(400), "vjp", r"wrong transpose at args\[0\]\[7\]:\n.*\n  1 of 25 elements"),
    ),
    "int32": (
        custom_transpose(reverse, lambda c: reverse(c).at[2].add(1)),
        *(np.ones(4, np.int32), "linear_transpose", r"wrong transpose at args\[0\]\[2\]:"),
    ),
    "int8-affine": (
        lambda x: x + jnp.int8(1),
        *(np.ones(4, np.int8), "linear_transpose", r"at 0 it is 1 in result\[0\]"),
    ),
    "swapped": (
        with_vjp(reverse, lambda _, c: reverse(c)[np.array([0, 1, 5, 3, 4, 2])]),
        *(normal(6, dtype=jnp.bfloat16), "vjp", r"wrong transpose at args\[0\]\[[25]\]:"),
    ),
    "custom": (
        with_vjp(reverse, lambda _, c: reverse(c)),
        *(normal(4), "linear_transpose", r"cannot be transposed .*by='vjp' may"),
    ),
    "bfloat16": (
        with_vjp(reverse, lambda _, c: reverse(c).at[7].add(1)),
        *(normal(400, dtype=jnp.bfloat16), "vjp", r"wrong transpose at args\[0\]\[7\]:"),
    ),
    "nan": (
        with_vjp(reverse, lambda _, c: reverse(c) * jnp.nan),
        *(normal(5), "vjp", r"wrong transpose at args\[0\]\[\d\]:\n.*received nan"),
    ),
    "conjugate": (
        with_vjp(lambda z: 2j * z, lambda _, c: -2j * c),
        *(np.ones(3, np.complex64), "vjp", "3 of 3 elements"),
    ),
}


@pytest.mark.parametrize("name", WRONG_LINEAR)
def test_wrong_adjoints_are_found(name):
    f, x, by, text = WRONG_LINEAR[name]
    for seed in range(5):
        with pytest.raises(AssertionError, match=text) as info:
            testing.check_adjoint(f, x, by=by, seed=seed)
        assert f"seed={seed}" in str(info.value)


def test_two_wrong_elements_hardly_ever_cancel():
    """As a swap does where the numbers in the two places are equal."""
    swapped = with_vjp(lambda x: x * 2, lambda _, c: (c * 2)[::-1])
    x = normal(2)
    for seed in range(100):
        with pytest.raises(AssertionError, match="wrong transpose"):
            testing.check_adjoint(swapped, x, by="vjp", seed=seed, jit=None)


def test_large_integers_are_exact():
    """Products beyond 2**53, which float64 does not hold."""
    factor = 10**15 + 1
    with jax.enable_x64(True):
        x = np.ones(9, np.int64)
        testing.check_adjoint(lambda x: x * factor, x)
        wrong = custom_transpose(lambda x: x * factor, lambda c: c * (factor + 1))
        with pytest.raises(AssertionError, match=r"wrong transpose at args\[0\]\[\d\]"):
            testing.check_adjoint(wrong, x)
        testing.check_adjoint(lambda x: x * float(factor), np.ones(9))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32])
def test_integers_wrap_around(dtype):
    factor = np.array(np.iinfo(dtype).max // 2, dtype)
    for seed in range(3):
        testing.check_adjoint(lambda x: x * factor, np.ones(9, dtype), seed=seed)


def test_the_function_and_its_transpose_are_compiled():
    compiled = []
    testing.check_adjoint(reverse, normal(3), jit=lambda f: compiled.append(f) or f)
    assert len(compiled) == 2


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.complex64, np.uint8])
def test_numbers_have_signs_of_their_own(dtype):
    numbers = _adjoint._whole_numbers(np.zeros(64, dtype), np.random.default_rng(0))
    assert numbers.dtype == dtype
    parts = [np.real(numbers), np.imag(numbers)] if dtype is np.complex64 else [numbers]
    for part in parts:
        assert {*np.sign(part).tolist()} == ({1} if dtype is np.uint8 else {-1, 1})
