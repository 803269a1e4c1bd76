"""Functions that programs of one platform compute faster: the contract of `_cpu` and `_cuda`.

A module of another room hands a `reference`, a function made of `lax` calls, to `call`. A module of
`_cpu` or `_cuda` registers a form of that reference. Without the module every value stays as it is:
only the reference is computed then.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from jax.interpreters import batching, mlir

from jaxops import _jax_internals
from jaxops._jax_internals import Primitive
from jaxops._primitives import linear_primitive, lower_fun, map_over, varying_alike


class _Form(NamedTuple):
    platforms: tuple[str, ...]
    is_for: Callable[..., bool]
    primitive: Primitive


_forms: dict[Callable, list[_Form]] = {}  # by reference
_references: dict[Primitive, Callable] = {}


@functools.cache
def load() -> None:
    """Imports the modules that register forms. `call` does it, so that `import jaxops` need not."""
    for room in ("jaxops._cpu", "jaxops._cuda"):
        importlib.import_module(room)


def call(reference: Callable, *operands, **static) -> Any:
    """`reference(*operands, **static)`, by the first of its forms that is for these operands."""
    load()
    for form in _forms.get(reference, ()):
        if form.is_for(*operands, **static):
            return form.primitive.bind(*varying_alike(*operands), **static)
    return reference(*operands, **static)


def switch_off() -> None:
    """Makes `call` compute references only from now on: tests hold that every value stays."""
    load()
    _forms.clear()


def reference_of(primitive: Primitive) -> Callable | None:
    """The function of which a primitive is a form, if it is one."""
    return _references.get(primitive)


def register(
    reference: Callable,
    name: str,
    form: Callable,
    num_linear: int | Callable[[int], int],
    is_for: Callable[..., bool],
    batch: Callable | None = None,
    transpose: Callable | None = None,
    calls_python: bool = False,
    returns_list: bool = False,
    on_many_devices: bool = False,
    maps_itself: bool = False,
    platforms: tuple[str, ...] = ("cpu",),
) -> Primitive:
    """Registers `form`, which has the results of `reference`, as a form of it.

    A primitive rather than `lax.platform_dependent`: derivatives and transpose are those of
    `reference`, so `form` needs none, and tracing is short. In the program of another platform
    the primitive is `reference`.

    Args:
        reference: as `call` has it.
        name: of the primitive, in traced programs.
        form: a function of the same arguments.
        num_linear: as `linear_primitive` has it; so are `batch`, `transpose` and `returns_list`.
        is_for: tells by operands and static arguments, which are known while tracing, whether the
            form is worth it.
        batch: see `num_linear`.
        transpose: see `num_linear`.
        calls_python: whether `form` calls Python. A program that is stored, or lowered for
            several platforms at once, gets `reference` then.
        returns_list: see `num_linear`.
        on_many_devices: whether a program for several devices, which XLA partitions, gets
            `form` too; else it gets `reference`.
        maps_itself: whether a batch is computed by `form` under `jax.vmap`; else, without a rule
            `batch`, by `reference`.
        platforms: those whose programs have the form.
    """
    elsewhere = reference
    if maps_itself:
        elsewhere, form = (functools.partial(map_over, f) for f in (elsewhere, form))
    primitive = linear_primitive(name, elsewhere, num_linear, batch, transpose, returns_list)
    if maps_itself:
        batching.primitive_batchers[primitive] = functools.partial(_add_map, primitive)
    lower = functools.partial(lower_fun, multiple_results=returns_list)

    def lower_form(ctx, *operands, **static):
        is_apart = calls_python and _jax_internals.is_for_elsewhere(ctx)
        is_one = on_many_devices or _jax_internals.is_for_one_device(ctx)
        return lower(form if is_one and not is_apart else elsewhere)(ctx, *operands, **static)

    for platform in platforms:
        mlir.register_lowering(primitive, lower_form, platform=platform)
    forms = _forms.setdefault(reference, [])
    forms.append(_Form(platforms, is_for, primitive))
    forms.sort(key=lambda form: form.platforms)  # "cpu" first, whichever room is imported first
    _references[primitive] = reference
    return primitive


def _add_map(primitive: Primitive, operands, dims, *, maps: tuple[tuple, ...] = (), **static):
    results = primitive.bind(*operands, maps=(*maps, tuple(dims)), **static)
    return results, [0] * len(results) if primitive.multiple_results else 0
