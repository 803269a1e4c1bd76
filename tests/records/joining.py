"""What is known of the functions of `_ops/joining.py`."""

import functools

import jax.numpy as jnp
import numpy as np

import jaxops
from records.arguments import AXIS, DATA, WITH_ROWS, X
from records.loops import array_case, evaluated, floats
from records.record import Case, Record


def joined(xp, pieces):
    """The pieces as one array, because a case has one result; their shapes are tested apart."""
    return xp.concatenate([piece.reshape(-1) for piece in pieces])


def split_case(shape, pieces, axis, sizes):
    return Case(
        lambda x: joined(jnp, jaxops.split(x, pieces, axis)),
        lambda x: joined(np, np.split(x, np.cumsum(sizes)[:-1], axis)),
        (floats(*shape),),
    )


def unstack_case(shape, axis):
    return Case(
        lambda x: joined(jnp, jaxops.unstack(x, axis=axis)),
        lambda x: joined(np, np.moveaxis(x, axis, 0)),
        (floats(*shape),),
    )


def concat_case(shapes, axis):
    return Case(
        lambda *xs: jaxops.concat(xs, axis),
        lambda *xs: np.concatenate(xs, axis),
        tuple(n + floats(*shape) for n, shape in enumerate(shapes)),
    )


def stack_case(shape, count, axis):
    return Case(
        lambda *xs: jaxops.stack(xs, axis),
        lambda *xs: np.stack(xs, axis),
        tuple(n + floats(*shape) for n in range(count)),
    )


tile_case = functools.partial(array_case, jaxops.tile, np.tile)

RECORDS = {
    "concat": Record(
        call={"values": ("arrays", [X, X]), "axis": ("int, or a list of one, in [-2, 2)", 0)},
        cases={
            "": concat_case(((2, 3), (1, 3), (0, 3)), 0),
            "last": concat_case(((2, 1), (2, 3)), -1),
            "one": concat_case(((2, 3),), 0),
        },
        exports=[evaluated(jaxops.concat, "([x, y], 0)", "a, b", "c, b")],
        row="Slicing and joining | `concat`, `concat_v2` | - | split | -",
    ),
    "split": Record(
        call={
            "value": DATA,
            "num_or_size_splits": ("ints, int or ints", [1, -1]),
            "axis": ("int, or a list of one, in [-2, 2)", 0),
            "num": ("int", 2),
        },
        cases={
            "": split_case((2, 6), 3, 1, (2, 2, 2)),
            "sizes": split_case((2, 6), [1, -1, 0, 2], -1, (1, 3, 0, 2)),
            "empty": split_case((0, 4), 2, 0, (0, 0)),
        },
        exports=[
            evaluated(jaxops.split, "(x, 2)", "2*a, b"),
            evaluated(jaxops.split, "(x, [1, -1])", "a, b"),
            evaluated(jaxops.split, "(x, y.shape)", "a + b", "a, b"),
        ],
        row="Slicing and joining | `split`, `split_v` | static sizes | joined | -",
    ),
    "parallel_stack": Record(
        call={"values": ("arrays", [X, X])},
        cases={
            "": Case(
                lambda *xs: jaxops.parallel_stack(xs),
                lambda *xs: np.stack(xs),
                (floats(2, 3), 1 + floats(2, 3)),
            )
        },
        exports=[evaluated(jaxops.parallel_stack, "([x, y])", "a, b", "a, b")],
        row="Slicing and joining | `parallel_stack` | - | unstacked | -",
    ),
    "stack": Record(
        call={"values": ("arrays", [X, X]), "axis": ("int, in [-3, 3)", 0)},
        cases={
            "": stack_case((2, 3), 3, 1),
            "last": stack_case((2, 3), 2, -1),
            "empty": stack_case((2, 0), 2, 0),
        },
        exports=[evaluated(jaxops.stack, "([x, y], 1)", "a, b", "a, b")],
        row="Slicing and joining | `pack`, `stack` | - | unstacked | -",
    ),
    "tile": Record(
        call={"input": DATA, "multiples": ("ints", [1, 2])},
        cases={
            "": tile_case((2, 1, 3), (2, 3, 2)),
            "many": tile_case((1, 2), (70, 33)),
            "none": tile_case((2, 3), (1, 0)),
            "empty": tile_case((0, 3), (2, 2)),
        },
        exports=[
            evaluated(jaxops.tile, "(x, [2, 3])", "a, b"),
            evaluated(jaxops.tile, "(x, (1, *y.shape))", "a, b", "n"),
        ],
        row="Slicing and joining | `tile` | static `multiples` | summed over the copies | -",
    ),
    "unstack": Record(
        call={"value": WITH_ROWS, "num": ("int", 4), "axis": AXIS},
        cases={"": unstack_case((3, 2), 0), "last": unstack_case((2, 1, 3), -1)},
        exports=[evaluated(jaxops.unstack, "(x, axis=1)", "a, 3")],
        row="Slicing and joining | `unpack`, `unstack` | - | stacked | -",
    ),
}
