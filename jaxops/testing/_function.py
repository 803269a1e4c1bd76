"""A function and its derivatives, evaluated at a point and beside it, for `check_grads`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from jaxops.testing import _numeric as numeric
from jaxops.testing._leaves import (
    Arrays,
    Problem,
    compiled,
    element_name,
    first_where,
    root_mean_square,
    widen,
)
from jaxops.testing._numeric import Direction, Estimate

OP = "check_grads"
MODES = {"fwd": "forward mode (jvp)", "rev": "reverse mode (vjp)"}


class Settings(NamedTuple):
    name: str  # of the function
    modes: tuple[str, ...]
    directions: int
    seed: int
    rtol: float | None
    numeric_dtype: Any
    jit: Callable | None


class Differentiated:
    """A function with its derivatives. It may be a derivative itself: `trail` says by which modes.

    `steps` are the relative steps of the differences, `dtypes` the dtypes in which the operands are
    moved for them, and `rtol` is the relative error that a right derivative may have.
    """

    results: Arrays  # at the origin of all directions
    center: Arrays  # the results there, evaluated in the dtypes of the differences

    def __init__(self, problem: Problem, settings: Settings, trail: tuple[str, ...]):
        """Compiles the function and its derivatives, and evaluates it once for its dtypes."""
        self.problem, self.settings, self.trail = problem, settings, trail

        def with_constants(constants):
            return lambda *operands: problem.call(operands, constants)

        def jvp(operands, constants, tangents):
            f = with_constants(constants)
            return jax.jvp(f, tuple(operands), tuple(map(jnp.asarray, tangents)))

        def vjp(operands, constants, cotangents):
            results, pullback = jax.vjp(with_constants(constants), *operands)
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
        results = self.evaluate(problem.operands)
        if not results:
            raise TypeError(f"{OP}: f must return an array of a floating-point or complex dtype")
        widened = [np.asarray(x, d) for x, d in zip(problem.operands, self.dtypes, strict=True)]
        widened_results = results if wide is None else self.evaluate(widened)
        self.ladder = numeric.ladder_for([*self.dtypes, *(y.dtype for y in widened_results)])
        self.steps = self.ladder.steps
        coarsest = min((x.dtype for x in (*problem.operands, *results)), key=numeric.digits)
        self.rtol = settings.rtol or float(jnp.finfo(coarsest).eps) ** 0.5

    def start(self, direction: Direction) -> None:
        """Takes the origin of the direction, the same for all directions, as the point checked."""
        self.results = self.evaluate(direction.origin)
        self.center = self.evaluate(numeric.moved(direction, 0.0, self.dtypes))
        names = self.problem.result_names
        place = first_where(names, self.center, lambda y: ~np.isfinite(y))
        if place is not None:
            if self.trail:
                self.fail(f"is not finite: {place}")
            raise ValueError(
                f"{OP}: f must be finite at args; received a value that is not: {place}"
            )

    def evaluate(self, operands: Arrays) -> Arrays:
        """The results of the function itself."""
        return [np.asarray(y) for y in self.call(operands, self.problem.constants)]

    def evaluate_moved(self, operands: Arrays) -> Arrays:
        """The results beside the point, where the function may raise though it does not at it."""
        try:
            return self.evaluate(operands)
        except Exception as error:
            error.add_note(
                f"{OP}: f returns at args, and raised this where args are moved for the "
                f"differences, each element by up to {1.5 * self.steps[0]:.2g} of itself"
            )
            raise

    def derivative_at(self, mode: str, origin: Arrays, vectors: Arrays) -> Arrays:
        """The tangents of the results, or the gradients of the operands, not checked for NaN."""
        _, derivative = self.compiled[mode](origin, self.problem.constants, vectors)
        return [np.asarray(d) for d in derivative]

    def estimate(
        self, direction: Direction, cotangents: Arrays, noise=None, may_be_still=False
    ) -> Estimate:
        """The slope by differences; `noise` is found if not given."""
        of_function = self.center, self.dtypes, self.steps
        line = numeric.Line(self.evaluate_moved, direction, cotangents, *of_function)
        noise = numeric.noise_of(line) if noise is None else noise
        return numeric.estimate(line, noise, may_be_still)

    def differentiate(self, mode: str, direction: Direction, cotangents: Arrays) -> Arrays:
        """The derivative at the origin. Raises if it or the values that come with it are wrong."""
        problem = self.problem
        vectors = direction.tangents if mode == "fwd" else cotangents
        try:
            compiled = self.compiled[mode]
            primals, derivative = compiled(direction.origin, problem.constants, vectors)
        except (TypeError, NotImplementedError) as error:
            other = "rev" if mode == "fwd" else "fwd"
            error.add_note(
                f"{OP}: raised by {self.modes(mode)}; modes={other!r} checks the other mode alone"
            )
            raise
        derivative = [np.asarray(d) for d in derivative]
        names = problem.result_names if mode == "fwd" else problem.names
        place = first_where(names, derivative, lambda d: ~np.isfinite(d))
        if place is not None:
            what = "tangent" if mode == "fwd" else "gradient"
            self.fail(f"by {self.modes(mode)} is not finite: the {what} of {place}")
        self._check_primals(mode, direction, primals)
        return derivative

    def _check_primals(self, mode: str, direction: Direction, primals) -> None:
        """Raises if a derivative comes with other values than `f` returns, beyond `rtol`."""
        allowed = []
        for y in self.results:
            size = np.abs(widen(y))
            allowed.append(self.rtol * np.maximum(size, root_mean_square(size)))
        if self._first_other(primals, allowed) is None:
            return
        # Terms that nearly cancel may round otherwise in another program (test_grads.py,
        # test_what_nearly_cancels_may_round_differently). Then a step of the last size changes the
        # value by as much, at least.
        near = self.evaluate_moved(numeric.moved(direction, self.steps[-1], self.dtypes))
        changes = [np.abs(widen(y) - widen(c)) for y, c in zip(near, self.center, strict=True)]
        allowed = [a + d.max(initial=0.0) for a, d in zip(allowed, changes, strict=True)]
        found = self._first_other(primals, allowed)
        if found is not None:
            leaf, n = found
            y = self.results[leaf]
            self.fail(
                f"comes with another value by {self.modes(mode)} than f returns: "
                f"{element_name(self.problem.result_names[leaf], y.shape, n)} is "
                f"{widen(primals[leaf]).flat[n]:.6g}, f returns {widen(y).flat[n]:.6g}"
            )

    def _first_other(self, primals, allowed: Arrays) -> tuple[int, int] | None:
        """Array and number of the first element that is off by more than `allowed`."""
        for leaf, (y, primal) in enumerate(zip(self.results, primals, strict=True)):
            wrong = np.flatnonzero(~(np.abs(widen(primal) - widen(y)) <= allowed[leaf]))
            if wrong.size:
                return leaf, int(wrong[0])
        return None

    def modes(self, mode: str) -> str:
        """The name of a mode of this derivative, for messages."""
        return " over ".join(MODES[m] for m in (mode, *self.trail))

    def fail(self, text: str) -> NoReturn:
        """Raises that the derivative `text`."""
        raise AssertionError(self.describe(text))

    def describe(self, text: str) -> str:
        """The sentence that the derivative `text`, with the order and the settings."""
        what = {0: "the gradient", 1: "the second derivative"}.get(len(self.trail))
        what = what or f"the derivative of order {len(self.trail) + 1}"
        settings = self.settings
        return (
            f"{OP}: {what} of {settings.name} {text}\n  order {len(self.trail) + 1}, "
            f"seed={settings.seed}, rtol={self.rtol:.2g}"
        )


def _widened(dtype, wide):
    """`wide` in place of `dtype`, unless that is wider."""
    if numeric.digits(dtype) >= numeric.digits(wide):
        return dtype
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return np.result_type(wide, np.complex64)
    return np.dtype(wide)
