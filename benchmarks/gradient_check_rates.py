"""How often `jaxops.testing.check_grads` errs: right gradients that fail, wrong ones that pass.

    python benchmarks/gradient_check_rates.py --seeds 200

Each function is checked at as many random points as there are seeds, as it is and with four
mistakes in its reverse mode. The last row of each setting is for the table in
`docs/gradient_checks.md`. XLA_FLAGS=--xla_cpu_max_isa=SSE4_2 in front has the numbers round as on
another processor.
"""

import argparse
import collections
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

import jaxops
from jaxops import testing
from jaxops.testing import _grads

ROWS = np.arange(30) % 10
RECEIVED = ROWS * 7 % 10


def normal(*shapes):
    """Draws arguments of these shapes."""
    return lambda rng: [rng.normal(size=shape) for shape in shapes]


def uniform(least, most, size):
    return lambda rng: [rng.uniform(least, most, size)]


def network(activation):
    def loss(x, w, b, v):
        return jnp.mean((activation(x @ w + b[None]) @ v) ** 2)

    return loss


def parameters(rng):
    x, w, v = normal((32, 8), (8, 16), (16, 4))(rng)
    return [x, w / 3, np.zeros(16), v / 4]


def parameters_beside_a_kink(rng):
    """One of the units switches at a distance from 1e-7 to 1e-2."""
    x, w, b, v = parameters(rng)
    row, unit = rng.integers(len(x)), rng.integers(len(b))
    distance = rng.choice([-1, 1]) * 10 ** rng.uniform(-7, -2)
    b[unit] = distance - x[row] @ w[:, unit]
    return [x, w, b, v]


def messages(h, w):
    sent = jaxops.gather(h, RECEIVED) @ w
    return jnp.tanh(jaxops.scatter_nd(ROWS[:, None], sent, h.shape))


FUNCTIONS = {
    "sin": (jnp.sin, normal(20)),
    "log": (jnp.log, uniform(0.05, 1, 20)),
    "reciprocal": (lambda x: 1 / x, normal(20)),
    "sum of exp": (lambda x: jnp.exp(x).sum(), normal(50)),
    "square loss": (lambda x: ((x - 1) ** 2).mean(), normal(100)),
    "sin(30 x)": (lambda x: jnp.sin(30 * x), normal(30)),
    "tanh network": (network(jnp.tanh), parameters),
    "ReLU network": (network(jax.nn.relu), parameters),
    "softmax loss": (lambda x: -jnp.mean(jax.nn.log_softmax(x)[:, 0]), normal((32, 10))),
    "messages": (messages, normal((10, 4), (4, 4))),
    "cumprod": (jnp.cumprod, uniform(0.5, 1.5, 8)),
    "gather": (lambda x: jaxops.gather(x, [1, 1, 0]), normal((4, 3))),
    "max of columns": (lambda x: x.max(0), normal((30, 7))),
    "mean of 10,000 cubes": (lambda x: jnp.mean(x**3), normal(10_000)),
    "x cos(x)": (lambda x: x * jnp.cos(x), normal(())),
    "100 + x^2": (lambda x: 100 + x**2, normal(5)),
    "beside a kink": (network(jax.nn.relu), parameters_beside_a_kink),
}
SETTINGS = {
    "float64": ("float64", None),
    "float32": ("float32", None),
    "float16": ("float16", None),
    "bfloat16, numeric_dtype=float32": ("bfloat16", "float32"),
    "bfloat16": ("bfloat16", None),
}


def scaled(factor):
    return lambda gradients, element: [g * g.dtype.type(factor) for g in gradients]


def one_sign(gradients, element):
    """`element` counts through all arguments."""
    changed, start = [], 0
    for g in gradients:
        place = jnp.arange(start, start + g.size).reshape(g.shape)
        changed.append(jnp.where(place == element, -g, g))
        start += g.size
    return changed


MISTAKES = {"1 %": scaled(1.01), "5 %": scaled(1.05), "2 x": scaled(2), "1 element": one_sign}
COLUMNS = ["fails: wrong", "fails: unclear", *(f"{name} passes" for name in MISTAKES)]


def mistaken(f, mistake):
    """`f` with a mistake in its reverse mode; its last argument says in which element."""

    @jax.custom_vjp
    def g(*args):
        return f(*args[:-1])

    def forward(*args):
        results, pullback = jax.vjp(f, *args[:-1])
        return results, (pullback, args[-1])

    def backward(residuals, cotangents):
        pullback, element = residuals
        return *mistake(pullback(cotangents), element), None

    g.defvjp(forward, backward)
    return jax.jit(g)


def verdict(f, args, seed, **options):
    try:
        testing.check_grads(f, *args, seed=seed, jit=None, **options)
    except AssertionError as error:
        unclear = "could not be checked" in str(error) or "has a kink" in str(error)
        return "unclear" if unclear else "wrong"
    return "passes"


def rates(name, dtype, numeric_dtype, seeds):
    """How many of `seeds` went wrong, by column."""
    f, draw = FUNCTIONS[name]
    right = jax.jit(f)
    wrong = {mistake: mistaken(f, change) for mistake, change in MISTAKES.items()}

    @jax.jit
    def gradients(*args):
        results, pullback = jax.vjp(f, *args)
        return pullback(jnp.ones_like(results))

    count = collections.Counter()
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        args = [np.asarray(x, jnp.dtype(dtype)) for x in draw(rng)]
        found = verdict(right, args, seed, numeric_dtype=numeric_dtype)
        count[f"fails: {found}"] += 1
        there = np.concatenate([np.ravel(g) for g in gradients(*args)])
        element = np.array(rng.choice(np.flatnonzero(there)))
        options = {"modes": "rev", "numeric_dtype": numeric_dtype}
        # The element is not looked for, which takes long and lets nothing pass.
        with mock.patch.object(_grads, "find_worst", return_value=None):
            for mistake, g in wrong.items():
                count[f"{mistake} {verdict(g, [*args, element], seed, **options)}"] += 1
    return [count[column] for column in COLUMNS]


def main():
    parser = argparse.ArgumentParser(description="How often check_grads errs.")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--functions", nargs="+", choices=FUNCTIONS, default=list(FUNCTIONS))
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    print("| | " + " | ".join(COLUMNS) + " |\n|---|" + "---|" * len(COLUMNS))
    for setting in options.settings:
        dtype, numeric_dtype = SETTINGS[setting]
        total = np.zeros(len(COLUMNS), int)
        for name in options.functions:
            found = rates(name, dtype, numeric_dtype, options.seeds)
            total += found
            print(f"| {setting}: {name} | " + " | ".join(map(str, found)) + " |", flush=True)
        shares = 100 * total / (options.seeds * len(options.functions))
        print(f"| {setting} | " + " | ".join(f"{x:.1f} %" for x in shares) + " |", flush=True)


if __name__ == "__main__":
    main()
