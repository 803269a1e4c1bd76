"""Small runs of an optimizer, dense and on some rows, that show what it does to rows.

A lazy step is a dense step after which the rows without a gradient are put back, in tables and
states. So an optimizer is run both ways on tables of 7 rows, 3 of which have a gradient:

    update          rows 0, 3, 5 of the dense step        the step of rows 0, 3, 5 alone
    0.9 * s + g     0.9 * s + g                           the same
    g / norm(g)     by the norm of 7 rows, 4 of them 0    the same
    g / norm(p)     by the norm of 7 rows                 by the norm of 3 rows: refused
    g - mean(g)     less sum(g) / 7                       less sum(g) / 3: refused

The step of some rows gets one row more, as `lazy` gives it one for each index that counts for
nothing: parameters, state and gradient of this row are 0.

`update` is traced where `lazy` is called, as it may depend on what is traced there. `runner.py`
compiles and runs the programs.

Dimensions of more than 8 become 9, 10, ..., so that neither the width of tables nor the size of
other parameters costs time. An optimizer to which sizes matter is run with its own sizes. An
exception, states of other shapes, or another sequence of primitives shows that sizes matter.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxops import _jax_internals
from jaxops._indexing import narrow_sums
from jaxops._jax_internals import ClosedJaxpr, JaxprEqn, Literal
from jaxops._sparse.optimizer import scaled, trees

ROWS = 7  # of a table
SLOTS = 4  # of these have a gradient, or 3 beside a row of zeros
_MANY = 4001  # rows of a trace that is not run, for programs that differ by the number of rows
_LARGE = 8  # dimensions beyond it are made small
_LARGER = 128  # these, for optimizers as Adafactor that do other things to smaller ones

GRADIENTS = object()  # as an extra argument: the gradients that `update` gets


class NotAnyNumber(ValueError):
    """An optimizer does not take tables of some numbers of rows."""


class UpdateRaises(Exception):
    """An optimizer raises, for 7 rows, what is the cause of this exception."""


_RAISED_HERE = (NotAnyNumber, trees.WrongStructure, _jax_internals.UnknownParameter)


class Program(NamedTuple):
    """A traced function of arrays, and the types that its results become."""

    traced: ClosedJaxpr
    results: Sequence[Any]


class Probe:
    """An optimizer with small parameters, some of which are tables; traced.

    Its step is a function of gradients, states, parameters and other arguments to updates and new
    states. `gradients`, `states`, `parameters` and `others` are numbers of leaves of the former,
    `updates` and `states` of the latter.

    Raises `UpdateRaises`; `NotAnyNumber` if the optimizer raises for other numbers of rows only.

    Args:
        optimizer: as for `lazy`.
        params: the parameters.
        depths: by table, along how many axes rows are counted: more than one for elements.
        owners: for each leaf of the state, the table whose rows it holds.
        extra: other arguments of `optimizer.update`.
    """

    def __init__(
        self,
        optimizer: Any,
        params: trees.Params,
        depths: Mapping[int, int],
        owners: Sequence[int | None],
        extra: Mapping[str, Any],
    ):
        self.depths = depths
        count, num_states = len(params.types), len(owners)
        self.result_owners = [*(n if n in depths else None for n in range(count)), *owners]
        ways = _ways(params)
        for way in ways:
            try:
                self._trace(optimizer, params, owners, extra, *way)
            except Exception as error:
                if way != ways[-1]:
                    continue
                if isinstance(error, _RAISED_HERE):
                    raise
                raise UpdateRaises from error
            if self.difference is None:
                break
        self.gradients = self.updates = range(count)
        self.states = range(count, count + num_states)
        self.parameters = range(count + num_states, 2 * count + num_states)
        self.others = range(2 * count + num_states, len(self.types))
        self.counts = {n: math.prod(self.types[n].shape[:depth]) for n, depth in depths.items()}

    def _trace(
        self,
        optimizer: Any,
        params: trees.Params,
        owners: Sequence[int | None],
        extra: Mapping[str, Any],
        dims: Mapping[int, int],
        widens: bool,
    ) -> None:
        """Traces `init`, the dense step and that of some rows, with `dims` in place of others."""
        real = params
        if widens:
            real = params._replace(types=[_widened(t) for t in params.types])
        types = [
            jax.ShapeDtypeStruct([dims.get(d, d) for d in t.shape], t.dtype) for t in real.types
        ]
        small = real._replace(types=types).with_rows(dict.fromkeys(self.depths, ROWS))
        state, real_state = (trees.state_types(optimizer, p) for p in (small, real))
        with_paths, structure = jax.tree_util.tree_flatten_with_path(state)
        self.state_paths = [jax.tree_util.keystr(path) for path, _ in with_paths]
        states, real_states = [leaf for _, leaf in with_paths], jax.tree.leaves(real_state)
        if structure != jax.tree.structure(real_state):
            raise NotAnyNumber(trees.other_structure(f"{ROWS} rows"))
        _check_states(owners, real_states, states, dims)

        def init(*leaves: Any) -> list:
            return jax.tree.leaves(optimizer.init(small.structure.unflatten(leaves)))

        def step(leaves: Sequence, states: Sequence, sizes: Mapping[int, int]) -> Program:
            """The program of a step, with so many rows of the tables in `sizes`."""

            def of_rows(t: Any, owner: int | None) -> Any:
                if owner is None or owner not in sizes:
                    return t
                shape = (sizes[owner], *t.shape[self.depths[owner] :])
                return jax.ShapeDtypeStruct(shape, t.dtype)

            leaves = [of_rows(t, n) for n, t in enumerate(leaves)]
            states = list(map(of_rows, states, owners))
            program = _step(trees.Call(optimizer, small, structure, extra), leaves, states)
            return Program(program, [*leaves, *states])

        self.init = Program(_trace(init, *small.types), states)
        self.dense = step(small.types, states, {})
        self.types = self.dense.traced.in_avals
        owned = [*self.result_owners, *self.result_owners[: len(small.types)]]
        self.input_owners = owned + [None] * (len(self.types) - len(owned))
        most = max([_MANY, *(params.types[n].shape[0] for n in self.depths)])
        # Of two sizes in turn, so that a step that takes the rows of one table for those of another
        # raises or, where both have one size, differs. JAX keeps what it traced of one size.
        many_rows = {n: most + 2 * (place % 2) for place, n in enumerate(self.depths)}
        many = _any_number(lambda: step(real.types, real_states, many_rows)).traced
        # If each row comes from itself alone, by the same numbers for 7 rows and for 4001, steps of
        # some rows need not be compared with steps of all.
        self.rows_stay_apart = (
            set(self.depths.values()) == {1}
            and scaled.rows_stay_apart(self.dense.traced, self.input_owners)
            and not self.dense.traced.consts
            and _difference(self.dense.traced, many, numbers=True) is None
        )
        self.difference = None
        if not self.rows_stay_apart:
            sizes = dict.fromkeys(self.depths, SLOTS)
            self.some = _any_number(lambda: step(small.types, states, sizes))
            # An equation of the step of some rows that is another one in that of many.
            self.difference = _difference(self.some.traced, many)


def _ways(params: trees.Params) -> list[tuple[dict[int, int], bool]]:
    """Other sizes for dimensions, and whether narrow floats become float32: in the order to try."""
    small, larger = (_small_dims(params, limit) for limit in (_LARGE, _LARGER))
    ways = [(dims, True) for dims in (small, larger) if dims] + [({}, True)]
    # JAX promotes no float of 8 bits, so that a rate of that dtype wants such parameters.
    return ways + [({}, False)] * any(t.dtype.itemsize == 1 for t in params.types)


def _widened(t: Any) -> jax.ShapeDtypeStruct:
    """The type, but float32 for floats of 16 bits and less, whose rounding hides differences."""
    dtype = jnp.float32 if narrow_sums.is_narrow(t.dtype) else t.dtype
    return jax.ShapeDtypeStruct(t.shape, dtype)


def _small_dims(params: trees.Params, limit: int) -> dict[int, int]:
    """A smaller size for each large dimension; different sizes stay different."""
    large = {d for t in params.types for d in t.shape if d > limit}
    dims = {d: limit + 1 + n for n, d in enumerate(sorted(large))}
    return {d: small for d, small in dims.items() if small < d}


def _any_number(trace: Callable) -> Any:
    try:
        return trace()
    except Exception as error:
        raise NotAnyNumber(
            f"{trees.OP}: the optimizer must take tables of any number of rows; received one "
            f"whose update raises {type(error).__name__}: {error}"
        ) from error


def _check_states(
    owners: Sequence[int | None], real: Sequence, small: Sequence, dims: Mapping[int, int]
) -> None:
    """States of 7 rows, and of other dimensions, must be of the shapes of the real ones."""
    for owner, x, y in zip(owners, real, small, strict=True):
        shape = x.shape if owner is None else (ROWS, *x.shape[1:])
        if len(shape) != len(y.shape) or any(
            b not in (a, dims.get(a)) for a, b in zip(shape, y.shape, strict=True)
        ):
            raise NotAnyNumber(
                f"{trees.OP}: the optimizer must keep states of the same shapes for tables of any "
                f"number of rows; received one that keeps {x.shape}, and {y.shape} for {ROWS} rows"
            )


# --- programs ---


def _step(call: trees.Call, leaves: Sequence, states: Sequence) -> ClosedJaxpr:
    """The program from gradients, states, parameters and extra values to updates and new states."""
    extra_leaves, extra_structure = jax.tree.flatten(dict(call.extra))
    is_input = list(map(trees.is_value, extra_leaves))
    types = [
        jax.ShapeDtypeStruct(np.shape(x), jnp.result_type(x))
        for x, is_one in zip(extra_leaves, is_input, strict=True)
        if is_one
    ]

    def update(gradients: list, states: list, leaves: list, given: list) -> list:
        of_params, values = call.kinds.structure.unflatten(gradients), iter(given)
        merged = [
            of_params if x is GRADIENTS else next(values) if is_one else x
            for x, is_one in zip(extra_leaves, is_input, strict=True)
        ]
        this = call._replace(extra=extra_structure.unflatten(merged))
        results = this.update(gradients, [*leaves, *states])
        for x, t in zip(results, [*leaves, *states], strict=True):
            if np.broadcast_shapes(np.shape(x), t.shape) != t.shape:
                raise trees.WrongStructure(
                    f"{trees.OP}: the optimizer's updates and state must keep the shapes of "
                    f"parameters and state; received one that makes {np.shape(x)} of {t.shape}"
                )
        return results

    return _trace(update, list(leaves), list(states), list(leaves), types)


def _trace(function: Callable, *types: Any) -> ClosedJaxpr:
    """The program of a function, on no mesh, and with types promoted as optax wants them."""
    with (
        trees.off_mesh(),
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
    ):
        return _without_prints(jax.make_jaxpr(function)(*types))


def _without_prints(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program without `jax.debug.print` and callbacks, which a small run must not call."""
    jaxpr = program.jaxpr
    eqns = [
        eqn for eqn in jaxpr.eqns if eqn.primitive.name not in ("debug_callback", "debug_print")
    ]
    constants = dict(zip(jaxpr.constvars, program.consts, strict=True))
    return _jax_internals.program_of("step", eqns, jaxpr.invars, jaxpr.outvars, constants)


def _difference(first: Any, second: Any, *, numbers: bool = False) -> tuple[JaxprEqn, ...] | None:
    """An equation that is another one in a second program, after the calls that it is in.

    With `numbers`, also one whose numbers are others.
    """
    for eqn, other in itertools.zip_longest(first.eqns, second.eqns):
        if eqn is None or other is None or eqn.primitive is not other.primitive:
            return tuple(x for x in (eqn, other) if x is not None)[:1]
        if len(eqn.invars) != len(other.invars) or _axes(eqn) != _axes(other):
            return (eqn,)
        if numbers and _numbers(eqn) != _numbers(other):
            return (eqn,)
        programs = _jax_internals.programs_in(eqn), _jax_internals.programs_in(other)
        for pair in zip(*programs, strict=False):
            if found := _difference(*pair, numbers=numbers):
                return (eqn, *found)
    return None


def _axes(eqn: JaxprEqn) -> str:
    """The axes that an equation is along, as `jnp.sum(x, axis=np.argmax(x.shape))` chooses them."""
    names = ("axes", "axis", "dimension", "dimensions", "dimension_numbers", "permutation")
    if eqn.primitive.name == "reshape":  # whose `dimensions` are sizes
        return ""
    return str([item for item in _jax_internals.params_of(eqn).items() if item[0] in names])


def _numbers(eqn: JaxprEqn) -> list:
    """Literals, and the only number that a primitive of single elements has as a parameter."""
    literals = [str(v.val) for v in eqn.invars if isinstance(v, Literal)]
    is_power = eqn.primitive.name == "integer_pow"
    return [*literals, _jax_internals.param(eqn, "y")] if is_power else literals
