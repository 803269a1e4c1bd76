"""The spellings of a call in code for TensorFlow 0.x.

Its releases differ in the names, the order and the number of arguments. `spelled` and
`once_without` give a function several signatures. A call is read by the one that its arguments fit,
as the annotations of the signatures say: an axis is an int, a list of arrays is none. Where two of
them fit, and say different things, the call is refused with both readings.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from jaxops._run.arguments import brief, readable
from jaxops._run.static_values import is_static_int

_R = TypeVar("_R")

# For annotations that tell one release's argument from another's in the same place.
OneInt: TypeAlias = int | Sequence[int]  # of a list of one too
NoMode: TypeAlias = str  # no code calls an operation "REFLECT"


class _Spelling(NamedTuple):
    """One way to spell the calls of a function."""

    function: Callable[..., Any]
    signature: inspect.Signature
    releases: str

    def reading(self, args: tuple, kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The arguments by their names here; None where the call has others."""
        try:
            return dict(self.signature.bind(*args, **kwargs).arguments)
        except TypeError:
            return None

    def faults(self, reading: Mapping[str, Any]) -> int:
        """The number of arguments that do not fit their annotations."""
        parameters = self.signature.parameters
        return sum(
            x is not parameters[arg].default and not _fits(parameters[arg].annotation, x)
            for arg, x in reading.items()
        )


def spelled(
    releases: str, *others: tuple[Callable[..., Any], str]
) -> Callable[[Callable[..., _R]], Callable[..., _R]]:
    """Decorates the function of some releases; `others` are those of others, with the releases.

    Calls that are spelled like one of the others go to that one.
    """

    def decorate(first: Callable[..., _R]) -> Callable[..., _R]:
        functions = [(first, releases), *others]
        spellings = [_Spelling(f, inspect.signature(f), when) for f, when in functions]
        own = spellings[0].signature.parameters.keys()
        orders = [order for spelling in spellings if (order := _in_order(spelling.signature))]
        leading = [len({*names}) == 1 for names in zip(*orders, strict=False)]
        shared = [*leading, False].index(False)  # so many arguments mean the same in all of them

        @functools.wraps(first)
        def call(*args: Any, **kwargs: Any) -> Any:
            is_plain = len(args) <= shared and kwargs.keys() <= own
            f = first if is_plain else _meant(spellings, args, kwargs).function
            return f(*args, **kwargs)

        return call

    return decorate


def once_without(
    arg: str, releases: str, since: str
) -> Callable[[Callable[..., _R]], Callable[..., _R]]:
    """Decorates a function that lacked `arg` in some releases, so that `name` had its place."""

    def decorate(f: Callable[..., _R]) -> Callable[..., _R]:
        signature = inspect.signature(f)
        left = [p for p in signature.parameters.values() if p.name != arg]
        shorter = signature.replace(parameters=left)

        def without(*args: Any, **kwargs: Any) -> _R:
            return f(**shorter.bind(*args, **kwargs).arguments)

        without.__signature__ = shorter  # type: ignore[attr-defined]
        return spelled(since, (without, releases))(f)

    return decorate


def _in_order(signature: inspect.Signature) -> list[str]:
    keyword = inspect.Parameter.KEYWORD_ONLY
    return [p.name for p in signature.parameters.values() if p.kind is not keyword]


def _meant(spellings: list[_Spelling], args: tuple, kwargs: Mapping[str, Any]) -> _Spelling:
    """The spelling that the arguments fit best."""
    found = [(s, reading) for s in spellings if (reading := s.reading(args, kwargs)) is not None]
    if not found:
        return spellings[0]  # Python's own error
    faults = [spelling.faults(reading) for spelling, reading in found]
    best = [pair for pair, count in zip(found, faults, strict=True) if count == min(faults)]
    said = {frozenset((arg, id(x)) for arg, x in r.items() if x is not None) for _, r in best}
    if min(faults) == 0 and len(said) > 1:
        raise TypeError(_both_readings(spellings[0].function.__name__, best, args))
    return best[0][0]


def _both_readings(op: str, best: list[tuple[_Spelling, dict[str, Any]]], args: tuple) -> str:
    letters = string.ascii_lowercase[: len(args)]
    names = [[*reading][: len(args)] for _, reading in best]  # in the order of the signature
    readings = []
    for (spelling, _), named in zip(best, names, strict=True):
        pairs = [f"{arg}={letter}" for arg, letter in zip(named, letters, strict=True)]
        readings.append(f"{op}({', '.join(pairs)}) ({spelling.releases})")
    differing = [n for n, arg in enumerate(zip(*names, strict=True)) if len({*arg}) > 1]
    received = ", ".join(f"{letters[n]}={brief(args[n])}" for n in differing)
    return (
        f"{op}: arguments must be named, as {op}({', '.join(letters)}) reads as "
        f"{' or as '.join(readings)}; received {received}"
    )


def _fits(annotation: str, x: object) -> bool:
    kinds = annotation.split(" | ")
    if x is None:
        return "None" in kinds
    return any(_KINDS.get(kind, lambda _: True)(x) for kind in kinds if kind != "None")


def _is_int(x: object) -> bool:
    x = readable(x)
    if isinstance(x, jax.Array):  # one that is traced is told off under its name
        return x.ndim == 0 and jnp.issubdtype(x.dtype, jnp.integer)
    return not isinstance(x, (list, tuple)) and is_static_int(x)


def _are_ints(x: object) -> bool:
    if isinstance(x, (list, tuple)):
        return all(map(_is_int, x))
    return _holds(x, jnp.integer)


def _are_bools(x: object) -> bool:
    if isinstance(x, (list, tuple)):
        return len(x) > 0 and all(isinstance(i, (bool, np.bool_)) for i in x)
    return _holds(x, np.bool_)


def _holds(vector: object, kind: Any) -> bool:
    """Whether it is an array of one dimension and that kind, which may be traced."""
    x: Any = readable(vector)
    return hasattr(x, "dtype") and x.ndim == 1 and jnp.issubdtype(x.dtype, kind)


def _may_be_dtype(x: object) -> bool:
    if not isinstance(x, str):
        return True
    try:
        return x in ("half", "float", "double") or jnp.dtype(x).name == x  # no letter, as "f"
    except TypeError:
        return False


# For words of annotations, tests of the values that fit them. Every value fits any other word.
_KINDS: dict[str, Callable[[Any], bool]] = {
    "int": _is_int,
    "Int": _is_int,
    "bool": lambda x: isinstance(x, (bool, np.bool_)),
    "str": lambda x: isinstance(x, str),
    "NoMode": lambda x: (
        isinstance(x, str) and x.upper() not in ("CONSTANT", "REFLECT", "SYMMETRIC")
    ),
    "Ints": _are_ints,
    "Sequence[int]": _are_ints,
    "Sequence[bool]": _are_bools,
    "DTypeLike": _may_be_dtype,
    "OneInt": lambda x: _is_int(x) or (_are_ints(x) and np.size(readable(x)) == 1),
}


def one_of(op: str, **given: Any) -> tuple[str, Any]:
    """The name that is given, of two names of an argument, the first if none is; and the value."""
    (name, value), (other, x) = given.items()
    if value is None and x is not None:
        return other, x
    if x is not None:
        raise ValueError(
            f"{op}: {name} must be None where {other} is given (Cannot specify both '{other}' and "
            f"'{name}'); received {name}={brief(value)} and {other}={brief(x)}"
        )
    return name, value


@contextlib.contextmanager
def under_names(**names: str) -> Iterator[None]:
    """A context in which errors of a function of `jaxops` have the names that the caller used.

    `names` maps names of the function and its arguments. The received value is the caller's, and
    stays.
    """
    try:
        yield
    except (TypeError, ValueError, MemoryError) as error:
        reason, *received = str(error).partition("; received")
        pattern = "|".join(rf"\b{name}\b" for name in names)
        text = "".join([re.sub(pattern, lambda match: names[match[0]], reason), *received])
        kind = next(k for k in (TypeError, MemoryError, ValueError) if isinstance(error, k))
        raise kind(text) from None


def beyond(function: str, arg: str):
    """`under_names` for an argument of `jaxops` that the function of 0.x does not have."""
    return under_names(**{arg: f"`{arg}` of `jaxops.{function}`"})
