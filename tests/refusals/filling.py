"""Refused calls: fill, broadcast_to, range, stop_gradient and guarantee_const."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import numpy as np
from jax.export import symbolic_shape

import jaxops
from refusals.values import X

CALLS = {
    "fill-dims-negative": (lambda: jaxops.fill([2, -1], 1), ValueError, "must have no negative component; received (2, -1)"),
    "fill-layout-word": (lambda: jaxops.fill([2], 1, layout="x"), TypeError, "must be None; received 'x'"),
    "broadcast_to-shape-other": (lambda: jaxops.broadcast_to(X, [3, 2]), ValueError, "must be one that input, of shape (4, 3), broadcasts to; received (3, 2)"),
    "broadcast_to-shape-short": (lambda: jaxops.broadcast_to(X, [2]), ValueError, "must be one that input, of shape (4, 3), broadcasts to; received (2,)"),
    "broadcast_to-shape-negative": (lambda: jaxops.broadcast_to(X, [-1, 4, 3]), ValueError, "must be one that input, of shape (4, 3), broadcasts to; received (-1, 4, 3)"),
    "broadcast_to-shape-minus-one": (lambda: jaxops.broadcast_to(X[:1], [-1, 3]), ValueError, "must be one that input, of shape (1, 3), broadcasts to; received (-1, 3)"),
    "range-start-uint8": (lambda: jaxops.range(np.uint8(3)), TypeError, "must be of int32, int64, float16, bfloat16, float32, float64 where no dtype is given; received uint8"),
    "range-limit-before": (lambda: jaxops.range(3, 1), ValueError, "must not lie on the other side of start; received start=3, limit=1, delta=1"),
    "range-limit-nan": (lambda: jaxops.range(0.0, np.nan), ValueError, "must not lie on the other side of start; received start=0.0, limit=nan, delta=1.0"),
    "range-limit-infinite": (lambda: jaxops.range(0.0, np.inf), ValueError, "must be finite; received start=0.0, limit=inf"),
    "range-start-infinite": (lambda: jaxops.range(-np.inf, 1.0), ValueError, "must be finite; received start=-inf, limit=1.0, delta=1.0"),
    "range-limit-far": (lambda: jaxops.range(0, 1e30), ValueError, "must be fewer than 2**63 steps from start; received start=0.0, limit=1.0000000150474662e+30, delta=1.0"),
    "range-limit-beyond-memory": (lambda: jaxops.range(0, 1e18), ValueError, "must make arrays of less than 2**56 bytes"),
    "range-delta-0": (lambda: jaxops.range(3, 5, 0), ValueError, "must not be 0; received 0"),
    "range-dtype-of-floats-symbolic": (
        lambda: jaxops.range(*symbolic_shape("n"), dtype="float32"), TypeError, "dtype must be of integers for symbolic numbers; received float32"),
    "range-dtype-bool": (lambda: jaxops.range(3, dtype=bool), TypeError, "must be of integers or real floats; received bool"),
    "range-dtype-of-other-numbers": (lambda: jaxops.range(0.5, 3, dtype=np.int32), ValueError, "range: start must fit dtype int32; received 0.5"),
    "range-dtype-narrow": (lambda: jaxops.range(0, 300, dtype=np.uint8), ValueError, "range: limit must fit dtype uint8; received 300"),
}  # fmt: skip
