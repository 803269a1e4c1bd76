"""Refused calls: `out_sharding` of a wrong type, for every function that takes one."""

import functools
import inspect

from records import FUNCTIONS, arguments

TAKERS = [n for n, f in FUNCTIONS.items() if "out_sharding" in inspect.signature(f).parameters]
CALLS = {
    f"{function}-out_sharding-text": (
        functools.partial(FUNCTIONS[function], **arguments(function), out_sharding="d"),
        TypeError,
        f"{function}: out_sharding must be a PartitionSpec or a NamedSharding; received 'd'",
    )
    for function in TAKERS
}
