"""EllipseDisplay: ellipses against the model's covariances, regions against its predictions."""

from __future__ import annotations

import numpy as np
import pytest
from cases import blobs, note_of

from fastgnb import ClassStats, GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB
from fastgnb.densities.marginals import marginal
from fastgnb.plot import EllipseDisplay
from fastgnb.plot import regions as module
from fastgnb.plot.ellipse_curves import ellipse_points

draw = EllipseDisplay.from_estimator


@pytest.fixture
def data():
    return blobs(3, 4)


def implied_covariance(model, c):
    """The covariance (d, d) that a member's public attributes say class c has."""
    if hasattr(model, "covariance_"):
        return np.broadcast_to(model.covariance_, (3, 4, 4))[c]
    if not hasattr(model, "components_"):
        return np.diag(model.var_[c])
    components = model.components_ if model.components_.ndim == 2 else model.components_[c]
    steps = components * model.scale_
    return sum(v * np.outer(step, step) for v, step in zip(model.var_[c], steps, strict=True))


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(), GaussianNB(tied=True), GaussianNB(covariance_type="spherical"),
        GaussianBayes(), GaussianBayes(tied=True), GaussianBayes(shrinkage=0.5),
        PCAGaussianNB(), PCAGaussianNB(rotation="within", tied=True, standardize=True),
        PCAGaussianNB(rotation="class"), PCAGaussianNB(n_components=2),
    ],
    ids=repr,
)  # fmt: skip
def test_ellipses_are_where_the_mahalanobis_distance_is_1_2_3(model, data):
    X, y = data
    model.fit(X, y)
    shown = draw(model, features=(3, 1))
    for c, curves in enumerate(shown.ellipses_):
        covariance = implied_covariance(model, c)[np.ix_([3, 1], [3, 1])]
        assert len(curves) == 3
        for sigma, line in zip((1, 2, 3), curves, strict=True):
            step = line.get_xydata() - shown.mean[c]
            distance = np.einsum("ni,ij,nj->n", step, np.linalg.inv(covariance), step)
            assert distance == pytest.approx(np.full(len(step), sigma**2), rel=1e-9)


def test_independent_features_have_ellipses_along_the_axes(data):
    X, y = data
    model = GaussianNB().fit(X, y)
    shown = draw(model)
    for c, (curve, *_) in enumerate(shown.ellipses_):
        reach = np.abs(curve.get_xydata() - model.theta_[c, :2]).max(axis=0)
        assert reach == pytest.approx(np.sqrt(model.var_[c, :2]), rel=1e-3)
        top = curve.get_xydata()[np.argmax(curve.get_ydata())]
        assert top[0] == pytest.approx(model.theta_[c, 0], abs=0.05)
    assert shown.frame()["correlation"].tolist() == [0.0, 0.0, 0.0]


def test_units_do_not_cost_digits():
    covariance = np.array([[1e24, 0.6], [0.6, 1e-24]])  # correlation 0.6
    points = ellipse_points(np.zeros(2), covariance, 2.0)
    unit = points / [1e12, 1e-12]
    inverse = np.linalg.inv([[1.0, 0.6], [0.6, 1.0]])
    assert np.einsum("ni,ij,nj->n", unit, inverse, unit) == pytest.approx(np.full(121, 4.0))


# --------------------------------------------------------------------------------------- regions


@pytest.mark.parametrize(
    "model", [GaussianNB(), GaussianBayes(), GaussianBayes(tied=True), PCAGaussianNB(),
              PCAGaussianNB(rotation="class")], ids=repr,
)  # fmt: skip
def test_regions_of_two_features_are_the_predictions(model, data):
    X, y = data
    model.fit(X[:, :2], y)
    regions = draw(model).regions
    points = np.stack([each.ravel() for each in np.meshgrid(regions.x, regions.y)], axis=1)
    proba = np.sort(model.predict_proba(points), axis=1)
    is_clear = proba[:, -1] - proba[:, -2] > 1e-9
    predicted = model.predict(points)[is_clear]
    assert np.array_equal(regions.winner.ravel()[is_clear], predicted)
    assert set(predicted.tolist()) == {0, 1, 2}


def test_other_features_are_integrated_out(data):
    """A numerical integral of the joint density over two other features decides the same."""
    X, y = data
    model = GaussianBayes().fit(X, y)
    regions = draw(model, features=(1, 2)).regions
    reach = np.linspace(-9, 9, 301)
    axes = [X[:, j].mean() + X[:, j].std() * reach for j in (0, 3)]
    grid = np.stack([each.ravel() for each in np.meshgrid(*axes)], axis=1)
    volume = np.prod([axis[1] - axis[0] for axis in axes])
    for i, j in ((60, 40), (100, 120), (140, 110), (120, 200)):
        rows = np.empty((len(grid), 4))
        rows[:, [0, 3]], rows[:, 1], rows[:, 2] = grid, regions.x[j], regions.y[i]
        joint = np.exp(model.predict_joint_log_proba(rows)).sum(axis=0) * volume
        assert np.exp(regions.joint[i, j]) == pytest.approx(joint, rel=1e-6)


def test_boundaries_are_where_the_odds_are_even(data):
    """Of a tied covariance they are straight lines, which linear interpolation meets exactly."""
    X, y = data
    model = GaussianBayes(tied=True).fit(X[:, :2], y)
    ax = draw(model).ax_
    points = []
    for collection in ax.collections:
        if collection.get_linewidths().size and collection.get_array() is not None:
            points += [path.vertices for path in collection.get_paths() if len(path.vertices)]
    points = np.concatenate(points)
    proba = np.sort(model.predict_proba(points), axis=1)
    even = proba[:, -1] - proba[:, -2]
    assert np.median(even) < 1e-6


def test_regions_of_many_classes_are_found_in_parts(monkeypatch):
    X, y = blobs(30, 2)
    model = GaussianNB().fit(X, y)
    monkeypatch.setattr(module, "GRID", 40)
    whole = draw(model).regions
    monkeypatch.setattr(module, "_AT_ONCE", 7)
    parts = draw(model).regions
    points = np.stack([each.ravel() for each in np.meshgrid(whole.x, whole.y)], axis=1)
    joint = marginal(model.to_model(), [0, 1]).joint(points)
    for regions in (whole, parts):
        assert np.array_equal(regions.winner.ravel(), joint.argmax(axis=1))
        for c in (0, 5, 19):
            expected = joint[:, c] - np.delete(joint, c, axis=1).max(axis=1)
            assert regions.margin(c).ravel() == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_no_regions_without_a_density(data):
    X, y = data
    shown = draw(PCAGaussianNB(n_components=1).fit(X, y))
    assert shown.regions is None
    assert "no regions: two features have no density" in note_of(shown.ax_)
    assert shown.frame()["correlation"].abs().to_numpy() == pytest.approx(np.ones(3))
    assert draw(GaussianNB().fit(X, y), regions=False).regions is None
    one = draw(GaussianNB().fit(X, np.zeros(90, int)), X, np.zeros(90, int))
    assert one.regions is None
    assert len(one.ellipses_) == 1


# ------------------------------------------------------------------------------------------ rows


def test_rows_are_drawn_by_class(data):
    X, y = data
    shown = draw(GaussianNB().fit(X, y), X, y, features=(2, 0))
    assert shown.rows.n_outside == 0
    drawn = np.concatenate([part.get_offsets() for part in scatters(shown.ax_)])
    assert np.array_equal(drawn, X[:, [2, 0]])


def scatters(ax):
    from matplotlib.collections import PathCollection

    parts = [part for part in ax.collections if isinstance(part, PathCollection)]
    return [part for part in parts if len(part.get_offsets()) > 1]


def test_one_row_outside_is_counted_in_the_singular():
    X, y = blobs(2, 2)
    X[0, 0] = np.nan
    model = GaussianNB(missing="skip").fit(X[1:], y[1:])
    assert note_of(draw(model, X, y).ax_).endswith("; 1 row lies outside or lacks a value")


def test_rows_are_thinned_and_counted():
    X, y = blobs(2, 2, n=3000)
    X[0, 0], X[1, 1] = np.nan, 1e6
    model = GaussianNB(missing="skip").fit(X[2:], y[2:])
    shown = draw(model, X, y)
    assert len(shown.rows.values) == 2000
    assert "2,000 of 6,000 rows" in note_of(shown.ax_)
    assert shown.rows.n_outside >= 2
    assert np.isfinite(shown.rows.values).all()
    again = draw(model, X, y)
    assert np.array_equal(shown.rows.values, again.rows.values)


# ------------------------------------------------------------------------------------- arguments


def test_frame_and_from_stats(data):
    X, y = data
    names = ("p", "q", "r", "s")
    full = ClassStats.from_rows(X, y, scatter="full", feature_names=names)
    frame = EllipseDisplay.from_stats(full, features=("q", "s")).frame()
    model = GaussianBayes().fit(X, y)
    assert frame["mean of q"].to_numpy() == pytest.approx(model.means_[:, 1])
    assert frame["sd of s"].to_numpy() == pytest.approx(np.sqrt(model.covariance_[:, 3, 3]))
    sd = np.sqrt(np.diagonal(model.covariance_, axis1=1, axis2=2))
    r = model.covariance_[:, 1, 3] / sd[:, 1] / sd[:, 3]
    assert frame["correlation"].to_numpy() == pytest.approx(r)
    diag = EllipseDisplay.from_stats(full.to_diag(), features=(1, 3)).frame()
    assert diag["correlation"].tolist() == [0.0] * 3


def test_two_features_are_expected(data):
    X, y = data
    model = GaussianNB().fit(X, y)
    for bad in ([0], [0, 1, 2], "ab", 3):
        with pytest.raises(ValueError, match="Expected features to be two names or positions"):
            draw(model, features=bad)
    with pytest.raises(ValueError, match="Expected two different features, got 1 twice"):
        draw(model, features=[1, -3])
    with pytest.raises(ValueError, match=r"Expected a feature among .* got 'x'"):
        draw(model, features=["x", 1])
    for bad in ([], [0.0], [np.inf]):
        with pytest.raises(ValueError, match="Expected sigmas of one or more finite numbers"):
            draw(model, sigmas=bad)
    mixed = MixedNB(categorical_features=[1]).fit(np.round(X), y)
    with pytest.raises(ValueError, match="feature 1 is categorical"):
        draw(mixed)
    assert len(draw(mixed, features=(0, 2)).ellipses_) == 3


def test_many_classes():
    X, y = blobs(30, 2)
    shown = draw(GaussianNB().fit(X, y), X, y)
    assert len(shown.ellipses_) == 20
    assert {len(curves) for curves in shown.ellipses_} == {1}
    assert "the largest 20 of 30 classes; ellipses of 1 sigma" in note_of(shown.ax_)
    assert shown.regions.joint.shape[2] == 20
    assert shown.regions.winner.max() >= 20
    assert len(shown.frame()) == 30
    assert [len(curves) for curves in shown.plot(sigmas=[2, 0.5]).ellipses_] == [2] * 20


def test_constant_features(data):
    X, y = data
    X[:, 0] = 3.0
    for model in (GaussianNB(), GaussianBayes(), PCAGaussianNB()):
        shown = draw(model.fit(X, y), X, y)
        shown.figure_.canvas.draw()
        assert np.isfinite(np.concatenate([c[0].get_xydata() for c in shown.ellipses_])).all()


def test_keywords_of_curves(data):
    X, y = data
    shown = draw(GaussianNB().fit(X, y), curve_kwargs=[{"lw": 5}, {"c": "k"}, {}])
    assert [line.get_linewidth() for line in shown.ellipses_[0]] == [5, 5, 5]
    assert {line.get_color() for line in shown.ellipses_[1]} == {"k"}
