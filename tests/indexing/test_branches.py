"""The branch that raises, which the checks of a block of a program share."""

import itertools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import raised
from jax import lax

import jaxops
from jaxops._call_sites import CallSite
from jaxops._indexing import branches
from jaxops._indexing.specs import ScalarIndex


class ExemptIndex(ScalarIndex):
    """An index of a call that may be out of bounds, as the stack tells when the program runs."""

    def find_error(self, *args):
        return None


TABLE = jnp.arange(10.0)
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
    """Checks of as many indices share a reduction."""
    assert branches_of(lookups, TABLE, *GOOD) == (1, 2)
    expected = sum(float(np.sum(i)) * number for number, i in enumerate(GOOD, 1))
    assert float(jax.jit(lookups)(TABLE, *GOOD)) == expected


def test_one_check_comes_after_the_other():
    """Each call takes the result of the one before it, so that XLA runs them in this order."""
    text = jax.jit(lookups).lower(TABLE, *GOOD).as_text()
    calls = re.findall(r"(%\S+) = \S+ @xla_ffi_python_cpu_callback\(.*?(%\S+)\) ", text)
    assert [last for _, last in calls][1:] == [result for result, _ in calls][:-1]
    assert len(calls) == len(GOOD)


@pytest.mark.parametrize("bad", [*itertools.product([False, True], repeat=5)][1:])
def test_the_first_error_is_raised(bad):
    indices = [b if is_bad else g for g, b, is_bad in zip(GOOD, BAD, bad, strict=True)]
    error = raised(jax.jit(lookups), TABLE, *indices)
    assert error.index == NUMBERS[bad.index(True)]


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
    assert branches_of(lookups, TABLE, *GOOD, many[1:], *GOOD) == (1, 3)
    assert branches_of(lookups, TABLE, *GOOD, many, *GOOD) == (2, 5)
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
        assert re.findall(r"callback.*: \(tensor<(8x.)xi32>", text) == handed
    error = raised(jax.jit(program), TABLE, edges.at[3, 1].set(10))
    assert (error.index, error.position) == (10, (3,))


def test_other_indices_than_those_of_the_program_are_a_defect():
    """Never silence: the program found one out of bounds."""
    specs = [ScalarIndex("gather", limits=(4,)), ScalarIndex("scatter", limits=(4,))]
    look = lambda number, *args: branches._look(  # noqa: E731
        specs, number, CallSite("", None), lambda x, _: [x], *map(np.asarray, args)
    )
    found = look(1, [[3], [7]], 0)
    assert isinstance(found, jaxops.OutOfBoundsError)
    assert found.index == 7
    assert look(1, [[3], [0]], 0) == 0
    specs[0] = ExemptIndex("gather", limits=(4,))
    assert look(1, [[3], [7]], 0) == 1
    assert look(2, [[3], [0]], 1) == 1
    with pytest.raises(AssertionError, match="scatter: NumPy finds no index out of bounds"):
        look(2, [[3], [0]], 0)
