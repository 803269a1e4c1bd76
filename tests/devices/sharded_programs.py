"""Lookups, scatters and gradients of sharded tables on 8 host devices; run by `test_devices.py`.

A process of its own, because the number of devices is fixed when JAX starts. Results are those of
one device bit by bit, a bad index is an error, and no table is gathered.

Usage: sharded_programs.py WAY, one of jit, jnp, explicit, every, auto_axes, eager, shard_map
"""

import functools
import sys

import host_devices
import jax
import jax.numpy as jnp
import numpy as np
import optax
from checks import assert_fails
from jax import lax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from records import CASES, first_of_each_op

import jaxops

jax.config.update("jax_num_cpu_devices", 8)

ROWS, COLUMNS, LOOKUPS = 160, 64, 24
RNG = np.random.default_rng(0)
# Small integers, so that sums do not depend on their order.
TABLE = RNG.integers(-8, 8, (ROWS, COLUMNS)).astype(np.float32)
UPDATES = RNG.integers(-8, 8, (LOOKUPS, COLUMNS)).astype(np.float32)
INDICES = RNG.integers(0, ROWS // 4, LOOKUPS).astype(np.int32)  # some of them twice
BAD = INDICES.copy()
BAD[7] = ROWS
ERROR = "indices[7] = 160 is not in [0, 160) [Op:gather]"
LOOKED_UP_SIZE = LOOKUPS * COLUMNS
BATCH = RNG.integers(-8, 8, (8, 10, 3)).astype(np.float32)
BATCH_INDICES = RNG.integers(0, 10, (8, 5)).astype(np.int32)
BAD_BATCH_INDICES = BATCH_INDICES.copy()
BAD_BATCH_INDICES[3, 2] = 10

BY_TABLE = {"rows": P("d", None), "columns": P(None, "m"), "both": P("d", "m")}
BY_INDICES = {"whole": P(None), "sharded": P("d")}


def weighted_sum(table, i, u, **options):
    return jnp.sum(jaxops.gather(table, i, **options) * u)


def weighted_sum_of_jnp(table, i, u):
    return jnp.sum(jnp.asarray(table)[i] * u)


def sparse_gradient(table, i, u):
    _, slices = jaxops.sparse_value_and_grad(weighted_sum, tables="")(table, i, u)
    return slices


def lazy_step(make_optimizer, table, i, u):
    optimizer = jaxops.lazy(make_optimizer(0.5))
    state = optimizer.init(table)
    return optimizer.apply(sparse_gradient(table, i, u), state, table)[0]


# Of (table, indices, updates); results have rows like the updates, or are of the table's shape.
LOOKED_UP = {
    "gather": lambda t, i, u: jaxops.gather(t, i),
    "deterministic gather": lambda t, i, u: jaxops.gather(t, i, deterministic=True),
    "gather_nd": lambda t, i, u: jaxops.gather_nd(t, i[:, None]),
    "sparse gradient": lambda t, i, u: sparse_gradient(t, i, u).values,
}
LIKE_TABLE = {
    "scatter_nd": lambda t, i, u: jaxops.scatter_nd(i[:, None], u, [ROWS, COLUMNS]),
    "add": lambda t, i, u: jaxops.tensor_scatter_nd_add(t, i[:, None], u),
    "max": lambda t, i, u: jaxops.tensor_scatter_nd_max(t, i[:, None], u),
    "deterministic add": lambda t, i, u: jaxops.tensor_scatter_nd_add(
        t, i[:, None], u, deterministic=True
    ),
    "gradient": jax.grad(weighted_sum),
    "deterministic gradient": jax.grad(functools.partial(weighted_sum, deterministic=True)),
    "sgd": functools.partial(lazy_step, optax.sgd),
}
# Whose gradients of tables are sparse.
OF_TABLES = {"sparse gradient", "sgd"}
ADAGRAD = {"adagrad": functools.partial(lazy_step, optax.adagrad)}
ALL = LOOKED_UP | LIKE_TABLE | ADAGRAD
EAGER = ("gather", "scatter_nd", "add", "gradient", "sparse gradient")
OF_JNP = {
    "gather": lambda t, i, u: jnp.asarray(t)[i],
    "add": lambda t, i, u: jnp.asarray(t).at[i].add(u),
    "gradient": jax.grad(weighted_sum_of_jnp),
}
OF_BATCH = {
    "batch dims": lambda t, i: jaxops.gather(t, i, batch_dims=1),
    "batch dims, deterministic": lambda t, i: jaxops.gather(t, i, batch_dims=1, deterministic=True),
    "vmap": jax.vmap(jaxops.gather),
    "gradient of batch dims": jax.grad(
        lambda t, i: jnp.sum(jaxops.gather(t, i, batch_dims=1) ** 2)
    ),
}


def all_of(functions):
    return lambda *args: {name: function(*args) for name, function in functions.items()}


EXPECTED_OF_BATCH = jax.tree.map(np.asarray, all_of(OF_BATCH)(BATCH, BATCH_INDICES))


def collectives(text):
    """`{kind: elements of the largest result}` of the collectives in a compiled program."""
    largest = {}
    for kind, size in host_devices.sent(text):
        largest[kind] = max(size, largest.get(kind, 0))
    return largest


def make_mesh(kind):
    return jax.make_mesh((4, 2), ("d", "m"), axis_types=(kind, kind))


def put(mesh, array, spec):
    return jax.device_put(array, NamedSharding(mesh, spec))


def compare(name, function, args, expected, bad_args=None, words=ERROR):
    """Runs a function of sharded arrays, then with a bad index, then once more.

    Returns the elements that it moves between devices, by the kind of collective.
    """
    compiled = function.lower(*args).compile() if hasattr(function, "lower") else function
    for _ in range(2):
        actual = compiled(*args)
        for key in expected:
            np.testing.assert_array_equal(actual[key], expected[key], f"{name}, {key}")
        if bad_args:
            assert_fails(words, compiled, *bad_args)
    moved = collectives(compiled.as_text()) if hasattr(compiled, "as_text") else {}
    assert moved.get("all-gather", 0) <= LOOKED_UP_SIZE, (name, moved)
    return moved


def run_sharded(kind, functions, run, by_table=BY_TABLE, by_indices=BY_INDICES):
    """Each sharding of the table and the indices; `run(functions, mesh, table spec, spec)`.

    Returns what is moved, by the names of the two.
    """
    mesh, moved = make_mesh(kind), {}
    expected = jax.tree.map(np.asarray, all_of(functions)(TABLE, INDICES, UPDATES))
    for table_name, table_spec in by_table.items():
        for indices_name, spec in by_indices.items():
            args, bad_args = (
                (put(mesh, TABLE, table_spec), put(mesh, i, spec), put(mesh, UPDATES, P(*spec)))
                for i in (INDICES, BAD)
            )
            with jax.set_mesh(mesh):
                function = run(functions, mesh, table_spec, spec)
                name = f"{table_name}, indices {indices_name}"
                moved[table_name, indices_name] = compare(name, function, args, expected, bad_args)
    return moved


def results_like(functions, table, rows):
    return {name: rows if name in LOOKED_UP else table for name in functions}


def by_jit(functions, mesh, table_spec, spec):
    shardings = results_like(
        functions, NamedSharding(mesh, table_spec), NamedSharding(mesh, P(*spec, None))
    )
    return jax.jit(all_of(functions), out_shardings=shardings)


def by_auto_axes(functions, mesh, table_spec, spec):
    out = results_like(functions, table_spec, P(*spec, None))
    return jax.jit(jax.sharding.auto_axes(all_of(functions), out_sharding=out))


def eagerly(functions, mesh, table_spec, spec):
    del mesh, table_spec, spec
    return all_of(functions)


def run_jit():
    moved = run_sharded(AxisType.Auto, LOOKED_UP | LIKE_TABLE, by_jit)
    for indices in BY_INDICES:  # a table that is shared along every axis moves rows alone
        assert 0 < max(moved["both", indices].values()) <= LOOKED_UP_SIZE
    mesh = make_mesh(AxisType.Auto)
    args = [put(mesh, TABLE, P("d", "m")), put(mesh, INDICES, P("d")), put(mesh, UPDATES, P("d"))]
    function = by_jit(ADAGRAD, mesh, P("d", "m"), P("d"))
    compare("adagrad", function, args, all_of(ADAGRAD)(TABLE, INDICES, UPDATES))
    gathered = jax.jit(lambda t: t, out_shardings=NamedSharding(mesh, P())).lower(args[0]).compile()
    assert collectives(gathered.as_text()) == {"all-gather": TABLE.size}  # which would be seen


def run_jnp():
    """Nothing larger is moved than by indexing of `jnp`, in programs of their own."""
    mesh = make_mesh(AxisType.Auto)
    both = {"jaxops": ALL, "jnp": OF_JNP}
    for key in OF_JNP:
        expected = {key: np.asarray(OF_JNP[key](TABLE, INDICES, UPDATES))}
        for table_name, table_spec in BY_TABLE.items():
            args = [put(mesh, TABLE, table_spec)]
            args += [put(mesh, x, P("d")) for x in (INDICES, UPDATES)]
            ours, theirs = (
                max(compare(f"{who}, {key}, {table_name}", function, args, expected).values())
                for who, functions in both.items()
                for function in [by_jit({key: functions[key]}, mesh, table_spec, P("d"))]
            )
            assert ours <= max(theirs, LOOKED_UP_SIZE), (key, table_name)
            # XLA adds up whole shards along an axis that shards indices and not the table.
            shard = {"rows": TABLE.size // 4, "columns": TABLE.size // 2}.get(table_name)
            for largest in (ours, theirs):
                if key == "gather" or shard is None:
                    assert largest <= LOOKED_UP_SIZE, (key, table_name)
                else:
                    assert largest == shard, (key, table_name)
    # Of a table of fewer rows than are looked up: XLA compares what is to be moved, and gathers the
    # table, with jax 0.10 and 0.12.
    small, rows = TABLE[:16], INDICES % 16
    line = jax.make_mesh((8,), ("d",), axis_types=(AxisType.Auto,))
    args = [put(line, small, P("d")), put(line, rows, P("d"))]
    for who, functions in both.items():
        function = jax.jit(lambda t, i, f=functions["gather"]: {"": f(t, i, None)})
        moved = compare(f"{who}, small table", function, args, {"": small[rows]})
        assert moved["all-gather"] == small.size, who


def types_of(functions, args):
    return {str(jax.typeof(x)) for x in jax.eval_shape(all_of(functions), *args).values()}


def run_explicit():
    """Where `lax` can tell the sharding of the result from those of the operands."""
    mesh = make_mesh(AxisType.Explicit)
    spec = P(None, "m")
    functions = {name: f for name, f in (LOOKED_UP | LIKE_TABLE).items() if name != "scatter_nd"}
    expected = jax.tree.map(np.asarray, all_of(functions)(TABLE, INDICES, UPDATES))
    with jax.set_mesh(mesh):
        args, bad_args = (
            (put(mesh, TABLE, spec), put(mesh, i, P()), put(mesh, UPDATES, spec))
            for i in (INDICES, BAD)
        )
        compare("columns", jax.jit(all_of(functions)), args, expected, bad_args)
        assert types_of(functions, args) == {"float32[24,64@m]", "float32[160,64@m]"}
        args, bad_args = (
            (put(mesh, BATCH, P("d")), put(mesh, i, P("d")))
            for i in (BATCH_INDICES, BAD_BATCH_INDICES)
        )
        words = "indices[3,2] = 10 is not in [0, 10) [Op:gather]"
        compare("batch", jax.jit(all_of(OF_BATCH)), args, EXPECTED_OF_BATCH, bad_args, words)
        assert types_of(OF_BATCH, args) == {"float32[8@d,5,3]", "float32[8@d,10,3]"}
        functions = {name: f for name, f in functions.items() if name not in OF_TABLES}
        args, bad_args = (
            (put(mesh, TABLE, P("d")), put(mesh, i, P("m")), put(mesh, UPDATES, P("m")))
            for i in (INDICES, BAD)
        )
        expected = {name: expected[name] for name in functions}
        compare("rows", jax.jit(all_of(functions)), args, expected, bad_args)
        assert types_of(functions, args) == {"float32[24@m,64]", "float32[160@d,64]"}


def run_every():
    """Each function with one dimension of one argument shared, alone and in its gradient.

    Its values and gradients are right, or an error says what to write.
    """
    mesh = jax.make_mesh((2,), ("d",), axis_types=(AxisType.Explicit,))
    shared, refused_by_jax = set(), {}
    for op, name in first_of_each_op(CASES).items():
        case = CASES[name]
        for number, dim in ((n, d) for n, x in enumerate(case.args) for d in range(np.ndim(x))):
            if case.args[number].shape[dim] % 2:
                continue
            specs = [P(*[None] * dim, "d") if n == number else P() for n in range(len(case.args))]
            try:
                with jax.set_mesh(mesh):
                    args = [put(mesh, x, s) for x, s in zip(case.args, specs, strict=True)]
                    results = jax.jit(functools.partial(values_and_gradients, case))(*args)
            except Exception as error:
                if "how the devices share the result" not in str(error):
                    refused_by_jax[op] = str(error)
                continue
            shared.add(op)
            expected = values_and_gradients(case, *case.args)
            words = f"{op}, argument {number}, dimension {dim}"
            for pair in zip(*map(jax.tree.leaves, (results, expected)), strict=True):
                np.testing.assert_allclose(*pair, rtol=1e-5, atol=1e-5, err_msg=words)
    # The cases of these two reshape what they return.
    assert refused_by_jax.keys() <= {"dynamic_partition", "split"}, refused_by_jax
    assert shared >= {"batch_gather", "boolean_mask", "depth_to_space", "embedding_lookup"}
    assert shared >= {"gather", "gather_nd", "reverse_sequence", "slice", "strided_slice"}
    assert shared >= {"tensor_scatter_nd_add", "transpose", "unsorted_segment_sum", "unstack"}


def values_and_gradients(case, *args):
    """Of a case of the harness; the gradients for its data."""
    data, indices = args[: len(case.data)], args[len(case.data) :]

    def total(data):
        results = jax.tree.leaves(case.op(*data, *indices))
        return sum(jnp.sum(r**2) for r in results if jnp.issubdtype(r.dtype, jnp.floating))

    return case.op(*args), jax.grad(total)(tuple(map(jnp.asarray, data)))


def run_auto_axes():
    sharded = {"sharded": BY_INDICES["sharded"]}
    run_sharded(AxisType.Explicit, LOOKED_UP | LIKE_TABLE, by_auto_axes, by_indices=sharded)


def run_eager():
    both = {"both": BY_TABLE["both"]}
    run_sharded(AxisType.Auto, {name: ALL[name] for name in EAGER}, eagerly, by_table=both)


# Under `shard_map`.


def in_vocabulary_shards(function):
    """Of local indices, which are out of bounds of all shards but one; sums over the shards."""

    def of_shard(table, i, u):
        local = i - lax.axis_index("d") * table.shape[0]
        return function(table, local, u)

    return of_shard


def looked_up_in_shards(table, i, u):
    del u
    return lax.psum(jaxops.gather(table, i, mode="fill"), "d")


def loss_of_shards(table, i, u):
    return jnp.sum(lax.psum(jaxops.gather(table, i, mode="fill"), "d") * u)


def sparse_step_of_shard(table, i, u):
    optimizer = jaxops.lazy(optax.adagrad(0.5))
    _, slices = jaxops.sparse_value_and_grad(loss_of_shards, tables="")(table, i, u)
    return optimizer.apply(slices, optimizer.init(table), table)[0]


def scattered_into_shard(table, i, u):
    return jaxops.scatter_nd(i[:, None], u, table.shape, mode="fill")


def sparse_step_of_copies(table, i, u):
    """A table that all devices have, indices that they share out: all need all gradients."""
    table_here = lax.pcast(table, "d", to="varying")
    slices = sparse_gradient(table_here, i, u)
    slices = jax.tree.map(lambda x: lax.all_gather(x, "d", tiled=True), slices)
    return (-0.5 * slices).add_to(table)


# Of the table, the indices and the updates.
SPECS = {
    "vocabulary": (P("d"), P(), P()),
    "columns": (P(None, "m"), P("d"), P("d", "m")),
    "copies": (P(), P("d"), P("d")),
}
# name: (function, spec of the result, oracle)
SHARD_MAPPED = {
    "vocabulary, gather": (in_vocabulary_shards(looked_up_in_shards), P(), "gather"),
    "vocabulary, gradient": (in_vocabulary_shards(jax.grad(loss_of_shards)), P("d"), "gradient"),
    "vocabulary, sparse step": (in_vocabulary_shards(sparse_step_of_shard), P("d"), "adagrad"),
    "vocabulary, scatter_nd": (in_vocabulary_shards(scattered_into_shard), P("d"), "scatter_nd"),
    "columns, gather": (LOOKED_UP["gather"], P("d", "m"), "gather"),
    "columns, gradient": (jax.grad(weighted_sum), P(None, "m"), "gradient"),
    "copies, gradient": (jax.grad(weighted_sum), P(), "gradient"),
    "copies, sparse step": (sparse_step_of_copies, P(), "sgd"),
}


def run_shard_map():
    mesh = make_mesh(AxisType.Auto)
    for name, (function, out_specs, oracle) in SHARD_MAPPED.items():
        in_specs = SPECS[name.partition(",")[0]]
        expected = {"": np.asarray(ALL[oracle](TABLE, INDICES, UPDATES))}
        # Types do not tell that what is gathered from all devices is the same on all.
        tracked = name != "copies, sparse step"
        mapped = jax.shard_map(
            function, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=tracked
        )
        args, bad_args = (
            [put(mesh, x, s) for x, s in zip((TABLE, i, UPDATES), in_specs, strict=True)]
            for i in (INDICES, BAD)
        )
        if name.startswith("vocabulary"):
            bad_args = None  # an index that is in no shard reads 0
        function = jax.jit(lambda *args: {"": mapped(*args)})  # noqa: B023
        words = ERROR.replace("[7]", "[1]")  # in the shard
        compare(name, function, args, expected, bad_args, words)


if __name__ == "__main__":
    globals()[f"run_{sys.argv[1]}"]()
