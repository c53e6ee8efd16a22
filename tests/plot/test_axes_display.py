"""AxesDisplay: explained variance and loadings are the model's attributes."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from cases import LONG, blobs, named, note_of

from fastgnb import ClassStats, GaussianNB, PCAGaussianNB
from fastgnb.plot import AxesDisplay

draw = AxesDisplay.from_estimator


@pytest.fixture
def data():
    X, y = blobs(3, 5)
    return X, np.array(["a", "b", "c"])[y]


def test_axes_of_all_classes(data):
    model = PCAGaussianNB(n_components=3).fit(*data)
    shown = draw(model)
    left, right = shown.axes_
    bars = [bar.get_height() for bar in left.patches]
    assert bars == pytest.approx(model.explained_variance_ratio_)
    (line,) = shown.lines_
    assert line.get_ydata() == pytest.approx(np.cumsum(model.explained_variance_ratio_))
    assert np.asarray(shown.im_.get_array()) == pytest.approx(model.components_.T)
    low, high = shown.im_.get_clim()
    assert low == -high
    assert shown.order_.tolist() == [0, 1, 2, 3, 4]
    assert [t.get_text() for t in right.get_yticklabels()] == [f"feature {j}" for j in range(5)]
    frame = shown.frame()
    assert frame["explained_variance"].to_numpy() == pytest.approx(model.explained_variance_)
    assert frame.loc[1, "feature 4"] == model.components_[1, 4]
    assert frame["cumulative_ratio"].is_monotonic_increasing


def test_axes_of_each_class(data):
    model = PCAGaussianNB(rotation="class").fit(*data)
    shown = draw(model, label="b")
    assert [line.get_ydata()[-1] for line in shown.lines_] == pytest.approx([1.0] * 3)
    assert np.asarray(shown.im_.get_array()) == pytest.approx(model.components_[1].T)
    assert shown.axes_[1].get_title() == "Loadings of class b"
    frame = shown.frame()
    assert frame.index.names == ["class", "axis"]
    assert frame.loc[("c", 2), "feature 0"] == model.components_[2, 2, 0]
    with pytest.raises(ValueError, match="Expected a class among 'a', 'b', 'c'; got 'x'"):
        draw(model, label="x")


def test_models_and_statistics(data):
    X, y = data
    stats = ClassStats.from_rows(X, y, scatter="full")
    for rotation in ("total", "class"):
        expected = PCAGaussianNB(rotation=rotation, standardize=True).fit(X, y)
        shown = AxesDisplay.from_stats(stats, rotation=rotation, standardize=True)
        assert shown.components == pytest.approx(expected.components_)
        again = draw(expected.to_model())  # which holds no explained variance
        assert again.explained_variance == pytest.approx(expected.explained_variance_)


def test_many_features_and_axes():
    X, y = blobs(2, 60)
    model = named(PCAGaussianNB().fit(X, y), [LONG.format(j) for j in range(60)])
    shown = draw(model)
    assert note_of(shown.axes_[1]).startswith("top 30 of 60 features; the first 10 of ")
    largest = np.abs(model.components_[:10]).max(axis=0)
    assert set(shown.order_.tolist()) == set(np.argsort(-largest)[:30].tolist())
    names = [text.get_text() for text in shown.axes_[1].get_yticklabels()]
    assert len(set(names)) == 30
    assert max(map(len, names)) <= 24
    assert shown.frame().shape[1] == 63


def test_many_classes():
    X, y = blobs(23, 4)
    shown = draw(PCAGaussianNB(rotation="class").fit(X, y))
    assert len(shown.lines_) == 20
    assert note_of(shown.axes_[0]) == "the first 20 of 23 classes"


def test_arguments(data):
    model = PCAGaussianNB().fit(*data)
    with pytest.raises(ValueError, match=r"Expected ax to hold 2 matplotlib Axes.*got one Axes"):
        draw(model, ax=plt.subplots()[1])
    _, axes = plt.subplots(1, 2)
    assert list(draw(model, ax=axes).axes_) == list(axes)
    with pytest.raises(ValueError, match="Expected n_axes of 1 or more, got 0"):
        draw(model, n_axes=0)
    assert np.shape(draw(model, n_axes=2).im_.get_array()) == (5, 2)
    with pytest.raises(ValueError, match="along principal axes, such as PCAGaussianNB, got"):
        draw(GaussianNB().fit(*data))


def test_one_feature_and_one_class():
    shown = draw(PCAGaussianNB().fit([[1.0], [2.0], [4.0]], [0, 0, 0]))
    assert shown.explained_variance_ratio == pytest.approx([1.0])
    shown.figure_.canvas.draw()
