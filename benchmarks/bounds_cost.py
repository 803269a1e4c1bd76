"""What the default bounds cost: against no check, and against TensorFlow's eager call.

Contenders take turns within each round, in this one process; figures are medians over the rounds.
The ratio of a round says more than times do, as machines are shared. Run it with `make bench-core`.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from setting import tf, write_figures

import jaxops
from jaxops.typing import Mode


def seconds_per_call(call: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def compare(
    contenders: Mapping[str, Callable[[], object]], rounds: int, calls: int
) -> dict[str, object]:
    """Medians of times and of the first contender's ratio to the second, round by round."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for call in contenders.values():
        seconds_per_call(call, calls)
    names = list(contenders)
    for n in range(rounds):
        for name in names if n % 2 else reversed(names):
            times[name].append(seconds_per_call(contenders[name], calls))
    first, second = (times[name] for name in names)
    ratios = [a / b for a, b in zip(first, second, strict=True)]
    low, median, high = statistics.quantiles(ratios, n=4)
    return {
        "microseconds": {name: round(1e6 * statistics.median(t), 2) for name, t in times.items()},
        "ratio": round(median, 3),
        "quartiles": [round(low, 3), round(high, 3)],
        "rounds": rounds,
    }


def gather_rows(mode: Mode) -> Callable[[], jax.Array]:
    """65,536 rows of 512 bytes, from a table of as many."""
    rng = np.random.default_rng(0)
    table = jnp.asarray(rng.normal(size=(65_536, 128)), jnp.float32)
    indices = jnp.asarray(rng.integers(0, len(table), 65_536), jnp.int32)
    compiled = jax.jit(lambda table, indices: jaxops.gather(table, indices, mode=mode))
    return lambda: jax.block_until_ready(compiled(table, indices))


def edit_distance(mode: Mode) -> Callable[[], jax.Array]:
    """A loop of scalar operations, which compares each letter of a text with each of another."""
    rng = np.random.default_rng(0)
    first, second = jnp.asarray(rng.integers(0, 4, (2, 400)), jnp.int32)
    numbers = jnp.arange(len(first))
    at = functools.partial(jaxops.gather, mode=mode)

    def distance(first, second):
        def row(above, i):
            def column(left, j):
                edits = at(above, j) + (at(first, i) != at(second, j))
                edits = jnp.minimum(edits, 1 + jnp.minimum(left, at(above, j + 1)))
                return edits, edits

            return jnp.append(i + 1, lax.scan(column, i + 1, numbers)[1]), None

        return lax.scan(row, jnp.arange(len(second) + 1), numbers)[0][-1]

    compiled = jax.jit(distance)
    return lambda: jax.block_until_ready(compiled(first, second))


def eager_gather_nd() -> Callable[[], object]:
    params = jnp.arange(12.0).reshape(3, 4)
    indices = jnp.array([[0, 1], [1, 2]])
    return lambda: jaxops.gather_nd(params, indices)


def eager_gather_nd_of_tensorflow() -> Callable[[], object]:
    params = tf.reshape(tf.range(12.0), [3, 4])
    indices = tf.constant([[0, 1], [1, 2]])
    return lambda: tf.gather_nd(params, indices)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=201, help="at least 3")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    if arguments.rounds < 3:
        parser.error(f"argument --rounds: received {arguments.rounds}, expected 3 at least")

    results = {
        "gather 65,536 rows of 512 bytes, jitted": compare(
            {
                "default bounds": gather_rows("device"),
                "promise_in_bounds": gather_rows("promise_in_bounds"),
            },
            arguments.rounds,
            calls=1,
        ),
        "a loop over single elements, jitted": compare(
            {
                "default bounds": edit_distance("device"),
                "promise_in_bounds": edit_distance("promise_in_bounds"),
            },
            arguments.rounds,
            calls=1,
        ),
    }
    if tf is None:
        print("TensorFlow is not installed here, so that the eager call goes without its peer.")
    else:
        with tf.device("cpu"):
            results["gather_nd of 2 elements, eager"] = compare(
                {"jaxops": eager_gather_nd(), "TensorFlow": eager_gather_nd_of_tensorflow()},
                arguments.rounds,
                calls=200,
            )
    for row, figures in results.items():
        print(f"{row}\n  {figures}")
    if arguments.json:
        write_figures(arguments.json, {"rows": results})


if __name__ == "__main__":
    main()
