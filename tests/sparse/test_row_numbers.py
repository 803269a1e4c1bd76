"""The indices of IndexedSlices as a leaf: it moves, and nothing computes with it."""

import copy
import functools
import inspect
import operator
import pickle
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax import lax

from jaxops import IndexedSlices
from jaxops._sparse.slices import row_numbers

WORDS = r"for whole IndexedSlices write a \+ b, 2 \* a, jaxops.psum"
NUMBERS = [7, 3, 7, 5]  # none is 0, 1 or 2


def slices(numbers=NUMBERS, shape=(9, 2), dtype: Any = np.int32):
    values = np.arange(1.0, 1 + len(numbers) * 2, dtype=np.float32).reshape(-1, 2)
    return IndexedSlices(values, np.array(numbers, dtype), shape)


def grads():
    return {"embed": slices(), "w": jnp.ones(3)}


# --- no function makes other row numbers ---

# They make new numbers for a leaf and look at its shape only.
CREATORS = {"zeros_like", "ones_like", "full_like", "empty_like"}
CALLS = {  # of a leaf
    "one": lambda f, x: f(x),
    "two": lambda f, x: f(x, x[::-1]),
    "list": lambda f, x: f([x, x]),
    "scalar": lambda f, x: f(x, 2),
    "scalar first": lambda f, x: f(2.0, x),
}
MODULES = {"jnp": jnp, "lax": lax, "nn": jax.nn}
WRITE = {"save", "savez", "set_printoptions", "printoptions", "get_printoptions", "load"}


def functions_of(module):
    for name in sorted(dir(module)):
        function = getattr(module, name)
        is_type = inspect.isclass(function) and not isinstance(function, jnp.ufunc)
        if callable(function) and not is_type and not name.startswith("_") and name not in WRITE:
            yield name, function


def row_numbers_in(result):
    for leaf in jax.tree.leaves(result):
        if isinstance(leaf, jax.Array) and row_numbers.is_leaf(leaf):
            yield set(np.ravel(row_numbers.to_indices(leaf)).tolist())


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
@pytest.mark.filterwarnings("ignore")
def test_no_function_computes_with_row_numbers(module):
    """Of each public function, called in five ways: an error, or some of the same numbers."""
    operand = leaf()
    changed, refused = [], 0
    for name, function in functions_of(MODULES[module]):
        for call in CALLS.values():
            try:
                with jax.disable_jit():  # which compiles less
                    result = call(function, operand)
            except Exception:
                refused += 1
                continue
            if any(not numbers <= {0, *NUMBERS} for numbers in row_numbers_in(result)):
                changed.append(name)
    assert set(changed) <= CREATORS
    assert refused > (50 if module == "nn" else 300)


# --- what is refused, and in which words ---

OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv]
OPERATORS += [operator.mod, operator.pow, operator.and_, operator.or_, operator.xor]
OPERATORS += [operator.lshift, operator.rshift, operator.lt, operator.le, operator.gt, operator.ge]
UFUNCS = {n for n in dir(np) if isinstance(getattr(np, n), np.ufunc) and hasattr(jnp, n)}
UNCHANGED = {"conj", "conjugate", "positive"}  # linear, and done to the values
BOOLEAN = {"isfinite", "isinf", "isnan", "equal", "not_equal"}
# An error of JAX that has not the words, or is no TypeError: of integers or of floats only, or
# products of matrices.
OTHER_ERRORS = {"gcd", "signbit", "matmul", "matvec", "vecdot", "vecmat"}


def assert_refused(call, *args):
    with pytest.raises(TypeError, match=WORDS):
        call(*args)


def leaf():
    return jax.tree.leaves(slices())[1]


def leafwise(function):
    return lambda *trees: jax.tree.map(function, *trees)


@pytest.mark.parametrize("function", OPERATORS, ids=lambda f: f.__name__)
def test_operators_say_what_to_write(function):
    assert_refused(function, leaf(), leaf())
    assert_refused(function, leaf(), 2)
    assert_refused(function, 2, leaf())


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_ufuncs_say_what_to_write(name):
    call = getattr(jnp, name)
    nin = getattr(np, name).nin
    operands = [leaf()] * nin
    if name in UNCHANGED:
        assert leafwise(call)(slices()).indices.tolist() == NUMBERS
    elif name in BOOLEAN:
        mapped = leafwise(call)(*[slices()] * nin)
        assert_refused(lambda: mapped.add_to(jnp.zeros((9, 2), bool)))
    elif name in OTHER_ERRORS:
        with pytest.raises((ValueError, AssertionError)):
            call(*operands)
    else:
        assert_refused(call, *operands)


METHODS = ["sum", "mean", "max", "astype", "real", "imag", "dot", "round", "cumsum", "item", "std"]


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_a_leaf_say_what_to_write(name):
    """Of arrays; JAX has a bare NotImplementedError for keys, and keeps it for those of others."""
    assert_refused(lambda x: getattr(x, name)(), leaf())
    with pytest.raises(NotImplementedError, match="abstract method"):
        getattr(jax.random.key(0), name)()


def test_numpy_is_refused():
    for function in (np.asarray, np.sum, np.square, lambda x: np.add(x, x)):
        assert_refused(function, leaf())
    with pytest.raises(TypeError, match="key_data"):
        np.asarray(jax.random.key(0))


def test_row_numbers_are_no_random_keys():
    with pytest.raises(TypeError, match="row numbers are no random key"):
        jax.random.uniform(leaf()[0])


def sum_in_scan(grads):
    total = jax.tree.map(jnp.zeros_like, grads)
    return lax.scan(lambda t, _: (jax.tree.map(jnp.add, t, grads), None), total, None, length=2)


def sum_in_fori_loop(grads):
    return lax.fori_loop(0, 2, lambda _, t: jax.tree.map(jnp.add, t, grads), grads)


def over_axis(function):
    def call(grads):
        stacked = jax.tree.map(lambda x: jnp.stack([x, x]), grads)
        return jax.vmap(function, axis_name="i")(stacked)

    return call


def in_shard_map(function, **options):
    def call(grads):
        mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
        spec = jax.sharding.PartitionSpec("i")
        return jax.shard_map(function, mesh=mesh, in_specs=spec, out_specs=spec, **options)(grads)

    return call


def in_pmap(function):
    def call(grads):
        return jax.pmap(function, axis_name="i")(jax.tree.map(lambda x: x[None], grads))

    return call


COLLECTIVES = {name: getattr(lax, name) for name in ("psum", "pmean", "pmax", "pmin")}
COLLECTIVES["psum_scatter"] = functools.partial(lax.psum_scatter, tiled=True)
TREE_CODE = {
    "map-norm": lambda g: jax.tree.map(lambda x: jnp.linalg.norm(x), g),
    "map-astype": lambda g: jax.tree.map(lambda x: x.astype(jnp.float32), g),
    "reduce-add": lambda g: jax.tree.reduce(operator.add, g),
    "sum-of-squares": lambda g: sum(jnp.sum(jnp.square(x)) for x in jax.tree.leaves(g)),
    "scan": sum_in_scan,
    "fori_loop": sum_in_fori_loop,
    "optax.global_norm": optax.global_norm,
    "optax.tree.add_scale": lambda g: optax.tree.add_scale(g, 2.0, g),
    "optax.tree.sub": lambda g: optax.tree.sub(g, g),
    "optax.tree.mul": lambda g: optax.tree.mul(g, g),
    "optax.tree.scale": lambda g: optax.tree.scale(2.0, g),
    "optax.tree.sum": optax.tree.sum,
    "optax.tree.max": optax.tree.max,
    "optax.tree.clip": lambda g: optax.tree.clip(g, -1.0, 1.0),
    "optax.clip": lambda g: optax.clip(1.0).update(g, optax.EmptyState()),
    "optax.clip_by_global_norm": lambda g: optax.clip_by_global_norm(1.0).update(
        g, optax.EmptyState()
    ),
    "optax.apply_updates": lambda g: optax.apply_updates(g, g),
    **{f"vmap-{name}": over_axis(lambda x, f=f: f(x, "i")) for name, f in COLLECTIVES.items()},
    **{
        f"shard_map-{name}-{check_vma}": in_shard_map(lambda x, f=f: f(x, "i"), check_vma=check_vma)
        for name, f in COLLECTIVES.items()
        for check_vma in (True, False)
    },
    **{f"pmap-{name}": in_pmap(lambda x, f=f: f(x, "i")) for name, f in COLLECTIVES.items()},
}


@pytest.mark.parametrize("code", TREE_CODE)
@pytest.mark.filterwarnings("ignore:optax.global_norm is deprecated")
def test_pytree_code_says_what_to_write(code):
    is_value_error = code in ("vmap-pmax", "vmap-pmin")  # JAX's own, of the dtype
    for call in (TREE_CODE[code], jax.jit(TREE_CODE[code])):
        error = (TypeError, ValueError) if is_value_error or "astype" in code else TypeError
        with pytest.raises(error, match=WORDS):
            call(grads())


def test_different_numbers_of_rows():
    """JAX compares shapes before it looks at dtypes."""
    with pytest.raises(TypeError, match="incompatible shapes"):
        jax.tree.map(jnp.add, slices([1, 2, 3]), slices())
    assert_refused(lambda: jax.tree.map(jnp.add, slices([1]), slices()))


def test_grad_of_the_indices_is_refused():
    assert_refused(jax.grad(lambda s: jnp.sum(s.to_dense())), slices())


# --- what passes ---


def add_itself_in_scan(s):
    total, stacked = lax.scan(lambda c, _: (c, c), s, None, length=2)
    return jax.tree.map(lambda a, b: jnp.where(a.shape == b[0].shape, a, b[0]), total, stacked)


SPEC = jax.sharding.PartitionSpec()
PASSES = {
    "jit": jax.jit(lambda s: s),
    "donated": lambda s: jax.jit(lambda s: s, donate_argnums=0)(copy.deepcopy(s)),
    "vmap": lambda s: jax.tree.map(
        lambda x: x[1], jax.vmap(lambda s: s)(jax.tree.map(lambda x: jnp.stack([x, x]), s))
    ),
    "unmapped": lambda s: jax.vmap(lambda s, x: s, (None, 0), None)(s, jnp.ones(2)),
    "scan": add_itself_in_scan,
    "cond": lambda s: lax.cond(s.values[0, 0] > 0, lambda s: s, lambda s: 2 * s, s),
    "while_loop": lambda s: lax.while_loop(lambda s: s.values[0, 0] < 0, lambda s: -s, s),
    "checkpoint": jax.checkpoint(lambda s: s),
    "grad": lambda s: jax.grad(lambda x: (x, s), has_aux=True)(1.0)[1],
    "shard_map": lambda s: jax.shard_map(
        lambda s: s,
        mesh=jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,)),
        in_specs=SPEC,
        out_specs=SPEC,
    )(s),
    "device_put": lambda s: jax.device_put(s, jax.devices()[0]),
    "device_get": jax.device_get,
    "pickle": lambda s: pickle.loads(pickle.dumps(s)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "where": leafwise(lambda x: jnp.where(True, x, x)),
    "concatenate": leafwise(lambda x: jnp.concatenate([x[:1], x[1:]])),
    "flip": leafwise(lambda x: jnp.flip(jnp.flip(x, 0), 0)),
    "closure": lambda s: lax.scan(lambda c, _: (2 * s, None), s, None, length=1)[0] / 2,
    "custom_vjp": lambda s: identity(s),
    "export": lambda s: jax.export.export(jax.jit(lambda s: s))(s).call(s),
}


@jax.custom_vjp
def identity(s):
    return s


identity.defvjp(lambda s: (s, None), lambda _, g: (g,))


@pytest.mark.parametrize("way", PASSES)
def test_passes_through(way, x64):
    original = slices(dtype=np.int64 if x64 else np.int32)
    twice = PASSES[way](original)
    if way != "export" or jax.__version_info__ >= (
        0,
        10,
        2,
    ):  # before, not of JAX's own keys either
        twice = PASSES[way](twice)  # once as it was made, once as it came back
    assert twice.indices.dtype == (np.int64 if x64 else np.int32)
    assert twice.indices.tolist() == NUMBERS
    np.testing.assert_array_equal(twice.to_dense(), original.to_dense())


def test_other_leaves_pass_through():
    structure = jax.tree.structure(slices())
    for leaf in (None, object(), 3, jax.ShapeDtypeStruct((4,), np.int32), SPEC, True, "a"):
        one = structure.unflatten([leaf, leaf])
        assert one.indices is one.values is leaf
        assert jax.tree.leaves(one, is_leaf=lambda x: x is None) == [leaf, leaf]
        assert repr(leaf) in repr(one) or isinstance(leaf, jax.ShapeDtypeStruct)


def test_types_of_leaves():
    types = jax.eval_shape(lambda s: 2 * s, slices())
    assert types.indices == jax.ShapeDtypeStruct((4,), np.int32)
    assert repr(types) == "IndexedSlices(values=float32[4,2], indices=int32[4], dense_shape=(9, 2))"
    assert jax.eval_shape(lambda s: s.indices, types) == types.indices
    assert jax.jit(lambda s: s.indices).lower(types).compile()(slices()).tolist() == NUMBERS


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.uint64])
def test_types_of_indices(dtype, x64):
    largest = np.iinfo(dtype).max
    made = slices([largest, 0, 3, largest], (100, 2), dtype)
    is_long = x64 and np.dtype(dtype).kind == "u" and np.dtype(dtype).itemsize >= 4
    assert made.indices.dtype == (np.int64 if is_long else np.int32)
    assert made.sum_duplicates().indices.tolist() == [0, 3]


def test_sums_of_two_types_have_the_wider(x64):
    if not x64:
        pytest.skip("there is no int64")
    shape = (2**40, 2)
    narrow, wide = slices([1, 2], shape), slices([2**40 - 1, 2], shape, np.int64)
    for total in (narrow + wide, jax.jit(operator.add)(narrow, wide)):
        assert total.indices.dtype == np.int64
        assert total.indices.tolist() == [1, 2, 2**40 - 1, 2]
    assert (wide + narrow).indices.tolist() == [2**40 - 1, 2, 1, 2]


def test_made_with_64_bit_types_and_used_without():
    with jax.enable_x64(True):
        made = slices([-1, 2**40, 2**31 - 1, 2**31, 3, 2**32 + 3], (9, 2), np.int64)
        leaves, structure = jax.tree.flatten(made)
    with jax.enable_x64(False):
        kept = structure.unflatten(leaves)
        assert kept.indices.dtype == np.int32
        assert kept.sum_duplicates().indices.tolist() == [3]
