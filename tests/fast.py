"""What compiles in a third of the time, for tests of values and derivatives."""

import functools

import jax

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
