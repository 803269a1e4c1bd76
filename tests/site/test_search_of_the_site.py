"""The search of the site finds the right page for what users type."""

import importlib
import json
import subprocess

import pytest
from docs_pages import ROOT

pytestmark = pytest.mark.site

# A page that answers, among the first three found. Numbers, words of users, names, two words.
ANSWERS = {
    "-1": "faq.html",
    "negative index": "faq.html",
    "negative indices": "faq.html",
    "out of bounds": "out_of_bounds.html",
    "index out of range": "out_of_bounds.html",
    "nan": "faq.html",
    "vocabulary": "faq.html",
    "TPU": "accelerators.html",
    "GPU": "accelerators.html",
    "upgrade": "versioning.html",
    "install": "index.html",
    "existing code": "checked.html",
    "donate": "sharp_bits.html",
    "sparse gradients": "sparse_gradients.html",
    "sparse gradients flax": "frameworks.html",
    "equinox": "frameworks.html",
    "take_along_axis": "functions/take_along_axis.html",
    "gather": "functions/gather.html",
    "scatter_nd": "functions/scatter_nd.html",
    "segment_sum": "functions/segment_sum.html",
    "padding_index": "functions/padding_index.html",
    "typed_errors": "functions/typed_errors.html",
    "check_grads": "functions/testing.check_grads.html",
    "import jaxops as tf": "porting.html",
    "sharding": "many_devices.html",
    "pytest": "checked.html",
    "notebook": "tutorial.html",
}
# Parts of every page of a function: a search for a word in them would find all of these pages.
REPEATED = ("At a glance", "Dtypes", "Times on a CPU", "Programs for a GPU and a TPU", "See also")


@pytest.fixture(scope="module")
def index(site):
    return json.loads((site / "search" / "search_index.json").read_text())


@pytest.fixture(scope="module")
def found(site):
    """The pages by query, from the worker that the site's pages start, in Playwright's Node."""
    driver = importlib.import_module("playwright._impl._driver")
    node = driver.compute_driver_executable()[0]
    (worker,) = (site / "assets" / "javascripts" / "workers").glob("search.*.min.js")
    words = site / "javascripts" / "search_words.js"
    index = site / "search" / "search_index.json"
    program = ROOT / "tests" / "site" / "ask_search.js"
    done = subprocess.run(
        [node, program, worker, words, index, *ANSWERS], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("query", ANSWERS)
def test_the_right_page_is_among_the_first_three(found, query):
    first = found[query][:3]
    assert ANSWERS[query] in first, f"{query!r} finds {first}"


def test_sections_that_repeat_are_not_in_the_index(index):
    titles = [entry["title"] for entry in index["docs"] if "functions/" in entry["location"]]
    assert len(titles) > 100
    assert not [title for title in titles if title in REPEATED]
