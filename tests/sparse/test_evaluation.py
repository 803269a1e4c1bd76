"""_sparse/optimizer/evaluation: programs evaluated by NumPy, for several inputs at once."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxops._sparse.optimizer import evaluation
from jaxops._sparse.optimizer.evaluation import (
    _ELEMENTWISE,
    _OTHERS,
    AT_A_TIME,
    CannotRun,
    Evaluation,
    aside,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 2, 3)).astype(np.float32)
Y = np.abs(RNG.normal(size=(5, 2, 3)).astype(np.float32)) + 0.5
N = RNG.integers(-5, 6, (5, 2, 3)).astype(np.int32)
M = np.where(N == 0, 1, -N)
B = N > 0
S = np.arange(5, dtype=np.float32) / 4

OF_ONE = "abs cbrt cos exp log neg sign sqrt square tanh"
OF_TWO = "add div max min sub"
OF_INTEGERS = "eq ge gt le lt ne rem"
# name: a function, and its operands, of each of which there are five
CASES: dict[str, tuple[Any, ...]] = {
    **{name: (getattr(lax, name), X) for name in OF_ONE.split()},
    **{name: (getattr(lax, name), X, Y) for name in OF_TWO.split()},
    **{name: (getattr(lax, name), N, M) for name in OF_INTEGERS.split()},
    "abs-complex": (lax.abs, X + 1j * Y),
    "add_any": (lambda x: jax.grad(lambda x: jnp.sum(x * x))(x), X),
    "and": (lax.bitwise_and, B, ~B),
    "and-integers": (lax.bitwise_and, N, M),
    "clamp": (lambda x, y: lax.clamp(np.float32(-0.5), x, y), X, Y),
    "div-integers": (lax.div, N, M),
    "is_finite": (lambda x: lax.is_finite(lax.log(x)), X),
    "log1p": (lax.log1p, Y),
    "mul": (lambda x, s: x * s, X, S),
    "not": (lax.bitwise_not, B),
    "or": (lax.bitwise_or, B, ~B),
    "pow": (lax.pow, Y, X),
    "pow-integer": (lax.pow, X, N),
    "rem-floats": (lax.rem, X, Y),
    "rsqrt": (lax.rsqrt, Y),
    "broadcast_in_dim": (lambda x: lax.broadcast_in_dim(x, (4, 2, 3), (1, 2)), X),
    "broadcast_in_dim-ones": (
        lambda x: lax.broadcast_in_dim(x[:, :1], (2, 6, 4), (0, 2)),
        X[..., :1],
    ),
    "concatenate": (lambda x, y: lax.concatenate([x, y, np.ones((2, 1), np.float32)], 1), X, Y),
    "integer_pow": (lambda x: lax.integer_pow(x, 3), X),
    "integer_pow-negative": (lambda x: lax.integer_pow(x, -2), X),
    "reduce_and": (lambda x: jnp.all(x, axis=0), B),
    "reduce_max": (lambda x: jnp.max(x, axis=1), X),
    "reduce_min": (lambda x: jnp.min(x), X),
    "reduce_or": (lambda x: jnp.any(x, axis=1), B),
    "reduce_sum": (lambda x: jnp.sum(x, axis=1, keepdims=True), X),
    "reshape": (lambda x: x.reshape(3, 2), X),
    "select_n": (lambda b, x, y: lax.select(b, x, y), B, X, Y),
    "select_n-scalar": (lambda s, x, y: lax.select(s > 0.5, x, y), S, X, Y),
    "select_n-three": (lambda n, x, y: lax.select_n(jnp.abs(n) % 3, x, y, -x), N, X, Y),
    "squeeze": (lambda x: lax.squeeze(x[None, :, None], (0, 2)), X),
    "transpose": (lambda x: x.T, X),
    "convert_element_type": (lambda x: x.astype(jnp.int32), X),
    "convert_element_type-narrow": (lambda x: x.astype(jnp.bfloat16).astype(jnp.float32), X),
    # By another way.
    "jit": (jax.jit(lambda x: x + 1), X),
    "checkpoint": (jax.checkpoint(lambda x: x + 1), X),
    "custom_jvp": (jax.nn.relu, X),
    "cond": (lambda s, x: lax.cond(s > 0.5, lambda: x, lambda: jnp.ones_like(x)), S, X),
    "switch": (
        lambda s, x: lax.switch((4 * s).astype(int), [lambda: x, lambda: -x, lambda: x + s]),
        S,
        X,
    ),
    "copy": (jnp.copy, X),
    "dot_general": (lambda x, y: x @ y.T, X, Y),
    "no numbers": (lambda x: jnp.where(x[:0] > 1, x[:0], x[:0].sum(axis=1)[:, None]) * 2, X),
    "cumsum": (lambda x: jnp.cumsum(x, axis=1), X),
    "while": (lambda s: lax.while_loop(lambda s: s < 3, lambda s: s + 1, s), S),
    "iota": (lambda x: x * lax.broadcasted_iota(np.float32, (2, 3), 1), X),
    "narrow": (lambda x: jnp.tanh(x.astype(jnp.bfloat16)), X),
    "random": (lambda n: jax.random.uniform(jax.random.key(n[0, 0])), N),
}


def test_every_function_has_a_case():
    assert {*_ELEMENTWISE, *_OTHERS} <= {*CASES}


@pytest.mark.parametrize("name", CASES)
def test_as_jax_evaluates_it(name):
    f, *operands = CASES[name]
    program = jax.make_jaxpr(f)(*(x[0] for x in operands))
    expected = np.stack([f(*xs) for xs in zip(*operands, strict=True)])
    (received,) = aside(lambda: Evaluation(program)(operands))
    assert received.dtype == expected.dtype
    received, expected = (
        np.asarray(x, np.result_type(x.dtype, np.float32)) for x in (received, expected)
    )
    np.testing.assert_allclose(received, np.broadcast_to(expected, received.shape), rtol=1e-5)


def test_the_branch_of_another_input_is_not_run():
    """It would not end."""

    def f(x):
        return lax.cond(x > 1, lambda: lax.while_loop(lambda y: y != 1, lambda y: y, x), lambda: x)

    (received,) = aside(
        lambda: Evaluation(jax.make_jaxpr(f)(1.0))([np.array([0.5, 1.0], np.float32)])
    )
    np.testing.assert_array_equal(received, [0.5, 1.0])


def test_what_is_traced_around_has_a_number():
    found = []

    @jax.jit
    def step(rate):
        program = jax.make_jaxpr(lambda x: x * rate)(1.0)
        found.extend(Evaluation(program, fill=0.3)([np.ones(2, np.float32)]))
        return rate

    step(2.0)
    np.testing.assert_allclose(found[0], [0.3, 0.3])


@pytest.mark.parametrize("f", [lambda x: lax.psum(x, "d"), lambda x: jax.jit(printed)(x)])
def test_what_cannot_run_by_itself(f):
    program = jax.make_jaxpr(f, axis_env=[("d", 2)])(1.0)
    with pytest.raises(CannotRun):
        aside(lambda: Evaluation(program)([np.ones(AT_A_TIME, np.float32)]))


def printed(x):
    jax.debug.print("{}", x)
    return x


def test_an_option_that_xla_lacks_is_left_out_alone(monkeypatch):
    """The XLA of jax 0.12 lacks one option. The other options save most of the compile time."""
    options = {**evaluation._FAST, "xla_no_such_option": True}
    monkeypatch.setattr(evaluation, "_FAST", options)
    evaluation._compile(jax.jit(lambda x: x + 1).lower(1.0))
    assert "xla_no_such_option" not in options
    assert options["xla_backend_optimization_level"] == 0
