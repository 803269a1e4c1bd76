"""`out_sharding=`, and how results are shared on meshes of explicit axes where it is not said."""

import functools
import inspect
import re
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from explicit_mesh import MESH, floats, type_of
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from records import FUNCTIONS, arguments

import jaxops
from jaxops._run import sharding

# Primitives in these do not find how their results are shared.
BY_BATCH = {
    "depth_to_space": (functools.partial(jaxops.depth_to_space, block_size=2), (4, 2, 2, 8)),
    "space_to_depth": (functools.partial(jaxops.space_to_depth, block_size=2), (4, 2, 2, 8)),
    "reshape": (lambda x: jaxops.reshape(x, [-1, 2, 2, 8]), (4, 4, 8)),
    "extract_patches": (
        lambda x: jaxops.extract_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"),
        (4, 4, 4, 2),
    ),
}


@pytest.mark.parametrize("name", BY_BATCH)
def test_a_sharded_batch_stays_so(name):
    function, shape = BY_BATCH[name]
    whole = jax.eval_shape(function, jax.ShapeDtypeStruct(shape, jnp.float32))
    sizes = re.sub(r"^(\d+)", r"\1@d", ",".join(map(str, whole.shape)))
    assert type_of(function, floats(*shape, of=P("d"))) == f"float32[{sizes}]"


OPEN = {
    "a padded dimension": (lambda x: jaxops.pad(x, [[1, 0], [0, 0]]), [((4, 2), P("d"))]),
    "a merged dimension": (lambda x: jaxops.reshape(x, [8]), [((2, 4), P(None, "d"))]),
    "two arrays": (lambda *x: jaxops.concat(x, 1), [((4, 2), P("d")), ((4, 2), P("m"))]),
    "an axis that would come twice": (
        lambda x, ids: jaxops.gather(x, ids.astype(int)),
        [((4, 2), P(None, "d")), ((4,), P("d"))],
    ),
}


@pytest.mark.parametrize("case", OPEN)
def test_what_does_not_follow_is_refused(case):
    function, args = OPEN[case]
    words = (
        r"^\w+: how the devices share the result must follow .* out_sharding=.*received float32\["
    )
    with pytest.raises(ValueError, match=words):
        type_of(function, *(floats(*shape, of=spec) for shape, spec in args))


def test_it_can_be_said():
    def pad(x, **said):
        return jaxops.pad(x, [[1, 1], [0, 0]], **said)

    rows = floats(4, 2, of=P("d"))
    for said in (P("m", "d"), NamedSharding(MESH, P("m", "d"))):
        assert type_of(functools.partial(pad, out_sharding=said), rows) == "float32[6@m,2@d]"
    gradient = jax.grad(lambda x: jnp.sum(pad(x, out_sharding=P("m")) ** 2))
    assert type_of(gradient, rows) == "float32[4@d,2]"


@pytest.fixture
def mesh():
    mesh = jax.make_mesh((1,), ("d",), axis_types=(AxisType.Explicit,))
    with jax.set_mesh(mesh):
        yield mesh


def test_an_eager_call_has_one_flag(mesh):
    """Where the primitives do not find the sharding, the call is tried, and made once more."""

    def reverse(last):
        lengths = jnp.array([1, 2, last])
        return jaxops.reverse_sequence(x, lengths, seq_axis=1, batch_axis=0)

    x = jax.device_put(jnp.arange(12).reshape(3, 4), NamedSharding(mesh, P(None, "d")))
    assert reverse(3).tolist() == [[0, 1, 2, 3], [5, 4, 6, 7], [10, 9, 8, 11]]
    with pytest.raises(jaxops.OutOfBoundsError):
        reverse(5)


PADDED = {
    "extract_patches": lambda x: jaxops.extract_patches(
        x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"
    ),
    "space_to_batch": lambda x: jaxops.space_to_batch(x, [2], [[1, 1]]),
}


@pytest.mark.parametrize("op", PADDED)
def test_eager_gradients_of_what_is_padded(mesh, op):
    """JAX refused the tangent of a zero of NumPy: it had no type of automatic axes."""
    x = np.arange(16.0, dtype=np.float32).reshape(2, 4, 2, 1)
    padded: Callable = jax.sharding.auto_axes(PADDED[op], out_sharding=NamedSharding(mesh, P()))
    gradient = jax.grad(lambda x: jnp.sum(padded(x) ** 2))
    sharded = jax.device_put(x, NamedSharding(mesh, P(None, None, "d")))
    np.testing.assert_array_equal(gradient(sharded), jax.jit(gradient)(sharded))


TAKERS = [n for n, f in FUNCTIONS.items() if "out_sharding" in inspect.signature(f).parameters]


@pytest.mark.parametrize("name", TAKERS)
def test_every_function_that_takes_it(name, mesh):
    function = functools.partial(getattr(jaxops, name), **arguments(name))
    expected = function()
    placed = jax.tree.map(
        lambda x: jax.device_put(x, NamedSharding(mesh, P())) if isinstance(x, np.ndarray) else x,
        arguments(name),
    )
    spec = P("d", *[None] * (expected.ndim - 1)) if expected.ndim else P()
    call = functools.partial(getattr(jaxops, name), **placed, out_sharding=spec)
    for result in (call(), jax.jit(call)()):
        np.testing.assert_array_equal(result, expected)
        assert jax.typeof(result).sharding.spec == spec


@pytest.mark.parametrize("name", TAKERS)
def test_every_function_refuses_it_without_a_mesh(name):
    with pytest.raises(
        ValueError, match=f"^{name}: out_sharding must come with an array on a mesh"
    ):
        getattr(jaxops, name)(**arguments(name), out_sharding=P("d"))


def test_a_bad_index_is_an_error(mesh):
    ids = jax.device_put(np.array([1, 9], np.int32), NamedSharding(mesh, P("d")))
    table = jax.device_put(np.ones((4, 2), np.float32), NamedSharding(mesh, P("d")))
    for said in (None, P()):
        gather = functools.partial(jaxops.gather, out_sharding=said)
        with pytest.raises(jaxops.OutOfBoundsError, match=r"indices\[1\] = 9 is not in \[0, 4\)"):
            gather(table, ids)
        with pytest.raises(Exception, match=r"indices\[1\] = 9 is not in \[0, 4\)"):
            jax.block_until_ready(jax.jit(gather)(table, ids))


def test_errors_elsewhere_are_those_of_jax():
    def fails(x):
        raise TypeError("the sharding of something else")

    with pytest.raises(TypeError, match=r"^the sharding of something else$"):
        sharding.call("gather", fails, None, jnp.ones(3))
