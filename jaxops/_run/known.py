"""Arrays known while tracing: NumPy arrays, which serve as shapes, with the methods of `jax.Array`.

`jnp.ones(stack([3, shape(x)[0]]))` compiles only if JAX can read the values inside of `jit`, and
whatever JAX computes there it traces. But `range(3).at[0].set(1)` works outside of `jit`, so inside
the array must have what a `jax.Array` has. So each method and operator is JAX's: it runs while
tracing, and its result is known too, unless an argument is an array of JAX.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import eval_context

from jaxops import _jax_internals

_BINARY = "add and divmod floordiv lshift matmul mod mul or pow rshift sub truediv xor"
_OTHERS = "abs eq ge getitem gt invert le lt ne neg pos round setitem"


@contextlib.contextmanager
def at_once() -> Iterator[None]:
    """Runs operations at once, also while a program is traced, whatever the caller forbids.

    The caller forbids transfers and runs of the program, and these are a part of its trace
    (test_settings.py, test_known_values_while_tracing).
    """
    if _jax_internals.is_eager():  # the contexts take 10 us
        yield
        return
    allowed = jax.transfer_guard("allow"), jax.no_execution(False), jax.no_tracing(False)
    with eval_context(), allowed[0], allowed[1], allowed[2]:
        yield


class KnownArray(np.ndarray):
    """An array of NumPy with the attributes of `jax.Array`. `known` makes one."""

    def __getattr__(self, name: str) -> Any:  # of what NumPy's arrays lack, such as `at`
        with at_once():
            return getattr(jnp.asarray(np.asarray(self)), name)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Computes a ufunc; operators call this too, where a number of NumPy stands on the left."""
        by_jax = None if method != "__call__" or kwargs else getattr(jnp, ufunc.__name__, None)
        with at_once():
            result = (by_jax or getattr(ufunc, method))(*map(np.asarray, inputs), **kwargs)
        return jax.tree.map(known, result)

    @property
    def device(self) -> Any:  # a word in NumPy
        return self.__getattr__("device")

    def __iter__(self) -> Iterator[Any]:
        # NumPy's own iterator yields numbers without `at` (test_known.py, test_as_eagerly).
        return map(self.__getitem__, range(len(self)))

    # A number has the hash of NumPy's scalar, because a size may be the key of a dict or a cache
    # (test_known.py, test_a_number_is_a_key_of_caches).
    def __hash__(self) -> int:
        return hash(np.asarray(self)[()])


def known(x: Any) -> Any:
    """`x` as a `KnownArray`, if it is an array whose values are known."""
    if isinstance(x, (jax.Array, np.ndarray, np.generic)):
        return np.asarray(x).view(KnownArray)
    return x


def _by_jax(name: str) -> Callable:
    def method(self, *args, **kwargs):
        is_traced = any(isinstance(x, jax.Array) for x in jax.tree.leaves((args, kwargs)))
        with contextlib.nullcontext() if is_traced else at_once():
            result = getattr(jnp.asarray(np.asarray(self)), name)(*args, **kwargs)
        return result if is_traced else jax.tree.map(known, result)

    method.__name__ = name
    return method


for _name in dir(jax.Array):
    if not _name.startswith("_") and callable(getattr(jax.Array, _name)):
        setattr(KnownArray, _name, _by_jax(_name))
for _name in _OTHERS.split():
    setattr(KnownArray, f"__{_name}__", _by_jax(f"__{_name}__"))
for _name in _BINARY.split():
    setattr(KnownArray, f"__{_name}__", _by_jax(f"__{_name}__"))
    setattr(KnownArray, f"__r{_name}__", _by_jax(f"__r{_name}__"))
    # `x += 1` makes a new array, as `jax.Array` does.
    setattr(KnownArray, f"__i{_name}__", _by_jax(f"__{_name}__"))
