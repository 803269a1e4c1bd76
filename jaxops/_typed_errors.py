"""`typed_errors`: a block, or a function, whose compiled programs raise `OutOfBoundsError`."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, TypeVar

import jax

from jaxops import _call_sites, _dispatched, _frames, _jax_internals
from jaxops._dispatched import Programs
from jaxops._errors import OutOfBoundsError, brief, check_runs_at_once, find_in

_P = ParamSpec("_P")
_R = TypeVar("_R")


class typed_errors:
    """Turns out-of-bounds errors of compiled programs into `jaxops.OutOfBoundsError`.

    JAX raises a failed computation as `jax.errors.JaxRuntimeError`, or often as `ValueError` if
    an earlier call of the program succeeded (https://github.com/jax-ml/jax/issues/34083). As a
    context manager, `with jaxops.typed_errors():` turns either into `OutOfBoundsError` where it
    leaves the block. As a decorator, `@jaxops.typed_errors()`, it does the same for the calls of a
    function. The function may not be a generator or a coroutine.

    Dispatch is asynchronous: on several devices a call returns before its program fails. So the
    block waits, before it ends, for every program that was dispatched in it, and a program that
    failed raises there, also if its result is never read. If an exception of another kind
    leaves the block, the block does not wait.

    Other exceptions pass as they are. Blocks may be nested, and used from several threads, and from
    tasks of `asyncio` that make an object each: a block waits for the programs that its own thread
    or task dispatched. `jax.debug_nans`, set inside the block, takes the place of the hook by which
    JAX tells of these programs.

    Args:
        debugger: bool; whether to open Python's debugger at the call that failed, before the error
            is raised. Its frame has the arguments of the call.

    Returns:
        An object for a `with` statement, or to decorate a function with.

    Raises:
        OutOfBoundsError: with the fields `operation`, `position`, `index`, `bound`, `where` and
            `name` of the index; JAX's exception is its `__context__`.
        TypeError: wrong type of an argument.

    Example:
        >>> import jax, jax.numpy as jnp, jaxops
        >>> @jaxops.typed_errors()
        ... @jax.jit
        ... def lookup(table, words):
        ...     return jaxops.gather(table, words, name="embedding")
        >>> try:
        ...     lookup(jnp.ones((4, 2)), jnp.array([1, 7]))
        ... except jaxops.OutOfBoundsError as error:
        ...     print(error.name, error.position, error.index, error.bound)
        embedding (1,) 7 4
    """

    __module__ = "jaxops"  # where users find it; tracebacks print it

    @_frames.without_frames
    def __init__(self, debugger: bool = False):
        if not isinstance(debugger, bool):
            raise TypeError(
                f"typed_errors: debugger must be a bool; received {brief(debugger)}. "
                "To decorate a function, write @jaxops.typed_errors()"
            )
        self._debugger = debugger

    def __enter__(self) -> None:
        # A program that could not get the memory of its largest result never finishes the others.
        programs = Programs(max, threading.get_ident())
        _of_thread.__dict__.setdefault("blocks", []).append((self, programs))
        _jax_internals.watch_programs(programs.note)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Not the last block, if tasks of `asyncio` take turns.
        last = max(n for n, (block, _) in enumerate(_of_thread.blocks) if block is self)
        _, programs = _of_thread.blocks.pop(last)
        _jax_internals.unwatch_programs(programs.note)
        try:
            if error is None:
                programs.wait()
                error = next(iter(programs.unread()), None)
                if error is not None:
                    _dispatched.count(error)
                    if find_in(error) is None:
                        raise error
        finally:
            programs.end()
        typed = find_in(error)
        if typed is not None and typed is not error:
            try:
                raise typed from None
            except OutOfBoundsError:
                typed.__context__ = error
                self._end(typed, traceback)
                raise  # by itself adds no frame

    def __call__(self, f: Callable[_P, _R]) -> Callable[_P, _R]:
        check_runs_at_once("typed_errors", "f", f, "Write the block inside it")

        @functools.wraps(f)
        def with_typed_errors(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            try:
                with self:
                    return jax.block_until_ready(f(*args, **kwargs))
            except OutOfBoundsError as error:
                error.__traceback__ = _frames.of_caller(error.__traceback__)
                raise  # by itself adds no frame

        return with_typed_errors

    def _end(self, typed: OutOfBoundsError, traceback: TracebackType | None) -> None:
        """Gives the error the frames of the exception that it replaces, and looks at them."""
        typed.__traceback__ = _frames.of_caller(traceback)
        if self._debugger:
            import pdb  # takes longer to import than this package

            frames = typed.__traceback__ or _frame_of_caller()
            print(f"jaxops.OutOfBoundsError: {typed}")
            pdb.post_mortem(frames)


def _frame_of_caller() -> TracebackType | None:
    """A traceback of the innermost frame of the caller's code."""
    frame = _call_sites.frame_of_caller()
    return frame and TracebackType(None, frame, frame.f_lasti, frame.f_lineno)


# `blocks`: of each block that the thread is in, its object and its programs.
_of_thread = threading.local()
