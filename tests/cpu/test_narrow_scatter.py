"""_cpu/narrow_scatter: scatters into floats of 16 and 8 bits, and lazy steps on them."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import optax
import pytest
from checks import NIGHTLY
from fast import fast_jit, known
from jax.sharding import PartitionSpec as P

import jaxops
from jaxops import IndexedSlices
from jaxops._cpu import narrow_scatter
from jaxops._indexing import dimension_numbers


def floats_of_whole_bytes():
    """By name, those that JAX or ml_dtypes has: a new one is to be tested too."""
    dtypes = {}
    for module in (jnp, ml_dtypes):
        for name in dir(module):
            try:
                dtype = jnp.dtype(getattr(module, name))
            except (TypeError, ValueError, DeprecationWarning):
                continue
            if jnp.issubdtype(dtype, jnp.floating) and jnp.finfo(dtype).bits in (8, 16, 32):
                dtypes[dtype.name] = dtype
    return dtypes


DTYPES = floats_of_whole_bytes()
NARROW = {name: dtype for name, dtype in DTYPES.items() if dtype != np.float32}
ROWS, WIDTH = 1 << 13, 8
KINDS = ("add", "sub", "min", "max", "update")
# What is compiled here is only looked at. Loops, which it needs not vectorize, are fused.
OPTIONS = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


pytestmark = pytest.mark.usefixtures("standard_promotion")


def op(kind, **options):
    function = getattr(jaxops, f"tensor_scatter_nd_{kind}")
    return lambda *args: function(*args, **options)


def temporary_bytes(function, donated, *args):
    compiled = jax.jit(
        function, donate_argnums=donated, compiler_options=known(True) | OPTIONS
    ).lower(*args)
    memory = compiled.compile().memory_analysis()
    assert memory is not None
    donated_bytes = sum(
        x.size * x.dtype.itemsize for n in donated for x in jax.tree.leaves(args[n])
    )
    assert memory.alias_size_in_bytes == donated_bytes
    return memory.temp_size_in_bytes


def few_soon(params):
    """Parameters of a test that compiles large programs: most of them are for the night."""
    soon = {"float32", "bfloat16", "float8_e5m2", "momentum-bfloat16", "state-float8"}
    soon |= {"parts-of-rows"}
    return [
        pytest.param(param, id=name, marks=[] if name in soon else NIGHTLY)
        for name, param in params.items()
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_as_many_rows_as_int32_numbers(kind):
    rows_of = dimension_numbers.ROWS
    most = np.iinfo(np.int32).max  # the number of an index that selects no row
    for rows, count in ((most, 3), (most + 1, 3), (most, 0)):
        is_faster = narrow_scatter._is_faster(kind, (rows, 8), (count, 8), (count, 1), rows_of)
        assert is_faster == (rows == most and count > 0)


def test_dtypes_are_found():
    assert {"float32", "float16", "bfloat16", "float8_e8m0fnu", "float8_e5m2"} <= set(DTYPES)
    assert len(NARROW) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("dtype", few_soon(DTYPES))
def test_memory_of_scatters_is_that_of_the_updates(dtype):
    ops = [op(kind, mode="fill") for kind in KINDS]
    ops.append(op("add", mode="fill", deterministic=True))

    def all_ops(tables, indices, updates, *shape):
        return [
            *(op(table, indices, updates) for op, table in zip(ops, tables, strict=True)),
            jaxops.scatter_nd(indices, updates, shape, mode="fill"),
        ]

    def bytes_at(rows):
        table = jax.ShapeDtypeStruct((rows, WIDTH), dtype)
        indices = jax.ShapeDtypeStruct((16, 1), jnp.int32)
        updates = jax.ShapeDtypeStruct((16, WIDTH), dtype)
        return temporary_bytes(
            lambda *args: all_ops(*args, rows, WIDTH), (0,), [table] * len(ops), indices, updates
        )

    sizes = [bytes_at(ROWS * factor) for factor in (1, 4)]
    assert sizes[0] == sizes[1]


def rounded(optimizer, dtype):
    """`optimizer` with a state of `dtype`, and gradients of float32 as it gets them."""

    def cast(tree, to):
        return jax.tree.map(lambda x: x.astype(to) if x.ndim else x, tree)

    def init(params):
        return cast(optimizer.init(cast(params, jnp.float32)), dtype)

    def update(updates, state, params=None):
        assert isinstance(params, dict)
        arrays = (cast(tree, jnp.float32) for tree in (updates, state, params))
        updates, state = optimizer.update(*arrays)
        return cast(updates, params["t"].dtype), cast(state, dtype)

    return optax.GradientTransformation(init, update)


LAZY = {
    **{f"momentum-{name}": (dtype, optax.sgd(0.5, momentum=0.5)) for name, dtype in DTYPES.items()},
    "adam-bfloat16": (jnp.bfloat16, optax.adam(0.5)),
    "sgd-float16": (jnp.float16, optax.sgd(0.5)),
    "sgd-bfloat16": (jnp.bfloat16, optax.sgd(0.5)),
    "mu_dtype-float16": (jnp.float32, optax.adam(0.5, mu_dtype=jnp.float16)),
    "mu_dtype-bfloat16": (jnp.float32, optax.adam(0.5, mu_dtype=jnp.bfloat16)),
    "accumulator_dtype-bfloat16": (
        jnp.float32,
        optax.sgd(0.5, momentum=0.5, accumulator_dtype=jnp.bfloat16),
    ),
    # optax itself adds no float8 to float32.
    "state-float8": (jnp.float32, rounded(optax.sgd(0.5, momentum=0.5), jnp.float8_e4m3fn)),
    # Numbers of such parts of rows count along two axes; a reshape of the table would be a copy.
    "parts-of-rows": (jnp.bfloat16, optax.sgd(0.5, momentum=0.5)),
}


@pytest.mark.parametrize("name", few_soon({name: name for name in LAZY}))
def test_memory_of_a_lazy_step_is_that_of_the_lookups(name):
    dtype, optimizer = LAZY[name]
    optimizer = jaxops.lazy(optimizer)
    values = jax.ShapeDtypeStruct((16, WIDTH), dtype)
    indices = jax.ShapeDtypeStruct((16,), jnp.int32)
    rest = (2, WIDTH) if name == "parts-of-rows" else (WIDTH,)

    def bytes_at(*shape):
        params = {"t": jax.ShapeDtypeStruct(shape, dtype)}
        state = jax.eval_shape(optimizer.init, params)

        def step(params, state, values, indices):
            return optimizer.apply({"t": IndexedSlices(values, indices, shape)}, state, params)

        return temporary_bytes(step, (0, 1), params, state, values, indices)

    assert bytes_at(ROWS, *rest) == bytes_at(4 * ROWS, *rest)


INDICES = np.array([3, 0, ROWS, 3, ROWS - 1, -1, 3, 7])
RNG = np.random.default_rng(0)


def numbers(shape):
    """Powers of two, which every format holds, as it does sums of few of them or their nearest."""
    return 2.0 ** RNG.integers(-1, 2, shape).astype(np.float32)


def scattered(kind, table, indices, updates):
    """One update after the other, in float32, rounded at the end."""
    total = table.astype(np.float32)
    for n, row in zip(indices, updates.astype(np.float32), strict=True):
        if not 0 <= n < len(total):
            continue
        combine = {"add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum}
        total[n] = row if kind == "update" else combine[kind](total[n], row)
    return total.astype(table.dtype)


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_values_are_numpys(dtype):
    table, updates = (
        numbers(shape).astype(dtype) for shape in ((ROWS, WIDTH), (len(INDICES), WIDTH))
    )
    table = (8 * table.astype(np.float32)).astype(dtype)  # one format has no negative numbers

    has_zero = np.zeros((), dtype).astype(np.float32) == 0  # else XLA takes it for NaN

    @jax.jit
    def all_kinds(table, updates):
        results = [op(kind, mode="fill")(table, INDICES[:, None], updates) for kind in KINDS]
        return results, jaxops.scatter_nd(INDICES[:, None], updates, table.shape, mode="fill")

    results, added = all_kinds(table, updates)
    expected = [scattered(kind, table, INDICES, updates) for kind in KINDS]
    if has_zero:
        results.append(added)
        expected.append(scattered("add", np.zeros_like(table), INDICES, updates))
    for result, values in zip(results, expected, strict=True):
        assert result.dtype == dtype
        np.testing.assert_array_equal(as_float32(result), as_float32(values))


def as_float32(x):
    return np.asarray(x).astype(np.float32)


@pytest.mark.parametrize("dtype", NARROW.values(), ids=str)
def test_updates_move_bits(dtype):
    """Of NaNs with a payload, negative zeros, subnormal numbers; the last of several stays."""
    bits = np.dtype(f"uint{8 * dtype.itemsize}")
    table, rows = (
        RNG.integers(0, np.iinfo(bits).max, shape, bits, endpoint=True)
        for shape in ((ROWS, WIDTH), (len(INDICES), WIDTH))
    )
    expected = table.copy()
    for n, row in zip(INDICES, rows, strict=True):
        if 0 <= n < ROWS:
            expected[n] = row
    call = jax.jit(op("update", mode="fill"))
    result = call(as_type(table, dtype), INDICES[:, None], as_type(rows, dtype))
    np.testing.assert_array_equal(np.asarray(result).view(bits), expected)


def as_type(bits, dtype):
    return jax.lax.bitcast_convert_type(jnp.asarray(bits), dtype)


def test_sums_are_rounded_once():
    table = jnp.ones((ROWS, WIDTH), jnp.bfloat16)
    small = jnp.full((256, WIDTH), 2.0**-10, jnp.bfloat16)
    result = jax.jit(op("add"))(table, np.full((256, 1), 5), small)
    np.testing.assert_array_equal(as_float32(result[5]), 1.25)


def test_elements_and_blocks():
    """Index vectors along all of the axes, along some, and along none."""
    table = numbers((64, 64, 32)).astype(jnp.bfloat16)
    for depth in range(4):
        rows = RNG.integers(0, 32, (3, depth))
        updates = numbers((3, *table.shape[depth:])).astype(jnp.bfloat16)
        expected = table.astype(np.float32)
        for row, update in zip(rows, updates, strict=True):
            expected[tuple(row)] += update.astype(np.float32)
        result = jaxops.tensor_scatter_nd_add(jnp.asarray(table), rows, updates)
        np.testing.assert_array_equal(result, expected.astype(jnp.bfloat16))


def test_tables_that_are_kept_are_copied():
    table = jnp.zeros((ROWS, WIDTH), jnp.bfloat16)
    ones = jnp.ones((1, WIDTH), jnp.bfloat16)
    once, twice = jax.jit(lambda t: (op("add")(t, [[1]], ones), op("add")(t, [[2]], ones)))(table)
    assert (float(table.sum()), float(once.sum()), float(twice.sum())) == (0, WIDTH, WIDTH)
    assert float(once[1, 0]) == float(twice[2, 0]) == 1


AT = INDICES[[0, 1, 3, 4]]


def test_columns_are_left_to_the_compiler():
    """The gradient of a batch of gathers along a later axis is a scatter into columns."""
    tables = jnp.ones((2, 64, 1024), jnp.bfloat16)
    columns = jnp.asarray(np.arange(256) * 3 % 200)

    def gradient(table):
        return jax.grad(lambda t: (jaxops.gather(t, columns, axis=1) ** 2).sum())(table)

    slopes = 2 * np.bincount(columns, minlength=1024)
    expected = np.broadcast_to(slopes, tables.shape)
    np.testing.assert_array_equal(fast_jit(jax.vmap(gradient))(tables), expected)


def test_only_programs_for_this_cpu_call_python():
    table = jnp.ones((ROWS, WIDTH), jnp.bfloat16)
    args = table, jnp.asarray(AT[:, None]), jnp.ones((len(AT), WIDTH), jnp.bfloat16)
    call = jax.jit(op("add", mode="fill"))

    def calls_python(*platforms, args=args):
        text = call.trace(*args).lower(lowering_platforms=platforms).as_text()
        assert "stablehlo.scatter" in text
        return "python" in text

    assert calls_python("cpu")
    assert not calls_python("cuda")
    assert not calls_python("cpu", "cuda")
    mesh = jax.sharding.AbstractMesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    sharding = jax.sharding.NamedSharding(mesh, P("x"))
    sharded = [jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding) for x in args]
    assert not calls_python("cpu", args=sharded)
    exported = jax.export.export(call, platforms=["cpu", "cuda"])(*args)
    stored = jax.export.deserialize(exported.serialize())
    np.testing.assert_array_equal(stored.call(*args), call(*args))


@pytest.mark.parametrize(
    ("rows", "count", "dtype"),
    [
        *[(8, 2, "bfloat16"), (ROWS, 0, "bfloat16"), (ROWS, 2, "float16"), (ROWS, 2, "float32")],
        *[(ROWS, 2, name) for name in ("float4_e2m1fn", "int4", "uint4", "int2")],
    ],
)
def test_what_is_left_to_the_compiler(rows, count, dtype):
    """Small tables, no updates, dtypes in which it computes, and those of fewer than 8 bits."""
    table, updates = jnp.ones((rows, WIDTH), dtype), jnp.zeros((count, WIDTH), dtype)
    call = jax.jit(op("update", mode="fill"))
    indices = np.arange(count)[:, None]
    assert "python" not in call.lower(table, indices, updates).as_text()
    result = call(table, indices, updates)
    np.testing.assert_array_equal(as_float32(result)[:, 0], np.arange(rows) >= count)


@pytest.mark.parametrize("dtype", NARROW.values(), ids=str)
def test_a_lazy_step_is_numpys(dtype):
    """From the loss, by plain SGD; numbers that are exact in each format."""
    optimizer = jaxops.lazy(optax.sgd(jnp.asarray(0.5, dtype)))
    table = jnp.full((ROWS, WIDTH), 8, dtype)
    at = np.array([5, 2, 5, ROWS - 1])

    def loss(params):
        return jnp.sum(jaxops.gather(params["t"], at).astype(jnp.float32) * 4)

    @jax.jit
    def step(params):
        _, grads = jaxops.sparse_value_and_grad(loss, tables="t")(params)
        assert isinstance(grads["t"], IndexedSlices)
        assert grads["t"].dtype == dtype
        return optimizer.apply(grads, optimizer.init(params), params)[0]

    result = step({"t": table})["t"]
    expected = np.full((ROWS, WIDTH), 8, np.float32)
    for n in at:
        expected[n] -= 0.5 * 4
    if float(jnp.finfo(dtype).min) >= 0:  # the format itself has no 0 to compare with
        expected[at] = np.nan  # the update is negative
    np.testing.assert_array_equal(as_float32(result), expected)


def test_a_lazy_step_of_no_rows():
    optimizer = jaxops.lazy(optax.sgd(0.5, momentum=0.5))
    params = {"t": jnp.ones((ROWS, WIDTH), jnp.bfloat16)}
    nothing = IndexedSlices(
        jnp.zeros((0, WIDTH), jnp.bfloat16), jnp.zeros(0, jnp.int32), (ROWS, WIDTH)
    )
    result, _ = jax.jit(optimizer.apply)({"t": nothing}, optimizer.init(params), params)
    np.testing.assert_array_equal(result["t"], params["t"])
