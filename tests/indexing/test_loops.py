"""Loops that carry the indices of their checks, and raise at their end."""

import functools
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import raised
from jax import lax

import jaxops

TABLE = jnp.arange(1.0, 6.0)
GOOD, BAD = jnp.array([3, 0, 4]), jnp.array([3, 5, 9])


def _scan(read, table, i):
    return lax.scan(lambda total, j: (total + read(table, j), total), 0.0, i)


def _in_a_branch(read, table, i):
    def step(total, j):
        branches = [lambda: total, lambda: total + read(table, j), lambda: read(table, j)]
        return lax.switch(j % 3, branches), None

    return lax.scan(step, 0.0, i)[0]


def _in_a_condition(read, table, i):
    """Goes on while the table has a number that is not 1: reads three times."""
    go_on = lambda state: read(table, i[state[0]]) != 1.0  # noqa: E731
    return lax.while_loop(go_on, lambda state: (state[0] + 1, state[1] + 1.0), (0, 0.0))


def _while(read, table, i):
    step = lambda state: (state[0] + 1, state[1] + read(table, i[state[0]]))  # noqa: E731
    return lax.while_loop(lambda state: state[0] < 3, step, (0, 0.0))


def _written(read, table, i):
    def step(n, x):
        return x.at[n].set(read(table, i[n])) if n is not None else x

    return lax.fori_loop(0, 3, step, jnp.zeros(3))


def _nested(read, table, i):
    row = lambda n, total: total + _scan(read, table * n, i)[0]  # noqa: E731
    return lax.fori_loop(0, 3, row, 0.0)


def _by_calls(read, table, i):
    first = jax.custom_jvp(jax.jit(lambda j: read(table, j)))
    first.defjvp(lambda p, t: (first(*p), 0.0))
    second = jax.custom_vjp(first)
    second.defvjp(lambda j: (second(j), None), lambda _, bar: (bar,))
    return lax.map(lambda j: jax.jit(second)(j), i)


def _vectors(read, table, i):
    return lax.map(lambda j: read(table, jnp.stack([j, j])), i)


def _keys(read, table, i):
    """The results have a key, bools and floats of 16 bits."""

    def step(state, j):
        key, _, _ = state
        return (jax.random.fold_in(key, j), j > 2, read(table, j).astype(jnp.bfloat16)), None

    key, is_large, number = lax.scan(step, (jax.random.key(0), False, jnp.bfloat16(0)), i)[0]
    return jax.random.key_data(key), is_large, number


def _lanes(read, table, i):
    return jax.vmap(lambda table: _scan(read, table, i)[0])(jnp.stack([table, 2 * table]))


def _lanes_of_indices(read, table, i):
    return jax.vmap(lambda j: _scan(read, table, jnp.stack([j, j]))[0])(i)


def _gradient(read, table, i):
    return jax.grad(lambda table: _scan(read, table, i)[0] ** 2)(table)


def _while_of_lanes(read, table, i):
    """Each call takes as many steps as its index says, and one more."""

    def count_up(j, key):
        step = lambda s: (s[0] + 1, s[1] + read(table, j), jax.random.fold_in(s[2], s[0]))  # noqa: E731
        return lax.while_loop(lambda s: s[0] <= j, step, (0, 0.0, key))

    steps, totals, keys = jax.vmap(count_up)(i, jax.random.split(jax.random.key(0), 3))
    return steps, totals, jax.random.key_data(keys)


def _checkpoint(read, table, i):
    step = jax.checkpoint(lambda table, j: read(table, j) ** 2)
    return jax.value_and_grad(lambda table: lax.map(lambda j: step(table, j), i).sum())(table)


def _solve(read, table, i):
    def step(j):
        solve = lambda _, b: b / 2 + read(table, j)  # noqa: E731
        number = j.astype(table.dtype)
        return lax.custom_linear_solve(lambda x: 2 * x, number, solve, symmetric=True)

    return lax.map(step, i)


def _by_rule_of_vmap(read, table, i):
    step = jax.custom_batching.custom_vmap(lambda table, j: read(table, j))
    step.def_vmap(lambda size, batched, table, j: (jax.vmap(read)(table, j), True))
    return lax.map(lambda j: step(table, j), i)


def _platform(read, table, i):
    other = lambda table, j: table[0]  # noqa: E731
    return lax.map(lambda j: lax.platform_dependent(table, j, cpu=read, default=other), i)


def _composite(read, table, i):
    step = lax.composite(lambda table, j: read(table, j), "test.read")
    return lax.map(lambda j: step(table, j), i)


LOOPS = {
    "scan": _scan,
    "branch": _in_a_branch,
    "condition": _in_a_condition,
    "while": _while,
    "write": _written,
    "nested": _nested,
    "calls": _by_calls,
    "vectors": _vectors,
    "keys": _keys,
    "lanes": _lanes,
    "lanes of indices": _lanes_of_indices,
    "gradient": _gradient,
    "while of lanes": _while_of_lanes,
    "checkpoint": _checkpoint,
    "solve": _solve,
    "rule of vmap": _by_rule_of_vmap,
    "platform": _platform,
    "composite": _composite,
}


def of_jax(table, i):
    return table[i]


def has_call_in_loop(function, *args):
    """Whether a loop of the compiled program has a step that calls Python."""
    text = str(jax.jit(function).lower(*args).compile().as_text())
    computations = dict(
        re.findall(r"^%?([\w.\-]+) \(.*?\{\n(.*?)^\}", text, re.DOTALL | re.MULTILINE)
    )
    waiting = re.findall(r" while\(.*?body=%?([\w.\-]+)", text)
    assert waiting
    seen = set()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            lines = computations[name]
            if "custom-call" in lines:
                return True
            waiting += [word for word in re.findall(r"%([\w.\-]+)", lines) if word in computations]
    return False


@pytest.mark.parametrize("read", [jaxops.gather, jaxops.checked(of_jax)], ids=["gather", "checked"])
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop(name, read):
    loop = LOOPS[name]
    checked = jax.jit(lambda table, i: loop(read, table, i))
    expected = jax.jit(lambda table, i: loop(of_jax, table, i))(TABLE, GOOD)
    jax.tree.map(np.testing.assert_array_equal, checked(TABLE, GOOD), expected)
    assert not has_call_in_loop(checked, TABLE, GOOD)
    for _ in range(2):
        error = raised(checked, TABLE, BAD)
        assert (error.index if isinstance(error.index, int) else error.index[0]) == 5
        assert error.where.startswith("test_loops.py:")


def test_the_first_error_of_a_step_is_named():
    """The second index is what the step read at the first, which is out of bounds."""

    def program(table, i):
        return lax.map(lambda j: jaxops.gather(table, 7 + jaxops.gather(i, j)), jnp.arange(4))

    assert raised(jax.jit(program), TABLE, jnp.array([-7, -4, -3])).index == 3


def interpreter(count):
    """A loop that runs one of `count` instructions in each step, of which each reads twice."""

    def instruction(number, table, i):
        return table[jnp.stack([i, i]) + number][1] * 100 + table[i + 2 * number]

    instructions = [functools.partial(instruction, number) for number in range(count)]
    step = lambda table, at: lax.switch(at[0], instructions, table, at[1])  # noqa: E731
    return jaxops.checked(
        lambda table, words, i: lax.scan(lambda _, at: (0, step(table, at)), 0, (words, i))[1]
    )


def test_checks_share_what_a_loop_carries():
    """Each branch returns what the loop carries, so a step took longer with each check more."""
    args = jnp.arange(9), jnp.array([0, 7, 3]), jnp.array([8, 1, 2])

    def carried(count):
        text = jax.jit(interpreter(count)).lower(*args).as_text()
        return re.findall(r"= stablehlo.while\((.*)", text)[0].count("=")

    assert carried(2) == carried(8)


@pytest.mark.parametrize(
    ("word", "i", "index", "position"),
    [
        (3, 2, None, None),
        *((7, 2, 9, (0,)), (4, 5, 9, (0,)), (0, -10, -10, (0,))),  # of the pair
        *((4, 2, 10, ()), (7, 1, 15, ())),
    ],
)
def test_a_check_among_those_of_branches(word, i, index, position):
    """The first of two, of two shapes, in one of eight branches."""
    args = jnp.arange(9), jnp.array([0, word, 2]), jnp.array([0, i, 0])
    program = jax.jit(interpreter(8))
    if index is None:
        np.testing.assert_array_equal(program(*args), [0, 508, 204])
    else:
        error = raised(program, *args)
        assert (error.index, error.position) == (index, position)


# --- what never ends with a number that was read out of bounds ---


def follow(table, start, until=2):
    return lax.while_loop(lambda i: i != until, lambda i: jaxops.gather(table, i), start)


def within(transformed, loop=lax.map):
    """A loop which never ends at the 0 that is read, where the loop around it cannot end it."""
    until = lambda step, last: lax.while_loop(lambda k: k < last, lambda k: k + step, 0)  # noqa: E731

    def program(table, i):
        return loop(lambda j: transformed(until, jnp.maximum(jnp.take(table, 4 + j), 0)), i + I)

    return program


def by_while(step, xs):
    return lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, step(xs[s[0]])), (0, 0))[1]


I = jnp.arange(2)  # noqa: E741
HIDDEN = [
    lambda until, step: jax.vmap(lambda last: until(step, last))(jnp.array([5, 7])).sum(),
    lambda until, step: jax.checkpoint(until)(step, 5),
    lambda until, step: lax.platform_dependent(
        step, cpu=lambda step: until(step, 5), default=lambda step: until(step, 6)
    ),
    lambda until, step: lax.composite(lambda step: until(step, 5), "test.until")(step),
    lambda until, step: lax.custom_linear_solve(
        lambda x: x, jnp.float32(step), lambda _, b: b + jnp.float32(until(step, 5)), symmetric=True
    ).astype(int),
]


@pytest.mark.parametrize(
    "program",
    [
        follow,
        *map(within, HIDDEN),
        *(within(hidden, by_while) for hidden in HIDDEN),
        lambda table, i: lax.map(lambda i: follow(table, i), i[None]),
        # A loop without a check, in the step and after the loop: for ever at the 4 that JAX reads.
        lambda table, i: lax.map(
            lambda i: lax.while_loop(lambda j: j == 4, lambda j: 8 - j, jaxops.gather(table, i)),
            jnp.stack([i, i + 4]),
        ),
        lambda table, i: lax.while_loop(lambda j: j == 4, lambda j: 8 - j, follow(table, i)),
        # The same in a function and a branch that have no check.
        lambda table, i: lax.map(
            lambda i: jax.jit(
                lambda j: lax.cond(
                    j > 3, lambda: lax.while_loop(lambda j: j == 4, lambda j: 8 - j, j), lambda: j
                )
            )(jaxops.gather(table, i)),
            jnp.stack([i, i + 4]),
        ),
    ],
)
def test_it_ends(program):
    table = jnp.array([1, 3, 2, 9, 4])  # from 3 to 9; JAX reads 4 there, for ever
    program = jaxops.checked(program)
    assert raised(jax.jit(program), table, 0 if program is follow else 1).index in (5, 9)


# JAX itself keeps a tracer of the function with calls.
@pytest.mark.parametrize("name", [name for name in LOOPS if name != "calls"])
def test_no_tracer_leaks(name):
    with jax.checking_leaks():
        jax.block_until_ready(jax.jit(functools.partial(LOOPS[name], jaxops.gather))(TABLE, GOOD))


# --- loops that raise in the step ---


def test_a_step_with_effects(capfd):
    def step(total, j):
        jax.debug.callback(lambda j: print("step", j), j, ordered=True)
        return total + jaxops.gather(TABLE, j), None

    raised(jax.jit(lambda i: lax.scan(step, 0.0, i)[0]), BAD)
    assert "step 9" not in capfd.readouterr().out


@pytest.mark.parametrize(("size", "is_large"), [(50, False), (100, True)])
def test_a_step_of_many_elements(size, is_large):
    matrix = jnp.ones((size, size))
    program = lambda i: lax.map(lambda j: jnp.exp(matrix) + jaxops.gather(TABLE, j), i)  # noqa: E731
    assert has_call_in_loop(program, GOOD) == is_large
    assert raised(jax.jit(program), BAD).index == 5


def test_a_large_array_that_a_step_writes():
    def program(x, i):
        write = lambda x, j: (jaxops.tensor_scatter_nd_update(x, j[None, None], [1.0]), None)  # noqa: E731
        return lax.scan(write, x, i)[0]

    x = jnp.zeros(100_000)
    assert not has_call_in_loop(program, x, GOOD)
    memory: Any = jax.jit(program, donate_argnums=0).lower(x, GOOD).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 10_000
    assert raised(jax.jit(program), x, BAD * 100_000).index == (300_000,)


def test_an_empty_axis():
    """The notes of a loop begin with the index 0, which is out of bounds for such an axis."""

    def step(j):
        return lax.cond(
            j >= 0, lambda: jaxops.gather(TABLE, j), lambda: jaxops.gather(TABLE[:0], j)
        )

    program = jax.jit(lambda i: lax.map(step, i))
    np.testing.assert_array_equal(program(GOOD), TABLE[GOOD])
    for index, bound in ((5, 5), (-1, 0)):
        error = raised(program, jnp.array([0, index]))
        assert (error.index, error.bound) == (index, bound)


def test_a_function_that_is_exempt():
    """JAX traces the function by its name: the stack tells whose call it is when it runs."""
    write = jax.jit(functools.partial(jnp.logaddexp.at, inplace=False))
    compiled = jaxops.checked(lambda: write.lower(TABLE, GOOD, 1.0).compile())()

    def call(i):
        return compiled(TABLE, i, 1.0)

    exempt = jaxops.checked(call, outside={"*:*": "any"})
    np.testing.assert_array_equal(exempt(BAD), write(TABLE, BAD, 1.0))
    assert raised(jaxops.checked(call), BAD).index == 5


@pytest.mark.parametrize("prevent_cse", [True, False, (True, False)])
def test_checkpoints_that_say_which_operands_count(prevent_cse):
    saved = jax.checkpoint(jaxops.gather, prevent_cse=prevent_cse)
    read = lambda i: saved(TABLE, i)  # noqa: E731
    down = lambda s: (s[0] - 1, s[1] + read(s[0]))  # noqa: E731

    def of_lanes(i):
        return jax.vmap(lambda k: lax.while_loop(lambda s: s[0] > 0, down, (k, 0.0))[1])(i)

    def sparse(i):
        loss = jaxops.sparse_value_and_grad(lambda table: saved(table, i).sum(), tables="")
        return loss(TABLE)[1].to_dense()

    for f in (lambda i: lax.map(read, i), of_lanes, sparse):
        compiled = jax.jit(f)
        assert raised(compiled, BAD).index in (5, 9)
        assert np.isfinite(compiled(GOOD)).all()
