"""Whose index it is: the Python stack tells, while a primitive that indexes is bound.

From the primitive outward to the first frame of the caller's code there are frames of JAX. If the
outermost function of JAX among them is one by which a caller indexes (`x[i]`, `jnp.take`,
`jax.ops.segment_sum`), the index is the caller's. If it is another (`jnp.nonzero`, `jnp.sort`,
`jax.random.choice`), JAX knows what it does. An explicit `mode` is a local variable of that
function, however the caller passed it.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
from collections.abc import Collection
from types import CodeType, FrameType

import numpy as np

from jaxops import _call_sites, _jax_internals
from jaxops._call_sites import NO_SITE, CallSite
from jaxops._checked import setting as settings
from jaxops._checked.setting import Setting

# Functions of JAX by which its callers index: those of the documented interface, and those by which
# `x[i]` and methods of arrays come there.
BY_SUBSCRIPT = {
    *("_getitem", "rewriting_take"),
    *("_setitem", "__getitem__", "__setitem__"),  # of array references and parts of them
}
BY_AT = {
    "get", "set", "add", "subtract", "multiply", "mul", "divide", "power", "min", "max", "apply",
}  # fmt: skip
BY_FUNCTION = {
    *("take", "take_along_axis", "put", "put_along_axis", "choose"),
    *("at", "reduceat"),  # of `jnp.add` and other ufuncs
    *("segment_sum", "segment_prod", "segment_min", "segment_max"),
    *("gather", "scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min"),
    *("scatter_max", "scatter_apply"),
    *("dynamic_slice", "dynamic_slice_in_dim", "dynamic_index_in_dim"),
    *("dynamic_update_slice", "dynamic_update_slice_in_dim", "dynamic_update_index_in_dim"),
}
# As methods of arrays; in the loop by which most ufuncs compute their `at`.
_WRITTEN = {
    **{"_take": "take", "_choose": "choose", "scan_fun": "at"},
    **{f"ref_{name}": f"ref.{name}" for name in ("get", "set", "swap", "addupdate")},
}
INDEXING = BY_SUBSCRIPT | BY_AT | BY_FUNCTION | set(_WRITTEN)
# Functions that lose data in silence.
LOSING = {"one_hot", "_one_hot", "repeat", "_repeat"}
# Functions that convert indices to int32.
NARROWING = {"to_gather", "_index_to_gather", "to_dynamic_slice", "take_along_axis"}
# Functions that count negative indices from the end.
NORMALIZING = {"normalize_indices", "_normalize_index", "_dynamic_slice", "_dynamic_slice_indices"}


@dataclasses.dataclass(frozen=True)
class Access:
    """The words for how the caller's code takes an index."""

    operation: str  # as the caller writes it: "take", "x[...]", "x.at[...].add"
    site: CallSite | None  # None: in a function of JAX that is traced once for several calls
    slack: bool = False  # whether the size of the axis is no error, as `outside` says
    padding: int | None = None  # an index of this number is no error either
    # Whether JAX counts negative indices from the end; of a slice it may be a bool for each axis.
    wraps: bool | tuple[bool, ...] = False


# The frames of jaxops that call the caller's code, or are called where a program raises.
_OURS = os.path.join(os.path.dirname(_call_sites.__file__), "")
_OWN_INDICES = tuple(
    os.path.join(_OURS, room)
    for room in ("_ops", "_run", "_indexing", "_devices", "_sparse", "_cpu", "_cuda")
)


def access_now(names: Collection[str], is_call: bool = False) -> Access | None:
    """The access of the primitive that is being bound; None if the index is not the caller's.

    `names` are those of the functions by which a caller indexes. `is_call`: the primitive calls a
    program whose checks have no line yet, such as that of a function that JAX jits. The caller may
    have called this function with no other function of JAX between.
    """
    # No variable here holds this frame: a frame that held itself would keep the arrays of all its
    # callers until Python collects garbage (test_settings.py,
    # test_no_array_waits_for_the_garbage_collector).
    setting = settings.current()
    if setting is not None:
        return _access(inspect.currentframe(), setting, names, is_call)
    return _access_without_setting(inspect.currentframe()) if is_call else None


def frame_of(names: Collection[str]) -> FrameType | None:
    """The frame of a function of JAX of these names, if a few others at most are within it."""
    frame = inspect.currentframe()
    depth = 0
    while frame is not None and depth < _DEEPEST:
        if not frame.f_code.co_filename.startswith(_OURS):
            depth += 1
            file, name = frame.f_code.co_filename, frame.f_code.co_name
            if name in names and _jax_internals.kind_of_frame(file, name) == "compute":
                return frame
        frame = frame.f_back
    return None


_DEEPEST = 12  # frames from a primitive to the function that counts from the end


def access_of_running_call() -> Access | None:
    """The access of the program that runs, called by a frame of the caller.

    If the program runs in a thread of its own, the call is not known, and the access has no site.
    """
    setting = settings.current()
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    if frame is None or _call_sites.frame_of_caller() is None:
        return Access("", NO_SITE)
    if setting is None:
        return _access_without_setting(frame)
    return _access(frame, setting, INDEXING | LOSING, is_call=True)


def _access(
    frame: FrameType | None, setting: Setting, names: Collection[str], is_call: bool
) -> Access | None:
    entry = None  # the outermost function of JAX, so far
    is_for_later = False
    while frame is not None:
        code = frame.f_code
        file, function = code.co_filename, code.co_name
        kind = _jax_internals.kind_of_frame(file, function)
        # Functions of jaxops have checks of their own, and so has a program that JAX evaluates. But
        # if that program calls another, whose checks have no line yet, this call gives the line.
        if (kind == "evaluate" and not is_call) or file.startswith(_OWN_INDICES):
            return None
        if kind == "trace" and _jax_internals.is_traced_for_later(frame):
            is_for_later = True
            break
        if kind == "compute":
            entry = frame
        elif _call_sites.is_of_caller(file):
            break
        frame = frame.f_back
    if entry is None and not is_call:
        return None  # a primitive that the caller binds
    operation = _operation(entry, names)
    if operation is None or (entry is not None and _has_lenient_mode(entry)):
        return None
    if is_for_later or frame is None:
        site = None if is_for_later else NO_SITE
        return Access(operation, site, padding=setting.padding, wraps=_wraps(entry))
    code = frame.f_code
    rule = settings.rule_of(setting.outside, code.co_filename, code.co_qualname)
    if rule == "any" or _is_in_kernel(frame):
        return None
    return Access(operation, _site(frame), rule == "padding", setting.padding, _wraps(entry))


def _access_without_setting(frame: FrameType | None) -> Access | None:
    """The access of the call of a program with checks for later, outside of `checked`.

    The caller has handed a function of JAX to `checked` and transformed the result, as in
    `jax.jit(jaxops.checked(jnp.take))`. Indices that are not the caller's lost their checks while
    that `checked` ran.
    """
    while frame is not None and not _call_sites.is_of_caller(frame.f_code.co_filename):
        code = frame.f_code
        kind = _jax_internals.kind_of_frame(code.co_filename, code.co_name)
        if kind == "trace" and _jax_internals.is_traced_for_later(frame):
            return Access("", None)
        frame = frame.f_back
    if frame is None:
        return Access("", NO_SITE)
    return None if _is_in_kernel(frame) else Access("", _site(frame))


def _is_in_kernel(frame: FrameType) -> bool:
    """Whether the code is traced for a kernel of Pallas, in which no check can raise."""
    return not _jax_internals.is_eager() and _jax_internals.is_traced_for_kernel(frame)


def _operation(entry: FrameType | None, names: Collection[str]) -> str | None:
    """The caller's words, as "take"; "" for a jitted function alone; None if JAX does not index."""
    if entry is None:
        return ""
    name = entry.f_code.co_name
    if name in BY_SUBSCRIPT:
        return "x[...]"
    if name in BY_AT:
        return f"x.at[...].{name}"
    return _WRITTEN.get(name, name) if name in names else None


def _has_lenient_mode(entry: FrameType) -> bool:
    """Whether the caller asked for another treatment of indices that are outside."""
    mode = entry.f_locals.get("mode")
    if mode is None:  # `jnp.take` then reads the `fill_value`, and `x.at[i].get` does not
        is_filled = entry.f_locals.get("fill_value") is not None
        return is_filled and "take" in entry.f_code.co_name
    return "promise" not in str(mode).lower()


def _wraps(entry: FrameType | None) -> bool | tuple[bool, ...]:
    if entry is None or entry.f_code.co_name.startswith(("gather", "scatter", "segment")):
        return False
    wraps = entry.f_locals.get("wrap_negative_indices", True)
    allowed = entry.f_locals.get("allow_negative_indices", True)  # in a slice, or by axis
    if wraps is False or np.ndim(allowed) == 0:
        return wraps is not False and bool(allowed)
    return tuple(map(bool, allowed))


def _site(frame: FrameType) -> CallSite:
    """The innermost line of the caller's code; of a library's, with the line that led there."""
    where = _call_sites.place_of(frame)
    outer: FrameType | None = frame
    if _is_installed(frame.f_code.co_filename):
        while outer is not None and not _is_of_project(outer.f_code):
            outer = outer.f_back
        if outer is not None:
            where += f", called at {_call_sites.place_of(outer)}"
    return CallSite(where, None)


@functools.lru_cache(maxsize=4096)
def _is_installed(file: str) -> bool:
    return any(f"{os.sep}{name}{os.sep}" in file for name in ("site-packages", "dist-packages"))


def _is_of_project(code: CodeType) -> bool:
    return _call_sites.is_of_caller(code.co_filename) and not _is_installed(code.co_filename)
