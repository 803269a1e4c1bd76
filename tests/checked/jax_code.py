"""Functions of an array `[4, 3]` and of indices `[2]` into its rows, as users write them."""

import functools
import operator

import jax
import jax.numpy as jnp
import jax.ref
import numpy as np
from jax import lax

X = jnp.arange(12.0).reshape(4, 3)
GOOD = jnp.array([2, 3])
BAD = jnp.array([1, 4])  # of which the second is out of bounds
FIRST_BAD = jnp.array([4, 1])
KEYS = jax.random.split(jax.random.key(0), 4)
MESH = jax.make_mesh((1,), ("d",), devices=jax.devices()[:1])


def _by_keywords(x, i, **kwargs):
    return jnp.take(x, i, axis=0, **kwargs)


def _written(x, write):
    """The contents of an array reference after the call `write(reference)`."""
    reference = jax.new_ref(x)
    write(reference)
    return reference[...]


# They take the first index, or both; the word is how the message names the way.
READS = {
    "rows": (lambda x, i: x[i], "x[...]"),
    "row": (lambda x, i: x[i[0]] * 1, "x[...]"),
    "row-of-one": (lambda x, i: x[3:][i[0] - 3] * 1, "x[...]"),
    "elements": (lambda x, i: x[i, i % 3], "x[...]"),
    "columns": (lambda x, i: x[:, i - 1], "x[...]"),
    "new-axis": (lambda x, i: x[None, i], "x[...]"),
    "get": (lambda x, i: x.at[i].get(), "x.at[...].get"),
    "get-unfilled": (lambda x, i: x.at[i].get(fill_value=0), "x.at[...].get"),
    "promised": (lambda x, i: x.at[i].get(mode="promise_in_bounds"), "x.at[...].get"),
    "promised-member": (
        lambda x, i: x.at[i].get(mode=lax.GatherScatterMode.PROMISE_IN_BOUNDS),
        "x.at[...].get",
    ),
    "take": (lambda x, i: jnp.take(x, i, axis=0), "take"),
    "take-flat": (lambda x, i: jnp.take(x, i + 8), "take"),
    "take-method": (lambda x, i: x.take(i, axis=0), "take"),
    "take-in-vmap": (lambda x, i: jax.vmap(jnp.take, (None, 0, None))(x, i, 0), "take"),
    "take_along_axis": (lambda x, i: jnp.take_along_axis(x, i[:, None], 0), "take_along_axis"),
    "index_in_dim": (lambda x, i: lax.dynamic_index_in_dim(x, i[0]) * 1, "dynamic_index_in_dim"),
    "slice_in_dim": (
        lambda x, i: lax.dynamic_slice_in_dim(x, i[0] - 1, 2),
        "dynamic_slice_in_dim",
    ),
    "slice-of-all": (
        lambda x, i: lax.dynamic_slice_in_dim(x, i[0] - 2, 4),
        "dynamic_slice_in_dim",
    ),
    "dynamic_slice": (lambda x, i: lax.dynamic_slice(x, (i[0] - 1, 0), (2, 3)), "dynamic_slice"),
    "reduceat": (lambda x, i: jnp.add.reduceat(x, i), "reduceat"),
    "ref": (lambda x, i: jax.new_ref(x)[i], "x[...]"),
    "ref-elements": (lambda x, i: jax.new_ref(x)[i, i % 3], "x[...]"),
    "ref-columns": (lambda x, i: jax.new_ref(x)[1:, i - 1], "x[...]"),
    "ref.get": (lambda x, i: jax.ref.get(jax.new_ref(x), i), "ref.get"),
}
WRITES = {
    **{
        name: (lambda x, i, name=name: getattr(x.at[i], name)(2.0), f"x.at[...].{name}")
        for name in ("set", "add", "subtract", "multiply", "divide", "power", "min", "max")
    },
    "apply": (lambda x, i: x.at[i].apply(jnp.sin), "x.at[...].apply"),
    "set-row": (lambda x, i: x.at[i[0]].set(0.0), "x.at[...].set"),
    "put": (lambda x, i: jnp.put(x, i + 8, 1.0, inplace=False), "put"),
    "put_along_axis": (
        lambda x, i: jnp.put_along_axis(x, i[:, None], 0.0, axis=0, inplace=False),
        "put_along_axis",
    ),
    "ufunc": (lambda x, i: jnp.add.at(x, i, 1.0, inplace=False), "at"),
    "ufunc-in-a-loop": (lambda x, i: jnp.logaddexp.at(x, i, 1.0, inplace=False), "at"),
    **{
        name: (lambda x, i, name=name: getattr(jax.ops, name)(x[:2], i, 4), name)
        for name in ("segment_sum", "segment_prod", "segment_min", "segment_max")
    },
    "update_slice": (
        lambda x, i: lax.dynamic_update_slice(x, x[:1], (i[0], 0)),
        "dynamic_update_slice",
    ),
    "update_in_dim": (
        lambda x, i: lax.dynamic_update_index_in_dim(x, x[0], i[0], 0),
        "dynamic_update_index_in_dim",
    ),
    "ref-set": (lambda x, i: _written(x, lambda ref: ref.__setitem__(i, X[:2])), "x[...]"),
    "ref.set": (lambda x, i: _written(x, lambda ref: jax.ref.set(ref, i, X[:2])), "ref.set"),
    "ref.swap": (lambda x, i: _written(x, lambda ref: jax.ref.swap(ref, i, X[:2])), "ref.swap"),
    "ref.add": (
        lambda x, i: _written(x, lambda ref: jax.ref.addupdate(ref, i, X[:2])),
        "ref.addupdate",
    ),
    "update-of-one": (
        lambda x, i: lax.dynamic_update_index_in_dim(x[3:], x[0], i[0] - 3, 0),
        "dynamic_update_index_in_dim",
    ),
}
# By way of a function of JAX, or by one that JAX calls by its name.
WAYS = {
    "vmap": (lambda x, i: jax.vmap(lambda j: x[j])(i), "x[...]"),
    "vmap-take": (lambda x, i: jax.vmap(lambda j: jnp.take(x, j, axis=0))(i), "take"),
    "vmap-at": (lambda x, i: jax.vmap(lambda j: x.at[j].set(0.0))(i), "x.at[...].set"),
    "vmap-of-vmap": (
        lambda x, i: jax.vmap(jax.vmap(lambda r, j: r[j], (None, 0)), (1, None))(x, i),
        "x[...]",
    ),
    "vmap-name": (lambda x, i: jax.vmap(jnp.take, (None, 0))(x.ravel(), i + 8), "take"),
    "vmap-axis": (
        lambda x, i: jax.vmap(jnp.take_along_axis, (1, None, None))(x, i, 0),
        "take_along_axis",
    ),
    "vmap-jit": (lambda x, i: jax.vmap(jax.jit(x.__getitem__))(i), "x[...]"),
    "vmap-ref": (lambda x, i: jax.vmap(lambda column: jax.new_ref(column)[i], 1)(x), "x[...]"),
    # Eagerly jax 0.12 does not take a start that is an array.
    "jit-ds": (lambda x, i: jax.jit(lambda j: x[jax.ds(j[1] - 1, 2)])(i), "x[...]"),
    "jit-ds-elements": (
        lambda x, i: jax.jit(lambda j: x[jax.ds(j[1] - 1, 2), j % 3])(i),
        "x[...]",
    ),
    "jit-ds-set": (
        lambda x, i: jax.jit(lambda j: x.at[jax.ds(j[1] - 1, 2)].set(0.0))(i),
        "x.at[...].set",
    ),
    # Eagerly there is no `at`, and JAX looks at the start of a slice; it has no `vmap` of one.
    "jit-ref-part": (lambda x, i: jax.jit(lambda j: jax.new_ref(x).at[1:][j])(i - 1), "x[...]"),
    "jit-ref-part-set": (
        lambda x, i: jax.jit(lambda j: _written(x, lambda ref: ref.at[1:].__setitem__(j, X[:2])))(
            i - 1
        ),
        "x[...]",
    ),
    "jit-ref-slice": (
        lambda x, i: jax.jit(lambda j: jax.new_ref(x)[jax.ds(j - 1, 2)])(i[1]),
        "x[...]",
    ),
    "jit-ref-steps": (
        lambda x, i: jax.jit(lambda j: jax.new_ref(x)[jax.ds(j - 2, 2, 2)])(jnp.int32(i[1])),
        "x[...]",
    ),
    "map-name": (lambda x, i: lax.map(x.__getitem__, i), "x[...]"),
    "map-partial": (lambda x, i: lax.map(functools.partial(jnp.take, x, axis=0), i), "take"),
    "jit-name": (lambda x, i: jax.jit(jnp.take)(x, i + 8), "take"),
    "jit-method": (lambda x, i: jax.jit(x.take)(i + 8), "take"),
    "jit-partial": (lambda x, i: jax.jit(functools.partial(jnp.take, x))(i + 8), "take"),
    "jit-segments": (
        lambda x, i: jax.jit(jax.ops.segment_sum, static_argnums=2)(x[:2], i, 4),
        "segment_sum",
    ),
    "jit-slice": (
        lambda x, i: jax.jit(lax.dynamic_slice, static_argnums=2)(x, (i[1], 0), (1, 3)),
        "dynamic_slice",
    ),
    "checkpoint-name": (lambda x, i: jax.checkpoint(jnp.take)(x, i + 8), "take"),
    "shard_map-name": (
        lambda x, i: jax.shard_map(jnp.take, mesh=MESH, in_specs=jax.P(), out_specs=jax.P())(
            x.ravel(), i + 8
        ),
        "take",
    ),
    "vectorize-name": (
        lambda x, i: jnp.vectorize(jnp.take, excluded={0})(x.ravel(), i + 8),
        "take",
    ),
    "grad-name": (lambda x, i: jax.grad(jnp.take)(x, i[1] + 8), "take"),
    "tree-name": (lambda x, i: jax.tree.map(functools.partial(jnp.take, axis=0), x, i), "take"),
    "keys": (lambda x, i: jax.random.key_data(KEYS[i]), "x[...]"),
    "operator": (lambda x, i: operator.getitem(x, i), "x[...]"),
    "bound-method": (lambda x, i: x.at[i].add(1.0), "x.at[...].add"),
    "no-mode": (lambda x, i: functools.partial(jnp.take, mode=None)(x, i + 8), "take"),
    "table": (lambda x, i: jnp.arange(4.0)[i], "x[...]"),
    "numpy-table": (lambda x, i: jnp.asarray(np.arange(4.0))[i], "x[...]"),
    "mixed": (lambda x, i: x[[1, 2], i - 1], "x[...]"),
    "lax-gather": (
        lambda x, i: lax.gather(
            x, i[:, None], lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 3)
        ),
        "gather",
    ),
    "lax-scatter": (
        lambda x, i: lax.scatter_add(
            x, i[:, None], x[:2], lax.ScatterDimensionNumbers((1,), (0,), (0,))
        ),
        "scatter_add",
    ),
}
PROGRAMS = READS | WRITES | WAYS
# Those that take the first index alone.
OF_FIRST = {
    *("row", "row-of-one", "index_in_dim", "slice_in_dim", "slice-of-all", "dynamic_slice"),
    *("set-row", "update_slice", "update_in_dim", "update-of-one"),
}


def bad_for(name):
    return FIRST_BAD if name in OF_FIRST else BAD


CLIP = "clip"


# They say what becomes of an index out of bounds, or JAX does.
SILENT = {
    "clip": lambda x, i: jnp.take(x, i, axis=0, mode="clip"),
    "variable": lambda x, i: jnp.take(x, i, axis=0, mode=CLIP),
    "positional": lambda x, i: jnp.take(x, i, 0, None, CLIP),
    "enum": lambda x, i: x.at[i].get(mode=lax.GatherScatterMode.FILL_OR_DROP),
    "functools.partial": lambda x, i: functools.partial(jnp.take, axis=0, mode=CLIP)(x, i),
    "vmap-partial": lambda x, i: jax.vmap(functools.partial(jnp.take, mode=CLIP), (None, 0))(
        x.ravel(), i + 8
    ),
    "jit-partial": lambda x, i: jax.jit(functools.partial(jnp.take, mode=CLIP))(x, i + 8),
    "jit-static": lambda x, i: jax.jit(jnp.take, static_argnames=["mode"])(x, i + 8, mode=CLIP),
    "fill_value": lambda x, i: jnp.take(x, i, axis=0, fill_value=0),
    "fill_value-method": lambda x, i: x.take(i, axis=0, fill_value=0),
    "fill_value-axis": lambda x, i: jnp.take_along_axis(x, i[:, None], 0, fill_value=0),
    "choose": lambda x, i: jnp.choose(i, jnp.arange(4), mode=CLIP),
    "ravel_multi_index": lambda x, i: jnp.ravel_multi_index((i, 0 * i), (4, 3), mode=CLIP),
    "index_take": lambda x, i: lax.index_take(x, [i], (0,)),  # type: ignore  # counts modulo the size
    "insert": lambda x, i: jnp.insert(x[:, 0], i, 1.0),  # clips
    "wrap": lambda x, i: _by_keywords(x, i, mode="wrap"),
    "fill": lambda x, i: x.at[i].get(mode="fill", fill_value=0),
    "drop": lambda x, i: x.at[i].set(0.0, mode="drop"),
    "partial": lambda x, i: jax.tree_util.Partial(jnp.take, axis=0, mode="clip")(x, i),
    "along-axis": lambda x, i: jnp.take_along_axis(x, i[:, None], 0, mode="clip"),
    "segments": lambda x, i: jax.ops.segment_sum(x[:2], i, 4, mode="drop"),
    "no-segment": lambda x, i: jax.ops.segment_sum(x[:2], jnp.minimum(-i, -1), 4),
    "lax": lambda x, i: lax.gather(
        x,
        i[:, None],
        lax.GatherDimensionNumbers((1,), (0,), (0,)),
        (1, 3),
        mode=lax.GatherScatterMode.CLIP,
    ),
    "put-clip": lambda x, i: jnp.put(x, i + 8, 1.0, mode="clip", inplace=False),
    "nonzero": lambda x, i: jnp.nonzero(x, size=20),
    "where": lambda x, i: jnp.where(x > 3, size=20),
    "unique": lambda x, i: jnp.unique(i, size=5),
    "bincount": lambda x, i: jnp.bincount(i, length=3),
    "histogram": lambda x, i: jnp.histogram(x, bins=3),
    "searchsorted": lambda x, i: jnp.searchsorted(x[:, 0], i * 9),
    "interp": lambda x, i: jnp.interp(i * 100.0, x[:, 0], x[:, 1]),
    "sort": lambda x, i: jnp.sort(x[::-1], axis=0),
    "argsort": lambda x, i: jnp.argsort(x[::-1], axis=0),
    "median": lambda x, i: jnp.median(x, axis=0),
    "percentile": lambda x, i: jnp.percentile(x, jnp.array([0.0, 50.0, 100.0])),
    "top_k": lambda x, i: lax.top_k(x, 2),
    "choice": lambda x, i: jax.random.choice(jax.random.key(0), x, (3,), replace=False),
    "permutation": lambda x, i: jax.random.permutation(jax.random.key(0), x),
    "repeat": lambda x, i: jnp.repeat(x[:2], i, axis=0, total_repeat_length=4),
    "one_hot": lambda x, i: jax.nn.one_hot(i, 3),
    "convolve": lambda x, i: jnp.convolve(x[0], x[1]),
    "roll": lambda x, i: jnp.roll(x, i, (0, 1)),
    "gradient": lambda x, i: jnp.gradient(x, axis=0),
    "map_coordinates": lambda x, i: jax.scipy.ndimage.map_coordinates(
        x, [i * 1.0, i * 1.0], order=1
    ),
    "ravel": lambda x, i: jnp.unravel_index(i * 9, (4, 3)),
    "select": lambda x, i: jnp.select([x > 3, x > 5], [x, -x]),
    "tri": lambda x, i: x[jnp.triu_indices(3)],
    "diag": lambda x, i: jnp.fill_diagonal(x, 1.0, inplace=False),
    "associative_scan": lambda x, i: lax.associative_scan(jnp.add, x),
    "cumsum": lambda x, i: jnp.cumsum(x, axis=0),
    "accumulate": lambda x, i: jnp.logaddexp.accumulate(x),
    "segment-of-sort": lambda x, i: jnp.unique(x, size=20, return_inverse=True),
    "poly": lambda x, i: jnp.polyfit(jnp.arange(4.0), x[:, 0], 1),
    "linalg": lambda x, i: jnp.linalg.svd(x)[1],
    "isin": lambda x, i: jnp.isin(x, i * 9),
    "take-of-none": lambda x, i: jnp.take(x, jnp.zeros((0,), int), axis=0),
}
