"""TensorFlow's array operations for JAX, with bounds and gradients you can trust."""

import importlib
import os
from types import FunctionType
from typing import Any, NoReturn

from jaxops import _names

__version__ = "0.2.0"
globals()["__all__"] = _names.STAR  # type checkers read it in __init__.pyi


def __getattr__(name: str) -> Any:
    """A public name, whose module is imported at the first use of one of its names.

    All modules take 70 ms to import, those of `gather` 12.
    """
    if name in _names.TABLE:
        value = getattr(importlib.import_module(f"jaxops.{_names.TABLE[name].home}"), name)
        if isinstance(value, FunctionType):
            from jaxops import _docstrings, _frames

            value.__doc__ = _docstrings.completed(name, value)
            value = _frames.without_frames(value, __name__)
    elif name in _names.MODULES:
        value = importlib.import_module(f"jaxops.{name}")
    else:
        raise AttributeError(_missing(__name__, name))
    # From now on it is found at once; of two threads both have that of the first.
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return [*_names.TABLE, *_names.MODULES, "__version__"]


def _missing(module: str, name: str) -> str:
    """The words for a name that a module does not have, which TensorFlow may have there."""
    text = f"module {module!r} has no attribute {name!r}"
    if name.startswith("_"):  # that of a room, when it is imported
        return text
    from jaxops._tensorflow_names import CHANGED, OLD, OTHERS, answer

    path = f"{module}.{name}".removeprefix("jaxops.").removeprefix("compat.v0.")
    is_here = name in (*_names.TABLE, *_names.MODULES) and path.rpartition(".")[0] not in OTHERS
    found = f"jaxops.{name}" if is_here else answer(path)
    if module == "jaxops.compat.v0":  # where `inv` is no inverse of a matrix
        found = CHANGED.get(name) or OLD.get(name, found)
    if found is None:
        return text
    reason = found.replace("`", "").removeprefix("no: ")
    return f"{text}; {'JAX has none: ' if found.startswith('no: ') else 'use '}{reason}"


def _namespace(module: str) -> dict[str, Any]:
    """All that a module with names of one of TensorFlow's has, such as `jaxops.math`."""
    names = _names.NAMESPACES[module.removeprefix("jaxops.")]

    def get(name: str) -> NoReturn:
        raise AttributeError(_missing(module, name))

    found = {theirs: __getattr__(ours) for theirs, ours in names.items()}
    return {**found, "__all__": [*names], "__dir__": lambda: [*names], "__getattr__": get}


_everything = os.environ.get("JAXOPS_CHECK_EVERYTHING", "")
if _everything == "1":
    from jaxops._checked import command

    # A script, or pytest's conftest.py, may set JAX's variables after this import.
    command.when_jax_is_imported(lambda: __getattr__("check_everything")())
elif _everything not in ("", "0"):
    raise ValueError(f"JAXOPS_CHECK_EVERYTHING must be 0 or 1; received {_everything!r}")
