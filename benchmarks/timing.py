"""Times of contenders that take turns, after their answers were found to agree."""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

Calls = Mapping[str, Callable[[], Any]]
Times = dict[str, list[float]]

LEAST_ROUNDS, MOST_ROUNDS = 7, 201
# Calls of one sample take this long together, so that the clock's own cost does not matter.
SAMPLE_SECONDS = 5e-4
# A sample is the best of three where that is cheap, as machines are shared: other processes only
# ever add to a time.
TRIES, CHEAP_SECONDS = 3, 0.01


class WrongAnswer(Exception):
    """The contenders of a row do not agree."""


def to_host(answer: Any) -> list[np.ndarray]:
    """The arrays of an answer; bfloat16, which NumPy's tests do not know, as float32."""
    leaves = jax.tree.leaves(answer)
    if any(type(leaf).__module__.startswith("torch") for leaf in leaves):
        leaves = [leaf.float().cpu() if leaf.is_floating_point() else leaf.cpu() for leaf in leaves]
    arrays = [np.asarray(leaf) for leaf in leaves]
    return [a.astype(np.float32) if a.dtype.name == "bfloat16" else a for a in arrays]


def check_answers(row: str, answers: Mapping[str, Any]) -> None:
    """Refuses answers that differ: integers by anything, floats by more than rounding."""
    (first, expected), *others = [(name, to_host(answer)) for name, answer in answers.items()]
    for name, received in others:
        if len(received) != len(expected):
            raise WrongAnswer(
                f"{row}: {name} gives {len(received)} arrays, {first} {len(expected)}"
            )
        for n, (a, b) in enumerate(zip(expected, received, strict=True)):
            if a.dtype.kind == "f":
                same = a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-5)
            else:
                same = np.array_equal(a, b)
            if not same:
                raise WrongAnswer(
                    f"{row}: {name} disagrees with {first} in array {n}: "
                    f"{b.dtype}{list(b.shape)} {b.ravel()[:4]} and "
                    f"{a.dtype}{list(a.shape)} {a.ravel()[:4]}"
                )


def seconds_per_call(call: Callable[[], Any], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def order(names: list[str], round_number: int) -> list[str]:
    first = names[round_number % len(names)]
    others = [name for name in names if name != first]
    random.Random(round_number).shuffle(others)
    return [first, *others]


def measure(
    calls: Calls,
    seconds: float,
    rounds: int | None = None,
    before: Callable[[], Any] | None = None,
) -> Times:
    """Times per call, round by round; `before` runs, untimed, before each sample.

    Each round begins with another contender and goes on in an order drawn anew, as a contender
    pays for what its predecessor leaves in the caches. Without `rounds`, as many as fit into
    `seconds`, 7 at least.
    """
    repeats, tries, per_round = {}, {}, 0.0
    for name, call in calls.items():
        if before is not None:
            before()
        one = min(seconds_per_call(call, 1) for _ in range(1 if before else 3))
        repeats[name] = 1 if before else max(1, min(500, int(SAMPLE_SECONDS / one)))
        sample = one * repeats[name]
        tries[name] = 1 if before or sample > CHEAP_SECONDS else TRIES
        per_round += sample * tries[name]
    if rounds is None:
        rounds = int(max(LEAST_ROUNDS, min(MOST_ROUNDS, seconds / per_round)))

    times: Times = {name: [] for name in calls}
    names = list(calls)
    gc.collect()
    gc.disable()
    try:
        for n in range(rounds):
            for name in order(names, n):
                if before is not None:
                    before()
                times[name].append(
                    min(seconds_per_call(calls[name], repeats[name]) for _ in range(tries[name]))
                )
    finally:
        gc.enable()
    return times


def summary(samples: list[float], scale: float = 1, digits: int = 3) -> dict[str, float]:
    low, median, high = statistics.quantiles(samples, n=4)
    return {
        "median": round(scale * median, digits),
        "low": round(scale * low, digits),
        "high": round(scale * high, digits),
    }


def ratios(times: Times, peer: str) -> dict[str, float]:
    """Of jaxops to the peer, round by round."""
    pairs = zip(times["jaxops"], times[peer], strict=True)
    return summary([ours / theirs for ours, theirs in pairs], digits=4)
