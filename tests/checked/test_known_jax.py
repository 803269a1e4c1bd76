"""A version of JAX in which `checked` would not see an index is refused."""

import concurrent.futures
import time

import jax
import jax.numpy as jnp
import pytest

import jaxops
from jaxops._checked import known_jax, primitives


def test_this_version_is_known():
    jaxops.checked(jnp.sin)
    assert known_jax._checks_of_program() == [known_jax._CHECKS, known_jax._CHECKS]


@pytest.mark.parametrize(
    "context",
    [
        jax.disable_jit,
        lambda: jax.enable_x64(True),
        lambda: jax.debug_nans(True),
        jax.checking_leaks,
        lambda: jax.transfer_guard("disallow_explicit"),
        lambda: jax.no_execution(True),
        lambda: jax.no_tracing(True),
    ],
)
def test_where_the_first_function_is_checked(context):
    with context():
        known_jax.refuse_unknown_jax()
    jax.vmap(lambda x: known_jax.refuse_unknown_jax() or x)(jnp.zeros(2))
    jax.jit(lambda x: known_jax.refuse_unknown_jax() or x)(jnp.zeros(2))


@pytest.mark.parametrize("fails", [lambda *_: [[], []], lambda *_: 1 / 0])
def test_refused(monkeypatch, fails):
    monkeypatch.setattr(known_jax, "_checks_of_program", fails)
    primitives._wrap_known.cache_clear()
    for use in (lambda: jaxops.checked(jnp.sin), jaxops.check_everything):
        with pytest.raises(NotImplementedError, match=f"jax {jax.__version__} does it in another"):
            use()
    monkeypatch.undo()
    jaxops.checked(jnp.sin)


def test_threads_that_check_their_first_function_at_once(monkeypatch):
    """Two of them wrapped each primitive twice, and every function was refused from then on."""
    calls = []

    def wrap():
        calls.append(time.sleep(0.05))

    monkeypatch.setattr(primitives, "_wrap", wrap)
    primitives._wrap_known.cache_clear()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: primitives.wrap_primitives(), range(4)))
    assert len(calls) == 1
