"""Calls that are refused: see tests/refusals."""

import inspect
import os
import traceback
from types import FunctionType

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals import CALLS, TABLES, names, sparse
from refusals.values import IN_JIT, I, X

import jaxops
from jaxops.compat import v0

PACKAGE = os.path.join(os.path.dirname(jaxops.__file__), "")


def shown(error):
    """The frames of jaxops among those that Python prints of an error and of those behind it."""
    frames = []
    while error is not None:
        frames += traceback.walk_tb(error.__traceback__)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    files = [frame.f_code.co_filename for frame, _ in frames]
    return [file for file in files if file.startswith(PACKAGE)]


@pytest.mark.parametrize("case", CALLS)
@pytest.mark.usefixtures("x32")
def test_refused(case):
    call, exception, words = CALLS[case]
    with pytest.raises(exception) as info:
        call()
    assert shown(info.value) == []
    # No subclass, such as those of JAX: the message is ours.
    assert exception is IN_JIT or type(info.value) is exception
    assert words in str(info.value)


# A call for each parameter. A compiled program raises without frames, and so does a named tuple.
ONE_EACH = {
    "-".join(case.split("-")[:2]): case
    for case in CALLS
    if not case.endswith("-in-jit") and case != "LazyOptimizer-apply-missing"
}.values()


@pytest.mark.parametrize("transform", [jax.jit, lambda f: jax.vmap(jax.grad(f))])
def test_refused_in_a_trace(transform):
    """Without frames of jaxops too."""
    for case in ONE_EACH:
        with jax.enable_x64(False), pytest.raises(Exception) as info:
            transform(lambda x, f=CALLS[case][0]: x + f())(jnp.ones(2))
        assert shown(info.value) == [], case


def test_frames_are_shown_on_demand(traceback_filtering):
    traceback_filtering("off")
    for case in ONE_EACH:
        with jax.enable_x64(False), pytest.raises(Exception) as info:
            CALLS[case][0]()
        assert shown(info.value), case


def test_what_must_be_static_says_how():
    """Each refusal of a traced value where a static one is needed, but for the host's functions."""
    told = 0
    for call, exception, words in CALLS.values():
        if "static" in words and "traced" in words and exception is TypeError:
            with pytest.raises(TypeError, match=r"static_argnums|by jax.pure_callback"):
                call()
            told += 1
    assert told > 30


def test_number_of_calls():
    assert len(CALLS) == sum(map(len, TABLES))  # no id stands in two tables
    assert len(CALLS) - len(names.CALLS) >= 1000


# Not called by users: what errors are, a pair of functions that `lazy` returns, and a class that is
# made by its methods.
NOT_CALLED = {"OutOfBoundsError", "LazyOptimizer", "typed_errors", "RaggedTensor"}
CALLED = {
    **{name: f for name, f in inspect.getmembers(jaxops) if isinstance(f, (FunctionType, type))},
    "IndexedSlices.add_to": jaxops.IndexedSlices.add_to,
    "IndexedSlices.sum_duplicates": jaxops.IndexedSlices.sum_duplicates,
    "LazyOptimizer.apply": sparse.LAZY.apply,
    **{
        f"RaggedTensor.{name}": getattr(jaxops.RaggedTensor, name)
        for name, f in vars(jaxops.RaggedTensor).items()
        if isinstance(f, (FunctionType, classmethod)) and name not in ("tree_unflatten", "to_list")
    },
    **{
        f"v0.{name}": f
        for name, f in inspect.getmembers(v0)
        if isinstance(f, FunctionType) and "compat" in f.__module__
    },
}
PARAMETERS = [
    f"{name}-{parameter.name}"
    for name, f in CALLED.items()
    if name not in NOT_CALLED and not name.split(".")[-1].startswith("_")
    for parameter in inspect.signature(f).parameters.values()
    # The functions that take a SparseTensor look at its arrays.
    if f"{name}-{parameter.name}" not in ("SparseTensor-indices", "SparseTensor-values")
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
