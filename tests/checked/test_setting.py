"""What `outside` says of a function."""

import pytest

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
