"""The documentation in a headless browser: navigation, search, a narrow screen."""

import pytest

pytestmark = pytest.mark.site


def heading(page):
    return page.locator("article h1").first.inner_text().replace("\N{PILCROW SIGN}", "").strip()


def test_the_navigation_leads_through_the_site(new_page, address):
    page = new_page()
    page.goto(address)
    assert heading(page) == "jaxops"
    tabs = page.locator(".md-tabs__link")
    names = [name.strip() for name in tabs.all_inner_texts()]
    tabs_in_order = [
        "jaxops",
        "Guides",
        "Functions",
        "Examples",
        "Gallery",
        "Why not just jnp",
        "About",
    ]
    assert names == tabs_in_order
    for name, expected in {"Guides": "Start", "Functions": "All functions"}.items():
        page.locator(".md-tabs__link", has_text=name).click()
        page.wait_for_load_state()
        assert heading(page) == expected
    page.locator("article a", has_text="gather_nd").first.click()
    page.wait_for_load_state()
    assert heading(page) == "jaxops.gather_nd"
    for part in ("At a glance", "Picture", "Dtypes", "Times on a CPU"):
        assert page.locator("article h2", has_text=part).first.is_visible(), part
    picture = page.locator("article img").first
    picture.scroll_into_view_if_needed()
    assert picture.evaluate("image => image.naturalWidth") > 400
    page.locator(".md-footer__link--next").click()
    page.wait_for_load_state()
    assert heading(page) == "jaxops.invert_permutation"


def test_an_example_is_reached_by_its_card(new_page, address):
    """Every picture of the cards is there, and the page behind one has picture, table and code."""
    page = new_page()
    page.goto(address)
    page.locator(".md-tabs__link", has_text="Examples").click()
    page.wait_for_load_state()
    cards = page.locator("article .grid.cards > ul > li")
    assert cards.count() > 9
    pictures = page.locator("article .grid.cards img")
    assert pictures.count() > 4
    widths = pictures.evaluate_all("images => images.map(image => image.naturalWidth)")
    assert min(widths) > 400
    cards.locator("a", has_text="Graph network").click()
    page.wait_for_load_state()
    assert heading(page) == "Graph network"
    assert page.locator("article img").first.evaluate("image => image.naturalWidth") > 400
    texts = page.locator("article pre").all_inner_texts()
    assert any("network with messages" in text for text in texts)
    assert any("jaxops.unsorted_segment_mean(" in text for text in texts)


@pytest.mark.parametrize("opened_as", ["served", "file"])
def test_a_search_for_gather_finds_it_first(new_page, address, site, opened_as):
    page = new_page()
    root = address if opened_as == "served" else site.as_uri()
    page.goto(f"{root}/index.html")
    page.locator(".md-search__input").first.click()
    page.keyboard.type("gather")
    first = page.locator(".md-search-result__item a").first
    first.wait_for(state="visible")
    assert "gather" in first.inner_text()
    first.click()
    page.wait_for_url("**/functions/gather.html**")
    assert heading(page) == "jaxops.gather"


@pytest.mark.parametrize("path", ["index.html", "functions/gather.html", "performance.html"])
def test_a_narrow_screen_shows_the_whole_page(new_page, address, path):
    """Nothing is wider than the screen but what scrolls by itself, and the menu opens."""
    page = new_page(width=360)
    page.goto(f"{address}/{path}")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 360
    page.locator("label.md-header__button[for=__drawer]").first.click()
    entry = page.locator(".md-nav--primary .md-nav__link", has_text="Gallery").first
    entry.wait_for(state="visible")


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("-1", "faq.html"),
        ("upgrade", "versioning.html"),
        ("take_along_axis", "functions/take_along_axis.html"),
        ("sparse gradients flax", "frameworks.html"),
    ],
)
def test_a_search_in_a_page(new_page, address, query, answer):
    """The page sends the query to the worker through search_words.js."""
    page = new_page()
    page.goto(f"{address}/index.html")
    page.locator(".md-search__input").first.click()
    page.keyboard.type(query)
    links = page.locator(".md-search-result__item > a, .md-search-result__link")
    links.first.wait_for(state="visible")
    page.wait_for_timeout(1000)  # the page asks again after each letter
    found = [link.get_attribute("href") or "" for link in links.all()[:12]]
    pages = list(dict.fromkeys(link.partition("#")[0].partition("?")[0] for link in found))[:3]
    assert any(link.endswith(answer) for link in pages), pages
