"""Refused calls: `name` of a wrong type, for every function that takes one."""

import functools
import inspect
import itertools

from records import FUNCTIONS, arguments, operation

from refusals.values import in_x64

NO_NAMES = {"int": 3, "bool": True, "list": ["a"], "bytes": b"a", "float": 1.5, "dict": {}}
NAMED = [n for n, f in FUNCTIONS.items() if "name" in inspect.signature(f).parameters]
TAKE_X64 = {"to_double", "to_int64"}


def _call(function, value):
    call = functools.partial(FUNCTIONS[function], **arguments(function), name=value)
    return functools.partial(in_x64, call) if operation(function) in TAKE_X64 else call


CALLS = {
    f"{function}-name-{kind}": (
        _call(function, value),
        TypeError,
        f"{operation(function)}: name must be a str; received {value!r}",
    )
    for function, (kind, value) in zip(NAMED, itertools.cycle(NO_NAMES.items()), strict=False)
}
