"""docs/tensorflow_names.md has every public name of TensorFlow's array_ops."""

import ast
import importlib
import inspect
import operator

from docs_pages import load
from peer import tf


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
