"""The primitive by which a compiled program raises `OutOfBoundsError`: it calls Python.

`jax.debug.callback` would do too, but JAX logs the traceback of each error that it raises, and puts
the frames of JAX into the words of the error.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import numpy as np
from jax.core import ShapedArray
from jax.interpreters import mlir

from jaxops import _dispatched, _errors, _jax_internals
from jaxops._jax_internals import Primitive

raise_p = Primitive("raise_out_of_bounds")
raise_p.multiple_results = True


def raise_from_program(
    error: Callable[..., _errors.OutOfBoundsError | int | None],
    *operands: jax.Array,
    on_each_device: bool,
) -> list[jax.Array]:
    """Makes the program that is being lowered raise `error(*operands)`, where it comes here.

    The program goes on where there is no error: then the index is not the caller's
    (`_checked/whose.py`).

    The operands are NumPy arrays then. `on_each_device`: every device raises, not only one that has
    all of the operands. A device that went on alone would wait for the others in its next
    collective. If one device raises, the result is an int32 that the program has after it came
    here: the number that `error` returned in place of an error, or 0; else there is none.
    """
    return raise_p.bind(*operands, error=error, on_each_device=on_each_device)


@raise_p.def_abstract_eval
def _raise_abstract_eval(*operands, error, on_each_device):
    del operands, error
    return [] if on_each_device else [ShapedArray((), np.dtype(np.int32))]


def _raise_now(
    error: Callable[..., _errors.OutOfBoundsError | int | None], count: int, *operands
) -> tuple:
    raised = error(*operands)
    if not isinstance(raised, _errors.OutOfBoundsError):
        return (np.int32(raised or 0),) * count
    _errors.remember(raised)
    try:
        raise raised
    except _errors.OutOfBoundsError:
        # `raise` by itself adds no frame. XLA would put the frames before the message
        # (test_typed_errors.py, test_the_words_are_one_sentence).
        raised.__traceback__ = None
        raise


def lower(ctx, *operands, error, on_each_device):
    """Adds the call of Python to the program that is being lowered."""
    # JAX keeps a token of each failed program for each device, and raises the error of the program
    # again in `effects_barrier` and at the end of the process (test_raising.py,
    # test_a_token_forgets_our_errors_only).
    _jax_internals.let_tokens_fail(_errors.is_out_of_bounds)
    if on_each_device:
        # On several devices a call returns before its program fails, and an error that no code
        # reads was lost (test_scripts.py, test_an_error_that_nobody_reads).
        _dispatched.watch_process()
    raise_now = functools.partial(_raise_now, error, len(ctx.avals_out))
    results, _, emitted = mlir.emit_python_callback(
        ctx,
        raise_now,
        None,
        operands,
        ctx.avals_in,
        ctx.avals_out,
        has_side_effect=True,
        returns_token=False,
        partitioned=on_each_device,
    )
    # JAX wraps the function, and the frame of the wrapper would appear in the message of the error
    # (test_raising.py, test_a_context_that_has_other_callbacks).
    _jax_internals.call_without_frames(ctx, emitted, raise_now)
    return results


mlir.register_lowering(raise_p, lower)
