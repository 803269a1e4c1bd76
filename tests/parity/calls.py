"""What is drawn, a `Call`, and for which functions, an `Entry`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st


@dataclasses.dataclass
class Call:
    """One call, by the names of jaxops' arguments.

    Arrays of data are NumPy arrays, or lists of them; all else is static.

    Attributes:
        args: arguments that are passed, in the order of the signature.
        positional: how many of them go without their names.
        on_device: whether jaxops gets JAX arrays instead of NumPy arrays.
        jit: whether jaxops is called compiled too.
        gradient: whether gradients are compared.
        traced: the arguments that `jit` traces, where it is not the entry's choice.
        overwritten: the arguments whose gradient shows the difference "overwritten": of several
            values for one place one stayed.
        float_for_int: whether a float or a text stands for an int: the difference of that name.
        nan_gradient: whether TensorFlow's may be NaN: the difference "gradient of NaN".
        their_gradient_fails: whether TensorFlow's may: the differences "gradient of ...".
        known: name of the difference of `differences.py` that this call shows, if any.
    """

    args: dict[str, Any]
    positional: int = 0
    on_device: bool = False
    jit: bool = False
    gradient: bool = False
    known: str | None = None
    traced: tuple[str, ...] | None = None
    overwritten: tuple[str, ...] = ()
    float_for_int: bool = False
    nan_gradient: bool = False
    their_gradient_fails: bool = False

    def __repr__(self) -> str:
        shown = [
            ("" if n < self.positional else f"{name}=") + show(x)
            for n, (name, x) in enumerate(self.args.items())
        ]
        ways = [w for w in ("on_device", "jit", "gradient") if getattr(self, w)]
        known = [] if self.known is None else [f"known={self.known}"]
        return f"Call({', '.join(shown)}; {' '.join([*ways, *known]) or 'eager'})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What Hypothesis prints."""
        printer.text(repr(self))


def show(x: Any) -> str:
    if isinstance(x, np.ndarray):
        array = f"np.array({x.tolist()!r}, {x.dtype.name!r})"
        return array if x.size else f"{array[:-1]}).reshape{x.shape}"
    if isinstance(x, (list, tuple)):
        left, right = "[]" if isinstance(x, list) else "()"
        return f"{left}{', '.join(show(i) for i in x)}{right}"
    if isinstance(x, np.dtype):
        return repr(x.name)
    return repr(x)


@dataclasses.dataclass(frozen=True)
class Entry:
    """A public function of jaxops, TensorFlow's, and the calls to compare them by.

    Attributes:
        ours: the function of jaxops.
        theirs: TensorFlow's, with the argument names of `ours`; gets tensors and static values.
        calls: strategy of `Call`s.
        data: the arguments that are arrays of data or lists of them; `jit` traces them.
        indices: those of `data` that are indices: the difference "index dtype".
        widest: the dtype that TensorFlow gets for indices of another one than int32.
        traced: those of `data` that `jit` can trace; by default all.
        differentiable: those of `data` that have a gradient.
        moves: whether each element of the result is one of the data, bit for bit. Where
            TensorFlow has no kernel for a dtype, it moves another of that size.
        widens: whether TensorFlow computes in a larger dtype where it has no kernel for one of
            4 bits or a float8, and the result is converted back.
        bounded: whether there are indices that may be out of bounds.
        no_kernel: names of the dtypes for which TensorFlow's CPU has no kernel.
        group: what shares compiled programs with it.
        x64: whether it needs 64-bit types, whatever it is called with.
        never_refused: whether it takes all that is drawn.
    """

    ours: Callable
    theirs: Callable
    calls: st.SearchStrategy[Call]
    data: tuple[str, ...]
    indices: tuple[str, ...] = ()
    widest: str = "int64"
    traced: tuple[str, ...] | None = None
    differentiable: tuple[str, ...] = ()
    moves: bool = False
    widens: bool = False
    bounded: bool = False
    no_kernel: frozenset[str] = frozenset()
    group: str = ""
    never_refused: bool = False
    x64: bool = False


class Refused:
    """An outcome: the error of a call that was refused."""

    def __init__(self, error: Exception):
        self.error = error

    def __repr__(self) -> str:
        return f"{type(self.error).__name__}: {str(self.error)[:400]}"
