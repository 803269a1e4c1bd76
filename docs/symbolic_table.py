"""Writes docs/symbolic_shapes.md: which calls can be exported for sizes that are not known yet.

Found out by exporting each call, storing and loading the program, and comparing what it gives for
arrays of two sizes with what the call gives.
"""

from __future__ import annotations

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
PAGE = """# Symbolic shapes

`jax.export` makes one program for arrays of more than one size, whose dimensions it names. Made by
`make docs`, which exports each call below for the CPU, stores the program, loads it, and compares
what it gives for arrays of two sizes with what the call gives.

- Arrays may have the symbolic dimensions that are named; a number stands where the size must be
  known. Sizes that `reshape`, `tile`, `split`, `slice`, `scatter_nd` and `one_hot` take may be
  symbolic: `(*x.shape[1:], -1)`. `size=`, of results that depend on data, is a number.
- Where a call is right for some sizes only, JAX raises `InconclusiveDimensionOperation` unless the
  export is given the constraint:
  `jax.export.symbolic_shape("a, b", constraints=["b >= 3"])`.
- On a CPU an index out of bounds raises from Python, which no stored program holds, and so does
  an element that `size=` does not hold. So functions with bounds or a `size=` are exported with
  `mode="fill"`, `"clip"`, `"wrap"` or `"promise_in_bounds"`, under `checkify`, or for a GPU; else
  they raise a `ValueError` that says so. Below: `mode="fill"`.
- `shape` and `size` give traced values where a dimension is symbolic.

"""


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


def row(function: str, call: Export) -> str:
    if call.refused:
        if call.refused not in (refusal(call) or ""):
            raise AssertionError(f"{function}{call.how} is not refused")
        return f"| `{function}` | `{call.how}` | refused | |"
    if found := differences(call):
        raise AssertionError(f"{function}: {found}")
    shapes = ", ".join(f"`[{split_dtype(shape)[0]}]`" for shape in call.shapes)
    constraints = ", ".join(f"`{constraint}`" for constraint in call.constraints)
    return f"| `{function}` | `{call.how}` | {shapes} | {constraints} |"


def main() -> None:
    rows = []
    for n, (function, call) in enumerate(CALLS, 1):
        print(f"{n} of {len(CALLS)} calls", end="\r", file=sys.stderr, flush=True)
        rows.append(row(function, call))
    print(file=sys.stderr)
    head = "| function | call | arrays | constraints |\n|---|---|---|---|\n"
    Path(__file__).with_name("symbolic_shapes.md").write_text(PAGE + head + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
