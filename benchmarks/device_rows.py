"""Calls that `make device` times, besides the rows of the suite."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
import sparse_gradients
from row import Row, Size, bfloat16s, floats, ints, permutation
from work import convert, to_jax

import jaxops
from jaxops.typing import Mode


def added(table, ids, updates, mode: Mode = "device"):
    return jaxops.tensor_scatter_nd_add(table, ids[:, None], updates, mode=mode)


def added_by_jnp(table, ids, updates):
    return table.at[jnp.where(ids < 0, len(table), ids)].add(updates, mode="drop")


def _whole(*shape: int) -> np.ndarray:
    return ints(100, *shape)


def _additions(make: Callable, distinct: int, width: int, n: Size) -> tuple[Any, ...]:
    """A table, rows that many updates go to (`distinct` rows; 0: a row for each), and updates."""
    rows = n(1_000_000, 50)
    ids = permutation(rows) % (distinct or rows)
    return make(rows, width), ids, make(rows, width)


# Where many updates meet in few elements atomic additions wait for one another, most of all those
# that some versions of XLA make of compare-and-swap.
ROWS = [
    Row(
        "tensor_scatter_nd_add",
        f"1,000,000 {what} of {dtype} into {where}",
        partial(_additions, make, distinct, width),
        jaxops=added,
        jnp=added_by_jnp,
        groups="device",
    )
    for dtype, make in {"f32": floats, "bf16": bfloat16s, "int32": _whole}.items()
    for where, distinct in {"one row": 1, "1,000 rows": 1000, "rows of their own": 0}.items()
    for what, width in {"numbers": 1, "rows of 16": 16}.items()
]


def sparse_adam(rows: int) -> tuple[str, dict[str, Callable]]:
    """A step of Adam on a few rows of a table, beside the dense step."""
    table = sparse_gradients.initial_table(rows)
    steps = {
        name: sparse_gradients.jax_contender(kind, "adam", table)
        for name, kind in (("jaxops", "jaxops"), ("jnp", "dense"))
    }
    indices = sparse_gradients.draw_indices(np.random.default_rng(2), rows)
    calls = {n: partial(c.step, c.to_device(indices)) for n, c in steps.items()}
    return f"lazy: Adam, {len(indices):,} of {rows:,} rows", calls


def checks(n: Size) -> dict[str, tuple[Callable, Callable, tuple[Any, ...]]]:
    """Calls with a check of bounds, the same without, and the arguments."""
    rows = n(1_000_000, 50)
    table, ids = floats(rows, 64), ints(rows, n(262_144, 40))
    updates = floats(len(ids), 64)
    pairs = {
        "gather": (jaxops.gather, (table, ids)),
        "tensor_scatter_nd_add": (added, (table, ids, updates)),
        "unsorted_segment_sum": (
            partial(jaxops.unsorted_segment_sum, num_segments=rows),
            (updates, ids),
        ),
    }
    found: dict[str, tuple[Callable, Callable, Any]] = {
        name: (partial(function, mode="error"), partial(function, mode="fill"), arguments)
        for name, (function, arguments) in pairs.items()
    }

    def looked_up(x, i):
        return x[i]

    found["x[i]"] = jaxops.checked(looked_up, mode="error"), looked_up, (table, ids)
    return {name: (f, g, convert(args, to_jax)) for name, (f, g, args) in found.items()}
