"""Calls that are refused: with which exception, and with which words.

The tables `CALLS` of the modules map `function-parameter-what` to a call, an exception, and words
that its message must hold: the function, the argument, what was expected and what was received.
Words that begin with "must" are said of that parameter. The message of an index out of bounds has
TensorFlow's words. What a kind of argument must not be, such as an int, stands in `kinds`, for all
functions; the other modules have what is a function's own. An index out of bounds stands in
`out_of_bounds` of the function's record.
"""

import importlib
import pkgutil

from records import operation

_MODULES = [importlib.import_module(f"refusals.{m.name}") for m in pkgutil.iter_modules(__path__)]
TABLES = [module.CALLS for module in _MODULES if hasattr(module, "CALLS")]


def _whole(case, words):
    function, parameter = case.split("-")[:2]
    subject = f"{operation(function)}: {parameter} "
    return f"{subject}{words}" if words.startswith("must ") else words


CALLS = {
    case: (call, exception, _whole(case, words))
    for table in TABLES
    for case, (call, exception, words) in table.items()
}
