"""The functions that are compared, by name, and those that are not, with the reason."""

import importlib
import pkgutil
from pathlib import Path

import entries_v0
from entries import ENTRIES

from jaxops import _names

for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
    if module.name.startswith("entries_"):
        importlib.import_module(module.name)
entries_v0.adapt_others()

# "unique-axis" is a second entry of `unique`.
COMPARED = {name.partition("-")[0] for name in ENTRIES}
NOT_COMPARED = {
    name: entry.own_signature
    for name, entry in _names.TABLE.items()
    if not entry.tensorflow and name not in COMPARED
}
NOT_COMPARED |= {"SparseTensor": "with the entries of embedding_lookup_sparse"}
