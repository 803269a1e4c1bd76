"""Two charts of the suite's figures: every row, and ten rows for those who have a minute."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# Okabe and Ito's colours, which the colour-blind tell apart: one for each peer.
COLORS = {
    "tensorflow": "#D55E00",
    "jnp": "#0072B2",
    "keras": "#CC79A7",
    "torch": "#E69F00",
    "numpy": "#56B4E9",
    "numba": "#7A7A7A",
    "copy": "#009E73",
    "promise": "#000000",
    "checked": "#6A3D9A",
}
NAMES = {
    "tensorflow": "TensorFlow",
    "jnp": "jax.numpy",
    "keras": "keras.ops on JAX",
    "torch": "PyTorch",
    "numpy": "NumPy",
    "copy": "a copy of as many bytes",
    "promise": "jaxops without checks",
    "checked": "jaxops with its checks",
}
PANELS = {
    "throughput": "One call with megabytes of data",
    "programs": "Whole programs",
    "tiny": "One eager call with a few elements",
    "compile": "Time to compile",
    "gradients": "Gradients",
    "tiny_gradients": "One eager gradient of a few elements",
    "bandwidth": "Moving contiguous memory",
    "bounds": "Checks of bounds, beside none",
    "checked": "Code of JAX with jaxops.checked, beside none",
    "checked_compile": "The same, to compile",
}
# The rows of the small chart, in its order, and what they are in a stranger's words.
TEN = {
    "unsorted_segment_sum: graph layer and gradients, 80,000 edges of 64 f32": (
        "layer of a graph network, with gradients"
    ),
    "sparse_value_and_grad: embedding bag, 4,096 means of 16 of 100,000 rows of 64 f32": (
        "embedding bag, with the table's gradient"
    ),
    "dynamic_partition: 8 experts and gradients, 8,192 rows of 128 f32": (
        "mixture of 8 experts, with gradients"
    ),
    "gather: step of a beam search, 16 x 4 beams, cache of 64 x 256 f32": (
        "one step of a beam search"
    ),
    "tensor_scatter_nd_update: 8 steps of decoding, 16 x 512 keys and values of 8 x 64 f32": (
        "8 steps of decoding, with a key-value cache"
    ),
    "gather: 65,536 rows of 128 f32": "gather 65,536 rows of 128",
    "tensor_scatter_nd_add: 65,536 rows of 128 f32": "add 65,536 rows of 128 at indices",
    "unsorted_segment_max: 65,536 rows of 128 f32 in 8,192 segments": (
        "maximum of 65,536 rows in 8,192 segments"
    ),
    "unique_with_counts: 1M int32, 1M distinct, jitted with size=": (
        "unique of a million integers, with counts"
    ),
    "boolean_mask: half of 4M single f32, jitted with size=": "masked half of 4 million numbers",
}

LEAST, MOST = 0.1, 20.0  # what is beyond is drawn at the edge
TICKS = {0.2: "1/5", 0.5: "1/2", 1: "as long", 2: "2 times", 5: "5 times", 10: "10 times"}
LINE, GAP = 0.11, 0.62  # inches of a row, and between panels


def of_one_allocator(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of two allocators the one whose pages are kept: fewer page faults hide the work."""
    allocator = results[-1]["allocator"]
    return [r for r in results if r["allocator"] == allocator and r["ratios"]]


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """Writes the chart of every row, from the one that jaxops is ahead in most to the last."""
    pyplot = import_pyplot()
    results = of_one_allocator(results)
    panels = {
        group: sorted(
            (r for r in results if r["group"] == group),
            key=lambda r: r["ratios"][r["judged_by"] or r["best_peer"]]["median"],
        )
        for group in dict.fromkeys(r["group"] for r in results)
    }
    columns = in_two_columns(panels)
    height = 1.1 + max(column_height(panels, column) for column in columns)
    figure = pyplot.figure(figsize=(11, height), dpi=105)
    for n, column in enumerate(columns):
        top = height - 0.95
        for group in column:
            share = LINE * len(panels[group])
            axes = figure.add_axes((0.245 + 0.5 * n, (top - share) / height, 0.24, share / height))
            rows = panels[group]
            words = [r["op"] if group == "tiny" else f"{r['op']}: {r['what']}"[:66] for r in rows]
            panel(axes, rows, words, size=5.8)
            for label, row in zip(axes.get_yticklabels(), rows, strict=True):
                label.set_color("#b31412" if row["met"] is False else "black")
            axes.set_title(PANELS[group], fontsize=8, pad=3, weight="bold")
            top -= share + GAP
    title = (
        "How long others take, jaxops = 1: right of the line jaxops is faster. "
        "Hollow: the same compiled program. Red: jaxops is slower than is wanted"
    )
    figure.text(0.5, 1 - 0.15 / height, title, ha="center", va="center", fontsize=9)
    legend(figure, results, (0.5, 1 - 0.42 / height), columns=9)
    save(pyplot, figure, path)


def draw_ten(results: list[dict[str, Any]], path: Path) -> None:
    """Writes the chart of the ten rows, or of those of them that were measured."""
    found = {
        f"{r['op']}: {r['what']}": r
        for r in of_one_allocator(results)
        if r["group"] in ("throughput", "programs")
    }
    names = [name for name in TEN if name in found]
    rows = [found[name] for name in names]
    if not rows:
        return
    pyplot = import_pyplot()
    figure, axes = pyplot.subplots(figsize=(9, 1.3 + 0.34 * len(rows)), dpi=150)
    panel(axes, rows, [TEN[name] for name in names], size=10, mark=7)
    axes.set_title("How long others take on a CPU, jaxops = 1", fontsize=12, pad=30, loc="left")
    legend(figure, rows, (0.62, 1 - 0.55 / (1.3 + 0.34 * len(rows))), columns=6)
    figure.subplots_adjust(left=0.37, right=0.97, top=1 - 0.8 / (1.3 + 0.34 * len(rows)))
    save(pyplot, figure, path)


def import_pyplot() -> Any:
    """Imported when needed, as nothing else needs matplotlib; "Agg", as there may be no screen."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def legend(
    figure: Any, rows: Iterable[dict[str, Any]], place: tuple[float, float], columns: int
) -> None:
    from matplotlib import lines

    drawn = {peer for r in rows for peer in r["ratios"]}
    handles = [
        lines.Line2D([], [], color=color, marker="o", ls="", ms=5, label=NAMES.get(peer, peer))
        for peer, color in COLORS.items()
        if peer in drawn
    ]
    figure.legend(
        handles=handles,
        loc="center",
        bbox_to_anchor=place,
        ncols=min(columns, len(handles)),
        fontsize=8,
        frameon=False,
        handletextpad=0.2,
        columnspacing=1.2,
    )


def save(pyplot: Any, figure: Any, path: Path) -> None:
    from PIL import Image

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


def panel(
    axes: Any, rows: list[dict[str, Any]], words: list[str], size: float, mark: float = 3.2
) -> None:
    """A line for each row; on it, for each peer, the median and the quartiles."""

    def to_jaxops(ratio):
        return min(max(1 / ratio, LEAST), MOST)

    for y, row in enumerate(rows):
        for peer, ratio in row["ratios"].items():
            quartiles = [to_jaxops(ratio["low"]), to_jaxops(ratio["high"])]
            axes.plot(quartiles, [y, y], color=COLORS[peer], lw=mark / 4, alpha=0.6)
            # Hollow where the peer is the same program: the distance from 1 is noise.
            is_same = peer in row["same_program"]
            looks = {"mfc": "white", "mew": mark / 4} if is_same else {"mew": 0}
            axes.plot(to_jaxops(ratio["median"]), y, "o", color=COLORS[peer], ms=mark, **looks)
    axes.axvline(1, color="black", lw=0.8)
    axes.axvspan(1, MOST * 1.1, color="#e6f4ea", zorder=0)
    axes.set(xscale="log", xlim=(LEAST / 1.1, MOST * 1.1), ylim=(len(rows) - 0.4, -0.6))
    axes.set_xticks(list(TICKS), list(TICKS.values()), fontsize=max(5.5, size - 1))
    axes.set_xticks([], minor=True)
    axes.set_yticks(range(len(rows)), words, fontsize=size)
    axes.tick_params(axis="x", pad=1)
    axes.tick_params(axis="y", length=0, pad=2)
    axes.grid(axis="x", color="#dddddd", lw=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
