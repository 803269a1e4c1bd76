"""The pictures of `gallery.py`: the code to run, and a caption.

The last line of each code is an expression; the picture shows its value beside the photographs
that the code names.
"""

from __future__ import annotations

import textwrap
from typing import NamedTuple


class Example(NamedTuple):
    name: str  # of the file; the operation, and what tells it from others of the operation
    caption: str
    code: str


def _example(name: str, caption: str, code: str) -> Example:
    return Example(name, caption, textwrap.dedent(code).strip())


EXAMPLES = (
    _example(
        "slice",
        "A window: where it begins, and how large it is.",
        "jaxops.slice(china, [20, 60, 0], [120, 180, 3])",
    ),
    _example(
        "strided_slice",
        "Every second column and, from the bottom up, every third row.",
        "jaxops.strided_slice(china, *jaxops.strided_slice_spec(np.s_[::-3, 40:300:2]))",
    ),
    _example(
        "split",
        "Equal parts along an axis; sizes of your own work too.",
        "jaxops.split(china, 5, axis=1)",
    ),
    _example(
        "unstack",
        "One array for each place along an axis: red, green and blue.",
        "jaxops.unstack(china, axis=2)",
    ),
    _example(
        "concat",
        "Several arrays joined along an axis that they have.",
        "jaxops.concat([china[:, :160], flower[:, 160:]], axis=1)",
    ),
    _example(
        "stack",
        "Several arrays joined along a new axis; merged into the columns, so that they alternate.",
        """
        pairs = jaxops.stack([china[:, :160], flower[:, :160]], axis=2)  # [208, 160, 2, 3]
        jaxops.reshape(pairs, [208, 320, 3])
        """,
    ),
    _example(
        "tile",
        "Copies side by side.",
        "jaxops.tile(flower[::2, ::2], [2, 4, 1])",
    ),
    _example(
        "reshape",
        "The same pixels in other rows: half as long and twice as many.",
        "jaxops.reshape(china, [416, 160, 3])",
    ),
    _example(
        "transpose",
        "Rows become columns.",
        "jaxops.transpose(china, [1, 0, 2])",
    ),
    _example(
        "pad-constant",
        "A border of one value.",
        'jaxops.pad(flower, [[60, 60], [60, 60], [0, 0]], "CONSTANT", constant_values=90)',
    ),
    _example(
        "pad-reflect",
        "A border that mirrors the picture, without the outermost row and column.",
        'jaxops.pad(flower, [[60, 60], [160, 160], [0, 0]], "REFLECT")',
    ),
    _example(
        "pad-symmetric",
        "A border that mirrors the picture, outermost row and column included.",
        'jaxops.pad(china, [[80, 80], [160, 160], [0, 0]], "SYMMETRIC")',
    ),
    _example(
        "reverse",
        "Back to front along any axes.",
        "jaxops.reverse(china, axis=[0, 1])",
    ),
    _example(
        "reverse_sequence",
        "Of each row the first so many columns reversed, a number per row.",
        """
        lengths = np.linspace(0, 320, 208).astype(int)
        jaxops.reverse_sequence(china, lengths, seq_axis=1, batch_axis=0)
        """,
    ),
    _example(
        "gather-rows",
        "Rows by number, in any order and as often as you like.",
        """
        rows = 104 + 100 * np.sin(np.linspace(0, 3 * np.pi, 208))
        jaxops.gather(china, rows.astype(int), axis=0)
        """,
    ),
    _example(
        "gather-columns",
        "Columns by number: a strip each, from right to left.",
        """
        columns = np.arange(320).reshape(8, 40)[::-1].ravel()
        jaxops.gather(china, columns, axis=1)
        """,
    ),
    _example(
        "gather-channels",
        "Channels by number: blue, green, red.",
        "jaxops.gather(flower, [2, 1, 0], axis=2)",
    ),
    _example(
        "gather-batch",
        "Columns by number, other numbers for every row: the picture sways.",
        """
        sway = 14 * np.sin(np.arange(208) / 12)
        columns = np.clip(np.arange(320) + sway[:, None], 0, 319)  # [208, 320]
        jaxops.gather(china, columns.astype(int), axis=1, batch_dims=1)
        """,
    ),
    _example(
        "gather_nd",
        "Pixels by row and column: a whirl. What it reads from outside is filled.",
        """
        y, x = np.mgrid[-104:104, -160:160]
        angle = 2.5 * np.exp(-(x**2 + y**2) / 6000)
        rows = 104 + y * np.cos(angle) - x * np.sin(angle)
        columns = 160 + y * np.sin(angle) + x * np.cos(angle)
        where = np.stack([rows, columns], axis=-1).astype(int)  # [208, 320, 2]
        jaxops.gather_nd(china, where, mode="fill", fill_value=255)
        """,
    ),
    _example(
        "scatter_nd",
        "Zeros, and a third of the pixels, each in its place.",
        """
        places = np.random.default_rng(0).permutation(208 * 320)[: 208 * 320 // 3]
        where = np.stack([places // 320, places % 320], axis=-1)  # [22186, 2]
        jaxops.scatter_nd(where, jaxops.gather_nd(flower, where), [208, 320, 3])
        """,
    ),
    _example(
        "tensor_scatter_nd_update",
        "One picture in another, a row per index.",
        """
        rows = np.arange(40, 40 + 104)[:, None]
        strip = jaxops.concat([china[40:144, :96], flower[::2, ::2], china[40:144, 256:]], axis=1)
        jaxops.tensor_scatter_nd_update(china, rows, strip)
        """,
    ),
    _example(
        "tensor_scatter_nd_max",
        "The lighter of two pixels, in a hundred rows.",
        "jaxops.tensor_scatter_nd_max(china, np.arange(54, 154)[:, None], flower[54:154])",
    ),
    _example(
        "dynamic_partition",
        "Rows sorted by a number into as many arrays as you say, here the dark and the light ones.",
        """
        light = china.mean((1, 2)) > 130
        jaxops.dynamic_partition(china, light.astype(int), 2)
        """,
    ),
    _example(
        "dynamic_stitch",
        "Rows of several arrays, each to the place that its number says.",
        """
        stripes = np.arange(208).reshape(13, 16)
        odd, even = stripes[1::2].ravel(), stripes[::2].ravel()
        jaxops.dynamic_stitch([even, odd], [china[even], flower[odd]])
        """,
    ),
    _example(
        "boolean_mask",
        "Only the columns in which much happens.",
        """
        detail = np.abs(np.diff(china.astype(int), axis=0)).mean((0, 2))
        jaxops.boolean_mask(china, detail > np.median(detail), axis=1)
        """,
    ),
    _example(
        "one_hot",
        "A shade of grey as a row of zeros with a one; times a palette, that is a poster.",
        """
        inks = [[24, 32, 72], [150, 40, 70], [232, 110, 60], [250, 200, 90], [255, 248, 220]]
        shade = china.mean(2).astype(int) // 52  # [208, 320], 0 to 4
        jaxops.one_hot(shade, depth=5) @ np.float32(inks)
        """,
    ),
    _example(
        "space_to_depth",
        "Sixteen pictures, each of every fourth pixel, one behind the other in the depth.",
        "jaxops.space_to_depth(china[None], 4)  # [1, 52, 80, 48]",
    ),
    _example(
        "depth_to_space",
        "Four pictures in the depth, woven into one.",
        """
        depth = jaxops.concat([china, flower, flower, china], axis=2)  # [208, 320, 12]
        jaxops.depth_to_space(depth[None], 2)  # [1, 416, 640, 3]
        """,
    ),
    _example(
        "space_to_batch",
        "Every second pixel, in four batches; padded first, to a whole number of blocks.",
        "jaxops.space_to_batch(flower[None], [2, 2], [[20, 20], [0, 40]])  # [4, 124, 180, 3]",
    ),
    _example(
        "batch_to_space",
        "Two batches as the half frames of old television.",
        """
        frames = jaxops.stack([china[::2], flower[::2]])  # [2, 104, 320, 3]
        jaxops.batch_to_space(frames, [2, 1], [[0, 0], [0, 0]])  # [1, 208, 320, 3]
        """,
    ),
    _example(
        "extract_image_patches",
        "What a sliding window sees. Windows overlap, and beyond the edge they see zeros.",
        """
        window, step, one = [1, 80, 80, 1], [1, 64, 64, 1], [1, 1, 1, 1]
        patches = jaxops.extract_image_patches(china[None], window, step, one, "SAME")
        jaxops.reshape(patches, [20, 80, 80, 3])
        """,
    ),
)
