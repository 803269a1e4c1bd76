"""Runs the scripts of README.md and `docs/out_of_bounds.md`; puts what they print into the pages.

A script is a block of Python whose first line is its name, `# compiled.py`; the block after it
begins with the command, and holds what that prints. Without a command the script has the cells of a
notebook, with `# %%` between them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import jaxops

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "docs" / "out_of_bounds.md")
PACKAGE = Path(jaxops.__file__).parent
BLOCKS = re.compile(
    r"^```python\n(?P<text># (?P<name>\w+\.py)\n.*?)^```\n\n"
    r"```(?:text|console\n\$ (?P<command>[^\n]*))\n(?P<printed>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
# Nothing else: with CI set, pytest prints more, and JAX has settings in variables of its own.
INHERITED = ("HOME", "PATH", "PYTHONPATH", "TMPDIR")
NOTEBOOK = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="NoColor")
for cell in open(sys.argv[1]).read().split("# %%\\n"):
    shell.run_cell(cell, store_history=True)
"""


class Script(NamedTuple):
    """A script of a page."""

    text: str
    command: str | None
    printed: str


def scripts() -> dict[str, Script]:
    return {
        match["name"]: Script(match["text"], match["command"], match["printed"])
        for page in PAGES
        for match in BLOCKS.finditer(page.read_text())
    }


def run(name: str, script: Script) -> str:
    """What a script prints, without the paths and numbers that are this machine's."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_text(script.text)
        arguments = script.command.split()[1:] if script.command else ["-c", NOTEBOOK, name]
        done = subprocess.run(
            [sys.executable, "-u", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
            env={key: os.environ[key] for key in INHERITED if key in os.environ}
            | {"JAX_PLATFORMS": "cpu", "COLUMNS": "80"},
        )
        folders = [f"{folder}/", f"{os.path.realpath(folder)}/"]
    printed = done.stdout
    for path in folders:
        printed = printed.replace(path, "")
    printed = printed.replace(str(PACKAGE), ".../jaxops")
    return printed.rstrip("\n") + "\n"


def comparable(printed: str) -> str:
    """Without what differs between versions of Python and of this package, and times."""
    lines = [line for line in printed.splitlines() if set(line.strip()) - {"^", "~"}]
    # Python 3.13 shows all lines of a call.
    text = re.sub(r'(File "\.\.\./jaxops/.*\n)(?:    .*\n)+', r"\1", "\n".join(lines))
    text = re.sub(r"(jaxops/\S+\.py\"?(?:, line |:))\d+", r"\1N", text)
    return re.sub(r"in [0-9.]+s\b", "in Ns", text)


def main() -> None:
    found = scripts()
    printed = {name: run(name, script) for name, script in found.items()}

    def with_output(match: re.Match) -> str:
        before = match[0].removesuffix(match["printed"] + "```")
        return before + printed[match["name"]] + "```"

    for page in PAGES:
        page.write_text(BLOCKS.sub(with_output, page.read_text()))


if __name__ == "__main__":
    main()
