"""The libraries that jaxops is compared with, each imported when a row first uses it.

Types are `Any`, so that the type checker passes where they are not installed.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["KERAS_BACKEND"] = "jax"


class Peer:
    """A module that is imported with its first attribute: TensorFlow takes seconds."""

    def __init__(self, name: str):
        self.name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(importlib.import_module(self.name), attribute)
        # Kept, as a call must not pay for the search again.
        setattr(self, attribute, value)
        return value


tf: Any = Peer("tensorflow")
keras: Any = Peer("keras")
torch: Any = Peer("torch")


def compiled_by_numba(function: Any) -> Any:
    """The function, compiled when it is first called; None where numba is not installed."""
    if not is_installed("numba"):
        return None
    return importlib.import_module("numba").njit(function)


def is_installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def version(name: str) -> str | None:
    """Of a library that a row has used: asking the others would import them."""
    return getattr(sys.modules.get(name), "__version__", None)
