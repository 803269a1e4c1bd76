"""Calls of the ops with value-dependent shapes, and of one_hot."""

import jax.numpy as jnp
import numpy as np
import oracles_partition as oracles
from case import MODES, Case, floats

import jaxops


def partition_case(shape, partitions, num_partitions, size, **options):
    """The parts, ravelled and joined."""

    def op(data, partitions, **k):
        # With the sizes, so that slices may be dropped.
        parts, _ = jaxops.dynamic_partition(
            data, partitions, num_partitions, size=size, return_size=True, **options, **k
        )
        return jnp.concatenate([part.reshape(-1) for part in parts])

    def oracle(data, partitions, mode="fill", **k):
        options_and_k = {**options, **k}
        parts = oracles.dynamic_partition(
            data, partitions, num_partitions, size, mode, **options_and_k
        )
        return np.concatenate([part.reshape(-1) for part in parts])

    data, indices = (floats(*shape),), (np.asarray(partitions, np.int32),)
    return Case(op, oracle, data, indices, MODES, linear=not options)


def stitch_case(indices, row_shape, size, modes=MODES):
    count = len(indices)
    indices = tuple(np.asarray(i, np.int32) for i in indices)
    data = tuple(floats(*i.shape, *row_shape) for i in indices)
    return Case(
        lambda *a, **k: jaxops.dynamic_stitch(list(a[count:]), list(a[:count]), size=size, **k),
        lambda *a, mode="fill", **k: oracles.dynamic_stitch(a[count:], a[:count], size, mode, **k),
        data,
        indices,
        modes,
    )


def mask_case(shape, mask, axis=0, size=None, **options):
    mask = np.asarray(mask, bool)
    return Case(
        lambda x: jaxops.boolean_mask(x, mask, axis, size=size, **options),
        lambda x: oracles.boolean_mask(x, mask, axis, size),
        (floats(*shape),),
    )


def one_hot_case(indices, depth, **options):
    return Case(
        lambda on, off: jaxops.one_hot(indices, depth, on[0], off[0], **options),
        lambda on, off: oracles.one_hot(indices, depth, on[0], off[0], **options),
        (floats(1), floats(1)),
    )


def unique_case(x, part, size):
    """One part of the result, of which `y` has a gradient."""
    op = jaxops.unique_with_counts if part == "count" else jaxops.unique

    def oracle(x):
        y, idx, count = oracles.unique_with_counts(x, size)
        return {"y": y, "idx": idx, "count": count}[part].astype(np.float32)

    return Case(
        lambda x: getattr(op(x, size=size), part).astype(np.float32),
        oracle,
        (np.asarray(x, np.float32),),
        linear=False,  # which elements are taken depends on them
    )


CASES = {
    "dynamic_partition-matrix": partition_case((2, 3, 2), [[0, 1, 1], [0, 0, 1]], 2, 4),
    "dynamic_partition-cut": partition_case((4,), [0, 1, 1, 1], 2, (2, 1), fill_value=7),
    "dynamic_partition-empty": partition_case((0, 2), np.zeros(0), 2, 2),
    "dynamic_stitch-duplicates": stitch_case([[0, 3, 0], [3]], (), 5),
    "dynamic_stitch-rows": stitch_case([2, [[3], [1]], [1]], (2,), 4),
    "dynamic_stitch-empty": stitch_case([np.zeros(0)], (2,), 3),
    "boolean_mask-vector": mask_case((4,), [1, 0, 1, 1]),
    "boolean_mask-cut": mask_case((4,), [1, 0, 1, 1], size=2, mode="fill"),
    "boolean_mask-axis": mask_case((2, 3, 2), [1, 0, 1], axis=1, size=3),
    "boolean_mask-axes": mask_case((2, 3, 2), [[1, 0], [0, 0], [1, 1]], axis=-2),
    "boolean_mask-empty": mask_case((0, 2), np.zeros(0), size=2),
    "one_hot-first": one_hot_case([[0, 3], [1, -1]], 3, axis=0),
    "one_hot-last": one_hot_case([0, 2, 2], 3),
    "one_hot-empty": one_hot_case([0], 0),
    "unique-idx": unique_case([5, 3, 5, 1], "idx", 4),
    "unique-padded": unique_case([5, 3, 5, 1], "y", 6),
    "unique_with_counts-count": unique_case([5, 3, 5, 1], "count", 6),
    "unique_with_counts-empty": unique_case([], "y", 2),
}
