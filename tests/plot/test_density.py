"""DensityDisplay: curves, bars and histograms hold the model's densities and the rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cases import blobs, note_of
from matplotlib.lines import Line2D
from matplotlib.patches import StepPatch

import fastgnb
from fastgnb import ClassStats, GaussianBayes, GaussianNB, MixedNB, MixedStats, PCAGaussianNB
from fastgnb.plot import DensityDisplay
from fastgnb.plot.histograms import of_bins, of_values

draw = DensityDisplay.from_estimator


@pytest.fixture
def data():
    X, y = blobs(3, 4)
    return X, np.array(["a", "b", "c"])[y]


def pdf(x, mean, var):
    return np.exp(-0.5 * (x - mean) ** 2 / var) / np.sqrt(2 * np.pi * var)


@pytest.mark.parametrize("options", [{}, {"tied": True}, {"covariance_type": "spherical"}], ids=str)
def test_curves_are_the_normal_densities(options, data):
    X, y = data
    model = GaussianNB(**options).fit(X, y)
    shown = draw(model, feature=2)
    assert [line.get_label() for line in shown.artists_] == ["a", "b", "c"]
    for c, line in enumerate(shown.artists_):
        x, height = line.get_data()
        expected = pdf(x, model.theta_[c, 2], model.var_[c, 2])
        assert height == pytest.approx(expected, rel=1e-12, abs=1e-300)
        assert model.theta_[c, 2] in x  # the peak is a point of the curve
        area = (np.diff(x) * (height[1:] + height[:-1])).sum() / 2
        assert area == pytest.approx(1.0, abs=2e-3)
    assert shown.ax_.get_xlabel() == "feature 2"
    assert shown.ax_.get_ylabel() == "density"


@pytest.mark.parametrize(
    "model", [GaussianBayes(), GaussianBayes(tied=True), PCAGaussianNB(),
              PCAGaussianNB(rotation="class", standardize=True)], ids=repr,
)  # fmt: skip
def test_marginals_of_other_members(model, data):
    X, y = data
    model.fit(X, y)
    shown = draw(model, feature=1)
    mean, var = model.to_model().feature_moments
    for c, line in enumerate(shown.artists_):
        x, height = line.get_data()
        assert height == pytest.approx(pdf(x, mean[c, 1], var[c, 1]), rel=1e-10)


def test_along_an_axis(data):
    X, y = data
    model = PCAGaussianNB(n_components=2).fit(X, y)
    shown = draw(model, axis=1)
    x, height = shown.artists_[2].get_data()
    assert height == pytest.approx(pdf(x, model.theta_[2, 1], model.var_[2, 1]), rel=1e-10)
    assert shown.ax_.get_xlabel() == "axis 1"
    with pytest.raises(ValueError, match=r"a feature from 0 to 1: 'axis 0', 'axis 1'; got 2"):
        draw(model, axis=2)
    with pytest.raises(ValueError, match=r"Expected a model along principal axes.*GaussianNB"):
        draw(GaussianNB().fit(X, y), axis=0)
    with pytest.raises(ValueError, match="along an axis none are drawn"):
        draw(model, X, y, axis=0)


def test_weighted_curves_and_their_sum(data):
    X, y = data
    model = GaussianNB(priors=[0.2, 0.3, 0.5]).fit(X, y)
    shown = draw(model, feature=0, kind="weighted")
    plain = draw(model, feature=0).frame()
    weighted = shown.frame("weighted")
    assert weighted.to_numpy() == pytest.approx(plain.to_numpy() * [0.2, 0.3, 0.5])
    (total,) = [line for line in shown.ax_.lines if line.get_label() == "all classes"]
    assert total.get_ydata() == pytest.approx(weighted.sum(axis=1).to_numpy())
    assert total not in shown.artists_


def test_posterior_is_that_of_a_model_of_one_feature(data):
    X, y = data
    model = GaussianNB().fit(X, y)
    shown = draw(model, feature=3, kind="posterior")
    frame = shown.frame("posterior")
    alone = GaussianNB(var_smoothing=0.0).fit(X[:, [3]], y)
    alone.var_ = model.var_[:, [3]]
    x = frame.index.to_numpy()
    assert frame.to_numpy() == pytest.approx(alone.predict_proba(x[:, None]), abs=1e-9)
    assert shown.ax_.get_ylim() == pytest.approx((0.0, 1.05))


def test_frame_holds_what_is_drawn(data):
    X, y = data
    shown = draw(GaussianNB().fit(X, y), feature=1, classes=["c", "a"])
    frame = shown.frame()
    assert list(frame.columns) == ["c", "a"]
    assert frame.index.name == "feature 1"
    x, height = next(line for line in shown.artists_ if line.get_label() == "c").get_data()
    assert frame["c"][x].to_numpy() == pytest.approx(height)
    assert len(shown.artists_) == 2


def test_a_class_looks_alike_whatever_is_shown_beside_it(data):
    X, y = data
    model = GaussianNB().fit(X, y)
    (alone,) = draw(model, classes=["c"]).artists_
    assert alone.get_color() == draw(model).artists_[2].get_color()


def test_from_stats(data):
    X, y = data
    shown = DensityDisplay.from_stats(ClassStats.from_rows(X, y), feature=1)
    expected = draw(GaussianNB().fit(X, y), feature=1)
    assert np.array_equal(shown.frame(), expected.frame())
    full = DensityDisplay.from_stats(ClassStats.from_rows(X, y, scatter="full"), feature=1)
    assert np.array_equal(full.frame(), draw(GaussianBayes().fit(X, y), feature=1).frame())
    with pytest.raises(TypeError, match="Expected ClassStats or MixedStats, got ndarray"):
        DensityDisplay.from_stats(X)


# ------------------------------------------------------------------------------------- histograms


def steps_of(shown):
    return [patch for patch in shown.ax_.patches if isinstance(patch, StepPatch)]


@pytest.mark.parametrize("kind", ["conditional", "weighted"])
def test_histograms_hold_the_rows_of_each_class(kind, data):
    X, y = data
    X, y = X[:70], y[:70]
    model = GaussianNB().fit(X, y)
    patches = steps_of(draw(model, X, y, feature=0, kind=kind))
    assert len(patches) == 3
    for label, patch in zip("abc", patches, strict=True):
        heights, edges, _ = patch.get_data()
        part = X[y == label, 0]
        counts = np.histogram(part, edges)[0] / np.diff(edges)
        assert heights == pytest.approx(counts / (70 if kind == "weighted" else len(part)))
        assert (heights * np.diff(edges)).sum() == pytest.approx(
            len(part) / 70 if kind == "weighted" else 1.0
        )


def test_rows_of_frames_are_found_by_name(data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    frame = pandas.DataFrame(X, columns=["p", "q", "r", "s"])
    model = GaussianNB().fit(frame, y)
    one = steps_of(draw(model, frame, y, feature="q"))[0].get_data()
    other = steps_of(draw(model, frame[["s", "q"]], y, feature="q"))[0].get_data()
    assert np.array_equal(one.values, other.values)
    with pytest.raises(ValueError, match="Expected X to have a column 'q', got columns 'p', 'r'"):
        draw(model, frame[["p", "r"]], y, feature="q")


def test_missing_values_and_outliers_are_counted(data):
    X, y = data
    model = GaussianNB().fit(X, y)
    X = X.copy()
    X[0, 0], X[1, 0], X[2, 0] = np.nan, 1e9, np.inf
    shown = draw(model, X, y, feature=0)
    assert "3 of 90 rows lie outside or have no value" in note_of(shown.ax_)
    assert shown.histogram.n_outside == 3
    X[1:3, 0] = 0.0
    assert "1 of 90 rows lies outside or has no value" in note_of(draw(model, X, y).ax_)


def test_rounded_values_have_no_comb():
    """Ten thousand values with one decimal: each bin has as many of these values."""
    values = np.round(np.random.default_rng(0).normal(size=10000), 1)
    codes = np.zeros(10000, int)
    one = of_values(values, codes, 1, -4.0, 4.0)
    width = np.diff(one.edges[0])
    assert width == pytest.approx(np.full(len(width), 0.2))
    inner = one.density[0][(one.edges[0][:-1] > -1.5) & (one.edges[0][1:] < 1.5)]
    assert inner.min() > 0.1
    whole = of_values(np.arange(17.0), np.zeros(17, int), 1, -2.0, 18.0)
    assert np.diff(whole.edges[0]) == pytest.approx(np.ones(len(whole.edges[0]) - 1))
    assert of_values(np.array([]), np.array([], int), 2, 0.0, 1.0).density.shape == (2, 50)


def test_bins_of_a_diagnosis():
    z = np.concatenate([[-np.inf], np.linspace(-8, 8, 161), [np.inf]])
    rng = np.random.default_rng(1)
    x = rng.normal(3.0, 2.0, 5000)
    counts = np.histogram((x - 3.0) / 2.0, z)[0]
    one = of_bins(np.array([3.0 + 2.0 * z]), counts[None].astype(float), np.array([5000.0]))
    assert one.n_rows == 5000
    assert len(one.density[0]) <= 50
    counts = np.histogram(x, one.edges[0])[0]
    assert one.density[0] == pytest.approx(counts / 5000 / np.diff(one.edges[0]))


@pytest.mark.parametrize("model", [GaussianNB(tied=True), PCAGaussianNB()], ids=repr)
def test_rows_that_a_diagnosis_has_seen(model, data):
    """Bins of standardized values are where the model's own units put them."""
    X, y = data
    found = fastgnb.diagnose(model.fit(X, y), X, y)
    shown = draw(model, feature=2, diagnosis=found)
    for label, edges, density in zip("abc", *shown.histogram[:2], strict=True):
        part = X[y == label, 2]
        counts = np.histogram(part, edges)[0] / len(part) / np.diff(edges)
        assert density == pytest.approx(counts, abs=1e-12)
    assert shown.histogram.share == pytest.approx([1 / 3] * 3)
    assert len(steps_of(shown)) == 3
    other = GaussianNB().fit(X[:, :2], y)
    with pytest.raises(ValueError, match=r"a diagnosis of this model, of 3 classes and 2 features"):
        draw(other, diagnosis=found)


def test_rows_and_labels_come_together(data):
    X, y = data
    model = GaussianNB().fit(X, y)
    with pytest.raises(ValueError, match="Expected both X and y"):
        draw(model, X)
    with pytest.raises(ValueError, match="X has 3 features, but the model is expecting 4"):
        draw(model, X[:, :3], y)
    with pytest.raises(ValueError, match="Found input variables with inconsistent numbers"):
        draw(model, X, y[:-1])
    with pytest.raises(ValueError, match="'z'"):
        draw(model, X[:3], ["a", "b", "z"])


# ------------------------------------------------------------------------------------- categories


@pytest.fixture
def mixed():
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1, 2], 50)
    color = np.array(["red", "green", "blue"])[(y + (rng.random(150) < 0.4)) % 3]
    return np.column_stack([np.round(rng.normal(size=150), 3).astype(object), color]), y


@pytest.mark.parametrize("kind", ["conditional", "weighted", "posterior"])
def test_bars_are_the_probabilities_of_categories(kind, mixed):
    X, y = mixed
    model = MixedNB(categorical_features=[1], priors=[0.5, 0.3, 0.2]).fit(X, y)
    p = np.exp(model.feature_log_prob_[0])
    joint = p * model.class_prior_[:, None]
    expected = {"conditional": p, "weighted": joint, "posterior": joint / joint.sum(axis=0)}[kind]
    shown = draw(model, feature=1, kind=kind)
    heights = [[bar.get_height() for bar in bars] for bars in shown.artists_]
    assert np.array(heights) == pytest.approx(expected)
    ticks = [text.get_text() for text in shown.ax_.get_xticklabels()]
    assert ticks == ["blue", "green", "red"]
    frame = shown.frame(kind)
    assert list(frame.index) == ticks
    assert frame.to_numpy() == pytest.approx(expected.T)


def test_shares_of_rows_over_bars(mixed):
    X, y = mixed
    model = MixedNB(categorical_features=[1]).fit(X, y)
    X = X.copy()
    X[0, 1], X[1, 1] = None, "never seen"
    shown = draw(model, X, y, feature=1)
    marks = [line for line in shown.ax_.lines if line.get_marker() == "_"]
    for c, line in enumerate(marks):
        values = X[y == c, 1]
        known = values[[value is not None for value in values]]
        expected = [(known == name).sum() / len(known) for name in ("blue", "green", "red")]
        assert line.get_ydata() == pytest.approx(expected)
    assert "2 of 150 rows" in note_of(shown.ax_)
    stats = MixedStats.from_rows(*mixed, categorical_features=[1])
    assert DensityDisplay.from_stats(stats, feature=1).frame().shape == (3, 3)


def test_more_than_seven_classes_are_a_heat_map():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(9), 20)
    X = np.column_stack([rng.normal(size=180), rng.integers(0, 60, 180)])
    model = MixedNB(categorical_features=[1]).fit(X, y)
    shown = draw(model, feature=1)
    (image,) = shown.artists_
    p = np.exp(model.feature_log_prob_[0])
    order = np.sort(np.argsort(-(model.class_prior_ @ p), kind="stable")[:30])
    assert np.asarray(image.get_array()) == pytest.approx(p[:, order])
    assert f"top 30 of {p.shape[1]} categories" in note_of(shown.ax_)
    assert image.colorbar.ax.get_ylabel() == "probability in the class"


def test_categories_that_were_not_seen_have_a_bar(mixed):
    X, y = mixed
    model = MixedNB(categorical_features=[1], min_categories=[7]).fit(X, y)
    frame = draw(model, feature=1).frame()
    assert list(frame.index) == ["blue", "green", "red", "(others)"]
    assert frame.sum().to_numpy() == pytest.approx([1.0, 1.0, 1.0])


# ----------------------------------------------------------------------------------- extreme cases


def test_constant_features():
    X, y = blobs(3, 2)
    X[:, 1] = 5.0
    shown = draw(GaussianNB().fit(X, y), X, y, feature=1)
    assert all(np.isfinite(line.get_ydata()).all() for line in shown.artists_)
    shown.figure_.canvas.draw()


def test_a_class_that_is_one_point_is_a_line():
    X, y = blobs(3, 2)
    model = PCAGaussianNB().fit(np.column_stack([X, np.full(90, 4.0)]), y)
    shown = draw(model, feature=2)
    for line in shown.artists_:
        assert line.get_xdata().tolist() == [4.0, 4.0]
    assert "peaks cut off: 0, 1, 2" in note_of(shown.ax_)
    frame = shown.frame()
    assert frame.loc[4.0].tolist() == [math.inf] * 3
    assert frame.drop(4.0).to_numpy().max() == 0.0
    posterior = shown.frame("posterior")
    assert posterior.loc[4.0].to_numpy() == pytest.approx(model.class_prior_)
    shown.figure_.canvas.draw()


def test_tall_peaks_are_cut_off():
    X, y = blobs(4, 1)
    X[y == 2] *= 1e-4
    shown = draw(GaussianNB().fit(X, y))
    heights = [line.get_ydata().max() for line in shown.artists_]
    assert shown.ax_.get_ylim()[1] < 0.1 * heights[2]
    assert shown.ax_.get_ylim()[1] >= max(heights[c] for c in (0, 1, 3))
    assert note_of(shown.ax_) == "peaks cut off: 2"


def test_twenty_of_many_classes():
    X, y = blobs(40, 2)
    model = GaussianNB(priors=np.arange(1.0, 41.0) / 820).fit(X, y)
    shown = draw(model)
    assert [line.get_label() for line in shown.artists_] == [str(c) for c in range(20, 40)]
    assert "the largest 20 of 40 classes" in note_of(shown.ax_)
    looks = {(line.get_color(), str(line._unscaled_dash_pattern)) for line in shown.artists_}
    assert len(looks) == 20
    assert shown.frame().shape[1] == 40


def test_no_histogram_of_many_classes():
    X, y = blobs(13, 2)
    shown = draw(GaussianNB().fit(X, y), X, y)
    assert not steps_of(shown)
    assert "histograms of at most 12 classes" in note_of(shown.ax_)


def test_classes_that_cannot_win():
    X, y = blobs(3, 2)
    model = GaussianNB(priors=[0.5, 0.0, 0.5]).fit(X, y)
    assert list(draw(model).frame().columns) == [0, 2]
    with pytest.raises(ValueError, match="Class 1 has no density"):
        draw(model, classes=[1])
    with pytest.raises(ValueError, match="Expected one class or more to show"):
        draw(model, classes=[])
    assert draw(model, X, y).histogram.n_rows == 60


def test_one_class_and_one_row():
    shown = draw(fastgnb.GaussianNB().fit([[1.0], [2.0]], [3, 3]))
    assert len(shown.artists_) == 1
    one = draw(fastgnb.GaussianNB().fit([[7.0]], [3]), kind="posterior")
    one.figure_.canvas.draw()


def test_keywords_of_curves(data):
    X, y = data
    shown = draw(GaussianNB().fit(X, y), curve_kwargs={"lw": 4})
    assert [line.get_linewidth() for line in shown.artists_] == [4, 4, 4]
    shown = shown.plot(curve_kwargs=[{"c": "red"}, {}, {}])
    assert isinstance(shown.artists_[0], Line2D)
    assert shown.artists_[0].get_color() == "red"
    with pytest.raises(ValueError, match="Expected kind to be one of"):
        shown.plot(kind="joint")
    with pytest.raises(ValueError, match="Expected kind to be one of"):
        shown.frame("joint")
