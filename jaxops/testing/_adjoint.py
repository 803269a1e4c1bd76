"""`jaxops.testing.check_adjoint`, its arguments checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from jaxops.testing._leaves import (
    Arrays,
    Problem,
    compiled,
    element_name,
    is_complex,
    is_inexact,
    root_mean_square,
    terms,
    widen,
)
from jaxops.testing._search import Probe, find_worst

OP = "check_adjoint"
TRANSPOSES = ("linear_transpose", "vjp")
# The tolerance of a sum: that many rounding errors of the coarsest dtype, times the size of the sum
# if its terms have random signs.
ROUNDINGS = 16
# The largest of the random numbers: small ones leave room for sums that are exact, but two wrong
# elements cancel if their numbers are equal by chance (test_adjoint.py,
# test_two_wrong_elements_hardly_ever_cancel).
LARGEST = 64


class Check:
    """One check. `unit` is the `eps` of the coarsest dtype.

    `bits` are those of the narrowest integer dtype; None for floats.
    """

    def __init__(self, problem: Problem, name: str, by: str, seed: int, jit: Callable | None):
        self.problem, self.name, self.by, self.seed = problem, name, by, seed
        self.call = compiled(problem.call, jit)
        self.transposed = compiled(self._transpose, jit)

    def run(self) -> None:
        """Raises unless the function is linear and its transpose is its adjoint."""
        rng = np.random.default_rng(self.seed)
        like = self.problem.operands
        x, z = ([_whole_numbers(a, rng) for a in like] for _ in range(2))
        at_zero = self._evaluate([np.zeros_like(a) for a in like])
        if not at_zero:
            raise TypeError(f"{OP}: f must return an array of the kind of its operands")
        at_x, at_z = self._evaluate(x), self._evaluate(z)
        both = [(widen(a) + widen(b)).astype(a.dtype) for a, b in zip(x, z, strict=True)]
        at_both = self._evaluate(both)
        self.unit = max(_eps(a.dtype) for a in (*like, *at_zero))
        self.bits = None
        if not is_inexact(like[0].dtype):
            self.bits = min(jnp.iinfo(a.dtype).bits for a in (*like, *at_zero))
        self._check_linear(at_zero, at_x, at_z, at_both)
        # Three pairings, as two errors may cancel in one. They cost no more evaluations of `f`.
        for operands, results in ((x, at_x), (z, at_z), (both, at_both)):
            self._check_transpose(operands, results, rng)

    def _check_transpose(self, x: Arrays, at_x: Arrays, rng) -> None:
        """Compares `<f(x), y>` with `<x, f^T(y)>` for one random `y`."""
        y = [_whole_numbers(a, rng) for a in at_x]
        try:
            back = [np.asarray(a) for a in self.transposed(y, self.problem.constants)]
        except (AssertionError, NotImplementedError, TypeError) as error:
            hint = "; by='vjp' may" if self.by == "linear_transpose" else ""
            self._fail(f"cannot be transposed by jax.{self.by}{hint}: {error}", error)
        forward, backward = self._pairing(at_x, y), self._pairing(x, back)
        tolerance = self._tolerance((at_x, y), (x, back))
        if not abs(self._modulo(forward - backward)) <= tolerance:
            self._fail_at(x, y, back, forward, backward)

    def _transpose(self, y, constants):
        def of_operands(*operands):
            return self.problem.call(operands, constants)

        if self.by == "linear_transpose":
            transposed = jax.linear_transpose(of_operands, *self.problem.operands)
        else:
            zeros = [jnp.zeros_like(a) for a in self.problem.operands]
            _, transposed = jax.vjp(of_operands, *zeros)
        return list(transposed([jnp.asarray(a) for a in y]))

    def _evaluate(self, operands: Arrays) -> Arrays:
        return [np.asarray(a) for a in self.call(operands, self.problem.constants)]

    def _pairing(self, xs: Arrays, ys: Arrays) -> Any:
        """`<xs, ys>`. Of integers exact modulo 2**64; of floats while all sums are below 2**53."""
        # float64 does not hold integers beyond 2**53 (test_adjoint.py,
        # test_large_integers_are_exact).
        as_numbers = widen if self.bits is None else _modulo_2_to_64
        vectors = ([as_numbers(x).reshape(-1) for x in arrays] for arrays in (xs, ys))
        return self._modulo(sum(np.dot(x, y).item() for x, y in zip(*vectors, strict=True)))

    def _modulo(self, number):
        """The representative nearest to 0 of an integer modulo 2**bits, as sums wrap around."""
        if self.bits is None:
            return number
        # Sums of a function wrap around in its dtype (test_adjoint.py, test_integers_wrap_around).
        half = 2 ** (self.bits - 1)
        return (number + half) % (2 * half) - half

    def _tolerance(self, *pairs: tuple[Arrays, Arrays]) -> float:
        """0 where the pairings are exact; else some rounding errors of their terms."""
        if self.bits is not None:
            return 0.0
        if all(map(_is_exact, (a for pair in pairs for arrays in pair for a in arrays))) and all(
            sum(np.abs(widen(x) * widen(y)).sum() for x, y in zip(*pair, strict=True)) < 2**53
            for pair in pairs
        ):
            return 0.0
        return ROUNDINGS * self.unit * sum(terms(a, b) for a, b in pairs)

    def _check_linear(self, at_zero, at_x, at_z, at_both) -> None:
        """Raises unless `f(0)` is 0 and `f(x + z)` is `f(x) + f(z)`."""
        for n, label in enumerate(self.problem.result_names):
            zero = widen(at_zero[n])
            if zero.any():
                place = int(np.flatnonzero(zero)[0])
                where = element_name(label, zero.shape, place)
                self._fail(f"is not linear: at 0 it is {zero.flat[place]:.6g} in {where}")
            wrong = np.flatnonzero(self._differs(at_both[n], at_x[n], at_z[n]))
            if wrong.size:
                place = int(wrong[0])
                total, a, b = (widen(y).flat[place] for y in (at_both[n], at_x[n], at_z[n]))
                self._fail(
                    f"is not linear: f(x + z) is {total:.6g} and f(x) + f(z) {a + b:.6g} "
                    f"in {element_name(label, zero.shape, place)}, "
                    "for random whole numbers x and z"
                )

    def _differs(self, total: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The elements where `total` is not `a + b`."""
        if self.bits is not None:
            difference = _modulo_2_to_64(total) - _modulo_2_to_64(a) - _modulo_2_to_64(b)
            return difference & np.uint64(2**self.bits - 1) != 0
        sums = widen(a) + widen(b)
        if all(map(_is_exact, (total, a, b))):
            return widen(total) != sums
        typical = root_mean_square(np.abs(widen(total)))
        allowed = ROUNDINGS * self.unit * np.maximum(typical, np.abs(sums))
        return ~(np.abs(widen(total) - sums) <= allowed)

    def _fail_at(self, x: Arrays, y: Arrays, back: Arrays, forward, backward) -> NoReturn:
        """Raises, and names the element of the arguments whose share of the identity is off."""

        def part(leaf: int, start: int, stop: int) -> Arrays:
            parts = [np.zeros_like(a) for a in x]
            parts[leaf].reshape(-1)[start:stop] = x[leaf].reshape(-1)[start:stop]
            return parts

        def probe(leaf: int, start: int, stop: int) -> Probe:
            some = part(leaf, start, stop)
            results = self._evaluate(some)
            # As a distance from 0, since complex numbers have no order.
            difference = self._modulo(self._pairing(results, y) - self._pairing(some, back))
            return Probe(0.0, abs(difference), self._tolerance((results, y), (some, back)))

        place = find_worst(probe, [a.size for a in x])
        if place is None or place.stop - place.start > 1:
            where = "" if place is None else f" in {self.problem.names[place.leaf]}"
            self._fail(
                f"has a wrong transpose{where}: <f(x), y> is {forward:.6g}, <x, f^T(y)> is "
                f"{backward:.6g}, for random whole numbers x and y"
            )
        one = [np.zeros_like(a) for a in x]
        one[place.leaf].reshape(-1)[place.start] = 1
        expected = self._pairing(self._evaluate(one), y)
        received = self._pairing(one, back)
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
    """Random ones, positive if unsigned. None is 0, which would hide a wrong element."""
    largest = _largest(like.dtype)
    magnitude = rng.integers(1, largest + 1, like.shape)
    if not is_inexact(like.dtype) and jnp.iinfo(like.dtype).min == 0:
        return magnitude.astype(like.dtype)
    numbers = magnitude * rng.choice([-1, 1], like.shape)
    if is_complex(like):
        other = rng.integers(1, largest + 1, like.shape) * rng.choice([-1, 1], like.shape)
        return (numbers + 1j * other).astype(like.dtype)
    return numbers.astype(like.dtype)


def _largest(dtype) -> int:
    """The largest random number: a quarter of the digits leaves room for exact sums."""
    digits = jnp.finfo(dtype).nmant if is_inexact(dtype) else jnp.iinfo(dtype).bits
    return min(int(2 ** (digits / 4)), LARGEST)


def _modulo_2_to_64(x: np.ndarray) -> np.ndarray:
    """The array as uint64, where sums and products are right modulo 2 to any narrower width."""
    is_unsigned = jnp.iinfo(x.dtype).min == 0
    return x.astype(np.uint64) if is_unsigned else x.astype(np.int64).view(np.uint64)


def _eps(dtype) -> float:
    return float(jnp.finfo(dtype).eps) if is_inexact(dtype) else 0.0


def _is_exact(x: np.ndarray) -> bool:
    """Whether sums that give these numbers have not rounded: whole, and held with all digits."""
    wide = widen(x)
    parts = np.stack([np.real(wide), np.imag(wide)])
    limit = 2.0 / _eps(x.dtype)
    return bool((np.abs(parts) < limit).all() and (parts == np.round(parts)).all())
