"""Whole functions of TensorFlow code, as docs/porting.md shows them before they are ported."""

from __future__ import annotations

from types import SimpleNamespace

from peer import tf


def extend_beams(log_probs, scores, sequences):
    """The best continuations of each example's sequences by one token."""
    batch, beams, vocabulary = tf.unstack(tf.shape(log_probs))
    totals = tf.reshape(scores[:, :, None] + log_probs, [batch, beams * vocabulary])
    scores, places = tf.math.top_k(totals, beams)
    parents, tokens = places // vocabulary, places % vocabulary
    sequences = tf.gather(sequences, parents, batch_dims=1)
    return tf.concat([sequences, tokens[:, :, None]], 2), scores


def crf_log_likelihood(inputs, tags, lengths, transitions):
    """How likely `tags` are among all sequences of tags, by a conditional random field."""
    batch, steps, _ = tf.unstack(tf.shape(inputs))
    mask = tf.sequence_mask(lengths, steps, inputs.dtype)
    unary = tf.gather(inputs, tags, axis=2, batch_dims=2)
    binary = tf.gather_nd(transitions, tf.stack([tags[:, :-1], tags[:, 1:]], 2))
    score = tf.reduce_sum(unary * mask, 1) + tf.reduce_sum(binary * mask[:, 1:], 1)

    def step(alphas, emissions):
        return tf.reduce_logsumexp(alphas[:, :, None] + transitions, 1) + emissions

    by_step = tf.transpose(inputs, [1, 0, 2])
    alphas = tf.concat([by_step[:1], tf.scan(step, by_step[1:], by_step[0])], 0)
    last = tf.gather_nd(alphas, tf.stack([lengths - 1, tf.range(batch)], 1))
    return score - tf.reduce_logsumexp(last, 1)


def viterbi_decode(inputs, lengths, transitions):
    """The likeliest tags, and their scores."""
    _, steps, tags = tf.unstack(tf.shape(inputs))
    by_step = tf.transpose(inputs, [1, 0, 2])
    counts = tf.transpose(tf.sequence_mask(lengths, steps))[:, :, None]
    stay = tf.zeros_like(by_step[0], tf.int32) + tf.range(tags)

    def step(state, now):
        emissions, counts = now
        candidates = state[0][:, :, None] + transitions
        scores = tf.where(counts, tf.reduce_max(candidates, 1) + emissions, state[0])
        return scores, tf.where(counts, tf.argmax(candidates, 1, tf.int32), stay)

    scores, came_from = tf.scan(step, (by_step[1:], counts[1:]), (by_step[0], stay))
    last = tf.argmax(scores[-1], 1, tf.int32)

    def back(tag, came_from):
        return tf.gather(came_from, tag, axis=1, batch_dims=1)

    path = tf.scan(back, came_from, last, reverse=True)
    return tf.transpose(tf.concat([path, last[None]], 0)), tf.reduce_max(scores[-1], 1)


def without_padding(function, x, padding):
    """`function` of the rows of `x` that are no padding; 0 for the others."""
    rows = tf.reshape(x, [-1, tf.shape(x)[-1]])
    kept = tf.where(tf.reshape(padding, [-1]) < 1e-9)
    outputs = function(tf.gather_nd(rows, kept))
    shape = tf.concat([tf.shape(rows)[:1], tf.shape(outputs)[1:]], 0)
    outputs = tf.scatter_nd(kept, outputs, tf.cast(shape, tf.int64))
    return tf.reshape(outputs, tf.concat([tf.shape(x)[:-1], shape[1:]], 0))


def mixture_of_experts(x, gates, weights):
    """Each row of `x`, through the expert with the highest gate."""
    expert = tf.argmax(gates, 1, tf.int32)
    count = len(weights)
    parts = tf.dynamic_partition(x, expert, count)
    places = tf.dynamic_partition(tf.range(tf.shape(x)[0]), expert, count)
    outputs = [tf.matmul(part, weight) for part, weight in zip(parts, weights, strict=True)]
    return tf.reduce_max(gates, 1)[:, None] * tf.dynamic_stitch(places, outputs)


def sample_bilinear(images, x, y, tf):
    """The images at places `x`, `y`, in pixels, of a spatial transformer; TensorFlow 0.x."""
    batch, height, width, channels = tf.unpack(tf.shape(images))
    _, rows, columns = tf.unpack(tf.shape(x))
    flat = tf.reshape(images, tf.pack([batch * height * width, channels]))
    first = tf.reshape(tf.range(batch) * height * width, tf.pack([batch, 1, 1]))
    first = tf.tile(first, tf.pack([1, rows, columns]))
    left, top = tf.floor(x), tf.floor(y)

    def pixels(column, row):
        column = tf.clip_by_value(tf.to_int32(column), 0, width - 1)
        row = tf.clip_by_value(tf.to_int32(row), 0, height - 1)
        return tf.gather(flat, first + row * width + column)

    across, down = tf.expand_dims(x - left, 3), tf.expand_dims(y - top, 3)
    above = (1 - across) * pixels(left, top) + across * pixels(left + 1, top)
    below = (1 - across) * pixels(left, top + 1) + across * pixels(left + 1, top + 1)
    return (1 - down) * above + down * below


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
