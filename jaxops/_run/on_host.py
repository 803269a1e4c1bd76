"""Results whose shape depends on values: exact where the values are known, else a static `size`.

Exact results of concrete arrays are made on the host where the arrays are in its memory: XLA would
compile one program per shape, which takes longer than most of these calls.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from jaxops import _call_sites, _jax_internals
from jaxops._errors import naming_memory_errors
from jaxops._indexing import check
from jaxops._indexing.positions import take_rows
from jaxops._run import arguments, dispatch
from jaxops._run.known import at_once, known
from jaxops._run.static_values import static_int
from jaxops._run.strings import fill_for_strings

# The longest vector whose positions compiled code can number in int32. Less than 2**31, as
# `_cpu/counting_sort.py` rounds the length up to whole lanes.
_COUNTABLE = 2**31 - 2**20
# Results of fewer bytes are made in NumPy's memory, and copied by JAX: that is cheaper than to find
# aligned memory, which JAX takes over without a copy (test_on_host.py,
# test_large_parts_are_not_copied).
_LARGE = 4096


def check_size(size: object, op: str, arg: str = "size") -> int:
    size = static_int(size, op, arg)
    if size < 0:
        raise ValueError(f"{op}: {arg} must be at least 0; received {size}")
    if size >= 2**31 - 1:  # int32 counts the positions, and one beyond them
        raise ValueError(f"{op}: {arg} must be less than 2**31 - 1; received {size}")
    return size


def check_fill_needs_size(op: str, size: object, fill_value: object) -> None:
    if size is None and fill_value is not None:
        received = arguments.brief(fill_value)
        raise ValueError(f"{op}: fill_value is used with size only; received fill_value={received}")


def concrete(x: object, op: str, arg: str) -> np.ndarray | None:
    """The values of `x`, or None if only compiled code will know them."""
    array = arguments.to_numpy(x, op, arg)
    if isinstance(array, np.ndarray):
        return array
    arguments.to_operand(array, op, arg)  # refuses random keys
    return None


def concrete_integers(x: object, op: str, arg: str) -> np.ndarray | None:
    """`concrete` for integers."""
    array = arguments.to_numpy(x, op, arg)
    if isinstance(array, np.ndarray):
        return arguments.as_integers(array, x, op, arg)
    arguments.check_integer(array.dtype, op, arg)
    return None


def values_of(
    x: object, op: str, arg: str, data: object, find: Callable[..., np.ndarray | None] = concrete
) -> np.ndarray:
    """The values of `x`, on which the shape of a result made of `data` depends."""
    array = find(x, op, arg)
    if array is not None:
        return array
    if arguments.is_host_string(data):
        raise TypeError(
            f"{op}: {arg} must be concrete where the data are strings, which exist on the host "
            "only; received a traced array; call it outside jit, vmap and grad"
        )
    raise TypeError(
        f"{op}: size must be given where {arg} is traced, as the shape of the result depends on "
        f"the values; received a traced {arg}"
    )


@contextlib.contextmanager
def named_scope(op: str, name: str | None) -> Iterator[None]:
    """A context for the work of an op on the host, with the `name` that a caller passed."""
    scope = dispatch.scope_name(op, name)
    is_plain = name is None and _jax_internals.is_eager()  # the scope is for traces
    with (
        naming_memory_errors(op),
        _call_sites.named(name),
        contextlib.nullcontext() if is_plain else jax.named_scope(scope),
    ):
        yield


def to_data(x: object, op: str, arg: str) -> jax.Array | np.ndarray:
    """`x` for `take`; as a NumPy array if it holds strings, or a shape known at trace time."""
    if arguments.are_keys(x):
        return arguments.to_elements(x, op, arg)
    if arguments.is_host_string(x):
        return arguments.to_host_strings(x, op, arg)
    if _jax_internals.is_eager() or isinstance(x, jax.Array) or concrete(x, op, arg) is None:
        return arguments.to_operand(x, op, arg)
    with at_once():
        array = arguments.to_operand(x, op, arg)
    return np.asarray(array) if jnp.issubdtype(array.dtype, jnp.integer) else array


def is_on_host(x: object) -> bool:
    if not isinstance(x, jax.Array):
        return True
    if isinstance(x, Tracer):
        return False
    # NumPy multiplies the dimensions on both sides of a 0, and fails if the product is too large
    # (test_on_host.py, test_empty_arrays_that_numpy_does_not_hold).
    if x.size == 0 and math.prod(dim for dim in x.shape if dim) * x.dtype.itemsize >= 2**63:
        return False
    return _is_in_host_memory(x.sharding)


@functools.lru_cache(maxsize=256)
def _is_in_host_memory(sharding: jax.sharding.Sharding) -> bool:
    return sharding.is_fully_addressable and all(d.platform == "cpu" for d in sharding.device_set)


def from_host(result: Any, like: jax.Array | np.ndarray) -> Any:
    """`result`, a NumPy array or a list of them, moved to the device of `like`.

    It stays with NumPy if `like` is of strings, or known at trace time.
    """
    if not isinstance(like, jax.Array):
        return result if like.dtype.kind in "USTO" else jax.tree.map(known, result)
    is_on_one_device = not isinstance(like, Tracer) and len(like.devices()) == 1
    if is_on_one_device and _jax_internals.is_eager():
        if isinstance(result, list):
            return [_jax_internals.put_like(x, like) for x in result]
        return _jax_internals.put_like(result, like)
    return jax.device_put(result, like.sharding if is_on_one_device and like.committed else None)


def empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Memory to be filled, which the CPU backend takes over without a copy.

    It takes over memory that begins at a multiple of 64 bytes, which `np.empty` may not return.
    """
    return _aligned(np.empty, shape, dtype)


def full(shape: tuple[int, ...], value: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """An array of `value`. For zeros the system has memory ready, aligned here as in `empty`."""
    if dtype.kind in "USTO" or value.tobytes().strip(b"\0"):
        return np.full(shape, value, dtype)
    return _aligned(np.zeros, shape, dtype)


def _aligned(make: Callable, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    size = math.prod(shape) * dtype.itemsize
    memory = make(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype).reshape(shape)


def merge_axes(shape: Sequence[int], axis: int, count: int) -> tuple[int, ...]:
    """`shape` with the `count` dimensions from `axis` on merged into one."""
    merged = math.prod(shape[axis : axis + count])
    return (*shape[:axis], merged, *shape[axis + count :])


def take(operand: jax.Array | np.ndarray, positions: np.ndarray, axis: int, count: int) -> Any:
    """The slices of `operand` at known `positions` along the `count` dimensions from `axis` on."""
    return take_each(operand, [positions], axis, count)[0]


def take_each(operand, positions: Sequence[np.ndarray], axis: int, count: int) -> list[Any]:
    """`take` for each of `positions`."""
    if arguments.are_keys(operand):
        bits, impl = jax.random.key_data(operand), jax.random.key_impl(operand)
        taken = take_each(bits, positions, axis, count)
        return [jax.random.wrap_key_data(x, impl=impl) for x in taken]
    if is_on_host(operand):
        rows = np.asarray(operand).reshape(merge_axes(operand.shape, axis, count))
        return from_host([_take_on_host(rows, at, axis) for at in positions], operand)
    rows = math.prod(operand.shape[axis : axis + count])
    return [
        _take_on_device(operand, to_positions(at, rows), axis=axis, count=count) for at in positions
    ]


def to_positions(positions: np.ndarray, count: int) -> np.ndarray:
    """int64 `positions` among `count` elements, for the device."""
    if count <= np.iinfo(np.int32).max:
        return positions.astype(np.int32)
    # While 64-bit types are off, positions are uint32 (test_on_host.py,
    # test_positions_have_few_bits).
    return positions.astype(jax.dtypes.canonicalize_dtype(np.uint64))


def check_countable(count: int, op: str, arg: str) -> None:
    """Refuses a vector of more elements than compiled code can number in int32."""
    if isinstance(count, int) and count > _COUNTABLE:
        raise ValueError(
            f"{op}: {arg} must have at most {_COUNTABLE} elements in compiled code; "
            f"received {count}"
        )


def _take_on_host(rows: np.ndarray, positions: np.ndarray, axis: int) -> np.ndarray:
    if positions.size * rows.itemsize < _LARGE or rows.dtype.kind in "USTO":
        return rows.take(positions, axis)
    result = empty((*rows.shape[:axis], positions.size, *rows.shape[axis + 1 :]), rows.dtype)
    # In its default mode `np.take` fills a buffer of its own and copies that.
    return np.take(rows, positions, axis, out=result, mode="clip")


@functools.partial(jax.jit, static_argnames=("axis", "count"))
def _take_on_device(operand, positions, *, axis: int, count: int):
    return take_rows(operand.reshape(merge_axes(operand.shape, axis, count)), positions, axis)


def platform_of(*data: jax.Array | np.ndarray) -> str:
    """The platform on which an op on `data` runs; in a trace the default one."""
    for x in data:
        if isinstance(x, Tracer):
            return jax.default_backend()
        if isinstance(x, jax.Array):
            return check.platform_of(x)
    return "cpu"


def fit_strings(strings: np.ndarray, axis: int, size: int, fill_value: object, op: str):
    """Strings cut or filled up to `size` along `axis`."""
    strings = np.take(strings, range(min(size, strings.shape[axis])), axis)
    shape = list(strings.shape)
    shape[axis] = size - shape[axis]
    fill = fill_for_strings(strings, fill_value, op)
    padding = np.full(shape, fill, dtype=arguments.fill_dtype(strings))
    return np.concatenate(arguments.of_one_kind([strings, padding]), axis)
