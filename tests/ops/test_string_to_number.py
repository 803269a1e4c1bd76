"""string_to_number. Expected values and refusals are TensorFlow 2.21's."""

import itertools
import re

import jax
import numpy as np
import pytest

import jaxops

INF, NAN = float("inf"), float("nan")

FLOATS = {  # text: (float32, float64)
    "1.5": (1.5, 1.5),
    "+1": (1, 1),
    " \t\n\v\f\r-12 \t\n\v\f\r": (-12, -12),
    "010": (10, 10),
    "1.": (1, 1),
    "-.5": (-0.5, -0.5),
    "5.e3": (5000, 5000),
    "1E+5": (1e5, 1e5),
    "0.1": (0.10000000149011612, 0.1),
    "-0": (-0.0, -0.0),
    "1e0000000000000000000005": (1e5, 1e5),
    "0e1000000000000000000000": (0, 0),
    "1e1000000000000000000000": (INF, INF),
    "1e-1000000000000000000000": (0, 0),
    "-1e39": (-INF, -1e39),
    "1e309": (INF, INF),
    "1e-45": (1.401298464324817e-45, 1e-45),
    "5e-324": (0, 5e-324),
    "inf": (INF, INF),
    "-Infinity": (-INF, -INF),
    "+INF": (INF, INF),
    "NaN": (NAN, NAN),
    "-nan": (NAN, NAN),
    "nan(a_1)": (NAN, NAN),
    "nan()": (NAN, NAN),
    "0x10": (16, 16),
    "-0X1F.8": (-31.5, -31.5),
    "0x.8p1": (1, 1),
    "0x1.p-3": (0.125, 0.125),
    "0x1e5": (485, 485),
    "0x1p99999999999999999999": (INF, INF),
    "-0x1p1024": (-INF, -INF),
    "0x1p-99999999999999999999": (0, 0),
    # Half-way between two float32, and next to that, closer than float64 can tell.
    "1.00000005960464477539062500": (1, 1.0000000596046448),
    "1.00000005960464477539062501": (1.0000001192092896, 1.0000000596046448),
    "1.00000017881393432617187499": (1.0000001192092896, 1.0000001788139343),
    "1.00000017881393432617187500": (1.000000238418579, 1.0000001788139343),
    "-16777217.0000000000000000001": (-16777218, -16777217),
    "16777216.9999999999999999999": (16777216, 16777217),
    "340282356779733661637539395458142568447.9999": (3.4028234663852886e38, 3.4028235677973366e38),
    "340282356779733661637539395458142568448": (INF, 3.4028235677973366e38),
    "7.0064923216240853546186479164495806564013097093825788587853e-46": (0, 7.006492321624085e-46),
    "7.0064923216240853546186479164495806564013097093825788587854e-46": (
        1.401298464324817e-45,
        7.006492321624085e-46,
    ),
    "0x1.00000100000001p0": (1.0000001192092896, 1.0000000596046448),
    "-0x1000001.0": (-16777216, -16777217),
    "0x1000001.00000000000001": (16777218, 16777217),
    "0x1000000ffffffffffffffff": (3.094850098213451e26, 3.0948502826808914e26),
}

NO_NUMBERS = ["", "   ", "abc", "++1", "+-1", "- 1", "1 2", "1 e5", "1e", "1e+", "e5", ".", "1..5"]
NO_NUMBERS += ["1_000", "1,000", "0b1", "0o7", "1f", "1a", "True", "None", "1\0", "\x1c1", "1\x1f"]
NO_NUMBERS += ["\u00a01", "1\u2003", "\u0663", "\uff11", "\u00bd", "-", "+", "--1", "0x", "0x."]
NO_NUMBERS += ["1\0002", "\000", "1-", "1.2.3", "\u0131"]
NO_FLOATS = ["0x1p", "0x+1", "0x 1", "0xg", "00x1", "0xp1", "1p3", "infi", "infinityx", "inf()"]
NO_FLOATS += ["nanx", "nan(", "nan(-1)", "nan( )", "nan (1)", "nan(\u00e9)", "1e5.5", "1d5"]
NO_INTEGERS = ["1.", "1.0", "1e5", ".5", "inf", "nan", "0x10", "0x0"]

INTEGERS = {  # text: dtypes that hold it
    "0": "int32 int64 uint32 uint64",
    "-0": "int32 int64",
    "+7": "int32 int64 uint32 uint64",
    " -12 ": "int32 int64",
    "010": "int32 int64 uint32 uint64",
    "2147483647": "int32 int64 uint32 uint64",
    "2147483648": "int64 uint32 uint64",
    "-2147483648": "int32 int64",
    "-2147483649": "int64",
    "4294967295": "int64 uint32 uint64",
    "4294967296": "int64 uint64",
    "9223372036854775807": "int64 uint64",
    "9223372036854775808": "uint64",
    "-9223372036854775808": "int64",
    "-9223372036854775809": "",
    "18446744073709551615": "uint64",
    "18446744073709551616": "",
}


def assert_same_bits(actual, expected):
    """Equal, zeros in sign too, or both NaN."""
    actual = np.asarray(actual)
    np.testing.assert_array_equal(actual, expected, strict=True)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(actual)[number], np.signbit(expected)[number])


@pytest.mark.parametrize("text", FLOATS)
def test_floats(text):
    single, double = FLOATS[text]
    assert_same_bits(jaxops.string_to_number(text), np.array(single, np.float32))
    with jax.enable_x64(True):
        assert_same_bits(
            jaxops.string_to_number(text.encode(), "float64"), np.array(double, np.float64)
        )


@pytest.mark.parametrize("odd", ["", "x()"], ids=["all", "plain"])
def test_floats_together(odd):
    """Plain ones, without `odd`, need no more than Python's own conversion."""
    texts = [text for text in FLOATS if not {*odd} & {*text}]
    expected = [FLOATS[text][0] for text in texts]
    assert_same_bits(jaxops.string_to_number(texts), np.array(expected, np.float32))


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_integers(dtype):
    """One by Python, and an array of many by NumPy."""
    fitting = [text for text, dtypes in INTEGERS.items() if dtype in dtypes.split()]
    with jax.enable_x64(True):
        for texts in (*([text] for text in fitting), np.array(fitting * 20)):
            result = np.asarray(jaxops.string_to_number(texts, dtype))
            np.testing.assert_array_equal(result, np.array([*map(int, texts)], dtype), strict=True)
        for text in {*INTEGERS} - {*fitting}:
            for texts in (text, np.array(["7"] * 99 + [text])):
                words = re.escape(f"integers that fit {dtype}; received {text!r}")
                with pytest.raises(ValueError, match=words):
                    jaxops.string_to_number(texts, dtype)


def test_thousands_of_digits():
    assert jaxops.string_to_number("0" * 5000 + "1", "int32") == 1
    with pytest.raises(ValueError, match="integers that fit int32"):
        jaxops.string_to_number("1" * 5000, "int32")
    assert jaxops.string_to_number("1" + "0" * 5000 + "e-5000") == 1
    halfway = "1.000000059604644775390625"
    above = jaxops.string_to_number(halfway + "0" * 5000 + "1")
    assert above == np.float32(1.0000001192092896)


NOT_OF = [("float32", text) for text in NO_NUMBERS + NO_FLOATS]
NOT_OF += [("int32", text) for text in NO_NUMBERS + NO_INTEGERS]


@pytest.mark.parametrize(("dtype", "text"), NOT_OF)
def test_no_number(dtype, text):
    """In a list of few, and in an array of many, which drops null characters at the end."""
    kind = "integers" if dtype == "int32" else "numbers"
    few = [["1", "23"], ["-4", text]]
    many = np.array([["1", "23"]] * 99 + [["-4", text]])
    for strings in [few] if text.endswith("\0") else [few, many]:
        with pytest.raises(ValueError, match=f"string_to_number: input must hold {kind}") as raised:
            jaxops.string_to_number(strings, dtype)
        assert str(raised.value).endswith(f"received {text!r} at [{len(strings) - 1}, 1]")


@pytest.mark.slow
@pytest.mark.parametrize(
    "strings",
    [
        [["1", "-2"], [" 3", "4 "]],
        [[b"1", b"-2"], [b" 3", b"4 "]],
        np.array([["1", "-2"], [" 3", "4 "]]),
        np.array([[b"1", b"-2"], [b" 3", b"4 "]]),
        np.array([["1", b"-2"], [" 3", np.str_("4 ")]], object),
        np.array([["1", "-2"], [" 3", "4 "]], np.dtypes.StringDType()),
    ],
    ids=["list", "list-bytes", "str_", "bytes_", "object", "StringDType"],
)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_kinds_of_strings(strings, dtype):
    expected = np.array([[1, -2], [3, 4]], dtype)
    np.testing.assert_array_equal(jaxops.string_to_number(strings, dtype), expected, strict=True)


def numbers_in_a_row(width):
    """Signs, points, digits in all their orders and numbers, up to a width."""
    rng = np.random.default_rng(0)
    texts = []
    for sign, digits, places in itertools.product(["", "-", "+"], range(1, 17), range(17)):
        text = "".join(map(str, rng.integers(0, 10, digits)))
        if places <= digits:
            text = f"{text[: digits - places]}.{text[digits - places :]}"
        texts.append(sign + text)
    return [text for text in texts if len(text) <= width]


@pytest.mark.parametrize("kind", ["U", "S"])
@pytest.mark.parametrize("width", [8, 18])
def test_many_floats(width, kind):
    """Read column by column, as far as they are plain."""
    texts = [*numbers_in_a_row(width), *(text for text in FLOATS if len(text) <= width)]
    strings = np.array(texts, kind)
    singles = [jaxops.string_to_number(text) for text in texts]
    assert_same_bits(jaxops.string_to_number(strings), np.array(singles, np.float32))
    with jax.enable_x64(True):
        doubles = [jaxops.string_to_number(text, "float64") for text in texts]
        assert_same_bits(jaxops.string_to_number(strings, "float64"), np.array(doubles))


@pytest.mark.parametrize(
    ("strings", "shape"),
    [("7", ()), ([], (0,)), ([[]], (1, 0)), (np.zeros((0, 3), "U1"), (0, 3)), ([["7"]], (1, 1))],
)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_shapes(strings, shape, dtype):
    result = jaxops.string_to_number(strings, dtype)
    np.testing.assert_array_equal(result, np.full(shape, 7, dtype), strict=True)
