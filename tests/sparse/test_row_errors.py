"""The words of a refusal name the transformation and its line."""

import re

import jax.numpy as jnp
import optax
import pytest
from row_wise_steps import Stateless, table

import jaxops

pytestmark = pytest.mark.usefixtures("standard_promotion")


def normed(g, p):
    """By a function of its own, whose line the error does not name."""

    def norm(x):
        return jnp.linalg.norm(x)

    return g * norm(p)


def test_the_error_names_the_line():
    with pytest.raises(
        ValueError, match=re.escape("in scale_by_trust_ratio (optax/_src/transform")
    ):
        jaxops.lazy(optax.chain(optax.clip(1.0), optax.lamb(0.1))).init(table())
    words = r"\(reduce_sum\) in Stateless \(.*row_wise_steps.py:\d+\)"
    with pytest.raises(ValueError, match=words):
        jaxops.lazy(Stateless(normed)).init(table())
