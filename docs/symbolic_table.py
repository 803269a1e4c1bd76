"""Writes docs/symbolic_shapes.md: which calls can be exported for sizes that are not known yet.

Found out by exporting each call, storing and loading the program, and comparing what it gives for
arrays of two sizes with what the call gives.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

import jaxops

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


class Call(NamedTuple):
    function: str
    how: str  # the call, in words of Python
    call: Callable[..., Any]
    shapes: tuple[str, ...]  # of the arguments; those that end in "int" or "bool" are that
    constraints: tuple[str, ...] = ()
    refused: str = ""  # the words of the exception, where the call cannot be exported


def filled(f: Callable[..., Any], **options) -> Callable[..., Any]:
    return lambda *args: f(*args, mode="fill", **options)


def gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *args: jax.grad(lambda x: (f(x, *args) ** 2).sum())(x)


fill_gather = filled(jaxops.gather)
ONES = [1, 1, 1, 1]
SCATTERED = ("a, b", "n, 1 int", "n, b")
PATCHES = (("n, a, b, c",), ("a >= 3", "b >= 3"))

CALLS = [
    Call("batch_gather", "(x, i)", filled(jaxops.batch_gather), ("a, b, c", "a, n int")),
    Call("batch_to_space", "(x, [2, 2], crops)", lambda x: jaxops.batch_to_space(x, [2, 2], [[0, 0], [1, 0]]), ("4*n, a, b, c",)),
    Call("batch_to_space_nd", "(x, [2, 2], crops)", lambda x: jaxops.batch_to_space_nd(x, [2, 2], [[0, 0], [1, 0]]), ("4*n, a, b, c",)),
    Call("bitcast", "(x, jnp.int8)", lambda x: jaxops.bitcast(x, jnp.int8), ("a, b",)),
    Call("bitcast", "(x, jnp.float32)", lambda x: jaxops.bitcast(x.astype(jnp.int8), jnp.float32), ("a, b, 4",)),
    Call("boolean_mask", "(x, mask, size=3)", lambda x, mask: jaxops.boolean_mask(x, mask, size=3, mode="fill"), ("n, b", "n bool")),
    Call("cast", "(x, jnp.int32)", lambda x: jaxops.cast(x, jnp.int32), ("a, b",)),
    Call("concat", "([x, y], 0)", lambda x, y: jaxops.concat([x, y], 0), ("a, b", "c, b")),
    Call("depth_to_space", "(x, 2)", lambda x: jaxops.depth_to_space(x, 2), ("n, a, b, 4*c",)),
    Call("dynamic_partition", "(x, i, 2, size=3)", lambda x, i: jaxops.dynamic_partition(x, i, 2, size=3, mode="fill"), ("n, b", "n int")),
    Call("dynamic_stitch", "([i, j], [x, y], size=5)", lambda i, j, x, y: jaxops.dynamic_stitch([i, j], [x, y], size=5, mode="fill"), ("n int", "m int", "n, b", "m, b")),
    Call("expand_dims", "(x, 1)", lambda x: jaxops.expand_dims(x, 1), ("a, b",)),
    Call("extract_image_patches", '(x, [1, 3, 3, 1], ..., "VALID")', lambda x: jaxops.extract_image_patches(x, [1, 3, 3, 1], ONES, ONES, "VALID"), *PATCHES),
    Call("extract_image_patches", '(x, [1, 3, 3, 1], ..., "SAME")', lambda x: jaxops.extract_image_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], ONES, "SAME"), ("n, a, b, c",)),
    Call("extract_patches", '(x, [1, 3, 3, 1], ..., "VALID")', lambda x: jaxops.extract_patches(x, [1, 3, 3, 1], ONES, ONES, "VALID"), *PATCHES),
    Call("gather", "(x, i)", fill_gather, ("a, b", "n, m int")),
    Call("gather", "(x, i), rows of 64", fill_gather, ("a, 64", "n int")),
    Call("gather", "(x, i, axis=-1)", filled(jaxops.gather, axis=-1), ("a, b", "n, m int")),
    Call("gather", "(x, i, batch_dims=1)", filled(jaxops.gather, batch_dims=1), ("a, b, c", "a, n int")),
    Call("gather", "(x, i), vmapped", jax.vmap(fill_gather), ("k, a, b", "k, n int")),
    Call("gather", "(x, i), gradient", gradient(fill_gather), ("a, b", "n int")),
    Call("gather", '(x, i, mode="clip")', lambda x, i: jaxops.gather(x, i, mode="clip"), ("a, b", "n int")),
    Call("gather", '(x, i, mode="wrap")', lambda x, i: jaxops.gather(x, i, mode="wrap"), ("a, b", "n int")),
    Call("gather", "(x, i, deterministic=True), gradient", gradient(filled(jaxops.gather, deterministic=True)), ("a, b", "n int"), refused="associative scan"),
    Call("gather_nd", "(x, i)", filled(jaxops.gather_nd), ("a, b, c", "n, 2 int")),
    Call("gather_nd", "(x, i, batch_dims=1)", filled(jaxops.gather_nd, batch_dims=1), ("a, b, c", "a, n, 1 int")),
    Call("one_hot", "(i, 5)", lambda i: jaxops.one_hot(i, 5), ("n, m int",)),
    Call("one_hot", "(i, x.shape[0])", lambda x, i: jaxops.one_hot(i, x.shape[0]), ("a", "n, m int")),
    Call("pad", '(x, [[1, 2], [0, 1]], "CONSTANT")', lambda x: jaxops.pad(x, [[1, 2], [0, 1]]), ("a, b",)),
    Call("pad", '(x, [[1, 2], [0, 1]], "REFLECT")', lambda x: jaxops.pad(x, [[1, 2], [0, 1]], "REFLECT"), ("a, b",), ("a >= 3", "b >= 2")),
    Call("pad", '(x, [[1, 2], [0, 1]], "SYMMETRIC")', lambda x: jaxops.pad(x, [[1, 2], [0, 1]], "SYMMETRIC"), ("a, b",), ("a >= 2",)),
    Call("rank", "(x)", lambda x: x * float(jaxops.rank(x)), ("a, b",)),
    Call("reshape", "(x, (*x.shape[1:], -1))", lambda x: jaxops.reshape(x, (*x.shape[1:], -1)), ("a, b, c",)),
    Call("reshape", "(x, x.size)", lambda x: jaxops.reshape(x, x.size), ("a, b",)),
    Call("reverse", "(x, [1])", lambda x: jaxops.reverse(x, [1]), ("a, b",)),
    Call("reverse_sequence", "(x, i, 1, 0)", lambda x, i: jaxops.reverse_sequence(x, i, 1, 0, mode="clip"), ("a, b, c", "a int")),
    Call("saturate_cast", "(x, jnp.int8)", lambda x: jaxops.saturate_cast(x, jnp.int8), ("a, b",)),
    Call("scatter_nd", "(i, x, [8, 3])", lambda i, x: jaxops.scatter_nd(i, x, [8, 3], mode="fill"), ("n, 1 int", "n, 3")),
    Call("scatter_nd", "(i, x, y.shape)", lambda i, x, y: jaxops.scatter_nd(i, x, y.shape, mode="fill"), ("n, 1 int", "n, b", "a, b")),
    Call("shape", "(x)", jaxops.shape, ("a, b",)),
    Call("shape_n", "([x, y])", lambda x, y: jaxops.shape_n([x, y]), ("a, b", "n")),
    Call("size", "(x)", jaxops.size, ("a, b",)),
    Call("slice", "(x, [1, 1], [-1, 2])", lambda x: jaxops.slice(x, [1, 1], [-1, 2]), ("a, b",), ("b >= 3",)),
    Call("slice", "(x, i, [2, 2])", filled(jaxops.slice, size=[2, 2]), ("a, b", "2 int")),
    Call("slice", "(x, i, y.shape)", lambda x, i, y: jaxops.slice(x, i, y.shape, mode="fill"), ("a, b", "2 int", "m, k")),
    Call("space_to_batch", "(x, [2, 2], paddings)", lambda x: jaxops.space_to_batch(x, [2, 2], [[0, 0], [1, 1]]), ("n, 2*a, 2*b, c",)),
    Call("space_to_batch_nd", "(x, [2, 2], paddings)", lambda x: jaxops.space_to_batch_nd(x, [2, 2], [[0, 0], [1, 1]]), ("n, 2*a, 2*b, c",)),
    Call("space_to_depth", "(x, 2)", lambda x: jaxops.space_to_depth(x, 2), ("n, 2*a, 2*b, c",)),
    Call("split", "(x, 2)", lambda x: jaxops.split(x, 2), ("2*a, b",)),
    Call("split", "(x, [1, -1])", lambda x: jaxops.split(x, [1, -1]), ("a, b",)),
    Call("split", "(x, y.shape)", lambda x, y: jaxops.split(x, y.shape), ("a + b", "a, b")),
    Call("squeeze", "(x, [1])", lambda x: jaxops.squeeze(x, [1]), ("a, 1, b",)),
    Call("stack", "([x, y], 1)", lambda x, y: jaxops.stack([x, y], 1), ("a, b", "a, b")),
    Call("strided_slice", "x[::2, ::-1]", lambda x: jaxops.strided_slice(x, [0, 0], [0, 0], [2, -1], begin_mask=3, end_mask=3), ("a, b",)),
    Call("strided_slice", "x[1:-1, :2]", lambda x: jaxops.strided_slice(x, [1, 0], [-1, 2]), ("a, b",), ("a >= 2", "b >= 2")),
    Call("strided_slice", "x[-2:0:-2]", lambda x: jaxops.strided_slice(x, [-2], [0], [-2]), ("a, b",), ("a >= 3",)),
    Call("strided_slice", "x[i]", lambda x, i: jaxops.strided_slice(x, [i], [0], shrink_axis_mask=1, mode="fill"), ("a, b", " int")),
    Call("string_to_number", "(x)", jaxops.string_to_number, ("n",), refused="string_to_number: "),
    *[
        Call(f, "(x, i, y)", filled(getattr(jaxops, f)), SCATTERED)
        for f in (f"tensor_scatter_nd_{kind}" for kind in ("add", "max", "min", "sub", "update"))
    ],
    Call("tensor_scatter_nd_add", "(x, i, y, deterministic=True)", filled(jaxops.tensor_scatter_nd_add, deterministic=True), SCATTERED, refused="associative scan"),
    Call("tile", "(x, [2, 3])", lambda x: jaxops.tile(x, [2, 3]), ("a, b",)),
    Call("tile", "(x, (1, *y.shape))", lambda x, y: jaxops.tile(x, (1, *y.shape)), ("a, b", "n")),
    Call("to_bfloat16", "(x)", jaxops.to_bfloat16, ("a, b",)),
    Call("to_float", "(x)", jaxops.to_float, ("a, b",)),
    Call("to_int32", "(x)", jaxops.to_int32, ("a, b",)),
    Call("transpose", "(x)", jaxops.transpose, ("a, b, c",)),
    Call("unique", "(x, size=4)", lambda x: jaxops.unique(x, size=4, mode="fill"), ("n int",)),
    Call("unique_with_counts", "(x, size=4)", lambda x: jaxops.unique_with_counts(x, size=4, mode="fill"), ("n",)),
    Call("unstack", "(x, axis=1)", lambda x: jaxops.unstack(x, axis=1), ("a, 3",)),
]  # fmt: skip


def types(call: Call, scope: export.SymbolicScope) -> list[jax.ShapeDtypeStruct]:
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


def arguments(call: Call, sizes: dict[str, int]) -> list[jax.Array]:
    rng = np.random.default_rng(0)
    args = []
    for shape, dtype in map(split_dtype, call.shapes):
        dims = [int(eval(dim, {}, sizes)) for dim in shape.split(",") if dim.strip()]
        # Integers are indices too, of at least three things.
        args.append(jnp.asarray(rng.integers(0, 2 if dtype is np.bool_ else 3, dims).astype(dtype)))
    return args


def exported(call: Call) -> export.Exported:
    """The program, stored and loaded."""
    args = types(call, export.SymbolicScope(call.constraints))
    program = export.export(jax.jit(call.call), platforms=["cpu"])(*args)
    return export.deserialize(program.serialize())


def differences(call: Call) -> list[str]:
    """What the loaded program gives that the call does not."""
    program = exported(call)
    found = []
    for sizes in SIZES:
        args = arguments(call, sizes)
        for got, expected in zip(
            jax.tree.leaves(program.call(*args)), jax.tree.leaves(call.call(*args)), strict=True
        ):
            if got.dtype != expected.dtype or not np.array_equal(got, expected):
                found.append(f"{call.function}{call.how}: {got} is not {expected}")
    return found


def refusal(call: Call) -> str | None:
    """What the export raises."""
    try:
        exported(call)
    except (NotImplementedError, TypeError, ValueError) as error:
        return str(error)
    return None


def row(call: Call) -> str:
    if call.refused:
        if call.refused not in (refusal(call) or ""):
            raise AssertionError(f"{call.function}{call.how} is not refused")
        return f"| `{call.function}` | `{call.how}` | refused | |"
    if found := differences(call):
        raise AssertionError("; ".join(found))
    shapes = ", ".join(f"`[{split_dtype(shape)[0]}]`" for shape in call.shapes)
    constraints = ", ".join(f"`{constraint}`" for constraint in call.constraints)
    return f"| `{call.function}` | `{call.how}` | {shapes} | {constraints} |"


def main() -> None:
    rows = []
    for n, call in enumerate(CALLS, 1):
        print(f"{n} of {len(CALLS)} calls", end="\r", file=sys.stderr, flush=True)
        rows.append(row(call))
    print(file=sys.stderr)
    head = "| function | call | arrays | constraints |\n|---|---|---|---|\n"
    Path(__file__).with_name("symbolic_shapes.md").write_text(PAGE + head + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
