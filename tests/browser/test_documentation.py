"""The built documentation: its pages load, are accessible, and its search and menus work.

DOCUMENTATION names the folder that Sphinx has written; it is docs/_build/html by default.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pages
import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(os.environ.get("DOCUMENTATION", ROOT / "docs" / "_build" / "html"))

pytestmark = pytest.mark.skipif(
    not (SITE / "index.html").exists() and not pages.must_run(),
    reason="the documentation is not built: python -m sphinx -W -n docs docs/_build/html",
)

# One page of each kind: those made alike have the same layout.
SAMPLE = {
    "landing": "index.html",
    "guide": "guide/index.html",
    "page of the guide": "guide/probabilities.html",
    "wide tables": "promises.html",
    "formulas and pictures": "how_it_works.html",
    "gallery": "auto_examples/index.html",
    "example": "auto_examples/1_members/plot_iris.html",
    "API": "api/index.html",
    "class": "api/generated/fastgnb.GaussianNB.html",
    "command line": "api/command_line.html",
    "benchmarks": "benchmarks/index.html",
    "search": "search.html?q=partial_fit",
}


@pytest.fixture
def site(serve):
    return serve(SITE)


def wait_for_results(page):
    """Wait until all results of a search are listed, each with what was read of its page."""
    page.wait_for_selector(".search-summary:has-text('Search finished')")
    pages.wait_until(
        page,
        "[...document.querySelectorAll('#search-results li')].every(e => e.children.length > 1)",
    )


@pytest.mark.parametrize("name", SAMPLE)
def test_page(name, site, check_page):
    actions = wait_for_results if name == "search" else None
    check_page(site + SAMPLE[name], selector="#main-content", actions=actions)


@pytest.mark.parametrize("name", ["index.html", "how_it_works.html"])
def test_pages_need_no_server(name, open_view):
    """From a folder, axe-core itself cannot read the style sheets, and is left out."""
    page, watch = open_view("phone", "dark")
    page.goto((SITE / name).as_uri())
    pages.settle(page)
    assert page.get_attribute("html", "data-theme") == "dark"
    assert watch.problems() == []


def test_search_finds_a_method(site, page):
    page.goto(site + "index.html")
    page.keyboard.press("Control+k")
    pages.wait_for_focus(page, "e.type === 'search'")
    page.keyboard.type("partial_fit")
    page.keyboard.press("Enter")
    wait_for_results(page)
    assert page.locator("#search-results li").count() > 3
    page.click("#search-results a:has-text('partial_fit') >> nth=0")
    page.wait_for_url(re.compile(r"^(?!.*/search\.html)"))
    page.wait_for_selector("main >> text=partial_fit")


def test_search_works_without_a_server(open_view):
    page, watch = open_view()
    page.goto((SITE / "search.html").as_uri() + "?q=decay")
    page.wait_for_selector("#search-results a:has-text('decay')")
    assert watch.problems() == []


def test_theme_is_switched_and_kept(site, page):
    page.goto(site + "index.html")
    assert page.get_attribute("html", "data-theme") == "light"
    page.locator("button.theme-switch-button:visible").first.click()
    page.get_by_role("button", name="Dark", exact=True).click()
    page.wait_for_selector("html[data-theme=dark]")
    page.goto(site + "quickstart.html")
    pages.reload_until(page, "document.documentElement.dataset.theme === 'dark'")


def test_keyboard_reaches_the_content(site, page):
    page.goto(site + "quickstart.html")
    page.keyboard.press("Tab")
    pages.wait_for_focus(page, "e.textContent.trim() === 'Skip to main content'")
    page.keyboard.press("Enter")
    page.wait_for_url("**/quickstart.html#main-content")
    pages.settle(page)  # the place from which Tab goes on moves with a frame
    page.keyboard.press("Tab")
    pages.wait_for_focus(page, "document.querySelector('#main-content').contains(e)")


def test_menu_of_a_phone_opens_and_closes_by_keyboard(site, open_view):
    page, watch = open_view("phone")
    page.goto(site + "guide/index.html")
    page.locator("button.primary-toggle").focus()
    page.keyboard.press("Enter")
    menu = page.locator("#pst-primary-sidebar-modal")
    menu.wait_for(state="visible")
    menu.get_by_role("link", name="API reference").first.wait_for(state="visible")
    page.keyboard.press("Escape")
    menu.wait_for(state="hidden")
    assert watch.problems() == []


def test_no_page_loads_anything_from_elsewhere():
    """Every page, as far as its source says; those of the sample are watched while they load."""
    loads = re.compile(r'<(?:script|img|iframe|source)\b[^>]*\bsrc="(?:https?:)?//|@import')
    sheets = re.compile(r'<link\b(?![^>]*rel="(?:canonical|search)")[^>]*href="(?:https?:)?//')
    pages_read = list(SITE.rglob("*.html"))
    assert len(pages_read) > 40
    texts = {page: page.read_text(encoding="utf-8") for page in pages_read}
    assert [page for page, text in texts.items() if loads.search(text) or sheets.search(text)] == []


def test_no_link_within_the_site_is_broken():
    """Every page; links to GitHub and to folders that others publish are left out."""
    broken = set()
    anchors = {}

    def ids(path):
        if path not in anchors:
            text = path.read_text(encoding="utf-8")
            anchors[path] = set(re.findall(r'\b(?:id|name)="([^"]+)"', text))
        return anchors[path]

    for path in SITE.rglob("*.html"):
        for link in re.findall(r'<a\b[^>]*\bhref="([^"]+)"', path.read_text(encoding="utf-8")):
            target, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", target) or "?" in target:
                continue
            file = (path.parent / target).resolve() if target else path
            if not file.exists() or (anchor and file.suffix == ".html" and anchor not in ids(file)):
                broken.add(f"{path.relative_to(SITE)}: {link}")
    assert broken == set()
