"""Indices that a program computes, computed again in NumPy for the error."""

import functools
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import raised
from jax import lax
from jax.interpreters import mlir
from jax.interpreters.mlir import ir

import jaxops
from jaxops._indexing import sources
from jaxops._primitives import new_primitive

I = jnp.array([3, -2, 0], np.int32)  # noqa: E741
J = jnp.array([2**31 - 1, 5, -(2**31)], np.int32)
B = jnp.array([True, False, True])

# Programs of which each primitive is computed again, of two arrays of integers and a mask.
COMPUTED = {
    "add": lambda i, j, b: i + j,  # wraps around
    "subtract": lambda i, j, b: i - j,
    "multiply": lambda i, j, b: i * j,
    "divide": lambda i, j, b: jnp.stack([lax.div(j, k) for k in (i, j, 0 * i - 1)]),
    "divide unsigned": lambda i, j, b: lax.div(j.astype(np.uint32), i.astype(np.uint32)),
    "remainder": lambda i, j, b: jnp.stack([lax.rem(j, k) for k in (i, j, 0 * i - 1)]),
    "remainder unsigned": lambda i, j, b: lax.rem(j.astype(np.uint32), i.astype(np.uint32)),
    "floor_divide": lambda i, j, b: jnp.stack([j // i, i // j, j // 3, i // -2]),
    "mod": lambda i, j, b: jnp.stack([j % i, i % j, j % 3, i % -2]),
    "negate": lambda i, j, b: -j,
    "abs": lambda i, j, b: abs(j) + abs(i),
    "sign": lambda i, j, b: jnp.sign(j) + jnp.sign(i.astype(np.uint32)).astype(np.int32),
    "minimum": lambda i, j, b: jnp.minimum(i, j),
    "maximum": lambda i, j, b: jnp.maximum(i, j),
    "and": lambda i, j, b: i & j,
    "or": lambda i, j, b: i | j,
    "xor": lambda i, j, b: i ^ j,
    "not": lambda i, j, b: ~i,
    "shift_left": lambda i, j, b: jnp.stack([lax.shift_left(j, k) for k in (i, 0 * i + 31, j)]),
    "shift_right": lambda i, j, b: jnp.stack([j >> k for k in (i, 0 * i + 31, j)]),
    "shift_right unsigned": lambda i, j, b: j.astype(np.uint32) >> i.astype(np.uint32),
    "shift_right_logical": lambda i, j, b: lax.shift_right_logical(j, i),
    "shift_right_arithmetic": lambda i, j, b: lax.shift_right_arithmetic(
        j.astype(np.uint32), i.astype(np.uint32)
    ),
    "clamp": lambda i, j, b: lax.clamp(np.int32(-1), j, np.int32(1)) + lax.clamp(0 * i, j, i),
    "not of bools": lambda i, j, b: ~b,
    "select": lambda i, j, b: lax.select(b, i, j),
    "constant": lambda i, j, b: i + np.array([7, 8, 9], np.int32),
    "iota": lambda i, j, b: lax.broadcasted_iota(np.int32, (3, 2), 0) + i[:, None],
    "compare": lambda i, j, b: jnp.stack([i < j, i <= j, i > j, i >= j, i == i, i != j]),
    "unsigned": lambda i, j, b: i.astype(np.uint32) < j.astype(np.uint32),
    "convert": lambda i, j, b: j.astype(np.int8),
    "convert a mask": lambda i, j, b: b.astype(np.int32) + i.astype(bool).astype(np.int32),
    "reshape": lambda i, j, b: i.reshape(3, 1),
    "broadcast_in_dim": lambda i, j, b: lax.broadcast_in_dim(i, (2, 3, 2), [1]),
    "transpose": lambda i, j, b: jnp.transpose(lax.broadcast_in_dim(i, (2, 3), [1])),
    "reverse": lambda i, j, b: lax.rev(jnp.stack([i, j]), [1]) - lax.rev(jnp.stack([j, i]), [0, 1]),
    "slice": lambda i, j, b: lax.slice(i, [1], [3]) + lax.slice(j, [0], [3], [2]),
    "concatenate": lambda i, j, b: jnp.concatenate([i[:, None], j[:, None]], 1),
    "call": lambda i, j, b: jnp.where(b, i, jax.jit(lambda k: k + 1)(j)),
    "shared": lambda i, j, b: functools.reduce(lambda k, _: k + k, range(40), i),
}
# Programs with a part that is in memory.
IN_MEMORY = {
    "gather": lambda i, j, b: j[i % 3] + 1,
    "popcnt": lambda i, j, b: lax.population_count(i) + 1,
    "floats": lambda i, j, b: (i.astype(np.float32) * 0.5).astype(np.int32) + 1,
    "large constant": lambda i, j, b: i[0] + np.arange(2000, dtype=np.int32),
    "loop": lambda i, j, b: lax.fori_loop(0, 3, lambda k, x: x + j, i) + 1,
    "call": lambda i, j, b: jax.jit(lambda k: lax.sort(k) + 1)(i),
    "unrolled": lambda i, j, b: sum((i + k for k in range(500)), i),
}

again_p = new_primitive("computed_again")
again_p.def_abstract_eval(lambda x: x)
found: list[bool | str] = []  # of each source whether it is an argument, or its operation


def _lower(ctx, value):
    """The value as NumPy computes it from its sources."""
    values, types, compute = sources.sources_of(ctx, [value])
    found[:] = [isinstance(value.owner, ir.Block) or value.owner.name for value in values]
    again = lambda *arrays: tuple(compute(*map(np.asarray, arrays)))  # noqa: E731
    results, _, _ = mlir.emit_python_callback(
        ctx.replace(avals_in=types),
        again,
        None,
        values,
        types,
        ctx.avals_out,
        has_side_effect=False,
    )
    return results


mlir.register_lowering(again_p, _lower, cacheable=False)


def result_again(program):
    return jax.jit(lambda *args: again_p.bind(program(*args)))(I, J, B)


@pytest.mark.parametrize("name", COMPUTED)
def test_numpy_computes_what_the_program_does(name):
    program = COMPUTED[name]
    np.testing.assert_array_equal(result_again(program), jax.jit(program)(I, J, B), strict=True)
    assert all(owner is True for owner in found)  # arguments of the program


@pytest.mark.parametrize("name", IN_MEMORY)
def test_values_in_memory_are_sources(name):
    program = IN_MEMORY[name]
    np.testing.assert_array_equal(result_again(program), jax.jit(program)(I, J, B), strict=True)
    assert {*found} - {True}


def test_no_more_is_written_than_the_indices():
    """Three arrays would be written for the branch, where their sum is one."""
    program = lambda i, j, b: lax.sort(i) + lax.sort(j) + lax.sort(i + j)  # noqa: E731
    np.testing.assert_array_equal(result_again(program), program(I, J, B))
    assert found == ["stablehlo.add"]


def test_scalars_wrap_around_without_a_warning():
    program = jax.jit(lambda k: again_p.bind(k * k + k))
    with warnings.catch_warnings(action="error"):
        assert program(jnp.int32(2**30 + 1)) == -(2**30) + 2  # 2**60 + 3 * 2**30 + 2


def test_indices_that_are_overwritten():
    """The branch that raises has them as they were: they are donated, or a loop carries them on."""

    def step(x, i):
        return x[i], 0 * i

    def loop(x, i):
        return lax.scan(lambda i, _: (i + 1, x[i].sum()), i, length=9)

    x, indices = jnp.arange(1000.0), np.zeros(1000, np.int32)
    for program, bad, seen in ((step, 1003, 1003), (loop, 993, 1000)):
        f = jax.jit(jaxops.checked(program), donate_argnums=1)
        indices[5] = bad
        error = raised(f, x, jnp.array(indices))
        assert (error.index, error.position) == (seen, (5,))
