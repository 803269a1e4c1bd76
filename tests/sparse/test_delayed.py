"""What is read of delayed arrays: which rows, and nothing of the table's size."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fast import fast_jit, optimized_jit
from jax import lax
from sparse_checks import assert_sparse, square, table
from sparse_lookups import READS_OF_MANY
from sparse_patterns import INDICES, PATTERNS, WITHIN, K, assert_rows_first, composed

import jaxops
from jaxops import _jax_internals

BIG, WIDTH = 1009, 3


def big_params():
    return {
        "t": jnp.ones((BIG, WIDTH)) / 3,
        "c": jnp.array([2.0, -1.0, 0.5]),
        "w": jnp.ones((WIDTH, 4)),
        "of_rows": jnp.ones(BIG),
    }


SOME = ["indexing", "range", "slice", "take", "gather", "gather, deterministic", "gather_nd"]
SOME += ["mapped", "scan", "carried", "custom_vjp"]
# Of the table as it is; other losses compute with it first.
PLAIN = {f"{name} of the table": composed(lookup=name) for name in SOME}
PLAIN |= {
    f"in {name}": WITHIN[name](composed())
    for name in ("jit", "checkpoint", "scan of checkpoints", "cond")
}
PLAIN["deterministic in vmap"] = WITHIN["vmap"](composed(lookup="gather, deterministic"))
# The three last steps copy, name or constrain the whole table, so their programs make an array of
# its size whatever jaxops does.
OTHERS = {*READS_OF_MANY, "copied", "named", "constrained"}
FIRST = {name: loss for name, loss in PATTERNS.items() if name not in OTHERS}


# That may hold a table: they hand one on.
CALLS = {"jit", "pjit", "scan", "cond", "checkpoint", "remat2", "closed_call", "custom_vjp_call"}


def made_of_size(program, size):
    return [
        eqn.primitive.name
        for eqn in _jax_internals.equations_in(program)
        for v in eqn.outvars
        if getattr(v.aval, "size", 0) >= size and eqn.primitive.name not in CALLS
    ]


@pytest.mark.parametrize("name", FIRST | PLAIN)
@pytest.mark.usefixtures("x32")
def test_nothing_of_the_size_of_the_table_is_made(name):
    args, loss = (big_params(), INDICES), (FIRST | PLAIN)[name]
    transformed = jaxops.sparse_value_and_grad(loss, tables="t")
    size = args[0]["t"].size // 2  # also what is made of a part of the table
    assert made_of_size(jax.make_jaxpr(transformed)(*args), size) == []
    assert made_of_size(jax.make_jaxpr(jax.grad(loss))(*args), size)  # it would be seen


FEW = ["bfloat16", "product", "gather", "with a first row"]


@pytest.mark.parametrize("name", [*FEW, *PLAIN])
def test_memory(name):
    """Beside arguments and results a step needs none of the table's size, forwards neither."""
    p, loss = {**big_params(), "t": jnp.ones((100_003, WIDTH))}, (FIRST | PLAIN)[name]

    def gradient(transform):
        compiled = optimized_jit(lambda p: transform(p, INDICES)[1]["t"]).lower(p).compile()
        analysis: Any = compiled.memory_analysis()
        return analysis.temp_size_in_bytes

    assert gradient(jaxops.sparse_value_and_grad(loss, tables="t")) < p["t"].nbytes / 50


TWO = {  # of tables of 7 and 5 rows: what is looked up, and rows of each that it reads
    "stack": (
        lambda a, b: jnp.stack([a, jnp.pad(b, ((0, 2), (0, 0)))])[1][jnp.array([3, 0])],
        [], [3, 0]),
    "first of a stack": (lambda a, b: jnp.stack([2 * b, b])[0][jnp.array([3, 0])], [], [3, 0]),
    "concatenated": (
        lambda a, b: jnp.concatenate([a, 2 * b])[jnp.array([5, 8, 1, 10])], [5, 1], [1, 3]),
    "sum": (lambda a, b: (a[:5] * 0 + b)[jnp.array([3, 0])], None, [3, 0]),
    "where": (lambda a, b: jnp.where(K > 0, a * 2, 3 * a)[jnp.array([3, 0])], [3, 0], []),
    "cond": (
        lambda a, b: lax.cond(K > 0, lambda: 2 * b, lambda: b + 1)[jnp.array([3])],
        [], [3]),
    "padded": (lambda a, b: jnp.pad(a, ((2, 0), (0, 0)))[jnp.array([0, 1, 2])], [0], []),
    "padded within": (
        lambda a, b: lax.pad(a, 0.0, ((0, 0, 1), (0, 0, 0)))[jnp.array([0, 3, 4])], [0, 2], []),
}  # fmt: skip


@pytest.mark.parametrize("name", TWO)
@pytest.mark.usefixtures("x32")
def test_rows_that_are_read(name):
    use, *expected = TWO[name]

    def loss(a, b):
        return square(use(a, b))

    args = table(7, 3), table(5, 3)
    for wrap in (lambda f: f, jax.jit):
        transformed = jaxops.sparse_value_and_grad(loss, tables=["0", "1"], argnums=(0, 1))
        _, gradients = wrap(transformed)(*args)
        dense = fast_jit(jax.grad(loss, (0, 1)))(*args)
        for slices, rows, g in zip(gradients, expected, dense, strict=True):
            np.testing.assert_array_equal(slices.to_dense(), g)
            if rows is not None:
                read = sorted({int(i) for i in slices.indices if i < slices.num_rows})
                assert read == sorted(rows)


def test_wide_coordinates():
    """Rows times columns are more than int32 counts."""

    def loss(t):
        indices = INDICES.astype(jnp.int64)
        return square((2 * t)[indices, indices * 2**29])

    with jax.enable_x64(True):
        shape = jax.ShapeDtypeStruct((17, 2**31), jnp.bfloat16)
        _, slices = jax.eval_shape(jaxops.sparse_value_and_grad(loss, tables=""), shape)
    assert slices.indices.dtype == jnp.int64
    assert slices.values.shape == INDICES.shape


def test_a_scale_gets_no_gradient_from_rows_out_of_bounds():
    """Their logarithm would be -inf times 0."""

    def loss(p, _):
        rows = jnp.log(p["t"] * p["c"]).at[jnp.array([1, 99])].get(mode="fill", fill_value=0)
        return jnp.sum(rows)

    p = {"t": jnp.array([[1.0], [2.0], [4.0]], jnp.float32), "c": jnp.float32(3)}
    assert_rows_first(loss, p)


@pytest.mark.slow
@pytest.mark.usefixtures("x32")
def test_a_row_that_would_be_made_of_very_many_is_not_read():
    """The reading is traced, so that a loss like this would never end."""

    def loss(t):
        for _ in range(40):
            t = t + t[::-1]
        return square(t[INDICES])

    with pytest.raises(ValueError, match=r"a use by .*add|rev"):
        jaxops.sparse_value_and_grad(loss, tables="")(big_params()["t"])


def test_what_is_out_of_bounds_is_the_number_of_lax(x32):
    """Where the program names none: for each kind of dtype another one."""
    dtypes = [jnp.float32, jnp.bfloat16, jnp.complex64, np.int8, np.uint8, bool, jnp.int4]
    numbers = lax.GatherDimensionNumbers((1,), (0,), (0,))
    indices = jnp.array([[1], [99], [-1]])

    def loss(t):
        total = 0.0
        for dtype in dtypes:
            scaled = (4 * t).astype(dtype)
            rows = lax.gather(scaled, indices, numbers, (1, WIDTH), mode="fill")
            scale = jnp.real(lax.stop_gradient(rows)).astype(jnp.float32)
            total += jnp.sum(t[INDICES[:3]] * jnp.nan_to_num(scale, nan=5.0))
        return total

    assert_sparse(loss, big_params()["t"], tables="")


def test_debug_nans():
    """Outside of `jit` only NaN that the loss makes is an error, and that is JAX's."""

    def gradient(step):
        loss = lambda t: jnp.sum(jnp.take(step(t), INDICES, axis=0))  # noqa: E731
        return jaxops.sparse_value_and_grad(loss, tables="")(jnp.ones((17, 3)))[1]

    with jax.debug_nans(True):
        np.testing.assert_array_equal(gradient(lambda t: 2 * t).values, 2)
        with pytest.raises(FloatingPointError):
            gradient(lambda t: jnp.log(-t))
