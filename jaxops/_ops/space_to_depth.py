"""Blocks of height and width moved into the depth, and back."""

from __future__ import annotations

import jax

from jaxops._ops.space_to_batch import axis_to_space, check_divisible, space_to_axis
from jaxops._run.arguments import ArrayLike, Int
from jaxops._run.dispatch import operation
from jaxops._run.static_values import check_choice, static_int

# Per data format: the rank, the first of the two dimensions of space, the dimension of depth.
_LAYOUTS = {"NHWC": (4, 1, 3), "NCHW": (4, 2, 1), "NCHW_VECT_C": (5, 2, 1)}
_FORMATS = tuple(_LAYOUTS)


def space_to_depth(
    input: ArrayLike,
    block_size: Int,
    data_format: str = "NHWC",
    name: str | None = None,
) -> jax.Array:
    """Moves blocks of height and width into the depth.

    Follows `tf.nn.space_to_depth`. Differs from it in: every data format has every dtype on every
    device (TensorFlow's CPU knows "NHWC" only).

    Args:
        input: array of shape `[N, H, W, C]`, `[N, C, H, W]` or, for "NCHW_VECT_C",
            `[N, C / 4, H, W, 4]`, of any dtype, or host strings; `H` and `W` divisible by
            `block_size`. Traced.
        block_size: static int of at least 2.
        data_format: static; `"NHWC"`, `"NCHW"` or `"NCHW_VECT_C"`.

    Returns:
        Array of shape `[N, H / block_size, W / block_size, C * block_size**2]`, or that in
        `data_format`, and dtype of `input`; for host strings a NumPy array. The place in a block,
        row by row, is the major part of the depth.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: `depth_to_space` of the cotangent.

    Example:
        >>> import jaxops
        >>> jaxops.space_to_depth([[[[1], [2]], [[3], [4]]]], 2)
        Array([[[[1, 2, 3, 4]]]], dtype=int32)
    """
    return _space_to_depth.run(
        "space_to_depth",
        input=input,
        name=name,
        block_size=static_int(block_size, "space_to_depth", "block_size"),
        data_format=check_choice(data_format, _FORMATS, "space_to_depth", "data_format"),
    )


def depth_to_space(
    input: ArrayLike,
    block_size: Int,
    data_format: str = "NHWC",
    name: str | None = None,
) -> jax.Array:
    """Moves the depth into blocks of height and width.

    Follows `tf.nn.depth_to_space`. Differs from it in: as `space_to_depth`.

    Args:
        input: array of shape `[N, H, W, C]`, `[N, C, H, W]` or, for "NCHW_VECT_C",
            `[N, C / 4, H, W, 4]`, of any dtype, or host strings; `C` (there, `C / 4`) divisible by
            `block_size**2`. Traced.
        block_size: static int of at least 2.
        data_format: static; `"NHWC"`, `"NCHW"` or `"NCHW_VECT_C"`.

    Returns:
        Array of shape `[N, H * block_size, W * block_size, C / block_size**2]`, or that in
        `data_format`, and dtype of `input`; for host strings a NumPy array.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: `space_to_depth` of the cotangent.

    Example:
        >>> import jaxops
        >>> jaxops.depth_to_space([[[[1, 2, 3, 4]]]], 2)
        Array([[[[1],
                 [2]],
                [[3],
                 [4]]]], dtype=int32)
    """
    return _depth_to_space.run(
        "depth_to_space",
        input=input,
        name=name,
        block_size=static_int(block_size, "depth_to_space", "block_size"),
        data_format=check_choice(data_format, _FORMATS, "depth_to_space", "data_format"),
    )


@operation(data=("input",), moves_elements=True)
def _space_to_depth(input: jax.Array, *, op: str, block_size: int, data_format: str):
    first, depth = _check_image(op, input, block_size, data_format)
    check_divisible(op, "input", input, first, (block_size, block_size))
    return space_to_axis(input, first, (block_size, block_size), depth)


@operation(data=("input",), moves_elements=True)
def _depth_to_space(input: jax.Array, *, op: str, block_size: int, data_format: str):
    first, depth = _check_image(op, input, block_size, data_format)
    if input.shape[depth] % block_size**2:
        raise ValueError(
            f"{op}: input must have dimension {depth} divisible by block_size**2, "
            f"{block_size**2}; received shape {input.shape}"
        )
    return axis_to_space(input, first, (block_size, block_size), depth)


def _check_image(op, input, block_size, data_format) -> tuple[int, int]:
    rank, first, depth = _LAYOUTS[data_format]
    if block_size < 2:
        raise ValueError(f"{op}: block_size must be at least 2; received {block_size}")
    if input.ndim != rank or (rank == 5 and input.shape[4] != 4):
        form = "[N, C / 4, H, W, 4]" if rank == 5 else f"[{', '.join(data_format)}]"
        raise ValueError(
            f"{op}: input must have shape {form} for data_format {data_format}; "
            f"received shape {input.shape}"
        )
    return first, depth
