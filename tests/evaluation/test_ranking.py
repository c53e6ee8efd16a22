"""Curves and areas: scikit-learn's on the same rows, exact ones by hand, and bounds from bins."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from evaluations import evaluation_of, log_odds_of_scores, random_rows, sigmoid
from sklearn import metrics
from sklearn.preprocessing import label_binarize

CLOSE = {"rel": 1e-12, "abs": 1e-13}
WEIGHTED = pytest.mark.parametrize("weighted", [False, True])


def case(weighted, k=4, **more):
    y, log_odds, weight = random_rows(k=k, weighted=weighted, **more)
    return y, log_odds, weight, evaluation_of(np.arange(k), y, log_odds, weight)


def exact_areas(positive, scores, weight):
    """AUC and average precision in rational numbers, from all pairs and all thresholds."""
    weight = [Fraction(float(w)) for w in weight]
    rows = list(zip(positive, scores.tolist(), weight, strict=True))
    total = sum(w for is_positive, _, w in rows if is_positive)
    others = sum(w for is_positive, _, w in rows if not is_positive)
    pairs = Fraction(0)
    for a, s, v in rows:
        for b, t, w in rows:
            if a and not b:
                pairs += v * w * (2 if s > t else 1 if s == t else 0) / 2
    area, before = Fraction(0), Fraction(0)
    for threshold in sorted({s for _, s, w in rows if w}, reverse=True):
        tp = sum(w for a, s, w in rows if a and s >= threshold)
        every = sum(w for _, s, w in rows if s >= threshold)
        area += (tp - before) / total * tp / every
        before = tp
    return float(pairs / (total * others)), float(area)


@WEIGHTED
def test_areas_equal_rational_numbers(weighted):
    y, log_odds, weight, found = case(weighted, k=3, n=60, decimals=0)
    for c in range(3):
        assert len(np.unique(log_odds[:, c])) < 30, "there are ties"
        w = np.ones(60) if weight is None else weight
        area, precision = exact_areas(y == c, log_odds[:, c], w)
        assert found.auc(c) == (pytest.approx(area, rel=1e-14),) * 2
        assert found.average_precision(c) == (pytest.approx(precision, rel=1e-14),) * 2


@WEIGHTED
@pytest.mark.parametrize("decimals", [None, 0])
def test_curves_equal_scikit_learns(weighted, decimals):
    y, log_odds, weight, found = case(weighted, decimals=decimals)
    for c in range(4):
        given = y == c, log_odds[:, c]
        fpr, tpr, thresholds = metrics.roc_curve(
            *given, sample_weight=weight, drop_intermediate=False
        )
        roc = found.roc(c)
        np.testing.assert_allclose(roc.fpr, fpr, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(roc.tpr, tpr, rtol=1e-12, atol=1e-15)
        assert roc.log_odds.tolist() == thresholds.tolist()
        precision, recall, thresholds = metrics.precision_recall_curve(*given, sample_weight=weight)
        curve = found.precision_recall(c)
        np.testing.assert_allclose(curve.precision, precision, rtol=1e-12)
        np.testing.assert_allclose(curve.recall, recall, rtol=1e-12, atol=1e-15)
        assert curve.log_odds.tolist() == thresholds.tolist()
        area = metrics.roc_auc_score(*given, sample_weight=weight)
        assert found.auc(c) == (pytest.approx(area, **CLOSE),) * 2
        precise = metrics.average_precision_score(*given, sample_weight=weight)
        assert found.average_precision(c) == (pytest.approx(precise, **CLOSE),) * 2


@WEIGHTED
def test_means_equal_scikit_learns(weighted):
    y, log_odds, weight, found = case(weighted)
    for average in ("macro", "weighted"):
        want = metrics.roc_auc_score(
            label_binarize(y, classes=np.arange(4)), log_odds, average=average, sample_weight=weight
        )
        assert found.mean_auc(average) == (pytest.approx(want, **CLOSE),) * 2
        p = sigmoid(log_odds)
        want = metrics.roc_auc_score(y, p, average=average, sample_weight=weight, multi_class="ovr")
        assert found.mean_auc(average).value == pytest.approx(want, **CLOSE)


def test_mean_over_pairs_equals_scikit_learns():
    y, log_odds, _, found = case(weighted=False)
    want = metrics.roc_auc_score(y, sigmoid(log_odds), multi_class="ovo")
    assert found.mean_auc("pairs") == (pytest.approx(want, **CLOSE),) * 2


def test_weighted_mean_over_pairs():
    y, log_odds, weight, found = case(weighted=True)
    areas = []
    for a in range(4):
        for b in set(range(4)) - {a}:
            pair = (y == a) | (y == b)
            areas.append(
                metrics.roc_auc_score(y[pair] == a, log_odds[pair, a], sample_weight=weight[pair])
            )
    assert found.mean_auc("pairs").value == pytest.approx(np.mean(areas), **CLOSE)


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("n_bins", [16, 1 << 10])
@WEIGHTED
def test_bins_bound_the_exact_areas(k, n_bins, weighted):
    y, log_odds, weight = random_rows(n=2000, k=k, weighted=weighted)
    exact = evaluation_of(np.arange(k), y, log_odds, weight)
    found = evaluation_of(np.arange(k), y, log_odds, weight, exact=False, n_bins=n_bins)
    for get in (
        *(lambda e, c=c: e.auc(c) for c in range(k)),
        *(lambda e, c=c: e.average_precision(c) for c in range(k)),
        *(lambda e, name=name: e.mean_auc(name) for name in ("macro", "weighted", "pairs")),
    ):
        bounds, value = get(found), get(exact).value
        assert bounds.lower <= value + 1e-14
        assert bounds.upper >= value - 1e-14
        assert 0 < bounds.width < 20 / n_bins


def test_bins_give_points_of_the_curve():
    y, log_odds, weight = random_rows(n=2000, k=3)
    exact = evaluation_of(np.arange(3), y, log_odds, weight).roc(1)
    roc = evaluation_of(np.arange(3), y, log_odds, weight, exact=False, n_bins=64).roc(1)
    assert len(roc.fpr) < 66
    for threshold, fpr, tpr in list(zip(roc.log_odds, roc.fpr, roc.tpr, strict=True))[1:]:
        at = np.flatnonzero(exact.log_odds >= threshold)[-1]
        assert (fpr, tpr) == pytest.approx((exact.fpr[at], exact.tpr[at]), rel=1e-12)


def test_bins_of_one_kind_are_exact():
    y, log_odds = np.array([0, 0, 1, 1]), np.array([[5.0, -5], [3, -3], [-1, 1], [-8, 8]])
    found = evaluation_of([0, 1], y, log_odds, exact=False, n_bins=1 << 12)
    assert found.auc(1) == (1.0, 1.0)
    assert found.average_precision(1) == (1.0, 1.0)


def test_infinite_log_odds_are_ties_in_bins_too():
    from fastgnb.evaluation.curves import HistogramCurves
    from fastgnb.evaluation.ranking import auc, average_precision

    counts, ends = np.zeros((2, 3, 1)), np.zeros((2, 3, 2))
    ends[1] = [[4, 2], [1, 3], [0, 0]]  # true class 0, 1 and unknown; at -inf and inf
    curves = HistogramCurves(np.arange(2), counts, np.zeros(2, int), np.zeros(2, int), ends)
    steps = curves.cumulative(1)
    scores = np.repeat([-np.inf, np.inf, -np.inf, np.inf], [4, 2, 1, 3])
    want = exact_areas(np.repeat([False, True], [6, 4]), np.sign(scores), np.ones(10))
    assert auc(steps) == (pytest.approx(want[0]),) * 2
    assert average_precision(steps) == (pytest.approx(want[1]),) * 2
    assert curves.pair_auc(1).lower[0] == curves.pair_auc(1).upper[0] == pytest.approx(want[0])


def test_saturated_probabilities_stay_apart():
    """Where p rounds to 1 scikit-learn sees ties of p; log odds do not tie."""
    scores = np.array([[0.0, 40], [0, 45], [0, 50], [0, 60]])
    y = np.array([0, 1, 0, 1])
    found = evaluation_of([0, 1], y, log_odds_of_scores(scores))
    assert found.auc(1).value == 0.75
    assert metrics.roc_auc_score(y, sigmoid(scores[:, 1])) == 0.5


@WEIGHTED
def test_lift(weighted):
    y, log_odds, weight, found = case(weighted, n=80)
    w = np.ones(80) if weight is None else weight
    lift = found.lift(2)
    assert lift.share[0] == lift.gain[0] == 0
    assert lift.log_odds[0] == np.inf
    for i in range(1, len(lift.share)):
        chosen = log_odds[:, 2] >= lift.log_odds[i]
        share = w[chosen].sum() / w.sum()
        gain = w[chosen & (y == 2)].sum() / w[y == 2].sum()
        assert (lift.share[i], lift.gain[i]) == pytest.approx((share, gain), rel=1e-12)
        assert lift.lift[i] == pytest.approx(gain / share, rel=1e-12)
    assert lift.lift[0] == lift.lift[1]
    assert lift.lift[-1] == pytest.approx(1)


@WEIGHTED
@pytest.mark.parametrize("k", [1, 2, 3, 4, 9])
def test_top_k_accuracy(weighted, k):
    y, log_odds, weight, found = case(weighted)
    want = metrics.top_k_accuracy_score(
        y, log_odds, k=min(k, 3), sample_weight=weight, labels=np.arange(4)
    )
    assert found.top_k_accuracy(k) == pytest.approx(want if k < 4 else 1, **CLOSE)
    assert found.top_k_accuracy(1) == pytest.approx(found.accuracy, **CLOSE)


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_wrong_numbers_of_classes(k):
    with pytest.raises(ValueError, match="k must be a whole number, 1 or more, got"):
        case(False)[3].top_k_accuracy(k)


# ------------------------------------------------------------------ labels and classes


def test_the_second_of_two_classes_is_positive_by_default():
    y, log_odds, weight = random_rows(k=2)
    found = evaluation_of([0, 1], y, log_odds, weight)
    assert found.auc() == found.auc(1)
    assert found.rates(0.3) == found.rates(0.3, 1)


def test_labels_have_to_be_named_and_known():
    found = case(False)[3]
    for ask in (found.auc, found.roc, found.lift, found.precision_recall):
        with pytest.raises(ValueError, match="label is required where there are 4 classes"):
            ask()
        with pytest.raises(ValueError, match=r"7 is not among the labels \[0 1 2 3\]"):
            ask(7)
    with pytest.raises(ValueError, match=r"average must be one of \['macro', .*, got 'micro'"):
        found.mean_auc("micro")


def test_a_label_without_rows_and_one_that_has_all():
    y, log_odds = np.zeros(5, int), log_odds_of_scores(np.arange(15.0).reshape(5, 3) ** 2)
    found = evaluation_of([0, 1, 2], y, log_odds)
    for label in (0, 1):
        assert np.isnan(found.auc(label)).all()
    assert found.average_precision(0) == (1, 1)
    assert np.isnan(found.average_precision(1)).all()
    assert np.isnan(found.roc(1).tpr).all()
    assert np.isnan(found.roc(0).fpr).all()
    assert found.roc(1).fpr[-1] == found.roc(0).tpr[-1] == 1
    for average in ("macro", "weighted", "pairs"):
        assert np.isnan(found.mean_auc(average)).all()


def test_a_mean_leaves_out_labels_without_an_area():
    y, log_odds, weight = random_rows(k=4)
    y[y == 3] = 0
    found = evaluation_of(np.arange(4), y, log_odds, weight)
    areas = [found.auc(c).value for c in range(3)]
    assert found.mean_auc().value == pytest.approx(np.mean(areas), rel=1e-13)
    want = np.average(areas, weights=found.support[:3])
    assert found.mean_auc("weighted").value == pytest.approx(want, rel=1e-13)
    assert found.mean_auc("pairs").value > 0


def test_one_class():
    found = evaluation_of([3], np.array([3, 3]), np.full((2, 1), np.inf))
    assert np.isnan(found.auc(3)).all()
    assert found.top_k_accuracy(1) == 1
    assert found.mcc == 0


def test_labels_the_model_does_not_know():
    """Their probability is 0 in every row, as a column of zeros says to scikit-learn."""
    y, log_odds, weight = random_rows(k=3)
    y[::7] = 8
    found = evaluation_of(np.arange(3), y, log_odds, weight)
    widened = np.column_stack([log_odds, np.full(len(y), -1e6)])
    want = metrics.roc_auc_score(
        label_binarize(y, classes=[0, 1, 2, 8]), widened, average=None, sample_weight=weight
    )
    for label, area in zip([0, 1, 2, 8], want, strict=True):
        assert found.auc(label).value == pytest.approx(area, **CLOSE)
    assert found.auc(8).value == 0.5
    share = weight[y == 8].sum() / weight.sum()
    assert found.average_precision(8).value == pytest.approx(share, rel=1e-13)
    assert found.mean_auc().value == pytest.approx(np.mean(want), **CLOSE)
    want = metrics.top_k_accuracy_score(y, widened, k=2, sample_weight=weight, labels=[0, 1, 2, 8])
    assert found.top_k_accuracy(2) == pytest.approx(want, **CLOSE)


def test_rows_that_are_alone_in_their_bins_have_exact_areas():
    y, log_odds, _ = random_rows(n=300, k=2, weighted=False)
    exact = evaluation_of([0, 1], y, log_odds)
    found = evaluation_of([0, 1], y, log_odds, exact=False, n_bins=1 << 18)
    assert found.auc().width == 0
    assert found.average_precision().width < 1e-12
    assert found.average_precision().lower == pytest.approx(exact.average_precision().value)
    weighted = evaluation_of([0, 1], y, log_odds, np.ones(300), exact=False, n_bins=1 << 18)
    assert weighted.average_precision().width > 1e-5  # a row may be many that are apart


def test_the_worst_order_of_a_bin():
    """Rational numbers, for few rows of a bin and for many."""
    from fastgnb.evaluation.curves import Cumulative
    from fastgnb.evaluation.ranking import average_precision

    for p in (3, 50):
        edges = np.array([2.0, 1.0]), np.array([3.0, 2.0])
        steps = Cumulative(edges[0], np.array([4.0, 4 + p]), np.array([1.0, 8]), False, edges[1])
        first = sum(Fraction(i, i + 1) for i in range(1, 5))
        then = sum(Fraction(4 + i, 4 + i + 8) for i in range(1, p + 1))
        worst = float((first + then) / (4 + p))
        bounds = average_precision(steps, is_counted=True)
        best = (4 * Fraction(1) + p * Fraction(4 + p, 5 + p)) / (4 + p)
        assert bounds.upper == pytest.approx(float(best), rel=1e-14)
        assert bounds.lower == pytest.approx(worst, rel=1e-14 if p == 3 else 0.01)
        assert bounds.lower <= worst + 1e-15
        assert average_precision(steps).lower < bounds.lower
