"""The frames of an error that users see: those of their code."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType, TracebackType
from typing import Any, TypeVar

import jax

from jaxops import _call_sites

_F = TypeVar("_F", bound=Callable[..., Any])


def of_caller(traceback: TracebackType | None) -> TracebackType | None:
    """`traceback` without frames of JAX and of this package.

    Frames of Python's library, such as those of `contextlib`, stay if the caller's code called the
    library, and are left out if JAX or this package called it.
    """
    filtering = jax.config.jax_traceback_filtering  # type: ignore[attr-defined]
    if traceback is None or filtering == "off":
        return traceback
    kept: list[TracebackType] = []
    is_hidden = False  # the frame above
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        is_hidden = not _call_sites.is_of_caller(file) and (
            is_hidden or not _call_sites.is_of_python(file)
        )
        if not is_hidden:
            kept.append(traceback)
        traceback = traceback.tb_next
    for entry in reversed(kept):
        traceback = TracebackType(traceback, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return traceback


def hide_from_ipython() -> None:
    """Hides the frames below the caller's from IPython and pytest, as JAX hides those of `jit`.

    Under `check_everything` nothing that jaxops wraps stands between the caller and JAX.
    """
    if jax.config.jax_traceback_filtering == "off":  # type: ignore[attr-defined]
        return
    # `f_locals` of this frame would hold `frame`: a cycle that keeps all frames, and their arrays,
    # until Python collects its garbage (test_frames.py, test_an_error_keeps_no_frames).
    frame = inspect.currentframe().f_back  # type: ignore[union-attr]
    while frame is not None and not _call_sites.is_of_caller(frame.f_code.co_filename):
        frame.f_locals["__tracebackhide__"] = True
        frame = frame.f_back


def _hide_frames(error: BaseException | None) -> None:
    """Drops frames of JAX and of this package from an error, and from the errors that led to it.

    JAX's setting that shows the frames of JAX keeps these too. An error that the caller is handling
    stays as it is: its first frame is the caller's.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        first = error.__traceback__
        if first is not None and not _call_sites.is_of_caller(first.tb_frame.f_code.co_filename):
            error.__traceback__ = of_caller(first)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def without_frames(f: _F, module: str | None = None) -> _F:
    """A function or a class, of whose errors no frames of this package show.

    A class stays the same, with other methods. Frames of the caller's functions that `f` calls
    show. `module`: where users find `f`; pickles and `help` name it.
    """
    if isinstance(f, type):
        for name, member in [*vars(f).items()]:
            if isinstance(member, (FunctionType, classmethod, property)):
                setattr(f, name, _member_without_frames(member))
        return f  # type: ignore[return-value]

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return f(*args, **kwargs)
        except Exception as error:
            _hide_frames(error)
            raise  # by itself adds no frame

    call.__module__ = module or f.__module__
    return call  # type: ignore[return-value]


def _member_without_frames(member: Any) -> Any:
    if isinstance(member, classmethod):
        return classmethod(without_frames(member.__func__))
    if isinstance(member, property):
        return member.getter(without_frames(member.fget))  # type: ignore[type-var]
    return without_frames(member)
