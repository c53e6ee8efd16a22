"""Rates at any cut-off, the best cut-off, and Matthews' coefficient, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from evaluations import evaluation_of, random_rows, sigmoid
from sklearn import metrics

from fastgnb.evaluation.cells import logit
from fastgnb.evaluation.rates import Rates

CLOSE = {"rel": 1e-12, "abs": 1e-13}
CUT_OFFS = np.linspace(0.03, 0.97, 20)
WEIGHTED = pytest.mark.parametrize("weighted", [False, True])


def case(weighted=True, k=3, exact=True, n_bins=64, thresholds=None, **more):
    y, log_odds, weight = random_rows(k=k, weighted=weighted, **more)
    found = evaluation_of(
        np.arange(k), y, log_odds, weight, exact=exact, n_bins=n_bins, thresholds=thresholds
    )
    return y, log_odds, weight, found


def expected(true, decided, weight):
    """Every rate by scikit-learn."""
    given = {"sample_weight": weight, "zero_division": 0}
    (tn, fp), (fn, tp) = metrics.confusion_matrix(
        true, decided, labels=[False, True], sample_weight=weight
    )
    ppv, tpr, f1, _ = metrics.precision_recall_fscore_support(
        true, decided, average="binary", **given
    )
    npv, tnr, _, _ = metrics.precision_recall_fscore_support(
        ~true, ~decided, average="binary", **given
    )
    return {
        "tp": tp, "fp": fp, "fn": fn, "tn": tn, "tpr": tpr, "fpr": 1 - tnr, "tnr": tnr,
        "fnr": 1 - tpr, "ppv": ppv, "npv": npv, "f1": f1,
        "accuracy": metrics.accuracy_score(true, decided, sample_weight=weight),
        "mcc": metrics.matthews_corrcoef(true, decided, sample_weight=weight),
        "positive_rate": (tp + fp) / (tp + fp + fn + tn),
    }  # fmt: skip


@WEIGHTED
def test_rates_equal_scikit_learns(weighted):
    y, log_odds, weight, found = case(weighted)
    rates = found.rates(CUT_OFFS, 1)
    for i, tau in enumerate(CUT_OFFS):
        want = expected(y == 1, log_odds[:, 1] >= logit(tau), weight)
        assert set(want) == set(Rates._fields) - {"threshold"}
        for name, value in want.items():
            bounds = getattr(rates, name)
            assert bounds.lower[i] == bounds.upper[i] == pytest.approx(value, **CLOSE), name
    assert rates.threshold.tolist() == CUT_OFFS.tolist()


def test_a_number_gives_numbers():
    found = case()[3]
    rates = found.rates(0.4, 2)
    assert rates.threshold == 0.4
    assert float(rates.tpr) == found.rates([0.4], 2).tpr.value[0]
    assert isinstance(rates.mcc.lower, float)


@WEIGHTED
def test_bins_bound_every_rate(weighted):
    y, log_odds, weight, found = case(weighted, exact=False, n=1000)
    taus = np.random.default_rng(0).random(40)
    rates = found.rates(taus, 1)
    widths = 0.0
    for i, tau in enumerate(taus):
        want = expected(y == 1, log_odds[:, 1] >= logit(tau), weight)
        for name, value in want.items():
            bounds = getattr(rates, name)
            assert bounds.lower[i] <= value + 1e-9, name
            assert bounds.upper[i] >= value - 1e-9, name
            widths += bounds.width[i]
    assert widths > 0


def test_counted_cut_offs_are_exact_in_bins():
    taus = [0.123456, 0.5, 0.77, 0.9999]
    y, log_odds, weight, found = case(exact=False, thresholds=[0.123456, 0.9999])
    rates = found.rates(taus, 1)
    for i, tau in enumerate(taus):
        want = expected(y == 1, log_odds[:, 1] >= logit(tau), weight)
        for name, value in want.items():
            bounds = getattr(rates, name)
            assert bounds.lower[i] == bounds.upper[i] == pytest.approx(value, **CLOSE), name


def test_the_ends():
    found = case(exact=False)[3]
    for tau, share in ((0, 1), (1, 0)):
        assert found.rates(tau, 1).tpr == found.rates(tau, 1).fpr == (share, share)


@pytest.mark.parametrize("tau", [-0.1, 1.5, np.nan, [0.2, 2]])
def test_cut_offs_out_of_range(tau):
    with pytest.raises(ValueError, match="tau must be from 0 to 1, got"):
        case()[3].rates(tau, 1)


def test_cut_offs_of_other_types():
    with pytest.raises(ValueError, match="tau must be numbers from 0 to 1, got 'a'"):
        case()[3].rates("a", 1)


def test_rates_of_a_label_without_rows_are_0():
    y, log_odds, weight = random_rows(k=3)
    y[y == 2] = 0
    rates = evaluation_of([0, 1, 2], y, log_odds, weight).rates(0.5, 2)
    assert rates.tpr == rates.ppv == rates.f1 == rates.mcc == (0, 0)
    assert rates.fpr.value > 0


def test_rates_of_a_label_the_model_does_not_know():
    y, log_odds, weight = random_rows(k=3)
    y[:9] = 5
    found = evaluation_of([0, 1, 2], y, log_odds, weight)
    assert found.rates(0.5, 5).tp == (0, 0)
    assert found.rates(0, 5).tp.value == pytest.approx(weight[:9].sum())


@WEIGHTED
def test_overall_coefficient_and_counts(weighted):
    y, log_odds, weight, found = case(weighted, k=4)
    predicted = log_odds.argmax(axis=1)
    want = metrics.matthews_corrcoef(y, predicted, sample_weight=weight)
    assert found.mcc == pytest.approx(want, **CLOSE)
    shares = [np.average(predicted == c, weights=weight) for c in range(4)]
    assert found.prediction_rate == pytest.approx(shares, **CLOSE)
    want = metrics.accuracy_score(y, predicted, sample_weight=weight)
    assert found.accuracy == pytest.approx(want, **CLOSE)
    ppv, tpr, f1, support = metrics.precision_recall_fscore_support(
        y, predicted, sample_weight=weight
    )
    assert found.tpr == pytest.approx(tpr, **CLOSE)
    assert found.ppv == pytest.approx(ppv, **CLOSE)
    assert found.f1 == pytest.approx(f1, **CLOSE)
    assert found.support == pytest.approx(support, **CLOSE)
    each = metrics.multilabel_confusion_matrix(y, predicted, sample_weight=weight)
    for i, ((tn, fp), (fn, _)) in enumerate(each):
        assert found.fpr[i] == pytest.approx(fp / (fp + tn), **CLOSE)
        assert found.npv[i] == pytest.approx(tn / (tn + fn), **CLOSE)


# ------------------------------------------------------------------ the best cut-off


@WEIGHTED
@pytest.mark.parametrize("costs", [(1, 1), (1, 20), (30, 1), (0, 1), (1, 0), (2.5, 0.1)])
def test_cheapest_cut_off(weighted, costs):
    y, log_odds, weight, found = case(weighted, n=150, decimals=1)
    w = np.ones(150) if weight is None else weight
    scores, true = log_odds[:, 1], y == 1
    every = [
        (costs[0] * w[decided & ~true].sum() + costs[1] * w[~decided & true].sum()) / w.sum()
        for decided in (scores >= t for t in [*np.unique(scores), np.inf])
    ]
    best = found.best_cutoff(1, cost_fp=costs[0], cost_fn=costs[1])
    assert best.cost == pytest.approx(min(every), rel=1e-12, abs=1e-15)
    decided = scores >= best.log_odds
    cost = (costs[0] * w[decided & ~true].sum() + costs[1] * w[~decided & true].sum()) / w.sum()
    assert cost == pytest.approx(best.cost, rel=1e-12, abs=1e-15)
    assert (sigmoid(scores) >= best.threshold).tolist() == decided.tolist()
    assert best.rates.tp == (pytest.approx(w[decided & true].sum(), rel=1e-12),) * 2


@WEIGHTED
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("bound", [0, 0.02, 0.3, 1])
def test_cut_off_within_a_false_positive_rate(weighted, exact, bound):
    y, log_odds, weight, found = case(weighted, exact=exact, n=500)
    best = found.best_cutoff(2, max_fpr=bound)
    decided, w = log_odds[:, 2] >= best.log_odds, np.ones(500) if weight is None else weight
    assert w[decided & (y != 2)].sum() / w[y != 2].sum() <= bound + 1e-12
    assert best.rates.fpr.value <= bound
    assert best.rates.tpr.value == pytest.approx(
        w[decided & (y == 2)].sum() / w[y == 2].sum(), rel=1e-12
    )
    fpr, tpr, _ = found.roc(2)
    assert best.rates.tpr.value == pytest.approx(tpr[fpr <= bound].max(), rel=1e-12)
    assert np.isnan(best.cost)


def test_no_row_is_worth_it():
    best = case()[3].best_cutoff(1, cost_fp=1e9, cost_fn=1e-9)
    if best.threshold == np.inf:
        assert best.log_odds == np.inf
        assert best.rates.tp == best.rates.fp == (0, 0)
    y = np.array([0, 1, 1, 0])
    log_odds = np.array([[-3.0, 3], [-2, 2], [1, -1], [2, -2]])
    found = evaluation_of([0, 1], y, log_odds)
    none, every = found.best_cutoff(cost_fp=99), found.best_cutoff(cost_fn=99)
    assert (none.threshold, none.log_odds, none.cost) == (np.inf, np.inf, 0.5)
    assert every.rates.fn == (0, 0)
    assert every.log_odds == -1.5
    assert found.best_cutoff(cost_fp=0).threshold == pytest.approx(sigmoid(-1.5))


@pytest.mark.parametrize("given", [{}, {"cost_fp": 1, "max_fpr": 0.1}])
def test_costs_or_a_bound(given):
    with pytest.raises(ValueError, match="Give either cost_fp and cost_fn, or max_fpr"):
        case()[3].best_cutoff(1, **given)


@pytest.mark.parametrize("name", ["cost_fp", "cost_fn"])
@pytest.mark.parametrize("cost", [-1, np.nan, np.inf, "1", True])
def test_costs_out_of_range(name, cost):
    with pytest.raises(ValueError, match=f"{name} must be a finite number, 0 or more, got"):
        case()[3].best_cutoff(1, **{name: cost})


@pytest.mark.parametrize("bound", [-0.1, 1.1, np.nan, "a"])
def test_bounds_out_of_range(bound):
    with pytest.raises(ValueError, match="max_fpr must be a number from 0 to 1, got"):
        case()[3].best_cutoff(1, max_fpr=bound)


def test_counted_cut_offs_are_within_the_weights_of_bins():
    """Bins and cells add weights in another order, so that sums differ in their last bits."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        log_odds = rng.normal(size=50) + 1.0
        y, weight = rng.integers(0, 2, 50), np.exp(5 * rng.normal(size=50))
        table = np.column_stack([-log_odds, log_odds])
        found = evaluation_of(np.arange(2), y, table, weight, exact=False, n_bins=64)
        rates = found.rates(found.cells.thresholds, 1)
        for bounds in (rates.fn, rates.tn, rates.npv):
            assert (bounds.lower >= 0).all()


def test_a_cut_off_within_rounding_of_a_bin_is_bounded():
    """Bins round log odds to the nearest key: rows may lie on either side of an edge."""
    for value in np.random.default_rng(1).normal(size=200):
        table = np.full((3, 2), value) * [-1, 1]
        y = np.array([0, 1, 1])
        found = evaluation_of(np.arange(2), y, table, None, exact=False, n_bins=64)
        near = value + np.spacing(value) * np.arange(-4, 5)
        tau = 1 / (1 + np.exp(-near))
        tp = found.rates(tau, 1).tp
        want = np.where(value >= logit(tau), 2, 0)
        assert ((tp.lower <= want) & (want <= tp.upper)).all()


def test_nothing_is_left_where_all_rows_are_above_a_counted_cut_off():
    rng = np.random.default_rng(2)
    y, weight = rng.integers(0, 2, 300), rng.random(300)
    log_odds = 9 + rng.random(300)
    table = np.column_stack([-log_odds, log_odds])
    found = evaluation_of(np.arange(2), y, table, weight, exact=False)
    rates = found.rates(found.cells.thresholds, 1)
    for bounds in (rates.fn, rates.tn, rates.npv, rates.mcc):
        assert (bounds.lower == 0).all()
        assert (bounds.upper == 0).all()


def test_a_cut_off_between_bins_takes_rows_that_round_up():
    log_odds = np.array([-1e-17, 0.0, 0.5, -0.5, -1.0])
    y = np.array([1, 1, 1, 0, 0])
    table = np.column_stack([-log_odds, log_odds])
    best = evaluation_of(np.arange(2), y, table, None, exact=False).best_cutoff(1, max_fpr=0)
    assert best.rates.tp.value == 3 == (y[log_odds >= best.log_odds] == 1).sum()
    assert best.rates.fp.value == 0 == (y[log_odds >= best.log_odds] == 0).sum()
