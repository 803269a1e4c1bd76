"""Refused calls: what 32 bits do not count, and empty arrays of which a product passes 2**63."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import jax.numpy as jnp
import numpy as np
from records import operation

import jaxops
from jaxops.compat import v0

LONG = 2**31 + 7
TOO_LONG = 2**32 + 7


def traced(function, *shape):
    """Without the memory for such an array."""
    return jax.eval_shape(function, jax.ShapeDtypeStruct(shape, np.int8))


CALLS = {
    "gather-indices-of-both-signs-beyond-32-bits": (
        lambda: traced(lambda x: jaxops.gather(x, np.array([-1, 2**31])), LONG), ValueError, 'gather: indices holds values that do not fit uint32, with a dimension of 2147483655 to index; switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "gather-indices-beyond-uint32": (
        lambda: traced(lambda x: jaxops.gather(x, [2**32]), TOO_LONG), ValueError, 'gather: indices holds values that do not fit uint32, with a dimension of 4294967303 to index; switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "gather-indices-uint32-in-a-list": (
        lambda: traced(lambda x: jaxops.gather(x, [jnp.uint32(2**31), jnp.int32(-1)]), LONG), ValueError, 'gather: uint32 indices must come as one array, not in a list, where a dimension is longer than int32 counts, 2147483655; or switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "gather-mode-wrap-beyond-32-bits": (
        lambda: traced(lambda x: jaxops.gather(x, jnp.array([-1]), mode="wrap"), TOO_LONG), ValueError, 'gather: positions among 4294967303 take 64 bits in indices; jax.config.update("jax_enable_x64", True) switches them on'),
    "strided_slice-begin-uint32-in-a-list": (
        lambda: traced(lambda x: jaxops.strided_slice(x[None], [jnp.int32(0), jnp.uint32(2**31)], [0, 0], shrink_axis_mask=3), LONG), ValueError, 'strided_slice: uint32 indices must come as one array, not in a list, where a dimension is longer than int32 counts, 2147483655; or switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "scatter_nd-deterministic-beyond-32-bits": (
        lambda: traced(lambda x: jaxops.scatter_nd(jnp.array([[0]]), x[:1], [LONG], deterministic=True), LONG), ValueError, 'scatter_nd: deterministic=True: 2147483655 rows take 64-bit row numbers; jax.config.update("jax_enable_x64", True) switches them on'),
    "boolean_mask-mask-beyond-32-bits": (lambda: traced(lambda x: jaxops.boolean_mask(x, x, size=1), LONG), ValueError, "must have at most 2146435072 elements in compiled code; received 2147483655"),
    **{
        f"RaggedTensor.from_tensor-{nrows}-rows-beyond-32-bits": (
            lambda shape=(nrows, ncols): traced(lambda x: jaxops.RaggedTensor.from_tensor(x, size=1).values, *shape), ValueError, f"row_splits_dtype must count {nrows} rows of {ncols} values; received int32; take int64, and switch 64-bit types on")
        for nrows, ncols in [(0, 2**31), (1, LONG), (3, 2**30)]
    },
    "unique-x-beyond-32-bits": (lambda: traced(lambda x: jaxops.unique(x, size=1), LONG), ValueError, "must have at most 2146435072 elements in compiled code; received 2147483655"),
    "dynamic_partition-partitions-beyond-32-bits": (
        lambda: traced(lambda x: jaxops.dynamic_partition(x, x, 2, size=1), LONG), ValueError, "must have at most 2146435072 elements in compiled code; received 2147483655"),
    "dynamic_stitch-indices-beyond-32-bits": (
        lambda: traced(lambda x: jaxops.dynamic_stitch([x], [x], size=1), LONG), ValueError, "must have at most 2146435072 elements in compiled code; received 2147483655"),
}  # fmt: skip


def empty(*shape):
    return jax.device_put(np.zeros(shape, np.float32))  # XLA would walk through it


PADS, WINDOWS = [[0, 0], [0, 0]], ([1, 2**40, 2**40, 1], [1] * 4, [1] * 4)
# Without a refusal these end the process, or show JAX's words. With the arguments that are named.
PRODUCTS = {
    "space_to_batch-block_shape": (lambda: jaxops.space_to_batch(empty(1, 0, 0, 1), [2**31] * 2, PADS), "input and block_shape"),
    "depth_to_space-block_size": (lambda: jaxops.depth_to_space(empty(1, 1, 1, 0), 2**32), "input and block_size"),
    "space_to_depth-block_size": (lambda: jaxops.space_to_depth(empty(1, 0, 0, 4), 2**31), "input and block_size"),
    "extract_patches-sizes": (lambda: jaxops.extract_patches(empty(1, 0, 0, 1), *WINDOWS, "SAME"), "images and sizes"),
    "gather-params": (lambda: jaxops.gather(empty(5, 2**40, 0), np.zeros(2**22 + 1, np.int32)), "params and indices"),
    "gather_nd-indices": (lambda: jaxops.gather_nd(empty(2**40, 0), np.zeros((2**24, 0), np.int32)), "params and indices"),
    "transpose-a": (lambda: jaxops.transpose(jnp.zeros((0, 2**40, 2**40)), [1, 2, 0]), "a"),
    "concat-values": (lambda: jaxops.concat([empty(2**60, 0)] * 2, 0), "values[0] and values[1]"),
    "stack-values": (lambda: jaxops.stack([empty(2**60, 0)] * 16), "values[0] and values[1] and values[2] and 13 more"),
    "boolean_mask-size": (lambda: jaxops.boolean_mask(empty(3, 2**31, 0), [True] * 3, size=2**30), "tensor and mask and size"),
    "dynamic_partition-size": (lambda: jaxops.dynamic_partition(empty(3, 2**31, 0), [0] * 3, 1, size=2**30), "data and partitions and size"),
    "to_float-x": (lambda: jaxops.to_float(empty(2**31 - 1, 0)), "x"),  # nothing to compute, but a copy
    "global_norm-grads": (lambda: jaxops.global_norm({"w": empty(2**31 - 1, 0)}), "gradient 'w'"),
    "sum_stacked-grads": (lambda: jaxops.sum_stacked({"w": jnp.zeros((0, 2**62, 2**62))}), "grads"),
    "v0.space_to_batch-block_size": (lambda: v0.space_to_batch(empty(1, 0, 0, 1), PADS, 2**31), "input and block_size"),
    "v0.extract_image_patches-ksizes": (lambda: v0.extract_image_patches(empty(1, 0, 0, 1), "SAME", *WINDOWS), "images and ksizes"),
    "v0.pack-values": (lambda: v0.pack([empty(2**60, 0)] * 16), "values[0] and values[1] and values[2] and 13 more"),
}  # fmt: skip
CALLS |= {
    f"{case}-beyond-2**63": (call, ValueError, f"{operation(case.split('-')[0])}: {args} must make arrays of less than ")
    for case, (call, args) in PRODUCTS.items()
}  # fmt: skip
