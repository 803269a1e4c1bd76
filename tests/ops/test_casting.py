"""What the table of `test_ops.py` cannot hold of the casting functions: values, dtypes, errors."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fast import fast_jit

import jaxops

INF, NAN = float("inf"), float("nan")
# Next to the ends of the smaller dtypes, and between their numbers.
NUMBERS = {
    "bool": [False, True],
    "int32": [-(2**31), -32769, -257, -9, -8, 7, 8, 17, 65520, 2**24 + 1, 2**31 - 1],
    "int64": [-(2**63), -(2**31) - 1, 2**32 - 1, 2**32 + 1, 2**53 + 1, 2**63 - 1],
    "uint64": [2**32, 2**63, 2**64 - 1],
    "float16": [NAN, INF, -INF, -1.5, 255.875, -65504],
    "bfloat16": [NAN, INF, -INF, -1.5, 65536, 4278190080, 2**32],
    "float32": [NAN, INF, -INF, -1.5, 1.00390625, 300.7, 65520, 2147483520, 2**31, -2147483904],
    "float64": [NAN, INF, -INF, 1 - 2**-53, 1.0039062500000002, -129.5, 65519.99999999999],
    "complex64": [1.5 + 2j, 5e9j, complex(-INF, 1)],
}
NUMBERS["float32"] += [2**32, 2**63, 3.4028234663852886e38]
NUMBERS["float64"] += [2147483647.9999998, -2147483649, 4294967295.9999995, 2**63 - 1024, 2**64]
NUMBERS["float64"] += [3.4028235677973362e38, 3.4028235677973366e38]  # rounded down and up
TARGETS = ["bool", "int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"]
TARGETS += ["uint64", "float16", "bfloat16", "float32", "float64"]


def is_integer(dtype):
    return jnp.issubdtype(dtype, jnp.integer)


def whole(number, dtype):
    """The integer that the docstring of `cast` says, in exact arithmetic."""
    bits = max(jnp.iinfo(dtype).bits, 32)  # a smaller dtype has the last bits of an int32
    low, high = -(2 ** (bits - 1)), 2 ** (bits if dtype.name in ("uint32", "uint64") else bits - 1)
    fits = np.isfinite(number) and low <= int(number) < high
    return int(number) if fits else low


def cast(x, dtype):
    """NumPy's, which leaves floats outside an integer dtype undefined."""
    x = np.real(x)
    if is_integer(dtype) and jnp.issubdtype(x.dtype, jnp.floating):
        return np.array([whole(n, dtype) % 2**64 for n in x], np.uint64).astype(dtype)
    if dtype.name in ("float16", "bfloat16"):
        x = x.astype(np.float32)  # first
    return x.astype(dtype)


def limits(dtype):
    info, kind = (jnp.iinfo(dtype), int) if is_integer(dtype) else (jnp.finfo(dtype), float)
    return kind(info.min), kind(info.max)


def saturate_cast(x, dtype):
    """Clips by the numbers of the dtype of `x` that lie furthest out in the range of `dtype`."""
    x, bounds = np.real(x), []
    for both in zip(limits(x.dtype), limits(dtype), strict=True):
        limit = min(both, key=abs)
        near = np.array(limit).astype(x.dtype)
        number = int(near) if is_integer(x.dtype) else float(near)
        # Python compares floats and integers exactly.
        bounds.append(
            near if abs(number) <= abs(limit) else np.nextafter(near, np.zeros_like(near))
        )
    return cast(np.clip(x, *bounds), dtype)


NO_BOOLS = [source for source in NUMBERS if source != "bool"]


@pytest.mark.parametrize(
    ("oracle", "source"),
    [*itertools.product([cast], NUMBERS), *itertools.product([saturate_cast], NO_BOOLS)],
)
def test_values(oracle, source):
    op, x = getattr(jaxops, oracle.__name__), np.array(NUMBERS[source], np.dtype(source))
    targets = [*map(np.dtype, TARGETS if oracle is cast else TARGETS[1:])]
    with jax.enable_x64(True), np.errstate(all="ignore"):
        results = fast_jit(lambda x: [op(x, target) for target in targets])(x)
        for target, result in zip(targets, results, strict=True):
            expected = oracle(x, target)
            assert result.dtype == target
            # NumPy finds NaN unequal to NaN in bfloat16.
            same = (result == expected) | ((result != result) & (expected != expected))
            assert same.all(), (target, result, expected)


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
