"""Finds out which calls can be exported for sizes that are not known yet, for `make docs`.

Each call is exported, its program stored and loaded, and what the program gives for arrays of two
sizes compared with what the call gives.

    python docs/make/symbolic_table.py build/docs/symbolic_shapes.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from records import RECORDS
from records.record import Export

# Sizes of the dimensions that the shapes below name: those of two calls of each program.
SIZES = (
    {"a": 4, "b": 3, "c": 5, "k": 2, "m": 3, "n": 4},
    {"a": 7, "b": 6, "c": 3, "k": 3, "m": 2, "n": 37},
)

CALLS = [(name, call) for name in sorted(RECORDS) for call in RECORDS[name].exports]


def types(call: Export, scope: export.SymbolicScope) -> list[jax.ShapeDtypeStruct]:
    """The arguments, their dimensions symbolic."""
    return [
        jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope), dtype)
        for shape, dtype in map(split_dtype, call.shapes)
    ]


def split_dtype(shape: str) -> tuple[str, Any]:
    if shape.endswith("int"):
        return shape.removesuffix("int").strip(), np.int32
    if shape.endswith("bool"):
        return shape.removesuffix("bool").strip(), np.bool_
    return shape, np.float32


def arguments(call: Export, sizes: dict[str, int]) -> list[jax.Array]:
    rng = np.random.default_rng(0)
    args = []
    for shape, dtype in map(split_dtype, call.shapes):
        dims = [int(eval(dim, {}, sizes)) for dim in shape.split(",") if dim.strip()]
        # Integers are indices too, of at least three things.
        args.append(jnp.asarray(rng.integers(0, 2 if dtype is np.bool_ else 3, dims).astype(dtype)))
    return args


def exported(call: Export) -> export.Exported:
    """The program, stored and loaded."""
    args = types(call, export.SymbolicScope(call.constraints))
    program = export.export(jax.jit(call.call), platforms=["cpu"])(*args)
    return export.deserialize(program.serialize())


def differences(call: Export) -> list[str]:
    """What the loaded program gives that the call does not."""
    program = exported(call)
    found = []
    for sizes in SIZES:
        args = arguments(call, sizes)
        for got, expected in zip(
            jax.tree.leaves(program.call(*args)), jax.tree.leaves(call.call(*args)), strict=True
        ):
            if got.dtype != expected.dtype or not np.array_equal(got, expected):
                found.append(f"{call.how}: {got} is not {expected}")
    return found


def refusal(call: Export) -> str | None:
    """What the export raises."""
    try:
        exported(call)
    except (NotImplementedError, TypeError, ValueError) as error:
        return str(error)
    return None


def row(function: str, call: Export) -> list[str]:
    """The cells of a call: function, call, arrays, constraints."""
    if call.refused:
        if call.refused not in (refusal(call) or ""):
            raise AssertionError(f"{function}{call.how} is not refused")
        return [function, f"`{call.how}`", "refused", ""]
    if found := differences(call):
        raise AssertionError(f"{function}: {found}")
    shapes = ", ".join(f"`[{split_dtype(shape)[0]}]`" for shape in call.shapes)
    constraints = ", ".join(f"`{constraint}`" for constraint in call.constraints)
    return [function, f"`{call.how}`", shapes, constraints]


def table(rows: list[list[str]]) -> str:
    head = "| function | call | arrays | constraints |\n|---|---|---|---|\n"
    return head + "\n".join(
        f"| [`{function}`](functions/{function}.md) | {' | '.join(cells)} |"
        for function, *cells in rows
    )


def main(path: str) -> None:
    rows = []
    for n, (function, call) in enumerate(CALLS, 1):
        if n % 20 == 0:
            print(f"exports: {n} of {len(CALLS)} calls", file=sys.stderr, flush=True)
        rows.append(row(function, call))
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(rows, indent=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
