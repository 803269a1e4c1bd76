"""`jaxops.testing`: what is right passes, what is wrong is found, where it is wrong."""

import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import SLOW, share
from own_gradients import normal, square, with_jvp, with_transpose, with_vjp

import jaxops
from jaxops import testing

FLOATS = [jnp.bfloat16, np.float16, np.float32, np.float64]


def rows_of(table):
    return jaxops.gather(table, np.array([[1, 1], [0, 3]]))


def loss(params, x):
    hidden = jnp.tanh(x @ params["w"] + params["b"][None])
    return jnp.mean(hidden**2)


PARAMS = {"w": normal(4, 5), "b": np.zeros(5, np.float32)}

RIGHT = {
    "sin": (jnp.sin, (normal(7),)),
    "reciprocal": (lambda x: 1 / x, (normal(7),)),
    "log": (jnp.log, (np.linspace(1e-3, 1, 9, dtype=np.float32),)),
    "large-and-small": (lambda x: x**2, (np.array([1e-12, 1.0, 1e12], np.float32),)),
    "wiggly": (lambda x: jnp.sin(30 * x), (normal(7),)),
    "tree": (loss, (PARAMS, normal(3, 4))),
    "two-results": (lambda x: {"a": x.sum(), "b": (x[0] ** 2, x * 3)}, (normal(3),)),
    "rows": (rows_of, (normal(4, 2),)),
    "indices-are-passed-through": (lambda x, i, n: x[i] * n, (normal(4), np.array([1, 2]), 3)),
    "mask": (lambda x, m: jnp.where(m, x**2, 0), (normal(3), np.array([True, False, True]))),
    "python-float": (jnp.cos, (0.5,)),
    "stationary": (lambda x: 1 + (x - 2) ** 2, (np.float32(2),)),
    "extrema-without-ties": (lambda x: x.max(0), (normal(9, 3),)),
    "beside-a-kink": (jax.nn.relu, (np.array([1e-4, -1e-4, 1], np.float32),)),
    "rounds-down": (jnp.floor, (np.array([0.3, 1.6], np.float32),)),
    "complex": (lambda z: jnp.exp(z) * jnp.conj(z), (normal(5) + 1j * normal(5, seed=1),)),
    "complex-to-real": (lambda z: jnp.abs(z) ** 3, ((normal(5) + 2j).astype(np.complex64),)),
    "real-to-complex": (lambda x: jnp.exp(1j * x), (normal(5),)),
    "no-elements": (lambda x, e: x**2 + e.sum(), (normal(3), np.zeros((0, 2), np.float32))),
    "no-results": (lambda x: x[:0], (normal(3),)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_gradients_pass(name):
    f, args = RIGHT[name]
    with jax.numpy_dtype_promotion("standard"):
        testing.check_grads(f, *args, order=2)  # after order 1


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: np.dtype(d).name)
def test_right_gradients_pass_from_every_seed(dtype):
    @jax.jit
    def f(h, w):
        messages = jaxops.gather(h, np.array([1, 2, 2, 0])) @ w
        return jnp.tanh(jaxops.scatter_nd([[0], [0], [1], [3]], messages, [4, 3]))

    with jax.enable_x64(True):
        for seed in range(8):
            h, w = normal(3, 2, seed=seed, dtype=dtype), normal(2, 3, seed=-seed % 97, dtype=dtype)
            testing.check_grads(f, h, w, seed=seed, jit=None)


def cube_wrong_in_second_order(x):
    """Its first derivative is right, and is a constant to the second."""
    return with_jvp(lambda x: x**3, lambda x, t: 3 * jax.lax.stop_gradient(x) ** 2 * t)(x)


def nested(params):
    wrong = with_vjp(square, lambda x, c: (2 * x * c).at[1, 2].multiply(-1))
    return (params["a"] ** 2).sum() + wrong(params["b"]["c"]).sum()


def cube_wrong_in_second_order_by_one_percent(x):
    slope = with_jvp(lambda x: 3 * x**2, lambda x, t: 6.06 * x * t)
    return with_jvp(lambda x: x**3, lambda x, t: slope(x) * t)(x)


def beside_a_large_one(args):
    """Of which nothing is seen in the sum, twice too large as the gradient of it is."""
    large, small = args
    wrong = with_vjp(lambda x: jnp.sum(x) / 2048, lambda x, c: c * jnp.ones_like(x) / 1024)
    return 4 * jnp.sum(large**2) + wrong(small)


def of_several_results(x):
    wrong = with_vjp(square, lambda x, c: x * c)
    return {"large": 1e6 * (x**2).sum(), "small": 1e-4 * wrong(x)}


def with_an_integer(args):
    x, n = args
    wrong = jax.custom_vjp(lambda x, n: x**2 * n)
    wrong.defvjp(lambda x, n: (x**2 * n, (x, n)), lambda r, c: (2.02 * r[0] * r[1] * c, None))
    return wrong(x, n.astype(x.dtype))


POINT = np.array([1.5, -2, 0.5, 3], np.float32)
# function, point, modes, order, what the message says
WRONG = {
    "factor": (with_vjp(square, lambda x, c: x * c), POINT, "rev", 1, ["reverse mode", "4 of 4"]),
    "sign": (with_vjp(square, lambda x, c: -2 * x * c), POINT, "rev", 1, ["4 of 4"]),
    "element": (
        with_vjp(square, lambda x, c: (2 * x * c).at[2].add(0.1)),
        *(POINT, "rev", 1, [r"wrong at args\[0\]\[2\]:", "1 of 4"]),
    ),
    "swapped": (
        with_vjp(square, lambda x, c: (2 * x * c)[jnp.array([0, 3, 2, 1])]),
        *(POINT, "rev", 1, [r"args\[0\]\[[13]\]", "2 of 4"]),
    ),
    "one-percent": (with_vjp(square, lambda x, c: 2.02 * x * c), POINT, "rev", 1, ["4 of 4"]),
    "zero": (with_vjp(square, lambda x, c: 0 * c), POINT, "rev", 1, ["received 0;", "4 of 4"]),
    "missing-term": (
        with_vjp(lambda x: x * x[::-1], lambda x, c: x[::-1] * c),
        *(POINT, "rev", 1, ["4 of 4"]),
    ),
    "in-reverse-only": (
        lambda x: with_transpose(lambda b: 2 * b, lambda b: -2 * b)(jnp.sin(x)),
        *(POINT, ("fwd", "rev"), 1, ["reverse mode", "4 of 4"]),
    ),
    "small-argument": (
        lambda args: beside_a_large_one(args),
        *([normal(3), normal(3)], "rev", 1, [r"wrong at args\[0\]\[1\]\[\d\]:", "3 of 3"]),
    ),
    "small-result": (
        lambda x: of_several_results(x),
        *(POINT, "rev", 1, [r"wrong at args\[0\]\[\d\]:", r"of result\['small'\], each times"]),
    ),
    "integer": (
        lambda args: with_an_integer(args),
        *([POINT, np.array([1, 2, 3, 4], np.int32)], "rev", 1, [r"args\[0\]\[0\]\[\d\]", "4 of 4"]),
    ),
    "mean-of-a-million": (
        lambda x: with_vjp(square, lambda x, c: 2.01 * x * c)(x).mean(),
        *(normal(1_000_000), "rev", 1, ["in smaller parts it does not show"]),
    ),
    "jvp": (with_jvp(square, lambda x, t: x * t), POINT, ("fwd", "rev"), 1, ["forward mode"]),
    "jvp-element": (
        with_jvp(square, lambda x, t: 2 * x * t.at[3].set(0)),
        *(POINT, "fwd", 1, [r"wrong at args\[0\]\[3\]:", r"the most in result\[3\]"]),
    ),
    "jvp-of-the-second-result": (
        with_jvp(lambda x: (x**2, x**3), lambda x, t: (2 * x * t, 3.3 * x**2 * t)),
        *(POINT, "fwd", 1, ["forward mode", r"the most in result\[1\]\[3\]"]),
    ),
    "scalar": (
        with_vjp(square, lambda x, c: x * c),
        *(np.float32(3), "rev", 1, [r"args\[0\]:\n  expected 6 .*, received 3;", "order 1"]),
    ),
    "scalar-beside-a-vector": (
        lambda args: with_vjp(square, lambda x, c: x * c)(args[0]) + args[1].sum(),
        *([np.float32(3), POINT], "rev", 1, [r"args\[0\]\[0\]:\n  expected .*\n  order 1"]),
    ),
    "tree": (
        lambda p: nested(p),
        {"a": normal(3), "b": {"c": normal(2, 4)}},
        *("rev", 1, [r"args\[0\]\['b'\]\['c'\]\[1,2\]:", "1 of 8"]),
    ),
    "second-order": (
        cube_wrong_in_second_order,
        *(POINT, "fwd", 2, ["second derivative", r"forward mode \(jvp\) over forward", "order 2"]),
    ),
    "second-order-reverse": (
        cube_wrong_in_second_order,
        *(POINT, "rev", 2, ["second derivative", r"reverse mode \(vjp\) over reverse"]),
    ),
    "second-order-by-one-percent": (
        cube_wrong_in_second_order_by_one_percent,
        *(POINT, ("fwd", "rev"), 2, ["second derivative", "order 2"]),
    ),
    "complex-cotangent": (
        with_vjp(lambda z: z * z, lambda z, c: 2 * z * jnp.conj(c)),
        *((normal(2) + 1j).astype(np.complex64), "rev", 1, [r"the (real|imaginary) part of args"]),
    ),
    "complex": (
        with_vjp(lambda z: z * z, lambda z, c: 2 * jnp.conj(z) * c),
        *((normal(2) + 1j).astype(np.complex64), "rev", 1, [r"the (real|imaginary) part of args"]),
    ),
    "imaginary": (
        with_vjp(lambda z: z * z, lambda z, c: (2 * z * c).at[1].add(0.5j)),
        *((normal(2) + 1j).astype(np.complex64), "rev", 1),
        [r"the imaginary part of args\[0\]\[1\]:", "1 of 4"],
    ),
    "nan": (lambda x: jnp.sqrt(x), np.array([1, 0], np.float32), "rev", 1, [r"not finite.*\[1\]"]),
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=SLOW if n == "mean-of-a-million" else []) for n in WRONG]
)
def test_wrong_gradients_are_found(name):
    f, point, modes, order, texts = WRONG[name]
    if order == 2:
        testing.check_grads(f, point, modes=modes)
    with pytest.raises(AssertionError) as info:
        testing.check_grads(f, point, modes=modes, order=order, seed=5)
    for text in (*texts, "seed=5"):
        assert re.search(text, str(info.value)), info.value


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_a_factor_is_found_in_every_dtype_from_every_seed(dtype, mode):
    make = {"fwd": with_jvp, "rev": with_vjp}[mode]
    factor = 3 if dtype is jnp.bfloat16 else 1.5
    with jax.enable_x64(True):
        wrong = jax.jit(make(jnp.sin, lambda x, c: jnp.cos(x) * c * np.asarray(factor, dtype)))
        for seed in range(5):
            point = normal(6, seed=seed, dtype=dtype)
            with pytest.raises(AssertionError, match=r"is wrong at args\[0\]"):
                testing.check_grads(wrong, point, modes=mode, seed=seed, jit=None)


def test_what_nearly_cancels_may_round_differently():
    """The residuals of a solution are rounding errors, not the same in each program."""
    matrix, b = normal(20, 20), normal(20, seed=1)
    solution = np.linalg.solve(matrix.astype(np.float64), b).astype(np.float32)

    def f(x):
        value = jax.custom_jvp(lambda x: matrix @ x - b)
        value.defjvp(lambda x, t: (matrix[:, ::-1] @ x[0][::-1] - b, matrix @ t[0]))
        return value(x)

    assert (f(solution) != jax.jvp(f, (solution,), (solution,))[0]).any()
    testing.check_grads(f, solution)


def test_differences_of_large_values_are_not_called_wrong():
    """The values of `coarse` are multiples of 2**-17, as values of sums that cancel may be."""

    def coarse(x):
        y = 2 * (x - 1)
        return y + jax.lax.stop_gradient(jnp.round(y * 2**17) / 2**17 - y)

    for seed in range(6):
        testing.check_grads(coarse, np.float32(1), seed=seed)


def test_what_is_wrong_by_chance_is_unclear():
    """A unit of this network switches within the narrowest step: in no array alone it shows."""

    def loss(x, w, b, v):
        return jnp.mean((jax.nn.relu(x @ w + b[None]) @ v) ** 2)

    rng = np.random.default_rng(80)
    x, w, v = (rng.normal(size=s).astype(np.float64) for s in ((32, 8), (8, 16), (16, 4)))
    args = [a.astype(np.float32) for a in (x, w / 3, np.zeros(16), v / 4)]
    try:
        testing.check_grads(loss, *args, seed=80)
    except AssertionError as error:  # not in every version of JAX, which rounds differently
        assert "could not be checked" in str(error)  # noqa: PT017


def with_a_bend(bend, distance):
    """Its slope at 1 grows by `bend`, at `distance` from there."""
    return jax.jit(lambda x: x**2 + bend * jax.nn.relu(x - np.float32(1 + distance)))


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
@pytest.mark.parametrize("distance", [1e-6, 1e-5, 1e-4, -1e-6])
@pytest.mark.parametrize("bend", [0.002, -0.004, 0.016])
def test_a_right_gradient_beside_a_kink_is_not_called_wrong(bend, distance, seed):
    """The kink is nearer than any step that rounding lets see it: all slopes are off alike."""
    try:
        testing.check_grads(with_a_bend(bend, distance), np.float32(1), seed=seed, jit=None)
    except AssertionError as error:
        assert re.search("could not be checked|has a kink", str(error))  # noqa: PT017


@pytest.mark.parametrize("distance", [1e-6, 1e-5, 1e-4, -1e-6])
def test_a_wrong_gradient_beside_a_kink_is_found(distance):
    f = with_a_bend(0.004, distance)
    wrong = jax.jit(with_vjp(f, lambda x, c: 1.02 * jax.vjp(f, x)[1](c)[0]))
    with pytest.raises(AssertionError, match="is wrong at"):
        testing.check_grads(wrong, np.float32(1), modes="rev", jit=None)


def cells_of(points):
    """The eight cells of a grid around each of some points in 3D, and linear weights for them."""
    corner = jnp.floor(points)
    share, cell = points - corner, corner.astype(jnp.int32)
    for offset in np.ndindex(2, 2, 2):
        weights = jnp.where(np.array([offset]) == 1, share, 1 - share).prod(1)
        yield cell + np.array([offset], np.int32), weights


def splatted(points, target):
    grid = sum(jaxops.scatter_nd(*cells, target.shape) for cells in cells_of(points))
    return jnp.mean((grid - target) ** 2)


def sampled(points, volume):
    """The inverse of `splatted`."""
    values = sum(weights * jaxops.gather_nd(volume, cell) for cell, weights in cells_of(points))
    return jnp.mean(values**2)


KINKED = {
    "segment-max": lambda x, y: jnp.mean(jaxops.unsorted_segment_max(x, np.arange(40) % 7, 7) ** 2),
    "splatted": splatted,
    "clip": lambda x, y: jnp.mean(jnp.clip(x, 1, 3) ** 3),
    "sampled": sampled,
    "relu": lambda x, y: jnp.mean((jax.nn.relu(x - 2) @ normal(3, 4).astype(x.dtype)) ** 2),
    "abs": lambda x, y: jnp.mean(jnp.abs(normal(30, 40).astype(x.dtype) @ x)),
    "sort": lambda x, y: jnp.sum(jnp.sort(x, 0) * normal(40, 3).astype(x.dtype)) ** 2,
    "piecewise-linear": lambda x, y: jnp.mean(
        jnp.interp(x, np.arange(5).astype(x.dtype), normal(5).astype(x.dtype)) ** 2
    ),
}


def kinked(name, seed, dtype=np.float32):
    """The function, a point, and an element of it whose share in the slope is a common one."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(5, 5, 5)).astype(dtype)
    x = rng.uniform(0.5, 3.5, (40, 3)).astype(dtype)
    f = jax.jit(lambda x: KINKED[name](x, y))
    shares = np.abs(jax.grad(f)(x) * x).reshape(-1)
    element = np.argsort(np.where(shares, shares, np.inf))[np.count_nonzero(shares) // 2]
    return f, x, np.unravel_index(element, x.shape)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", share(KINKED, 2))
@pytest.mark.filterwarnings("ignore:check_grads:UserWarning")
def test_one_wrong_element_is_found_among_kinks(name, dtype):
    with jax.enable_x64(True):
        for seed in (1, 2):
            f, x, element = kinked(name, seed, dtype)
            testing.check_grads(f, x, modes="rev", seed=seed, jit=None)

            def scaled(x, c, factor, f=f, element=element):
                return jax.grad(f)(x).at[element].multiply(factor) * c

            for factor in (0, -1):
                wrong = jax.jit(with_vjp(f, functools.partial(scaled, factor=factor)))
                with pytest.raises(AssertionError, match=r"is wrong at args\[0\]"):
                    testing.check_grads(wrong, x, modes="rev", seed=seed, jit=None)


@pytest.mark.parametrize("name", ["clip", "segment-max"])
def test_elements_that_change_nothing_are_known(name):
    """Beside kinks of others, in float32, in which narrow steps of these are lost: no warning."""
    f, x, _ = kinked(name, 1)
    testing.check_grads(f, x, modes="rev", seed=1, jit=None)


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_elements_beside_a_kink_are_named(mode):
    """Each has a kink, the first the nearest; beside 30 the slopes of narrow steps are lost."""
    x = np.linspace(1, 2, 40, dtype=np.float32)
    at = (x * (1 + np.geomspace(2e-4, 0.1, 40))).astype(np.float32)
    f = jax.jit(lambda x: 30 + jnp.mean(x**2 + 3 * jax.nn.relu(x - at)))
    for seed in range(3):
        with pytest.warns(UserWarning, match="could not be checked, as f has kinks") as warned:
            testing.check_grads(f, x, modes=mode, seed=seed, jit=None)
        text = str(warned[0].message)
        (numbers,) = re.findall(r"at (\d+) of 40 elements: args\[0\]\[(\d+)\]", text)
        count, first = numbers
        assert int(count) < 20, text
        more = sum(map(int, re.findall(r"and (\d+) more", text)))
        assert len(re.findall(r"args\[0\]\[", text)) + more == int(count), text
        assert int(first) < 5, text
        assert warned[0].filename == __file__
