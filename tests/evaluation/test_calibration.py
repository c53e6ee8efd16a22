"""Reliability, calibration error and the parts of the Brier score, against sums over the rows."""

from __future__ import annotations

import numpy as np
import pytest
from evaluations import evaluation_of, log_odds_of_scores, random_rows, sigmoid
from sklearn import metrics
from sklearn.calibration import calibration_curve

from fastgnb.evaluation.cells import all_thresholds, logit

CLOSE = {"rel": 1e-12, "abs": 1e-14}
WEIGHTED = pytest.mark.parametrize("weighted", [False, True])


def case(weighted=True, k=3, n=600, **more):
    y, log_odds, weight = random_rows(n=n, k=k, weighted=weighted, **more)
    return y, log_odds, weight, evaluation_of(np.arange(k), y, log_odds, weight)


def by_rows(true, p, weight, n_bins):
    """Calibration, refinement, uncertainty, within_bin and ECE by their definitions."""
    w = np.ones(len(p)) if weight is None else weight
    number = np.searchsorted(np.arange(1, n_bins) / n_bins, p, side="right")
    share = np.average(true, weights=w)
    parts = np.zeros(4)
    for b in range(n_bins):
        rows = (number == b) & (w > 0)
        if rows.any():
            mean_p, mean_y = (np.average(v[rows], weights=w[rows]) for v in (p, true))
            dp, dy = p[rows] - mean_p, true[rows] - mean_y
            size = w[rows].sum()
            within = np.average(dp**2 - 2 * dp * dy, weights=w[rows])
            parts += size * np.array(
                [(mean_p - mean_y) ** 2, mean_y * (1 - mean_y), within, abs(mean_p - mean_y)]
            )
    calibration, refinement, within, ece = parts / w.sum()
    return calibration, refinement, share * (1 - share), within, ece


@WEIGHTED
@pytest.mark.parametrize("n_bins", [1, 4, 10, 20, 100])
def test_parts_equal_their_definitions(weighted, n_bins):
    y, log_odds, weight, found = case(weighted)
    for c in range(3):
        true, p = (y == c).astype(float), sigmoid(log_odds[:, c])
        parts = found.brier_parts(c, n_bins)
        *want, ece = by_rows(true, p, weight, n_bins)
        assert parts[1:] == pytest.approx(want, **CLOSE)
        assert parts.brier == pytest.approx(
            metrics.brier_score_loss(true, p, sample_weight=weight), **CLOSE
        )
        total = parts.calibration + parts.refinement + parts.within_bin
        assert total == pytest.approx(parts.brier, rel=1e-14)
        assert parts.resolution == pytest.approx(parts.uncertainty - parts.refinement)
        assert found.expected_calibration_error(c, n_bins) == pytest.approx(ece, **CLOSE)


@WEIGHTED
@pytest.mark.parametrize("k", [2, 3])
def test_parts_of_all_labels_add_up_to_the_score(weighted, k):
    y, log_odds, _, found = case(weighted, k=k)
    parts = found.brier_parts()
    assert parts.brier == pytest.approx(found.brier, **CLOSE)
    total = parts.calibration + parts.refinement + parts.within_bin
    assert total == pytest.approx(parts.brier, rel=1e-14)
    p, true = sigmoid(log_odds), y[:, None] == np.arange(k)
    weight = found.curves.weight
    want = np.average(np.square(p - true).sum(axis=1), weights=weight) * (0.5 if k == 2 else 1)
    assert found.brier == pytest.approx(want, **CLOSE)


def test_parts_with_labels_the_model_does_not_know():
    y, log_odds, weight = random_rows(k=3)
    y[::9], y[1::50] = 7, 9
    found = evaluation_of(np.arange(3), y, log_odds, weight)
    parts = found.brier_parts()
    assert parts.brier == pytest.approx(found.brier, **CLOSE)
    assert parts.calibration + parts.refinement + parts.within_bin == pytest.approx(
        parts.brier, rel=1e-14
    )
    with pytest.raises(ValueError, match="does not know 7: its probability is always 0"):
        found.calibration(7)


@pytest.mark.parametrize("n_bins", [5, 10])
def test_reliability_equals_scikit_learns(n_bins):
    y, log_odds, _, found = case(weighted=False)
    for c in range(3):
        prob_true, prob_pred = calibration_curve(y == c, sigmoid(log_odds[:, c]), n_bins=n_bins)
        table = found.calibration(c, n_bins)
        used = table.weight > 0
        np.testing.assert_allclose(table.prob_true[used], prob_true, rtol=1e-12)
        np.testing.assert_allclose(table.prob_pred[used], prob_pred, rtol=1e-12)
        assert table.weight.sum() == pytest.approx(600)
        assert table.upper.tolist() == [(i + 1) / n_bins for i in range(n_bins)]


@WEIGHTED
def test_reliability_of_the_predicted_label(weighted):
    y, log_odds, weight, found = case(weighted)
    p = sigmoid(log_odds).max(axis=1)
    hit = (log_odds.argmax(axis=1) == y).astype(float)
    assert found.expected_calibration_error() == pytest.approx(
        by_rows(hit, p, weight, 10)[-1], **CLOSE
    )
    w = np.ones(len(y)) if weight is None else weight
    table = found.calibration()
    for b in range(10):
        rows = (p >= table.lower[b]) & (p < table.upper[b])
        assert table.weight[b] == pytest.approx(w[rows].sum(), abs=1e-12)
        if rows.any():
            assert table.prob_true[b] == pytest.approx(np.average(hit[rows], weights=w[rows]))
            assert table.prob_pred[b] == pytest.approx(np.average(p[rows], weights=w[rows]))


def test_bins_without_rows():
    found = evaluation_of([0, 1], np.array([0, 1]), np.array([[3.0, -3], [-3, 3]]))
    table = found.calibration(1)
    assert np.flatnonzero(table.weight).tolist() == [0, 9]
    assert np.isnan(table.prob_true[1:9]).all()
    assert found.expected_calibration_error(1) == pytest.approx(sigmoid(-3), rel=1e-14)


def test_errors_close_to_0_keep_their_digits():
    scores = np.array([[30.0, 0], [30, 0], [0, 31]])
    found = evaluation_of([0, 1], np.array([0, 0, 1]), log_odds_of_scores(scores))
    error = sigmoid(np.array([-30.0, -30, -31]))
    assert found.expected_calibration_error(1) == pytest.approx(error.mean(), rel=1e-13)
    assert found.brier_parts(1).brier == pytest.approx(np.square(error).mean(), rel=1e-13)


def test_bins_whose_edges_were_not_counted():
    found = case()[3]
    with pytest.raises(ValueError, match=r"n_bins=3 needs a bin edge at 0\.333333.*divisor of 100"):
        found.calibration(0, 3)
    y, log_odds, weight = random_rows(k=3)
    thirds = evaluation_of(np.arange(3), y, log_odds, weight, thresholds=[1 / 3, 2 / 3])
    assert len(thirds.calibration(0, 3).weight) == 3


@pytest.mark.parametrize("n_bins", [0, -1, 2.0, True, "2"])
def test_wrong_numbers_of_bins(n_bins):
    with pytest.raises(ValueError, match="n_bins must be a whole number, 1 or more, got"):
        case()[3].brier_parts(1, n_bins)


def test_cut_offs():
    assert all_thresholds().tolist() == [i / 100 for i in range(1, 100)]
    assert len(all_thresholds([0.1, 0.123, 0.9999])) == 101
    for bad in ([0], [1.0], [np.nan], 2):
        with pytest.raises(ValueError, match="thresholds must be above 0 and below 1, got"):
            all_thresholds(bad)
    with pytest.raises(ValueError, match="thresholds must be numbers above 0 and below 1, got"):
        all_thresholds("a")


def test_logit():
    p = np.array([0.0, 1e-300, 0.25, 0.5, 1 - 2**-53, 1])
    want = [-np.inf, np.log(1e-300), -np.log(3), 0, np.log((1 - 2**-53) * 2**53), np.inf]
    assert logit(p) == pytest.approx(want, rel=1e-15)
