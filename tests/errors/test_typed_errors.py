"""`typed_errors` and what it finds in the exceptions that JAX raises."""

import concurrent.futures
import copy
import itertools
import pdb
import re
import traceback
from traceback import walk_tb

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify, io_callback

import jaxops
from jaxops import _errors

TABLE = jnp.arange(10.0)
GOOD, BAD = jnp.array([1, 2]), jnp.array([1, 99])


def step(table, words):
    return jnp.sum(jaxops.gather(table, words, name="token_embedding"))


FIELDS = {
    "operation": "gather",
    "position": (1,),
    "index": 99,
    "bound": 10,
    "where": f"test_typed_errors.py:{step.__code__.co_firstlineno + 1} (step)",
    "name": "token_embedding",
}


def fields(error):
    return {name: getattr(error, name) for name in FIELDS}


USES = {
    "value": lambda loss: loss,
    "block_until_ready": lambda loss: loss.block_until_ready(),
    "float": float,
    "print": str,
}


@pytest.mark.parametrize("use", USES)
def test_first_and_later_calls(use):
    """JAX raises JaxRuntimeError in a first call, ValueError in a later one."""
    fresh, used = jax.jit(step), jax.jit(step)
    used(TABLE, GOOD)
    kinds = set()
    for compiled in (fresh, fresh, used, used):
        with pytest.raises(jaxops.OutOfBoundsError) as info, jaxops.typed_errors():
            jax.block_until_ready(USES[use](compiled(TABLE, BAD)))
        assert fields(info.value) == FIELDS
        kinds.add(type(info.value.__context__))
        assert info.value.__suppress_context__
    assert kinds <= {jax.errors.JaxRuntimeError, ValueError}


def test_decorator():
    @jaxops.typed_errors()
    @jax.jit
    def train(table, words):
        """Trains."""
        return {"loss": step(table, words)}

    assert (train.__name__, train.__doc__) == ("train", "Trains.")
    assert train(TABLE, GOOD)["loss"] == 3
    for _ in range(2):
        with pytest.raises(jaxops.OutOfBoundsError) as info:
            train(TABLE, words=BAD)
        assert fields(info.value) == FIELDS


def test_frames_are_the_callers():
    compiled = jax.jit(step)
    with pytest.raises(jaxops.OutOfBoundsError) as within, jaxops.typed_errors():
        compiled(TABLE, BAD)
    with pytest.raises(jaxops.OutOfBoundsError) as decorated:
        jaxops.typed_errors()(compiled)(TABLE, BAD)
    for info, lines in ((within, 2), (decorated, 1)):  # the line of `with`, too
        frames = traceback.extract_tb(info.value.__traceback__)
        assert [frame.filename for frame in frames] == [__file__] * lines


def test_other_exceptions_pass():
    error = RuntimeError("of another kind")
    eager = jaxops.typed_errors()(lambda: jaxops.gather(TABLE, BAD))
    for raised in (error, ValueError("is not in [0, 10)"), KeyError("OutOfBoundsError")):
        with pytest.raises(type(raised)) as info, jaxops.typed_errors():
            raise raised
        assert info.value is raised
    with pytest.raises(jaxops.OutOfBoundsError) as info:
        eager()
    assert info.value.__context__ is None
    assert _errors.find_in(None) is None


def test_an_exception_of_the_caller_that_quotes_the_error():
    def train():
        try:
            jax.block_until_ready(jax.jit(step)(TABLE, BAD))
        except (jax.errors.JaxRuntimeError, ValueError) as error:
            raise ValueError(f"batch 3: {error}") from error

    with pytest.raises(ValueError, match="batch 3: INTERNAL: ") as info, jaxops.typed_errors():
        train()
    assert type(info.value) is ValueError


def test_words_that_begin_another_error():
    long = jaxops.OutOfBoundsError('is not in [0, 1) at a.py:1 (f), name="n"', "gather", (), 9, 1)
    short = jaxops.OutOfBoundsError("is not in [0, 1) at a.py:1 (f)", "gather", (), 8, 1)
    for first, second in ((long, short), (short, long)):
        _errors.remember(first)
        _errors.remember(second)
        for error in (long, short):
            found = _errors.find_in(jax.errors.JaxRuntimeError(f"INTERNAL: callback: {error}"))
            assert found is not None
            assert found.index == error.index


def test_it_turns_what_leaves_it():
    """Within, the exception is JAX's, as ever."""
    with jaxops.typed_errors(), pytest.raises((jax.errors.JaxRuntimeError, ValueError)):
        jax.block_until_ready(jax.jit(step)(TABLE, BAD))
    with pytest.raises(jaxops.OutOfBoundsError), jaxops.typed_errors(), jaxops.typed_errors():
        jax.block_until_ready(jax.jit(step)(TABLE, BAD))


def test_refusals():
    with pytest.raises(
        TypeError, match=r"typed_errors: debugger must be a bool; received <func.*\(\)"
    ):
        jaxops.typed_errors(step)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="typed_errors: f must be callable; received 3"):
        jaxops.typed_errors()(3)  # type: ignore[arg-type]

    def generator():
        yield step(TABLE, BAD)

    async def coroutine():
        return step(TABLE, BAD)

    async def asynchronous_generator():
        yield step(TABLE, BAD)

    decorators = {
        "typed_errors: f": jaxops.typed_errors(),
        "checked: fun": jaxops.checked,
        "unchecked: fun": jaxops.unchecked,
    }
    for f, (name, decorator) in itertools.product(
        (generator, coroutine, asynchronous_generator), decorators.items()
    ):
        with pytest.raises(TypeError, match=f"{name} must compute its results before"):
            decorator(f)


def test_the_debugger_gets_a_frame_of_the_caller(monkeypatch):
    """That of the call that failed, or of the block that waited at its end."""
    seen = []
    monkeypatch.setattr(pdb, "post_mortem", lambda frames: seen.append([*walk_tb(frames)][-1][0]))

    def failing():
        raise jaxops.OutOfBoundsError("", "gather", (0,), 7, 4)

    with pytest.raises(jaxops.OutOfBoundsError) as info:
        failing()
    for frames in (info.value.__traceback__, None):
        jaxops.typed_errors(debugger=True)._end(info.value, frames)
    own = test_the_debugger_gets_a_frame_of_the_caller
    assert [frame.f_code for frame in seen] == [failing.__code__, own.__code__]


def test_functional_errors():
    error, _ = checkify.checkify(jax.jit(step))(TABLE, BAD)
    with pytest.raises(jaxops.OutOfBoundsError) as info, jaxops.typed_errors():
        error.throw()
    assert fields(info.value) == FIELDS


def test_each_thread_has_its_own():
    compiled = jax.jit(lambda i: jaxops.gather(TABLE, i))
    compiled(GOOD)
    seen = {}

    def fail(index):
        for _ in range(20):
            with pytest.raises(jaxops.OutOfBoundsError) as info, jaxops.typed_errors():
                jax.block_until_ready(compiled(jnp.array([index])))
            seen.setdefault(index, set()).add(info.value.index)

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        list(threads.map(fail, range(100, 108)))
    assert seen == {100 + n: {100 + n} for n in range(8)}


def test_what_is_remembered():
    """A copy is found, as each exception has a traceback of its own; old ones are forgotten."""
    error = jaxops.OutOfBoundsError("text 1 of an error", "gather", (1,), 99, 10, "a.py:1 (f)", "n")
    assert _errors.find_in(ValueError(f"INTERNAL: {error}")) is None
    _errors.remember(error)
    found = _errors.find_in(ValueError(f"INTERNAL: {error}"))
    assert found is not error
    assert (str(found), fields(found)) == (str(error), fields(error))
    assert fields(copy.deepcopy(found)) == fields(error)
    for n in range(_errors._raised.maxlen or 0):
        _errors.remember(jaxops.OutOfBoundsError(f"another {n}", "gather", (), n, 0))
    assert _errors.find_in(ValueError(f"INTERNAL: {error}")) is None


def test_the_words_are_one_sentence():
    """Without frames of JAX or of jaxops between the words of XLA and of the error."""
    for _ in range(2):
        with pytest.raises((jax.errors.JaxRuntimeError, ValueError)) as info:
            jax.block_until_ready(jax.jit(step)(TABLE, BAD))
        words, _, error = str(info.value).partition(": OutOfBoundsError: ")
        assert re.fullmatch(r"INTERNAL: \w+ error calling callback", words)
        where = f'at {FIELDS["where"]}, name="token_embedding"'
        assert error == f"indices[1] = 99 is not in [0, 10) [Op:gather] {where}"


EAGER = {
    "array": lambda i: jaxops.gather(TABLE, i),
    "numpy": lambda i: jaxops.gather(np.array(["a", "b"]), np.asarray(i)).size,
    "element": jaxops.checked(lambda i: TABLE[i]),
    "take": jaxops.checked(lambda i: jnp.take(TABLE, i)),
    "jit": jax.jit(lambda i: jaxops.gather(TABLE, i)),
}
CALLBACKS = {
    "pure_callback": lambda f, i: jax.pure_callback(f, jnp.float32(0), i),
    "io_callback": lambda f, i: io_callback(f, jnp.float32(0), i),
    "debug": lambda f, i: jax.debug.callback(f, i),
}


def wait_for(results):
    jax.block_until_ready(results)
    jax.effects_barrier()


@pytest.mark.parametrize("callback", CALLBACKS)
@pytest.mark.parametrize("call", EAGER)
def test_calls_in_callbacks(call, callback):
    """The program raises the error of the call that its callback made."""

    def on_host(i):
        return np.float32(np.sum(EAGER[call](jnp.asarray(i))))

    program = jax.jit(lambda i: (CALLBACKS[callback](on_host, i), i + 1))
    with pytest.raises(jaxops.OutOfBoundsError) as info, jaxops.typed_errors():
        wait_for(program(BAD))
    assert (info.value.index, info.value.position) == (99, (1,))
    assert "test_typed_errors.py" in info.value.where
