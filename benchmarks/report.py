"""Figures of a row, the lines of the table, the summary and the JSON file."""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
from collections.abc import Iterable
from typing import Any

import jax
import numpy as np
from peers import version
from row import Row
from timing import Times, ratios
from work import TF_EAGER, TF_FUNCTION, Work

import jaxops

# What a ratio is wanted to be at most. Where 1.0 is wanted of a peer, 0.05 are left to noise.
WANTED = {
    "throughput": 1.05,
    "programs": 1.05,
    "tiny": 1.05,
    "compile": 1.1,
    "gradients": 1.05,
    "tiny_gradients": 1.05,
    "bandwidth": 1 / 0.7,  # 0.7 of a copy's bandwidth
    "bounds": 1.05,
    "checked": 1.15,
    "checked_compile": 1.3,
}
# The one peer that judges a row; the others are shown only. JAX needs 0.35 ms for a derivative that
# is not compiled, however small, and TensorFlow often a third of that.
JUDGES = {"tiny": "tensorflow", "tiny_gradients": "jnp"}
WANTED_OF_COMPILATION = {"compile-bounds": 2.0, "programs": 1.2}  # in the group "compile"


def figures(row: Row, group: str, times: Times, work: Work) -> dict[str, Any]:
    """What the table, the chart and the JSON file say of a row."""
    times = dict(times)
    if TF_EAGER in times:
        better = min((TF_EAGER, TF_FUNCTION), key=lambda name: statistics.median(times[name]))
        times["tensorflow"] = times[better]
    peers = [name for name in times if name not in ("jaxops", TF_EAGER, TF_FUNCTION)]
    shown_only = [*(row.shares_memory if group == "throughput" else ()), "checked"]
    by_peer = {peer: ratios(times, peer) for peer in peers}
    rivals = [name for name in peers if name not in shown_only]
    best, to_best = best_of(rivals, times, by_peer, work.same)
    judged, to_judged = best, to_best
    if group in JUDGES:
        judged = JUDGES[group] if JUDGES[group] in peers else None
        to_judged = by_peer[judged]["median"] if judged else None
    wanted = WANTED[group]
    if group == "compile":
        wanted = max(WANTED_OF_COMPILATION.get(word, wanted) for word in row.groups.split())
    result: dict[str, Any] = {
        "group": group,
        "op": row.op,
        "what": "one small call" if group == "tiny" else row.what,
        "rounds": len(times["jaxops"]),
        "microseconds": {
            name: round(1e6 * statistics.median(samples), 3) for name, samples in times.items()
        },
        "ratios": by_peer,
        "same_program": list(work.same),
        "best_peer": best,
        "to_best_peer": to_best,
        "judged_by": judged,
        "shown_only": [name for name in shown_only if name in peers],
        "wanted": round(wanted, 4),
        "note": row.note,
    }
    if TF_EAGER in times:
        result["tensorflow_is"] = better.removeprefix("tensorflow ")
    result["met"] = None if to_judged is None else to_judged <= wanted
    if "copy" in times:
        result["share_of_copy"] = round(1 / result["ratios"]["copy"]["median"], 3)
    return result


def best_of(
    rivals: list[str], times: Times, by_peer: dict[str, Any], same: tuple[str, ...]
) -> tuple[str | None, float | None]:
    """The fastest peer, and the ratio to it: 1 where that is the same program, times or not."""
    others = [name for name in rivals if name not in same]
    best = min(others, key=lambda name: statistics.median(times[name]), default=None)
    ratio = by_peer[best]["median"] if best else None
    if same and (ratio is None or ratio < 1):
        return same[0], 1.0
    return best, ratio


HEAD = (
    f"{'':9} {'row':58} {'jaxops':>10} {'to best peer':>13} {'quartiles':>13} {'best':>10} "
    f"{'to TF':>7} {'to jnp':>7} {'to keras':>8} {'to torch':>8}  wanted"
)


def line(done: str, result: dict[str, Any]) -> str:
    """One row of the table."""

    def of(peer):
        mark = "=" if peer in result["same_program"] else ""
        return f"{result['ratios'][peer]['median']:.2f}{mark}" if peer in result["ratios"] else ""

    name = f"{result['op']}: {result['what']}"
    peer = result["judged_by"] or result["best_peer"]
    figure = result["ratios"].get(peer)
    best = f"{figure['median']:.2f}" if figure else ""
    if peer in result["same_program"]:
        best = "same"
    quartiles = f"{figure['low']:.2f} to {figure['high']:.2f}" if figure else ""
    miss = f"MISSES {result['wanted']:.2f}" if result["met"] is False else ""
    if "checked" in result["ratios"]:
        miss += f" with its check {1 / result['ratios']['checked']['median']:.2f} times"
    share = f" {result['share_of_copy']:.2f} of a copy" if "share_of_copy" in result else ""
    tensorflow = of("tensorflow") + {"eager": "e", "function": "f"}.get(
        result.get("tensorflow_is", ""), ""
    )
    return (
        f"{done:9} {name[:58]:58} {time_text(result['microseconds']['jaxops']):>10} "
        f"{best:>13} {quartiles:>13} {(peer or ''):>10} {tensorflow:>7} "
        f"{of('jnp'):>7} {of('keras'):>8} {of('torch'):>8}  {miss}{share}"
    ).rstrip()


def time_text(microseconds: float) -> str:
    return f"{microseconds / 1000:.2f} ms" if microseconds >= 1000 else f"{microseconds:.1f} us"


def geometric_mean(numbers: Iterable[float]) -> float | None:
    logs = [math.log(number) for number in numbers]
    return round(math.exp(statistics.fmean(logs)), 4) if logs else None


def summaries(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Geometric means and misses, by allocator and group."""
    keys = dict.fromkeys((result["allocator"], result["group"]) for result in results)
    found = []
    for allocator, group in keys:
        rows = [r for r in results if (r["allocator"], r["group"]) == (allocator, group)]
        of_best = [r["to_best_peer"] for r in rows if r["best_peer"]]

        def to(peer, rows=rows):
            return geometric_mean(
                r["ratios"][peer]["median"]
                for r in rows
                if peer in r["ratios"] and peer not in r["shown_only"]
            )

        found.append(
            {
                "allocator": allocator,
                "group": group,
                "rows": len(rows),
                "missed": sum(r["met"] is False for r in rows),
                "same_program": sum(bool(r["same_program"]) for r in rows),
                "to_best_peer": geometric_mean(of_best),
                "to_tensorflow": to("tensorflow"),
                "to_jnp": to("jnp"),
            }
        )
    return found


def summary_text(results: list[dict[str, Any]]) -> str:
    lines = ["Geometric means of the ratios; below 1, jaxops takes less time."]
    for s in summaries(results):
        to_tf = f", to TensorFlow {s['to_tensorflow']:.2f}" if s["to_tensorflow"] else ""
        to_jnp = f", to jnp {s['to_jnp']:.2f}" if s["to_jnp"] else ""
        to_best = f"to the best peer {s['to_best_peer']:.2f}" if s["to_best_peer"] else "no peer"
        lines.append(
            f"{s['allocator']:8} {s['group']:11} {s['rows']:4} rows, "
            f"{s['missed']:3} miss their figure, {s['same_program']:2} are a peer's program: "
            f"{to_best}{to_tf}{to_jnp}"
        )
    return "\n".join(lines)


def cpu_model() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            for text in lines:
                if text.startswith("model name"):
                    return text.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


def machine() -> dict[str, Any]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu": cpu_model(),
        "cores": cores,
        "load": [round(load, 2) for load in os.getloadavg()],
        "device": jax.devices()[0].device_kind,
        "threads": "XLA and TensorFlow use every core, as is their default",
    }


def versions() -> dict[str, str | None]:
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "jax": jax.__version__,
        "jaxops": jaxops.__version__,
        "tensorflow": version("tensorflow"),
        "keras": version("keras"),
        "torch": version("torch"),
        "numba": version("numba"),
    }


def json_text(everything: dict[str, Any]) -> str:
    """A line for each key, and for each element of a list."""

    def text(value):
        if not isinstance(value, list) or not value:
            return json.dumps(value)
        return "[\n" + ",\n".join(map(json.dumps, value)) + "\n]"

    lines = [f"{json.dumps(key)}: {text(value)}" for key, value in everything.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"
