"""What the table of `test_ops.py` cannot hold of the casting functions: values, dtypes, errors."""

import casting_table
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops


def parse(text, dtype):
    """The values of a column; "?" as `None`."""
    if dtype == np.bool_:
        return [word in ("1", "True") for word in text]
    kind = int if jnp.issubdtype(dtype, jnp.integer) else complex if dtype.kind == "c" else float
    return [None if word == "?" else kind(word) for word in text]


def columns(table):
    """`(source, sources, target, answers)` of every column of the table."""
    for block in table.strip().split("\n\n"):
        (source, *targets), *rows = (line.split() for line in block.splitlines())
        values, *answers = zip(*rows, strict=True)
        source = np.dtype(source)
        values = np.array([np.array(v, source) for v in parse(values, source)])
        for target, answer in zip(map(np.dtype, targets), answers, strict=True):
            yield pytest.param(
                values, target, parse(answer, target), id=f"{source.name}-{target.name}"
            )


def check(op, values, target, answers):
    result = np.asarray(op(values, target))
    assert result.dtype == target
    assert result.shape == values.shape
    known = [n for n, answer in enumerate(answers) if answer is not None]
    expected = np.array([np.array(answers[n], target) for n in known])
    if not jnp.issubdtype(target, jnp.integer):  # NumPy finds NaN unequal to NaN in bfloat16
        result, expected = result.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(result[known], expected)
    return result


@pytest.mark.parametrize(("values", "target", "answers"), [*columns(casting_table.CAST)])
def test_cast_has_the_values_of_tensorflow(values, target, answers):
    with jax.enable_x64(True):
        check(jaxops.cast, values, target, answers)


@pytest.mark.parametrize(
    ("value", "target", "answer"),
    [
        (65519.99999999999, "float16", np.inf),
        (1 + 2**-4 + 2**-40, jnp.float8_e4m3fn, 1.0),  # midway in float32
        (1 + 2**-8 + 2**-40, "bfloat16", 1.0),
    ],
)
def test_float64_is_rounded_to_float32_before_narrower_floats(value, target, answer):
    """By the program: processors with AVX512-FP16 would round to float16 at once."""
    with jax.enable_x64(True):
        assert jaxops.cast(np.float64(value), target) == answer
        traced = jax.make_jaxpr(lambda x: jaxops.cast(x, target))(np.float64(value))
        assert [eqn.params["new_dtype"] for eqn in traced.eqns] == [np.float32, np.dtype(target)]


@pytest.mark.parametrize(("values", "target", "answers"), [*columns(casting_table.SATURATE_CAST)])
def test_saturate_cast_has_the_values_of_tensorflow(values, target, answers):
    with jax.enable_x64(True):
        result = check(jaxops.saturate_cast, values, target, answers)
    # Where TensorFlow overflows: the largest number of both dtypes.
    for value, saturated, answer in zip(values, result, answers, strict=True):
        if answer is None:
            beyond = value.dtype.type(2.0 ** (64 if target.kind == "u" else 63))
            assert saturated == target.type(float(np.nextafter(beyond, value.dtype.type(0))))


@pytest.mark.parametrize("context", ["eager", "jit"])
@pytest.mark.parametrize(
    ("op", "values", "target", "expected"),
    [
        (jaxops.cast, np.array([2**40 + 5, -1]), "int32", [5, -1]),
        (jaxops.cast, np.array([2**40, 2**24 + 1]), "float32", [2.0**40, 2.0**24]),
        (jaxops.cast, np.float64(1e300), "float32", np.inf),
        (jaxops.cast, np.array([1 - 1e-12]), "int32", [0]),
        (jaxops.cast, [2**40 + 5, 3], "int32", [5, 3]),
        (jaxops.cast, 2**63 + 1, "uint8", 1),
        (jaxops.cast, np.array([2**53 + 1j]), "complex64", [2**53 + 1j]),
        (jaxops.to_int32, np.array([2**40 + 5]), None, [5]),
        (jaxops.saturate_cast, np.array([2**40, -(2**40)]), "int32", [2**31 - 1, -(2**31)]),
        (jaxops.saturate_cast, np.uint64(2**64 - 1), "uint32", 2**32 - 1),
        (jaxops.saturate_cast, np.array([1e300, -1e300]), "int32", [2**31 - 1, -(2**31)]),
        (jaxops.bitcast, np.array([2**32 + 7]), "int32", [[7, 1]]),
        (jaxops.bitcast, np.array([1.0]), "uint32", [[0, 0x3FF00000]]),
    ],
)
def test_host_values_count_without_x64_too(context, op, values, target, expected):
    def call():
        return op(values) if target is None else op(values, target)

    result = call() if context == "eager" else jax.jit(call)()
    np.testing.assert_array_equal(result, expected)
    assert result.dtype == np.dtype(target or np.int32)


@pytest.mark.parametrize(
    ("op", "values"),
    [
        (jaxops.cast, [3, 2]),
        (jaxops.cast, np.array([3, 2], np.uint8)),
        (jaxops.saturate_cast, np.array([3, 2], np.uint64)),
        (jaxops.bitcast, np.array([3, 2], np.uint32)),
        (jaxops.bitcast, np.int64(3 | 2 << 32)),
    ],
)
def test_host_integers_stay_static_in_a_trace(op, values):
    reshaped = jax.jit(lambda x: x.reshape(*op(values, "int32")))(jnp.arange(6))
    assert reshaped.shape == (3, 2)


DTYPES = ["int4", "uint4", "int16", "uint16", "float16", "bfloat16", "float32"]
DTYPES += ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e4m3b11fnuz"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_from_and_to(dtype):
    x = np.array([0, 1, 3], np.float32)
    for op in (jaxops.cast, jaxops.saturate_cast):
        there = op(x, dtype)
        assert there.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(np.asarray(there).astype(float), x)
        np.testing.assert_array_equal(op(there, "float32"), x, strict=True)


def test_four_bits_wrap_and_saturate():
    x = np.array([-9, -8, 7, 8, 17])
    np.testing.assert_array_equal(jaxops.cast(x, "int4").astype(int), [7, -8, 7, -8, 1])
    np.testing.assert_array_equal(jaxops.cast(x, "uint4").astype(int), [7, 8, 7, 8, 1])
    np.testing.assert_array_equal(jaxops.saturate_cast(x, "int4").astype(int), [-8, -8, 7, 7, 7])
    np.testing.assert_array_equal(jaxops.saturate_cast(x, "uint4").astype(int), [0, 0, 7, 8, 15])


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (float, "float32"),
        ("float", "float32"),
        (bool, "bool"),
        ("half", "float16"),
        (jnp.bfloat16, "bfloat16"),
        (np.int8, "int8"),
        (np.dtype("complex64"), "complex64"),
    ],
)
def test_what_names_a_dtype(dtype, expected):
    assert jaxops.cast([1, 0], dtype).dtype == np.dtype(expected)


def test_complex_saturates_by_parts():
    huge = np.array([1e300 + 1j, 1 - 1e300j, complex(np.nan, np.inf)])
    largest = np.finfo(np.float32).max
    expected = np.array([largest + 1j, 1 - largest * 1j, complex(np.nan, largest)], np.complex64)
    np.testing.assert_array_equal(jaxops.saturate_cast(huge, "complex64"), expected, strict=True)
    kept = np.array([complex(np.inf, 2)], np.complex64)
    np.testing.assert_array_equal(jaxops.saturate_cast(kept, "complex64"), kept, strict=True)


GRADIENTS = {  # of `sum(op(x) * [1, 2, ..])`, as tf.GradientTape of TensorFlow 2.21 has it
    "cast-overflow": (jaxops.cast, [1, 1e30, 3], "float32", "float16", [1, 2, 3]),
    "cast-to-complex": (jaxops.cast, [1, 2, 3], "float32", "complex64", [1, 2, 3]),
    "cast-to-real": (jaxops.cast, [1 + 1j, 2j, 3], "complex64", "float32", [1, 2, 3]),
    "saturate_cast-bounds": (
        jaxops.saturate_cast,
        [1, 65504, 65520, 1e9, -65504, -65505, np.nan, np.inf, -np.inf],
        "float32",
        "float16",
        [1, 2, 0, 0, 5, 0, 7, 0, 0],
    ),
    "saturate_cast-same": (
        jaxops.saturate_cast,
        [1, np.inf, 3.4028234663852886e38, np.nan],
        "float32",
        "float32",
        [1, 0, 3, 4],
    ),
    "saturate_cast-to-real": (
        jaxops.saturate_cast,
        [1 + 1j, 1e30 + 1j, 1 + 1e30j],
        "complex64",
        "float16",
        [1, 0, 3],
    ),
}


@pytest.mark.parametrize("case", GRADIENTS)
def test_gradient(case):
    op, values, source, target, expected = GRADIENTS[case]
    x = jnp.array(values, source)
    result, pullback = jax.vjp(lambda x: op(x, target), x)
    (gradient,) = pullback(jnp.arange(1, len(values) + 1).astype(result.dtype))
    np.testing.assert_array_equal(gradient, np.array(expected, source), strict=True)


@pytest.mark.parametrize("op", [jaxops.cast, jaxops.saturate_cast, jaxops.bitcast])
@pytest.mark.usefixtures("x32")
def test_integers_have_no_gradient(op):
    def total(x):
        return jaxops.to_float(op(x, "int32")).sum() + (x * x).sum()

    x = jnp.array([1.5, -2.0])
    np.testing.assert_array_equal(jax.grad(total)(x), 2 * x)
    np.testing.assert_array_equal(jax.hessian(total)(x), 2 * np.eye(2))
    _, tangent = jax.jvp(lambda x: op(x, "int32"), (x,), (x,))
    assert tangent.dtype == jax.dtypes.float0
