"""Lookups in tables of embeddings, by dense ids and by sparse ones."""

import draws
import numpy as np
from draws import Args, Draw, chance, fault, integer, pick
from entries import compared
from entries_indexing import in_bounds, policy
from peer import tf

import jaxops


def _lookup(params, ids, max_norm=None, mode="", deterministic=False):
    ids = in_bounds(ids, params.shape[0], mode)
    return tf.nn.embedding_lookup(params, ids, max_norm)


@compared("embedding_lookup", theirs=_lookup, bounded=True)
def lookup(draw: Draw) -> Args:
    dtype = draws.dtype(draw, draws.FLOATS)
    shape = (integer(draw, 1, 6), *draws.shape(draw, 0, 2, [1, 2, 3]))
    wrong = fault(draw, "out of bounds", percent=20)
    ids = draws.indices(
        draw, draws.shape(draw, 0, 2), shape[0], draws.index_dtype(draw), wrong == "out of bounds"
    )
    args: Args = {"params": draws.array(draw, shape, dtype, "finite"), "ids": ids}
    if len(shape) > 1 and chance(draw, 20):
        # Norms are 0 and powers of 2: no rounding, in gradients neither.
        args["params"] = np.zeros(shape, dtype)
        args["params"].reshape(shape[0], -1)[:, 0] = [0, 1, 2, 4, 8, 16][: shape[0]]
        args["max_norm"] = pick(draw, [1.0, 2.0, 4.0])
    return args | policy(draw, wrong, shape, ("error", "clip", "wrap"))


def sparse(draw: Draw, safe: bool = False) -> Args:
    """Places are in row-major order, as TensorFlow needs them, and the last row has an id.

    Rows have 1 or 4 ids, and powers of 2 for weights, so that means and roots are not rounded.
    """
    dtype = draws.dtype(draw, draws.FLOATS)
    table = draws.array(draw, (integer(draw, 1, 5), integer(draw, 1, 3)), dtype, "finite")
    lengths = [pick(draw, [1, 4, 0] if safe else [1, 4]) for _ in range(integer(draw, 1, 4))]
    lengths[-1] = max(lengths[-1], 1)
    places = [[row, n] for row, length in enumerate(lengths) for n in range(length)]
    wrong = fault(draw, "out of bounds", percent=20)
    index_dtype = draws.dtype_of(pick(draw, ["int32", "int64"]))
    ids = draws.indices(draw, (len(places),), len(table), index_dtype, wrong == "out of bounds")
    if wrong == "out of bounds":
        ids = np.where(ids < 0, len(table), ids)  # a safe lookup leaves the negative ones out
    if safe and chance(draw, 40):
        ids[[row == places[0][0] for row, _ in places]] = -1
    dense_shape = [len(lengths), 4]
    if safe and len(lengths) == 4 and chance(draw, 30):
        places = [[row // 2, row % 2, n] for row, n in places]
        dense_shape = [2, 2, 4]
    if not safe and chance(draw, 30):
        places = [[row, n // 2, n] for row, n in places]
        dense_shape = [len(lengths), 2, 4]
    args: Args = {
        "params": table,
        "ids": ids,
        "places": np.array(places, np.int64),
        "dense_shape": dense_shape,
    }
    if chance(draw, 50):
        weights = np.repeat(np.arange(len(lengths)), lengths)
        args["weights"] = (2.0**weights).astype(dtype)
    if safe and chance(draw, 40):
        args["default_id"] = integer(draw, 0, len(table) - 1)
    return args


def on_sparse_tensors(function, sparse_tensor):
    def call(params, ids, places, dense_shape, combiner, weights=None, **options):
        sp_ids = sparse_tensor(places, ids, dense_shape)
        sp_weights = None if weights is None else sparse_tensor(places, weights, dense_shape)
        return function(params, sp_ids, sp_weights, combiner, **options)

    return call


def compare_on_sparse_tensors(name: str, safe: bool) -> None:
    compared(
        name,
        ours=on_sparse_tensors(getattr(jaxops, name), jaxops.SparseTensor),
        theirs=on_sparse_tensors(getattr(tf.nn, name), tf.SparseTensor),
        data=("params", "ids", "places", "weights"),
        indices=(),
        bounded=True,
        differentiable=("params", "weights"),
    )(lambda draw: sparse(draw, safe))


compare_on_sparse_tensors("embedding_lookup_sparse", safe=False)
compare_on_sparse_tensors("safe_embedding_lookup_sparse", safe=True)
