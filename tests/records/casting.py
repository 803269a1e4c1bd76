"""What is known of the functions of `_ops/casting.py`."""

import jax
import numpy as np

import jaxops
from records.arguments import ONLY_NUMBERS
from records.loops import evaluated, floats
from records.record import Case, Export, Record


def through_complex(x):
    """Each element as complex64, which holds it, and back."""
    return np.real(x.astype(np.complex64)).astype(x.dtype)


def through_case(op, *shape):
    """To complex64, and back with `op`."""
    return Case(lambda x: op(jaxops.cast(x, "complex64")), through_complex, (floats(*shape),))


def constant_case(make, row):
    """For what has no derivative: a factor made from constants, at trace time too."""

    def op(x):
        with jax.enable_x64(True):
            factors = make()
        return x * jaxops.to_float(factors)

    return Case(op, lambda x: x * np.float32(row), (floats(2, 3),))


CAST = {"x": ONLY_NUMBERS}
RECORDS = {
    "cast": Record(
        call={**CAST, "dtype": ("dtype", "int32")},
        cases={
            "matrix": through_case(lambda x: jaxops.cast(x, "float32"), 2, 3),
            "empty": through_case(lambda x: jaxops.cast(x, "float32"), 0, 3),
            "int32": constant_case(lambda: jaxops.cast([[2.9, -3.9, 0.5]], "int32"), [2, -3, 0]),
        },
        exports=[evaluated(jaxops.cast, "(x, jnp.int32)", "a, b")],
        row="Casting | `cast` | - | cast back | -",
    ),
    "saturate_cast": Record(
        call={"value": ONLY_NUMBERS, "dtype": ("dtype", "int32")},
        cases={
            "matrix": through_case(lambda x: jaxops.saturate_cast(x, "float32"), 2, 1, 3),
            "empty": through_case(lambda x: jaxops.saturate_cast(x, "float32"), 0),
            "uint8": constant_case(
                lambda: jaxops.saturate_cast([[300, -3, 7]], "uint8"), [255, 0, 7]
            ),
        },
        exports=[evaluated(jaxops.saturate_cast, "(x, jnp.int8)", "a, b")],
        row="Casting | `saturate_cast` | - | cast back, 0 where clamped | -",
    ),
    "to_bfloat16": Record(
        call=CAST,
        cases={"": constant_case(lambda: jaxops.to_bfloat16([[2, 257, 0.5]]), [2, 256, 0.5])},
        exports=[Export("(x)", jaxops.to_bfloat16, ("a, b",))],
        row="Casting | `to_bfloat16` | - | as `cast` | -",
    ),
    "to_double": Record(
        call=CAST,
        cases={"": constant_case(lambda: jaxops.to_double([[2, -3, 0.5]]), [2, -3, 0.5])},
        row="Casting | `to_double` | - | as `cast` | -",
    ),
    "to_float": Record(
        call=CAST,
        cases={"": through_case(jaxops.to_float, 3, 2)},
        exports=[Export("(x)", jaxops.to_float, ("a, b",))],
        row="Casting | `to_float` | - | as `cast` | -",
    ),
    "to_int32": Record(
        call=CAST,
        cases={
            "": constant_case(lambda: jaxops.to_int32([[2.9, -3.9, 2.0**31]]), [2, -3, -(2**31)])
        },
        exports=[Export("(x)", jaxops.to_int32, ("a, b",))],
        row="Casting | `to_int32` | - | - | -",
    ),
    "to_int64": Record(
        call=CAST,
        cases={"": constant_case(lambda: jaxops.to_int64([[2.9, -3.9, 2.0**33]]), [2, -3, 2**33])},
        row="Casting | `to_int64` | - | - | -",
    ),
}
