"""bitcast: the bits of elements as elements of another dtype."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.dtypes import itemsize_bits
from jax.typing import DTypeLike

from jaxops import _symbolic
from jaxops._ops.casting import check_numeric, is_complex, run_from_true_values, static_dtype
from jaxops._run.arguments import ArrayLike, readable
from jaxops._run.dispatch import operation


def bitcast(input: ArrayLike, type: DTypeLike, name: str | None = None) -> jax.Array:
    """Reads the bits of the elements as elements of another dtype.

    Follows `tf.bitcast`. Differs from it in: 8-bit floats and 4-bit integers are taken too.

    Args:
        input: array of shape `S` and any numeric dtype. A complex number is its real part followed
            by its imaginary one; lower bits come first. Traced.
        type: static numeric dtype, as in `cast`.

    Returns:
        Array of dtype `type`. With `r` the ratio of the larger element size to the smaller, its
        shape is `S` where sizes are equal, `S + [r]` where elements become smaller, and `S[:-1]`
        where they become larger.

    Raises:
        TypeError: `input` or `type` is not numeric.
        ValueError: elements become larger and `S[-1]` is not `r`, or `type` has 64 bits and x64 is
            off.

    Gradient: 0, as bits have no derivative (TensorFlow has none for this operation).

    Example:
        >>> import jaxops
        >>> jaxops.bitcast(jaxops.cast([1.0, -2.0], "float32"), "uint8")
        Array([[  0,   0, 128,  63],
               [  0,   0,   0, 192]], dtype=uint8)
        >>> jaxops.bitcast(jaxops.cast([[1.0, 2.0]], "float32"), "complex64")
        Array([1.+2.j], dtype=complex64)
    """
    op = "bitcast"
    type = static_dtype(type, op, "type")
    check_numeric(type, op, "type")
    input = readable(input)
    if isinstance(input, (np.ndarray, np.generic)):
        return run_from_true_values(op, _bitcast, input, "input", name, dtype=type)
    # Python numbers have no bits of their own; they get JAX's default dtypes first.
    return _bitcast.run(op, input=input, name=name, dtype=type)


@operation(data=("input",), of_own_dtype=("input",))
def _bitcast(input: jax.Array, *, op: str, dtype: np.dtype):
    """Groups all parts of the larger element in a last dimension, and converts part by part.

    A part is a real number: a complex element has two.
    """
    check_numeric(input.dtype, op, "input")
    shape = input.shape
    bits, new_bits = itemsize_bits(input.dtype), itemsize_bits(dtype)
    if new_bits > bits:
        ratio = new_bits // bits
        if shape[-1:] != (ratio,):
            raise ValueError(
                f"{op}: input must have a last dimension of {ratio} to become {dtype} from "
                f"{input.dtype}; received shape {shape}"
            )
        shape = result_shape = shape[:-1]
    else:
        result_shape = shape if new_bits == bits else (*shape, bits // new_bits)
    if is_complex(input.dtype):
        input = jnp.stack([lax.real(input), lax.imag(input)], axis=-1)
    part, new_part = _real_dtype(input.dtype), _real_dtype(dtype)
    # A last dimension that holds all the parts of one element, of the old dtype or the new one.
    size = max(bits, new_bits) // itemsize_bits(part)
    new_size = max(bits, new_bits) // itemsize_bits(new_part)
    grouped = (new_size, size // new_size) if size > new_size else (size,)
    # The leading 1 makes this a reshape, for which `vmap` moves its dimension to the front: JAX's
    # rule for the bitcast mistakes a mapped last dimension for the one that the bitcast consumes.
    parts = lax.reshape(input, (1, *shape, *grouped))
    parts = _convert(parts, new_part)
    if is_complex(dtype):
        parts = lax.reshape(parts, (*shape, new_size // 2, 2))
        parts = lax.complex(parts[..., 0], parts[..., 1])
    return lax.reshape(parts, result_shape)


def _convert(x: jax.Array, dtype: np.dtype) -> jax.Array:
    """`lax.bitcast_convert_type`, which XLA cannot compile for symbolic shapes of another rank."""
    bits, new_bits = itemsize_bits(x.dtype), itemsize_bits(dtype)
    if bits == new_bits or _symbolic.are_known(x.shape):
        return lax.bitcast_convert_type(x, dtype)
    # Shifts make the same bits, and compile for any number of rows (test_bitcast.py,
    # test_rows_of_any_number).
    wide, narrow = (jnp.dtype(f"uint{n}") for n in (max(bits, new_bits), min(bits, new_bits)))
    x = lax.bitcast_convert_type(x, jnp.dtype(f"uint{bits}"))
    places = np.arange(0, max(bits, new_bits), min(bits, new_bits)).astype(wide)  # lowest first
    places = places.reshape((1,) * (x.ndim - (new_bits > bits)) + (-1,))
    if new_bits < bits:
        x = (x[..., None] >> places).astype(narrow)
    else:
        x = (x.astype(wide) << places).sum(axis=-1, dtype=wide)
    return lax.bitcast_convert_type(x, dtype)


def _real_dtype(dtype) -> np.dtype:
    return np.finfo(dtype).dtype if is_complex(dtype) else np.dtype(dtype)
