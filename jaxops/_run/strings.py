"""Host strings: an op moves their positions, and the host picks strings by position."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxops import _jax_internals
from jaxops._run import arguments


def by_position(
    op: str, call: Callable, data: Mapping[str, Any], fill_value: Any, others: Sequence[str]
) -> Any:
    """Moves the positions of the strings instead of the strings, then picks by position.

    `others` are data of another dtype. The positions begin with 1. An op puts 0 where no element
    is: there the result has the fill value, or else the empty string.
    """
    _check_on_host(op, " and ".join(arg for arg in data if arg not in others))
    are_moved = [arg not in others for arg in data]
    operands: list[Any] = [
        (arguments.to_operand if arg in others else arguments.to_host_strings)(x, op, arg)
        for arg, x in data.items()
    ]
    pools = [x.reshape(-1) for x in itertools.compress(operands, are_moved)]
    pool = np.concatenate(arguments.of_one_kind([x for x in pools if x.size] or pools[:1]))
    fill = np.asarray(fill_for_strings(pool, fill_value, op), arguments.fill_dtype(pool))
    pool = np.concatenate(arguments.of_one_kind([fill.reshape(1), pool]))

    def read(positions):
        return pool[np.asarray(positions), ...]  # an array, also of one position

    return read_moved(read, call, operands, are_moved, fill_value)


def read_moved(
    read: Callable, call: Callable, operands: list[Any], are_moved: list[bool], fill_value: object
) -> Any:
    """Calls with positions from 1 on, for the operands that `are_moved`, and reads at the result.

    Only the first item of a tuple has positions.
    """
    start = 1
    for n, x in enumerate(operands):
        if are_moved[n]:
            positions = jnp.arange(start, start + x.size, dtype=jnp.int32)
            operands[n] = positions.reshape(x.shape)
            start += x.size
    moved = call(operands, None if fill_value is None else jnp.int32(0))
    if isinstance(moved, tuple):
        return (jax.tree.map(read, moved[0]), *moved[1:])
    return jax.tree.map(read, moved)


def fill_for_strings(strings: np.ndarray, fill_value: object, op: str) -> str | bytes:
    """The fill value as a string; the empty string if there is none."""
    if fill_value is None:
        return arguments.empty_string_like(strings.reshape(-1))
    if not arguments.is_host_string(fill_value) or np.ndim(fill_value) > 0:  # type: ignore[arg-type]
        raise TypeError(
            f"{op}: fill_value must be a string; received {arguments.brief(fill_value)}"
        )
    return fill_value if isinstance(fill_value, (str, bytes)) else np.asarray(fill_value).item()


def on_host(op: str, x: object, arg: str) -> np.ndarray:
    """Strings as an array, where a program could not have them."""
    _check_on_host(op, arg)
    return arguments.to_host_strings(x, op, arg)


def joined(strings: np.ndarray, places: np.ndarray, shape: tuple[int, ...]) -> Any:
    """Empty strings of `shape`, to each of which are joined those of its place, from 1 on."""
    flat = strings.reshape(-1)
    nothing = arguments.empty_string_like(flat)
    pieces: dict[int, list[Any]] = {}
    for string, place in zip(flat.tolist(), places.reshape(-1).tolist(), strict=True):
        if place:
            pieces.setdefault(place - 1, []).append(string)
    result = np.full(math.prod(shape), nothing, object)
    for place, piece in pieces.items():
        result[place] = nothing.join(piece)
    dtype = strings.dtype.kind if strings.dtype.kind in "SU" else strings.dtype
    return result.astype(dtype).reshape(shape)


def _check_on_host(op: str, names: str) -> None:
    if not _jax_internals.is_on_host():
        raise TypeError(
            f"{op}: {names} hold strings, which exist on the host only; "
            "call it outside jit, vmap and grad"
        )
