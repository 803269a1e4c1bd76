"""Tables in Markdown of the figures in benchmarks/results, for the site."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
PEERS = {
    "tensorflow": "TensorFlow",
    "jnp": "jnp",
    "keras": "keras",
    "torch": "PyTorch",
    "numpy": "NumPy",
    "numba": "numba",
}
ALONE = {"promise": "`promise_in_bounds`", "copy": "a copy"}  # by which some rows are judged
GROUPS = {
    "throughput": "one call with megabytes of data, jitted where the row does not say eager",
    "programs": "steps of several ops, jitted, each with its gradients where it trains",
    "gradients": "cotangents pulled back, compiled",
    "tiny": "one eager call with a few elements",
    "compile": "trace, lower and compile",
    "bandwidth": "calls that move contiguous memory, beside a copy of as many bytes",
    "bounds": "default bounds, beside `promise_in_bounds`",
    "checked": "code of JAX with `jaxops.checked`, beside the code without",
    "checked_compile": "the same, traced, lowered and compiled",
}


@cache
def results(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())


@cache
def suite_rows() -> tuple[dict[str, Any], ...]:
    """Those in which freed pages are kept: what jaxops does, and not what page faults cost."""
    return tuple(row for row in results("suite")["rows"] if row["allocator"] == "kept")


def joined(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of Markdown."""
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def duration(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3g}\N{NO-BREAK SPACE}{unit}"
    return f"{microseconds:.3g}\N{NO-BREAK SPACE}\N{MICRO SIGN}s"


def ratio(row: dict[str, Any], peer: str) -> str:
    """Of a row to a peer, with its quartiles; `=` where both are the same program.

    TensorFlow's result may have the memory of its argument; that of a compiled program has its own.
    """
    if peer not in row["ratios"]:
        return ""
    if peer in row["same_program"]:
        return "="
    found = row["ratios"][peer]
    text = f"{found['median']:.2f} [{found['low']:.2f},\N{NO-BREAK SPACE}{found['high']:.2f}]"
    return f"{text}, copies nothing" if peer in row["shown_only"] else text


def of_function(name: str) -> str:
    """The rows of one function."""
    rows = [
        row
        for row in suite_rows()
        if row["op"] == name and row["group"] in PAIRED and PEERS.keys() & row["ratios"].keys()
    ]
    peers = {p: n for p, n in PEERS.items() if any(p in r["ratios"] for r in rows)}
    return joined(
        ("work", "timed", "jaxops", *(f"to {peers[peer]}" for peer in peers)),
        (
            (
                row["what"],
                row["group"],
                duration(row["microseconds"]["jaxops"]),
                *(ratio(row, peer) for peer in peers),
            )
            for row in rows
        ),
    )


PAIRED = ("throughput", "programs", "gradients", "tiny", "compile")


def has_function(name: str) -> bool:
    return any(row["op"] == name and row["group"] in PAIRED for row in suite_rows())


def geometric_mean(numbers: list[float]) -> float:
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def suite_summary() -> str:
    """A row for each group: by how much jaxops is ahead, and how often it is not."""
    summaries = [s for s in results("suite")["summary"] if s["allocator"] == "kept"]
    return joined(
        ("group", "what is timed", "rows", "to the best peer", "to TensorFlow", "rows that miss"),
        (
            (
                f"`{s['group']}`",
                GROUPS[s["group"]],
                str(s["rows"]),
                f"{s['to_best_peer']:.2f}",
                "" if s["to_tensorflow"] is None else f"{s['to_tensorflow']:.2f}",
                str(s["missed"]),
            )
            for s in summaries
        ),
    )


def suite_group(group: str) -> str:
    """All rows of a group, by function."""
    rows = sorted((row for row in suite_rows() if row["group"] == group), key=lambda r: r["op"])
    others = {p: n for p, n in {**PEERS, **ALONE}.items() if any(p in r["ratios"] for r in rows)}
    return joined(
        ("function", "work", "jaxops", *(f"to {name}" for name in others.values())),
        (
            (
                f"[`{row['op']}`](functions/{row['op']}.md)",
                row["what"],
                duration(row["microseconds"]["jaxops"]),
                *(ratio(row, peer) for peer in others),
            )
            for row in rows
        ),
    )


def jnp_ratio(row: dict[str, Any]) -> float:
    """Where the two are one program the ratio is noise, and counts as 1."""
    return 1.0 if "jnp" in row["same_program"] else row["ratios"]["jnp"]["median"]


def beside_jnp() -> str:
    """By group, how the times of jaxops are to those of the idioms of jnp."""
    lines = []
    for group in PAIRED:
        rows = [row for row in suite_rows() if row["group"] == group and "jnp" in row["ratios"]]
        ratios = [jnp_ratio(row) for row in rows]
        lines.append(
            (
                f"`{group}`",
                GROUPS[group],
                str(len(rows)),
                f"{geometric_mean(ratios):.2f}",
                str(sum("jnp" in row["same_program"] for row in rows)),
                str(sum(r < 0.95 for r in ratios)),
                str(sum(r > 1.05 for r in ratios)),
            )
        )
    head = ("group", "what is timed", "rows", "to jnp", "same program", "below 0.95", "above 1.05")
    return joined(head, lines)


def extremes_beside_jnp(slowest: bool, number: int = 8) -> str:
    rows = [r for r in suite_rows() if r["group"] in ("throughput", "gradients")]
    rows = [r for r in rows if "jnp" in r["ratios"]]
    rows.sort(key=jnp_ratio, reverse=slowest)
    return joined(
        ("function", "work", "timed", "jaxops", "jnp", "ratio"),
        (
            (
                f"[`{row['op']}`](functions/{row['op']}.md)",
                row["what"],
                row["group"],
                duration(row["microseconds"]["jaxops"]),
                duration(row["microseconds"]["jnp"]),
                ratio(row, "jnp"),
            )
            for row in rows[:number]
        ),
    )


def sparse_steps() -> str:
    """A training step by sparse gradients, beside a dense one and TensorFlow's."""
    lines = []
    for step in results("sparse_gradients")["steps"]:
        compared = step["times as long as jaxops"]
        lines.append(
            (
                step["optimizer"].upper() if step["optimizer"] == "sgd" else "Adam",
                f"{step['rows']:,}",
                duration(1e3 * step["milliseconds"]["jaxops"]),
                *(
                    f"{duration(1e3 * step['milliseconds'][peer])}, "
                    f"{compared[peer]['ratio']:.3g}\N{NO-BREAK SPACE}times"
                    for peer in ("dense", "tensorflow")
                ),
                f"{step['temporary bytes']['jaxops'] / 1e6:.1f}\N{NO-BREAK SPACE}MB",
                f"{step['temporary bytes']['dense'] / 1e6:.0f}\N{NO-BREAK SPACE}MB",
            )
        )
    head = ("optimizer", "rows of the table", "sparse", "dense gradient", "TensorFlow")
    return joined((*head, "temporary memory, sparse", "dense"), lines)


def bounds_cost() -> str:
    rows = results("bounds_cost")["rows"]
    return joined(
        ("call", "beside", "jaxops", "ratio"),
        (
            (
                name,
                list(row["microseconds"])[1],
                duration(next(iter(row["microseconds"].values()))),
                f"{row['ratio']:.2f} [{row['quartiles'][0]:.2f}, {row['quartiles'][1]:.2f}]",
            )
            for name, row in rows.items()
        ),
    )


def machine() -> str:
    """Of `make bench`."""
    suite = results("suite")
    versions = suite["versions"]
    return (
        f"{suite['machine']['cores']} shared CPU cores ({suite['machine']['cpu']}), load "
        f"{suite['load']['kept'][0]}, Python {versions['python']}, jax {versions['jax']}, "
        f"TensorFlow {versions['tensorflow']}, Keras {versions['keras']}, "
        f"PyTorch {versions['torch']}, numba {versions['numba']}"
    )


MADE = {
    "machine": machine,
    "suite_summary": suite_summary,
    **{f"suite_{group}": lambda group=group: suite_group(group) for group in GROUPS},
    "beside_jnp": beside_jnp,
    "fastest_beside_jnp": lambda: extremes_beside_jnp(slowest=False),
    "slowest_beside_jnp": lambda: extremes_beside_jnp(slowest=True),
    "sparse_steps": sparse_steps,
    "bounds_cost": bounds_cost,
}
