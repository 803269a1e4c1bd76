"""TensorFlow 0.x's `array_ops` under its signatures: names and orders of arguments, defaults.

Adapters of the functions of `jaxops`, whose docstrings say all the rest: dtypes, bounds, gradients,
errors. Code for TensorFlow 0.x moves over with the module name changed. The functions here lack
arguments that TensorFlow 0.x did not have (`mode`, `size`, ...).

Where the releases from 0.5 to 0.12 spell a call in different ways, all of them are taken. Arguments
without names that two releases read differently are refused with both readings.
"""

from __future__ import annotations

import builtins
import inspect
from typing import TYPE_CHECKING

import jaxops
from jaxops._frames import without_frames
from jaxops.compat import _v0_blocks, _v0_indexing, _v0_joining, _v0_matrices, _v0_segments

# Functions of jaxops whose arguments are those of 0.x.
_SAME = """
    batch_to_space_nd bitcast cast matrix_band_part meshgrid parallel_stack rank
    required_space_to_batch_paddings saturate_cast sequence_mask space_to_batch_nd stop_gradient
"""

_functions = {name: getattr(jaxops, name) for name in _SAME.split()}
for _module in (_v0_blocks, _v0_indexing, _v0_joining, _v0_matrices, _v0_segments):
    for _name, _f in inspect.getmembers(_module, inspect.isfunction):
        if _f.__module__ == _module.__name__ and not _name.startswith("_"):
            _functions[_name] = without_frames(_f, __name__)
globals().update(_functions)

# Not `range` and `slice`: `from jaxops.compat.v0 import *` is not to replace Python's own. Type
# checkers read the names in v0.pyi, which `make names` writes.
globals()["__all__"] = [name for name in sorted(_functions) if not hasattr(builtins, name)]


def __dir__() -> list[str]:
    return [*_functions]


if not TYPE_CHECKING:  # as in jaxops/compat/__init__.py

    def __getattr__(name):
        raise AttributeError(jaxops._missing(__name__, name))
