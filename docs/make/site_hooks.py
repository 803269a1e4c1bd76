"""What mkdocs does beside turning docs/*.md into pages: see mkdocs.yml.

It puts tables in the places that pages leave for them, adds the pages that are made, and leads
links that leave `docs` to the pages of those files.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("docs/make", "tests", "benchmarks", "examples")]
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import accelerators_report  # noqa: E402
import dtype_table  # noqa: E402
import example_pages  # noqa: E402
import figures  # noqa: E402
import function_pages  # noqa: E402
import names_table  # noqa: E402
import symbolic_table  # noqa: E402
import synonyms  # noqa: E402
from gallery_table import EXAMPLES  # noqa: E402

import jaxops  # noqa: E402
from jaxops import _names  # noqa: E402

# Files of the repository outside of docs, and the pages that they are. Examples are pages too.
ELSEWHERE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "docs/tutorial.ipynb": "tutorial.md",
    "LICENSE": "license.md",
    "benchmarks/README.md": "benchmarks.md",
    "benchmarks/results/suite.png": "pictures/suite.png",
    "benchmarks/results/suite_ten.png": "pictures/suite_ten.png",
}
SOURCE_OF = {page: path for path, page in ELSEWHERE.items()}
LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(#[^)\s]*)?(?=\))")
PLACE = re.compile(r"<!-- made: (\w+) -->")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"(?<![\[`\w])`(jaxops\.(?:testing\.)?\w+)`(?!\])")


def gallery() -> str:
    parts = []
    for example in EXAMPLES:
        function = example.name.partition("-")[0]
        parts += [
            f"## {example.name}",
            f"{example.caption} [`{function}`](functions/{function}.md)",
            f"```python\n{example.code}\n```",
            f"![{example.name}: before and after](pictures/{example.name}.jpg)",
        ]
    return "\n\n".join(parts)


MADE = {
    **figures.MADE,
    "accelerators": accelerators_report.table,
    "worse_on_cuda": lambda: accelerators_report.misses("cuda"),
    "worse_on_tpu": lambda: accelerators_report.misses("tpu"),
    "devices": accelerators_report.devices,
    "dtypes": lambda: dtype_table.table(function_pages.found("dtypes")),
    "symbolic_shapes": lambda: symbolic_table.table(function_pages.found("symbolic_shapes")),
    "tensorflow_names": names_table.table,
    "gallery": gallery,
    "examples": example_pages.cards,
    "version": lambda: jaxops.__version__,
}


def page_of(path: str) -> str | None:
    """The page of a file of the repository, by its path there."""
    if path in ELSEWHERE:
        return ELSEWHERE[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("examples/") and path.endswith(".py") and (ROOT / path).is_file():
        return f"{path.removesuffix('.py')}.md"
    return None


def with_links(text: str, page: str) -> str:
    """Links as they are right in the source, led to the pages of the site."""
    source = SOURCE_OF.get(page, f"docs/{page}")
    if page.startswith(("functions/", "examples/")):  # these are made for the site
        return text

    def link(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[1]))
        led = page_of(target)
        if (target, match[2], page != "index.md") == ("README.md", "#functions", True):
            return posixpath.relpath("functions/index.md", posixpath.dirname(page) or ".")
        if led is None:
            return match[0]
        return posixpath.relpath(led, posixpath.dirname(page) or ".") + (match[2] or "")

    return outside_of_code(text, lambda part: LINK.sub(link, part))


def with_names_linked(text: str) -> str:
    """`jaxops.gather` leads to its page."""
    pages = {f"jaxops.{name}" for names in function_pages.by_section().values() for name in names}
    pages |= {f"jaxops.testing.{n}" for n in function_pages.public_names(function_pages.testing)}

    def link(match: re.Match[str]) -> str:
        return f"[`{match[1]}`][{match[1]}]" if match[1] in pages else match[0]

    return outside_of_code(text, lambda part: NAME.sub(link, part))


def with_functions_linked(text: str) -> str:
    """The README's names of functions, which follow its heading."""
    before, heading, names = text.partition("## Functions\n")
    pages = {name for found in function_pages.by_section().values() for name in found}

    def link(match: re.Match[str]) -> str:
        return f"[`{match[1]}`](functions/{match[1]}.md)" if match[1] in pages else match[0]

    return before + heading + re.sub(r"(?<!\[)`(\w+)`", link, names)


def outside_of_code(text: str, change: Callable[[str], str]) -> str:
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [change(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, change(text[end:])])


def source_of(page: str) -> str | None:
    """The file of the repository in which the text of a page is edited, by its path there."""
    folder, _, name = page.removesuffix(".md").rpartition("/")
    if page in SOURCE_OF:
        return SOURCE_OF[page]
    if folder == "examples":
        return f"examples/{name}.py"
    if folder == "functions":
        if name in _names.TABLE:
            return f"jaxops/{_names.TABLE[name].home.replace('.', '/')}.py"
        return None
    return f"docs/{page}" if (ROOT / "docs" / page).is_file() else None


def fill(match: re.Match[str]) -> str:
    if match[1] not in MADE:
        raise ValueError(f"nothing is made for <!-- made: {match[1]} -->")
    return MADE[match[1]]()


# --- called by mkdocs ---


def on_config(config: Any) -> Any:
    for entry in config.nav:
        for tab, made in (("Functions", function_pages), ("Examples", example_pages)):
            if tab in entry:
                entry[tab] = made.navigation()
    config.extra["package_version"] = jaxops.__version__
    return config


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File  # the tests of what is above need no mkdocs

    made = function_pages.pages()
    made |= {page: (ROOT / p).read_text() for p, page in ELSEWHERE.items() if p.endswith(".md")}
    made["tutorial.md"] = (function_pages.FOUND / "tutorial.md").read_text()
    made["license.md"] = f"# License\n\n```text\n{(ROOT / 'LICENSE').read_text()}```\n"
    made |= example_pages.pages()
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    pictures = {f"pictures/{p.name}": p for p in (function_pages.FOUND / "pictures").glob("*.jpg")}
    pictures |= {page: ROOT / p for p, page in ELSEWHERE.items() if p.endswith(".png")}
    pictures |= example_pages.pictures()
    for place, path in pictures.items():
        if files.get_file_from_path(place) is None:
            files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    text = with_links(PLACE.sub(fill, markdown), page.file.src_uri)
    source = source_of(page.file.src_uri)
    page.edit_url = f"{config.repo_url}/edit/main/{source}" if source else None
    page.meta.update(synonyms.meta(page.file.src_uri))
    if page.file.src_uri == "index.md":
        text = with_functions_linked(text)
    return with_names_linked(text)
