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
KNOWN, KNOWN_WELL = 0.5, 0.25
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
    received: float
    scale: float


def check(problem: Problem, settings: Settings, order: int) -> None:
    _Order(problem, settings, trail=()).check(order)


class _Order:
    """The derivative of one function, which may be a derivative itself."""

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
        coarsest = min((x.dtype for x in (*problem.operands, *results)), key=numeric.digits)
        self.rtol = settings.rtol or float(jnp.finfo(coarsest).eps) ** 0.5

        comparisons: list[Comparison] = []
        center: Arrays = []
        for n in range(settings.directions):
            seed = (settings.seed, len(self.trail), n)
            direction = numeric.random_direction(problem.operands, ladder, self.dtypes, (*seed, 0))
            if n == 0:  # all directions have one origin
                results = self._evaluate(direction.origin)
                center = self._evaluate(numeric.moved(direction, 0.0, self.dtypes))
                self._check_finite(center)
            cotangents = numeric.random_cotangents(results, (*seed, 1))
            derivatives = {
                mode: self._differentiate(mode, direction, cotangents, results)
                for mode in settings.modes
            }
            if not sum(y.size for y in results) or not sum(x.size for x in direction.origin):
                continue
            at = (self._evaluate, direction, cotangents, center, self.dtypes)
            found = numeric.estimate(*at, ladder.steps, numeric.noise_of(*at, ladder.steps[-1]))
            for mode, derivative in derivatives.items():
                weights = cotangents if mode == "fwd" else direction.tangents
                received = pairing(weights, derivative)
                scale = max(abs(received), terms(weights, derivative))
                comparisons.append(
                    Comparison(mode, direction, cotangents, derivative, found, received, scale)
                )
        self.center, self.steps = center, ladder.steps
        self._judge(comparisons)
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

    def _differentiate(self, mode, direction, cotangents, results) -> Arrays:
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
        for y, primal, name in zip(results, primals, problem.result_names, strict=True):
            size = np.abs(widen(y))
            allowed = self.rtol * np.maximum(size, np.sqrt(np.mean(size**2)) if y.size else 0.0)
            wrong = np.flatnonzero(~(np.abs(widen(primal) - widen(y)) <= allowed))
            if wrong.size:
                n = int(wrong[0])
                self._fail(
                    f"comes with another value by {self._modes(mode)} than f returns: "
                    f"{element_name(name, y.shape, n)} is {widen(primal).flat[n]:.6g}, "
                    f"f returns {widen(y).flat[n]:.6g}"
                )
        return derivative

    def _judge(self, comparisons: list[Comparison]) -> None:
        # One scale for all directions: along one of them terms may cancel by chance.
        scale = max((c.scale for c in comparisons), default=0.0)
        for c in comparisons:
            of_this = max(scale, abs(c.numeric.value) if np.isfinite(c.numeric.value) else 0.0)
            jump = c.numeric.jump
            if jump > self.rtol * of_this and c.numeric.bound <= KNOWN_WELL * max(jump, of_this):
                self._fail(
                    "does not exist at args: f has a kink there. Along a random direction the "
                    f"slopes of the two sides differ by {jump:.4g}, at every step. Move "
                    "args away from it (from 0 for abs and relu, from ties for max and sort, from "
                    "the limits of clip)"
                )
            tolerance = c.numeric.bound + self.rtol * of_this
            if abs(c.received - c.numeric.value) > tolerance:
                if c.numeric.bound > KNOWN_WELL * of_this:
                    self._fail_unknown(c)
                self._fail_at(c, tolerance)
        if scale and all(c.numeric.bound > KNOWN * scale for c in comparisons):
            self._fail_unknown(comparisons[0])

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

    def _fail_at(self, c: Comparison, tolerance: float) -> NoReturn:
        """`c` is wrong: finds out where."""
        steps = self.steps[max(c.numeric.best - 1, 0) : c.numeric.best + 2]

        def probe(leaf: int, start: int, stop: int) -> Probe:
            direction = _part(c.direction, leaf, start, stop)
            at = (self._evaluate, direction, c.cotangents, self.center, self.dtypes)
            found = numeric.estimate(*at, steps, c.numeric.noise)
            weights, derivative = c.cotangents, c.derivative
            if c.mode == "fwd":
                derivative = self._tangents(direction)
            else:
                weights = direction.tangents
            received = pairing(weights, derivative)
            if not np.isfinite(found.value):
                return Probe(received, received, np.inf)
            scale = max(abs(received), abs(found.value), terms(weights, derivative))
            return Probe(found.value, received, found.bound + self.rtol * scale)

        sizes = [to_coordinates(u).size for u in c.direction.tangents]
        place = find_worst(probe, sizes)
        direction = c.direction if place is None else _part(c.direction, *place[:3])
        found = Probe(c.numeric.value, c.received, tolerance) if place is None else place.probe
        where = "args as a whole" if place is None else self._place_name(place)
        if place is not None and place.stop - place.start == 1:
            length = abs(to_coordinates(c.direction.tangents[place.leaf])[place.start])
            found = Probe(*(number / length for number in found))
            sign = np.sign(to_coordinates(c.direction.tangents[place.leaf])[place.start])
            found = Probe(sign * found.expected, sign * found.received, found.tolerance)
        lines = [
            f"by {self._modes(c.mode)} is wrong at {where}:",
            f"  expected {found.expected:.6g} (by central differences), received "
            f"{found.received:.6g}; difference {abs(found.expected - found.received):.3g}, "
            f"tolerance {found.tolerance:.3g}",
        ]
        if place is not None and place.wrong:
            lines.append(f"  {place.wrong} of {place.looked_at} elements looked at are wrong")
        if c.mode == "fwd":
            lines.append(f"  {self._worst_result(direction, steps[len(steps) // 2])}")
        if not (len(c.cotangents) == c.cotangents[0].size == 1):
            lines.append("  (of the sum of the results, each times a random number)")
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

    def _place_name(self, place: Place) -> str:
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
    tangents = [
        within(u, start, stop) if n == leaf else np.zeros_like(u)
        for n, u in enumerate(direction.tangents)
    ]
    return Direction(direction.origin, tangents)


def _widened(dtype, wide):
    """`wide` in place of `dtype`, unless that is wider."""
    if numeric.digits(dtype) >= numeric.digits(wide):
        return dtype
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return np.result_type(wide, np.complex64)
    return np.dtype(wide)
