"""Links, anchors and pictures of the built pages; nothing is fetched from the network."""

import html.parser
import re
import urllib.parse

import pytest

pytestmark = pytest.mark.site

FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(html.parser.HTMLParser):
    """What a page links to, what it fetches, and the anchors that it has."""

    def __init__(self, text):
        super().__init__()
        self.links, self.fetched, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors |= {found[key] for key in ("id", "name") if found.get(key)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        is_canonical = found.get("rel") in ("canonical", "next", "prev", "alternate")
        if tag in FETCHED and found.get(FETCHED[tag]) and not is_canonical:
            self.fetched.append(found[FETCHED[tag]])


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path.read_text()) for path in site.rglob("*.html")}


def target(path, link):
    """The file that a link leads to, and its anchor."""
    parts = urllib.parse.urlsplit(link)
    file = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
    return (file / "index.html" if file.is_dir() else file), urllib.parse.unquote(parts.fragment)


def test_pages_are_many(pages, site):
    names = {path.relative_to(site).as_posix() for path in pages}
    assert names >= {"index.html", "start.html", "functions/gather.html", "changelog.html"}
    assert len(names) > 130


def test_links_lead_to_pages_and_anchors(pages):
    broken, followed = [], 0
    for path, page in pages.items():
        if path.name == "404.html":  # its links are from the root of a server
            continue
        for link in page.links:
            if urllib.parse.urlsplit(link).scheme:
                continue
            file, anchor = target(path, link)
            followed += 1
            known = pages[file].anchors if file in pages else None
            if not file.exists() or (anchor and known is not None and anchor not in known):
                broken.append(f"{path.name}: {link}")
    assert broken == []
    assert followed > 10_000


def test_nothing_is_fetched_from_elsewhere(pages, site):
    for path, page in pages.items():
        for link in page.fetched:
            assert not urllib.parse.urlsplit(link).netloc, f"{path.name} fetches {link}"
            if path.name != "404.html" and not link.startswith("data:"):
                assert target(path, link)[0].is_file(), f"{path.name}: {link}"
    for style in site.rglob("*.css"):
        assert not re.findall(r"url\(['\"]?(https?:)?//", style.read_text()), style


def test_what_is_for_the_making_is_not_part_of_the_site(site):
    assert not [*site.rglob("*.py")]
    assert not [path for path in site.rglob("*.html") if "<!-- made" in path.read_text()]


def test_no_reference_is_left_unresolved(site):
    """As text in brackets, `[x][jaxops.x]`."""
    for path in (site / "functions").glob("*.html"):
        assert not re.findall(r"\]\[jaxops\.", path.read_text()), path
