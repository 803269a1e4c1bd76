"""Calls that are refused: with which exception, and with which words.

The tables `CALLS` of the modules map `function-parameter-what` to a call, an exception, and words
that its message must hold: the function, the argument, what was expected and what was received.
The message of an index out of bounds has TensorFlow's words.
"""

import importlib
import pkgutil

_MODULES = [importlib.import_module(f"refusals.{m.name}") for m in pkgutil.iter_modules(__path__)]
TABLES = [module.CALLS for module in _MODULES if hasattr(module, "CALLS")]
CALLS = {case: call for table in TABLES for case, call in table.items()}
