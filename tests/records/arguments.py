"""Arguments of calls that are good, with their kinds, and the arrays that cases are made of."""

import jax.numpy as jnp
import numpy as np

from records.record import MODES

X = np.arange(12, dtype=np.float32).reshape(4, 3)
IMAGES = np.zeros((4, 2, 2, 4), np.float32)
NUMBERS = np.array([2, 0, 2, 1], np.int32)

DATA = ("data", X)
WITH_ROWS = ("data, with rows", X)
NO_STRINGS = ("data, no strings", X)
ONLY_NUMBERS = ("data, numbers", X)
ANYTHING = ("data, anything", X)
TABLES = ("data, tables", X)
MASK = ("bools", np.array([True, False, True, True]))
MODE = (f"word, one of {', '.join(MODES)}", "fill")
POLICY = ("word, policy", "IGNORE")  # the same in TensorFlow's words
DETERMINISTIC = ("word, bool", True)
ACCUMULATE = ("dtype", "float32")
FILL = {"fill_value": ("scalar, of that dtype", 7.0), "mode": MODE}
PADDING = {"padding_index": ("int, an index", 1)}
# Of an array of rank 2.
AXIS = ("int, in [-2, 2)", 0)
SIZE = ("int, at least 0", 4)
HELD = {**FILL, "size": SIZE, "return_size": ("word, bool", True)}
PADS = ("pairs, [M, 2]", [[0, 0], [0, 0]])

# Narrow indices, and what they index.
FEW = np.array([99, 5, 99, 0], np.int32)
LENGTH = 300
TABLE = np.arange(LENGTH * 3, dtype=np.float32).reshape(LENGTH, 3)


# Dtypes of elements that are moved.
MOVED = [jnp.bool_, jnp.int4, jnp.uint4, jnp.int8, jnp.uint8, jnp.uint16, jnp.int32, jnp.uint64]
MOVED += [jnp.float16, jnp.bfloat16, jnp.float64, jnp.complex64, jnp.complex128]
MOVED += [jnp.float8_e4m3fn, jnp.float8_e5m2]
