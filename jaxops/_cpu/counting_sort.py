"""`stable_order` by counting, 20 to 30 times as fast as XLA's sort on a CPU."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import lax

from jaxops import _symbolic
from jaxops._forms import register
from jaxops._indexing.positions import histogram, order_by_sort


def _counting_sort(keys: jax.Array, *, num_keys: int) -> list[jax.Array]:
    """The keys are cut into `lanes` runs of `steps` keys. Each pair of key and lane has a counter,
    which starts at the number of keys before it: smaller keys, or equal ones in lanes before. Each
    step of the loop takes the next position of every lane, puts it into the result at its counter,
    and raises the counter by 1. Keys of different lanes have different counters, so a step is one
    scatter without collisions.
    """
    n = keys.shape[0]
    # More steps mean fewer lanes and counters. With this number of steps they take as long as the
    # counters, and the counters take no more memory than 8 arrays of keys.
    steps = min(n, max(math.isqrt((num_keys + 1) * n // 75), num_keys // 8, 1))
    lanes = -(-n // steps)
    keys = jnp.pad(keys, (0, lanes * steps - n), constant_values=num_keys)
    lane = lax.iota(jnp.int32, lanes)[:, None]
    counters = keys.reshape(lanes, steps) * lanes + lane
    counted = histogram(counters.reshape(-1), (num_keys + 1) * lanes)
    starts = jnp.cumsum(counted) - counted

    def put(carry, inputs):
        starts, order = carry
        counters, positions = inputs
        at = starts[counters]
        options = {"unique_indices": True, "mode": "promise_in_bounds"}
        starts = starts.at[counters].set(at + 1, **options)
        return (starts, order.at[at].set(positions, **options)), None

    positions = lane * steps + lax.iota(jnp.int32, steps)[None, :]
    # `keys` serves as the buffer for the result, and is overwritten wholly: unlike new zeros, it
    # varies under `shard_map` along the same axes as the result (test_forms.py, test_in_shard_map).
    (_, order), _ = lax.scan(put, (starts, keys), (counters.T, positions.T))
    counts = counted.reshape(num_keys + 1, lanes).sum(axis=1, dtype=jnp.int32)
    return [order[:n], counts[:num_keys]]


register(
    order_by_sort,
    "stable_order",
    form=_counting_sort,
    num_linear=0,
    # To sort fewer keys than there are values takes less time than a counter for each value: 300
    # keys of 1,000 values take 118 us by counting, and 41 by XLA's sort.
    is_for=lambda keys, num_keys: _symbolic.are_known(keys.shape) and num_keys <= keys.shape[0],
    returns_list=True,
    on_many_devices=True,
    maps_itself=True,
)
