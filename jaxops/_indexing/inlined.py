"""Small functions that check indices are lowered as a part of the program that calls them.

JAX makes a jitted function that a program calls, such as `jnp.take`, a function apart, whose checks
could not join the branch of the program (`branches.py`). A program that calls `jnp.take` for tables
of many shapes compiles faster with one branch. So the first call of each function is inlined; the
calls after the first share JAX's function, whose loops XLA compiles once.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from typing import Any

from jax.interpreters import mlir

from jaxops import _jax_internals
from jaxops._indexing import lanes
from jaxops._indexing.loops import is_for_cpus

# A larger function has a branch of its own, which takes less than the rest of the function.
_MOST_EQUATIONS = 64


def lower(eqn: Any, rule: Callable, ctx, *operands, **params):
    """The lowering rule of the call of a jitted function; `rule` is JAX's own."""
    is_shared = _jax_internals.says_how_to_share(eqn)
    if lanes.calls_checks(eqn) and is_for_cpus(ctx) and not is_shared:
        program = _jax_internals.body(eqn)
        equations = _jax_internals.equations_in(program)
        is_small = len([*itertools.islice(equations, _MOST_EQUATIONS + 1)]) <= _MOST_EQUATIONS
        # XLA compiles the loops of many calls of one function once. Inlined, 100 calls of one
        # `jnp.take` took 2.0 s to lower and compile; they take 1.2 s. On several devices each
        # branch takes 0.2 ms of each run: all calls share one.
        called, key = _jax_internals.memory_of_lowering(ctx), (lower, program.jaxpr)
        joins = called is not None and (
            key not in called or not _jax_internals.is_for_one_device(ctx)
        )
        if called is not None:
            called[key] = True
        if joins and is_small and not program.consts and not program.effects:
            # Not by `mlir.lower_fun`, which would bind the primitives anew, under `checked`
            # (test_loops.py, test_a_function_that_is_exempt).
            with contextlib.suppress(AttributeError, TypeError):  # an unknown signature
                results, _ = mlir.jaxpr_subcomp(
                    ctx.module_context,
                    program.jaxpr,
                    ctx.name_stack,
                    ctx.tokens_in,
                    [],
                    *operands,
                    dim_var_values=ctx.dim_var_values,
                    const_lowering=ctx.const_lowering,
                    outer_traceback=None,
                )
                return results
    return rule(ctx, *operands, **params)
