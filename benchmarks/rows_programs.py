"""Rows of programs of several ops: one step of what people train and serve.

Each contender is written as its library's users write it, and jitted as one program. Parameters
and what a step changes are arguments; a step that trains returns its loss and the gradients.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from peers import tf, torch
from row import Row, floats, ints, permutation

import jaxops

PROGRAM = "programs compile"


def twenty(n):
    return floats(n(65_536, 4), n(128, 3)), [ints(n(65_536, 4), n(1024, 3))] * 20


def sum_of_gathers(table, indices, **options):
    return sum(jaxops.gather(table, index, **options) for index in indices)


def torch_gradients(loss, parameters):
    parameters = [parameter.detach().requires_grad_() for parameter in parameters]
    value = loss(*parameters)
    return value.detach(), *torch.autograd.grad(value, parameters)


def tensorflow_gradients(loss, parameters):
    with tf.GradientTape() as tape:
        tape.watch(parameters)
        value = loss(*parameters)
    return value, *tape.gradient(value, parameters)


def jax_gradients(loss, parameters):
    value, gradients = jax.value_and_grad(loss, tuple(range(len(parameters))))(*parameters)
    return value, *gradients


# A layer of a graph network: messages along edges, summed at their receivers.


def graph(n):
    nodes, width = n(10_000, 4), n(64, 3)
    return floats(nodes, width), floats(width, width) / 64, ints(nodes, 2, n(80_000, 6))


def graph_layer(gather, segment_sum, matmul, relu, mean):
    def loss(x, w, edges):
        messages = gather(matmul(x, w), edges[0])
        return mean(relu(segment_sum(messages, edges[1], x.shape[0]) - 100) ** 2)

    return loss


def jaxops_graph(x, w, edges):
    loss = graph_layer(
        jaxops.gather, jaxops.unsorted_segment_sum, jnp.matmul, jax.nn.relu, jnp.mean
    )
    return jax_gradients(lambda x, w: loss(x, w, edges), (x, w))


def jnp_graph(x, w, edges):
    loss = graph_layer(lambda x, i: x[i], jax.ops.segment_sum, jnp.matmul, jax.nn.relu, jnp.mean)
    return jax_gradients(lambda x, w: loss(x, w, edges), (x, w))


def tensorflow_graph(x, w, edges):
    loss = graph_layer(
        tf.gather, tf.math.unsorted_segment_sum, tf.matmul, tf.nn.relu, tf.reduce_mean
    )
    return tensorflow_gradients(lambda x, w: loss(x, w, edges), (x, w))


def torch_graph(x, w, edges):
    loss = graph_layer(
        lambda x, i: torch.index_select(x, 0, i),
        lambda x, i, size: x.new_zeros(size, x.shape[1]).index_add(0, i, x),
        torch.matmul,
        torch.relu,
        torch.mean,
    )
    return torch_gradients(lambda x, w: loss(x, w, edges), (x, w))


# A graph attention layer: a softmax over the edges that end at a node.


def attention_graph(n):
    nodes = n(10_000, 4)
    return floats(nodes, n(64, 3)), floats(nodes, 2) / 8, ints(nodes, 2, n(80_000, 6))


def graph_attention(gather, segment_sum, segment_max, exp, mean, stop_gradient):
    def loss(x, logits, edges):
        nodes = x.shape[0]
        senders, receivers = edges[0], edges[1]
        score = gather(logits[:, 0], senders) * gather(logits[:, 1], receivers)
        highest = stop_gradient(segment_max(score, receivers, nodes))
        weight = exp(score - gather(highest, receivers))
        total = segment_sum(weight, receivers, nodes)
        weight = weight / gather(total, receivers)
        return mean(segment_sum(weight[:, None] * gather(x, senders), receivers, nodes) ** 2)

    return loss


def jaxops_attention(x, logits, edges):
    loss = graph_attention(
        jaxops.gather,
        jaxops.unsorted_segment_sum,
        jaxops.unsorted_segment_max,
        jnp.exp,
        jnp.mean,
        jax.lax.stop_gradient,
    )
    return jax_gradients(lambda x, logits: loss(x, logits, edges), (x, logits))


def jnp_attention(x, logits, edges):
    loss = graph_attention(
        lambda x, i: x[i],
        jax.ops.segment_sum,
        jax.ops.segment_max,
        jnp.exp,
        jnp.mean,
        jax.lax.stop_gradient,
    )
    return jax_gradients(lambda x, logits: loss(x, logits, edges), (x, logits))


def tensorflow_attention(x, logits, edges):
    loss = graph_attention(
        tf.gather,
        tf.math.unsorted_segment_sum,
        tf.math.unsorted_segment_max,
        tf.exp,
        tf.reduce_mean,
        tf.stop_gradient,
    )
    gradients = tensorflow_gradients(lambda x, logits: loss(x, logits, edges), (x, logits))
    return [tf.convert_to_tensor(gradient) for gradient in gradients]


def torch_attention(x, logits, edges):
    loss = graph_attention(
        lambda x, i: torch.index_select(x, 0, i),
        lambda x, i, size: x.new_zeros(size, *x.shape[1:]).index_add(0, i, x),
        lambda x, i, size: x.new_full((size,), -torch.inf).scatter_reduce(
            0, i.long(), x, "amax", include_self=False
        ),
        torch.exp,
        torch.mean,
        torch.detach,
    )
    return torch_gradients(lambda x, logits: loss(x, logits, edges), (x, logits))


# An embedding bag: the mean of 16 rows of a table for each example, and its sparse gradient.


def bags(n):
    rows, width = n(100_000, 4), n(64, 3)
    return floats(rows, width), ints(rows, n(4096, 3), n(16, 2)), floats(width)


def bag_loss(lookup):
    def loss(table, ids, w):
        return ((lookup(table, ids).mean(1) @ w - 100) ** 2).mean()

    return loss


def jaxops_bag(table, ids, w):
    step = jaxops.sparse_value_and_grad(bag_loss(jaxops.gather), tables=lambda path, leaf: True)
    return step(table, ids, w)


def jnp_bag(table, ids, w):
    return jax.value_and_grad(bag_loss(lambda table, ids: table[ids]))(table, ids, w)


def tensorflow_bag(table, ids, w):
    def loss(table):
        means = tf.reduce_mean(tf.gather(table, ids), 1)
        return tf.reduce_mean((tf.linalg.matvec(means, w) - 100) ** 2)

    return tensorflow_gradients(loss, (table,))


def torch_bag(table, ids, w):
    def loss(table):
        means = torch.nn.functional.embedding_bag(ids, table, mode="mean", sparse=True)
        return ((means @ w - 100) ** 2).mean()

    return torch_gradients(loss, (table,))


def dense_gradient(answer):
    """The loss, and the gradient as an array of the table's shape."""
    loss, gradient = answer
    if isinstance(gradient, jaxops.IndexedSlices):
        return loss, gradient.to_dense()
    if hasattr(gradient, "dense_shape"):
        return loss, tf.convert_to_tensor(gradient)
    return loss, gradient.to_dense() if getattr(gradient, "is_sparse", False) else gradient


# A step of a beam search: scores, the best of all beams' words, their beams' pasts.


def beams(n):
    batch, width, words, time = n(16, 2), n(4, 2), n(2000, 5), n(64, 4)
    # Distinct, so that the order of the best does not hang on rounding.
    logits = permutation(batch * width * words).reshape(batch, width, words) / np.float32(1024)
    return (
        floats(batch, width),
        logits.astype(np.float32),
        ints(words, batch, width, time),
        floats(batch, width, time, n(256, 3)),
        ints(time, 1),
    )


def jaxops_beams(scores, logits, sequences, cache, step):
    words, beams = logits.shape[2], scores.shape[1]
    totals = scores[:, :, None] + jax.nn.log_softmax(logits)
    scores, places = jax.lax.top_k(totals.reshape(len(scores), -1), beams)
    parents = places // words
    sequences = jaxops.gather(sequences, parents, batch_dims=1)
    sequences = jax.lax.dynamic_update_index_in_dim(sequences, places % words, step[0], 2)
    return scores, sequences, jaxops.gather(cache, parents, batch_dims=1)


def jnp_beams(scores, logits, sequences, cache, step):
    words, beams = logits.shape[2], scores.shape[1]
    totals = scores[:, :, None] + jax.nn.log_softmax(logits)
    scores, places = jax.lax.top_k(totals.reshape(len(scores), -1), beams)
    parents = places // words
    sequences = jnp.take_along_axis(sequences, parents[:, :, None], 1)
    sequences = sequences.at[:, :, step[0]].set(places % words)
    return scores, sequences, jnp.take_along_axis(cache, parents[:, :, None, None], 1)


def tensorflow_beams(scores, logits, sequences, cache, step):
    words, beams = logits.shape[2], scores.shape[1]
    totals = scores[:, :, None] + tf.nn.log_softmax(logits)
    scores, places = tf.math.top_k(tf.reshape(totals, [scores.shape[0], -1]), beams)
    parents = places // words
    sequences = tf.gather(sequences, parents, batch_dims=1)
    is_now = tf.range(sequences.shape[2]) == step
    sequences = tf.where(is_now, (places % words)[:, :, None], sequences)
    return scores, sequences, tf.gather(cache, parents, batch_dims=1)


def torch_beams(scores, logits, sequences, cache, step):
    words, beams = logits.shape[2], scores.shape[1]
    totals = scores[:, :, None] + torch.log_softmax(logits, -1)
    scores, places = totals.reshape(scores.shape[0], -1).topk(beams)
    parents = places // words
    batch = torch.arange(scores.shape[0])[:, None]
    sequences = sequences[batch, parents]
    sequences[:, :, step[0]] = (places % words).to(torch.int32)
    return scores, sequences, cache[batch, parents]


# Eight steps of decoding: each writes keys and values at its sequence's place, and attends.


def caches(n):
    batch, time, heads, width = n(16, 2), n(512, 16), n(8, 2), n(64, 3)
    new = floats(8, 2, batch, heads, width) / 64
    return floats(2, batch, time, heads, width) / 64, new, ints(time - 8, batch)


def jaxops_decode(caches, new, lengths):
    time = caches.shape[2]
    rows = jnp.arange(caches.shape[1], dtype=lengths.dtype)

    def step(state, new):
        keys, values, lengths = state
        places = jaxops.stack([rows, lengths], axis=1)
        keys = jaxops.tensor_scatter_nd_update(keys, places, new[0])
        values = jaxops.tensor_scatter_nd_update(values, places, new[1])
        scores = jnp.einsum("bhd,bthd->bht", new[0], keys)
        mask = jaxops.sequence_mask(lengths + 1, time)[:, None]
        weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf))
        return (keys, values, lengths + 1), jnp.einsum("bht,bthd->bhd", weights, values)

    (keys, values, _), outputs = jax.lax.scan(step, (caches[0], caches[1], lengths), new)
    return keys, values, outputs


def jnp_decode(caches, new, lengths):
    time = caches.shape[2]
    rows = jnp.arange(caches.shape[1])

    def step(state, new):
        keys, values, lengths = state
        keys = keys.at[rows, lengths].set(new[0])
        values = values.at[rows, lengths].set(new[1])
        scores = jnp.einsum("bhd,bthd->bht", new[0], keys)
        mask = (jnp.arange(time, dtype=lengths.dtype)[None] <= lengths[:, None])[:, None]
        weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf))
        return (keys, values, lengths + 1), jnp.einsum("bht,bthd->bhd", weights, values)

    (keys, values, _), outputs = jax.lax.scan(step, (caches[0], caches[1], lengths), new)
    return keys, values, outputs


def tensorflow_decode(caches, new, lengths):
    keys, values = caches[0], caches[1]
    time, outputs = keys.shape[1], []
    for step in range(new.shape[0]):
        places = tf.stack([tf.range(keys.shape[0]), lengths + step], 1)
        keys = tf.tensor_scatter_nd_update(keys, places, new[step, 0])
        values = tf.tensor_scatter_nd_update(values, places, new[step, 1])
        scores = tf.einsum("bhd,bthd->bht", new[step, 0], keys)
        mask = tf.sequence_mask(lengths + step + 1, time)[:, None]
        weights = tf.nn.softmax(tf.where(mask, scores, -np.inf))
        outputs.append(tf.einsum("bht,bthd->bhd", weights, values))
    return keys, values, tf.stack(outputs)


def torch_decode(caches, new, lengths):
    keys, values = caches[0].clone(), caches[1].clone()
    rows, times = torch.arange(keys.shape[0]), torch.arange(keys.shape[1])
    outputs = []
    for step in range(new.shape[0]):
        keys[rows, lengths + step] = new[step, 0]
        values[rows, lengths + step] = new[step, 1]
        scores = torch.einsum("bhd,bthd->bht", new[step, 0], keys)
        mask = (times <= (lengths + step)[:, None])[:, None]
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
        outputs.append(torch.einsum("bht,bthd->bhd", weights, values))
    return keys, values, torch.stack(outputs)


# A mixture of experts: rows to their experts, which take no more than a capacity, and back.

EXPERTS = 8


def experts(n):
    rows, width, hidden = n(8192, 6), n(128, 3), n(256, 4)
    capacity = n(8192 * 5 // 4 // EXPERTS, 6)
    return (
        floats(rows, width) / 16,
        floats(EXPERTS, width, hidden) / 1024,
        floats(EXPERTS, hidden, width) / 1024,
        floats(rows) / 16,
        ints(EXPERTS, rows),
        capacity,
    )


def jaxops_experts(x, w1, w2, gates, expert, capacity):
    rows = jnp.arange(len(x), dtype=expert.dtype)
    places = jaxops.dynamic_partition(rows, expert, EXPERTS, size=capacity, fill_value=len(x))

    def loss(x, w1, w2):
        parts = jaxops.dynamic_partition(x, expert, EXPERTS, size=capacity)
        hidden = jax.nn.relu(jnp.matmul(jaxops.stack(parts), w1))
        outputs = jaxops.unstack(jnp.matmul(hidden, w2))
        joined = jaxops.dynamic_stitch(places, outputs, size=len(x), mode="fill")
        return jnp.mean((gates[:, None] * joined) ** 2)

    return jax_gradients(loss, (x, w1, w2))


def jnp_experts(x, w1, w2, gates, expert, capacity):
    order = jnp.argsort(expert, stable=True)
    starts = jnp.searchsorted(expert[order], jnp.arange(EXPERTS, dtype=expert.dtype))
    rank = jnp.zeros_like(expert).at[order].set(jnp.arange(len(x), dtype=expert.dtype))
    place = rank - starts[expert].astype(expert.dtype)
    slot = jnp.where(place < capacity, expert * capacity + place, EXPERTS * capacity)

    def loss(x, w1, w2):
        parts = jnp.zeros((EXPERTS * capacity, x.shape[1])).at[slot].set(x, mode="drop")
        hidden = jax.nn.relu(jnp.matmul(parts.reshape(EXPERTS, capacity, -1), w1))
        outputs = jnp.matmul(hidden, w2).reshape(EXPERTS * capacity, -1)
        joined = outputs.at[slot].get(mode="fill", fill_value=0)
        return jnp.mean((gates[:, None] * joined) ** 2)

    return jax_gradients(loss, (x, w1, w2))


def tensorflow_experts(x, w1, w2, gates, expert, capacity):
    places = tf.dynamic_partition(tf.range(x.shape[0]), expert, EXPERTS)

    def loss(x, w1, w2):
        parts = tf.dynamic_partition(x, expert, EXPERTS)
        outputs = [
            tf.matmul(tf.nn.relu(tf.matmul(part[:capacity], w1[k])), w2[k])
            for k, part in enumerate(parts)
        ]
        joined = tf.dynamic_stitch([place[:capacity] for place in places], outputs)
        return tf.reduce_mean((gates[:, None] * joined) ** 2)

    return tensorflow_gradients(loss, (x, w1, w2))


def torch_experts(x, w1, w2, gates, expert, capacity):
    places = [torch.nonzero(expert == k)[:capacity, 0] for k in range(EXPERTS)]

    def loss(x, w1, w2):
        joined = torch.zeros_like(x)
        for k, place in enumerate(places):
            outputs = torch.relu(x[place] @ w1[k]) @ w2[k]
            joined = joined.index_add(0, place, outputs)
        return ((gates[:, None] * joined) ** 2).mean()

    return torch_gradients(loss, (x, w1, w2))


def program(op, what, arguments, jaxops, jnp, tensorflow, torch, **options: Any) -> Row:
    return Row(op, what, arguments, jaxops, tensorflow, jnp, torch=torch, groups=PROGRAM, **options)


ROWS = [
    Row(
        "gather",
        "program of 20 gathers, default bounds and none",
        twenty,
        jaxops=sum_of_gathers,
        groups="compile-bounds",
        quick=True,
    ),
    program(
        "unsorted_segment_sum",
        "graph layer and gradients, 80,000 edges of 64 f32",
        graph,
        jaxops_graph,
        jnp_graph,
        tensorflow_graph,
        torch_graph,
    ),
    program(
        "unsorted_segment_max",
        "graph attention and gradients, 80,000 edges of 64 f32",
        attention_graph,
        jaxops_attention,
        jnp_attention,
        tensorflow_attention,
        torch_attention,
    ),
    program(
        "sparse_value_and_grad",
        "embedding bag, 4,096 means of 16 of 100,000 rows of 64 f32",
        bags,
        jaxops_bag,
        jnp_bag,
        tensorflow_bag,
        torch_bag,
        comparable=dense_gradient,
    ),
    program(
        "gather",
        "step of a beam search, 16 x 4 beams, cache of 64 x 256 f32",
        beams,
        jaxops_beams,
        jnp_beams,
        tensorflow_beams,
        torch_beams,
    ),
    program(
        "tensor_scatter_nd_update",
        "8 steps of decoding, 16 x 512 keys and values of 8 x 64 f32",
        caches,
        jaxops_decode,
        jnp_decode,
        tensorflow_decode,
        torch_decode,
    ),
    program(
        "dynamic_partition",
        "8 experts and gradients, 8,192 rows of 128 f32",
        experts,
        jaxops_experts,
        jnp_experts,
        tensorflow_experts,
        torch_experts,
    ),
]
