"""Linear functions that programs for the CPU compute in another, faster way."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from jaxops import _jax_internals
from jaxops._sparse.jaxprs import type_of_result, types_of_results


def with_cpu_form(
    name: str,
    reference: Callable,
    on_cpu: Callable,
    num_linear: int,
    batch: Callable | None = None,
    transpose: Callable | None = None,
    calls_python: bool = False,
    returns_list: bool = False,
) -> Primitive:
    """`reference`, lowered for the CPU as `on_cpu`, which has the same results.

    Both take arrays, in the first `num_linear` of which `reference` is linear, and static keyword
    arguments, and return an array, or with `returns_list` a list of them. A primitive rather than
    `lax.platform_dependent`: derivatives and transpose are those of `reference`, so `on_cpu` needs
    none, and tracing is short. Batched it is `reference` too, unless
    `batch(bind, operands, dims, **static)` can bind it to a batch. With a rule `transpose` of its
    own its tangent is the primitive too.

    A program for several devices, which XLA partitions, gets `reference`. So does a program that
    is stored, or lowered for several platforms at once, if `on_cpu` calls Python.
    """
    primitive = Primitive(name)
    primitive.multiple_results = returns_list
    primitive.def_impl(reference)
    type_rule = types_of_results if returns_list else type_of_result
    primitive.def_abstract_eval(functools.partial(type_rule, reference))
    tangent_fn = primitive.bind if transpose else reference
    ad.primitive_jvps[primitive] = functools.partial(_jvp, primitive, tangent_fn, num_linear)
    ad.primitive_transposes[primitive] = transpose or functools.partial(_transpose, reference)
    rule = functools.partial(batch, primitive.bind) if batch else functools.partial(_map, reference)
    batching.primitive_batchers[primitive] = rule
    lower = functools.partial(mlir.lower_fun, multiple_results=returns_list)

    def lower_for_cpu(ctx, *operands, **static):
        is_apart = calls_python and _jax_internals.is_for_elsewhere(ctx)
        form = on_cpu if _jax_internals.is_for_one_device(ctx) and not is_apart else reference
        return lower(form)(ctx, *operands, **static)

    mlir.register_lowering(primitive, lower_for_cpu, platform="cpu")
    mlir.register_lowering(primitive, lower(reference))
    return primitive


def _jvp(primitive, tangent_fn, num_linear, primals, tangents, **static):
    linear = map(ad.instantiate_zeros, tangents[:num_linear])
    out_dot = tangent_fn(*linear, *primals[num_linear:], **static)
    return primitive.bind(*primals, **static), out_dot


def _transpose(reference, cotangent, *operands, **static):
    if isinstance(cotangent, list):
        cotangent = list(map(ad.instantiate_zeros, cotangent))
    numbers = [n for n, x in enumerate(operands) if ad.is_undefined_primal(x)]

    def of_unknown(*unknown):
        all_operands = list(operands)
        for n, x in zip(numbers, unknown, strict=True):
            all_operands[n] = x
        return reference(*all_operands, **static)

    unknown_bar = jax.linear_transpose(of_unknown, *(operands[n].aval for n in numbers))(cotangent)
    by_number = dict(zip(numbers, unknown_bar, strict=True))
    return [by_number.get(n) for n in range(len(operands))]


def _map(reference, operands, dims, **static):
    results = jax.vmap(functools.partial(reference, **static), in_axes=tuple(dims))(*operands)
    return results, [0] * len(results) if isinstance(results, list) else 0
