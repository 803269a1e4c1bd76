"""Lookups, scatters and gradients of sharded tables on 8 host devices; run by `test_sharded.py`.

A process of its own, because the number of devices is fixed when JAX starts. Prints one JSON
object a line: what was run, whether its results are those of one device bit by bit, what it moves
between devices, and the error of a bad index.

Usage: sharded_programs.py WAY, one of jit, jnp, explicit, every, auto_axes, eager, shard_map
"""

import functools
import json
import sys

import host_devices
import jax
import jax.numpy as jnp
import numpy as np
import optax
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


def error_of(function, *args):
    try:
        jax.block_until_ready(function(*args))
    except Exception as error:
        return str(error)
    return None


def compare(name, function, args, bad_args, expected):
    """Runs a function of sharded arrays, then with a bad index, then once more."""
    compiled = function.lower(*args).compile() if hasattr(function, "lower") else function
    actual = compiled(*args)
    error = error_of(compiled, *bad_args) if bad_args else None
    again = compiled(*args)
    text = compiled.as_text() if hasattr(compiled, "as_text") else ""
    report = {
        "name": name,
        "differ": [
            key
            for key in expected
            if not all(np.array_equal(r[key], expected[key]) for r in (actual, again))
        ],
        "shardings": {key: str(jax.typeof(value)) for key, value in actual.items()},
        "moved": collectives(text),
        "error": error,
    }
    print(json.dumps(report), flush=True)


def run_sharded(kind, functions, run, by_table=BY_TABLE, by_indices=BY_INDICES):
    """Each sharding of the table and the indices; `run(functions, mesh, table spec, spec)`."""
    mesh = make_mesh(kind)
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
                compare(name, function, args, bad_args, expected)


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
    run_sharded(AxisType.Auto, LOOKED_UP | LIKE_TABLE, by_jit)
    mesh = make_mesh(AxisType.Auto)
    args = [put(mesh, TABLE, P("d", "m")), put(mesh, INDICES, P("d")), put(mesh, UPDATES, P("d"))]
    function = by_jit(ADAGRAD, mesh, P("d", "m"), P("d"))
    compare("adagrad", function, args, None, all_of(ADAGRAD)(TABLE, INDICES, UPDATES))
    gathered = jax.jit(lambda t: {"table": t}, out_shardings=NamedSharding(mesh, P()))
    compare("the table, gathered", gathered, args[:1], None, {"table": TABLE})


def run_jnp():
    """`jnp` indexing, and the same of `jaxops` in programs of their own."""
    mesh = make_mesh(AxisType.Auto)
    for functions, who in ((OF_JNP, "jnp"), (ALL, "jaxops")):
        for key in OF_JNP:
            expected = {key: np.asarray(OF_JNP[key](TABLE, INDICES, UPDATES))}
            for table_name, table_spec in BY_TABLE.items():
                args = [put(mesh, TABLE, table_spec)]
                args += [put(mesh, x, P("d")) for x in (INDICES, UPDATES)]
                function = by_jit({key: functions[key]}, mesh, table_spec, P("d"))
                compare(f"{who}, {key}, {table_name}", function, args, None, expected)
        small = TABLE[:16]
        line = jax.make_mesh((8,), ("d",), axis_types=(AxisType.Auto,))
        args = [put(line, small, P("d")), put(line, INDICES % 16, P("d"))]
        function = jax.jit(lambda t, i, f=functions["gather"]: {"": f(t, i, None)})
        compare(f"{who}, small table", function, args, None, {"": small[INDICES % 16]})


def run_explicit():
    """Where `lax` can tell the sharding of the result from those of the operands."""
    mesh = make_mesh(AxisType.Explicit)
    spec = P(None, "m")
    functions = {name: f for name, f in (LOOKED_UP | LIKE_TABLE).items() if name != "scatter_nd"}
    expected = jax.tree.map(np.asarray, all_of(functions)(TABLE, INDICES, UPDATES))
    of_batch = all_of(OF_BATCH)
    with jax.set_mesh(mesh):
        args, bad_args = (
            (put(mesh, TABLE, spec), put(mesh, i, P()), put(mesh, UPDATES, spec))
            for i in (INDICES, BAD)
        )
        compare("columns", jax.jit(all_of(functions)), args, bad_args, expected)
        args, bad_args = (
            (put(mesh, BATCH, P("d")), put(mesh, i, P("d")))
            for i in (BATCH_INDICES, BAD_BATCH_INDICES)
        )
        compare("batch", jax.jit(of_batch), args, bad_args, EXPECTED_OF_BATCH)
        functions = {name: f for name, f in functions.items() if name not in OF_TABLES}
        args, bad_args = (
            (put(mesh, TABLE, P("d")), put(mesh, i, P("m")), put(mesh, UPDATES, P("m")))
            for i in (INDICES, BAD)
        )
        expected = {name: expected[name] for name in functions}
        compare("rows", jax.jit(all_of(functions)), args, bad_args, expected)


def run_every():
    """Each function with one dimension of one argument shared, alone and in its gradient."""
    mesh = jax.make_mesh((2,), ("d",), axis_types=(AxisType.Explicit,))
    for op, name in first_of_each_op(CASES).items():
        case = CASES[name]
        report = {"name": op, "differ": [], "refused": [], "shared": []}
        for number, dim in ((n, d) for n, x in enumerate(case.args) for d in range(np.ndim(x))):
            if case.args[number].shape[dim] % 2:
                continue
            specs = [P(*[None] * dim, "d") if n == number else P() for n in range(len(case.args))]
            where = f"argument {number}, dimension {dim}"
            try:
                with jax.set_mesh(mesh):
                    args = [put(mesh, x, s) for x, s in zip(case.args, specs, strict=True)]
                    results = jax.jit(functools.partial(values_and_gradients, case))(*args)
            except Exception as error:
                report["refused"].append(f"{where}: {type(error).__name__}: {error}")
                continue
            report["shared"].append(f"{where}: {jax.typeof(jax.tree.leaves(results)[0])}")
            for result, expected in zip(
                jax.tree.leaves(results),
                jax.tree.leaves(values_and_gradients(case, *case.args)),
                strict=True,
            ):
                if not np.allclose(result, expected, rtol=1e-5, atol=1e-5):
                    report["differ"].append(where)
        print(json.dumps(report), flush=True)


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
        compare(name, jax.jit(lambda *args: {"": mapped(*args)}), args, bad_args, expected)  # noqa: B023


if __name__ == "__main__":
    globals()[f"run_{sys.argv[1]}"]()
