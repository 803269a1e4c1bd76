"""A lazy training step, and plain scatters, by the dtype of the table or of the optimizer's state.

    python benchmarks/narrow_tables.py

XLA's CPU compiler computes nothing in bfloat16 and float8: left to it, a scatter widens the whole
table. Rows are timed in turns in this one process, each against float32 of its kind, on donated
buffers. The temporary memory is that of the compiled step, for three sizes of the table.
"""

import argparse
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

import jaxops

WIDTH = 64
TABLES = ["float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"]


def sgd_step(dtype):
    return lazy_step(jaxops.lazy(optax.sgd(0.5)), dtype)


def adam_step(dtype, state_dtype=None):
    return lazy_step(jaxops.lazy(optax.adam(1e-3, mu_dtype=state_dtype)), dtype)


def lazy_step(optimizer, dtype):
    """A step's program, and what makes the arrays that it updates."""

    def loss(params, at):
        return jnp.sum(jaxops.gather(params["table"], at).astype(jnp.float32) ** 2)

    def step(arrays, at):
        params, state = arrays
        _, grads = jaxops.sparse_value_and_grad(loss, tables="table")(params, at)
        return optimizer.apply(grads, state, params)

    def start(rows):
        params = {"table": jnp.full((rows, WIDTH), 1, dtype)}
        return params, optimizer.init(params)

    return step, start


def scatter(function):
    def of(dtype):
        def step(table, at):
            updates = jnp.ones((at.size, WIDTH), table.dtype)
            return function(table, at[:, None], updates)

        return step, lambda rows: jnp.full((rows, WIDTH), 1, dtype)

    return of


GROUPS = {
    "lazy SGD": {name: sgd_step(name) for name in TABLES},
    "lazy Adam": {
        **{name: adam_step(name) for name in TABLES},
        "float32, mu_dtype=bfloat16": adam_step("float32", "bfloat16"),
    },
    "tensor_scatter_nd_add": {n: scatter(jaxops.tensor_scatter_nd_add)(n) for n in TABLES},
    "tensor_scatter_nd_update": {n: scatter(jaxops.tensor_scatter_nd_update)(n) for n in TABLES},
    "tensor_scatter_nd_max": {n: scatter(jaxops.tensor_scatter_nd_max)(n) for n in TABLES},
}


def compiled(step, start, rows, lookups):
    arrays = jax.eval_shape(lambda: start(rows))
    at = jax.ShapeDtypeStruct((lookups,), jnp.int32)
    return jax.jit(step, donate_argnums=0).lower(arrays, at).compile()


def temporary_bytes(program):
    analysis = program.memory_analysis()
    assert analysis is not None
    return analysis.temp_size_in_bytes


def measure(programs, starts, rows, lookups, rounds):
    """The median seconds of each program's step, and its median ratio to the first one's."""
    rng = np.random.default_rng(0)
    arrays = [jax.block_until_ready(start(rows)) for start in starts]
    seconds = [[] for _ in programs]
    for turn in range(rounds + 2):
        at = jnp.asarray(rng.integers(0, rows, lookups).astype(np.int32))
        for n, program in enumerate(programs):
            begin = time.perf_counter()
            arrays[n] = jax.block_until_ready(program(arrays[n], at))
            if turn > 1:
                seconds[n].append(time.perf_counter() - begin)
    ratios = [[a / b for a, b in zip(s, seconds[0], strict=True)] for s in seconds]
    return [*zip(map(statistics.median, seconds), map(statistics.median, ratios), strict=True)]


def main():
    parser = argparse.ArgumentParser(description="Tables and states of narrow floats, on a CPU.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--lookups", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    sizes = [options.rows // 4, options.rows // 2, options.rows]
    heads = " | ".join(f"{size:,} rows" for size in sizes)
    print(f"| {options.lookups:,} rows of {WIDTH} | ms | to float32 | temporary MB: {heads} |")
    print("|---|---|---|" + "---|" * len(sizes))
    for group, steps in GROUPS.items():
        programs, memory = [], []
        for step, start in steps.values():
            of_sizes = [compiled(step, start, size, options.lookups) for size in sizes]
            memory.append([temporary_bytes(program) / 1e6 for program in of_sizes])
            programs.append(of_sizes[-1])
        starts = [start for _, start in steps.values()]
        figures = measure(programs, starts, options.rows, options.lookups, options.rounds)
        for name, megabytes, (seconds, ratio) in zip(steps, memory, figures, strict=True):
            temporary = " | ".join(f"{m:.1f}" for m in megabytes)
            print(
                f"| {group}, {name} | {seconds * 1e3:.1f} | {ratio:.2f} | {temporary} |", flush=True
            )


if __name__ == "__main__":
    main()
