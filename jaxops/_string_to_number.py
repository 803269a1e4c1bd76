"""string_to_number: text on the host to numbers on the device."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

from jaxops import _dispatch
from jaxops._casting import static_dtype

_BLANKS = " \t\n\v\f\r"
# Text made of these characters is a number to Python just where it is one to TensorFlow. Python
# also knows underscores, and digits and blanks beyond ASCII.
_NOT_IN_FLOATS = re.compile(rf"[^0-9+\-.einfatyEINFATY{_BLANKS}]")
_NOT_IN_INTEGERS = re.compile(rf"[^0-9+\-{_BLANKS}]")
_NOT_IN_UNSIGNED = re.compile(rf"[^0-9+{_BLANKS}]")

_DECIMAL = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)", re.A | re.I)
_NAN = re.compile(r"[+-]?nan\(\w*\)", re.A | re.I)
_HEX = re.compile(
    r"(?P<sign>[+-]?)0x(?=\.?[\da-f])(?P<whole>[\da-f]*)\.?(?P<fraction>[\da-f]*)"
    r"(p(?P<exponent>[+-]?\d+))?",
    re.A | re.I,
)
_INTEGER = re.compile(r"(?P<sign>[+-]?)0*(?P<digits>\d+)", re.A)


def string_to_number(
    input: str | bytes | np.ndarray | Sequence,
    out_type: DTypeLike = np.float32,
    name: str | None = None,
) -> jax.Array:
    """Converts text to numbers.

    Follows `tf.strings.to_number`. Differs from it in: runs on the host, at trace time under `jit`.

    Args:
        input: host strings of shape `S`: a string, bytes, a NumPy array or nested lists of them.
            Static. Floats are decimal (`"-1.5e3"`) or hexadecimal (`"0x1.8p3"`), or `inf`,
            `infinity`, `nan`, `nan(...)` in any case; integers are decimal digits. A sign may stand
            before, and ASCII blanks around it.
        out_type: static; float32, float64, int32, int64, uint32 or uint64.
        name: static; name of the `jax.named_scope` of the operation.

    Returns:
        Array of shape `S` and dtype `out_type`. Floats are the nearest ones to the text, infinite
        where it is too large.

    Raises:
        TypeError: `input` holds something else than strings, or `out_type` is another dtype.
        ValueError: a text is no number, or an integer that `out_type` cannot hold (for the unsigned
            ones any text with a minus); `out_type` has 64 bits and x64 is off.

    Gradient: none.

    Example:
        >>> import jaxops
        >>> jaxops.string_to_number(["1.55", " -inf"])
        Array([1.55, -inf], dtype=float32)
        >>> jaxops.string_to_number([["1", "2"], ["3", "4.0"]], "int32")
        Traceback (most recent call last):
        ...
        ValueError: string_to_number: input must hold integers that fit int32;
        received '4.0' at [1, 1]

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/to_number
    """
    op = "string_to_number"
    dtype = static_dtype(out_type, op, "out_type")
    if dtype.name not in ("float32", "float64", "int32", "int64", "uint32", "uint64"):
        raise TypeError(
            f"{op}: out_type must be float32, float64, int32, int64, uint32 or uint64; "
            f"received {dtype}"
        )
    scope = _dispatch.scope_name(op, name)
    if isinstance(input, jax.Array):
        raise TypeError(f"{op}: input must hold host strings; received a {input.dtype} array")
    strings = input if isinstance(input, np.ndarray) else _to_object_array(input)
    texts = _to_texts(strings, op)
    is_float = jnp.issubdtype(dtype, jnp.floating)
    numbers = _to_floats(texts) if is_float else _to_integers(texts, dtype)
    if None in numbers:
        n = numbers.index(None)
        position = [int(i) for i in np.unravel_index(n, strings.shape)]
        raise ValueError(
            f"{op}: input must hold {'numbers' if is_float else f'integers that fit {dtype}'}; "
            f"received {strings.ravel().tolist()[n]!r}{f' at {position}' if position else ''}"
        )
    if dtype == np.float32:
        values = _round_once(texts, np.array(numbers, np.float64))
    else:
        values = np.array(numbers, dtype)
    with jax.named_scope(scope):
        return jnp.asarray(values.reshape(strings.shape))


def _to_object_array(x: object) -> np.ndarray:
    # Without a dtype NumPy would cut off null characters at the end, and turn numbers among
    # strings into strings.
    array = np.asarray(x, dtype=object)
    return array.astype(str) if array.size == 0 else array


def _to_texts(strings: np.ndarray, op: str) -> list[str]:
    if strings.dtype.kind not in "USTO":
        raise TypeError(f"{op}: input must hold strings; received dtype {strings.dtype}")
    elements = strings.ravel().tolist()
    kinds = set(map(type, elements))
    for kind in kinds:
        if not issubclass(kind, (str, bytes)):
            example = next(i for i in elements if type(i) is kind)
            raise TypeError(f"{op}: input must hold strings only; received {example!r}")
    if kinds == {str}:
        return elements
    return [i if isinstance(i, str) else i.decode("latin-1") for i in elements]


def _to_floats(texts: list[str]) -> Sequence[float | None]:
    """The float64 nearest to each text; None for what is no number."""
    if not _NOT_IN_FLOATS.search("".join(texts)):
        try:
            return list(map(float, texts))
        except ValueError:
            pass
    return [_to_float(text.strip(_BLANKS)) for text in texts]


def _to_float(text: str) -> float | None:
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _NAN.fullmatch(text):
        return float("nan")
    if _HEX.fullmatch(text):
        try:
            return float.fromhex(text)
        except OverflowError:
            return float("-inf" if text[0] == "-" else "inf")
    return None


def _to_integers(texts: list[str], dtype: np.dtype) -> Sequence[int | None]:
    """Each text as an integer; None for what is no integer or does not fit `dtype`."""
    info = np.iinfo(dtype)
    foreign = _NOT_IN_UNSIGNED if info.min == 0 else _NOT_IN_INTEGERS
    if not foreign.search("".join(texts)):
        try:
            integers = list(map(int, texts))
        except ValueError:
            pass
        else:
            if not integers or (info.min <= min(integers) and max(integers) <= info.max):
                return integers
    return [_to_integer(text.strip(_BLANKS), info) for text in texts]


def _to_integer(text: str, info: np.iinfo) -> int | None:
    match = _INTEGER.fullmatch(text)
    if match is None or (match["sign"] == "-" and info.min == 0):
        return None
    if len(match["digits"]) > 20:  # more than 64 bits; Python refuses thousands of digits
        return None
    value = int(match["sign"] + match["digits"])
    return value if info.min <= value <= info.max else None


def _round_once(texts: list[str], doubles: np.ndarray) -> np.ndarray:
    """The float32 nearest to each text, from the float64 nearest to it.

    Rounding that again is wrong only where the float64 lies half-way between two float32 and the
    text beside it.
    """
    with np.errstate(over="ignore"):
        floats = doubles.astype(np.float32)
        # What rounds to infinity lies between the largest float32 and 2^128.
        rounded = np.where(np.isinf(floats), np.copysign(2.0**128, doubles), floats)
        others = np.nextafter(
            floats, np.where(doubles > rounded, np.inf, -np.inf), dtype=np.float32
        )
        beyond = np.where(np.isinf(others), np.copysign(2.0**128, doubles), others)
        halfway = (doubles != rounded) & (rounded + beyond == 2 * doubles)
    for n in np.flatnonzero(halfway):
        exact, double = _exact(texts[n].strip(_BLANKS)), Fraction(doubles[n])
        if exact != double:
            pick = max if exact > double else min
            floats[n] = pick(floats[n], others[n])
    return floats


def _exact(text: str) -> Fraction:
    match = _HEX.fullmatch(text)
    if match is None:
        return Fraction(Decimal(text))
    value = Fraction(int(match["sign"] + match["whole"] + match["fraction"], 16))
    return value * Fraction(2) ** (int(match["exponent"] or 0) - 4 * len(match["fraction"]))
