"""Refused calls: string_to_number, cast, saturate_cast, bitcast and the to_* functions."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import jax.numpy as jnp
import numpy as np

import jaxops
from refusals.values import X, key

CALLS = {
    "string_to_number-input-word": (lambda: jaxops.string_to_number(["1", "two"]), ValueError, "must hold numbers; received 'two' at [1]"),
    "string_to_number-input-word-in-matrix": (lambda: jaxops.string_to_number([["1", "2"], ["3", "x"]]), ValueError, "must hold numbers; received 'x' at [1, 1]"),
    "string_to_number-input-empty-string": (lambda: jaxops.string_to_number(""), ValueError, "must hold numbers; received ''"),
    "string_to_number-input-number": (lambda: jaxops.string_to_number([1.5]), TypeError, "must hold strings only; received 1.5"),
    "string_to_number-input-ragged": (lambda: jaxops.string_to_number([["1"], ["2", "3"]]), TypeError, "must hold strings only; received ['1']"),
    "string_to_number-input-key": (lambda: jaxops.string_to_number([key()]), TypeError, "must hold strings only; received ["),
    "string_to_number-input-array": (lambda: jaxops.string_to_number(jnp.ones(2)), TypeError, "must hold host strings; received a float32 array"),
    "string_to_number-input-traced": (lambda: jax.jit(jaxops.string_to_number)(1.0), TypeError, "must hold host strings; received a float32 array"),
    "string_to_number-input-float-for-int": (lambda: jaxops.string_to_number("1.5", np.int32), ValueError, "must hold integers that fit int32; received '1.5'"),
    "string_to_number-input-int32-overflow": (lambda: jaxops.string_to_number(["2147483648"], np.int32), ValueError, "must hold integers that fit int32; received '2147483648' at [0]"),
    "string_to_number-input-negative-unsigned": (lambda: jaxops.string_to_number(["-1"], np.uint32), ValueError, "must hold integers that fit uint32; received '-1' at [0]"),
    "string_to_number-input-numbers": (lambda: jaxops.string_to_number(np.ones(2)), TypeError, "must hold strings; received dtype float64"),
    "string_to_number-out_type-float16": (lambda: jaxops.string_to_number("1", np.float16), TypeError, "must be float32, float64, int32, int64, uint32 or uint64; received float16"),
    "string_to_number-out_type-bool": (lambda: jaxops.string_to_number("1", bool), TypeError, "must be float32, float64, int32, int64, uint32 or uint64; received bool"),
    "cast-x-beyond-int64": (lambda: jaxops.cast(2**70, np.int32), TypeError, "must be an array of numbers or bools; received 1180591620717411303424"),
    "cast-dtype-value": (
        lambda: jaxops.cast(X, np.float32(1.0)), TypeError, "must be a numeric dtype of known width, or bool (JAX has no dtypes for strings or quantised numbers); received np.float32(1.0)"),
    "cast-dtype-structure": (
        lambda: jaxops.cast(X, jax.ShapeDtypeStruct((), np.int32)), TypeError, "must be a numeric dtype of known width, or bool (JAX has no dtypes for strings or quantised numbers); received"),
    "cast-dtype-int64": (
        lambda: jaxops.cast(X, "int64"), ValueError, 'must have 32 bits at most while x64 is off; received int64; indices and lengths need no cast, functions take them as int32; for other numbers switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "saturate_cast-value-bool": (lambda: jaxops.saturate_cast([True], np.int8), TypeError, "must have a numeric dtype; received bool"),
    "saturate_cast-dtype-bool": (lambda: jaxops.saturate_cast(X, bool), TypeError, "must have a numeric dtype; received bool"),
    "bitcast-input-shape": (lambda: jaxops.bitcast(np.zeros((2, 3), np.uint8), np.float32), ValueError, "must have a last dimension of 4 to become float32 from uint8; received shape (2, 3)"),
    "bitcast-input-scalar": (lambda: jaxops.bitcast(np.uint8(1), np.uint16), ValueError, "must have a last dimension of 2 to become uint16 from uint8; received shape ()"),
    "bitcast-input-bool": (lambda: jaxops.bitcast([True], np.int8), TypeError, "must have a numeric dtype; received bool"),
    "bitcast-type-bool": (lambda: jaxops.bitcast(np.zeros(2, np.uint8), bool), TypeError, "must have a numeric dtype; received bool"),
    "to_double-x-x64-off": (
        lambda: jaxops.to_double(X), ValueError, 'to_double: the result must have 32 bits at most while x64 is off; received float64; switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "to_int64-x-x64-off": (
        lambda: jaxops.to_int64(X), ValueError, 'to_int64: the result must have 32 bits at most while x64 is off; received int64; indices and lengths need no cast, functions take them as int32; for other numbers switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
}  # fmt: skip
