"""sparse_value_and_grad: gradients of table lookups as the rows that were looked up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
from jax.extend.core import JaxprEqn

from jaxops import _jax_internals
from jaxops._frames import without_frames
from jaxops._indexing import explicit_axes
from jaxops._run import arguments
from jaxops._sparse import linear_program, rows_first, whole_uses
from jaxops._sparse.gradients import psum
from jaxops._sparse.indexed_slices import IndexedSlices, TiedGradient, concatenate
from jaxops._sparse.lookups import is_lookup

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
    rows, by what moves rows, and by one-hot matrices. The rows are then read first.

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
        NotImplementedError: inside `jax.checkpoint`, indices of a lookup that come out of a
            `while_loop` which also computes what is differentiated.

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
    several = not arguments.is_scalar(argnums)
    one = () if several else (arguments.static_int(argnums, _OP, "argnums"),)
    numbers = one or _argnums(argnums)
    _check_tables(tables)
    arguments.check_bool(has_aux, _OP, "has_aux")
    arguments.check_bool(tied, _OP, "tied")

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
        empty = [
            is_table and 0 in leaf.shape for is_table, leaf in zip(chosen, leaves, strict=True)
        ]
        sparse = [is_table and not none for is_table, none in zip(chosen, empty, strict=True)]
        uses: list = []
        with explicit_axes.on_mesh_of(leaves):
            with_rows_first = rows_first.transform(of_leaves, leaves, sparse, uses)
            value, linear, *aux = jax.linearize(with_rows_first, *leaves, has_aux=has_aux)
            program = _jax_internals.drop_unused(jax.make_jaxpr(linear)(*leaves))
            gradients = _transpose(program, value, leaves, sparse, paths, tied, uses)
        for n, leaf in enumerate(leaves):
            gradients[n] = _no_slices(leaf) if empty[n] else gradients[n]
        return ((value, *aux) if has_aux else value), structure.unflatten(gradients)

    return value_and_grad


def _transpose(program, value, leaves, chosen, paths, tied: bool, uses: list) -> list:
    """The gradient of each leaf, from the derivative as a linear program."""
    used_otherwise: set[int] = set()

    def refuse(eqn: JaxprEqn, table: linear_program.Table) -> None:
        used_otherwise.add(table.number)
        if not tied:
            raise ValueError(
                f"{_OP}: table {paths[table.number]!r} must be used by lookups of rows only; "
                f"{whole_uses.words(eqn, uses)}"
            )

    numbers = [n if is_table else None for n, is_table in enumerate(chosen)]
    lookups = linear_program.find_lookups(program, numbers, refuse)
    is_dense = [n in used_otherwise or not is_table for n, is_table in enumerate(chosen)]

    def linear(rows, dense):
        dense = iter(dense)
        tangents = [next(dense) if is_dense[n] else None for n in range(len(leaves))]
        inputs = [
            linear_program.Table(n) if is_table else tangents[n]
            for n, is_table in enumerate(chosen)
        ]
        tables: dict[int, Any] = {n: tangents[n] for n in used_otherwise}
        (result,) = linear_program.evaluate(program, inputs, rows, tables)
        return result

    rows = jax.tree.map(lambda look: look.rows_like(leaves), lookups, is_leaf=is_lookup)
    dense = [leaf for leaf, is_dense in zip(leaves, is_dense, strict=True) if is_dense]
    rows, dense = jax.linear_transpose(linear, rows, dense)(jnp.ones_like(value))

    slices: dict[int, list[IndexedSlices]] = {}
    for lookup, values in zip(
        jax.tree.leaves(lookups, is_leaf=is_lookup), jax.tree.leaves(rows), strict=True
    ):
        own = lookup.slices(values)
        if lookup.spread_over:
            own = psum(own, sorted(lookup.spread_over))
        slices.setdefault(lookup.table, []).append(own)
    dense = iter(dense)
    gradients = []
    for n, leaf in enumerate(leaves):
        gradient = next(dense) if is_dense[n] else None
        if chosen[n]:
            indexed = concatenate(slices.get(n) or [_no_slices(leaf)])
            gradient = indexed if gradient is None else TiedGradient(gradient, indexed)
        gradients.append(gradient)
    return gradients


def _no_slices(table: jax.Array) -> IndexedSlices:
    values = jnp.zeros((0, *table.shape[1:]), table.dtype)
    return IndexedSlices(values, jnp.zeros(0, jnp.int32), table.shape)


def _argnums(argnums: Any) -> tuple[int, ...]:
    numbers = arguments.static_ints(argnums, _OP, "argnums")
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
    """Which of the leaves are tables."""
    if callable(tables):
        chosen = [bool(tables(path, leaf)) for path, leaf in zip(paths, leaves, strict=True)]
    else:
        wanted = {tables} if isinstance(tables, str) else set(tables)
        if missing := wanted - set(paths):
            raise ValueError(
                f"{_OP}: tables must name leaves of the parameters, which are "
                f"{', '.join(map(repr, paths))}; received {min(missing)!r}"
            )
        chosen = [path in wanted for path in paths]
    for path, leaf, is_table in zip(paths, leaves, chosen, strict=True):
        if is_table and leaf.ndim == 0:
            raise ValueError(f"{_OP}: table {path!r} must have rows; received a scalar")
    return chosen


def _check_result(result: Any, has_aux: bool) -> Any:
    value = result
    if has_aux:
        if not (isinstance(result, tuple) and len(result) == 2):
            raise TypeError(
                f"{_OP}: with has_aux fun must return a pair (value, aux); received {result!r}"
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
