"""The checks of pages find what is wrong with a page, and pass one that is right."""

from __future__ import annotations

import pages
import pytest

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>A page</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<style>:root {{ color-scheme: light dark }}</style></head>
<body><main><h1>A page</h1>{body}</main></body></html>
"""


@pytest.fixture
def write(tmp_path):
    """Write a page with this body, and return its path."""

    def write(body):
        path = tmp_path / "page.html"
        path.write_text(PAGE.format(body=body), encoding="utf-8")
        return path

    return write


def test_a_page_that_is_right_passes_from_a_file_and_from_a_server(write, check_page, serve):
    path = write('<p id="p">Text</p><img alt="" src="own.svg">')
    path.with_name("own.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    assert check_page(path, selector="#p") == []
    assert check_page(serve(path.parent) + path.name) == []


WRONG = {
    "image-alt": '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">',
    "color-contrast": '<p style="color: #999; background: #fff">Pale</p>',
    "target-size": '<button style="width: 9px; height: 9px; padding: 0; border: 0">a</button>' * 2,
    "console: told": "<script>console.error('told')</script>",
    "console: asserted": "<script>console.assert(false, 'asserted')</script>",
    "uncaught: thrown": "<script>throw 'thrown'</script>",
    "uncaught: late": "<script>Promise.reject(new Error('late'))</script>",
    "foreign request: https://cdn.example/a.js": '<script src="https://cdn.example/a.js"></script>',
    "foreign request: ws://": "<script>new WebSocket('ws://127.0.0.1:9/a').onclose = "
    "() => document.documentElement.dataset.closed = true</script>",
    "wider than the window: <p": '<p style="width: 2000px">Wide</p>',
}


def test_what_is_wrong_is_named(write, check_page):
    with pytest.raises(AssertionError) as caught:
        # A socket is told when it opens or fails, and a page loads without waiting for it.
        check_page(write("".join(WRONG.values())), selector="html[data-closed]")
    views = [f"{scheme}, {width}" for scheme in pages.SCHEMES for width in pages.WIDTHS]
    expected = {f"{view}: {problem}" for view in views for problem in WRONG}
    assert {text for text in expected if text not in str(caught.value)} == set()


def test_what_is_wrong_in_dark_only_is_named(write, check_page):
    dark = "@media (prefers-color-scheme: dark) { p { color: #333; background: #222 } }"
    with pytest.raises(AssertionError) as caught:
        check_page(write(f"<style>{dark}</style><p>Text</p>"))
    assert "dark, phone: color-contrast" in str(caught.value)
    assert "light" not in str(caught.value)


def test_what_actions_bring_about_is_examined(write, check_page):
    path = write("<button onclick=\"console.error('pressed')\">Press here</button>")
    check_page(path)
    with pytest.raises(AssertionError, match="console: pressed"):
        check_page(path, actions=lambda page: page.click("button"))


def test_best_practices_are_told_and_do_not_fail(write, check_page):
    advice = check_page(write("<h4>Deep</h4>"))
    assert len(advice) == 4
    assert all("heading-order" in text for text in advice)


def test_a_page_of_another_folder_is_foreign():
    assert pages.is_own("file:///a/site/b/c.js", "file:///a/site/index.html")
    assert not pages.is_own("file:///a/other.js", "file:///a/site/index.html")
    assert not pages.is_own("http://127.0.0.1:1/", "file:///a/site/index.html")
    assert pages.is_own("http://127.0.0.1:1/b", "http://127.0.0.1:1/a")
    assert not pages.is_own("http://127.0.0.1:2/b", "http://127.0.0.1:1/a")


def test_page_fixture_is_watched(page, write, serve):
    page.goto(serve(write("<p>Text</p>").parent) + "page.html")
    assert page.inner_text("p") == "Text"


def test_waits_go_on_where_pages_forbid_eval(page, write):
    """A report forbids it; on a slow machine the first try comes too soon."""
    path = write("<script>setTimeout(() => { document.title = 'late' }, 300)</script>")
    policy = "<meta http-equiv=Content-Security-Policy content=\"script-src 'unsafe-inline'\">"
    path.write_text(path.read_text().replace("</head>", f"{policy}</head>"))
    page.goto(path.as_uri())
    pages.wait_until(page, "document.title === 'late'")
    with pytest.raises(AssertionError, match="never"):
        pages.wait_until(page, "document.title === 'never'", patience=50)


@pytest.mark.parametrize("variable", ["CHROMIUM", "AXE_CORE"])
def test_missing_parts_are_named(variable, monkeypatch, tmp_path):
    monkeypatch.setenv(variable, str(tmp_path / "missing"))
    assert any(variable in part for part in pages.missing_parts())


def test_axe_is_found_in_its_folder_too(monkeypatch):
    script = pages.axe_script()
    monkeypatch.setenv("AXE_CORE", str(script.parent))
    assert pages.axe_script().samefile(script)
