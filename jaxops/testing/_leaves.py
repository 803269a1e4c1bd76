"""The arrays that `jaxops.testing` works on: arguments taken apart, and named for messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.tree_util import keystr, tree_flatten_with_path

Arrays = list[np.ndarray]


class Problem(NamedTuple):
    """A function of arrays at a point. `call` holds the arguments that are no arrays."""

    call: Callable[[Sequence[Any], Sequence[Any]], list]  # operands, constants -> arrays
    operands: Arrays
    constants: list
    names: list[str]  # of the operands
    result_names: list[str]  # known once `call` has run


def take_apart(f: Callable, args: tuple, op: str, is_operand: Callable[[Any], bool]) -> Problem:
    """`f(*args)` as a function of the arrays of `args` for whose dtype `is_operand` holds.

    Other arrays are constants, which a compiled program takes as arguments. Other objects, such as
    a Python int and an array of strings, stay as they are.
    """
    paths, structure = tree_flatten_with_path(args)
    leaves = [leaf for _, leaf in paths]
    names = [f"args[{path[0].idx}]{keystr(path[1:])}" for path, _ in paths]
    operands, constants, places = [], [], []
    for leaf, name in zip(leaves, names, strict=True):
        dtype = dtype_of(leaf)
        if dtype is not None and is_operand(dtype):
            places.append((operands, len(operands)))
            operands.append(to_host(leaf, name, op))
        elif isinstance(leaf, jax.Array) or (isinstance(leaf, np.ndarray) and dtype is not None):
            places.append((constants, len(constants)))
            constants.append(leaf)
        else:
            places.append((leaves, len(places)))
    result_names: list[str] = []

    def call(some_operands, some_constants):
        values = {id(operands): some_operands, id(constants): some_constants, id(leaves): leaves}
        full = [values[id(kind)][place] for kind, place in places]
        result = f(*structure.unflatten(full))
        found = [
            ("result" + keystr(path), jnp.asarray(leaf))
            for path, leaf in tree_flatten_with_path(result)[0]
            if is_operand(dtype_of(leaf))
        ]
        result_names[:] = [name for name, _ in found]
        return [leaf for _, leaf in found]

    operand_names = [n for n, (kind, _) in zip(names, places, strict=True) if kind is operands]
    return Problem(call, operands, constants, operand_names, result_names)


def compiled(call: Callable, jit: Callable | None) -> Callable:
    """`call` compiled by `jit`. Without it `call` itself, with JAX arrays for operands."""
    if jit is not None:
        return jit(call)

    def with_arrays(operands, constants, *vectors):
        return call([jnp.asarray(x) for x in operands], constants, *vectors)

    return with_arrays


def dtype_of(leaf: Any):
    """The dtype that JAX gives a leaf; None for a leaf that is no array nor number."""
    if isinstance(leaf, (np.ndarray, np.generic, jax.Array)):
        if isinstance(leaf, jax.Array) and not isinstance(leaf.dtype, np.dtype):
            return None  # random keys
        return None if leaf.dtype.kind in "USTOMm" else jax.dtypes.canonicalize_dtype(leaf.dtype)
    if isinstance(leaf, (float, complex)):
        return jax.dtypes.canonicalize_dtype(type(leaf))
    return None


def is_inexact(dtype) -> bool:
    return dtype is not None and jnp.issubdtype(dtype, jnp.inexact)


def is_complex(x) -> bool:
    return jnp.issubdtype(x.dtype, jnp.complexfloating)


def to_host(x: Any, name: str, op: str) -> np.ndarray:
    if isinstance(x, Tracer):
        raise TypeError(f"{op}: {name} must be concrete; received a traced array: call it outside")
    return np.asarray(x).astype(jax.dtypes.canonicalize_dtype(np.asarray(x).dtype))


def widen(x: Any) -> np.ndarray:
    """The array as float64 or complex128, in which sums of narrower numbers hardly round."""
    x = np.asarray(x)
    return x.astype(np.complex128 if is_complex(x) else np.float64)


def pairing(xs: Sequence[Any], ys: Sequence[Any]) -> float:
    """The real part of the sum of `x * y`: the pairing of JAX's transpose, without a conjugate."""
    pairs = zip(xs, ys, strict=True)
    return float(sum(np.dot(widen(x).reshape(-1), widen(y).reshape(-1)).real for x, y in pairs))


def terms(xs: Sequence[Any], ys: Sequence[Any]) -> float:
    """The size of a sum of `x * y` whose terms have random signs."""
    pairs = zip(xs, ys, strict=True)
    return float(np.sqrt(sum(np.sum(np.abs(widen(x) * widen(y)) ** 2) for x, y in pairs)))


def products(xs: Sequence[Any], ys: Sequence[Any]) -> np.ndarray:
    """The sizes of the terms of the pairing, by coordinate, of all arrays."""
    pairs = zip(xs, ys, strict=True)
    return np.abs(np.concatenate([to_coordinates(x) * to_coordinates(y) for x, y in pairs]))


def root_mean_square(x: np.ndarray) -> float:
    """The size of a typical element; 0 of none."""
    return float(np.sqrt(np.mean(x**2))) if x.size else 0.0


def to_coordinates(x: np.ndarray) -> np.ndarray:
    """The array, flat, as float64; of a complex number the real part, then the imaginary one."""
    return widen(x).reshape(-1).view(np.float64)


def from_coordinates(flat: np.ndarray, like: np.ndarray) -> np.ndarray:
    """The array of the shape and dtype of `like` that has these coordinates."""
    wide = flat.view(np.complex128) if is_complex(like) else flat
    return wide.reshape(like.shape).astype(like.dtype)


def coordinate_name(name: str, like: np.ndarray, coordinate: int) -> str:
    """Such as `args[0][2,1]`."""
    part = ""
    if is_complex(like):
        part = ("the real part of ", "the imaginary part of ")[coordinate % 2]
        coordinate //= 2
    return part + element_name(name, like.shape, coordinate)


def element_name(name: str, shape: tuple[int, ...], number: int) -> str:
    position = np.unravel_index(number, shape) if shape else ()
    return name + (f"[{','.join(map(str, map(int, position)))}]" if shape else "")


def first_where(names: Sequence[str], arrays: Sequence[Any], test: Callable) -> str | None:
    """The name of the first element for which `test` holds."""
    for name, array in zip(names, arrays, strict=True):
        found = np.flatnonzero(test(widen(array)))
        if found.size:
            return element_name(name, np.shape(array), int(found[0]))
    return None
