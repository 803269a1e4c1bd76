"""`jaxops.testing.check_adjoint`, its arguments checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from jaxops._testing_leaves import (
    Arrays,
    Problem,
    compiled,
    element_name,
    is_complex,
    is_inexact,
    terms,
    widen,
)
from jaxops._testing_search import Probe, find_worst

OP = "check_adjoint"
TRANSPOSES = ("linear_transpose", "vjp")
# Of what a sum of terms of random signs amounts to, in rounding errors of the coarsest dtype.
ROUNDINGS = 16


def check(problem: Problem, name: str, by: str, seed: int, jit: Callable | None) -> None:
    _Check(problem, name, by, seed, jit).check()


class _Check:
    def __init__(self, problem: Problem, name: str, by: str, seed: int, jit: Callable | None):
        self.problem, self.name, self.by, self.seed = problem, name, by, seed
        self.call = compiled(problem.call, jit)
        self.transposed = compiled(self._transpose, jit)

    def check(self) -> None:
        rng = np.random.default_rng(self.seed)
        like = self.problem.operands
        x, z = ([_whole_numbers(a, rng) for a in like] for _ in range(2))
        at_zero = self._evaluate([np.zeros_like(a) for a in like])
        if not at_zero:
            raise TypeError(f"{OP}: f must return an array of the kind of its operands")
        at_x, at_z = self._evaluate(x), self._evaluate(z)
        both = [(widen(a) + widen(b)).astype(a.dtype) for a, b in zip(x, z, strict=True)]
        self.unit = max(_eps(a.dtype) for a in (*like, *at_zero))
        of_integers = not is_inexact(like[0].dtype)
        bits = min(jnp.iinfo(a.dtype).bits for a in (*like, *at_zero)) if of_integers else 0
        self.modulus = 2**bits if of_integers else None
        self._check_linear(at_zero, at_x, at_z, self._evaluate(both))

        y = [_whole_numbers(a, rng) for a in at_x]
        try:
            back = [np.asarray(a) for a in self.transposed(y, self.problem.constants)]
        except (AssertionError, NotImplementedError, TypeError) as error:
            hint = "; by='vjp' may" if self.by == "linear_transpose" else ""
            self._fail(f"cannot be transposed by jax.{self.by}{hint}: {error}", error)
        forward, backward = _exact_pairing(at_x, y), _exact_pairing(x, back)
        tolerance = self._tolerance((at_x, y), (x, back))
        if not abs(self._difference(forward, backward)) <= tolerance:
            self._fail_at(x, y, back, forward, backward)

    def _transpose(self, y, constants):
        def of_operands(*operands):
            return self.problem.call(operands, constants)

        if self.by == "linear_transpose":
            return list(
                jax.linear_transpose(of_operands, *self.problem.operands)(
                    [jnp.asarray(a) for a in y]
                )
            )
        zeros = [jnp.zeros_like(a) for a in self.problem.operands]
        return list(jax.vjp(of_operands, *zeros)[1]([jnp.asarray(a) for a in y]))

    def _evaluate(self, operands: Arrays) -> Arrays:
        return [np.asarray(a) for a in self.call(operands, self.problem.constants)]

    def _difference(self, a, b):
        """`a - b`; of integers modulo what their dtype holds, as sums of them wrap around."""
        difference = a - b
        if self.modulus is None:
            return difference
        return (difference + self.modulus // 2) % self.modulus - self.modulus // 2

    def _tolerance(self, *pairs: tuple[Arrays, Arrays]) -> float:
        if all(_is_exact(a) for pair in pairs for arrays in pair for a in arrays):
            return 0.0
        return ROUNDINGS * self.unit * sum(terms(a, b) for a, b in pairs)

    def _check_linear(self, at_zero, at_x, at_z, at_both) -> None:
        for n, label in enumerate(self.problem.result_names):
            zero = widen(at_zero[n])
            if zero.any():
                place = int(np.flatnonzero(zero)[0])
                where = element_name(label, zero.shape, place)
                self._fail(f"is not linear: at 0 it is {zero.flat[place]:.6g} in {where}")
            total, sum_of_two = widen(at_both[n]), widen(at_x[n]) + widen(at_z[n])
            if not all(map(_is_exact, (at_x[n], at_z[n], at_both[n]))):
                typical = np.sqrt(np.mean(np.abs(total) ** 2)) if total.size else 0.0
                allowed = ROUNDINGS * self.unit * np.maximum(typical, np.abs(sum_of_two))
            else:
                allowed = np.zeros(total.shape)
            wrong = np.flatnonzero(~(np.abs(self._difference(total, sum_of_two)) <= allowed))
            if wrong.size:
                place = int(wrong[0])
                self._fail(
                    f"is not linear: f(x + z) is {total.flat[place]:.6g} and f(x) + f(z) "
                    f"{sum_of_two.flat[place]:.6g} in {element_name(label, total.shape, place)}, "
                    "for random whole numbers x and z"
                )

    def _fail_at(self, x: Arrays, y: Arrays, back: Arrays, forward, backward) -> NoReturn:
        def part(leaf: int, start: int, stop: int) -> Arrays:
            parts = [np.zeros_like(a) for a in x]
            parts[leaf].reshape(-1)[start:stop] = x[leaf].reshape(-1)[start:stop]
            return parts

        def probe(leaf: int, start: int, stop: int) -> Probe:
            some = part(leaf, start, stop)
            results = self._evaluate(some)
            expected, received = _exact_pairing(results, y), _exact_pairing(some, back)
            # As a distance from 0, since complex numbers have no order.
            difference = abs(self._difference(expected, received))
            return Probe(0.0, difference, self._tolerance((results, y), (some, back)))

        place = find_worst(probe, [a.size for a in x])
        if place is None or place.stop - place.start > 1:
            where = "" if place is None else f" in {self.problem.names[place.leaf]}"
            self._fail(
                f"has a wrong transpose{where}: <f(x), y> is {forward:.6g}, <x, f^T(y)> is "
                f"{backward:.6g}, for random whole numbers x and y"
            )
        one = [np.zeros_like(a) for a in x]
        one[place.leaf].reshape(-1)[place.start] = 1
        expected = _exact_pairing(self._evaluate(one), y)
        received = back[place.leaf].reshape(-1)[place.start]
        name = self.problem.names[place.leaf]
        where = element_name(name, x[place.leaf].shape, place.start)
        counted = ""
        if place.wrong:
            counted = f"\n  {place.wrong} of {place.looked_at} elements looked at are wrong"
        self._fail(
            f"has a wrong transpose at {where}:\n  expected {expected:.6g}, which f makes of a 1 "
            f"there, times y; received {received:.6g}, f^T(y) there; y are random whole numbers"
            f"{counted}"
        )

    def _fail(self, text: str, error: Exception | None = None) -> NoReturn:
        raise AssertionError(f"{OP}: {self.name} {text}\n  seed={self.seed}") from error


def _whole_numbers(like: np.ndarray, rng) -> np.ndarray:
    """From -3 to 3 without 0, which would hide an element; natural ones if unsigned."""
    magnitude = rng.integers(1, 4, like.shape)
    if like.dtype.kind == "u" or str(like.dtype).startswith("uint"):
        return magnitude.astype(like.dtype)
    numbers = magnitude * rng.choice([-1, 1], like.shape)
    if is_complex(like):
        other = rng.integers(1, 4, like.shape) * rng.choice([-1, 1], like.shape)
        return (numbers + 1j * other).astype(like.dtype)
    return numbers.astype(like.dtype)


def _exact_pairing(xs: Arrays, ys: Arrays) -> Any:
    """Exact as long as the sum stays below 2**53."""
    pairs = zip(xs, ys, strict=True)
    return sum(np.dot(widen(x).reshape(-1), widen(y).reshape(-1)) for x, y in pairs)


def _eps(dtype) -> float:
    return float(jnp.finfo(dtype).eps) if is_inexact(dtype) else 0.0


def _is_exact(x: np.ndarray) -> bool:
    """Whether sums that give these numbers have not rounded: whole, and held with all digits."""
    if not is_inexact(x.dtype):
        return True
    wide = widen(x)
    parts = np.stack([np.real(wide), np.imag(wide)])
    limit = 2.0 / _eps(x.dtype)
    return bool((np.abs(parts) < limit).all() and (parts == np.round(parts)).all())
