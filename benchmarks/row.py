"""What a row of the benchmark is: one piece of work, and how each contender does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

Size = Callable[[int, int], int]
PEERS = ("tensorflow", "jnp", "keras", "torch", "numpy", "numba")


def full(size: int, small: int) -> int:
    """Sizes of the rows that measure throughput: a few megabytes at least."""
    del small
    return size


def small(size: int, small: int) -> int:
    """Sizes of tiny calls."""
    del size
    return small


def as_is(answer: Any) -> Any:
    return answer


class Row(NamedTuple):
    """A call `function(*arguments(size))` for each contender.

    NumPy arrays among the arguments, also inside of lists, become arrays of each contender and are
    traced; ints stay static. Functions with bounds take `mode` too.
    """

    op: str
    what: str
    arguments: Callable[[Size], tuple[Any, ...]]
    jaxops: Callable[..., Any]
    tensorflow: Callable[..., Any] | None = None
    jnp: Callable[..., Any] | None = None
    keras: Callable[..., Any] | None = None
    torch: Callable[..., Any] | None = None
    numpy: Callable[..., Any] | None = None
    numba: Callable[..., Any] | None = None  # a function that numba has compiled
    groups: str = "throughput"
    # Makes equal what answers may differ in, such as an order that the op does not promise.
    comparable: Callable[[Any], Any] = as_is
    differentiated: tuple[int, ...] = (0,)
    # Bytes read and written: "all" of the arguments, or as much of them as of the result: "part".
    moves: str = "all"
    eager: bool = False  # the shapes of the result depend on data: nothing is jitted
    # Peers whose result is the memory of the argument: shown, but no measure of throughput.
    shares_memory: tuple[str, ...] = ()
    x64: bool = False
    quick: bool = False  # also with --quick
    note: str = ""

    @property
    def name(self) -> str:
        return f"{self.op}: {self.what}"


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def floats(*shape: int) -> np.ndarray:
    """Without zeros, which padding is told by; every value is a bfloat16 too."""
    numbers = rng().integers(1, 128, shape, dtype=np.int8)
    return numbers.astype(np.float32) / 8


def bfloat16s(*shape: int) -> np.ndarray:
    return floats(*shape).astype(jnp.bfloat16)


def ints(limit: int, *shape: int) -> np.ndarray:
    return rng().integers(0, limit, shape, dtype=np.int32)


def bools(*shape: int) -> np.ndarray:
    return rng().integers(0, 2, shape, dtype=np.int8).astype(bool)


def permutation(size: int) -> np.ndarray:
    return rng().permutation(size).astype(np.int32)


def pairs(rows: int, columns: int, count: int) -> np.ndarray:
    """Positions in a matrix."""
    generator = rng()
    return np.stack(
        [generator.integers(0, rows, count), generator.integers(0, columns, count)], 1
    ).astype(np.int32)
