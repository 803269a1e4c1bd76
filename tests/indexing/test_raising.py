"""How a compiled program raises."""

import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import raised
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import mlir

import jaxops
from jaxops import _errors, _jax_internals
from jaxops._indexing.raising import raise_from_program, raise_p


def error(position, index):
    where = tuple(int(p) for p in position)
    return jaxops.OutOfBoundsError(f"{index} at {where}", "gather", where, int(index), 3)


@jax.jit
def program(is_bad, position, index):
    """Within a `cond`, as `check` uses it: no equation of a traced program has the primitive."""
    return lowered_p.bind(is_bad, position, index)


def raise_if(is_bad, position, index):
    def raise_now():
        raise_from_program(error, position, index)

    lax.cond(is_bad, raise_now, lambda: None)
    return index


lowered_p = Primitive("raise_if")
lowered_p.def_abstract_eval(lambda is_bad, position, index: index)
mlir.register_lowering(lowered_p, mlir.lower_fun(raise_if, multiple_results=False))


def test_operands_reach_the_error():
    position = jnp.array([2, 5])
    for index in (7, 8):
        assert program(False, position, jnp.int32(index)) == index
        found = raised(program, True, position, jnp.int32(index))
        assert (found.position, found.index) == ((2, 5), index)
        assert str(found.__context__).endswith(f"OutOfBoundsError: {index} at (2, 5)")


def test_nothing_is_logged(caplog, capfd):
    with pytest.raises((jax.errors.JaxRuntimeError, ValueError)):
        jax.block_until_ready(program(True, jnp.array([2]), jnp.int32(7)))
    assert (caplog.text, *capfd.readouterr()) == ("", "", "")


def test_a_context_that_has_other_callbacks():
    """Then the function that JAX put around ours stays, and its frame in the words."""
    emitted, ours = object(), object()
    for callbacks in ([], [emitted, object()], (emitted,), None):
        ctx = types.SimpleNamespace(module_context=types.SimpleNamespace(host_callbacks=callbacks))
        before = callbacks and [*callbacks]
        _jax_internals.call_without_frames(ctx, emitted, ours)  # type: ignore[arg-type]
        assert (callbacks and [*callbacks]) == before
    callbacks = [object(), emitted]
    ctx.module_context.host_callbacks = callbacks
    _jax_internals.call_without_frames(ctx, emitted, ours)  # type: ignore[arg-type]
    assert callbacks[1] is ours


class Token:
    def __init__(self, error=None):
        self.error = error

    def block_until_ready(self):
        if self.error:
            raise self.error


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (None, True),
        (jax.errors.JaxRuntimeError("INTERNAL: OutOfBoundsError: indices[1] = 9"), True),
        (ValueError("INTERNAL: OutOfBoundsError: indices[1] = 9"), True),
        (jax.errors.JaxRuntimeError("INTERNAL: CpuCallback error: KeyError: 3"), False),
    ],
)
def test_a_token_forgets_our_errors_only(error, passes):
    token = _jax_internals._Token(Token(error), _errors.is_out_of_bounds)
    if passes:
        token.block_until_ready()
    else:
        with pytest.raises(type(error), match="KeyError: 3"):
            token.block_until_ready()


def test_an_error_of_another_callback_comes_up_as_ever():
    """Also where the program has a check of ours, whose lowering wraps the tokens."""

    def fail(x):
        raise KeyError("of another")

    @jax.jit
    def both(x, i):
        jax.debug.callback(fail, x)
        return jaxops.gather(x, i)

    with pytest.raises(jax.errors.JaxRuntimeError, match="of another"):  # noqa: PT012
        jax.block_until_ready(both(np.arange(3.0), jnp.array([1])))
        jax.effects_barrier()


def test_the_primitive_is_for_programs_that_are_lowered():
    assert jax.make_jaxpr(lambda x: raise_p.bind(x, error=error))(1.0).jaxpr
    with pytest.raises(NotImplementedError):
        raise_p.bind(jnp.zeros(2), error=error)
