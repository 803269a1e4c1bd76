"""Host strings: an op moves their positions, and the host picks strings by position."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxops import _jax_internals
from jaxops._run import arguments


def by_position(op: str, call: Callable, data: Mapping[str, object], fill_value: object) -> Any:
    """Moves the positions of the strings instead of the strings, then picks by position."""
    _check_on_host(op, " and ".join(data))
    arrays = [arguments.to_host_strings(x, op, arg) for arg, x in data.items()]
    pool = np.concatenate([array.reshape(-1) for array in arrays])
    starts = np.cumsum([0, *(array.size for array in arrays)])
    positions = [
        jnp.arange(start, start + array.size, dtype=jnp.int32).reshape(array.shape)
        for start, array in zip(starts[:-1], arrays, strict=True)
    ]
    picked = call(positions, jnp.int32(-1))
    if fill_value is None:
        fill_value = arguments.empty_string_like(pool)
    elif not arguments.is_host_string(fill_value):
        raise TypeError(
            f"{op}: fill_value must be a string; received {arguments.brief(fill_value)}"
        )
    pool = np.append(pool, np.asarray(fill_value, arguments.fill_dtype(pool)))
    # Position -1, the fill value, is the last one.
    return jax.tree.map(lambda positions: pool[np.asarray(positions)], picked)


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
