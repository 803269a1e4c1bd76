"""Refused calls: string_to_number, cast, saturate_cast, bitcast and the to_* functions."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import jax.numpy as jnp
import numpy as np

import jaxops
from refusals.values import X, in_x64, key

CALLS = {
    "string_to_number-input-word": (
        lambda: jaxops.string_to_number(["1", "two"]), ValueError, "string_to_number: input must hold numbers; received 'two' at [1]"),
    "string_to_number-input-word-in-matrix": (
        lambda: jaxops.string_to_number([["1", "2"], ["3", "x"]]), ValueError, "string_to_number: input must hold numbers; received 'x' at [1, 1]"),
    "string_to_number-input-empty-string": (
        lambda: jaxops.string_to_number(""), ValueError, "string_to_number: input must hold numbers; received ''"),
    "string_to_number-input-number": (
        lambda: jaxops.string_to_number([1.5]), TypeError, "string_to_number: input must hold strings only; received 1.5"),
    "string_to_number-input-mixed": (
        lambda: jaxops.string_to_number(["1", 2]), TypeError, "string_to_number: input must hold strings only; received 2"),
    "string_to_number-input-none": (
        lambda: jaxops.string_to_number([None]), TypeError, "string_to_number: input must hold strings only; received None"),
    "string_to_number-input-ragged": (
        lambda: jaxops.string_to_number([["1"], ["2", "3"]]), TypeError, "string_to_number: input must hold strings only; received ['1']"),
    "string_to_number-input-key": (
        lambda: jaxops.string_to_number([key()]), TypeError, "string_to_number: input must hold strings only; received ["),
    "string_to_number-input-array": (
        lambda: jaxops.string_to_number(jnp.ones(2)), TypeError, "string_to_number: input must hold host strings; received a float32 array"),
    "string_to_number-input-traced": (
        lambda: jax.jit(jaxops.string_to_number)(1.0), TypeError, "string_to_number: input must hold host strings; received a float32 array"),
    "string_to_number-input-float-for-int": (
        lambda: jaxops.string_to_number("1.5", np.int32), ValueError, "string_to_number: input must hold integers that fit int32; received '1.5'"),
    "string_to_number-input-int32-overflow": (
        lambda: jaxops.string_to_number(["2147483648"], np.int32), ValueError, "string_to_number: input must hold integers that fit int32; received '2147483648' at [0]"),
    "string_to_number-input-negative-unsigned": (
        lambda: jaxops.string_to_number(["-1"], np.uint32), ValueError, "string_to_number: input must hold integers that fit uint32; received '-1' at [0]"),
    "string_to_number-input-numbers": (
        lambda: jaxops.string_to_number(np.ones(2)), TypeError, "string_to_number: input must hold strings; received dtype float64"),
    "string_to_number-out_type-float16": (
        lambda: jaxops.string_to_number("1", np.float16), TypeError, "string_to_number: out_type must be float32, float64, int32, int64, uint32 or uint64; received float16"),
    "string_to_number-out_type-bool": (
        lambda: jaxops.string_to_number("1", bool), TypeError, "string_to_number: out_type must be float32, float64, int32, int64, uint32 or uint64; received bool"),
    "string_to_number-out_type-value": (
        lambda: jaxops.string_to_number("1", 1.5), TypeError, "string_to_number: out_type must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received 1.5"),
    "string_to_number-out_type-x64": (
        lambda: jaxops.string_to_number("1", np.int64), ValueError, 'string_to_number: out_type must have 32 bits at most while x64 is off; received int64; indices and lengths need no cast, functions take them as int32; for other numbers switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "string_to_number-out_type-none": (
        lambda: jaxops.string_to_number("1", None), TypeError, "string_to_number: out_type must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received None"),
    "string_to_number-out_type-float64": (
        lambda: jaxops.string_to_number("1", "float64"), ValueError, 'string_to_number: out_type must have 32 bits at most while x64 is off; received float64; switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "cast-x-none": (
        lambda: jaxops.cast(None, np.int32), TypeError, "cast: x must be an array of numbers or bools; received None"),
    "cast-x-string": (
        lambda: jaxops.cast("1", np.int32), TypeError, "cast: x must be an array of numbers or bools; received dtype <U1"),
    "cast-dtype-syntax": (
        lambda: jaxops.cast(X, "(,)f4"), TypeError, "cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received '(,)f4'"),
    "cast-x-ragged": (
        lambda: jaxops.cast([[1], [2, 3]], np.int32), ValueError, "cast: x must be an array or nested lists of equal lengths; received [[1], [2, 3]]"),
    "cast-x-key": (
        lambda: jaxops.cast(key(), np.int32), TypeError, "cast: x must have a numeric or bool dtype; received key<fry>"),
    "cast-x-object": (
        lambda: jaxops.cast(object(), np.int32), TypeError, "cast: x must be an array of numbers or bools; received"),
    "cast-x-dates": (
        lambda: jaxops.cast(np.array(["2020-01-01"], "datetime64[D]"), np.int32), TypeError, "cast: x must be an array of numbers or bools; received dtype datetime64[D]"),
    "cast-x-beyond-int64": (
        lambda: jaxops.cast(2**70, np.int32), TypeError, "cast: x must be an array of numbers or bools; received 1180591620717411303424"),
    "cast-x-byte-order": (
        lambda: jaxops.cast(np.ones(2, ">f4"), "int32"), TypeError, "cast: x must have this machine's byte order; received dtype >f4"),
    "cast-dtype-none": (
        lambda: jaxops.cast(X, None), TypeError, "cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received None"),
    "cast-dtype-unsized": (
        lambda: jaxops.cast(X, int), TypeError, "cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received <class 'int'>"),
    "cast-dtype-unknown": (
        lambda: jaxops.cast(X, "float31"), TypeError, "cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received 'float31'"),
    "cast-dtype-quantised": (
        lambda: jaxops.cast(X, "qint8"), TypeError, "cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received 'qint8'"),
    "cast-dtype-string": (
        lambda: jaxops.cast(X, str), TypeError, "cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received <class 'str'>"),
    "cast-dtype-object": (
        lambda: jaxops.cast(X, object), TypeError, "cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received <class 'object'>"),
    "cast-dtype-number": (
        lambda: jaxops.cast(X, 32), TypeError, "cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received 32"),
    "cast-dtype-value": (
        lambda: jaxops.cast(X, np.float32(1.0)), TypeError, "cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received np.float32(1.0)"),
    "cast-dtype-array": (
        lambda: jaxops.cast(X, X), TypeError, "cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received"),
    "cast-dtype-structure": (
        lambda: jaxops.cast(X, jax.ShapeDtypeStruct((), np.int32)), TypeError, "cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received"),
    "cast-dtype-list": (
        lambda: jaxops.cast(X, [np.int32]), TypeError, "cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received [<class 'numpy.int32'>]"),
    "cast-dtype-x64": (
        lambda: jaxops.cast(X, np.float64), ValueError, 'cast: dtype must have 32 bits at most while x64 is off; received float64; switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "cast-dtype-complex128": (
        lambda: jaxops.cast(X, np.complex128), ValueError, 'cast: dtype must have 32 bits at most while x64 is off; received complex128; switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "cast-dtype-longdouble": (
        lambda: jaxops.cast(X, np.longdouble), TypeError, "cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received <class 'numpy.longdouble'>"),
    "cast-dtype-byte-order": (
        lambda: jaxops.cast(X, ">f4"), TypeError, "cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received '>f4'"),
    "cast-dtype-date": (
        lambda: jaxops.cast(X, "M8[s]"), TypeError, "cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received 'M8[s]'"),
    "cast-dtype-int64": (
        lambda: jaxops.cast(X, "int64"), ValueError, 'cast: dtype must have 32 bits at most while x64 is off; received int64; indices and lengths need no cast, functions take them as int32; for other numbers switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "saturate_cast-value-none": (
        lambda: jaxops.saturate_cast(None, np.int8), TypeError, "saturate_cast: value must be an array of numbers or bools; received None"),
    "saturate_cast-value-bool": (
        lambda: jaxops.saturate_cast([True], np.int8), TypeError, "saturate_cast: value must have a numeric dtype; received bool"),
    "saturate_cast-value-string": (
        lambda: jaxops.saturate_cast("1", np.int8), TypeError, "saturate_cast: value must be an array of numbers or bools; received dtype <U1"),
    "saturate_cast-dtype-bool": (
        lambda: jaxops.saturate_cast(X, bool), TypeError, "saturate_cast: dtype must have a numeric dtype; received bool"),
    "saturate_cast-dtype-none": (
        lambda: jaxops.saturate_cast(X, None), TypeError, "saturate_cast: dtype must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received None"),
    "saturate_cast-dtype-x64": (
        lambda: jaxops.saturate_cast(X, np.uint64), ValueError, 'saturate_cast: dtype must have 32 bits at most while x64 is off; received uint64; switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "bitcast-input-shape": (
        lambda: jaxops.bitcast(np.zeros((2, 3), np.uint8), np.float32), ValueError, "bitcast: input must have a last dimension of 4 to become float32 from uint8; received shape (2, 3)"),
    "bitcast-input-scalar": (
        lambda: jaxops.bitcast(np.uint8(1), np.uint16), ValueError, "bitcast: input must have a last dimension of 2 to become uint16 from uint8; received shape ()"),
    "bitcast-input-bool": (
        lambda: jaxops.bitcast([True], np.int8), TypeError, "bitcast: input must have a numeric dtype; received bool"),
    "bitcast-input-string": (
        lambda: jaxops.bitcast("a", np.uint8), TypeError, "bitcast: input must be an array of numbers or bools; received strings"),
    "bitcast-input-none": (
        lambda: jaxops.bitcast(None, np.uint8), TypeError, "bitcast: input must be an array of numbers or bools; received None"),
    "bitcast-input-key": (
        lambda: jaxops.bitcast(key(), np.uint32), TypeError, "bitcast: input must have a numeric or bool dtype; received key<fry>"),
    "bitcast-input-last-dimension-0": (
        lambda: jaxops.bitcast(np.ones((4, 0), np.uint8), np.float32), ValueError, "bitcast: input must have a last dimension of 4 to become float32 from uint8; received shape (4, 0)"),
    "bitcast-type-bool": (
        lambda: jaxops.bitcast(np.zeros(2, np.uint8), bool), TypeError, "bitcast: type must have a numeric dtype; received bool"),
    "bitcast-type-quantised": (
        lambda: jaxops.bitcast(X, "quint8"), TypeError, "bitcast: type must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received 'quint8'"),
    "bitcast-type-x64": (
        lambda: jaxops.bitcast(np.zeros((1, 2), np.float32), np.float64), ValueError, 'bitcast: type must have 32 bits at most while x64 is off; received float64; switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "bitcast-type-none": (
        lambda: jaxops.bitcast(X, None), TypeError, "bitcast: type must be a numeric dtype with a size, or bool (JAX has no dtypes for strings or quantised numbers); received None"),
    "to_double-x-x64-off": (
        lambda: jaxops.to_double(X), ValueError, 'to_double: the result must have 32 bits at most while x64 is off; received float64; switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "to_int64-x-x64-off": (
        lambda: jaxops.to_int64(X), ValueError, 'to_int64: the result must have 32 bits at most while x64 is off; received int64; indices and lengths need no cast, functions take them as int32; for other numbers switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "to_float-x-none": (
        lambda: jaxops.to_float(None), TypeError, "to_float: x must be an array of numbers or bools; received None"),
    "to_float-x-string": (
        lambda: jaxops.to_float("1"), TypeError, "to_float: x must be an array of numbers or bools; received dtype <U1"),
    "to_bfloat16-x-key": (
        lambda: jaxops.to_bfloat16(key()), TypeError, "to_bfloat16: x must have a numeric or bool dtype; received key<fry>"),
    "to_int32-x-ragged": (
        lambda: jaxops.to_int32([[1], [2, 3]]), ValueError, "to_int32: x must be an array or nested lists of equal lengths; received [[1], [2, 3]]"),
    "to_int32-x-dict": (
        lambda: jaxops.to_int32({"a": 1}), TypeError, "to_int32: x must be an array of numbers or bools; received {'a': 1}"),
    "to_int32-x-string": (
        lambda: jaxops.to_int32(["1"]), TypeError, "to_int32: x must be an array of numbers or bools; received dtype <U1"),
    "to_double-x-string": (
        lambda: in_x64(jaxops.to_double, ["1"]), TypeError, "to_double: x must be an array of numbers or bools; received dtype <U1"),
    "to_int64-x-none": (
        lambda: in_x64(jaxops.to_int64, None), TypeError, "to_int64: x must be an array of numbers or bools; received None"),
}  # fmt: skip
