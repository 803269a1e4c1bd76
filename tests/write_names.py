"""Writes what is made from `jaxops/_names.py`, and the stub of `compat/v0.py`: `make names`."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

import signatures

from jaxops import _names
from jaxops.compat import v0

PACKAGE = Path(_names.__file__).parent
HEAD = "# Written by `make names` from _names.py, for type checkers and editors.\n"
OF_JAXOPS = """from typing import Any

__version__: str

def _namespace(module: str) -> dict[str, Any]: ...
"""


def lines(before: str, names: Iterable[str], after: str) -> str:
    return textwrap.fill(f"{before}{', '.join(names)}{after}", 100, subsequent_indent="    ")


def imports(module: str, names: Iterable[str]) -> str:
    return lines(f"from {module} import (", names, ")")


def all_of(names: Iterable[str]) -> str:
    """The names that are public without `as`, which `import *` brings."""
    return lines("__all__ = [", (f'"{name}"' for name in names), "]")


def stub_of_jaxops() -> Iterator[str]:
    yield f"{HEAD}\n{OF_JAXOPS}"
    yield imports("jaxops", (f"{name} as {name}" for name in _names.MODULES))
    for home in sorted({entry.home for entry in _names.TABLE.values()}):
        names = [name for name, entry in _names.TABLE.items() if entry.home == home]
        yield imports(
            f"jaxops.{home}",
            (name if name in _names.STAR else f"{name} as {name}" for name in names),
        )
    yield all_of(_names.STAR)


def stub_of(namespace: str) -> Iterator[str]:
    names = _names.NAMESPACES[namespace]
    yield HEAD
    pairs = names.items()
    yield imports("jaxops", (ours if ours == name else f"{ours} as {name}" for name, ours in pairs))
    yield all_of(names)


def stub_of_v0() -> Iterator[str]:
    yield HEAD.replace("_names.py", "v0.py")
    homes = {name: inspect.unwrap(getattr(v0, name)).__module__ for name in dir(v0)}
    for home in sorted({*homes.values()}):
        names = [name for name, of_name in homes.items() if of_name == home]
        yield imports(home, (name if name in v0.__all__ else f"{name} as {name}" for name in names))
    yield all_of(v0.__all__)


def files() -> dict[Path, str]:
    """The text of each file."""
    stubs = {"__init__": stub_of_jaxops()}
    stubs |= {namespace: stub_of(namespace) for namespace in _names.NAMESPACES}
    stubs["compat/v0"] = stub_of_v0()
    found = {PACKAGE / f"{name}.pyi": "\n".join(stub) + "\n" for name, stub in stubs.items()}
    return {**found, signatures.FILE: signatures.text()}


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text)
