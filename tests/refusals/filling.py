"""Refused calls: fill, broadcast_to, range, stop_gradient and guarantee_const."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false

import jax
import numpy as np

import jaxops
from refusals.values import X

CALLS = {
    "fill-dims-negative": (
        lambda: jaxops.fill([2, -1], 1),
        ValueError,
        "fill: dims must have no negative component; received (2, -1)",
    ),
    "fill-dims-float": (
        lambda: jaxops.fill([2.0], 1),
        TypeError,
        "fill: dims must be a one-dimensional sequence of ints; received [2.0]",
    ),
    "fill-dims-matrix": (
        lambda: jaxops.fill([[2]], 1),
        ValueError,
        "fill: dims must be a one-dimensional sequence of ints; received [[2]]",
    ),
    "fill-dims-traced": (
        lambda: jax.jit(lambda n: jaxops.fill([n], 1))(2),
        TypeError,
        "fill: dims must be static; received a list with a traced value in it",
    ),
    "fill-value-vector": (
        lambda: jaxops.fill([2], [1, 2]),
        ValueError,
        "fill: value must be a scalar; received shape (2,)",
    ),
    "fill-value-none": (
        lambda: jaxops.fill([2], None),
        TypeError,
        "fill: value must be an array of numbers or bools; received None",
    ),
    "fill-layout-word": (
        lambda: jaxops.fill([2], 1, layout="x"),
        TypeError,
        "fill: layout must be None; received 'x'",
    ),
    "broadcast_to-input-none": (
        lambda: jaxops.broadcast_to(None, [2]),
        TypeError,
        "broadcast_to: input must be an array of numbers or bools; received None",
    ),
    "broadcast_to-shape-other": (
        lambda: jaxops.broadcast_to(X, [3, 2]),
        ValueError,
        "broadcast_to: shape must be one that input, of shape (4, 3), broadcasts to; received (3, 2)",
    ),
    "broadcast_to-shape-short": (
        lambda: jaxops.broadcast_to(X, [2]),
        ValueError,
        "broadcast_to: shape must be one that input, of shape (4, 3), broadcasts to; received (2,)",
    ),
    "broadcast_to-shape-negative": (
        lambda: jaxops.broadcast_to(X, [-1, 4, 3]),
        ValueError,
        "broadcast_to: shape must be one that input, of shape (4, 3), broadcasts to; received (-1, 4, 3)",
    ),
    "broadcast_to-shape-minus-one": (
        lambda: jaxops.broadcast_to(X[:1], [-1, 3]),
        ValueError,
        "broadcast_to: shape must be one that input, of shape (1, 3), broadcasts to; received (-1, 3)",
    ),
    "broadcast_to-shape-traced": (
        lambda: jax.jit(lambda n: jaxops.broadcast_to(1, n))(np.array([2])),
        TypeError,
        "broadcast_to: shape must be static; received a traced array of shape (1,)",
    ),
    "range-start-traced": (
        lambda: jax.jit(jaxops.range)(3),
        TypeError,
        "range: start must be static; received a traced array of shape ()",
    ),
    "range-start-word": (
        lambda: jaxops.range("3"),
        TypeError,
        "range: start must be a static number; received '3'",
    ),
    "range-start-bool": (
        lambda: jaxops.range(True),
        TypeError,
        "range: start must be a static number; received True",
    ),
    "range-start-vector": (
        lambda: jaxops.range([3]),
        TypeError,
        "range: start must be a static number; received [3]",
    ),
    "range-start-uint8": (
        lambda: jaxops.range(np.uint8(3)),
        TypeError,
        "range: start must be of int32, int64, float16, bfloat16, float32, float64 where no dtype is given; received uint8",
    ),
    "range-limit-before": (
        lambda: jaxops.range(3, 1),
        ValueError,
        "range: limit must not lie on the other side of start; received start=3, limit=1, delta=1",
    ),
    "range-limit-nan": (
        lambda: jaxops.range(0.0, np.nan),
        ValueError,
        "range: limit must not lie on the other side of start; received start=0.0, limit=nan, delta=1.0",
    ),
    "range-limit-infinite": (
        lambda: jaxops.range(0.0, np.inf),
        ValueError,
        "range: limit must be finite; received start=0.0, limit=inf",
    ),
    "range-start-infinite": (
        lambda: jaxops.range(-np.inf, 1.0),
        ValueError,
        "range: start must be finite; received start=-inf, limit=1.0, delta=1.0",
    ),
    "range-limit-far": (
        lambda: jaxops.range(0, 1e30),
        ValueError,
        "range: limit must be fewer than 2**63 steps from start; received start=0.0, limit=1.0000000150474662e+30, delta=1.0",
    ),
    "range-limit-beyond-memory": (
        lambda: jaxops.range(0, 1e18),
        ValueError,
        "range: limit must make arrays of less than 2**56 bytes",
    ),
    "range-delta-0": (
        lambda: jaxops.range(3, 5, 0),
        ValueError,
        "range: delta must not be 0; received 0",
    ),
    "range-delta-none": (
        lambda: jaxops.range(3, 5, None),
        TypeError,
        "range: delta must be a static number; received None",
    ),
    "range-dtype-bool": (
        lambda: jaxops.range(3, dtype=bool),
        TypeError,
        "range: dtype must be of integers or real floats; received bool",
    ),
    "range-dtype-of-other-numbers": (
        lambda: jaxops.range(0.5, 3, dtype=np.int32),
        ValueError,
        "range: start must fit dtype int32; received 0.5",
    ),
    "range-dtype-narrow": (
        lambda: jaxops.range(0, 300, dtype=np.uint8),
        ValueError,
        "range: limit must fit dtype uint8; received 300",
    ),
    "stop_gradient-input-none": (
        lambda: jaxops.stop_gradient(None),
        TypeError,
        "stop_gradient: input must be an array of numbers or bools; received None",
    ),
    "guarantee_const-input-ragged": (
        lambda: jaxops.guarantee_const([[1], [2, 3]]),
        ValueError,
        "guarantee_const: input must be an array or nested lists of equal lengths; received [[1], [2, 3]]",
    ),
}
