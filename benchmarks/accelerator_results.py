"""The recorded results of accelerators.py, a row for each call and kind, and what a row says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results")


def read(platform: str) -> dict[str, Any]:
    """The version of `jax` that compiled the programs, and the `rows` as they were written."""
    return json.loads((RESULTS / f"accelerators-{platform}.json").read_text())


def rows_of(platform: str) -> list[dict[str, Any]]:
    rows = read(platform)["rows"]
    for row in rows:
        for contender in ("jaxops", "idiom"):
            if "error" not in row[contender]:
                row[contender] = {"kernels": 0, "temporaries": 0, "atomics": []} | row[contender]
                if platform == "tpu":
                    row[contender] = {"accessed": 0, "prefetched": 0} | row[contender]
                else:
                    row[contender] |= {"accessed": None}
    return rows


def name_of(row: dict[str, Any]) -> str:
    return f"{row['op']}: {row.get('what', '')}".removesuffix(": ")


def is_worse(row: dict[str, Any]) -> str:
    """In what the program of jaxops is worse than its idiom."""
    ours, theirs = row["jaxops"], row["idiom"]
    if "error" in ours or "error" in theirs:
        return ""
    if ours["accessed"] is not None:
        accessed = [x["accessed"] - x["prefetched"] for x in (ours, theirs)]
        worse = ["bytes"] * (accessed[0] > 1.02 * accessed[1])
        worse += ["temporaries"] * (ours["temporaries"] > 1.1 * theirs["temporaries"] + 1e6)
        return ", ".join(worse)
    worse = ["kernels"] * (ours["kernels"] > theirs["kernels"])
    # XLA adds 16 bytes here and there.
    worse += ["temporaries"] * (ours["temporaries"] > 1.05 * theirs["temporaries"] + 64)
    return ", ".join(worse)
