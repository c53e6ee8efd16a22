"""Fixtures for tests in Chromium: `page` to act on, and `check_page` for what every page holds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pages
import pytest

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)  # before marks are looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = pages.missing_parts()
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")
            item.add_marker("any_version")  # Chromium is no dependency of the package
            if missing and not pages.must_run():
                item.add_marker(pytest.mark.skip(reason="needs " + ", ".join(missing)))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser that reaches this machine only.

    It is closed after each file of tests, since asyncio.run fails in the thread that drives it.
    """
    assert not pages.missing_parts(), (
        f"BROWSER_TESTS=required, but missing: {pages.missing_parts()}"
    )
    from playwright.sync_api import sync_playwright

    is_root = hasattr(os, "geteuid") and os.geteuid() == 0  # whom Chromium's sandbox refuses
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=pages.chromium(),
            timeout=pages.PATIENCE,
            chromium_sandbox=not is_root,
            args=["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
        )
        with browser:
            yield browser


@pytest.fixture
def open_view(chromium: Any) -> Iterator[Callable[..., tuple[Any, pages.Watch]]]:
    """Make an empty page of a width and a colour scheme, and a watch over it."""
    with ExitStack() as stack:

        def open_view(width: str = "desktop", scheme: str = "light") -> tuple[Any, pages.Watch]:
            size = dict(zip(("width", "height"), pages.WIDTHS[width], strict=True))
            context = chromium.new_context(
                viewport=size, color_scheme=scheme, reduced_motion="reduce", locale="en-US"
            )
            stack.callback(context.close)
            watch = pages.Watch(context)
            page = context.new_page()
            page.set_default_timeout(pages.PATIENCE)
            return page, watch

        yield open_view


@pytest.fixture
def page(open_view: Callable[..., tuple[Any, pages.Watch]]) -> Iterator[Any]:
    """A page of 1440 pixels to act on.

    In the end it must have had no errors and no foreign requests.
    """
    page, watch = open_view()
    yield page
    assert watch.problems() == []


@pytest.fixture
def serve() -> Iterator[Callable[[Path], str]]:
    """Serve a folder on this machine, and return its address, which ends with a slash."""
    with ExitStack() as stack:
        yield lambda folder: stack.enter_context(pages.served(Path(folder)))


@pytest.fixture
def check_page(
    open_view: Callable[..., tuple[Any, pages.Watch]],
) -> Callable[..., list[str]]:
    """Check a page in light and dark, at 390 and 1440 pixels.

    It must load without errors and foreign requests, fit the width of the window, and have no
    violation of WCAG 2.2 AA that axe-core finds. `selector` is what to wait for, and `actions` is
    called with the page before it is examined. Violations of best practices are returned.
    """

    def check(
        page_or_url: Path | str,
        *,
        selector: str | None = None,
        actions: Callable[[Any], object] | None = None,
    ) -> list[str]:
        problems, advice = [], []
        for scheme in pages.SCHEMES:
            for width in pages.WIDTHS:
                view, watch = open_view(width, scheme)
                view.goto(pages.address_of(page_or_url))
                if selector is not None:
                    view.wait_for_selector(selector)
                if actions is not None:
                    actions(view)
                pages.settle(view)
                violations, best_practices = pages.accessibility(view)
                wrong = [*pages.overflow(view), *violations, *watch.problems()]
                problems += [f"{scheme}, {width}: {text}" for text in wrong]
                advice += [f"{scheme}, {width}: {text}" for text in best_practices]
                view.context.close()
        print("\n".join(advice))  # shown where a test fails
        assert not problems, "\n".join([str(page_or_url), *problems])
        return advice

    return check
