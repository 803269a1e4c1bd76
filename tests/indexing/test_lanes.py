"""Checks in what `vmap` computes for calls of a batch that do not come to it."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checked.transformed import TRANSFORMATIONS
from checks import raised, share
from jax import lax
from jax.custom_batching import sequential_vmap
from jax.experimental import checkify

import jaxops
from jaxops import _jax_internals

TABLE = jnp.arange(1.0, 6.0)


def _ignored(table, i):
    return jaxops.gather(table, i, mode="fill")


def _custom_jvp_of_rule(table, i):
    """Only its rule can raise."""
    function = jax.custom_jvp(_ignored)
    rule = lambda p, t: (_ignored(*p), jaxops.gather(t[0], p[1]))  # noqa: E731
    function.defjvp(rule)
    return function(table, i)


def _custom_jvp_of_two(table, i):
    """With a rule that takes no symbolic zeros, of which `jax.grad` has one here."""
    function = jax.custom_jvp(lambda table, scale, i: scale * _ignored(table, i))

    @function.defjvp
    def _(primals, tangents):
        table, scale, i = primals
        dot = scale * jaxops.gather(tangents[0], i) + tangents[1] * jaxops.gather(table, i)
        return function(*primals), dot

    return function(table, 2.0, i)


def _by_custom_vjp(in_primal, in_forward, in_backward):
    """A lookup that raises in some of its three functions."""

    def lookup(raises, table, i):
        return jaxops.gather(table, i) if raises else _ignored(table, i)

    def bwd(residuals, bar):
        i, like = residuals
        mode = "device" if in_backward else "fill"
        zeros = jnp.zeros_like(like)
        return jaxops.tensor_scatter_nd_add(zeros, i[None, None], bar[None], mode=mode), None

    @jax.custom_vjp
    def function(table, i):
        return lookup(in_primal, table, i)

    function.defvjp(lambda table, i: (lookup(in_forward, table, i), (i, table)), bwd)
    return function


def _solve(table, i):
    matvec = lambda x: x * jaxops.gather(table, i)  # noqa: E731
    solve = lambda matvec, b: b / matvec(1.0)  # noqa: E731
    return lax.custom_linear_solve(matvec, 1.0, solve, solve)


def _condition(table, i):
    """Reads in the condition of a loop."""
    body = lambda x: x + 1.0  # noqa: E731
    return lax.while_loop(lambda x: x < jaxops.gather(table, i), body, 0.0)


def _inner_lanes(table, i):
    """A batch in a call, of which each reads if it is even, and the odd ones are far outside."""

    def one(k):
        read = lambda: jaxops.gather(table, i + 100 * (k % 2))  # noqa: E731
        return lax.cond(k % 2 == 0, read, lambda: 0.0)

    return jax.vmap(one)(jnp.arange(2)).sum()


def _gather(table, i):
    """`jax.custom_jvp` would trace the default of `batch_dims`."""
    return jaxops.gather(table, i)


# Functions of a table and an index that raise where the index is outside.
READS = {
    "read": jaxops.gather,
    **{
        name: TRANSFORMATIONS[name](_gather)
        for name in ("jit", "trace", "checkpoint", "scan", "cond", "custom_jvp", "map", "vmap")
    },
    "jit-of-jit": lambda table, i: jax.jit(lambda j: jax.jit(jaxops.gather)(table, j))(i),
    "switch": lambda table, i: lax.switch(1, [lambda: 0.0, lambda: jaxops.gather(table, i)]),
    "inner-lanes": _inner_lanes,
    "solve": _solve,
    "twice": lambda table, i: jaxops.gather(table, i) + 0 * jaxops.gather_nd(table, i[None]),
    "scatter": lambda table, i: jaxops.tensor_scatter_nd_add(table, i[None, None], table[:1])[0],
}
READS_WITHOUT_GRADIENTS = {
    "while": TRANSFORMATIONS["while_loop"](jaxops.gather),
    "condition": _condition,
}
RULES = {
    "custom_jvp-of-rule": _custom_jvp_of_rule,
    "custom_jvp-of-two": _custom_jvp_of_two,
    **{
        f"custom_vjp-{''.join('pfb'[n] for n in range(3) if where[n])}": _by_custom_vjp(*where)
        for where in itertools.product([False, True], repeat=3)
        if where[1] or where[2]  # the primal is not run where derivatives are taken
    },
}


def _branch(read, table, i, reads):
    return lax.cond(reads, lambda: read(table, i), lambda: 0.0)


def _switch(read, table, i, reads):
    return lax.switch(2 * reads.astype(int), [lambda: 0.0, lambda: 1.0, lambda: read(table, i)])


def _step(read, table, i, reads):
    """A loop of one step for the calls that read, and of none for others."""
    return lax.while_loop(
        lambda c: c[0], lambda c: (jnp.zeros_like(c[0]), read(table, i)), (reads, 0.0)
    )[1]


def _scanned(read, table, i, reads):
    """A branch in a step of a scan."""
    return lax.scan(lambda c, r: (c + _branch(read, table, i, r), None), 0.0, reads[None])[0]


def _reversed(read, table, i, reads):
    """The last of the results of a scan from the end, in a branch."""

    def steps():
        sums = lax.scan(
            lambda c, n: (c + n * read(table, i),) * 2, 0.0, jnp.arange(1.0, 3), reverse=True
        )
        return sums[1][-1] / 2

    return lax.cond(reads, steps, lambda: 0.0)


def _nested(outer, inner):
    def both(read, table, i, reads):
        return outer(lambda table, i: inner(read, table, i, reads), table, i, reads | (i == 9))

    return both


LANES = {f.__name__[1:]: f for f in (_branch, _switch, _step, _scanned)}
NESTED = {
    f"{outer}-{inner}": _nested(LANES[outer], LANES[inner])
    for outer, inner in itertools.product(LANES, repeat=2)
}
OTHERS = {"reversed": _reversed, **NESTED}
INDICES = jnp.array([0, 7, 3, 9, -8])
READING = np.array([True, False, True, False, False])


def _values(read, lanes, reading, table=TABLE):
    return jax.vmap(functools.partial(lanes, read, table))(INDICES, jnp.asarray(reading))


PAIRS = [
    *itertools.product(READS | READS_WITHOUT_GRADIENTS, ["branch", "step"]),
    *itertools.product(["read"], ["switch", "scanned", "reversed", "branch-branch"]),
]


@pytest.mark.parametrize("pair", share(PAIRS, 3), ids="-".join)
def test_only_the_calls_that_come_to_a_check_raise(pair):
    read, lanes = (READS | READS_WITHOUT_GRADIENTS)[pair[0]], (LANES | OTHERS)[pair[1]]
    values = jax.jit(functools.partial(_values, read, lanes))
    expected = [read(TABLE, i) if r else 0.0 for i, r in zip(INDICES, READING, strict=True)]
    np.testing.assert_array_equal(values(READING), expected)
    np.testing.assert_array_equal(_values(read, lanes, READING), expected)
    for number in (1, 4):  # one more call reads, outside
        raised(values, READING | (np.arange(5) == number))


@pytest.mark.parametrize("read", share(READS | RULES, 2))
def test_gradients_of_the_calls_that_come_to_a_check(read):
    read = (READS | RULES)[read]

    def loss(table, reading):
        return _values(read, _branch, reading, table).sum()

    def by_calls(table, reading):
        one = jax.vmap(jax.value_and_grad(functools.partial(_branch, read)), (None, 0, 0))
        values, gradients = one(table, INDICES, jnp.asarray(reading))
        return values.sum(), gradients.sum(0)

    reading = [i for i, r in zip(INDICES, READING, strict=True) if r]
    value = sum(read(TABLE, i) for i in reading)
    gradient = sum(jax.grad(read)(TABLE, i) for i in reading)
    # The value too: XLA drops a lookup that nothing uses, and its check.
    for both in (jax.jit(jax.value_and_grad(loss)), jax.jit(by_calls)):
        jax.tree.map(np.testing.assert_array_equal, both(TABLE, READING), (value, gradient))
        raised(both, TABLE, READING | (np.arange(5) == 1))


@pytest.mark.parametrize("mapped", [1, 2])
def test_position_of_the_call_that_raises(mapped):
    def f(i, reads):
        return _branch(jaxops.gather, TABLE, i, reads)

    for _ in range(mapped):
        f = jax.vmap(f)
    shape = (1,) * (mapped - 1) + (5,)
    reading = (READING | (np.arange(5) == 3)).reshape(shape)
    for call in (f, jax.jit(f)):
        error = raised(call, INDICES.reshape(shape), jnp.asarray(reading))
        assert (error.position, error.index) == ((0,) * (mapped - 1) + (3,), 9)


@pytest.mark.parametrize("reading", [[False, False], [False, True]])
def test_an_index_that_the_calls_share(reading):
    index = jnp.array([7])  # of the whole batch

    def f(reads):
        return lax.cond(reads, lambda: jaxops.gather(TABLE, index)[0], lambda: 0.0)

    mapped = jax.jit(jax.vmap(f))
    if any(reading):
        raised(mapped, jnp.array(reading))
    else:
        np.testing.assert_array_equal(mapped(jnp.array(reading)), [0, 0])


def test_batched_by_turns():
    """The mask by one `vmap`, the index by the other."""

    def f(i, reads):
        return _branch(jaxops.gather, TABLE, i, reads)

    both = jax.vmap(jax.vmap(f, (None, 0)), (0, None))
    turned = jax.vmap(jax.vmap(f, (0, None)), (None, 0))
    no = jnp.array([False, False])
    for call, indices, shape in ((both, INDICES, (5, 2)), (turned, INDICES, (2, 5))):
        np.testing.assert_array_equal(jax.jit(call)(indices, no), np.zeros(shape))
        raised(jax.jit(call), indices, jnp.array([False, True]))


# JAX knows the functions of a loop or branch again if they are the same ones in each call.
I = jnp.arange(3)  # noqa: E741
READ = functools.partial(jaxops.gather, TABLE)
SAVED = jax.checkpoint(READ)
IS_SHORT, ADD = (lambda s: s[0] < 4), lambda s: (s[0] + 1, s[1] + READ(s[0]))
ADD_AT = lambda k, x: x + READ(k)  # noqa: E731
ADD_OR_NOT = lambda x, k: (x + lax.cond(k < 3, READ, SAVED, k), None)  # noqa: E731
OF_A_BATCH = {
    "while": lambda i: lax.while_loop(IS_SHORT, ADD, (i, 0.0))[1],
    "fori": lambda i: lax.fori_loop(0, i, ADD_AT, 0.0),
    "cond": lambda i: lax.cond(i < 2, READ, SAVED, i),
    "switch": lambda i: lax.switch(i, [READ, SAVED, jnp.sqrt], i),
    "scan": lambda i: lax.scan(ADD_OR_NOT, 0.0, i + I)[0],
    "derivative": lambda i: jax.grad(lambda x: x * lax.cond(i < 2, READ, SAVED, i))(2.0),
}


@pytest.mark.parametrize("f", OF_A_BATCH.values(), ids=OF_A_BATCH.keys())
def test_eager_calls_compile_once(f, caplog):
    first = jax.vmap(f)(I)
    jax.vmap(f)(I)
    with jax.log_compiles():
        np.testing.assert_array_equal(jax.vmap(f)(I), first)
    assert not [r for r in caplog.records if r.message.startswith("Compiling")]


def test_checkify():
    mapped = checkify.checkify(functools.partial(_values, jaxops.gather, _branch))
    assert mapped(READING)[0].get() is None
    error, _ = mapped(READING | (np.arange(5) == 1))
    assert "indices[1] = 7 is not in [0, 5)" in (error.get() or "")


def test_a_predicate_that_is_not_batched_leaves_the_program():
    def f(i, reads):
        return _step(jaxops.gather, TABLE, i, reads) + _branch(jaxops.gather, TABLE, i, reads)

    program = jax.make_jaxpr(jax.vmap(f, (0, None)))(INDICES, True)
    names = {eqn.primitive.name for eqn in _jax_internals.equations_in(program.jaxpr)}
    assert "cond" in names
    assert "and" not in names


def test_sharding_of_a_jit_stays():
    sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    read = jax.jit(jaxops.gather, in_shardings=(sharding, sharding), out_shardings=sharding)
    np.testing.assert_array_equal(_values(read, _branch, READING), [1, 0, 4, 0, 0])
    program = str(jax.make_jaxpr(functools.partial(_values, read, _branch))(READING))
    assert "sharding_constraint" in program


@jax.custom_jvp
def _without_derivative(x):
    return 2 * x


@_without_derivative.defjvp
def _(primals, tangents):
    raise NotImplementedError


# A primitive into which no mask goes, whose program has a rule and no check.
_sequential = sequential_vmap(lambda x: _without_derivative(x))


@pytest.mark.parametrize("function", [_without_derivative, _sequential])
def test_rules_without_checks_stay(function):
    def read(table, i):
        return jaxops.gather(table, i) + function(1.0)

    expected = [float(read(TABLE, i)) if r else 0.0 for i, r in zip(INDICES, READING, strict=True)]
    np.testing.assert_array_equal(_values(read, _branch, READING), expected)


def test_what_no_mask_reaches_is_refused():
    read = sequential_vmap(_gather)
    with pytest.raises(NotImplementedError, match=r"checked inside custom_vmap_call.*lax\.map"):
        _values(read, _branch, READING)
    assert jax.jit(_branch, static_argnums=0)(read, TABLE, 1, True) == 2
