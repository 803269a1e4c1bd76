"""Shows a photograph before and after each operation.

Draws one picture per operation. `make docs` shows the picture and the code that made it on the page
`docs/gallery.md` and beside the functions. The photographs are two that come with scikit-learn.

    python examples/gallery.py
    python examples/gallery.py --output build/gallery --only pad-reflect --only gather_nd
"""

from __future__ import annotations

import argparse
import ast
import io
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gallery_table import EXAMPLES
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.datasets import load_sample_image

import jaxops

LARGEST_FILE = 60_000  # bytes
DPI = 100
WIDTH, MARGIN, ARROW = 900, 20, 56  # pixels
TALLEST = 330  # of the pictures, in pixels
GAP = 6  # between several pictures, in pixels of theirs


def photograph(name: str) -> np.ndarray:
    """A photograph of 208 by 320 pixels: the mean of every two by two."""
    pixels = load_sample_image(f"{name}.jpg")[:416, :640].astype(np.float32)
    return np.round(pixels.reshape(208, 2, 320, 2, 3).mean((1, 3))).astype(np.uint8)


class Shown(NamedTuple):
    before: np.ndarray
    after: np.ndarray


def evaluate(code: str, photographs: dict[str, np.ndarray]) -> Shown:
    """Runs `code`, whose last statement is an expression, as at Python's prompt."""
    *statements, last = ast.parse(code).body
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {"jaxops": jaxops, "np": np, **photographs}
    exec(compile(ast.Module(statements, []), "<gallery>", "exec"), names)
    result = eval(compile(ast.Expression(last.value), "<gallery>", "eval"), names)
    used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    before = [photographs[name] for name in photographs if name in used]
    after = pictures_in(result)
    # Parts of one picture stand in a row, pictures of a batch in a square.
    in_a_row = isinstance(result, (list, tuple))
    columns = len(after) if in_a_row else math.ceil(math.sqrt(len(after)))
    return Shown(grid(before, columns=1), grid(after, columns))


def pictures_in(result: Any) -> list[np.ndarray]:
    """The pictures `[rows, cols, 3]` in a list, or in the batch or the depth of an array."""
    if isinstance(result, (list, tuple)):
        return [picture for part in result for picture in pictures_in(part)]
    array = np.asarray(result)
    if array.ndim == 2:  # shades of grey
        array = np.stack([array] * 3, axis=-1)
    rows, cols = array.shape[-3:-1]
    in_depth = np.moveaxis(array.reshape(-1, rows, cols, array.shape[-1] // 3, 3), 3, 1)
    return list(in_depth.reshape(-1, rows, cols, 3))


def grid(pictures: Sequence[np.ndarray], columns: int) -> np.ndarray:
    height, width = np.max([picture.shape[:2] for picture in pictures], axis=0)
    rows = math.ceil(len(pictures) / columns)
    shape = (rows * (height + GAP) - GAP, columns * (width + GAP) - GAP, 3)
    canvas = np.full(shape, 255, np.uint8)
    for n, picture in enumerate(pictures):
        top, left = n // columns * (height + GAP), n % columns * (width + GAP)
        canvas[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    return canvas


def draw(shown: Shown) -> Figure:
    before, after = shown
    # Both at one scale, so that one sees what grows and shrinks.
    room = WIDTH - 2 * MARGIN - ARROW
    scale = min(
        room / (before.shape[1] + after.shape[1]),
        TALLEST / max(before.shape[0], after.shape[0]),
    )
    tallest = scale * max(before.shape[0], after.shape[0])
    height = round(2 * MARGIN + tallest)
    figure = Figure(figsize=(WIDTH / DPI, height / DPI), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)

    def axes_at(left: float, bottom: float, width: float, tall: float) -> Axes:
        return figure.add_axes((left / WIDTH, bottom / height, width / WIDTH, tall / height))

    left = (WIDTH - ARROW - scale * (before.shape[1] + after.shape[1])) / 2
    middle = MARGIN + tallest / 2
    arrow = {"size": 24, "color": "#8592a3", "ha": "center", "va": "center"}
    arrow_at = left + scale * before.shape[1] + ARROW / 2
    figure.text(arrow_at / WIDTH, middle / height, "\N{RIGHTWARDS ARROW}", **arrow)
    for pixels in (before, after):
        rows, cols = scale * pixels.shape[0], scale * pixels.shape[1]
        axes = axes_at(left, middle - rows / 2, cols, rows)
        # Filtered where it shrinks: no moire in fine patterns.
        axes.imshow(pixels, interpolation="antialiased", aspect="auto")
        axes.set_axis_off()
        left += cols + ARROW
    return figure


def jpeg(figure: Figure) -> bytes:
    """In the best quality that is not too large."""
    for quality in range(88, 20, -6):
        file = io.BytesIO()
        figure.savefig(file, format="jpg", pil_kwargs={"quality": quality, "optimize": True})
        if file.tell() <= LARGEST_FILE:
            break
    return file.getvalue()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("build/docs"),
        help="folder in which to make the folder `pictures` (default: build/docs)",
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        help="draw this picture only; may be repeated",
    )
    options = parser.parse_args(arguments)
    by_name = {example.name: example for example in EXAMPLES}
    unknown = [name for name in options.only or () if name not in by_name]
    if unknown:
        parser.error(f"there is no picture {unknown[0]!r}; there are {', '.join(by_name)}")
    chosen = [by_name[name] for name in options.only] if options.only else EXAMPLES
    photographs = {name: photograph(name) for name in ("china", "flower")}
    try:
        (options.output / "pictures").mkdir(parents=True, exist_ok=True)
        for example in chosen:
            picture = jpeg(draw(evaluate(example.code, photographs)))
            path = options.output / "pictures" / f"{example.name}.jpg"
            path.write_bytes(picture)
            print(f"{path}  {len(picture) / 1000:.0f} kB")
    except OSError as error:
        sys.exit(f"gallery: cannot write to {options.output}: {error}")


if __name__ == "__main__":
    main()
