"""Rows of the functions of docs/from_jnp.md, before and after."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from row import Row, floats, ints

import jaxops

PAGE = (Path(__file__).parents[1] / "docs" / "from_jnp.md").read_text()
CODES = re.findall(r"^```python\n(def .*?)^```$", PAGE, re.M | re.S)  # before, after, before, ...


def defined(codes: list[str]) -> Any:
    names = {"jax": jax, "jnp": jnp, "lax": lax, "jaxops": jaxops}
    for code in codes:
        exec(code, names)
    return SimpleNamespace(**names)


BEFORE, AFTER = defined(CODES[::2]), defined(CODES[1::2])


def padded_graph(n):
    nodes, edges = n(10_000, 4), n(80_000, 6)
    senders, receivers = ints(nodes, 2, edges)
    senders[edges // 2 :] = receivers[edges // 2 :] = -1
    return floats(nodes, n(32, 3)), floats(edges), senders, receivers


def beams(n):
    count, words = n(64, 3), n(32_000, 6)
    return floats(count), ints(words, count, n(128, 4)), floats(count, words), np.int32(2)


def buffer(n):
    rows, width = n(20_000, 8), n(64, 3)
    sampled = ints(rows, n(16_384, 4))
    return floats(rows, width), np.int32(2), floats(n(1024, 3), width), sampled


def paths(n):
    games, nodes = n(512, 3), n(256, 8)
    parents = np.tile(np.arange(-1, nodes - 1, dtype=np.int32), (games, 1))
    return (
        parents,
        np.zeros((games, nodes), np.int32),
        np.zeros((games, nodes), np.float32),
        ints(min(nodes, 24), games),
        floats(games),
    )


def row(op: str, name: str, what: str, arguments: Any) -> Row:
    before, after = getattr(BEFORE, name), getattr(AFTER, name)
    return Row(op, what, arguments, jaxops=after, jnp=before, groups="checked checked_compile")


ROWS = [
    row("segment_softmax", "attend", "attention of a padded graph", padded_graph),
    row("at", "beam_step", "a step of beam search", beams),
    row("at", "replay", "a replay buffer", buffer),
    row("checked", "backups", "backups of a tree search", paths),
]
