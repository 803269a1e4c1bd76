"""What is known of the functions of `_sparse`, and of gradients that hold IndexedSlices."""

from records.arguments import MODE, SIZE, X
from records.record import Record

GRADS = ("grads", {"w": X})
SLICES = {
    "values": ("data, numbers", X[:2]),
    "indices": ("integers", [0, 1]),
    "dense_shape": ("ints", (4, 3)),
}
RECORDS = {
    "clip_by_global_norm": Record(call={"grads": GRADS, "clip_norm": ("scalar, real number", 1.0)}),
    "global_norm": Record(call={"grads": GRADS}),
    "pmean": Record(call={"grads": GRADS, "axis_name": ("word", "batch")}),
    "psum": Record(call={"grads": GRADS, "axis_name": ("word", "batch")}),
    "sum_stacked": Record(call={"grads": GRADS}),
    "IndexedSlices": Record(call=SLICES),
    "IndexedSlices.add_to": Record(call={**SLICES, "dense": ("data, own", X)}),
    "IndexedSlices.sum_duplicates": Record(call={**SLICES, "size": SIZE, "mode": MODE}),
}
