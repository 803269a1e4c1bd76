"""`true_ranks` by words of bits."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops import _symbolic
from jaxops._forms import register
from jaxops._indexing.positions import ranks_by_cumsum

_WORD = 32  # bits


def _ranks_by_words(mask: jax.Array) -> list[jax.Array]:
    """The ranks, by packing the mask into words of 32 bits: XLA's cumulative sum is slow on a CPU.

    A rank is the true elements in the words before, a sum of 32 times fewer numbers, and the lower
    bits in the element's own word.
    """
    n = mask.shape[0]
    # A cumulative sum over the mask takes ten times as long as sums of words and their bit counts
    # (test_true_ranks.py, test_no_cumulative_sum_on_a_cpu).
    bits = jnp.pad(mask, (0, -n % _WORD)).reshape(-1, _WORD).astype(jnp.uint32)
    words = (bits << np.arange(_WORD, dtype=np.uint32)[None]).sum(axis=1, dtype=jnp.uint32)
    counts = lax.population_count(words).astype(jnp.int32)
    starts = _sums_before(counts)
    lower_bits = (np.uint32(1) << np.arange(_WORD, dtype=np.uint32)) - np.uint32(1)
    within = lax.population_count(words[:, None] & lower_bits[None]).astype(jnp.int32)
    return [(starts[:, None] + within).reshape(-1)[:n], starts[-1] + counts[-1]]


def _sums_before(counts: jax.Array) -> jax.Array:
    """The sum of all elements before each one.

    By a loop over `steps`, as XLA fuses a `jnp.cumsum` with each of its uses, and computes parts of
    the sum anew for every one.
    """
    steps, n = 128, counts.shape[0]
    if n <= steps:
        places = np.arange(n)
        return jnp.where(places[:, None] > places, counts[None], 0).sum(axis=1, dtype=jnp.int32)
    lanes = jnp.pad(counts, (0, -n % steps)).reshape(-1, steps)

    def step(sums, counts):
        return sums + counts, sums

    starts = _sums_before(lanes.sum(axis=1, dtype=jnp.int32))
    _, sums = lax.scan(step, starts, lanes.T)
    return sums.T.reshape(-1)[:n]


register(
    ranks_by_cumsum,
    "true_ranks",
    form=_ranks_by_words,
    num_linear=0,
    is_for=lambda mask: _symbolic.are_known(mask.shape),  # the number of words must be
    returns_list=True,
    on_many_devices=True,
    maps_itself=True,
)
