"""One gather takes all parts, however many there are."""

import jax
import jax.numpy as jnp
import pytest

import jaxops


@pytest.mark.parametrize("rows", [600, 20_000])
def test_programs_do_not_grow_with_the_number_of_parts(rows):
    """In equations, and in what XLA's CPU compiler gets: its time is that of all gathers in it."""
    data, numbers = jnp.ones((rows, 4)), jnp.zeros(rows, jnp.int32)

    def gathers(num_partitions):
        def deal(data, numbers):
            return jaxops.dynamic_partition(data, numbers, num_partitions, size=rows // 300)

        assert len(jax.make_jaxpr(deal)(data, numbers).eqns) < 60
        return jax.jit(deal).lower(data, numbers).as_text().count("stablehlo.gather")

    assert gathers(40) == gathers(80) < 20
