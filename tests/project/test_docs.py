"""The pages in `docs`, and what `docs/make` makes for the site by running the functions."""

import importlib
import inspect
import re
import subprocess
from types import FunctionType

import jax
import numpy as np
import pytest
from docs_pages import DOCS, ROOT, load
from records import RECORDS, TRANSFORMATIONS

import jaxops
from jaxops import testing

EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def dtype_table():
    return load("dtype_table")


def test_table_of_dtypes_holds_every_function(dtype_table):
    functions = {n for n, f in inspect.getmembers(jaxops) if isinstance(f, FunctionType)}
    assert set(dtype_table.FUNCTIONS) == functions - {"strided_slice_spec", *TRANSFORMATIONS}


@pytest.mark.parametrize(
    ("function", "taken", "refused"),
    [
        ("bitcast", ["float32", "float64"], ["bool", "strings"]),
        ("tensor_scatter_nd_max", ["float32", "float16, bfloat16"], ["bool", "complex64, 128"]),
        ("string_to_number", ["strings"], ["float32", "bool"]),
    ],
)
def test_table_of_dtypes_is_true(dtype_table, function, taken, refused):
    with jax.enable_x64(True):
        cells = dtype_table.cells(function)
    assert list(cells) == list(dtype_table.COLUMNS)
    assert {cells[column] for column in taken} == {"yes"}
    assert {cells[column] for column in refused} == {"."}
    line = dtype_table.table({function: cells}).splitlines()[-1]
    assert line == f"| [`{function}`](functions/{function}.md) | {' | '.join(cells.values())} |"


def test_a_column_of_which_some_dtypes_are_taken_names_them(dtype_table, monkeypatch):
    taken = {"int4", "int8", "uint8", "float32"}
    monkeypatch.setattr(dtype_table, "takes", lambda function, dtype: dtype in taken)
    cells = dtype_table.cells("gather")
    assert cells["(u)int4"] == "`int4`"
    assert cells["(u)int8 to 32"] == "`int8`, `uint8`"
    assert (cells["float32"], cells["float64"]) == ("yes", ".")


def test_every_name_of_tensorflow_leads_somewhere():
    names_table = load("names_table")
    rows = re.findall(r"^\| `tf\.([\w.]+)` \| .+ \|$", names_table.table(), re.M)
    assert rows[: len(names_table.NAMES)] == names_table.NAMES
    assert {*rows} >= {"abs", "reduce_sum", "Variable"}
    assert "| None |" not in names_table.table()


def test_pictures_are_there():
    """Those of the gallery are made; `docs` holds what README.md and the guides show."""
    pages = [*DOCS.glob("*.md"), ROOT / "README.md", ROOT / "benchmarks" / "README.md"]
    shown = "".join(page.read_text() for page in pages)
    named = set(re.findall(r"\]\((?:\.\./docs/|docs/)?(pictures/[^)]+)\)", shown))
    assert named == {f"pictures/{p.name}" for p in (DOCS / "pictures").iterdir()}


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


# --- pages of examples ---


@pytest.fixture
def example_pages(monkeypatch, tmp_path):
    """What the scripts print stands for itself: `make examples` runs them."""
    module = load("example_pages")
    monkeypatch.setattr(module, "FOUND", tmp_path)
    for path in EXAMPLES.glob("*.py"):
        text = f"  {path.stem} prints\n\nIts picture: build/{path.stem}.png\n"
        (tmp_path / f"{path.stem}.txt").write_text(text)
    return module


def scripts():
    return [path.stem for path in EXAMPLES.glob("*.py") if "__main__" in path.read_text()]


def test_every_example_is_run_and_tested_and_has_a_page(example_pages):
    command = ["make", "--dry-run", "--always-make", "examples"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    tests = (ROOT / "tests" / "project" / "test_examples.py").read_text()
    navigation = [entry for entry in example_pages.navigation() if isinstance(entry, dict)]
    in_navigation = {page for entry in navigation for page in entry.values()}
    assert in_navigation == {f"examples/{name}.md" for name in scripts()}
    for name in scripts():
        assert re.search(rf"python (-u )?examples/{name}\.py", done.stdout), name
        assert re.search(rf"\b{name}\b", tests), name
        assert f"](examples/{name}.md)" in example_pages.cards()
    assert set(example_pages.pages()) == {f"examples/{p.stem}.md" for p in EXAMPLES.glob("*.py")}
    assert len(scripts()) > 9


def test_page_of_an_example(example_pages):
    text = example_pages.page("graph_network")
    code = (EXAMPLES / "graph_network.py").read_text()
    for words in (
        "# Graph network\n\nTrains a graph network",
        "picture that the script draws](graph_network.png)",
        "```text\n  graph_network prints\n",
        f'```python title="examples/graph_network.py"\n{code}```\n',
    ):
        assert words in text, words
    assert (
        example_pages.pictures()["examples/graph_network.png"] == ROOT / "build/graph_network.png"
    )
    assert "[`word_embeddings.py`](word_embeddings.md)" in example_pages.page("beam_search")
    assert "What it prints" not in example_pages.page("word_map")
    assert "word_map" not in scripts()


# --- pages of functions ---


@pytest.fixture(scope="module")
def hooks():
    return load("site_hooks")


@pytest.fixture
def function_pages(monkeypatch):
    """What the long scripts find out stands for itself: see the tests of their tables."""
    module = load("function_pages")
    dtypes = {"gather": {"bool": "yes", "float8": "."}}
    found = {"dtypes": dtypes, "symbolic_shapes": [["gather", "`(x, i)`", "`[n, b]`", "`n >= 3`"]]}
    monkeypatch.setattr(module, "found", found.__getitem__)
    return module


def cell_of_0x(record):
    return record.readme.split(" | ")[1] if record.readme else ""


def test_every_public_name_has_a_page(function_pages):
    pages = function_pages.pages()
    names = {n for n, x in inspect.getmembers(jaxops) if isinstance(x, (FunctionType, type))}
    names -= {n for n in names if n.startswith("_")}
    assert len(names) > 100
    assert {f"functions/{name}.md" for name in names} <= set(pages)
    checks = {n for n in vars(testing) if n.startswith(("check_", "assert_"))}
    assert len(checks) == 3
    assert {f"functions/testing.{name}.md" for name in checks} <= set(pages)
    named = {n for record in RECORDS.values() for n in re.findall(r"`(\w+)`", cell_of_0x(record))}
    listed = re.findall(r"^::: jaxops\.compat\.v0\.(\w+)$", pages["functions/compat_v0.md"], re.M)
    assert sorted(named) == listed
    in_navigation = str(function_pages.navigation())
    assert all(f"'{page}'" in in_navigation for page in pages)


def test_page_of_a_function(function_pages):
    text = function_pages.page("gather")
    suite = importlib.import_module("figures").results("suite")["rows"]
    (row,) = (
        row
        for row in suite
        if (row["op"], row["allocator"], row["group"]) == ("gather", "kept", "tiny")
    )
    ratio = row["ratios"]["tensorflow"]
    for words in (
        "::: jaxops.gather\n",
        "| gradient | scatter-add |",
        "| bounds | indices |",
        "[`gather(params, indices, validate_indices=None, name=None)`][jaxops.compat.v0.gather]",
        "](../pictures/gather-rows.jpg)",
        "| bool | float8 |\n| --- | --- |\n| yes | no |",
        "| `(x, i)` | `[n, b]` | `n >= 3` |",
        f"| {row['microseconds']['jaxops']:.3g}\N{NO-BREAK SPACE}\N{MICRO SIGN}s | ",
        f"s | {ratio['median']:.2f} [",
        "| gather: rows of 128 | 1 | 2 |",
        "nothing was run on either",
    ):
        assert words in text, words
    assert "gather_nd" not in text.partition("## Times")[0]
    assert "`jaxops.nn.space_to_depth`" in function_pages.page("space_to_depth")
    assert "##" not in function_pages.page("psum").partition(":::")[2]


def test_every_record_is_in_the_table_of_functions(function_pages):
    text = function_pages.index()
    for name, record in RECORDS.items():
        if record.section:
            assert f"| [`{name}`]({name}.md) | {record.readme} |\n" in text + "\n"


def test_places_are_filled(hooks, example_pages):
    """Each that a page leaves; the tables of figures have those of benchmarks/results."""
    pages = {page.name: page.read_text() for page in DOCS.glob("*.md")}
    places = {place for text in pages.values() for place in hooks.PLACE.findall(text)}
    assert places == set(hooks.MADE)
    assert not any("<!-- made" in hooks.PLACE.sub("", text) for text in pages.values())
    with pytest.raises(ValueError, match="nothing is made for <!-- made: nonsense -->"):
        hooks.PLACE.sub(hooks.fill, "<!-- made: nonsense -->")


def test_tables_of_figures():
    figures = load("figures")
    suite = [row for row in figures.results("suite")["rows"] if row["allocator"] == "kept"]
    throughput = [row for row in suite if row["group"] == "throughput"]
    table = figures.suite_group("throughput").splitlines()[2:]
    assert len(table) == len(throughput) == 145
    ops = [row["op"] for row in throughput]
    row = next(row for row in throughput if ops.count(row["op"]) == 1 and not row["shown_only"])
    median = row["ratios"]["tensorflow"]["median"]
    (line,) = (line for line in table if f"functions/{row['op']}.md" in line)
    assert f"| {median:.2f} [" in line
    beside = figures.beside_jnp().splitlines()[2]
    ratios = [
        1 if "jnp" in row["same_program"] else row["ratios"]["jnp"]["median"]
        for row in throughput
        if "jnp" in row["ratios"]
    ]
    assert f"| {len(ratios)} | {np.exp(np.mean(np.log(ratios))):.2f} |" in beside
    steps = figures.sparse_steps().splitlines()[2:]
    for line, step in zip(steps, figures.results("sparse_gradients")["steps"], strict=True):
        assert f"{step['milliseconds']['dense']:.3g}\N{NO-BREAK SPACE}ms" in line
        assert f"{step['rows']:,}" in line


@pytest.mark.parametrize(
    ("page", "text", "expected"),
    [
        ("index.md", "[x](docs/start.md#install)", "[x](start.md#install)"),
        ("index.md", "![x](docs/pictures/gather_nd.jpg)", "![x](pictures/gather_nd.jpg)"),
        ("many_devices.md", "[x](../README.md)", "[x](index.md)"),
        ("faq.md", "[x](../examples/recommender.py)", "[x](examples/recommender.md)"),
        ("benchmarks.md", "![x](results/suite.png)", "![x](pictures/suite.png)"),
        ("faq.md", "[x](../README.md#functions)", "[x](functions/index.md)"),
        ("faq.md", "[x](https://example.org) [y](#y)", "[x](https://example.org) [y](#y)"),
        ("faq.md", "```\n[x](../README.md)\n```", "```\n[x](../README.md)\n```"),
    ],
)
def test_links_are_led_to_pages(hooks, page, text, expected):
    assert hooks.with_links(text, page) == expected


def test_names_are_linked(hooks):
    linked = hooks.with_names_linked("`jaxops.gather`, `jaxops.testing.check_grads`, `jaxops.x`")
    assert linked == (
        "[`jaxops.gather`][jaxops.gather], "
        "[`jaxops.testing.check_grads`][jaxops.testing.check_grads], `jaxops.x`"
    )
    assert hooks.with_names_linked("[`jaxops.gather`](x.md)") == "[`jaxops.gather`](x.md)"


def test_names_of_the_readme_are_linked(hooks):
    linked = hooks.with_functions_linked("`gather`\n## Functions\n`gather`, `jaxops`")
    assert linked == "`gather`\n## Functions\n[`gather`](functions/gather.md), `jaxops`"


def test_links_in_the_repository_lead_to_files():
    """Also of README.md and CHANGELOG.md, as a reader of the repository follows them."""
    pages = [*DOCS.glob("*.md"), *ROOT.glob("*.md"), ROOT / "benchmarks" / "README.md"]
    links = 0
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s:]+)(?:#[^)\s]*)?\)", page.read_text()):
            if "." in target or target == "LICENSE":  # not a call in a block of code
                assert (page.parent / target).exists(), f"{page.name}: {target}"
                links += 1
    assert links > 60
