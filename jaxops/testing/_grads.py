"""`jaxops.testing.check_grads`, its arguments checked: one order of derivative after the other.

This page says how it decides; docs/gradient_checks.md is for users.

Comparisons. A check draws a few directions `u` and for each of them cotangents `w`. An element of
`u` is that of the arguments `x`, times a number from 0.5 to 1.5, with a random sign. `w` is random
too, and larger for smaller results of `f`, so that all arrays weigh alike; 1 for a single number.
Two numbers are compared for each mode:

    received = <w, J u>                        from JAX: <w, jvp(u)> (fwd) or <vjp(w), u> (rev)
    value    = d/dt <w, f(x + t u)> at t = 0   from values of f

Estimate of `value` (`Differentiated.estimate`). At steps h[0] > h[1] > ..., for n >= 1:

    slope[n] = <w, f(x + h[n] u) - f(x - h[n] u)> / (2 h[n])
    error[n] = max(|slope[n] - slope[n-1]|, |slope[m] - slope[n]| - noise/h[m] for all m > n)
               + noise/h[n]

Slopes of wide steps are off because `f` bends, slopes of narrow steps because `f` rounds. The step
with the least error is chosen. (The terms with m > n are for a step that reaches over a kink: its
slope agrees with slopes of wider steps, but not of narrower ones.) From the chosen step:

    value = slope[n] + (slope[n] - slope[n-1]) / ((h[n-1]/h[n])^2 - 1)      Richardson's correction
    bound = 4 error[n]

x^3 at 1 along u = 1 has slopes 3 + h^2. Steps 1/4, 1/8, 1/16 give 3.0625, 3.0156, 3.0039: the step
1/16 has the least error, 0.0117; value = 3.0039 - 0.0117/3 = 3, bound = 0.047.

Noise. How much <w, f> jitters when `x` hardly changes (`noise_of`): twice the jitter that the
fourth differences of seven values at tiny steps show (at wider ones if those are 0), and not less
than the rounding of results.

Tolerance. A sum of random signs may cancel by chance, so errors are measured by its terms:

    terms     = root of the sum of the squares of all products that <w, J u> adds up
    scale     = max(|received|, terms, |value|), the largest among directions of the same kind:
                with random signs, or with the signs of the gradient
    tolerance = bound + rtol * scale

Kink at the point. The slopes of the two sides differ by

    jump[n] = <w, f(x + h[n] u) - 2 f(x) + f(x - h[n] u)> / h[n]

which falls with the step where `f` is smooth. If it is the same in three steps in a row and stays
in all narrower ones, the derivative does not exist. A kink beside `x` looks the same if it is much
nearer than the narrowest step. If it is farther, but the steps that do not reach it are lost in
noise, the slopes that agree are means of both sides. A right derivative then differs from them, by
no more than

    bend = max over steps t, the chosen one or narrower, of |g(t) + g(-t) - 2 g(0)| / 2

where g(t) is `received` at x + t u (`_bend`).

Decision on one comparison (`_is_sure`), the first that holds:

1. jump > rtol * scale, and bound <= max(jump, scale) / 4: fails, "does not exist", unless all parts
   are known.
2. No slope could be had: says nothing, neither right nor wrong.
3. |received - value| <= tolerance: right. (Where all that was received is 0: <= bound / 2.)
4. bound <= scale / 4 (|value| / 4 where values jitter by more than rtol of themselves) and
   |received - value| > tolerance + bend, and this again in the array or element where it is off
   most, or, if it is off in none alone, along other signs (`_fail_at`): fails, "is wrong at".
5. Otherwise unsure.

Decision on all (`_judge`). If one comparison is unsure, or if none has bound <= scale / 3, the
check fails with "could not be checked", unless the parts are known: differences too noisy to tell
prove nothing right.

In float32, with modes="rev", directions=1, where rtol is 3.5e-4:

    f                       received   value    bound     decision
    x^2 at 3, gradient x    -10.2      -20.4    0.00014   wrong: tolerance 0.007, bend 0
    |x| at 0                 -1.14       0      0.003     kink: jump 2.27
    1e4 + x at 1             -1.14      -1.12   0.215     right: tolerance 0.2155
    1e6 + x at 1             -1.14      none    infinite  could not be checked

Parts (`_check_arrays`). An array of the arguments, or of the results, whose share in `received` is
less than ten tolerances would hide in the sum. So it is compared once more alone, with 0 for the
others in `u` or in `w`. It fails only by 1 or 4: its share may be so small that rounding hides it.

Kinks beside the point (`_check_parts`). A kink that one element reaches spoils the slopes of a sum,
but not those of other elements. So where some bound > smooth, the elements are compared in parts:

    smooth  = max(rtol * scale, 16 noise / h[1])       the bound that a smooth `f` would have
    bends_i = |u_i (g_i(t) + g_i(-t) - 2 g_i(0))|      of each product that <w, J u> adds up

The sum of the bends falls with the square of the step where `f` is smooth: then nothing is done.
Else the elements that may move equally far, until bends_i > |u_i g_i| / 8 + smooth, are a part
(forward mode knows no g_i: there all are one part). A part whose bound > smooth is halved, down to
single elements. A part is known if it is right by 3, shows no kink, and bound <= max(smooth, a
third of a typical product, a third of its own scale). If at most a third of the elements is in
parts that are not known, a warning names these, and the check passes, also where sums said nothing.
A part may change nothing along narrow steps, as an element that is no maximum does: a slope of 0.

Orders. The derivative by either mode is a function too, of `x` and of `u` or `w`; order 2 checks it
in the same way, and so on.
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
    products,
    terms,
    to_coordinates,
    widen,
)
from jaxops.testing._numeric import Direction, Estimate
from jaxops.testing._search import Place, Probe, find_worst

# How large `bound` may be, relative to the derivative: to say that the derivative is right, and to
# say that it is wrong.
KNOWN, KNOWN_WELL = 1 / 3, 1 / 4
# An array whose share in the derivative is less than this many tolerances is looked at alone.
SEEN = 10.0
# How many parts of a direction are looked at where `f` has kinks, at 14 evaluations each, and how
# many elements a message names.
MOST_PARTS, MOST_NAMES = 100, 5


class Comparison(NamedTuple):
    """One mode along one direction: the derivative by JAX, and the estimate by differences."""

    mode: str
    direction: Direction
    cotangents: Arrays
    derivative: Arrays  # tangents of the results, or gradients of the operands
    numeric: Estimate

    @property
    def weights(self) -> Arrays:
        """The vector that the derivative is paired with."""
        return self.cotangents if self.mode == "fwd" else self.direction.tangents

    @property
    def received(self) -> float:
        """`<w, J u>`, by the mode."""
        return pairing(self.weights, self.derivative)

    @property
    def scale(self) -> float:
        """`|received|`, or the size of its terms if these nearly cancelled by chance."""
        return max(abs(self.received), terms(self.weights, self.derivative))

    @property
    def whole_scale(self) -> float:
        """`scale`, or the estimate where that is larger, as where a gradient of 0 is received."""
        value = self.numeric.value
        return max(self.scale, abs(value) if np.isfinite(value) else 0.0)


def check(problem: Problem, settings: Settings, order: int) -> list[str]:
    """Checks the derivatives up to `order`; raises at the first that fails.

    Returns messages that name the elements which could not be checked.
    """
    return _Order(problem, settings, trail=()).check(order)


class _Order:
    """The checks of one order: of the derivative of `f`, or of that of a derivative of `f`."""

    def __init__(self, problem: Problem, settings: Settings, trail: tuple[str, ...]):
        self.function, self.settings = Differentiated(problem, settings, trail), settings

    def check(self, order: int) -> list[str]:
        """Compares along all directions, then array by array, then goes on to higher orders."""
        function, settings = self.function, self.settings
        unchecked: list[str] = []
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
            unsure = self._judge(random, aligned)
            unchecked += self._check_parts(random, unsure)
            self._check_arrays(aligned or random)
        if order > 1:
            for mode in settings.modes:
                derived = self._derived(mode, direction.tangents, cotangents)
                unchecked += _Order(derived, settings, (mode, *function.trail)).check(order - 1)
        return unchecked

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
        """One comparison a mode. None where there is nothing to move or no result."""
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
        """Checks arrays of arguments and results alone if they would hide among the others."""
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
            found = [Comparison(m, along, weights, d, Estimate()) for m, d in derivatives.items()]
            if min(c.scale for c in found) < hidden:
                numbers = self.function.estimate(along, weights)
                # The share may be so small that rounding hides it: none needs to be known.
                self._refuse_kinks(self._judge([c._replace(numeric=numbers) for c in found]))

    def _check_parts(self, random: list[Comparison], unsure: list[Comparison]) -> list[str]:
        """Checks the elements in parts where `f` has kinks. Raises if `unsure` stay so."""
        firsts = random[: len(self.settings.modes)]  # along one direction
        c = max(firsts, key=lambda c: c.mode)
        scale = max(c.scale for c in random)  # 0 where a gradient of 0 is received
        count = sum(c.direction.sizes)
        typical = scale / count**0.5
        # What `bound` is of a smooth function: rounding, and the noise along wide steps.
        of_noise = 4 * numeric.SAFETY * c.numeric.noise / self.function.steps[1]
        smooth = max(self.function.rtol * scale, of_noise)
        parts: list[np.ndarray] = []
        if smooth < KNOWN * typical and not all(c.numeric.bound <= smooth for c in random):
            parts = self._parts(c, smooth)
        if not parts:
            self._refuse(unsure)
        # If the whole sum changes at every step, a part that does not change has a slope of 0
        # (test_grads.py, test_elements_that_change_nothing_are_known).
        is_resolved = bool(np.isfinite([slope for _, slope in c.numeric.by_step]).all())
        unclear: list[int] = []
        looks = MOST_PARTS
        while parts:
            part = parts.pop(0)
            along = numeric.within(c.direction, part)
            found = self.function.estimate(
                along, c.cotangents, noise=c.numeric.noise, may_be_still=is_resolved
            )
            looks -= 1
            tried = [self._along(first, along, found) for first in firsts]
            allowed = max(smooth, KNOWN * typical, *(KNOWN * t.whole_scale for t in tried))
            at_kink = self._has_kink(found, scale)
            is_known = found.bound <= allowed and not at_kink
            is_known = is_known and all([self._is_sure(t, scale) for t in tried])
            if is_known and found.bound <= smooth:
                continue
            if part.size > 1 and looks > len(parts):
                parts += np.array_split(part, 2)
            elif not is_known:
                unclear += part.tolist()
                if at_kink and any(self._at_kink(u, scale) for u in unsure):
                    self._fail_kink(tried[0], self.function.rtol * scale)
        names = f"{len(unclear)} of {count} elements: {self._names(unclear)}"
        if len(unclear) > KNOWN * count:
            self._refuse(unsure, f". This is so of {names}")
        text = f"could not be checked, as f has kinks near them, at {names}"
        return [self.function.describe(text)] if unclear else []

    def _parts(self, c: Comparison, smooth: float) -> list[np.ndarray]:
        """Numbers of coordinates, by how far these move without a kink. None where all do."""
        bends = []
        for step in self.function.steps:
            sides = [self._beside(c, s) for s in (step, -step)]
            sums = [widen(p) + widen(m) for p, m in zip(*sides, strict=True)]
            changes = [p - 2 * widen(d) for p, d in zip(sums, c.derivative, strict=True)]
            bends.append(products(c.weights, changes))
        bends = np.array(bends)
        if numeric.is_smooth(bends.sum(1), self.function.ladder.ratio, smooth):
            return []
        if c.mode == "fwd":  # the coordinates are those of the results
            return [np.arange(sum(c.direction.sizes))]
        return numeric.by_reach(bends, products(c.weights, c.derivative) / 8 + smooth)

    def _beside(self, c: Comparison, step: float) -> Arrays:
        """The derivative of `c` at a step along its direction."""
        origin = numeric.moved(c.direction, step, [x.dtype for x in c.direction.origin])
        vectors = c.direction.tangents if c.mode == "fwd" else c.cotangents
        return self.function.derivative_at(c.mode, origin, vectors)

    def _tolerance(self, c: Comparison, scale: float) -> float:
        """The tolerance of `c.received` around the estimate; `scale` is that of its group."""
        return c.numeric.bound + self.function.rtol * max(scale, c.whole_scale)

    def _judge(self, *groups: list[Comparison]) -> list[Comparison]:
        """Raises if one is wrong for certain.

        Returns those that are neither right nor wrong; one if none is known well enough to say so.
        Each group is compared with one scale.
        """
        known, unsure = False, []
        for group in filter(None, groups):
            # One scale for all directions: along one of them terms may cancel by chance.
            scale = max(c.scale for c in group)
            unsure += [c for c in group if self._at_kink(c, scale) or not self._is_sure(c, scale)]
            known = known or any(self._is_known(c, scale) for c in group)
        return unsure if known else unsure or groups[0][:1]

    def _is_sure(self, c: Comparison, scale: float) -> bool:
        """True: right, within the tolerance. False: off, but too noisy to be called wrong.

        Raises if `c` is wrong for certain. True also where no difference was usable: then
        `_is_known` is false.
        """
        of_this = max(scale, c.whole_scale)
        tolerance = self._tolerance(c, scale)
        difference = abs(c.received - c.numeric.value)
        if np.isnan(difference):
            return True
        if difference <= tolerance:
            # If all that was received is 0, there is no scale to compare `bound` with.
            return bool(scale) or difference <= c.numeric.bound / 2
        # Values that jitter by more than `rtol` of themselves may do so because `f` is steep: a
        # large derivative may be right then, so that the slopes alone must make `bound` small.
        size = terms(c.cotangents, self.function.center)  # of `<w, f>`
        is_steady = c.numeric.noise <= self.function.rtol * size
        sure = of_this if is_steady else abs(c.numeric.value)
        if c.numeric.bound <= KNOWN_WELL * sure and difference > tolerance + self._bend(c):
            return self._fail_at(c, tolerance)
        return False

    def _bend(self, c: Comparison) -> float:
        """The bend: the distance of a right derivative from the differences, which a step has.

        By the mean value theorem the difference is the mean of the derivative `g` from `-step` to
        `step`, so it is off from `g(0)` by at most half of the largest `g(t) + g(-t) - 2 g(0)`.
        A kink nearer than the step makes this as large as the jump of the slope; where `g` is
        smooth it falls with the square of the step, as the error of the differences does.
        """
        # Without the bend, 27 of 300 networks with a unit that switches near the point were called
        # wrong (test_grads.py, test_a_right_gradient_beside_a_kink_is_not_called_wrong). The
        # derivative takes the dtypes of the operands: only steps that these can represent.
        least = max(float(jnp.finfo(x.dtype).eps) for x in c.direction.origin)
        steps = [step for step in self.function.steps if step >= least]
        bends = [
            sum(pairing(c.weights, self._beside(c, s)) for s in (step, -step)) - 2 * c.received
            for step in steps[min(c.numeric.best, len(steps) - 1) :]
        ]
        # Where it is not finite on one side nothing can be said.
        return float(np.nan_to_num(np.max(np.abs(bends)) / 2, nan=np.inf))

    def _is_known(self, c: Comparison, scale: float) -> bool:
        """Whether the differences know the derivative to a third, so that it can be called right.

        Where all that was received is 0, whether they know anything.
        """
        return np.isfinite(c.numeric.bound) and c.numeric.bound <= KNOWN * (scale or np.inf)

    def _at_kink(self, c: Comparison, scale: float) -> bool:
        return self._has_kink(c.numeric, max(scale, c.whole_scale))

    def _refuse(self, unsure: list[Comparison], where: str = "") -> None:
        """Raises if there are comparisons that say nothing, and shows the differences of one."""
        self._refuse_kinks(unsure)
        for c in unsure[:1]:
            steps = ", ".join(f"{step:.2g}: {slope:.4g}" for step, slope in c.numeric.by_step)
            hint = ""
            if min(map(numeric.digits, self.function.dtypes)) < numeric.digits(np.float32):
                hint = ". numeric_dtype=float32 lets f be evaluated with smaller rounding errors"
            self.function.fail(
                "could not be checked: f is not smooth at args, or its rounding errors hide its "
                f"slope. Central differences along a random direction, by relative step: {steps}; "
                f"by {self.function.modes(c.mode)}: {c.received:.4g}{hint}{where}"
            )

    def _refuse_kinks(self, unsure: list[Comparison]) -> None:
        """Raises if one of the comparisons shows a kink at the point."""
        scale = max([c.whole_scale for c in unsure], default=0.0)
        for c in unsure:
            if self._at_kink(c, scale):
                self._fail_kink(c, self.function.rtol * scale)

    def _has_kink(self, found: Estimate, scale: float) -> bool:
        """Whether the slopes of the two sides differ by more than `rtol`, and it is well known."""
        known_well = found.bound <= KNOWN_WELL * max(found.jump, scale)
        return known_well and found.jump > self.function.rtol * scale

    def _fail_kink(self, c: Comparison, tolerance: float) -> NoReturn:
        """Raises, and names the element with the largest jump."""

        def probe(leaf: int, start: int, stop: int) -> Probe:
            direction = _part(c.direction, leaf, start, stop)
            found = self.function.estimate(direction, c.cotangents, noise=c.numeric.noise)
            return Probe(0.0, found.jump, tolerance)

        place = find_worst(probe, c.direction.sizes)
        self.function.fail(
            f"does not exist at {self._place_name(place)}: f has a kink there. Along a random "
            f"direction the slopes of the two sides differ by {c.numeric.jump:.4g}, at every "
            "step. Move args away from it (from 0 for abs and relu, from ties for max and sort, "
            "from the limits of clip)"
        )

    def _fail_at(self, c: Comparison, tolerance: float) -> bool:
        """Raises that `c` is wrong, and where. False if a second look does not find it wrong."""

        def probe(leaf: int, start: int, stop: int) -> Probe:
            direction = _part(c.direction, leaf, start, stop)
            return self._probe(self._along(c, direction, noise=c.numeric.noise))

        place = find_worst(probe, c.direction.sizes)
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

    def _along(self, c: Comparison, direction: Direction, found=None, **options) -> Comparison:
        """`c` along another direction.

        In reverse mode the gradients stay, as they do not depend on it.
        """
        return c._replace(
            direction=direction,
            numeric=found or self.function.estimate(direction, c.cotangents, **options),
            derivative=self._tangents(direction) if c.mode == "fwd" else c.derivative,
        )

    def _probe(self, c: Comparison) -> Probe:
        """The two numbers of `c` and its tolerance; not wrong where no difference was usable."""
        if not np.isfinite(c.numeric.value):
            return Probe(c.received, c.received, np.inf)
        return Probe(c.numeric.value, c.received, self._tolerance(c, 0.0))

    def _fail_wrong(self, c: Comparison, place: Place | None, found: Probe) -> NoReturn:
        """Raises. `found` is what `c` expects and received along its direction, that of `place`."""
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
        """The tangents of the results along a direction, by forward mode."""
        return self.function.derivative_at("fwd", direction.origin, direction.tangents)

    def _worst_result(self, direction: Direction, step: float) -> str:
        """Names the element of the results whose tangent differs most from the differences."""
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

    def _names(self, coordinates: list[int]) -> str:
        """The first few of these coordinates, counted through all arguments."""
        problem = self.function.problem
        starts = np.cumsum([0, *(to_coordinates(x).size for x in problem.operands)])
        names = []
        for n in sorted(coordinates)[:MOST_NAMES]:
            leaf = int(np.searchsorted(starts, n, side="right")) - 1
            names.append(
                coordinate_name(problem.names[leaf], problem.operands[leaf], n - int(starts[leaf]))
            )
        more = len(coordinates) - len(names)
        return ", ".join(names) + (f" and {more} more" if more else "")

    def _place_name(self, place: Place | None) -> str:
        """Such as `args[0]['w'][1,1]`; without a place all arguments."""
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
    """`direction` within those coordinates of one array, 0 elsewhere."""
    before = sum(direction.sizes[:leaf])
    return numeric.within(direction, slice(before + start, before + stop))


def _singly(arrays: Arrays) -> list[Arrays]:
    """Each of the arrays, the others 0; nothing if there is but one with elements."""
    filled = [n for n, x in enumerate(arrays) if x.size]
    if len(filled) < 2:
        return []
    return [[x if m == n else np.zeros_like(x) for m, x in enumerate(arrays)] for n in filled]
