"""`jaxops.testing.check_grads`, its arguments checked: one order after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from jaxops import _testing_numeric as numeric
from jaxops._testing_leaves import (
    Arrays,
    Problem,
    compiled,
    coordinate_name,
    element_name,
    first_where,
    pairing,
    terms,
    to_coordinates,
    widen,
    within,
)
from jaxops._testing_numeric import Direction, Estimate
from jaxops._testing_search import Place, Probe, find_worst

OP = "check_grads"
# How large the error of the differences may be, relative to the derivative: to say that this is
# right, and to say that it is wrong.
KNOWN, KNOWN_WELL = 1 / 3, 1 / 4
# An array whose share in the derivative is less than this many tolerances is looked at alone.
SEEN = 10.0
MODES = {"fwd": "forward mode (jvp)", "rev": "reverse mode (vjp)"}


class Settings(NamedTuple):
    name: str  # of the function
    modes: tuple[str, ...]
    directions: int
    seed: int
    rtol: float | None
    numeric_dtype: Any
    jit: Callable | None


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

    results: Arrays  # at the origin of all directions
    center: Arrays  # those, in the dtypes of the differences
    steps: list[float]

    def __init__(self, problem: Problem, settings: Settings, trail: tuple[str, ...]):
        self.problem, self.settings, self.trail = problem, settings, trail

        def jvp(operands, constants, tangents):
            def of_operands(*operands):
                return problem.call(operands, constants)

            return jax.jvp(of_operands, tuple(operands), tuple(map(jnp.asarray, tangents)))

        def vjp(operands, constants, cotangents):
            def of_operands(*operands):
                return problem.call(operands, constants)

            results, pullback = jax.vjp(of_operands, *operands)
            return results, list(pullback([jnp.asarray(c) for c in cotangents]))

        self.derivatives = {"fwd": jvp, "rev": vjp}
        self.call = compiled(problem.call, settings.jit)
        self.compiled = {
            mode: compiled(self.derivatives[mode], settings.jit) for mode in settings.modes
        }
        wide = settings.numeric_dtype
        self.dtypes = [
            x.dtype if wide is None else _widened(x.dtype, wide) for x in problem.operands
        ]

    def _evaluate(self, operands: Arrays) -> Arrays:
        return [np.asarray(y) for y in self.call(operands, self.problem.constants)]

    def _evaluate_moved(self, operands: Arrays) -> Arrays:
        try:
            return self._evaluate(operands)
        except Exception as error:
            error.add_note(
                f"{OP}: f returns at args, and raised this where args are moved for the "
                f"differences, each element by up to {1.5 * self.steps[0]:.2g} of itself"
            )
            raise

    def check(self, order: int) -> None:
        problem, settings = self.problem, self.settings
        results = self._evaluate(problem.operands)
        if not results:
            raise TypeError(f"{OP}: f must return an array of a floating-point or complex dtype")
        widened = [np.asarray(x, d) for x, d in zip(problem.operands, self.dtypes, strict=True)]
        is_widened = settings.numeric_dtype is not None
        widened_results = self._evaluate(widened) if is_widened else results
        dtypes = [y.dtype for y in widened_results]
        ladder = numeric.ladder_for([*self.dtypes, *dtypes])
        self.steps = ladder.steps
        coarsest = min((x.dtype for x in (*problem.operands, *results)), key=numeric.digits)
        self.rtol = settings.rtol or float(jnp.finfo(coarsest).eps) ** 0.5

        random: list[Comparison] = []
        aligned: list[Comparison] = []
        for n in range(settings.directions):
            seed = (settings.seed, len(self.trail), n)
            direction = numeric.random_direction(problem.operands, ladder, self.dtypes, (*seed, 0))
            if n == 0:
                self.results = self._evaluate(direction.origin)
                self.center = self._evaluate(numeric.moved(direction, 0.0, self.dtypes))
                self._check_finite(self.center)
            cotangents = numeric.random_cotangents(self.results, (*seed, 1))
            if n == 1 and "rev" in settings.modes:
                gradients = self._differentiate("rev", direction, cotangents)
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
                _Order(derived, settings, (mode, *self.trail)).check(order - 1)

    def _derived(self, mode: str, tangents: Arrays, cotangents: Arrays) -> Problem:
        """The derivative as a function, of the operands and of the vector that it multiplies."""
        problem, derivative = self.problem, self.derivatives[mode]
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

    def _check_finite(self, results: Arrays) -> None:
        place = first_where(self.problem.result_names, results, lambda y: ~np.isfinite(y))
        if place is not None:
            if self.trail:
                self._fail(f"is not finite: {place}")
            raise ValueError(
                f"{OP}: f must be finite at args; received a value that is not: {place}"
            )

    def _compare(self, direction: Direction, cotangents: Arrays) -> list[Comparison]:
        derivatives = {
            mode: self._differentiate(mode, direction, cotangents) for mode in self.settings.modes
        }
        if not sum(y.size for y in self.results) or not sum(x.size for x in direction.origin):
            return []
        found = self._estimate(direction, cotangents)
        return [
            Comparison(mode, direction, cotangents, derivative, found)
            for mode, derivative in derivatives.items()
        ]

    def _estimate(
        self, direction: Direction, cotangents: Arrays, steps=None, noise=None
    ) -> Estimate:
        at = (self._evaluate_moved, direction, cotangents, self.center, self.dtypes)
        if noise is None:
            noise = numeric.noise_of(*at, self.steps[-1])
        return numeric.estimate(*at, steps or self.steps, noise)

    def _differentiate(self, mode: str, direction: Direction, cotangents: Arrays) -> Arrays:
        problem = self.problem
        vectors = direction.tangents if mode == "fwd" else cotangents
        try:
            primals, derivative = self.compiled[mode](direction.origin, problem.constants, vectors)
        except (TypeError, NotImplementedError) as error:
            other = "rev" if mode == "fwd" else "fwd"
            error.add_note(
                f"{OP}: raised by {self._modes(mode)}; modes={other!r} checks the other mode alone"
            )
            raise
        derivative = [np.asarray(d) for d in derivative]
        names = problem.result_names if mode == "fwd" else problem.names
        place = first_where(names, derivative, lambda d: ~np.isfinite(d))
        if place is not None:
            what = "tangent" if mode == "fwd" else "gradient"
            self._fail(f"by {self._modes(mode)} is not finite: the {what} of {place}")
        self._check_primals(mode, direction, primals)
        return derivative

    def _check_primals(self, mode: str, direction: Direction, primals) -> None:
        allowed = []
        for y in self.results:
            size = np.abs(widen(y))
            allowed.append(self.rtol * np.maximum(size, _root_mean_square(size)))
        if self._first_other(primals, allowed) is None:
            return
        # What nearly cancels rounds differently in another program: by less than this, if at all.
        near = self._evaluate_moved(numeric.moved(direction, self.steps[-1], self.dtypes))
        changes = [np.abs(widen(y) - widen(c)) for y, c in zip(near, self.center, strict=True)]
        allowed = [a + d.max(initial=0.0) for a, d in zip(allowed, changes, strict=True)]
        found = self._first_other(primals, allowed)
        if found is not None:
            leaf, n = found
            y = self.results[leaf]
            self._fail(
                f"comes with another value by {self._modes(mode)} than f returns: "
                f"{element_name(self.problem.result_names[leaf], y.shape, n)} is "
                f"{widen(primals[leaf]).flat[n]:.6g}, f returns {widen(y).flat[n]:.6g}"
            )

    def _first_other(self, primals, allowed: Arrays) -> tuple[int, int] | None:
        for leaf, (y, primal) in enumerate(zip(self.results, primals, strict=True)):
            wrong = np.flatnonzero(~(np.abs(widen(primal) - widen(y)) <= allowed[leaf]))
            if wrong.size:
                return leaf, int(wrong[0])
        return None

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
                mode: known[mode] if mode == holds else self._differentiate(mode, along, weights)
                for mode in self.settings.modes
            }
            found = [
                Comparison(m, along, weights, d, Estimate.unknown()) for m, d in derivatives.items()
            ]
            if min(c.scale for c in found) < hidden:
                numbers = self._estimate(along, weights)
                self._judge([c._replace(numeric=numbers) for c in found], is_part=True)

    def _tolerance(self, c: Comparison, scale: float) -> float:
        return c.numeric.bound + self.rtol * max(scale, c.whole_scale)

    def _judge(self, *groups: list[Comparison], is_part: bool = False) -> None:
        """Of parts nothing is said where the differences do not tell."""
        known, unsure = False, []
        for group in filter(None, groups):
            # One scale for all directions: along one of them terms may cancel by chance.
            scale = max(c.scale for c in group)
            unsure += [c for c in group if not self._is_sure(c, scale)]
            known = known or any(self._is_known(c, scale) for c in group)
        if not is_part and (unsure or not known):
            self._fail_unknown((unsure or groups[0])[0])

    def _is_sure(self, c: Comparison, scale: float) -> bool:
        """False where it seems wrong, and the differences do not tell so well enough."""
        of_this = max(scale, c.whole_scale)
        if self._has_kink(c.numeric, of_this):
            self._fail_kink(c, self.rtol * of_this)
        tolerance = self._tolerance(c, scale)
        difference = abs(c.received - c.numeric.value)
        if np.isnan(difference):
            return True
        if difference <= tolerance:
            # With a gradient of 0 there is no scale that says whether they are known well.
            return bool(scale) or difference <= c.numeric.bound / 2
        # Values that jitter by more than rounding errors may do so since their slopes are steep.
        is_steady = c.numeric.noise <= self.rtol * self._size(c)
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
        dtypes = [x.dtype for x in self.problem.operands]
        least = max(float(jnp.finfo(dtype).eps) for dtype in dtypes)
        steps = [step for step in self.steps if step >= least]
        here, bends = self._received_at(c, c.direction.origin), []
        for step in steps[min(c.numeric.best, len(steps) - 1) :]:
            sides = [numeric.moved(c.direction, s, dtypes) for s in (step, -step)]
            bends.append(sum(self._received_at(c, side) for side in sides) - 2 * here)
        # Where it is not finite on one side nothing can be said.
        return float(np.nan_to_num(np.max(np.abs(bends)) / 2, nan=np.inf))

    def _received_at(self, c: Comparison, origin: Arrays) -> float:
        vectors = c.direction.tangents if c.mode == "fwd" else c.cotangents
        return pairing(c.weights, self.compiled[c.mode](origin, self.problem.constants, vectors)[1])

    def _is_known(self, c: Comparison, scale: float) -> bool:
        return np.isfinite(c.numeric.bound) and c.numeric.bound <= KNOWN * (scale or np.inf)

    def _size(self, c: Comparison) -> float:
        """Of the values that are paired."""
        return terms(c.cotangents, self.center)

    def _has_kink(self, found: Estimate, scale: float) -> bool:
        return found.jump > self.rtol * scale and found.bound <= KNOWN_WELL * max(found.jump, scale)

    def _fail_kink(self, c: Comparison, tolerance: float) -> NoReturn:
        def probe(leaf: int, start: int, stop: int) -> Probe:
            direction = _part(c.direction, leaf, start, stop)
            return Probe(
                0.0, self._estimate(direction, c.cotangents, noise=c.numeric.noise).jump, tolerance
            )

        place = find_worst(probe, [to_coordinates(u).size for u in c.direction.tangents])
        self._fail(
            f"does not exist at {self._place_name(place)}: f has a kink there. Along a random "
            f"direction the slopes of the two sides differ by {c.numeric.jump:.4g}, at every "
            "step. Move args away from it (from 0 for abs and relu, from ties for max and sort, "
            "from the limits of clip)"
        )

    def _fail_unknown(self, c: Comparison) -> NoReturn:
        steps = ", ".join(f"{step:.2g}: {slope:.4g}" for step, slope in c.numeric.by_step)
        self._fail(
            "could not be checked: f is not smooth at args, or its rounding errors hide its "
            f"slope. Central differences along a random direction, by relative step: {steps}; "
            f"by {self._modes(c.mode)}: {c.received:.4g}{self._hint()}"
        )

    def _hint(self) -> str:
        if min(map(numeric.digits, self.dtypes)) >= numeric.digits(np.float32):
            return ""
        return ". numeric_dtype=float32 lets f be evaluated with smaller rounding errors"

    def _fail_at(self, c: Comparison, tolerance: float) -> bool:
        """`c` is wrong: finds out where. False if it turns out not to be so, by all steps."""
        steps = self.steps[max(c.numeric.best - 1, 0) : c.numeric.best + 2]

        def along(direction: Direction, **options) -> tuple[Comparison, Probe]:
            part = c._replace(
                direction=direction,
                numeric=self._estimate(direction, c.cotangents, **options),
                derivative=self._tangents(direction) if c.mode == "fwd" else c.derivative,
            )
            if not np.isfinite(part.numeric.value):
                return part, Probe(part.received, part.received, np.inf)
            return part, Probe(part.numeric.value, part.received, self._tolerance(part, 0.0))

        def probe(leaf: int, start: int, stop: int) -> Probe:
            direction = _part(c.direction, leaf, start, stop)
            return along(direction, steps=steps, noise=c.numeric.noise)[1]

        place = find_worst(probe, [to_coordinates(u).size for u in c.direction.tangents])
        direction, found = c.direction, Probe(c.numeric.value, c.received, tolerance)
        if place is not None:
            direction = _part(c.direction, *place[:3])
            part, found = along(direction)
            if self._has_kink(part.numeric, part.whole_scale):
                self._fail_kink(part, self.rtol * part.whole_scale)
            if not found._replace(tolerance=found.tolerance + self._bend(part)).is_wrong:
                return False
        else:
            # Wrong in no array alone: then it is along other signs too, or it was a kink nearby.
            other = numeric.with_other_signs(c.direction, self.settings.seed)
            part, found_there = along(other)
            tolerance_there = found_there.tolerance + self._bend(part)
            if not found_there._replace(tolerance=tolerance_there).is_wrong:
                return False
        if place is not None and place.stop - place.start == 1:
            tangent = to_coordinates(c.direction.tangents[place.leaf])[place.start]
            found = Probe(
                found.expected / tangent,
                found.received / tangent + 0.0,
                found.tolerance / abs(tangent),
            )
        lines = [
            f"by {self._modes(c.mode)} is wrong at {self._place_name(place)}:",
            f"  expected {found.expected:.6g} (by central differences), received "
            f"{found.received:.6g}; difference {abs(found.expected - found.received):.3g}, "
            f"tolerance {found.tolerance:.3g}",
        ]
        if place is not None and place.wrong:
            lines.append(f"  {place.wrong} of {place.looked_at} elements looked at are wrong")
        elif place is not None and place.stop - place.start > 1:
            lines.append("  in smaller parts it does not show")
        if c.mode == "fwd":
            lines.append(f"  {self._worst_result(direction, steps[len(steps) // 2])}")
        if not (len(c.cotangents) == c.cotangents[0].size == 1):
            of_these = [
                name
                for name, w in zip(self.problem.result_names, c.cotangents, strict=True)
                if w.any()
            ]
            what = f"the elements of {of_these[0]}" if len(of_these) == 1 else "the results"
            lines.append(f"  (of the sum of {what}, each times a random number)")
        self._fail("\n".join(lines))

    def _tangents(self, direction: Direction) -> Arrays:
        args = (direction.origin, self.problem.constants, direction.tangents)
        return [np.asarray(t) for t in self.compiled["fwd"](*args)[1]]

    def _worst_result(self, direction: Direction, step: float) -> str:
        """Which element of the results has the wrong tangent."""
        plus = self._evaluate(numeric.moved(direction, step, self.dtypes))
        minus = self._evaluate(numeric.moved(direction, -step, self.dtypes))
        differences = [
            np.abs((widen(p) - widen(m)) / (2 * step) - widen(t)).reshape(-1)
            for p, m, t in zip(plus, minus, self._tangents(direction), strict=True)
        ]
        leaf = max(range(len(plus)), key=lambda n: differences[n].max(initial=-1.0))
        name = self.problem.result_names[leaf]
        worst = element_name(name, plus[leaf].shape, int(np.argmax(differences[leaf])))
        return f"the most in {worst}"

    def _place_name(self, place: Place | None) -> str:
        if place is None:
            return "args as a whole"
        name, x = self.problem.names[place.leaf], self.problem.operands[place.leaf]
        first = coordinate_name(name, x, place.start)
        if place.stop - place.start == 1:
            return first
        if place.stop - place.start == to_coordinates(x).size:
            return name
        return f"{first} to {coordinate_name(name, x, place.stop - 1)}, in row-major order"

    def _modes(self, mode: str) -> str:
        return " over ".join(MODES[m] for m in (mode, *self.trail))

    def _fail(self, text: str) -> NoReturn:
        what = {0: "the gradient", 1: "the second derivative"}.get(len(self.trail))
        what = what or f"the derivative of order {len(self.trail) + 1}"
        settings = self.settings
        raise AssertionError(
            f"{OP}: {what} of {settings.name} {text}\n  order {len(self.trail) + 1}, "
            f"seed={settings.seed}, rtol={self.rtol:.2g}"
        )


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


def _root_mean_square(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(x**2))) if x.size else 0.0


def _widened(dtype, wide):
    """`wide` in place of `dtype`, unless that is wider."""
    if numeric.digits(dtype) >= numeric.digits(wide):
        return dtype
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return np.result_type(wide, np.complex64)
    return np.dtype(wide)
