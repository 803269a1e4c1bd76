"""A call of every public function with all of its arguments, and what each argument is.

For sweeps that put something odd in the place of each argument. Kinds: `data`, numbers; `integers`,
such as indices; `bools`; `text`; `scalar`, of data; `arrays`, a list of data; `indices`, a list of
integers; `int`, `ints` and `pairs`, static; `dtype`; `word`, an option; `grads`, nested arrays.
"""

import inspect
from types import FunctionType

import jax
import numpy as np

import jaxops
from jaxops.compat import v0

X = np.arange(12, dtype=np.float32).reshape(4, 3)
IMAGES = np.zeros((4, 2, 2, 4), np.float32)
MASK = np.array([True, False, True, True])
NUMBERS = np.array([2, 0, 2, 1], np.int32)

_DATA, _MASK, _MODE = ("data", X), ("bools", MASK), ("word", "fill")
_FILL = {"fill_value": ("scalar", 7.0), "mode": _MODE}
_GATHER = {**_FILL, "deterministic": ("word", True)}
_HELD = {**_FILL, "size": ("int", 3), "return_size": ("word", True)}
_BATCHES = {"input": ("data", IMAGES), "block_shape": ("ints", [2, 2])}
_SPACES = {"input": ("data", IMAGES), "block_shape": ("ints", [2, 2])}
_UNIQUE = {"x": ("integers", NUMBERS), "out_idx": ("dtype", "int32")}
_PATCHES = {
    "images": ("data", IMAGES),
    "sizes": ("ints", [1, 2, 2, 1]),
    "strides": ("ints", [1, 1, 1, 1]),
    "rates": ("ints", [1, 1, 1, 1]),
    "padding": ("word", "SAME"),
}
_PADS = ("pairs", [[0, 0], [0, 0]])
_DEPTH = {"input": ("data", IMAGES), "block_size": ("int", 2), "data_format": ("word", "NHWC")}
_UPDATES = {
    "tensor": _DATA,
    "indices": ("integers", [[1], [2]]),
    "updates": ("data", X[:2]),
    "mode": _MODE,
}
_ORDERED = {**_UPDATES, "deterministic": ("word", True)}
_CAST = {"x": _DATA}
_ONE_HOT = {
    "indices": ("integers", NUMBERS),
    "depth": ("int", 3),
    "on_value": ("scalar", 2.0),
    "off_value": ("scalar", 1.0),
    "axis": ("int", 0),
    "dtype": ("dtype", "float32"),
}
_SLICES = {
    "values": ("data", X[:2]),
    "indices": ("integers", [0, 1]),
    "dense_shape": ("ints", (4, 3)),
}
_GRADS = ("grads", {"w": X})

CALLS = {
    "bitcast": {"input": _DATA, "type": ("dtype", "int32")},
    "batch_to_space": {**_BATCHES, "crops": _PADS},
    "batch_to_space_nd": {**_BATCHES, "crops": _PADS},
    "space_to_batch": {**_SPACES, "paddings": _PADS},
    "space_to_batch_nd": {**_SPACES, "paddings": _PADS},
    "boolean_mask": {"tensor": _DATA, "mask": _MASK, "axis": ("int", 0), **_HELD},
    "cast": {**_CAST, "dtype": ("dtype", "int32")},
    "saturate_cast": {"value": _DATA, "dtype": ("dtype", "int32")},
    "to_bfloat16": _CAST,
    "to_double": _CAST,
    "to_float": _CAST,
    "to_int32": _CAST,
    "to_int64": _CAST,
    "depth_to_space": _DEPTH,
    "space_to_depth": _DEPTH,
    "batch_gather": {"params": _DATA, "indices": ("integers", [[0]] * 4), **_GATHER},
    "gather": {
        "params": _DATA,
        "indices": ("integers", [[0]] * 4),
        "axis": ("int", 1),
        "batch_dims": ("int", 1),
        **_GATHER,
    },
    "gather_nd": {
        "params": _DATA,
        "indices": ("integers", [[[0]]] * 4),
        "batch_dims": ("int", 1),
        **_GATHER,
    },
    "clip_by_global_norm": {"grads": _GRADS, "clip_norm": ("scalar", 1.0)},
    "global_norm": {"grads": _GRADS},
    "pmean": {"grads": _GRADS, "axis_name": ("word", "batch")},
    "psum": {"grads": _GRADS, "axis_name": ("word", "batch")},
    "sum_stacked": {"grads": _GRADS},
    "IndexedSlices": _SLICES,
    "IndexedSlices.add_to": {**_SLICES, "dense": _DATA},
    "IndexedSlices.sum_duplicates": {**_SLICES, "size": ("int", 2), "mode": _MODE},
    "concat": {"values": ("arrays", [X, X]), "axis": ("int", 0)},
    "split": {
        "value": _DATA,
        "num_or_size_splits": ("ints", [1, -1]),
        "axis": ("int", 0),
        "num": ("int", 2),
    },
    "stack": {"values": ("arrays", [X, X]), "axis": ("int", 0)},
    "tile": {"input": _DATA, "multiples": ("ints", [1, 2])},
    "unstack": {"value": _DATA, "num": ("int", 4), "axis": ("int", 0)},
    "one_hot": _ONE_HOT,
    "pad": {
        "tensor": _DATA,
        "paddings": ("pairs", [[0, 1], [1, 0]]),
        "mode": ("word", "CONSTANT"),
        "constant_values": ("scalar", 7.0),
    },
    "dynamic_partition": {
        "data": _DATA,
        "partitions": ("integers", NUMBERS),
        "num_partitions": ("int", 3),
        **_HELD,
        "size": ("ints", [1, 1, 2]),
    },
    "extract_image_patches": _PATCHES,
    "extract_patches": _PATCHES,
    "reverse": {"tensor": _DATA, "axis": ("ints", [0, 1])},
    "reverse_sequence": {
        "input": _DATA,
        "seq_lengths": ("integers", [1, 2, 3, 0]),
        "seq_axis": ("int", 1),
        "batch_axis": ("int", 0),
        "mode": ("word", "clip"),
    },
    "scatter_nd": {
        "indices": ("integers", [[1], [2]]),
        "updates": ("data", X[:2]),
        "shape": ("ints", [4, 3]),
        "mode": _MODE,
        "deterministic": ("word", True),
    },
    "tensor_scatter_nd_add": _ORDERED,
    "tensor_scatter_nd_max": _UPDATES,
    "tensor_scatter_nd_min": _UPDATES,
    "tensor_scatter_nd_sub": _ORDERED,
    "tensor_scatter_nd_update": _UPDATES,
    "expand_dims": {"input": _DATA, "axis": ("int", 0)},
    "rank": {"input": _DATA},
    "reshape": {"tensor": _DATA, "shape": ("ints", [3, 4])},
    "shape": {"input": _DATA, "out_type": ("dtype", "int32")},
    "shape_n": {"input": ("arrays", [X, X]), "out_type": ("dtype", "int32")},
    "size": {"input": _DATA, "out_type": ("dtype", "int32")},
    "squeeze": {"input": ("data", X[:1]), "axis": ("ints", [0])},
    "transpose": {"a": _DATA, "perm": ("ints", [1, 0]), "conjugate": ("word", False)},
    "slice": {
        "input_": _DATA,
        "begin": ("integers", [1, 0]),
        "size": ("ints", [2, -1]),
        **_FILL,
    },
    "dynamic_stitch": {
        "indices": ("indices", [NUMBERS[:2], NUMBERS[2:]]),
        "data": ("arrays", [X[:2], X[2:]]),
        **_HELD,
    },
    "strided_slice": {
        "input_": _DATA,
        "begin": ("ints", [0, 0]),
        "end": ("ints", [2, 1]),
        "strides": ("ints", [1, 1]),
        "begin_mask": ("int", 0),
        "end_mask": ("int", 0),
        "ellipsis_mask": ("int", 0),
        "new_axis_mask": ("int", 0),
        "shrink_axis_mask": ("int", 0),
        **_FILL,
    },
    "string_to_number": {"input": ("text", ["1", "2.5"]), "out_type": ("dtype", "float32")},
    "unique": {**_UNIQUE, **_HELD, "fill_value": ("scalar", 7)},
    "unique_with_counts": {**_UNIQUE, **_HELD, "fill_value": ("scalar", 7)},
    "v0.string_to_number": {"string_tensor": ("text", ["1"]), "out_type": ("dtype", "float32")},
    "v0.to_double": _CAST,
    "v0.to_float": _CAST,
    "v0.to_bfloat16": _CAST,
    "v0.to_int32": _CAST,
    "v0.to_int64": _CAST,
    "v0.cast": {**_CAST, "dtype": ("dtype", "int32")},
    "v0.saturate_cast": {"value": _DATA, "dtype": ("dtype", "int32")},
    "v0.bitcast": {"input": _DATA, "type": ("dtype", "int32")},
    "v0.shape": {"input": _DATA},
    "v0.shape_n": {"input": ("arrays", [X, X])},
    "v0.size": {"input": _DATA},
    "v0.rank": {"input": _DATA},
    "v0.reshape": {"tensor": _DATA, "shape": ("ints", [3, 4])},
    "v0.squeeze": {"input": ("data", X[:1]), "squeeze_dims": ("ints", [0])},
    "v0.expand_dims": {"input": _DATA, "dim": ("int", 0)},
    "v0.slice": {"input_": _DATA, "begin": ("integers", [1, 0]), "size": ("ints", [2, -1])},
    "v0.split": {"split_dim": ("int", 0), "num_split": ("int", 2), "value": _DATA},
    "v0.tile": {"input": _DATA, "multiples": ("ints", [1, 2])},
    "v0.pad": {
        "tensor": _DATA,
        "paddings": ("pairs", [[0, 1], [1, 0]]),
        "mode": ("word", "CONSTANT"),
    },
    "v0.concat": {"concat_dim": ("int", 0), "values": ("arrays", [X, X])},
    "v0.pack": {"values": ("arrays", [X, X])},
    "v0.unpack": {"value": _DATA, "num": ("int", 4)},
    "v0.reverse_sequence": {
        "input": _DATA,
        "seq_lengths": ("integers", [1, 2, 3, 0]),
        "seq_dim": ("int", 1),
        "batch_dim": ("int", 0),
    },
    "v0.reverse": {"tensor": _DATA, "dims": ("bools", np.array([False, True]))},
    "v0.transpose": {"a": _DATA, "perm": ("ints", [1, 0])},
    "v0.extract_image_patches": {
        "images": ("data", IMAGES),
        "padding": ("word", "SAME"),
        "ksizes": ("ints", [1, 2, 2, 1]),
        "strides": ("ints", [1, 1, 1, 1]),
        "rates": ("ints", [1, 1, 1, 1]),
    },
    "v0.space_to_batch": {
        "input": ("data", IMAGES),
        "paddings": _PADS,
        "block_size": ("int", 2),
    },
    "v0.batch_to_space": {"input": ("data", IMAGES), "crops": _PADS, "block_size": ("int", 2)},
    "v0.space_to_depth": {"input": ("data", IMAGES), "block_size": ("int", 2)},
    "v0.depth_to_space": {"input": ("data", IMAGES), "block_size": ("int", 2)},
    "v0.gather": {
        "params": _DATA,
        "indices": ("integers", NUMBERS),
        "validate_indices": ("word", True),
    },
    "v0.gather_nd": {"params": _DATA, "indices": ("integers", [[1, 2]])},
    "v0.dynamic_partition": {
        "data": _DATA,
        "partitions": ("integers", NUMBERS),
        "num_partitions": ("int", 3),
    },
    "v0.dynamic_stitch": {
        "indices": ("indices", [NUMBERS[:2], NUMBERS[2:]]),
        "data": ("arrays", [X[:2], X[2:]]),
    },
    "v0.boolean_mask": {"tensor": _DATA, "mask": _MASK},
    "v0.one_hot": _ONE_HOT,
    "v0.unique_with_counts": {"x": ("integers", NUMBERS)},
}
# Of functions, specifications and trees of gradients, not of arrays.
OF_NO_ARRAYS = {"lazy", "sparse_value_and_grad", "strided_slice_spec"}
CLASSES = {"OutOfBoundsError", "LazyOptimizer", "StridedSliceSpec", "TiedGradient"}

PUBLIC = {
    **{n: f for n, f in vars(jaxops).items() if isinstance(f, (FunctionType, type))},
    **{
        f"v0.{n}": f
        for n, f in vars(v0).items()
        if isinstance(f, FunctionType) and f.__module__ == v0.__name__ and not n.startswith("_")
    },
}


def add_to(values, indices, dense_shape, dense):
    return jaxops.IndexedSlices(values, indices, dense_shape).add_to(dense)


def sum_duplicates(values, indices, dense_shape, size=None, mode="device"):
    return jaxops.IndexedSlices(values, indices, dense_shape).sum_duplicates(size, mode=mode)


def over_devices(function):
    """`psum` or `pmean` of gradients, on one device."""

    def call(grads, axis_name):
        return jax.vmap(
            lambda _: function(grads, axis_name), axis_name="batch", axis_size=1, out_axes=None
        )(np.zeros(1))

    return call


FUNCTIONS = {
    **{name: PUBLIC[name] for name in CALLS if name in PUBLIC},
    "IndexedSlices.add_to": add_to,
    "IndexedSlices.sum_duplicates": sum_duplicates,
    "psum": over_devices(jaxops.psum),
    "pmean": over_devices(jaxops.pmean),
}


def arguments(name):
    """Those of a valid call."""
    return {arg: value for arg, (_, value) in CALLS[name].items()}


def missing():
    """What the table lacks: functions, and arguments of functions."""
    unknown = {name for name in PUBLIC if name not in {*CALLS, *OF_NO_ARRAYS, *CLASSES}}
    for name, call in CALLS.items():
        parameters = [p for p in inspect.signature(FUNCTIONS[name]).parameters if p != "name"]
        unknown |= {f"{name}-{p}" for p in {*parameters} ^ {*call}}
    return unknown


def operation(name):
    """What stands at the start of an error of that function."""
    return name.removeprefix("v0.")
