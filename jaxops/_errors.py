"""The exception that eager calls raise for an index outside its bounds; words for others."""

import jax
import numpy as np
from jax.core import Tracer

_LONGEST = 200  # characters of a received value in a message


def brief(x: object) -> str:
    """A received value, shortened for a message."""
    if isinstance(x, Tracer):
        return f"a traced array of shape {x.shape}"
    if isinstance(x, jax.Array) and not isinstance(x.dtype, np.dtype):
        return f"an array of dtype {x.dtype}"
    try:
        text = repr(x)
    except RecursionError:
        return f"a {type(x).__name__} nested too deeply to print"
    except Exception as error:  # the caller's own code
        return f"a {type(x).__name__} that cannot be printed ({type(error).__name__})"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


class OutOfBoundsError(IndexError):
    """An index lies outside the dimension that it indexes.

    Raised at the call when an operation runs eagerly. Under `jax.jit` the same text stands inside
    the exception that JAX raises for a failed computation.

    Attributes:
        operation: name of the jaxops function, for example `"gather"`.
        position: where the index stands in the argument, one coordinate per dimension. Under
            `jax.vmap` one leading coordinate per mapped axis, outermost first.
        index: the offending value: an int, or a tuple of ints where the operation takes index
            vectors.
        bound: the dimension that the index must stay below (an int), or for an index vector the
            dimensions that it indexes (a tuple).
    """

    def __init__(
        self,
        message: str,
        operation: str,
        position: tuple[int, ...],
        index: int | tuple[int, ...],
        bound: int | tuple[int, ...],
    ):
        super().__init__(message)
        self.operation = operation
        self.position = position
        self.index = index
        self.bound = bound

    def __reduce__(self):
        # BaseException would pickle only `args`, which `__init__` does not accept.
        fields = (self.args[0], self.operation, self.position, self.index, self.bound)
        return OutOfBoundsError, fields
