"""What is known of the functions of `compat/v0.py`."""

import numpy as np

from records import one_hot
from records.record import DATA, IMAGES, MASK, NUMBERS, PADS, Record, X

CAST = {"x": DATA}
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
    "v0.saturate_cast": Record(call={"value": DATA, "dtype": ("dtype", "int32")}),
    "v0.bitcast": Record(call={"input": DATA, "type": ("dtype", "int32")}),
    "v0.shape": Record(call={"input": DATA}),
    "v0.shape_n": Record(call={"input": ("arrays", [X, X])}),
    "v0.size": Record(call={"input": DATA}),
    "v0.rank": Record(call={"input": DATA}),
    "v0.reshape": Record(call={"tensor": DATA, "shape": ("ints", [3, 4])}),
    "v0.squeeze": Record(call={"input": ("data", X[:1]), "squeeze_dims": ("ints", [0])}),
    "v0.expand_dims": Record(call={"input": DATA, "dim": ("int", 0)}),
    "v0.slice": Record(
        call={"input_": DATA, "begin": ("integers", [1, 0]), "size": ("ints", [2, -1])}
    ),
    "v0.split": Record(call={"split_dim": ("int", 0), "num_split": ("int", 2), "value": DATA}),
    "v0.tile": Record(call={"input": DATA, "multiples": ("ints", [1, 2])}),
    "v0.pad": Record(
        call={"tensor": DATA, "paddings": ("pairs", [[0, 1], [1, 0]]), "mode": ("word", "CONSTANT")}
    ),
    "v0.concat": Record(call={"concat_dim": ("int", 0), "values": ("arrays", [X, X])}),
    "v0.pack": Record(call={"values": ("arrays", [X, X])}),
    "v0.unpack": Record(call={"value": DATA, "num": ("int", 4)}),
    "v0.reverse_sequence": Record(
        call={
            "input": DATA,
            "seq_lengths": ("integers", [1, 2, 3, 0]),
            "seq_dim": ("int", 1),
            "batch_dim": ("int", 0),
        }
    ),
    "v0.reverse": Record(call={"tensor": DATA, "dims": ("bools", np.array([False, True]))}),
    "v0.transpose": Record(call={"a": DATA, "perm": ("ints", [1, 0])}),
    "v0.extract_image_patches": Record(
        call={
            "images": ("data", IMAGES),
            "padding": ("word", "SAME"),
            "ksizes": ("ints", [1, 2, 2, 1]),
            "strides": ("ints", [1, 1, 1, 1]),
            "rates": ("ints", [1, 1, 1, 1]),
        }
    ),
    "v0.space_to_batch": Record(
        call={"input": ("data", IMAGES), "paddings": PADS, "block_size": ("int", 2)}
    ),
    "v0.batch_to_space": Record(
        call={"input": ("data", IMAGES), "crops": PADS, "block_size": ("int", 2)}
    ),
    "v0.space_to_depth": Record(call={"input": ("data", IMAGES), "block_size": ("int", 2)}),
    "v0.depth_to_space": Record(call={"input": ("data", IMAGES), "block_size": ("int", 2)}),
    "v0.gather": Record(
        call={"params": DATA, "indices": ("integers", NUMBERS), "validate_indices": ("word", True)}
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
    "v0.boolean_mask": Record(call={"tensor": DATA, "mask": MASK}),
    "v0.one_hot": Record(call=one_hot.CALL),
    "v0.unique_with_counts": Record(call={"x": ("integers", NUMBERS)}),
}
