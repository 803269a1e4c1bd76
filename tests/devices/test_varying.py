"""Every function inside `shard_map`, of arrays that vary along an axis of the mesh, as types tell.

There the parts of a loop, of a condition and of a gradient have to vary alike. What is made of
nothing but a shape, such as the zeros that a loop begins with, does not vary.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import NIGHTLY
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from records import CALLS, CASES, FUNCTIONS, RECORDS, first_of_each_op

pytestmark = pytest.mark.slow


def in_shard_map(function, *arrays, axes=("x",), axis_type=AxisType.Auto):
    """The results of `function(*arrays)` on a device of its own, of arrays that vary along "x"."""
    mesh = jax.make_mesh((1,) * len(axes), axes, axis_types=(axis_type,) * len(axes))

    def on_device(*stacked):
        results = function(*(x[0] for x in stacked))
        return jax.tree.map(lambda x: jnp.asarray(x)[None], results)

    spec = P("x")
    mapped = jax.shard_map(on_device, mesh=mesh, axis_names={"x"}, in_specs=spec, out_specs=spec)
    sharding = NamedSharding(mesh, spec)
    with jax.set_mesh(mesh):
        results = jax.jit(mapped)(*(jax.device_put(x[None], sharding) for x in arrays))
    return jax.tree.map(lambda x: np.asarray(x)[0], results)


FIRST = {*first_of_each_op(CASES).values()}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in FIRST else NIGHTLY) for name in CASES]
)
def test_function_and_derivatives(name):
    case = CASES[name]
    number = len(case.data)

    def derivatives(*arrays):
        data, indices = arrays[:number], arrays[number:]
        function = functools.partial(lambda *data: case.op(*data, *indices))
        if not data:
            return function()
        y, pull_back = jax.vjp(function, *data)
        return y, pull_back(y), jax.jvp(function, data, data)[1]

    expected = derivatives(*map(jnp.asarray, case.args))
    results = in_shard_map(derivatives, *case.args)
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-5), results, expected)


ARRAYS = {"data", "integers", "bools", "scalar"}
LISTS = {"arrays", "indices"}
# What is no function of arrays; 64-bit types; and a size of -1, which needs a known begin.
OTHERS = {"IndexedSlices", "IndexedSlices.sum_duplicates", "pmean", "psum"}
OTHERS |= {"to_double", "to_int64", "slice"}
OF_ARRAYS = [
    name
    for name, record in RECORDS.items()
    if record.call and name not in OTHERS and not name.startswith("v0.")
]


def function_and_arrays(name, *left_out):
    """The call of a record, as a function of all its arrays, and these."""
    call = {arg: given for arg, given in CALLS[name].items() if arg not in left_out}
    static = {arg: value for arg, (kind, value) in call.items() if kind not in ARRAYS | LISTS}
    lists = {arg: len(value) for arg, (kind, value) in call.items() if kind in LISTS}
    single = {arg: value for arg, (kind, value) in call.items() if kind in ARRAYS}
    function = FUNCTIONS[name]

    def of_arrays(*arrays):
        arrays = iter(arrays)
        given = {arg: next(arrays) for arg in single}
        given |= {arg: [next(arrays) for _ in range(n)] for arg, n in lists.items()}
        return function(**given, **static)

    arrays = [*single.values(), *(x for arg in lists for x in call[arg][1])]
    # The dtypes that numbers of Python have while x64 is off, as the other arrays have.
    dtypes = {"f": np.float32, "i": np.int32}
    arrays = map(np.asarray, arrays)
    return of_arrays, [x.astype(dtypes.get(x.dtype.kind, x.dtype)) for x in arrays]


def assert_alike(actual, desired):
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-5), actual, desired)


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_function_of_nothing_but_what_varies(name):
    """The call of its record, with all arrays varying, also those that the harness closes over."""
    of_arrays, arrays = function_and_arrays(name)
    expected = jax.jit(of_arrays)(*map(jnp.asarray, arrays))
    assert_alike(in_shard_map(of_arrays, *arrays), expected)


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_function_beside_explicit_axes(name):
    """In a `shard_map` along one axis of a mesh whose other axes stay explicit."""
    of_arrays, arrays = function_and_arrays(name)
    expected = jax.jit(of_arrays)(*map(jnp.asarray, arrays))
    results = in_shard_map(of_arrays, *arrays, axes=("x", "y"), axis_type=AxisType.Explicit)
    assert_alike(results, expected)


@pytest.mark.parametrize("left_out", [(), ("mode", "fill_value")], ids=["all", "no mode"])
@pytest.mark.parametrize("name", [n for n in OF_ARRAYS if function_and_arrays(n)[1]])
def test_function_in_a_branch_of_a_batch(name, left_out):
    """JAX computes both branches of a batch, and makes all operands of the branches vary."""
    of_arrays, arrays = function_and_arrays(name, *left_out)

    def in_branch(*arrays):
        def call(is_first, *arrays):
            return jax.lax.cond(is_first, of_arrays, lambda *x: of_arrays(*x), *arrays)

        twice = [jnp.stack([x, x]) for x in arrays]
        first = twice[0].reshape(2, -1)[:, 0]
        results = jax.vmap(call)(first == first[::-1], *twice)
        return jax.tree.map(lambda x: x[0], results)

    expected = jax.jit(in_branch)(*map(jnp.asarray, arrays))
    assert_alike(in_shard_map(in_branch, *arrays), expected)
