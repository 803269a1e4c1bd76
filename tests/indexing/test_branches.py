"""The branch that raises, which the checks of a block of a program share."""

import itertools
import re
from typing import Any

import fast
import jax
import jax.experimental
import jax.numpy as jnp
import numpy as np
import pytest
from checks import raised
from jax import lax
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import jaxops
from jaxops._call_sites import CallSite
from jaxops._indexing import branches
from jaxops._indexing.specs import ScalarIndex


class ExemptIndex(ScalarIndex):
    """An index of a call that may be out of bounds, as the stack tells when the program runs."""

    def find_error(self, *args):
        return None


TABLE, ROWS = jnp.arange(10.0), jnp.ones((100, 100))
GOOD = (jnp.array([3, 0]), jnp.array([[1], [9]]), jnp.array(4), jnp.array([0]), jnp.array([2, 5]))
NUMBERS = (10, -1, 11, 12, 13)  # that are out of bounds
BAD = [i.at[(0,) * i.ndim].set(number) for i, number in zip(GOOD, NUMBERS, strict=True)]


def lookups(table, *indices):
    return sum(jaxops.gather(table, i).sum() * number for number, i in enumerate(indices, 1))


def branches_of(program, *args):
    """The numbers of branches, and of reductions of bits, of a program."""
    text = jax.jit(program).lower(*args).as_text()
    return text.count("stablehlo.case"), len(re.findall(r":2 = stablehlo\.reduce", text))


def test_the_checks_of_a_program_share_a_branch():
    """Checks of as many indices share a reduction; a check of one index needs none."""
    assert branches_of(lookups, TABLE, *GOOD) == (1, 1)
    expected = sum(float(np.sum(i)) * number for number, i in enumerate(GOOD, 1))
    assert float(jax.jit(lookups)(TABLE, *GOOD)) == expected


def test_there_is_one_call_of_python():
    text = jax.jit(lookups).lower(TABLE, *GOOD).as_text()
    assert text.count("@xla_ffi_python_cpu_callback(") == 1


@pytest.mark.parametrize("spec", [P(), P("d")], ids=str)
@pytest.mark.parametrize("axes", [(), ("d",), ("d", "m")], ids=str)
def test_devices_meet_in_the_branch_that_raises(axes, spec):
    """At a collective before the call of Python; `axes` are those of `shard_map`.

    `device_programs.py` looks at what XLA compiles.
    """
    mesh = AbstractMesh((4, 2), ("d", "m"), axis_types=(AxisType.Auto,) * 2)
    program = jaxops.gather
    if axes:
        options = {"in_specs": (P(), spec), "out_specs": spec, "axis_names": {*axes}}
        program = jax.shard_map(program, mesh=mesh, **options)
    table, i = (
        jax.ShapeDtypeStruct((16,), dtype, sharding=NamedSharding(mesh, of_argument))
        for dtype, of_argument in ((jnp.float32, P()), (jnp.int32, spec))
    )
    text = jax.jit(program).trace(table, i).lower(lowering_platforms=("cpu",)).as_text()
    branch = text.partition("stablehlo.case")[2].partition("@xla_ffi_python_cpu_callback")[0]
    assert "stablehlo.all_reduce" in branch


def test_a_branch_has_so_many_checks(monkeypatch):
    monkeypatch.setattr(branches, "_MOST_CHECKS", 2)
    program = jax.jit(lambda *args: lookups(*args))
    assert branches_of(program, TABLE, *GOOD)[0] == 3
    for number, bad in enumerate(BAD):
        indices = [*GOOD[:number], bad, *BAD[number + 1 :]]
        assert raised(program, TABLE, *indices).index == NUMBERS[number]


@pytest.mark.parametrize("bad", [*itertools.product([False, True], repeat=5)][1:])
def test_the_first_error_is_raised(bad):
    indices = [b if is_bad else g for g, b, is_bad in zip(GOOD, BAD, bad, strict=True)]
    error = raised(jax.jit(lookups), TABLE, *indices)
    assert error.index == NUMBERS[bad.index(True)]


def test_indices_that_were_read():
    """Their check needs what the check before it lets through, and has a branch of its own."""
    ids = jnp.array([1, 9, 10])

    def program(table, ids, i):
        first = jaxops.gather(table, jaxops.gather(ids, i)) + jaxops.gather(table, i)
        return first + jaxops.gather(table, jaxops.gather(ids, i + 1))

    assert branches_of(program, TABLE, ids, 0)[0] == 3
    assert float(jax.jit(program)(TABLE, ids, 0)) == 1 + 0 + 9
    for i, index in ((1, 10), (2, 10), (3, 3), (-1, -1)):
        assert raised(jax.jit(program), TABLE, ids, i).index == index


def test_errors_in_order():
    """An index that was read out of bounds is no error: the index that read it is."""

    def program(table, ids, i, j):
        a = jaxops.gather(ids, i)
        slow = jnp.sort(jnp.sin(jnp.full(3000, 1.0) * j)).argmax()
        b = jaxops.gather(table, jnp.where(slow < 0, slow, 0))
        return b + jaxops.gather(table, a)

    for ids in (jnp.array([1, 99]), jnp.zeros(branches._MOST_INDICES + 9, int).at[-1].set(99)):
        for i in (jnp.array(len(ids)), jnp.full(branches._MOST_INDICES + 1, len(ids))):
            assert raised(jax.jit(program), TABLE, ids, i, 1.0).index == len(ids)
            text = jax.jit(program).lower(TABLE, ids, i, 1.0).as_text()
            first, _ = re.findall(r"(%\S+) = \"stablehlo.case\"", text)
            assert f"callback({first}, " in text


def test_indices_of_many_operations():
    """To move them before the branch would take longer than XLA takes to compile a branch."""

    def program(count):
        def run(table, i):
            first = jaxops.gather(table, i)
            for _ in range(count):
                i = jnp.sin(i).astype(int)
            return first + jaxops.gather(table, i)

        return run

    assert branches_of(program(20), TABLE, 0)[0] == 1
    assert branches_of(program(200), TABLE, 0)[0] == 2


def test_indices_of_many_components():
    """Their check alone has more operations than are moved for indices."""
    table = TABLE.reshape(10, *[1] * 49)

    def program(table, i, j):
        return jaxops.gather_nd(table, i) + jaxops.gather_nd(table, j)

    i = jnp.zeros((3, table.ndim), int)
    j = i.at[:, 0].set(jnp.array([2, 0, 9]))
    assert branches_of(program, table, i, j)[0] == 1
    np.testing.assert_array_equal(jax.jit(program)(table, i, j), [2.0, 0.0, 9.0])
    assert raised(jax.jit(program), table, i, j.at[1, 48].set(1)).position == (1,)


def test_indices_that_a_branch_computes():
    """The branch takes values of the program around it, which have to be moved with it."""

    def program(table, i, j):
        first = jaxops.gather(table, i)
        j = i + j
        k = lax.cond(i > 3, lambda: j * 2, lambda: j)
        return first + jaxops.gather(table, k)

    assert branches_of(program, TABLE, 0, 0)[0] == 1 + 1  # one of them is the program's own
    assert float(jax.jit(program)(TABLE, 4, 0)) == 4 + 8
    assert raised(jax.jit(program), TABLE, 4, 1).index == 10


# --- loops that might never end with what was read out of bounds ---

_seen: list[int] = []


def until_ten(number):
    """A loop that ends with 10, for the test also after some steps; Python sees the result."""

    def step(state):
        return state[0] + 1, state[1] + 1

    number = lax.while_loop(lambda c: (c[0] < 20) & (c[1] != 10), step, (0, number))[1]
    return jax.experimental.io_callback(lambda n: _seen.append(int(n)) or n, number, number)


@jax.custom_jvp
def with_a_rule(count):
    return until_ten(count)


with_a_rule.defjvp(lambda primals, tangents: (until_ten(*primals), tangents[0]))


def with_own_rule(f):
    function = jax.custom_jvp(f)
    function.defjvp(lambda primals, tangents: (function(*primals), 0.0))
    return function


def in_a_scan(count):
    return lax.scan(lambda n, _: (until_ten(n), None), count, length=2)[0]


COUNTS = jnp.array([8, 9, 10, 500], "int32")
LOOPS = {
    "while_loop": until_ten,
    "jit": jax.jit(until_ten),
    "cond": lambda count: lax.cond(count > 0, until_ten, lambda n: n, count),
    "scan": in_a_scan,
    "checkpoint": jax.checkpoint(until_ten),
    "custom_jvp": with_a_rule,
}
READS = {
    "x[i]": lambda x, i: x[i],
    "x[i].max()": lambda x, i: x[jnp.full(10, i)].max(),
    "sorted": lambda x, i: x[jnp.sort(jnp.full(10, i))].max(),
    "take": lambda x, i: jnp.take(x, i),
    "second take": lambda x, i: jnp.take(x, jnp.take(x, i * 0) * 0) * 0 + jnp.take(x, i),
    "gather": jaxops.gather,
    "in a checkpoint": jax.checkpoint(lambda x, i: x[i]),
    "in a branch": lambda x, i: lax.cond(i > -1, lambda: x[i], lambda: x[0]),
    "in a scan": lambda x, i: lax.scan(lambda _, k: (x[i], k), x[0], None, length=3)[0],
    "in a long scan": lambda x, i: lax.scan(
        lambda n, _: (n + x[jnp.full((64, 64), i)].max(), None), x[0] * 0, length=1
    )[0],
    "in a loop": lambda x, i: lax.while_loop(lambda n: n == 0, lambda _: x[i], 0),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("loop", LOOPS)
def test_no_loop_runs_with_what_was_read_out_of_bounds(loop, read):
    """Whether or not another loop comes before the read, or another check after the loop."""
    read, loop = READS[read], LOOPS[loop]

    def program(x, i):
        return loop(read(x, i)), jnp.sort(jnp.sin(jnp.arange(3000.0)))

    def after_a_loop(x, i):
        return loop(read(x, jnp.minimum(i, until_ten(0))))

    def before_a_check(x, i):
        number = loop(read(x, i))
        return number + x[number * 0 + i]

    for function in (program, after_a_loop, before_a_check):
        checked = jax.jit(jaxops.checked(function))
        checked(COUNTS, 1)
        _seen.clear()
        assert raised(checked, COUNTS, 4).index == 4
        assert _seen in ([], [10])


def test_programs_without_such_loops_do_not_wait():
    """A read waits for its check only if there is a loop whose number of steps is not known."""

    def waits(loop, before=lambda i: i, within=lambda f: f):
        def program(table, i):
            return loop(within(lambda table, i: jaxops.gather(table, before(i)))(table, i))

        text = jax.jit(program).lower(TABLE, 1).as_text()
        return re.search(r"stablehlo.add .*: tensor<1xi\d+>", text) is not None

    limit = jnp.array(7)

    def loop_with(cond, body, start: float = 0):
        return lambda x: lax.while_loop(cond, body, (start, x))

    counted = [
        lambda x: x,
        lambda x: lax.scan(lambda n, k: (n + k, k), x, jnp.ones(3))[0],
        lambda x: lax.fori_loop(0, 5, lambda _, n: jnp.sin(n), x),
        lambda x: jax.random.normal(jax.random.key(0)) + x,
        loop_with(lambda c: c[0] < 10, lambda c: (c[0] + 1, c[1] * 2)),
    ]
    assert not any(map(waits, counted))
    within = (jax.jit, jax.checkpoint, with_own_rule, lambda f: jax.jit(jax.checkpoint(f)))
    assert all(waits(lambda x: until_ten(x.astype(int)), within=f) for f in within)
    others = [
        loop_with(lambda c: c[0] < 10, lambda c: (c[0] + -1, c[1] * 2)),
        loop_with(lambda c: c[0] < 10, lambda c: (c[0] * 2, c[1] * 2)),
        loop_with(lambda c: c[1] < 10, lambda c: (c[0] + 1, c[1] * 2)),
        loop_with(lambda c: c[0] < c[1], lambda c: (c[0] + 1, c[1] * 2)),
        loop_with(lambda c: c[0] <= 10, lambda c: (c[0] + 1, c[1] * 2)),
        loop_with(lambda c: limit < 10, lambda c: (c[0] + 1, c[1] * 2)),
        loop_with(lambda c: lax.lt(np.array(5, c[0].dtype), c[0]), lambda c: (c[0] + 1, c[1] * 2)),
        loop_with(lambda c: c[0] < 10, lambda c: (c[0] + 1, c[1] * 2), start=0.0),
        lambda x: lax.fori_loop(0, x.astype(int), lambda _, n: jnp.sin(n), x),
        lambda x: lax.while_loop(lambda n: n < 10, lambda n: n + 1, x.astype(int)),
    ]
    assert all(map(waits, others))
    assert waits(lambda x: x, before=lambda i: lax.while_loop(lambda n: n > 9, lambda n: n // 2, i))


def kernels(program, *args):
    compiled = fast.optimized_jit(jaxops.checked(program)).lower(*args).compile().as_text()
    return str(compiled).partition("ENTRY")[2].count(" fusion(")


def test_indices_that_wait_are_not_written():
    """XLA makes one loop of the check and another one of the reads, as where no loop is left."""

    def program(step):
        return lambda table, i: (table[i[:, 0]], lax.while_loop(lambda n: n < 10, step, i[0, 0]))

    i = jnp.zeros((100, 2), "int32")
    waits, ends = program(lambda n: n * 2 + 1), program(lambda n: n + 1)
    assert kernels(waits, ROWS, i) == kernels(ends, ROWS, i)


def test_an_index_has_one_kernel_more():
    """Only its check; XLA computes the index again for the read, and stacks no components."""
    assert kernels(lambda x, i: x[i] + x[i, 0], ROWS, 2) == 1 + 1
    assert kernels(lambda x, i: x[i] + x[i + 1, i], ROWS, 2) == 1 + 1


def test_blocks_have_branches_of_their_own():
    """An index is looked at where the program comes to it."""

    def program(table, is_first, i):
        table = table + jaxops.gather(table, i)
        first = lambda: jaxops.gather(table, i + 1) + jaxops.gather(table, i + 2)  # noqa: E731
        second = lambda: jaxops.gather(table, i + 3)  # noqa: E731
        return lax.cond(is_first, first, second) + jaxops.gather(table, i + 1)

    assert branches_of(program, TABLE, True, 0)[0] == 1 + 3  # one of them is the program's own
    assert float(jax.jit(program)(TABLE, True, 7)) == 8 + 9 + 8 + 3 * 7
    for is_first, i, index in ((True, 8, 10), (False, 7, 10), (True, 10, 10), (False, -1, -1)):
        assert raised(jax.jit(program), TABLE, is_first, i).index == index


def test_many_indices_end_a_branch():
    """They need not stay in memory for the checks after theirs."""
    many = jnp.zeros(branches._MOST_INDICES + 1, int)
    assert branches_of(lookups, TABLE, *GOOD, many[1:], *GOOD) == (1, 2)
    assert branches_of(lookups, TABLE, *GOOD, many, *GOOD) == (2, 3)
    assert raised(jax.jit(lookups), TABLE, *GOOD, many.at[7].set(14)).index == 14


@pytest.mark.parametrize("size", [3, branches._MOST_INDICES + 1])
def test_a_wide_index_is_named_first(size):
    """Its check ends no branch, as the number that int32 holds of it is out of bounds as well."""
    with jax.enable_x64(True):
        wide = jnp.zeros(size, "int64").at[1].set(2**32 + 10)
        program = jax.jit(jaxops.checked(lambda table, i: table[i]))
        assert branches_of(program, TABLE, wide)[0] == 1
        assert raised(program, TABLE, wide).index == 2**32 + 10


def test_an_index_that_is_exempt():
    """JAX traces the function by its name: the stack tells whose call it is when it runs."""
    take = jax.jit(jnp.take_along_axis)
    compiled = jaxops.checked(lambda: take.lower(TABLE, GOOD[0]).compile())()

    def call(i):
        return compiled(TABLE, i)

    exempt = jaxops.checked(call, outside={"*:*": "any"})
    np.testing.assert_array_equal(exempt(BAD[0]), take(TABLE, BAD[0]))
    assert raised(jaxops.checked(call), BAD[0]).index == 10


def test_a_column_of_an_argument_is_not_copied():
    """Unless the program may write to the argument."""

    def program(table, edges):
        ends = jaxops.gather(table, edges[:, 0]) + jaxops.gather(table, edges[:, 1])
        return ends, edges.at[0, 0].set(0)

    edges = jnp.zeros((8, 2), "int32")
    for donated, handed in (((), ["8x2"] * 2), ((1,), ["8x1"] * 2)):
        text = jax.jit(program, donate_argnums=donated).lower(TABLE, edges).as_text()
        (call,) = re.findall(r"@xla_ffi_python_cpu_callback.*", text)
        assert re.findall(r"tensor<(8x.)xi32>", call) == handed
    error = raised(jax.jit(program), TABLE, edges.at[3, 1].set(10))
    assert (error.index, error.position) == (10, (3,))


def test_constant_indices():
    """The host looks at them when the program is compiled."""

    def program(first):
        def run(table, i):
            rows = jnp.arange(3) * 2 + first
            return jaxops.gather(table, rows) + jaxops.gather(table, rows + i)

        return run

    assert branches_of(program(5), TABLE, 0)[0] == 1
    assert branches_of(lambda table, i: program(5)(table, 0), TABLE, 0)[0] == 0
    np.testing.assert_array_equal(jax.jit(program(5))(TABLE, 0), [10, 14, 18])
    for first, i, index in ((6, 0, 10), (6, -20, 10), (5, 1, 10), (-1, 1, -1)):
        assert raised(jax.jit(program(first)), TABLE, i).index == index


@pytest.mark.parametrize("bad", [None, 3000])
def test_many_constant_indices(bad):
    """Such as the edges of a graph; and a mask of those that count."""
    numbers, counts = np.arange(4000, dtype=np.int32) % 10, np.arange(4000) != 3001
    numbers[[3001] if bad is None else [bad, 3001]] = 10

    def program(table):
        def read(i, counts):
            return lax.cond(counts, lambda: jaxops.gather(table, i), lambda: 0.0)

        return jax.vmap(read)(numbers, counts)

    assert branches_of(program, TABLE)[0] == (bad is not None)
    if bad is None:
        np.testing.assert_array_equal(jax.jit(program)(TABLE), np.where(counts, numbers, 0))
    else:
        error = raised(jax.jit(program), TABLE)
        assert (error.index, error.position) == (10, (bad,))


def in_64_bits(f):
    """The function, with 64-bit types for this part of a program."""

    def run(*args):
        with jax.enable_x64(True):
            args = [lax.convert_element_type(x, x.dtype.name.replace("32", "64")) for x in args]
            return lax.convert_element_type(f(*args), np.float32)

    return run


PARTS = {
    "read": lambda x, i: x[i],
    "gather": jaxops.gather,
    "add": lambda x, i: x.at[i].add(x[i]),
    "scatter_nd": lambda x, i: jaxops.scatter_nd(i[:, None], x[i], x.shape),
    "segment_sum": lambda x, i: jaxops.unsorted_segment_sum(x[i], i, 5),
    "product": lambda x, i: jax.grad(lambda x: jaxops.unsorted_segment_prod(x[i], i * 0, 1)[0])(x),
    "cond": lambda x, i: jax.vmap(lambda k: lax.cond(k < 9, lambda: x[k], lambda: 0 * x[0]))(i),
    "scan": lambda x, i: lax.scan(lambda c, k: (c + x[k], None), x[0], i)[0],
    "while": lambda x, i: lax.while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + 1, x[i[c[0]]]), (0 * i[0], x[0])
    )[1],
}


def long(x):
    return lax.convert_element_type(x, np.int64)


@pytest.mark.parametrize(("loop", "start", "index"), [("scan", 2, 7), ("while_loop", -7, -7)])
def test_64_bits_for_the_steps_of_a_loop(loop, start, index, x32, recwarn):
    """No operand and no result of the loop has 64 bits."""

    def steps(x, i):
        with jax.enable_x64(True):
            step = lambda i, _=None: lax.convert_element_type(x[long(i)], np.int32)  # noqa: E731
            if loop == "scan":
                return lax.scan(lambda i, _: (step(i), None), i, length=3)[0]
            return lax.while_loop(lambda i: i < 3, step, i)

    x, program = jnp.array([1, 2, 3, 7, 3], "int32"), jax.jit(jaxops.checked(steps))
    assert program(x, 0) == jax.jit(steps)(x, 0) == 3
    assert raised(program, x, start).index == index
    assert not [*recwarn]


@pytest.mark.parametrize("name", PARTS)
def test_64_bits_for_a_part(name, x32, recwarn):
    """JAX lowers a program when the block that switched 64-bit types on has ended."""
    part = in_64_bits(PARTS[name])
    x, i = jnp.arange(5, dtype=np.float32), jnp.array([0, 1, 3], dtype=np.int32)
    program = jax.jit(jaxops.checked(part))
    np.testing.assert_array_equal(program(x, i), part(x, i))
    assert not [*recwarn]
    assert raised(program, x, i + 2).index == 5


def test_other_indices_than_those_of_the_program_are_a_defect():
    """Never silence: the program found one out of bounds."""

    def look(kind, *indices) -> Any:
        kinds = kind, ScalarIndex
        checks = [
            branches._Check(
                kind(name, (4,)), CallSite("", None), lambda x: [x], slice(n, n + 1), False
            )
            for n, (kind, name) in enumerate(zip(kinds, ["gather", "scatter"], strict=True))
        ]
        return branches._look(checks, *map(np.asarray, indices))

    good, bad = [[3], [0]], [[3], [7]]
    for indices in ((bad, good), (good, bad), (bad, [[9]])):
        assert look(ScalarIndex, *indices).index == 7
    assert look(ExemptIndex, bad, good) == 0
    assert look(ExemptIndex, bad, [[9]]).index == 9
    with pytest.raises(AssertionError, match="scatter: NumPy finds no index out of bounds"):
        look(ExemptIndex, good, good)
