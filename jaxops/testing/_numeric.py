"""Derivatives along a direction by central differences, with an estimate of their error.

The docstring of the module `_grads.py` has the formulas, and the decisions made by them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxops.testing._leaves import (
    Arrays,
    from_coordinates,
    is_complex,
    pairing,
    root_mean_square,
    terms,
    to_coordinates,
    widen,
)

# An error that is estimated from few differences may be several times as large.
SAFETY = 4.0


class Ladder(NamedTuple):
    """Steps relative to the operands, from one too wide to one that drowns in rounding errors."""

    first: float
    ratio: float
    count: int

    @property
    def steps(self) -> list[float]:
        return [self.first / self.ratio**n for n in range(self.count)]


# By the number of binary digits after the first. The error of a difference is least near the cube
# root of the rounding error, for a function that varies as its argument does; steps on both sides
# of it show where that is for the function at hand, and how much its values jitter.
LADDERS = {
    7: Ladder(2.0**-2, 2.0, 5),  # bfloat16
    10: Ladder(2.0**-2, 2.0, 7),  # float16
    23: Ladder(2.0**-4, 4.0, 7),  # float32
    52: Ladder(2.0**-4, 32.0, 8),  # float64
}


def digits(dtype) -> int:
    """Binary digits after the first."""
    return jnp.finfo(dtype).nmant


def ladder_for(dtypes: Sequence[Any]) -> Ladder:
    """The ladder of the coarsest dtype."""
    return LADDERS[min(map(digits, dtypes))]


class Direction(NamedTuple):
    """A point, and the tangent along which to move from it.

    `origin + step * tangent` is a number of the dtype for each step of the ladder and for its
    negative. So the function moves exactly along the tangents that the derivative gets.
    """

    origin: Arrays
    tangents: Arrays

    @property
    def sizes(self) -> list[int]:
        """How many coordinates each array has."""
        return [to_coordinates(u).size for u in self.tangents]

    def along(self, tangents: Arrays) -> Direction:
        return Direction(self.origin, tangents)


def random_direction(operands: Arrays, ladder: Ladder, dtypes: list, seed) -> Direction:
    """Moves each element in proportion to itself; a 0 in proportion to its array, or to 1.

    The origin may differ from the operands by half a unit in the last place. `dtypes` are those in
    which the function will be evaluated.
    """
    rng = np.random.default_rng(seed)
    pairs = [_move(x, ladder, dtype, rng) for x, dtype in zip(operands, dtypes, strict=True)]
    return Direction([origin for origin, _ in pairs], [tangent for _, tangent in pairs])


def _move(x: np.ndarray, ladder: Ladder, dtype, rng) -> tuple[np.ndarray, np.ndarray]:
    """The origin near `x` and the tangent, for one array."""
    wide = widen(x)
    size = np.abs(wide).reshape(-1)
    is_zero = size < 4 * float(jnp.finfo(x.dtype).tiny)
    scale = np.where(is_zero, 1.0 if is_zero.all() else root_mean_square(size), size)
    if is_complex(x):
        scale = np.repeat(scale, 2)
    coordinates = wide.reshape(-1).view(np.float64)
    # The spacing of the numbers as large as the largest that will be reached.
    _, exponent = np.frexp(np.abs(coordinates) + 1.5 * ladder.first * scale)
    spacing = np.ldexp(float(jnp.finfo(dtype).eps), exponent - 1)
    origin = np.round(coordinates / spacing) * spacing
    # Of different sizes: with +-1 two errors of one size would cancel in every second direction.
    length = rng.uniform(0.5, 1.5, scale.shape)
    last = ladder.steps[-1]
    moved = np.maximum(np.round(last * scale * length / spacing), 1) * spacing
    sign = np.where(rng.random(scale.shape) < 0.5, -1.0, 1.0)
    return from_coordinates(origin, x), from_coordinates(sign * moved / last, x)


def aligned(direction: Direction, gradients: Arrays) -> Direction:
    """The direction with the signs of the gradients, so that all elements pull the same way.

    Along random signs the slopes of `n` elements nearly cancel, to the root of `n` times a typical
    one, and may be less than the rounding errors of a sum over all of them.
    """
    tangents = []
    for u, g in zip(direction.tangents, gradients, strict=True):
        # Of the conjugate, as the derivative along 1j is the real part of 1j * g.
        sign = np.sign(to_coordinates(np.conj(widen(g))))
        coordinates = to_coordinates(u)
        coordinates = np.where(sign == 0, coordinates, sign * np.abs(coordinates))
        tangents.append(from_coordinates(coordinates, u))
    return direction.along(tangents)


def within(direction: Direction, coordinates: np.ndarray | slice) -> Direction:
    """`direction` in these coordinates, counted through all its arrays, and 0 in others."""
    whole = np.concatenate([to_coordinates(u) for u in direction.tangents])
    masked = np.zeros_like(whole)
    masked[coordinates] = whole[coordinates]
    masked = np.split(masked, np.cumsum(direction.sizes)[:-1])
    pairs = zip(masked, direction.tangents, strict=True)
    return direction.along([from_coordinates(part, u) for part, u in pairs])


def with_other_signs(direction: Direction, seed: int) -> Direction:
    """`direction` with random signs, for a second look at a sum that is off."""
    rng = np.random.default_rng(seed)
    tangents = []
    for u in direction.tangents:
        coordinates = to_coordinates(u)
        tangents.append(from_coordinates(coordinates * rng.choice([-1, 1], coordinates.shape), u))
    return direction.along(tangents)


def random_cotangents(results: Arrays, seed) -> Arrays:
    """1 for a function that returns one real number; else random, to weigh the arrays alike."""
    if sum(y.size for y in results) == 1 and not any(map(is_complex, results)):
        return [np.ones_like(y) for y in results]
    rng = np.random.default_rng(seed)
    cotangents = []
    for y in results:
        size = root_mean_square(np.abs(widen(y)))
        exponent = np.clip(-np.round(np.log2(size)), -8, 8) if size else 0.0
        shape = (*y.shape, 2) if is_complex(y) else y.shape
        signed = rng.uniform(0.5, 1.5, shape) * np.where(rng.random(shape) < 0.5, -1, 1)
        cotangents.append(from_coordinates(2.0**exponent * signed.reshape(-1), y))
    return cotangents


class Estimate(NamedTuple):
    """The derivative of `pairing(cotangents, f)` along a direction, as differences have it.

    By default unknown.
    """

    value: float = np.nan
    error: float = np.inf  # estimated; infinite where the differences say nothing
    jump: float = 0.0  # how much the slopes of the two sides differ, if at every step; else 0
    by_step: Sequence[tuple[float, float]] = ()  # steps and slopes
    best: int = 0  # the number of the chosen step
    noise: float = np.inf  # how much `pairing(cotangents, f)` jitters

    @property
    def bound(self) -> float:
        return SAFETY * self.error


def moved(direction: Direction, step: float, dtypes: Sequence[Any]) -> Arrays:
    """`origin + step * tangent`, in the dtypes in which the function is evaluated."""
    return [
        (widen(x) + step * widen(u)).astype(dtype)
        for x, u, dtype in zip(direction.origin, direction.tangents, dtypes, strict=True)
    ]


class Line(NamedTuple):
    """A function along a direction, its results paired with `cotangents`."""

    evaluate: Callable[[Arrays], Arrays]
    direction: Direction
    cotangents: Arrays
    center: Arrays  # the results at the origin
    dtypes: Sequence[Any]
    steps: Sequence[float]

    def at(self, step: float) -> Arrays:
        """The results at a step, widened."""
        return [widen(y) for y in self.evaluate(moved(self.direction, step, self.dtypes))]


def estimate(line: Line, noise: float, may_be_still: bool = False) -> Estimate:
    """The derivative from two evaluations a step.

    `noise` is the result of `noise_of`. With `may_be_still` a step that changes nothing shows a
    slope of 0: a small step of an element that is not the maximum does not change `max`.
    """
    slopes, jumps = [], []
    resolved = False
    center, cotangents = list(map(widen, line.center)), line.cotangents
    for step in line.steps:
        plus, minus = line.at(step), line.at(-step)
        with np.errstate(invalid="ignore", over="ignore"):
            odd = [p - m for p, m in zip(plus, minus, strict=True)]
            even = [p - 2 * c + m for p, m, c in zip(plus, minus, center, strict=True)]
            slopes.append(pairing(cotangents, odd) / (2 * step))
            jumps.append(pairing(cotangents, even) / step)
        changed = any(y.any() for y in (*odd, *even))
        # If nothing changes, rounding within the function swallowed the step, or the step moved
        # elements that change nothing (test_grads.py, test_elements_that_change_nothing_are_known).
        if resolved and not changed and not may_be_still:
            slopes[-1] = np.nan
        resolved = resolved or changed
    return _judge(np.array(slopes), np.array(jumps), np.array(line.steps), noise)


def noise_of(line: Line) -> float:
    """The jitter of `pairing(cotangents, f)` by its rounding errors. Six evaluations a step.

    From the fourth differences of values at equal small steps: a smooth function leaves hardly
    anything in them, while independent errors grow by the root of 1 + 16 + 36 + 16 + 1.
    """
    noise = 0.0
    center = list(map(widen, line.center))
    # By the narrowest step all values may move by equally many of their last bits, as those of
    # log(x) - log(1e30) do. The slopes of narrow steps then agree, and are wrong (test_grads.py,
    # test_differences_of_large_values_are_not_called_wrong).
    for step in sorted(line.steps)[:3]:
        values = []
        for n in range(-3, 4):
            results = line.at(n * step) if n else center
            with np.errstate(invalid="ignore", over="ignore"):
                change = [y - c for y, c in zip(results, center, strict=True)]
                values.append(pairing(line.cotangents, change))
        jitter = float(np.sqrt(np.mean(np.diff(values, 4) ** 2) / 70))
        # Three differences may be small by chance: twice the jitter that they show. By wider steps
        # less of that is chance, and twice as much hides what is wrong by 1/200 in a mean
        # (test_grads.py, test_wrong_gradients_are_found).
        noise = jitter if step > min(line.steps) else 2 * jitter
        if not jitter <= 1e-9 * np.abs(values).max():
            break
    # The rounding error of the pairing, if only the last operation rounds.
    rounding = [
        float(jnp.finfo(y.dtype).eps) / 2 * terms([w], [y])
        for w, y in zip(line.cotangents, line.center, strict=True)
    ]
    return max(noise, float(np.linalg.norm(rounding))) if np.isfinite(noise) else np.inf


def _judge(slopes, jumps, steps, noise_of_values: float) -> Estimate:
    """The step with the least error, and Richardson's correction of its slope.

    Example: the slopes of x^3 at 1 are 3 + step^2.
        >>> steps = np.array([1 / 4, 1 / 8, 1 / 16])
        >>> found = _judge(3 + steps**2, jumps=np.zeros(3), steps=steps, noise_of_values=0.0)
        >>> found.best, found.value, found.error
        (2, 3.0, 0.01171875)
    """
    by_step = list(zip(steps.tolist(), slopes.tolist(), strict=True))
    usable = np.flatnonzero(np.isfinite(slopes) & np.isfinite(jumps))
    if usable.size < 2:
        return Estimate(by_step=by_step, noise=noise_of_values)
    slopes, jumps, steps = slopes[usable], jumps[usable], steps[usable]
    change = np.abs(np.diff(slopes))
    noise = noise_of_values / steps
    errors = []
    for n in range(1, len(steps)):
        # A step that reaches over a kink agrees with wider ones, but not with narrower ones.
        beyond = np.abs(slopes[n + 1 :] - slopes[n]) - noise[n + 1 :]
        errors.append(max(change[n - 1], *beyond, 0.0) + noise[n])
    best = int(np.argmin(errors)) + 1
    ratio = steps[best - 1] / steps[best]
    # Richardson's: the error falls with the square of the step, so two slopes tell its size.
    value = slopes[best] + (slopes[best] - slopes[best - 1]) / (ratio**2 - 1)
    jump = _jump(jumps, noise)
    error = float(errors[best - 1])
    return Estimate(float(value), error, jump, by_step, int(usable[best]), noise_of_values)


def _jump(jumps, noise) -> float:
    """The difference of the slopes of both sides in the limit of small steps; 0 for a smooth `f`.

    `jumps` holds their difference at each step.
    """
    if len(jumps) < 3:
        return 0.0
    # Three in a row agree. A jump is made of three values with noise, hence the wide margin of 8.
    change = np.abs(np.diff(jumps))
    errors = np.maximum(change[1:], change[:-1]) + 8 * noise[2:]
    best = int(np.argmin(errors)) + 2
    jump = abs(jumps[best])
    stays = np.abs(jumps[best:]) + 8 * noise[best:] > jump / 2
    return float(jump) if jump > SAFETY * errors[best - 2] and stays.all() else 0.0


def is_smooth(bends: np.ndarray, ratio: float, least: float) -> bool:
    """Whether `bends`, by step, fall with the square of the step as far as they are over `least`.

    The widest step is left out, which may reach over a wave.
        >>> is_smooth(np.array([1, 1 / 4, 1 / 16, 1 / 64]), ratio=2.0, least=0.01)
        True
        >>> is_smooth(np.array([1, 1 / 4, 1 / 8, 0]), ratio=2.0, least=0.01)
        False
    """
    wide, narrow = bends[1:-1], bends[2:] * ratio**2
    return bool(np.all((wide <= least) | ((wide >= narrow / 2) & (wide <= narrow * 2))))


def by_reach(bends: np.ndarray, allowed: np.ndarray) -> list[np.ndarray]:
    """Numbers of the columns of `bends`, by the widest step from which on it stays `allowed`.

    >>> bends = np.array([[5, 0, 5], [0, 0, 5], [0, 0, 0]])
    >>> by_reach(bends, allowed=np.ones(3))
    [array([1]), array([0]), array([2])]
    """
    bent = ~(bends <= allowed)  # NaN is
    reach = np.where(bent.any(0), len(bends) - np.argmax(bent[::-1], 0), 0)
    return [np.flatnonzero(reach == n) for n in np.unique(reach)]
