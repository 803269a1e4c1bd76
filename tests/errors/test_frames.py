"""Which frames of an error users see."""

import doctest
import gc
import inspect
import json
import pickle
import traceback
import weakref
from types import FunctionType

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import printed_by
from refusals import CALLS

import jaxops
from jaxops import _frames, testing
from jaxops._checked import setting
from jaxops.compat import v0

X = jnp.ones((3, 2))


def files(error):
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]


def faulty(x):
    return json.loads("[")


CALLBACKS = {
    "loss": lambda f: jaxops.sparse_value_and_grad(f, tables="x")({"x": X}),
    "loss-in-jit": lambda f: jax.jit(jaxops.sparse_value_and_grad(f, tables="x"))({"x": X}),
    "checked": lambda f: testing.check_grads(f, (X,)),
}


@pytest.mark.parametrize("name", CALLBACKS)
def test_callbacks_keep_their_frames(name):
    """And those of Python's library that they call."""
    with pytest.raises(json.JSONDecodeError) as info:
        CALLBACKS[name](faulty)
    frames = [(frame.filename, frame.name) for frame in traceback.extract_tb(info.tb)]
    place = frames.index((__file__, "faulty"))
    assert [file for file, _ in frames[:place] if file != __file__] == []
    assert [function for _, function in frames[place + 1 :]] == ["loads", "decode", "raw_decode"]


def test_python_library_below_ours():
    """As if the function were of this package."""
    code = faulty.__code__.replace(co_filename=_frames.__file__)
    with pytest.raises(json.JSONDecodeError) as info:
        _frames.without_frames(FunctionType(code, {"json": json}))(X)
    assert files(info.value) == [__file__]


def test_chain():
    """Of errors that led to one the same frames show; an error that the caller handles stays."""
    try:
        faulty(X)
    except json.JSONDecodeError as error:
        handled, before = error, files(error)
        with pytest.raises(TypeError, match="which cannot be read: KeyError") as info:
            jaxops.rank(Unreadable())  # type: ignore[arg-type]
    cause = info.value.__cause__
    assert isinstance(cause, KeyError)
    assert files(cause) == [__file__] == files(info.value)
    assert cause.__context__ is handled
    assert files(handled) == before
    assert before == [__file__] * 2 + [json.__file__] + [json.decoder.__file__] * 2


class Unreadable:
    def __array__(self, *args, **kwargs):
        raise KeyError("unreadable")


def test_rules_that_jax_calls():
    """An array that is too large only where JAX batches the program."""
    with pytest.raises(ValueError, match="transpose: a must make arrays of less") as info:
        jax.eval_shape(
            jax.vmap(jax.jit(lambda x: jaxops.transpose(x))),
            jax.ShapeDtypeStruct((2**32, 0, 2**31), np.float32),
        )
    assert files(info.value) == [__file__]
    assert files(info.value.__cause__) == [__file__]  # the call in the program


INDEXED = {
    "element": lambda i: X[i],
    "rows": lambda i: jnp.take(X, i, axis=0),
    "written": lambda i: X.at[i].set(0.0),
    "slice": lambda i: jax.lax.dynamic_slice(X, (i, 0), (1, 2)),
}
TRANSFORMED = {
    "plain": lambda f: f(jnp.array(3)),
    "vmap": lambda f: jax.vmap(f)(jnp.array([0, 3])),
    "grad": lambda f: jax.grad(lambda x: x * f(jnp.array(3)).sum())(1.0),
}


@pytest.mark.parametrize("transformed", TRANSFORMED)
@pytest.mark.parametrize("name", INDEXED)
def test_checked_code(name, transformed):
    """The frames of JAX's functions that index, below the line of the caller."""
    with pytest.raises(Exception, match="out of bounds") as info:
        TRANSFORMED[transformed](jaxops.checked(lambda i: INDEXED[name](i)))
    assert files(info.value)[-1] == __file__
    with pytest.raises(Exception, match="out of bounds") as info:
        jaxops.checked(lambda: TRANSFORMED[transformed](lambda i: INDEXED[name](i)))()
    assert {*files(info.value)} == {__file__}


MEMBERS = {
    "block": lambda: jaxops.typed_errors(3),  # type: ignore[arg-type]
    "method": lambda: jaxops.IndexedSlices(X, [0, 1, 2], (5, 2)).add_to(X),
    "constructor": lambda: jaxops.IndexedSlices(X, [0], (5, 2)),
    "operator": lambda: jaxops.IndexedSlices(X, [0, 1, 2], (5, 2)) + X,  # type: ignore[operator]
    "classmethod": lambda: jaxops.RaggedTensor.from_row_splits(X, X),
    "property": lambda: jaxops.RaggedTensor.from_row_splits(X, [0, 3]).nosuch,  # type: ignore[attr-defined]
}


@pytest.mark.parametrize("name", MEMBERS)
def test_members_of_classes(name):
    with pytest.raises((TypeError, ValueError, AttributeError)) as info:
        MEMBERS[name]()
    assert {*files(info.value)} == {__file__}


FUNCTIONS = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (jaxops, v0, testing, jaxops.math, jaxops.linalg, jaxops.nn, jaxops.sparse)
    for name in dir(module)
    if isinstance(getattr(module, name), FunctionType)
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_are_as_they_were_written(name):
    f = FUNCTIONS[name]
    written = inspect.unwrap(f)
    assert written is not f
    assert inspect.signature(f) == inspect.signature(written)
    assert (f.__name__, f.__doc__) == (written.__name__, written.__doc__)
    assert inspect.getsource(f) == inspect.getsource(written)
    assert pickle.loads(pickle.dumps(f)) is f


def test_pickles_in_another_process():
    pickled = [pickle.dumps(f) for f in (jaxops.gather, v0.concat, testing.check_grads)]
    program = f"""
import pickle
gather, concat, check_grads = map(pickle.loads, {pickled})
import jaxops
from jaxops.compat import v0
from jaxops import testing
assert [gather, concat, check_grads] == [jaxops.gather, v0.concat, testing.check_grads]
"""
    printed_by("-c", program)


def test_examples_are_found():
    for module, name in ((testing, "check_grads"), (v0, "listdiff")):
        found = doctest.DocTestFinder().find(module)
        (test,) = [test for test in found if test.name == f"{module.__name__}.{name}"]
        assert test.examples


def test_refusals_are_of_every_function():
    """Which test_refusals.py looks at."""
    names = {name.removeprefix("jaxops.").removeprefix("compat.") for name in FUNCTIONS}
    names = {
        name for name in names if name.partition(".")[0] not in ("math", "linalg", "nn", "sparse")
    }
    refused = {case.partition("-")[0] for case in CALLS}
    assert {name.removeprefix("testing.") for name in names} <= refused


READS = {
    "subscript": lambda i: X[i],
    "at": lambda i: X.at[i].set(0.0),
    "take": lambda i: jnp.take(X, i, axis=0),
    "slice": lambda i: jax.lax.dynamic_slice(X, (i[0], 0), (1, 1)),
}


@pytest.mark.parametrize("name", READS)
def test_frames_that_ipython_hides(name):
    """Under `check_everything` the caller calls JAX itself, which keeps its frames."""
    jaxops.checked(len)  # wraps the primitives
    with setting.within(setting.Setting()), pytest.raises(jaxops.OutOfBoundsError) as info:
        READS[name](jnp.array([7]))
    frames = [frame for frame, _ in traceback.walk_tb(info.tb)]
    shown = [x.f_code.co_filename for x in frames if not x.f_locals.get("__tracebackhide__")]
    assert shown == [__file__] * 2
    assert len(frames) > 2


EAGER = {
    "gather": lambda i: jaxops.gather(X, i),
    "scatter": lambda i: jaxops.tensor_scatter_nd_add(X, i[:, None], X[:1]),
    "at": lambda i: jaxops.at(X)[i].get(),
    "checked": lambda i: jaxops.checked(lambda j: X[j])(i),
    "checked slice": lambda i: jaxops.checked(jax.lax.dynamic_slice)(X, (i[0], 0), (1, 1)),
}


@pytest.mark.parametrize("name", EAGER)
def test_an_error_keeps_no_frames(name):
    """The frames of the call, and so its arrays, end with the error and wait for no collector."""

    def call():
        indices = np.array([7])
        with pytest.raises(jaxops.OutOfBoundsError):
            EAGER[name](jnp.asarray(indices))
        return weakref.ref(indices)

    call()  # compiles
    gc.disable()
    try:
        assert call()() is None
    finally:
        gc.enable()
