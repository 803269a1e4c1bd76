"""Makes arrays of a caller's arguments, with errors that name the argument."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, SupportsIndex, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxops import _jax_internals, _symbolic
from jaxops._errors import brief as brief
from jaxops._indexing import index_dtypes


class _SupportsArray(Protocol):
    """An array of another library, which NumPy can read."""

    def __array__(self) -> np.ndarray: ...


# Arguments of `to_operand` and `to_indices`: arrays, scalars, nested lists of them, host strings.
# Written out, as type checkers know no type for what JAX's own alias has.
ArrayLike: TypeAlias = (
    jax.Array | np.ndarray | np.generic | int | float | complex | Sequence[Any] | _SupportsArray
)

# Arguments of `static_int`: an axis, a size, such as `x.ndim` and a number of `unstack(shape(x))`.
Int: TypeAlias = SupportsIndex
# Arguments of `static_ints`: shapes, axes, sizes, such as `x.shape` and `jaxops.shape(x)`.
Ints: TypeAlias = Sequence[SupportsIndex] | np.ndarray | jax.Array

# The most levels of nested lists; NumPy has fewer dimensions (test_odd_arguments.py,
# test_lists_nested_deeper_than_pythons_stack).
_DEEPEST = 100
_DEEPEST_TREE = 250  # levels of a pytree: a share of the calls that Python's stack holds
X64_HINT = 'switch 64-bit types on with jax.config.update("jax_enable_x64", True)'


def is_host_string(x: object) -> bool:
    """Whether NumPy sees `x` as an array of text or bytes."""
    if isinstance(x, jax.Array):
        return False
    if isinstance(x, (str, bytes)):
        return True
    if not isinstance(x, (list, tuple, np.ndarray, np.generic)) and not is_foreign(x):
        return False
    array = x if isinstance(x, np.ndarray) else as_numpy_or_none(x)
    if array is None or array.dtype != object:
        return array is not None and array.dtype.kind in "UST"
    return array.size == 0 or any(isinstance(i, (str, bytes)) for i in array.flat)


def as_numpy_or_none(x: object) -> np.ndarray | None:
    try:
        return _readable(np.asarray(x))
    except Exception:  # from NumPy, from JAX about a tracer, from the caller's own `__array__`
        return None


def is_foreign(x: object) -> bool:
    """Whether `x` is an array of another library, which NumPy can read."""
    # A class such as `np.int16` has `__array__` too, and is no array.
    is_known = isinstance(x, (jax.Array, np.ndarray, np.generic, type))
    return hasattr(x, "__array__") and not is_known


def readable(x: Any) -> Any:
    """`x` with arrays of other libraries, also those in a list, made NumPy arrays."""
    if isinstance(x, (list, tuple)) and any(map(is_foreign, x)):
        return [*map(readable, x)]  # in a list NumPy reads only arrays that have dimensions
    array = as_numpy_or_none(x) if is_foreign(x) else None
    return x if array is None else array


def _readable(array: np.ndarray) -> np.ndarray:
    """`array` in this machine's byte order, whose true bools are bytes of 1.

    A view may have other bytes for true, and they miscount.
    """
    if not array.dtype.isnative:
        return array.astype(array.dtype.newbyteorder("="))
    if array.dtype != bool or not array.size:
        return array
    byte = array.view(np.uint8)
    return byte != 0 if byte.max() > 1 else array


def to_host_strings(x: object, op: str, arg: str) -> np.ndarray:
    """A NumPy array of text or bytes; object arrays and lists must hold nothing else."""
    array = np.asarray(to_numpy(x, op, arg))
    if is_empty_list(x):  # of floats for NumPy; bytes become text beside text
        return array.astype("S1")
    # NumPy makes text of a number in a list.
    elements = np.array(x, object) if isinstance(x, (list, tuple)) else array
    if array.dtype.kind not in "USTO" or (
        elements.dtype == object and not all(map(_is_string, elements.flat))
    ):
        raise TypeError(f"{op}: {arg} must hold strings only; received {brief(x)}")
    return array


def _is_string(x: object) -> bool:
    # NumPy leaves arrays without dimensions as they are in an array of objects.
    return isinstance(x.item() if isinstance(x, np.ndarray) and not x.ndim else x, (str, bytes))


def as_bytes(strings: np.ndarray) -> np.ndarray:
    """Host strings to compare by: as in TensorFlow, text equals its bytes.

    Without dtype "O" NumPy drops null characters at the end (test_edit_distance.py,
    test_text_that_ends_with_a_null_character_is_another_text).
    """
    flat = strings.ravel().tolist()
    flat = [s.encode(errors="surrogatepass") if isinstance(s, str) else s for s in flat]
    return np.array(flat, "O").reshape(strings.shape)


def of_one_kind(parts: list[np.ndarray]) -> list[np.ndarray]:
    """Arrays of strings that NumPy can join: beside bytes text becomes bytes, as in TensorFlow.

    NumPy reads the bytes as ASCII (test_strings.py, test_text_beside_bytes_becomes_bytes_of_utf8).
    """
    if not any(x.dtype.kind == "S" and x.size for x in parts):
        return parts
    return [as_bytes(x).astype("S") if x.dtype.kind in "UT" else x for x in parts]


def empty_string_like(strings: np.ndarray) -> str | bytes:
    holds_bytes = strings.dtype.kind == "S" or (
        strings.dtype.kind == "O" and strings.size > 0 and isinstance(strings[0], bytes)
    )
    return b"" if holds_bytes else ""


def fill_dtype(strings: np.ndarray):
    # None lets NumPy widen "<U1" where the fill value is longer.
    return strings.dtype if strings.dtype.kind in "OT" else None


def to_operand(x: object, op: str, arg: str) -> jax.Array:
    """An array of data. 64-bit values that a 32-bit array would distort are refused."""
    array = x if isinstance(x, jax.Array) else to_numpy(x, op, arg)
    if isinstance(array, jax.Array):
        if not isinstance(array.dtype, np.dtype):  # an extended dtype, such as that of random keys
            raise TypeError(
                f"{op}: {arg} must have a numeric or bool dtype; received {array.dtype}"
            )
        return array
    check_numeric_or_bool(array.dtype, op, arg, x)
    return _to_device(in_jax_dtype(array, op, arg), x)


def to_elements(x: object, op: str, arg: str) -> jax.Array:
    """`to_operand`, or an array of keys of `jax.random`."""
    return jnp.asarray(to_numpy(x, op, arg)) if are_keys(x) else to_operand(x, op, arg)


def are_keys(x: object) -> bool:
    """Whether `x` is an array of typed keys of `jax.random`, or lists that begin with one."""
    x = _innermost_first(x)
    return isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def is_empty_list(x: object) -> bool:
    """Whether `x` is lists without elements, which have no dtype: NumPy makes them floats."""
    x = _innermost_first(x)
    return isinstance(x, (list, tuple)) and not x


def _innermost_first(x: object) -> object:
    """The first element of nested lists; the innermost list if that is empty."""
    for _ in range(_DEEPEST):
        if not isinstance(x, (list, tuple)) or not x:
            break
        x = x[0]
    return x


def is_numeric_or_bool(dtype: np.dtype) -> bool:
    if dtype.type in (np.longdouble, np.clongdouble) or not dtype.isnative:
        return False
    # The kinds first, as JAX's answer takes longer than the rest; it knows bfloat16.
    return dtype.kind in "biufc" or (dtype.kind != "m" and jnp.issubdtype(dtype, jnp.number))


def is_integer(dtype: Any) -> bool:
    """Whether a dtype, which may be int4, is of integers; NumPy counts times, "m", among them."""
    kind = getattr(dtype, "kind", "none")
    return kind in "iu" or (kind != "m" and jnp.issubdtype(dtype, jnp.integer))


def check_numeric_or_bool(dtype: np.dtype, op: str, arg: str, x: object) -> None:
    """Refuses the dtype that `x`, the argument, has as an array."""
    if dtype.kind == "O":
        raise TypeError(f"{op}: {arg} must be an array of numbers or bools; received {brief(x)}")
    if not is_numeric_or_bool(dtype):
        raise TypeError(f"{op}: {arg} must be an array of numbers or bools; received dtype {dtype}")


def is_wider_than_jax(x: Any) -> bool:
    """Whether `x` has 64 bits although x64 is off again: JAX would take its low bits."""
    if x.dtype.itemsize < 8 or jax.config.read("jax_enable_x64"):
        return False
    # Neither complex64 nor a dtype of random keys is wider.
    return isinstance(x.dtype, np.dtype) and jax.dtypes.canonicalize_dtype(x.dtype) != x.dtype


def keeping_64_bits(op: str, data: Mapping[str, object]) -> contextlib.AbstractContextManager:
    """A context in which an eager call computes with arrays that have 64 bits while x64 is off.

    In a trace it refuses them with a ValueError: a program would have zeros of 32 bits beside them,
    and scatter their low bits only (test_arguments.py, test_data_made_while_x64_was_on).
    """
    arrays = [(arg, x) for arg, x in data.items() if isinstance(x, jax.Array)]
    wide = next((arg for arg, x in arrays if is_wider_than_jax(x)), None)
    if wide is None or _jax_internals.allows_64_bits():
        return contextlib.nullcontext()
    if _jax_internals.is_eager():
        return jax.enable_x64(True)
    raise _refusal_of_64_bits(op, wide, dict(arrays)[wide])


def _refusal_of_64_bits(op: str, arg: str, x: jax.Array) -> ValueError:
    return ValueError(
        f"{op}: {arg} must have 32 bits at most where it is traced while x64 is off; received "
        f"{x.dtype}; {X64_HINT}"
    )


def to_indices(
    x: object,
    op: str,
    arg: str,
    mode: str | None,
    dims: Sequence[int] = (),
    padding_index: int | None = None,
) -> jax.Array:
    """An array of integers. Values too large for the 32-bit type stay out of bounds.

    They become uint32 if one of `dims`, the dimensions to be indexed, has elements that an int32
    does not reach. None of them becomes `padding_index`.
    """
    if isinstance(x, jax.Array):
        check_integer(x.dtype, op, arg)
        if not is_wider_than_jax(x):
            return x
        # A program would compute with the low bits of the indices only (test_arguments.py,
        # test_traced_indices_made_while_x64_was_on).
        if isinstance(x, Tracer):
            raise _refusal_of_64_bits(op, arg, x)
        x = np.asarray(x)
    if isinstance(x, (list, tuple)) and any(isinstance(i, jax.Array) for i in leaves(x, op, arg)):
        # Each leaf is converted by itself: a join by promotion would turn a large uint32 into -1
        # (test_dispatch.py, test_components_are_joined_without_change).
        def to_signed(leaf):
            indices = to_indices(leaf, op, arg, mode, dims, padding_index)
            return index_dtypes.to_signed(indices, op, dims)

        x = jax.tree.map(to_signed, x)
        dtypes = {leaf.dtype for leaf in jax.tree.leaves(x)}
        widest = max(dtypes, key=lambda dtype: dtype.itemsize)
        return _join(jax.tree.map(lambda leaf: leaf.astype(widest), x), op, arg)
    array = as_integers(np.asarray(to_numpy(x, op, arg)), x, op, arg)
    return _to_device(_saturate(array, op, arg, mode, dims, padding_index), x)


def as_a_call_takes(x: Any) -> Any:
    """`x` as a compiled call takes it, if that changes no number; None if it may, or is not known.

    A compiled call converts an array of NumPy itself, in a fraction of the time of a conversion
    before the call.
    """
    if _jax_internals.is_concrete(x):
        return None if is_wider_than_jax(x) else x
    if type(x) is not np.ndarray or x.dtype.kind not in "biufc" or not is_numeric_or_bool(x.dtype):
        return None
    dtype = jax.dtypes.canonicalize_dtype(x.dtype)
    if dtype != x.dtype and dtype.kind not in "iu":
        return None
    # A copy, as the caller may write to the memory of `x` before the call has ended.
    array = _readable(x).astype(dtype)
    return array if dtype == x.dtype or (array == x).all() else None


def indices_as_a_call_takes(x: Any) -> Any:
    """What `as_a_call_takes` returns; an int of Python and a list of ints become indices too."""
    kind = type(x)
    if kind is int:
        return x if -(2**31) <= x < 2**31 else None
    if kind is list and {*map(type, x)} == {int}:
        x = np.array(x)
        if x.dtype.kind != "i":  # NumPy makes floats of -1 and 2**63 together: see `as_integers`
            return None
    return as_a_call_takes(x)


def as_integers(array: np.ndarray, x: object, op: str, arg: str) -> np.ndarray:
    """`array`, which NumPy made of `x`, with an integer dtype."""
    if array.size == 0 and not hasattr(x, "dtype"):
        array = array.astype(np.int32)  # NumPy makes `[]` a float array
    if array.dtype.kind == "f" and isinstance(x, (list, tuple)):
        # NumPy makes floats of -1 and 2**63 together, which none of its integer types holds.
        exact = np.array(x, object)
        array = exact if _are_ints(exact) else array
    if array.dtype == object and _are_ints(array):
        array = saturate_ints(array)
    if array.dtype == object:
        raise TypeError(f"{op}: {arg} must have an integer dtype; received {brief(x)}")
    check_integer(array.dtype, op, arg)
    # NumPy has no limits of int4, and does not index by it.
    return array.astype(np.int8) if array.dtype.kind == "V" else array


def leaves(x: object, op: str, arg: str) -> list[Any]:
    """The elements of nested lists, in no particular order.

    `jax.tree.leaves` leaves Python's stack unusable if lists are nested deeper than the stack is.
    """
    found, level = [], [x]
    for _ in range(_DEEPEST):
        found += [item for item in level if not isinstance(item, (list, tuple))]
        level = [item for items in level if isinstance(items, (list, tuple)) for item in items]
        if not level:
            return found
    raise ValueError(
        f"{op}: {arg} must be an array or nested lists of equal lengths; received {brief(x)}"
    )


def check_nesting(tree: object, op: str, arg: str) -> None:
    """Refuses a pytree that is nested too deeply for `jax.tree` (see `leaves`)."""
    level = [tree]
    for _ in range(_DEEPEST_TREE):
        dicts = [node.values() for node in level if isinstance(node, dict)]
        lists = [node for node in level if isinstance(node, (list, tuple))]
        level = [item for items in (*dicts, *lists) for item in items]
        if not level:
            return
    raise ValueError(
        f"{op}: {arg} must be nested less than {_DEEPEST_TREE} levels deep; received {brief(tree)}"
    )


def _are_ints(objects: np.ndarray) -> bool:
    return all(type(i) is int for i in objects.flat)


def _to_device(array: np.ndarray, x: object) -> jax.Array:
    """`jnp.asarray(array)`, eagerly in a tenth of the time. `array` was made from `x`."""
    if not _jax_internals.is_eager():
        return jnp.asarray(array)
    # The array of JAX must not change if the caller writes to the memory of `x` later
    # (test_arguments.py, test_memory_stays_the_callers).
    if not isinstance(x, (list, tuple, int, float, complex)):
        array = array.copy()
    return _jax_internals.put_on_default_device(array)


def to_numpy(x: object, op: str, arg: str) -> np.ndarray | jax.Array:
    """`x` as a NumPy array; as a JAX array if it holds tracers or random keys."""
    if _has_mask(x):
        raise TypeError(
            f"{op}: {arg} must be an array without a mask, which would be ignored; received "
            f"{brief(x)}; its method filled(value) makes one"
        )
    try:
        return _readable(np.asarray(x))
    except jax.errors.TracerArrayConversionError:
        return _join(x, op, arg)
    except (ValueError, TypeError) as error:
        if are_keys(x):
            return _join(x, op, arg)
        if hasattr(type(x), "__array__"):  # the error is its own, as that of a sparse gradient is
            raise TypeError(
                f"{op}: {arg} must be an array of numbers or bools; received {brief(x)}; {error}"
            ) from None
        # The words of this error are about NumPy, and vary by version.
        raise ValueError(
            f"{op}: {arg} must be an array or nested lists of equal lengths; received {brief(x)}"
        ) from None
    except Exception as error:  # of the caller's own `__array__`
        raise TypeError(
            f"{op}: {arg} must be an array; received {brief(x)}, which cannot be read: {error!r}"
        ) from error


def _has_mask(x: object, deepest: int = _DEEPEST) -> bool:
    """Whether `x` is a masked array, or nested lists that hold one."""
    if not isinstance(x, (list, tuple)) or not deepest:
        return isinstance(x, np.ma.MaskedArray)
    kinds = {*map(type, x)}  # most lists hold numbers alone
    return not kinds <= {int, float, bool} and any(_has_mask(i, deepest - 1) for i in x)


def _join(x: Any, op: str, arg: str) -> jax.Array:
    """Nested lists that hold JAX arrays, as one JAX array."""
    try:
        return jnp.asarray(x)
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(
            f"{op}: {arg} must be an array or nested lists of equal lengths, of dtypes that JAX "
            f"promotes; received {brief(x)}"
        ) from error


def saturate_ints(values: object) -> np.ndarray:
    """Python ints as int64. Larger ones, out of any bounds, become the ends of int64."""
    with contextlib.suppress(OverflowError):
        return np.array(values, np.int64)
    info = np.iinfo(np.int64)
    # `asarray`, as NumPy returns a scalar for an array without dimensions.
    return np.asarray(np.clip(np.array(values, dtype=object), info.min, info.max)).astype(np.int64)


def check_integer(dtype, op: str, arg: str) -> None:
    if not is_integer(dtype):
        hint = ""
        if dtype == np.bool_:
            hint = (
                "; boolean_mask takes a mask, and where(mask) has the places of its true elements"
            )
        if isinstance(dtype, np.dtype) and is_numeric_or_bool(dtype):
            hint = f"{hint}; jaxops.cast({arg}, 'int32') makes integers"
        raise TypeError(f"{op}: {arg} must have an integer dtype; received {dtype}{hint}")


def row_numbers_hint(ndim: int) -> str:
    """The hint about index vectors that seem to be numbers of rows, for an array of that rank."""
    places = ", ".join([":"] * ndim + ["None"])
    return f"; index vectors lie along the last axis: for numbers of rows write indices[{places}]"


def in_jax_dtype(array: np.ndarray, op: str, arg: str) -> np.ndarray:
    """`array` in the dtype JAX gives it, unless that changes an integer or overflows a float."""
    dtype = jax.dtypes.canonicalize_dtype(array.dtype)
    if dtype == array.dtype:
        return array
    with np.errstate(over="ignore"):
        narrow = array.astype(dtype)
    changed = np.isinf(narrow) & ~np.isinf(array) if narrow.dtype.kind in "fc" else narrow != array
    if changed.any():
        value = array[changed].flat[0]
        raise ValueError(
            f"{op}: {arg} holds {value}, which does not fit {dtype} "
            f"(from {array.dtype}); {X64_HINT}"
        )
    return narrow


def _saturate(
    array: np.ndarray,
    op: str,
    arg: str,
    mode: str | None,
    dims: Sequence[int],
    padding_index: int | None,
) -> np.ndarray:
    """64-bit indices as 32-bit ones, of which those out of bounds stay out of bounds.

    Refused are values that would come into bounds, or change modulo a dimension.
    """
    dtype = jax.dtypes.canonicalize_dtype(array.dtype)
    if dtype == array.dtype:
        return array
    narrow = array.astype(dtype)
    if (narrow == array).all():  # as in nearly every call, of which the rest would take a quarter
        return narrow
    is_long, longest = index_dtypes.are_long(dims), _symbolic.longest(dims)
    if is_long and array.size and array.max() > np.iinfo(np.int32).max:
        dtype = np.dtype(np.uint32)
    info = np.iinfo(dtype)
    least, most = info.min, info.max
    is_padding = np.zeros(array.shape, bool)
    if padding_index is not None:
        is_padding = array == padding_index
        if not least <= padding_index <= most and is_padding.any():
            raise ValueError(
                f"{op}: padding_index must fit {dtype}, as {arg} that are no array of JAX become; "
                f"received {padding_index}; {X64_HINT}"
            )
        # A number that does not fit must not become the padding (test_padding_index.py,
        # test_no_number_becomes_the_padding_because_it_is_cut).
        least, most = least + (padding_index == least), most - (padding_index == most)
    narrow = np.where(is_padding, array, np.clip(array, least, most)).astype(dtype)
    if is_long and (array.max(initial=0) > info.max < longest or array.min(initial=0) < info.min):
        # Saturated, these indices could be in bounds.
        raise ValueError(
            f"{op}: {arg} holds values that do not fit {dtype}, with a dimension of {longest} to "
            f"index; {X64_HINT}"
        )
    if mode == "wrap" and (narrow != array).any():
        raise ValueError(
            f"{op}: {arg} holds values that do not fit {dtype}, "
            f'which mode="wrap" cannot wrap; {X64_HINT}'
        )
    return narrow


def as_tensorflow_takes(x: Any) -> Any:
    """Python numbers as int32 and float32; with 64-bit types on JAX would take 64 bits."""
    kinds = {int: np.int32, float: np.float32}
    if type(x) not in kinds:
        return x
    try:
        with np.errstate(over="raise"):
            return np.asarray(x, kinds[type(x)])
    except (OverflowError, FloatingPointError):
        return x


def to_scalar_like(x: object, dtype, op: str, arg: str) -> jax.Array:
    """A scalar of `dtype`, from a value that `dtype` can hold."""
    value = to_operand(x, op, arg)
    check_scalar(value, op, arg)
    return to_dtype(x, value, dtype, op, arg)


def to_real(x: Any, op: str, arg: str, expected: str = "a real number") -> jax.Array:
    """An array of integers or real floats, of any shape; `expected` says what `arg` must be."""
    dtype = (x if isinstance(x, jax.Array) else to_numpy(x, op, arg)).dtype
    is_number = isinstance(dtype, np.dtype) and is_numeric_or_bool(dtype)
    if not is_number or kind(dtype) not in (1, 2):  # integers, floats
        raise TypeError(f"{op}: {arg} must be {expected}; received {brief(x)}")
    return to_operand(x, op, arg)


def check_scalar(value: jax.Array, op: str, arg: str) -> None:
    if value.shape != ():
        raise ValueError(f"{op}: {arg} must be a scalar; received shape {value.shape}")


def broadcasts(shape: Sequence[int], to: Sequence[int]) -> bool:
    """Whether an array of a shape becomes one of shape `to` by NumPy's rule."""
    sizes = zip(shape[::-1], to[::-1], strict=False)
    return len(shape) <= len(to) and all(size in (1, wanted) for size, wanted in sizes)


def to_dtype(
    x: object, value: jax.Array, dtype, op: str, arg: str, from_integers: bool = False
) -> jax.Array:
    """`value`, which came from `x`, as `dtype`.

    Arrays must have this dtype, except for Python numbers that went through a `jit`, and integers
    where `from_integers` lets them become what JAX makes of them in `x.at[i].set`; values from the
    host must fit it.
    """
    if value.dtype == dtype:
        return value
    if is_empty_list(x):
        return value.astype(dtype)
    widens = kind(value.dtype) == 1 and (kind(dtype) > 1 or np.can_cast(value.dtype, dtype))
    if isinstance(x, jax.Array) and ((from_integers and widens) or _adapts(value, dtype)):
        return value.astype(dtype)
    if not isinstance(x, jax.Array) and kind(value.dtype) <= kind(dtype):
        host = to_numpy(x, op, arg)
        if isinstance(host, np.ndarray):  # on the host, where a trace does not get in the way
            with np.errstate(over="ignore"):
                converted = host.astype(dtype)
            if jnp.issubdtype(dtype, jnp.integer):
                # Through Python integers: no dtype holds both uint64 and int64.
                fits = converted.tolist() == host.tolist()
            else:
                fits = np.array_equal(np.isinf(converted), np.isinf(host))
            if fits:
                return jnp.asarray(converted)
    received = brief(x) if value.shape == () else f"an array of dtype {value.dtype}"
    raise TypeError(
        f"{op}: {arg} must fit dtype {np.dtype(dtype)}; received {received}; "
        f"{cast_hint(arg, value.dtype, dtype)}"
    )


def cast_hint(arg: str, dtype: Any, wanted: Any) -> str:
    """The hint about a conversion of an argument of `dtype` to the dtype that is wanted."""
    hint = f"jaxops.cast({arg}, '{np.dtype(wanted)}') converts it"
    loses = kind(dtype) > kind(wanted)
    return f"{hint}, with a loss; or cast the other array to '{dtype}'" if loses else hint


def _adapts(value: jax.Array, dtype) -> bool:
    """Whether `value` is weakly typed, and not an integer that `dtype` may cut off."""
    narrows = jnp.issubdtype(dtype, jnp.integer) and not np.can_cast(value.dtype, dtype)
    # `jit` makes a Python number an array of a weak type (test_arguments.py,
    # test_python_numbers_adapt_inside_a_jit_too).
    return jax.typeof(value).weak_type and kind(value.dtype) <= kind(dtype) and not narrows


def kind(dtype) -> int:
    """The family of a dtype: bool 0, integers 1, floats 2, complex 3."""
    families = (jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating)
    return next(n for n, family in enumerate(families) if jnp.issubdtype(dtype, family))


def rank_or_none(x: object) -> int | None:
    """The rank of an array or of nested lists; None for anything else."""
    x = readable(x)
    if isinstance(x, (jax.Array, np.ndarray, np.generic)):
        return x.ndim
    array = as_numpy_or_none(x) if isinstance(x, (list, tuple, Sequence)) else None
    return None if array is None else array.ndim


def check_list(x: Any, op: str, arg: str) -> Sequence[Any]:
    if not isinstance(x, (list, tuple)):
        raise TypeError(f"{op}: {arg} must be a list of arrays; received {brief(x)}")
    return x
