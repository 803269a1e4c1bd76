"""Programs that were dispatched, and their errors that did not reach the caller.

On several devices a call returns before its program fails, and JAX raises the error where a result
is read. If no result is read, the error is lost. So the programs of a block of `typed_errors`, and
those of the whole process, are kept until they have ended, and the errors that JAX raises in the
caller's code are noted.
"""

from __future__ import annotations

import atexit
import collections
import functools
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from jaxops import _errors, _jax_internals

_MOST_WORDS = 256
_LONGEST_WAIT = 10.0  # seconds, at the end of the process

_here = threading.local()  # `looks`: whether this thread looks at a result for `Programs`


def _words_of(error: BaseException) -> str:
    """The words of an error; JAX's own words around an index out of bounds are left out."""
    return str(_errors.find_in(error) or error)


def count(error: BaseException) -> None:
    """Notes that the caller gets `error`."""
    if getattr(_here, "looks", False):
        return
    words = _words_of(error)
    for programs in [*_watched]:
        if programs.thread in (None, threading.get_ident()):
            programs.forget(words)


class Programs:
    """Programs of which some may still run, and the errors of those that failed.

    Args:
        choose: `max` or `min`: by its size, the result that stands for a program.
        thread: the thread in which the caller gets errors; None for any.
    """

    def __init__(self, choose: Callable, thread: int | None = None) -> None:
        _jax_internals.watch_runtime_errors(count)
        self._choose = choose
        self.thread = thread
        self._running: collections.deque[Any] = collections.deque()  # a result of each
        self._failed: dict[str, Exception] = {}  # by words, those that the caller has not got
        self._read: dict[str, None] = {}  # the words that the caller has got, the latest last
        # Not held while it waits: a program that calls Python may dispatch another one.
        self._lock = threading.RLock()
        _watched.append(self)

    def note(self, results: Sequence[Any]) -> None:
        """Adds a program by its results, and lets go of programs that have ended."""
        results = [x for x in results if hasattr(x, "is_ready")]
        if not results:
            return
        with self._lock:
            self._running.append(self._choose(results, key=lambda x: x.nbytes))
            while self._running and _is_ready(self._running[0]):
                self._look_at(self._running.popleft())

    def wait(self, longest: float | None = None) -> None:
        """Waits until each program has ended, or one has failed; `longest` seconds if given."""
        deadline = None if longest is None else time.monotonic() + longest
        while not self._failed:
            with self._lock:
                if not self._running:
                    return
                result = self._running.popleft()
            while deadline is not None and not _is_ready(result):
                if time.monotonic() > deadline:
                    return
                time.sleep(0.001)
            self._look_at(result)

    def unread(self) -> list[Exception]:
        """The errors that the caller has not got."""
        return [*self._failed.values()]

    def forget(self, words: str) -> None:
        """Notes that the caller has got the error with these words."""
        with self._lock:
            self._read.pop(words, None)
            self._read[words] = None
            self._failed.pop(words, None)
            if len(self._read) > _MOST_WORDS:
                del self._read[next(iter(self._read))]

    def end(self) -> None:
        """Notes no more errors."""
        _watched.remove(self)

    def _look_at(self, result: Any) -> None:
        _here.looks = True
        try:
            result.block_until_ready()
        except Exception as error:
            words = _words_of(error)
            # An array that was donated is deleted. The program that got it fails with the one that
            # computed it.
            with self._lock:
                is_new = words not in self._read and len(self._failed) < _MOST_WORDS
                if is_new and not result.is_deleted():
                    self._failed.setdefault(words, error.with_traceback(None))
        finally:
            _here.looks = False


_watched: list[Programs] = []  # those that are told which errors the caller gets


def _is_ready(result: Any) -> bool:
    return result.is_deleted() or result.is_ready()


@functools.cache
def watch_process() -> None:
    """From now on the process ends after its programs, and prints the errors that no caller got.

    A program that calls Python while Python ends takes the process with it: "terminate called
    without an active exception" (`XlaFfiPythonCpuCallback` of jaxlib asks for the interpreter,
    which ends the thread inside of C++ code that allows no exception).
    """
    programs = Programs(min)  # the process keeps no large array alive
    _jax_internals.watch_programs_of_process(programs.note)
    atexit.register(_name_unread, programs)


def _name_unread(programs: Programs) -> None:
    programs.wait(_LONGEST_WAIT)
    for error in programs.unread():
        print(f"jaxops: no result was read of a program that failed: {error}", file=sys.stderr)
