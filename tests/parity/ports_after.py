"""The functions of ports_before.py on jaxops, as docs/porting.md shows them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

import jaxops
from jaxops.compat import v0


def extend_beams(log_probs, scores, sequences):
    """The best continuations of each example's sequences by one token."""
    batch, beams, vocabulary = log_probs.shape
    totals = jaxops.reshape(scores[:, :, None] + log_probs, [batch, beams * vocabulary])
    scores, places = lax.top_k(totals, beams)
    parents, tokens = places // vocabulary, places % vocabulary
    sequences = jaxops.gather(sequences, parents, batch_dims=1)
    return jaxops.concat([sequences, tokens[:, :, None]], 2), scores


def crf_log_likelihood(inputs, tags, lengths, transitions):
    """How likely `tags` are among all sequences of tags, by a conditional random field."""
    batch, steps, _ = inputs.shape
    mask = (jnp.arange(steps) < lengths[:, None]).astype(inputs.dtype)
    unary = jaxops.gather(inputs, tags, axis=2, batch_dims=2)
    binary = jaxops.gather_nd(transitions, jaxops.stack([tags[:, :-1], tags[:, 1:]], 2))
    score = jnp.sum(unary * mask, 1) + jnp.sum(binary * mask[:, 1:], 1)

    def step(alphas, emissions):
        alphas = jax.nn.logsumexp(alphas[:, :, None] + transitions, 1) + emissions
        return alphas, alphas

    by_step = jaxops.transpose(inputs, [1, 0, 2])
    _, alphas = lax.scan(step, by_step[0], by_step[1:])
    alphas = jaxops.concat([by_step[:1], alphas], 0)
    last = jaxops.gather_nd(alphas, jaxops.stack([lengths - 1, jnp.arange(batch)], 1))
    return score - jax.nn.logsumexp(last, 1)


def viterbi_decode(inputs, lengths, transitions):
    """The likeliest tags, and their scores."""
    _, steps, tags = inputs.shape
    by_step = jaxops.transpose(inputs, [1, 0, 2])
    counts = (jnp.arange(steps)[:, None] < lengths)[:, :, None]
    stay = jnp.broadcast_to(jnp.arange(tags), by_step[0].shape)

    def step(scores, now):
        emissions, counts = now
        candidates = scores[:, :, None] + transitions
        scores = jnp.where(counts, jnp.max(candidates, 1) + emissions, scores)
        return scores, jnp.where(counts, jnp.argmax(candidates, 1), stay)

    scores, came_from = lax.scan(step, by_step[0], (by_step[1:], counts[1:]))
    last = jnp.argmax(scores, 1)

    def back(tag, came_from):
        tag = jaxops.gather(came_from, tag, axis=1, batch_dims=1)
        return tag, tag

    _, path = lax.scan(back, last, came_from, reverse=True)
    return jaxops.transpose(jaxops.concat([path, last[None]], 0)), jnp.max(scores, 1)


def without_padding(function, x, padding, size):
    """`function` of the rows of `x` that are no padding, `size` at most; 0 for the others."""
    rows = jaxops.reshape(x, [-1, x.shape[-1]])
    is_kept = jaxops.reshape(padding, [-1]) < 1e-9
    nowhere = len(rows)  # reads 0, and writes nothing
    kept = jaxops.boolean_mask(jnp.arange(len(rows)), is_kept, size=size, fill_value=nowhere)
    outputs = function(jaxops.gather(rows, kept, mode="fill"))
    shape = [len(rows), outputs.shape[-1]]
    outputs = jaxops.scatter_nd(kept[:, None], outputs, shape, mode="fill")
    return jaxops.reshape(outputs, [*x.shape[:-1], outputs.shape[-1]])


def mixture_of_experts(x, gates, weights, capacity):
    """Each row of `x`, through the expert with the highest gate; each takes `capacity` rows."""
    expert = jnp.argmax(gates, 1)
    rows, count = len(x), len(weights)
    parts = jaxops.dynamic_partition(x, expert, count, size=capacity)
    places = jaxops.dynamic_partition(
        jnp.arange(rows), expert, count, size=capacity, fill_value=rows
    )
    outputs = [jnp.matmul(part, weight) for part, weight in zip(parts, weights, strict=True)]
    joined = jaxops.dynamic_stitch(places, outputs, size=rows, mode="fill")
    return jnp.max(gates, 1)[:, None] * joined


def sample_bilinear(images, x, y):
    """The images at places `x`, `y`, in pixels, of a spatial transformer."""
    batch, height, width, channels = v0.unpack(v0.shape(images))
    _, rows, columns = v0.unpack(v0.shape(x))
    flat = v0.reshape(images, v0.pack([batch * height * width, channels]))
    first = v0.reshape(jnp.arange(batch) * height * width, v0.pack([batch, 1, 1]))
    first = v0.tile(first, v0.pack([1, rows, columns]))
    left, top = jnp.floor(x), jnp.floor(y)

    def pixels(column, row):
        column = jnp.clip(v0.to_int32(column), 0, width - 1)
        row = jnp.clip(v0.to_int32(row), 0, height - 1)
        return v0.gather(flat, first + row * width + column)

    across, down = v0.expand_dims(x - left, 3), v0.expand_dims(y - top, 3)
    above = (1 - across) * pixels(left, top) + across * pixels(left + 1, top)
    below = (1 - across) * pixels(left, top + 1) + across * pixels(left + 1, top + 1)
    return (1 - down) * above + down * below
