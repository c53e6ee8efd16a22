"""What holds for every heat map: no grid over it, and numbers that can be read."""

from __future__ import annotations

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from cases import LONG, blobs, named
from matplotlib.text import Annotation

from fastgnb import GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB, plot


def separation(k=3):
    X, y = blobs(k, 3)
    labels = np.array([*map(str, range(k - 1)), "x" * 24])
    return plot.SeparationDisplay.from_estimator(GaussianNB().fit(X, labels[y]))


def loadings(d=4):
    X, y = blobs(2, d)
    model = named(PCAGaussianNB().fit(X, y), [*map(str, range(d - 1)), LONG.format(1)])
    return plot.AxesDisplay.from_estimator(model)


def correlation():
    return plot.CorrelationDisplay.from_estimator(GaussianBayes().fit(*blobs(2, 3)))


def confusion():
    X, y = blobs(5, 3)
    y = np.array(["a", "b", "c", "d", "x" * 24])[y]
    return plot.ConfusionMatrixDisplay.from_estimator(GaussianNB().fit(X, y), X, y)


def categories():
    X, y = np.arange(60)[:, None] % 3, np.arange(60) % 20
    return plot.DensityDisplay.from_estimator(MixedNB(categorical_features=[0]).fit(X, y))


@pytest.mark.parametrize("draw", [separation, loadings, correlation, confusion, categories])
def test_grids_of_styles_are_not_drawn_over_heat_maps(draw):
    with plt.rc_context({"axes.grid": True, "axes.grid.which": "both"}):
        shown = draw()
        shown.figure_.canvas.draw()
    panels = [ax for ax in shown.figure_.axes if ax.images]
    assert panels
    for ax in panels:
        lines = [*ax.get_xgridlines(), *ax.get_ygridlines()]
        assert not any(line.get_visible() for line in lines)


@pytest.mark.parametrize("draw", [lambda: separation(10), lambda: loadings(10)])
def test_numbers_do_not_run_into_each_other(draw):
    shown = draw()
    shown.figure_.canvas.draw()
    for ax in shown.figure_.axes:
        numbers = [text for text in ax.texts if not isinstance(text, Annotation)]
        for row in range(10):
            boxes = [t.get_window_extent() for t in numbers if t.get_position()[1] == row]
            boxes.sort(key=lambda box: box.x0)
            assert all(a.x1 <= b.x0 for a, b in itertools.pairwise(boxes))


@pytest.mark.parametrize("draw", [lambda: separation(10), separation, confusion, correlation])
def test_names_of_columns_do_not_run_into_each_other(draw):
    """Where one of them is long, and the others are short, as well."""
    shown = draw()
    shown.figure_.canvas.draw()
    for ax in shown.figure_.axes:
        boxes = [text.get_window_extent() for text in ax.get_xticklabels() if text.get_text()]
        assert all(a.x1 <= b.x0 for a, b in itertools.pairwise(boxes))
