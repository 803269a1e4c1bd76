"""Compiles in a third of the time: XLA leaves out optimizations, and computes the same."""

import functools
import os
import subprocess
import sys
import threading

import jax

# Without LLVM's optimizations, the emitters of fused loops, and a module for each thread.
FAST = {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
}
OPTIMIZED = {
    "xla_backend_optimization_level": 3,
    "xla_llvm_disable_expensive_passes": False,
    "xla_cpu_use_fusion_emitters": True,
    "xla_cpu_parallel_codegen_split_count": 32,
}


@functools.cache
def known(optimized):
    """Those of the options that this XLA has: jax 0.12 has no other emitters."""

    def is_known(option):
        try:
            jax.jit(lambda: 0, compiler_options=dict([option])).lower().compile()
        except jax.errors.JaxRuntimeError as error:
            if "No such compile option" in str(error):
                return False
            raise
        return True

    return dict(filter(is_known, (OPTIMIZED if optimized else FAST).items()))


def fast_jit(f, **options):
    """Compiles fast in any run; for large programs of which only values are tested."""
    return jax.jit(f, compiler_options=known(False), **options)


def optimized_jit(f, **options):
    """Optimizes in any run; for tests of what XLA makes of a program."""
    return jax.jit(f, compiler_options=known(True), **options)


def set_flags():
    """Of every program, eager ones too, in this process, where XLA has not started, and in others.

    XLA dies of a flag that it does not know, so another process finds out which it knows.
    """
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=True)
    given = os.environ.get("XLA_FLAGS", "")
    os.environ["XLA_FLAGS"] = f"{given} {done.stdout}".strip()


def share_contexts():
    """Lowers all programs of a thread in one context of MLIR.

    JAX makes a new context for each program, which is a sixth of the time of these tests. The names
    are private: where one is gone, each program has a context of its own, as for users.
    """
    try:
        from jax._src.interpreters import mlir
        from jaxlib.mlir import ir

        make = mlir.make_ir_context
    except (ImportError, AttributeError):
        return
    made = threading.local()

    def is_in_use():
        """By the program during whose lowering another one is lowered."""
        try:
            return ir.Context.current is made.context
        except ValueError:  # there is none
            return False

    def context():
        if not hasattr(made, "context"):
            made.context = make()
        return make() if is_in_use() else made.context

    mlir.make_ir_context = context


if __name__ == "__main__":
    print(*(f"--{name}={str(value).lower()}" for name, value in known(False).items()))
