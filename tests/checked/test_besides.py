"""`checked` with what else works on functions of JAX."""

import functools
import threading

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from checked.jax_code import BAD, GOOD, X
from checks import raised
from jax import lax
from jax.experimental import checkify

import jaxops


def rows(x, i):
    return x[i]


def take(x, i):
    return jnp.take(x, i, axis=0)


def loss(x, i):
    return jnp.sum(x[i] ** 2)


def sparse(f):
    return jaxops.sparse_value_and_grad(f, tables="")


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("within", [False, True])
def test_sparse_gradients(within, jit):
    f = sparse(jaxops.checked(loss)) if within else jaxops.checked(sparse(loss))
    f = jax.jit(f) if jit else f
    value, slices = f(X, GOOD)
    dense = jax.value_and_grad(loss)(X, GOOD)
    np.testing.assert_array_equal(value, dense[0])
    np.testing.assert_array_equal(slices.to_dense(), dense[1])
    assert raised(f, X, BAD).where.endswith("(loss)")


@pytest.mark.usefixtures("standard_promotion")
def test_lazy_steps():
    optimizer = jaxops.lazy(optax.sgd(0.5))

    def step(x, i):
        return optimizer.apply(sparse(loss)(x, i)[1], optimizer.init(x), x)[0]

    np.testing.assert_array_equal(jax.jit(jaxops.checked(step))(X, GOOD), step(X, GOOD))
    assert raised(jax.jit(jaxops.checked(step)), X, BAD).where.endswith("(loss)")


@pytest.mark.parametrize("function", [rows, take])
@pytest.mark.parametrize("errors", [checkify.user_checks, checkify.index_checks])
def test_checkify(function, errors):
    for f in (
        checkify.checkify(jaxops.checked(function), errors=errors),
        jaxops.checked(checkify.checkify(jax.jit(function), errors=errors)),
    ):
        error, values = f(X, GOOD)
        assert error.get() is None
        np.testing.assert_array_equal(values, function(X, GOOD))
        assert "index 4 at position [1]" in (f(X, BAD)[0].get() or "")


def test_without_jit():
    with jax.disable_jit():
        raised(jax.jit(jaxops.checked(take)), X, BAD)
        raised(jaxops.checked(lambda: lax.map(lambda j: X[j], BAD)))


def test_debug_nans():
    with jax.debug_nans(True):
        np.testing.assert_array_equal(jaxops.checked(take)(X, GOOD), take(X, GOOD))
        raised(jax.jit(jaxops.checked(take)), X, BAD)


def test_threads_have_each_their_own():
    seen = []

    def run(f):
        try:
            with jaxops.typed_errors():
                seen.append(jax.block_until_ready(f(X, BAD)).shape)
        except jaxops.OutOfBoundsError as error:
            seen.append(error.index)

    threads = [
        threading.Thread(target=run, args=[f])
        for f in 4 * (jaxops.checked(jax.jit(rows)), jax.jit(rows))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen, key=str) == 4 * [(2, 3)] + 4 * [4]


@pytest.mark.parametrize("within", [False, True])
def test_donation(within):
    write = lambda x, i: x.at[i].set(0.0)  # noqa: E731
    inner = jaxops.checked(write) if within else write
    f = jax.jit(inner, donate_argnums=0)
    f = f if within else jaxops.checked(f)
    x = X + 0
    np.testing.assert_array_equal(f(x, GOOD), write(X, GOOD))
    assert x.is_deleted()
    raised(f, X + 0, BAD)


def test_static_arguments():
    scaled = lambda x, i, n, *, by: x[i] * n * by  # noqa: E731
    for f in (
        jaxops.checked(jax.jit(scaled, static_argnums=2, static_argnames="by")),
        jax.jit(jaxops.checked(scaled), static_argnums=2, static_argnames="by"),
    ):
        np.testing.assert_array_equal(f(X, GOOD, 2.0, by=3.0), X[GOOD] * 6)
        raised(functools.partial(f, by=3.0), X, BAD, 2.0)


@pytest.mark.parametrize("spec", [jax.P("d", None), jax.P(None, "d")])
def test_explicit_mesh(spec):
    mesh = jax.make_mesh((1,), ("d",), (jax.sharding.AxisType.Explicit,), devices=jax.devices()[:1])
    with jax.set_mesh(mesh):
        f = jax.jit(jaxops.checked(lambda x, i: x.at[i].get(out_sharding=jax.P())))
        x = jax.device_put(X, spec)
        np.testing.assert_array_equal(f(x, GOOD), X[GOOD])
        raised(f, x, BAD)


@pytest.mark.parametrize("in_kernel", [False, True])
@pytest.mark.parametrize("interpret", [False, True])
def test_kernel_of_pallas(interpret, in_kernel, x32):
    """Pallas compiles no check; where it interprets the kernel, an index is checked."""
    from jax.experimental import pallas as pl

    take = jnp.take_along_axis
    if in_kernel:
        take = jax.jit(jaxops.checked(take), static_argnums=2)

    def kernel(x, i, result):
        result[...] = take(x[...], i[...], 0)

    @jax.jit
    @(jaxops.unchecked if in_kernel else jaxops.checked)
    def call(x, i):
        result = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return pl.pallas_call(kernel, result, interpret=interpret)(x, i)

    x = jnp.arange(1024.0).reshape(8, 128)
    i = jnp.zeros(x.shape, jnp.int32)
    if interpret:
        np.testing.assert_array_equal(call(x, i), x[:1] + 0 * x)
        assert raised(call, x, i + 8).where.endswith("(kernel)")
    else:
        assert "tpu_custom_call" in call.trace(x, i).lower(lowering_platforms=("tpu",)).as_text()


@pytest.mark.parametrize("interpret", [False, True])
def test_references_of_a_kernel(interpret, x32):
    from jax.experimental import pallas as pl

    def kernel(x, result):
        result[...] = x[pl.ds(8 * pl.program_id(0), 8), :]

    x, block = jnp.arange(2048.0).reshape(16, 128), pl.BlockSpec((8, 128), lambda n: (n, 0))

    def call(steps):
        result = jax.ShapeDtypeStruct((8 * steps, 128), x.dtype)
        whole = pl.BlockSpec((16, 128), lambda n: (0, 0))
        copy = pl.pallas_call(
            kernel, result, grid=steps, in_specs=[whole], out_specs=block, interpret=interpret
        )
        return jax.jit(jaxops.checked(copy))

    if interpret:
        np.testing.assert_array_equal(call(2)(x), x)
        assert raised(call(3), x).index == 16
    else:
        assert "tpu_custom_call" in call(3).trace(x).lower(lowering_platforms=("tpu",)).as_text()


def test_compiled_ahead_of_time():
    compiled = jax.jit(jaxops.checked(rows)).lower(X, GOOD).compile()
    np.testing.assert_array_equal(compiled(X, GOOD), X[GOOD])
    raised(compiled, X, BAD)
