"""docs/tensorflow_names.md has every public name of TensorFlow's array_ops."""

import ast
import importlib
import inspect
import operator

from docs_pages import load
from peer import tf

import jaxops
from jaxops import _tensorflow_names


def exported(module):
    """The names that the decorators of a module give to its functions, but those of raw ops."""
    nodes = ast.walk(ast.parse(inspect.getsource(module)))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    return {
        str(argument.value)
        for call in calls
        if getattr(call.func, "id", None) == "tf_export"
        for argument in call.args
        if isinstance(argument, ast.Constant)
    }


def test_every_name_is_in_the_table():
    modules = ("array_ops", "array_ops_stack", "gen_array_ops")
    names = {
        name
        for module in modules
        for name in exported(importlib.import_module(f"tensorflow.python.ops.{module}"))
    }
    names = {name for name in names if not name.startswith("raw_ops.")}
    assert sorted(names) == load("names_table").NAMES
    for name in names:
        operator.attrgetter(name)(tf)


MODULES = ("math", "nn", "linalg", "sparse", "strings", "image", "dtypes", "ragged")


def test_names_that_are_not_here_have_an_answer():
    """Those of `tf` and of the modules that jaxops mirrors: the words of the AttributeError."""
    paths = [*dir(tf), *(f"{module}.{n}" for module in MODULES for n in dir(getattr(tf, module)))]
    names = {path for path in paths if not path.rpartition(".")[2].startswith("_")}
    assert len(names) > 700
    assert [path for path in sorted(names) if not is_answered(path)] == []
    # No answer is of a name that TensorFlow does not have.
    bare = {path.rpartition(".")[2] for path in names}
    stale = {*_tensorflow_names.TABLE} - names - bare - {*load("names_table").NAMES}
    assert not stale


def is_answered(path):
    try:
        operator.attrgetter(path)(jaxops)
    except AttributeError as error:
        return "; use " in str(error) or "; JAX has none: " in str(error)
    return True
