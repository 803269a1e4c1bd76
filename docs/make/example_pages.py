"""The pages of the scripts in `examples`: what a docstring tells, the picture, what the script
prints, and its code. `make examples` runs them and keeps in FOUND what they print."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
FOUND = ROOT / "build" / "docs" / "examples"
IMPORT = re.compile(r"^ *from (\w+) import", re.MULTILINE)
PICTURE = re.compile(r"^.*: (build/\S+\.png)$", re.MULTILINE)


def source(name: str) -> str:
    return (EXAMPLES / f"{name}.py").read_text()


def modules() -> list[str]:
    return sorted(path.stem for path in EXAMPLES.glob("*.py"))


def scripts() -> list[str]:
    """The modules that are run; the others are imported by them."""
    return [name for name in modules() if "\nif __name__ ==" in source(name)]


def title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def prose(name: str) -> str:
    return ast.get_docstring(ast.parse(source(name))) or ""


def printed(name: str) -> str:
    if name == "gallery":  # the names of its pictures, which have a page of their own
        return ""
    return (FOUND / f"{name}.txt").read_text()


def picture(name: str) -> Path | None:
    """As the script says in what it prints."""
    match = PICTURE.search(printed(name))
    return ROOT / match[1] if match else None


def pictures() -> dict[str, Path]:
    """By their places in the site."""
    return {f"examples/{path.name}": path for path in filter(None, map(picture, scripts()))}


def page(name: str) -> str:
    parts = [f"---\ntitle: {title(name)}\n---", f"# {title(name)}", prose(name)]
    if name in scripts():
        parts.append("The script needs the extra `examples` ([Install](../index.md#install)).")
        if path := picture(name):
            parts.append(f"![{title(name)}: the picture that the script draws]({path.name})")
        if text := printed(name):
            parts += ["## Output", f"```text\n{text}```"]
    parts += ["## The code", f'```python title="examples/{name}.py"\n{source(name)}```']
    imported = [other for other in IMPORT.findall(source(name)) if other in modules()]
    if imported:
        links = ", ".join(f"[`{other}.py`]({other}.md)" for other in dict.fromkeys(imported))
        parts.append(f"It imports from the same folder: {links}.")
    return "\n\n".join(parts) + "\n"


def pages() -> dict[str, str]:
    return {f"examples/{name}.md": page(name) for name in modules()}


def navigation() -> list[str | dict[str, str]]:
    return ["examples.md", *({title(name): f"examples/{name}.md"} for name in scripts())]


def cards() -> str:
    """One for each script, with its picture, for the page of all examples."""
    parts = ['<div class="grid cards" markdown>']
    for name in scripts():
        summary = " ".join(prose(name).partition("\n\n")[0].split())
        lines = [f"-   **[{title(name)}](examples/{name}.md)**", summary]
        if path := picture(name):
            lines.append(f"![{title(name)}](examples/{path.name})")
        parts.append("\n\n    ".join(lines))
    return "\n\n".join([*parts, "</div>"])
