"""reverse, and reverse_sequence with its own transpose."""

from __future__ import annotations

import jax
from jax import lax

from jaxops._indexing import policy
from jaxops._indexing.policy import Mode
from jaxops._indexing.reversed_prefixes import reverse_prefixes
from jaxops._indexing.specs import SequenceLength
from jaxops._run.arguments import ArrayLike, Int, Ints
from jaxops._run.dispatch import operation
from jaxops._run.static_values import canonical_axis, check_choice, static_int, static_ints


def reverse(tensor: ArrayLike, axis: Ints, name: str | None = None) -> jax.Array:
    """Reverses `tensor` along some dimensions.

    Follows `tf.reverse`. Differs from it in: any rank; bools, which TensorFlow takes for the axes
    0 and 1, are refused, and so is an axis out of range, or named twice, where `tensor` is empty.

    Args:
        tensor: array of any shape and dtype, or host strings. Traced.
        axis: static ints in `[-rank(tensor), rank(tensor))`, none named twice. Not looked at where
            `tensor` is a scalar.

    Returns:
        Array of the shape and dtype of `tensor`; for host strings a NumPy array.

    Raises:
        TypeError: wrong type of an argument; a traced `axis`.
        ValueError: `axis` is no vector, holds a dimension twice, or one outside the range.

    Gradient: the cotangent, reversed.

    Example:
        >>> import jaxops
        >>> jaxops.reverse([[1, 2, 3], [4, 5, 6]], [1])
        Array([[3, 2, 1],
               [6, 5, 4]], dtype=int32)
    """
    op = "reverse"
    if isinstance(axis, (list, tuple)) and axis and all(isinstance(i, bool) for i in axis):
        raise TypeError(
            f"{op}: axis must be a one-dimensional sequence of ints; received {axis}; "
            f"jaxops.compat.v0.{op} takes a bool for each dimension, as TensorFlow 0.x"
        )
    axes = static_ints(axis, op, "axis")
    return _reverse.run(op, tensor=tensor, name=name, axes=axes)


@operation(data=("tensor",), moves_elements=True)
def _reverse(tensor: jax.Array, *, op: str, axes: tuple[int, ...]):
    if tensor.ndim == 0:
        return tensor
    dims = [canonical_axis(axis, tensor.ndim, op) for axis in axes]
    if len(set(dims)) < len(dims):
        raise ValueError(f"{op}: axis must name each dimension at most once; received {axes}")
    return lax.rev(tensor, dims)


_MODES = ("device", "error", "clip", "promise_in_bounds")


def reverse_sequence(
    input: ArrayLike,
    seq_lengths: ArrayLike,
    seq_axis: Int | None = None,
    batch_axis: Int | None = None,
    name: str | None = None,
    *,
    mode: Mode = "device",
) -> jax.Array:
    """Reverses the first `seq_lengths[i]` elements along `seq_axis` of each slice `i` of a batch.

    Follows `tf.reverse_sequence`. Differs from it in: `seq_lengths` has every integer dtype; off
    the CPU a length out of bounds is no error (see `mode`).

    Args:
        input: array of shape `D` and any dtype, or host strings. Traced.
        seq_lengths: integer vector of `D[batch_axis]` lengths, `0 <= seq_lengths[i] <=
            D[seq_axis]`. Traced.
        seq_axis: static int in `[0, rank(input))`; has to be given.
        batch_axis: static int in `[0, rank(input))` other than `seq_axis`; default 0.
        mode: static; what a length out of bounds does. `"device"`: an error on the CPU, clipped
            elsewhere. `"error"`: an error everywhere. `"clip"`: a negative one counts as 0, one
            that is too large as `D[seq_axis]`. `"promise_in_bounds"`: the caller promises that
            there is none; what it does otherwise is unspecified.

    Returns:
        Array of the shape and dtype of `input`; for host strings a NumPy array.

    Raises:
        OutOfBoundsError: a length is out of bounds, in an eager call, where `mode` makes that an
            error. Compiled code raises JAX's exception with the same text.
        TypeError: wrong dtype or type of an argument; no `seq_axis`.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: the cotangent, reversed in the same way. None for `seq_lengths`.

    Example:
        >>> import jaxops
        >>> jaxops.reverse_sequence([[1, 2, 3, 4], [5, 6, 7, 8]], [2, 3], seq_axis=1)
        Array([[2, 1, 3, 4],
               [7, 6, 5, 8]], dtype=int32)
        >>> jaxops.reverse_sequence([[1, 2], [3, 4]], [3, 2], seq_axis=1)
        Traceback (most recent call last):
        ...
        jaxops.OutOfBoundsError: seq_lens(0) > input.dims(1): 3 is not in [0, 3)
        [Op:reverse_sequence] at ...
    """
    op = "reverse_sequence"
    check_choice(mode, _MODES, op, "mode")
    return _reverse_sequence.run(
        op,
        input=input,
        seq_lengths=seq_lengths,
        name=name,
        mode=mode,
        seq_axis=static_int(seq_axis, op, "seq_axis"),
        batch_axis=0 if batch_axis is None else static_int(batch_axis, op, "batch_axis"),
    )


@operation(data=("input",), indices=("seq_lengths",), moves_elements=True)
def _reverse_sequence(
    input: jax.Array, seq_lengths: jax.Array, *, op: str, mode: str, seq_axis: int, batch_axis: int
):
    for arg, axis in (("seq_axis", seq_axis), ("batch_axis", batch_axis)):
        if not 0 <= axis < input.ndim:
            raise ValueError(
                f"{op}: {arg} must be in [0, {input.ndim}) for input of shape {input.shape}; "
                f"received {axis}"
            )
    if seq_axis == batch_axis:
        raise ValueError(f"{op}: seq_axis must differ from batch_axis; received {seq_axis} twice")
    if seq_lengths.shape != (input.shape[batch_axis],):
        raise ValueError(
            f"{op}: seq_lengths must have shape ({input.shape[batch_axis]},), dimension "
            f"{batch_axis} of input; received shape {seq_lengths.shape}"
        )
    dim = input.shape[seq_axis]
    spec = SequenceLength(op, limits=(dim + 1,), seq_axis=seq_axis)
    lengths = policy.resolve(spec, seq_lengths[:, None], mode).indices[:, 0]
    return reverse_prefixes(input, lengths, seq_axis=seq_axis, batch_axes=(batch_axis,))
