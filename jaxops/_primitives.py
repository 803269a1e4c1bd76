"""Primitives of our own: functions whose derivatives, transpose or batching we know better.

A primitive computes what a `reference` made of `lax` calls computes, so its rules are those of the
reference where no better one is given.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters import ad, batching, mlir

from jaxops import _jax_internals
from jaxops._jax_internals import Primitive


def lower_fun(
    function: Callable, multiple_results: bool = True, within: Iterable[Any] = ()
) -> Callable:
    """`mlir.lower_fun` of a function that may compute 64-bit types while JAX has them switched off.

    A program is lowered when `with jax.enable_x64(True)` in the function that it is traced from has
    ended. An index of 64 bits was cut to 32 then (test_branches.py, test_64_bits_for_a_part).
    `within`: types of values that the function computes, besides those of operands and results.
    """
    lower = mlir.lower_fun(function, multiple_results)

    def rule(ctx, *operands, **params):
        avals = itertools.chain(ctx.avals_in, ctx.avals_out, within)
        if jax.config.read("jax_enable_x64") or not any(map(_has_64_bits, avals)):
            return lower(ctx, *operands, **params)
        with jax.enable_x64(True):
            return lower(ctx, *operands, **params)

    return rule


def _has_64_bits(aval: Any) -> bool:
    return getattr(aval, "dtype", None) in (np.int64, np.uint64, np.float64, np.complex128)


def new_primitive(name: str, is_linear: bool = True) -> Primitive:
    """A primitive. `jax.experimental.jet` refuses it unless it `is_linear` in all its floats."""
    primitive = Primitive(name)
    rule = _jet if is_linear else _no_jet
    _jax_internals.register_jet_rule(primitive, functools.partial(rule, primitive))
    return primitive


def _jet(primitive: Primitive, primals, series, **params):
    """The rule of `jax.experimental.jet`: a linear function takes each term of a series alone."""
    results = primitive.bind(*primals, **params)

    def term(*terms):
        tangents = [
            x if jnp.issubdtype(p.dtype, jnp.inexact) else np.zeros(p.shape, jax.dtypes.float0)
            for p, x in zip(primals, terms, strict=True)
        ]
        _, dots = jax.jvp(functools.partial(primitive.bind, **params), [*primals], tangents)
        return jax.tree.map(
            lambda dot, x: dot if jnp.issubdtype(x.dtype, jnp.inexact) else jnp.zeros_like(x),
            dots,
            results,
        )

    terms = [term(*terms) for terms in zip(*series, strict=True)]
    return results, [*zip(*terms, strict=True)] if primitive.multiple_results else terms


def _no_jet(primitive: Primitive, primals, series, **params):
    """Refuses `jet` where it is not linear: some versions of JAX divide terms by factorials."""
    del primals, series, params
    raise NotImplementedError(
        f"jax.experimental.jet has no rule for {primitive}, which is not linear; jax.jvp of "
        "jax.jvp computes such a derivative"
    )


def linear_primitive(
    name: str,
    reference: Callable,
    num_linear: int | Callable[[int], int],
    batch: Callable | None = None,
    transpose: Callable | None = None,
    returns_list: bool = False,
    is_typed_as_first: bool = False,
) -> Primitive:
    """`reference` as one equation of a program.

    Args:
        name: of the primitive.
        reference: a function of arrays and static keyword arguments; returns an array, or a list of
            arrays.
        num_linear: in how many operands, the first ones, it is linear; or a function that tells
            this number by that of the operands.
        batch: `batch(bind, operands, dims, **static)` binds the primitive to a batch. Without it a
            batch is computed by `reference`.
        transpose: the rule of the transpose. If it is given, the tangent is the primitive again, so
            that the rule is reached; else the tangent is `reference` of the tangents.
        returns_list: whether `reference` returns a list.
        is_typed_as_first: whether the result has the type of the first operand, so that it need not
            be found by tracing the reference.
    """
    primitive = new_primitive(name)
    primitive.multiple_results = returns_list
    primitive.def_impl(reference)
    if is_typed_as_first:
        primitive.def_abstract_eval(lambda first, *_, **__: first)
    else:

        def types(*operands, **static):
            found = types_of_results(reference, *operands, **static)
            return found if returns_list else found[0]

        primitive.def_abstract_eval(types)
    tangent_fn = primitive.bind if transpose else reference
    ad.primitive_jvps[primitive] = functools.partial(_jvp, primitive, tangent_fn, num_linear)
    transpose_rule = transpose or functools.partial(transpose_of, reference)
    ad.primitive_transposes[primitive] = functools.partial(_transpose_to_types, transpose_rule)
    batch_rule = batch and functools.partial(batch, primitive.bind)
    batching.primitive_batchers[primitive] = batch_rule or functools.partial(_map, reference)
    mlir.register_lowering(primitive, lower_fun(reference, multiple_results=returns_list))
    return primitive


def types_of_results(implementation: Callable, *operands, **static) -> list[Any]:
    """The types of arrays that are computed, for a primitive's rule.

    By tracing the implementation, as a type has more than shape and dtype: the axes along which the
    array varies under `shard_map`.
    """
    return jax.make_jaxpr(functools.partial(implementation, **static))(*operands).out_avals


def varying_alike(*arrays: jax.Array) -> list[jax.Array]:
    """Under `shard_map`: all arrays varying along the same axes, so that their cotangents do too.

    `lax` does this for its own primitives. The transpose sums over the axes that are added.
    """
    union = frozenset().union(*map(_jax_internals.varying_axes, arrays))
    return [_jax_internals.varying_over(x, union) for x in arrays]


def _jvp(primitive, tangent_fn, num_linear, primals, tangents, **static):
    count = num_linear(len(primals)) if callable(num_linear) else num_linear
    linear = map(ad.instantiate_zeros, tangents[:count])
    out_dot = tangent_fn(*linear, *primals[count:], **static)
    return primitive.bind(*primals, **static), out_dot


def _transpose_to_types(rule, cotangent, *operands, **static):
    """Under `shard_map` cotangents vary as the operands do, also one that is a constant."""
    return [
        _jax_internals.varying_over(bar, _jax_internals.varying_axes(x.aval))
        if isinstance(bar, jax.Array) and ad.is_undefined_primal(x)
        else bar
        for bar, x in zip(rule(cotangent, *operands, **static), operands, strict=True)
    ]


def transpose_of(reference, cotangent, *operands, **static):
    """The rule of the transpose that JAX finds for `reference`."""
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


def all_batched(operands, dims) -> list[jax.Array]:
    """The operands of a batching rule, each with the new dimension first.

    An operand without that dimension is repeated along it.
    """
    (size,) = {x.shape[d] for x, d in zip(operands, dims, strict=True) if d is not None}
    return [
        jnp.broadcast_to(x, (size, *x.shape)) if d is None else jnp.moveaxis(x, d, 0)
        for x, d in zip(operands, dims, strict=True)
    ]


def _map(reference, operands, dims, **static):
    results = jax.vmap(functools.partial(reference, **static), in_axes=tuple(dims))(*operands)
    return results, [0] * len(results) if isinstance(results, list) else 0


def map_over(function: Callable, *operands, maps: tuple[tuple, ...] = (), **static):
    """`function` under one `jax.vmap` for each of `maps`, its `in_axes`; the innermost first."""
    function = functools.partial(function, **static)
    for dims in maps:
        function = jax.vmap(function, in_axes=dims)
    return function(*operands)
