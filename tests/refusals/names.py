"""Refused calls: `name` of a wrong type, for every function that takes one."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import numpy as np

import jaxops
from jaxops.compat import v0
from refusals.values import IMAGES, NO_PADS, WINDOW, I, U, X, in_x64

CALLS = {
    "gather-name-int": (
        lambda: jaxops.gather(X, 0, name=3), TypeError, "gather: name must be a str; received 3"),
    "batch_gather-name-bool": (
        lambda: jaxops.batch_gather(X, [0], name=True), TypeError, "batch_gather: name must be a str; received True"),
    "gather_nd-name-list": (
        lambda: jaxops.gather_nd(X, [[0]], name=["a"]), TypeError, "gather_nd: name must be a str; received ['a']"),
    "scatter_nd-name-bytes": (
        lambda: jaxops.scatter_nd(I, U, [4, 3], name=b"a"), TypeError, "scatter_nd: name must be a str; received b'a'"),
    "tensor_scatter_nd_add-name-float": (
        lambda: jaxops.tensor_scatter_nd_add(X, I, U, name=1.5), TypeError, "tensor_scatter_nd_add: name must be a str; received 1.5"),
    "tensor_scatter_nd_sub-name-array": (
        lambda: jaxops.tensor_scatter_nd_sub(X, I, U, name=X), TypeError, "tensor_scatter_nd_sub: name must be a str; received"),
    "tensor_scatter_nd_min-name-dict": (
        lambda: jaxops.tensor_scatter_nd_min(X, I, U, name={}), TypeError, "tensor_scatter_nd_min: name must be a str; received {}"),
    "tensor_scatter_nd_max-name-int": (
        lambda: jaxops.tensor_scatter_nd_max(X, I, U, name=3), TypeError, "tensor_scatter_nd_max: name must be a str; received 3"),
    "tensor_scatter_nd_update-name-bool": (
        lambda: jaxops.tensor_scatter_nd_update(X, I, U, name=True), TypeError, "tensor_scatter_nd_update: name must be a str; received True"),
    "slice-name-list": (
        lambda: jaxops.slice(X, [0, 0], [1, 1], name=["a"]), TypeError, "slice: name must be a str; received ['a']"),
    "strided_slice-name-bytes": (
        lambda: jaxops.strided_slice(X, [0], [1], name=b"a"), TypeError, "strided_slice: name must be a str; received b'a'"),
    "string_to_number-name-float": (
        lambda: jaxops.string_to_number("1", name=1.5), TypeError, "string_to_number: name must be a str; received 1.5"),
    "cast-name-array": (
        lambda: jaxops.cast(X, np.int32, name=X), TypeError, "cast: name must be a str; received"),
    "saturate_cast-name-dict": (
        lambda: jaxops.saturate_cast(X, np.int32, name={}), TypeError, "saturate_cast: name must be a str; received {}"),
    "bitcast-name-int": (
        lambda: jaxops.bitcast(X, np.int32, name=3), TypeError, "bitcast: name must be a str; received 3"),
    "to_float-name-bool": (
        lambda: jaxops.to_float(X, name=True), TypeError, "to_float: name must be a str; received True"),
    "to_bfloat16-name-list": (
        lambda: jaxops.to_bfloat16(X, name=["a"]), TypeError, "to_bfloat16: name must be a str; received ['a']"),
    "to_int32-name-bytes": (
        lambda: jaxops.to_int32(X, name=b"a"), TypeError, "to_int32: name must be a str; received b'a'"),
    "to_double-name-float": (
        lambda: in_x64(jaxops.to_double, X, name=1.5), TypeError, "to_double: name must be a str; received 1.5"),
    "to_int64-name-array": (
        lambda: in_x64(jaxops.to_int64, X, name=X), TypeError, "to_int64: name must be a str; received"),
    "shape-name-dict": (
        lambda: jaxops.shape(X, name={}), TypeError, "shape: name must be a str; received {}"),
    "shape_n-name-int": (
        lambda: jaxops.shape_n([X], name=3), TypeError, "shape_n: name must be a str; received 3"),
    "size-name-bool": (
        lambda: jaxops.size(X, name=True), TypeError, "size: name must be a str; received True"),
    "rank-name-list": (
        lambda: jaxops.rank(X, name=["a"]), TypeError, "rank: name must be a str; received ['a']"),
    "reshape-name-bytes": (
        lambda: jaxops.reshape(X, [12], name=b"a"), TypeError, "reshape: name must be a str; received b'a'"),
    "squeeze-name-float": (
        lambda: jaxops.squeeze(X, name=1.5), TypeError, "squeeze: name must be a str; received 1.5"),
    "expand_dims-name-array": (
        lambda: jaxops.expand_dims(X, 0, name=X), TypeError, "expand_dims: name must be a str; received"),
    "transpose-name-dict": (
        lambda: jaxops.transpose(X, name={}), TypeError, "transpose: name must be a str; received {}"),
    "split-name-int": (
        lambda: jaxops.split(X, 2, name=3), TypeError, "split: name must be a str; received 3"),
    "concat-name-bool": (
        lambda: jaxops.concat([X, X], 0, name=True), TypeError, "concat: name must be a str; received True"),
    "stack-name-list": (
        lambda: jaxops.stack([X, X], name=["a"]), TypeError, "stack: name must be a str; received ['a']"),
    "unstack-name-bytes": (
        lambda: jaxops.unstack(X, name=b"a"), TypeError, "unstack: name must be a str; received b'a'"),
    "tile-name-float": (
        lambda: jaxops.tile(X, [1, 2], name=1.5), TypeError, "tile: name must be a str; received 1.5"),
    "pad-name-array": (
        lambda: jaxops.pad(X, [[1, 1], [1, 1]], name=X), TypeError, "pad: name must be a str; received"),
    "reverse-name-dict": (
        lambda: jaxops.reverse(X, [0], name={}), TypeError, "reverse: name must be a str; received {}"),
    "reverse_sequence-name-int": (
        lambda: jaxops.reverse_sequence(X, [1] * 4, 1, name=3), TypeError, "reverse_sequence: name must be a str; received 3"),
    "extract_image_patches-name-bool": (
        lambda: jaxops.extract_image_patches(IMAGES, *WINDOW, "VALID", name=True), TypeError, "extract_image_patches: name must be a str; received True"),
    "extract_patches-name-list": (
        lambda: jaxops.extract_patches(IMAGES, *WINDOW, "VALID", name=["a"]), TypeError, "extract_patches: name must be a str; received ['a']"),
    "space_to_batch-name-bytes": (
        lambda: jaxops.space_to_batch(IMAGES, [2, 2], NO_PADS, name=b"a"), TypeError, "space_to_batch: name must be a str; received b'a'"),
    "space_to_batch_nd-name-float": (
        lambda: jaxops.space_to_batch_nd(IMAGES, [2, 2], NO_PADS, name=1.5), TypeError, "space_to_batch_nd: name must be a str; received 1.5"),
    "batch_to_space-name-array": (
        lambda: jaxops.batch_to_space(IMAGES, [2, 2], NO_PADS, name=X), TypeError, "batch_to_space: name must be a str; received"),
    "batch_to_space_nd-name-dict": (
        lambda: jaxops.batch_to_space_nd(IMAGES, [2, 2], NO_PADS, name={}), TypeError, "batch_to_space_nd: name must be a str; received {}"),
    "space_to_depth-name-int": (
        lambda: jaxops.space_to_depth(IMAGES, 2, name=3), TypeError, "space_to_depth: name must be a str; received 3"),
    "depth_to_space-name-bool": (
        lambda: jaxops.depth_to_space(IMAGES, 2, name=True), TypeError, "depth_to_space: name must be a str; received True"),
    "dynamic_partition-name-list": (
        lambda: jaxops.dynamic_partition(X, [0] * 4, 2, name=["a"]), TypeError, "dynamic_partition: name must be a str; received ['a']"),
    "dynamic_stitch-name-bytes": (
        lambda: jaxops.dynamic_stitch([[0]], [X[:1]], name=b"a"), TypeError, "dynamic_stitch: name must be a str; received b'a'"),
    "boolean_mask-name-float": (
        lambda: jaxops.boolean_mask(X, [True] * 4, name=1.5), TypeError, "boolean_mask: name must be a str; received 1.5"),
    "one_hot-name-array": (
        lambda: jaxops.one_hot([0], 3, name=X), TypeError, "one_hot: name must be a str; received"),
    "unique-name-dict": (
        lambda: jaxops.unique([1], name={}), TypeError, "unique: name must be a str; received {}"),
    "unique_with_counts-name-int": (
        lambda: jaxops.unique_with_counts([1], name=3), TypeError, "unique_with_counts: name must be a str; received 3"),
    "v0.string_to_number-name-bool": (
        lambda: v0.string_to_number("1", name=True), TypeError, "string_to_number: name must be a str; received True"),
    "v0.to_double-name-list": (
        lambda: in_x64(v0.to_double, X, name=["a"]), TypeError, "to_double: name must be a str; received ['a']"),
    "v0.to_float-name-bytes": (
        lambda: v0.to_float(X, name=b"a"), TypeError, "to_float: name must be a str; received b'a'"),
    "v0.to_bfloat16-name-float": (
        lambda: v0.to_bfloat16(X, name=1.5), TypeError, "to_bfloat16: name must be a str; received 1.5"),
    "v0.to_int32-name-array": (
        lambda: v0.to_int32(X, name=X), TypeError, "to_int32: name must be a str; received"),
    "v0.to_int64-name-dict": (
        lambda: in_x64(v0.to_int64, X, name={}), TypeError, "to_int64: name must be a str; received {}"),
    "v0.cast-name-int": (
        lambda: v0.cast(X, np.int32, name=3), TypeError, "cast: name must be a str; received 3"),
    "v0.saturate_cast-name-bool": (
        lambda: v0.saturate_cast(X, np.int32, name=True), TypeError, "saturate_cast: name must be a str; received True"),
    "v0.bitcast-name-list": (
        lambda: v0.bitcast(X, np.int32, name=["a"]), TypeError, "bitcast: name must be a str; received ['a']"),
    "v0.shape-name-bytes": (
        lambda: v0.shape(X, name=b"a"), TypeError, "shape: name must be a str; received b'a'"),
    "v0.shape_n-name-float": (
        lambda: v0.shape_n([X], name=1.5), TypeError, "shape_n: name must be a str; received 1.5"),
    "v0.size-name-array": (
        lambda: v0.size(X, name=X), TypeError, "size: name must be a str; received"),
    "v0.rank-name-dict": (
        lambda: v0.rank(X, name={}), TypeError, "rank: name must be a str; received {}"),
    "v0.reshape-name-int": (
        lambda: v0.reshape(X, [12], name=3), TypeError, "reshape: name must be a str; received 3"),
    "v0.squeeze-name-bool": (
        lambda: v0.squeeze(X, name=True), TypeError, "squeeze: name must be a str; received True"),
    "v0.expand_dims-name-list": (
        lambda: v0.expand_dims(X, 0, name=["a"]), TypeError, "expand_dims: name must be a str; received ['a']"),
    "v0.slice-name-bytes": (
        lambda: v0.slice(X, [0, 0], [1, 1], name=b"a"), TypeError, "slice: name must be a str; received b'a'"),
    "v0.split-name-float": (
        lambda: v0.split(0, 2, X, name=1.5), TypeError, "split: name must be a str; received 1.5"),
    "v0.tile-name-array": (
        lambda: v0.tile(X, [1, 2], name=X), TypeError, "tile: name must be a str; received"),
    "v0.pad-name-dict": (
        lambda: v0.pad(X, [[1, 1], [1, 1]], name={}), TypeError, "pad: name must be a str; received {}"),
    "v0.concat-name-int": (
        lambda: v0.concat(0, [X, X], name=3), TypeError, "concat: name must be a str; received 3"),
    "v0.pack-name-bool": (
        lambda: v0.pack([X, X], name=True), TypeError, "pack: name must be a str; received True"),
    "v0.unpack-name-list": (
        lambda: v0.unpack(X, name=["a"]), TypeError, "unpack: name must be a str; received ['a']"),
    "v0.reverse_sequence-name-bytes": (
        lambda: v0.reverse_sequence(X, [1] * 4, 1, name=b"a"), TypeError, "reverse_sequence: name must be a str; received b'a'"),
    "v0.reverse-name-float": (
        lambda: v0.reverse(X, [True, False], name=1.5), TypeError, "reverse: name must be a str; received 1.5"),
    "v0.transpose-name-array": (
        lambda: v0.transpose(X, name=X), TypeError, "transpose: name must be a str; received"),
    "v0.extract_image_patches-name-dict": (
        lambda: v0.extract_image_patches(IMAGES, "VALID", *WINDOW, name={}), TypeError, "extract_image_patches: name must be a str; received {}"),
    "v0.space_to_batch-name-int": (
        lambda: v0.space_to_batch(IMAGES, NO_PADS, 2, name=3), TypeError, "space_to_batch: name must be a str; received 3"),
    "v0.batch_to_space-name-bool": (
        lambda: v0.batch_to_space(IMAGES, NO_PADS, 2, name=True), TypeError, "batch_to_space: name must be a str; received True"),
    "v0.space_to_depth-name-list": (
        lambda: v0.space_to_depth(IMAGES, 2, name=["a"]), TypeError, "space_to_depth: name must be a str; received ['a']"),
    "v0.depth_to_space-name-bytes": (
        lambda: v0.depth_to_space(IMAGES, 2, name=b"a"), TypeError, "depth_to_space: name must be a str; received b'a'"),
    "v0.gather-name-float": (
        lambda: v0.gather(X, 0, name=1.5), TypeError, "gather: name must be a str; received 1.5"),
    "v0.gather_nd-name-array": (
        lambda: v0.gather_nd(X, [[0]], name=X), TypeError, "gather_nd: name must be a str; received"),
    "v0.dynamic_partition-name-dict": (
        lambda: v0.dynamic_partition(X, [0] * 4, 2, name={}), TypeError, "dynamic_partition: name must be a str; received {}"),
    "v0.dynamic_stitch-name-int": (
        lambda: v0.dynamic_stitch([[0]], [X[:1]], name=3), TypeError, "dynamic_stitch: name must be a str; received 3"),
    "v0.boolean_mask-name-bool": (
        lambda: v0.boolean_mask(X, [True] * 4, name=True), TypeError, "boolean_mask: name must be a str; received True"),
    "v0.one_hot-name-list": (
        lambda: v0.one_hot([0], 3, name=["a"]), TypeError, "one_hot: name must be a str; received ['a']"),
    "v0.unique_with_counts-name-bytes": (
        lambda: v0.unique_with_counts([1], name=b"a"), TypeError, "unique_with_counts: name must be a str; received b'a'"),
}  # fmt: skip
