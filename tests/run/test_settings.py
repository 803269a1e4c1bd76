"""Settings of JAX around calls: they give the same values and errors as without the setting.

A transfer guard refuses `x + 1` outside of `jit`, as the 1 comes from the host. JAX may refuse a
call of jaxops in the same way, for a number that the caller passes. It must not refuse one for a
constant that jaxops makes.
"""

import concurrent.futures
import gc

import jax
import jax.numpy as jnp
import optax
import pytest
from checks import SLOW, assert_equal

import jaxops

X, GOOD, BAD = jnp.arange(12.0).reshape(4, 3), jnp.array([1, 2]), jnp.array([1, 9])
LAZY = jaxops.lazy(optax.sgd(0.5))


def gather(x, i):
    return jaxops.gather(x, i)


def scatter(x, i):
    return jaxops.tensor_scatter_nd_max(x, i[:, None], x[:2] + 5.0)


def of_known_values(x, i):
    """Results that are known while the function is traced, or made with such."""
    order = jaxops.gather(jaxops.shape(x), jaxops.range(2)[::-1])
    return [
        jaxops.reshape(x, order),
        jaxops.stack([1, jaxops.cast(2.0, "int32")]),
        jaxops.RaggedTensor.from_row_lengths(x[0], [1, 2]).to_tensor(),
        jaxops.RaggedTensor.from_tensor(x).row_splits,
        jaxops.where([True, False, True], size=3, fill_value=-1),
        jaxops.unique([3, 1, 3])[0],
        jaxops.at(x)[i].get(mode="fill", fill_value=3),
    ]


def lazy_step(x, i):
    def loss(x):
        return jnp.sum(jaxops.gather(x, i) ** 2)

    _, grads = jaxops.sparse_value_and_grad(loss, tables="")(x)
    return LAZY.apply(grads, LAZY.init(x), x)[0]


@jaxops.checked
def checked(x, i):
    return jnp.take(x, i, axis=0) + x[i]


@jaxops.checked
def loop(x, i):
    return jax.lax.scan(lambda total, j: (total + x[j], None), x[0], i)[0]


PROGRAMS = {
    "eager": gather,
    "vmap": jax.vmap(gather, (None, 0)),
    "take": jaxops.checked(lambda x, i: jnp.take(x, i, axis=0)),
    "jvp": lambda x, i: jax.jvp(lambda x: gather(x, i), [x], [x])[1],
    **{f.__name__: jax.jit(f) for f in (scatter, lazy_step, checked, loop)},
    "grad": jax.jit(jax.grad(lambda x, i: jnp.sum(gather(x, i) ** 2))),
}

# The contexts of a thread that `jax` has, with these values; the others are switched on or off.
VALUES = {
    "array_garbage_collection_guard": "log",
    "default_device": jax.devices("cpu")[0],
    "default_matmul_precision": "highest",
    "default_prng_impl": "rbg",
    "legacy_prng_key": "error",
    "numpy_dtype_promotion": "strict",
    "numpy_rank_promotion": "raise",
    "transfer_guard_device_to_device": "disallow",
    "transfer_guard_device_to_host": "disallow",
    "transfer_guard_host_to_device": "disallow",
}
# Under these no program runs, or none is traced; 64-bit types have tests of their own.
APART = ("no_execution", "no_tracing", "enable_x64")


def switched(name, state):
    return lambda: state(VALUES.get(name, getattr(jax.config, f"jax_{name}", False) is not True))


SETTINGS = {
    name: switched(name, state)
    for name, state in vars(jax).items()
    if isinstance(state, type(jax.debug_nans)) and name not in APART
}
SETTINGS["transfer_guard"] = lambda: jax.transfer_guard("disallow")
SETTINGS["disable_jit"] = jax.disable_jit
SETTINGS["set_mesh"] = lambda: jax.set_mesh(jax.make_mesh((1,), ("d",)))
QUICK = ("transfer_guard", "numpy_rank_promotion", "enable_checks", "debug_nans")


def check(setting):
    expected = {name: program(X, GOOD) for name, program in PROGRAMS.items()}
    with SETTINGS[setting]():
        found = {name: program(X, GOOD) for name, program in PROGRAMS.items()}
        for name, program in PROGRAMS.items():
            with pytest.raises(jaxops.OutOfBoundsError) as info, jaxops.typed_errors():
                jax.block_until_ready(program(X, BAD))
            assert "9" in str(info.value), name
    for name, value in expected.items():
        assert_equal(found[name], value)


@pytest.mark.parametrize(
    "setting", [pytest.param(s, marks=[] if s in QUICK else SLOW) for s in SETTINGS]
)
def test_values_and_errors(setting):
    check(setting)


def test_threads_of_different_settings():
    with concurrent.futures.ThreadPoolExecutor() as threads:
        list(threads.map(check, QUICK))


@pytest.mark.parametrize(
    "context",
    [
        lambda: jax.transfer_guard("disallow"),
        lambda: jax.transfer_guard("disallow_explicit"),
        lambda: jax.no_execution(True),
    ],
    ids=["disallow", "disallow_explicit", "no_execution"],
)
def test_known_values_while_tracing(context):
    with context():
        program = jax.jit(lambda x, i: of_known_values(x, i)).lower(X, GOOD)
    jax.tree.map(assert_equal, program.compile()(X, GOOD), of_known_values(X, GOOD))


@pytest.mark.parametrize("name", ["eager", "scatter", "lazy_step", "checked", "loop", "grad"])
def test_what_was_traced_before_needs_no_trace(name):
    program = PROGRAMS[name]
    expected = program(X, GOOD)
    with jax.no_tracing(True):
        assert_equal(program(X, GOOD), expected)


FUNCTIONS = {
    **{f.__name__: f for f in (gather, scatter, lazy_step, checked, loop)},
    "element": jaxops.checked(lambda x, i: x[i]),
    "write": jaxops.checked(lambda x, i: x.at[i].set(0.0)),
    "at": lambda x, i: jaxops.at(x)[i].get(),
}


@pytest.mark.parametrize("trace", [False, True], ids=["eager", "traced"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_array_waits_for_the_garbage_collector(name, trace):
    """`jax.array_garbage_collection_guard` reports each array that waits."""

    def call():
        f = FUNCTIONS[name]
        jax.block_until_ready(jax.jit(lambda x, i: f(x, i))(X, GOOD) if trace else f(X, GOOD))

    call()
    gc.collect()
    gc.disable()
    try:
        before = len(jax.live_arrays())
        call()
        assert len(jax.live_arrays()) == before
    finally:
        gc.enable()
