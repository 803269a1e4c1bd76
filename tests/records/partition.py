"""What is known of the functions of `_ops/partition.py`."""

import jax.numpy as jnp
import numpy as np

import jaxops
from records.arguments import DATA, FEW, HELD, LENGTH, NUMBERS
from records.loops import evaluated, filled, fitted, floats, outside, place_of
from records.record import MODES, Case, Record


def dynamic_partition(data, partitions, num_partitions, size=None, mode="fill", fill_value=0):
    data, partitions = np.asarray(data), np.asarray(partitions)
    rows = [[] for _ in range(num_partitions)]
    for at in np.ndindex(*partitions.shape):
        place = place_of((int(partitions[at]),), (num_partitions,), mode)
        if place is not None:
            rows[place[0]].append(data[at])
    sizes = size if isinstance(size, (list, tuple)) else [size] * num_partitions
    row_shape = data.shape[partitions.ndim :]
    return [
        fitted(part, row_shape, data.dtype, n, fill_value)
        for part, n in zip(rows, sizes, strict=True)
    ]


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
        parts = dynamic_partition(data, partitions, num_partitions, size, mode, **options_and_k)
        return np.concatenate([part.reshape(-1) for part in parts])

    data, indices = (floats(*shape),), (np.asarray(partitions, np.int32),)
    return Case(op, oracle, data, indices, MODES, linear=not options)


RECORDS = {
    "dynamic_partition": Record(
        call={
            "data": DATA,
            "partitions": ("integers", NUMBERS),
            "num_partitions": ("int", 3),
            **HELD,
            "size": ("ints, int or ints", [1, 1, 2]),
        },
        cases={
            "matrix": partition_case((2, 3, 2), [[0, 1, 1], [0, 0, 1]], 2, 4),
            "cut": partition_case((4,), [0, 1, 1, 1], 2, (2, 1), fill_value=7),
            "empty": partition_case((0, 2), np.zeros(0), 2, 2),
        },
        out_of_bounds={
            "": outside(
                lambda i, **k: jnp.stack(jaxops.dynamic_partition(floats(2, 2), i, 2, size=4, **k)),
                [[0, 1], [0, 1]],
                [[0, 1], [0, -1]],
                "partitions[1,1] = -1 is not in [0, 2)",
            )
        },
        narrow={
            "": Case(
                lambda x, i: jaxops.dynamic_partition(x, i, LENGTH, size=4)[99],
                lambda x, i: dynamic_partition(x, i, LENGTH, size=4)[99],
                (floats(4, 3),),
                (FEW,),
            )
        },
        exports=[evaluated(filled(jaxops.dynamic_partition), "(x, i, 2, size=3)", "n, b", "n int")],
        row=(
            "Indexing | `dynamic_partition` | static `size=` | stitched | "
            "partitions, and what `size=` holds"
        ),
    )
}
