"""Traced programs, evaluated equation by equation."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops._indexing import programs


def test_walked_by_bind_it_is_the_program():
    def function(a, b):
        total = jax.jit(lambda x, y: x * y)(a, b) + jax.checkpoint(jnp.sin)(a)
        total += lax.scan(lambda c, _: (c * b, c), a, length=3)[0]
        return lax.cond(a > 0, lambda: total, lambda: b), 2.5, b

    program = jax.make_jaxpr(function)(1.5, -2.0)
    results = programs.walk(program, [1.5, -2.0], programs.bind)
    np.testing.assert_allclose(results, function(1.5, -2.0), rtol=1e-6)
