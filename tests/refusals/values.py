"""What the calls that are refused are made of: the arguments of valid calls, and how to call."""

import functools
from typing import Any, NamedTuple

import jax
import numpy as np

import jaxops

X = np.arange(12, dtype=np.float32).reshape(4, 3)
I = np.zeros((2, 1), np.int32)  # noqa: E741
U = np.ones((2, 3), np.float32)
IMAGES = np.zeros((4, 2, 2, 4), np.float32)
SIZES, ONES = [1, 2, 2, 1], [1, 1, 1, 1]
WINDOW = (SIZES, ONES, ONES)  # of images: sizes, strides and rates
NO_PADS = [[0, 0], [0, 0]]

# What compiled code raises: JAX decides which, with the words of the exception inside.
IN_JIT = (jax.errors.JaxRuntimeError, ValueError)


# Functions, as a module with doctests must not start JAX by being imported.
@functools.cache
def key():
    with jax.ensure_compile_time_eval():  # not traced, whoever calls it first
        return jax.random.key(0)


@functools.cache
def slices():
    with jax.ensure_compile_time_eval():
        return jaxops.IndexedSlices(U, [0, 1], (4, 3))


def in_jit(f, x):
    """`f(x)` with a traced `x`, computed to the end."""
    return jax.block_until_ready(jax.jit(f)(np.array(x)))


def in_x64(f, *args, **kwargs):
    with jax.enable_x64(True):
        return f(*args, **kwargs)


class Traced(NamedTuple):
    """A value for an argument that is traced."""

    value: Any
