"""`fastgnb.evaluate`: rows of any kind, weights, chunks, bounds of memory, and bad arguments."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from sklearn import metrics
from sklearn.exceptions import NotFittedError

import fastgnb
from fastgnb.evaluation import evaluate as module


def same(a, b, rel=1e-12):
    """Two evaluations, number by number."""
    first, second = a.as_dict(), b.as_dict()
    assert first.keys() == second.keys()
    for name, value in first.items():
        assert_close(value, second[name], rel, name)


def assert_close(a, b, rel, name):
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_close(a[key], b[key], rel, f"{name} {key}")
    elif isinstance(a, list):
        assert len(a) == len(b), name
        for x, y in zip(a, b, strict=True):
            assert_close(x, y, rel, name)
    elif isinstance(a, float):
        assert a == pytest.approx(b, rel=rel, abs=1e-12), name
    else:
        assert a == b, name


@pytest.fixture
def fitted(make_data):
    X, y = make_data(600, 4, 3)
    return fastgnb.GaussianNB().fit(X, y), X, y


def test_equals_scikit_learn(fitted):
    model, X, y = fitted
    found = fastgnb.evaluate(model, X, y)
    proba = model.predict_proba(X)
    assert found.accuracy == model.score(X, y)
    assert found.log_loss == pytest.approx(metrics.log_loss(y, proba), rel=1e-12)
    want = metrics.roc_auc_score(y, proba, multi_class="ovr")
    assert found.mean_auc().value == pytest.approx(want, rel=1e-12)
    assert found.curves.is_exact


@pytest.mark.parametrize("options", [{}, {"tied": True}])
@pytest.mark.parametrize("name", ["GaussianBayes", "PCAGaussianNB", "GaussianNB"])
def test_every_member(make_data, name, options):
    X, y = make_data(300, 3, 3)
    model = getattr(fastgnb, name)(**options).fit(X, y)
    found = fastgnb.evaluate(model, X, y)
    assert found.accuracy == model.score(X, y)
    want = metrics.log_loss(y, model.predict_proba(X))
    assert found.log_loss == pytest.approx(want, rel=1e-10)


def test_categories(make_data, monkeypatch):
    X, y = make_data(3000, 2, 3)
    X = np.column_stack([X, np.arange(3000) % 7])
    model = fastgnb.MixedNB(categorical_features=[2]).fit(X, y)
    whole = fastgnb.evaluate(model, X, y)
    assert whole.accuracy == model.score(X, y)
    monkeypatch.setattr(module, "_BATCH", 1)
    same(fastgnb.evaluate(model, X, y), whole)


def test_chunks_make_no_difference(make_data, monkeypatch):
    X, y = make_data(5000, 3, 3)
    weight = np.arange(5000) % 4 / 2
    model = fastgnb.GaussianNB().fit(X, y)
    whole = fastgnb.evaluate(model, X, y, weight)
    monkeypatch.setattr(module, "_BATCH", 1)
    same(fastgnb.evaluate(model, X, y, weight), whole)


def test_frames_and_text(fitted):
    pd = pytest.importorskip("pandas")
    _, X, y = fitted
    table = pd.DataFrame(X, columns=list("abcd"))
    labels = pd.Series(np.array(["low", "mid", "high"])[y], dtype="category")
    model = fastgnb.GaussianNB().fit(table, labels)
    found = fastgnb.evaluate(model, table, labels)
    assert found.labels.tolist() == ["high", "low", "mid"]
    assert found.accuracy == model.score(table, labels)
    with pytest.raises(ValueError, match="feature names"):
        fastgnb.evaluate(model, table[list("badc")], labels)


def test_whole_weights_are_repeated_rows(fitted):
    model, X, y = fitted
    times = np.arange(600) % 3
    again = np.repeat(np.arange(600), times)
    weighted = fastgnb.evaluate(model, X, y, times)
    assert weighted.n_rows == np.count_nonzero(times)
    assert weighted.weight == times.sum()
    found, want = weighted.as_dict(), fastgnb.evaluate(model, X[again], y[again]).as_dict()
    for name in ("accuracy", "mcc", "log_loss", "brier_score", "mean_auc", "curves", "calibration"):
        assert_close(found[name], want[name], 1e-11, name)


def test_rows_of_weight_0_are_not_looked_at(fitted):
    model, X, y = fitted
    weight = np.ones(600)
    weight[[3, 77]] = 0
    X, y = X.copy(), y.copy()
    X[3], y[77] = np.nan, 9
    kept = np.delete(np.arange(600), [3, 77])
    found = fastgnb.evaluate(model, X, y, weight)
    assert found.labels.tolist() == [0, 1, 2]
    same(found, fastgnb.evaluate(model, X[kept], y[kept], weight[kept]))


def test_missing_values_that_are_skipped(fitted):
    _, X, y = fitted
    X = X.copy()
    X[::5, 1] = np.nan
    model = fastgnb.GaussianNB(missing="skip").fit(X, y)
    assert fastgnb.evaluate(model, X, y).accuracy == model.score(X, y)


@pytest.mark.parametrize("exact_rows", [0, 100])
def test_few_rows_are_kept(fitted, exact_rows):
    model, X, y = fitted
    exact = fastgnb.evaluate(model, X, y)
    found = fastgnb.evaluate(model, X, y, exact_rows=exact_rows, thresholds=[1 / 3])
    assert not found.curves.is_exact
    assert found.thresholds == (1 / 3,)
    for label in range(3):
        bounds, area = found.auc(label), exact.auc(label).value
        assert bounds.lower - 1e-12 <= area <= bounds.upper + 1e-12
        for tau in (0.2, 1 / 3):
            rates, want = found.rates(tau, label), exact.rates(tau, label)
            assert rates.tp == want.tp
            assert rates.fp == want.fp


def test_labels_the_model_does_not_know(fitted):
    model, X, y = fitted
    y = y.copy()
    y[:6] = 7
    found = fastgnb.evaluate(model, X, y)
    assert (found.n_unseen, found.labels.tolist()) == (6, [0, 1, 2, 7])
    assert found.accuracy == np.mean(model.predict(X) == y)
    read = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert read["per_class"][3]["tpr"] == 0
    assert [curve["label"] for curve in read["curves"]] == [0, 1, 2]


def test_rows_of_one_class(fitted):
    model, X, y = fitted
    found = fastgnb.evaluate(model, X[y == 1], y[y == 1])
    assert all(math.isnan(bound) for bound in found.auc(1))
    assert found.mcc == 0
    read = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert read["mean_auc"] == {
        "macro": [None, None],
        "weighted": [None, None],
        "pairs": [None] * 2,
    }


def test_a_model_of_one_class():
    X = np.array([[0.0], [1.0], [2.0]])
    found = fastgnb.evaluate(fastgnb.GaussianNB().fit(X, [5, 5, 5]), X, [5, 5, 5])
    assert found.accuracy == found.top_k_accuracy(1) == 1
    assert [found.brier, found.log_loss] == pytest.approx([0, 0], abs=1e-15)
    json.dumps(found.as_dict(), allow_nan=False)


# ------------------------------------------------------------------ bad arguments


def test_other_models(fitted):
    from sklearn.naive_bayes import GaussianNB

    model, X, y = fitted
    for other, name in ((GaussianNB().fit(X, y), "GaussianNB"), ("model.fgnb", "str")):
        with pytest.raises(
            TypeError, match=f"Expected a fitted estimator of fastgnb, got .*{name}"
        ):
            fastgnb.evaluate(other, X, y)
    with pytest.raises(NotFittedError):
        fastgnb.evaluate(fastgnb.GaussianNB(), X, y)
    model.classes_ = model.classes_[::-1]
    with pytest.raises(ValueError, match="classes_ was edited"):
        fastgnb.evaluate(model, X, y)


def test_rows_and_labels_that_do_not_fit(fitted):
    model, X, y = fitted
    with pytest.raises(ValueError, match="X has 3 features, but GaussianNB is expecting 4"):
        fastgnb.evaluate(model, X[:, :3], y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fastgnb.evaluate(model, X, y[:-1])
    with pytest.raises(TypeError, match=r"Expected labels y that are numbers, .* got text: \['1'"):
        fastgnb.evaluate(model, X, np.full(600, "1"))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        fastgnb.evaluate(model, X, y + 0.5)


def test_values_that_are_not_finite_are_placed(fitted, monkeypatch):
    monkeypatch.setattr(module, "_BATCH", 1)
    X, y = np.zeros((3000, 2)), np.arange(3000) % 2
    X[:, 0] = y + np.arange(3000) % 5
    model = fastgnb.GaussianNB().fit(X, y)
    X[2500, 1] = np.nan
    with pytest.raises(ValueError, match="The value in row 2500, feature 1 is missing"):
        fastgnb.evaluate(model, X, y)
    X[2500, 1] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        fastgnb.evaluate(model, X, y)


def test_weights_that_are_wrong(fitted):
    model, X, y = fitted
    with pytest.raises(ValueError, match="weights must be 0 or more"):
        fastgnb.evaluate(model, X, y, -np.ones(600))
    with pytest.raises(ValueError, match="no rows to evaluate, expected at least one"):
        fastgnb.evaluate(model, X, y, np.zeros(600))


@pytest.mark.parametrize("exact_rows", [-1, 1.5, None])
def test_wrong_numbers_of_rows(fitted, exact_rows):
    with pytest.raises(ValueError, match="exact_rows must be a whole number, 0 or more, got"):
        fastgnb.evaluate(*fitted, exact_rows=exact_rows)


@pytest.mark.parametrize("thresholds", [[0], [0.5, 1], 7])
def test_wrong_cut_offs(fitted, thresholds):
    with pytest.raises(ValueError, match="thresholds must be above 0 and below 1, got"):
        fastgnb.evaluate(*fitted, thresholds=thresholds)


@pytest.mark.parametrize("size", [1e306, 1.7e308])
def test_weights_that_overflow(fitted, size):
    model, X, y = fitted
    with pytest.raises(ValueError, match="The sum of the weights overflows float64"):
        fastgnb.evaluate(model, X, y, np.full(len(y), size))


@pytest.mark.parametrize("exact_rows", [0, 10_000])
def test_weights_of_very_different_sizes(fitted, exact_rows):
    model, X, y = fitted
    weight = np.where(y == 1, 1e300, 1e-300)
    found = fastgnb.evaluate(model, X, y, weight, exact_rows=exact_rows)
    json.dumps(found.as_dict(), allow_nan=False)
    assert found.accuracy == pytest.approx((model.predict(X) == y)[y == 1].mean())
    assert np.isnan(found.lift(0).lift[:2]).all()
