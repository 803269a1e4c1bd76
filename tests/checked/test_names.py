"""Each public function of JAX that takes indices of the caller is checked."""

import ast
import contextlib
import inspect
import itertools
import pathlib
import re

import jax
import jax.numpy as jnp
import pytest
from checked.jax_code import PROGRAMS, SILENT
from jax import lax

import jaxops
from jaxops import _jax_internals
from jaxops._checked import whose

PLACES = [jnp, jnp.ufunc, lax, jax.ops, jax.nn, jax.random, type(jnp.zeros(2))]
# In the names of parameters by which a caller indexes.
WORDS = re.compile(r"(^|_)(ind|idx|segment|choices)")
# They have such a parameter too, which is static, a flag, or a number that they compute with.
NOT_INDEXING = """
    addressable_data all_gather all_to_all argmax argmin array_split delete dsplit hsplit
    index_in_dim index_take intersect1d meshgrid permutation pmax pmean pmin psum psum_scatter
    pswapaxes ragged_all_to_all ravel_multi_index slice slice_in_dim split switch unique
    unravel_index vsplit"""


def functions_of_indices():
    """The public functions and methods of JAX that have a parameter of such a name."""
    found = set()
    for name, function in itertools.chain(*(inspect.getmembers(p, callable) for p in PLACES)):
        if name.startswith("_") or name.endswith("_p") or inspect.isclass(function):
            continue
        with contextlib.suppress(ValueError):  # some built-in functions, none of which indexes
            if any(map(WORDS.search, inspect.signature(function).parameters)):
                found.add(name)
    return found


def test_functions_that_index_are_those_that_are_looked_at():
    found, others = functions_of_indices(), {*NOT_INDEXING.split()}
    assert found - others == whose.BY_FUNCTION, "does it take indices of the caller?"
    assert found >= others
    methods = {name for name in dir(jnp.zeros(2).at[0]) if not name.startswith("_")}
    assert methods - {"array", "index"} == whose.BY_AT


def test_each_function_that_indexes_has_a_program():
    operations = {operation.rpartition(".")[2] for _, operation in PROGRAMS.values()}
    untried = {
        *("choose", "mul"),  # with no mode it refuses tracers and out of bounds; is `multiply`
        *("scatter", "scatter_apply", "scatter_max", "scatter_min", "scatter_mul", "scatter_sub"),
        "dynamic_update_slice_in_dim",
    }
    assert (whose.BY_AT | whose.BY_FUNCTION) - operations == untried
    assert "choose" in SILENT


# --- the names that `checked` knows stand in the source of this version of JAX ---


def functions_of_source():
    """The functions that modules of JAX define, by the name of the function."""
    folder = pathlib.Path(jax.__file__).parent / "_src"
    files = {}
    for path in [*folder.rglob("*.py")]:
        if "pallas" in path.parts or "mosaic" in str(path):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                files.setdefault(node.name, []).append(str(path))
    return files


@pytest.mark.slow
def test_names_that_checked_knows_are_those_of_jax():
    defined = functions_of_source()
    computing = {
        name
        for name, files in defined.items()
        if any(_jax_internals.kind_of_frame(file, name) == "compute" for file in files)
    }
    known = whose.INDEXING | whose.NORMALIZING | whose.LOSING
    assert known <= computing
    assert {*_jax_internals._CALLING_FUNCTIONS} <= {*defined}
    for name in (_jax_internals._TRACING, *_jax_internals._EVALUATING):
        assert any(function.startswith(name) for function in defined), name
    files = [file for files in defined.values() for file in files]
    for path in _jax_internals._COMPUTING:
        is_there = any(file.startswith(path) for file in files) or pathlib.Path(path).exists()
        assert is_there or path.endswith("_src/prng.py"), path  # of jax 0.10.0
    for part in _jax_internals._CALLING:
        assert any(part in file for file in files), part


def test_a_frame_that_is_not_of_jax_has_no_kind():
    assert _jax_internals.kind_of_frame(jaxops.__file__, "take") is None
