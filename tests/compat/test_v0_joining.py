"""Slicing and joining: the orders of arguments before and after 0.12; examples of its documents."""

# pyright: reportCallIssue=false, reportArgumentType=false

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxops.compat import v0

X = np.arange(12, dtype=np.float32).reshape(4, 3)
ROW = X[:1]

# By function calls that mean the same, and their value: axes and sizes of other kinds than in
# test_every_call_that_a_release_allows, and what may be read in more than one way.
SPELLINGS = {
    "concat": (
        [
            lambda: v0.concat([-2], (X, ROW)),
            lambda: v0.concat((X, ROW), np.array([0])),
            lambda: v0.concat(np.int64(0), [X, ROW], "name"),
            lambda: v0.concat([X, ROW], np.int32(0), name="name"),
        ],
        np.concatenate([X, ROW]),
    ),
    "concat-array": (
        [
            lambda: v0.concat(1, X[None]),
            lambda: v0.concat(X[None], 1),
            lambda: v0.concat([X[None]], 0),
        ],
        X[None],
    ),
    "split": (
        [lambda: v0.split(X, [1, 1, 1], 1), lambda: v0.split_v(X, [1, 1, 1], split_dim=1)],
        np.split(X, 3, 1),
    ),
    "reverse": (
        [lambda: v0.reverse(X, [False, True]), lambda: v0.reverse(X, np.array([-1]))],
        X[:, ::-1],
    ),
    "pad": (
        [lambda: v0.pad(input=X, paddings=[[1, 0], [0, 0]], name="REFLECT")],
        np.concatenate([ROW * 0, X]),
    ),
}


@pytest.mark.parametrize("case", SPELLINGS)
def test_spellings(case):
    calls, expected = SPELLINGS[case]
    for n, call in enumerate(calls):
        for result in (call(), jax.jit(lambda call=call: call())()):
            np.testing.assert_array_equal(result, expected, err_msg=f"{case}-{n}")


def test_shapes_are_computed_while_tracing():
    """In both orders, as an axis that is known is no value of the program."""

    def filled(x):
        rows, columns = v0.unpack(v0.shape(x))
        shape = v0.concat([[rows], [columns]], 0)
        return jnp.ones(v0.concat(0, [shape, v0.pack([2], 0)]))

    assert jax.jit(filled)(X).shape == (4, 3, 2)


def test_gradients_pass_through():
    def loss(x):
        first, second = v0.split(x, [1, 3])
        return (v0.concat([v0.reverse(second, [0]), 2 * first], 0) * X).sum()

    ours = jax.grad(loss)(X)
    np.testing.assert_array_equal(ours, np.concatenate([2 * X[3:], X[2::-1]]))
