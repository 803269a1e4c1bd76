"""Refused calls: what 32 bits do not count. Only traced, as no memory holds the arrays."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import jax.numpy as jnp
import numpy as np

import jaxops

LONG = 2**31 + 7
TOO_LONG = 2**32 + 7


def traced(function, length):
    return jax.eval_shape(function, jax.ShapeDtypeStruct((length,), np.int8))


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
    "unique-x-beyond-32-bits": (lambda: traced(lambda x: jaxops.unique(x, size=1), LONG), ValueError, "must have at most 2146435072 elements in compiled code; received 2147483655"),
    "dynamic_partition-partitions-beyond-32-bits": (
        lambda: traced(lambda x: jaxops.dynamic_partition(x, x, 2, size=1), LONG), ValueError, "must have at most 2146435072 elements in compiled code; received 2147483655"),
    "dynamic_stitch-indices-beyond-32-bits": (
        lambda: traced(lambda x: jaxops.dynamic_stitch([x], [x], size=1), LONG), ValueError, "must have at most 2146435072 elements in compiled code; received 2147483655"),
}  # fmt: skip
