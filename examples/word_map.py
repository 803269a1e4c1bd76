"""Draws words on a map, placed by their vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from sklearn.cluster import AgglomerativeClustering
from sklearn.manifold import TSNE

COLORS = (
    *("#3b6fb6", "#d1495b", "#2e8b57", "#c77d0a", "#7a4fa3"),
    *("#1496a3", "#8c5a3c", "#c2498f", "#6b7a1f", "#5b6470"),
)


def telling_words(vectors: np.ndarray, number: int) -> list[int]:
    """The most frequent words that tell what a text is about, unlike "which" or "the".

    A word that stands near any other gets a short vector. Vectors also get shorter with frequency,
    so the words are taken that have longer vectors than most words of about their frequency.

    Args:
        vectors: one row per word, by falling frequency.
        number: of words to return, fewer if there are not so many.
    """
    lengths = np.linalg.norm(vectors, axis=1)
    telling = [
        i
        for i, length in enumerate(lengths)
        if length >= np.median(lengths[max(0, i - 25) : i + 26])
    ]
    return telling[:number]


def separate(centers: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Moves boxes that overlap apart, in small steps along the direction of least overlap."""
    centers = centers.copy()
    for _ in range(1000):
        offsets = centers[:, None] - centers
        overlaps = (sizes[:, None] + sizes) / 2 - np.abs(offsets)
        touching = np.all(overlaps > 0, axis=-1) & ~np.eye(len(centers), dtype=bool)
        if not touching.any():
            break
        least = overlaps == overlaps.min(axis=-1, keepdims=True)
        centers += 0.3 * np.sum(np.sign(offsets) * overlaps * least * touching[..., None], axis=1)
    return centers


def draw_map(
    words: Sequence[str], counts: np.ndarray, vectors: np.ndarray, seed: int, output: str
) -> None:
    """Draws `words` so that those with similar `vectors` lie close together.

    Args:
        words: at least 10 words, by falling frequency.
        counts: how frequent they are, which becomes the size of the letters.
        vectors: one row per word.
        seed: of the layout.
        output: path of the picture.
    """
    tsne = TSNE(
        perplexity=min(12, len(words) / 3),
        metric="cosine",
        init="random",
        method="exact",
        random_state=seed,
    )
    points = tsne.fit_transform(vectors)
    clusters = AgglomerativeClustering(len(COLORS)).fit_predict(vectors)  # by Ward's criterion
    log_counts = np.log(counts)
    font_sizes = np.interp(log_counts, [log_counts.min(), log_counts.max()], [9, 16])

    figure = Figure(figsize=(15, 11), dpi=150, facecolor="#fcfbf8")
    FigureCanvasAgg(figure)  # a figure needs a canvas to measure its labels
    axes = figure.add_axes((0.02, 0.10, 0.96, 0.80))
    axes.set_axis_off()
    margins = 0.05 * np.ptp(points, axis=0)
    left_bottom, right_top = points.min(axis=0) - margins, points.max(axis=0) + margins
    axes.set_xlim(left_bottom[0], right_top[0])
    axes.set_ylim(left_bottom[1], right_top[1])
    labels = [
        axes.text(x, y, word, color=COLORS[cluster], fontsize=size, ha="center", va="center")
        for (x, y), word, cluster, size in zip(points, words, clusters, font_sizes, strict=True)
    ]
    sizes = np.array([label.get_window_extent().size for label in labels])
    padding = np.array([8, 3])
    pixels = separate(axes.transData.transform(points), sizes + padding)
    points = axes.transData.inverted().transform(pixels)
    for label, point in zip(labels, points, strict=True):
        label.set_position(point)
    colors = [COLORS[cluster] for cluster in clusters]
    for size in np.linspace(15, 75, 9) ** 2:  # discs that together look like a soft glow
        axes.scatter(*points.T, s=size, c=colors, alpha=0.02, linewidths=0, clip_on=False)

    handles = []
    for cluster, color in enumerate(COLORS):
        members = [word for word, c in zip(words, clusters, strict=True) if c == cluster]
        name = ", ".join(members[:3]) + (" …" if len(members) > 3 else "")
        handles.append(
            Line2D([], [], color=color, marker="o", markersize=9, linestyle="", label=name)
        )
    figure.legend(handles=handles, loc="lower center", ncols=5, frameon=False, handletextpad=0)
    caption = (
        f"{len(words)} frequent words, close together where the text uses them alike: t-SNE of "
        f"{vectors.shape[1]}-dimensional skip-gram embeddings, trained on\npydoc_data.topics with "
        "jaxops. Colour: cluster of embeddings (Ward's method), named below by its most frequent "
        "words. Size: frequency. The axes have no unit."
    )
    title = "How Python's documentation uses its words"
    figure.text(0.03, 0.955, title, fontsize=24, weight="bold", color="#222222", va="center")
    figure.text(0.03, 0.935, caption, fontsize=11, color="#555555", va="top", linespacing=1.5)
    figure.savefig(output)
