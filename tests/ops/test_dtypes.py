"""The functions that move elements move those of every dtype, and host strings."""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from records import CASES, first_of_each_op
from records.record import Case

import jaxops

DTYPES = ["bool", "int4", "uint8", "int16", "uint32", "bfloat16", "float8_e5m2", "complex64"]
OTHERS = ["uint4", "int8", "uint16", "int32", "float16", "float32", "float8_e4m3fn"]
DTYPES_X64 = ["int64", "uint64", "float64", "complex128"]
EAGER = ["bool", "int4", "complex128"]  # too
COMPUTES = ("cast", "saturate_cast", "bitcast", "to_", "string_to_number", "one_hot", "unique")
COMPUTES += ("RaggedTensor.reduce_", "sequence_mask", "searchsorted", "setdiff1d", "scatter_nd")
COMPUTES += ("edit_distance",)
COMPUTES += ("embedding_lookup_sparse", "safe_embedding_lookup_sparse")
COMPUTES += ("unsorted_segment_", "segment_", "sparse_segment_")
COMPUTES += tuple(f"tensor_scatter_nd_{kind}" for kind in ("add", "sub", "min", "max"))
MOVES = {n: case for n, case in CASES.items() if case.data and not n.startswith(COMPUTES)}
FIRST_OF_EACH_OP = first_of_each_op(MOVES)


def test_every_op_that_moves_elements_has_a_case_with_elements():
    assert set(FIRST_OF_EACH_OP) == {name.split("-")[0] for name in MOVES}


def positions(case: Case):
    """Data of consecutive numbers from 1, which small types hold too."""
    sizes = np.cumsum([1, *(d.size for d in case.data)])
    return [
        np.arange(start, start + d.size).reshape(d.shape)
        for start, d in zip(sizes, case.data, strict=False)
    ]


def convert(numbers, dtype):
    """Different elements for different numbers, as far as `dtype` has so many."""
    if dtype in ("bool", "int2", "uint2"):
        numbers = numbers % 3 != 0
    elif dtype in ("int4", "uint4"):
        numbers = numbers % 8
    array = np.asarray(numbers).astype(jnp.dtype(dtype))
    return array * array.dtype.type(1 - 2j) if dtype.startswith("complex") else array


@pytest.mark.parametrize(
    "dtypes",
    [
        DTYPES,
        pytest.param(OTHERS, marks=pytest.mark.slow),  # of the same sizes and kinds
        # Without optimizations XLA compiles nothing of these, and the process ends.
        pytest.param(["int2", "uint2"], marks=pytest.mark.optimized),
        DTYPES_X64,
    ],
    ids=["some", "others", "2-bits", "64-bits"],
)
@pytest.mark.parametrize("name", FIRST_OF_EACH_OP.values())
def test_moves(name, dtypes):
    case = CASES[name]
    numbers = positions(case)
    moved = case.oracle(*numbers, *case.indices)
    operands = {dtype: [convert(n, dtype) for n in numbers] for dtype in dtypes}

    def results(operands):
        return {dtype: case.op(*data, *case.indices) for dtype, data in operands.items()}

    def check(results):
        for dtype, result in results.items():
            expected = convert(moved, dtype)
            assert expected.astype(bool).any(), dtype  # else zeros would do
            assert result.dtype == jnp.dtype(dtype)
            assert result.shape == expected.shape, dtype
            assert (np.asarray(result) == expected).all(), dtype

    with jax.enable_x64(True) if dtypes is DTYPES_X64 else contextlib.nullcontext():
        # One program for all of them: one for each takes three times as long to compile.
        check(jax.jit(results)(operands))
        check(results({dtype: operands[dtype] for dtype in EAGER if dtype in dtypes}))


# Their cases join the results with jax.numpy; test_joining and test_partition have them in strings.
LISTS = ("split", "unstack", "dynamic_partition")
# Those of matrices have no strings in TensorFlow either.
WITHOUT_STRINGS = (*LISTS, "RaggedTensor", "matrix_band_part", "matrix_diag", "matrix_set_diag")
WITHOUT_STRINGS += ("tensor_diag",)
STRINGS = [np.str_, np.bytes_, object, np.dtypes.StringDType()]


@pytest.mark.parametrize("kind", STRINGS, ids=["str_", "bytes_", "object", "StringDType"])
@pytest.mark.parametrize(
    "name", [n for n in FIRST_OF_EACH_OP.values() if not n.startswith(WITHOUT_STRINGS)]
)
def test_moves_strings(name, kind):
    case = CASES[name]
    numbers = positions(case)
    moved = case.oracle(*numbers, *case.indices)
    assert moved.any()  # else zeros would do
    texts = np.where(moved == 0, "", moved.astype(str))  # 0 is what padding is
    result = case.op(*[n.astype(str).astype(kind) for n in numbers], *case.indices)
    assert isinstance(result, np.ndarray)
    np.testing.assert_array_equal(result, texts.astype(kind))


@pytest.mark.parametrize("kind", ["add", "sub"])
@pytest.mark.parametrize("dtype", ["int8", "uint16", "bfloat16", "complex64", "float16"])
def test_adds(kind, dtype):
    tensor = convert(np.arange(1, 5), dtype)
    updates = convert(np.arange(1, 4), dtype)
    op = getattr(jaxops, f"tensor_scatter_nd_{kind}")
    result = op(tensor, [[0], [2], [2]], updates)
    sums = np.array([1, 0, 5, 0]) if kind == "add" else -np.array([1, 0, 5, 0])
    assert result.dtype == tensor.dtype
    assert (result == convert(np.arange(1, 5) + sums, dtype)).all()
