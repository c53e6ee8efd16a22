"""What displays share: axes, panels, legends, names, keywords, and the missing extra."""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.lines import Line2D
from sklearn.exceptions import NotFittedError

import fastgnb
from fastgnb._system import optional
from fastgnb.plot import arguments, names
from fastgnb.plot.display import Display, class_legend, pandas, set_title


class Plain(Display):
    def plot(self, ax=None):
        self._start(ax)
        return self

    def frame(self):
        return pandas().DataFrame({"a": [1]})


class Panels(Plain):
    def plot(self, ax=None):
        self._start_panels(ax, 5)
        return self


def test_new_axes_or_those_given():
    fig, ax = plt.subplots()
    shown = Plain().plot(ax=ax)
    assert shown.ax_ is ax
    assert shown.figure_ is fig
    assert Plain().plot().figure_ is not fig
    assert Plain().frame().shape == (1, 1)


def test_one_axes_is_expected():
    _, grid = plt.subplots(1, 2)
    with pytest.raises(ValueError, match="Expected ax to be one matplotlib Axes, got 2 objects"):
        Plain().plot(ax=grid)
    with pytest.raises(ValueError, match="got str"):
        Plain().plot(ax="here")


def test_panels():
    shown = Panels().plot()
    assert shown.axes_.shape == (5,)
    assert shown.ax_ is shown.axes_[0]
    assert shown.figure_.axes == list(shown.axes_)  # the sixth of the grid is gone
    _, grid = plt.subplots(1, 5)
    assert list(Panels().plot(ax=grid).axes_) == list(grid)


@pytest.mark.parametrize("given", ["one Axes", "4 objects"])
def test_a_wrong_number_of_panels(given):
    fig, grid = plt.subplots(1, 4)
    ax = grid if given == "4 objects" else fig.axes[0]
    with pytest.raises(ValueError, match=f"to hold 5 matplotlib Axes.*, got {given}.*subplots"):
        Panels().plot(ax=ax)


@pytest.mark.parametrize(("n", "listed", "last"), [(3, 3, "c2"), (20, 20, "c19"),
                                                   (31, 30, "and 2 more")])  # fmt: skip
def test_legend_is_bounded(n, listed, last):
    _, ax = plt.subplots()
    legend = class_legend(ax, [Line2D([], []) for _ in range(n)], [f"c{i}" for i in range(n)])
    texts = [text.get_text() for text in legend.get_texts()]
    assert len(texts) == listed
    assert texts[-1] == last


def test_title_says_what_is_left_out():
    _, ax = plt.subplots()
    set_title(ax, "Importance", "", names.selection_note(30, 1240, "features"))
    assert ax.get_title() == "Importance"
    assert [text.get_text() for text in ax.texts] == ["top 30 of 1,240 features"]
    assert names.selection_note(4, 4, "features") == ""


# -------------------------------------------------------------------------------------- names


def test_long_names_are_shortened_and_stay_distinct():
    long = [f"sensor_{'x' * 60}_{i:03d}_mean_of_day" for i in range(40)]
    texts = names.feature_texts([*long, "short", "two\nlines", ""])
    assert len(set(texts)) == 43
    assert max(map(len, texts)) <= names.WIDTH
    assert texts[-3:] == ["short", "two lines", "''"]


def test_dollar_signs_are_no_mathematics():
    fig, ax = plt.subplots()
    ax.set_xlabel(names.feature_texts(["a$_{x$", "$"])[0])
    fig.canvas.draw()


def test_names_of_features_without_names():
    assert names.numbered(None, 2) == ["feature 0", "feature 1"]
    assert names.class_texts(np.array([True, False])) == ["True", "False"]


# ---------------------------------------------------------------------------------- arguments


def test_models():
    model = fastgnb.GaussianNB().fit([[0.0], [1.0]], ["a", "b"])
    assert arguments.model_of(model).classes.tolist() == ["a", "b"]
    assert arguments.model_of(arguments.model_of(model)).n_features == 1
    with pytest.raises(NotFittedError, match="not fitted yet"):
        arguments.model_of(fastgnb.GaussianNB())
    for bad in (fastgnb.GaussianNB, object(), None):
        with pytest.raises(TypeError, match="Expected a fitted estimator of fastgnb"):
            arguments.model_of(bad)


def test_features_by_name_and_position():
    known = ("a", "b", "c")
    assert arguments.feature_position("b", known, 3) == 1
    assert arguments.feature_position(np.int64(-1), known, 3) == 2
    assert arguments.feature_position("feature 2", None, 3) == 2
    with pytest.raises(ValueError, match=r"Expected a feature among 'a', 'b', 'c'; got 'x'"):
        arguments.feature_position("x", known, 3)
    with pytest.raises(ValueError, match="from 0 to 2: 'a', 'b', 'c'; got 3"):
        arguments.feature_position(3, known, 3)
    with pytest.raises(ValueError, match="'feature 11' and 228 more; got 'x'"):
        arguments.feature_position("x", None, 240)
    with pytest.raises(TypeError, match="name or its position, a whole number; got float"):
        arguments.feature_position(1.5, known, 3)


def test_classes_by_label():
    assert arguments.class_position("b", np.array(["a", "b"])) == 1
    with pytest.raises(ValueError, match="Expected a class among 1, 5; got 2"):
        arguments.class_position(2, np.array([1, 5]))


def test_keywords_of_curves():
    defaults = [{"color": "red", "lw": 1}, {"color": "blue", "lw": 1}]
    plain = [{"color": "red", "linewidth": 1}, {"color": "blue", "linewidth": 1}]
    assert arguments.curve_options(None, defaults, Line2D) == plain
    both = arguments.curve_options({"c": "k"}, defaults, Line2D)
    assert [each["color"] for each in both] == ["k", "k"]
    each = arguments.curve_options([{}, {"linewidth": 3}], defaults, Line2D)
    assert each == [plain[0], {"color": "blue", "linewidth": 3}]
    with pytest.raises(ValueError, match=r"a list of 2 dictionaries.*got a list of 1"):
        arguments.curve_options([{}], defaults, Line2D)


def test_top_values_come_first():
    assert arguments.top([1.0, np.nan, 3.0, 3.0, np.inf], 4).tolist() == [4, 2, 3, 0]
    assert arguments.top([np.nan, -np.inf], 5).tolist() == [0, 1]


def test_sampled_rows_are_bounded_and_the_same_each_time():
    assert arguments.sampled(5).tolist() == [0, 1, 2, 3, 4]
    rows = arguments.sampled(10**9, 100)
    assert len(set(rows.tolist())) == 100
    assert (np.diff(rows) > 0).all()
    assert np.array_equal(rows, arguments.sampled(10**9, 100))


# ---------------------------------------------------------------------------------- the extra


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.delitem(vars(optional), "pd", raising=False)
    with pytest.raises(ImportError, match=r"needs pandas, .*: pip install 'fastgnb\[plot\]'"):
        Plain().frame()


def test_unknown_names_of_optional_modules():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = optional.nothing
