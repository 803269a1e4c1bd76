"""Typed keys of `jax.random`: an op moves the positions of the keys, which are read there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxops._run import arguments


def are_keys(x: object) -> bool:
    return isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def by_position(
    op: str, call: Callable, data: Mapping[str, Any], fill_value: Any, others: Sequence[str]
) -> Any:
    """Moves the positions of the keys in place of the keys, then reads the keys there.

    `others` are data of another dtype. A place that holds no key, and has no fill value, gets one
    of which all bits are set, as an index out of bounds in `jnp.take`.
    """
    keys = {arg: x for arg, x in data.items() if arg not in others}
    if fill_value is not None:
        keys["fill_value"] = fill_value
    dtypes = {getattr(x, "dtype", None) for x in keys.values()}
    if len(dtypes) > 1 or not all(map(are_keys, keys.values())):
        received = ", ".join(arguments.brief(x) for x in keys.values())
        raise TypeError(
            f"{op}: {' and '.join(keys)} must all be keys of one kind; received {received}"
        )
    parts = [jax.random.key_data(x).reshape(-1, *_shape_of_data(x)) for x in keys.values()]
    if fill_value is None:
        first = next(iter(keys.values()))
        parts.append(jnp.full((1, *_shape_of_data(first)), 2**32 - 1, parts[0].dtype))
    pool = jnp.concatenate(parts)
    starts = np.cumsum([0, *(len(part) for part in parts)])
    operands = []
    for arg, x in data.items():
        if arg in others:
            operands.append(arguments.to_operand(x, op, arg))
        else:
            start = starts[[*keys].index(arg)]
            operands.append(jnp.arange(start, start + x.size, dtype=jnp.int32).reshape(x.shape))
    impl = jax.random.key_impl(next(iter(keys.values())))

    def read(positions):  # -1, the fill value, is the last one
        return jax.random.wrap_key_data(pool[positions], impl=impl)

    return jax.tree.map(read, call(operands, jnp.int32(-1)))


def _shape_of_data(keys: Any) -> tuple[int, ...]:
    return jax.eval_shape(jax.random.key_data, keys).shape[keys.ndim :]
