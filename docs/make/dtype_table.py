"""Finds out which function takes which dtype, by calling each with each, for `make docs`.

python docs/make/dtype_table.py build/docs/dtypes.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import records
from records import RECORDS, needed

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
FUNCTIONS = [name for name, record in RECORDS.items() if record.section and record.call]


def arguments(function: str, dtype: str) -> dict[str, Any]:
    """Those that the call of the function's record needs, its data as arrays of `dtype`."""
    args = {}
    for arg, (kind, value) in needed(function).items():
        of_dtype = RECORDS[function].of_dtype
        if arg in of_dtype or (kind in ("data", "arrays") and not of_dtype):
            value = [array(x, dtype) for x in value] if kind == "arrays" else array(value, dtype)
        args[arg] = value
    return args


def array(value: Any, dtype: str) -> Any:
    numbers = np.asarray(value).astype(np.float32)
    return numbers.astype(str) if dtype == "str" else jnp.asarray(numbers).astype(dtype)


def takes(function: str, dtype: str) -> bool:
    """Whether the call works; a refusal must be a TypeError of ours that names the function."""
    try:
        jax.block_until_ready(records.FUNCTIONS[function](**arguments(function, dtype)))
    except TypeError as error:
        if not str(error).startswith(f"{function}: "):
            raise
        return False
    return True


def cells(function: str) -> dict[str, str]:
    """By column, which of its dtypes the function takes."""
    found = {}
    for column, dtypes in COLUMNS.items():
        taken = [dtype for dtype in dtypes if takes(function, dtype)]
        some = ", ".join(f"`{dtype}`" for dtype in taken) or "."
        found[column] = "yes" if taken == dtypes else some
    return found


def table(by_function: dict[str, dict[str, str]]) -> str:
    head = f"| | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}\n"
    return head + "\n".join(
        f"| [`{name}`](functions/{name}.md) | {' | '.join(found.values())} |"
        for name, found in sorted(by_function.items())
    )


def main(path: str) -> None:
    found = {}
    with jax.enable_x64(True):
        for n, function in enumerate(sorted(FUNCTIONS), 1):
            if n % 10 == 0:
                print(f"dtypes: {n} of {len(FUNCTIONS)} functions", file=sys.stderr, flush=True)
            found[function] = cells(function)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(found, indent=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
