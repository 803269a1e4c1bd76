"""Calls of the functions of `_ops/`: `shaping.py`, `joining.py`, `padding.py`, `reversing.py`."""

import jax.numpy as jnp
import numpy as np
import oracles_shaping as oracles
from case import Case, floats

import jaxops


def same_elements_case(op, shape, result_shape):
    return Case(op, lambda x: oracles.same_elements(x, result_shape), (floats(*shape),))


def transpose_case(shape, perm, same_as=None):
    return Case(
        lambda x: jaxops.transpose(x, perm),
        lambda x: oracles.transpose(x, perm if same_as is None else same_as),
        (floats(*shape),),
    )


def joined(xp, pieces):
    """The pieces as one array, because a case has one result; their shapes are tested apart."""
    return xp.concatenate([piece.reshape(-1) for piece in pieces])


def split_case(shape, pieces, axis, sizes):
    return Case(
        lambda x: joined(jnp, jaxops.split(x, pieces, axis)),
        lambda x: joined(np, oracles.split(x, sizes, axis % len(shape))),
        (floats(*shape),),
    )


def unstack_case(shape, axis):
    return Case(
        lambda x: joined(jnp, jaxops.unstack(x, axis=axis)),
        lambda x: joined(np, oracles.unstack(x, axis % len(shape))),
        (floats(*shape),),
    )


def concat_case(shapes, axis):
    return Case(
        lambda *xs: jaxops.concat(xs, axis),
        lambda *xs: oracles.concat(xs, axis % len(shapes[0])),
        tuple(n + floats(*shape) for n, shape in enumerate(shapes)),
    )


def stack_case(shape, count, axis):
    return Case(
        lambda *xs: jaxops.stack(xs, axis),
        lambda *xs: oracles.stack(xs, axis % (len(shape) + 1)),
        tuple(n + floats(*shape) for n in range(count)),
    )


def tile_case(shape, multiples):
    return Case(
        lambda x: jaxops.tile(x, multiples),
        lambda x: oracles.tile(x, multiples),
        (floats(*shape),),
    )


def pad_case(shape, paddings, mode="CONSTANT"):
    return Case(
        lambda x: jaxops.pad(x, paddings, mode),
        lambda x: oracles.pad(x, paddings, mode),
        (floats(*shape),),
    )


def reverse_case(shape, axis):
    return Case(
        lambda x: jaxops.reverse(x, axis),
        lambda x: oracles.reverse(x, [a % len(shape) for a in axis]),
        (floats(*shape),),
    )


def reverse_sequence_case(shape, lengths, seq_axis, batch_axis):
    return Case(
        lambda x, i, **k: jaxops.reverse_sequence(x, i, seq_axis, batch_axis, **k),
        lambda x, i, **k: oracles.reverse_sequence(x, i, seq_axis, batch_axis, **k),
        (floats(*shape),),
        (np.array(lengths, np.int32),),
        ("device", "error", "clip", "promise_in_bounds"),
    )


CASES = {
    "reshape": same_elements_case(lambda x: jaxops.reshape(x, [3, -1]), (2, 3, 2), (3, 4)),
    "reshape-scalar": same_elements_case(lambda x: jaxops.reshape(x, []), (1, 1), ()),
    "reshape-empty": same_elements_case(lambda x: jaxops.reshape(x, [2, -1]), (0, 3), (2, 0)),
    "squeeze": same_elements_case(jaxops.squeeze, (1, 2, 1), (2,)),
    "squeeze-axis": same_elements_case(lambda x: jaxops.squeeze(x, [-1]), (1, 2, 1), (1, 2)),
    "expand_dims": same_elements_case(lambda x: jaxops.expand_dims(x, -2), (2, 3), (2, 1, 3)),
    "transpose": transpose_case((2, 3, 4), (2, 0, 1)),
    "transpose-default": transpose_case((2, 0, 4), None, (2, 1, 0)),
    "split": split_case((2, 6), 3, 1, (2, 2, 2)),
    "split-sizes": split_case((2, 6), [1, -1, 0, 2], -1, (1, 3, 0, 2)),
    "split-empty": split_case((0, 4), 2, 0, (0, 0)),
    "concat": concat_case(((2, 3), (1, 3), (0, 3)), 0),
    "concat-last": concat_case(((2, 1), (2, 3)), -1),
    "concat-one": concat_case(((2, 3),), 0),
    "stack": stack_case((2, 3), 3, 1),
    "stack-last": stack_case((2, 3), 2, -1),
    "stack-empty": stack_case((2, 0), 2, 0),
    "unstack": unstack_case((3, 2), 0),
    "unstack-last": unstack_case((2, 1, 3), -1),
    "tile": tile_case((2, 1, 3), (2, 3, 2)),
    "tile-many": tile_case((1, 2), (70, 33)),
    "tile-none": tile_case((2, 3), (1, 0)),
    "tile-empty": tile_case((0, 3), (2, 2)),
    "pad": pad_case((2, 3), ((1, 0), (2, 1))),
    "pad-empty": pad_case((0, 2), ((1, 1), (0, 1))),
    "pad-reflect": pad_case((2, 3), ((1, 1), (2, 0)), "REFLECT"),
    "pad-reflect-one": pad_case((1, 4), ((0, 0), (0, 3)), "REFLECT"),
    "pad-symmetric": pad_case((2, 3), ((2, 1), (0, 3)), "SYMMETRIC"),
    "pad-symmetric-empty": pad_case((0, 3), ((0, 0), (1, 1)), "SYMMETRIC"),
    "reverse": reverse_case((2, 3, 2), [0, -1]),
    "reverse-no-axis": reverse_case((2, 3), []),
    "reverse-empty": reverse_case((2, 0), [1]),
    "reverse_sequence": reverse_sequence_case((3, 4), (2, 0, 4), 1, 0),
    "reverse_sequence-before-batch": reverse_sequence_case((4, 2, 3), (1, 3, 4), 0, 2),
    "reverse_sequence-after-batch": reverse_sequence_case((2, 2, 3), (1, 3), 2, 1),
    "reverse_sequence-empty": reverse_sequence_case((0, 2), (), 1, 0),
}
