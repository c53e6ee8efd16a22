"""Figures are drawn without a screen, and closed after each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    plt = pytest.importorskip("matplotlib.pyplot", reason="needs matplotlib")
    plt.switch_backend("Agg")
    yield
    plt.close("all")
