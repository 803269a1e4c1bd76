"""Runs docs/tutorial.ipynb, and makes a page of its text, its code and what the cells print.

python docs/make/tutorial.py build/docs/tutorial.md

A cell that must raise has the tag `raises-exception`, as in Jupyter; any other error ends the run.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

NOTEBOOK = Path(__file__).parents[1] / "tutorial.ipynb"
OUT = re.compile(r"^Out\[\d+\]: *\n?", re.MULTILINE)


def cells() -> list[dict[str, Any]]:
    return json.loads(NOTEBOOK.read_text())["cells"]


def run(shell: InteractiveShell, cell: dict[str, Any]) -> str:
    """The text that a cell of code prints, and its value or its error."""
    with capture_output() as captured:
        done = shell.run_cell("".join(cell["source"]), store_history=True)
    error = done.error_before_exec or done.error_in_exec
    if (error is not None) != ("raises-exception" in cell["metadata"].get("tags", ())):
        sys.exit(f"{captured.stdout}{captured.stderr}{NOTEBOOK.name}, {cell['id']}: {error!r}")
    if error is None:
        return OUT.sub("", captured.stdout).strip("\n")
    return f"{type(error).__module__}.{type(error).__name__}: {error}".removeprefix("builtins.")


def page() -> str:
    shell = InteractiveShell.instance(colors="NoColor")
    parts = []
    for cell in cells():
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        parts.append(f'```python title="In [{shell.execution_count}]"\n{text}\n```')
        if printed := run(shell, cell):
            parts.append(f"```text\n{printed}\n```")
    note = (
        "The code and its output, as `make docs` ran it on a CPU. "
        '<a href="tutorial.ipynb" download>Download the notebook</a> to run it yourself.'
    )
    parts.insert(1, note)
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())
