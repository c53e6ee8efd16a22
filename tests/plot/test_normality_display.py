"""NormalityDisplay: its curves, its table, which features and classes it shows."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris

from fastgnb import GaussianNB, diagnose
from fastgnb.plot import NormalityDisplay

X, Y = load_iris(return_X_y=True, as_frame=True)


@pytest.fixture
def found():
    return diagnose(GaussianNB().fit(X, Y), X, Y)


def test_curves_are_the_quantiles_of_the_diagnosis(found):
    display = NormalityDisplay.from_diagnosis(found)
    assert display.feature_names == tuple(found.feature_names[j] for j in found.ranking)
    assert len(display.axes_) == len(display.lines_) == 4
    assert display.figure_ is display.ax_.figure
    for name, lines in zip(display.feature_names, display.lines_, strict=True):
        for label, line in zip([0, 1, 2], lines, strict=True):
            expected = found.qq(label, name)
            np.testing.assert_array_equal(line.get_xdata(), expected.theoretical)
            np.testing.assert_array_equal(line.get_ydata(), expected.empirical)
    assert [text.get_text() for text in display.legend_.get_texts()] == ["0", "1", "2"]
    assert display.ax_.get_title() == "petal width (cm)"
    nats = found.feature_negentropy[found.ranking[0]]
    assert display.ax_.texts[0].get_text() == f"{nats:.2g} nats per row"


@pytest.mark.compiled
def test_normal_rows_lie_on_the_diagonal():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(50_000, 1)) * 9 + 4, np.arange(50_000) % 2
    display = NormalityDisplay.from_estimator(GaussianNB().fit(rows, labels), rows, labels)
    for line in display.lines_[0]:
        x, y = line.get_data()
        inner = np.abs(x) < 2.5
        np.testing.assert_allclose(y[inner], x[inner], atol=0.1)
        assert line.get_marker() in ("", "None")
    diagonal = display.ax_.lines[0].get_xydata()
    np.testing.assert_array_equal(diagonal[:, 0], diagonal[:, 1])


def test_the_table_has_each_point(found):
    display = NormalityDisplay.from_diagnosis(found, features=["petal width (cm)", 0], classes=[1])
    table = display.frame()
    assert list(table.columns) == ["feature", "class", "theoretical", "empirical"]
    assert table["feature"].unique().tolist() == ["petal width (cm)", "sepal length (cm)"]
    assert table["class"].unique().tolist() == [1]
    part = table[table["feature"] == "sepal length (cm)"]
    np.testing.assert_array_equal(part["empirical"], found.qq(1, 0).empirical)


@pytest.mark.compiled
def test_many_features_and_classes_show_the_least_normal():
    rng = np.random.default_rng(0)
    labels = np.arange(6000) % 12
    rows = rng.normal(size=(6000, 9))
    rows[:, 4] = rng.exponential(size=6000)
    rows[labels == 11, 2] = rng.exponential(size=500) ** 2
    display = NormalityDisplay.from_estimator(GaussianNB().fit(rows, labels), rows, labels)
    assert len(display.axes_) == 6
    assert {"feature 4", "feature 2"} == set(display.feature_names[:2])
    assert len(display.classes) == 8
    assert 11 in display.classes
    assert display.figure_.get_suptitle() == "the least normal 6 of 9 features"
    assert "8 of 12 classes" in display.legend_.get_title().get_text()


def test_chosen_axes_and_keywords(found):
    _, ax = plt.subplots()
    display = NormalityDisplay.from_diagnosis(
        found, features=[2], classes=[0, 2], ax=ax, curve_kwargs=[{"color": "k"}, {"lw": 5}]
    )
    assert display.ax_ is ax
    assert display.lines_[0][0].get_color() == "k"
    assert display.lines_[0][1].get_linewidth() == 5
    with pytest.raises(ValueError, match="list of 2 dictionaries"):
        display.plot(curve_kwargs=[{}])
    with pytest.raises(ValueError, match="ax to hold 1 matplotlib Axes"):
        display.plot(ax=plt.subplots(1, 2)[1])


def test_constants_and_few_rows_are_said():
    rows, labels = np.array([[0.0, 1], [1, 1], [0, 1], [2, 1]]), [0, 0, 1, 1]
    display = NormalityDisplay.from_estimator(GaussianNB().fit(rows, labels), rows, labels)
    by_name = dict(zip(display.feature_names, display.axes_, strict=True))
    assert "does not vary" in [text.get_text() for text in by_name["feature 1"].texts]
    assert "too few rows" in [text.get_text() for text in by_name["feature 0"].texts]
    assert {line.get_marker() for line in display.lines_[0]} == {"."}


def test_what_is_refused(found):
    with pytest.raises(ValueError, match="Expected a feature among"):
        NormalityDisplay.from_diagnosis(found, features=["width"])
    with pytest.raises(ValueError, match="Expected a class among 0, 1, 2; got 7"):
        NormalityDisplay.from_diagnosis(found, classes=[7])
    with pytest.raises(ValueError, match="Expected one feature or more"):
        NormalityDisplay.from_diagnosis(found, features=[])
