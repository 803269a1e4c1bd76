"""Splits into many pieces, and joins of many, which XLA compiles one by one.

On a CPU a program that returns 1,000 pieces took 9 s and 1.4 GB to compile, and one with more of
them more than in proportion. A call of Python that copies all pieces compiles at once. But XLA does
not fuse it with operations that use the pieces. So a program that returns no piece does without the
call, unless the pieces are very many. A join of 300 slices took 9 s to compile with the call, as
each slice was compiled for itself, and 0.3 s without it. So arrays that a program computes are
joined without it.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.dtypes import itemsize_bits
from jax.experimental.buffer_callback import buffer_callback
from jax.interpreters import ad

from jaxops._forms import register
from jaxops._indexing.pieces import are_too_many, concatenate, join_by_xla, split_by_xla, split_into
from jaxops._primitives import all_batched

# From `MANY` pieces on Python copies them; from `_MANY_RESULTS` on if the program returns them all.
MANY, _MANY_RESULTS = 256, 64


def _is_copied_by_python(arrays: Sequence[jax.Array]) -> bool:
    """Whether Python may copy these on a CPU; not numbers of which two are stored in a byte."""
    return itemsize_bits(arrays[0].dtype) >= 8


# --- one array into pieces; `results`: an eager call's program, whose results they are ---


def _is_split_by_python(operand, *, sizes: tuple[int, ...], axis: int, results: bool) -> bool:
    del axis, results
    return len(sizes) >= _MANY_RESULTS and _is_copied_by_python([operand])


def _split_by_python(
    operand, *, sizes: tuple[int, ...], axis: int, results: bool
) -> list[jax.Array]:
    if len(sizes) < MANY and not results:
        return split_by_xla(operand, sizes=sizes, axis=axis, results=results)
    shapes = [(*operand.shape[:axis], size, *operand.shape[axis + 1 :]) for size in sizes]
    pieces = [jax.ShapeDtypeStruct(shape, operand.dtype) for shape in shapes]
    return buffer_callback(functools.partial(_copy_pieces, axis), pieces)(operand)


def _copy_pieces(axis: int, context, pieces, operand) -> None:
    """Runs with the program."""
    del context
    operand, before, end = np.asarray(operand), (slice(None),) * axis, 0
    for piece in map(np.asarray, pieces):
        start, end = end, end + piece.shape[axis]
        piece[...] = operand[*before, start:end]


def _split_eagerly(operand, *, sizes: tuple[int, ...], axis: int, results: bool) -> list[jax.Array]:
    del results
    static = {"axis": axis, "results": True}
    if not are_too_many(len(sizes)):
        return _compiled_split(operand, sizes=sizes, **static)
    # 5,000 pieces of a million elements took 347 ms before, and take 34 (test_pieces_by_python.py,
    # test_more_than_a_program_takes).
    runs = [sizes[i : i + MANY] for i in range(0, len(sizes), MANY)]
    parts = _split_eagerly(operand, sizes=tuple(map(sum, runs)), **static)
    pairs = zip(parts, runs, strict=True)
    pieces = (_compiled_split(part, sizes=run, **static) for part, run in pairs)
    return [*itertools.chain.from_iterable(pieces)]


def _split_batch(bind, operands, dims, *, axis: int, **static):
    (operand,), (dim,) = operands, dims
    pieces = bind(jnp.moveaxis(operand, dim, 0), axis=axis + 1, **static)
    return pieces, [0] * len(pieces)


def _split_transpose(cotangents, operand, *, axis: int, **static):
    del operand, static
    return [concatenate([*map(ad.instantiate_zeros, cotangents)], axis)]


_split_p = register(
    split_by_xla,
    "split_in_many",
    form=_split_by_python,
    num_linear=1,
    is_for=_is_split_by_python,
    batch=_split_batch,
    transpose=_split_transpose,
    calls_python=True,
    returns_list=True,
)


_compiled_split = jax.jit(_split_p.bind, static_argnames=("sizes", "axis", "results"))
_split_p.def_impl(_split_eagerly)


# --- arrays into one; `arguments`: an eager call's program, whose arguments they are ---


def _is_joined_by_python(*arrays, axis: int, arguments: bool) -> bool:
    del axis, arguments
    return len(arrays) >= MANY and _is_copied_by_python(arrays)


def _join_by_python(*arrays, axis: int, arguments: bool) -> jax.Array:
    # XLA fuses the join with the computation of the parts, and fuses nothing with a call of Python
    # (test_pieces_by_python.py, test_joins_of_what_a_program_computes_are_fused).
    by_xla = functools.partial(join_by_xla, axis=axis, arguments=arguments)
    if not arguments:
        return by_xla(*arrays)
    joined = jax.eval_shape(by_xla, *arrays)
    return buffer_callback(functools.partial(_copy_joined, axis), joined)(*arrays)


def _copy_joined(axis: int, context, joined, *arrays) -> None:
    """Runs with the program."""
    del context
    np.concatenate([*map(np.asarray, arrays)], axis, out=np.asarray(joined))


def _join_eagerly(*arrays, axis: int, arguments: bool) -> jax.Array:
    del arguments
    static = {"axis": axis, "arguments": True}
    if not are_too_many(len(arrays)):
        return _compiled_join(*arrays, **static)
    runs = [arrays[i : i + MANY] for i in range(0, len(arrays), MANY)]
    return _join_eagerly(*(_compiled_join(*run, **static) for run in runs), **static)


def _join_batch(bind, operands, dims, *, axis: int, arguments: bool):
    return bind(*all_batched(operands, dims), axis=axis + 1, arguments=arguments), 0


def _join_transpose(cotangent, *operands, axis: int, arguments: bool):
    del arguments
    is_linear = [*map(ad.is_undefined_primal, operands)]
    types = [x.aval if linear else x for x, linear in zip(operands, is_linear, strict=True)]
    pieces = split_into(cotangent, [t.shape[axis] for t in types], axis)
    return [piece if linear else None for piece, linear in zip(pieces, is_linear, strict=True)]


_join_p = register(
    join_by_xla,
    "join_many",
    form=_join_by_python,
    num_linear=sys.maxsize,
    is_for=_is_joined_by_python,
    batch=_join_batch,
    transpose=_join_transpose,
)
_compiled_join = jax.jit(_join_p.bind, static_argnames=("axis", "arguments"))
_join_p.def_impl(_join_eagerly)
