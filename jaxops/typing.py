"""Types for annotations of code that calls jaxops. None of them is needed to call it.

A function that passes its own arguments on declares them as jaxops does:

    def rows(table: jax.Array, indices: ArrayLike, mode: Mode = "device") -> jax.Array:
        return jaxops.gather(table, indices, mode=mode)

A result is declared as `jax.Array`. For host strings it is a NumPy array, which its type does not
tell: no annotation tells a list of strings from a list of numbers.
"""

from jaxops._indexing.policy import Mode as Mode  # what an index out of bounds does
from jaxops._ops.setdiff1d import ListDiff as ListDiff  # results, with names
from jaxops._ops.unique import Unique as Unique
from jaxops._ops.unique import UniqueWithCounts as UniqueWithCounts
from jaxops._run.arguments import ArrayLike as ArrayLike  # an array, a number, or lists of these
from jaxops._run.arguments import Int as Int  # a static int, as a size or an axis
from jaxops._run.arguments import Ints as Ints  # static ints, as a shape or axes
from jaxops._run.sharding import OutSharding as OutSharding  # how devices share a result

__all__ = [
    "ArrayLike",
    "Int",
    "Ints",
    "ListDiff",
    "Mode",
    "OutSharding",
    "Unique",
    "UniqueWithCounts",
]


def __dir__() -> list[str]:
    return __all__
