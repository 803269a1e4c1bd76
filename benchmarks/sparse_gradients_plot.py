"""The picture of `sparse_gradients.py`: the time of a step against the rows of the table."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

# Okabe and Ito's colours, which the colour-blind tell apart; markers say it again.
STYLES = {
    "dense": ("JAX, dense\ngradient", "#D55E00", "s"),
    "tensorflow": ("TensorFlow,\nIndexedSlices", "#7A7A7A", "^"),
    "jaxops": ("jaxops", "#0072B2", "o"),
}
TITLES = {"sgd": "SGD", "adam": "Adam (sparse ones are lazy)"}
DPI = 200  # 1800 pixels wide, for screens that show 900 of them


def draw(figures: Mapping[str, Any], path: Path) -> None:
    """Writes a PNG, one panel per optimizer."""
    optimizers = list(dict.fromkeys(step["optimizer"] for step in figures["steps"]))
    figure = Figure(figsize=(9, 4.2), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(optimizers), sharey=True, squeeze=False)[0]
    for axes, optimizer in zip(panels, optimizers, strict=True):
        steps = [step for step in figures["steps"] if step["optimizer"] == optimizer]
        _panel(axes, sorted(steps, key=lambda step: step["rows"]))
        axes.set_title(TITLES[optimizer], loc="left", fontsize=12)
        axes.set_xlabel("rows of the table")
    panels[0].set_ylabel("time of one training step, ms")
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DPI)
    path.parent.mkdir(parents=True, exist_ok=True)
    # A few dozen shades are enough for lines and letters.
    Image.open(file).convert("RGB").quantize(48).save(path, optimize=True)


def _panel(axes: Axes, steps: list[dict[str, Any]]) -> None:
    rows = [step["rows"] for step in steps]
    axes.set(xscale="log", yscale="log")
    for name, (label, colour, marker) in STYLES.items():
        if name not in steps[0]["milliseconds"]:
            continue
        times = [step["milliseconds"][name] for step in steps]
        axes.plot(rows, times, color=colour, marker=marker, linewidth=2, markersize=5)
        # Lines end far apart: the names stand behind their ends.
        axes.annotate(
            label,
            (rows[-1], times[-1]),
            xytext=(8, 8 if name == "tensorflow" else -8 if name == "jaxops" else 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=10,
        )
    axes.set_xticks(rows, [f"{n:,}" for n in rows])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid(axis="y", color="#E3E3E3", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.08, y=0.14)
