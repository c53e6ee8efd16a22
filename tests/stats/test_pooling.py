"""Only ratios of weights matter, for every member, where weights times variances leave float64."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

from fastgnb import ClassStats, GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB
from fastgnb.stats.pooling import mean_of, pooled, rooted, shares

MODELS = [
    *(
        GaussianNB(tied=tied, covariance_type=shape, ddof=0)
        for tied in (False, True)
        for shape in ("diag", "spherical")
    ),
    GaussianNB(tied=True, missing="skip"),
    *(
        GaussianBayes(tied=tied, covariance_type=shape)
        for tied in (False, True)
        for shape in ("full", "diag", "spherical")
    ),
    GaussianBayes(shrinkage=0.1),
    *(
        PCAGaussianNB(tied=tied, rotation=rotation)
        for tied in (False, True)
        for rotation in ("total", "within", "class")
    ),
    MixedNB(categorical_features=[3], alpha=0),
]
SCALES = [
    (5e-324, 1e-20),
    (1e-320, 1e-150),
    (1e-290, 1.0),
    (1e-29, 1e-140),  # weights that are usual, and squares that are nearly not
    (1e200, 1e60),
    (1e300, 1e140),
]


def data():
    draw = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], [25, 20, 15])
    X = draw.normal(size=(60, 4)) + y[:, None]
    X[:, 1] *= 1e-3
    X[:, 3] = draw.integers(0, 3, 60)
    return X, y, draw.integers(1, 9, 60) * 1.0


def in_units(X, unit, model):
    """The rows in other units, but for categories."""
    X = X * unit
    if isinstance(model, MixedNB):
        X[:, 3] = np.round(X[:, 3] / unit)
    return X


@pytest.mark.promise("weights")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("scale", "unit"), SCALES)
@pytest.mark.parametrize("model", MODELS, ids=lambda m: " ".join(repr(m).split()))
def test_posteriors_of_weights_of_any_scale(model, scale, unit):
    X, y, weight = data()
    wanted = clone(model).fit(X, y, weight).predict_proba(X)
    X = in_units(X, unit, model)
    fitted = clone(model).fit(X, y, weight * scale)
    np.testing.assert_allclose(fitted.predict_proba(X), wanted, rtol=1e-9, atol=1e-13)
    halves = [clone(model).fit(X[i::2], y[i::2], weight[i::2] * scale) for i in (0, 1)]
    merged = halves[0].merge(halves[1])
    np.testing.assert_allclose(merged.predict_proba(X), wanted, rtol=1e-9, atol=1e-13)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("model", [GaussianNB, PCAGaussianNB, GaussianBayes])
def test_variances_whose_sum_overflows(model, tied):
    """Each is 2.5e307; there are 20 of them."""
    draw = np.random.default_rng(8)
    X = draw.choice([-1.0, 1.0], size=(80, 20))
    y = np.arange(80) % 2
    X[:, 0] += y * 0.5
    params = {"tied": tied, "covariance_type": "spherical", "var_smoothing": 0.0}
    wanted = model(**params).fit(X, y).predict_proba(X)
    found = model(**params).fit(X * 5e153, y).predict_proba(X * 5e153)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-13)


@pytest.mark.filterwarnings("error")
def test_smoothing_that_overflows_is_an_error_of_scoring():
    X = np.array([[1.2e154], [-1.2e154], [1.0], [2.0]])
    model = GaussianNB(var_smoothing=0.9).fit(X, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="Feature 0 of class 0 has variance inf"):
        model.predict(X)


@pytest.mark.filterwarnings("error")
def test_a_far_class_of_little_weight_does_not_overflow():
    """Of the variance of all rows 1e-20 (1e160)^2 is 1e300, though the square is not in range."""
    X = np.array([[0.0, 1], [1, 3], [1e160, 1], [1e160, 3]])
    stats = ClassStats.from_rows(X, [0, 0, 1, 1], [1.0, 1.0, 1e-20, 1e-20])
    step = Fraction(1e160) - Fraction(1, 2)
    share = Fraction(1e-20) / (1 + Fraction(1e-20))
    variance = Fraction(1, 4) * (1 - share) + share * (1 - share) * step**2
    assert abs(Fraction(float(stats.as_one_class().variance[0, 0])) / variance - 1) < 1e-15
    stats.total()
    stats.between()
    assert np.isfinite(GaussianNB().fit_stats(stats).predict_proba(X)).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scatter", ["diag", "full"])
def test_scatters_are_weights_times_variances_and_may_overflow(scatter):
    X, y, weight = data()
    usual = ClassStats.from_rows(X, y, weight, scatter=scatter, classes=[0, 1, 2, 3])
    np.testing.assert_allclose(usual.total(), usual.within() + usual.between(), rtol=1e-12)
    huge = ClassStats.from_rows(X * 1e60, y, weight * 1e200, scatter=scatter)
    tiny = ClassStats.from_rows(X * 1e-20, y, weight * 1e-290, scatter=scatter)
    for name in ("total", "within", "between"):
        assert np.isinf(np.atleast_1d(getattr(huge, name)()).ravel()[0]), name
        assert not getattr(tiny, name)().any(), name
    np.testing.assert_allclose(
        huge.as_one_class().variance, usual.as_one_class().variance * 1e120, rtol=1e-12
    )


def test_pooled_is_the_weighted_mean(rng):
    variance = rng.random((4, 3)) + 0.1
    for weight in (np.array([3.0, 1, 0, 2]), rng.random((4, 3)), rng.random((4, 1))):
        for scale in (2.0**-1040, 1.0, 2.0**1000):
            w = np.ldexp(weight, int(np.log2(scale)))
            exact = w.reshape(4, -1) * np.ones((4, 3))
            for j in range(3):
                total = sum(map(Fraction, exact[:, j].tolist()))
                wanted = sum(
                    Fraction(a) * Fraction(b)
                    for a, b in zip(exact[:, j].tolist(), variance[:, j].tolist(), strict=True)
                )
                found = Fraction(float(pooled(w, variance)[j]))
                assert abs(found / (wanted / total) - 1) < 1e-15


def test_ddof_takes_one_of_each_class_that_has_weight():
    weight, variance = np.array([3.0, 2, 0]), np.array([[2.0], [4], [99]])
    assert pooled(weight, variance, 1).tolist() == [14 / 3]
    assert pooled(np.array([1.0, 1, 0]), variance, 1).tolist() == [0]
    assert pooled(np.array([1e-320, 5e-324, 0]), variance, 1).tolist() == [0]
    assert not pooled(np.zeros(3), variance).any()


def test_shares_means_and_roots():
    assert shares(np.array([5e-324, 1.5e-323])).tolist() == [0.25, 0.75]
    assert shares(np.zeros(2)).tolist() == [0, 0]
    assert mean_of(np.array([[1.7e308, 1.7e308], [1.0, 2.0]])).tolist() == [1.7e308, 1.5]
    step = np.array([[1e200], [-1e180]])
    assert rooted(np.array([1e-300, 1.0]), step).tolist() == [[1e50], [-1e180]]


def test_nan_in_a_row_that_weighs_next_to_nothing_is_seen():
    with pytest.raises(ValueError, match="NaN"):
        ClassStats.from_rows([[1.0], [2.0], [np.nan]], [0, 0, 0], [1e300, 1e300, 5e-324])


def test_weights_of_usual_scale_take_no_digits_from_squares():
    """Deviations of 1e-150 have squares of 1e-300, which times 1e-29 would have no digits."""
    X = np.array([[1.0, 0, 1e-150], [2, 0, -1e-150], [4, 0, 3e-150], [7, 0, -3e-150]])
    X[:, 0] *= 1e-150
    for scatter in ("diag", "full"):
        wanted = ClassStats.from_rows(X, np.zeros(4, int), scatter=scatter)
        found = ClassStats.from_rows(X, np.zeros(4, int), np.full(4, 2.0**-97), scatter=scatter)
        np.testing.assert_allclose(found.variance, wanted.variance, rtol=1e-14)
