"""Shapes that XLA cannot count, refused before XLA sees them.

XLA multiplies the dimensions of a shape, from the first on and in 64 bits, until one is 0. If the
number of bytes does not fit, it ends the process: it can make `zeros((0, 2**31, 2**32))`, but not
`zeros((2**31, 2**32, 0))`, though that is empty too. So a transposition, or a join of two legal
arrays, may make an array that ends the process. Also, XLA's compiler walks through all the places
before the 0 of an empty array, which takes minutes for 2**28 of them.

Here all arrays that an op makes are looked at, in its traced program. That is done only if the
arguments of the op are large enough for one of these arrays to be too large.
"""

from __future__ import annotations

import functools
import itertools
import math
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.export import is_symbolic_dim
from jax.interpreters import ad, batching, mlir

from jaxops import _jax_internals
from jaxops._errors import brief
from jaxops._indexing import check
from jaxops._jax_internals import Jaxpr
from jaxops._primitives import new_primitive

_COUNTED = 2**63  # bytes of an empty array, by the dimensions before the 0
_LARGEST = 2**56  # bytes, more than any machine has
_WALKED = 2**26  # places before a 0
_MOST_DIMS = 253  # as TensorFlow's reshape
# If the product of all sizes has fewer bits, no array passes a limit.
_SAFE_BITS, _SAFE_BITS_OF_EMPTY = 48, 24
_SHAPING = {"multiples", "shape", "size", "sizes"}  # static, and a 0 among them makes arrays empty
_LARGE = 2**16  # from here on the message repeats a static size
_POSITIONS = {"static_begin", "static_singles", "entries"}  # static arguments that are no sizes


def limit(shape: Sequence[Any], dtype: Any) -> str | None:
    """The limit that an array of this shape passes, in words; None if it passes none."""
    if len(shape) > _MOST_DIMS:
        return f"{_MOST_DIMS + 1} dimensions"
    dims = [1 if is_symbolic_dim(dim) else dim for dim in shape]
    itemsize = jax.ShapeDtypeStruct((), dtype).dtype.itemsize  # also that of random keys
    if 0 not in dims:
        return "2**56 bytes" if math.prod(dims) * itemsize >= _LARGEST else None
    before = dims[: dims.index(0)]
    if math.prod(before) * itemsize >= _COUNTED or max(dims) >= _COUNTED:
        return "2**63 bytes by the dimensions before a 0"
    return "2**26 places before a 0" if _walked(before) >= _WALKED else None


def _walked(dims: Sequence[int]) -> int:
    """Through how many places XLA's compiler walks; it takes each dimension for an int32."""
    signed = [(dim + 2**31) % 2**32 - 2**31 for dim in dims]
    return math.prod(itertools.takewhile(lambda dim: dim > 0, signed))


def call_counted(
    op: str, call: Callable, arrays: Mapping[str, jax.Array | None], static: Mapping[str, Any]
) -> Any:
    """`call(*arrays)`. Refuses arrays of which the call makes one that is too large.

    If a `vmap` around the op batches them later, the batched call is looked at too.
    """
    given = {arg: x for arg, x in arrays.items() if x is not None}

    def call_on(*values):
        values = iter(values)
        return call(*[None if x is None else next(values) for x in arrays.values()])

    look = functools.partial(_look, op, tuple(given), static)
    look(call_on, list(given.values()))
    result = call(*arrays.values())
    leaves, tree = jax.tree.flatten(result)
    # Only arrays without elements can be batched by more than memory holds (test_extents.py,
    # test_refused).
    if not any(0 in x.shape for x in given.values()) or _jax_internals.is_eager() or not leaves:
        return result
    # If one argument is linear, the result of the guard counts as linear. Indices and a table
    # beside linear weights must not (test_extents.py, test_transposed_beside_indices). So it is a
    # result of the op that passes through the guard, and one of floats if there is one.
    is_inexact = [jnp.issubdtype(x.dtype, jnp.inexact) for x in leaves]
    n = is_inexact.index(True) if any(is_inexact) else 0
    leaves[n] = guard_p.bind(leaves[n], *given.values(), call=call_on, look=look)
    return jax.tree.unflatten(tree, leaves)


def _look(op, args, static, call, arrays) -> None:
    """Refuses `call(*arrays)` if it makes an array that is too large; `arrays` may be types."""
    made_empty = (x for arg, x in static.items() if arg in _SHAPING)
    sizes = [*(x.shape for x in arrays), *made_empty]
    is_empty = any(type(size) is int and size == 0 for size in jax.tree.leaves(sizes))
    bits = _bits(arrays, static)
    dims = sum(sorted(x.ndim for x in arrays)[-2:]) + len(static.get("shape", ()))
    if bits > (_SAFE_BITS_OF_EMPTY if is_empty else _SAFE_BITS) or dims >= _MOST_DIMS:
        _refuse_too_large(op, args, static, call, arrays)


def _bits(arrays: Sequence[Any], static: Mapping[str, Any]) -> int:
    """An upper bound of the logarithm of the bytes of any array that an op makes of these."""
    shapes = [sum(map(_bits_of, x.shape)) + x.dtype.itemsize.bit_length() for x in arrays]
    # The largest results: those of an array and one of indices, or of all arrays joined.
    bits = sum(sorted(shapes)[-2:]) + len(shapes).bit_length()
    sizes = [x for arg, x in static.items() if arg not in _POSITIONS]
    # A block has two dimensions, and a count of pieces or copies one.
    twice = 2 * sum(map(_bits_of, jax.tree.leaves(sizes)))
    return bits + twice - _bits_of(static.get("count"))


def _bits_of(size: Any) -> int:
    return (abs(size) - 1).bit_length() if type(size) is int and size else 0


def _refuse_too_large(op, args, static, call, arrays) -> None:
    """Traces the call, and raises if an array in its program passes a limit."""
    shape, cause = None, None
    try:
        with check.collect_flags():  # keeps the flags of this trace from the caller's collection
            program = jax.make_jaxpr(call)(*arrays)
    except MemoryError as error:  # of a list of too many results, or of NumPy, as in `range`
        received = describe(args, arrays, static)
        raise MemoryError(f"{op}: out of memory while tracing; received {received}") from error
    except (TypeError, ValueError, OverflowError) as error:
        if _is_ours(error):
            raise
        passed, cause = "2**63 bytes", error  # a dimension that JAX cannot hold
    else:
        results = (var.aval for var in program.jaxpr.outvars)  # an argument may be a result
        types = itertools.chain(_types(program.jaxpr), results)
        made = ((t.shape, limit(t.shape, t.dtype)) for t in types)
        shape, passed = next((m for m in made if m[1]), (None, None))
    if passed is None:
        return
    made = f", which make one {_shape(shape)}" if shape else ""
    raise ValueError(
        f"{op}: {_listed([*args, *_large(static)], ' and ')} must make arrays of less than "
        f"{passed}; received {describe(args, arrays, static)}{made}"
    ) from cause


def _is_ours(error: Exception) -> bool:
    """Whether jaxops itself raised it, and not JAX."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_globals["__name__"].startswith("jaxops.")


def describe(args: Sequence[str], arrays: Sequence[Any], static: Mapping[str, Any]) -> str:
    """The arguments of an op: shapes, and large sizes."""
    shapes = [f"{arg} {_shape(np.shape(x))}" for arg, x in zip(args, arrays, strict=True)]
    return _listed([*shapes, *(f"{arg} {brief(x)}" for arg, x in _large(static).items())], ", ")


def _shape(shape: tuple[int, ...]) -> str:
    return f"of {len(shape)} dimensions" if len(shape) > _MOST_DIMS else f"of shape {brief(shape)}"


def _large(static: Mapping[str, Any]) -> dict[str, Any]:
    sizes = {arg: x for arg, x in static.items() if arg not in _POSITIONS}
    return {
        arg: x
        for arg, x in sizes.items()
        if any(type(size) is int and abs(size) >= _LARGE for size in jax.tree.leaves(x))
        or (arg == "shape" and len(x) > _MOST_DIMS)
    }


def _listed(words: Sequence[str], separator: str) -> str:
    return separator.join([*words[:3], f"{len(words) - 3} more"] if len(words) > 4 else words)


def _types(jaxpr: Jaxpr) -> Iterator[Any]:
    """The types of all arrays of a program, and of the programs inside it."""
    for eqn in _jax_internals.equations_in(jaxpr):
        for var in eqn.outvars:
            aval: Any = var.aval
            if isinstance(getattr(aval, "dtype", None), np.dtype):  # not a key, nor a token
                yield aval


# An identity on a result of an op, whose batching rule learns by how much the arguments, which are
# its other operands, are batched.
guard_p = new_primitive("sizes_are_countable")
guard_p.def_impl(lambda result, *arrays, **params: result)
guard_p.def_abstract_eval(lambda result, *types, **params: result)
mlir.register_lowering(guard_p, lambda context, result, *arrays, **params: [result])


def _batching_rule(operands, dims, *, call, look):
    batched = jax.vmap(call, in_axes=tuple(dims[1:]))
    look(batched, operands[1:])
    return guard_p.bind(*operands, call=batched, look=look), dims[0]


def _jvp_rule(operands, tangents, **params):
    return guard_p.bind(*operands, **params), tangents[0]


def _transpose_rule(cotangent, result, *arrays, **params):
    return [cotangent if ad.is_undefined_primal(result) else None, *[None] * len(arrays)]


batching.primitive_batchers[guard_p] = _batching_rule
# Without this rule no op on arrays without elements would have a transpose (test_extents.py,
# test_transposed_where_there_are_no_elements).
ad.primitive_transposes[guard_p] = _transpose_rule
ad.primitive_jvps[guard_p] = _jvp_rule
