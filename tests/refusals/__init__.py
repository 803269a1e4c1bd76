"""Calls that are refused: with which exception, and with which words.

The tables `CALLS` of the modules map `function-parameter-what` to a call, an exception, and words
that its message must hold: the function, the argument, what was expected and what was received.
The message of an index out of bounds has TensorFlow's words.
"""

from refusals import (
    blocks,
    casting,
    indexing,
    joining,
    large,
    names,
    partition,
    shaping,
    slicing,
    sparse,
    testing,
    v0,
)

MODULES = [
    *(blocks, casting, indexing, joining, large, names),
    *(partition, shaping, slicing, sparse, testing, v0),
]
TABLES = [module.CALLS for module in MODULES]
CALLS = {case: call for table in TABLES for case, call in table.items()}
