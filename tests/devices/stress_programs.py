"""Failing calls in numbers: many threads, long scans, asynchronous dispatch, and no leak.

    python stress_programs.py SCALE

runs all of them, the first two with `SCALE` times 2,000 and 500 failing calls. In a process of its
own, as a fault may hang or end it: `test_stress.py` waits for that process with a limit.
"""

import contextlib
import gc
import resource
import sys
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import jaxops

TABLE = np.arange(1000, dtype=np.float32).reshape(100, 10)
GOOD, BAD = np.array([1, 99, 3], np.int32), np.array([1, 200, 3], np.int32)
ERRORS = (jax.errors.JaxRuntimeError, ValueError, IndexError)
OUT_OF_BOUNDS = "indices[1] = 200 is not in [0, 100)"


def gather(table, indices):
    return jaxops.gather(table, indices)


def scatter(table, indices):
    """As many rows as the gather reads, at the same indices: each adds itself to zeros."""
    return jaxops.scatter_nd(indices[:, None], table[: indices.shape[0]], [100, 10])


CALLS = {
    "eager-gather": (gather, OUT_OF_BOUNDS),
    "jit-gather": (jax.jit(gather), OUT_OF_BOUNDS),
    "jit-grad": (jax.jit(jax.grad(lambda t, i: gather(t, i).sum())), OUT_OF_BOUNDS),
    "eager-scatter": (scatter, "indices[1] = [200] does not index into shape [100,10]"),
    "jit-scatter": (jax.jit(scatter), "indices[1] = [200] does not index into shape [100,10]"),
}


def expected_results(table):
    sums = np.zeros_like(table)
    np.add.at(sums, GOOD, table[:3])
    counts = np.zeros_like(table)
    np.add.at(counts, GOOD, 1)
    gathered = table[GOOD]
    return dict(zip(CALLS, (gathered, gathered, counts, sums, sums), strict=True))


EXPECTED = expected_results(TABLE)


def fails(text, function, *args):
    """One failing call. What it raises is dropped here, with all that its traceback holds."""
    try:
        jax.block_until_ready(function(*args))
    except ERRORS as error:
        if text not in str(error):
            raise AssertionError(f"{text!r} is not in {str(error)[-500:]!r}") from None
    else:
        raise AssertionError("no error")


def succeeds(name, table, good):
    np.testing.assert_array_equal(CALLS[name][0](table, good), EXPECTED[name])


def on_device():
    return jnp.asarray(TABLE), jnp.asarray(GOOD), jnp.asarray(BAD)


def resident_bytes():
    """Memory of this process; the most that it ever had where that is all the system tells."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def one_after_the_other(scale):
    """All kinds of calls in turn, and how much memory a failing one leaves behind.

    An exception that is kept, with its traceback, takes 7,900 bytes or more. Of 400 calls of each
    kind 600 bytes at most were seen, as the heap grows in steps; of 8,000 calls 22.
    """
    table, good, bad = on_device()
    for name, (function, text) in CALLS.items():
        succeeds(name, table, good)
        for _ in range(min(1000, 100 * scale)):
            fails(text, function, table, bad)
        gc.collect()
        before = resident_bytes()
        for _ in range(400 * scale):
            fails(text, function, table, bad)
        gc.collect()
        growth = (resident_bytes() - before) / (400 * scale)
        assert growth < (4000 if scale == 1 else 400), (name, growth)
        succeeds(name, table, good)


def in_threads(work):
    """Runs `work(seed)` in eight threads at once; raises what one of them raises."""
    with ThreadPoolExecutor(8) as pool:
        return [*pool.map(work, range(8))]


def threads(scale):
    """Good and bad calls at once, each thread in an order of its own."""
    table, good, bad = on_device()

    def work(seed):
        rng, failed = np.random.default_rng(seed), 0
        for _ in range(125 * scale):
            name = rng.choice(list(CALLS))
            if rng.random() < 0.5:
                succeeds(name, table, good)
            else:
                function, text = CALLS[name]
                fails(text, function, table, bad)
                failed += 1
        return failed

    assert sum(in_threads(work))
    for name in CALLS:
        succeeds(name, table, good)


def threads_that_compile(scale):
    """Each thread compiles functions of its own, while others fail."""
    table, good, bad = on_device()

    def work(seed):
        for n in range(2 * scale):

            def function(table, indices, by=seed * 1000 + n):
                return gather(table, indices) * by

            compiled = jax.jit(function)
            fails(OUT_OF_BOUNDS, compiled, table, bad)
            np.testing.assert_array_equal(
                compiled(table, good), EXPECTED["jit-gather"] * np.float32(seed * 1000 + n)
            )
            fails(OUT_OF_BOUNDS, gather, table, bad)

    in_threads(work)


@jax.jit
def scanned(table, indices):
    def step(total, indices):
        return total + gather(table, indices).sum(), None

    return lax.scan(step, jnp.float32(0), indices)[0]


@jax.jit
def looped(table, indices):
    """Every step depends on the one before."""

    def step(n, row):
        return gather(table, indices[n] + row[:1].astype(jnp.int32) * 0)[1]

    return lax.fori_loop(0, indices.shape[0], step, jnp.zeros(10, jnp.float32))


def scans(scale):
    """Where in a scan of 10,000 steps the bad index stands, or that all are bad."""
    length = 10_000
    table, good, bad = jnp.asarray(TABLE) / 1024, np.tile(GOOD, (length, 1)), BAD
    total = float(scanned(table, good))
    row = np.asarray(looped(table, good))
    for turn in range(2 * scale):
        for first in (0, turn, length // 2, length - 1):
            indices = good.copy()
            indices[first:] = bad if turn % 2 else indices[first:]
            indices[first] = bad
            fails(OUT_OF_BOUNDS, scanned, table, indices)
            fails(OUT_OF_BOUNDS, looped, table, indices)
        if float(scanned(table, good)) != total:
            raise AssertionError("the sum is another one")
        np.testing.assert_array_equal(looped(table, good), row)
    assert row.tolist() == (TABLE[99] / 1024).tolist()


@jax.jit
def slow_gather(table, indices):
    """Work that takes longer than to dispatch it, before the index is known."""
    zero = lax.fori_loop(0, 200, lambda n, x: jnp.sin(x), jnp.zeros((1000,)))[0]
    return gather(table, indices + zero.astype(jnp.int32))


def asynchronous(scale):
    """Calls in flight together, one in seven bad, and work dispatched on their results.

    A call may raise when it is dispatched or when its result is used, by itself or by what depends
    on it; never another one.
    """
    table, good, bad = on_device()
    add = jax.jit(lambda x, y: x + y)
    for turn in range(10 * scale):
        outcomes = []
        for n in range(50):
            is_bad = n % 7 == turn % 7
            try:
                result = slow_gather(table, bad if is_bad else good)
                result = add(result, result)
            except ERRORS as error:
                result = error
            outcomes.append((is_bad, result))
        for is_bad, result in outcomes:
            if isinstance(result, Exception):
                if not is_bad or OUT_OF_BOUNDS not in str(result):
                    raise AssertionError(repr(result)[-500:])
            elif is_bad:
                fails(OUT_OF_BOUNDS, np.asarray, result)
            else:
                np.testing.assert_array_equal(result, 2 * EXPECTED["jit-gather"])
        del outcomes, result
    for _ in range(100 * scale):
        with contextlib.suppress(*ERRORS):
            slow_gather(table, bad)  # the result is not used
    try:
        jax.effects_barrier()
    except ERRORS as error:
        if OUT_OF_BOUNDS not in str(error):
            raise
    for name in CALLS:
        succeeds(name, table, good)


if __name__ == "__main__":
    for program in (one_after_the_other, threads, threads_that_compile, scans, asynchronous):
        program(int(sys.argv[1]))
