"""`jaxops.testing.check_grads`, its arguments checked: one order after the other.

How it decides, for each order, along each of a few directions `u` and with cotangents `w`:

- Estimate. The slope of `w . f` along `u` is taken by central differences at steps that fall from
  wide, where `f` bends, to narrow, where it drowns in rounding (`_testing_numeric`). The error of a
  step is how much its slope differs from that of the next wider step, or from those of narrower
  steps by more than their noise; its own noise on top. The step with the least error counts, with
  Richardson's correction; `bound` is four times the error.
- Noise. What `w . f` jitters by: the fourth differences of seven values at tiny steps, twice, and
  at least half a unit in the last place. Over a step it makes an error of `noise / step`.
- Tolerance. `bound`, and `rtol` of the derivative's size: that of its terms, where they cancel.
- Right: the derivative differs from the estimate by the tolerance at most. One direction must know
  the derivative to a third, else all of this says nothing and the check "could not be done".
- Kinks. Where the slopes of the two sides differ by the same amount at every step, the derivative
  does not exist at the point. A kink beside the point, nearer than the steps, is not seen so: all
  slopes are the mean of those of its two sides, and agree. But the derivative itself then jumps
  within the step, and a right one is off by at most half of its bend there (`_bend`).
- Wrong for certain: off by more than the tolerance and the bend, with a bound of a quarter of the
  derivative at most, and off so again in the array or the element where it is off most, or, if it
  is so in none alone, along other signs.
- Unsure: off, but not wrong for certain. The check fails, and says that it could not be done. An
  array that is looked at by itself fails only if it is wrong for certain.
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

import jax.numpy as jnp
import numpy as np

from jaxops.testing import _numeric as numeric
from jaxops.testing._function import Differentiated, Settings
from jaxops.testing._leaves import (
    Arrays,
    Problem,
    coordinate_name,
    element_name,
    pairing,
    terms,
    to_coordinates,
    widen,
    within,
)
from jaxops.testing._numeric import Direction, Estimate
from jaxops.testing._search import Place, Probe, find_worst

# How large the error of the differences may be, relative to the derivative: to say that this is
# right, and to say that it is wrong.
KNOWN, KNOWN_WELL = 1 / 3, 1 / 4
# An array whose share in the derivative is less than this many tolerances is looked at alone.
SEEN = 10.0


class Comparison(NamedTuple):
    """One mode along one direction."""

    mode: str
    direction: Direction
    cotangents: Arrays
    derivative: Arrays  # tangents of the results, or gradients of the operands
    numeric: Estimate

    @property
    def weights(self) -> Arrays:
        """What the derivative is paired with."""
        return self.cotangents if self.mode == "fwd" else self.direction.tangents

    @property
    def received(self) -> float:
        return pairing(self.weights, self.derivative)

    @property
    def scale(self) -> float:
        """What was received, or would have been if terms had not cancelled by chance."""
        return max(abs(self.received), terms(self.weights, self.derivative))

    @property
    def whole_scale(self) -> float:
        value = self.numeric.value
        return max(self.scale, abs(value) if np.isfinite(value) else 0.0)


def check(problem: Problem, settings: Settings, order: int) -> None:
    _Order(problem, settings, trail=()).check(order)


class _Order:
    """The derivative of one function, which may be a derivative itself."""

    def __init__(self, problem: Problem, settings: Settings, trail: tuple[str, ...]):
        self.function, self.settings = Differentiated(problem, settings, trail), settings

    def check(self, order: int) -> None:
        function, settings = self.function, self.settings
        random: list[Comparison] = []
        aligned: list[Comparison] = []
        for n in range(settings.directions):
            seed = (settings.seed, len(function.trail), n)
            direction = numeric.random_direction(
                function.problem.operands, function.ladder, function.dtypes, (*seed, 0)
            )
            if n == 0:
                function.start(direction)
            cotangents = numeric.random_cotangents(function.results, (*seed, 1))
            if n == 1 and "rev" in settings.modes:
                gradients = function.differentiate("rev", direction, cotangents)
                direction = numeric.aligned(direction, gradients)
                aligned += self._compare(direction, cotangents)
            else:
                random += self._compare(direction, cotangents)
        if random:
            self._judge(random, aligned)
            self._check_arrays(aligned or random)
        if order > 1:
            for mode in settings.modes:
                derived = self._derived(mode, direction.tangents, cotangents)
                _Order(derived, settings, (mode, *function.trail)).check(order - 1)

    def _derived(self, mode: str, tangents: Arrays, cotangents: Arrays) -> Problem:
        """The derivative as a function, of the operands and of the vector that it multiplies."""
        problem, derivative = self.function.problem, self.function.derivatives[mode]
        count = len(problem.operands)
        names, result_names = problem.names, problem.result_names
        if mode == "fwd":
            vectors, of_vectors = tangents, [f"the tangent of {name}" for name in names]
            of_results = [f"the tangent of {name}" for name in result_names]
        else:
            vectors, of_vectors = cotangents, [f"the cotangent of {name}" for name in result_names]
            of_results = [f"the gradient of {name}" for name in names]

        def call(operands, constants):
            return derivative(operands[:count], constants, operands[count:])[1]

        operands = [*problem.operands, *vectors]
        return Problem(call, operands, problem.constants, [*names, *of_vectors], of_results)

    def _compare(self, direction: Direction, cotangents: Arrays) -> list[Comparison]:
        derivatives = {
            mode: self.function.differentiate(mode, direction, cotangents)
            for mode in self.settings.modes
        }
        if not all(sum(x.size for x in xs) for xs in (self.function.results, direction.origin)):
            return []
        found = self.function.estimate(direction, cotangents)
        return [
            Comparison(mode, direction, cotangents, derivative, found)
            for mode, derivative in derivatives.items()
        ]

    def _check_arrays(self, comparisons: list[Comparison]) -> None:
        """Each argument and each result by itself that counts for little in all together."""
        scale = max(c.scale for c in comparisons)
        hidden = SEEN * min(self._tolerance(c, scale) for c in comparisons)
        direction, cotangents = comparisons[0].direction, comparisons[0].cotangents
        known = {c.mode: c.derivative for c in reversed(comparisons)}
        # Gradients hold for any tangent, and tangents of the results for any cotangent.
        parts = [("rev", direction.along(u), cotangents) for u in _singly(direction.tangents)]
        parts += [("fwd", direction, weights) for weights in _singly(cotangents)]
        for holds, along, weights in parts:
            derivatives = {
                mode: known[mode]
                if mode == holds
                else self.function.differentiate(mode, along, weights)
                for mode in self.settings.modes
            }
            found = [
                Comparison(m, along, weights, d, Estimate.unknown()) for m, d in derivatives.items()
            ]
            if min(c.scale for c in found) < hidden:
                numbers = self.function.estimate(along, weights)
                self._judge([c._replace(numeric=numbers) for c in found], is_part=True)

    def _tolerance(self, c: Comparison, scale: float) -> float:
        return c.numeric.bound + self.function.rtol * max(scale, c.whole_scale)

    def _judge(self, *groups: list[Comparison], is_part: bool = False) -> None:
        """Raises unless all are right, and one at least is known well enough to say so.

        Each group is compared with one scale. A part, an array by itself, fails only if it is wrong
        for certain: its share may be so small that rounding hides it.
        """
        known, unsure = False, []
        for group in filter(None, groups):
            # One scale for all directions: along one of them terms may cancel by chance.
            scale = max(c.scale for c in group)
            unsure += [c for c in group if not self._is_sure(c, scale)]
            known = known or any(self._is_known(c, scale) for c in group)
        if not is_part and (unsure or not known):
            self._fail_unknown((unsure or groups[0])[0])

    def _is_sure(self, c: Comparison, scale: float) -> bool:
        """True: right, within the tolerance. False: off, but by differences too poor to say wrong.

        Raises if `c` is wrong for certain, or if there is a kink at the point.
        """
        of_this = max(scale, c.whole_scale)
        if self._has_kink(c.numeric, of_this):
            self._fail_kink(c, self.function.rtol * of_this)
        tolerance = self._tolerance(c, scale)
        difference = abs(c.received - c.numeric.value)
        if np.isnan(difference):
            return True
        if difference <= tolerance:
            # With a gradient of 0 there is no scale that says whether they are known well.
            return bool(scale) or difference <= c.numeric.bound / 2
        # Values that jitter by more than rounding errors may do so since their slopes are steep.
        is_steady = c.numeric.noise <= self.function.rtol * self._size(c)
        sure = of_this if is_steady else abs(c.numeric.value)
        if c.numeric.bound <= KNOWN_WELL * sure and difference > tolerance + self._bend(c):
            return self._fail_at(c, tolerance)
        return False

    def _bend(self, c: Comparison) -> float:
        """How far a right derivative may be from the differences, as it changes within the step.

        By the mean value theorem the difference is the mean of the derivative `g` from `-step` to
        `step`, so it is off from `g(0)` by at most half of the largest `g(t) + g(-t) - 2 g(0)`.
        A kink nearer than the step makes this as large as the jump of the slope; where `g` is
        smooth it falls with the square of the step, as the error of the differences does.
        """
        # In the dtypes of the operands, for which the derivative was written: steps that they show.
        dtypes = [x.dtype for x in self.function.problem.operands]
        least = max(float(jnp.finfo(dtype).eps) for dtype in dtypes)
        steps = [step for step in self.function.steps if step >= least]

        def received_at(step: float) -> float:
            origin = numeric.moved(c.direction, step, dtypes)
            vectors = c.direction.tangents if c.mode == "fwd" else c.cotangents
            return pairing(c.weights, self.function.derivative_at(c.mode, origin, vectors))

        bends = [
            received_at(step) + received_at(-step) - 2 * c.received
            for step in steps[min(c.numeric.best, len(steps) - 1) :]
        ]
        # Where it is not finite on one side nothing can be said.
        return float(np.nan_to_num(np.max(np.abs(bends)) / 2, nan=np.inf))

    def _is_known(self, c: Comparison, scale: float) -> bool:
        return np.isfinite(c.numeric.bound) and c.numeric.bound <= KNOWN * (scale or np.inf)

    def _size(self, c: Comparison) -> float:
        """Of the values that are paired."""
        return terms(c.cotangents, self.function.center)

    def _has_kink(self, found: Estimate, scale: float) -> bool:
        known_well = found.bound <= KNOWN_WELL * max(found.jump, scale)
        return known_well and found.jump > self.function.rtol * scale

    def _fail_kink(self, c: Comparison, tolerance: float) -> NoReturn:
        def probe(leaf: int, start: int, stop: int) -> Probe:
            direction = _part(c.direction, leaf, start, stop)
            found = self.function.estimate(direction, c.cotangents, noise=c.numeric.noise)
            return Probe(0.0, found.jump, tolerance)

        place = find_worst(probe, [to_coordinates(u).size for u in c.direction.tangents])
        self.function.fail(
            f"does not exist at {self._place_name(place)}: f has a kink there. Along a random "
            f"direction the slopes of the two sides differ by {c.numeric.jump:.4g}, at every "
            "step. Move args away from it (from 0 for abs and relu, from ties for max and sort, "
            "from the limits of clip)"
        )

    def _fail_unknown(self, c: Comparison) -> NoReturn:
        steps = ", ".join(f"{step:.2g}: {slope:.4g}" for step, slope in c.numeric.by_step)
        self.function.fail(
            "could not be checked: f is not smooth at args, or its rounding errors hide its "
            f"slope. Central differences along a random direction, by relative step: {steps}; "
            f"by {self.function.modes(c.mode)}: {c.received:.4g}{self._hint()}"
        )

    def _hint(self) -> str:
        if min(map(numeric.digits, self.function.dtypes)) >= numeric.digits(np.float32):
            return ""
        return ". numeric_dtype=float32 lets f be evaluated with smaller rounding errors"

    def _fail_at(self, c: Comparison, tolerance: float) -> bool:
        """Raises that `c` is wrong, and where. False if a second look does not find it wrong."""
        steps = self.function.steps[max(c.numeric.best - 1, 0) : c.numeric.best + 2]

        def probe(leaf: int, start: int, stop: int) -> Probe:
            direction = _part(c.direction, leaf, start, stop)
            return self._probe(self._along(c, direction, steps=steps, noise=c.numeric.noise))

        place = find_worst(probe, [to_coordinates(u).size for u in c.direction.tangents])
        if place is None:
            # Wrong in no array alone: then it is along other signs too, or it was a kink nearby.
            second = self._along(c, numeric.with_other_signs(c.direction, self.settings.seed))
            direction, found = c.direction, Probe(c.numeric.value, c.received, tolerance)
        else:
            direction = _part(c.direction, *place[:3])
            second = self._along(c, direction)
            found = self._probe(second)
            if self._has_kink(second.numeric, second.whole_scale):
                self._fail_kink(second, self.function.rtol * second.whole_scale)
        expected, received, allowed = self._probe(second)
        if not Probe(expected, received, allowed + self._bend(second)).is_wrong:
            return False
        self._fail_wrong(c._replace(direction=direction), place, found)

    def _along(self, c: Comparison, direction: Direction, **options) -> Comparison:
        """`c` along another direction; of the gradients it has, in reverse mode."""
        return c._replace(
            direction=direction,
            numeric=self.function.estimate(direction, c.cotangents, **options),
            derivative=self._tangents(direction) if c.mode == "fwd" else c.derivative,
        )

    def _probe(self, c: Comparison) -> Probe:
        if not np.isfinite(c.numeric.value):
            return Probe(c.received, c.received, np.inf)
        return Probe(c.numeric.value, c.received, self._tolerance(c, 0.0))

    def _fail_wrong(self, c: Comparison, place: Place | None, found: Probe) -> NoReturn:
        """`found` is of all of `c`, whose direction is that of `place`."""
        if place is not None and place.stop - place.start == 1:
            tangent = to_coordinates(c.direction.tangents[place.leaf])[place.start]
            found = Probe(
                found.expected / tangent,
                found.received / tangent + 0.0,
                found.tolerance / abs(tangent),
            )
        lines = [
            f"by {self.function.modes(c.mode)} is wrong at {self._place_name(place)}:",
            f"  expected {found.expected:.6g} (by central differences), received "
            f"{found.received:.6g}; difference {abs(found.expected - found.received):.3g}, "
            f"tolerance {found.tolerance:.3g}",
        ]
        if place is not None and place.wrong:
            lines.append(f"  {place.wrong} of {place.looked_at} elements looked at are wrong")
        elif place is not None and place.stop - place.start > 1:
            lines.append("  in smaller parts it does not show")
        if c.mode == "fwd":
            lines.append(
                f"  {self._worst_result(c.direction, self.function.steps[c.numeric.best])}"
            )
        if not (len(c.cotangents) == c.cotangents[0].size == 1):
            names = self.function.problem.result_names
            of_these = [name for name, w in zip(names, c.cotangents, strict=True) if w.any()]
            what = f"the elements of {of_these[0]}" if len(of_these) == 1 else "the results"
            lines.append(f"  (of the sum of {what}, each times a random number)")
        self.function.fail("\n".join(lines))

    def _tangents(self, direction: Direction) -> Arrays:
        return self.function.derivative_at("fwd", direction.origin, direction.tangents)

    def _worst_result(self, direction: Direction, step: float) -> str:
        """Which element of the results has the wrong tangent."""
        sides = [numeric.moved(direction, s, self.function.dtypes) for s in (step, -step)]
        plus, minus = map(self.function.evaluate, sides)
        differences = [
            np.abs((widen(p) - widen(m)) / (2 * step) - widen(t)).reshape(-1)
            for p, m, t in zip(plus, minus, self._tangents(direction), strict=True)
        ]
        leaf = max(range(len(plus)), key=lambda n: differences[n].max(initial=-1.0))
        name = self.function.problem.result_names[leaf]
        worst = element_name(name, plus[leaf].shape, int(np.argmax(differences[leaf])))
        return f"the most in {worst}"

    def _place_name(self, place: Place | None) -> str:
        if place is None:
            return "args as a whole"
        problem = self.function.problem
        name, x = problem.names[place.leaf], problem.operands[place.leaf]
        first = coordinate_name(name, x, place.start)
        if place.stop - place.start == 1:
            return first
        if place.stop - place.start == to_coordinates(x).size:
            return name
        return f"{first} to {coordinate_name(name, x, place.stop - 1)}, in row-major order"


def _part(direction: Direction, leaf: int, start: int, stop: int) -> Direction:
    return direction.along(
        [
            within(u, start, stop) if n == leaf else np.zeros_like(u)
            for n, u in enumerate(direction.tangents)
        ]
    )


def _singly(arrays: Arrays) -> list[Arrays]:
    """Each of the arrays, the others 0; nothing if there is but one with elements."""
    filled = [n for n, x in enumerate(arrays) if x.size]
    if len(filled) < 2:
        return []
    return [[x if m == n else np.zeros_like(x) for m, x in enumerate(arrays)] for n in filled]
