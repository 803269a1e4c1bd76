"""Splits into many pieces, and joins of many, which XLA compiles one by one.

On a CPU 1,000 pieces took its compiler 9 s and 1.4 GB, and more of them worse than in proportion.
A call of Python, which copies all pieces, compiles at once. Programs of very many results or
operands take XLA long whatever is in them, so an eager call makes none: it slices piece by piece.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.buffer_callback import buffer_callback
from jax.interpreters import ad

from jaxops import _dims
from jaxops._cpu_form import with_cpu_form
from jaxops._programs import varying_alike

# From these numbers on Python copies them.
_MANY_PIECES, _MANY_OPERANDS = 64, 256
MOST_AT_ONCE = 1024  # in a program of an eager call


def split(operand: jax.Array, sizes: Sequence[int], axis: int) -> list[jax.Array]:
    """`lax.split`, however many pieces there are."""
    if len(sizes) < _MANY_PIECES or not _is_copied_by_python([operand]):
        return list(lax.split(operand, sizes, axis))
    return _split_p.bind(operand, sizes=tuple(sizes), axis=axis)


def concatenate(arrays: Sequence[jax.Array], axis: int) -> jax.Array:
    """`lax.concatenate`, however many arrays there are.

    For 2-bit integers too, where XLA's CPU compiler ends the process.
    """
    dtype = arrays[0].dtype
    if dtype in (jnp.int2, jnp.uint2):
        wide = [array.astype(jnp.int8) for array in arrays]
        return lax.concatenate(wide, axis).astype(dtype)
    if len(arrays) < _MANY_OPERANDS or not _is_copied_by_python(arrays):
        return lax.concatenate(arrays, axis)
    return _join_p.bind(*varying_alike(*arrays), axis=axis)


def _is_copied_by_python(arrays: Sequence[jax.Array]) -> bool:
    """Numbers of fewer than 8 bits are stored in bytes of two, which NumPy cannot copy."""
    dtype = arrays[0].dtype
    is_known = all(_dims.are_known(x.shape) for x in arrays)
    is_sharded = any(jax.typeof(x).sharding.mesh.explicit_axes for x in arrays)
    return is_known and not is_sharded and _bits(dtype) >= 8


def _bits(dtype: np.dtype) -> int:
    if jnp.issubdtype(dtype, jnp.integer):
        return jnp.iinfo(dtype).bits
    return jnp.finfo(dtype).bits if jnp.issubdtype(dtype, jnp.floating) else 8


# --- one array into pieces ---


def _split(operand, *, sizes: tuple[int, ...], axis: int) -> list[jax.Array]:
    return list(lax.split(operand, sizes, axis))


def _split_by_python(operand, *, sizes: tuple[int, ...], axis: int) -> list[jax.Array]:
    shapes = [(*operand.shape[:axis], size, *operand.shape[axis + 1 :]) for size in sizes]
    pieces = [jax.ShapeDtypeStruct(shape, operand.dtype) for shape in shapes]
    return buffer_callback(functools.partial(_copy_pieces, sizes, axis), pieces)(operand)


def _copy_pieces(sizes, axis: int, context, pieces, operand) -> None:
    """Runs with the program."""
    del context
    operand = np.asarray(operand)
    for piece, piece_of_operand in zip(
        pieces, np.split(operand, np.cumsum(sizes)[:-1], axis), strict=True
    ):
        np.asarray(piece)[...] = piece_of_operand


def _split_eagerly(operand, *, sizes: tuple[int, ...], axis: int) -> list[jax.Array]:
    if len(sizes) <= MOST_AT_ONCE:
        return _compiled_split(operand, sizes=sizes, axis=axis)
    starts = np.cumsum(np.array([0, *sizes[:-1]], np.int64)).astype(
        jax.dtypes.canonicalize_dtype(np.uint64)
    )
    return [_slice(operand, start, size, axis) for start, size in zip(starts, sizes, strict=True)]


@functools.partial(jax.jit, static_argnames=("size", "axis"))
def _slice(operand, start, size: int, axis: int):
    return lax.dynamic_slice_in_dim(operand, start, size, axis)


def _split_batch(bind, operands, dims, *, sizes: tuple[int, ...], axis: int):
    (operand,), (dim,) = operands, dims
    pieces = bind(jnp.moveaxis(operand, dim, 0), sizes=sizes, axis=axis + 1)
    return pieces, [0] * len(pieces)


def _split_transpose(cotangents, operand, *, sizes, axis: int):
    del operand, sizes
    return [concatenate([*map(ad.instantiate_zeros, cotangents)], axis)]


_split_p = with_cpu_form(
    "split_in_many",
    _split,
    _split_by_python,
    num_linear=1,
    batch=_split_batch,
    transpose=_split_transpose,
    calls_python=True,
    returns_list=True,
)
_compiled_split = jax.jit(_split_p.bind, static_argnames=("sizes", "axis"))
_split_p.def_impl(_split_eagerly)


# --- arrays into one ---


def _join(*arrays, axis: int) -> jax.Array:
    return lax.concatenate(arrays, axis)


def _join_by_python(*arrays, axis: int) -> jax.Array:
    joined = jax.eval_shape(functools.partial(_join, axis=axis), *arrays)
    return buffer_callback(functools.partial(_copy_joined, axis), joined)(*arrays)


def _copy_joined(axis: int, context, joined, *arrays) -> None:
    """Runs with the program."""
    del context
    np.concatenate([*map(np.asarray, arrays)], axis, out=np.asarray(joined))


def _join_eagerly(*arrays, axis: int) -> jax.Array:
    if len(arrays) <= MOST_AT_ONCE:
        return _compiled_join(*arrays, axis=axis)
    runs = [arrays[i : i + _MANY_OPERANDS] for i in range(0, len(arrays), _MANY_OPERANDS)]
    return _join_eagerly(*(_compiled_join(*run, axis=axis) for run in runs), axis=axis)


def _join_batch(bind, operands, dims, *, axis: int):
    (size,) = {x.shape[dim] for x, dim in zip(operands, dims, strict=True) if dim is not None}
    batched = [
        jnp.broadcast_to(x, (size, *x.shape)) if dim is None else jnp.moveaxis(x, dim, 0)
        for x, dim in zip(operands, dims, strict=True)
    ]
    return bind(*batched, axis=axis + 1), 0


def _join_transpose(cotangent, *operands, axis: int):
    pieces = split(cotangent, [x.aval.shape[axis] for x in operands], axis)
    is_linear = map(ad.is_undefined_primal, operands)
    return [piece if wanted else None for piece, wanted in zip(pieces, is_linear, strict=True)]


_join_p = with_cpu_form(
    "join_many",
    _join,
    _join_by_python,
    num_linear=sys.maxsize,
    batch=_join_batch,
    transpose=_join_transpose,
    calls_python=True,
)
_compiled_join = jax.jit(_join_p.bind, static_argnames="axis")
_join_p.def_impl(_join_eagerly)
