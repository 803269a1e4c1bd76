"""Each public function of JAX that takes indices is checked, or is known not to index."""

import ast
import inspect
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

X = jnp.zeros(2)
PLACES = {
    "jnp": jnp,
    "lax": lax,
    "ops": jax.ops,
    "nn": jax.nn,
    "array": X,
    "at": X.at[0],
    "random": jax.random,
}
# Functions by which a caller indexes; `checked` looks at them.
INDEXING = {
    "jnp": "choose put put_along_axis take take_along_axis",
    "lax": """dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim dynamic_update_index_in_dim
        dynamic_update_slice dynamic_update_slice_in_dim gather scatter scatter_add scatter_apply
        scatter_max scatter_min scatter_mul scatter_sub""",
    "ops": "segment_max segment_min segment_prod segment_sum",
    "nn": "",
    "array": "choose take",
    "at": "add apply divide get max min mul multiply power set subtract",
    "random": "",
}
# By an option of `checked`.
LOSING = {"jnp": "repeat", "array": "repeat", "nn": "one_hot"}
# Arguments that may be indices, by their names; and functions with such names for something else.
ARGUMENTS = re.compile("indices|index|idxs|choices|segment_ids|^ind$")
NOT_INDEXING = {
    "jnp": """array_split delete dsplit hsplit intersect1d meshgrid ravel_multi_index split unique
        unravel_index vsplit""",
    "lax": """all_gather all_to_all argmax argmin index_in_dim index_take pmax pmean pmin psum
        psum_scatter pswapaxes ragged_all_to_all slice slice_in_dim switch""",
    "array": "addressable_data",
}


def public(place):
    names = {name for name in dir(place) if not name.startswith("_")}
    if inspect.ismodule(place):
        functions = {name for name in names if callable(getattr(place, name, None))}
        names = {
            name
            for name in functions
            if not inspect.isclass(getattr(place, name)) and not name.endswith("_p")
        }
    return names


def may_index(place, name):
    member = inspect.getattr_static(place, name, None)
    try:
        return any(map(ARGUMENTS.search, inspect.signature(member).parameters))
    except (TypeError, ValueError):  # of no function, or of one without a signature
        return False


@pytest.mark.parametrize("place", PLACES)
def test_each_function_with_indices_is_known(place):
    indexing, losing, others = (
        set(table.get(place, "").split()) for table in (INDEXING, LOSING, NOT_INDEXING)
    )
    assert not indexing & others
    assert not losing & (indexing | others)
    names = public(PLACES[place])
    assert indexing | losing <= names
    found = {name for name in names if may_index(PLACES[place], name)}
    assert indexing <= found
    assert not found - indexing - losing - others, "does it take indices of the caller?"


def test_functions_that_index_are_those_that_are_looked_at():
    by_name = {name for names in INDEXING.values() for name in names.split()}
    assert by_name == whose.BY_AT | whose.BY_FUNCTION
    assert {name for names in LOSING.values() for name in names.split()} <= whose.LOSING


def test_each_function_that_indexes_has_a_program():
    operations = {operation.rpartition(".")[2] for _, operation in PROGRAMS.values()}
    untried = {
        *("choose", "mul"),  # with no mode it refuses tracers and out of bounds; is `multiply`
        *("scatter", "scatter_apply", "scatter_max", "scatter_min", "scatter_mul", "scatter_sub"),
        "dynamic_update_slice_in_dim",
    }
    by_name = {name for names in INDEXING.values() for name in names.split()}
    assert by_name - operations == untried
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
    others = {_jax_internals._TRACING, *_jax_internals._CALLING_FUNCTIONS}
    assert others <= {*defined}
    for name in _jax_internals._EVALUATING:
        assert any(function.startswith(name) for function in defined), name
    files = [file for files in defined.values() for file in files]
    for path in _jax_internals._COMPUTING:
        is_there = any(file.startswith(path) for file in files) or pathlib.Path(path).exists()
        assert is_there or path.endswith("_src/prng.py"), path  # of jax 0.10.0
    for part in _jax_internals._CALLING:
        assert any(part in file for file in files), part


def test_a_frame_that_is_not_of_jax_has_no_kind():
    assert _jax_internals.kind_of_frame(jaxops.__file__, "take") is None
