"""The loss with its lookups first: rows of a table are read before the program computes with them.

`only_looks_up` tells from the traced program of a loss whether its tables are used by lookups
alone. If not, `evaluate` runs the program with a delayed array (`delayed.py`) in place of each
table. An equation with a delayed operand is one of these:

- one that `delayed_rules.py` can read rows of: its result is delayed too;
- a slice of several rows: a `Part`, of which a lookup after it reads rows; else it is a lookup;
- a lookup: reads rows of a delayed array, and has a usual array as its result;
- a `jit`, `checkpoint`, `scan`, `cond` or a function with a derivative of its own: `evaluate` goes
  on in its body (`_BODIES`);
- any other: the delayed arrays are computed whole, as the program says. If the derivative needs
  that, `linear_program.py` refuses it, in the words of `whole_uses.py`.

Numbers that an equation repeats for each row, such as a scale of columns, are delayed as well, so
that they are not repeated for all rows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, JaxprEqn, jaxpr_as_fun
from jax.extend.core import primitives as jax_primitives

from jaxops import _jax_internals
from jaxops._indexing import explicit_axes
from jaxops._run import extents
from jaxops._sparse import (
    delayed_calls,
    delayed_rules,
    jaxprs,
    one_hot_products,
    row_rules,
    whole_uses,
)
from jaxops._sparse.delayed import (
    Choice,
    Node,
    Round,
    Table,
    UsedWhole,
    can_read,
    dense,
    has_table,
    is_delayed,
    is_part,
    look_up,
    rule_of,
    zeros_at,
)
from jaxops._sparse.lookups import (
    Access,
    access_of,
    gather_params,
    is_gather,
    starts_of,
    window_of,
)


def transform(
    fun: Callable, leaves: Sequence[jax.Array], is_table: Sequence[bool], uses: list
) -> Callable:
    """`fun` of the leaves, traced, which reads rows of the tables first.

    A function that cannot be traced, as it decides by values in Python, stays as it is. When it
    runs, adds the `whole_uses` of tables to `uses`.
    """
    rest: dict[str, Any] = {}

    def arrays_of(*leaves):
        # What is no array, as a string in `aux`, is no result of a program.
        results, rest["structure"] = jax.tree.flatten(fun(*leaves))
        rest["others"] = [None if isinstance(x, jax.Array) else x for x in results]
        return [x for x in results if isinstance(x, jax.Array)]

    if not any(is_table):
        return fun
    try:
        program = jax.make_jaxpr(arrays_of)(*leaves)
    except Exception:  # `fun` is called once more without being traced whole, and raises then
        return fun

    def rows_first(*leaves):
        inputs = [Table(x) if table else x for x, table in zip(leaves, is_table, strict=True)]
        with whole_uses.noted(uses):
            return evaluate(program, inputs)

    # Also in place of `fun` itself, which is Python of the caller, and slower.
    traced = jaxpr_as_fun(program) if only_looks_up(program, is_table) else rows_first

    def with_rows_first(*leaves):
        arrays = iter(traced(*leaves))
        results = [next(arrays) if x is None else x for x in rest["others"]]
        return rest["structure"].unflatten(results)

    return with_rows_first


# --- whether rows must be read first ---


class _UsedOtherwise(Exception):
    pass


def only_looks_up(program: ClosedJaxpr, is_table: Sequence[bool]) -> bool:
    """Whether a program uses tables in no other way than by lookups, as far as that is seen.

    Without operations that have no derivative.
    """
    try:
        _pass_tables(program, is_table)
    except _UsedOtherwise:
        return False
    return True


def _pass_tables(program: ClosedJaxpr, is_table: Sequence[bool]) -> list[bool]:
    """Which results are tables."""
    return jaxprs.walk(program, is_table, _pass_by_equation, literal=lambda _: False)


def _pass_by_equation(eqn: JaxprEqn, is_table: list[bool]) -> list[bool]:
    none = [False] * len(eqn.outvars)
    if not any(is_table) or eqn.primitive is jax_primitives.stop_gradient_p:
        return none
    if not any(jnp.issubdtype(jaxprs.type_of(v).dtype, jnp.inexact) for v in eqn.outvars):
        return none
    if eqn.primitive in jaxprs.IDENTITIES or eqn.primitive.name in _OF_OTHER_TYPE:
        return is_table
    if eqn.primitive is jax_primitives.scan_p:
        return _pass_by_scan(eqn, is_table)
    if eqn.primitive is jax_primitives.cond_p:
        passed = [bool(x) for x in jaxprs.unchanged_by_cond(eqn, is_table)]
        for branch in _jax_internals.branches(eqn):
            _check_passed(_pass_tables(branch, is_table[1:]), passed)
        return passed
    if eqn.primitive.name in row_rules.CALLS:
        return _pass_tables(_jax_internals.body(eqn), is_table)
    if is_table[0] and not any(is_table[1:]) and access_of(eqn) and not _slices_rows(eqn):
        return none
    raise _UsedOtherwise


_OF_OTHER_TYPE = {"pvary", *jaxprs.RESHARDS}


def _pass_by_scan(eqn: JaxprEqn, is_table: list[bool]) -> list[bool]:
    num_consts, num_carry = _jax_internals.scan_counts(eqn)
    passed = [bool(x) for x in jaxprs.unchanged_by_scan(eqn, is_table)]
    if any(is_table[num_consts + num_carry :]):
        raise _UsedOtherwise
    if is_table[num_consts : num_consts + num_carry] != passed[:num_carry]:
        raise _UsedOtherwise
    _check_passed(_pass_tables(_jax_internals.body(eqn), is_table), passed)
    return passed


def _check_passed(results: list[bool], passed: list[bool]) -> None:
    if results != passed:  # a table is returned, and not in the place that it came from
        raise _UsedOtherwise


# --- reading rows first ---


def evaluate(program: ClosedJaxpr, inputs: Sequence) -> list[jax.Array]:
    """The results of a program; each of `inputs` is an array or delayed."""
    memo: dict = {}
    return [dense(x, memo) for x in _evaluate(program, inputs)]


def _evaluate(program: ClosedJaxpr, inputs: Sequence, outer: JaxprEqn | None = None) -> list:
    """The results of a program; each of `inputs` and results is an array or delayed.

    `outer`: the call that the program is the body of, if it is evaluated in place of that.
    """
    memo: dict = {}  # what was computed whole

    def step(eqn: JaxprEqn, inputs: list) -> list:
        eqn = eqn if outer is None else _jax_internals.placed(eqn, outer)
        if eqn.primitive in _CALLS and (results := _inlined(eqn, inputs)) is not None:
            return results
        if _ends_parts(eqn, inputs):
            inputs = [dense(x, memo) if is_part(x) else x for x in inputs]
        if any(map(has_table, inputs)):
            if eqn.primitive is extents.guard_p:  # the identity, of a size that a `vmap` may make
                return inputs
            body = _BODIES.get(eqn.primitive)
            if body is not None:
                tables_only = [x if has_table(x) else dense(x, memo) for x in inputs]
                with _jax_internals.at_place_of(eqn):
                    return body(eqn, tables_only, memo)
            if _slices_rows(eqn) and has_table(inputs[0]):
                part = Part(eqn, 0, inputs)
                if _has_rows(part):
                    return [part]
            if eqn.primitive.name in jaxprs.RESHARDS and isinstance(inputs[0], Table):
                return list(map(Table, jaxprs.bind(eqn, [inputs[0].array])))
            if (rows := _looked_up(eqn, inputs, memo)) is not None:
                return [rows]
            nodes = _nodes(eqn, inputs)
            if _can_wait(eqn) and any(map(_has_rows, nodes)):
                return nodes
        elif _repeats(eqn, inputs):
            return _nodes(eqn, inputs)
        return _bind_whole(eqn, inputs, memo)

    return jaxprs.walk(program, inputs, step)


def _bind_whole(eqn: JaxprEqn, inputs: list, memo: dict) -> list:
    """The results of an equation that takes all rows."""
    whole_uses.note(eqn, inputs)
    with _jax_internals.at_place_of(eqn):
        inputs = [
            whole_uses.whole(dense(x, memo)) if has_table(x) and not is_part(x) else dense(x, memo)
            for x in inputs
        ]
    return jaxprs.bind(eqn, inputs)


def _nodes(eqn: JaxprEqn, inputs: list) -> list[Node]:
    if eqn.primitive.name == "reshape" and (before := _reshaped(inputs[0])) is not None:
        # `t.reshape(-1).reshape(t.shape)` is one reshape.
        eqn, inputs = eqn.replace(invars=before.eqn.invars), before.inputs
    return [Node(eqn, n, inputs) for n in range(len(eqn.outvars))]


def _reshaped(x: Any) -> Node | None:
    return x if isinstance(x, Node) and x.eqn.primitive.name == "reshape" else None


def _slices_rows(eqn: JaxprEqn) -> bool:
    """Whether an equation takes several rows that stand together, or by a stride."""
    access = access_of(eqn) if eqn.primitive in _SLICES else None
    return access is not None and access.sizes[0] > 1


_SLICES = {jax_primitives.slice_p, jax_primitives.dynamic_slice_p}


@jax.tree_util.register_pytree_node_class
class Part(Node):
    """Rows that a slice takes: if no lookup follows, they are all looked up."""

    is_part = True

    def dense(self, memo):
        key = id(self.eqn), id(self)
        if key not in memo:
            rows = _looked_up(self.eqn, self.inputs, memo)
            memo[key] = super().dense(memo) if rows is None else rows, self
        return memo[key][0]


def _ends_parts(eqn: JaxprEqn, inputs: list) -> bool:
    """Whether an equation takes its operands that are parts whole.

    It does unless it moves elements, or computes with repeated numbers: what a program makes of a
    part beyond that, as layers of a network do of the first rows of a table of positions, is not
    to be computed again for each row of it that is read.
    """
    if not any(map(is_part, inputs)):
        return False
    name = eqn.primitive.name
    if name in row_rules.ELEMENTWISE:
        return not all(is_delayed(x) or np.size(x) == 1 for x in inputs)
    return name not in _MOVES and window_of(eqn) is None


_MOVES = row_rules.MOVES | row_rules.EACH_BY_ITSELF | {"concatenate", "pad", "stack", "tile"}


def _has_rows(x: Node) -> bool:
    """Whether there are positions at which a delayed array can be read."""
    axes = range(len(x.shape))
    return any(can_read(x, frozenset(some)) for some in [axes, *([axis] for axis in axes)])


def _can_wait(eqn: JaxprEqn) -> bool:
    return rule_of(eqn) is not None


def _repeats(eqn: JaxprEqn, inputs: list) -> bool:
    """Whether an equation repeats numbers, or computes with numbers that are repeated alone."""
    name = eqn.primitive.name
    sizes = [np.size(x) for x in inputs if not is_delayed(x)]
    if name == "iota" or (name == "broadcast_in_dim" and len(inputs) == 1):
        return is_delayed(inputs[0]) if not sizes and inputs else _size(eqn) > max([1, *sizes])
    if not any(map(is_delayed, inputs)) or name not in _KEEPS_REPEATING:
        return False
    return all(size == 1 or size < _size(eqn) for size in sizes)


_KEEPS_REPEATING = row_rules.ELEMENTWISE | {"reshape", "squeeze", "transpose", "stop_gradient"}


def _size(eqn: JaxprEqn) -> int:
    return jaxprs.type_of(eqn.outvars[0]).size


def _looked_up(eqn: JaxprEqn, inputs: list, memo: dict) -> jax.Array | None:
    """The rows that an equation reads of its first operand; None if it reads no rows."""
    access = window_of(eqn)
    if isinstance(inputs[0], Table) and access is not None and access.chooses_rows:
        others = [dense(x, memo) for x in inputs[1:]]
        return jaxprs.bind(eqn, [inputs[0].array, *others])[0]
    with explicit_axes.auto_around(jaxprs.mesh_of(eqn)):
        rows = _read(eqn, access, inputs, memo)
    return None if rows is None else explicit_axes.brought(rows, jaxprs.spec_of(eqn))


def _read(eqn: JaxprEqn, access: Access | None, inputs: list, memo: dict) -> jax.Array | None:
    if eqn.primitive is jax_primitives.dot_general_p:
        return one_hot_products.rows(eqn, inputs)
    if access is None or not has_table(inputs[0]):
        return None
    table, *others = inputs
    others = [explicit_axes.brought(dense(x, memo)) for x in others]
    if access.sharding is not None:  # rows of other devices, which have parts of their own
        return None
    fill = None
    if access.mode == lax.GatherScatterMode.FILL_OR_DROP:
        fill = _fill_value(eqn)
    with _jax_internals.at_place_of(eqn):
        return look_up(table, access, starts_of(eqn, others), fill)


def _fill_value(eqn: JaxprEqn) -> Any:
    """The number for an index out of bounds, by default that of `lax.gather`."""
    if not is_gather(eqn):  # a window among zeros
        return 0
    *_, fill = gather_params(eqn)
    dtype = jaxprs.type_of(eqn.outvars[0]).dtype
    if fill is not None:
        return fill
    if jnp.issubdtype(dtype, jnp.inexact):
        return np.nan
    if dtype == np.bool_:
        return True
    return jnp.iinfo(dtype).min if jnp.issubdtype(dtype, np.signedinteger) else jnp.iinfo(dtype).max


# --- bodies ---


_CALLS = {jax_primitives.jit_p, jax_primitives.closed_call_p}
_SHORT = 16


def _is_short(eqn: JaxprEqn) -> bool:
    """Whether a call has few equations, all of which can wait, as JAX's `where` and `pad`."""
    eqns = _jax_internals.body(eqn).jaxpr.eqns
    return len(eqns) <= _SHORT and all(
        _is_short(inner) if inner.primitive in _CALLS else _can_wait(inner) for inner in eqns
    )


def _inlined(eqn: JaxprEqn, inputs: list) -> list | None:
    """The results of a short call, or None."""
    if _jax_internals.says_how_to_share(eqn) or not _is_short(eqn):
        return None
    return _evaluate(_jax_internals.body(eqn), inputs, outer=eqn)


class _Body:
    """A program of delayed arrays as a function of the arrays they are made of, and its results.

    Arrays that go in and come out, as parts of delayed ones, are not results of the function.
    """

    def __init__(self, program: ClosedJaxpr, structure: Any):
        self.program, self.structure = program, structure
        self.places: list[int | None] = []
        self.result_structure: Any = None
        self.uses: list[whole_uses.Use] = []

    def function(self, *leaves):
        self.uses.clear()
        with whole_uses.noted(self.uses):
            results = _evaluate(self.program, self.structure.unflatten(leaves))
        made, self.result_structure = jax.tree.flatten(results)
        places = {id(x): n for n, x in enumerate(leaves)}
        self.places = [places.get(id(x)) for x in made]
        return [x for x in made if id(x) not in places]

    def results(self, function: Callable, leaves: list) -> list:
        made = iter(function(*leaves))
        return self.result_structure.unflatten(
            [next(made) if place is None else leaves[place] for place in self.places]
        )


@functools.lru_cache(maxsize=64)
def _jitted(program: ClosedJaxpr, structure: Any) -> tuple[Callable, _Body]:
    """Kept, so that a loss that is called again outside of `jit` is not compiled again."""
    body = _Body(program, structure)
    return jax.jit(body.function), body


def _jit(eqn: JaxprEqn, inputs: list, memo: dict) -> list:
    if _jax_internals.says_how_to_share(eqn):
        return _bind_whole(eqn, inputs, memo)
    leaves, structure = jax.tree.flatten(inputs)
    function, body = _jitted(_jax_internals.body(eqn), structure)
    results = body.results(function, leaves)
    whole_uses.note_again(body.uses)  # from when it was traced
    return results


def _checkpoint(eqn: JaxprEqn, inputs: list, memo: dict) -> list:
    checkpoint = functools.partial(
        jax.checkpoint,
        prevent_cse=_jax_internals.param(eqn, "prevent_cse"),
        policy=_jax_internals.param(eqn, "policy"),
    )
    leaves, structure = jax.tree.flatten(inputs)
    body = _Body(_jax_internals.body(eqn), structure)
    results = body.results(checkpoint(body.function), leaves)
    whole_uses.note_again(body.uses)
    return results


def _scan(eqn: JaxprEqn, inputs: list, memo: dict) -> list:
    """A table that is gone through row by row, or carried with a change, is computed whole."""
    num_consts, num_carry = _jax_internals.scan_counts(eqn)
    passed = jaxprs.unchanged_by_scan(eqn, inputs)
    carried = range(num_consts, num_consts + num_carry)
    whole = [x for n, x in enumerate(inputs) if n in carried and passed[n - num_consts] is None]
    whole_uses.note(eqn, whole)
    is_lost = [n in carried and passed[n - num_consts] is None for n in range(len(inputs))]
    inputs = [dense(x, memo) if lost else x for x, lost in zip(inputs, is_lost, strict=True)]
    while True:
        loops = {object(): n for n, x in enumerate(inputs) if has_table(x) and n >= carried.stop}
        try:
            return _scan_by_rounds(eqn, inputs, {n: loop for loop, n in loops.items()})
        except UsedWhole as used:
            (loop,) = used.args
            if loop not in loops:
                raise
        whole_uses.note(eqn, [inputs[loops[loop]]])
        inputs[loops[loop]] = dense(inputs[loops[loop]], memo)


def _scan_by_rounds(eqn: JaxprEqn, inputs: list, loops: dict[int, object]) -> list:
    num_consts, num_carry = _jax_internals.scan_counts(eqn)
    consts, rest = inputs[:num_consts], inputs[num_consts:]
    init, xs = rest[:num_carry], rest[num_carry:]
    length = _jax_internals.param(eqn, "length")

    def step(carry, number_and_xs):
        number, given = number_and_xs
        args = [*consts, *_put_back(init, carry)]
        for x, own in zip(xs, _put_back(xs, given), strict=True):
            args.append(Round(x, number, loops[len(args)]) if has_table(x) else own)
        memo: dict = {}
        results = _evaluate(_jax_internals.body(eqn), args)
        carry = [x for x, start in zip(results, init, strict=False) if not has_table(start)]
        whole_uses.note(eqn, [*carry, *results[num_carry:]])
        values = [dense(x, memo) for x in [*carry, *results[num_carry:]]]
        return values[: len(carry)], values[len(carry) :]

    carry, ys = lax.scan(
        step,
        _taken_out(init),
        (jnp.arange(length, dtype=jnp.int32), _taken_out(xs)),
        length=length,
        reverse=_jax_internals.param(eqn, "reverse"),
        unroll=_jax_internals.param(eqn, "unroll"),
    )
    return [*_put_back(init, carry), *ys]


def _taken_out(values: Sequence) -> list:
    """The arrays among `values`, without the delayed ones of tables."""
    return [x for x in values if not has_table(x)]


def _put_back(like: Sequence, values: Sequence) -> list:
    """Undoes `_taken_out(like)`."""
    rest = iter(values)
    return [x if has_table(x) else next(rest) for x in like]


def _cond(eqn: JaxprEqn, inputs: list, memo: dict) -> list:
    """A switch whose cases read rows. A result that is delayed in one is a choice between them."""
    index, *operands = inputs
    index = dense(index, memo)
    programs = _jax_internals.branches(eqn)
    passed = [x if has_table(x) else None for x in jaxprs.unchanged_by_cond(eqn, inputs)]
    given = _taken_out(operands)

    def results_of(number: int, values: Sequence) -> list:
        results = _evaluate(programs[number], _put_back(operands, values))
        return [x for x, on in zip(results, passed, strict=True) if on is None]

    numbers = range(len(programs))
    waits = _any_of_each([_abstractly(lambda *v, n=n: results_of(n, v), given) for n in numbers])
    outside = {id(x) for x in jax.tree.leaves(_delayed_of(operands))}
    structures: dict[int, Any] = {}
    leaves: dict[int, list] = {}

    def parts_of(number: int, values: Sequence) -> tuple[list, list]:
        """What is computed, and the arrays that the delayed results are made of."""
        own: dict = {}
        results = list(zip(results_of(number, values), waits, strict=True))
        delayed, structures[number] = jax.tree.flatten([x for x, wait in results if wait])
        leaves[number] = [x if id(x) in outside else None for x in delayed]
        made = [x for x in delayed if id(x) not in outside]
        return [dense(x, own) for x, wait in results if not wait], made

    types = [jax.eval_shape(lambda *v, n=n: parts_of(n, v)[1], *given) for n in numbers]

    def take(number: int, *values):
        computed, made = parts_of(number, values)
        absent = [[zeros_at(x, {}) for x in of_branch] for of_branch in types]
        absent[number] = made
        return computed, absent

    cases = [functools.partial(take, n) for n in numbers]
    computed, made = jaxprs.switch(eqn, lambda: index, cases, *given)
    of_branches = [
        structures[n].unflatten([next(arrays) if x is None else x for x in leaves[n]])
        for n, arrays in enumerate(map(iter, made))
    ]
    computed = iter(computed)
    choices = (Choice(index, list(arrays)) for arrays in zip(*of_branches, strict=True))
    rest = iter([next(choices) if wait else next(computed) for wait in waits])
    return [next(rest) if on is None else on for on in passed]


def _abstractly(results_of: Callable, values: list) -> list[bool]:
    """Which results are delayed."""
    flags: list[bool] = []

    def run(*values):
        flags[:] = map(has_table, results_of(*values))

    jax.eval_shape(run, *values)
    return flags


def _any_of_each(flags: list[list[bool]]) -> list[bool]:
    return [any(of_result) for of_result in zip(*flags, strict=True)]


def _delayed_of(values: Sequence) -> list:
    return [x for x in values if has_table(x)]


_BODIES: dict[Any, Callable] = {
    jax_primitives.jit_p: _jit,
    jax_primitives.closed_call_p: lambda eqn, inputs, memo: _evaluate(
        _jax_internals.body(eqn), inputs
    ),
    jax_primitives.remat_p: _checkpoint,
    jax_primitives.scan_p: _scan,
    jax_primitives.cond_p: _cond,
}
delayed_rules.register()
delayed_calls.register(_evaluate)
