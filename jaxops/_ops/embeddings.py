"""embedding_lookup, embedding_lookup_sparse and safe_embedding_lookup_sparse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxops._indexing import bounds, canonical, masks, policy
from jaxops._indexing.dimension_numbers import ROWS, Windows
from jaxops._indexing.policy import Mode
from jaxops._indexing.specs import DefaultId, ScalarIndex, VectorIndex, padding_of
from jaxops._ops.sparse_tensor import SparseTensor, parts_of
from jaxops._ops.sums import wide
from jaxops._run.arguments import ArrayLike, Int, brief
from jaxops._run.dispatch import operation
from jaxops._run.static_values import check_bool, check_choice, static_int, static_number

_COMBINERS = ("mean", "sqrtn", "sum")


def embedding_lookup(
    params: ArrayLike | Sequence[ArrayLike],
    ids: ArrayLike,
    max_norm: float | None = None,
    name: str | None = None,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
    deterministic: bool = False,
) -> jax.Array:
    """Rows of a table, one for each id.

    Follows `tf.nn.embedding_lookup`: `gather(params, ids)` of one table. Differs from it in: index
    dtypes (every integer type); tables that are not the parts of one table are refused; rows scaled
    to `max_norm` have other last bits, and those of halves are scaled in float32.

    Args:
        params: table of shape `[V, ...]` and any dtype, or host strings; or a list of tables, which
            are the parts of one, in turn and of equal numbers of rows, of which the first may have
            one more (TensorFlow's partition_strategy "div"). TensorFlow 0.x and 1.x deal the rows
            out ("mod") unless told otherwise; docs/porting.md makes one table of such a list.
            A list is joined: the lookup copies its tables. Traced.
        ids: integer array of shape `I`. Negative ids are out of bounds. Traced.
        max_norm: static number or None; a row whose l2-norm is larger is scaled to that norm, in
            tables of real floats.
        mode: static; what an id out of bounds does. `"device"`: an error on the CPU, 0 elsewhere.
            `"error"`: an error everywhere. `"fill"`: 0. `"clip"`, `"wrap"`, `"promise_in_bounds"`
            as in `gather`.
        padding_index: static int or None; an id of this number reads 0, has no gradient, and is no
            error under any `mode`.
        deterministic: static bool; whether the gradient adds rows in a fixed order, as in `gather`.

    Returns:
        Array of shape `I + [...]` and dtype of `params`; for host strings a NumPy array.

    Raises:
        OutOfBoundsError: an id is out of bounds, in an eager call, where `mode` makes that an
            error. Compiled code raises JAX's exception with the same text.
        TypeError: wrong dtype or type of an argument.
        ValueError: wrong rank, shape or value of an argument.

    Gradient: scatter-add of the cotangent; `sparse_value_and_grad` makes it IndexedSlices for a
    single table. None for `ids`.

    Example:
        >>> import jax.numpy as jnp, jaxops
        >>> jaxops.nn.embedding_lookup(jnp.array([[1.0, 2.0], [3.0, 4.0]]), [1, 0])
        Array([[3., 4.],
               [1., 2.]], dtype=float32)
    """
    op = "embedding_lookup"
    return _lookup.run(
        op,
        params=_tables(params, op, "params"),
        ids=ids,
        name=name,
        mode=mode,
        padding_index=padding_index,
        moves_elements=max_norm is None,
        max_norm=_norm(max_norm, op),
        deterministic=check_bool(deterministic, op, "deterministic"),
    )


def embedding_lookup_sparse(
    params: ArrayLike | Sequence[ArrayLike],
    sp_ids: SparseTensor,
    sp_weights: SparseTensor | None,
    combiner: str | None = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
    deterministic: bool = False,
) -> jax.Array:
    """Rows of a table, summed or averaged over the ids in each row of a sparse matrix.

    Follows `tf.nn.embedding_lookup_sparse`. Differs from it in: the result has as many rows as
    `sp_ids.dense_shape` says, where TensorFlow's ends with the last row that has an id; the ids may
    come in any order; no RaggedTensor; weighted means, and rows scaled to `max_norm`, have other
    last bits.

    Args:
        params: table or tables, as in `embedding_lookup`. Traced.
        sp_ids: SparseTensor of rank 2 at least, with integer values: an id at a place counts for
            the row that the first component names, wherever in the row it stands. Traced but for
            its `dense_shape`.
        sp_weights: SparseTensor of real numbers, one for each id, or None: each weight is 1.
        combiner: static. "sum": of the rows times the weights. "mean" (the default): that divided
            by the sum of the weights. "sqrtn": divided by the root of the sum of their squares.
        max_norm: static number or None; a row of the table whose l2-norm is larger is scaled to
            that norm, of which a negative one counts as 0.
        allow_fast_lookup: static bool; of no effect: TensorFlow computes with or without `unique`.
        mode: static; what an id out of bounds does, as in `embedding_lookup`, and a place out of
            bounds, whose row is then dropped.
        padding_index: static int or None; an id of this number is left out: it counts in no mean,
            and is no error under any `mode`.
        deterministic: static bool; whether rows are added in a fixed order, bit for bit repeatable.

    Returns:
        Array of shape `[dense_shape[0]] + params.shape[1:]` and dtype of `params`; 0 for a row
        without ids, or with weights that sum up to 0.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `embedding_lookup`.

    Gradient: as `embedding_lookup` for `params`; also for the values of `sp_weights`.

    Example:
        >>> import jax.numpy as jnp, jaxops
        >>> ids = jaxops.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 3, 0], (2, 2))
        >>> jaxops.nn.embedding_lookup_sparse(jnp.eye(4), ids, None)
        Array([[0. , 0.5, 0. , 0.5],
               [1. , 0. , 0. , 0. ]], dtype=float32)
    """
    op = "embedding_lookup_sparse"
    ids = parts_of(sp_ids, op, "sp_ids")
    if len(ids.dense_shape) < 2:
        raise ValueError(
            f"{op}: sp_ids must have rank 2 at least; received shape {ids.dense_shape}"
        )
    return _run_sparse(
        op,
        {"params": params, "sp_ids": ids, "sp_weights": sp_weights},
        "mean" if combiner is None else combiner,
        max_norm,
        allow_fast_lookup,
        deterministic,
        name=name,
        mode=mode,
        padding_index=padding_index,
    )


def safe_embedding_lookup_sparse(
    embedding_weights: ArrayLike | Sequence[ArrayLike],
    sparse_ids: SparseTensor,
    sparse_weights: SparseTensor | None = None,
    combiner: str = "mean",
    default_id: Int | None = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
    *,
    mode: Mode = "device",
    padding_index: Int | None = None,
    deterministic: bool = False,
) -> jax.Array:
    """Does what `embedding_lookup_sparse` does, without negative ids and with a default row.

    A place without ids gets the default row.

    Follows `tf.nn.safe_embedding_lookup_sparse`. Differs from it in: the ids may come in any order;
    no RaggedTensor; the tables may have any rank from 1.

    Args:
        embedding_weights: table or tables, as `params` in `embedding_lookup`. Traced.
        sparse_ids: SparseTensor of integers, of rank 1 at least: ids whose places differ only in
            the last component are combined. Negative ids are left out, in every `mode` but
            `"error"`.
        sparse_weights: SparseTensor of real numbers, one for each id, or None. Ids whose weight is
            not positive are left out, unless the combiner is "sum".
        combiner: static; as in `embedding_lookup_sparse`.
        default_id: static int or None: the row of the table for places without ids; None: 0s. An
            id out of bounds does what `mode` says, if there is such a place.
        max_norm: static number or None, as in `embedding_lookup_sparse`.
        allow_fast_lookup: static bool, as in `embedding_lookup_sparse`.
        mode: static; what an id that is too large does, as in `embedding_lookup_sparse`.
            `"error"` looks at every id: a negative one is an error too, and one that is left out
            by its weight.
        padding_index: static int or None, as in `embedding_lookup_sparse`.
        deterministic: static bool, as in `embedding_lookup_sparse`.

    Returns:
        Array of shape `dense_shape[:-1] + embedding_weights.shape[1:]` and dtype of the table.

    Raises:
        OutOfBoundsError, TypeError, ValueError: as `embedding_lookup`.

    Gradient: as `embedding_lookup_sparse`.

    Example:
        >>> import jax.numpy as jnp, jaxops
        >>> ids = jaxops.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, -1, 0], (3, 2))
        >>> jaxops.nn.safe_embedding_lookup_sparse(jnp.eye(2), ids)
        Array([[0., 1.],
               [0., 0.],
               [1., 0.]], dtype=float32)
    """
    op = "safe_embedding_lookup_sparse"
    ids = parts_of(sparse_ids, op, "sparse_ids")
    if not ids.dense_shape:
        raise ValueError(f"{op}: sparse_ids must have rank 1 at least; received a scalar")
    default = {} if default_id is None else {"default_id": static_int(default_id, op, "default_id")}
    return _run_sparse(
        op,
        {
            "embedding_weights": embedding_weights,
            "sparse_ids": ids,
            "sparse_weights": sparse_weights,
        },
        combiner,
        max_norm,
        allow_fast_lookup,
        deterministic,
        name=name,
        mode=mode,
        padding_index=padding_index,
        is_safe=True,
        **default,
    )


def _run_sparse(op, arguments, combiner, max_norm, allow_fast_lookup, deterministic, **options):
    """`arguments` are the tables, the parts of the ids, and the weights, by TensorFlow's names."""
    (table_arg, tables), (ids_arg, ids), (weights_arg, weights) = arguments.items()
    check_choice(combiner, _COMBINERS, op, "combiner")
    check_bool(allow_fast_lookup, op, "allow_fast_lookup")
    arrays = {
        table_arg: _tables(tables, op, table_arg),
        f"{ids_arg}.values": ids.values,
        f"{ids_arg}.indices": ids.indices,
    }
    if weights is not None:
        parts = parts_of(weights, op, weights_arg)
        if parts[2:] != ids[2:]:
            raise ValueError(
                f"{op}: {weights_arg} must have the places of {ids_arg}; received "
                f"{parts.count} values of shape {parts.dense_shape} for {ids.count} "
                f"ids of shape {ids.dense_shape}"
            )
        arrays[f"{weights_arg}.values"] = parts.values
    return _lookup_sparse.run(
        op,
        **arrays,
        **options,
        indexed=ids.dense_shape,
        args=(table_arg, ids_arg, weights_arg),
        dense_shape=ids.dense_shape if "is_safe" in options else ids.dense_shape[:2],
        combiner=combiner,
        max_norm=_norm(max_norm, op),
        deterministic=check_bool(deterministic, op, "deterministic"),
    )


def _tables(params: Any, op: str, arg: str) -> list[Any]:
    tables = params if isinstance(params, list) else [params]
    if not tables:
        raise ValueError(f"{op}: {arg} must hold one table at least; received []")
    return tables


def _norm(max_norm: Any, op: str) -> float | None:
    if max_norm is None:
        return None
    if isinstance(max_norm, str):
        raise TypeError(
            f"{op}: max_norm must be a static number; received {brief(max_norm)}; "
            "TensorFlow 1's partition_strategy is always 'div' here"
        )
    # TensorFlow takes a negative norm for 0 (test_embeddings.py, test_a_negative_norm_is_0). NaN
    # stays.
    return max(float(static_number(max_norm, op, "max_norm")), 0.0)


def _table(tables: list[jax.Array], op: str, arg: str) -> jax.Array:
    """The table that was divided."""
    for n, table in enumerate(tables):
        if table.ndim == 0:
            raise ValueError(f"{op}: {arg} must have rank 1 at least; received a scalar")
        if table.shape[1:] != tables[0].shape[1:]:
            raise ValueError(
                f"{op}: {arg} must agree in all dimensions but the first; received shapes "
                f"{tables[0].shape} and {table.shape}, of {arg}[{n}]"
            )
    rows = [table.shape[0] for table in tables]
    each, more = divmod(sum(rows), len(rows))
    if rows != [each + (n < more) for n in range(len(rows))]:
        raise ValueError(
            f"{op}: {arg} must be tables of equal numbers of rows, of which the first may have one "
            f"more; received {rows}"
        )
    return lax.concatenate(tables, 0)


@operation(data=("params[]",), indices=("ids",), like="params[0]")
def _lookup(
    params: list[jax.Array],
    ids: jax.Array,
    *,
    op: str,
    max_norm: float | None,
    padding_index: int | None,
    **options: Any,
):
    table = _table(params, op, "params")
    if max_norm is not None and not jnp.issubdtype(table.dtype, jnp.floating):
        raise TypeError(
            f"{op}: params must have a real float dtype where max_norm is given; "
            f"received {table.dtype}"
        )
    return _rows(table, ids, max_norm, _id_spec(op, table, padding_index), **options)


def _id_spec(op, table, padding_index, of=ScalarIndex):
    limits = table.shape[:1]
    return of(op, limits, padding=padding_of(padding_index, limits))


def _rows(table, ids, max_norm, spec, **options):
    rows = canonical.gather(table, ids[..., None], ROWS, spec, **options)
    return rows if max_norm is None else _clipped(rows, ids.ndim, max_norm)


def _clipped(rows, ids_ndim, max_norm):
    """The rows scaled to a norm of `max_norm` at most."""
    dtype = rows.dtype
    rows = rows.astype(wide(dtype))
    squares = jnp.sum(rows * rows, axis=range(ids_ndim, rows.ndim), keepdims=True)
    is_positive = squares > 0
    # The derivative of the root is infinite at 0 (test_embeddings.py,
    # test_no_gradient_is_lost_where_a_row_is_0).
    norms = jnp.where(is_positive, jnp.sqrt(jnp.where(is_positive, squares, 1)), squares)
    largest = jnp.asarray(max_norm, rows.dtype)
    # A row of this norm has the gradient of a scaled one, as in TensorFlow: a table that was
    # projected has such rows (test_embeddings.py,
    # test_gradient_of_a_row_whose_norm_is_the_largest).
    return (rows * largest / jnp.where(norms < largest, largest, norms)).astype(dtype)


@operation(
    data=("params[]", "embedding_weights[]", "sp_weights.values", "sparse_weights.values"),
    # As an index, `default_id` may be a number that int32 does not hold.
    indices=(
        *("sp_ids.values", "sp_ids.indices", "sparse_ids.values", "sparse_ids.indices"),
        "default_id",
    ),
)
def _lookup_sparse(
    *,
    op: str,
    args: tuple[str, str, str],
    dense_shape: tuple[int, ...],
    combiner: str,
    max_norm: float | None,
    padding_index: int | None,
    is_safe: bool = False,
    default_id: jax.Array | None = None,
    **options: Any,
):
    table_arg, ids_arg, weights_arg = args
    table = _table(options.pop(table_arg), op, table_arg)
    ids = options.pop(f"{ids_arg}.values")
    places = options.pop(f"{ids_arg}.indices")[:, : len(dense_shape) - 1]
    weights = options.pop(f"{weights_arg}.values", None)
    if not jnp.issubdtype(table.dtype, jnp.floating):
        raise TypeError(f"{op}: {table_arg} must have a real float dtype; received {table.dtype}")
    # TensorFlow adds narrow floats in float32 (test_embeddings.py,
    # test_halves_with_weights_are_summed_as_floats).
    dtype = wide(table.dtype)
    if weights is not None:
        weights = weights.astype(dtype)
    limits, mode_of_places = dense_shape[:-1], options["mode"]
    spec = _id_spec(op, table, padding_index)
    is_padding = bounds.padding(ids[:, None], spec)
    if is_safe or is_padding is not None:
        counts = jnp.ones(ids.shape, bool) if is_padding is None else ~is_padding
        if is_safe:
            looked_up = ids >= 0
            if weights is not None and combiner != "sum":
                looked_up &= weights > 0
            counts &= looked_up
            if mode_of_places != "error":  # which looks at every id
                kept = looked_up if is_padding is None else looked_up | is_padding
                # An id that is left out reads row 0. The sum below skips that row, which may be
                # infinite (test_embeddings.py, test_ids_of_one_dimension_are_all_combined).
                ids = jnp.where(kept, ids, 0)
        if weights is not None:
            weights = jnp.where(counts, weights, 0)
        places, limits = _where_counted(counts, places, dense_shape, op, mode_of_places)
        mode_of_places = "fill"
    rows = _rows(table, ids, max_norm, spec, **options).astype(dtype)
    if weights is None:
        weights = jnp.ones(ids.shape, dtype)
    else:
        rows = rows * weights[(..., *[None] * (rows.ndim - 1))]

    def summed(updates, mode):
        zeros = jnp.zeros((*limits, *updates.shape[1:]), updates.dtype)
        windows = Windows(axes=tuple(range(len(limits))), batch_dims=0)
        spec = _place_spec(op, limits, dense_shape)
        total = canonical.scatter(
            "add", zeros, places, updates, windows, spec, **(options | {"mode": mode})
        )
        return total.reshape(*dense_shape[:-1], *updates.shape[1:])

    total = summed(rows, mode_of_places)
    # One check of the places is enough.
    unchecked = "fill" if mode_of_places in ("device", "error") else mode_of_places
    over_total = (..., *[None] * (table.ndim - 1))
    if combiner != "sum":
        by = summed(weights if combiner == "mean" else weights**2, unchecked)[over_total]
        is_nothing = by == 0
        by = jnp.where(is_nothing, 1, by)  # before the root, which has no derivative at 0
        total = total / (by if combiner == "mean" else jnp.sqrt(by))
        total = masks.where(is_nothing, jnp.zeros((), dtype), total)
    if default_id is not None:
        is_empty = summed(counts.astype(jnp.int32), unchecked)[over_total] == 0
        # A default id that no place needs may be out of bounds, as in TensorFlow
        # (test_embeddings.py, test_a_default_id_out_of_bounds).
        number = jnp.where(is_empty.any(), default_id, 0)
        row = _rows(table, number, max_norm, _id_spec(op, table, None, DefaultId), **options)
        total = masks.where(is_empty, row.astype(dtype), total)
    return total.astype(table.dtype)


def _where_counted(counts, places, dense_shape, op, mode):
    """The checked `places` of the ids that count, others out of bounds; and their limits.

    A sum skips places out of bounds. To add 0s instead would write all of the rows once more.
    """
    limits = dense_shape[:-1]
    places, _ = policy.resolve(_place_spec(op, limits, dense_shape), places, mode)
    if not limits:  # all ids are combined, and no place is out of bounds
        limits, places = (1,), jnp.zeros((*counts.shape, 1), jnp.int32)
    # An id that does not count goes nowhere. A safe lookup took five fourths of the time while such
    # an id added zeros.
    nowhere = jnp.array(jnp.iinfo(places.dtype).max, places.dtype)
    return jnp.where(counts[:, None], places, nowhere), limits


def _place_spec(op, limits, dense_shape):
    return VectorIndex(op, limits=limits, noun="shape", shape=dense_shape, indices_ndim=2)
