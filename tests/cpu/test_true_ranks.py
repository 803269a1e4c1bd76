"""Ranks of true elements by words of bits."""

import jax
import jax.numpy as jnp

from jaxops._indexing.positions import true_positions


def test_no_cumulative_sum_on_a_cpu():
    """XLA's takes several times as long as the sum over words of bits."""
    mask = jnp.zeros(5000, bool)
    program = jax.jit(lambda mask: true_positions(mask, 7)).lower(mask).as_text()
    assert "reduce_window" not in program
    assert "popcnt" in program
