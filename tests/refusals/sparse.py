"""Refused calls: IndexedSlices, TiedGradient, lazy and sparse_value_and_grad."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false
# pyright: reportAttributeAccessIssue=false

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax

import jaxops
from jaxops import IndexedSlices
from refusals.values import I, U, X, slices


class NoUpdate:
    def init(self, params):
        return params


class StatesInColumns:
    """Keeps the rows of a table in columns."""

    def init(self, params):
        return jax.tree.map(lambda p: jnp.zeros(p.shape[::-1]), params)

    def update(self, grads, state, params):
        return grads, state


def by_length(*lengths):
    """Adam for parameters of these lengths, gradient descent for others."""
    transforms = {True: optax.adam(0.1), False: optax.sgd(0.1)}

    def labels(params):
        return jax.tree.map(lambda x: len(x) in lengths, params)

    return optax.multi_transform(transforms, labels)


class UpdatesInAList:
    def init(self, params):
        return ()

    def update(self, grads, state, params):
        return [grads], state


PARAMS = {"embed": X}
LAZY = jaxops.lazy(optax.sgd(0.1))
ADAM = jaxops.lazy(optax.adam(0.1))
CATCHING_UP = jaxops.lazy(optax.adam(0.1), catch_up=True)


def tied():
    return jaxops.TiedGradient(X, slices())


def over_axis(f):
    return jax.vmap(f, axis_name="i")(jnp.ones(2))


def apply(optimizer, grads, params=PARAMS):
    """The first step."""
    optimizer = jaxops.lazy(optimizer)
    return optimizer.apply(grads, optimizer.init(params), params)


def step_of_rows_that_catch_up(grads=None, extra=None, **changed):
    """With some of the state changed."""
    state = CATCHING_UP.init(PARAMS)._replace(**changed)
    return CATCHING_UP.apply({"embed": grads or slices()}, state, PARAMS, **(extra or {}))


def catch_up(rows, **others):
    params = {**PARAMS, **others}
    return CATCHING_UP.catch_up(params, CATCHING_UP.init(params), rows)


def of_any_number_of_rows(function):
    (n,) = jax.export.symbolic_shape("n")
    return jax.export.export(jax.jit(function))(jax.ShapeDtypeStruct((n, 3), jnp.float32))


MESH = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
EXPLICIT = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Explicit,))


def shared(**others):
    return jaxops.sharded_gather(
        **{"params": X, "indices": I, "axis_name": "d", "mesh": MESH} | others
    )


def mapped(**others):
    """`shared` in the program of the one device of a mesh."""
    return jax.shard_map(lambda: shared(**others), mesh=MESH, in_specs=(), out_specs=jax.P("d"))()


def loss(table):
    return jnp.sum(jaxops.gather(table, [0, 2]))


def of_params(**params):
    """The gradient of a loss of a dict, of the table `embed` in it."""
    return jaxops.sparse_value_and_grad(lambda p: jnp.sum(p["embed"]), tables="embed")(params)


def of_embed(fun, tables="embed", **options):
    return jaxops.sparse_value_and_grad(fun, tables=tables, **options)(PARAMS)


CALLS = {
    "IndexedSlices-values-scalar": (lambda: IndexedSlices(1.0, [0], (4, 3)), ValueError, "must have one row for each of 1 indices, of a shape that dense_shape (4, 3) ends in; received shape ()"),
    "IndexedSlices-values-rows": (lambda: IndexedSlices(U, [0], (4, 3)), ValueError, "must have one row for each of 1 indices, of a shape that dense_shape (4, 3) ends in; received shape (2, 3)"),
    "IndexedSlices-values-row-shape": (
        lambda: IndexedSlices(U[:, :2], [0, 1], (4, 3)), ValueError, "must have one row for each of 2 indices, of a shape that dense_shape (4, 3) ends in; received shape (2, 2)"),
    "IndexedSlices-values-whole-tables": (
        lambda: IndexedSlices(X[None], [0], (4, 3)), ValueError, "must have one row for each of 1 indices, of a shape that dense_shape (4, 3) ends in; received shape (1, 4, 3)"),
    "IndexedSlices-indices-rank": (lambda: IndexedSlices(U, [[0], [1]], (4, 3)), ValueError, "must have rank 1; received shape (2, 1)"),
    "IndexedSlices-dense_shape-missing": (lambda: IndexedSlices(U, [0, 1]), TypeError, "IndexedSlices.__init__() missing 1 required positional argument: 'dense_shape'"),
    "IndexedSlices-dense_shape-negative": (lambda: IndexedSlices(U, [0, 1], (-4, 3)), ValueError, "must not be negative; received (-4, 3)"),
    "IndexedSlices-dense_shape-2**80-rows": (lambda: IndexedSlices(U, [0, 1], (2**80, 3)), ValueError, "must make arrays of less than 2**56 bytes; received (1208925819614629174706176, 3)"),
    "IndexedSlices.add_to-dense-shape": (lambda: slices().add_to(jnp.ones((3, 4))), ValueError, "IndexedSlices: dense must have shape (4, 3); received (3, 4)"),
    "IndexedSlices.add_to-dense-dtype": (lambda: slices().add_to(jnp.ones((4, 3), int)), TypeError, "IndexedSlices: dense must have dtype float32; received int32"),
    "IndexedSlices.add_to-dense-none": (lambda: slices().add_to(None), TypeError, "IndexedSlices: dense must be an array; received None"),
    "IndexedSlices.add_to-dense-list": (lambda: slices().add_to([1.0]), TypeError, "IndexedSlices: dense must be an array; received [1.0]"),
    "IndexedSlices.sum_duplicates-size-missing-in-jit": (
        lambda: jax.jit(lambda s: s.sum_duplicates())(slices()), TypeError, "must be given where indices are traced, as the shape of the result depends on them; received size=None. The number of indices, 2, is"),
    "IndexedSlices.__add__-other-array": (lambda: slices() + U, TypeError, "IndexedSlices: only IndexedSlices can be added to it; received float32[2,3]; for an array write slices.add_to(array), and for a step of an optimizer jaxops.lazy(optimizer)"),
    "IndexedSlices.__add__-other-shape": (lambda: slices() + IndexedSlices(U, [0, 1], (5, 3)), ValueError, "IndexedSlices: a sum must be of one dense_shape; received [(4, 3), (5, 3)]"),
    "IndexedSlices.__add__-other-dtype": (lambda: slices() + IndexedSlices(U.astype(np.int32), [0, 1], (4, 3)), TypeError, "IndexedSlices: a sum must be of one dtype; received ['float32', 'int32']"),
    "IndexedSlices.__add__-other-too-many-rows": (
        lambda: IndexedSlices(np.ones((1, 2**17)), [0], (2**17, 2**17)) + IndexedSlices([1.0], [0], (2**17, 2**17)), ValueError, 'IndexedSlices: dense_shape must have less than 2**31 rows, as more rows take 64-bit indices; received 17179869184; switch 64-bit types on with jax.config.update("jax_enable_x64", True)'),
    "IndexedSlices.__sub__-other-number": (lambda: slices() - 1.0, TypeError, "IndexedSlices: only IndexedSlices can be added to it; received 1.0; for an array write slices.add_to(array), and for a step of an optimizer jaxops.lazy(optimizer)"),
    "IndexedSlices.__mul__-scalar-array": (lambda: slices() * U, ValueError, "IndexedSlices: it can be scaled by a scalar; received float32[2,3]; to scale rows, make a new one of its values"),
    "IndexedSlices.__mul__-scalar-string": (lambda: slices() * "a", TypeError, "IndexedSlices: it can be scaled by a scalar; received 'a'"),
    "IndexedSlices.__mul__-scalar-none": (lambda: slices() * None, TypeError, "IndexedSlices: it can be scaled by a scalar; received None"),
    "IndexedSlices.__truediv__-scalar-slices": (lambda: slices() / slices(), TypeError, "IndexedSlices: it can be scaled by a scalar; received float32[4,3]"),
    "IndexedSlices.__delattr__-values": (lambda: delattr(slices(), "values"), AttributeError, "IndexedSlices: values cannot be deleted"),
    "IndexedSlices.__setattr__-values": (lambda: setattr(slices(), "values", U), AttributeError, "IndexedSlices: values cannot be set; make a new object instead"),
    "TiedGradient-dense-shape": (lambda: jaxops.TiedGradient(jnp.ones((3, 4)), slices()).to_dense(), ValueError, "IndexedSlices: dense must have shape (4, 3); received (3, 4)"),
    "TiedGradient-dense-none": (lambda: jaxops.TiedGradient(None, slices()).to_dense(), TypeError, "IndexedSlices: dense must be an array; received None"),
    "TiedGradient-slices-array": (lambda: jaxops.TiedGradient(jnp.ones((4, 3)), U).to_dense(), TypeError, "must be IndexedSlices; received float32[2,3]"),
    "TiedGradient.__add__-other-slices": (lambda: tied() + slices(), TypeError, "TiedGradient: only another can be added to it; received float32[4,3]; for an array write tied.to_dense() + array"),
    "TiedGradient.__add__-other-number": (lambda: 1.0 + tied(), TypeError, "TiedGradient: only another can be added to it; received 1.0"),
    "TiedGradient.__mul__-scalar-array": (lambda: tied() * U, ValueError, "IndexedSlices: it can be scaled by a scalar; received float32[2,3]"),
    "psum-grads-bool": (lambda: over_axis(lambda x: jaxops.psum({"a": x > 0}, "i")), TypeError, "psum: gradient 'a' must have a numeric dtype; received bool"),
    "psum-grads-stacked": (lambda: over_axis(lambda x: jaxops.psum(jax.tree.map(lambda x: x[None], slices()), "i")), ValueError, "looks batched: call this under jax.vmap"),
    "psum-grads-tied": (
        lambda: over_axis(lambda x: jaxops.psum(jaxops.TiedGradient(X, U), "i")), TypeError, "psum: gradient '' must have IndexedSlices as slices; received an array of shape (2, 3) and dtype float32"),
    "psum-axis_name-none": (lambda: over_axis(lambda x: jaxops.psum(x, None)), TypeError, "must be the name of a mapped axis or a sequence of them; received None"),
    "psum-axis_name-int": (lambda: over_axis(lambda x: jaxops.psum(x, ("i", 0))), TypeError, "must be the name of a mapped axis or a sequence of them; received ('i', 0)"),
    "pmean-grads-int": (lambda: over_axis(lambda x: jaxops.pmean(x.astype(int), "i")), TypeError, "pmean: gradient '' must have a float or complex dtype; received int32"),
    "pmean-axis_name-unknown": (lambda: over_axis(lambda x: jaxops.pmean(slices(), "j")), NameError, "unbound axis name: j"),
    "sum_stacked-grads-scalar": (lambda: jaxops.sum_stacked({"a": 1.0}), ValueError, "must be stacked along a leading axis; received 1.0"),
    "sum_stacked-grads-one": (lambda: jaxops.sum_stacked(slices()), ValueError, "must be stacked along a leading axis; received IndexedSlices(values=float32[2,3]"),
    "sum_stacked-grads-mapped": (lambda: jaxops.sum_stacked(jax.tree.map(jnp.isfinite, slices())), TypeError, "sum_stacked: gradient '' must have a numeric dtype; received bool"),
    "global_norm-grads-int": (lambda: jaxops.global_norm([I]), TypeError, "global_norm: gradient '0' must have a float or complex dtype; received int32"),
    "global_norm-grads-stacked": (lambda: jaxops.global_norm(jax.tree.map(lambda x: x[None], slices())), ValueError, "looks batched: call this under jax.vmap"),
    "clip_by_global_norm-grads-int": (lambda: jaxops.clip_by_global_norm([I], 1.0), TypeError, "clip_by_global_norm: gradient '0' must have a float or complex dtype; received int32"),
    "clip_by_global_norm-clip_norm-zero": (lambda: jaxops.clip_by_global_norm(X, 0), ValueError, "must be a positive scalar; received 0"),
    "clip_by_global_norm-clip_norm-nan": (lambda: jaxops.clip_by_global_norm(X, float("nan")), ValueError, "must be a positive scalar; received nan"),
    "clip_by_global_norm-clip_norm-array": (lambda: jaxops.clip_by_global_norm(X, [1.0]), ValueError, "must be a positive scalar; received [1.0]"),
    "sharded_gather-params-text": (lambda: shared(params=["a"]), TypeError, "must be an array of numbers or bools; received dtype <U1"),
    "sharded_gather-params-scalar": (lambda: shared(params=1.0), ValueError, "must have rank 1 at least; received a scalar"),
    "sharded_gather-indices-float": (lambda: shared(indices=[0.5]), TypeError, "must have an integer dtype; received float"),
    "sharded_gather-axis_name-none": (
        lambda: shared(axis_name=None), ValueError, "must say which axis of a mesh shares the rows of params, unless the type or sharding of params does; received None with an array of shape (4, 3) and dtype float32"),
    "sharded_gather-padding_index-none-of-int": (lambda: shared(padding_index=0.5), TypeError, "sharded_gather: padding_index must be a static int; received 0.5"),
    "sharded_gather-axis_name-number": (lambda: shared(axis_name=0), TypeError, "must be a str or a sequence of them; received 0"),
    "sharded_gather-axis_name-empty": (lambda: shared(axis_name=()), ValueError, "must name different axes, one at least; received ()"),
    "sharded_gather-axis_name-twice": (lambda: shared(axis_name=("d", "d")), ValueError, "must name different axes, one at least; received ('d', 'd')"),
    "sharded_gather-axis_name-unknown": (
        lambda: shared(axis_name="e"), ValueError, "must name axes of the mesh, which are ('d',), or of a shard_map around; received 'e'; mesh= or jax.set_mesh says the mesh"),
    "sharded_gather-mesh-text": (lambda: shared(mesh="d"), TypeError, "must be a Mesh; received 'd'"),
    "sharded_gather-mesh-text-in-shard_map": (lambda: mapped(mesh="d"), TypeError, "must be a Mesh; received 'd'"),
    "sharded_gather-mesh-explicit": (
        lambda: shared(mesh=EXPLICIT), ValueError, "sharded_gather: params must be on the mesh, which has explicit axes; received an array of shape (4, 3) and dtype float32; call it where jax.set_mesh says the mesh"),
    "sharded_gather-mesh-none": (
        lambda: shared(mesh=None), ValueError, "sharded_gather: axis_name must name axes of the mesh, which are (), or of a shard_map around; received 'd'; mesh= or jax.set_mesh says the mesh"),
    "sharded_gather-capacity-zero": (lambda: shared(capacity=0), ValueError, "must be positive; received 0"),
    "sharded_gather-capacity-float": (lambda: shared(capacity=1.5), TypeError, "must be a static int; received 1.5"),
    "sharded_gather-mode-none": (lambda: shared(mode=None), ValueError, "must be one of device, error, fill, clip, wrap, promise_in_bounds; received None"),
    "sharded_gather-name-number": (lambda: shared(name=3), TypeError, "must be a str; received 3"),
    "lazy-catch_up-number": (lambda: jaxops.lazy(optax.adam(0.1), catch_up=1), TypeError, "must be a static bool; received 1"),
    "lazy-optimizer-number": (lambda: jaxops.lazy(0.1), TypeError, "must have methods init and update, as optax's have; received 0.1"),
    "lazy-optimizer-none": (lambda: jaxops.lazy(None), TypeError, "must have methods init and update, as optax's have; received None"),
    "LazyOptimizer.apply-grads-structure": (lambda: LAZY.apply({"other": slices()}, LAZY.init(PARAMS), PARAMS), ValueError, "lazy: grads must have the structure of params,"),
    "LazyOptimizer.apply-grads-shape": (
        lambda: LAZY.apply({"embed": IndexedSlices(U, [0, 1], (5, 3))}, LAZY.init(PARAMS), PARAMS), ValueError, "lazy: gradient 'embed' must have the parameter's shape (4, 3); received (5, 3)"),
    "LazyOptimizer.apply-grads-dense-shape": (
        lambda: LAZY.apply({"embed": jnp.ones(3)}, LAZY.init(PARAMS), PARAMS), ValueError, "lazy: gradient 'embed' must have the parameter's shape (4, 3); received (3,)"),
    "LazyOptimizer.apply-grads-string": (lambda: LAZY.apply({"embed": "a"}, LAZY.init(PARAMS), PARAMS), TypeError, "lazy: gradient 'embed' must be an array of numbers or bools; received dtype <U1"),
    "LazyOptimizer.apply-grads-none": (lambda: LAZY.apply(None, LAZY.init(PARAMS), PARAMS), ValueError, "lazy: grads must have the structure of params,"),
    "LazyOptimizer.apply-state-of-another": (
        lambda: LAZY.apply({"embed": slices()}, ADAM.init({"embed": X[:2]}), PARAMS), ValueError, "lazy: state must come from init for these params, with leaves of shapes []; received [(), (2, 3), (2, 3)]"),
    "LazyOptimizer.apply-state-of-another-optimizer": (
        lambda: ADAM.apply({"embed": slices()}, optax.sgd(0.1, momentum=0.5).init(PARAMS), PARAMS), ValueError, "lazy: state must come from init for these params, with leaves of shapes [(), (4, 3), (4, 3)]; received [(4, 3)]"),
    "LazyOptimizer.apply-state-none": (
        lambda: ADAM.apply({"embed": slices()}, None, PARAMS), ValueError, "lazy: state must come from init for these params, with leaves of shapes [(), (4, 3), (4, 3)]; received []"),
    "LazyOptimizer.apply-params-string": (
        lambda: LAZY.apply({"embed": slices()}, LAZY.init(PARAMS), {"embed": "a"}), TypeError, "lazy: parameter 'embed' must be an array of numbers or bools; received dtype <U1"),
    "LazyOptimizer.apply-params-none": (lambda: LAZY.apply({"embed": slices()}, LAZY.init(PARAMS), None), ValueError, "lazy: grads must have the structure of params,"),
    "LazyOptimizer.apply-state-without-catch_up": (
        lambda: CATCHING_UP.apply({"embed": slices()}, ADAM.init(PARAMS), PARAMS), ValueError, "lazy: with catch_up, state must come from init; received"),
    "LazyOptimizer.apply-state-of-other-rows": (
        lambda: step_of_rows_that_catch_up(done={"embed": np.zeros(5, int)}), ValueError, "init for these params; received one with (5,) rows of 'embed'"),
    "LazyOptimizer.apply-state-of-other-tables": (
        lambda: step_of_rows_that_catch_up(done={}), ValueError, "init with catch_up for these params; received one without rows of 'embed'"),
    "LazyOptimizer.apply-grads-parts-of-rows": (
        lambda: step_of_rows_that_catch_up(IndexedSlices([1.0], [3], (4, 3))), ValueError, "lazy: with catch_up, the gradient of table 'embed' must be of whole rows; received one whose indices count along 2"),
    "LazyOptimizer.apply-grads-of-rows-at-their-owners": (
        lambda: step_of_rows_that_catch_up(jaxops.sparse_value_and_grad(lambda t: jnp.sum(shared(params=t)), tables="")(X)[1]), ValueError, "table 'embed' must be looked up by gather; received"),
    "LazyOptimizer.apply-grads-elements-for-states-of-rows": (
        lambda: apply(jaxops.rowwise_adagrad(0.5), {"embed": IndexedSlices([1.0], [7], (4, 3))}), ValueError, "a row of its state for each row of table 'embed' of shape (4, 3), along the first axis; received one that keeps (4,) for it"),
    "LazyOptimizer.apply-extra-without-value": (
        lambda: step_of_rows_that_catch_up(extra={"value": 3}), ValueError, "lazy: with catch_up, other arguments of apply must be arrays or floats, as missed steps had values of their own; received value=3"),
    "LazyOptimizer.catch_up-rows-list": (lambda: catch_up([1]), TypeError, "lazy: rows must be a mapping from key paths of tables to indices; received"),
    "LazyOptimizer.catch_up-rows-of-another-table": (lambda: catch_up({"words": [1]}), ValueError, "lazy: rows must be of tables among ['embed']; received 'words'"),
    "LazyOptimizer.catch_up-rows-floats": (lambda: catch_up({"embed": [1.0]}), TypeError, "lazy: rows['embed']"),
    "LazyOptimizer.catch_up-rows-of-a-scalar": (
        lambda: catch_up({"scale": [0]}, scale=np.float32(1)), ValueError, "rows must be of tables; received 'scale' of shape ()"),
    "LazyOptimizer.init-params-string": (lambda: ADAM.init({"embed": "a"}), TypeError, "lazy: parameter 'embed' must be an array of numbers or bools; received dtype <U1"),
    "LazyOptimizer.init-params-of-one-key-path": (
        lambda: CATCHING_UP.init({"a/b": X, "a": {"b": X}}), ValueError, "lazy: with catch_up, parameters must have key paths of their own; received two with 'a/b'"),
    "LazyOptimizer.init-params-symbolic": (
        lambda: of_any_number_of_rows(ADAM.init), ValueError, "lazy: parameter '' must have a known shape; received (n, 3). Export the step for this number of rows; the number of indices may be symbolic"),
    "sparse_value_and_grad-tables-symbolic": (
        lambda: of_any_number_of_rows(lambda t: jaxops.sparse_value_and_grad(loss, tables="")(t)[1].to_dense()), ValueError, "sparse_value_and_grad: table '' must have a known number of rows; received shape (n, 3). Export the step for this number; that of indices may be symbolic"),
    "sparse_value_and_grad-fun-none": (lambda: jaxops.sparse_value_and_grad(None, tables=""), TypeError, "must be callable; received None"),
    "sparse_value_and_grad-fun-vector": (
        lambda: jaxops.sparse_value_and_grad(lambda t: t[I[0]], tables="")(X), TypeError, "must return a scalar of a real floating-point dtype; received shape (1, 3) and dtype float32"),
    "sparse_value_and_grad-fun-int": (
        lambda: jaxops.sparse_value_and_grad(lambda t: 1, tables="")(X), TypeError, "must return a scalar of a real floating-point dtype; received shape () and dtype int32"),
    "sparse_value_and_grad-fun-string": (lambda: jaxops.sparse_value_and_grad(lambda t: "a", tables="")(X), TypeError, "must return a scalar of a real floating-point dtype; received 'a'"),
    "sparse_value_and_grad-fun-complex": (
        lambda: of_embed(lambda p: jax.lax.complex(*p["embed"][0, :2])), TypeError, "must return a scalar of a real floating-point dtype; received shape () and dtype complex64"),
    "sparse_value_and_grad-fun-returns-none": (lambda: of_embed(lambda p: None), TypeError, "must return a scalar of a real floating-point dtype; received None"),
    "sparse_value_and_grad-fun-pair-without-aux": (lambda: of_embed(lambda p: (1.0, 2.0)), TypeError, "must return a scalar of a real floating-point dtype; received shape (2,) and dtype float32"),
    "sparse_value_and_grad-fun-int-parameter": (
        lambda: of_params(embed=X, n=np.int32([0, 1])), TypeError, "sparse_value_and_grad: parameter 'n' must have a real floating-point dtype; received int32; leaves without a gradient go into another argument"),
    "sparse_value_and_grad-fun-key-parameter": (
        lambda: of_params(embed=X, n=jax.random.key(0)), TypeError, "sparse_value_and_grad: parameter 'n' must have a numeric or bool dtype; received key<fry>; leaves without a gradient go into another argument of fun, or into its closure"),
    "sparse_value_and_grad-fun-function-parameter": (
        lambda: of_params(embed=X, n=len), TypeError, "sparse_value_and_grad: parameter 'n' must be an array of numbers or bools; received <built-in function len>; leaves without a gradient go into another argument of fun, or into its closure; eqx.partition and nnx.split part them from the parameters"),
    "sparse_value_and_grad-fun-complex-parameter": (lambda: of_params(embed=X, n=1j), TypeError, "sparse_value_and_grad: parameter 'n' must have a real floating-point dtype; received complex64"),
    "sparse_value_and_grad-fun-string-parameter": (lambda: of_params(embed=X, n="a"), TypeError, "sparse_value_and_grad: parameter 'n' must be an array of numbers or bools; received dtype <U1"),
    "sparse_value_and_grad-tables-missing": (lambda: jaxops.sparse_value_and_grad(loss), TypeError, "sparse_value_and_grad() missing 1 required keyword-only argument: 'tables'"),
    "sparse_value_and_grad-tables-none": (
        lambda: jaxops.sparse_value_and_grad(loss, tables=None), TypeError, "must be a key path such as 'encoder/embed', a sequence of them, or a predicate (path, leaf) -> bool; received None"),
    "sparse_value_and_grad-tables-int": (
        lambda: jaxops.sparse_value_and_grad(loss, tables=[0]), TypeError, "must be a key path such as 'encoder/embed', a sequence of them, or a predicate (path, leaf) -> bool; received [0]"),
    "sparse_value_and_grad-tables-unknown": (lambda: jaxops.sparse_value_and_grad(loss, tables="embed")(X), ValueError, "must name leaves of the parameters, which are ''; received 'embed'"),
    "sparse_value_and_grad-tables-of-nothing": (lambda: jaxops.sparse_value_and_grad(loss, tables="embed")({}), ValueError, "must name leaves of the parameters, which are none; received 'embed'"),
    "sparse_value_and_grad-tables-scalar": (lambda: jaxops.sparse_value_and_grad(lambda t: t, tables="")(1.0), ValueError, "sparse_value_and_grad: table '' must have rows; received a scalar"),
    "sparse_value_and_grad-tables-int-dtype": (
        lambda: jaxops.sparse_value_and_grad(loss, tables="")(X.astype(np.int32)), TypeError, "sparse_value_and_grad: parameter '' must have a real floating-point dtype; received int32"),
    "sparse_value_and_grad-tables-other-use": (
        lambda: jaxops.sparse_value_and_grad(lambda t: jnp.sum(t * t), tables="")(X), ValueError, "sparse_value_and_grad: table '' must be used by lookups of rows only; received a use by mul at"),
    "sparse_value_and_grad-tables-one-unknown": (lambda: of_embed(loss, ["embed", "w"]), ValueError, "must name leaves of the parameters, which are 'embed'; received 'w'"),
    "sparse_value_and_grad-tables-empty": (lambda: of_embed(loss, ""), ValueError, "must name leaves of the parameters, which are 'embed'; received ''"),
    "sparse_value_and_grad-argnums-high": (lambda: jaxops.sparse_value_and_grad(loss, tables="", argnums=1)(X), ValueError, "must name positional arguments; received 1 with 1 positional arguments"),
    "sparse_value_and_grad-argnums-twice": (lambda: jaxops.sparse_value_and_grad(loss, tables="0", argnums=(0, -1))(X), ValueError, "must be different; received (0, -1)"),
    "sparse_value_and_grad-argnums-empty": (lambda: jaxops.sparse_value_and_grad(loss, tables="", argnums=()), ValueError, "must name an argument; received ()"),
    "sparse_value_and_grad-argnums-float": (lambda: jaxops.sparse_value_and_grad(loss, tables="", argnums=0.0), TypeError, "must be a static int; received 0.0"),
    "sparse_value_and_grad-argnums-none": (lambda: jaxops.sparse_value_and_grad(loss, tables="", argnums=None), TypeError, "must be a one-dimensional sequence of ints; received None"),
    "sparse_value_and_grad-argnums-low": (lambda: of_embed(loss, argnums=-2), ValueError, "must name positional arguments; received -2 with 1 positional arguments"),
    "sparse_value_and_grad-argnums-string": (lambda: of_embed(loss, argnums=["a"]), TypeError, "must be a one-dimensional sequence of ints; received ['a']"),
    "sparse_value_and_grad-has_aux-int": (lambda: jaxops.sparse_value_and_grad(loss, tables="", has_aux=1), TypeError, "must be a static bool; received 1"),
    "sparse_value_and_grad-has_aux-no-pair": (
        lambda: jaxops.sparse_value_and_grad(loss, tables="", has_aux=True)(X), TypeError, "sparse_value_and_grad: with has_aux fun must return a pair (value, aux); received"),
    "sparse_value_and_grad-tied-none": (lambda: jaxops.sparse_value_and_grad(loss, tables="", tied=None), TypeError, "must be a static bool; received None"),
    "lazy-optimizer-without-update": (lambda: jaxops.lazy(NoUpdate()), TypeError, "must have methods init and update, as optax's have; received"),
    "lazy-optimizer-states-in-columns": (
        lambda: apply(StatesInColumns(), {"embed": slices()}), ValueError, "lazy: the optimizer must keep a row of its state for each row of table 'embed' of shape (4, 3), along the first axis; received one that keeps (3, 4) for it"),
    "lazy-optimizer-factored": (
        lambda: apply(optax.adafactor(0.1), {"embed": IndexedSlices(np.ones((1, 128)), [0], (256, 128))}, {"embed": np.ones((256, 128), np.float32)}), ValueError, "lazy: the optimizer must keep states of the same shapes for tables of any number of rows; received one that keeps ("),
    "lazy-optimizer-labels-by-length": (
        lambda: apply(by_length(4), {"embed": slices()}), ValueError, "lazy: the optimizer must keep a state of the same structure for tables of any number of rows; received one that keeps another for one row more. If a function of the parameters makes labels or a mask by their shapes, call it once and pass what it returns, as optax.multi_transform(transforms, labels(params))"),
    "lazy-optimizer-labels-by-few-rows": (
        lambda: apply(by_length(4, 5), {"embed": slices()}), ValueError, "lazy: the optimizer must keep a state of the same structure for tables of any number of rows; received one that keeps another for 7 rows. If a function"),
    "LazyOptimizer-update": (lambda: LAZY.update, AttributeError, "lazy: a lazy optimizer has no update, as its updates would be of the table's size; write params, state = optimizer.apply("),
    "LazyOptimizer.apply-order": (lambda: ADAM.apply({"embed": slices()}, PARAMS, ADAM.init(PARAMS)), ValueError, "lazy: apply must get its arguments in the order grads, state, params; received params in the place of state"),
    "rowwise_adagrad-learning_rate-array": (lambda: jaxops.rowwise_adagrad(X), ValueError, "learning_rate must be a scalar; received shape (4, 3)"),
    "rowwise_adagrad-eps-negative": (lambda: jaxops.rowwise_adagrad(0.1, eps=-1), ValueError, "eps must be a static number that is not negative; received -1"),
    "rowwise_adagrad-initial_accumulator_value-nan": (
        lambda: jaxops.rowwise_adagrad(0.1, initial_accumulator_value=float("nan")), ValueError, "initial_accumulator_value must be a static number that is not negative; received nan"),
    "lazy-optimizer-updates-in-a-list": (lambda: apply(UpdatesInAList(), {"embed": slices()}), ValueError, "lazy: the optimizer's updates must have the structure"),
    "IndexedSlices.__radd__-other-array": (
        lambda: jnp.ones((4, 3)) + slices(), TypeError, "IndexedSlices: only IndexedSlices can be added to it; received float32[4,3]; for an array write slices.add_to(array), and for a step of an optimizer jaxops.lazy(optimizer)"),
}  # fmt: skip
# Arguments that are one number, and values that are none.
NUMBERS = {
    "rowwise_adagrad-learning_rate": (jaxops.rowwise_adagrad, "learning_rate must be a real number, or a function that returns one"),
    "rowwise_adagrad-schedule": (lambda x: first_step(jaxops.rowwise_adagrad(lambda _: x)), "learning_rate must be a real number, or a function that returns one"),
    "rowwise_adagrad-eps": (lambda x: jaxops.rowwise_adagrad(0.1, eps=x), "eps must be a static number"),
    "rowwise_adagrad-initial_accumulator_value": (lambda x: jaxops.rowwise_adagrad(0.1, initial_accumulator_value=x), "initial_accumulator_value must be a static number"),
}  # fmt: skip
NO_NUMBERS = {
    "string": "a",
    "none": None,
    "complex": 1j,
    "bool": True,
}


def first_step(optimizer):
    return optimizer.update(X, optimizer.init(X))


for argument, (call, words) in NUMBERS.items():
    for case, value in NO_NUMBERS.items():
        text = f"{words}; received {value!r}"
        CALLS[f"{argument}-{case}"] = functools.partial(call, value), TypeError, text


def lazy_of_integers(name):
    jaxops.lazy(getattr(optax, name)(0.1)).init({"embed": X.astype(int)})


for name in ("adam", "lion", "adamw"):
    CALLS[f"lazy-{name}-of-integers"] = (
        functools.partial(lazy_of_integers, name),
        ValueError,
        "lazy: parameter 'embed' must have a dtype of floats for an optimizer that keeps its "
        "gradients, in its state [0].mu['embed']; received int",
    )
