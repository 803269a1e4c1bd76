"""dynamic_partition: the rows of an array, dealt out by number."""

from __future__ import annotations

import itertools
from typing import Any, Literal, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax.export import is_symbolic_dim

from jaxops._indexing import policy, result_size
from jaxops._indexing.parts import take_parts
from jaxops._indexing.policy import Mode
from jaxops._indexing.positions import resize, stable_order
from jaxops._indexing.specs import PartitionNumber
from jaxops._run import on_host
from jaxops._run.arguments import ArrayLike, Int, Ints
from jaxops._run.dispatch import operation
from jaxops._run.static_values import check_bool, is_scalar, static_int, static_ints

_NOUN = "slices of partition"
# The most partitions that are searched for one by one. With five partitions a sort takes half of
# the time of the searches.
_FEW = 4


@overload
def dynamic_partition(
    data: ArrayLike,
    partitions: ArrayLike,
    num_partitions: Int,
    name: str | None = None,
    *,
    size: Int | Ints | None = None,
    fill_value: ArrayLike | None = None,
    return_size: Literal[False] = False,
    mode: Mode = "device",
) -> list[jax.Array]: ...


@overload
def dynamic_partition(
    data: ArrayLike,
    partitions: ArrayLike,
    num_partitions: Int,
    name: str | None = None,
    *,
    size: Int | Ints | None = None,
    fill_value: ArrayLike | None = None,
    return_size: Literal[True],
    mode: Mode = "device",
) -> tuple[list[jax.Array], jax.Array]: ...


def dynamic_partition(
    data: ArrayLike,
    partitions: ArrayLike,
    num_partitions: Int,
    name: str | None = None,
    *,
    size: Int | Ints | None = None,
    fill_value: ArrayLike | None = None,
    return_size: bool = False,
    mode: Mode = "device",
) -> list[jax.Array] | tuple[list[jax.Array], jax.Array]:
    """Deals the slices of `data` out to `num_partitions` arrays.

    Follows `tf.dynamic_partition`. Differs from it in: traced `partitions` need a static `size`;
    index dtypes (every integer type); off the CPU a number out of bounds is no error (see `mode`).

    Args:
        data: array of shape `D` and any dtype, or host strings. Traced.
        partitions: integer array of shape `I`, with which `D` starts: to which partition each
            slice goes. Traced only with `size`.
        num_partitions: static int, 1 at least.
        size: static int, or a sequence of one per partition; the size of their first dimension,
            for code that is compiled or batched over `partitions`. Slices that it does not hold
            are an error where `mode` makes a number out of bounds one, and dropped from the end
            elsewhere; places without a slice get `fill_value`. Default: as many as there are.
        fill_value: scalar that fits the dtype of `data`, for use with `size`; default 0 (for
            strings, the empty one). If the result holds positions or segment ids, 0 is one of them:
            pass a number that is none, such as -1. Traced.
        return_size: static bool; whether to return also how many slices belong to each partition,
            which `size` does not limit: slices that it does not hold are then dropped in every
            `mode`.
        mode: static; what a number outside `[0, num_partitions)` does. `"device"`: an error on
            the CPU, its slice goes to no partition elsewhere. `"error"`: an error everywhere.
            `"fill"`: its slice goes to no partition. `"clip"`: counts as the nearest number.
            `"wrap"`: counts modulo `num_partitions`. `"promise_in_bounds"`: the caller promises
            that there is none.

    Returns:
        List of `num_partitions` arrays of shape `[size] + D[rank(partitions):]` and dtype of
        `data`, each with its slices in the order of `data`; for host strings NumPy arrays. With
        `return_size` a tuple of the list and an int32 vector.

    Raises:
        OutOfBoundsError: an entry of `partitions` is out of bounds, or `size` holds too few
            slices, where `mode` makes that an error: in an eager call, and at trace time where
            `partitions` is concrete. Compiled code raises JAX's exception with the same text.
        TypeError: wrong dtype or type of an argument; `partitions` is traced and `size` not given.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: each slice of `data` gets the cotangent of its place; 0 where it was dropped. None
    for `partitions`. Differentiated eagerly without `size`, each new size compiles anew.

    Example:
        >>> import jax, jaxops
        >>> jaxops.dynamic_partition([10, 20, 30, 40, 50], [0, 0, 1, 1, 0], 2)
        [Array([10, 20, 50], dtype=int32), Array([30, 40], dtype=int32)]
        >>> signs = jax.jit(lambda x: jaxops.dynamic_partition(x, (x > 0).astype(int), 2, size=3))
        >>> signs(jax.numpy.array([4, -1, 5, 6]))
        [Array([-1,  0,  0], dtype=int32), Array([4, 5, 6], dtype=int32)]
    """
    op = "dynamic_partition"
    num_partitions = static_int(num_partitions, op, "num_partitions")
    if num_partitions < 1:
        raise ValueError(f"{op}: num_partitions must be 1 at least; received {num_partitions}")
    if num_partitions >= 2**31:  # they are numbered in 32 bits
        raise ValueError(f"{op}: num_partitions must be less than 2**31; received {num_partitions}")
    on_host.check_fill_needs_size(op, size, fill_value)
    return_size = check_bool(return_size, op, "return_size")
    if size is None:
        policy.check_mode(op, mode)
        with on_host.named_scope(op, name):
            return _partition_exactly(op, data, partitions, num_partitions, return_size, mode)
    return _dynamic_partition.run(
        op,
        data=data,
        partitions=partitions,
        name=name,
        mode=mode,
        fill_value=fill_value,
        size=_sizes(op, size, num_partitions),
        return_size=return_size,
    )


def _sizes(op: str, size: Int | Ints, num_partitions: int) -> tuple[int, ...]:
    if is_scalar(size):
        return (on_host.check_size(size, op),) * num_partitions
    sizes = static_ints(size, op, "size")
    if len(sizes) != num_partitions:
        raise ValueError(
            f"{op}: size must have one component per partition, {num_partitions}; "
            f"received {len(sizes)}"
        )
    return tuple(on_host.check_size(s, op, f"size[{n}]") for n, s in enumerate(sizes))


def _partition_exactly(op, data, partitions, num_partitions, return_size, mode) -> Any:
    """The result for concrete partitions."""
    known = on_host.values_of(partitions, op, "partitions", data, on_host.concrete_integers)
    data = on_host.to_data(data, op, "data")
    spec = PartitionNumber(op, limits=(num_partitions,))
    platform = on_host.platform_of(data)
    numbers = policy.resolve_on_host(spec, known, mode, platform)
    _check_partitions_shape(op, data, numbers.shape)
    try:
        positions = _positions(numbers.reshape(-1), num_partitions)
    except MemoryError:
        raise MemoryError(
            f"{op}: num_partitions must make a list that fits into memory; "
            f"received {num_partitions}"
        ) from None
    parts = on_host.take_each(data, positions, 0, numbers.ndim)
    if not return_size:
        return parts
    counts = np.array([len(at) for at in positions], np.int32)
    return parts, on_host.from_host(counts, data)


def _positions(numbers: np.ndarray, num_partitions: int) -> list[np.ndarray]:
    """The positions of each partition's number; -1 is the number of no partition."""
    # NumPy compares and sorts short types faster, and those of 8 and 16 bits by radix. -1 becomes
    # the largest number of that type, and no partition has this number (test_partition.py,
    # test_ignored_numbers_beside_256_partitions).
    keys = numbers.astype(np.min_scalar_type(num_partitions))
    if num_partitions <= _FEW:
        return [(keys == n).nonzero()[0] for n in range(num_partitions)]
    order = np.argsort(keys, kind="stable")
    ends = np.searchsorted(keys, np.arange(num_partitions + 1).astype(keys.dtype), sorter=order)
    return [order[start:end] for start, end in itertools.pairwise(ends.tolist())]


@operation(data=("data",), indices=("partitions",), pads=True, moves_elements=True)
def _dynamic_partition(
    data: jax.Array,
    partitions: jax.Array,
    fill_value: jax.Array | None,
    *,
    op: str,
    mode: str,
    size: tuple[int, ...],
    return_size: bool,
):
    """Sorts positions by partition, stably; each part is a run of the sorted positions."""
    _check_partitions_shape(op, data, partitions.shape)
    on_host.check_countable(partitions.size, op, "partitions")
    sizes, num_partitions = size, len(size)
    rows = data.reshape(on_host.merge_axes(data.shape, 0, partitions.ndim))
    spec = PartitionNumber(op, limits=(num_partitions,))
    numbers, valid = policy.resolve(spec, partitions[..., None], mode)
    keys = numbers[..., 0].astype(jnp.int32)
    if valid is not None:
        keys = jnp.where(valid, keys, jnp.int32(num_partitions))
    order, counts = stable_order(keys.reshape(-1), num_partitions)
    spec = result_size.num_elements(op, sizes, _NOUN)
    held = result_size.hold(spec, counts, partitions.size, "fill" if return_size else mode)
    if not is_symbolic_dim(order.shape[0]):
        order = resize(order, max(order.shape[0], 1))  # there is one to read
    fill = jnp.zeros((), rows.dtype) if fill_value is None else fill_value
    parts = take_parts(rows, fill, order, jnp.cumsum(counts) - counts, held, sizes=sizes)
    return (parts, counts) if return_size else parts


def _check_partitions_shape(op: str, data, shape: tuple[int, ...]) -> None:
    if data.shape[: len(shape)] != shape:
        raise ValueError(
            f"{op}: data.shape must start with partitions.shape, {shape}; received {data.shape}"
        )
