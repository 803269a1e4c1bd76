"""sparse_value_and_grad: gradients of table lookups as the rows that were looked up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from jaxops import _jax_internals, _symbolic
from jaxops._frames import without_frames
from jaxops._indexing import explicit_axes
from jaxops._jax_internals import ClosedJaxpr, jaxpr_as_fun
from jaxops._run import arguments
from jaxops._run.static_values import check_bool, is_scalar, static_int, static_ints
from jaxops._sparse import jaxprs
from jaxops._sparse.gradient import reads, walk
from jaxops._sparse.gradient.delayed import Table
from jaxops._sparse.slices.indexed_slices import IndexedSlices, TiedGradient, concatenate
from jaxops._sparse.slices.sums_and_norms import psum

_P = ParamSpec("_P")
_R = TypeVar("_R")

_OP = "sparse_value_and_grad"
# Modules have such leaves: activation functions, random keys, counts.
_PART = (
    "leaves without a gradient go into another argument of fun, or into its closure; "
    "eqx.partition and nnx.split part them from the parameters"
)


def sparse_value_and_grad(
    fun: Callable[_P, _R],
    *,
    tables: str | Sequence[str] | Callable[[str, Any], bool],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    tied: bool = False,
) -> Callable[_P, tuple[_R, Any]]:
    """Like `jax.value_and_grad`, with the gradient of each table as `IndexedSlices`.

    A lookup reads a few rows of a table, and the gradient of the others is 0. `jax.grad` makes
    these zeros, so that a step takes time with the size of the table. Here nothing of the table's
    size is made: each table's gradient holds the rows that were looked up.

    `fun` is an ordinary function. Lookups in it are `jaxops.gather`, `gather_nd`, `batch_gather`
    and `slice`, `jnp.take` and indexing, that choose along the table's first axis (and following
    ones, or with batch dimensions): any number of them, also under `jit`, `jax.checkpoint`,
    `vmap`, `lax.scan` and `cond`, and with rows passed to functions with derivatives of their own.
    The loss may compute with a table before, as in `jnp.tanh(table * scale)[indices]`, as long as
    rows of the result depend on few rows of the table: by element-wise functions and casts, within
    rows, and by what moves rows. The rows are then read first. Functions with derivatives of their
    own, such as `jax.nn.relu`, take rows that were looked up.

    Args:
        fun: function that returns a scalar of a real floating-point dtype, or with `has_aux` a pair
            of that and any pytree.
        tables: static; which leaves are tables: a key path such as `"embed"` or `"encoder/embed"`,
            a sequence of them, or a predicate of a key path and a leaf. The argument itself has
            the path `""`. With several `argnums` paths start with the place in them: `"0/embed"`.
        argnums: static; which positional argument, or arguments, to differentiate with respect to.
            All leaves have real floating-point dtypes; tables have rank 1 at least.
        has_aux: static bool; whether `fun` returns a pair.
        tied: static bool; whether tables may be used in other ways beside lookups, as a matrix
            that is also the output layer is. The gradient of such a table is a `TiedGradient`,
            with a dense part.

    Returns:
        A function of the arguments of `fun`, as `jax.value_and_grad` returns: it returns the value
        (with `has_aux` the value and the pytree) and the gradient: of the structure of the
        argument, or a tuple for several, with `IndexedSlices` for tables. Its indices come in the
        order of the lookups, repeated ones as often as looked up; count along more axes than one
        where a lookup chooses along more; and are the number of rows, with values of 0, where
        a lookup ignored an index.

    Raises:
        TypeError: wrong dtype or type of an argument; the value is not a scalar float.
        ValueError: a path that is not there; without `tied`, a table that is used in another way
            than by lookup, with the operation, where it stands, and what to write instead.

    An index out of bounds does what the lookup's `mode` says.

    Gradient: the result can be differentiated again.

    Example:
        >>> import jax, jax.numpy as jnp, jaxops
        >>> def loss(params, indices):
        ...     return jnp.sum(jaxops.gather(params["embed"], indices) @ params["w"])
        >>> params = {"embed": jnp.ones((1000, 2)), "w": jnp.ones(2)}
        >>> value, grads = jaxops.sparse_value_and_grad(loss, tables="embed")(params, [7, 3, 7])
        >>> grads["embed"]
        IndexedSlices(values=float32[3,2], indices=int32[3], dense_shape=(1000, 2))
        >>> grads["embed"].sum_duplicates().indices
        Array([7, 3], dtype=int32)
        >>> grads["w"]
        Array([3., 3.], dtype=float32)

    Source: https://www.tensorflow.org/api_docs/python/tf/GradientTape, whose gradient of `gather`
    is `tf.IndexedSlices`.
    """
    if not callable(fun):
        raise TypeError(f"{_OP}: fun must be callable; received {arguments.brief(fun)}")
    several = not is_scalar(argnums)
    numbers = _argnums(argnums) if several else (static_int(argnums, _OP, "argnums"),)
    _check_tables(tables)
    check_bool(has_aux, _OP, "has_aux")
    check_bool(tied, _OP, "tied")

    @without_frames
    def value_and_grad(*args: _P.args, **kwargs: _P.kwargs) -> Any:
        places = [_place(number, len(args)) for number in numbers]
        if len(set(places)) < len(places):
            raise ValueError(
                f"{_OP}: argnums must be different; received {arguments.brief(argnums)}"
            )
        differentiated = tuple(args[place] for place in places)
        params = differentiated if several else differentiated[0]
        paths, leaves, structure = _flatten(params)
        chosen = _choose(tables, paths, leaves)

        def of_leaves(*leaves):
            params = structure.unflatten(leaves)
            full = list(args)
            for place, arg in zip(places, params if several else (params,), strict=True):
                full[place] = arg
            return _check_result(fun(*full, **kwargs), has_aux)  # pyright: ignore[reportCallIssue]

        # The gradient of a table without elements has none either, whatever it is used for.
        sparse = [
            is_table and 0 not in leaf.shape for is_table, leaf in zip(chosen, leaves, strict=True)
        ]
        with explicit_axes.on_mesh_of(leaves):
            results, gradients = _gradients(of_leaves, has_aux, leaves, sparse, paths, tied)
        for n, leaf in enumerate(leaves):
            if chosen[n] and not sparse[n]:
                gradients[n] = _no_slices(leaf)
        return results, structure.unflatten(gradients)

    return value_and_grad


def _gradients(
    fun: Callable,
    has_aux: bool,
    leaves: Sequence[jax.Array],
    is_table: Sequence[bool],
    paths: Sequence[str],
    tied: bool,
) -> tuple[Any, list]:
    """The result of `fun`, and the gradient of each leaf."""
    others: list = []
    structure: Any = None

    def arrays_of(*leaves):
        nonlocal structure
        # A program returns arrays alone; `aux` may hold other leaves, such as strings.
        results, structure = jax.tree.flatten(fun(*leaves))
        others[:] = [None if isinstance(x, jax.Array) else x for x in results]
        return [x for x in results if isinstance(x, jax.Array)]

    try:
        program = jax.make_jaxpr(arrays_of)(*leaves)
    except Exception:  # `fun` is called once more below, where it raises for the user or decides
        program = None
    if program is None:
        # It decides by values in Python. Its derivative can be traced, and is linear, so that the
        # gradient of the derivative, at any point, is the gradient of `fun`.
        value, linear, *aux = jax.linearize(fun, *leaves, has_aux=has_aux)
        program = _jax_internals.drop_unused(jax.make_jaxpr(linear)(*leaves))
        _, gradients = _gradients_of_program(program, leaves, is_table, paths, tied)
        return ((value, *aux) if has_aux else value), gradients
    arrays, gradients = _gradients_of_program(program, leaves, is_table, paths, tied)
    rest = iter(arrays)
    return structure.unflatten([next(rest) if x is None else x for x in others]), gradients


def _gradients_of_program(
    program: ClosedJaxpr,
    leaves: Sequence[jax.Array],
    is_table: Sequence[bool],
    paths: Sequence[str],
    tied: bool,
) -> tuple[list, list]:
    """The results of a program, the first of which is the value, and the gradient of each leaf."""
    dense = [n for n, table in enumerate(is_table) if tied or not table]

    def walked(taps: Sequence | None, arrays: Sequence[jax.Array]) -> tuple[list, list]:
        given = dict(zip(dense, arrays, strict=True))
        inputs = [
            Table(n, leaf, given.get(n, leaf)) if table else given[n]
            for n, (leaf, table) in enumerate(zip(leaves, is_table, strict=True))
        ]
        noted = reads.Reads(tied, taps)
        return walk.evaluate(program, inputs, noted), noted.found

    arrays = [leaves[n] for n in dense]
    types = jaxprs.types_of(lambda *arrays: walked(None, arrays)[1], arrays)
    taps = reads.map_lookups(lambda lookup: lookup.tap(leaves), types)

    def loss(taps, arrays):
        (value, *others), found = walked(taps, arrays)
        return value, (others, found)

    value, linear, (others, found) = jax.linearize(loss, taps, arrays, has_aux=True)
    derivative = _jax_internals.drop_unused(jax.make_jaxpr(linear)(taps, arrays))
    lookups = jax.tree.leaves(found, is_leaf=reads.is_lookup)
    is_used = jaxprs.used_inputs(derivative)
    of_lookups, of_arrays = is_used[: len(lookups)], is_used[len(lookups) :]
    lookups = [lookup for lookup, used in zip(lookups, of_lookups, strict=True) if used]
    for lookup in lookups:
        if lookup.use is not None:
            raise ValueError(
                f"{_OP}: table {paths[lookup.table]!r} must be used by lookups of rows only; "
                f"{lookup.use.words()}"
            )
    # Without taps and tables that are not used, of which the cotangents would be arrays of zeros.
    is_wanted = of_lookups + [
        used or not is_table[n] for n, used in zip(dense, of_arrays, strict=True)
    ]
    cotangents = iter(_transposed(derivative, [*jax.tree.leaves(taps), *arrays], is_wanted, value))
    values = [next(cotangents) for _ in lookups]
    is_read = jaxprs.computed_from(program, is_table)
    done = [x for x, read in zip([value, *others], is_read, strict=True) if read]
    tables = [leaf for leaf, table in zip(leaves, is_table, strict=True) if table]
    if any(x is table for x in derivative.consts for table in tables):
        done += values  # the backward pass of a `jax.checkpoint` reads rows again
    slices = _slices(lookups, values, leaves, done)
    of_dense = {
        n: next(cotangents)
        for n, wanted in zip(dense, is_wanted[len(of_lookups) :], strict=True)
        if wanted
    }
    gradients: list = [of_dense.get(n) for n in range(len(leaves))]
    for n, leaf in enumerate(leaves):
        if is_table[n]:
            rows = concatenate(slices.get(n) or [_no_slices(leaf)])
            gradients[n] = TiedGradient(of_dense[n], rows) if n in of_dense else rows
    return [value, *others], gradients


def _transposed(
    derivative: ClosedJaxpr, tangents: Sequence, is_wanted: Sequence[bool], value: jax.Array
) -> list[jax.Array]:
    """The cotangents of the inputs that are wanted; the others are not used."""

    def of_wanted(*wanted):
        rest = iter(wanted)
        pairs = zip(tangents, is_wanted, strict=True)
        return jaxpr_as_fun(derivative)(*[next(rest) if is_so else x for x, is_so in pairs])

    wanted = [x for x, is_so in zip(tangents, is_wanted, strict=True) if is_so]
    if derivative.effects:  # of array references, which `linear_transpose` does not take
        return list(jax.vjp(of_wanted, *wanted)[1]([jnp.ones_like(value)]))
    return list(jax.linear_transpose(of_wanted, *wanted)([jnp.ones_like(value)]))


def _slices(
    lookups: Sequence[reads.Lookup],
    values: Sequence[jax.Array],
    leaves: Sequence[jax.Array],
    done: Sequence[jax.Array],
) -> dict[int, list[IndexedSlices]]:
    """The gradient of each lookup, by table; `done` is computed before it is applied."""
    slices: dict[int, list[IndexedSlices]] = {}
    zeros: dict[frozenset, jax.Array | None] = {}
    for lookup, of_rows in zip(lookups, values, strict=True):
        alike = _jax_internals.varying_axes(lookup.positions)  # which are to stay so
        if alike not in zeros:
            zeros[alike] = _zero_after(
                [x for x in done if not _jax_internals.varying_axes(x) - alike]
            )
        own = lookup.slices(of_rows, zeros[alike])
        # Under `shard_map`, of a table that is the same on all devices, by rows that differ.
        varying = _jax_internals.varying_axes(of_rows)
        spread_over = varying - _jax_internals.varying_axes(leaves[lookup.table])
        own = psum(own, sorted(spread_over)) if spread_over else own
        slices.setdefault(lookup.table, []).append(own)
    return slices


def _zero_after(results: Sequence[jax.Array]) -> jax.Array | None:
    """A 0 that XLA computes from all of `results`; None if they are not traced.

    A step that is given its tables (`donate_argnums`) updates them in place, if XLA knows that the
    loss reads a table before the update writes it. The gradient of `jnp.sum(table[i])` does not
    depend on the rows, so nothing says so, and XLA copies the table. With this 0 added to the
    positions of the gradient, the update waits for the results. An `optimization_barrier` does not
    help, as XLA for the CPU removes it before it decides on copies. XLA does not see that shifting
    by 31 and then by 1 leaves nothing.
    """
    if not any(isinstance(x, Tracer) for x in results):
        return None
    zero = jnp.zeros((), jnp.uint32)
    for x in results:
        x = jnp.real(x) if jnp.iscomplexobj(x) else x
        if jnp.issubdtype(x.dtype, jnp.floating):
            total = jnp.sum(lax.convert_element_type(x, jnp.float32))
            bits = lax.bitcast_convert_type(total, jnp.uint32)
        elif isinstance(x.dtype, np.dtype):
            bits = jnp.sum(lax.convert_element_type(x, jnp.uint32))
        else:  # random keys
            continue
        zero |= (bits >> np.uint32(31)) >> np.uint32(1)
    return zero


def _no_slices(table: jax.Array) -> IndexedSlices:
    values = jnp.zeros((0, *table.shape[1:]), table.dtype)
    return IndexedSlices(values, jnp.zeros(0, jnp.int32), table.shape)


def _argnums(argnums: Any) -> tuple[int, ...]:
    numbers = static_ints(argnums, _OP, "argnums")
    if not numbers:
        raise ValueError(
            f"{_OP}: argnums must name an argument; received {arguments.brief(argnums)}"
        )
    return numbers


def _place(number: int, num_args: int) -> int:
    if not -num_args <= number < num_args:
        raise ValueError(
            f"{_OP}: argnums must name positional arguments; received {number} with "
            f"{num_args} positional arguments"
        )
    return number % num_args


def _check_tables(tables: Any) -> None:
    is_path = isinstance(tables, str) or callable(tables)
    if is_path or (
        isinstance(tables, (list, tuple, set, frozenset))
        and all(isinstance(path, str) for path in tables)
    ):
        return
    raise TypeError(
        f"{_OP}: tables must be a key path such as 'encoder/embed', a sequence of them, or a "
        f"predicate (path, leaf) -> bool; received {arguments.brief(tables)}"
    )


def _flatten(params: Any) -> tuple[list[str], list[jax.Array], Any]:
    arguments.check_nesting(params, _OP, "the parameters")
    with_paths, structure = jax.tree_util.tree_flatten_with_path(params)
    paths = [jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in with_paths]
    leaves = []
    for path, (_, leaf) in zip(paths, with_paths, strict=True):
        try:
            array = arguments.to_operand(leaf, _OP, f"parameter {path!r}")
        except TypeError as error:
            raise TypeError(f"{error}; {_PART}") from None
        leaf = jnp.asarray(leaf) if isinstance(leaf, float) else array  # weakly typed, as in JAX
        if not jnp.issubdtype(leaf.dtype, jnp.floating):
            raise TypeError(
                f"{_OP}: parameter {path!r} must have a real floating-point dtype; received "
                f"{leaf.dtype}; {_PART}"
            )
        leaves.append(leaf)
    return paths, leaves, structure


def _choose(tables: Any, paths: list[str], leaves: list[jax.Array]) -> list[bool]:
    """Whether each leaf is a table."""
    if callable(tables):
        chosen = [bool(tables(path, leaf)) for path, leaf in zip(paths, leaves, strict=True)]
    else:
        wanted = {tables} if isinstance(tables, str) else set(tables)
        if missing := wanted - set(paths):
            raise ValueError(
                f"{_OP}: tables must name leaves of the parameters, which are "
                f"{', '.join(map(repr, paths)) or 'none'}; received {min(missing)!r}"
            )
        chosen = [path in wanted for path in paths]
    for path, leaf, is_table in zip(paths, leaves, chosen, strict=True):
        if is_table and leaf.ndim == 0:
            raise ValueError(f"{_OP}: table {path!r} must have rows; received a scalar")
        if is_table and not _symbolic.are_known(leaf.shape[:1]):
            raise ValueError(
                f"{_OP}: table {path!r} must have a known number of rows; received shape "
                f"{leaf.shape}. Export the step for this number; that of indices may be symbolic"
            )
    return chosen


def _check_result(result: Any, has_aux: bool) -> Any:
    value = result
    if has_aux:
        if not (isinstance(result, tuple) and len(result) == 2):
            raise TypeError(
                f"{_OP}: with has_aux fun must return a pair (value, aux); received "
                f"{arguments.brief(result)}"
            )
        value = result[0]
    try:
        if arguments.is_host_string(value):  # `asarray` may take it for the name of a dtype
            raise TypeError
        array = jnp.asarray(value)
    except (TypeError, ValueError):
        received = repr(value)
    else:
        if array.shape == () and jnp.issubdtype(array.dtype, jnp.floating):
            return (array, result[1]) if has_aux else array
        received = f"shape {array.shape} and dtype {array.dtype}"
    raise TypeError(
        f"{_OP}: fun must return a scalar of a real floating-point dtype; received {received}"
    )
