"""Comparisons that tests of several modules make."""

import inspect
import math
import os
import subprocess
import sys
import zlib

import jax
import numpy as np
import pytest

import jaxops


def assert_equal(actual, expected):
    """Values and shape, of arrays or of what NumPy makes one of."""
    np.testing.assert_array_equal(np.asarray(actual), np.asarray(expected))
    assert np.shape(actual) == np.shape(expected)


def assert_all_equal(actual, expected):
    """Lists of arrays: values, shapes and dtypes."""
    for x, y in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(x), y, strict=True)


def assert_fails(text, function, *args):
    """With `text` in the error, whatever JAX makes of one that a callback raises."""
    with pytest.raises((jax.errors.JaxRuntimeError, ValueError, IndexError)) as info:
        jax.block_until_ready(function(*args))
    assert text in str(info.value)


def raised(f, *args):
    """The error of an index out of bounds that a call raises, compiled or not."""
    with pytest.raises(jaxops.OutOfBoundsError) as caught, jaxops.typed_errors():
        jax.block_until_ready(f(*args))
    return caught.value


def printed_by(*arguments, env=None, **options):
    """What Python prints with these arguments in a process that succeeds."""
    command = [sys.executable, *map(str, arguments)]
    env = {**os.environ, "JAX_PLATFORMS": "cpu", **(env or {})}
    done = subprocess.run(command, capture_output=True, text=True, env=env, **options)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def exported_for(platform, function, *args):
    """A program for another platform, that runs here where nothing of that platform is in it."""
    anywhere = [jax.export.DisabledSafetyCheck.platform()]
    program = jax.jit(function)
    return jax.export.export(program, platforms=[platform], disabled_checks=anywhere)(*args)


def primitives(f, *args, platform=None):
    """The names of the primitives of a traced call, in order; `equations` tells which they are."""
    return [eqn.primitive.name for eqn in equations(jax.make_jaxpr(f)(*args), platform)]


def equations(program, platform=None):
    """The equations of a program, in order. A call of a `jit` is replaced by its equations.

    With a `platform`, a choice between platforms is replaced by the equations for that platform.
    """
    for eqn in program.eqns:
        called = eqn.params["jaxpr"] if eqn.primitive.name == "jit" else None
        for n, platforms in enumerate(eqn.params.get("branches_platforms") or ()):
            if platform and called is None and platform in (platforms or [platform]):
                called = eqn.params["branches"][n]
        yield from equations(called, platform) if called else [eqn]


def names_with(argument, holder):
    """The public functions of a module, or methods of a class, that have this argument."""
    functions = inspect.getmembers(holder, inspect.isroutine)
    public = {name: f for name, f in functions if not name.startswith("_")}
    return {name for name, f in public.items() if argument in inspect.signature(f).parameters}


SLOW, NIGHTLY = [pytest.mark.slow], [pytest.mark.slow, pytest.mark.nightly]


def share(names, number):
    """Parameters of which one in `number` has no mark; the others are marked as nightly."""
    return [pytest.param(name, marks=NIGHTLY if n % number else []) for n, name in enumerate(names)]


def share_of_each_function(items, number, of):
    """One in `of` of the tests of each test function, the same tests in each run.

    A test function with fewer than `of` tests gives one test to every other number, so that two
    numbers that follow each other have a test of every function.
    """
    by_function = grouped_by_function(items)
    few = [name for name, tests in by_function.items() if len(tests) < of]
    for name in few[number % 2 :: 2]:
        del by_function[name]
    taken = []
    for tests in by_function.values():
        taken += drawn(tests)[number % len(tests) :: of]
    return taken


def rest_of_sweeps(items):
    """The tests that `make test` leaves to `make test-slow`.

    Of the quick tests of each test function `make test` takes the square root of their number.
    """
    quick = [item for item in items if not item.get_closest_marker("slow")]
    by_function = grouped_by_function(quick).values()
    return {test for tests in by_function for test in drawn(tests)[math.isqrt(len(tests)) :]}


def drawn(tests):
    """The tests in an order without a pattern, the same in each run.

    In their own order every third test of two parameters may have one value of the second.
    """
    return sorted(tests, key=lambda item: zlib.crc32(item.nodeid.encode()))


def grouped_by_function(items):
    by_function = {}
    for item in items:
        by_function.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return by_function
