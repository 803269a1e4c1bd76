"""The chart: ratios of every row, a panel for each group."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

COLORS = {
    "tensorflow": "#e8710a",
    "jnp": "#1a73e8",
    "keras": "#9334e6",
    "torch": "#d93025",
    "copy": "#188038",
    "promise": "#188038",
    "checked": "#188038",
}
NAMES = {
    "promise": "promise_in_bounds",
    "checked": "jaxops, bounds checked",
    "copy": "a copy of as many bytes",
}


LEAST, MOST = 0.05, 20.0  # what is beyond is drawn at the edge
TICKS = [0.1, 0.2, 0.5, 1, 2, 5, 10]
LINE, GAP = 0.11, 0.62  # inches of a row, and between panels


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """Writes the chart: rows from the best to the worst, below 1 where jaxops takes less time."""
    # Imported here, as nothing else needs matplotlib; "Agg", as there may be no screen.
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import lines, pyplot
    from PIL import Image

    # Of two allocators the one whose pages are kept: fewer page faults hide the work.
    allocator = results[-1]["allocator"]
    results = [r for r in results if r["allocator"] == allocator and r["ratios"]]
    panels = {
        group: sorted(
            (r for r in results if r["group"] == group),
            key=lambda r: r["ratios"][r["judged_by"] or r["best_peer"]]["median"],
        )
        for group in dict.fromkeys(r["group"] for r in results)
    }
    columns = in_two_columns(panels)
    height = 0.9 + max(column_height(panels, column) for column in columns)
    figure = pyplot.figure(figsize=(11, height), dpi=105)
    for n, column in enumerate(columns):
        top = height - 0.75
        for group in column:
            share = LINE * len(panels[group])
            panel(
                figure.add_axes((0.245 + 0.5 * n, (top - share) / height, 0.24, share / height)),
                group,
                panels[group],
            )
            top -= share + GAP
    drawn = {peer for r in results for peer in r["ratios"]}
    handles = [
        lines.Line2D([], [], color=color, marker="o", ls="", ms=4, label=NAMES.get(peer, peer))
        for peer, color in COLORS.items()
        if peer in drawn
    ]
    title = (
        "Time of jaxops / time of a peer: left of 1 jaxops is ahead; red rows miss their figure; "
        "hollow: the same program"
    )
    figure.text(0.5, 1 - 0.15 / height, title, ha="center", va="center", fontsize=9)
    figure.legend(
        handles=handles,
        loc="center",
        bbox_to_anchor=(0.5, 1 - 0.36 / height),
        ncols=len(handles),
        fontsize=8,
        frameon=False,
    )
    drawing = io.BytesIO()
    figure.savefig(drawing)
    pyplot.close(figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    # A palette makes the file a fraction as large; of 64 colours it would lose some peers'.
    Image.open(drawing).convert("RGB").quantize(256).save(path, optimize=True)


def column_height(panels: dict[str, list], column: list[str]) -> float:
    return sum(LINE * len(panels[group]) + GAP for group in column)


def in_two_columns(panels: dict[str, list]) -> list[list[str]]:
    """The groups, in their order, split where the higher column is lowest."""
    groups = list(panels)
    splits = [[groups[:n], groups[n:]] for n in range(1, len(groups) + 1)]
    return min(splits, key=lambda split: max(column_height(panels, column) for column in split))


def panel(axes: Any, group: str, rows: list[dict[str, Any]]) -> None:
    def inside(ratio):
        return min(max(ratio, LEAST), MOST)

    for y, row in enumerate(rows):
        for peer, ratio in row["ratios"].items():
            quartiles = [inside(ratio["low"]), inside(ratio["high"])]
            axes.plot(quartiles, [y, y], color=COLORS[peer], lw=0.8, alpha=0.6)
            # Hollow where the peer is the same program: the distance from 1 is noise.
            is_same = peer in row["same_program"]
            looks = {"mfc": "white", "mew": 0.7} if is_same else {"mew": 0}
            axes.plot(inside(ratio["median"]), y, "o", color=COLORS[peer], ms=3.2, **looks)
    axes.axvline(1, color="black", lw=0.8)
    axes.axvspan(LEAST / 1.1, 1, color="#e6f4ea", zorder=0)
    labels = [row["op"] if group == "tiny" else f"{row['op']}: {row['what']}" for row in rows]
    axes.set(xscale="log", xlim=(LEAST / 1.1, MOST * 1.1), ylim=(len(rows) - 0.4, -0.6))
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS], fontsize=6.5)
    axes.set_xticks([], minor=True)
    axes.set_yticks(range(len(rows)), labels, fontsize=5.8)
    for label, row in zip(axes.get_yticklabels(), rows, strict=True):
        label.set_color("#b31412" if row["met"] is False else "black")
    axes.tick_params(axis="x", pad=1)
    axes.tick_params(axis="y", length=0, pad=2)
    axes.grid(axis="x", color="#dddddd", lw=0.5)
    axes.set_axisbelow(True)
    axes.set_title(group, fontsize=8, pad=3, weight="bold")
    axes.spines[["top", "right", "left"]].set_visible(False)
