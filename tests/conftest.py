"""Shared fixtures: seeded data with class structure, and a way to run Python in a fresh process."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from children import finished
from engines import need
from hypothesis import HealthCheck, settings
from parts import LEFT_OUT, OF_KERNELS
from s3_server import S3, reached

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent

# Tests look at all of standard error, and kernels may or may not be compiled already. What is said
# of compiling is tested in test_notice. Processes that tests start inherit it.
os.environ["FASTGNB_QUIET"] = "1"

# The same examples in every run, however busy the machine is.
settings.register_profile(
    "repeatable", derandomize=True, database=None, deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
settings.load_profile("repeatable")

# A shell starts jobs in the background with interrupts ignored, which their children inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with the runs that it is in; without the compiler, skip what needs it."""
    skip = pytest.mark.skip(reason="needs the compiler")
    is_plain = os.environ.get("NUMBA_DISABLE_JIT") == "1"
    for item in items:
        if "python" in getattr(item, "fixturenames", ()):
            item.add_marker("fresh")
        marks = {mark.name for mark in item.iter_markers()}
        place = item.path.as_posix().removeprefix(f"{TESTS.as_posix()}/")
        for run, others in LEFT_OUT.items():
            if not marks & others and (run != "lines" or place.startswith(OF_KERNELS)):
                item.add_marker(run)
        if is_plain and "compiled" in marks:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3]:
    """A server of S3 in this process, for all tests that ask for `s3`."""
    need("s3fs", "moto")
    server = S3()
    yield server
    server.stop()


@pytest.fixture
def s3(s3_server: S3, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    """That server with one empty bucket, `data`, to which the environment leads."""
    with reached(s3_server, monkeypatch):
        yield s3_server


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240607)


@pytest.fixture
def make_data() -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """Rows of k normal classes: (n, d) float64 and labels 0..k-1."""

    def make(n: int, d: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        draw = np.random.default_rng([seed, n, d, k])
        y = draw.integers(0, k, n)
        y[:k] = np.arange(k)[: len(y)]
        centres = draw.normal(size=(k, d)) * 2
        return draw.normal(size=(n, d)) * draw.uniform(0.5, 2, size=d) + centres[y], y

    return make


@pytest.fixture
def python() -> Callable[..., str]:
    """Run code in a fresh interpreter and return what it prints; it must end well."""

    def run(code: str, *args: str, timeout: float = 900, **env: str | None) -> str:
        environment = dict(os.environ, PYTHONPATH=f"{ROOT}{os.pathsep}{ROOT / 'tests'}")
        for name, value in env.items():
            environment.pop(name, None)
            if value is not None:
                environment[name] = value
        words = [sys.executable, "-c", code, *args]
        done = finished(words, env=environment, timeout=timeout)
        assert not done.stderr, done.stderr
        return done.stdout

    return run
