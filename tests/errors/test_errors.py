"""Received values in the words of errors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxops._errors import brief


class Unprintable:
    def __repr__(self):
        raise KeyError("unprintable")


nested: list = []
for _ in range(100_000):
    nested = [nested]

BRIEF = {
    "number": (3, "3"),
    "scalar": (np.array(3), "array(3)"),
    "vector": (np.array([1, 2]), "array([1, 2])"),
    "matrix": (np.zeros((1, 2), np.int8), "an array of shape (1, 2) and dtype int8"),
    "matrix-of-jax": (jnp.zeros((1, 2), "int8"), "an array of shape (1, 2) and dtype int8"),
    "keys": (jax.random.key(0), "an array of dtype key<fry>"),
    "list": ([], "[]"),
    "list-of-scalars": ([np.array(3)], "[array(3)]"),
    "list-of-vectors": ([np.array([1, 2])], "[array([1, 2])]"),
    "list-of-matrices": (
        [np.zeros((1, 2), bool), 3],
        "a list of 2, the first an array of shape (1, 2) and dtype bool",
    ),
    "nested": (nested, "a list nested too deeply to print"),
    "unprintable": (Unprintable(), "a Unprintable that cannot be printed (KeyError)"),
    "long": ("a" * 198, f"'{'a' * 198}'"),
    "longer": ("a" * 199, f"'{'a' * 199}..."),
}


@pytest.mark.parametrize("name", BRIEF)
def test_brief(name):
    value, words = BRIEF[name]
    assert brief(value) == words


def test_brief_of_a_traced_array():
    words = []
    jax.eval_shape(lambda x: words.append(brief(x)), jnp.zeros((1, 2)))
    assert words == ["a traced array of shape (1, 2)"]
