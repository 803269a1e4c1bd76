"""string_to_number: text on the host to numbers on the device."""

from __future__ import annotations

import itertools
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
# Of texts without these characters Python and TensorFlow take the same ones for numbers. Python
# also takes underscores, and digits and blanks beyond ASCII.
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
_MANY = 64  # texts: fewer are converted faster one by one
_RUN = 16384  # texts that are converted at once
_MAX_WIDTH = 24  # characters
_POWERS_OF_TEN = np.array([float(10**n) for n in range(16)])
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
    values = _to_values(strings, dtype, op).reshape(strings.shape)
    if _jax_internals.is_eager():
        return _jax_internals.put_on_default_device(values)
    with jax.named_scope(scope):
        return jnp.asarray(values)


def _to_values(strings: np.ndarray, dtype: np.dtype, op: str) -> np.ndarray:
    """The number of each text, in one dimension."""
    if strings.size < _MANY or strings.dtype.kind not in "US":
        return _convert(strings, None, dtype, op)
    values, is_plain = _plain_decimals(strings.ravel(), dtype)
    if not is_plain.all():
        others = np.flatnonzero(~is_plain)
        values[others] = _convert(strings, others, dtype, op)
    return values


def _convert(
    strings: np.ndarray, places: np.ndarray | None, dtype: np.dtype, op: str
) -> np.ndarray:
    """The numbers of the texts at `places` (None: all) of the ravelled `strings`, one by one."""
    texts = _to_texts(strings if places is None else strings.ravel()[places], op)
    is_float = dtype.kind == "f"
    numbers = _to_floats(texts) if is_float else _to_integers(texts, dtype)
    if None in numbers:
        n = numbers.index(None)
        n = n if places is None else int(places[n])
        position = [int(i) for i in np.unravel_index(n, strings.shape)]
        raise ValueError(
            f"{op}: input must hold {'numbers' if is_float else f'integers that fit {dtype}'}; "
            f"received {strings.ravel().tolist()[n]!r}{f' at {position}' if position else ''}"
        )
    if dtype == np.float32:
        return _round_once(texts, np.array(numbers, np.float64))
    return np.array(numbers, dtype)


def _plain_decimals(strings: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of plain texts, of a sign, up to 15 digits and a point; and which are plain.

    A plain text is the quotient of two integers that float64 holds, the second one a power of ten,
    and their quotient in float64 is the number nearest to it. The characters are read column by
    column, in runs of texts that fit into the cache.
    """
    values, is_plain = np.zeros(strings.size, dtype), np.zeros(strings.size, bool)
    width = strings.dtype.itemsize // np.dtype(strings.dtype.kind + "1").itemsize
    if not 0 < width <= _MAX_WIDTH or not strings.dtype.isnative:
        return values, is_plain
    codes = strings.view(np.uint32 if strings.dtype.kind == "U" else np.uint8)
    codes = codes.reshape(-1, width)
    for start in range(0, strings.size, _RUN):
        run = slice(start, start + _RUN)
        values[run], is_plain[run] = _plain_run(codes[run], dtype)
    return values, is_plain


def _plain_run(codes: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """`_plain_decimals` of one run, from the code points of its characters, a row for each text."""
    if codes.max() > 127:
        return np.zeros(len(codes), dtype), np.zeros(len(codes), bool)
    columns = codes.T.astype(np.uint8, order="C")
    is_negative = columns[0] == ord("-")
    is_signed = is_negative | (columns[0] == ord("+"))
    digits = columns - np.uint8(ord("0"))
    is_digit, is_point, is_end = digits < 10, columns == ord("."), columns == 0
    num_digits = is_digit.sum(0, dtype=np.uint8)
    num_points = is_point.sum(0, dtype=np.uint8)
    known = num_digits + num_points + is_end.sum(0, dtype=np.uint8) + is_signed
    is_plain = (known == len(columns)) & (num_digits > 0) & (num_digits <= 15)
    is_plain &= ~(is_end[:-1] & ~is_end[1:]).any(0)  # nothing follows the end
    # A digit shifts the digits before it: times 10 plus the digit. Any other character does
    # nothing: times 1 plus 0.
    digits *= is_digit
    shifts = is_digit * np.uint8(9) + np.uint8(1)
    numbers = np.zeros(len(codes), np.int32 if len(columns) <= 9 else np.float64)
    for digit, shift in zip(digits, shifts, strict=True):
        numbers *= shift
        numbers += digit
    if dtype.kind != "f":
        is_plain &= num_points == 0
        info = np.iinfo(dtype)
        numbers *= is_plain  # too many digits would not fit int64
        signed = np.where(is_negative, -numbers, numbers).astype(np.int64)
        is_plain &= (signed >= info.min) & (signed <= info.max)
        if info.min == 0:
            is_plain &= ~is_negative
        return signed.astype(dtype), is_plain
    is_plain &= num_points <= 1
    numbers = numbers.astype(np.float64)
    if num_points.any():
        for before, column in itertools.pairwise(is_point):
            column |= before  # ufunc.accumulate takes long
        places = (is_digit & is_point).sum(0, dtype=np.uint8)
        numbers /= _POWERS_OF_TEN.take(places, mode="clip")  # a text with more places is not plain
    np.negative(numbers, out=numbers, where=is_negative)
    if dtype == np.float64:
        return numbers, is_plain
    floats = numbers.astype(np.float32)
    is_plain &= ~_may_be_halfway(numbers, floats)
    return floats, is_plain


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


def _to_floats(texts: list[str]) -> Sequence[float | None]:
    """The float64 nearest to each text; None for a text that is no number."""
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
    """Each text as an integer; None for a text that is none, or does not fit `dtype`."""
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
    # More than 64 bits; Python refuses thousands of digits (test_string_to_number.py,
    # test_thousands_of_digits).
    if len(match["digits"]) > 20:
        return None
    value = int(match["sign"] + match["digits"])
    return value if info.min <= value <= info.max else None


def _round_once(texts: list[str], doubles: np.ndarray) -> np.ndarray:
    """The float32 nearest to each text, from the float64 nearest to it.

    To round the float64 is wrong only if it lies half-way between two float32 and the text does
    not.
    """
    with np.errstate(over="ignore"):
        floats = doubles.astype(np.float32)
        if not np.count_nonzero(_may_be_halfway(doubles, floats)):
            return floats
        # A number that rounds to infinity lies between the largest float32 and 2^128.
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


def _may_be_halfway(doubles: np.ndarray, floats: np.ndarray) -> np.ndarray:
    """Whether each float64 may lie half-way between two float32, of which `floats` is one.

    A float64 half-way has 25 significant bits at most, and so ends in 28 bits of 0.
    """
    return (doubles != floats) & (doubles.view(np.int64) & (2**28 - 1) == 0)


def _exact(text: str) -> Fraction:
    match = _HEX.fullmatch(text)
    if match is None:
        return Fraction(Decimal(text))
    value = Fraction(int(match["sign"] + match["whole"] + match["fraction"], 16))
    return value * Fraction(2) ** (int(match["exponent"] or 0) - 4 * len(match["fraction"]))
