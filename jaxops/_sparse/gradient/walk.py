"""The walk over a traced loss, in which lookups read rows before the loss computes with them.

`evaluate` runs the program of a loss with a `Table` in place of each table (`delayed.py`), and
notes in a `Reads` (`reads.py`) which rows are looked up. An equation with a delayed operand is:

- one that copies a table or gives it another type: its result is a `Table` too;
- one that `delayed_rules.py` can read rows of: its result is delayed too;
- a slice of several rows: a `Part`, of which a lookup after it reads rows; else it is a lookup;
- a lookup: reads rows of a delayed array, and has a usual array as its result;
- one of jaxops that stands for few of JAX, such as a form of `lax.scatter_add`: these instead;
- a `jit`, `checkpoint`, `scan` or `cond`: `evaluate` goes on in its body (`_BODIES`);
- any other: the delayed arrays are computed whole, as the program says. If the derivative needs
  that, and the table is not tied, `value_and_grad.py` refuses it, in the words of `whole_uses.py`.

For `jnp.sum(jnp.tanh(table * scale)[words])`:

    equation                          result
    broadcast_in_dim scale            Node: numbers that repeat for each row
    mul table _                       Node(mul, [Table, Node])
    tanh _                            Node(tanh, [Node(mul, ...)])
    gather _ words                    an array: tanh(tapped(table[words], tap) * scale)
    reduce_sum _                      an array

Numbers that an equation repeats for each row, such as the scale of columns here, are delayed as
well, so that they are not repeated for all rows.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxops import _forms, _jax_internals, _symbolic
from jaxops._indexing import explicit_axes, masks, programs
from jaxops._jax_internals import ClosedJaxpr, JaxprEqn
from jaxops._run import extents
from jaxops._sparse import jaxprs, row_rules
from jaxops._sparse.gradient.access import (
    gather_params,
    is_gather,
    starts_of,
    window_of,
)
from jaxops._sparse.gradient.delayed import (
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
    zeros_at,
)
from jaxops._sparse.gradient.delayed_rules import rule_of
from jaxops._sparse.gradient.reads import Reads, map_lookups
from jaxops._sparse.gradient.whole_uses import Use
from jaxops._sparse.jaxprs import jax_primitives


def evaluate(program: ClosedJaxpr, inputs: Sequence, reads: Reads) -> list[jax.Array]:
    """The results of a program; each of `inputs` is an array or a `Table`."""
    results = _evaluate(program, inputs, reads)
    return [_whole(x.eqn if isinstance(x, Node) else None, x, reads) for x in results]


def _evaluate(
    program: ClosedJaxpr, inputs: Sequence, reads: Reads, outer: JaxprEqn | None = None
) -> list:
    """The results of a program; each of `inputs` and results is an array or delayed.

    `outer`: the call that the program is the body of, if it is evaluated in place of that.
    """

    def step(eqn: JaxprEqn, inputs: list) -> list:
        eqn = eqn if outer is None else _jax_internals.placed(eqn, outer)
        if (results := _inlined(eqn, inputs, reads)) is not None:
            return results
        if _ends_parts(eqn, inputs):
            inputs = [dense(x, reads) if is_part(x) else x for x in inputs]
        if any(map(has_table, inputs)):
            results = _of_tables(eqn, inputs, reads)
        else:
            results = _nodes(eqn, inputs) if _repeats(eqn, inputs) else None
        return _bind_whole(eqn, inputs, reads) if results is None else results

    return programs.walk(program, inputs, step)


def _of_tables(eqn: JaxprEqn, inputs: list, reads: Reads) -> list | None:
    """The results of an equation that takes arrays made of tables; None if it takes them whole."""
    if eqn.primitive is extents.guard_p:  # an identity, beside arguments that a `vmap` may batch
        return inputs[:1]
    if isinstance(inputs[0], Table) and _keeps_rows(eqn):
        return [inputs[0].map(lambda x: programs.bind(eqn, [x])[0])]
    body = _BODIES.get(eqn.primitive)
    if body is not None:
        tables_only = [x if has_table(x) else dense(x, reads) for x in inputs]
        with _jax_internals.at_place_of(eqn):
            return body(eqn, tables_only, reads)
    if _slices_rows(eqn) and has_table(inputs[0]):
        rule = rule_of(eqn)
        if rule is not None and _has_rows(part := Part(eqn, 0, inputs, rule)):
            return [part]
    if (rows := _looked_up(eqn, inputs, reads)) is not None:
        return [rows]
    nodes = _nodes(eqn, inputs)
    return nodes if any(map(_has_rows, nodes)) else None


def _keeps_rows(eqn: JaxprEqn) -> bool:
    """Whether an equation returns its operand, of the same dtype, be it on another mesh."""
    return eqn.primitive in jaxprs.IDENTITIES or eqn.primitive.name in ("pvary", "reshard")


def _whole(eqn: JaxprEqn | None, x: Any, reads: Reads) -> Any:
    """An array, delayed or not, itself, for `eqn`, which takes all of its rows."""
    if not has_table(x) or is_part(x):
        return dense(x, reads)
    return reads.whole(None if eqn is None else Use.of(eqn, x), x)


def _bind_whole(eqn: JaxprEqn, inputs: list, reads: Reads) -> list:
    """The results of an equation that takes all rows."""
    with _jax_internals.at_place_of(eqn):
        inputs = [_whole(eqn, x, reads) for x in inputs]
    return programs.bind(eqn, inputs)


def _nodes(eqn: JaxprEqn, inputs: list) -> list[Node]:
    """The delayed results of an equation; none if no rule reads them."""
    name = eqn.primitive.name
    if name == "reshape" and isinstance(x := inputs[0], Node) and x.eqn.primitive.name == name:
        # `t.reshape(-1).reshape(t.shape)` is one reshape.
        eqn, inputs = eqn.replace(invars=x.eqn.invars), x.inputs
    rule = rule_of(eqn)
    return [] if rule is None else [Node(eqn, n, inputs, rule) for n in range(len(eqn.outvars))]


def _slices_rows(eqn: JaxprEqn) -> bool:
    """Whether an equation takes several rows that stand together, or by a stride."""
    access = window_of(eqn) if eqn.primitive in _SLICES else None
    return access is not None and access.chooses_rows and access.sizes[0] > 1


_SLICES = {jax_primitives.slice_p, jax_primitives.dynamic_slice_p}


@jax.tree_util.register_pytree_node_class
class Part(Node):
    """Rows that a slice takes: if no lookup follows, they are all looked up."""

    is_part = True

    def dense(self, reads):
        if id(self) not in reads.parts:
            rows = _looked_up(self.eqn, self.inputs, reads)
            if rows is None:
                node = Node(self.eqn, 0, self.inputs, self.rule)
                rows = reads.whole(Use.of(self.eqn, self.inputs[0]), node)
            reads.parts[id(self)] = rows, self  # kept, as its identity is the key
        return reads.parts[id(self)][0]


def _ends_parts(eqn: JaxprEqn, inputs: list) -> bool:
    """Whether an equation needs all rows of the parts among its operands.

    It does unless it moves elements, or computes with repeated numbers alone. A program may compute
    much from a part, as the layers of a network do from the first rows of a table of positions.
    That must not be computed again for each row that is read.
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


def _repeats(eqn: JaxprEqn, inputs: list) -> bool:
    """Whether an equation repeats numbers, or computes with numbers that are repeated alone."""
    name = eqn.primitive.name
    spreads = name == "iota" or (name == "broadcast_in_dim" and len(inputs) == 1)
    if not spreads and not (name in _KEEPS_REPEATING and any(map(is_delayed, inputs))):
        return False
    sizes = [np.size(x) for x in inputs if not is_delayed(x)]
    if not _symbolic.are_known([_size(eqn), *sizes]):
        return False  # computed, as it may not be larger than what it repeats
    if spreads:
        return is_delayed(inputs[0]) if not sizes and inputs else _size(eqn) > max([1, *sizes])
    return all(size == 1 or size < _size(eqn) for size in sizes)


_KEEPS_REPEATING = row_rules.ELEMENTWISE | {"reshape", "squeeze", "transpose", "stop_gradient"}


def _size(eqn: JaxprEqn) -> int:
    return jaxprs.type_of(eqn.outvars[0]).size


def _looked_up(eqn: JaxprEqn, inputs: list, reads: Reads) -> jax.Array | None:
    """The rows that an equation reads of its first operand; None if it reads no rows."""
    access = window_of(eqn)
    if access is None or not has_table(inputs[0]):
        return None
    if isinstance(inputs[0], Table) and access.chooses_rows:
        return reads.rows(eqn, access, inputs[0], [dense(x, reads) for x in inputs[1:]])
    if access.sharding is not None:  # rows of other devices, which have parts of their own
        return None
    table, *others = inputs
    with explicit_axes.auto_around(programs.mesh_of(eqn)):
        others = [explicit_axes.brought(dense(x, reads)) for x in others]
        fill = _fill_value(eqn) if access.mode == lax.GatherScatterMode.FILL_OR_DROP else None
        with _jax_internals.at_place_of(eqn):
            rows = look_up(table, access, starts_of(eqn, others), fill, reads)
    return None if rows is None else explicit_axes.brought(rows, jaxprs.spec_of(eqn))


def _fill_value(eqn: JaxprEqn) -> Any:
    """The number for an index out of bounds, by default that of `lax.gather`."""
    if not is_gather(eqn):  # a window among zeros
        return 0
    *_, fill = gather_params(eqn)
    if fill is not None:
        return fill
    return jnp.zeros(1, jaxprs.type_of(eqn.outvars[0]).dtype).at[1].get(mode="fill")


# --- bodies ---


_CALLS = {jax_primitives.jit_p, jax_primitives.closed_call_p}
_SHORT = 16
# Their functions have custom derivatives that are those of JAX, computed in another way.
_AS_JAX = [
    os.path.join("jaxops", "_ops", "copies.py"),
    os.path.join("jaxops", "_indexing", "replacing.py"),
]


def _is_short(program: ClosedJaxpr) -> bool:
    """Whether a program has few equations, all of which can wait, as JAX's `where` and `pad`."""

    def can_wait(eqn: JaxprEqn) -> bool:
        if rule_of(eqn) is not None:
            return True
        is_call = eqn.primitive in _CALLS
        body = _jax_internals.body(eqn) if is_call else _in_place_of(eqn)
        return body is not None and _is_short(body)

    return len(program.jaxpr.eqns) <= _SHORT and all(map(can_wait, program.jaxpr.eqns))


def _inlined(eqn: JaxprEqn, inputs: list, reads: Reads) -> list | None:
    """The results of a short call, or of what an equation of jaxops stands for; or None."""
    if eqn.primitive in _CALLS:
        program = None if _jax_internals.says_how_to_share(eqn) else _jax_internals.body(eqn)
    else:
        program = _in_place_of(eqn) if any(map(has_table, inputs)) else None
    if program is None or not _is_short(program):
        return None
    return _evaluate(program, inputs, reads, outer=eqn)


def _in_place_of(eqn: JaxprEqn) -> ClosedJaxpr | None:
    """The program of JAX's equations for one of jaxops: a form, a mask, a custom derivative."""
    if eqn.primitive.name == "custom_jvp_call":
        program = _jax_internals.body(eqn)
        return program if _jax_internals.is_of_source(program, *_AS_JAX) else None
    reference = _forms.reference_of(eqn.primitive) or masks.reference_of(eqn.primitive)
    params = _jax_internals.params_of(eqn)
    if reference is None or is_gather(eqn) or "maps" in params:
        return None
    with _jax_internals.at_place_of(eqn):
        types = map(jaxprs.type_of, eqn.invars)
        return jax.make_jaxpr(functools.partial(reference, **params))(*types)


class _Body:
    """A program of delayed arrays as a function of the arrays they are made of, and its results.

    Arrays that go in and come out, as parts of delayed ones, are not results of the function.
    """

    def __init__(self, program: ClosedJaxpr, structure: Any, is_tied: bool):
        self.program, self.structure, self.is_tied = program, structure, is_tied
        self.places: list[int | None] = []
        self.result_structure: Any = None

    def function(self, leaves: list, taps: Sequence | None) -> tuple[list, list]:
        reads = Reads(self.is_tied, taps)
        results = _evaluate(self.program, self.structure.unflatten(leaves), reads)
        made, self.result_structure = jax.tree.flatten(results)
        places = {id(x): n for n, x in enumerate(leaves)}
        self.places = [places.get(id(x)) for x in made]
        return [x for x in made if id(x) not in places], reads.found

    def results(self, function: Callable, leaves: list, eqn: JaxprEqn, reads: Reads) -> list:
        made, found = function(leaves, reads.next_taps())
        reads.add(found, eqn)
        made = iter(made)
        return self.result_structure.unflatten(
            [next(made) if place is None else leaves[place] for place in self.places]
        )


@functools.lru_cache(maxsize=64)
def _jitted(program: ClosedJaxpr, structure: Any, is_tied: bool) -> tuple[Callable, _Body]:
    """Kept, so that a loss that is called again outside of `jit` is not compiled again."""
    body = _Body(program, structure, is_tied)
    return jax.jit(body.function), body


def _jit(eqn: JaxprEqn, inputs: list, reads: Reads) -> list:
    if _jax_internals.says_how_to_share(eqn):
        return _bind_whole(eqn, inputs, reads)
    leaves, structure = jax.tree.flatten(inputs)
    function, body = _jitted(_jax_internals.body(eqn), structure, reads.is_tied)
    return body.results(function, leaves, eqn, reads)


def _checkpoint(eqn: JaxprEqn, inputs: list, reads: Reads) -> list:
    leaves, structure = jax.tree.flatten(inputs)
    body = _Body(_jax_internals.body(eqn), structure, reads.is_tied)
    function = jax.checkpoint(
        body.function,
        prevent_cse=_jax_internals.prevents_cse(eqn),
        policy=_jax_internals.param(eqn, "policy"),
    )
    return body.results(function, leaves, eqn, reads)


def _scan(eqn: JaxprEqn, inputs: list, reads: Reads) -> list:
    """A table that is gone through row by row, or carried with a change, is computed whole."""
    num_consts, num_carry = _jax_internals.scan_counts(eqn)
    passed = jaxprs.unchanged_by_scan(eqn, inputs)
    carried = range(num_consts, num_consts + num_carry)
    is_lost = [n in carried and passed[n - num_consts] is None for n in range(len(inputs))]
    inputs = [_whole(eqn, x, reads) if lost else x for x, lost in zip(inputs, is_lost, strict=True)]
    while loops := {n: object() for n in range(carried.stop, len(inputs)) if has_table(inputs[n])}:
        try:  # on trial, as a read of a round that then fails must leave nothing in `reads`
            trial = functools.partial(_scan_by_rounds, eqn, inputs, loops)
            jax.eval_shape(lambda: trial(Reads(reads.is_tied)) and None)  # noqa: B023
            break
        except UsedWhole as used:
            lost = [n for n, loop in loops.items() if loop in used.args]
            if not lost:
                raise
        inputs[lost[0]] = _whole(eqn, inputs[lost[0]], reads)
    return _scan_by_rounds(eqn, inputs, loops, reads)


def _scan_by_rounds(eqn: JaxprEqn, inputs: list, loops: dict[int, object], reads: Reads) -> list:
    num_consts, num_carry = _jax_internals.scan_counts(eqn)
    consts, rest = inputs[:num_consts], inputs[num_consts:]
    init, xs = rest[:num_carry], rest[num_carry:]
    length = _jax_internals.param(eqn, "length")

    def step(carry, of_round):
        number, given, taps = of_round
        own = Reads(reads.is_tied, taps)
        args = [*consts, *_put_back(init, carry)]
        for x, array in zip(xs, _put_back(xs, given), strict=True):
            args.append(Round(x, number, loops[len(args)]) if has_table(x) else array)
        results = _evaluate(_jax_internals.body(eqn), args, own)
        carry = [x for x, start in zip(results, init, strict=False) if not has_table(start)]
        values = [_whole(eqn, x, own) for x in [*carry, *results[num_carry:]]]
        return values[: len(carry)], (values[len(carry) :], own.found)

    carry, (ys, found) = lax.scan(
        step,
        _taken_out(init),
        (jnp.arange(length, dtype=jnp.int32), _taken_out(xs), reads.next_taps()),
        length=length,
        reverse=_jax_internals.param(eqn, "reverse"),
        unroll=_jax_internals.param(eqn, "unroll"),
    )
    reads.add(found, eqn)
    return [*_put_back(init, carry), *ys]


def _taken_out(values: Sequence) -> list:
    """The arrays among `values`, without the delayed ones of tables."""
    return [x for x in values if not has_table(x)]


def _put_back(like: Sequence, values: Sequence) -> list:
    """Undoes `_taken_out(like)`."""
    rest = iter(values)
    return [x if has_table(x) else next(rest) for x in like]


def _cond(eqn: JaxprEqn, inputs: list, reads: Reads) -> list:
    """A switch whose cases read rows. A result that is delayed in one is a choice between them."""
    index, *operands = inputs
    index = dense(index, reads)
    programs = _jax_internals.branches(eqn)
    passed = [x if has_table(x) else None for x in jaxprs.unchanged_by_cond(eqn, inputs)]
    given = _taken_out(operands)
    taps = reads.next_taps()

    def results_of(number: int, values: Sequence) -> tuple[list, Reads]:
        own = Reads(reads.is_tied, None if taps is None else taps[number])
        results = _evaluate(programs[number], _put_back(operands, values), own)
        return [x for x, on in zip(results, passed, strict=True) if on is None], own

    numbers = range(len(programs))
    made_of = [jax.eval_shape(lambda *v, n=n: results_of(n, v)[0], *given) for n in numbers]
    waits = [any(map(has_table, of_branches)) for of_branches in zip(*made_of, strict=True)]
    outside = {id(x) for x in jax.tree.leaves([x for x in operands if has_table(x)])}
    structures: dict[int, Any] = {}
    leaves: dict[int, list] = {}

    def parts_of(number: int, values: Sequence) -> tuple[list, list, list]:
        """Arrays of the computed results and of those that wait, and the reads of the branch."""
        results, own = results_of(number, values)
        results = list(zip(results, waits, strict=True))
        delayed, structures[number] = jax.tree.flatten([x for x, wait in results if wait])
        leaves[number] = [x if id(x) in outside else None for x in delayed]
        made = [x for x in delayed if id(x) not in outside]
        return [dense(x, own) for x, wait in results if not wait], made, own.found

    types = [jaxprs.types_of(lambda *v, n=n: parts_of(n, v)[1:], given) for n in numbers]

    def take(number: int, *values):
        # `lax.switch` wants one type of result, so every case returns what all branches make.
        computed, made, found = parts_of(number, values)
        absent = [list(map(_absent, of_branch)) for of_branch, _ in types]
        nowhere = [map_lookups(lambda lookup: lookup.nowhere(), found) for _, found in types]
        absent[number], nowhere[number] = made, found
        return computed, absent, nowhere

    cases = [functools.partial(take, n) for n in numbers]
    computed, made, found = jaxprs.switch(eqn, index, cases, *given)
    reads.add(found, eqn)
    of_branches = [
        structures[n].unflatten([next(arrays) if x is None else x for x in leaves[n]])
        for n, arrays in enumerate(map(iter, made))
    ]
    computed = iter(computed)
    choices = (Choice(index, list(arrays)) for arrays in zip(*of_branches, strict=True))
    rest = iter([next(choices) if wait else next(computed) for wait in waits])
    return [next(rest) if on is None else on for on in passed]


def _absent(aval: Any) -> jax.Array:
    """Zeros in place of an array of another branch, of the same type."""
    x = zeros_at(aval, {})
    return jax.reshard(x, aval.sharding) if aval.sharding.mesh.explicit_axes else x


_BODIES: dict[Any, Callable] = {
    jax_primitives.jit_p: _jit,
    jax_primitives.closed_call_p: lambda eqn, inputs, reads: _evaluate(
        _jax_internals.body(eqn), inputs, reads
    ),
    jax_primitives.remat_p: _checkpoint,
    jax_primitives.scan_p: _scan,
    jax_primitives.cond_p: _cond,
}
