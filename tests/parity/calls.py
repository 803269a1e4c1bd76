"""What is drawn, a `Call`, and an outcome of it."""

import dataclasses
from typing import Any

import numpy as np


@dataclasses.dataclass
class Call:
    """One call, by the names of jaxops' arguments.

    Arrays of data are NumPy arrays, or lists of them; all else is static.

    Attributes:
        args: arguments that are passed, in the order of the signature.
        positional: how many of them go without their names.
        on_device: whether jaxops gets JAX arrays instead of NumPy arrays.
        jit: whether jaxops is called compiled too. Of what an entry draws: whether it may be.
        gradient: whether gradients are compared, or may be.
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
    jit: bool = True
    gradient: bool = True
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


class Refused:
    """An outcome: the error of a call that was refused."""

    def __init__(self, error: Exception):
        self.error = error

    def __repr__(self) -> str:
        return f"{type(self.error).__name__}: {str(self.error)[:400]}"
