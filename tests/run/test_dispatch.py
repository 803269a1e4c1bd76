"""How calls run: what is compiled once, and what stays known while tracing."""

import re
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import assert_fails, printed_by
from jax.core import Tracer
from records import CALLS, FUNCTIONS, first_of_each_op, joined, needed
from records import CASES as CASES_OF_OPS
from records.arguments import X

import jaxops
from jaxops._run import dispatch

CASES = joined("out_of_bounds")


@pytest.mark.parametrize("name", CASES)
def test_a_second_eager_call_compiles_nothing(name):
    function, *indices = CASES[name][:3]
    good, bad = map(jnp.array, indices)
    first = function(good)
    with jax.no_tracing():  # what is not traced is not compiled
        np.testing.assert_array_equal(function(good), first)
        with pytest.raises(jaxops.OutOfBoundsError):
            function(bad)
        with pytest.raises(RuntimeError, match="no_tracing"):
            jax.jit(lambda x: function(x))(good)


# Calls of the first case of each op that has elements: of a batch of one, and the derivative of the
# op in a direction.
FIRST = {op: CASES_OF_OPS[name] for op, name in first_of_each_op(CASES_OF_OPS).items()}
TRANSFORMED = {
    "vmap": lambda case: (jax.vmap(case.op), [jnp.asarray(x)[None] for x in case.args]),
    "jvp": lambda case: (
        lambda *data: jax.jvp(lambda *data: case.op(*data, *case.indices), data, data),
        [*map(jnp.asarray, case.data)],
    ),
}


EACH_TRANSFORMED = pytest.mark.parametrize(
    ("op", "transformation"),
    [(op, t) for op, case in FIRST.items() for t in TRANSFORMED if case.data or t == "vmap"],
)


@EACH_TRANSFORMED
def test_a_later_eager_call_of_a_transformation_compiles_nothing(op, transformation, caplog):
    function, args = TRANSFORMED[transformation](FIRST[op])
    function(*args)
    with jax.log_compiles():
        function(*args)
    assert not [r for r in caplog.records if r.message.startswith("Compiling")]


@EACH_TRANSFORMED
def test_an_eager_transformation_runs_no_operations_one_by_one(op, transformation, monkeypatch):
    """Each op is one compiled function, as in a plain call."""
    run = dispatch._Call.__call__

    def traced(self, *arrays):
        assert isinstance(jnp.zeros(()), Tracer)  # true within `jit`, not under `vmap` or `jvp`
        return run(self, *arrays)

    monkeypatch.setattr(dispatch._Call, "__call__", traced)
    function, args = TRANSFORMED[transformation](FIRST[op])
    jax.block_until_ready(function(*args))


@pytest.mark.parametrize("name", CASES)
def test_a_bad_index_of_a_batch_is_an_error_of_an_eager_vmap(name):
    function, *indices = CASES[name][:3]
    good, bad = map(jnp.array, indices)
    jax.vmap(function)(jnp.stack([good, good]))
    with pytest.raises(jaxops.OutOfBoundsError):
        jax.vmap(function)(jnp.stack([good, bad]))


def test_an_error_under_eager_transformations_names_the_place_in_the_batch():
    def rows(i, x=X):
        return jaxops.gather(x, i)

    def loss(x, i):
        return jnp.sum(rows(i, x))

    batch, bad = jnp.array([[1, 0], [2, 9]]), jnp.array([2, 9])
    assert_fails("indices[1,1] = 9", jax.vmap(rows), batch)
    assert_fails("indices[1,1] = 9", jax.vmap(jax.grad(loss), (None, 0)), X, batch)
    assert_fails(
        "indices[1,1] = 9", jax.grad(lambda x: jax.vmap(loss, (None, 0))(x, batch).sum()), X
    )
    assert_fails("indices[1] = 9", jax.grad(loss), X, bad)
    assert_fails("indices[1] = 9", lambda: jax.jvp(lambda x: rows(bad, x), [X], [X]))
    with jax.disable_jit():
        assert_fails("indices[1,1] = 9", jax.vmap(rows), batch)


def test_a_transfer_guard_takes_no_error_away():
    """The guard allows a call on arrays of the device. The call with a bad index raises for it."""
    tensor, updates, bad = jnp.zeros(4), jnp.ones(2), jnp.array([1, 9])
    calls = [
        lambda: jaxops.tensor_scatter_nd_add(tensor, rows, updates),
        lambda: jaxops.unsorted_segment_sum(updates, bad, 4),
        lambda: jaxops.invert_permutation(bad),
    ]
    rows = bad[:, None]
    for call in calls:
        with jax.transfer_guard("disallow"), pytest.raises(jaxops.OutOfBoundsError):
            call()


@pytest.mark.slow
def test_arguments_on_different_devices_are_named():
    code = """
import jax, jax.numpy as jnp, jaxops

x, i = map(jax.device_put, [jnp.arange(3.0), jnp.arange(3)], jax.devices())
for call in (lambda: jaxops.gather(x, i), lambda: jaxops.stack([x, i.astype(float)])):
    try:
        call()
    except ValueError as error:
        print(error)
"""
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    gather, stack = printed_by("-c", code, env=flags).splitlines()
    assert "argument params of gather" in gather
    assert "argument indices of gather" in gather
    assert "argument values_1 of stack" in stack


def outcome_of(function, x):
    """The result, of which the text tells a weak dtype, or the error."""
    try:
        return repr(function(x))
    except jaxops.OutOfBoundsError as error:
        return str(error)
    except ValueError:
        return ValueError


OF_A_NUMBER = {
    "gather": lambda i: jaxops.gather(X, i),
    "gather-clip": lambda i: jaxops.gather(X, i, mode="clip"),
    "one_hot": lambda i: jaxops.one_hot(i, 4),
    "repeat": lambda i: jaxops.repeat(X, i, axis=0),
    "roll": lambda i: jaxops.roll(X, i, axis=0),
    "sequence_mask": lambda i: jaxops.sequence_mask(i, 4),
    "unsorted_segment_sum": lambda i: jaxops.unsorted_segment_sum(X[0, 0], i, 3),
    "unravel_index": lambda i: jaxops.unravel_index(i, [2, 3])[0],
}


# A kind of index that a compiled call takes as it is, and one that becomes an array before.
AS_THEY_ARE = {
    "number": (int, np.int64),
    "array": (np.array, np.int64),
    "list": (lambda i: [i, 0], lambda i: (i, 0)),
    "vector": (lambda i: np.array([i, 0]), lambda i: (i, 0)),
}


NUMBERS = [2, 7, -1, -(2**31), -(2**31) - 1, 2**31 - 1, 2**31]


@pytest.mark.parametrize("kind", AS_THEY_ARE)
@pytest.mark.parametrize(
    ("name", "number"),
    # No memory holds a row that is repeated 2**31 times.
    [(name, n) for name in OF_A_NUMBER for n in NUMBERS if name != "repeat" or n <= 7],
)
def test_numbers_of_the_host_are_as_an_array(name, number, kind):
    for is_jitted in (True, False):
        with jax.disable_jit(not is_jitted):
            received, expected = (
                outcome_of(OF_A_NUMBER[name], k(number)) for k in AS_THEY_ARE[kind]
            )
        assert received == expected


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("first", [-1, 2, 2**63])
@pytest.mark.parametrize("name", [name for name in OF_A_NUMBER if name != "repeat"])
def test_lists_of_ints_that_int64_does_not_hold(name, first, x64):
    """NumPy makes floats, objects or uint64 of them."""
    for large in (2**63, 2**64 - 1, 2**64):
        with jax.enable_x64(x64):
            received, expected = (
                outcome_of(OF_A_NUMBER[name], kind((first, large))) for kind in (list, tuple)
            )
        assert received == expected


@pytest.mark.usefixtures("x32")
def test_components_are_joined_without_change():
    """Unsigned and signed ones promote to a type that does not hold both."""
    huge, zero = jnp.uint32(2**32 - 1), jnp.int32(0)
    clipped = jax.jit(lambda a, b: jaxops.gather(jnp.arange(3.0), [a, b], mode="clip"))
    np.testing.assert_array_equal(clipped(huge, zero), [2, 0])
    corner = jax.jit(lambda a, b: jaxops.strided_slice(X, [a, b], [0, 0], shrink_axis_mask=3))
    assert_fails("slice index", corner, huge, zero)


def of_integers(kind, value):
    if kind == "arrays":
        return [np.asarray(x, np.int32) for x in value]
    return np.asarray(value, np.int32) if kind in ("data", "scalar") else value


def integer_arguments(call):
    """Those of a call of a record, with integers as data."""
    return {arg: of_integers(*value) for arg, value in call.items() if arg != "accumulate_dtype"}


# Whose results are other dtypes, or integers of other dtypes than x64 allows; and gradients.
OF_INTEGERS = [
    name
    for name, call in CALLS.items()
    if not {"grads", "text"} & {kind for kind, _ in call.values()}
    and name.split(".")[-1] not in ("to_double", "to_int64", "to_bfloat16", "one_hot")
    and name.split(".")[0] not in ("IndexedSlices", "RaggedTensor")
    and not name.endswith(("segment_mean", "sqrt_n"))
    and not re.search("embedding_lookup|segment_(softmax|logsumexp|moments)", name)  # of floats
]


def without_options(name):
    """The call but for options such as `size=`: a result has the exact number of elements."""
    return {a: x for a, x in CALLS[name].items() if a in needed(name) or x[0] == "dtype"}


def under_jvp(function):
    jax.jvp(lambda x: [x, function()][0], [1.0], [1.0])


def under_vmap(function):
    jax.vmap(lambda x: [x, function()][0])(jnp.ones(1))


@pytest.mark.parametrize("call_of", [CALLS.get, without_options], ids=["all", "exact"])
@pytest.mark.parametrize("run", [lambda f: jax.jit(f)(), under_jvp, under_vmap])
@pytest.mark.parametrize("name", OF_INTEGERS)
def test_shapes_are_computed_while_tracing(name, run, call_of):
    """What is computed of integers that the host knows is of NumPy, so it serves as a shape."""
    arguments = integer_arguments(call_of(name))
    eager = FUNCTIONS[name](**arguments)
    found = []
    run(lambda: found.extend(jax.tree.leaves(FUNCTIONS[name](**arguments))))
    assert all(isinstance(x, (np.ndarray, np.generic)) for x in found), found
    for ours, expected in zip(found, jax.tree.leaves(eager), strict=True):
        np.testing.assert_array_equal(np.asarray(ours), expected, strict=True)


def test_what_is_not_known_or_no_shape_is_traced():
    def op(x):
        assert isinstance(jaxops.gather([2, 3, 4], [7]), Tracer)  # for the program to raise
        assert isinstance(jaxops.gather([2, 3, 4], x), Tracer)
        assert isinstance(jaxops.tile([1], [257]), Tracer)  # a large constant
        assert isinstance(jaxops.gather([2.0, 3.0], [1]), Tracer)
        for places in ([1], table):
            assert isinstance(jaxops.gather(table, places), jax.Array)  # what JAX holds stays there
        return x

    table = jnp.arange(3)
    jax.jit(op)(jnp.int32(0))
    assert_fails("indices[0] = 7", jax.jit(lambda: jaxops.gather([2, 3, 4], [7])))


EMPTY: dict[str, Callable] = {
    "fill": lambda size: jaxops.fill([0, size], 1),
    "broadcast_to": lambda size: jaxops.broadcast_to(np.zeros((0, 1), int), [0, size]),
    "tile": lambda size: jaxops.tile(np.zeros((0, 1), int), [1, size]),
    "reshape": lambda size: jaxops.reshape(np.zeros(0, int), [0, size]),
    "pad": lambda size: jaxops.pad(np.zeros((0, 1), int), [[0, 0], [0, size]]),
}


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("size", [2**31, 2**62])
def test_empty_arrays_that_numpy_cannot_hold(name, size):
    """Inside a trace a short result of known integers is an array of NumPy."""
    function = EMPTY[name]
    traced = jax.jit(lambda: function(size)).lower().out_info
    assert traced.shape == function(size).shape
