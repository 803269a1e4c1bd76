"""Refused calls: the segment reductions."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import functools

import numpy as np

import jaxops
from refusals.values import IN_JIT, X, in_jit

IDS = [1, 0, 1, 2]
SUMS = ("sum", "mean", "sqrt_n")


def unsorted_calls(kind):
    op = f"unsorted_segment_{kind}"
    f = getattr(jaxops, op)
    f3 = functools.partial(f, num_segments=3)
    calls = {
        "data-shape": (lambda: f3(X[:3], IDS), ValueError, "data must have a shape that starts with segment_ids.shape; received shapes (3, 3) and (4,)"),
        "data-scalar": (lambda: f3(1.0, [0]), ValueError, "data must have a shape that starts with segment_ids.shape; received shapes () and (1,)"),
        "data-bools": (lambda: f3([True], [0]), TypeError, "data must have a numeric dtype; received bool"),
        "segment_ids-rank": (lambda: f3(X, np.zeros((4, 3, 1), int)), ValueError, "data must have a shape that starts with segment_ids.shape; received shapes (4, 3) and (4, 3, 1)"),
        "mode-clip-of-none": (lambda: f(X, IDS, 0, mode="clip"), ValueError, "mode='clip' must have an index to choose; received shape (0"),
    }  # fmt: skip
    if kind != "sum" and kind != "prod":
        word = {"mean": "a real dtype", "sqrt_n": "a dtype of floats"}.get(kind, "an ordered dtype")
        calls["data-complex"] = (
            lambda: f3(X.astype(np.complex64), IDS), TypeError, f"data must have {word}; received complex64")  # fmt: skip
    return {
        f"{op}-{case}": (call, kind, f"{op}: {words}")
        for case, (call, kind, words) in calls.items()
    }


KINDS = ("sum", "mean", "sqrt_n", "prod", "min", "max")
CALLS = {case: call for kind in KINDS for case, call in unsorted_calls(kind).items()}
CALLS["unsorted_segment_sqrt_n-data-ints"] = (
    lambda: jaxops.unsorted_segment_sqrt_n([1], [0], 1), TypeError, "unsorted_segment_sqrt_n: data must have a dtype of floats; received int32")  # fmt: skip


def statistics_calls(op, arg):
    f = getattr(jaxops, op)
    calls = {
        f"{arg}-shape": (lambda: f(X[:3], IDS, 3), ValueError, f"must have a shape that starts with segment_ids.shape; received shapes {X[:3].shape} and (4,)"),
        f"{arg}-ints": (lambda: f([1], [0], 1), TypeError, "must have a dtype of floats; received int32"),
        f"{arg}-complex": (lambda: f([1j], [0], 1), TypeError, "must have a dtype of floats; received complex64"),
        "mode-clip-of-none": (lambda: f(X, IDS, 0, mode="clip"), ValueError, f"{op}: mode='clip' must have a segment to choose; num_segments is 0"),
    }  # fmt: skip
    return {f"{op}-{case}": call for case, call in calls.items()}


for op in ("segment_softmax", "segment_logsumexp", "segment_moments"):
    CALLS |= statistics_calls(op, "logits" if op == "segment_softmax" else "data")


SORTED = [0, 0, 1, 2]


def sorted_calls(kind):
    op = f"segment_{kind}"
    f = getattr(jaxops, op)
    f3 = functools.partial(f, num_segments=3)
    calls = {
        "segment_ids-shape": (lambda: f(X[:3], SORTED), ValueError, "segment_ids must be a vector with a number for each row of data; received shapes (4,) and (3, 3)"),
        "segment_ids-rank": (lambda: f3(X, np.zeros((4, 3), int)), ValueError, "segment_ids must be a vector with a number for each row of data; received shapes (4, 3) and (4, 3)"),
        "data-scalar": (lambda: f(1.0, [0]), ValueError, "segment_ids must be a vector with a number for each row of data; received shapes (1,) and ()"),
        "data-bools": (lambda: f([True], [0]), TypeError, "data must have a numeric dtype; received bool"),
        "segment_ids-traced": (lambda: in_jit(lambda i: f(X, i), SORTED), TypeError, "num_segments must be given, as an int, with traced segment_ids; received num_segments=None"),
        "mode-clip-of-none": (lambda: f(X, SORTED, num_segments=0, mode="clip"), ValueError, "mode='clip' must have an index to choose; received shape (0"),
    }  # fmt: skip
    if kind in ("min", "max"):
        calls["data-complex"] = (
            lambda: f(X.astype(np.complex64), SORTED), TypeError, "data must have an ordered dtype; received complex64")  # fmt: skip
    named = {f"{op}-{case}": (call, error, f"{op}: {words}") for case, (call, error, words) in calls.items()}  # fmt: skip
    bounds = {
        "negative": ([-1, 0, 1, 2], "segment_ids[0] = -1 is not in [0, 3)"),
        "not-sorted": (
            [0, 2, 1, 2],
            f"segment_ids[2] = 1 is less than the one before, 2; unsorted_{op} takes any order",
        ),
    }
    for case, (ids, words) in bounds.items():
        words = f"{words} [Op:{op}]"
        named[f"{op}-segment_ids-{case}"] = (
            functools.partial(f3, X, ids), jaxops.OutOfBoundsError, words)  # fmt: skip
        named[f"{op}-segment_ids-{case}-in-jit"] = (
            functools.partial(in_jit, functools.partial(f3, X), ids), IN_JIT, words)  # fmt: skip
    return named


def sparse_calls(kind):
    op = f"sparse_segment_{kind}"
    f = getattr(jaxops, op)
    calls = {
        "data-scalar": (lambda: f(1.0, [0], [0]), ValueError, "data must have at least 1 dimension; received shape ()"),
        "data-bools": (lambda: f([True], [0], [0]), TypeError, f"data must have {'a numeric dtype' if kind == 'sum' else 'a'}"),
        "indices-length": (lambda: f(X, [0, 1], SORTED), ValueError, "indices and segment_ids must be vectors of the same length; received shapes (2,) and (4,)"),
        "indices-rank": (lambda: f(X, [[0]], [[0]]), ValueError, "indices and segment_ids must be vectors of the same length; received shapes (1, 1) and (1, 1)"),
        "segment_ids-traced": (lambda: in_jit(lambda i: f(X, i, i), SORTED), TypeError, "num_segments must be given, as an int, with traced segment_ids; received num_segments=None"),
        "sparse_gradient-true": (
            lambda: f(X, [0], [0], sparse_gradient=True), ValueError, "sparse_gradient must be False, as the gradient of an array is one in JAX; received True; jaxops.sparse_value_and_grad gives IndexedSlices"),
    }  # fmt: skip
    if kind != "sum":
        calls["data-ints"] = (
            lambda: f(np.ones(3, int), [0], [0]), TypeError, "data must have a dtype of floats; received int")  # fmt: skip
    return {f"{op}-{case}": (call, error, f"{op}: {words}") for case, (call, error, words) in calls.items()}  # fmt: skip


CALLS |= {
    case: call
    for kind in ("sum", "mean", "prod", "min", "max")
    for case, call in sorted_calls(kind).items()
}
CALLS |= {case: call for kind in SUMS for case, call in sparse_calls(kind).items()}


def accumulating_calls(op):
    """Of the functions that add in another dtype: these reductions, and the scatters."""
    f = getattr(jaxops, op)
    ids = np.array(SORTED)

    def call(data, dtype):
        if op == "scatter_nd":
            return f(ids[:, None], data, [3, *np.shape(data)[1:]], accumulate_dtype=dtype)
        if op.startswith("tensor"):
            return f(data, ids[:, None], data, accumulate_dtype=dtype)
        return f(data, ids, num_segments=3, accumulate_dtype=dtype)

    arg = {"scatter_nd": "updates"}.get(op, "tensor" if op.startswith("tensor") else "data")
    refused = {
        "int": (
            lambda: call(X, np.int32), TypeError, "accumulate_dtype must be a dtype of floats or complex numbers; received int32"),
        "narrower": (
            lambda: call(X, "bfloat16"), TypeError, f"accumulate_dtype must hold all numbers of the dtype of {arg}, float32; received bfloat16"),
        "of-other-range": (lambda: call(X.astype("bfloat16"), np.float16), TypeError, f"accumulate_dtype must hold all numbers of the dtype of {arg}, bfloat16; received float16"),
        "complex": (
            lambda: call(X, np.complex64), TypeError, f"accumulate_dtype must hold all numbers of the dtype of {arg}, float32; received complex64"),
        "real": (
            lambda: call(X.astype(np.complex64), np.float32), TypeError, f"accumulate_dtype must hold all numbers of the dtype of {arg}, complex64; received float32"),
        "of-ints": (
            lambda: call(X.astype(np.int32), np.float32), TypeError, f"{arg} must have a dtype of floats or complex numbers where accumulate_dtype is given, as sums of others are exact; received int32"),
    }  # fmt: skip
    if op == "scatter_nd":
        refused["of-strings"] = (
            lambda: call(np.array(["a"] * 4), np.float32), TypeError, "accumulate_dtype must be None where updates are strings; received")  # fmt: skip
    return {
        f"{op}-accumulate_dtype-{case}": (call, error, f"{op}: {words}")
        for case, (call, error, words) in refused.items()
    }


ADDING = ("segment_sum", "unsorted_segment_sum", "scatter_nd")
ADDING += ("tensor_scatter_nd_add", "tensor_scatter_nd_sub")
CALLS |= {case: call for op in ADDING for case, call in accumulating_calls(op).items()}
