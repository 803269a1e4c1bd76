"""docs/tutorial.ipynb, which `make docs` runs: docs/make/tutorial.py."""

import json
import re
import subprocess
import sys

import pytest
from docs_pages import DOCS, load

NOTEBOOK = json.loads((DOCS / "tutorial.ipynb").read_text())


def test_the_notebook_is_kept_without_outputs():
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    names = [cell["id"] for cell in NOTEBOOK["cells"]]
    assert len({*names}) == len(names) > 20
    code = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert not [cell["id"] for cell in code if cell["outputs"] or cell["execution_count"]]
    assert len(NOTEBOOK["cells"]) > 1.5 * len(code)  # it is narrated


def test_links_of_the_notebook_lead_to_pages():
    text = "".join("".join(cell["source"]) for cell in NOTEBOOK["cells"])
    links = re.findall(r"\]\((\w+\.md)\)", text)
    assert len(links) > 4
    assert all((DOCS / link).is_file() for link in links)


@pytest.mark.slow
def test_the_page_has_errors_and_their_ends(tmp_path):
    """A cell that raises nothing, or another error, would end the run."""
    path = tmp_path / "tutorial.md"
    command = [sys.executable, load("tutorial").__file__, path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    page = path.read_text()
    assert re.search(r"jaxops\.OutOfBoundsError: index 11 at .* at Cell In\[2\]:2 \(score\)", page)
    assert re.search(r"OutOfBoundsError: index -1 at position .* is negative", page)
    assert "AssertionError: check_grads: the gradient of average" in page
    (unknown,) = re.findall(r"^([\d.]+), the last word", page, re.MULTILINE)
    (known,) = re.findall(r"^([\d.]+)  my cat sleeps", page, re.MULTILINE)
    assert float(known) < 0.8 < float(unknown)
    (times,) = re.findall(r"(\d+) times as fast", page)
    assert int(times) > 1
