"""_indexing/check_primitive: what the equation of a check says."""

import jax
import jax.numpy as jnp
import pytest

import jaxops
from jaxops._indexing.check_primitive import is_check, raises, raises_on, site_of, spec_of
from jaxops._indexing.policy import MODES

PLATFORMS = ["cpu", "gpu", "tpu", None]
NOTED = [("error", platform) for platform in PLATFORMS] + [("device", "cpu")]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("mode", MODES)
def test_where_an_index_is_an_error(mode, platform):
    assert raises(mode, platform) == ((mode, platform) in NOTED)


@pytest.mark.parametrize("mode", ["device", "error"])
def test_what_an_equation_says(mode):
    gather = lambda x, i: jaxops.gather(x, i, mode=mode)  # noqa: E731
    program = jax.make_jaxpr(gather)(jnp.arange(4.0), jnp.array([1, 2]))
    (eqn,) = filter(is_check, program.eqns)
    assert (spec_of(eqn).operation, spec_of(eqn).limits) == ("gather", (4,))
    assert site_of(eqn).where.startswith("test_check_primitive.py:")
    assert [p for p in PLATFORMS if raises_on(p, eqn)] == [p for m, p in NOTED if m == mode]
