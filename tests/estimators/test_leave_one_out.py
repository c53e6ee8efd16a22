"""Leave-one-out in closed form against fits without each row."""

from __future__ import annotations

import warnings
from decimal import localcontext

import numpy as np
import pytest
from exact_gaussian import gaussians
from numpy.testing import assert_allclose, assert_array_equal
from oracles import PI, decimal, exact, full_stats
from sklearn import model_selection
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, LeaveOneOut

from fastgnb import GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB
from fastgnb.estimators import left_out
from fastgnb.select import StatsGridSearchCV, cross_val_predict, cross_validate

MODELS = {
    "naive": GaussianNB(),
    "smoothed": GaussianNB(var_smoothing=0.1, ddof=1),
    "no smoothing": GaussianNB(var_smoothing=0, priors=[0.2, 0.3, 0.5]),
    "tied": GaussianNB(tied=True),
    "spherical": GaussianNB(covariance_type="spherical", var_smoothing=1e-3),
    "tied, spherical": GaussianNB(covariance_type="spherical", tied=True, ddof=1),
    "full": GaussianBayes(),
    "full, ddof": GaussianBayes(ddof=1, priors=[0.2, 0.3, 0.5]),
    "full, tied": GaussianBayes(tied=True),
    "full, tied, ddof": GaussianBayes(tied=True, ddof=1),
    "diagonal": GaussianBayes(covariance_type="diag", reg_param=0.2),
    "one variance": GaussianBayes(
        covariance_type="spherical", tied=True, reg_param=0.1, var_smoothing=0.1
    ),
}
PLAIN = ["naive", "tied", "full"]


def refitted(model, X, y, weight=None):
    """Joint log likelihoods (n, k), each row's by a fit to all others.

    They are the lowest number for classes that such a fit does not know.
    """
    classes = np.unique(y)
    out = np.full((len(X), len(classes)), np.finfo(np.float64).min)
    for train, (i,) in LeaveOneOut().split(X):
        one = clone(model).fit(X[train], y[train], None if weight is None else weight[train])
        out[i, np.searchsorted(classes, one.classes_)] = one.predict_joint_log_proba(X[[i]])[0]
    return out


def joint_of(model, X, y, weight=None):
    params = {} if weight is None else {"sample_weight": weight}
    return cross_val_predict(
        model, X, y, cv=LeaveOneOut(), params=params, method="predict_joint_log_proba"
    )


UNKNOWN = pytest.mark.filterwarnings("ignore:Number of classes in training fold:RuntimeWarning")


def assert_close(found, wanted):
    is_finite = np.isfinite(wanted)
    assert_array_equal(np.isfinite(found), is_finite)
    found, wanted = found[is_finite], wanted[is_finite]
    error = np.abs(found - wanted) / (1 + np.abs(wanted))
    assert error.max() < 1e-10


@pytest.fixture
def calls(monkeypatch):
    """How many rows were scored in closed form, and by a refit."""
    counts = {"closed": 0, "refits": 0}
    answers, refits = left_out._LeftOut.answers, left_out._LeftOut.refitted

    def counted(self, *args, **options):
        found = answers(self, *args, **options)
        counts["closed"] += 0 if found is None else len(found)
        return found

    def counted_refits(self, model, redo):
        counts["refits"] += int(redo.sum())
        return refits(self, model, redo)

    monkeypatch.setattr(left_out._LeftOut, "answers", counted)
    monkeypatch.setattr(left_out._LeftOut, "refitted", counted_refits)
    return counts


def three_classes(rng, n=200, d=11, scale=0.0):
    """Rows of three classes, whose features have standard deviations up to exp(scale)."""
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) + 0.7 * y[:, None]
    X[:, -1] += X[:, 0]
    return X * np.exp(np.linspace(0, scale, d)), y


# --- closed form -------------------------------------------------------------------------------


@pytest.mark.promise("selection")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_refits(rng, calls, name, weighted):
    X, y = three_classes(rng)
    weight = rng.random(len(y)) if weighted else None
    assert_close(joint_of(MODELS[name], X, y, weight), refitted(MODELS[name], X, y, weight))
    assert calls == {"closed": 200, "refits": 0}


def exact_joint(X, y, i, *, tied):
    """Joint log likelihoods of row i by naive Bayes of all others, in 60-digit decimals."""
    keep = [j for j in range(len(y)) if j != i]
    stats, whole = full_stats(X[keep], y[keep]), full_stats(X[keep], np.zeros(len(keep), int))
    n, d = sum(stats.count), X.shape[1]
    epsilon = exact(1e-9) * max(whole.scatter[0][j][j] / n for j in range(d))
    out = []
    with localcontext() as context:
        context.prec = 60
        for c, (count, mean) in enumerate(zip(stats.count, stats.mean, strict=True)):
            value = decimal(count / n).ln()
            for j in range(d):
                var = stats.scatter[c][j][j] / count
                if tied:
                    var = sum(s[j][j] for s in stats.scatter) / n
                square = (exact(X[i, j]) - mean[j]) ** 2 / (var + epsilon)
                value -= (decimal(square) + (2 * PI * decimal(var + epsilon)).ln()) / 2
            out.append(value)
    return np.array(out, float)


@pytest.mark.parametrize("name", ["naive", "tied", "full", "full, tied"])
def test_scores_are_exact(rng, name):
    """Against rationals, with features of very different sizes for naive Bayes."""
    X, y = three_classes(rng, n=40, d=3, scale=0.0 if "full" in name else 7.0)
    found = joint_of(MODELS[name], X, y)
    for i in (0, 7, 39):
        keep = np.arange(40) != i
        if "full" in name:
            answer = gaussians(X[keep], y[keep], X[[i]], tied="tied" in name)
            wanted = np.array(answer.joint[0], float)
        else:
            wanted = exact_joint(X, y, i, tied=name == "tied")
        assert_allclose(found[i], wanted, rtol=1e-11)


@pytest.mark.parametrize("name", ["naive", "smoothed", "spherical", "tied", "full", "full, tied"])
def test_features_of_any_scale(rng, calls, name):
    """Smoothing is all of some variances, so that its changes are divided out exactly."""
    X, y = three_classes(rng, n=120, d=9, scale=8.0)
    assert_close(joint_of(MODELS[name], X, y), refitted(MODELS[name], X, y))
    assert calls["refits"] <= 3


@pytest.mark.parametrize("name", ["naive", "spherical"])
def test_smoothing_that_changes_little(rng, calls, name):
    """The variances of many rows hardly change, and a polynomial tells by how much."""
    X, y = three_classes(rng, n=40_000, d=9, scale=9.0)
    at = rng.choice(len(y), 12, replace=False)
    found = joint_of(MODELS[name], X, y)[at]
    for i, row in zip(at, found, strict=True):
        keep = np.arange(len(y)) != i
        one = clone(MODELS[name]).fit(X[keep], y[keep])
        assert_close(row, one.predict_joint_log_proba(X[[i]])[0])
    assert calls == {"closed": 40_000, "refits": 0}


@pytest.mark.parametrize("name", MODELS)
def test_small_sets_of_real_rows(name):
    for load in (load_iris, load_wine):
        X, y = load(return_X_y=True)
        X = X[::3] if load is load_iris else X[::2, :5]
        y = y[::3] if load is load_iris else y[::2]
        assert_close(joint_of(MODELS[name], X, y), refitted(MODELS[name], X, y))


@pytest.mark.parametrize("kind", [np.float32, np.int64])
@pytest.mark.parametrize("order", ["C", "F", "strided"])
@pytest.mark.parametrize("name", PLAIN)
def test_types_and_layouts(rng, name, order, kind):
    X, y = three_classes(rng, n=77, d=6)
    X = np.round(X * 10).astype(kind)
    wanted = joint_of(MODELS[name], X.astype(np.float64), y)
    given = np.repeat(X, 2, axis=0)[::2] if order == "strided" else np.array(X, order=order)
    assert_array_equal(joint_of(MODELS[name], given, y), wanted)


@pytest.mark.parametrize("name", PLAIN)
def test_the_rest_of_the_rows_does_not_matter_to_how_a_row_is_read(rng, name):
    """Groups, tails and blocks: any order of the rows gives the same bits but for the sums."""
    X, y = three_classes(rng, n=150, d=5)
    for n in (2 * 32 + 7, 2 * 32 + 8, 150):
        found = joint_of(MODELS[name], X[:n], y[:n])
        assert_close(found, joint_of(MODELS[name], X[:n][::-1], y[:n][::-1])[::-1])


# --- rows that have no closed form -------------------------------------------------------------


@pytest.mark.parametrize("name", ["naive", "smoothed", "tied", "spherical", "full", "full, tied"])
def test_rows_that_made_a_variance_are_refitted(rng, calls, name):
    X, y = three_classes(rng, n=60, d=3)
    X[5, 1], X[9, 0] = 1e6, -1e5
    assert_close(joint_of(MODELS[name], X, y), refitted(MODELS[name], X, y))
    assert calls["refits"] <= 6
    assert calls["refits"] >= 2 or name not in PLAIN


@UNKNOWN
@pytest.mark.parametrize("name", ["naive", "smoothed", "tied", "full, tied"])
def test_classes_that_lose_their_last_rows(rng, name):
    X, y = three_classes(rng, n=40, d=3)
    y[:3] = 7, 8, 8
    assert_close(joint_of(MODELS[name], X, y), refitted(MODELS[name], X, y))
    weight = rng.random(40)
    weight[[1, 20]] = 0.0
    assert_close(joint_of(MODELS[name], X, y, weight), refitted(MODELS[name], X, y, weight))


def test_priors_of_more_classes_than_are_left(rng):
    X, y = three_classes(rng, n=40, d=3)
    y[:] = y % 2
    y[0] = 2
    with pytest.raises(ValueError, match="Number of priors must match number of classes"):
        joint_of(MODELS["no smoothing"], X, y)


@pytest.mark.parametrize("name", ["naive", "tied", "full", "full, tied", "full, ddof"])
def test_constant_features(rng, name):
    X, y = three_classes(rng, n=50, d=4)
    X[:, 1] = 3.0
    X[y == 1, 2] = 0.1
    assert_close(joint_of(MODELS[name], X, y), refitted(MODELS[name], X, y))


def test_means_far_from_zero(rng):
    """Scores of a refit have an error of 1e-8 of their size here; those of the closed form too."""
    X, y = three_classes(rng, n=60, d=3)
    found, wanted = (f(MODELS["naive"], X + 1e8, y) for f in (joint_of, refitted))
    assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        PCAGaussianNB(n_components=2), MixedNB(categorical_features=[0]),
        GaussianBayes(reg_param=0.1), GaussianBayes(shrinkage="oas"), GaussianNB(missing="skip"),
    ],
    ids=str,
)  # fmt: skip
def test_models_without_a_closed_form(rng, calls, model):
    X, y = three_classes(rng, n=40, d=4)
    X = np.round(X)
    if getattr(model, "missing", "") == "skip":
        X[3, 1] = np.nan
    assert_close(joint_of(model, X, y), refitted(model, X, y))
    assert calls["closed"] == 0


def test_rows_that_are_refused(rng):
    X, y = three_classes(rng, n=40, d=4)
    X[3, 1] = np.nan
    weight = np.ones(40)
    weight[3] = 0.0
    with pytest.raises(ValueError, match="Input X contains NaN"):
        joint_of(GaussianNB(), X, y)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        joint_of(GaussianNB(), X, y, weight)


# --- through scikit-learn's names ----------------------------------------------------------------

METHODS = ["predict", "predict_proba", "predict_log_proba", "decision_function"]


def both(model, X, y, **options):
    """Ours and scikit-learn's, which must agree and warn of the same."""
    out = []
    for function in (cross_val_predict, model_selection.cross_val_predict):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            out.append((function(model, X, y, **options), {str(one.message) for one in caught}))
    (found, told), (wanted, expected) = out
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    if found.dtype.kind == "f":
        assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    else:
        assert_array_equal(found, wanted)
    assert told == expected
    return found


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PLAIN)
def test_cross_val_predict_is_that_of_scikit_learn(name, method):
    X, y = load_iris(return_X_y=True)
    text = np.array(["setosa", "versicolor", "virginica"])[y]
    both(MODELS[name], X[::3], text[::3], cv=LeaveOneOut(), method=method)
    both(MODELS[name], X, y, cv=4, method=method)
    X, y = load_breast_cancer(return_X_y=True)
    both(MODELS[name], X[:99, :4], y[:99], cv=LeaveOneOut(), method=method)
    both(MODELS[name], X[:99, :4].astype(np.float32), y[:99] > 0, cv=3, method=method)


@pytest.mark.parametrize("method", METHODS[:3])
def test_a_class_of_one_row(rng, method):
    X, y = three_classes(rng, n=40, d=3)
    y[0] = 5
    both(GaussianNB(), X, y, cv=LeaveOneOut(), method=method)


def test_other_splits_of_cross_val_predict(rng):
    X, y = three_classes(rng, n=60, d=3)
    groups = rng.integers(0, 5, 60)
    both(GaussianNB(), X, y, cv=model_selection.GroupKFold(3), groups=groups)
    both(MixedNB(categorical_features=[0]), np.round(X), y, method="predict_proba")
    weight = rng.random(60)
    both(GaussianNB(), X, y, params={"sample_weight": weight})
    both(GaussianNB(), X, y, params={"sample_weight": weight}, cv=LeaveOneOut())
    with pytest.raises(ValueError, match="cross_val_predict only works for partitions"):
        cross_val_predict(GaussianNB(), X, y, cv=model_selection.ShuffleSplit(3))
    with pytest.raises(TypeError, match="Expected an estimator of fastgnb"):
        cross_val_predict(object(), X, y)


def test_a_subclass_with_its_own_predict(rng, calls):
    class Reversed(GaussianNB):
        def predict(self, X):
            return self.classes_[::-1][super().predict(X)]

    X, y = three_classes(rng, n=40, d=3)
    both(Reversed(), X, y, cv=LeaveOneOut())
    assert calls["closed"] == 0


@pytest.mark.parametrize("name", PLAIN)
def test_accuracies_of_single_rows(calls, name):
    X, y = load_iris(return_X_y=True)
    X, y = X[::2], y[::2]
    found = cross_validate(MODELS[name], X, y, cv=LeaveOneOut())
    wanted = model_selection.cross_validate(MODELS[name], X, y, cv=LeaveOneOut())
    assert list(found) == list(wanted)
    assert_array_equal(found["test_score"], wanted["test_score"])
    assert found["test_score"].dtype == wanted["test_score"].dtype
    assert calls["closed"] == 75
    grid = {"tied": [False, True], "priors": [None, [0.2, 0.2, 0.6]]}
    ours = StatsGridSearchCV(MODELS[name], grid, cv=LeaveOneOut()).fit(X, y)
    theirs = GridSearchCV(MODELS[name], grid, cv=LeaveOneOut()).fit(X, y)
    assert calls["closed"] == 5 * 75
    assert list(ours.cv_results_) == list(theirs.cv_results_)
    for key in theirs.cv_results_:
        if key.startswith(("split", "mean_test", "rank")):
            assert_allclose(ours.cv_results_[key], theirs.cv_results_[key])
