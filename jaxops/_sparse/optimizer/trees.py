"""Parameters and states of an optimizer as lists of leaves, and which leaves hold rows of tables.

A leaf of the state belongs to a table if it grows as the table does: `init` is evaluated for types,
with the table and with a longer one. For Adam and row-wise Adagrad of a table of shape [9, 4] and
of shape [10, 4] that gives

    leaf                 9 rows      10 rows
    count                []          []          shared by all rows
    mu                   [9, 4]      [10, 4]     rows of the table
    sum_of_squares       [9]         [10]        rows of the table, of one number each
    v_col of Adafactor   [4]         [4]         shared: but a mean over rows, as `probe.py` finds
    flattened            [36]        [40]        neither: refused
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxops import _symbolic
from jaxops._run import arguments

OP = "lazy"

# What JAX raises where an optimizer decides by values in Python, and so cannot be traced.
LOOKS_AT_VALUES = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)


class WrongStructure(ValueError):
    """An optimizer returns another structure than it must."""


class Params(NamedTuple):
    """Parameters without their values."""

    paths: list[str]
    types: Sequence[jax.ShapeDtypeStruct]
    structure: Any

    def with_rows(self, sizes: Mapping[int, int]) -> Params:
        """The parameters with other numbers of rows in some tables."""
        types = list(self.types)
        for n, size in sizes.items():
            types[n] = jax.ShapeDtypeStruct((size, *types[n].shape[1:]), types[n].dtype)
        return self._replace(types=types)


def flatten(params: Any) -> tuple[Params, list[jax.Array]]:
    """The parameters without their values, and their leaves."""
    with_paths, structure = jax.tree_util.tree_flatten_with_path(params)
    paths = [jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in with_paths]
    leaves = [
        arguments.to_operand(leaf, OP, f"parameter {path!r}")
        for path, (_, leaf) in zip(paths, with_paths, strict=True)
    ]
    for path, leaf in zip(paths, leaves, strict=True):
        if not _symbolic.are_known(leaf.shape):
            raise ValueError(
                f"{OP}: parameter {path!r} must have a known shape; received {leaf.shape}. Export "
                "the step for this number of rows; the number of indices may be symbolic"
            )
    types = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves]
    return Params(paths, types, structure), leaves


def leaves_like(tree: Any, structure: Any, what: str) -> list:
    """The leaves of a result of the optimizer, which must have this structure."""
    leaves, received = jax.tree.flatten(tree)
    if received != structure:
        raise WrongStructure(
            f"{OP}: the optimizer's {what} must have the structure {structure}; received {received}"
        )
    return leaves


class Call(NamedTuple):
    """An optimizer and the structures of its arguments, which are lists of leaves here."""

    optimizer: Any
    kinds: Params
    state_structure: Any
    extra: Mapping[str, Any]

    def update(self, gradients: Sequence, inputs: Sequence) -> list:
        """Updates and new state, from gradients and from the leaves of parameters and state."""
        structure = self.kinds.structure
        leaves, states = inputs[: len(gradients)], inputs[len(gradients) :]
        updates, new_state = self.optimizer.update(
            structure.unflatten(gradients),
            self.state_structure.unflatten(states),
            structure.unflatten(leaves),
            **self.extra,
        )
        return [
            *leaves_like(updates, structure, "updates"),
            *leaves_like(new_state, self.state_structure, "state"),
        ]

    def unflatten(self, leaves: Sequence) -> tuple[Any, Any]:
        """Parameters and state."""
        count = len(self.kinds.types)
        params = self.kinds.structure.unflatten(leaves[:count])
        return params, self.state_structure.unflatten(leaves[count:])


def is_value(x: Any) -> bool:
    """Whether an extra argument is a value, which may change from step to step."""
    return isinstance(x, (jax.Array, np.ndarray, np.generic, float))


class States(NamedTuple):
    """Shapes of the leaves of an optimizer's state, and the table whose rows each leaf holds."""

    shapes: list[tuple[int, ...]]
    owners: list[int | None]  # None: shared by all rows
    problems: dict[int, str]  # of tables with a state that is not rows of theirs


def off_mesh() -> contextlib.AbstractContextManager:
    """A context without a mesh of explicit axes, as the arrays of small runs are on none."""
    if not jax.sharding.get_abstract_mesh().explicit_axes:
        return contextlib.nullcontext()
    return jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), ()))


def state_types(optimizer: Any, params: Params) -> Any:
    with off_mesh():
        return jax.eval_shape(optimizer.init, params.structure.unflatten(params.types))


def other_structure(rows: str) -> str:
    """The message about an optimizer whose state has another structure for so many rows."""
    return (
        f"{OP}: the optimizer must keep a state of the same structure for tables of any number of "
        f"rows; received one that keeps another for {rows}. If a function of the parameters makes "
        "labels or a mask by their shapes, call it once and pass what it returns, as "
        "optax.multi_transform(transforms, labels(params))"
    )


def states(optimizer: Any, params: Params, depths: Mapping[int, int]) -> States:
    """The states, and each leaf's table, found by the shapes of states of tables with more rows.

    Args:
        optimizer: as for `lazy`.
        params: the parameters.
        depths: by table, along how many axes rows are counted: more than one for elements.
    """
    # Each table gets another number of rows more, by which it is recognized.
    more = {n: params.types[n].shape[0] + 1 + place for place, n in enumerate(depths)}
    try:
        state, new_state = (state_types(optimizer, p) for p in (params, params.with_rows(more)))
    except LOOKS_AT_VALUES as error:
        raise ValueError(
            f"{OP}: the optimizer's init must work under jax.eval_shape, without values; received "
            f"one that raises {type(error).__name__}"
        ) from error
    types, new_types = map(jax.tree.leaves, (state, new_state))
    found = States([t.shape for t in types], [None] * len(types), {})
    if jax.tree.structure(state) != jax.tree.structure(new_state):
        return found._replace(problems=dict.fromkeys(depths, other_structure("one row more")))
    for place, (old, new) in enumerate(zip(types, new_types, strict=True)):
        shape, new_shape = old.shape, new.shape
        are_numbers = isinstance(old.dtype, np.dtype)
        if shape == new_shape:
            continue
        dims = list(zip(shape, new_shape, strict=False))
        own = [
            n
            for n, depth in depths.items()
            if dims[:1] == [(params.types[n].shape[0], more[n])]
            and shape[1:] == new_shape[1:]
            and shape[:depth] == params.types[n].shape[:depth]
        ]
        if own and are_numbers:
            found.owners[place] = own[0]
            continue
        grown = [n for n in depths if (params.types[n].shape[0], more[n]) in dims]
        for n in grown or depths:
            found.problems[n] = (
                f"{OP}: the optimizer must keep a row of its state for each row of table "
                f"{params.paths[n]!r} of shape {params.types[n].shape}, along the first axis; "
                f"received one that keeps {'' if are_numbers else 'random keys of '}{shape} for it"
            )
    return found
