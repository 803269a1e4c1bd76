"""What a record of a public function holds."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

MODES = ("device", "error", "fill", "clip", "wrap", "promise_in_bounds")


class Case(NamedTuple):
    """A call `op(*data, *indices, **options)` and its oracle, of NumPy or of plain loops.

    `data` are the float arrays, which have gradients; `indices` the integer ones, which have bounds
    where there are `modes`.
    """

    op: Callable[..., Any]
    oracle: Callable[..., Any]
    data: tuple[np.ndarray, ...]
    indices: tuple[np.ndarray, ...] = ()
    modes: tuple[str, ...] = ()  # none: the op has no argument `mode`
    linear: bool = True  # in `data`
    has_deterministic: bool = False

    @property
    def args(self) -> tuple[np.ndarray, ...]:
        return (*self.data, *self.indices)

    def gradients(self, **options: Any) -> Callable[..., Any]:
        """Of the sum of the squares of the result, a function of the same arguments."""

        def total(*args):
            return (self.op(*args, **options) ** 2).sum()

        return jax.grad(total, tuple(range(len(self.data)))) if self.data else lambda *args: ()


class OutOfBounds(NamedTuple):
    """A call of a function of one array of indices, and the error where one is out of bounds."""

    call: Callable[..., Any]
    good: Any
    bad: Any
    text: str  # with which the error begins
    position: tuple[int, ...]
    index: int | tuple[int, ...]
    bound: int | tuple[int, ...]


class Export(NamedTuple):
    """A call that is exported for sizes that are not known yet."""

    how: str  # the call, in words of Python
    call: Callable[..., Any]
    shapes: tuple[str, ...]  # of the arguments; those that end in "int" or "bool" are that
    constraints: tuple[str, ...] = ()
    refused: str = ""  # the words of the exception, where the call cannot be exported


class Record(NamedTuple):
    """What tests, documents and benchmarks know of a public function.

    Attributes:
        call: the arguments of a valid call, all that the function has but `name`, by their names.
            Each is a pair of its kind and its value. Kinds: `data`, numbers; `integers`, such as
            indices; `bools`; `text`; `scalar`, of data; `arrays`, a list of data; `indices`, a list
            of integers; `int`, `ints` and `pairs`, static; `dtype`; `word`, an option; `grads`,
            nested arrays. Empty for a function of no arrays. A kind may say more after a comma:
            "data, numbers" is data, and neither strings nor keys; "int, at least 0" is no negative
            int. Only the refused calls look at that, of which tests/refusals/kinds.py makes a dozen
            for an argument; after "own" none.
        cases: calls of the harness with their oracles, by what is special about each.
        out_of_bounds: calls with an index out of bounds, likewise.
        narrow: calls of the harness with indices below 100 into more than 255 places, which indices
            of 8 bits cannot count. The first of `modes` is taken.
        exports: calls with symbolic sizes, for docs/symbolic_shapes.md.
        of_dtype: the arguments whose dtype docs/dtypes.md is about, where they are not those of the
            kinds `data` and `arrays`.
        row: of the table of functions on the site: its section, also of the names in the README;
            and the cells after the function of TensorFlow 2, which `jaxops/_names.py` knows: the
            function of 0.x; what differs under `jit`; the gradient; the arguments with bounds.
    """

    call: Mapping[str, tuple[str, Any]] = {}
    cases: Mapping[str, Case] = {}
    out_of_bounds: Mapping[str, OutOfBounds] = {}
    narrow: Mapping[str, Case] = {}
    exports: Sequence[Export] = ()
    of_dtype: tuple[str, ...] = ()
    row: str = ""

    @property
    def section(self) -> str:
        return self.row.partition(" | ")[0]

    @property
    def readme(self) -> str:
        return self.row.partition(" | ")[2]
