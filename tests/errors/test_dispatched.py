"""Programs that were dispatched: which are kept, and which errors nobody has read."""

import asyncio
import concurrent.futures
import sys
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from refusals.values import IN_JIT

import jaxops
from jaxops import _dispatched, _errors, _jax_internals, _typed_errors
from jaxops._dispatched import Programs


class Result:
    """A result of a program."""

    def __init__(self, nbytes=4, error=None, is_ready=True, is_donated=False):
        self.nbytes, self.error, self.is_donated = nbytes, error, is_donated
        self.is_ready = lambda: is_ready
        self.was_waited_for = False

    def is_deleted(self):
        return self.is_donated

    def block_until_ready(self):
        self.was_waited_for = True
        if self.error:
            raise jax.errors.JaxRuntimeError(self.error)


def unread(programs):
    return [str(error) for error in programs.unread()]


def test_words_of_an_index_are_the_same_in_each_exception():
    """JAX puts words of its own around the message, other ones in a first call and a later one."""
    compiled = jax.jit(lambda i: jaxops.gather(jnp.arange(3), i))
    words = set()
    for _ in range(2):
        with pytest.raises(IN_JIT) as info:
            jax.block_until_ready(compiled(np.array([1, 9])))
        words.add(_dispatched._words_of(info.value))
    (message,) = words
    assert message.startswith("indices[1] = 9 is not in [0, 3)")
    assert _dispatched._words_of(ValueError("another")) == "another"


@pytest.mark.parametrize(("choose", "expected"), [(max, [8]), (min, [2])])
def test_one_result_stands_for_a_program(choose, expected):
    programs = Programs(choose)
    results = [Result(n, is_ready=False) for n in (4, 8, 2)]
    programs.note([*results, 3.0])
    programs.note([])
    programs.wait()
    assert [x.nbytes for x in results if x.was_waited_for] == expected


def test_programs_that_have_ended_are_let_go():
    programs = Programs(max)
    running = Result(is_ready=False)
    for result in (Result(), running, Result(), Result(is_donated=True)):
        programs.note([result])
    assert len(programs._running) == 3
    running.is_ready = lambda: True
    programs.note([Result(error="of no one, alone")])
    assert not programs._running
    assert unread(programs) == ["of no one, alone"]


def test_it_stops_waiting_at_the_first_error():
    """A program that could not get the memory of one result never finishes the others."""
    programs, last = Programs(max), Result(is_ready=False)
    for result in (Result(is_ready=False, error="the first"), last):
        programs.note([result])
    programs.wait()
    assert unread(programs) == ["the first"]
    assert not last.was_waited_for


def test_it_waits_no_longer_than_it_may():
    programs, result = Programs(max), Result(is_ready=False)
    programs.note([result])
    programs.wait(longest=0.01)
    assert not result.was_waited_for


def test_an_error_that_the_caller_has_got():
    _jax_internals.watch_runtime_errors(_dispatched.count)
    failed = Result(error="seen by the caller", is_ready=False)
    dependent = Result(error="seen by the caller", is_ready=False)
    lost = Result(error="seen by nobody", is_ready=False)
    with pytest.raises(jax.errors.JaxRuntimeError):
        failed.block_until_ready()  # before: of another program
    programs = Programs(max)
    for result in (failed, dependent):
        programs.note([result])
    failed.is_ready = dependent.is_ready = lambda: True
    programs.note([lost])
    assert unread(programs) == ["seen by the caller"]
    with pytest.raises(jax.errors.JaxRuntimeError):
        failed.block_until_ready()
    assert unread(programs) == []
    programs.wait()
    assert unread(programs) == ["seen by nobody"]


def test_an_array_that_was_donated_is_no_failure():
    programs, result = Programs(max), Result(error="Array has been deleted", is_ready=False)
    programs.note([result])
    result.is_donated = True
    programs.wait()
    assert unread(programs) == []


@pytest.mark.parametrize("kind", [jax.errors.JaxRuntimeError, jaxops.OutOfBoundsError])
def test_a_block_counts_the_error_that_it_raises(kind):
    """No block around it, and no end of the process, raises or names it again."""
    process = Programs(min)
    words = f"of a block: {kind.__name__}"
    if kind is jaxops.OutOfBoundsError:
        _errors.remember(kind(words, "gather", (0,), 7, 4))
    failed = Result(error=words, is_ready=False)
    process.note([failed])
    with pytest.raises(kind, match=words), jaxops.typed_errors():
        _typed_errors._of_thread.blocks[-1][1].note([failed])
    process.wait()
    process.end()
    assert unread(process) == []


def test_as_many_errors_as_one_likes_are_read():
    """A block around 300 steps that failed, each handled by the caller, raised the first again."""
    programs = Programs(max)
    for n in range(2 * _dispatched._MOST_WORDS):
        failed = Result(error=f"failure {n}")
        with pytest.raises(jax.errors.JaxRuntimeError):
            failed.block_until_ready()
        programs.note([failed])
    assert unread(programs) == []
    assert len(programs._read) == _dispatched._MOST_WORDS
    for n in range(2 * _dispatched._MOST_WORDS):
        programs.note([Result(error=f"lost {n}")])
    assert len(unread(programs)) == _dispatched._MOST_WORDS
    programs.end()


def test_threads_that_fail_at_once():
    """Python raised a KeyError for some of these, in place of JAX's error."""
    programs, interval = Programs(max), sys.getswitchinterval()

    def fail(thread):
        for n in range(1000):
            jax.errors.JaxRuntimeError(f"{thread} {n}")
        return unread(programs)

    sys.setswitchinterval(1e-6)
    try:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            assert [*pool.map(fail, range(8))] == [[]] * 8
    finally:
        sys.setswitchinterval(interval)
        programs.end()


def test_an_error_that_another_thread_has_got():
    failed = Result(error="of two threads")
    block = Programs(max, threading.get_ident())
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        assert pool.submit(failed.block_until_ready).exception() is not None
    block.note([failed])
    block.end()
    assert unread(block) == ["of two threads"]


def test_a_program_that_calls_another_while_the_process_ends():
    """Python runs in another thread then; while it waited for the lock, the process waited 10 s."""
    programs = Programs(min)
    first, others = Result(is_ready=False), []

    def dispatch():
        programs.note([Result()])
        others.append(True)

    def is_ready():
        thread = threading.Thread(target=dispatch, daemon=True)
        thread.start()
        thread.join(timeout=10)
        return True

    programs.note([first])
    first.is_ready = is_ready
    programs.wait(longest=60)
    programs.end()
    assert others


def test_the_end_of_the_process(capfd):
    """It waits for a program that runs."""
    programs, running = Programs(min), Result(error="lost for ever", is_ready=False)
    programs.note([running])
    running.is_ready = lambda: True
    _dispatched._name_unread(programs)
    assert capfd.readouterr().err == (
        "jaxops: no result was read of a program that failed: lost for ever\n"
    )


@pytest.fixture
def untold_process(monkeypatch):
    """The process would keep the results of later programs behind one that is never ready."""
    _dispatched.watch_process()
    monkeypatch.setattr(_jax_internals, "_of_process", [])


@pytest.mark.usefixtures("untold_process")
def test_tasks_that_take_turns_within_their_blocks():
    async def task(error, turns):
        try:
            with jaxops.typed_errors():
                await asyncio.sleep(0)
                _jax_internals._tell([Result(error=error, is_ready=False)])
                for _ in range(turns):
                    await asyncio.sleep(0)
        except jax.errors.JaxRuntimeError as caught:
            return str(caught)

    async def tasks():
        return await asyncio.gather(task(None, 1), task("of the second", 3))

    assert asyncio.run(tasks()) == [None, "of the second"]


@pytest.mark.usefixtures("untold_process")
def test_a_thread_with_the_context_of_a_block():
    async def main():
        with jaxops.typed_errors():
            failed = Result(error="of the thread", is_ready=False)
            await asyncio.to_thread(_jax_internals._tell, [failed])
        return failed

    assert not asyncio.run(main()).was_waited_for


STEP = jax.jit(lambda x: x + 1)


def test_who_is_told_of_a_program():
    x = jnp.ones(3)
    for _ in range(2):
        STEP(x)  # the second call is C++'s from now on
    outer, inner, elsewhere = [], [], []
    _jax_internals.watch_programs(outer.append)
    STEP(x)
    _jax_internals.watch_programs(inner.append)
    result = STEP(x)
    thread = threading.Thread(target=lambda: elsewhere.append(STEP(x)))
    thread.start()
    thread.join()
    assert inner[-1][0] is result
    _jax_internals.unwatch_programs(outer.append)  # in any order
    STEP(x)
    _jax_internals.unwatch_programs(inner.append)
    STEP(x)
    assert (len(outer), len(inner), len(elsewhere)) == (1, 2, 1)
    _jax_internals.watch_programs(outer.append)
    _jax_internals.watch_programs(inner.append)
    _jax_internals.unwatch_programs(inner.append)
    STEP(x)
    _jax_internals.unwatch_programs(outer.append)
    assert (len(outer), len(inner)) == (2, 2)


@pytest.fixture
def hooks(monkeypatch):
    """None of the process; JAX's are afterwards as they were before."""
    monkeypatch.setattr(_jax_internals, "_of_process", [])
    hook = _jax_internals._post_hook
    local, everywhere = hook.get_local(), hook.get_global()
    hook.set_global(None)
    yield
    hook.set_local(local)
    hook.set_global(everywhere)


@pytest.mark.usefixtures("hooks")
def test_programs_of_the_process():
    """Those of every thread, called from Python or, from the second call on, from C++."""
    step, x, told = jax.jit(lambda x: x + 2), jnp.ones(3), []
    _jax_internals.watch_programs_of_process(told.append)
    results = [step(x) for _ in range(3)]
    thread = threading.Thread(target=lambda: results.append(step(x)))
    thread.start()
    thread.join()
    assert all(x[0] is y for x, y in zip(told, results, strict=True))


def test_programs_that_python_calls():
    lookup = jax.jit(lambda t, i: jaxops.gather(t, i))
    t, i = np.arange(4.0), np.array([1, 2])
    told = []
    _jax_internals.watch_programs(told.append)
    try:
        results = [lookup(t, i)]
        compiled = lookup.lower(t, i).compile()
        results += [compiled(t, i) for _ in range(2)]
    finally:
        _jax_internals.unwatch_programs(told.append)
    assert all(x[0] is y for x, y in zip(told, results, strict=True))


def test_the_hook_of_debug_nans_is_called_too():
    divide, zero, one = jax.jit(lambda x: 0 / x), jnp.zeros(1), jnp.ones(1)
    with jax.debug_nans(True):
        for _ in range(2):
            divide(one)
        with pytest.raises(FloatingPointError), jaxops.typed_errors():
            divide(zero)
        with pytest.raises(FloatingPointError):
            divide(zero)
    with jaxops.typed_errors(), jax.debug_nans(True):
        jax.jit(lambda x: x - 1)(one)  # JAX calls it from Python
        with pytest.raises(FloatingPointError):
            divide(zero)
    assert np.isnan(divide(zero))


@pytest.mark.parametrize("of_process", [False, True], ids=["thread", "process"])
@pytest.mark.usefixtures("hooks")
def test_debug_nans_of_the_process_within_a_block(of_process):
    """A script that is run by `python -m jaxops` is within one."""
    divide, zero, one = jax.jit(lambda x: 0 / x), jnp.zeros(1), jnp.ones(1)
    if of_process:
        _jax_internals.watch_programs_of_process(lambda results: None)
        jax.jit(lambda x: x - 1)(one)  # JAX calls it from Python, and the thread gets a hook
    with jaxops.typed_errors():
        for _ in range(2):
            divide(one)
        jax.config.update("jax_debug_nans", True)
        try:
            with pytest.raises(FloatingPointError):
                divide(zero)
        finally:
            jax.config.update("jax_debug_nans", False)
        assert np.isnan(divide(zero))


TAKE_THE_HOOK_AWAY = {
    "var": jnp.var,
    "sort": jnp.sort,
    "quantile": lambda x: jnp.quantile(x, 0.5),
    "logsumexp": lambda x: jax.nn.logsumexp(x, b=-x),
    "debug_nans": jax.debug_nans(False)(jnp.negative),
}


@pytest.mark.parametrize("of_process", [False, True], ids=["thread", "process"])
@pytest.mark.parametrize("name", TAKE_THE_HOOK_AWAY)
@pytest.mark.usefixtures("hooks")
def test_functions_that_take_the_hook_away(name, of_process):
    x, told = jnp.ones(3), []
    for _ in range(2):
        STEP(x)
    if of_process:
        _jax_internals.watch_programs_of_process(told.append)
    else:
        _jax_internals.watch_programs(told.append)
    try:
        jax.jit(lambda x: TAKE_THE_HOOK_AWAY[name](x))(x)
        result = STEP(x)
    finally:
        if not of_process:
            _jax_internals.unwatch_programs(told.append)
    assert told[-1][0] is result
