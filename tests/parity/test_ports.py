"""The functions of docs/porting.md, before and after: values and gradients are the same."""

import functools
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from peer import tf

import jaxops
from jaxops.compat import v0

PAGE = (Path(__file__).parents[2] / "docs" / "porting.md").read_text()
SHOWN = re.findall(r"^```python\n(def .*?)^```$", PAGE, re.M | re.S)  # before, after, before, ...


def defined(codes: list[str], **modules: Any) -> Any:
    """The functions of these codes, which use the modules."""
    for code in codes:
        exec(code, modules)
    return SimpleNamespace(**modules)


ports_before = defined(SHOWN[::2], tf=tf)
ports_after = defined(SHOWN[1::2], jax=jax, jnp=jnp, lax=lax, jaxops=jaxops, v0=v0)

# TensorFlow 0.x's names that TensorFlow 2 lacks.
tf0 = SimpleNamespace(
    **{name: getattr(tf, name) for name in ("shape", "reshape", "tile", "gather", "range")},
    unpack=tf.unstack,
    pack=tf.stack,
    to_int32=lambda x: tf.cast(x, tf.int32),
    floor=tf.floor,
    clip_by_value=tf.clip_by_value,
    expand_dims=lambda x, dim: tf.expand_dims(x, dim),
)


class Port(NamedTuple):
    """A function before and after, and its arguments; those that are floats have gradients."""

    before: Callable[..., Any]
    after: Callable[..., Any]
    arguments: tuple[np.ndarray, ...]


def floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape).astype(np.float32)


def ints(rng: np.random.Generator, bound: int, *shape: int) -> np.ndarray:
    return rng.integers(0, bound, shape).astype(np.int32)


def dense(weights, tanh):
    return lambda rows: tanh(rows @ weights)


def expert_layers(function, *options):
    """`function` of weights that are one array; the draws are, as those of gradients are."""
    return lambda x, gates, weights: function(x, gates, [*weights], *options)


def make_ports(seed: int) -> dict[str, Port]:
    rng = np.random.default_rng(seed)
    crf = (floats(rng, 3, 5, 4), 1 + ints(rng, 5, 3), floats(rng, 4, 4))
    padding = (rng.random((3, 4)) < 0.4).astype(np.float32)
    x = floats(rng, 12, 3)
    places = [(6 * rng.random((2, 4, 3)) - 1).astype(np.float32) for _ in "xy"]
    return {
        "extend_beams": Port(
            ports_before.extend_beams,
            ports_after.extend_beams,
            (floats(rng, 2, 3, 7), floats(rng, 2, 3), ints(rng, 7, 2, 3, 4)),
        ),
        "crf_log_likelihood": Port(
            ports_before.crf_log_likelihood,
            ports_after.crf_log_likelihood,
            (crf[0], ints(rng, 4, 3, 5), *crf[1:]),
        ),
        "viterbi_decode": Port(ports_before.viterbi_decode, ports_after.viterbi_decode, crf),
        "without_padding": Port(
            lambda x, w: ports_before.without_padding(dense(w, tf.tanh), x, tf.constant(padding)),
            lambda x, w: ports_after.without_padding(dense(w, jnp.tanh), x, padding, 12),
            (floats(rng, 3, 4, 5), floats(rng, 5, 2)),
        ),
        "mixture_of_experts": Port(
            expert_layers(ports_before.mixture_of_experts),
            expert_layers(ports_after.mixture_of_experts, 12),
            (x, floats(rng, 12, 4), floats(rng, 4, 3, 2)),
        ),
        "sample_bilinear": Port(
            functools.partial(ports_before.sample_bilinear, tf=tf0),
            ports_after.sample_bilinear,
            (floats(rng, 2, 4, 5, 3), *places),
        ),
    }


def is_float(x: Any) -> bool:
    return np.asarray(x).dtype.kind == "f"


def weights(r: Any) -> np.ndarray:
    """Numbers by which each element of a result counts in another way."""
    return np.cos(np.arange(np.size(r), dtype=np.float32)).reshape(r.shape)


def test_all_functions_that_the_page_shows_are_run():
    names = [re.match(r"def (\w+)", code) for code in SHOWN]
    assert [m and m[1] for m in names] == [name for name in make_ports(0) for _ in range(2)]


@pytest.fixture(autouse=True)
def settings_of_users():
    with jax.numpy_rank_promotion("allow"):
        yield


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", make_ports(0))
def test_port(name, seed):
    port = make_ports(seed)[name]
    which = [n for n, x in enumerate(port.arguments) if is_float(x)]
    tensors = [tf.Variable(x) if is_float(x) else tf.constant(x) for x in port.arguments]
    with tf.GradientTape() as tape:
        theirs = port.before(*tensors)
        leaves = theirs if isinstance(theirs, tuple) else (theirs,)
        sums = [tf.reduce_sum(r * weights(r)) for r in leaves if is_float(r)]
        loss = tf.add_n(sums)
    their_gradients = tape.gradient(loss, [tensors[n] for n in which])

    def our_loss(*arguments):
        results = jax.tree.leaves(port.after(*arguments))
        return sum(jnp.sum(r * weights(r)) for r in results if r.dtype.kind == "f")

    arguments = [*map(jnp.asarray, port.arguments)]
    for call in (port.after, jax.jit(port.after)):
        ours = jax.tree.leaves(call(*arguments))
        for x, y in zip(ours, leaves, strict=True):
            np.testing.assert_allclose(x, y, 1e-5, 1e-5)
    gradients = jax.jit(jax.grad(our_loss, which))(*arguments)
    for x, y in zip(gradients, their_gradients, strict=True):
        expected = np.zeros(x.shape) if y is None else tf.convert_to_tensor(y)
        np.testing.assert_allclose(x, expected, 1e-4, 1e-5)
