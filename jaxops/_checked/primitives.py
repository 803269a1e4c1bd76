"""The primitives of JAX that index: where the caller's code binds one, a check is bound first.

It is bound above `vmap`, `grad`, `jit` and `shard_map`, so each of them treats the check as if the
caller had written it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from jaxops import _frames, _jax_internals
from jaxops._call_sites import NO_SITE, CallSite
from jaxops._checked import known_jax, resolving, whose
from jaxops._checked import setting as settings
from jaxops._checked.index import (
    LATER,
    Components,
    IndexOfJax,
    JaxIndex,
    NegativeIndex,
    OneHotClass,
    PutIndex,
    RepeatedLength,
    SegmentNumber,
    SegmentNumberFromZero,
    WideIndex,
)
from jaxops._checked.whose import Access
from jaxops._errors import OutOfBoundsError, find_in, remember
from jaxops._indexing import check, programs
from jaxops._indexing.check_primitive import is_check, site_of
from jaxops._jax_internals import Primitive


class _OfThread(threading.local):
    is_binding = False  # a primitive that indexes, whose rules may bind others


_of_thread = _OfThread()


# For each primitive that is wrapped, functions of its operands and parameters that return the
# operands, with a check where one is wanted.
_rules: dict[Primitive, list[Callable]] = {}


def _add_rule(primitive: Primitive, rule: Callable) -> None:
    rules = _rules.setdefault(primitive, [])
    rules.append(rule)
    if len(rules) == 1:
        _jax_internals.wrap_bind(primitive, functools.partial(_bind, primitive))


def _bind(primitive: Primitive, bind: Callable, *operands, **params):
    """`bind(*operands, **params)`, of operands that the rules of the primitive have checked."""
    setting = settings.current()
    if _of_thread.is_binding or setting is None:
        return bind(*operands, **params)
    _of_thread.is_binding = True
    try:
        if setting.at is not None:
            return resolving.bind(setting.at, primitive, bind, *operands, **params)
        for rule in _rules[primitive]:
            operands = rule(*operands, **params)
        return bind(*operands, **params)
    finally:
        _of_thread.is_binding = False


def _of_caller(with_check: Callable) -> Callable:
    """`with_check(access, *operands, **params)` where the index is the caller's."""

    def checked_operands(*operands, **params):
        access = whose.access_now(whose.INDEXING)
        return operands if access is None else with_check(access, *operands, **params)

    return checked_operands


def _gather(access: Access, operand, indices, *, dimension_numbers, slice_sizes, **_):
    components = Components.of_gather(dimension_numbers, slice_sizes, access.wraps is True)
    return operand, _checked(access, indices, operand, components)


def _scatter(access: Access, operand, indices, updates, *, dimension_numbers, **_):
    components = Components.of_scatter(operand, updates, dimension_numbers, access.wraps is True)
    return operand, _checked(access, indices, operand, components), updates


def _dynamic_slice(access: Access, operand, *starts, slice_sizes, **_):
    return operand, *_checked_starts(access, operand, starts, slice_sizes)


def _dynamic_update_slice(access: Access, operand, update, *starts, **_):
    return operand, update, *_checked_starts(access, operand, starts, np.shape(update))


def _checked_starts(access: Access, operand, starts: Sequence, sizes: Sequence[int]) -> list:
    """The scalars at which a window begins, with a check of those that may be out of bounds.

    A constant that is in bounds has none, such as the 0 of `x[i]`, which begins at `(i, 0)`.
    """
    shape = np.shape(operand)
    # `x[i]` takes whole axes from 0; of one element it may be the caller who gives the start.
    all_starts = access.operation.startswith("dynamic_")
    axes = [
        axis
        for axis, (start, size) in enumerate(zip(starts, sizes, strict=True))
        if (all_starts or size == 1 or size < shape[axis])
        and (isinstance(start, Tracer) or not 0 <= int(start) <= shape[axis] - size)
    ]
    starts = list(starts)
    if axes:
        vector = jnp.stack([starts[axis] for axis in axes])
        components = Components.of_starts(axes, sizes, access.wraps)
        vector = _checked(access, vector, operand, components)
        for number, axis in enumerate(axes):
            starts[axis] = lax.index_in_dim(vector, number, keepdims=False)
    return starts


def _reference(access: Access, reference, *operands, tree, **_):
    """The operands that read `ref[i]` of an array reference, or write it."""
    count = len(operands) - tree.num_leaves

    def with_checks(shape, indices):
        each = zip(range(len(shape)), indices, strict=True)
        return tuple(_checked_in_reference(access, shape, axis, index) for axis, index in each)

    indices = _jax_internals.map_indices_of_reference(tree, operands[count:], with_checks)
    return reference, *operands[:count], *indices


def _checked_in_reference(access: Access, shape: tuple[int, ...], axis: int, index, size=1) -> Any:
    """An index or a `jax.ds`, with a check of it."""
    if _jax_internals.is_ds(index):
        if not isinstance(index.size, int) or isinstance(index.start, int):
            return index  # the size is known to a kernel alone; or JAX has looked at the slice
        size = (index.size - 1) * index.stride + 1
        start = _checked_in_reference(access, shape, axis, index.start, size)
        return dataclasses.replace(index, start=start)
    if not isinstance(index, (int, np.integer, np.ndarray, jax.Array)):
        return index  # a reference to indices, in a kernel
    spec = JaxIndex.into(shape, access.operation, Components((axis,), (size,), (True,)))
    from_start = _from_start(index, shape[axis])
    checked = checked_by(spec, from_start, access)
    return index if checked is from_start else _after(checked, jnp.asarray(index))


def _from_start(index, size: int) -> Any:
    """Index vectors `[..., 1]` of numbers of which negative ones count from the end."""
    numbers = jnp if isinstance(index, Tracer) else np
    index = numbers.expand_dims(index, -1)
    if jnp.issubdtype(index.dtype, jnp.unsignedinteger):
        return index
    index = index.astype(np.promote_types(index.dtype, np.int32))  # int8 may not hold the size
    return index + numbers.where(index < 0, index.dtype.type(size), index.dtype.type(0))


def _checked(access: Access, indices, operand, components: Components) -> Any:
    """`indices[..., K]`, with a check if they may be out of bounds."""
    shape, each = np.shape(operand), zip(components.axes, components.sizes, strict=True)
    if any(size != 1 and size > shape[axis] for axis, size in each):
        return indices  # JAX refuses a window that is larger than the array
    setting = settings.current()
    kind = JaxIndex
    if access.operation.startswith("segment_"):
        kind = SegmentNumberFromZero if setting and setting.negative else SegmentNumber
    spec = kind.into(shape, access.operation, components, jnp.iinfo(indices.dtype).bits)
    return checked_by(spec, indices, access)


def checked_by(spec: IndexOfJax, indices, access: Access) -> Any:
    """`indices[..., K]`, with a check of this spec if they may be out of bounds."""
    setting = settings.current()
    assert setting is not None
    spec, site = spec.of(access), access.site or LATER
    if 0 in np.shape(indices):
        return indices
    is_known = not isinstance(indices, Tracer)
    if is_known and spec.find_error(_of_numpy(np.asarray(indices)), site) is None:
        return indices
    indices = jnp.asarray(indices)
    checked = check.error_if_any(spec, _of_numpy(indices), setting.mode, site)
    return checked.astype(indices.dtype)


def _of_numpy(indices) -> Any:
    """The indices with a dtype of NumPy, which searches them and has no integers of 4 bits."""
    return indices.astype(np.int32) if jnp.iinfo(indices.dtype).bits < 8 else indices


# --- functions of JAX that are traced once for all calls: jitted, or handed to `cond` by name ---


def _bind_call(bind: Callable, *operands, **params):
    """`bind(*operands, **params)`, the checks in the programs those of the call being made."""
    setting = settings.current()
    if setting is not None:
        if setting.at is not None:
            return bind(*operands, **params)
        if setting.negative and params.get("name") == "_where":  # by which `jnp.take` counts
            operands = _within({"_take"}, _negative_of_take)(*operands)
    with_programs = _jax_internals.with_programs
    return bind(*operands, **{k: with_programs(x, _of_this_call) for k, x in params.items()})


def _of_this_call(program: Any) -> Any:
    """The program, closed or not, with the checks of the call that is being made.

    The same object for calls of one line.
    """
    if not _has_checks_for_later(program):
        return program
    return _with_access(program, _access_of_call())


def _access_of_call() -> Access | None:
    return whose.access_now(whose.INDEXING | whose.LOSING, is_call=True)


@programs.kept
def _with_access(program: Any, access: Access | None) -> Any:
    return _jax_internals.map_equations(program, functools.partial(_of_call, access))


def _of_eager_call(program: Any) -> tuple[Any, contextlib.AbstractContextManager] | None:
    """The program for the call that is made, and a context that adds the line to its error.

    One program for the calls of all lines, as XLA compiles each. It may run in a thread of its own,
    whose stack tells no line.
    """
    if not _has_checks_for_later(program):
        return None
    access = _access_of_call()
    if access is None:
        return _with_access(program, None), contextlib.nullcontext()
    if access.site is None:
        return None
    without_site = dataclasses.replace(access, site=NO_SITE)
    return _with_access(program, without_site), _adding(access.site)


@contextlib.contextmanager
def _adding(site: CallSite) -> Iterator[None]:
    try:
        yield
    except (jax.errors.JaxRuntimeError, ValueError) as error:
        found = find_in(error)
        if found is None:
            raise
        _frames.hide_from_ipython()
        if found.where:  # a check of the caller's code, within the program
            raise found from None
        fields = (found.operation, found.position, found.index, found.bound, site.where)
        placed = OutOfBoundsError(f"{found}{site}", *fields)
        remember(placed)
        raise placed from None


@programs.kept
def _has_checks_for_later(program: Any) -> bool:
    """Whether a program, or one that it calls, leaves checks for later."""
    return any(
        _is_later(eqn) or any(map(_has_checks_for_later, _jax_internals.programs_in(eqn)))
        for eqn in program.eqns
    )


def _is_later(eqn) -> bool:
    return is_check(eqn) and site_of(eqn) == LATER


def _of_call(access: Access | None, eqn):
    if not _is_later(eqn):
        return eqn
    if access is None:  # not the caller's
        return None
    params = _jax_internals.params_of(eqn)
    changed = {"spec": params["spec"].of(access), "site": access.site or LATER}
    return eqn.replace(params={**params, **changed})


# --- functions of JAX that change an index before a primitive has it, or lose data without one ---


def _within(names: set[str], rule: Callable) -> Callable:
    """`rule(access, frame, *operands)` where a function of JAX of these names binds it."""

    def checked_operands(*operands, **params):
        del params
        frame = whose.frame_of(names)
        access = frame and whose.access_now(names | whose.INDEXING)
        return operands if access is None else rule(access, frame, *operands)

    return checked_operands


def _each_checked_by(spec: IndexOfJax, numbers, access: Access) -> Any:
    """`numbers`, an array of any shape, with a check of each."""
    vectors = checked_by(spec, lax.expand_dims(numbers, [numbers.ndim]), access)
    return lax.squeeze(vectors, [numbers.ndim])


def _negative(access: Access, frame, which, index, *others):
    """The operands of a select, by which JAX counts a negative index from the end."""
    del frame
    return which, _not_negative(access, index), *others


def _not_negative(access: Access, index) -> Any:
    if jnp.issubdtype(index.dtype, jnp.unsignedinteger):
        return index
    spec = NegativeIndex(access.operation, (jnp.iinfo(index.dtype).max + 1,))
    return _each_checked_by(spec, index, access)


def _negative_of_take(access: Access, frame, which, from_end, index):
    del frame
    return which, from_end, _not_negative(access, index)


def _narrowed(*operands, new_dtype, **params):
    """The operand of a conversion of 64-bit or unsigned indices to int32, which cuts large ones."""
    (index,) = operands
    dtype = getattr(index, "dtype", np.dtype(bool))  # jax 0.10.0 converts numbers of Python too
    if not (jnp.issubdtype(dtype, jnp.integer) and jnp.issubdtype(new_dtype, jnp.signedinteger)):
        return operands
    largest = jnp.iinfo(new_dtype).max
    if jnp.iinfo(dtype).max <= largest:
        return operands
    # As a number that is not negative: where the least int32 is 0.
    least = 0 if jnp.iinfo(dtype).min == 0 else -largest - 1
    limit, shift = largest + 1 - least, np.array(least, dtype)

    def check_that_it_fits(access: Access, frame, index):
        del frame
        spec = WideIndex(access.operation, (limit,), least)
        return (_each_checked_by(spec, index - shift, access) + shift,)

    return _within(whose.NARROWING, check_that_it_fits)(index, **params)


def _put(access: Access, frame, operand, indices, updates):
    if frame.f_locals["mode"] is not None:
        return operand, indices, updates
    flat, size, setting = frame.f_locals["ind_arr"], np.size(operand), settings.current()
    if setting and setting.negative:
        flat = _not_negative(access, flat)
    spec = PutIndex(access.operation, (size,), (0,), (1,), (size,), (True,))
    checked = checked_by(spec, _from_start(flat, size), access)
    return operand, _after(checked, indices), updates


def _one_hot(access: Access, frame, classes):
    count = frame.f_locals["num_classes"]
    if not jnp.issubdtype(classes.dtype, jnp.integer):
        return (classes,)
    return (_each_checked_by(OneHotClass(access.operation, (count,)), classes, access),)


def _repeat(access: Access, frame, operand, indices, updates):
    total, repeats = frame.f_locals["total_repeat_length"], frame.f_locals["repeats"]
    if isinstance(repeats, np.ndarray):  # no total was given
        return operand, indices, updates
    spec = RepeatedLength(access.operation, (1,), total)
    more = _each_checked_by(spec, jnp.sum(repeats) - total, access)
    return operand, _after(more, indices), updates


def _after(checked, indices):
    """`indices`, made so that JAX does not drop the check of other numbers as not used."""
    first = lax.squeeze(lax.slice(checked.ravel(), (0,), (1,)), [0])
    return indices + jnp.zeros_like(indices) * first.astype(indices.dtype)


# --- the primitives are wrapped when the first function is checked ---

_wrapping = threading.RLock()  # `functools.cache` lets two threads call a function at once


def wrap_primitives() -> None:
    with _wrapping:
        _wrap_known()


@functools.cache
def _wrap_known() -> None:
    _wrap()
    known_jax.refuse_unknown_jax()


@functools.cache
def _wrap() -> None:
    checks = {
        lax.gather_p: _gather,
        lax.dynamic_slice_p: _dynamic_slice,
        lax.dynamic_update_slice_p: _dynamic_update_slice,
        **dict.fromkeys(_jax_internals.OF_REFERENCES, _reference),
        **dict.fromkeys(resolving.SCATTERS, _scatter),
    }
    for primitive, with_check in checks.items():
        _add_rule(primitive, _of_caller(with_check))
    _add_rule(lax.scatter_p, _within({"put"}, _put))
    _add_rule(lax.convert_element_type_p, _narrowed)
    for primitive in _jax_internals.CALLING:
        _jax_internals.wrap_bind(primitive, _bind_call)
    _jax_internals.wrap_eager_calls(_of_eager_call)
    _jax_internals.wrap_rules(settings.within)


# For each option of `checked` the functions of JAX that it is about, how their index or their loss
# is looked at, and the primitives that they bind.
_OPTIONS = {
    "negative": (whose.NORMALIZING, _negative, [lax.select_n_p]),
    # By one of the two it adds the axis of the classes.
    "one_hot": ({"one_hot", "_one_hot"}, _one_hot, [lax.broadcast_in_dim_p, lax.reshape_p]),
    "repeat": ({"repeat", "_repeat"}, _repeat, [lax.scatter_add_p]),
}


def wrap_for_option(option: str) -> None:
    """Wraps the primitives that an option of `checked` looks at, when the option is first used."""
    with _wrapping:
        _wrap_for_option(option)


@functools.cache
def _wrap_for_option(option: str) -> None:
    names, rule, primitives = _OPTIONS[option]

    def if_asked(*operands, **params):
        is_asked = getattr(settings.current(), option)
        return _within(names, rule)(*operands, **params) if is_asked else operands

    for primitive in primitives:
        _add_rule(primitive, if_asked)
