"""What is known of the functions of `_ops/bitcast.py`."""

import jax.numpy as jnp
import numpy as np

import jaxops
from records.arguments import X
from records.casting import constant_case
from records.loops import evaluated
from records.record import Export, Record

RECORDS = {
    "bitcast": Record(
        call={"input": ("data, numbers", X[:, :2]), "type": ("dtype", "uint8")},
        cases={
            "same-size": constant_case(
                lambda: jaxops.bitcast(
                    np.array([[0x3F800000, 0x40000000, 0]], np.int32), "float32"
                ),
                [1, 2, 0],
            ),
            "smaller": constant_case(
                lambda: jaxops.bitcast(np.array([0x0000_0003_0002_0001]), "int16")[:, :3], [1, 2, 3]
            ),
            "larger": constant_case(
                lambda: jaxops.bitcast(np.array([[[1, 0], [2, 0], [3, 0]]], np.int32), "int64"),
                [1, 2, 3],
            ),
        },
        exports=[
            evaluated(jaxops.bitcast, "(x, jnp.int8)", "a, b"),
            Export(
                "(x, jnp.float32)",
                lambda x: jaxops.bitcast(x.astype(jnp.int8), jnp.float32),
                ("a, b, 4",),
            ),
        ],
        row="Casting | `bitcast` | - | 0 | -",
    )
}
