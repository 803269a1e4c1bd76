"""A sparse gradient where an array is wanted: what Python, NumPy and JAX then say.

Their own errors name a class, as in "unsupported operand type(s) for @", or a dtype, and not what
to write. A user of the gradient of a table wants one of two things: an optimizer that takes it,
`jaxops.lazy`, or the array as large as the table, `to_dense()`. So each error here says both:

    slices @ w                   the operators of arrays that slices do not have raise the error
    float(slices), np.sum(...)   the conversions to numbers and to NumPy's arrays raise it
    slices.T                     attributes that are not there raise it
    jnp.sum(slices)              JAX's error shows the class of an argument that is no array: the
                                 class's `repr` has the words
    optax.adam(0.1).update(...)  JAX's error shows the classes where two trees differ: the same
    optax.sgd(0.1).update(...)   computes with the leaf of the row numbers: see `row_numbers.py`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Self

import numpy as np

from jaxops._frames import without_frames

INSTEAD = "jaxops.lazy(optimizer) takes a sparse gradient, and to_dense() makes an array of it"


class _Named(type):
    def __repr__(cls) -> str:
        return f"<class 'jaxops.{cls.__name__}'; {INSTEAD}>"


class NotAnArray(metaclass=_Named):
    """The base class of sparse gradients, which define the operations that they have."""

    __slots__ = ()

    # The operators that follow from those of the class.
    def __radd__(self, other: object) -> Self:
        # For the 0 at which Python's `sum` starts; two gradients are added by `__add__`.
        return self if isinstance(other, int) and other == 0 else self + other  # type: ignore[operator]

    def __sub__(self, other: Any) -> Self:
        return self + -other if isinstance(other, type(self)) else self + other  # type: ignore[operator]

    def __rmul__(self, scalar: Any) -> Self:
        return self * scalar  # type: ignore[operator]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Computes `scalar * gradient`, which NumPy calls here where the scalar is its own."""
        others = [x for x in inputs if x is not self]
        if ufunc is np.multiply and method == "__call__" and len(others) == 1 and not options:
            return self * others[0]  # type: ignore[operator]
        _refuse(self, f"np.{ufunc.__name__}")


def _refuse(gradient: NotAnArray, what: str) -> NoReturn:
    raise TypeError(f"{type(gradient).__name__}: a sparse gradient has no {what}; {INSTEAD}")


def _no_attribute(gradient: NotAnArray, name: str) -> NoReturn:
    cure = "" if name.startswith("_") else f"; {INSTEAD}"  # Python and JAX ask for the former
    message = f"{type(gradient).__name__}: a sparse gradient has no {name}{cure}"
    raise AttributeError(message, name=name, obj=gradient)


# Not as statements of the class, where type checkers would take them for operators that work.
# Without `__len__`, which `if gradient:` would call; iteration comes to `__getitem__`.
_BINARY = {"matmul": "@", "pow": "**", "truediv": "/", "floordiv": "//", "mod": "%"}
_BINARY |= {"and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "divmod": "divmod"}
_OTHERS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "pos": "+", "invert": "~", "abs": "abs"}
_OTHERS |= {"rsub": "place in `array - gradient`"}
_OTHERS |= {"getitem": "element", "array": "NumPy array"}
_OTHERS |= {name: name for name in ("float", "int", "complex", "round")}


def _refusing(what: str) -> Callable:
    return lambda self, *_, **__: _refuse(self, what)


setattr(NotAnArray, "__getattr__", _no_attribute)  # noqa: B010
for _name, _what in _BINARY.items():
    setattr(NotAnArray, f"__{_name}__", _refusing(_what))
    setattr(NotAnArray, f"__r{_name}__", _refusing(_what))
for _name, _what in _OTHERS.items():
    setattr(NotAnArray, f"__{_name}__", _refusing(_what))
without_frames(NotAnArray)
