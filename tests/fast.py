"""What compiles in a third of the time, for tests of values and derivatives."""

import functools
from typing import Any

import jax
from jax.test_util import check_jvp, check_vjp

# XLA leaves out LLVM's optimizations and the emitters of fused loops; what the program computes
# stays as it is. Tests of compiled text, of updates in place and of rounding use `jax.jit`, and so
# do those of the values of each op in each mode.
OPTIONS = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
}


@functools.cache
def known_options():
    """Those of the options that this XLA has: jax 0.12 has no other emitters."""

    def is_known(option):
        try:
            jax.jit(lambda: 0, compiler_options=dict([option])).lower().compile()
        except jax.errors.JaxRuntimeError as error:
            if "No such compile option" in str(error):
                return False
            raise
        return True

    return dict(filter(is_known, OPTIONS.items()))


def fast_jit(f):
    return jax.jit(f, compiler_options=known_options())


def check_derivatives(f, args, order):
    """Both modes against finite differences, as `jax.test_util.check_grads`, but compiled whole."""
    compiled = fast_jit(f)
    jvp = functools.partial(jax.jvp, f)
    pullback = fast_jit(lambda cotangent, *args: jax.vjp(f, *args)[1](cotangent))

    def vjp(*args):
        return compiled(*args), lambda cotangent: pullback(cotangent, *args)

    tolerances: dict[str, Any] = {"eps": 1 / 256, "rtol": 1e-2, "atol": 1e-2}
    check_jvp(compiled, fast_jit(jvp), args, **tolerances)
    check_vjp(compiled, vjp, args, **tolerances)
    if order > 1:

        def gradient(*args):
            result, pullback = jax.vjp(f, *args)
            return pullback(result)

        check_derivatives(jvp, (args, args), order - 1)
        check_derivatives(gradient, args, order - 1)
