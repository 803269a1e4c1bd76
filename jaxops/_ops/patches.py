"""extract_image_patches: the windows of an image, each laid out along the depth."""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxops import _symbolic
from jaxops._indexing.positions import take_rows
from jaxops._run.arguments import ArrayLike, Ints
from jaxops._run.dispatch import operation
from jaxops._run.static_values import check_addressable, check_choice, static_ints


def extract_image_patches(
    images: ArrayLike,
    sizes: Ints,
    strides: Ints,
    rates: Ints,
    padding: str,
    name: str | None = None,
) -> jax.Array:
    """Extracts the patches of images that a sliding window sees, each laid out along the depth.

    Follows `tf.image.extract_patches`. Differs from it in: every dtype and host strings are taken.

    Args:
        images: array of shape `[batch, rows, cols, depth]` and any dtype, or host strings. Traced.
        sizes: static `[1, size_rows, size_cols, 1]`, the window.
        strides: static `[1, stride_rows, stride_cols, 1]`: how far the window moves.
        rates: static `[1, rate_rows, rate_cols, 1]`: how far apart in the image neighbours in the
            window stand. So a window covers `(size - 1) * rate + 1` rows or columns, its reach.
        padding: static; `"VALID"`: windows that fit. `"SAME"`: one window per stride, with zeros
            (for strings, empty ones) around the image, the odd one at the bottom and the right.

    Returns:
        Array of shape `[batch, out_rows, out_cols, size_rows * size_cols * depth]` and dtype of
        `images`, with the last dimension in row-major order; for host strings a NumPy array.
        Of `n` rows, "SAME" makes `ceil(n / stride)` and "VALID" `ceil((n - reach + 1) / stride)`;
        columns likewise.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: wrong rank, shape or value of an argument; a window of "VALID" that reaches
            two strides or more beyond the image (one that reaches less far gives no patches).

    Gradient: every element gets the sum over the patches that hold it.

    Example:
        >>> import jaxops
        >>> image = [[[[1], [2], [3]], [[4], [5], [6]]]]
        >>> jaxops.extract_image_patches(image, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
        Array([[[[1, 2, 4, 5],
                 [2, 3, 5, 6]]]], dtype=int32)
    """
    return _run("extract_image_patches", images, sizes, strides, rates, padding, name)


def extract_patches(
    images: ArrayLike,
    sizes: Ints,
    strides: Ints,
    rates: Ints,
    padding: str,
    name: str | None = None,
) -> jax.Array:
    """Does what `extract_image_patches` does, under TensorFlow 2's name for it.

    Follows `tf.image.extract_patches`. Differs from it in: as `extract_image_patches`.

    Args:
        images, sizes, strides, rates, padding: as in `extract_image_patches`.

    Returns:
        Array of shape `[batch, out_rows, out_cols, size_rows * size_cols * depth]`.

    Raises:
        TypeError, ValueError: as `extract_image_patches`.

    Gradient: as `extract_image_patches`.

    Example:
        >>> import jaxops
        >>> image = [[[[1], [2]], [[3], [4]]]]
        >>> jaxops.extract_patches(image, [1, 1, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
        Array([[[[1, 2]],
                [[3, 4]]]], dtype=int32)
    """
    return _run("extract_patches", images, sizes, strides, rates, padding, name)


def _run(op, images, sizes, strides, rates, padding, name):
    check_choice(padding, ("VALID", "SAME"), op, "padding")
    return _extract_patches.run(
        op,
        images=images,
        name=name,
        sizes=_over_space(sizes, op, "sizes"),
        strides=_over_space(strides, op, "strides"),
        rates=_over_space(rates, op, "rates"),
        padding=padding,
    )


def _over_space(x: object, op: str, arg: str) -> tuple[int, int]:
    values = static_ints(x, op, arg)
    if len(values) != 4 or values[0] != 1 or values[3] != 1 or min(values) < 1:
        raise ValueError(
            f"{op}: {arg} must be [1, rows, cols, 1] with numbers of at least 1; received {values}"
        )
    return values[1], values[2]


# XLA compiles the pieces of a join one by one: 400 of them take 20 s. For more pieces than these a
# gather runs faster too (test_patches.py, test_large_windows).
_MOST_JOINED = 8
_MOST_PIXELS = 32  # of a window whose pixels are joined one by one, off the CPU
# On a CPU too: windows of 2 x 2 of 16 images of 128 x 128 x 16 bfloat16 take 13.8 ms, and 21.9 ms
# joined by rows, which is faster for most windows of 3 x 3 (test_patches.py,
# test_few_pixels_are_joined_one_by_one).
_FEW_PIXELS = 4


class _Windows(NamedTuple):
    """The windows along one dimension of an image."""

    count: int
    size: int
    stride: int
    rate: int
    low: int  # zeros before the image

    @property
    def joined(self) -> int:
        """The number of strided views of the image that make the windows, joined."""
        return -(-self.size // self.stride) if self.rate == 1 else self.size

    @property
    def length(self) -> int:
        """The length that the image must have for these views."""
        if self.rate == 1:
            return (self.count - 1 + self.joined) * self.stride
        return (self.count - 1) * self.stride + (self.size - 1) * self.rate + 1


@operation(data=("images",), moves_elements=True)
def _extract_patches(
    images: jax.Array,
    *,
    op: str,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    rates: tuple[int, ...],
    padding: str,
):
    if images.ndim != 4:
        raise ValueError(
            f"{op}: images must have shape [batch, rows, cols, depth]; "
            f"received shape {images.shape}"
        )
    batch, height, width, depth = images.shape
    rows, cols = (
        _windows(op, *arguments, padding)
        for arguments in zip((height, width), sizes, strides, rates, strict=True)
    )
    shape = (batch, rows.count, cols.count, rows.size * cols.size * depth)
    if 0 in shape:
        return jnp.zeros(shape, images.dtype)
    reach = [batch, rows.length, cols.length, depth]
    check_addressable(shape, images.dtype, sizes, op, "sizes")
    check_addressable(reach, images.dtype, (sizes, rates), op, "sizes and rates")
    # The high edge is negative if no window reads the last rows.
    edges = [(w.low, w.length - w.low - n) for w, n in ((rows, height), (cols, width))]
    if any(map(any, edges)):
        config = [(0, 0, 0), *((low, high, 0) for low, high in edges), (0, 0, 0)]
        images = lax.pad(images, jnp.zeros((), images.dtype), config)
    # A symbolic depth may be any.
    is_narrow = _symbolic.are_known([depth]) and cols.size * depth <= 64
    if strides == rates == (1, 1) and max(sizes) <= 5 and is_narrow:
        joined = _small_patches
    else:
        joined = _join_both

    def on_cpu(images):
        return joined(images, rows=rows, cols=cols).reshape(shape)

    if rows.size * cols.size > _MOST_PIXELS:
        return on_cpu(images)
    by_pixel = functools.partial(_join_pixels, rows=rows, cols=cols)
    if strides == (1, 1) and rows.size * cols.size <= _FEW_PIXELS:
        return by_pixel(images)
    by_platform = functools.partial(lax.platform_dependent, cpu=on_cpu, default=by_pixel)
    overlap = rows.joined > 1 or cols.joined > 1
    if not overlap or not jnp.issubdtype(images.dtype, jnp.inexact):
        return by_platform(images)
    # A gradient that adds pixel by pixel takes a third of the time on a CPU (test_patches.py,
    # test_the_gradient_adds_pixels_in_one_loop).
    return _differentiated_as(by_platform, by_pixel, images)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _differentiated_as(function, linear, x):
    """`function(x)`; `linear` is the same function with a transpose that takes less time.

    That of views of an image adds them up in one loop.
    """
    del linear
    return function(x)


@_differentiated_as.defjvp
def _differentiate_as(function, linear, primals, tangents):
    return _differentiated_as(function, linear, *primals), linear(*tangents)


def _windows(op, dim, size, stride, rate, padding) -> _Windows:
    reach = (size - 1) * rate + 1
    if padding == "SAME":
        count = -(-dim // stride)
        low = max((count - 1) * stride + reach - dim, 0) // 2
    elif reach - dim >= 2 * stride:  # where TensorFlow computes a negative size, rounding to zero
        raise ValueError(
            f"{op}: sizes must reach less than two strides beyond images; "
            f"received a reach of {reach}, a stride of {stride} and a dimension of {dim}"
        )
    else:
        count, low = max(-(-(dim - reach + 1) // stride), 0), 0
    # The stride does not move a single window, and is made small enough to need no padding.
    if _symbolic.are_known([count]) and count <= 1:
        stride = min(stride, size)
    return _Windows(count, size, stride, rate, low)


def _join_pixels(x: jax.Array, *, rows: _Windows, cols: _Windows) -> jax.Array:
    """A strided view of `x` for each pixel of a window, joined: a GPU and a TPU make one loop."""

    strides = (1, rows.stride, cols.stride, 1)

    def view(i, j):
        starts = (0, i * rows.rate, j * cols.rate, 0)
        last = (rows.count - 1) * rows.stride, (cols.count - 1) * cols.stride
        stops = (x.shape[0], starts[1] + last[0] + 1, starts[2] + last[1] + 1, x.shape[3])
        return lax.slice(x, starts, stops, strides)

    return lax.concatenate([view(i, j) for i in range(rows.size) for j in range(cols.size)], 3)


def _join_both(x: jax.Array, *, rows: _Windows, cols: _Windows) -> jax.Array:
    return _join_windows(_join_windows(x, 2, cols), 1, rows)


def _join_windows(x: jax.Array, axis: int, windows: _Windows) -> jax.Array:
    """The windows along `axis` of `x[batch, rows, cols, depth]`, joined along the depth.

    If the rate is 1, each window is a run of whole strides and a part of one. These are fewer
    pieces than single rows, and compile sooner; windows that do not overlap are a transpose alone.
    """
    if windows.joined > _MOST_JOINED:
        return _take_windows(x, axis, windows)
    count, size, stride, rate, _ = windows
    depth = x.shape[3]
    if rate == 1:
        # Runs of whole strides compile in a tenth of the time of single rows (test_patches.py,
        # test_windows_side_by_side_are_one_transpose).
        blocks = x.reshape(*x.shape[:axis], -1, stride, *x.shape[axis + 1 :])
        x = jnp.moveaxis(blocks, axis + 1, 3)
        x = x.reshape(*x.shape[:3], stride * depth)
        pieces = [lax.slice_in_dim(x, i, i + count, axis=axis) for i in range(windows.joined)]
        rest = size - (windows.joined - 1) * stride
        pieces[-1] = lax.slice_in_dim(pieces[-1], 0, rest * depth, axis=3)
    else:
        span = (count - 1) * stride + 1
        starts = range(0, size * rate, rate)
        pieces = [lax.slice_in_dim(x, i, i + span, stride, axis) for i in starts]
    return lax.concatenate(pieces, 3)


def _take_windows(x: jax.Array, axis: int, windows: _Windows) -> jax.Array:
    """`_join_windows` by one gather, which XLA compiles as one piece."""
    count, size, stride, rate, _ = windows
    starts = lax.iota(jnp.int32, count) * stride
    positions = starts[:, None] + lax.iota(jnp.int32, size)[None] * rate
    rows = take_rows(x, positions.reshape(-1), axis)
    rows = rows.reshape(*x.shape[:axis], count, size, *x.shape[axis + 1 :])
    rows = jnp.moveaxis(rows, axis + 1, 3)
    return rows.reshape(*rows.shape[:3], size * x.shape[3])


def _small_patches(x: jax.Array, *, rows: _Windows, cols: _Windows) -> jax.Array:
    """Every window of a few pixels.

    XLA makes one loop over the result, in which each element chooses its piece. While the choice is
    cheap, this is up to twice as fast as joining the pieces.
    """
    x = jnp.stack([x[:, i : i + rows.count] for i in range(rows.size)], axis=2)
    pieces = [lax.slice_in_dim(x, i, i + cols.count, axis=3) for i in range(cols.size)]
    return lax.concatenate(pieces, 4).transpose(0, 1, 3, 2, 4)
