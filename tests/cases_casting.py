"""Calls of the functions of `_ops/casting.py`, `_ops/bitcast.py` and `_ops/string_to_number.py`."""

import jax
import numpy as np
import oracles_casting
from case import Case, floats

import jaxops


def through_case(op, *shape, dtype="complex64"):
    """To `dtype`, which holds all of `x`, and back with `op`."""
    return Case(
        lambda x: op(jaxops.cast(x, dtype)),
        lambda x: oracles_casting.through(x, dtype),
        (floats(*shape),),
    )


def constant_case(make, row):
    """For what has no derivative: a factor made from constants, at trace time too."""

    def op(x):
        with jax.enable_x64(True):
            factors = make()
        return x * jaxops.to_float(factors)

    return Case(op, lambda x: oracles_casting.times_row(x, row), (floats(2, 3),))


CASES = {
    "cast-matrix": through_case(lambda x: jaxops.cast(x, "float32"), 2, 3),
    "cast-empty": through_case(lambda x: jaxops.cast(x, "float32"), 0, 3),
    "cast-int32": constant_case(lambda: jaxops.cast([[2.9, -3.9, 0.5]], "int32"), [2, -3, 0]),
    "saturate_cast-matrix": through_case(lambda x: jaxops.saturate_cast(x, "float32"), 2, 1, 3),
    "saturate_cast-empty": through_case(lambda x: jaxops.saturate_cast(x, "float32"), 0),
    "saturate_cast-uint8": constant_case(
        lambda: jaxops.saturate_cast([[300, -3, 7]], "uint8"), [255, 0, 7]
    ),
    "bitcast-same-size": constant_case(
        lambda: jaxops.bitcast(np.array([[0x3F800000, 0x40000000, 0]], np.int32), "float32"),
        [1, 2, 0],
    ),
    "bitcast-smaller": constant_case(
        lambda: jaxops.bitcast(np.array([0x0000_0003_0002_0001]), "int16")[:, :3], [1, 2, 3]
    ),
    "bitcast-larger": constant_case(
        lambda: jaxops.bitcast(np.array([[[1, 0], [2, 0], [3, 0]]], np.int32), "int64"), [1, 2, 3]
    ),
    "to_double": constant_case(lambda: jaxops.to_double([[2, -3, 0.5]]), [2, -3, 0.5]),
    "to_float": through_case(jaxops.to_float, 3, 2),
    "to_bfloat16": constant_case(lambda: jaxops.to_bfloat16([[2, 257, 0.5]]), [2, 256, 0.5]),
    "to_int32": constant_case(lambda: jaxops.to_int32([[2.9, -3.9, 2.0**31]]), [2, -3, -(2**31)]),
    "to_int64": constant_case(lambda: jaxops.to_int64([[2.9, -3.9, 2.0**33]]), [2, -3, 2**33]),
    "string_to_number": constant_case(
        lambda: jaxops.string_to_number([["2", " -3 ", "0x1p-1"]]), [2, -3, 0.5]
    ),
}
