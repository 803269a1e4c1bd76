"""string_to_number: text on the host to numbers on the device."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

from jaxops import _jax_internals
from jaxops._ops.casting import static_dtype
from jaxops._run import dispatch
from jaxops._run.arguments import brief

_OUT_TYPES = set(map(np.dtype, ("float32", "float64", "int32", "int64", "uint32", "uint64")))
_BLANKS = " \t\n\v\f\r"
# Python takes underscores, digits and blanks beyond ASCII too, and TensorFlow does not.
_DECIMAL = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)", re.A | re.I)
_NAN = re.compile(r"[+-]?nan\(\w*\)", re.A | re.I)
_HEX = re.compile(
    r"(?P<sign>[+-]?)0x(?=\.?[\da-f])(?P<whole>[\da-f]*)\.?(?P<fraction>[\da-f]*)"
    r"(p(?P<exponent>[+-]?\d+))?",
    re.A | re.I,
)
_INTEGER = re.compile(r"(?P<sign>[+-]?)0*(?P<digits>\d+)", re.A)


def string_to_number(
    input: str | bytes | np.ndarray | Sequence[Any],
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
    if dtype not in _OUT_TYPES:
        raise TypeError(
            f"{op}: out_type must be float32, float64, int32, int64, uint32 or uint64; "
            f"received {dtype}"
        )
    scope = dispatch.scope_name(op, name)
    if isinstance(input, jax.Array):
        raise TypeError(f"{op}: input must hold host strings; received a {input.dtype} array")
    strings = input if isinstance(input, np.ndarray) else _to_object_array(input, op)
    values = _convert(strings, dtype, op).reshape(strings.shape)
    if _jax_internals.is_eager():
        return _jax_internals.put_on_default_device(values)
    with jax.named_scope(scope):
        return jnp.asarray(values)


def _convert(strings: np.ndarray, dtype: np.dtype, op: str) -> np.ndarray:
    """The number of each text, in one dimension."""
    texts = [text.strip(_BLANKS) for text in _to_texts(strings, op)]
    is_float = dtype.kind == "f"
    numbers = [_to_float(text) if is_float else _to_integer(text, dtype) for text in texts]
    if None in numbers:
        n = numbers.index(None)
        position = [int(i) for i in np.unravel_index(n, strings.shape)]
        raise ValueError(
            f"{op}: input must hold {'numbers' if is_float else f'integers that fit {dtype}'}; "
            f"received {strings.ravel().tolist()[n]!r}{f' at {position}' if position else ''}"
        )
    if dtype == np.float32:
        return _round_once(texts, np.array(numbers, np.float64))
    return np.array(numbers, dtype)


def _to_object_array(x: object, op: str) -> np.ndarray:
    # Without a dtype NumPy would cut off null characters at the end, and turn numbers among
    # strings into strings.
    try:
        array = np.asarray(x, dtype=object)
    except (TypeError, ValueError):  # NumPy cannot read the array, such as one of random keys
        raise TypeError(f"{op}: input must hold strings only; received {brief(x)}") from None
    return array.astype(str) if array.size == 0 else array


def _to_texts(strings: np.ndarray, op: str) -> list[str]:
    if strings.dtype.kind not in "USTO":
        raise TypeError(f"{op}: input must hold strings; received dtype {strings.dtype}")
    elements = strings.ravel().tolist()
    kinds = set(map(type, elements))
    for kind in kinds:
        if not issubclass(kind, (str, bytes)):
            example = next(i for i in elements if type(i) is kind)
            raise TypeError(f"{op}: input must hold strings only; received {brief(example)}")
    if kinds == {str}:
        return elements
    return [i if isinstance(i, str) else i.decode("latin-1") for i in elements]


def _to_float(text: str) -> float | None:
    """The float64 nearest to a text; None for a text that is no number."""
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


def _to_integer(text: str, dtype: np.dtype) -> int | None:
    """A text as an integer; None for a text that is none, or does not fit `dtype`."""
    info = np.iinfo(dtype)
    match = _INTEGER.fullmatch(text)
    if match is None or (match["sign"] == "-" and info.min == 0):
        return None
    # More than 64 bits; Python refuses thousands of digits (test_string_to_number.py,
    # test_thousands_of_digits).
    if len(match["digits"]) > 20:
        return None
    value = int(match["sign"] + match["digits"])
    return value if info.min <= value <= info.max else None


def _round_once(texts: list[str], doubles: np.ndarray) -> np.ndarray:
    """The float32 nearest to each text, from the float64 nearest to it.

    To round the float64 is wrong only if it lies half-way between two float32 and the text does
    not. Then the next float64 towards the text has the right float32.
    """
    with np.errstate(over="ignore"):
        is_rounded = np.isfinite(doubles) & (doubles.astype(np.float32) != doubles)
        # A float64 half-way has 25 significant bits at most, and so ends in 28 bits of 0.
        for n in np.flatnonzero(is_rounded & (doubles.view(np.int64) & (2**28 - 1) == 0)):
            exact, double = _exact(texts[n]), Fraction(doubles[n])
            if exact != double:
                doubles[n] = np.nextafter(doubles[n], np.inf if exact > double else -np.inf)
        return doubles.astype(np.float32)


def _exact(text: str) -> Fraction:
    match = _HEX.fullmatch(text)
    if match is None:
        return Fraction(Decimal(text))
    value = Fraction(int(match["sign"] + match["whole"] + match["fraction"], 16))
    return value * Fraction(2) ** (int(match["exponent"] or 0) - 4 * len(match["fraction"]))
