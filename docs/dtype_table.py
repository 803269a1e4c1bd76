"""Writes docs/dtypes.md: which function takes which dtype, found out by calling each with each."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxops

FLOAT8 = sorted(name for name in dir(jnp) if name.startswith("float8_"))
COLUMNS = {
    "bool": ["bool"],
    "(u)int4": ["int4", "uint4"],
    "(u)int8 to 32": ["int8", "uint8", "int16", "uint16", "int32", "uint32"],
    "(u)int64": ["int64", "uint64"],
    "float8": FLOAT8,
    "float16, bfloat16": ["float16", "bfloat16"],
    "float32": ["float32"],
    "float64": ["float64"],
    "complex64, 128": ["complex64", "complex128"],
    "strings": ["str"],
}
ONE = [[0, 1]]

# How each function is called, `x` being the array whose dtype is in question, of shape [2, 2].
CALLS: dict[str, Callable[[Any], Any]] = {
    "batch_gather": lambda x: jaxops.batch_gather(x, [[0], [1]]),
    "batch_to_space": lambda x: jaxops.batch_to_space(image(x, 4, 1, 1), [2, 2], [[0, 0]] * 2),
    "batch_to_space_nd": lambda x: jaxops.batch_to_space_nd(
        image(x, 4, 1, 1), [2, 2], [[0, 0]] * 2
    ),
    "bitcast": lambda x: jaxops.bitcast(x, x.dtype),
    "boolean_mask": lambda x: jaxops.boolean_mask(x, [True, False]),
    "cast": lambda x: jaxops.cast(x, jnp.float32),
    "concat": lambda x: jaxops.concat([x, x], 0),
    "depth_to_space": lambda x: jaxops.depth_to_space(image(x, 1, 1, 1), 2),
    "dynamic_partition": lambda x: jaxops.dynamic_partition(x, [1, 0], 2),
    "dynamic_stitch": lambda x: jaxops.dynamic_stitch([[1, 0]], [x]),
    "expand_dims": lambda x: jaxops.expand_dims(x, 0),
    "extract_image_patches": lambda x: jaxops.extract_image_patches(
        image(x, 1, 2, 2), [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"
    ),
    "extract_patches": lambda x: jaxops.extract_patches(
        image(x, 1, 2, 2), [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"
    ),
    "gather": lambda x: jaxops.gather(x, [1, 0]),
    "gather_nd": lambda x: jaxops.gather_nd(x, [[1, 0]]),
    "one_hot": lambda x: jaxops.one_hot([1], 2, x[0, 0], x[1, 1]),
    "pad": lambda x: jaxops.pad(x, [[1, 0], [0, 1]], "SYMMETRIC"),
    "rank": jaxops.rank,
    "reshape": lambda x: jaxops.reshape(x, [4]),
    "reverse": lambda x: jaxops.reverse(x, [0]),
    "reverse_sequence": lambda x: jaxops.reverse_sequence(x, [2, 1], 1, 0),
    "saturate_cast": lambda x: jaxops.saturate_cast(x, jnp.float32),
    "scatter_nd": lambda x: jaxops.scatter_nd([[0], [0]], x, [2, 2]),
    "shape": jaxops.shape,
    "shape_n": lambda x: jaxops.shape_n([x, x]),
    "size": jaxops.size,
    "slice": lambda x: jaxops.slice(x, [1, 0], [1, 2]),
    "space_to_batch": lambda x: jaxops.space_to_batch(image(x, 1, 2, 2), [2, 2], [[0, 0]] * 2),
    "space_to_batch_nd": lambda x: jaxops.space_to_batch_nd(
        image(x, 1, 2, 2), [2, 2], [[0, 0]] * 2
    ),
    "space_to_depth": lambda x: jaxops.space_to_depth(image(x, 1, 2, 2), 2),
    "split": lambda x: jaxops.split(x, 2),
    "squeeze": lambda x: jaxops.squeeze(image(x, 1, 2, 2)),
    "stack": lambda x: jaxops.stack([x, x]),
    "strided_slice": lambda x: jaxops.strided_slice(x, [1], [0], [-1], end_mask=1),
    "string_to_number": jaxops.string_to_number,
    "tensor_scatter_nd_add": lambda x: jaxops.tensor_scatter_nd_add(x, ONE, x[0, :1]),
    "tensor_scatter_nd_max": lambda x: jaxops.tensor_scatter_nd_max(x, ONE, x[0, :1]),
    "tensor_scatter_nd_min": lambda x: jaxops.tensor_scatter_nd_min(x, ONE, x[0, :1]),
    "tensor_scatter_nd_sub": lambda x: jaxops.tensor_scatter_nd_sub(x, ONE, x[0, :1]),
    "tensor_scatter_nd_update": lambda x: jaxops.tensor_scatter_nd_update(x, ONE, x[0, :1]),
    "tile": lambda x: jaxops.tile(x, [1, 2]),
    "to_bfloat16": jaxops.to_bfloat16,
    "to_double": jaxops.to_double,
    "to_float": jaxops.to_float,
    "to_int32": jaxops.to_int32,
    "to_int64": jaxops.to_int64,
    "transpose": jaxops.transpose,
    "unique": lambda x: jaxops.unique(x.reshape(4)),
    "unique_with_counts": lambda x: jaxops.unique_with_counts(x.reshape(4)),
    "unstack": jaxops.unstack,
}

PAGE = """# Function by dtype

Made by `make docs`, which calls each function with an array of each dtype, on the CPU with 64-bit
types switched on.
A dot is a call that is refused with a TypeError. Strings are NumPy arrays of them on the host.

"""


def image(x, *batch_rows_columns):
    return x.reshape(*batch_rows_columns, -1)


def argument(dtype: str) -> Any:
    numbers = np.array([[1, 0], [1, 3]])
    return numbers.astype(str) if dtype == "str" else jnp.asarray(numbers).astype(dtype)


def takes(function: str, dtype: str) -> bool:
    """Whether the call works; a refusal must be a TypeError of ours that names the function."""
    try:
        jax.block_until_ready(CALLS[function](argument(dtype)))
    except TypeError as error:
        if not str(error).startswith(f"{function}: "):
            raise
        return False
    return True


def row(function: str) -> str:
    cells = []
    for dtypes in COLUMNS.values():
        taken = [dtype for dtype in dtypes if takes(function, dtype)]
        some = ", ".join(f"`{dtype}`" for dtype in taken) or "."
        cells.append("yes" if taken == dtypes else some)
    return f"| `{function}` | {' | '.join(cells)} |"


def main() -> None:
    head = f"| | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}\n"
    rows = []
    with jax.enable_x64(True):
        for n, function in enumerate(CALLS, 1):
            print(f"{n} of {len(CALLS)} functions", end="\r", file=sys.stderr, flush=True)
            rows.append(row(function))
    print(file=sys.stderr)
    page = Path(__file__).with_name("dtypes.md")
    page.write_text(PAGE + head + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
