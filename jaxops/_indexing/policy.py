"""The out-of-bounds policy: the one place that says what becomes of an index, by mode and platform.

`resolve` turns the indices that a caller gave into indices that `lax.gather` and `lax.scatter` can
use as they are, plus a mask of the indices that count. `resolve_on_host` does the same with NumPy
for indices that the host knows. What an index out of bounds is: `bounds.py`. How the error of the
modes "device" and "error" is raised: `check.py`.

"device": an error on the CPU; elsewhere the index is ignored, or what `spec.off_cpu` says. "error":
an error everywhere. "fill": the fill value is read, nothing is written. "clip", "wrap": another
index is taken. "promise_in_bounds": the caller answers for it.

Under every mode an index that is padding (`padding_index=`) is no error: it reads the fill value,
and writes nothing.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import jax
import jax.numpy as jnp
import numpy as np

from jaxops import _call_sites, _symbolic
from jaxops._errors import brief, remember
from jaxops._indexing import check, lanes
from jaxops._indexing.bounds import ignored, in_bounds, limits_of
from jaxops._indexing.check_primitive import raises
from jaxops._indexing.index_dtypes import are_long, from_the_end, narrow, over_components, widen
from jaxops._indexing.specs import IndexSpec

lanes.register_rules()

Mode: TypeAlias = Literal["device", "error", "fill", "clip", "wrap", "promise_in_bounds"]
MODES: tuple[str, ...] = get_args(Mode)
# The mode that each `bad_indices_policy` of TensorFlow asks for; "" leaves it to `mode`.
_MODE_OF_POLICY: dict[str, Mode | Literal[""]] = {
    "": "",
    "DEFAULT": "device",
    "ERROR": "error",
    "IGNORE": "fill",
}


class Resolved(NamedTuple):
    """Indices ready for `lax`, and which of them are in bounds (None: all of them)."""

    indices: jax.Array
    valid: jax.Array | None


def check_mode(op: str, mode: object) -> None:
    if not isinstance(mode, str) or mode not in MODES:
        received = brief(mode)
        hint = "; JAX's mode 'drop' is 'fill' here" if received == "'drop'" else ""
        raise ValueError(f"{op}: mode must be one of {', '.join(MODES)}; received {received}{hint}")


def mode_of_policy(op: str, bad_indices_policy: object, mode: Any) -> Mode:
    """The mode that TensorFlow's argument stands for, where `mode` says no other."""
    if not isinstance(bad_indices_policy, str) or bad_indices_policy not in _MODE_OF_POLICY:
        kind = ValueError if isinstance(bad_indices_policy, str) else TypeError
        raise kind(
            f'{op}: bad_indices_policy must be one of "", DEFAULT, ERROR, IGNORE; '
            f"received {brief(bad_indices_policy)}"
        )
    asked = _MODE_OF_POLICY[bad_indices_policy]
    if not asked:
        return mode
    check_mode(op, mode)
    if mode not in ("device", asked):
        raise ValueError(
            f'{op}: bad_indices_policy must agree with mode: "{bad_indices_policy}" is '
            f'mode="{asked}"; received mode={mode!r} too'
        )
    return asked


def resolve(spec: IndexSpec, indices: jax.Array, mode: str) -> Resolved:
    """Applies `mode` to index vectors `indices[..., K]` whose bounds are `spec.limits`.

    Entries that are not `valid` are out of bounds, so that a scatter skips them.
    """
    resolved = _resolve(spec, indices, mode)
    is_ignored = ignored(indices, spec)
    if is_ignored is None:
        return resolved
    dtype, valid = resolved.indices.dtype, jnp.logical_not(is_ignored)
    # A negative index is out of bounds as it is. In most modes both sides of the select are then
    # one array, and XLA drops the select. A padding index may be in bounds, so it becomes -1.
    outside = np.array(-1).astype(dtype) if spec.padding else indices.astype(dtype)
    return Resolved(
        jnp.where(is_ignored[..., None], outside, resolved.indices),
        valid if resolved.valid is None else valid & resolved.valid,
    )


def _resolve(spec: IndexSpec, indices: jax.Array, mode: str) -> Resolved:
    indices = widen(indices, spec.limits)
    valid = None
    if not spec.limits:  # empty index vectors are in bounds
        mode = "promise_in_bounds"
    if mode == "clip":
        indices = _clip(indices, spec)
    elif mode == "wrap":
        indices = _wrap(indices, spec)
    elif mode == "fill":
        valid = in_bounds(indices, spec)
    elif mode in ("device", "error"):
        indices = check.error_if_any(spec, indices, mode)
        if mode == "device" and spec.off_cpu == "ignored":
            valid = check.mask_off_cpu(spec, indices)
        elif mode == "device" and spec.off_cpu == "clipped":
            indices = _clip(indices, spec)
    return Resolved(narrow(indices, spec.limits), valid)


def resolve_on_host(spec: IndexSpec, indices: np.ndarray, mode: str, platform: str) -> np.ndarray:
    """`resolve` for indices that the host knows, along one axis: -1 where one is ignored."""
    (limit,) = spec.limits
    if indices.size == 0:  # NumPy makes `[]` a float array
        return indices.astype(np.int64)
    # As unsigned numbers, negative indices are larger than a limit that their dtype reaches.
    is_reached = limit <= np.iinfo(indices.dtype).max + 1
    if is_reached and indices.view(f"u{indices.itemsize}").max() < limit:
        return indices
    if is_known_in_bounds(spec, indices[..., None], mode, platform):
        return indices.astype(np.int64)
    # int64 would make negative numbers of large ones of uint64.
    wide = indices if indices.dtype == np.uint64 else indices.astype(np.int64)
    if limit > 0 and mode == "clip":
        return np.clip(wide, 0, limit - 1).astype(np.int64)
    if limit > 0 and mode == "wrap":
        return (wide % wide.dtype.type(limit)).astype(np.int64)
    return np.where(spec.inside(wide, limit), wide.astype(np.int64), -1)


def is_known_in_bounds(
    spec: IndexSpec, indices: np.ndarray, mode: str, platform: str | None = None
) -> bool:
    """Whether all of some known index vectors are in bounds.

    Raises the error of the first that is not, if `mode` makes it one on `platform`; while tracing,
    where no platform is known, the program raises it in mode "device".
    """
    error = spec.find_error(indices, _call_sites.current())
    if error is not None and raises(mode, platform):
        remember(error)
        raise error
    return error is None


def _clip(indices: jax.Array, spec: IndexSpec) -> jax.Array:
    last = _symbolic.numbers([limit - 1 for limit in spec.limits], indices.dtype)
    return jnp.clip(indices, 0, over_components(last, indices))


def _wrap(indices: jax.Array, spec: IndexSpec) -> jax.Array:
    info = jnp.iinfo(indices.dtype)
    limits = over_components(limits_of(spec, info.max, indices.dtype), indices)
    wrapped = jnp.remainder(indices, limits)
    if not are_long(spec.limits) or indices.dtype.itemsize == 8:
        return wrapped
    is_long = over_components(_symbolic.exceed(spec.limits, info.max), indices)
    # No index reaches the end of such an axis from the front.
    indices = jnp.where(is_long, indices, wrapped)
    return from_the_end(indices, spec.limits, spec.operation)
