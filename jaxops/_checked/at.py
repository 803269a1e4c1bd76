"""`at`: JAX's `x.at[...]` with the bounds of this library."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxops import _jax_internals
from jaxops._checked import primitives
from jaxops._checked import setting as settings
from jaxops._checked.setting import AtCall, Setting
from jaxops._errors import brief
from jaxops._frames import without_frames
from jaxops._indexing import policy
from jaxops._indexing.policy import Mode
from jaxops._indexing.specs import padding_of
from jaxops._run import arguments
from jaxops._run.arguments import ArrayLike
from jaxops._run.dispatch import operation
from jaxops._run.known import at_once
from jaxops._run.static_values import refuse_traced, static_padding_index

_INT32 = np.iinfo(np.int32)


def at(operand: ArrayLike) -> At:
    """The array with JAX's `.at`, in which an index out of bounds is an error.

    `jaxops.at(x)[index].set(values)` computes what `x.at[index].set(values)` computes, for every
    index and method that JAX has: integers, arrays that broadcast, slices, `...`, `None`, masks.
    Negative indices count from the end, as in NumPy. `mode` decides what an index out of bounds
    does, as in `jaxops.gather`.

    Args:
        operand: array of any shape and dtype. Traced.

    Returns:
        An object to index: `at(x)[index]` has the methods `get`, `set`, `add`, `subtract`,
        `multiply`, `divide`, `power`, `min`, `max` and `apply`. `get` returns the elements, in the
        shape that NumPy gives `x[index]`; the others return an array of the shape and dtype of
        `operand`, and take `values` that broadcast to that of the elements. The index and `values`
        may be traced; `mode`, `padding_index`, `fill_value` of `get`, which are those of
        `jaxops.gather`, and all other arguments are static.

    Raises:
        OutOfBoundsError: an index is out of bounds, in an eager call, where `mode` makes that an
            error. Compiled code raises JAX's exception with the same text.
        TypeError: `operand` is no array of numbers or bools; a wrong index, in JAX's words.
        ValueError: an unknown `mode`; shapes that do not broadcast; a `jax.ds` of a whole axis.

    Gradient: the gradient of JAX's method. An index that reads a fill value sends nothing back; a
    value that is not written, as its index is out of bounds, gets 0.

    Example:
        >>> import jax.numpy as jnp, jaxops
        >>> x = jnp.zeros((2, 3))
        >>> jaxops.at(x)[:, [0, -1]].add(1.0)
        Array([[1., 0., 1.],
               [1., 0., 1.]], dtype=float32)
        >>> try:
        ...     jaxops.at(x)[jnp.array([0, 1]), jnp.array([1, 3])].set(5.0)
        ... except jaxops.OutOfBoundsError as error:
        ...     print(str(error).partition(" [Op")[0])
        index 3 at position [1] is out of bounds for axis 1 of an array of shape (2, 3)
        >>> jaxops.at(x)[:, 3].get(mode="fill", fill_value=-1)
        Array([-1., -1.], dtype=float32)

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html
    """
    return At(arguments.to_operand(operand, "at", "operand"))


@without_frames
class At:
    """An array to index: see `jaxops.at`."""

    __slots__ = ("_operand",)
    # Python would iterate by `__getitem__`, which raises no IndexError, and never come to an end.
    __iter__ = None

    def __init__(self, operand: jax.Array):
        self._operand = operand

    def __getitem__(self, index: Any) -> AtIndex:
        """The elements that an index of NumPy's syntax chooses."""
        return AtIndex(self._operand, index)

    def __repr__(self) -> str:
        return f"jaxops.at({brief(self._operand)})"


@without_frames
class AtIndex:
    """The elements of an array that an index chooses; its methods are those of `x.at[index]`.

    Every method takes `mode`, as `jaxops.gather` has it: `"device"` (an index out of bounds is an
    error on the CPU; elsewhere such a read gives 0 and such a write is dropped), `"error"`,
    `"fill"` (such a read gives `fill_value`, such a write is dropped), `"clip"`, `"wrap"`,
    `"promise_in_bounds"`. Every method takes `padding_index`, a static int: an index that is
    this number, as the caller writes it, reads `fill_value` and writes nothing, and is no error.
    Of several index arrays one is enough, as one component is in `jaxops.gather_nd`. Other keyword
    arguments are those of the method in the installed jax, such as `unique_indices`.

    A mask may be traced where it is the whole index and a method writes: the values then broadcast
    over the elements behind the axes of the mask, as a scalar does.
    """

    __slots__ = ("_index", "_operand")

    def __init__(self, operand: jax.Array, index: Any):
        self._operand, self._index = operand, index

    def __repr__(self) -> str:
        return f"jaxops.at({brief(self._operand)})[{self._index!r}]"

    def get(
        self, *, mode: Mode = "device", fill_value: ArrayLike | None = None, **options: Any
    ) -> jax.Array:
        """The elements. `fill_value` is a static number; default 0.

        It is used by `mode="fill"` and by `padding_index`.
        """
        is_used = mode == "fill" or options.get("padding_index") is not None
        if fill_value is not None and not is_used:
            raise ValueError(
                'at[...].get: fill_value is used by mode="fill" and padding_index only; '
                f"received fill_value={brief(fill_value)} with mode={mode!r}"
            )
        if _is_traced_mask(self._index):
            raise TypeError(
                "at[...].get: a mask must be known while tracing, as it decides the shape of the "
                f"result; received {brief(self._index)}. jaxops.boolean_mask(x, mask, size=...) "
                "takes a traced one"
            )
        return self._call("get", (), mode, options, _static_fill(fill_value, self._operand.dtype))

    def set(self, values: ArrayLike, *, mode: Mode = "device", **options: Any) -> jax.Array:
        """The array with the elements replaced by `values`."""
        return self._write("set", values, mode, options)

    def add(self, values: ArrayLike, *, mode: Mode = "device", **options: Any) -> jax.Array:
        """The array with `values` added to the elements; those of one element are summed."""
        return self._write("add", values, mode, options)

    def subtract(self, values: ArrayLike, *, mode: Mode = "device", **options: Any) -> jax.Array:
        """The array with `values` subtracted from the elements."""
        return self._write("subtract", values, mode, options)

    def multiply(self, values: ArrayLike, *, mode: Mode = "device", **options: Any) -> jax.Array:
        """The array with the elements multiplied by `values`."""
        return self._write("multiply", values, mode, options)

    mul = multiply

    def divide(self, values: ArrayLike, *, mode: Mode = "device", **options: Any) -> jax.Array:
        """The array with the elements divided by `values`."""
        return self._write("divide", values, mode, options)

    def power(self, values: ArrayLike, *, mode: Mode = "device", **options: Any) -> jax.Array:
        """The array with the elements raised to the power of `values`."""
        return self._write("power", values, mode, options)

    def min(self, values: ArrayLike, *, mode: Mode = "device", **options: Any) -> jax.Array:
        """The array with the smaller of element and value in place of the elements."""
        return self._write("min", values, mode, options)

    def max(self, values: ArrayLike, *, mode: Mode = "device", **options: Any) -> jax.Array:
        """The array with the greater of element and value in place of the elements."""
        return self._write("max", values, mode, options)

    def apply(
        self, func: Callable[[jax.Array], ArrayLike], *, mode: Mode = "device", **options: Any
    ) -> jax.Array:
        """The array with `func` applied to the elements, as often as the index has them."""
        if not callable(func):
            raise TypeError(f"at[...].apply: func must be callable; received {brief(func)}")
        outside = settings.within.value  # the setting for the code of the caller

        def of_caller(x):
            with settings.within(outside):
                return func(x)

        return self._write("apply", of_caller, mode, options)

    def _write(self, name: str, values: Any, mode: Mode, options: dict) -> jax.Array:
        if not _is_traced_mask(self._index):
            return self._call(name, (values,), mode, options)
        mask, x = self._index, self._operand
        rest = x.shape[mask.ndim :]
        if mask.shape != x.shape[: mask.ndim]:
            raise ValueError(
                f"at[...].{name}: a mask must have the leading dimensions of the operand of shape "
                f"{x.shape}; received a mask of shape {mask.shape}"
            )
        given = () if name == "apply" else np.shape(values)
        if not arguments.broadcasts(given, rest):
            raise ValueError(
                f"at[...].{name}: with a traced mask, of which nobody knows how many elements it "
                f"chooses, values must broadcast to the shape {rest}; received shape {given}"
            )
        every = AtIndex(x, ...)._call(name, (values,), mode, options)
        return jnp.where(mask.reshape(*mask.shape, *[1] * len(rest)), every, x)

    def _call(
        self, name: str, args: tuple, mode: Mode, options: dict, fill_value: Any = 0
    ) -> jax.Array:
        """The result of the method of JAX, for an index with this library's bounds."""
        op = f"at[...].{name}"
        policy.check_mode(op, mode)
        padding_index = options.pop("padding_index", None)
        if padding_index is not None:
            padding_index = static_padding_index(padding_index, op)
        primitives.wrap_primitives()
        given = self._index if isinstance(self._index, tuple) else (self._index,)
        elements = [np.array(x, None if x else int) if isinstance(x, list) else x for x in given]
        _refuse_whole_slices(elements, self._operand.shape, op)
        index = _as_int32(elements, self._operand.shape, mode, op, padding_index)
        static = {"method": name, "is_padded": padding_index is not None}
        # Programs are looked up by hash. Some options that are no bools have none, and 0 has the
        # hash of False and of -0.0.
        are_bools = all(type(x) is bool for x in options.values())
        is_zero = type(fill_value) is int and fill_value == 0
        if are_bools and is_zero and _jax_internals.is_eager():
            arrays = _for_one_call(self._operand, index, args)
            if arrays is not None:
                static["options"] = (*options.items(),)
                return _compiled.run(op, name=None, mode=mode, **arrays, **static)
        with arguments.keeping_64_bits(op, {"operand": self._operand}):
            return _run(self._operand, index, args, op, mode, fill_value, options, **static)


def _run(
    operand: jax.Array,
    index: tuple,
    args: Sequence,
    op: str,
    mode: str,
    fill_value: Any,
    options: dict,
    *,
    method: str,
    is_padded: bool,
) -> jax.Array:
    """Calls a method of JAX, with indices that `resolving.py` looks at."""
    wraps = options.get("wrap_negative_indices", True) is not False
    at = AtCall(op, mode, fill_value, _INT32.max if is_padded else None, wraps)
    with settings.within(Setting(at=at)):
        return getattr(operand.at[index], method)(*args, **options)


def _for_one_call(operand: jax.Array, index: tuple, args: tuple) -> dict[str, Any] | None:
    """The arrays for `_compiled`, if an eager call may be one program.

    JAX runs its methods operation by operation, which takes ten times as long with checks. An index
    with a mask cannot be an argument of a program, and each slice would make another program.
    """
    # JAX writes 2**31 to an array of uint32, but `jnp.asarray(2**31)` raises while x64 is off.
    if any(isinstance(x, int) and abs(x) > _INT32.max for x in args):
        return None
    values = [jnp.asarray(x) if isinstance(x, (int, float, complex)) else x for x in args]
    if any(arguments.as_a_call_takes(x) is None for x in (operand, *values)):
        return None
    layout, arrays = [], []
    for x in index:
        if x is None or x is Ellipsis:
            layout.append(x)
        elif isinstance(x, slice) and x == slice(None):
            layout.append(":")
        elif _are_integers(x) and arguments.indices_as_a_call_takes(x) is not None:
            layout.append("integers")
            arrays.append(x)
        else:
            return None
    return {"operand": operand, "values": values, "index": arrays, "layout": tuple(layout)}


@operation(data=("operand", "values[]"), indices=("index[]",))
def _compiled(
    operand: jax.Array,
    *,
    op: str,
    mode: str,
    layout: tuple,
    options: tuple,
    values: Sequence[jax.Array] = (),
    index: Sequence[jax.Array] = (),
    **static,
) -> jax.Array:
    """`_run` of an index whose integers are the arrays `index`, as one program."""
    arrays = iter(index)
    parts = {":": slice(None)}
    elements = tuple(next(arrays) if x == "integers" else parts.get(x, x) for x in layout)
    return _run(operand, elements, values, op, mode, 0, dict(options), **static)


def _is_traced_mask(index: Any) -> bool:
    return isinstance(index, Tracer) and index.dtype == bool


def _static_fill(fill_value: ArrayLike | None, dtype: Any) -> Any:
    """The fill value as a number of Python, which this dtype can hold."""
    op = "at[...].get"
    if fill_value is None:
        return 0
    refuse_traced(fill_value, op, "fill_value")
    with at_once():
        return arguments.to_scalar_like(fill_value, dtype, op, "fill_value").item()


def _as_int32(
    elements: Sequence, shape: tuple[int, ...], mode: str, op: str, padding_index: int | None
) -> tuple:
    """The index with int32 for its integers; one that int32 does not hold stays out of bounds.

    JAX cuts integers to int32, so that 2**32 + 2 becomes 2: here it becomes the largest int32. And
    JAX adds the size of the axis to a negative index in the dtype of the index: of 200 elements it
    reads number -57 for an int8 of -1.

    If there is a `padding_index`, it becomes the largest int32, and nothing else does. As it is, -1
    would be the last element once JAX has added the size of the axis.
    """
    if any(isinstance(d, int) and d > _INT32.max for d in shape):
        if padding_index is None:
            return tuple(elements)  # JAX takes int64
        raise ValueError(
            f"{op}: padding_index must be None where an axis is longer than int32 counts; received "
            f"{padding_index} with an operand of shape {shape}"
        )
    most = _INT32.max - (padding_index is not None)
    numbers = [x.start if _jax_internals.is_ds(x) else x for x in elements]
    paddings = _paddings(numbers, shape, padding_index)
    converted = [
        _element_as_int32(x, shape, mode, op, most, padding)
        for x, padding in zip(numbers, paddings, strict=True)
    ]
    return tuple(
        dataclasses.replace(x, start=number) if _jax_internals.is_ds(x) else number
        for x, number in zip(elements, converted, strict=True)
    )


def _paddings(
    elements: Sequence, shape: tuple[int, ...], padding_index: int | None
) -> list[int | None]:
    """The number that is padding, for each element of an index, by the rule of `padding_of`."""
    axes = _first_axes(elements, len(shape))
    # Of integers alone; JAX refuses an index of more axes than there are.
    places = [n for n, x in enumerate(elements) if _are_integers(x) and axes[n] < len(shape)]
    numbers = padding_of(padding_index, tuple(shape[axes[n]] for n in places))
    by_place = dict(zip(places, numbers, strict=False))
    return [by_place.get(n) for n in range(len(elements))]


def _first_axes(elements: Sequence, rank: int) -> list[int]:
    """For each element of an index the first axis that it is about."""
    widths = [_num_axes(x) for x in elements]
    rest, axis, axes = rank - sum(widths), 0, []
    for x, width in zip(elements, widths, strict=True):
        axes.append(axis)
        axis += rest if x is Ellipsis else width
    return axes


def _refuse_whole_slices(elements: Sequence, shape: tuple[int, ...], op: str) -> None:
    """Refuses a `jax.ds` of a whole axis, of which JAX drops a start that is not known."""
    for x, axis in zip(elements, _first_axes(elements, len(shape)), strict=True):
        if not _jax_internals.is_ds(x) or isinstance(x.start, int):
            continue
        if axis < len(shape) and x.size == shape[axis]:
            raise ValueError(
                f"{op}: a slice of jax.ds must be shorter than the axis; received one of {x.size} "
                f"elements along axis {axis} of an array of shape {shape}. Write ':'"
            )


def _num_axes(element: Any) -> int:
    """The number of axes of an array that an element of its index is about."""
    if element is None or element is Ellipsis or isinstance(element, bool):
        return 0
    return element.ndim if getattr(element, "dtype", None) == np.dtype(bool) else 1


def _are_integers(element: Any) -> bool:
    if isinstance(element, (np.generic, np.ndarray, jax.Array)):
        return arguments.is_integer(element.dtype)
    return isinstance(element, int) and not isinstance(element, bool)


def _element_as_int32(
    element: Any, shape: tuple[int, ...], mode: str, op: str, most: int, padding: int | None
) -> Any:
    """`most` is the largest number that is no padding."""
    if not _are_integers(element):
        return element
    is_number = isinstance(element, (int, np.generic))
    x = np.array(element) if is_number else element
    numpy, info = (jnp if isinstance(x, jax.Array) else np), jnp.iinfo(x.dtype)
    is_padding = None
    if padding is not None and info.min <= padding <= info.max:
        is_padding = x == numpy.asarray(padding, x.dtype)
    if info.max > most and mode == "wrap":
        period = math.lcm(*(d for d in shape if d))  # counts modulo every axis
        if period > most:
            raise ValueError(
                f"{op}: with mode='wrap' an index must have a dtype of at most "
                f"{32 if most == _INT32.max else 16} bits here; received {brief(element)}"
            )
        x = x % numpy.asarray(period, x.dtype)
    elif info.max > most:
        x = numpy.clip(x, max(_INT32.min, int(info.min)), most)
    x = x.astype(np.int32)
    if is_padding is not None:
        x = numpy.where(is_padding, _INT32.max, x)
    return int(x) if is_number else x
