"""rowwise_adagrad: Adagrad with one number of state for each row of a table."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxops._frames import without_frames
from jaxops._run import arguments
from jaxops._run.static_values import static_number

_OP = "rowwise_adagrad"
_LAST = jnp.iinfo(jnp.int32).max


class RowwiseAdagradState(NamedTuple):
    """Steps that were made, and for each row the sum of mean squares of its gradients."""

    count: jax.Array
    sums: Any


class RowwiseAdagrad(NamedTuple):
    """The two functions of an optimizer, as those of optax, which can chain them with its own."""

    init: Callable[[Any], RowwiseAdagradState]
    update: Callable[..., tuple[Any, RowwiseAdagradState]]


def rowwise_adagrad(
    learning_rate: Any,
    *,
    initial_accumulator_value: float = 0.0,
    eps: float = 1e-8,
) -> Any:
    """Adagrad whose state is one number for each row, the usual one for large embedding tables.

    For a gradient `g` of shape `[rows, width]` and the numbers `s` of shape `[rows]`:

        s = s + mean(g ** 2, axis=1)
        update = -learning_rate * g / (sqrt(s) + eps)

    Adagrad keeps a sum for each element; for rows of 64 numbers this state is a sixty-fourth. For
    `jaxops.lazy`, which keeps and updates the state of those rows that have a gradient. A row
    without a gradient stays as it is, so a lazy step is the dense one.

    Follows `EXACT_ROWWISE_ADAGRAD` of FBGEMM, which TorchRec uses. Differs from it in: the rate may
    be a schedule; there is no weight decay, for which optax has a transformation.

    Args:
        learning_rate: real scalar, may be traced; or a function of the number of earlier steps, an
            int32 scalar, that returns one, as optax's schedules are.
        initial_accumulator_value: static float, not negative. What sums begin with.
        eps: static float, not negative. Added to the root.

    Returns:
        A named tuple of two functions as those of optax's transformations. `init(params)` gives a
        state with an int32 scalar `count` and `sums`: for each parameter of shape `[rows, ...]` an
        array `[rows]`, for a scalar a scalar, of float32 or the parameter's float type if that is
        wider. `update(grads, state, params=None)` gives updates to add to the parameters, of the
        shapes and dtypes of the gradients, and the new state.

    Raises:
        TypeError: a rate that is neither a real scalar nor a function; an argument that is not a
            number.
        ValueError: a rate that is not a scalar; a negative argument.

    Gradient: as the formula's.

    Example:
        >>> import jax.numpy as jnp, jaxops
        >>> optimizer = jaxops.lazy(jaxops.rowwise_adagrad(0.5))
        >>> table = jnp.zeros((4, 2))
        >>> state = optimizer.init(table)
        >>> grads = jaxops.IndexedSlices([[3.0, 1.0], [0.0, 3.0]], [3, 3], (4, 2))
        >>> table, state = optimizer.apply(grads, state, table)
        >>> state.sums
        Array([ 0. ,  0. ,  0. , 12.5], dtype=float32)
        >>> table[3]
        Array([-0.42426407, -0.56568545], dtype=float32)

    Source: https://pytorch.org/torchrec/concepts.html, `EXACT_ROWWISE_ADAGRAD` of fbgemm_gpu
    """
    rate = learning_rate if callable(learning_rate) else _rate(learning_rate)
    start = _not_negative(initial_accumulator_value, "initial_accumulator_value")
    eps = _not_negative(eps, "eps")

    @without_frames
    def init(params: Any) -> RowwiseAdagradState:
        def sums_of(p: Any) -> jax.Array:
            dtype = jnp.finfo(_widened(jnp.result_type(p))).dtype  # real, of complex ones too
            return jnp.full(jnp.shape(p)[:1], start, dtype)

        return RowwiseAdagradState(jnp.zeros((), jnp.int32), jax.tree.map(sums_of, params))

    @without_frames
    def update(
        grads: Any, state: RowwiseAdagradState, params: Any = None
    ) -> tuple[Any, RowwiseAdagradState]:
        del params
        step = _rate(rate(state.count)) if callable(rate) else rate

        def summed(g: jax.Array, s: jax.Array) -> jax.Array:
            squares = jnp.square(jnp.abs(g).astype(s.dtype))
            width = max(math.prod(g.shape[1:]), 1)
            return s + jnp.sum(squares, axis=range(1, g.ndim)) / width

        def updated(g: jax.Array, s: jax.Array) -> jax.Array:
            factor = -step.astype(s.dtype) / (jnp.sqrt(s) + eps)
            factor = factor.reshape(s.shape + (1,) * (g.ndim - s.ndim))
            wide = _widened(g.dtype)
            return (g.astype(wide) * factor.astype(wide)).astype(g.dtype)

        grads = jax.tree.map(jnp.asarray, grads)
        sums = jax.tree.map(summed, grads, state.sums)
        # It stays at the last number, as optax's counts do.
        count = jnp.where(state.count < _LAST, state.count + 1, _LAST)
        return jax.tree.map(updated, grads, sums), RowwiseAdagradState(count, sums)

    return RowwiseAdagrad(init, update)  # as `Any`: optax.chain says that it takes its own class


def _widened(dtype: Any) -> Any:
    """The dtype to compute in: float32 for narrower floats and for integers."""
    is_wide = jnp.issubdtype(dtype, jnp.inexact) and dtype.itemsize >= 4
    return dtype if is_wide else jnp.dtype(jnp.float32)


def _rate(x: Any) -> jax.Array:
    expected = "a real number, or a function that returns one"
    array = arguments.to_real(x, _OP, "learning_rate", expected)
    arguments.check_scalar(array, _OP, "learning_rate")
    return array


def _not_negative(x: Any, name: str) -> float:
    number = float(static_number(x, _OP, name))
    if not number >= 0:
        raise ValueError(
            f"{_OP}: {name} must be a static number that is not negative; received "
            f"{arguments.brief(x)}"
        )
    return number
