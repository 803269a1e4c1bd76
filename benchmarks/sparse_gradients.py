"""One training step of a table lookup: dense gradient, jaxops, TensorFlow.

The loss is small, so that a step is the lookup, its gradient and the update. Contenders take turns
within each round, in this one process, with the same new random indices; ratios are medians over
the rounds. Each contender must first give the right rows. Run it with `make bench-sparse`.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from setting import tf, write_figures

import jaxops

BATCH, WIDTH = 4096, 64
ROWS = (100_000, 1_000_000, 4_000_000)
LEARNING_RATE = {"sgd": 0.5, "adam": 0.001}
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: optax.sgd(LEARNING_RATE["sgd"]),
    "adam": lambda: optax.adam(LEARNING_RATE["adam"], b1=BETA1, b2=BETA2, eps=EPSILON),
}
FEWEST_ROUNDS = 7
TURN_SECONDS = 0.02  # of a contender within a round, in which a fast one makes several steps
MOST_STEPS = 8  # in a turn


class Contender(NamedTuple):
    """A table, its optimizer, and a step."""

    to_device: Callable[[np.ndarray], Any]
    step: Callable[[Any], float]  # with indices on the device; its loss, once all is updated
    rows: Callable[[np.ndarray], np.ndarray]  # of the table
    temporary_bytes: int | None = None  # of the compiled step


def initial_table(rows: int) -> np.ndarray:
    """Uniform in [-1, 1)."""
    rng = np.random.default_rng(0)
    return rng.random((rows, WIDTH), np.float32) * np.float32(2) - np.float32(1)


def targets() -> np.ndarray:
    """So far from the table that no gradient is near 0, where Adams differ by their epsilons."""
    return np.random.default_rng(1).random((BATCH, WIDTH), np.float32) + np.float32(2)


def draw_indices(rng: np.random.Generator, rows: int) -> np.ndarray:
    return rng.integers(0, rows, BATCH).astype(np.int32)


# JAX


def jax_contender(kind: str, optimizer: str, table: np.ndarray) -> Contender:
    """`dense` or `jaxops`."""
    goal = jnp.asarray(targets())
    dense = OPTIMIZERS[optimizer]()
    lazy = jaxops.lazy(dense)

    def loss_of(vectors):
        return jnp.mean(jnp.sum((vectors - goal) ** 2, axis=1))

    def dense_step(params, state, indices):
        loss, grads = jax.value_and_grad(lambda params: loss_of(params[indices]))(params)
        updates, state = dense.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    def sparse_step(params, state, indices):
        value_and_grad = jaxops.sparse_value_and_grad(
            lambda params: loss_of(jaxops.gather(params, indices)), tables=""
        )
        loss, grads = value_and_grad(params)
        params, state = lazy.apply(grads, state, params)
        return params, state, loss

    params = jnp.array(table)  # a copy
    params, state = _write_pages((params, dense.init(params)), jnp.float32(0))
    step = jax.jit(dense_step if kind == "dense" else sparse_step, donate_argnums=(0, 1))
    compiled = step.lower(params, state, jnp.zeros(BATCH, jnp.int32)).compile()
    memory = compiled.memory_analysis()
    variables = [params, state]
    del params, state

    def run(indices: jax.Array) -> float:
        variables[0], variables[1], loss = step(*variables, indices)
        jax.block_until_ready(variables)
        return float(loss)

    return Contender(
        jnp.asarray,
        run,
        lambda indices: np.asarray(variables[0][indices]),
        None if memory is None else memory.temp_size_in_bytes,
    )


@jax.jit
def _add(arrays: Any, zero: jax.Array) -> Any:
    return jax.tree.map(lambda x: x + zero.astype(x.dtype), arrays)


def _write_pages(arrays: Any, zero: jax.Array) -> Any:
    """The same in memory that is written: a first touch of a page is not part of a step."""
    return jax.block_until_ready(_add(arrays, zero))


# TensorFlow


def tensorflow_contender(
    apply_gradient: Callable[[Any], Callable[[Any], None]], jit: bool, table: np.ndarray
) -> Contender:
    with tf.device("cpu"):
        variable = _tensorflow_variable(table)
        goal = tf.constant(targets())
        apply = apply_gradient(variable)

        @tf.function(jit_compile=jit, autograph=False)
        def step(indices):
            with tf.GradientTape() as tape:
                vectors = tf.gather(variable, indices)
                loss = tf.reduce_mean(tf.reduce_sum((vectors - goal) ** 2, axis=1))
            gradient = tape.gradient(loss, variable)
            assert isinstance(gradient, tf.IndexedSlices)
            apply(gradient)
            return loss

    def run(indices) -> float:
        return float(step(indices).numpy())

    return Contender(tf.constant, run, lambda indices: tf.gather(variable, indices).numpy())


def _tensorflow_variable(initial: Any) -> Any:
    variable = tf.Variable(initial)
    variable.assign(variable + tf.zeros([]))  # in memory of its own, all of it written
    return variable


def tensorflow_sgd(table):
    rate = LEARNING_RATE["sgd"]
    return lambda g: table.scatter_sub(tf.IndexedSlices(rate * g.values, g.indices))


def tensorflow_lazy_adam(table):
    """As `LazyAdam` of TensorFlow Addons."""
    m, v = (_tensorflow_variable(tf.zeros_like(table)) for _ in range(2))
    count = tf.Variable(0.0)

    def apply(g):
        indices, slots = tf.unique(g.indices)
        values = tf.math.unsorted_segment_sum(g.values, slots, tf.size(indices))
        steps = count.assign_add(1.0)
        new_m = BETA1 * tf.gather(m, indices) + (1 - BETA1) * values
        new_v = BETA2 * tf.gather(v, indices) + (1 - BETA2) * values**2
        rate = LEARNING_RATE["adam"] * tf.sqrt(1 - BETA2**steps) / (1 - BETA1**steps)
        m.scatter_update(tf.IndexedSlices(new_m, indices))
        v.scatter_update(tf.IndexedSlices(new_v, indices))
        update = rate * new_m / (tf.sqrt(new_v) + EPSILON)
        table.scatter_sub(tf.IndexedSlices(update, indices))

    return apply


def tensorflow_compat_adam(table):
    """`tf.compat.v1.train.AdamOptimizer`: moments and table are updated densely."""
    optimizer = tf.compat.v1.train.AdamOptimizer(LEARNING_RATE["adam"], BETA1, BETA2, EPSILON)
    return lambda g: optimizer.apply_gradients([(g, table)])


# Of which the fastest counts: how, and whether compiled by XLA. Keras' Adam is not among them: it
# squares each gradient of a row that comes several times, not their sum, so its answers differ.
TENSORFLOW: dict[str, dict[str, tuple[Any, bool]]] = {
    "sgd": {
        "scatter_sub": (tensorflow_sgd, False),
        "scatter_sub, jit_compile": (tensorflow_sgd, True),
    },
    "adam": {
        "lazy Adam": (tensorflow_lazy_adam, False),
        "lazy Adam, jit_compile": (tensorflow_lazy_adam, True),
        "compat.v1 AdamOptimizer": (tensorflow_compat_adam, False),
        "compat.v1 AdamOptimizer, jit_compile": (tensorflow_compat_adam, True),
    },
}


# The machine


def rows_alone(optimizer: str, table: np.ndarray) -> Contender:
    """Reads the rows of the table and of the optimizer's state and writes them back, in NumPy."""
    tables = [table.copy() for _ in range({"sgd": 1, "adam": 3}[optimizer])]
    rows = np.empty((BATCH, WIDTH), np.float32)

    def step(indices: np.ndarray) -> float:
        for x in tables:
            np.take(x, indices, axis=0, out=rows, mode="clip")
            x[indices] = rows
        return 0.0

    return Contender(np.asarray, step, lambda indices: table[indices])


# Right answers


def expected_steps(
    optimizer: str, table: np.ndarray, batches: Sequence[np.ndarray]
) -> Iterator[tuple[float, np.ndarray]]:
    """The loss of each step and the table after it, in NumPy."""
    table = table.astype(np.float64)
    m, v = np.zeros_like(table), np.zeros_like(table)
    for n, indices in enumerate(batches, 1):
        error = table[indices] - targets()
        grad = np.zeros_like(table)
        np.add.at(grad, indices, 2 / len(indices) * error)
        if optimizer == "sgd":
            table = table - LEARNING_RATE["sgd"] * grad
        else:
            m = BETA1 * m + (1 - BETA1) * grad
            v = BETA2 * v + (1 - BETA2) * grad**2
            size = np.sqrt(v / (1 - BETA2**n)) + EPSILON
            table = table - LEARNING_RATE["adam"] * m / (1 - BETA1**n) / size
        yield float(np.mean(np.sum(error**2, axis=1))), table


def check_answers(name: str, contender: Contender, optimizer: str, table: np.ndarray) -> None:
    """Two steps with the same indices: where dense and lazy optimizers agree.

    Raises:
        ValueError: a loss or a row that is not what it should be, looked up or not.
    """
    indices = draw_indices(np.random.default_rng(2), len(table))
    indices[: BATCH // 4] = indices[-(BATCH // 4) :]  # rows that come several times
    watched = np.unique(np.concatenate([indices, np.arange(0, len(table), len(table) // 64)]))
    small = np.searchsorted(watched, indices)
    for step, (loss, rows) in enumerate(expected_steps(optimizer, table[watched], [small] * 2)):
        received = contender.step(contender.to_device(indices))
        moves, expected = contender.rows(watched) - table[watched], rows - table[watched]
        # Adams differ in where they add epsilon.
        right = np.allclose(moves, expected, rtol=2e-3, atol=1e-6)
        if not (right and abs(received - loss) < 1e-4 * loss):
            raise ValueError(
                f"{name}, {optimizer}, {len(table)} rows, step {step}: loss {received}, expected "
                f"{loss}; rows moved wrong by up to {np.abs(moves - expected).max()}"
            )


# Times


def seconds_of_turn(contender: Contender, batches: Sequence[np.ndarray]) -> float:
    """Of one step. Every step of a turn has indices of its own: no row is in a cache."""
    on_device = [contender.to_device(batch) for batch in batches]
    start = time.perf_counter()
    for indices in on_device:
        contender.step(indices)
    return (time.perf_counter() - start) / len(batches)


def warm_up(contender: Contender, rng: np.random.Generator, rows: int) -> int:
    """How many steps a turn shall have."""
    seconds = []
    end = time.perf_counter() + 1
    while not seconds or (len(seconds) < 20 and time.perf_counter() < end):
        seconds.append(seconds_of_turn(contender, [draw_indices(rng, rows)]))
    return max(1, min(MOST_STEPS, int(TURN_SECONDS / min(seconds))))


def take_turns(
    contenders: Mapping[Any, tuple[Contender, int]],
    seconds: float,
    most_rounds: int,
    fewest_rounds: int = FEWEST_ROUNDS,
) -> dict[Any, list[float]]:
    """The time of a step in each round; contenders come with the rows of their tables."""
    rng = np.random.default_rng(3)
    steps = {name: warm_up(c, rng, rows) for name, (c, rows) in contenders.items()}
    times: dict[Any, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    end = time.perf_counter() + seconds
    for n in range(most_rounds):
        if n >= fewest_rounds and time.perf_counter() > end:
            break
        seed = int(rng.integers(2**32))
        for name in names if n % 2 else reversed(names):
            contender, rows = contenders[name]
            of_round = np.random.default_rng(seed)
            batches = [draw_indices(of_round, rows) for _ in range(steps[name])]
            times[name].append(seconds_of_turn(contender, batches))
    return times


def ratio(first: Sequence[float], second: Sequence[float]) -> dict[str, object]:
    low, median, high = statistics.quantiles(
        (a / b for a, b in zip(first, second, strict=True)), n=4
    )
    return {"ratio": rounded(median), "quartiles": [rounded(low), rounded(high)]}


def rounded(x: float) -> float:
    return float(f"{x:.3g}")


def milliseconds(times: Sequence[float]) -> float:
    return rounded(1e3 * statistics.median(times))


def fastest_of_tensorflow(optimizer: str, table: np.ndarray) -> tuple[str, dict[str, float]]:
    """The name of the fastest way, and the time of a step of each, tried one by one."""
    times = {}
    for name, (apply_gradient, jit) in TENSORFLOW[optimizer].items():
        contender = tensorflow_contender(apply_gradient, jit, table)
        check_answers(f"TensorFlow, {name}", contender, optimizer, table)
        tried = take_turns({name: (contender, len(table))}, 0.5, 20, fewest_rounds=3)
        times[name] = milliseconds(tried[name])
        del contender
        gc.collect()
    return min(times, key=times.__getitem__), times


def measure_step(optimizer: str, rows: int, seconds: float, most_rounds: int) -> dict[str, object]:
    """All contenders at one size of table."""
    table = initial_table(rows)
    figures: dict[str, object] = {"optimizer": optimizer, "rows": rows}
    contenders = {}
    if tf is not None:
        fastest, tried = fastest_of_tensorflow(optimizer, table)
        figures["tensorflow"] = {"fastest": fastest, "milliseconds when tried": tried}
        contenders["tensorflow"] = tensorflow_contender(*TENSORFLOW[optimizer][fastest], table)
    for kind in ("dense", "jaxops"):
        contenders[kind] = jax_contender(kind, optimizer, table)
    for name, contender in contenders.items():
        check_answers(name, contender, optimizer, table)
    del table
    times = take_turns({n: (c, rows) for n, c in contenders.items()}, seconds, most_rounds)
    figures["rounds"] = len(times["jaxops"])
    figures["milliseconds"] = {name: milliseconds(t) for name, t in times.items()}
    figures["times as long as jaxops"] = {
        name: ratio(t, times["jaxops"]) for name, t in times.items() if name != "jaxops"
    }
    figures["temporary bytes"] = {k: contenders[k].temporary_bytes for k in ("dense", "jaxops")}
    return figures


def measure_growth(
    optimizer: str, sizes: Sequence[int], seconds: float, most_rounds: int
) -> dict[str, object]:
    """A step with the largest table against one with the smallest.

    Of jaxops, and of as little as can be done with the rows in the machine's caches and memory.
    """
    small, large = min(sizes), max(sizes)
    contenders = {}
    for rows in (small, large):
        table = initial_table(rows)
        contenders["jaxops", rows] = jax_contender("jaxops", optimizer, table), rows
        check_answers("jaxops", contenders["jaxops", rows][0], optimizer, table)
        contenders["rows alone", rows] = rows_alone(optimizer, table), rows
    del table
    gc.collect()
    times = take_turns(contenders, seconds, most_rounds)
    return {
        "optimizer": optimizer,
        "rows": [small, large],
        "rounds": len(times["jaxops", small]),
        **{
            name: {
                "milliseconds": [milliseconds(times[name, rows]) for rows in (small, large)],
                **ratio(times[name, large], times[name, small]),
            }
            for name in ("jaxops", "rows alone")
        },
    }


def whole_number(least: int) -> Callable[[str], int]:
    def convert(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"received {text!r}, expected {least} at least")
        return int(text)

    return convert


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--rows", type=whole_number(64), nargs="+", default=ROWS, help="sizes of the table"
    )
    parser.add_argument(
        "--rounds", type=whole_number(FEWEST_ROUNDS), default=201, help="at most so many"
    )
    parser.add_argument(
        "--seconds", type=whole_number(0), default=15, help="no new round after so many"
    )
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--plot", type=Path, help="where to draw them, as PNG")
    options = parser.parse_args(arguments)
    if tf is None:
        print("TensorFlow is not installed here, so that jaxops goes without its peer.")
    limits = options.seconds, options.rounds
    load = [os.getloadavg()[0]]
    steps, growth = [], []
    for optimizer in OPTIMIZERS:
        for rows in options.rows:
            steps.append(measure_step(optimizer, rows, *limits))
            print_step(steps[-1])
            gc.collect()
    for optimizer in OPTIMIZERS:
        growth.append(measure_growth(optimizer, options.rows, *limits))
        print(growth[-1], flush=True)
        gc.collect()
    load.append(os.getloadavg()[0])
    figures = {
        "batch": BATCH,
        "width": WIDTH,
        "load at start and end": load,
        "steps": steps,
        "growth": growth,
    }
    if options.json:
        write_figures(options.json, figures)
    if options.plot:
        from sparse_gradients_plot import draw  # matplotlib is for this alone

        draw(figures, options.plot)


def print_step(figures: dict[str, Any]) -> None:
    print(f"{figures['optimizer']}, {figures['rows']:,} rows, {figures['rounds']} rounds")
    for name, time_of_step in figures["milliseconds"].items():
        line = f"  {name:10} {time_of_step:10} ms"
        if name in figures["times as long as jaxops"]:
            line += "  {ratio:8} times as long, {quartiles}".format(
                **figures["times as long as jaxops"][name]
            )
        if name in figures["temporary bytes"]:
            line += f"  {figures['temporary bytes'][name]:,} temporary bytes"
        print(line)
    if "tensorflow" in figures:
        print(f"  {figures['tensorflow']}")
    print(end="", flush=True)


if __name__ == "__main__":
    main()
