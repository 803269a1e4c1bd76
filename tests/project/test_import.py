"""`import jaxops` loads little beside JAX; what is loaded later works as if it had been there."""

import ast
import re
from pathlib import Path

import pytest
from checks import printed_by

ROOT = Path(__file__).parents[2]
a_process = pytest.mark.slow  # which imports JAX
# What `import jaxops` leaves to those who use it.
LEFT = (
    "jax._src.checkify",
    "jax._src.pallas",
    "jax.experimental.checkify",
    "jax.experimental.pallas",
    "jax.extend",
    "jaxops._cpu",
    "jaxops._cuda",
    "jaxops._indexing",
    "jaxops._ops",
    "jaxops._sparse",
    "jaxops.compat",
    "jaxops.testing",
    "optax",
    "pdb",
    "unittest",
)


def run(code: str) -> str:
    return printed_by("-W", "error", "-c", code, env={"PYTHONPATH": str(ROOT)})


def loaded_beyond_jax(code: str) -> list[str]:
    before = "import sys, jax\nbefore = {*sys.modules}\n"
    return run(f"{before}{code}\nprint(*sorted({{*sys.modules}} - before))").split()


def left_of(modules: list[str]) -> set[str]:
    return {room for room in LEFT if any(f"{name}.".startswith(f"{room}.") for name in modules)}


@a_process
def test_what_programs_may_not_need_is_not_loaded():
    modules = loaded_beyond_jax("import jaxops")
    assert "jaxops" in modules
    assert not left_of(modules)


@a_process
def test_a_function_loads_no_other():
    modules = loaded_beyond_jax("import jaxops\njaxops.gather")
    assert [name for name in modules if name.startswith("jaxops._ops.")] == ["jaxops._ops.gather"]
    assert left_of(modules) == {"jaxops._indexing", "jaxops._ops"}


@a_process
def test_the_first_call_loads_the_forms():
    modules = loaded_beyond_jax(
        "import jaxops, numpy\njaxops.gather(numpy.ones(3), numpy.ones(2, int))"
    )
    assert left_of(modules) >= {"jaxops._cpu", "jaxops._cuda"}


@a_process
def test_it_is_loaded_at_its_first_use():
    uses = "import jaxops\njaxops.IndexedSlices, jaxops.compat.v0, jaxops.gather([0.0], 0)"
    modules = loaded_beyond_jax(f"{uses}, jaxops.nn, jaxops.testing, jaxops.strings")
    assert left_of(modules) >= {room for room in LEFT if room.startswith("jaxops")}


@a_process
def test_first_uses_in_many_threads():
    code = """
import threading
import jaxops

names = dir(jaxops)
start, found = threading.Barrier(len(names)), []

def use(name):
    start.wait()
    jaxops.gather([1.0, 2.0], [0])  # loads the forms
    found.append((name, getattr(jaxops, name)))

threads = [threading.Thread(target=use, args=[name]) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(found) == len(names)
assert all(x is getattr(jaxops, name) for name, x in found)
print("as ever")
"""
    assert run(code) == "as ever\n"


def test_no_module_imports_a_part_of_jax_extend():
    """`jax.extend` imports its parts. A thread that imports one of them waits for the package."""
    for path in (ROOT / "jaxops").rglob("*.py"):
        # `_jax_internals.py` does, for type checkers alone.
        if path.name != "_jax_internals.py":
            parts = re.findall(r"^ *(?:from|import) jax\.extend\.", path.read_text(), re.MULTILINE)
            assert not parts, path


@a_process
@pytest.mark.parametrize("by", ["jit", "grad", "vmap"])
def test_import_while_tracing(by):
    code = f"""
import jax, jax.numpy as jnp

def loss(x):
    import jaxops

    return jnp.sum(jaxops.gather(x, jnp.zeros_like(x, int)) ** 2)

x = jnp.ones(3)
print(jax.{by}(loss)(x if "{by}" != "vmap" else x[None]))

import jaxops
from jaxops import _jax_internals

assert _jax_internals.is_eager() and not jax.jit(_jax_internals.is_eager)()
print(jaxops.gather(x, jnp.array([2])), jax.jit(jaxops.gather)(x, jnp.array([1])))
jaxops.gather(x, jnp.array([9]))
"""
    with pytest.raises(AssertionError, match=r"indices\[0\] = 9 is not in \[0, 3\)"):
        run(code)


@a_process
def test_first_use_while_tracing():
    code = """
import jax, jax.numpy as jnp
import jaxops

def norm(table):
    loss = lambda t: jnp.sum(jaxops.gather(t, [0, 0]))
    _, slices = jaxops.sparse_value_and_grad(loss, tables="")(table)
    rows = jaxops.RaggedTensor.from_row_lengths(table[0], [1, 2])
    return jaxops.global_norm(slices) + jnp.sum(rows.reduce_sum(axis=1))

print(jax.jit(jax.vmap(norm))(jnp.ones((2, 4, 3))).tolist())
"""
    assert [round(x, 4) for x in ast.literal_eval(run(code))] == [6.4641, 6.4641]


@a_process
def test_checkify_imported_after_the_program_was_traced():
    code = """
import sys
import jax, jax.numpy as jnp
import jaxops

lookup = jax.jit(lambda i: jaxops.gather(jnp.arange(4.0), i))
lookup(jnp.array([3]))

from jax.experimental import checkify

error, _ = checkify.checkify(lookup)(jnp.array([9]))
print(error.get())
"""
    assert "indices[0] = 9 is not in [0, 4)" in run(code)
