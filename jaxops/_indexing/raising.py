"""How a compiled program raises `OutOfBoundsError`: a primitive that calls Python.

`jax.debug.callback` would do too, but JAX logs the traceback of each error that it raises, and puts
the frames of JAX into the words of the error.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NoReturn

import jax
from jax.interpreters import mlir

from jaxops import _dispatched, _errors, _jax_internals
from jaxops._jax_internals import Primitive

raise_p = Primitive("raise_out_of_bounds")
raise_p.multiple_results = True


def raise_from_program(
    error: Callable[..., _errors.OutOfBoundsError], *operands: jax.Array, on_each_device: bool
) -> None:
    """Makes the program that is being lowered raise `error(*operands)`, where it comes here.

    The operands are NumPy arrays then. `on_each_device`: every device raises, not only one that has
    all of the operands. A device that went on alone would wait for the others in its next
    collective.
    """
    raise_p.bind(*operands, error=error, on_each_device=on_each_device)


@raise_p.def_abstract_eval
def _raise_abstract_eval(*operands, error, on_each_device):
    del operands, error, on_each_device
    return []


def _raise_now(error: Callable[..., _errors.OutOfBoundsError], *operands) -> NoReturn:
    raised = error(*operands)
    _errors.remember(raised)
    try:
        raise raised
    except _errors.OutOfBoundsError:
        # `raise` by itself adds no frame. XLA would put the frames before the message.
        raised.__traceback__ = None
        raise


def _lower(ctx, *operands, error, on_each_device):
    _jax_internals.let_tokens_fail(_errors.is_out_of_bounds)
    if on_each_device:
        _dispatched.watch_process()
    raise_now = functools.partial(_raise_now, error)
    _, _, emitted = mlir.emit_python_callback(
        ctx,
        raise_now,
        None,
        operands,
        ctx.avals_in,
        [],
        has_side_effect=True,
        returns_token=False,
        partitioned=on_each_device,
    )
    _jax_internals.call_without_frames(ctx, emitted, raise_now)
    return []


mlir.register_lowering(raise_p, _lower)
