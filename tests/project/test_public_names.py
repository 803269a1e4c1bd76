"""Each public module says which names are public, and shows no others."""

import ast
import builtins
import importlib
import inspect
import operator
import re
import traceback
import types
from pathlib import Path

import numpy as np
import pytest
import write_names

import jaxops
from jaxops import _tensorflow_names

PACKAGE = Path(jaxops.__file__).parent
FILES = write_names.files()
MODULES = sorted(
    ".".join(("jaxops", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if not any(
        part.startswith("_") and part != "__init__"
        for part in path.relative_to(PACKAGE).with_suffix("").parts
    )
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_that_are_written(path):
    text = path.read_text() if path.exists() else ""
    assert text == FILES[path], f"{path.name} is not made from jaxops/_names.py: run `make names`"


def tree_of(name: str) -> ast.Module:
    """The module, as type checkers read it."""
    path = PACKAGE.parent.joinpath(*name.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    stub = path.with_suffix(".pyi")
    return ast.parse((stub if stub.exists() else path).read_text())


def assigned(tree: ast.Module) -> dict[str, ast.expr | None]:
    found = {}
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id: node.value for target in targets if isinstance(target, ast.Name)}
    return found


def in_all(tree: ast.Module) -> list[str]:
    value = assigned(tree)["__all__"]
    assert value is not None
    return ast.literal_eval(value)


def passed_on(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """By public name the module and the name that it is imported from.

    Names in `__all__` are public, and so is what is imported by `from x import y as z`.
    """
    return {
        alias.asname or alias.name: (str(node.module), alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if not (alias.asname or "").startswith("_")
        if alias.asname or alias.name in in_all(tree)
    }


def defined(name: str) -> set[str]:
    """The public names that type checkers see in a module."""
    tree = tree_of(name)
    definitions = (ast.FunctionDef, ast.ClassDef)
    own = {node.name for node in tree.body if isinstance(node, definitions)}
    found = {*passed_on(tree), *own, *assigned(tree)}
    return {name for name in found if not name.startswith("_")}


@pytest.mark.parametrize("name", MODULES)
def test_names_are_what_type_checkers_see(name):
    """Also those of `jaxops` that are imported at their first use."""
    module, tree = importlib.import_module(name), tree_of(name)
    for public, (home, there) in passed_on(tree).items():
        written = inspect.unwrap(getattr(importlib.import_module(home), there))
        assert inspect.unwrap(getattr(module, public)) is written
    assert in_all(tree) == [*module.__all__]


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'jaxops' has no attribute 'gathr'"):
        _ = jaxops.gathr  # type: ignore[attr-defined]


def test_a_name_of_tensorflow_that_is_elsewhere():
    found = {
        "jaxops.reduce_sum": "use jax.numpy.sum",
        "jaxops.equal": "use jax.numpy.equal",
        "jaxops.math.top_k": "use jax.lax.top_k",
        "jaxops.nn.relu": "use jax.nn.relu",
        "jaxops.math.gather": "use jaxops.gather",
        "jaxops.Graph": "JAX has none: TensorFlow's graphs",
        "jaxops.bitwise": "use jax.numpy.bitwise_and and its sisters",
        "jaxops.compat.v1": "use the names of TensorFlow 2, in jaxops, or those of",
        "jaxops.strings.split": "JAX has none: no device holds strings",  # not jaxops.split
        "jaxops.argmax": "use jax.numpy.argmax, with axis=0 where no axis is given",
        "jaxops.image.crop_and_resize": "use jax.scipy.ndimage.map_coordinates",
        "jaxops.inv": "use jax.numpy.linalg.inv",  # tf.linalg.inv
        "jaxops.pack": "use jaxops.stack",
        "jaxops.placeholder": "JAX has none: TensorFlow's graphs",
        "jaxops.compat.v0.inv": "use jax.numpy.reciprocal",
        "jaxops.compat.v0.reduce_sum": "use jax.numpy.sum",
        "jaxops.compat.v0.batch_matrix_diag": "use jaxops.matrix_diag",
        "jaxops.compat.v0.embedding_lookup": "use jaxops.embedding_lookup, which takes several",
        "jaxops.compat.v0.nn": "use jaxops.nn, whose embedding_lookup takes",
        "jaxops.compat.v0.safe_embedding_lookup_sparse": "use jaxops.safe_embedding_lookup",
        "jaxops.compat.v0.searchsorted": "use jaxops.searchsorted",
        "jaxops.select": "use jaxops.compat.v0.select; a condition of rank 1 chooses rows there",
        "jaxops.linalg.trace": "use jax.numpy.trace, with axis1=-2, axis2=-1",
        "jaxops.compat.v0.image": "use jaxops.image",
        "jaxops.compat.v0.sparse_to_dense": "use jaxops.tensor_scatter_nd_update(jax",
        "jaxops.compat.v0.contrib": "JAX has none: TensorFlow's graphs",
    }
    for path, words in found.items():
        module, _, name = path.rpartition(".")
        text = f"module '{module}' has no attribute '{name}'; {words}"
        with pytest.raises(AttributeError, match=re.escape(text)) as info:
            getattr(importlib.import_module(module), name)
        assert len(traceback.extract_tb(info.tb)) == 2
        assert not hasattr(importlib.import_module(module), name)
        with pytest.raises(ImportError, match=f"cannot import name '{name}' from '{module}'"):
            exec(f"from {module} import {name}")


@pytest.mark.parametrize("rows", [1, 9, 10, 11])
def test_cure_for_tables_whose_rows_are_dealt_out(rows):
    """The hint's code, for TensorFlow 1's default partition_strategy, which was compared."""
    code = re.findall(r"`(jaxops\.dyn.*?)`.*`rows = (.*?)`", _tensorflow_names.CHANGED["nn"])
    (table_of, rows_of), table = *code, np.arange(rows * 2.0).reshape(rows, 2)
    given = {"jaxops": jaxops, "params": [table[n::3] for n in range(3)]}
    np.testing.assert_array_equal(eval(table_of, given | {"rows": eval(rows_of, given)}), table)


def test_answers_name_what_there_is():
    """Each name of JAX, NumPy and jaxops in the table."""
    modules = (
        "experimental.checkify",
        "experimental.sparse",
        "image",
        "scipy.ndimage",
        "scipy.signal",
    )
    for module in modules:
        importlib.import_module(f"jax.{module}")
    names = _tensorflow_names
    tables = (names.TABLE, names.OLD, names.OTHERS, names.CHANGED)
    answers = [found for table in tables for found in table.values()]
    paths = {
        (module, path)
        for found in answers
        for module, path in re.findall(r"(?<![\w.])(jaxops|jax|numpy|optax)\.([\w.]*\w)", found)
    }
    for module, path in paths:
        operator.attrgetter(path)(importlib.import_module(module))
    assert len(paths) > 150
    assert not {*names.TABLE, *names.OLD} & {*dir(jaxops)}
    assert {*names.CHANGED} <= {*dir(jaxops)} - {*dir(jaxops.compat.v0)}


def test_all_public_modules_are_found():
    assert {"jaxops", "jaxops.compat.v0", "jaxops.testing", "jaxops.math"} <= {*MODULES}
    assert len(MODULES) >= 12


@pytest.mark.parametrize("name", MODULES)
def test_dir_has_the_public_names(name):
    module = importlib.import_module(name)
    shown = {*dir(module)} - {"__version__"}
    assert shown == defined(name)
    for each in shown:
        assert getattr(module, each) is not None


@pytest.mark.parametrize("name", MODULES)
def test_star_replaces_nothing(name):
    """Neither a name of Python nor, by a module, one of another library."""
    before = {**vars(builtins)}
    brought = dict(before)
    exec(f"from {name} import *", brought)
    changed = {key for key in before if brought[key] is not before[key]}
    assert changed <= {"__builtins__"}
    public = importlib.import_module(name)
    assert {*public.__all__} == brought.keys() - before.keys() - {"__builtins__"}
    modules = {key for key in public.__all__ if isinstance(brought[key], types.ModuleType)}
    assert modules <= {"v0"}  # which is all that `compat` has
    left_out = {*dir(public)} - {*public.__all__} - {"__version__"}
    for each in left_out:
        is_module = isinstance(getattr(public, each), types.ModuleType)
        assert is_module or hasattr(builtins, each), f"{each} could be in __all__"
