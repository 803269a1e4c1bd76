"""The canonical gather and the canonical scatters; every indexing op is one of them.

Bounds are applied here, once per direction. An index that reaches `lax` is in bounds, or
its result is masked, or `lax` drops it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jax import lax

from jaxops._indexing import deterministic_sums, explicit_axes, masks, policy
from jaxops._indexing.dimension_numbers import Windows, gather_windows, lax_gather, scatter_windows
from jaxops._indexing.narrow_sums import widened
from jaxops._indexing.products import scatter_product
from jaxops._indexing.replacing import scatter_update
from jaxops._indexing.specs import IndexSpec


def gather(
    operand: jax.Array,
    indices: jax.Array,
    windows: Windows,
    spec: IndexSpec,
    *,
    mode: str,
    fill_value: jax.Array | None = None,
    deterministic: bool = False,
    as_vectors: Callable[[jax.Array], jax.Array] | None = None,
) -> jax.Array:
    """Windows of `operand`; an index out of bounds under `mode` reads `fill_value` or 0.

    `as_vectors` makes the index vectors for `windows` of the indices that `spec` is about, after
    the check, whose error has a position among the indices that the caller passed.
    """
    vectors = indices if as_vectors is None else jax.eval_shape(as_vectors, indices)
    shape = windows.result_shape(operand.shape, vectors.shape)
    mode = _mode_for(shape, operand, windows, spec, mode)
    indices, valid = policy.resolve(spec, indices, mode)
    if as_vectors is not None:
        indices = as_vectors(indices)
        valid = None if valid is None else valid.reshape(indices.shape[:-1])
    operand, indices, windows = _with_an_indexed_axis(operand, indices, windows)
    fill = jnp.zeros((), operand.dtype) if fill_value is None else fill_value
    operand = pad_empty_axes(operand, windows.axes, fill)
    # An invalid index stays as it is, so that the transpose, which is a scatter, skips the index
    # (test_masks.py, test_programs_for_devices_mask_no_updates).
    gather_fn = deterministic_sums.gather if deterministic else gather_windows

    def read(operand, indices, fill, valid):
        result = gather_fn(operand, indices, windows)
        if valid is not None:
            result = masks.read(result, fill, windows.over_result(valid, result.ndim))
        return result

    return explicit_axes.gather(read, operand, indices, windows, fill, valid)


def _mode_for(moved, operand: jax.Array, windows: Windows, spec: IndexSpec, mode: str) -> str:
    """The mode of indices by which an array of the shape `moved` is read or written.

    An array without elements is gathered and scattered all the same: a program checks the indices
    only where its result is computed from them.
    """
    if 0 in moved:
        # TensorFlow's gather looks at no index of rows without elements, its gather_nd looks at all
        # (test_check.py, test_empty_results).
        checks = mode != "device" or spec.is_checked_if_empty
        return mode if checks else "promise_in_bounds"
    if mode in ("clip", "wrap") and _is_empty_along(operand, windows.axes):
        raise ValueError(
            f"{spec.operation}: mode={mode!r} must have an index to choose; "
            f"received shape {operand.shape} with indexed axes {windows.axes}"
        )
    return mode


def _is_empty_along(operand: jax.Array, axes: Sequence[int]) -> bool:
    return any(operand.shape[axis] == 0 for axis in axes)


def pad_empty_axes(operand: jax.Array, axes: Sequence[int], fill: jax.Array) -> jax.Array:
    """Indexed axes of size 0 made 1, so that `lax` has a window for indices that cannot be right.

    Returning a constant instead would leave the check with no result in use, and JAX drops
    computations like that.
    """
    if not _is_empty_along(operand, axes):
        return operand
    widths = [(0, int(axis in axes and size == 0), 0) for axis, size in enumerate(operand.shape)]
    return lax.pad(operand, fill, widths)


def _with_an_indexed_axis(operand: jax.Array, indices: jax.Array, windows: Windows):
    """For empty index vectors a new axis of size 1, and vectors that hold its one index, 0.

    Of several updates of a whole operand with one element XLA's CPU compiler loses all but one, and
    it fails if the operand is a scalar (test_scatter.py, test_empty_vectors_into_one_element).
    """
    if windows.axes:
        return operand, indices, windows
    axis = windows.batch_dims
    widths = [(0, int(d == indices.ndim - 1), 0) for d in range(indices.ndim)]
    indices = lax.pad(indices, jnp.zeros((), indices.dtype), widths)
    return lax.expand_dims(operand, (axis,)), indices, Windows((axis,), axis)


def scatter(
    kind: str,
    operand: jax.Array,
    indices: jax.Array,
    updates: jax.Array,
    windows: Windows,
    spec: IndexSpec,
    *,
    mode: str,
    deterministic: bool = False,
    is_initial: bool = False,
) -> jax.Array:
    """Combines windows of `operand` with `updates`; an update out of bounds is dropped.

    `is_initial`: the operand is the result where no update comes, and has no share in gradients.
    """
    mode = _mode_for(updates.shape, operand, windows, spec, mode)
    shape = operand.shape
    operand = pad_empty_axes(operand, windows.axes, jnp.zeros((), operand.dtype))
    indices, valid = policy.resolve(spec, indices, mode)
    is_whole = not windows.axes
    operand, indices, windows = _with_an_indexed_axis(operand, indices, windows)
    if deterministic:
        deterministic_sums.check_countable(operand, indices, windows, spec.operation)

    combine = functools.partial(
        _combine, kind, windows, is_initial=is_initial, deterministic=deterministic
    )
    result = explicit_axes.scatter(
        combine, operand, indices, valid, updates, windows, is_initial=is_initial
    )
    result = lax.squeeze(result, windows.axes) if is_whole else result
    return without_padding(result, shape)


def without_padding(result: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """The result of a scatter into an operand of this shape, before `pad_empty_axes`."""
    return result if result.shape == shape else lax.slice(result, (0,) * len(shape), shape)


def _combine(
    kind: str,
    windows: Windows,
    operand: jax.Array,
    indices: jax.Array,
    valid: jax.Array | None,
    updates: jax.Array,
    *,
    is_initial: bool,
    deterministic: bool,
) -> jax.Array:
    """The scatter of indices that are in bounds, or not `valid`.

    HLO defines that a scatter skips indices out of bounds. The gradient is a gather, which reads an
    element next to them, and masks what it reads.
    """
    if valid is not None:
        updates = masks.write(updates, windows.over_result(valid, updates.ndim))
    if kind in ("min", "max"):
        return _scatter_extremum(kind, windows, is_initial, operand, indices, updates)
    if kind == "prod":
        return scatter_product(windows, operand, indices, updates)
    if kind == "update" and jnp.issubdtype(operand.dtype, jnp.inexact):  # others have no tangents
        return scatter_update(windows, operand, indices, updates)
    if deterministic:
        updates = -updates if kind == "sub" else updates
        return deterministic_sums.scatter_add(operand, indices, updates, windows)
    return scatter_windows(kind, operand, indices, updates, windows)


def reduce(
    kind: str,
    initial,
    shape,
    indices: jax.Array,
    updates: jax.Array,
    windows: Windows,
    spec: IndexSpec,
    *,
    mode: str,
    deterministic: bool = False,
) -> jax.Array:
    """Combines the `updates` that meet in an element of `shape`, or `initial` where none does.

    `kind` is "add", "prod", "min" or "max"; and `initial` combines with any update to that update.
    """
    return scatter(
        kind,
        jnp.full(shape, initial, updates.dtype),
        indices,
        updates,
        windows,
        spec,
        mode=mode,
        deterministic=deterministic,
        is_initial=True,
    )


# lax.scatter_min and lax.scatter_max have no derivative.
@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1, 2))
def _scatter_extremum(kind, windows, is_initial, operand, indices, updates):
    del is_initial
    return scatter_windows(kind, operand, indices, updates, windows)


@_scatter_extremum.defjvp
def _scatter_extremum_jvp(kind, windows, is_initial, primals, tangents):
    """The tangent is shared in equal parts by all that attain the extremum, as in TensorFlow.

    out = max(x, y_1, .., y_n)  =>  d out = (x' [x = out] + sum_j y_j' [y_j = out]) / #attaining
    """
    operand, indices, updates = primals
    operand_dot, _, updates_dot = tangents
    out = scatter_windows(kind, operand, indices, updates, windows)
    # At an index that is not valid the gather reads an element next to it, which changes nothing:
    # the scatters below skip the index, and `masks.write` in `_combine` masks the cotangent.
    attained = _same(updates, lax_gather(out, indices, windows))
    # The caller did not pass the initial value, so the initial value takes no share of the
    # gradient, even where a slice equals the initial value (test_segments.py,
    # test_gradients_are_shared_among_the_slices_alone).
    is_kept = jnp.zeros_like(out, bool) if is_initial else _same(operand, out)

    def add(to, values):
        return scatter_windows("add", to, indices, values, windows)

    # Narrow floats count no further than 256, and then 1,000 that tie had the gradient 3.9 together
    # (test_canonical.py, test_many_share_the_gradient_of_an_extremum).
    attaining = add(is_kept.astype(jnp.int32), attained.astype(jnp.int32))
    if is_initial:  # where no update meets, none attains
        attaining = jnp.maximum(attaining, 1)
    # An infinite tangent times 0 is NaN (test_canonical.py,
    # test_an_infinite_cotangent_stays_with_the_extremum).
    kept, put = (
        widened(jnp.where(condition, dot, jnp.zeros_like(dot)))
        for condition, dot in ((is_kept, operand_dot), (attained, updates_dot))
    )
    out_dot = add(kept, put) / attaining.astype(kept.dtype)
    return out, out_dot.astype(out.dtype)


def _same(x: jax.Array, out: jax.Array) -> jax.Array:
    """Whether they are equal, NaN being equal to NaN: else nothing would attain NaN."""
    # If nothing attained NaN, the gradient at a NaN would be 0 / 0 (test_scatter.py,
    # test_nan_has_its_share_of_the_gradient).
    return (x == out) | ((x != x) & (out != out))
