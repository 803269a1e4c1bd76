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
raise_p.def_abstract_eval(lambda *_, **__: [ShapedArray((), np.dtype(np.int32))])


def raise_from_program(
    error: Callable[..., _errors.OutOfBoundsError | int], *operands: jax.Array
) -> list[jax.Array]:
    """Makes the program that is being lowered raise `error(*operands)`, where it comes here.

    The operands are NumPy arrays then. If `error` returns a number, the program goes on: then the
    index is not the caller's (`_checked/whose.py`). The result is that number, an int32.
    """
    return raise_p.bind(*operands, error=error)


def _raise_now(error: Callable[..., _errors.OutOfBoundsError | int], *operands) -> tuple:
    raised = error(*operands)
    if not isinstance(raised, _errors.OutOfBoundsError):
        return (np.int32(raised),)
    _errors.remember(raised)
    try:
        raise raised
    except _errors.OutOfBoundsError:
        # `raise` by itself adds no frame. XLA would put the frames before the message
        # (test_typed_errors.py, test_the_words_are_one_sentence).
        raised.__traceback__ = None
        raise


def lower(ctx, *operands, error):
    """Adds the call of Python to the program that is being lowered.

    In a program for several devices every device calls, with the whole operands: a device that
    went on alone would wait for the others in its next collective.
    """
    # JAX keeps a token of each failed program for each device, and raises the error of the program
    # again in `effects_barrier` and at the end of the process (test_raising.py,
    # test_a_token_forgets_our_errors_only).
    _jax_internals.let_tokens_fail(_errors.is_out_of_bounds)
    is_for_one = _jax_internals.is_for_one_device(ctx)
    if not is_for_one:
        # On several devices a call returns before its program fails, and an error that no code
        # reads was lost (test_scripts.py, test_an_error_that_nobody_reads).
        _dispatched.watch_process()
    # Of several devices XLA lets one make a call with side effects. A call without them is made by
    # each, with the whole operands, if another call needs its result.
    results = _call(ctx, functools.partial(_raise_now, error), operands, has_side_effect=is_for_one)
    if not is_for_one:
        ctx = ctx.replace(avals_in=ctx.avals_out, avals_out=())
        _call(ctx, lambda _: (), results, has_side_effect=True, partitioned=True)
    return results


def _call(ctx, function, operands, **options):
    results, _, emitted = mlir.emit_python_callback(
        ctx, function, None, operands, ctx.avals_in, ctx.avals_out, returns_token=False, **options
    )
    # JAX wraps the function, and the frame of the wrapper would appear in the message of the error
    # (test_raising.py, test_a_context_that_has_other_callbacks).
    _jax_internals.call_without_frames(ctx, emitted, function)
    return results


mlir.register_lowering(raise_p, lower)
