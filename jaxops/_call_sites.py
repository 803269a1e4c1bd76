"""The place in the caller's code that calls an op, for the error of a program that runs later."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
import os
import sys
import sysconfig
from collections.abc import Iterator
from types import FrameType
from typing import NamedTuple

import jax
import jaxlib


class CallSite(NamedTuple):
    """A call of an op."""

    where: str  # "model.py:31 (decoder)"; "" if no frame of the stack is the caller's
    name: str | None  # what the caller passed as `name`

    def __str__(self) -> str:
        """The end of an error's message."""
        place = f" at {self.where}" if self.where else ""
        return place if self.name is None else f'{place}, name="{self.name}"'


NO_SITE = CallSite("", None)

_name: contextvars.ContextVar[str | None] = contextvars.ContextVar("jaxops_name", default=None)


@contextlib.contextmanager
def named(name: str | None) -> Iterator[None]:
    """A context in which call sites have this `name`."""
    token = _name.set(name)
    try:
        yield
    finally:
        _name.reset(token)


def current() -> CallSite:
    """The site of the call that is being made: the innermost frame of the caller's code.

    A program keeps it as a parameter of its checks. So whatever JAX makes of the program has it
    too: batched, differentiated, computed again in a backward pass.
    """
    frame = frame_of_caller()
    return CallSite("" if frame is None else place_of(frame), _name.get())


def frame_of_caller() -> FrameType | None:
    """The innermost frame of the caller's code; None if the stack has none."""
    frame = inspect.currentframe()
    while frame is not None and not is_of_caller(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def place(file: str, line: int, function: str) -> str:
    """`"model.py:31 (Decoder.embed)"`; a function within another stands without that one."""
    return f"{_short(file)}:{line} ({without_outer(function)})"


def place_of(frame: FrameType) -> str:
    """`place` of the line that a frame is at."""
    return place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_qualname)


def without_outer(function: str) -> str:
    """The qualified name of a function, without the function that it is defined in."""
    return function.rpartition("<locals>.")[2]


def _folder(*path: str) -> str:
    return os.path.join(*path, "")  # with a separator at its end


_JAXS_AND_OURS = tuple(
    _folder(os.path.dirname(file)) for file in (jax.__file__, jaxlib.__file__, __file__)
)
# JAX's functions come by `contextlib` and others of Python's library.
_PYTHONS = _folder(sysconfig.get_path("stdlib"))
_INSTALLED = ("site-packages", "dist-packages")  # folders that may lie within Python's


def is_of_python(file: str) -> bool:
    """Whether the code of a file is of Python's library."""
    is_within = file.startswith(_PYTHONS)
    return is_within and not file.removeprefix(_PYTHONS).startswith(_INSTALLED)


@functools.lru_cache(maxsize=4096)
def is_of_caller(file: str) -> bool:
    """Whether the code of a file is neither JAX's, nor of this package, nor of Python's library."""
    return not is_of_python(file) and not file.startswith((*_JAXS_AND_OURS, "<frozen "))


@functools.lru_cache(maxsize=4096)
def _short(file: str) -> str:
    """`file` without the folder that Python imports it from: `"model.py"`, `"layers/embed.py"`."""
    try:
        # Python ignores other entries. "" is the working directory, which may be gone.
        folders = [_folder(os.path.abspath(path)) for path in sys.path if isinstance(path, str)]
    except OSError:
        return file
    inside = [folder for folder in folders if file.startswith(folder)]
    return _cell(file) or file.removeprefix(max(inside, key=len, default=""))


def _cell(file: str) -> str | None:
    """The name of a notebook's cell in IPython, `"Cell In[3]"`; None for any other file."""
    try:
        shell = sys.modules["IPython"].get_ipython()
        kind, number = shell.compile.format_code_name(file)
    except (KeyError, AttributeError, TypeError):  # no notebook; no cell; another IPython
        return None
    return f"{kind} {number}"
