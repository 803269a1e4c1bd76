"""The functions that are compared, by name, and those that are not, with the reason."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from jaxops import _names

_MODULES = [
    importlib.import_module(module.name)
    for module in pkgutil.iter_modules([str(Path(__file__).parent)])
    if module.name.startswith("entries_")
]
# Those of compat.v0 are made of the others.
ENTRIES = {
    name: entry for module in _MODULES for name, entry in getattr(module, "ENTRIES", {}).items()
}
ENTRIES |= importlib.import_module("entries_v0").entries(ENTRIES)

_COMPARED = {name.partition("-")[0] for name in ENTRIES}
NOT_COMPARED = {
    name: entry.own_signature
    for name, entry in _names.TABLE.items()
    if not entry.tensorflow and name not in _COMPARED
}
NOT_COMPARED |= {"SparseTensor": "with the entries of embedding_lookup_sparse"}
