"""docs/from_jnp.md: each row of its table, and its functions before and after."""

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from docs_pages import DOCS
from jax import lax
from refusals.values import IN_JIT

import jaxops
from jaxops import testing

PAGE = (DOCS / "from_jnp.md").read_text()
SHOWN = re.findall(r"^\| `(.*)` \| (\w.*) \| `(.*)` \| (.*) \|$", PAGE, re.M)


class Row(NamedTuple):
    """What a row of the page says, as code of JAX."""

    code: str
    jaxops: str
    instead: str = ""  # of what is out of bounds; none: no index can be that
    same: Callable[[Any], Any] = lambda y: y  # of the results of jaxops those of JAX
    silent: bool = False  # also with jaxops


def finite(y):
    return jnp.where(jnp.isfinite(y), y, jnp.sign(y) * jnp.finfo(y.dtype).max)


FITS = "x[jnp.minimum(i, 3)]"
KEPT = "x.at[i[:1]].{}(v[:1])"
ROWS = [
    Row("x[i]", "jaxops.gather(x, i)", FITS),
    Row("x[i, j]", "jaxops.gather_nd(x, jnp.stack([i, j], -1))", "x[jnp.minimum(i, 3), j]"),
    Row("x[:, i]", "jaxops.gather(x, i, axis=1)", "x[:, jnp.minimum(i, 2)]"),
    Row(
        'x.at[i].get(mode="fill", fill_value=0)',
        'jaxops.gather(x, i, mode="fill")',
        "jnp.stack([x[i[0]], jnp.zeros(3)])",
        silent=True,
    ),
    Row("x.at[i].set(v)", "jaxops.at(x)[i].set(v)", KEPT.format("set")),
    *[
        Row(
            f"x.at[i].{theirs}(v)",
            f"jaxops.tensor_scatter_nd_{ours}(x, i[:, None], v)",
            KEPT.format(theirs),
        )
        for theirs, ours in {"add": "add", "subtract": "sub", "min": "min", "max": "max"}.items()
    ],
    Row("x.at[i].multiply(v)", "jaxops.at(x)[i].multiply(v)", KEPT.format("multiply")),
    Row("x.at[i, j].set(0.0)", "jaxops.at(x)[i, j].set(0.0)", "x.at[i[0], j[0]].set(0.0)"),
    Row(
        "jnp.take(x, i, axis=0)",
        "jaxops.gather(x, i)",
        "jnp.stack([x[i[0]], jnp.full(3, jnp.nan)])",
    ),
    Row(
        'jnp.take(x, i, axis=0, mode="fill", fill_value=0)',
        'jaxops.gather(x, i, mode="fill")',
        "jnp.stack([x[i[0]], jnp.zeros(3)])",
        silent=True,
    ),
    Row(
        'jnp.take(x, i, axis=0, mode="clip")',
        'jaxops.gather(x, i, mode="clip")',
        FITS,
        silent=True,
    ),
    Row(
        'jnp.take(x, i, axis=0, mode="wrap")',
        'jaxops.gather(x, i, mode="wrap")',
        "x[jnp.stack([i[0], 0])]",
        silent=True,
    ),
    Row(
        "jnp.take_along_axis(x, k, axis=1)",
        "jaxops.take_along_axis(x, k, axis=1)",
        "jnp.take_along_axis(x, k, axis=1).at[0, 0].set(jnp.nan)",
    ),
    Row(
        "lax.dynamic_slice(x, (b, 0), (2, 3))",
        "jaxops.slice(x, jnp.stack([b, 0]), (2, 3))",
        "x[2:]",
    ),
    Row(
        "lax.dynamic_update_slice(x, v, (b, 0))",
        "jaxops.at(x)[b + jnp.arange(2)].set(v)",
        "x.at[2:].set(v)",
    ),
    *[
        Row(
            f"jax.ops.segment_{kind}(x, s, num_segments=4)",
            f"jaxops.unsorted_segment_{kind}(x, s, 4)",
            f"jax.ops.segment_{kind}(x[:3], s[:3], num_segments=4)",
        )
        for kind in ("sum", "prod", "max", "min")
    ],
    Row(
        "jnp.bincount(s, length=4)",
        "jaxops.unsorted_segment_sum(jnp.ones_like(s), s, 4)",
        "jnp.bincount(s[:3], length=4)",
    ),
    Row(
        "jax.nn.one_hot(i, 4)",
        'jaxops.one_hot(i, 4, mode="error")',
        "jax.nn.one_hot(i[:1], 5)[:, :4] * jnp.array([[1], [0]])",
    ),
    Row("jnp.nonzero(m, size=2)", "jaxops.where(m, size=2)", "jnp.nonzero(m)[0][:2]"),
    Row("jnp.unique(s, size=3)", "jaxops.unique(s, size=3)", "jnp.unique(s)[:3]"),
    Row(
        "jnp.repeat(x, r, axis=0, total_repeat_length=4)",
        "jaxops.repeat(x, r, axis=0, size=4)",
        "jnp.repeat(x, r, axis=0)[:4]",
    ),
    Row("jnp.where(m, 1.0, 0.0)", "jaxops.where(m, 1.0, 0.0)"),
    Row(
        "x[jnp.argsort(x[:, 0])]",
        'jaxops.gather(x, jnp.argsort(x[:, 0]), mode="promise_in_bounds")',
    ),
    Row(
        "jnp.take_along_axis(x, jnp.argsort(x, 1), 1)",
        'jaxops.take_along_axis(x, jnp.argsort(x, 1), mode="promise_in_bounds")',
    ),
    Row("lax.top_k(x, 2)", "lax.top_k(x, 2)"),
    Row(
        "x[lax.top_k(x[:, 0], 2)[1]]",
        'jaxops.gather(x, lax.top_k(x[:, 0], 2)[1], mode="promise_in_bounds")',
    ),
]
