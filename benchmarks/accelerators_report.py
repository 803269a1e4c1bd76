"""The tables of docs/accelerators.md, which `make docs` makes of what accelerators.py found."""

from __future__ import annotations

import json
from typing import Any

from accelerator_results import RESULTS, is_worse, name_of, rows_of


def pair(row: dict[str, Any] | None, field: str, unit: float = 1) -> str:
    """Of jaxops and of the idiom."""
    if row is None:
        return "-"
    if "error" in row["jaxops"]:
        return "error"
    values = [row[c].get(field) for c in ("jaxops", "idiom")]
    texts = ["?" if v is None else f"{v / unit:.3g}" if unit > 1 else str(v) for v in values]
    return " / ".join(texts) if texts[0] != texts[1] else texts[0]


def table(op: str | None = None) -> str:
    """Of all functions, or of one."""
    cuda, tpu = (
        {(name_of(row), row["kind"]): row for row in rows_of(platform) if op in (None, row["op"])}
        for platform in ("cuda", "tpu")
    )
    lines = [
        "| call | H100: kernels | gradient | MB of temporaries | gradient | additions | "
        "v5e: MB accessed | gradient |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(name for name, _ in cuda):
        forward, gradient = cuda.get((name, "f32")), cuda.get((name, "f32 gradient"))
        found = [a for row in (forward, gradient) if row for a in row["jaxops"].get("atomics", [])]
        lines.append(
            f"| {name} | {pair(forward, 'kernels')} | {pair(gradient, 'kernels')} | "
            f"{pair(forward, 'temporaries', 1e6)} | {pair(gradient, 'temporaries', 1e6)} | "
            f"{', '.join(f'`{a}`' for a in dict.fromkeys(found))} | "
            f"{pair(tpu.get((name, 'f32')), 'accessed', 1e6)} | "
            f"{pair(tpu.get((name, 'f32 gradient')), 'accessed', 1e6)} |"
        )
    return "\n".join(lines)


def misses(platform: str) -> str:
    """The rows that are worse than their idiom, a line for each call."""
    found: dict[str, list[str]] = {}
    for row in rows_of(platform):
        if worse := is_worse(row):
            fields = ["kernels", "temporaries"] if platform == "cuda" else ["accessed"]
            fields += ["temporaries"] * (platform == "tpu" and "temporaries" in worse)
            values = "; ".join(f"{field} {pair(row, field)}" for field in fields)
            found.setdefault(name_of(row), []).append(f"{row['kind']}: {worse} ({values})")
    return "\n".join(f"- {name}: {'; '.join(kinds)}" for name, kinds in found.items()) or "- none"


def devices() -> str:
    """The results of `make device`, by device."""
    found = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("device-*.json"))]
    return "\n\n".join(map(_device, found)) or "It was run on no device yet."


def _device(found: dict[str, Any]) -> str:
    machine = found["machine"]
    parts = {name: part for name, part in found.items() if "seconds" in part}
    wrong = [f"- {name}: {text}" for p in parts.values() for name, text in p["faults"].items()]
    passed = ", ".join(
        f"{part['passed']} of {part['passed'] + len(part['faults'])} {name}"
        for name, part in parts.items()
        if "passed" in part
    )
    lines = [
        f"### {machine['device']}",
        f"jax {machine['jax']}, jaxlib {found['jaxlib']}. Passed: {passed}.",
        "\n".join(wrong),
        "| call | milliseconds | ratio to the idiom, or without a check | share of a copy |\n"
        "|---|---|---|---|\n"
        + "\n".join(
            f"| {name} | {row['jaxops']} | {row['ratio']} | {row.get('share of a copy', '')} |"
            for part in parts.values()
            for name, row in part.get("rows", {}).items()
            if "ratio" in row
        ),
    ]
    return "\n\n".join(filter(None, lines))
