"""Calls that are refused: with which exception, and with which words.

The tables `bad_input_*.py` map `function-parameter-what` to a call, an exception, and words that
its message must hold: the function, the argument, what was expected and what was received. The
message of an index out of bounds has TensorFlow's words.
"""

import inspect
from types import FunctionType

import bad_input_blocks
import bad_input_casting
import bad_input_indexing
import bad_input_joining
import bad_input_names
import bad_input_partition
import bad_input_shaping
import bad_input_slicing
import bad_input_sparse
import bad_input_v0
import jax
import numpy as np
import pytest
from bad_input_values import IN_JIT, I, X

import jaxops
from jaxops.compat import v0

TABLES = [
    bad_input_blocks.CALLS,
    bad_input_casting.CALLS,
    bad_input_indexing.CALLS,
    bad_input_joining.CALLS,
    bad_input_names.CALLS,
    bad_input_partition.CALLS,
    bad_input_shaping.CALLS,
    bad_input_slicing.CALLS,
    bad_input_sparse.CALLS,
    bad_input_v0.CALLS,
]
CALLS = {case: call for table in TABLES for case, call in table.items()}


@pytest.mark.parametrize("case", CALLS)
@pytest.mark.usefixtures("x32")
def test_refused(case):
    call, exception, words = CALLS[case]
    with pytest.raises(exception) as info:
        call()
    # No subclass, such as those of JAX: the message is ours.
    assert exception is IN_JIT or type(info.value) is exception
    assert words in str(info.value)


def test_number_of_calls():
    assert len(CALLS) == sum(map(len, TABLES))  # no id stands in two tables
    assert len(CALLS) - len(bad_input_names.CALLS) >= 300


# Not called by users: what errors are, and a pair of functions that `lazy` returns.
NOT_CALLED = {"OutOfBoundsError", "LazyOptimizer"}
CALLED = {
    **{name: f for name, f in vars(jaxops).items() if isinstance(f, (FunctionType, type))},
    "IndexedSlices.add_to": jaxops.IndexedSlices.add_to,
    "IndexedSlices.sum_duplicates": jaxops.IndexedSlices.sum_duplicates,
    "LazyOptimizer.apply": bad_input_sparse.LAZY.apply,
    **{
        f"v0.{name}": f
        for name, f in vars(v0).items()
        if isinstance(f, FunctionType) and f.__module__ == v0.__name__
    },
}
PARAMETERS = [
    f"{name}-{parameter.name}"
    for name, f in CALLED.items()
    if name not in NOT_CALLED and not name.split(".")[-1].startswith("_")
    for parameter in inspect.signature(f).parameters.values()
    if parameter.name != "self" and parameter.kind is not inspect.Parameter.VAR_KEYWORD
]


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_every_parameter_is_refused_something(parameter):
    assert any(case.startswith(f"{parameter}-") for case in CALLS)


TRACEABLE = {
    "gather": lambda x: jaxops.gather(x, [[0]] * 3, batch_dims=1),
    "scatter_nd": lambda x: jaxops.scatter_nd(I, x, [4, 2]),
    "slice": lambda x: jaxops.slice(x, [0], [1]),
    "strided_slice": lambda x: jaxops.strided_slice(x, [0] * 3, [1] * 3),
}


@pytest.mark.parametrize("case", TRACEABLE)
def test_refused_while_tracing(case):
    for transform in (jax.jit, jax.vmap):
        with pytest.raises(ValueError, match=f"{case}: "):
            transform(TRACEABLE[case])(np.stack([X, X]) if transform is jax.vmap else X)
