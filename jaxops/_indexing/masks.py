"""Masks for values that are read out of bounds; a scatter itself skips such updates.

A gather reads something for an index out of bounds, which is masked. The scatter that is its
transpose skips such an index, as HLO defines, so a mask of its updates would be a pass over them
for nothing: on a TPU as long as the scatter. The transpose that JAX has for a `select` is a mask.

So these are two linear primitives, each the transpose of the other. `read` stands after a gather,
`write` before a scatter.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax
from jax.interpreters import ad

from jaxops._jax_internals import Primitive
from jaxops._primitives import linear_primitive, varying_alike


def where(condition: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
    """`jnp.where`, computed from the condition also where the result has no elements.

    There `jnp.where` returns `x`, so that no program makes a check that the condition depends on.
    """
    # `matrix_band_part` of a matrix without elements lost the check of its numbers with `jnp.where`
    # (test_empty.py, test_a_program_raises_where_an_eager_call_does).
    return lax.select(*jnp.broadcast_arrays(condition, x, y))


def read(x: jax.Array, fill: jax.Array, valid: jax.Array) -> jax.Array:
    """The result of a gather: `x` where its indices are `valid`, a scalar `fill` elsewhere.

    `valid` has the rank of `x`, and the size 1 along the dimensions of windows.
    """
    return read_p.bind(*varying_alike(x, fill, valid))


def write(updates: jax.Array, valid: jax.Array) -> jax.Array:
    """The updates of a scatter that skips those that are not `valid`: all of `updates`.

    `valid` as `read` has it.
    """
    return write_p.bind(*varying_alike(updates, valid))


def _read(x, fill, valid):
    return jnp.where(valid, x, fill)


def _write(updates, valid):
    del valid
    return updates


def _batch(bind, operands, dims):
    """Every operand gets the rank of the batched `x`: the new dimension stands first."""
    (size,) = {x.shape[d] for x, d in zip(operands, dims, strict=True) if d is not None}
    ndim = operands[0].ndim + (dims[0] is None)
    batched = []
    for number, (x, dim) in enumerate(zip(operands, dims, strict=True)):
        if dim is not None:
            x = jnp.moveaxis(x, dim, 0)
            x = x.reshape(x.shape + (1,) * (ndim - x.ndim))
        elif number == 0:
            x = jnp.broadcast_to(x, (size, *x.shape))
        elif x.ndim:
            x = x[None]
        batched.append(x)
    return bind(*batched), 0


def _read_transpose(cotangent, x, fill, valid):
    x_bar = write(cotangent, valid) if ad.is_undefined_primal(x) else None
    fill_bar = None
    if ad.is_undefined_primal(fill):
        zeros = jnp.zeros_like(cotangent)
        (fill_bar,) = jax.linear_transpose(lambda f: _read(zeros, f, valid), fill.aval)(cotangent)
    return x_bar, fill_bar, None


def _write_transpose(cotangent, updates, valid):
    del updates
    return read(cotangent, jnp.zeros((), cotangent.dtype), valid), None


read_p = linear_primitive(
    "masked_read",
    _read,
    num_linear=2,
    batch=_batch,
    transpose=_read_transpose,
    is_typed_as_first=True,
)
write_p = linear_primitive(
    "unmasked_write",
    _write,
    num_linear=1,
    batch=_batch,
    transpose=_write_transpose,
    is_typed_as_first=True,
)


def reference_of(primitive: Primitive) -> Callable | None:
    """The function that a primitive of this module computes; None for others."""
    return {read_p: _read, write_p: _write}.get(primitive)
