"""The table of docs/checked.md that stands `checked` beside `checkify`."""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.experimental import checkify

import jaxops

PAGE = (Path(__file__).parents[2] / "docs" / "checked.md").read_text()
ROWS = re.findall(r"^\| `(.*)` \| (error|silent) \| (error|silent) \|$", PAGE, re.MULTILINE)


def by_checked(function, i):
    try:
        with jaxops.typed_errors():
            jax.block_until_ready(jax.jit(jaxops.checked(function))(i))
    except jaxops.OutOfBoundsError:
        return "error"
    return "silent"


def by_checkify(function, i):
    error, _ = jax.jit(checkify.checkify(function, errors=checkify.index_checks))(i)
    return "error" if error.get() else "silent"


@pytest.mark.parametrize(("code", "checked", "checkified"), ROWS)
def test_row(code, checked, checkified):
    names = {"jax": jax, "jnp": jnp, "lax": lax, "x": jnp.arange(4.0)}
    function = eval(f"lambda i: {code}", names)
    assert by_checked(function, jnp.array([1, 2])) == "silent"
    assert (by_checked(function, jnp.array([1, 7])), by_checkify(function, jnp.array([1, 7]))) == (
        checked,
        checkified,
    )


def test_number_of_rows():
    assert len(ROWS) > 8
