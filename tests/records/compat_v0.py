"""What is known of the functions of `compat/v0.py`."""

import numpy as np

from jaxops.compat import v0
from records import one_hot, segments, strided_slice
from records.record import (
    ANYTHING,
    DATA,
    FILL,
    IMAGES,
    MASK,
    NO_STRINGS,
    NUMBERS,
    ONLY_NUMBERS,
    PADS,
    Record,
    X,
)

CAST = {"x": ONLY_NUMBERS}
OF_INDICES = ("dtype, of indices", "int32")
OF_SHAPES = ("dtype, of shapes", "int32")
LISTS = {"x": ("integers, data", NUMBERS), "y": ("integers, data", NUMBERS[:1])}


# Those with two names of one argument, of which a call has one.


def squeeze(input, squeeze_dims=None, name=None):
    return v0.squeeze(input, squeeze_dims=squeeze_dims, name=name)


def expand_dims(input, dim=None, name=None):
    return v0.expand_dims(input, dim=dim, name=name)


def reverse_sequence(input, seq_lengths, seq_dim=None, batch_dim=None, name=None):
    return v0.reverse_sequence(input, seq_lengths, seq_dim=seq_dim, batch_dim=batch_dim, name=name)


def meshgrid(args, indexing="xy", name=None):
    args = args if isinstance(args, (list, tuple)) else [args]
    return v0.meshgrid(*args, indexing=indexing, name=name)


FUNCTIONS = {f"v0.{f.__name__}": f for f in (squeeze, expand_dims, reverse_sequence, meshgrid)}
RECORDS = {
    "v0.string_to_number": Record(
        call={"string_tensor": ("text", ["1"]), "out_type": ("dtype", "float32")}
    ),
    "v0.to_double": Record(call=CAST),
    "v0.to_float": Record(call=CAST),
    "v0.to_bfloat16": Record(call=CAST),
    "v0.to_int32": Record(call=CAST),
    "v0.to_int64": Record(call=CAST),
    "v0.cast": Record(call={**CAST, "dtype": ("dtype", "int32")}),
    "v0.saturate_cast": Record(call={"value": ONLY_NUMBERS, "dtype": ("dtype", "int32")}),
    "v0.bitcast": Record(call={"input": ONLY_NUMBERS, "type": ("dtype", "int32")}),
    "v0.shape": Record(call={"input": ANYTHING, "out_type": OF_SHAPES}),
    "v0.shape_n": Record(call={"input": ("arrays, anything", [X, X]), "out_type": OF_SHAPES}),
    "v0.size": Record(call={"input": ANYTHING, "out_type": OF_SHAPES}),
    "v0.rank": Record(call={"input": ANYTHING}),
    "v0.reshape": Record(call={"tensor": DATA, "shape": ("ints, int or ints", [3, 4])}),
    "v0.squeeze": Record(
        call={"input": ("data", X[:1]), "squeeze_dims": ("ints, int or ints", [0])}
    ),
    "v0.expand_dims": Record(call={"input": DATA, "dim": ("int, or a list of one", 0)}),
    "v0.slice": Record(
        call={"input_": DATA, "begin": ("integers, or ints", [1, 0]), "size": ("ints", [2, -1])}
    ),
    "v0.split": Record(call={"split_dim": ("int", 0), "num_split": ("int", 2), "value": DATA}),
    "v0.tile": Record(call={"input": DATA, "multiples": ("ints", [1, 2])}),
    "v0.pad": Record(
        call={
            "tensor": DATA,
            "paddings": ("pairs, [rank, 2]", [[0, 1], [1, 0]]),
            "mode": ("word, one of CONSTANT, REFLECT, SYMMETRIC", "CONSTANT"),
        }
    ),
    "v0.concat": Record(
        call={"concat_dim": ("int, or a list of one", 0), "values": ("arrays", [X, X])}
    ),
    "v0.concat_v2": Record(
        call={"values": ("arrays", [X, X]), "axis": ("int, or a list of one", 0)}
    ),
    "v0.split_v": Record(
        call={
            "value": DATA,
            "size_splits": ("ints, int or ints", [1, -1]),
            "split_dim": ("int, or a list of one", 0),
            "num": ("int", 2),
        }
    ),
    "v0.pack": Record(call={"values": ("arrays", [X, X]), "axis": ("int", 0)}),
    "v0.stack": Record(call={"values": ("arrays", [X, X]), "axis": ("int", 0)}),
    "v0.parallel_stack": Record(call={"values": ("arrays", [X, X])}),
    "v0.unpack": Record(call={"value": DATA, "num": ("int", 4), "axis": ("int", 0)}),
    "v0.unstack": Record(call={"value": DATA, "num": ("int", 4), "axis": ("int", 0)}),
    "v0.reverse_sequence": Record(
        call={
            "input": DATA,
            "seq_lengths": ("integers", [1, 2, 3, 0]),
            "seq_dim": ("int", 1),
            "batch_dim": ("int", 0),
        }
    ),
    "v0.reverse": Record(
        call={"tensor": ANYTHING, "dims": ("bools, own", np.array([False, True]))}
    ),
    "v0.reverse_v2": Record(call={"tensor": DATA, "axis": ("ints", [1, 0])}),
    "v0.transpose": Record(call={"a": DATA, "perm": ("ints", [1, 0])}),
    "v0.extract_image_patches": Record(
        call={
            "images": ("data", IMAGES),
            "padding": ("word, one of VALID, SAME", "SAME"),
            "ksizes": ("ints", [1, 2, 2, 1]),
            "strides": ("ints", [1, 1, 1, 1]),
            "rates": ("ints", [1, 1, 1, 1]),
        }
    ),
    "v0.space_to_batch": Record(
        call={"input": ("data, anything", IMAGES), "paddings": PADS, "block_size": ("int", 2)}
    ),
    "v0.batch_to_space": Record(
        call={"input": ("data, anything", IMAGES), "crops": PADS, "block_size": ("int", 2)}
    ),
    "v0.space_to_depth": Record(call={"input": ("data", IMAGES), "block_size": ("int", 2)}),
    "v0.depth_to_space": Record(call={"input": ("data", IMAGES), "block_size": ("int", 2)}),
    "v0.gather": Record(
        call={
            "params": DATA,
            "indices": ("integers", NUMBERS),
            "validate_indices": ("word, bool", True),
        }
    ),
    "v0.gather_nd": Record(call={"params": DATA, "indices": ("integers", [[1, 2]])}),
    "v0.dynamic_partition": Record(
        call={"data": DATA, "partitions": ("integers", NUMBERS), "num_partitions": ("int", 3)}
    ),
    "v0.dynamic_stitch": Record(
        call={
            "indices": ("indices", [NUMBERS[:2], NUMBERS[2:]]),
            "data": ("arrays", [X[:2], X[2:]]),
        }
    ),
    "v0.sequence_mask": Record(
        call={
            "lengths": ("integers", NUMBERS),
            "maxlen": ("int", 3),
            "dtype": ("dtype", "int32"),
        }
    ),
    "v0.where": Record(call={"input": MASK}),
    "v0.select": Record(call={"condition": MASK, "t": DATA, "e": ("data", X + 1)}),
    "v0.boolean_mask": Record(call={"tensor": DATA, "mask": MASK}),
    "v0.invert_permutation": Record(call={"x": ("integers", np.array([2, 0, 3, 1]))}),
    "v0.one_hot": Record(call={arg: x for arg, x in one_hot.CALL.items() if arg != "mode"}),
    "v0.unique": Record(call={"x": ("integers, data", NUMBERS), "out_idx": OF_INDICES}),
    "v0.unique_with_counts": Record(call={"x": ("integers, data", NUMBERS), "out_idx": OF_INDICES}),
    "v0.listdiff": Record(call={**LISTS, "out_idx": OF_INDICES}),
    "v0.setdiff1d": Record(call={**LISTS, "index_dtype": OF_INDICES}),
    "v0.scatter_nd": Record(
        call={
            "indices": ("integers", [[1], [2]]),
            "updates": ("data", X[:2]),
            "shape": ("ints", [4, 3]),
        }
    ),
    "v0.strided_slice": Record(
        call={
            arg: kind
            for arg, kind in strided_slice.RECORDS["strided_slice"].call.items()
            if arg not in FILL
        }
    ),
    "v0.space_to_batch_nd": Record(
        call={"input": ("data", IMAGES), "block_shape": ("ints", [2, 2]), "paddings": PADS}
    ),
    "v0.batch_to_space_nd": Record(
        call={
            "input": ("data", IMAGES),
            "block_shape": ("ints, int or ints", [2, 2]),
            "crops": PADS,
        }
    ),
    "v0.required_space_to_batch_paddings": Record(
        call={
            "input_shape": ("ints", [5, 6]),
            "block_shape": ("ints", [2, 4]),
            "base_paddings": ("pairs, [2, 2]", [[0, 0], [0, 0]]),
        }
    ),
    "v0.stop_gradient": Record(call={"input": DATA}),
    "v0.matrix_band_part": Record(
        call={
            "input": NO_STRINGS,
            "num_lower": ("int, or traced", 1),
            "num_upper": ("int, or traced", 0),
        }
    ),
    "v0.diag": Record(call={"diagonal": NO_STRINGS}),
    "v0.diag_part": Record(call={"input": ("data, no strings", X[:3])}),
    "v0.matrix_diag": Record(call={"diagonal": NO_STRINGS}),
    "v0.matrix_diag_part": Record(call={"input": NO_STRINGS}),
    "v0.matrix_set_diag": Record(
        call={"input": NO_STRINGS, "diagonal": ("data, no strings", X[0] + 1)}
    ),
    "v0.matrix_transpose": Record(call={"a": DATA}),
    **{
        f"v0.segment_{kind}": Record(call={"data": ONLY_NUMBERS, "segment_ids": segments.SORTED})
        for kind in ("sum", "mean", "prod", "min", "max")
    },
    **{
        f"v0.sparse_segment_{kind}": Record(
            call={
                "data": ONLY_NUMBERS,
                "indices": ("integers", NUMBERS),
                "segment_ids": segments.SORTED,
            }
        )
        for kind in ("sum", "mean", "sqrt_n")
    },
    "v0.unsorted_segment_sum": Record(
        call={
            "data": ONLY_NUMBERS,
            "segment_ids": ("integers", NUMBERS),
            "num_segments": ("int", 3),
        }
    ),
    "v0.fill": Record(call={"dims": ("ints", [2, 3]), "value": ("scalar, or text", 7.0)}),
    "v0.range": Record(
        call={
            "start": ("int, number", 2),
            "limit": ("int, number", 8),
            "delta": ("int, number", 3),
            "dtype": ("dtype", "int32"),
        }
    ),
    "v0.meshgrid": Record(
        call={"args": ("arrays", [X[0], X[1, :2]]), "indexing": ("word, one of xy, ij", "ij")}
    ),
}
