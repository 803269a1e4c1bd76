"""The tests that comments of jaxops name are there, by file and by name."""

import io
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "jaxops").rglob("*.py"))
TESTS = {path.name: path.read_text() for path in (ROOT / "tests").rglob("test_*.py")}


def comments(source):
    """The comments of a module as one text: the name of a test may stand a line below its file."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return " ".join(t.string.lstrip("# ") for t in tokens if t.type == tokenize.COMMENT)


def named(text):
    """Pairs of a file of tests and a test in it, or "" for the whole file."""
    file = ""
    for name in re.findall(r"\btest_\w+(?:\.py)?", text):
        file = name if name.endswith(".py") else file
        yield file, "" if name == file else name


def test_each_test_that_a_comment_names_is_there():
    found = [(path, *pair) for path in SOURCES for pair in named(comments(path.read_text()))]
    assert len(found) > 300
    missing = [
        f"{path.relative_to(ROOT)}: {file}, {test}"
        for path, file, test in found
        if file not in TESTS or (test and f"def {test}(" not in TESTS[file])
    ]
    assert not missing
