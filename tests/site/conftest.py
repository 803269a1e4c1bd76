"""The documentation as `make docs` built it, and a headless browser to look at it."""

import functools
import http.server
import importlib
import shutil
import threading

import pytest
from docs_pages import ROOT

SITE = ROOT / "build" / "site"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")  # else the one that Playwright brings
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


@pytest.fixture(scope="session")
def site():
    assert (SITE / "index.html").is_file(), "make docs builds it"
    return SITE


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


@pytest.fixture(scope="session")
def address(site):
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def browser():
    playwright = importlib.import_module("playwright.sync_api")  # of the extra `docs`
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=found, args=OPTIONS)
        yield chromium
        chromium.close()


@pytest.fixture
def new_page(browser, address):
    """Makes a page that refuses every request but to the site, and collects what went wrong."""
    contexts, wrong = [], []

    def make(width=1280):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))

        def note(request):
            # The browser ends the requests of a page that it leaves.
            if request.failure != "net::ERR_ABORTED":
                wrong.append(f"{request.url} failed: {request.failure}")

        page.on("requestfailed", note)

        def handle(route):
            if route.request.url.startswith((address, "data:", "blob:", "file:")):
                route.continue_()
            else:
                wrong.append(f"asks for {route.request.url}")
                route.abort()

        page.route("**/*", handle)
        return page

    yield make
    for context in contexts:
        context.close()
    assert wrong == []
