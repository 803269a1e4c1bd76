"""Rules of `outside`, and settings that JAX compares in the keys of its caches."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxops
from jaxops._checked import setting as settings
from jaxops._checked.setting import Setting

RULES = Setting((("md/partition.py", "padding"), ("*:lookup", "any"), ("net.py:Net.*", "any")))


@pytest.mark.parametrize(
    ("file", "function", "rule"),
    [
        ("/home/md/partition.py", "neighbours", "padding"),
        ("/home/md/partition.py", "lookup", "padding"),  # the first that fits
        ("/home/md/other.py", "lookup", "any"),
        ("/home/md/other.py", "Table.lookup", None),
        ("/home/net.py", "Net.embed", "any"),
        ("/home/net.py", "embed", None),
        # A function within another, as an error names it.
        ("/home/md/other.py", "step.<locals>.lookup", "any"),
        ("/home/md/other.py", "Table.step.<locals>.lookup", "any"),
        ("/home/net.py", "make.<locals>.Net.embed", "any"),
        ("/home/net.pyc", "Net.embed", None),
    ],
)
def test_rule_for_a_function(file, function, rule):
    assert settings.rule_of(RULES.outside, file, function) == rule
    assert settings.rule_of((), file, function) is None


def test_current():
    assert settings.current() is None
    with settings.within(RULES):
        assert settings.current() == RULES
        with settings.within(False):
            assert settings.current() is None
        assert settings.current() == RULES
    assert settings.current() is None


@pytest.mark.parametrize("fill_value", [math.nan, complex(math.nan, 1), -0.0, 0.5, -1, True])
def test_a_second_read_with_a_fill_value_compiles_nothing(fill_value, caplog):
    """JAX compiled each operation anew for each NaN, as no NaN equals another."""
    x = jnp.ones(4, jnp.result_type(fill_value))

    def read(number):
        return jaxops.at(x)[jnp.array([1, 9])].get(mode="fill", fill_value=number)

    read(x.dtype.type(0))
    read(fill_value)
    with jax.log_compiles():
        result = read(np.array(fill_value, x.dtype))  # another object
    assert not [r for r in caplog.records if r.message.startswith("Compiling")]
    assert np.asarray(result).tobytes() == np.array([1, fill_value], x.dtype).tobytes()
