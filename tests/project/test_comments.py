"""The tests that comments of jaxops name are there, by file and by name."""

import io
import re
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "jaxops").rglob("*.py"))
# Modules of `tests/parity` may have the name of another module.
FILES = (p for p in (ROOT / "tests").rglob("test_*.py") if p.parent.name != "parity")
TESTS = {path.name: path.read_text() for path in FILES}


def comments(source):
    """The comments of a module as one text: the name of a test may stand a line below its file."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return " ".join(t.string.lstrip("# ") for t in tokens if t.type == tokenize.COMMENT)


def named(text):
    """Pairs of a module of tests and a test in the module, or "" for the whole module."""
    file = ""
    for name in re.findall(r"\btest_\w+(?:\.py)?", text):
        file = name if name.endswith(".py") else file
        yield file, "" if name == file else name


def test_each_test_that_a_comment_names_is_there():
    found = [(path, *pair) for path in SOURCES for pair in named(comments(path.read_text()))]
    assert found
    missing = [
        f"{path.relative_to(ROOT)}: {file}, {test}"
        for path, file, test in found
        if file not in TESTS or (test and f"def {test}(" not in TESTS[file])
    ]
    assert not missing
