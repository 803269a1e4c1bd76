"""Uses of a table that are refused: the words, the place, and whether the remedy works."""

import re
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from sparse_checks import assert_sparse, square, table

import jaxops

pytestmark = pytest.mark.usefixtures("x32")
I = jnp.array([3, 0, 3], jnp.int32)  # noqa: E741
TIED = "With tied=True its gradient has a dense part"


MESH = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))


class Refused(NamedTuple):
    use: Any
    words: str  # from the operation on the table to the one that takes all rows
    instead: str
    remedy: Any = None  # the use, written in the way that the message says


def in_a_while_loop(t):
    return lax.while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] + square(t[c[0]])), (0, 0.0)
    )[1]


def in_a_scan(t):
    return lax.fori_loop(0, 3, lambda n, so_far: so_far + square(t[n]), 0.0)


def product_in_a_scan(t):
    return lax.scan(lambda c, i: (c + jnp.sum(t[i] @ t.T), None), 0.0, I)[0]


def returned_by_a_loop(t):
    return square(lax.scan(lambda c, i: (c, t), 0.0, I)[1][0][I])


def put_into_a_carry(t):
    return square(lax.scan(lambda c, i: (t, None), jnp.zeros_like(t), I)[0][I])


@jax.custom_vjp
def doubled(t):
    return 2 * t


doubled.defvjp(lambda t: (2 * t, t), lambda t, g: (g + 0.1 * t,))
REDUCE = "Reduce the rows that are looked up instead. "
IN_FILE = r" at test_whole_uses.py:\d+ "
PLACE = IN_FILE + r"\(<lambda>\)"
REFUSED = {
    "tied": Refused(lambda t: square(t[I] @ t.T), f"transpose{PLACE}, and reduce_sum", TIED),
    "tied in jit": Refused(jax.jit(lambda t: square(t[I] @ t.T)), f"transpose{PLACE}", TIED),
    "tied in checkpoint": Refused(
        jax.checkpoint(lambda t: square(t[I] @ t.T)), f"transpose{PLACE}", TIED),
    "tied in scan": Refused(product_in_a_scan, f"transpose{PLACE}", TIED),
    "tied in scan in checkpoint": Refused(
        jax.checkpoint(product_in_a_scan), f"transpose{PLACE}", TIED),
    "returned by a loop": Refused(returned_by_a_loop, f"scan{IN_FILE}", TIED),
    "put into a carry": Refused(put_into_a_carry, f"scan{IN_FILE}", TIED),
    "a backward rule of its own": Refused(
        lambda t: square(doubled(t)[I]), f"custom_vjp_call{PLACE}", TIED),
    "softmax of all": Refused(
        lambda t: jax.nn.logsumexp(t[I] @ t.T), f"transpose{PLACE}, and reduce_sum", TIED),
    "product of all": Refused(lambda t: jnp.sum(t.T @ t), "dot_general|transpose", TIED),
    "sum": Refused(
        lambda t: jnp.sum(jnp.tanh(t)), f"tanh{PLACE}, and reduce_sum{PLACE} takes all rows",
        REDUCE, lambda t: jnp.sum(jnp.tanh(t[I]))),
    "norm": Refused(
        lambda t: jnp.linalg.norm(t[:, 0]), f"slice, with all of its first axis{PLACE}, and",
        REDUCE,
        lambda t: jnp.linalg.norm(t[I, 0])),
    "largest": Refused(lambda t: jnp.max(2 * t), f"mul{PLACE}, and reduce_max{PLACE}", REDUCE,
        lambda t: jnp.max(2 * t[I])),
    "one of two": Refused(
        lambda t: jnp.sum(lax.cond(t[0, 0] > 0, lambda: 2 * t, lambda: t)),
        f"mul{PLACE}, and reduce_sum{PLACE} takes all rows", REDUCE,
        lambda t: jnp.sum(lax.cond(t[0, 0] > 0, lambda: 2 * t[I], lambda: t[I]))),
    "pad": Refused(lambda t: jnp.sum(jnp.pad(t, 1)), f"pad{PLACE}, and reduce_sum", REDUCE,
        lambda t: jnp.sum(jnp.pad(t[I], 1))),
    "where": Refused(lambda t: jnp.sum(jnp.where(t > 0, t, 0.0)), f"select_n{PLACE}, and", REDUCE,
        lambda t: jnp.sum(jnp.where(t[I] > 0, t[I], 0.0))),
    "columns": Refused(
        lambda t: square(jnp.take(t, I % 3, axis=1)),
        f"gather, with all of its first axis{PLACE}, and", REDUCE,
        lambda t: square(jnp.take(t[I], I % 3, axis=1))),
    "columns, mapped": Refused(
        lambda t: square(jax.vmap(lambda i: lax.dynamic_slice_in_dim(t, i, 2, 1))(I % 2)),
        f"gather, with all of its first axis{PLACE}",
        "Look rows up, and choose columns of these, table[rows][:, columns]",
        lambda t: square(jax.vmap(lambda i: lax.dynamic_slice_in_dim(t[I], i, 2, 1))(I % 2))),
    "slice of columns": Refused(
        lambda t: square(t.T[1:]), f"transpose{PLACE}, and slice{PLACE} takes all rows", TIED),
    "average of columns": Refused(
        lambda t: square((t - jnp.mean(t, axis=0, keepdims=True))[I]), "reduce_sum", REDUCE),
    "rows in pairs": Refused(
        lambda t: square(jnp.pad(t, ((0, 1), (0, 0))).reshape(4, 6)[I]), f"pad{PLACE}, and", TIED),
    "other rows": Refused(
        lambda t: square(t.reshape(3, 7)[I % 3]), f"reshape{PLACE}",
        "Look rows up of the table in its own shape, and reshape these"),
    "multiplied rows": Refused(
        lambda t: square(t.at[I].multiply(2.0)[I]), f"scatter-mul{PLACE}",
        "Look rows up first, table[indices], and compute with these",
        lambda t: square(4.0 * t[I] * jnp.array([[1.0], [0.5], [1.0]]))),
    "mapped over rows": Refused(
        lambda t: square(lax.map(jnp.tanh, t)[I]), f"scan{PLACE}",
        "Let the loop go through indices",
        lambda t: square(lax.map(lambda i: jnp.tanh(t[i]), I))),
    "stacked tables": Refused(
        lambda t: jax.vmap(lambda t: square(t[I % 3]))(t).sum(),
        f"gather, with all of its first axis{PLACE}, and",
        "Of several tables that vmap stacks, map the gradient"),
    "cumsum": Refused(lambda t: square(jnp.cumsum(t, axis=0)[I]), f"cumsum{PLACE}", TIED),
    "scan": Refused(
        lambda t: lax.scan(lambda c, row: (c + square(row), None), 0.0, t)[0], f"scan{PLACE}",
        "Let the loop go through indices, and look rows up in its body, table[index]",
        lambda t: lax.scan(lambda c, i: (c + square(t[i]), None), 0.0, I)[0]),
    "changed by a loop": Refused(
        lambda t: square(lax.scan(lambda t, i: (2 * t, t[i]), t, I)[1]), f"scan{PLACE}",
        "with the table as it is",
        lambda t: square(lax.scan(lambda c, i: (2 * c, c * t[i]), 1.0, I)[1])),
    "while_loop": Refused(
        in_a_while_loop, r"while at test_whole_uses.py:\d+ \(in_a_while_loop\)",
        "A while_loop has no gradient: write lax.scan, or lax.fori_loop with bounds", in_a_scan),
    # Their derivatives gather from the tangent of the table, or slice it.
    "sorted rows": Refused(lambda t: square(jnp.sort(t, axis=0)[I]), f"sort{PLACE}", TIED),
    "largest so far": Refused(lambda t: square(lax.cummax(t, axis=0)[I]), f"cummax{PLACE}", TIED),
    "product so far": Refused(
        lambda t: square(jnp.cumprod(2 * t, axis=0)[I]), f"mul{PLACE}, and cumprod{PLACE}", TIED),
    "largest of two": Refused(
        lambda t: square(lax.reduce_window(t, -jnp.inf, lax.max, (2, 1), (1, 1), "VALID")[I]),
        f"reduce_window_max{PLACE}", TIED),
    "sharded_gather of a product": Refused(
        lambda t: square(jaxops.sharded_gather(2 * t, I, "d", mesh=MESH)),
        f"mul{PLACE}, and sharded_gather{PLACE}", "compute with the rows that it returns",
        lambda t: square(2 * jaxops.sharded_gather(t, I, "d", mesh=MESH))),
    "sharded_gather of a cast": Refused(
        lambda t: square(jaxops.sharded_gather(t.astype(jnp.float16), I, "d", mesh=MESH)),
        f"convert_element_type{PLACE}, and sharded_gather{PLACE}", "or look rows up by gather",
        lambda t: square(jaxops.gather(t.astype(jnp.float16), I))),
    "a derivative of its own": Refused(
        lambda t: square(jax.nn.relu(t)[I]), f"custom_jvp_call{PLACE}",
        "Call the function with rows that are looked up", lambda t: square(jax.nn.relu(t[I]))),
    "one-hot product": Refused(
        lambda t: square(jax.nn.one_hot(I, 7) @ t), f"dot_general{PLACE}",
        "Look rows up, table[indices], in place of a product with a one-hot matrix",
        lambda t: square(t[I])),
    "in JAX's own code": Refused(lambda t: square(jnp.linalg.qr(t)[0][I]), f"qr{PLACE}", TIED),
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if "sharded_gather" in name else ())
        for name in REFUSED
    ],
)
def test_refused(name):
    use, words, instead, remedy = REFUSED[name]
    message = rf"table '' must be used by lookups of rows only; received a use by ({words})"
    for call in (lambda f: f, jax.jit):
        with pytest.raises(ValueError, match=message) as info:
            call(jaxops.sparse_value_and_grad(use, tables=""))(table(7, 3))
        assert instead in str(info.value)
        assert re.search(r"at test_whole_uses.py:\d+", str(info.value))
        if "tied=True" in str(info.value):
            gradient = assert_sparse(use, table(7, 3), tables="", tied=True, tolerance=1e-5)
            assert isinstance(gradient, jaxops.TiedGradient)
        else:
            assert name == "while_loop"
    if remedy is not None:
        assert_sparse(remedy, table(7, 3), tables="")


def test_two_uses_of_which_one_is_for_aux():
    """The one with a gradient is named."""

    def loss(t):
        metric = jnp.max(jnp.abs(t))
        return jnp.sum(jnp.exp(t)), metric

    with pytest.raises(ValueError, match=r"a use by exp at .*, and reduce_sum at"):
        jaxops.sparse_value_and_grad(loss, tables="", has_aux=True)(table(7, 3))


# Calls of functions of JAX, whose own equations have no line of the caller.
OF_JAX = {
    "jit": lambda f, t: jax.jit(f)(t),
    "checkpoint": lambda f, t: jax.checkpoint(f)(t),
    "cond": lambda f, t: lax.cond(t[0, 0] > 0, f, jnp.max, t),
    "switch": lambda f, t: lax.switch(I[0], [f, jnp.min, jnp.max], t),
    "vmap": lambda f, t: jnp.sum(jax.vmap(f)(t)),
    "scan": lambda f, t: lax.scan(lambda c, _: (c + f(t), None), 0.0, None, 2)[0],
}


@pytest.mark.parametrize("name", OF_JAX)
def test_a_use_within_a_function_of_jax_is_at_the_line_of_the_call(name):
    def loss(t):
        return OF_JAX[name](jnp.sum, t)

    line = OF_JAX[name].__code__.co_firstlineno
    with pytest.raises(ValueError, match=rf"a use by \w+ at test_whole_uses\.py:{line} "):
        jaxops.sparse_value_and_grad(loss, tables="")(table(7, 3))
