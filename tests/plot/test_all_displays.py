"""What holds for every display of a model: bad input, text, and how much is drawn."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from cases import LONG, blobs, named, texts_of
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

from fastgnb import GaussianBayes, GaussianNB, PCAGaussianNB, plot

DISPLAYS = {
    "DensityDisplay": GaussianNB,
    "EllipseDisplay": GaussianBayes,
    "AxesDisplay": PCAGaussianNB,
    "ImportanceDisplay": GaussianNB,
    "SeparationDisplay": GaussianNB,
}


@pytest.fixture(params=DISPLAYS)
def display(request):
    return getattr(plot, request.param), DISPLAYS[request.param]


def test_public_names_are_loaded_on_first_use():
    for name in plot.__all__:
        assert getattr(plot, name).__name__ == name
        assert name in dir(plot)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = plot.nothing


def test_importing_the_room_loads_no_dependency(python):
    code = (
        "import sys, fastgnb.plot\n"
        "print([m for m in ('numpy', 'matplotlib', 'pandas', 'sklearn') if m in sys.modules])"
    )
    assert python(code).strip() == "[]"


def test_without_matplotlib_the_extra_is_named(python):
    code = (
        "import sys\n"
        "sys.modules['matplotlib'] = sys.modules['matplotlib.pyplot'] = None\n"
        "import fastgnb.plot\n"
        "try:\n"
        "    fastgnb.plot.DensityDisplay\n"
        "except ImportError as error:\n"
        "    print(error)"
    )
    expected = "fastgnb.plot needs matplotlib, which is not installed: pip install 'fastgnb[plot]'"
    assert python(code).strip() == expected


def test_without_pandas_pictures_are_drawn_all_the_same(python):
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(name, path=None, target=None):\n"
        "        if name == 'pandas':\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent)\n"
        "import matplotlib; matplotlib.use('Agg')\n"
        "import fastgnb, fastgnb.plot\n"
        "model = fastgnb.GaussianNB().fit([[0.0], [1.0], [2.0], [5.0]], [0, 0, 1, 1])\n"
        "shown = fastgnb.plot.DensityDisplay.from_estimator(model)\n"
        "try:\n"
        "    shown.frame()\n"
        "except ImportError as error:\n"
        "    print(error)"
    )
    expected = "fastgnb.plot needs pandas, which is not installed: pip install 'fastgnb[plot]'"
    assert python(code).strip() == expected


def test_bad_estimators(display):
    cls, estimator = display
    with pytest.raises(NotFittedError, match="not fitted yet"):
        cls.from_estimator(estimator())
    X, y = blobs(2, 3)
    for bad in (SklearnGaussianNB().fit(X, y), estimator, None):
        with pytest.raises(TypeError, match="Expected a fitted estimator of fastgnb"):
            cls.from_estimator(bad)
    with pytest.raises(
        TypeError, match=f"Expected ClassStats or MixedStats, got {estimator.__name__}"
    ):
        cls.from_stats(estimator().fit(X, y))


def test_edited_models_that_make_no_density(display):
    cls, estimator = display
    X, y = blobs(2, 3)
    model = estimator().fit(X, y)
    model.class_prior_ = np.array([np.nan, 0.5])
    with pytest.raises(ValueError, match="Expected class_prior_ of finite numbers"):
        cls.from_estimator(model)


def test_edited_models_are_drawn_as_they_score(display):
    cls, estimator = display
    X, y = blobs(2, 3)
    model = estimator().fit(X, y)
    before = cls.from_estimator(model).frame()
    for name in ("theta_", "means_", "components_"):
        if hasattr(model, name) and not (name == "theta_" and hasattr(model, "components_")):
            setattr(model, name, getattr(model, name) * np.array([[2.0], [0.5], [1.0]])[: len(
                getattr(model, name))])  # fmt: skip
    assert not np.array_equal(before, cls.from_estimator(model).frame())


def test_wrong_axes(display):
    cls, estimator = display
    X, y = blobs(2, 3)
    _, grid = plt.subplots(1, 3)
    with pytest.raises(ValueError, match=r"Expected ax to .*matplotlib Axes, .*got 3 objects"):
        cls.from_estimator(estimator().fit(X, y), ax=grid)


def test_axes_and_figures(display):
    """Pictures are drawn where they should be, and drawn again in a figure of their own."""
    cls, estimator = display
    X, y = blobs(3, 4)
    shown = cls.from_estimator(estimator().fit(X, y))
    first = shown.figure_
    assert shown.plot() is shown
    assert shown.figure_ is not first
    n = len(getattr(shown, "axes_", [0]))
    figure, grid = plt.subplots(1, n, squeeze=False)
    where = grid[0] if n > 1 else grid[0, 0]
    shown.plot(ax=where)
    assert shown.figure_ is figure
    assert shown.ax_ is grid[0, 0]


@pytest.mark.parametrize(("k", "d"), [(2, 120), (40, 4)])
def test_text_is_bounded(display, k, d):
    """However many classes and features, at most thirty of them are named, and shortly."""
    cls, estimator = display
    X, y = blobs(k, d, n=4)
    model = named(estimator().fit(X, y), [LONG.format(j) for j in range(d)])
    shown = cls.from_estimator(model)
    shown.figure_.canvas.draw()
    for ax in shown.figure_.axes:
        texts = texts_of(ax)
        assert len(texts) < 130
        assert max(map(len, texts), default=0) <= 90
        assert len(ax.get_yticklabels()) <= 32
        for axis in (ax.xaxis, ax.yaxis):
            sizes = [label.get_fontsize() for label in axis.get_ticklabels()]
            assert min(sizes, default=8.0) >= 8.0


def test_nothing_is_outside_of_the_figure(display):
    """Legends beside the axes, long names and notes fit the default figure."""
    cls, estimator = display
    X, y = blobs(20, 40, n=4)
    model = named(estimator().fit(X, y), [LONG.format(j) for j in range(40)])
    shown = cls.from_estimator(model)
    shown.figure_.canvas.draw()
    renderer = shown.figure_.canvas.get_renderer()
    box = shown.figure_.get_tightbbox(renderer)
    width, height = shown.figure_.get_size_inches()
    assert box.x0 >= -0.02
    assert box.y0 >= -0.02
    assert box.x1 <= width + 0.02
    assert box.y1 <= height + 0.02


def test_labels_of_every_kind(display):
    """Booleans, negative numbers, and text that is long, empty or looks like mathematics."""
    cls, estimator = display
    X, y = blobs(3, 3)
    for labels in ([-5, 0, 7], ["", "$a_{b", "x" * 300]):
        shown = cls.from_estimator(estimator().fit(X, np.array(labels)[y]))
        shown.figure_.canvas.draw()
        shown.frame()
    cls.from_estimator(estimator().fit(X, y > 1)).figure_.canvas.draw()


def test_names_that_look_like_mathematics(display):
    cls, estimator = display
    X, y = blobs(2, 3)
    model = named(estimator().fit(X, y), ["$\\alpha$", "b_{", "two\nlines"])
    cls.from_estimator(model).figure_.canvas.draw()
