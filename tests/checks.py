"""Comparisons that tests of several modules make."""

import jax
import numpy as np
import pytest


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


def share(names, number):
    """Parameters of which `make test` takes one in `number`, and `make test-slow` the others."""
    return [
        pytest.param(name, marks=[pytest.mark.slow] if n % number else [])
        for n, name in enumerate(names)
    ]
