"""Whether JAX binds its primitives, and names its functions, as `checked` relies on it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxops import _jax_internals
from jaxops._checked import setting as settings
from jaxops._checked.setting import Setting
from jaxops._indexing.check_primitive import is_check, site_of, spec_of

# Compiled as a file of its own: a frame of this package is no caller.
_FILE = "<jaxops>"
_PROGRAM = """
def loss(x, i):
    first = jnp.take(x, i)
    return first + jnp.take(x, i) + function(x, i)
@jax.custom_vjp
def function(x, i):
    return x[i]
def backward(residuals, bar):
    x, i = residuals
    return x.at[i].add(bar), None
function.defvjp(lambda x, i: (x[i], (x, i)), backward)
def write(reference, i):
    reference[i] += 1
    jax.ref.addupdate(reference, i, reference[i])
@jax.custom_jvp
def double(x, i):
    return 2 * x[i]
double.defjvp(lambda primals, tangents: (2 * primals[0][primals[1]], 2 * tangents[0][primals[1]]))
"""
# Functions of JAX and lines of the program. JAX traces `jnp.take` once, for both lines.
_CHECKS = [
    (function, f"{_FILE}:{line}")
    for function, line in [
        *(("ref.addupdate", 14), ("take", 3), ("take", 4), ("x.at[...].add", 10)),
        ("x[...]", 11),
        *(("x[...]", 13), ("x[...]", 13), ("x[...]", 14), ("x[...]", 18), ("x[...]", 18)),
    ]
]


def refuse_unknown_jax() -> None:
    """A NotImplementedError, if the checks of a small program are not those that it should have.

    Called once, after the primitives are wrapped. Without it a version of JAX that renames a
    function would leave indices unchecked, or name wrong lines, in silence.
    """
    try:
        found, cause = _checks_of_program(), None
    except Exception as error:  # whatever it is, JAX is not the known one
        found, cause = [], error
    if found != [_CHECKS, _CHECKS]:
        raise NotImplementedError(
            "checked: jax must bind the primitives that index from functions that jaxops knows; "
            f"jax {jax.__version__} does it in another way. Use a version of jax that this version "
            "of jaxops knows"
        ) from cause


def _checks_of_program() -> list[list[tuple[str, str]]]:
    """The checks of a program and its gradient, as traced, and as JAX evaluates it again."""
    names: dict[str, Any] = {"jax": jax, "jnp": jnp}
    exec(compile(_PROGRAM, _FILE, "exec"), names)
    x, i = np.zeros(2, np.float32), np.int32(0)

    def gradient(x, i):
        with settings.within(Setting()):
            names["write"](jax.new_ref(x), i)
            value, pull = jax.vjp(lambda x: names["loss"](x, i), x)
            double = _jax_internals.jaxpr_as_fun(jax.make_jaxpr(names["double"])(x, i))
        # The rule of `double` and `backward` run after the call.
        return pull(value), jax.vjp(lambda x: double(x, i), x)[0]

    with jax.disable_jit(False), jax.no_tracing(False):
        program = jax.make_jaxpr(gradient)(x, i)
        with settings.within(Setting()):
            again = jax.make_jaxpr(_jax_internals.jaxpr_as_fun(program))(x, i)
    return [_checks_of(program), _checks_of(again)]


def _checks_of(program: _jax_internals.ClosedJaxpr) -> list[tuple[str, str]]:
    """The function and the line of each."""
    return sorted(
        (spec_of(eqn).operation, site_of(eqn).where.split()[0])
        for eqn in _jax_internals.equations_in(program)
        if is_check(eqn)
    )
