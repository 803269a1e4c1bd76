"""The exception for an index outside its bounds, and how it is found again in JAX's exceptions."""

from __future__ import annotations

import collections
import contextlib
import copy
import inspect
import re
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

_LONGEST = 200  # characters of a received value in a message


def brief(x: object) -> str:
    """A received value, shortened for a message."""
    if isinstance(x, Tracer):
        return f"a traced array of shape {x.shape}"
    if isinstance(x, jax.Array) and not isinstance(x.dtype, np.dtype):
        return f"an array of dtype {x.dtype}"
    if isinstance(x, (jax.Array, np.ndarray)) and x.ndim > 1:
        return f"an array of shape {x.shape} and dtype {x.dtype}"
    if isinstance(x, list) and x and isinstance(x[0], (jax.Array, np.ndarray)) and x[0].ndim > 1:
        return f"a list of {len(x)}, the first {brief(x[0])}"
    try:
        text = repr(x)
    except RecursionError:
        return f"a {type(x).__name__} nested too deeply to print"
    except Exception as error:  # the caller's own code
        return f"a {type(x).__name__} that cannot be printed ({type(error).__name__})"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


@contextlib.contextmanager
def naming_memory_errors(op: str) -> Iterator[None]:
    """A context that adds the name of an op to errors about memory."""
    try:
        yield
    except (MemoryError, jax.errors.JaxRuntimeError) as error:
        is_of_memory = isinstance(error, MemoryError) or str(error).startswith("RESOURCE_EXHAUSTED")
        if not is_of_memory or str(error).startswith(f"{op}:"):
            raise
        raise MemoryError(f"{op}: {error}") from error


def check_runs_at_once(op: str, name: str, f: object, cure: str) -> None:
    """A TypeError if `f` is no function, or one whose code runs after its call has returned."""
    if not callable(f):
        raise TypeError(f"{op}: {name} must be callable; received {brief(f)}")
    kinds = (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction)
    if any(is_of_kind(f) for is_of_kind in kinds):
        raise TypeError(
            f"{op}: {name} must compute its results before it returns; received {brief(f)}, a "
            f"generator or coroutine. {cure}"
        )


class OutOfBoundsError(IndexError):
    """An index lies outside the dimension that it indexes.

    Raised at the call when an operation runs eagerly. Under `jax.jit` the same text stands inside
    the exception that JAX raises for a failed computation; `jaxops.typed_errors` makes it this one.

    Attributes:
        operation: name of the jaxops function, for example `"gather"`.
        position: where the index stands in the argument, one coordinate per dimension. Under
            `jax.vmap` one leading coordinate per mapped axis, outermost first.
        index: the offending value: an int, or a tuple of ints where the operation takes index
            vectors.
        bound: the dimension that the index must stay below (an int), or for an index vector the
            dimensions that it indexes (a tuple).
        where: the call in the caller's code, for example `"model.py:31 (decoder)"`, with the path
            as Python imports it; `""` if it is not known. A function that is jitted as it is, as in
            `lookup = jax.jit(jaxops.gather)`, is traced once: then the line of its first call.
        name: the argument `name` of the call, or None.
    """

    __module__ = "jaxops"  # where users find it; tracebacks print it

    def __init__(
        self,
        message: str,
        operation: str,
        position: tuple[int, ...],
        index: int | tuple[int, ...],
        bound: int | tuple[int, ...],
        where: str = "",
        name: str | None = None,
    ):
        super().__init__(message)
        self.operation = operation
        self.position = position
        self.index = index
        self.bound = bound
        self.where = where
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        # BaseException would pickle only `args`, which `__init__` does not accept.
        fields = (self.operation, self.position, self.index, self.bound, self.where, self.name)
        return OutOfBoundsError, (self.args[0], *fields)


# Copies of the errors that programs and callbacks raised. JAX's exceptions have the words only. The
# errors themselves have tracebacks, whose frames hold arrays.
_raised: collections.deque[OutOfBoundsError] = collections.deque(maxlen=256)


def remember(error: OutOfBoundsError) -> None:
    """Notes an error for `find_in`."""
    _raised.append(copy.copy(error))


def find_in(error: BaseException | None) -> OutOfBoundsError | None:
    """The error of a program in the exception that JAX made of it; None if it is of another kind.

    JAX raises a `JaxRuntimeError`, or a `ValueError`: https://github.com/jax-ml/jax/issues/34083
    """
    if error is None or isinstance(error, OutOfBoundsError):
        return error
    if not isinstance(error, (jax.errors.JaxRuntimeError, ValueError)):
        return None
    # `checkify` tells in which call of a batch, or on which shard, an error was found.
    text = re.sub("^at mapped index [0-9,]+: ", "", str(error))
    # XLA's words begin with the code of a status; `checkify` throws ours as they are.
    is_of_xla = re.match("[A-Z_]+: ", text)
    found = [
        raised
        for raised in reversed([*_raised])
        if (str(raised) in text if is_of_xla else text.startswith(str(raised)))
    ]
    # The words of one error may be the beginning of another's.
    return copy.copy(max(found, key=lambda raised: len(str(raised)), default=None))


def is_out_of_bounds(error: Exception) -> bool:
    """Whether JAX made `error` of an `OutOfBoundsError`, by its words alone."""
    return f"{OutOfBoundsError.__name__}: " in str(error)
