"""Typed keys of `jax.random`: an op moves the positions of the keys, which are read there."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxops._run import arguments, strings


def by_position(
    op: str, call: Callable, data: Mapping[str, Any], fill_value: Any, others: Sequence[str]
) -> Any:
    """Moves the positions of the keys in place of the keys, then reads the keys there.

    `others` are data of another dtype. The positions begin with 1. An op puts 0 where no element
    is: there the result has the fill value, or else a key of which all bits are set, as where
    `jnp.take` reads out of bounds.
    """
    operands = [
        (arguments.to_operand if arg in others else arguments.to_elements)(x, op, arg)
        for arg, x in data.items()
    ]
    are_moved = [arg not in others for arg in data]
    keys = [*itertools.compress(operands, are_moved)]
    given = keys if fill_value is None else [*keys, fill_value]
    if len({getattr(x, "dtype", None) for x in given}) > 1 or not arguments.are_keys(keys):
        names = [*itertools.compress(data, are_moved)]
        names += [] if fill_value is None else ["fill_value"]
        received = ", ".join(arguments.brief(x) for x in given)
        raise TypeError(
            f"{op}: {' and '.join(names)} must all be keys of one kind; received {received}"
        )
    if fill_value is not None:
        arguments.check_scalar(fill_value, op, "fill_value")
    parts = [jax.random.key_data(x) for x in given]
    bits_shape = parts[0].shape[keys[0].ndim :]
    if fill_value is None:
        parts.append(jnp.full(bits_shape, 2**32 - 1, parts[0].dtype))
    bits = jnp.concatenate([x.reshape(-1, *bits_shape) for x in (parts[-1], *parts[:-1])])
    impl = jax.random.key_impl(keys[0])

    def read(positions):
        return jax.random.wrap_key_data(bits[positions], impl=impl)

    return strings.read_moved(read, call, operands, are_moved, fill_value)
