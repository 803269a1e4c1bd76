"""Parts of cases, and the loops that several oracles share. No oracle shares code with jaxops."""

import ast
import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxops
from records.record import MODES, Case, Export, OutOfBounds


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(-9, 9, shape).astype(np.float32)


def int32s(indices: Any) -> tuple[np.ndarray]:
    return (np.asarray(indices, np.int32),)


def array_case(op: Callable, oracle: Callable, shape: Sequence[int], *args: Any, **kwargs) -> Case:
    """Of one array and arguments that the op and its oracle both take."""
    return Case(
        lambda x: op(x, *args, **kwargs), lambda x: oracle(x, *args, **kwargs), (floats(*shape),)
    )


def indexed_case(
    op: Callable, oracle: Callable, shape: Sequence[int], indices: Any, *args: Any, **kwargs
) -> Case:
    """Likewise, of an array and indices."""
    return Case(
        lambda x, i, **k: op(x, i, *args, **kwargs, **k),
        lambda x, i, **k: oracle(x, i, *args, **kwargs, **k),
        (floats(*shape),),
        int32s(indices),
        MODES,
        has_deterministic=True,
    )


def sized_case(
    op: Callable, oracle: Callable, shape: Sequence[int], numbers: Any, *args: Any, **kwargs
) -> Case:
    """Of an array and numbers whose sum is the true size, with which the result is multiplied."""

    def call(x, numbers):
        result, total = op(x, numbers, *args, **kwargs, return_size=True)
        return result * total.astype(result.dtype)

    return Case(
        call,
        lambda x, numbers: oracle(x, numbers, *args, **kwargs) * x.dtype.type(numbers.sum()),
        (floats(*shape),),
        int32s(numbers),
    )


IS_PADDING = 10**6  # what oracles see in place of a number that the op is told to be padding


def padded(case: Case, number: int) -> Case:
    """The same where every other index is padding, of this number."""
    first, *others = case.indices

    def oracle(*args, **options):
        data, (indices, *rest) = args[: len(case.data)], args[len(case.data) :]
        indices = np.where(indices == number, IS_PADDING, np.asarray(indices, np.int64))
        return case.oracle(*data, indices, *rest, **options)

    every_other = np.arange(first.size).reshape(first.shape) % 2 == 1
    return case._replace(
        op=functools.partial(case.op, padding_index=number),
        oracle=oracle,
        indices=(np.where(every_other, number, first).astype(first.dtype), *others),
    )


def filled(function: Callable[..., Any], **options) -> Callable[..., Any]:
    return lambda *args, **more: function(*args, mode="fill", **options, **more)


def evaluated(function: Callable[..., Any], how: str, *shapes: str, **options: Any) -> Export:
    """Of a call that is evaluated as it stands in `how`; `shapes` are in the order there."""
    known = {"function": function, "jnp": jnp, "SparseTensor": jaxops.SparseTensor}
    words = ast.walk(ast.parse(f"function{how}"))
    names = sorted((n.col_offset, n.id) for n in words if isinstance(n, ast.Name))
    arguments = dict.fromkeys(name for _, name in names if name not in known)
    call = eval(f"lambda {', '.join(arguments)}: function{how}", known)
    return Export(how, call, shapes, **options)


def outside(call: Callable[..., Any], good: Any, bad: Any, text: str) -> OutOfBounds:
    """Of an error that tells position, index and bound, as `indices[0,1] = 3 is not in [0, 3)`."""
    words = re.fullmatch(r"\w+(?:\[(.*?)\])? = (\[.*?\]|\S+) .*?(?:\[0, |\[|and )([\d,]+)\W?", text)
    assert words, text
    position, index, bound = (
        tuple(map(int, re.findall(r"-?\d+", x or ""))) for x in words.groups()
    )
    if not words[2].startswith("["):
        (index,), (bound,) = index, bound
    return OutOfBounds(call, good, bad, text, position, index, bound)


def gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *args: jax.grad(lambda x: (function(x, *args) ** 2).sum())(x)


def place_of(index, dims, mode):
    """Where an index vector leads under `mode`; None if nowhere."""
    if IS_PADDING in index:
        return None
    if all(0 <= i < d for i, d in zip(index, dims, strict=True)):
        return index
    if mode == "clip":
        return tuple(min(max(i, 0), d - 1) for i, d in zip(index, dims, strict=True))
    if mode == "wrap":
        return tuple(i % d for i, d in zip(index, dims, strict=True))
    assert mode == "fill", f"index {index} does not fit {dims}"
    return None


def fitted(rows, row_shape, dtype, size, fill_value):
    """As many rows as `size` holds, with rows of the fill value where there are fewer."""
    size = len(rows) if size is None else size
    out = np.full((size, *row_shape), fill_value, dtype)
    for n, row in enumerate(rows[:size]):
        out[n] = row
    return out
