"""Takes names of JAX away from jaxops, one by one, and looks at what becomes of it.

A name is taken away by a change of jaxops' text, as JAX itself needs its names. Each case is a fork
of this process, which has imported all but jaxops: `import jaxops` and calls of `gather` have to
work in all of them, and then `CASES` tells what else. Prints a line of JSON, what went wrong
without each name. `test_jax_internals.py` runs it.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax
from jax.experimental import checkify
from mutants import Finder

SOURCE = Path(__file__).resolve().parents[2] / "jaxops" / "_jax_internals.py"
X = np.arange(4, dtype=np.float32)


def refuses(words: str, call, *args) -> None:
    """`call` raises an error with these words, a regular expression."""
    with pytest.raises(Exception, match=f"(?s){words}"):
        call(*args)


OUT_OF_BOUNDS = r"indices\[0\] = 9 is not in \[0, 4\)"


def plain_calls() -> None:
    import jaxops

    def gather(indices):
        return jaxops.gather(jnp.asarray(X), indices)

    assert gather([3]) == 3
    for call in (gather, jax.jit(gather)):
        assert call(jnp.array([3])) == 3
        refuses(OUT_OF_BOUNDS, lambda c=call: jax.block_until_ready(c(jnp.array([9]))))


# --- what else works, or is refused in which words ---


def nothing_else() -> None: ...


def blocks() -> None:
    """In which the result of a program is read."""
    import jaxops

    program = jax.jit(lambda i: jaxops.gather(jnp.asarray(X), i))

    @jaxops.typed_errors()
    def lookup():
        return program(jnp.array([9]))

    for _ in range(3):
        refuses("^indices", lookup)


def eager() -> None:
    import jaxops
    from jaxops import _jax_internals

    assert not _jax_internals.is_eager()
    assert not jax.eval_shape(lambda: jnp.zeros(int(_jax_internals.is_on_host()))).size
    assert list(jax.grad(lambda x: jaxops.gather(x, [3, 3])[0])(X)) == [0, 0, 0, 1]
    by_index = jax.vmap(lambda i: jaxops.gather(X, i) + jaxops.gather(X, 3))
    assert list(by_index(jnp.arange(2))) == [3, 4]
    assert list(jaxops.unique(jnp.array([3, 3, 1])).y) == [3, 1]
    parts = jaxops.dynamic_partition(jnp.array([3, 2, 1]), jnp.array([0, 1, 0]), 2)
    assert [list(part) for part in parts] == [[3, 1], [2]]
    assert jaxops.string_to_number(["3", "4"]).dtype == np.float32
    assert jaxops.gather(["a", "b"], [1])[0] == "b"


def transformed() -> None:
    """One operation after the other, with the same results and errors."""
    import jaxops

    def gather(indices, x=X):
        return jaxops.gather(x, indices)

    by_index = jax.vmap(lambda i: gather(i) + gather(3))
    assert list(by_index(jnp.arange(2))) == [3, 4]
    assert list(jax.grad(lambda x: gather(jnp.array([3, 3]), x)[0])(X)) == [0, 0, 0, 1]
    refuses(OUT_OF_BOUNDS, by_index, jnp.array([9]))
    refuses(OUT_OF_BOUNDS, jax.grad(lambda x: gather(jnp.array([9]), x)[0]), X)


def checkify_raises() -> None:
    """As without checkify, in place of a functional error."""
    import jaxops

    def gather(indices):
        return jaxops.gather(jnp.asarray(X), indices)

    for call in (gather, jax.jit(gather)):
        checked = checkify.checkify(call)
        assert list(checked(jnp.array([3]))[1]) == [3]
        refuses(OUT_OF_BOUNDS, lambda c=checked: jax.block_until_ready(c(jnp.array([9]))))


def rows() -> None:
    import jaxops

    def loss(t):
        del_ = jnp.sum(t)  # not used
        del del_
        return jnp.sum(t[jnp.array([1, 1])])

    grad = jaxops.sparse_value_and_grad(loss, tables="")(jnp.ones((4, 3)))[1]
    np.testing.assert_array_equal(grad.to_dense(), [[0] * 3, [2] * 3, [0] * 3, [0] * 3])


def refused_use() -> None:
    """In words without a place."""
    import jaxops

    use = jaxops.sparse_value_and_grad(lambda t: jnp.sum(t**2), tables="")
    refuses(r"a use by \w+, and \w+ takes all rows", use, jnp.ones((4, 3)))


def rows_first() -> None:
    """Also in a loop, which is made anew."""
    import jaxops

    def loss(t):
        scaled = 2 * t
        return lax.scan(lambda c, i: (c + jnp.sum(scaled[i]), None), 0.0, jnp.array([3, 0]))[0]

    _, slices = jaxops.sparse_value_and_grad(loss, tables="")(jnp.ones((4, 3)))
    assert [*slices.indices] == [3, 0]


def over_one_shard(program):
    mesh = jax.sharding.Mesh(np.array(jax.devices()), "d")
    spec = jax.sharding.PartitionSpec("d")
    return jax.jit(jax.shard_map(program, mesh=mesh, in_specs=spec, out_specs=spec))


def shared_axes() -> list[tuple]:
    """Without control flow, in a branch, and in a loop."""
    import jaxops
    from jaxops._indexing import check

    seen = []

    def look(i):
        seen.append(check._shared_axes(i))
        return jaxops.gather(jnp.asarray(X), i)

    def program(i):
        x = lax.cond(i[0] > 0, look, lambda i: (0 * i).astype(X.dtype), i)
        step = lambda c: look(i)[None]  # noqa: E731
        return look(i) + x + lax.while_loop(lambda c: c[0, 0] < 1, step, x[None] * 0)[0]

    np.testing.assert_array_equal(over_one_shard(program)(jnp.array([3])), [9])
    return seen


def shards_agree() -> None:
    seen = shared_axes()
    assert seen == [(("d",), ("d",))] * 3, seen


def types_are_refused() -> None:
    refuses("jaxops: inside jax.shard_map the types of arrays must tell", shared_axes)


def in_lanes(rule: str | None = None):
    """One call of a batch reads 3; another would read 9 in a branch that it does not take."""
    import jaxops

    def read(x, i):
        return jaxops.gather(x, i)

    if rule is not None:
        function = getattr(jax, rule)(read)
        if rule == "custom_jvp":
            function.defjvp(lambda p, t: (read(*p), read(t[0], p[1])))
        else:
            function.defvjp(lambda x, i: (read(x, i), None), lambda residuals, bar: (None, None))
    else:
        function = read
    x = jnp.asarray(X)
    one = lambda i: lax.cond(i < 4, lambda: function(x, i), lambda: x[0])  # noqa: E731
    return jax.vmap(one)(jnp.array([3, 9]))


def lanes_raise() -> None:
    """Also for a call that does not come to the check."""
    refuses(r"indices\[1\] = 9", in_lanes)


def lanes_of_rules_are_refused() -> None:
    assert list(in_lanes()) == [3, 0]
    refuses("custom_jvp_call must have a parameter 'jvp_jaxpr_fun'", in_lanes, "custom_jvp")
    refuses("custom_vjp_call must have a parameter 'fwd_jaxpr_thunk'", in_lanes, "custom_vjp")


def exported(mode: Any):
    import jaxops

    program = jax.jit(lambda x, i: jaxops.gather(x, i, mode=mode))
    return export.export(program)(X, jnp.array([3]))


def exports_refused_by_us() -> None:
    refuses("gather: mode must be one that needs no Python", exported, "device")
    assert exported("fill").call(X, jnp.array([9]))[0] == 0


def exports_refused_by_jax() -> None:
    refuses("(?i)callback", exported, "device")
    assert exported("fill").call(X, jnp.array([9]))[0] == 0


def checked_works() -> None:
    import jaxops

    def take(i):
        return jnp.take(jnp.asarray(X), i)

    assert jaxops.checked(take)(jnp.array([3]))[0] == 3
    place = r"at .*private_names.py:\d+ \(take\)"
    refuses(f"index 9 .*{place}", jaxops.checked(take), jnp.array([9]))


def checked_is_refused() -> None:
    import jaxops

    for use in (lambda: jaxops.checked(jnp.sin), jaxops.check_everything):
        refuses("^checked: jax must bind the primitives that index from functions", use)


def keys_as_jaxs() -> None:
    from jaxops._sparse.slices import row_numbers

    refuses("^(?!.*row numbers)", lambda: row_numbers.to_leaf(jnp.arange(3)).sum())


# What is replaced in the text, and the function that looks.
CASES = {
    name: look
    for look, names in [
        (shards_agree, [""]),  # with all names
        (
            nothing_else,
            [
                *("batched_device_put", "jet_rules", "traceback_util.register_exclusion"),
                *("runtime_tokens", "set_output_runtime_token", "module_context.host_callbacks"),
                *("axis_context.num_devices", "module_context.module", "mlir._lowerings"),
                "module_context.cached_primitive_lowerings",
            ],
        ),
        (eager, ["trace_state_clean"]),
        (
            transformed,
            [
                *("_src.core", "trace_ctx.trace", "parent_trace", '"primal', '"val'),
                *('"BatchTrace', '"JVPTrace', '"LinearizeTrace', '"EvalTrace'),
            ],
        ),
        (checkify_raises, ["checkify.error_checks"]),
        (rows, ["partial_eval.dce_jaxpr"]),
        (rows_first, ["jax._src.{path}"]),
        (refused_use, ["user_frames"]),
        (lanes_raise, ["fancy_primitive_batchers"]),
        (lanes_of_rules_are_refused, ["call_wrapped"]),
        (
            blocks,
            [
                *("_post_hook_state", "get_global", "set_global", "ExecuteReplicated"),
                *("get_local", "set_local", "swap_local"),
            ],
        ),
        (types_are_refused, ["manual_axis_type.varying"]),
        (exports_refused_by_us, ["module_context.platforms"]),
        (exports_refused_by_jax, ["lowering_parameters.for_export", "module_context"]),
        (checked_works, ["func_src_info", "ad_checkpoint.remat_p", "_pjit_call_impl_python"]),
        (
            checked_is_refused,
            [
                *("jax._src.pjit.jit_p", "custom_jvp_call_p", "custom_vjp_call_p"),
                "transformation2",
                *('"trace_to_jaxpr', '"eval_jaxpr', "_src/numpy", '"op'),
                *("state.primitives.get_p", "state.primitives.swap_p", "addupdate_p"),
                *("_src/state/primitives.py", "_src/state/types.py", '"indices'),
            ],
        ),
        (keys_as_jaxs, ["PRNGKeyArray"]),
    ]
    for name in names
}


def without(name: str) -> str:
    """The text of `_jax_internals.py`, with another name in place of this one."""
    text = SOURCE.read_text()
    changed = re.sub(rf"{re.escape(name)}(?=\W)", f"{name}_gone", text) if name else text
    assert changed != text or not name, f"{name} does not stand in {SOURCE.name}"
    return changed


def try_case(name: str) -> str:
    """What goes wrong, or nothing; in a process of its own."""
    with tempfile.TemporaryFile("w+") as note:
        child = os.fork()
        if child:
            _, status = os.waitpid(child, 0)
            note.seek(0)
            return note.read() or (f"ended with status {status}" if status else "")
        try:
            mutant = SimpleNamespace(module="_jax_internals", path=SOURCE, text=without(name))
            sys.meta_path.insert(0, Finder(mutant))  # type: ignore[arg-type]
            plain_calls()
            CASES[name]()
        except BaseException:
            traceback.print_exc(file=note)
            note.flush()
        finally:
            os._exit(0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of forks
    assert "jaxops" not in sys.modules
    print(json.dumps({case: try_case(case) for case in sys.argv[1:] or CASES}))
