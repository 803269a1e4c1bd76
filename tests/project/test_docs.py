"""The pages in `docs`, and what `docs/make` makes for the site by running the functions."""

import re
import subprocess

import pytest
from docs_pages import DOCS, ROOT, load
from records import PUBLIC, PUBLIC_FUNCTIONS, RECORDS, TRANSFORMATIONS, wanted

from jaxops import testing

EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def dtype_table():
    return load("dtype_table")


def test_table_of_dtypes_holds_every_function(dtype_table):
    functions = {*PUBLIC_FUNCTIONS} - {"strided_slice_spec", *TRANSFORMATIONS}
    assert not wanted(functions - {*dtype_table.FUNCTIONS}, "`call` and `row`")
    assert set(dtype_table.FUNCTIONS) == functions


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
    return record.readme.partition(" | ")[0]


def test_every_public_name_has_a_page(function_pages):
    pages = function_pages.pages()
    names = {n for n in PUBLIC if "." not in n}
    assert len(names) > 100
    assert {f"functions/{name}.md" for name in names} <= set(pages)
    checks = {n for n in vars(testing) if n.startswith(("check_", "assert_"))}
    assert len(checks) == 3
    assert {f"functions/testing.{name}.md" for name in checks} <= set(pages)
    named = {n for record in RECORDS.values() for n in re.findall(r"`(\w+)`", cell_of_0x(record))}
    listed = re.findall(r"^::: jaxops\.compat\.v0\.(\w+)$", pages["functions/compat_v0.md"], re.M)
    assert sorted(filter(function_pages.is_adapter, named)) == listed
    in_navigation = str(function_pages.navigation())
    assert all(f"'{page}'" in in_navigation for page in pages)


def test_every_record_is_in_the_table_of_functions(function_pages):
    text = function_pages.index()
    for name, record in RECORDS.items():
        if record.section:
            cells = re.escape(record.readme)
            assert re.search(rf"^\| \[`{name}`\]\({name}\.md\) \| \S+ \| {cells} \|$", text, re.M)
    assert "| [`reverse`](reverse.md) | `tf.reverse` | `reverse`, `reverse_v2` |" in text


def test_places_are_filled(hooks, example_pages):
    """Each that a page leaves; the tables of figures have those of benchmarks/results."""
    pages = {page.name: page.read_text() for page in DOCS.glob("*.md")}
    places = {place for text in pages.values() for place in hooks.PLACE.findall(text)}
    assert places == set(hooks.MADE)
    assert not any("<!-- made" in hooks.PLACE.sub("", text) for text in pages.values())
    with pytest.raises(ValueError, match="nothing is made for <!-- made: nonsense -->"):
        hooks.PLACE.sub(hooks.fill, "<!-- made: nonsense -->")


def test_functions_end_in_see_also(function_pages):
    """Sisters and guides that are there; anchors are looked up when the site is built."""
    see_also = load("see_also")
    pages = function_pages.pages()
    for names in function_pages.by_section().values():
        for name in names:
            *_, last = pages[f"functions/{name}.md"].split("\n## ")
            assert last.startswith("See also"), name
            for target in re.findall(r"\]\(([\w.]+)\)", last):
                assert f"functions/{target}" in pages, f"{name}: {target}"
            guides = re.findall(r"\]\(\.\./(\w+\.md)", last)
            assert guides, name
            assert all((DOCS / guide).is_file() for guide in guides), name
    listed = {name for line in see_also._SISTERS.split("\n") for name in line.split()}
    assert listed <= {n for names in function_pages.by_section().values() for n in names}
    assert "tensor_scatter_nd_max" in see_also.sisters("scatter_nd")
    assert "out_of_bounds.md" in see_also.guides("gather")


def test_pages_that_have_other_words_for_the_search_are_there(hooks):
    pages = {page.name for page in DOCS.glob("*.md")} | set(hooks.ELSEWHERE.values())
    assert {*load("synonyms").WORDS} <= pages


def test_pages_can_be_edited(hooks, function_pages, example_pages):
    """Each links to the file of the repository that holds its text."""
    made = {"functions/index.md", "functions/compat_v0.md", "license.md"}
    pages = {*function_pages.pages(), *example_pages.pages(), *hooks.ELSEWHERE.values()}
    pages |= {page.name for page in DOCS.glob("*.md")}
    for page in {page for page in pages if page.endswith(".md")} - made:
        source = hooks.source_of(page)
        is_of_testing = page.startswith("functions/testing.")
        assert (source is None) if is_of_testing else (ROOT / source).is_file(), page


# --- the rules for prose in CONTRIBUTING.md, as far as a program sees them ---

PROSE = [*DOCS.glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def paragraphs(path):
    """Also items of lists and rows of tables."""
    found = re.split(r"\n\s*\n|\n(?=- |\d\. |\|)", FENCE.sub("", path.read_text()))
    return [" ".join(paragraph.split()) for paragraph in found]


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.stem)
def test_also_and_too_occur_once_a_paragraph(path):
    for paragraph in paragraphs(path):
        words = re.findall(
            r"\balso\b|\btoo\b(?! (?:few|large|long|many|much|near|small))", paragraph
        )
        assert len(words) < 2 or '"also"' in paragraph, paragraph


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.stem)
def test_no_paragraph_begins_with_a_pronoun(path):
    for paragraph in paragraphs(path):
        assert not re.match(r"(It|That|Those|What) ", paragraph), paragraph


@pytest.mark.parametrize("path", [*PROSE, ROOT / "CHANGELOG.md"], ids=lambda path: path.stem)
def test_link_texts_are_no_names_of_pages(path):
    texts = re.findall(r"\[([^\]]+)\]\([^)\s]+\)", FENCE.sub("", path.read_text()))
    assert not [text for text in texts if re.search(r"\.md\b", text)]


def test_only_the_readme_says_how_to_install():
    """The packages are on no index: commands in other pages would be wrong at the next change."""
    for path in [*PROSE, *EXAMPLES.glob("*.py")]:
        commands = [
            line for line in path.read_text().split("\n") if line.startswith("$ pip install")
        ]
        assert bool(commands) == (path.name == "README.md"), path
        assert "jaxops[" not in path.read_text(), path


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
