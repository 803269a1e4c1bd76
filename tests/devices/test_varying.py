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
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P
from records import CALLS, CASES, FUNCTIONS, RECORDS, first_of_each_op

pytestmark = pytest.mark.slow


def in_shard_map(function, *arrays):
    """The results of `function(*arrays)` on a device of its own, of arrays that vary."""
    mesh = jax.make_mesh((1,), ("x",), axis_types=(AxisType.Auto,))

    def on_device(*stacked):
        results = function(*(x[0] for x in stacked))
        return jax.tree.map(lambda x: jnp.asarray(x)[None], results)

    mapped = jax.shard_map(on_device, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    results = jax.jit(mapped)(*(jnp.asarray(x)[None] for x in arrays))
    return jax.tree.map(lambda x: x[0], results)


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


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_function_of_nothing_but_what_varies(name):
    """The call of its record, with all arrays varying, also those that the harness closes over."""
    call = CALLS[name]
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
    jax.tree.map(
        functools.partial(np.testing.assert_allclose, rtol=1e-5),
        in_shard_map(of_arrays, *map(np.asarray, arrays)),
        jax.jit(of_arrays)(*map(jnp.asarray, arrays)),
    )
