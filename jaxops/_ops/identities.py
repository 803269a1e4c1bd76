"""stop_gradient and guarantee_const: values that stay as they are."""

from __future__ import annotations

import jax
from jax import lax

from jaxops._run.arguments import ArrayLike
from jaxops._run.dispatch import operation


def stop_gradient(input: ArrayLike, name: str | None = None) -> jax.Array:
    """`input`, through which no gradient flows.

    Follows `tf.stop_gradient`. Differs from it in: nothing.

    Args:
        input: array of any shape and dtype, or host strings. Traced.

    Returns:
        Array of the shape and dtype of `input`; for host strings a NumPy array.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: `input` is ragged.

    Gradient: 0, in both modes.

    Example:
        >>> import jax, jaxops
        >>> jax.grad(lambda x: x * jaxops.stop_gradient(x))(3.0)
        Array(3., dtype=float32, weak_type=True)
    """
    return _stop_gradient.run("stop_gradient", input=input, name=name)


@operation(data=("input",), moves_elements=True)
def _stop_gradient(input: jax.Array, *, op: str):
    del op  # nothing to refuse
    return lax.stop_gradient(input)


def guarantee_const(input: ArrayLike, name: str | None = None) -> jax.Array:
    """`input`. TensorFlow computes ahead what depends on such values; `jax.jit` needs no hint.

    Follows `tf.guarantee_const`. Differs from it in: there is a gradient.

    Args:
        input: array of any shape and dtype, or host strings. Traced.

    Returns:
        Array of the shape and dtype of `input`; for host strings a NumPy array.

    Raises:
        TypeError: wrong type of an argument.
        ValueError: `input` is ragged.

    Gradient: the cotangent.

    Example:
        >>> import jaxops
        >>> jaxops.guarantee_const([1, 2])
        Array([1, 2], dtype=int32)
    """
    return _same.run("guarantee_const", input=input, name=name)


@operation(data=("input",), moves_elements=True)
def _same(input: jax.Array, *, op: str):
    del op  # nothing to refuse
    return input
