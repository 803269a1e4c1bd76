"""The scatter that multiplies, with derivatives: `lax.scatter_mul` has none where updates meet.

Let the updates `u_1, ..., u_n` meet in one element. Its value is their product `P`, and

    dP / du_j = E_j = the product of all `u_k` but `u_j`.

`P / u_j` is no way to compute `E_j`: 0 / 0 is NaN, `P` may be 0 or infinite where `E_j` is neither,
and the derivative of a quotient subtracts numbers that are nearly equal. So derivatives are made of
one function, which is a primitive:

    T(u; c; v, ..., w)_j = c_j * the coefficient of s * ... * t in
                                 the product of all (u_k + s * v_k + ... + t * w_k) with k != j

The tangent of `P` along `c` is the sum of all `T(u; c)_j = c_j * E_j`. Each direction `v, ..., w`
is a derivative of `E_j` along it, as one direction `w` more is the derivative of a coefficient:

    the derivative of T(u; c; v, ...) along w is T(u; c; v, ..., w).

`T` is linear in `c` and in each direction. For cotangents `b_j` of the results,

    sum_j b_j * T(u; c; v, ...)_j = the coefficient of r * s * ... in
                                    the product of all (u_k + r * b_k * c_k + s * v_k + ...),

in which `b * c` and `v` may change places. So the transpose by `v` is T(u; 1; b * c, ...), and that
by `c` is T(u; b; v, ...). The primitive is its own derivative and transpose, to every order.

Two ways compute it. Both keep a factor as a mantissa near 1 and an exponent that is an integer, so
that no product on the way leaves the range of the dtype: of [1e-25, 1e-25, 1e25, 1e25] in float32
the products of the first two and of the last two do, and those of any three do not.

- `_by_scans`: the updates are sorted by element, and each gets the product of those before it times
  the product of those after it. Nothing is divided or subtracted.
- `_by_quotients`: `E_j` as the quotient of two products of mantissas, with zeros counted apart. It
  needs no sort, which takes a CPU ten times as long as the rest, but is right only where there are
  no directions, no infinities, and no more updates in one element than mantissas can be multiplied.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.interpreters import ad, batching, mlir

from jaxops import _symbolic
from jaxops._indexing.bounds import in_bounds
from jaxops._indexing.deterministic_sums import sort_rows
from jaxops._indexing.dimension_numbers import Windows, lax_gather, lax_scatter, scatter_windows
from jaxops._indexing.index_dtypes import widen
from jaxops._indexing.specs import IndexSpec
from jaxops._primitives import all_batched, lower_fun, new_primitive, varying_alike

_DROP = lax.GatherScatterMode.FILL_OR_DROP
# Mantissas lie between the roots of 1/2 and 2, so products of so many between 2**-125 and 2**125
# (test_products.py, test_gradients_of_many_factors).
_MOST_FACTORS = 250
# The sum of so many exponents lies between -2**19 and 2**19, those of float64 too.
_OF_ZERO = 2**20
_LARGEST_EXPONENT = 2**29  # the sum of two fits into int32


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def scatter_product(windows: Windows, ones, indices, updates) -> jax.Array:
    """The products of the updates that meet in one element of an array of `ones`."""
    return lax_scatter(ones, updates, indices, kind="mul", windows=windows)


@scatter_product.defjvp
def _scatter_product_jvp(windows, primals, tangents):
    ones, indices, updates = primals
    # Narrow floats are multiplied and added in float32: the products of test_products.py,
    # test_gradients_of_narrow_floats_are_rounded_once, would all be 1 in bfloat16.
    dtype = updates.dtype if updates.dtype.itemsize >= 4 else np.dtype(np.float32)
    wide, weights = (x.astype(dtype) for x in (updates, tangents[2]))
    operands = varying_alike(wide, weights, indices)
    terms = weighted_p.bind(*operands, windows=windows, shape=ones.shape)
    zeros = jnp.zeros(ones.shape, terms.dtype)
    out_dot = scatter_windows("add", zeros, indices, terms, windows)
    out = scatter_product(windows, ones, indices, updates)
    return out, out_dot.astype(out.dtype)


def _weighted(updates, weights, *rest, windows: Windows, shape: tuple[int, ...]) -> jax.Array:
    """T(updates; weights; directions), and 0 for an update whose index is out of bounds of `shape`.

    The weights may have more dimensions before those of the updates: of several cotangents.
    """
    # Without this return, the gradient of no factors raised a ZeroDivisionError (test_products.py,
    # test_derivatives_without_factors).
    if updates.size == 0:
        return weights
    *directions, indices = rest
    more = range(weights.ndim - updates.ndim)

    def weighted(others: _Number) -> jax.Array:
        limits = tuple(shape[axis] for axis in windows.axes)
        # A dropped factor may be NaN, and only a mask keeps it out of the gradient
        # (test_segments.py, test_dropped_products_have_no_gradient).
        is_inside = in_bounds(widen(indices, limits), IndexSpec("", limits))
        is_inside = windows.over_result(is_inside, updates.ndim)
        x, inside = jax.tree.map(lambda x: lax.expand_dims(x, more), (others, is_inside))
        # The product of the others may be too large for the dtype where the gradient itself is not
        # (test_products.py, test_cotangents_are_multiplied_before_they_are_rounded).
        weight = _number(weights)
        result = _scaled(x.mantissa * weight.mantissa, x.exponent + weight.exponent)
        return jnp.where(inside, result, jnp.zeros_like(result))

    def by_scans():
        return weighted(_by_scans(updates, *directions, indices, windows=windows, shape=shape))

    if directions:
        return by_scans()
    total, zeros, is_right = _products(updates, indices, windows, shape)

    def by_quotients():
        return weighted(_by_quotients(updates, indices, windows, total, zeros))

    # The weights are within the branches: a result of `cond` is not computed with what follows, so
    # that mantissas and exponents would be written and read once more.
    return lax.cond(is_right, by_quotients, by_scans)


# --- numbers of any size ---


class _Number(NamedTuple):
    """`mantissa * 2**exponent`. The exponent is an int32: of 0 the least, of inf and NaN any."""

    mantissa: jax.Array
    exponent: jax.Array


def _number(x: jax.Array, exponent: jax.Array | int = 0) -> _Number:
    """`x * 2**exponent`: the mantissa, or its larger part, is between the roots of 1/2 and 2.

    The exponent is read from the bits of `x`: `jnp.frexp` has no mantissas around 1.
    """
    size = jnp.maximum(abs(x.real), abs(x.imag)) if jnp.iscomplexobj(x) else abs(x)
    info = jnp.finfo(size.dtype)
    more = jnp.where(size < info.tiny, info.nmant, 0)  # bits of a subnormal number begin with zeros
    normal = jnp.where(size < info.tiny, size * 2.0**info.nmant, size) * math.sqrt(2)
    bits = lax.bitcast_convert_type(normal, np.dtype(f"int{info.bits}"))
    own = (bits >> info.nmant).astype(jnp.int32) - (info.maxexp - 1) - more
    total = jnp.clip(exponent + own, -_LARGEST_EXPONENT, _LARGEST_EXPONENT)
    return _Number(_scaled(x, -own), jnp.where(size == 0, -_LARGEST_EXPONENT, total))


def _scaled(x: jax.Array, exponent: jax.Array) -> jax.Array:
    """`x * 2**exponent`, for an `x` between 2**-150 and 2**150 if it is a float32.

    By two steps, as 2**exponent itself may not be a number of the dtype.
    """
    if jnp.iscomplexobj(x):
        return lax.complex(_scaled(x.real, exponent), _scaled(x.imag, exponent))
    info = jnp.finfo(x.dtype)
    largest = -int(info.minexp)  # 2**largest and 2**-largest are normal numbers
    exponent = jnp.clip(exponent, -2 * largest, 2 * largest)
    half = exponent >> 1
    bits = np.dtype(f"int{info.bits}")

    def power(k):
        return lax.bitcast_convert_type((k.astype(bits) + info.maxexp - 1) << info.nmant, x.dtype)

    return x * power(half) * power(exponent - half)


def _where(condition: jax.Array, x, y):
    return jax.tree.map(functools.partial(jnp.where, condition), x, y)


def _times(x: _Number, y: _Number) -> _Number:
    return _number(x.mantissa * y.mantissa, x.exponent + y.exponent)


def _plus(x: _Number, y: _Number) -> _Number:
    exponent = jnp.maximum(x.exponent, y.exponent)
    left, right = (_scaled(z.mantissa, z.exponent - exponent) for z in (x, y))
    return _number(left + right, exponent)


# --- by quotients ---


class _Lanes(NamedTuple):
    """Indices into an array of `shape`, which has an axis of lanes that the operand has not.

    The updates of an element go to them in turn: a lane has few where an element has many.
    """

    indices: jax.Array
    windows: Windows
    shape: tuple[int, ...]


def _lanes_of(indices, windows: Windows, shape) -> _Lanes:
    b, vectors = windows.batch_dims, indices.shape[:-1]
    sizes = (*vectors[b:], *(shape[axis] for axis in windows.axes))
    lanes = 1
    if _symbolic.are_known(sizes) and windows.first == b:
        elements = max(1, math.prod(shape[axis] for axis in windows.axes))
        while math.prod(vectors[b:]) > lanes * elements * _MOST_FACTORS // 2:
            lanes *= 2
    numbers = lax.iota(indices.dtype, math.prod(vectors)) % jnp.asarray(lanes, indices.dtype)
    indices = jnp.concatenate([numbers.reshape(*vectors, 1), indices], axis=-1)
    axes = (b, *(axis + 1 for axis in windows.axes))
    return _Lanes(indices, Windows(axes, b), (*shape[:b], lanes, *shape[b:]))


def _are_few(lanes: _Lanes) -> jax.Array:
    """Whether no lane has more updates of one element than can be multiplied."""
    indices, windows, shape = lanes
    if _symbolic.are_known(indices.shape) and math.prod(indices.shape[:-1]) <= _MOST_FACTORS:
        return jnp.array(True)
    indexed = (*range(windows.batch_dims), *windows.axes)
    of_places = Windows(tuple(range(windows.batch_dims, len(indexed))), windows.batch_dims)
    zeros = jnp.zeros([shape[d] for d in indexed], jnp.int32)
    ones = jnp.ones(indices.shape[:-1], jnp.int32)
    counts = lax_scatter(zeros, ones, indices, kind="add", windows=of_places, mode=_DROP)
    return jnp.max(counts) <= _MOST_FACTORS


def _factors(updates: jax.Array) -> tuple[_Number, jax.Array]:
    """The updates but for zeros, which are counted as 1 of them."""
    is_zero = updates == 0
    return _number(jnp.where(is_zero, jnp.ones_like(updates), updates)), is_zero.astype(jnp.int32)


def _products(updates, indices, windows: Windows, shape):
    """The product of the updates of each element without zeros, and the number of zeros.

    Exponents and zeros are counted by one sum. The third result tells whether all are right.
    """
    lanes = _lanes_of(indices, windows, shape)

    def combined(kind, initial, values):
        result = jnp.full(lanes.shape, initial, values.dtype)
        static = {"kind": kind, "windows": lanes.windows, "mode": _DROP}
        return lax_scatter(result, values, lanes.indices, **static)

    (mantissas, exponents), is_zero = _factors(updates)
    products = combined("mul", 1, mantissas)
    sums = combined("add", 0, exponents + _OF_ZERO * is_zero)
    zeros = (sums + _OF_ZERO // 2) >> _OF_ZERO.bit_length() - 1
    # Each lane is scaled to near 1 before lanes are multiplied. Without the scaling, the gradient
    # of 500 factors with mantissas near the root of 2 was inf (test_products.py,
    # test_gradients_of_many_factors_with_large_mantissas).
    of_lanes = jax.tree.map(
        lambda x: jnp.moveaxis(x, windows.batch_dims, 0),
        (_number(products, sums - _OF_ZERO * zeros), zeros),
    )

    def add_lane(n, total):
        (product, zeros), (of_lane, more) = total, jax.tree.map(lambda x: x[n], of_lanes)
        return _times(product, of_lane), zeros + more

    total = jax.tree.map(lambda x: x[0], of_lanes)
    total = lax.fori_loop(1, lanes.shape[windows.batch_dims], add_lane, total)
    # An infinite factor times 0 is NaN, and no quotient recovers the other factors
    # (test_products.py, test_infinite_factors_at_all_magnitudes).
    return *total, _are_few(lanes) & jnp.isfinite(products).all()


def _by_quotients(updates, indices, windows: Windows, total: _Number, zeros) -> _Number:
    """The product of the updates of an element but for zeros, divided by the update.

    That is 0 if there is a zero among the others.
    """
    (product, exponent), zeros = jax.tree.map(
        lambda x: lax_gather(x, indices, windows), (total, zeros)
    )
    own, is_zero = _factors(updates)
    quotient = _Number(_quotient(product, own.mantissa), exponent - own.exponent)
    return _where(zeros == is_zero, quotient, jax.tree.map(jnp.zeros_like, quotient))


def _quotient(x: jax.Array, y: jax.Array) -> jax.Array:
    """`x / y` of mantissas. XLA's complex quotient of (4-3.5j) by itself is 1-7e-9j."""
    if not jnp.iscomplexobj(y):
        return x / y
    product, size = x * y.conj(), y.real**2 + y.imag**2
    return lax.complex(product.real / size, product.imag / size)


# --- by scans ---


def _by_scans(updates, *rest, windows: Windows, shape) -> _Number:
    """The product of the updates that stand before, times that of those that stand after.

    As numbers `u + s * w + ... + t * z` with `s**2 = ... = t**2 = 0`: their coefficients, by which
    of `s, ..., t` they belong to, as bits of the position in a list.
    """
    *directions, indices = rest
    rows = sort_rows(indices, windows, shape)
    first, *others = (rows.values_of(x) for x in (updates, *directions))
    one = _number(jnp.ones_like(first))
    zeros = [_number(jnp.zeros_like(first))] * (2 ** len(directions) - 1)
    numbers = [_number(first), *zeros]
    for n, x in enumerate(others):
        numbers[2**n] = _number(x)

    flip = functools.partial(jax.tree.map, functools.partial(jnp.flip, axis=0))
    before = _products_before(numbers, rows.starts, [one, *zeros])
    after = flip(_products_before(flip(numbers), flip(rows.ends), [one, *zeros]))
    product = _all_times(before, after)[-1]
    return jax.tree.map(lambda x: rows.back(x, updates), product)


def _products_before(numbers, starts: jax.Array, one):
    """The product of the numbers of the same run that stand before each number of `[n, ...]`.

    After a step that doubles `width`, of those at most `width` places before it.
    """
    positions = lax.iota(jnp.int32, starts.shape[0])
    place = (positions - lax.cummax(jnp.where(starts, positions, 0)))[:, None]

    def moved(numbers, width):
        return jax.tree.map(lambda x: jnp.roll(x, width, axis=0), numbers)

    def double(carry):
        width, products = carry
        longer = _all_times(moved(products, width), products)
        return 2 * width, _where(place > width, longer, products)

    products = _where(place > 0, moved(numbers, 1), one)
    longest = jnp.max(place)
    return lax.while_loop(lambda carry: carry[0] < longest, double, (1, products))[1]


def _all_times(x: list[_Number], y: list[_Number]) -> list[_Number]:
    """The product of two sums of coefficients times `s, ..., t`, whose squares are 0."""
    return [
        functools.reduce(_plus, (_times(x[m], y[n ^ m]) for m in range(n + 1) if m & ~n == 0))
        for n in range(len(x))
    ]


# --- the primitive ---


def _batch(operands, dims, *, windows: Windows, shape: tuple[int, ...]):
    """One more batch dimension; of weights alone one more dimension before all others."""
    ranks = [x.ndim - (dim is not None) for x, dim in zip(operands, dims, strict=True)]
    before = ranks[1] - ranks[0]
    # All rows of a Jacobian use the same products of the other factors (test_products.py,
    # test_jacobians_share_the_products_of_others).
    if all(dim is None for n, dim in enumerate(dims) if n != 1):
        updates, weights, *rest = operands
        weights = jnp.moveaxis(weights, dims[1], 0)
        return weighted_p.bind(updates, weights, *rest, windows=windows, shape=shape), 0
    updates, weights, *rest = all_batched(operands, dims)
    batched = updates, jnp.moveaxis(weights, 0, before), *rest
    windows = Windows(tuple(axis + 1 for axis in windows.axes), windows.batch_dims + 1)
    return weighted_p.bind(*batched, windows=windows, shape=(updates.shape[0], *shape)), before


def _transpose(cotangent, updates, weights, *rest, **static):
    *directions, indices = rest
    if ad.is_undefined_primal(weights):
        bar = weighted_p.bind(*varying_alike(updates, cotangent, *rest), **static)
        return [None, bar, *[None] * len(rest)]
    unknown = [ad.is_undefined_primal(x) for x in directions]
    # Sums over dimensions that the weights alone have.
    product = jnp.sum(cotangent * weights, axis=range(weights.ndim - updates.ndim))
    given = [product if u else x for u, x in zip(unknown, directions, strict=True)]
    operands = varying_alike(updates, jnp.ones_like(updates), *given, indices)
    bar = weighted_p.bind(*operands, **static)
    return [None, None, *(bar if u else None for u in unknown), None]


def _jvp(primals, tangents, **static):
    updates, *linear, indices = primals
    updates_dot, *linear_dot, _ = tangents
    calls = [[*linear, updates_dot]] if type(updates_dot) is not ad.Zero else []
    for n, x_dot in enumerate(linear_dot):
        if type(x_dot) is not ad.Zero:
            calls.append([*linear[:n], x_dot, *linear[n + 1 :]])
    dots = [weighted_p.bind(*varying_alike(updates, *call, indices), **static) for call in calls]
    return weighted_p.bind(*primals, **static), functools.reduce(jnp.add, dots)


weighted_p = new_primitive("weighted_products_of_others", is_linear=False)
weighted_p.def_impl(jax.jit(_weighted, static_argnames=("windows", "shape")))
weighted_p.def_abstract_eval(lambda updates, weights, *rest, **static: weights)
mlir.register_lowering(weighted_p, lower_fun(_weighted, multiple_results=False))
batching.primitive_batchers[weighted_p] = _batch
ad.primitive_jvps[weighted_p] = _jvp
ad.primitive_transposes[weighted_p] = _transpose
