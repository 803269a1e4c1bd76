"""What each form of `jaxops/_cpu` saves: the time with it over the time without it, on a CPU.

Prints the table of benchmarks/README.md. Both programs of a row run in one process, in turn.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from row import bfloat16s, floats, ints, permutation
from timing import check_answers, measure

import jaxops
from jaxops import _forms
from jaxops._sparse.slices import indexed_slices


class Row(NamedTuple):
    form: str  # name of its primitive
    what: str
    call: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]
    first: bool = False  # the first eager call is what is timed, which compiles


def steps_of_adam(table, indices):
    """50 in a loop, which changes the table and the averages in place after copying them once."""
    optimizer = jaxops.lazy(optax.adam(0.1))
    grads = jaxops.IndexedSlices(table[: len(indices)], indices, table.shape)

    def step(_, table_and_state):
        table, state = table_and_state
        return optimizer.apply(grads, state, table)

    return jax.lax.fori_loop(0, 50, step, (table, optimizer.init(table)))[0]


def sums_of_two_tables(values, *indices):
    slices = [jaxops.IndexedSlices(values, i, (100_000, 16)) for i in indices]
    return [s.values for s in indexed_slices.sum_all_at_first(slices)]


def sums_of_rows(values, indices):
    slices = jaxops.IndexedSlices(values, indices, (100_000, 16))
    return slices.sum_duplicates(65_536, mode="fill").values


def gradient_of_columns(params, indices):
    return jax.grad(lambda p: (jaxops.gather(p, indices, axis=-1) ** 2).sum())(params)


ROWS = [
    Row(
        "gather_rows",
        "gather: 65,536 rows of 64 f32",
        jaxops.gather,
        lambda: (floats(65_536, 64), ints(65_536, 65_536)),
    ),
    Row(
        "gather_rows",
        "gather: 65,536 rows of 128 bf16",
        jaxops.gather,
        lambda: (bfloat16s(65_536, 128), ints(65_536, 65_536)),
    ),
    Row(
        "bisect_in_rows",
        "searchsorted: 100,001 values in 100,001",
        jaxops.searchsorted,
        lambda: (np.arange(100_001, dtype=np.int32), ints(100_001, 100_001)),
    ),
    Row(
        "gather_columns",
        "gather: gradient of 1,024 of 4,096 columns",
        gradient_of_columns,
        lambda: (floats(2048, 4096), ints(4096, 1024)),
    ),
    Row(
        "add_columns",
        "gather: gradient of 1,024 of 4,096 columns",
        gradient_of_columns,
        lambda: (floats(2048, 4096), ints(4096, 1024)),
    ),
    Row(
        "narrow_scatter",
        "tensor_scatter_nd_add: 8,192 rows of 64 bf16 into 1,000,000",
        jaxops.tensor_scatter_nd_add,
        lambda: (bfloat16s(1_000_000, 64), ints(1_000_000, 8192, 1), bfloat16s(8192, 64)),
    ),
    Row(
        "true_ranks",
        "boolean_mask: half of 1,000,000 f32",
        lambda x, mask: jaxops.boolean_mask(x, mask, size=1_000_000),
        lambda: (floats(1_000_000), ints(2, 1_000_000).astype(bool)),
    ),
    Row(
        "true_ranks",
        "unique: 1,000,000 i32 of 100,000 values",
        lambda x: jaxops.unique(x, size=100_000),
        lambda: (ints(100_000, 1_000_000),),
    ),
    Row(
        "number_distinct",
        "unique: 1,000,000 i32 of 100,000 values",
        lambda x: jaxops.unique(x, size=100_000),
        lambda: (ints(100_000, 1_000_000),),
    ),
    Row(
        "first_occurrences",
        "sum_duplicates: 65,536 rows of 16 f32 of 100,000",
        sums_of_rows,
        lambda: (floats(65_536, 16), ints(100_000, 65_536)),
    ),
    Row(
        "first_occurrences_in_rows",
        "lazy: sums of 2 tables' 65,536 rows of 16 f32 of 100,000",
        sums_of_two_tables,
        lambda: (floats(65_536, 16), ints(100_000, 65_536), ints(100_000, 65_536)),
    ),
    Row(
        "stable_order",
        "dynamic_partition: 100,000 rows of 16 f32 into 10 parts",
        lambda x, i: jaxops.dynamic_partition(x, i, 10, size=100_000),
        lambda: (floats(100_000, 16), ints(10, 100_000)),
    ),
    Row(
        "take_parts",
        "dynamic_partition: 100,000 rows of 16 f32 into 10 parts",
        lambda x, i: jaxops.dynamic_partition(x, i, 10, size=100_000),
        lambda: (floats(100_000, 16), ints(10, 100_000)),
    ),
    Row(
        "put_rows",
        "dynamic_stitch: 2 lists of 50,000 rows of 16 f32",
        lambda i, j, x: jaxops.dynamic_stitch([i, j], [x, x + 1], size=100_000),
        lambda: (*np.split(permutation(100_000), 2), floats(50_000, 16)),
    ),
    Row(
        "split_in_many",
        "split: 1,000,000 f32 into 1,000",
        lambda x: jaxops.split(x, 1000),
        lambda: (floats(1_000_000),),
    ),
    Row(
        "split_in_many",
        "split: 1,000,000 f32 into 1,000, the first call",
        lambda x: jaxops.split(x, 1000),
        lambda: (floats(1_000_000),),
        first=True,
    ),
    Row(
        "join_many",
        "concat: 1,000 rows of 1,000 f32, the first call",
        lambda rows: jaxops.concat(rows, 0),
        lambda: (np.split(floats(1000, 1000), 1000),),
        first=True,
    ),
    Row(
        "read_rows",
        "lazy Adam: 50 steps, 8,192 rows of 64 f32 of 100,000",
        steps_of_adam,
        lambda: (floats(100_000, 64), permutation(100_000)[:8192]),
    ),
]


@contextlib.contextmanager
def without(row: Row) -> Iterator[None]:
    """Within: no traced program has the form of that row. Some program must have asked for it."""
    _forms.load()
    all_forms = dict(_forms._forms)
    asked = []

    def refuse(form: _forms._Form) -> _forms._Form:
        def is_for(*operands: Any, **static: Any) -> bool:
            if form.is_for(*operands, **static):
                asked.append(operands)
            return False

        return form._replace(is_for=is_for) if form.primitive.name == row.form else form

    for reference, forms in all_forms.items():
        _forms._forms[reference] = [refuse(form) for form in forms]
    jax.clear_caches()
    try:
        yield
    finally:
        _forms._forms.update(all_forms)
        jax.clear_caches()
    if not asked:
        raise AssertionError(f"{row.what}: {row.form} is not in the program")


def program(row: Row, arguments: tuple[Any, ...]) -> Any:
    return jax.jit(lambda *a: row.call(*a)).lower(*arguments).compile()


def times_of_runs(row: Row, rounds: int) -> list[tuple[float, float]]:
    """The seconds with the form and without it, of each round."""
    arguments = jax.tree.map(jnp.asarray, row.arguments())
    with_form = program(row, arguments)
    with without(row):
        without_form = program(row, arguments)
    calls = {
        "with": lambda: jax.block_until_ready(with_form(*arguments)),
        "without": lambda: jax.block_until_ready(without_form(*arguments)),
    }
    check_answers(row.what, {name: call() for name, call in calls.items()})
    measured = measure(calls, seconds=5, rounds=rounds)
    return list(zip(measured["with"], measured["without"], strict=True))


def times_of_first_calls(row: Row, rounds: int) -> list[tuple[float, float]]:
    arguments = jax.tree.map(jnp.asarray, row.arguments())

    def seconds() -> float:
        jax.clear_caches()
        start = time.perf_counter()
        jax.block_until_ready(row.call(*arguments))
        return time.perf_counter() - start

    def pair() -> tuple[float, float]:
        with_form = seconds()
        with without(row):
            return with_form, seconds()

    return [pair() for _ in range(min(rounds, 3))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--only", default="", help="a part of the name of the form")
    options = parser.parse_args()
    print("| form | call | ms | with / without |\n|---|---|---|---|")
    for row in ROWS:
        if options.only in row.form:
            times = times_of_first_calls if row.first else times_of_runs
            pairs = times(row, options.rounds)
            milliseconds = 1e3 * statistics.median(a for a, _ in pairs)
            ratio = statistics.median(a / b for a, b in pairs)
            print(f"| `{row.form}` | {row.what} | {milliseconds:.2f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
