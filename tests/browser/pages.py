"""Pages in Chromium: where its parts are, a server of a folder, and what is wrong with a page.

Environment variables name what is not in its usual place: CHROMIUM, the browser's program;
AXE_CORE, the folder of the npm package axe-core, or its script. With BROWSER_TESTS=required the
tests fail where Chromium, Playwright or axe-core is missing; else they are skipped.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
WIDTHS = {"phone": (390, 844), "desktop": (1440, 900)}  # CSS pixels
SCHEMES = ("light", "dark")
PATIENCE = 120_000  # milliseconds for what takes one or two unless other processes want the cores
WCAG = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa")

# All rules of WCAG 2.0 to 2.2, A and AA, and the best practices. axe-core leaves target-size, of
# WCAG 2.2, out unless it is asked for.
AXE_OPTIONS = {
    "runOnly": {"type": "tag", "values": [*WCAG, "best-practice"]},
    "rules": {"target-size": {"enabled": True}},
    "resultTypes": ["violations"],
}


def chromium() -> str | None:
    """The path of the browser's program, or None."""
    if named := os.environ.get("CHROMIUM"):
        return named
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


def axe_script() -> Path | None:
    """The path of axe-core's script, or None."""
    if named := os.environ.get("AXE_CORE"):
        path = Path(named)
        return path / "axe.min.js" if path.is_dir() else path
    folders = [Path.cwd(), *Path(__file__).resolve().parents]
    scripts = [folder / "node_modules" / "axe-core" / "axe.min.js" for folder in folders]
    return next((path for path in scripts if path.exists()), None)


def missing_parts() -> list[str]:
    """What these tests need and do not find."""
    program, axe = chromium(), axe_script()
    parts = {
        "Playwright (pip install 'fastgnb[browser]')": importlib.util.find_spec("playwright"),
        "Chromium (on PATH, or named by CHROMIUM)": program and shutil.which(program),
        "axe-core (npm install axe-core, or named by AXE_CORE)": axe and axe.is_file(),
    }
    return [name for name, is_there in parts.items() if not is_there]


def must_run() -> bool:
    return os.environ.get("BROWSER_TESTS") == "required"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on a free port of this machine, and give its address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def address_of(page: Path | str) -> str:
    """A file's address, or the address as it is."""
    return page if isinstance(page, str) and "://" in page else Path(page).resolve().as_uri()


def is_own(request: str, page: str) -> bool:
    """Whether a request stays with a page: inline, of its origin, or of its folder of files."""
    asked, start = urlsplit(request), urlsplit(page)
    if asked.scheme in ("data", "blob", "about"):
        return True
    if start.scheme == "file":
        return asked.scheme == "file" and asked.path.startswith(start.path.rpartition("/")[0] + "/")
    return (asked.scheme, asked.netloc) == (start.scheme, start.netloc)


class Watch:
    """The errors and foreign requests of a browser context, from its first page on."""

    def __init__(self, context: Any) -> None:
        self.requests: list[str] = []
        self.errors: list[str] = []
        context.on("request", lambda request: self.requests.append(request.url))
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.errors.append(f"uncaught: {error.error}"))
        context.on("page", self._watch_sockets)

    def _watch_sockets(self, page: Any) -> None:
        page.on("websocket", lambda socket: self.requests.append(socket.url))

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "assert"):
            place = message.location or {}
            self.errors.append(f"console: {message.text} ({place.get('url')})")

    def problems(self) -> list[str]:
        """Errors, and requests that leave the page that was opened first."""
        first = next((url for url in self.requests if not is_inline(url)), "about:blank")
        foreign = [url for url in self.requests if not is_own(url, first)]
        return self.errors + [f"foreign request: {url}" for url in foreign]


def is_inline(url: str) -> bool:
    return urlsplit(url).scheme in ("data", "blob", "about")


def accessibility(page: Any) -> tuple[list[str], list[str]]:
    """What axe-core finds wrong with a page: violations of WCAG, and of best practices only."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_axe_source())
    found = page.evaluate("options => axe.run(document, options)", AXE_OPTIONS)["violations"]
    texts = {True: [], False: []}
    for rule in found:
        nodes = [f"{' '.join(map(str, node['target']))}: {node['html']}" for node in rule["nodes"]]
        text = f"{rule['id']}: {rule['help']}\n    " + "\n    ".join(nodes)
        texts[bool(set(WCAG) & set(rule["tags"]))].append(text)
    return texts[True], texts[False]


@functools.cache
def _axe_source() -> str:
    return axe_script().read_text(encoding="utf-8") + "\n;0;"


def overflow(page: Any) -> list[str]:
    """What sticks out of a page that is wider than its window."""
    wide = page.evaluate(
        """() => {
            const root = document.documentElement, right = root.clientWidth;
            if (root.scrollWidth <= right) return null;
            return [...document.body.querySelectorAll("*")]
                .filter(element => element.getBoundingClientRect().right > right + 1)
                .slice(0, 5).map(element => element.outerHTML.slice(0, 120));
        }"""
    )
    return [] if wide is None else ["wider than the window: " + " | ".join(wide)]


def wait_until(
    page: Any, condition: str, arg: Any = None, *, again: Any = None, patience: float = PATIENCE
) -> None:
    """Wait until a condition in JavaScript holds; call `again` before each new try.

    Playwright's `wait_for_function` tries once from outside, and then inside the page, where a
    Content Security Policy without `unsafe-eval` makes every later try an error.
    """
    again = again or functools.partial(page.wait_for_timeout, 20)
    deadline = time.monotonic() + patience / 1000
    while not page.evaluate(condition, arg):
        assert time.monotonic() < deadline, f"{condition}, of {arg}"
        again()


def wait_for_focus(page: Any, condition: str) -> None:
    """Wait until a condition in JavaScript holds for `e`, the element that has the focus."""
    wait_until(page, f"(e => {condition})(document.activeElement)")


def reload_until(page: Any, condition: str) -> None:
    """Load a page anew until a condition in JavaScript holds.

    Chromium writes what a page stores a little later.
    """
    wait_until(page, condition, again=page.reload)


def settle(page: Any) -> None:
    """Wait for fonts, and for what a page draws in its next two frames."""
    page.evaluate(
        """async () => {
            await document.fonts.ready;
            for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
        }"""
    )
