"""sparse_value_and_grad against jax.value_and_grad on generated loss functions.

A program is nested tuples `(kind, settings, children)`, so that a failing one prints as what it is.
Every one is a polynomial of small integers: the two gradients are equal exactly.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fast import fast_jit
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from jax import lax
from sparse_checks import assert_sparse, eagerly

import jaxops

# --- lookups: (table, index array in the table's first axis, static numbers) -> rows ---


def others(i, table, *axes):
    """Index arrays for further axes, that differ from the first."""
    return [(3 * i + axis) % np.array(table.shape[axis], i.dtype) for axis in axes]


def gather_batch(t, i, **options):
    (j,) = others(i.reshape(-1), t, 1)
    return jaxops.gather(t, jnp.tile(j[None], (t.shape[0], 1)), batch_dims=1, **options)


def batch_gather(t, i):
    *batch, last = t.shape
    numbers = i.reshape(-1) % np.array(last, i.dtype)
    return jaxops.batch_gather(t, jnp.broadcast_to(numbers, (*batch, numbers.size)))


def gather_nd(t, i, depth, **options):
    components = [i, *others(i, t, *range(1, depth))]
    return jaxops.gather_nd(t, jnp.stack(components, -1), **options)


def gather_nd_batch(t, i):
    (j,) = others(i.reshape(-1), t, 1)
    return jaxops.gather_nd(t, jnp.tile(j[None, :, None], (t.shape[0], 1, 1)), batch_dims=1)


def first(i):
    """Some index; 0 where there is none."""
    return jnp.concatenate([i.reshape(-1), jnp.zeros(1, i.dtype)])[0]


def slice_from(t, i, size):
    begin = jnp.stack([first(i) % (t.shape[0] - size + 1), *[0 * first(i)] * (t.ndim - 1)])
    return jaxops.slice(t, begin, [size, *t.shape[1:]])


def slice_part(t, i):
    begin = [first(i) % t.shape[0], *[1] * (t.ndim - 1)]
    return jaxops.slice(t, begin, [1, *(dim - 1 for dim in t.shape[1:])])


def strided_slice(t, i):
    begin = jnp.stack([first(i) % t.shape[0]]).astype(jnp.int32)
    return jaxops.strided_slice(t, begin, begin + 1, shrink_axis_mask=1)


def along_axis(t, i):
    return jnp.take_along_axis(t, i.reshape(-1, *[1] * (t.ndim - 1)), axis=0)


def fill(t, i, **options):
    return jaxops.gather(t, i, mode="fill", fill_value=2, **options)


LOOKUPS = {
    "gather": jaxops.gather,
    "gather-deterministic": functools.partial(jaxops.gather, deterministic=True),
    "gather-error": functools.partial(jaxops.gather, mode="error"),
    "gather-promise": functools.partial(jaxops.gather, mode="promise_in_bounds"),
    "gather_nd": functools.partial(gather_nd, depth=1),
    "slice-1": functools.partial(slice_from, size=1),
    "slice-0": functools.partial(slice_from, size=0),
    "slice-part": slice_part,
    "strided_slice": strided_slice,
    "take": lambda t, i: jnp.take(t, i, axis=0),
    "take_along_axis": along_axis,
    "indexing": lambda t, i: t[i],
    "indexing-row": lambda t, i: t[first(i)],
    "indexing-range": lambda t, i: t[1:3],
    "indexing-strided": lambda t, i: t[1::2],
    "indexing-mask": lambda t, i: t[np.arange(t.shape[0]) % 3 == 1],
    "dynamic_index": lambda t, i: lax.dynamic_index_in_dim(t, first(i), keepdims=False),
    "part-of-rows": lambda t, i: t[i, ..., 1:] if t.ndim > 1 else t[i],
}
OUT_OF_BOUNDS = {  # for which indices may be out of bounds
    "gather-fill": fill,
    "gather-fill-deterministic": functools.partial(fill, deterministic=True),
    "gather-clip": functools.partial(jaxops.gather, mode="clip"),
    "gather-wrap": functools.partial(jaxops.gather, mode="wrap"),
    "gather_nd-fill": functools.partial(gather_nd, depth=1, mode="fill"),
    "take-clip": lambda t, i: jnp.take(t, i, axis=0, mode="clip"),
    "take-wrap": lambda t, i: jnp.take(t, i, axis=0, mode="wrap"),
    "take-fill": lambda t, i: jnp.take(t, i, axis=0, mode="fill", fill_value=3),
    "at-get": lambda t, i: t.at[i].get(mode="fill", fill_value=0),
    "at-drop": lambda t, i: t.at[i].get(mode="clip"),
}
LONG_LOOKUPS = {  # of two rows at least: the only row of a table is all of it, and not looked up
    "indexing-last": lambda t, i: t[-1],
    "indexing-first": lambda t, i: t[:1],
}
MATRIX_LOOKUPS = {  # of tables of rank 2 at least
    "gather-batch_dims": gather_batch,
    "gather-batch_dims-deterministic": functools.partial(gather_batch, deterministic=True),
    "batch_gather": batch_gather,
    "gather_nd-2": functools.partial(gather_nd, depth=2),
    "gather_nd-2-deterministic": functools.partial(gather_nd, depth=2, deterministic=True),
    "gather_nd-2-clip": functools.partial(gather_nd, depth=2, mode="clip"),
    "gather_nd-batch_dims": gather_nd_batch,
    "indexing-2": lambda t, i: t[i, others(i, t, 1)[0]],
    "indexing-column": lambda t, i: t[i, ..., -1],
    "indexing-scalar-2": lambda t, i: t[first(i), first(others(i, t, 1)[0])],
}
CUBE_LOOKUPS = {  # of tables of rank 3
    "gather_nd-3": functools.partial(gather_nd, depth=3),
    "indexing-3": lambda t, i: t[i, :, others(i, t, 2)[0]],
    "indexing-outer": lambda t, i: t[i[..., None], others(i, t, 1)[0][..., None], :],
}
ALL_LOOKUPS = LOOKUPS | OUT_OF_BOUNDS | LONG_LOOKUPS | MATRIX_LOOKUPS | CUBE_LOOKUPS

# --- what is done with rows ---


@jax.custom_jvp
def twice(rows):
    return 2 * rows


twice.defjvp(lambda primals, tangents: (twice(*primals), 3 * tangents[0]))


@jax.custom_vjp
def thrice(rows):
    return 3 * rows


thrice.defvjp(lambda rows: (3 * rows, rows), lambda rows, cotangent: (cotangent * (rows + 1),))

USES = {
    "rows": lambda rows: rows,
    "custom_jvp": twice,
    "custom_vjp": thrice,
    "checkpoint": jax.checkpoint(lambda rows: rows * rows),
    "jit": jax.jit(lambda rows: rows - 1),
    "stop_gradient": lambda rows: rows + lax.stop_gradient(rows),
    "bfloat16": lambda rows: rows.astype(jnp.bfloat16).astype(jnp.float32),
    "sort": lambda rows: jnp.sort(rows.reshape(-1)),
    "associative_scan": lambda rows: lax.associative_scan(jnp.add, rows.reshape(-1)[:3]),
}


# --- programs ---


def evaluate(program, params, data, k):
    """The scalar that a program makes of the parameters; `k`, traced, moves its indices."""
    kind, setting, *children = program
    if kind != "lookup":
        return WRAPPERS[kind](setting, [functools.partial(evaluate, c) for c in children])(
            params, data, k
        )
    table, lookup, number, use = setting
    t = params["tables"][table]
    i = data[number]
    if lookup in OUT_OF_BOUNDS:
        i = i + k.astype(i.dtype) - np.array(1, i.dtype)
    else:
        i = (i + k.astype(i.dtype)) % np.array(t.shape[0], i.dtype)
    rows = USES[use](ALL_LOOKUPS[lookup](t, i))
    return jnp.sum(rows * (rows - params["dense"]["b"]) * params["dense"]["w"][0])


def total(parts):
    return functools.reduce(jnp.add, parts)


def all_of(children):
    return lambda params, data, k: total([child(params, data, k) for child in children])


def add(setting, children):
    return all_of(children)


def jit(setting, children):
    body = all_of(children)
    if setting == "closed":
        return lambda params, data, k: jax.jit(lambda k: body(params, data, k))(k)
    return jax.jit(body)


POLICIES = {
    "none": None,
    "everything": jax.checkpoint_policies.everything_saveable,
    "nothing": jax.checkpoint_policies.nothing_saveable,
    "dots": jax.checkpoint_policies.dots_saveable,
}


def checkpoint(setting, children):
    return jax.checkpoint(all_of(children), policy=POLICIES[setting])


def vmap(setting, children):
    body = all_of(children)
    if setting == "closed":
        return lambda params, data, k: jax.vmap(lambda j: body(params, data, k + j))(
            jnp.arange(3, dtype=jnp.int32)
        ).sum()
    return lambda params, data, k: jax.vmap(body, (None, None, 0))(
        params, data, k + jnp.arange(2, dtype=jnp.int32)
    ).sum()


def lax_map(setting, children):
    body = all_of(children)
    return lambda params, data, k: lax.map(
        lambda j: body(params, data, j), k + jnp.arange(3, dtype=jnp.int32), batch_size=setting
    ).sum()


def scan(setting, children):
    body = all_of(children)
    reverse, carried, unroll = setting

    def scanned(params, data, k):
        def step(carry, j):
            inner, so_far = carry
            value = so_far + body(inner if carried else params, data, k + j)
            return (inner, value), value

        init = (params if carried else None, params["dense"]["w"][0])
        steps = jnp.arange(3, dtype=jnp.int32)
        if carried == "checkpointed":
            step = jax.checkpoint(step)
        (inner, last), values = lax.scan(step, init, steps, reverse=reverse, unroll=unroll)
        extra = jaxops.gather((inner or params)["tables"][0], k, mode="clip").sum()
        return last + values.sum() + extra

    return scanned


def fori_loop(setting, children):
    body = all_of(children)
    return lambda params, data, k: lax.fori_loop(
        0,
        2,
        lambda n, so_far: so_far + body(params, data, k + n.astype(jnp.int32)),
        params["dense"]["b"],
    )


def cond(setting, children):
    def branched(params, data, k):
        def taken(*args):
            return children[0](*(args or (params, data, k)))

        def other(*args):
            return 2 * children[1](*(args or (params, data, k))) if children[1:] else jnp.float32(1)

        return lax.cond(k % 2 == 0, taken, other, *((params, data, k) if setting else ()))

    return branched


def switch(setting, children):
    def branched(params, data, k):
        branches = [functools.partial(child, params, data) for child in children]
        return lax.switch(
            k % 3, [*branches, lambda k: params["dense"]["b"] * k.astype(jnp.float32)], k
        )

    return branched


WRAPPERS = {f.__name__: f for f in (jit, checkpoint, vmap, scan, fori_loop, cond, switch, add)}
WRAPPERS["map"] = lax_map
SETTINGS = {
    "jit": ["closed", "passed"],
    "checkpoint": list(POLICIES),
    "vmap": ["closed", "passed"],
    "map": [None, 2],
    "scan": [
        (False, False, 1), (True, False, 1), (False, True, 1), (True, "checkpointed", 1),
        (False, False, 2),
    ],
    "fori_loop": [None],
    "add": [None],
    "cond": [False, True],
    "switch": [None],
}  # fmt: skip
# A branching that differs between the examples of `vmap`: JAX copies the table for each of them.
UNDER_VMAP = [kind for kind in SETTINGS if kind not in ("cond", "switch")]

INDEX_DTYPES = ["int8", "uint8", "int32", "uint32", "int64"]
SHAPES = [(1,), (5,), (9,), (1, 1), (5, 3), (9, 1), (2, 4), (4, 2, 3), (1, 3, 2), (6, 1, 2)]
INDEX_SHAPES = [(), (3,), (0,), (2, 2), (1, 3)]


@st.composite
def lookups(draw, shapes):
    table = draw(st.integers(0, len(shapes) - 1))
    names = [*LOOKUPS, *OUT_OF_BOUNDS]
    if shapes[table][0] > 1:
        names += LONG_LOOKUPS
    if len(shapes[table]) > 1:
        names += MATRIX_LOOKUPS
    if len(shapes[table]) == 3:
        names += CUBE_LOOKUPS
    number = draw(st.integers(0, 2))
    return "lookup", (table, draw(st.sampled_from(names)), number, draw(st.sampled_from([*USES])))


def programs(shapes, depth, kinds=tuple(SETTINGS)):
    if depth == 0:
        return lookups(shapes)

    def wrapped(kind):
        inner = programs(shapes, depth - 1, UNDER_VMAP if kind in ("vmap", "map") else kinds)
        children = st.lists(inner | lookups(shapes), min_size=1, max_size=2 if depth == 1 else 1)
        return st.tuples(st.sampled_from(SETTINGS[kind]), children).map(
            lambda pair: (kind, pair[0], *pair[1])
        )

    return st.sampled_from(kinds).flatmap(wrapped)


@st.composite
def cases(draw):
    shapes = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))
    depth = draw(st.integers(1, 3))
    body = draw(programs(shapes, depth))
    indices = [
        (draw(st.sampled_from(INDEX_SHAPES)), draw(st.sampled_from(INDEX_DTYPES))) for _ in range(3)
    ]
    return shapes, body, indices, draw(st.integers(0, 2)), draw(st.booleans())


def params_of(shapes):
    random = np.random.default_rng(0)

    def integers(*shape):
        return jnp.array(random.integers(-2, 3, shape), jnp.float32)

    tables = [integers(*shape) for shape in shapes]
    return {"tables": tables, "dense": {"w": jnp.float32([2, 3]), "b": jnp.float32(1)}}


def data_of(indices):
    random = np.random.default_rng(1)
    return [jnp.array(random.integers(0, 6, shape), dtype) for shape, dtype in indices]


def check(case, jitted):
    shapes, program, indices, k, all_tables = case
    params, data = params_of(shapes), data_of(indices)
    tables = [f"tables/{n}" for n in range(len(shapes)) if all_tables or n == 0]
    loss, run = functools.partial(evaluate, program), fast_jit if jitted else eagerly
    grads = assert_sparse(loss, params, data, jnp.int32(k), tables=tables, run=run)
    for n in range(len(shapes)):
        gradient = grads["tables"][n]
        if f"tables/{n}" not in tables:
            assert isinstance(gradient, jax.Array)
            continue
        assert isinstance(gradient, jaxops.IndexedSlices)
        assert gradient.dense_shape == shapes[n]
        ignored = gradient.indices >= gradient.num_rows
        assert (gradient.indices >= 0).all()
        assert (gradient.indices <= gradient.num_rows).all()
        assert not gradient.values[np.asarray(ignored)].any()


# A share of the examples each, as compiling takes nearly all of the time.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("jitted", "x64", "examples"),
    [
        (True, False, 40),
        (True, True, 10),
        (False, False, 5),
        pytest.param(True, False, 80, marks=pytest.mark.nightly),
        pytest.param(True, True, 30, marks=pytest.mark.nightly),
        pytest.param(False, False, 15, marks=pytest.mark.nightly),
    ],
)
def test_family(jitted, x64, examples):
    @settings(
        derandomize=True,
        deadline=None,
        max_examples=examples,
        database=None,
        phases=[Phase.generate],
    )
    @given(cases())
    def run(case):
        with jax.enable_x64(x64):
            if not x64:
                shapes, program, indices, *rest = case
                indices = [(shape, dtype.replace("64", "32")) for shape, dtype in indices]
                case = shapes, program, indices, *rest
            check(case, jitted)

    run()
