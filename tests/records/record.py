"""What a record of a public function holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

MODES = ("device", "error", "fill", "clip", "wrap", "promise_in_bounds")


class Case(NamedTuple):
    """A call `op(*data, *indices, **options)` and a plain-loop oracle that takes the same.

    `data` are the float arrays, which have gradients; `indices` the integer ones that have bounds.
    """

    op: Callable[..., Any]
    oracle: Callable[..., Any]
    data: tuple[np.ndarray, ...]
    indices: tuple[np.ndarray, ...] = ()
    modes: tuple[str, ...] = ()  # none: the op has no argument `mode`
    linear: bool = True  # in `data`
    has_deterministic: bool = False

    @property
    def args(self) -> tuple[np.ndarray, ...]:
        return (*self.data, *self.indices)


class OutOfBounds(NamedTuple):
    """A call of a function of one array of indices, and the error where one is out of bounds."""

    call: Callable[..., Any]
    good: Any
    bad: Any
    text: str  # with which the error begins
    position: tuple[int, ...]
    index: int | tuple[int, ...]
    bound: int | tuple[int, ...]


class Export(NamedTuple):
    """A call that is exported for sizes that are not known yet."""

    how: str  # the call, in words of Python
    call: Callable[..., Any]
    shapes: tuple[str, ...]  # of the arguments; those that end in "int" or "bool" are that
    constraints: tuple[str, ...] = ()
    refused: str = ""  # the words of the exception, where the call cannot be exported


class Record(NamedTuple):
    """What tests, documents and benchmarks know of a public function.

    Attributes:
        call: the arguments of a valid call, all that the function has but `name`, by their names.
            Each is a pair of its kind and its value. Kinds: `data`, numbers; `integers`, such as
            indices; `bools`; `text`; `scalar`, of data; `arrays`, a list of data; `indices`, a list
            of integers; `int`, `ints` and `pairs`, static; `dtype`; `word`, an option; `grads`,
            nested arrays. Empty for a function of no arrays. A kind may say more after a comma:
            "data, numbers" is data, and neither strings nor keys. Only the refused calls look at
            that, of which tests/refusals/kinds.py makes a dozen for an argument; after "own" none.
        cases: calls of the harness with their oracles, by what is special about each.
        out_of_bounds: calls with an index out of bounds, likewise.
        narrow: functions of 4 indices below 100, and the same in NumPy. What is indexed has more
            than 255 places, which indices of 8 bits cannot count.
        exports: calls with symbolic sizes, for docs/symbolic_shapes.md.
        of_dtype: the arguments whose dtype docs/dtypes.md is about, where they are not those of the
            kinds `data` and `arrays`.
        section: of the table of functions on the site, and of the names in the README.
        readme: the cells of that table after the function of TensorFlow 2, which `jaxops/_names.py`
            knows: the function of 0.x; what differs under `jit`; the gradient; the arguments that
            have bounds.
    """

    call: Mapping[str, tuple[str, Any]] = {}
    cases: Mapping[str, Case] = {}
    out_of_bounds: Mapping[str, OutOfBounds] = {}
    narrow: Mapping[str, tuple[Callable[..., Any], Callable[..., Any]]] = {}
    exports: Sequence[Export] = ()
    of_dtype: tuple[str, ...] = ()
    section: str = ""
    readme: str = ""


# --- values of calls that are good ---

X = np.arange(12, dtype=np.float32).reshape(4, 3)
IMAGES = np.zeros((4, 2, 2, 4), np.float32)
NUMBERS = np.array([2, 0, 2, 1], np.int32)

DATA = ("data", X)
NO_STRINGS = ("data, no strings", X)
ONLY_NUMBERS = ("data, numbers", X)
ANYTHING = ("data, anything", X)
TABLES = ("data, tables", X)
MASK = ("bools", np.array([True, False, True, True]))
MODE = (f"word, one of {', '.join(MODES)}", "fill")
POLICY = ("word, policy", "IGNORE")  # the same in TensorFlow's words
DETERMINISTIC = ("word, bool", True)
ACCUMULATE = ("dtype", "float32")
FILL = {"fill_value": ("scalar", 7.0), "mode": MODE}
HELD = {**FILL, "size": ("int", 3), "return_size": ("word, bool", True)}
PADS = ("pairs, [M, 2]", [[0, 0], [0, 0]])

# What narrow indices index.
LENGTH = 300
TABLE = np.arange(LENGTH * 3, dtype=np.float32).reshape(LENGTH, 3)
TALL = np.arange(200 * LENGTH, dtype=np.float32).reshape(200, LENGTH)


# Dtypes of elements that are moved.
MOVED = [jnp.bool_, jnp.int4, jnp.uint4, jnp.int8, jnp.uint8, jnp.uint16, jnp.int32, jnp.uint64]
MOVED += [jnp.float16, jnp.bfloat16, jnp.float64, jnp.complex64, jnp.complex128]
MOVED += [jnp.float8_e4m3fn, jnp.float8_e5m2]


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(-9, 9, shape).astype(np.float32)


def int32s(indices: Any) -> tuple[np.ndarray]:
    return (np.asarray(indices, np.int32),)


def filled(function: Callable[..., Any], **options) -> Callable[..., Any]:
    return lambda *args: function(*args, mode="fill", **options)


def gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *args: jax.grad(lambda x: (function(x, *args) ** 2).sum())(x)


# --- loops that several oracles share; no oracle shares code with jaxops ---


def place_of(index, dims, mode):
    """Where an index vector leads under `mode`; None if nowhere."""
    if all(0 <= i < d for i, d in zip(index, dims, strict=True)):
        return index
    if mode == "clip":
        return tuple(min(max(i, 0), d - 1) for i, d in zip(index, dims, strict=True))
    if mode == "wrap":
        return tuple(i % d for i, d in zip(index, dims, strict=True))
    assert mode == "fill", f"index {index} does not fit {dims}"
    return None


def fitted(rows, row_shape, dtype, size, fill_value):
    """As many rows as `size` holds, with rows of the fill value where there are fewer."""
    size = len(rows) if size is None else size
    out = np.full((size, *row_shape), fill_value, dtype)
    for n, row in enumerate(rows[:size]):
        out[n] = row
    return out


def added(indices, rows):
    total = np.zeros_like(TABLE)
    np.add.at(total, indices, rows)
    return total
