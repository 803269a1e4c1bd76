"""cast, saturate_cast and the to_* functions."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.typing import DTypeLike

from jaxops import _jax_internals
from jaxops._run import arguments
from jaxops._run.arguments import ArrayLike
from jaxops._run.dispatch import operation
from jaxops._run.known import at_once, known


def cast(x: ArrayLike, dtype: DTypeLike, name: str | None = None) -> jax.Array:
    """Converts to `dtype`: towards zero from float to integer, modulo 2^n from integer to integer.

    Follows `tf.cast`. Differs from it in: a Python number is converted from the value it has, not
    from its float32; 4-bit integers and 8-bit floats convert to and from all other dtypes.

    NaN, and floats that lie outside the integer dtype, TensorFlow leaves undefined. Here they give,
    on every device, the result of its CPU kernel where that is consistent: the minimum in int32 and
    int64; `2^31` in uint32 and `2^63` in uint64, except that negative values which the signed dtype
    of that size holds count modulo `2^32` and `2^64`; in smaller dtypes, the value in int32 modulo
    `2^8` or `2^16`.

    Args:
        x: array of shape `S` and any dtype but strings. The real part of complex numbers is taken
            for a `dtype` that is not complex. Host values of a 64-bit dtype are taken as they are
            without x64 too; host integers cast to integers under `jit` stay static. Traced.
        dtype: static; any dtype of a known width, as NumPy or JAX takes it. `float` is float32, and
            `int` is refused, as in TensorFlow.

    Returns:
        Array of shape `S` and dtype `dtype`.

    Raises:
        TypeError: `x` or `dtype` is not numeric or bool.
        ValueError: `dtype` has 64 bits and x64 is off.

    Gradient: the cotangent, cast back to the dtype of `x`. None if either is an integer or bool.

    Example:
        >>> import jaxops
        >>> jaxops.cast([1.8, -2.2], "int32")
        Array([ 1, -2], dtype=int32)
        >>> jaxops.cast([1 + 2j, 0j], bool)
        Array([ True, False], dtype=bool)
    """
    op = "cast"
    return run_from_true_values(op, _cast, x, "x", name, dtype=static_dtype(dtype, op, "dtype"))


def saturate_cast(value: ArrayLike, dtype: DTypeLike, name: str | None = None) -> jax.Array:
    """Clamps to the range of `dtype`, then casts.

    Follows `tf.saturate_cast`. Differs from it in: values of uint32, uint64, 4-bit integers and
    8-bit floats are taken too; a Python number is a 64-bit one, as in `cast`; right also where
    TensorFlow 2.21 itself overflows (values above int64 and uint64 give `-2^63` and `2^63`, and
    int64 values all count as `-2^63` where `dtype` reaches to `2^63`).

    The bounds are those numbers of the dtype of `value` that lie furthest out in the range of
    `dtype`, infinities excluded. So float32 saturates at 2147483520 in int32, and infinity becomes
    the largest finite number, also when the dtype stays the same. NaN is cast as by `cast`.

    Args:
        value: array of shape `S` and any numeric dtype. Of complex numbers both parts are clamped
            where a complex `dtype` is narrower, and for a real `dtype` the real part is taken.
            Host values of a 64-bit dtype are taken as they are without x64 too. Traced.
        dtype: static numeric dtype, as in `cast`.

    Returns:
        Array of shape `S` and dtype `dtype`.

    Raises:
        TypeError: `value` or `dtype` is not numeric.
        ValueError: `dtype` has 64 bits and x64 is off.

    Gradient: the cotangent, cast back, where the value lies within the bounds or on them; 0 where
    it is clamped. None if either dtype is an integer one.

    Example:
        >>> import jaxops
        >>> jaxops.saturate_cast([-7.9, 300.0], "uint8")
        Array([  0, 255], dtype=uint8)
        >>> jaxops.saturate_cast(jaxops.to_float([3e9, float("-inf")]), "int32")
        Array([ 2147483520, -2147483648], dtype=int32)

    Source: https://www.tensorflow.org/api_docs/python/tf/dtypes/saturate_cast
    """
    op = "saturate_cast"
    dtype = static_dtype(dtype, op, "dtype")
    check_numeric(dtype, op, "dtype")
    return run_from_true_values(op, _saturate_cast, value, "value", name, dtype=dtype)


def to_double(x: ArrayLike, name: str | None = None) -> jax.Array:
    """`cast(x, "float64")`. Needs x64.

    Follows `tf.compat.v1.to_double`. Differs from it in: as `cast`.

    Args:
        x: as in `cast`. Traced.

    Returns:
        Array of the shape of `x` and dtype float64.

    Raises:
        TypeError: `x` is not numeric or bool.
        ValueError: x64 is off.

    Gradient: as `cast`.

    Example:
        >>> import jax, jaxops
        >>> with jax.enable_x64(True):
        ...     print(repr(jaxops.to_double([1, 2])))
        Array([1., 2.], dtype=float64)
    """
    return _to("to_double", x, np.float64, name)


def to_float(x: ArrayLike, name: str | None = None) -> jax.Array:
    """`cast(x, "float32")`.

    Follows `tf.compat.v1.to_float`. Differs from it in: as `cast`.

    Args:
        x: as in `cast`. Traced.

    Returns:
        Array of the shape of `x` and dtype float32.

    Raises:
        TypeError: `x` is not numeric or bool.

    Gradient: as `cast`.

    Example:
        >>> import jaxops
        >>> jaxops.to_float([1, 2])
        Array([1., 2.], dtype=float32)
    """
    return _to("to_float", x, np.float32, name)


def to_bfloat16(x: ArrayLike, name: str | None = None) -> jax.Array:
    """`cast(x, "bfloat16")`.

    Follows `tf.compat.v1.to_bfloat16`. Differs from it in: as `cast`.

    Args:
        x: as in `cast`. Traced.

    Returns:
        Array of the shape of `x` and dtype bfloat16.

    Raises:
        TypeError: `x` is not numeric or bool.

    Gradient: as `cast`.

    Example:
        >>> import jaxops
        >>> jaxops.to_bfloat16([1, 257])
        Array([1, 256], dtype=bfloat16)
    """
    return _to("to_bfloat16", x, jnp.bfloat16, name)


def to_int32(x: ArrayLike, name: str | None = None) -> jax.Array:
    """`cast(x, "int32")`.

    Follows `tf.compat.v1.to_int32`. Differs from it in: as `cast`.

    Args:
        x: as in `cast`. Traced.

    Returns:
        Array of the shape of `x` and dtype int32.

    Raises:
        TypeError: `x` is not numeric or bool.

    Gradient: none.

    Example:
        >>> import jaxops
        >>> jaxops.to_int32([1.8, -2.2])
        Array([ 1, -2], dtype=int32)
    """
    return _to("to_int32", x, np.int32, name)


def to_int64(x: ArrayLike, name: str | None = None) -> jax.Array:
    """`cast(x, "int64")`. Needs x64.

    Follows `tf.compat.v1.to_int64`. Differs from it in: as `cast`.

    Args:
        x: as in `cast`. Traced.

    Returns:
        Array of the shape of `x` and dtype int64.

    Raises:
        TypeError: `x` is not numeric or bool.
        ValueError: x64 is off.

    Gradient: none.

    Example:
        >>> import jax, jaxops
        >>> with jax.enable_x64(True):
        ...     print(repr(jaxops.to_int64([1.8, -2e10])))
        Array([           1, -20000000000], dtype=int64)
    """
    return _to("to_int64", x, np.int64, name)


def _to(op: str, x: ArrayLike, dtype: DTypeLike, name: str | None) -> jax.Array:
    return run_from_true_values(
        op, _cast, x, "x", name, dtype=static_dtype(dtype, op, "the result")
    )


def static_dtype(dtype: object, op: str, arg: str) -> np.dtype:
    """A dtype of JAX arrays, refused where JAX would use a 32-bit one in its place."""
    result = to_dtype_or_none(dtype)
    if result is None:
        raise TypeError(
            f"{op}: {arg} must be a numeric dtype of known width, or bool (JAX has no dtypes for "
            f"strings or quantised numbers); received {arguments.brief(dtype)}"
        )
    if jax.dtypes.canonicalize_dtype(result) != result:
        why = "indices and lengths need no cast, functions take them as int32; for other numbers "
        raise ValueError(
            f"{op}: {arg} must have 32 bits at most while x64 is off; received {result}; "
            f"{why if result == np.int64 else ''}{arguments.X64_HINT}"
        )
    return result


def static_index_dtype(dtype: object, op: str, arg: str) -> np.dtype:
    """The dtype of indices that a function returns."""
    result = static_dtype(dtype, op, arg)
    if result not in (np.int32, np.int64):
        raise TypeError(f"{op}: {arg} must be int32 or int64; received {result}")
    return result


def to_dtype_or_none(dtype: object) -> np.dtype | None:
    """The dtype that is meant; None if it is no dtype of numbers or bools, or none at all."""
    try:
        return _known_dtype(dtype)
    except TypeError:  # not hashable
        return None


@functools.lru_cache(maxsize=256)  # a third of a small eager cast without it
def _known_dtype(dtype: object) -> np.dtype | None:
    if dtype is float or (isinstance(dtype, str) and dtype == "float"):
        return np.dtype(np.float32)
    try:
        dtype = getattr(dtype, "as_numpy_dtype", dtype)  # TensorFlow's dtypes
    except Exception:  # a dtype of TensorFlow that NumPy lacks
        return None
    # NumPy takes None for float64. A dtype that tells no size is refused, as in TensorFlow.
    unsized = (isinstance(dtype, str) and dtype in ("int", "uint", "complex")) or any(
        dtype is kind for kind in (None, int, complex)
    )
    # NumPy also takes anything with an attribute `dtype`, such as a number for its own.
    unsized |= not isinstance(dtype, (str, type, np.dtype))
    try:
        result = None if unsized else np.dtype(dtype)  # type: ignore[call-overload]
    except (TypeError, ValueError, SyntaxError):  # as of "(,)f4"
        return None
    return result if result is not None and arguments.is_numeric_or_bool(result) else None


def check_numeric(dtype, op: str, arg: str) -> None:
    if not jnp.issubdtype(dtype, jnp.number):
        raise TypeError(f"{op}: {arg} must have a numeric dtype; received {dtype}")


def run_from_true_values(op, implementation, x, arg, name, dtype: np.dtype) -> Any:
    """`run` on 64-bit host values as they are; JAX would round them to 32 bits first."""
    given = x
    if not isinstance(x, jax.Array):
        x = arguments.to_numpy(x, op, arg)
    if isinstance(x, np.ndarray):
        arguments.check_numeric_or_bool(x.dtype, op, arg, given)
        is_eager = _jax_internals.is_eager()
        if not is_eager or jax.dtypes.canonicalize_dtype(x.dtype) != x.dtype:
            # The values are known on the host, so the cast runs at once (test_casting.py,
            # test_host_values_count_without_x64_too).
            with at_once(), jax.enable_x64(True):
                result = implementation.run(op, **{arg: x}, name=name, dtype=dtype)
            # At trace time integers may be shapes, as in every op, and floats made of them a part
            # of a shape's computation.
            kinds = {x.dtype.kind, dtype.kind}
            holds_shapes = not is_eager and kinds <= set("iuf") and kinds != {"f"}
            return known(result) if holds_shapes else result
    return implementation.run(op, **{arg: x}, name=name, dtype=dtype)


@operation(data=("x",), of_own_dtype=("x",))
def _cast(x: jax.Array, *, op: str, dtype: np.dtype):
    del op  # nothing to refuse
    return _convert(x, dtype)


def _convert(x: jax.Array, dtype: np.dtype) -> jax.Array:
    if is_complex(x.dtype) and not is_complex(dtype):
        x = lax.real(x)
    if jnp.issubdtype(x.dtype, jnp.floating) and jnp.issubdtype(dtype, jnp.integer):
        return _float_to_integer(x, dtype)
    if x.dtype == np.float64 and jnp.issubdtype(dtype, jnp.floating) and dtype.itemsize < 4:
        # TensorFlow rounds to float32 first. XLA does too, except for processors with AVX512-FP16:
        # there 65519.99999999999 would become 65504 in float16, and not infinity as elsewhere
        # (test_casting.py, test_float64_is_rounded_to_float32_before_narrower_floats).
        x = lax.convert_element_type(x, np.float32)
    return lax.convert_element_type(x, dtype)


def _float_to_integer(x: jax.Array, dtype: np.dtype) -> jax.Array:
    """The integer that x86 processors give for a float; XLA gives the nearest, and 0 for NaN."""
    bits = jnp.iinfo(dtype).bits
    if bits < 32:
        return lax.convert_element_type(_float_to_integer(x, np.dtype(np.int32)), dtype)
    if jnp.finfo(x.dtype).bits < 32:
        x = x.astype(np.float32)  # exact, and holds the limit
    result = lax.convert_element_type(x, dtype)
    limit = 2.0**bits
    if jnp.issubdtype(dtype, jnp.signedinteger):
        limit /= 2
    else:
        wrapped = lax.convert_element_type(x, np.dtype(f"int{bits}"))
        result = jnp.where(x < 0, lax.convert_element_type(wrapped, dtype), result)
    indefinite = np.array(1 << (bits - 1), f"uint{bits}").astype(dtype)
    return jnp.where(x < np.array(limit, x.dtype), result, indefinite)  # NaN is not less


@operation(data=("value",), of_own_dtype=("value",))
def _saturate_cast(value: jax.Array, *, op: str, dtype: np.dtype):
    check_numeric(value.dtype, op, "value")
    if not is_complex(value.dtype):
        return _convert(_clamp(value, dtype), dtype)
    real, imag = lax.real(value), lax.imag(value)
    if not is_complex(dtype):
        return _convert(_clamp(real, dtype), dtype)
    if jnp.finfo(dtype).max < jnp.finfo(value.dtype).max:
        value = lax.complex(_clamp(real, dtype), _clamp(imag, dtype))
    return _convert(value, dtype)


def _clamp(x: jax.Array, dtype: np.dtype) -> jax.Array:
    """`x` within the range of `dtype`.

    With comparisons, as the derivative of `lax.clamp` is 0 on the bounds, where it should be 1.
    """
    own_low, own_high = _range(x.dtype)
    low, high = _range(dtype)
    low = _towards_zero(max(low, own_low), x.dtype)
    high = _towards_zero(min(high, own_high), x.dtype)
    return jnp.where(x < low, low, jnp.where(x > high, high, x))


def _range(dtype) -> tuple[int, int] | tuple[float, float]:
    if jnp.issubdtype(dtype, jnp.integer):
        info = jnp.iinfo(dtype)
        return int(info.min), int(info.max)
    info = jnp.finfo(dtype)
    return float(info.min), float(info.max)


def _towards_zero(limit: int | float, dtype) -> np.ndarray:
    """`limit` as `dtype`; if that lacks it, the next number of `dtype` towards zero."""
    if jnp.issubdtype(dtype, jnp.integer):
        return np.array(int(limit)).astype(dtype)
    bound = np.array(float(limit)).astype(dtype)
    # Python compares integers and floats exactly.
    return np.nextafter(bound, np.zeros_like(bound)) if abs(float(bound)) > abs(limit) else bound


def is_complex(dtype) -> bool:
    return jnp.issubdtype(dtype, jnp.complexfloating)
