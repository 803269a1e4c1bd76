"""Whatever works on an array of JAX works on what is known while tracing, with the same result."""

import copy
import functools
import inspect
import operator
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.core import Tracer
from records import CALLS, FUNCTIONS
from test_dispatch import OF_INTEGERS, integer_arguments

import jaxops
from jaxops._run.known import KnownArray


def named(names):
    """Attributes, and what the methods among them return without arguments."""

    def result(name, x, i):
        value = getattr(x, name)
        return value() if callable(value) else value

    return {name: functools.partial(result, name) for name in names.split()}


# Of a vector and a number in bounds, which is 0.
METHODS = {
    **named("all argmax argmin byteswap conj conjugate copy cumprod mean ptp ravel round std var"),
    **named("imag itemsize nbytes ndim real shape size"),
    "any": lambda x, i: x.any(axis=0),
    "argpartition": lambda x, i: x.argpartition(0)[0],
    "argsort": lambda x, i: x.argsort(descending=True),
    "astype": lambda x, i: x.astype(float),
    "choose": lambda x, i: x[:1].choose([x + 1]),
    "clip": lambda x, i: (x.clip(min=1, max=2), x.clip(i, i + 1)),
    "compress": lambda x, i: x.compress(x >= i, size=1),
    "cumsum": lambda x, i: x.cumsum(dtype=jnp.float32),
    "diagonal": lambda x, i: x[None].diagonal(),
    "dot": lambda x, i: (x.dot(x), x.dot(x + i)),
    "flatten": lambda x, i: x[None].flatten(),
    "item": lambda x, i: x[0].item(),
    "max": lambda x, i: x.max(initial=3),
    "min": lambda x, i: x.min(keepdims=True),
    "nonzero": lambda x, i: x.nonzero(size=2),
    "prod": lambda x, i: x[1:].prod(),
    "repeat": lambda x, i: (x.repeat(2), x.repeat(i + 1, total_repeat_length=3)),
    "reshape": lambda x, i: x.reshape(1, -1),
    "searchsorted": lambda x, i: (x.searchsorted(1), x.searchsorted(i)),
    "sort": lambda x, i: x.sort(descending=True),
    "squeeze": lambda x, i: x[None].squeeze(0),
    "sum": lambda x, i: (x.sum(), x.sum(where=x > i)),
    "swapaxes": lambda x, i: x[None].swapaxes(0, 1),
    "take": lambda x, i: (x.take(0), x.take(i)),
    "to_device": lambda x, i: x.to_device(jax.devices()[0]),
    "trace": lambda x, i: x[None].trace(),
    "transpose": lambda x, i: x[None].transpose(1, 0),
    "view": lambda x, i: x.view("uint8"),
    # properties
    "T": lambda x, i: x[None].T,
    "mT": lambda x, i: x[None].mT,
    "at": lambda x, i: [
        *(getattr(x.at[at], kind)(2) for at in (0, i, slice(1)) for kind in UPDATES),
        x.at[i].get(mode="fill"),
        x.at[i].apply(jnp.negative),
        x[None].at[0, i].set(x[i]),
    ],
    "dtype": lambda x, i: np.zeros(1, x.dtype),
}
UPDATES = ("set", "add", "subtract", "multiply", "divide", "power", "min", "max")
# Those that a traced array has not either; they tell of memory.
OF_MEMORY = {
    **named("block_until_ready committed is_fully_addressable is_fully_replicated tolist"),
    "addressable_data": lambda x, i: x.addressable_data(0),
    "addressable_shards": lambda x, i: x.addressable_shards[0].data,
    "copy_to_host_async": lambda x, i: np.array(x.copy_to_host_async() is None),
    "device": lambda x, i: x.device.id,
    "global_shards": lambda x, i: x.global_shards[0].data,
    "sharding": lambda x, i: x.sharding.num_devices,
    "devices": lambda x, i: len(x.devices()),
    "tobytes": lambda x, i: np.frombuffer(x.tobytes(), x.dtype),
    "deepcopy": lambda x, i: (copy.copy(x), copy.deepcopy(x)),
    "pickle": lambda x, i: pickle.loads(pickle.dumps(x)),
    "numbers": lambda x, i: (int(x[0]), float(x[0]), bool(x[0]), complex(x[0]), round(x[0], 1)),
    "index": lambda x, i: (operator.index(x[0]), [5, 6][x[0]], f"{x[0]:d}" == "0"),
    "contains": lambda x, i: (0 in x, 999 in x),
}
INDICES = {
    "number": lambda x, i: (x[0], x[-1]),
    "traced": lambda x, i: (x[i], x[i - 1]),
    "traced-vector": lambda x, i: x[jnp.stack([i, i])],
    "list": lambda x, i: x[jnp.array([0, 0])],
    "slice": lambda x, i: (x[:1], x[::-1], x[5:9]),
    "none": lambda x, i: (x[None, ..., None], x[()]),
    "mask": lambda x, i: x[np.zeros(x.shape, bool)],
    "tuple": lambda x, i: (x[None][0, 0], x[None][0, i], x[None][:, i]),
    "of-a-list": lambda x, i: jnp.arange(9)[x[:3]],
    "by-itself": lambda x, i: x[x],
    "iterated": lambda x, i: (list(x), list(reversed(x)), len(x), [y.at[()].add(i) for y in x[:2]]),
}
BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift"]
BINARY += ["and_", "or_", "xor", "eq", "ne", "lt", "le", "gt", "ge"]
BINARY += ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "ilshift", "irshift"]
BINARY += ["iand", "ior", "ixor", "imatmul"]
OTHERS = (
    lambda x, i: 3,
    lambda x, i: 0,
    lambda x, i: 2.5,
    lambda x, i: True,
    lambda x, i: np.int32(2),
    lambda x, i: np.arange(x.size, dtype=np.int32),
    lambda x, i: x,
    lambda x, i: i + 1,
)


def unary(x, i):
    return -x, +x, abs(x), ~x, round(x), round(x, 1)


def in_pairs(x, i):
    return divmod(x, 3), divmod(7, x + 1), divmod(x, i + 2), divmod(i + 7, x + 1)


def binary(name):
    function = getattr(operator, name)
    is_of_bits = name.strip("i_") in ("and", "or", "xor", "lshift", "rshift")

    def results(x, i):
        for make in OTHERS:
            other = make(x, i)
            if is_of_bits and isinstance(other, float):
                continue
            if name.endswith("matmul") and np.ndim(other) == 0:
                continue
            yield function(x, other)
            yield function(other, x) if not name.startswith("i") else x

    return lambda x, i: [*results(x, i)]


USES = {
    **METHODS,
    **{f"x[{name}]": f for name, f in INDICES.items()},
    **{name: binary(name) for name in BINARY},
    "unary": unary,
    "divmod": in_pairs,
    "ufuncs": lambda x, i: (np.add.outer(x, x), np.add.reduce(x), np.add(x, 1, dtype=np.int32)),
}


OF_ANY_SIZE = ["at", *(f"x[{name}]" for name in INDICES)]


@pytest.mark.parametrize(
    "use", [*OF_ANY_SIZE, *(use for use in USES | OF_MEMORY if use not in OF_ANY_SIZE)]
)
@jax.numpy_dtype_promotion("standard")
def test_as_eagerly(use):
    function = (USES | OF_MEMORY)[use]
    sizes = (1, 256, 257) if use in OF_ANY_SIZE else (256,)  # 257 is traced as any other array

    def results(i):
        made = [function(jaxops.range(size), i) for size in sizes]
        return [*map(jnp.asarray, jax.tree.leaves(made))]

    for ours, theirs in zip(jax.jit(results)(0), results(jnp.int32(0)), strict=True):
        np.testing.assert_array_equal(ours, theirs, strict=True)


def test_the_table_has_every_attribute_of_an_array():
    names = {name for name in dir(jax.Array) if not name.startswith("_")}
    assert names - {*METHODS, *OF_MEMORY} == {"flat"} & names  # which JAX does not have in truth
    assert {*METHODS} <= {*names, *dir(Tracer)}
    operators = {name for name in dir(operator) if name.startswith("__")} & {*dir(Tracer)}
    tried = {f"__{name.strip('_')}__" for name in BINARY}
    tried |= {"__neg__", "__pos__", "__abs__", "__invert__", "__getitem__", "__setitem__"}
    assert operators - tried - {"__doc__", "__contains__", "__index__"} - {*dir(object)} == set()


def test_what_is_known_stays_known():
    """Computed from nothing else, by operators and methods too, so it serves as a size."""

    @jax.jit
    def shapes(x):
        rows, columns = jaxops.unstack(jaxops.shape(x))
        both = rows * columns
        assert type(rows) is type(both) is KnownArray
        sizes = jaxops.stack([both // 2, -rows + 9, divmod(both, 4)[1], 2**rows])
        odd = sizes[sizes % 2 == 1].sum()
        flat = jaxops.reshape(x, [both])
        return jnp.zeros(sizes), jnp.zeros((odd, round(rows / 2))), jnp.zeros(sizes[1:2]), flat

    found = [x.shape for x in shapes(jnp.zeros((2, 3)))]
    assert found == [(3, 7, 2, 4), (10, 1), (7,), (6,)]


def test_a_number_is_a_key_of_caches():
    @jax.jit
    def function(x):
        rows, columns = jaxops.unstack(jaxops.shape(x))
        made = jax.jit(jnp.arange, static_argnums=0)(rows)
        return made, {2: 5}[rows] + len({rows, columns, 3})  # type: ignore[index]

    np.testing.assert_array_equal(function(jnp.zeros((2, 3)))[1], 7)


def test_it_does_not_change_in_place():
    @jax.jit
    def function():
        x = jaxops.range(3)
        other = x
        other += 1
        with pytest.raises(TypeError, match=r"immutable .* x.at\[idx\].set"):
            x[0] = 7
        with pytest.raises(ValueError, match="read-only"):
            np.asarray(x)[0] = 7
        return x, other

    np.testing.assert_array_equal(function(), [[0, 1, 2], [1, 2, 3]])


def test_it_passes_through_the_transformations_of_jax():
    """As an argument, a constant, a carry and a result."""

    def function(x):
        k = jaxops.range(4)
        carry, _ = jax.lax.scan(lambda c, n: (c + n, n), k, k)
        looped = jax.lax.fori_loop(0, k[3], lambda n, c: c + k[n], 0)
        chosen = jax.lax.cond(x[0] > 1, lambda k: k, lambda k: k + 1, k)
        mapped = jax.vmap(lambda a, b: a * b)(k, x)
        return jax.jit(lambda k: k + x)(k), carry, looped, chosen, mapped, k, k @ x

    x = jnp.array([1, 5, 2, 2], jnp.int32)
    for ours, theirs in zip(jax.jit(function)(x), function(x), strict=True):
        np.testing.assert_array_equal(ours, theirs, strict=True)
    gradient = jax.grad(lambda w: (w * jaxops.range(4).astype(float)).sum())
    np.testing.assert_array_equal(gradient(2.0), 6.0)


def is_of_numpy(name):
    """By its type: `shape`, `size`, `rank`."""
    return "np." in str(inspect.signature(FUNCTIONS[name]).return_annotation)


@pytest.mark.parametrize("name", [n for n in OF_INTEGERS if not is_of_numpy(n)])
def test_of_every_function(name):
    """What each makes of host integers is read and written at a traced index, as by NumPy."""
    arguments = integer_arguments(CALLS[name])

    def leaves():
        return [x for x in jax.tree.leaves(FUNCTIONS[name](**arguments)) if x.size]

    @jax.jit
    def compiled(i):
        uses = [x.at[i].set(1) if x.ndim else x.at[()].set(i) for x in leaves()]
        return uses, [x[i] for x in leaves() if x.ndim]

    eager = [np.array(x) for x in leaves()]
    read = [x[0].copy() for x in eager if x.ndim]
    for x in eager:
        x[0 if x.ndim else ()] = x.ndim > 0
    jax.tree.map(np.testing.assert_array_equal, compiled(jnp.int32(0)), (eager, read))


def test_a_static_number_may_be_one_that_is_known():
    """By its annotation: type checkers know of a number of `unstack(shape(x))` only its methods."""
    for name, call in CALLS.items():
        if name in dir(jaxops):
            parameters = inspect.signature(getattr(jaxops, name)).parameters
            for arg, (kind, _) in call.items():
                if kind == "int":
                    annotation = str(parameters[arg].annotation)
                    assert "Int" in annotation or "ArrayLike" in annotation, (name, arg)
