"""Calls that are refused: see tests/refusals."""

import inspect
import os
import traceback
from types import FunctionType

import jax
import jax.numpy as jnp
import pytest
from records import PUBLIC
from refusals import CALLS, TABLES, sparse
from refusals.values import IN_JIT

import jaxops

PACKAGE = os.path.join(os.path.dirname(jaxops.__file__), "")


def shown(error):
    """The frames of jaxops among those that Python prints of an error and of those behind it."""
    frames = []
    while error is not None:
        frames += traceback.walk_tb(error.__traceback__)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    files = [frame.f_code.co_filename for frame, _ in frames]
    return [file for file in files if file.startswith(PACKAGE)]


def fault(case):
    """What is wrong with the answer to a call; None where nothing is."""
    call, exception, words = CALLS[case]
    try:
        result = call()
    except Exception as error:
        # No subclass, such as those of JAX: the message is ours.
        is_kind = isinstance(error, IN_JIT) if exception is IN_JIT else type(error) is exception
        if is_kind and words in str(error) and not shown(error):
            return None
        return f"{case}: {error!r} with frames {shown(error)}, where {words!r} is due"
    return f"{case}: {result!r:.300}, where {words!r} is due"


OF_FUNCTION = {}
for case in CALLS:
    OF_FUNCTION.setdefault(case.split("-")[0], []).append(case)


@pytest.mark.parametrize("function", OF_FUNCTION)
@pytest.mark.usefixtures("x32")
def test_refused(function):
    faults = [*filter(None, map(fault, OF_FUNCTION[function]))]
    assert not faults, "\n".join(faults)


# A compiled program raises without frames.
FRAMED = [case for case in CALLS if not case.endswith("-in-jit")]
OF_EACH_PARAMETER = {"-".join(case.split("-")[:2]): case for case in FRAMED}.values()
OF_EACH_FUNCTION = {case.split("-")[0]: case for case in FRAMED}.values()


@pytest.mark.parametrize(
    "transform", [jax.jit, pytest.param(lambda f: jax.vmap(jax.grad(f)), marks=pytest.mark.slow)]
)
def test_refused_in_a_trace(transform):
    """Without frames of jaxops too."""
    for case in OF_EACH_FUNCTION:
        with jax.enable_x64(False), pytest.raises(Exception) as info:
            transform(lambda x, f=CALLS[case][0]: x + f())(jnp.ones(2))
        assert shown(info.value) == [], case

    def refused(x):  # one trace of many calls, which takes less time
        for case in OF_EACH_PARAMETER:
            if CALLS[case][1] is jaxops.OutOfBoundsError:
                continue  # raised by the program
            with pytest.raises(Exception) as info:
                CALLS[case][0]()
            assert shown(info.value) == [], case
        return x

    with jax.enable_x64(False):
        transform(refused)(jnp.ones(2))


def test_frames_are_shown_on_demand(traceback_filtering):
    traceback_filtering("off")
    for case in OF_EACH_PARAMETER:
        with jax.enable_x64(False), pytest.raises(Exception) as info:
            CALLS[case][0]()
        assert shown(info.value), case


def test_what_must_be_static_says_how():
    """Each refusal of a traced value where a static one is needed, but for the host's functions."""
    told = 0
    for call, exception, words in CALLS.values():
        is_told = "static_argnums" in words
        if "static" in words and "traced" in words and exception is TypeError and not is_told:
            with pytest.raises(TypeError, match=r"static_argnums|by jax.pure_callback"):
                call()
            told += 1
    assert told > 30


def test_no_id_stands_in_two_tables():
    assert len(CALLS) == sum(map(len, TABLES))


# Not called by users: what errors are, a pair of functions that `lazy` returns, a class that is
# made by its methods, and a tuple of arguments of `strided_slice`.
NOT_CALLED = {"OutOfBoundsError", "LazyOptimizer", "typed_errors", "RaggedTensor"}
NOT_CALLED |= {"StridedSliceSpec"}
CALLED = {
    **PUBLIC,
    "IndexedSlices.add_to": jaxops.IndexedSlices.add_to,
    "IndexedSlices.sum_duplicates": jaxops.IndexedSlices.sum_duplicates,
    "LazyOptimizer.apply": sparse.LAZY.apply,
    **{
        f"RaggedTensor.{name}": getattr(jaxops.RaggedTensor, name)
        for name, f in vars(jaxops.RaggedTensor).items()
        if isinstance(f, (FunctionType, classmethod)) and name not in ("tree_unflatten", "to_list")
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


def test_every_parameter_is_refused_something():
    refused = {"-".join(case.split("-")[:2]) for case in CALLS}
    missing = sorted({*PARAMETERS} - refused)
    assert not missing, f"tests/refusals: CALLS of the function's module wants calls of {missing}"
