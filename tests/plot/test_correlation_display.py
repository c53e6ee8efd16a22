"""CorrelationDisplay: its panels, its table, which features it shows, and what it refuses."""

from __future__ import annotations

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris

from fastgnb import ClassStats, GaussianBayes, GaussianNB, MixedNB, diagnose
from fastgnb.plot import CorrelationDisplay

X, Y = load_iris(return_X_y=True, as_frame=True)


@pytest.fixture
def display():
    return CorrelationDisplay.from_diagnosis(diagnose(GaussianNB().fit(X, Y), X, Y))


def test_panels_hold_the_correlations(display):
    assert len(display.axes_) == len(display.im_) == 4
    assert display.ax_ is display.axes_[0]
    assert display.figure_ is display.ax_.figure
    titles = [ax.get_title() for ax in display.axes_]
    assert titles == ["pooled over classes", "class 0", "class 1", "class 2"]
    for c in range(3):
        expected = np.corrcoef(X[c == Y].T)
        np.testing.assert_allclose(display.im_[c + 1].get_array(), expected, atol=1e-12)
        shown = np.array([[float(text.get_text()) for text in row] for row in display.text_[c + 1]])
        np.testing.assert_allclose(shown, expected, atol=0.005001)
    assert all(image.get_clim() == (-1, 1) for image in display.im_)
    labels = [text.get_text() for text in display.axes_[2].get_xticklabels()]
    assert labels == list(X.columns)
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == list(X.columns)


def test_numbers_are_read_on_their_cells(display):
    texts = display.text_[1]
    assert texts[0, 0].get_color() == "white"
    assert texts[1, 2].get_color() == "black"


def test_the_table_has_each_pair(display):
    table = display.frame()
    assert list(table.columns) == ["group", "first", "second", "correlation"]
    assert table["group"].unique().tolist() == ["pooled", "class 0", "class 1", "class 2"]
    row = table.query(
        "group == 'class 1' and first == 'sepal length (cm)' and second == 'petal width (cm)'"
    )
    expected = np.corrcoef(X[Y == 1].T)[0, 3]
    assert row["correlation"].tolist() == pytest.approx([expected])
    assert len(table) == 4 * 6


def test_statistics_and_models_of_full_scatter_give_the_same(display):
    stats = ClassStats.from_rows(X, Y, scatter="full")
    for other in (
        CorrelationDisplay.from_stats(stats),
        CorrelationDisplay.from_estimator(GaussianBayes().fit(X, Y)),
        CorrelationDisplay.from_estimator(GaussianNB().fit_stats(stats)),
        CorrelationDisplay.from_estimator(GaussianNB().fit(X, Y), X, Y),
    ):
        np.testing.assert_allclose(other.pooled, display.pooled, atol=1e-12)
        np.testing.assert_allclose(other.correlation, display.correlation, atol=1e-12)
        assert other.feature_names == display.feature_names


@pytest.mark.compiled
def test_hundreds_of_features_show_the_thirty_strongest(rng):
    rows = rng.normal(size=(400, 120))
    rows[:, 77] = rows[:, 3] + 0.1 * rng.normal(size=400)
    stats = ClassStats.from_rows(rows, np.arange(400) % 9, scatter="full")
    display = CorrelationDisplay.from_stats(stats)
    assert len(display.feature_names) == 30
    assert {"feature 3", "feature 77"} <= set(display.feature_names)
    assert len(display.axes_) == 4
    notes = [text.get_text() for text in display.ax_.texts]
    assert notes == ["top 30 of 120 features; 3 of 9 classes"]
    assert display.text_ is None


def test_chosen_features_classes_axes_and_keywords():
    stats = ClassStats.from_rows(X, Y, scatter="full")
    _, axes = plt.subplots(1, 2)
    display = CorrelationDisplay.from_stats(
        stats, features=["petal width (cm)", 0], classes=[2], ax=axes, colorbar=False,
        im_kw={"cmap": "coolwarm"},
    )  # fmt: skip
    assert display.feature_names == ("petal width (cm)", "sepal length (cm)")
    assert [ax.get_title() for ax in axes] == ["pooled over classes", "class 2"]
    assert display.im_[0].get_cmap().name == "coolwarm"
    assert len(display.figure_.axes) == 2
    expected = np.corrcoef(X[Y == 2].T)[3, 0]
    assert display.im_[1].get_array()[0, 1] == pytest.approx(expected)


def test_one_class_has_one_panel():
    stats = ClassStats.from_rows(X, np.zeros(len(X), int), scatter="full")
    display = CorrelationDisplay.from_stats(stats)
    assert [ax.get_title() for ax in display.axes_] == ["correlations"]


def test_what_is_refused(rng):
    plain = ClassStats.from_rows(X, Y)
    with pytest.raises(ValueError, match=re.escape("ClassStats.from_rows(X, y, scatter='full')")):
        CorrelationDisplay.from_stats(plain)
    model = GaussianNB().fit(X, Y)
    with pytest.raises(ValueError, match="this GaussianNB has not learned"):
        CorrelationDisplay.from_estimator(model)
    with pytest.raises(ValueError, match="this MixedNB has not learned"):
        CorrelationDisplay.from_estimator(MixedNB().fit(X, Y))
    with pytest.raises(ValueError, match="Expected both X and y"):
        CorrelationDisplay.from_estimator(model, X)
    full = ClassStats.from_rows(X, Y, scatter="full")
    with pytest.raises(ValueError, match="Expected a feature among"):
        CorrelationDisplay.from_stats(full, features=["width"])
    with pytest.raises(ValueError, match="Expected a class among 0, 1, 2; got 7"):
        CorrelationDisplay.from_stats(full, classes=[7])
    with pytest.raises(ValueError, match="Expected one feature or more"):
        CorrelationDisplay.from_stats(full, features=[])
    rows = rng.normal(size=(20, 2))
    rows[:, 0] = np.nan
    skips = GaussianNB(missing="skip").fit(np.nan_to_num(rows), np.arange(20) % 2)
    with pytest.raises(ValueError, match="no correlations: correlations need whole rows"):
        CorrelationDisplay.from_diagnosis(diagnose(skips, rows, np.arange(20) % 2))
