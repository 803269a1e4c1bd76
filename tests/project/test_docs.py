"""The pages in `docs` that are made by running the functions."""

import importlib
import inspect
import operator
import re
from types import FunctionType

import jax
import pytest
from docs_pages import DOCS, load
from records import TRANSFORMATIONS

import jaxops


@pytest.fixture(scope="module")
def dtype_table():
    return load("dtype_table")


def test_table_of_dtypes_holds_every_function(dtype_table):
    functions = {n for n, f in inspect.getmembers(jaxops) if isinstance(f, FunctionType)}
    assert set(dtype_table.FUNCTIONS) == functions - {"strided_slice_spec", *TRANSFORMATIONS}
    rows = re.findall(r"^\| `(\w+)` \|", (DOCS / "dtypes.md").read_text(), re.M)
    assert rows == sorted(dtype_table.FUNCTIONS)


@pytest.mark.parametrize("function", ["bitcast", "tensor_scatter_nd_max", "string_to_number"])
def test_table_of_dtypes_is_true(dtype_table, function):
    with jax.enable_x64(True):
        row = dtype_table.row(function)
    assert row in (DOCS / "dtypes.md").read_text().splitlines()


def test_every_name_of_tensorflow_leads_somewhere():
    names_table = load("names_table")
    assert (DOCS / "tensorflow_names.md").read_text() == names_table.page()
    words = names_table.NOT_HERE.values()
    replaced = [*filter(None, (re.match(r"`(jax|numpy|jaxops)\.([\w.]+)`", w) for w in words))]
    importlib.import_module("jax.experimental.checkify")
    for match in replaced:
        operator.attrgetter(match[2])(importlib.import_module(match[1]))
    assert len(replaced) > 9


def test_pictures_are_there():
    pages = [*DOCS.glob("*.md"), DOCS.parent / "benchmarks" / "README.md"]
    shown = "".join(page.read_text() for page in pages)
    named = set(re.findall(r"\]\((?:\.\./docs/)?(pictures/[^)]+)\)", shown))
    assert len(named) > 20
    assert sorted(named) == sorted(f"pictures/{p.name}" for p in (DOCS / "pictures").iterdir())


def test_page_on_porting_shows_what_parity_runs():
    """Each function that is shown is one of those before or after, and all are shown."""
    page = (DOCS / "porting.md").read_text()
    shown = set(re.findall(r"^```python\n(def .*?)^```$", page, re.M | re.S))
    defined = set()
    for name in ("ports_before", "ports_after"):
        text = (DOCS.parent / "tests" / "parity" / f"{name}.py").read_text()
        functions = re.findall(r"^def .*?(?=^\S|\Z)", text, re.M | re.S)
        defined |= {function.rstrip() + "\n" for function in functions}
    assert shown == defined
    assert len(shown) == 12
