"""One training step with many tables: tracing, compiling and running it, dense and by jaxops.

A recommender: each field has a table of its own number of rows, and each example looks up one row
of each; a small network follows. `python benchmarks/sparse_many_tables.py`. Contenders take turns;
ratios are medians over the rounds, of processor time for tracing and compiling.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from setting import write_figures

import jaxops

OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: optax.sgd(0.1),
    "adagrad": lambda: optax.adagrad(0.05),
    "adam": lambda: optax.adam(0.001),
}
KINDS = "dense", "jaxops"


def initial(fields: int, width: int, most_rows: int) -> dict[str, Any]:
    """Tables of different numbers of rows, and the weights of a network."""
    rng = np.random.default_rng(0)
    rows = [max(most_rows // (n + 1), 8) + n for n in range(fields)]
    tables = {f"table{n:02}": rng.normal(0, 0.1, (r, width)) for n, r in enumerate(rows)}
    sizes = [fields * width, 64, 1]
    weights = {
        f"weight{n}": rng.normal(0, a**-0.5, (a, b))
        for n, (a, b) in enumerate(itertools.pairwise(sizes))
    }
    return {k: jnp.asarray(v, jnp.float32) for k, v in {**tables, **weights}.items()}


def names_of_tables(params: dict[str, Any]) -> list[str]:
    return [name for name in params if name.startswith("table")]


def loss(params: dict[str, Any], ids: jax.Array, clicks: jax.Array) -> jax.Array:
    vectors = [
        jaxops.gather(params[name], ids[n]) for n, name in enumerate(names_of_tables(params))
    ]
    hidden = jax.nn.relu(jnp.concatenate(vectors, axis=1) @ params["weight0"])
    logits = (hidden @ params["weight1"])[:, 0]
    return jnp.mean(optax.sigmoid_binary_cross_entropy(logits, clicks))


def make_step(kind: str, optimizer: str, params: dict[str, Any]) -> tuple[Callable, Any]:
    """A new function each time, so that nothing of it is traced before; and the first state."""
    dense = OPTIMIZERS[optimizer]()
    lazy = jaxops.lazy(dense)

    def dense_step(params, state, ids, clicks):
        value, grads = jax.value_and_grad(loss)(params, ids, clicks)
        updates, state = dense.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    def sparse_step(params, state, ids, clicks):
        value_and_grad = jaxops.sparse_value_and_grad(loss, tables=names_of_tables(params))
        value, grads = value_and_grad(params, ids, clicks)
        params, state = lazy.apply(grads, state, params)
        return params, state, value

    if kind == "dense":
        return dense_step, dense.init(params)
    return sparse_step, lazy.init(params)


def draw(params: dict[str, Any], batch: int, rng: np.random.Generator):
    """Ids of which low ones are frequent, and clicks."""
    rows = [len(params[name]) for name in names_of_tables(params)]
    ids = [np.minimum(rng.zipf(1.3, batch) - 1, r - 1) for r in rows]
    return jnp.asarray(np.stack(ids), jnp.int32), jnp.asarray(rng.integers(0, 2, batch) * 1.0)


def measure_compiling(fields: int, optimizer: str, rounds: int) -> dict[str, Any]:
    """Seconds of the processor, and instructions of the optimized program."""
    params = initial(fields, width=16, most_rows=1000)
    args = draw(params, 256, np.random.default_rng(0))
    seconds: dict[str, list[tuple[float, ...]]] = {kind: [] for kind in KINDS}
    instructions = {}
    for n in range(rounds + 1):
        for kind in KINDS if n % 2 else reversed(KINDS):
            step, state = make_step(kind, optimizer, params)
            jax.clear_caches()
            gc.collect()
            marks = [time.process_time()]
            traced = jax.jit(step, donate_argnums=(0, 1)).trace(params, state, *args)
            marks.append(time.process_time())
            lowered = traced.lower()
            marks.append(time.process_time())
            compiled = lowered.compile()
            marks.append(time.process_time())
            instructions[kind] = (compiled.as_text() or "").count(" = ")
            if n:  # the first round imports and fills caches that stay
                seconds[kind].append(tuple(b - a for a, b in itertools.pairwise(marks)))
    figures: dict[str, Any] = {"fields": fields, "optimizer": optimizer, "rounds": rounds}
    for place, stage in enumerate(("trace", "lower", "compile")):
        times = {kind: [s[place] for s in seconds[kind]] for kind in KINDS}
        figures[stage] = compared(times)
    figures["all"] = compared({kind: [sum(s) for s in seconds[kind]] for kind in KINDS})
    figures["instructions"] = instructions
    return figures


def measure_running(
    fields: int, optimizer: str, batch: int, width: int, most_rows: int, rounds: int
) -> dict[str, Any]:
    params = initial(fields, width, most_rows)
    rng = np.random.default_rng(0)
    seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}
    steps = {}
    for kind in KINDS:
        step, state = make_step(kind, optimizer, params)
        copies = jax.tree.map(jnp.array, (params, state))
        steps[kind] = [jax.jit(step, donate_argnums=(0, 1)), *copies]
    for n in range(rounds + 2):
        args = draw(params, batch, rng)
        for kind in KINDS if n % 2 else reversed(KINDS):
            start = time.perf_counter()
            result = jax.block_until_ready(steps[kind][0](*steps[kind][1:], *args))
            if n >= 2:
                seconds[kind].append(time.perf_counter() - start)
            steps[kind][1:] = result[:2]
    return {
        "fields": fields,
        "optimizer": optimizer,
        "batch": batch,
        "width": width,
        "most rows": most_rows,
        **compared(seconds),
    }


def compared(seconds: dict[str, list[float]]) -> dict[str, Any]:
    ratios = [b / a for a, b in zip(*(seconds[kind] for kind in KINDS), strict=True)]
    low, median, high = statistics.quantiles(ratios, n=4)
    return {
        "milliseconds": {k: rounded(1e3 * statistics.median(seconds[k])) for k in KINDS},
        "jaxops / dense": rounded(median),
        "quartiles": [rounded(low), rounded(high)],
    }


def rounded(x: float) -> float:
    return float(f"{x:.3g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--fields", type=int, nargs="+", default=[13, 52])
    parser.add_argument("--optimizers", nargs="+", default=list(OPTIMIZERS), choices=OPTIMIZERS)
    parser.add_argument("--rounds", type=int, default=7, help="of compiling")
    parser.add_argument("--steps", type=int, default=51, help="of running")
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--most-rows", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args()
    load = [os.getloadavg()[0]]
    compiling, running = [], []
    for optimizer in options.optimizers:
        for fields in options.fields:
            if options.rounds:
                compiling.append(measure_compiling(fields, optimizer, options.rounds))
                print(compiling[-1], flush=True)
        if options.steps:
            running.append(
                measure_running(26, optimizer, options.batch, 16, options.most_rows, options.steps)
            )
            print(running[-1], flush=True)
    load.append(os.getloadavg()[0])
    print("load", load)
    if options.json:
        figures = {"load at start and end": load, "compiling": compiling, "running": running}
        write_figures(options.json, figures)


if __name__ == "__main__":
    main()
