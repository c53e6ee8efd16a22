"""An `Evaluator` in pieces, merged, exact and by histograms, against evaluations by plain NumPy."""

from __future__ import annotations

import gc
import itertools
import tracemalloc

import numpy as np
import pytest
from evaluations import evaluation_of, random_rows
from sklearn import metrics
from sklearn.datasets import make_classification

from fastgnb import GaussianNB
from fastgnb.evaluation import evaluator as module
from fastgnb.evaluation import histograms
from fastgnb.evaluation.evaluator import Evaluator
from fastgnb.evaluation.histograms import bins_of_no_rows


def evaluator_of(classes, y, odds, weight=None, *, pieces=1, **options):
    evaluator = Evaluator(classes, **options)
    for at in np.array_split(np.arange(len(y)), pieces):
        w = None if weight is None else weight[at]
        evaluator.update(y[at], odds[at].argmax(axis=1), odds[at], w)
    return evaluator


def expect_same(found, want, rel=1e-13):
    """Counts are the same, and sums agree."""
    close = {"rtol": rel, "atol": 1e-300}
    assert found.labels.tolist() == want.labels.tolist()
    assert (found.n_rows, found.n_unseen) == (want.n_rows, want.n_unseen)
    for name in ("confusion", "hit", "support", "predicted", "rank_weight"):
        np.testing.assert_allclose(getattr(found, name), getattr(want, name), **close)
    assert found.log_loss == pytest.approx(want.log_loss, rel=rel)
    assert found.brier == pytest.approx(want.brier, rel=rel)
    for name, a, b in zip(found.cells._fields, found.cells, want.cells, strict=True):
        np.testing.assert_allclose(a, b, err_msg=name, **close)
    k = len(found.curves.classes)
    assert found.curves.is_exact == want.curves.is_exact
    for c, against in itertools.product(range(k), (None, 0, k - 1)):
        a, b = found.curves.cumulative(c, against), want.curves.cumulative(c, against)
        assert np.array_equal(a.log_odds, b.log_odds)
        assert np.array_equal(a.upper, b.upper)
        np.testing.assert_allclose(a.tp, b.tp, rtol=1e-13, atol=1e-12)
        np.testing.assert_allclose(a.fp, b.fp, rtol=1e-13, atol=1e-12)


def known_rows(weighted, **options):
    y, odds, weight = random_rows(weighted=weighted, **options)
    if weighted:
        kept = weight > 0
        y, odds, weight = y[kept], odds[kept], weight[kept]
    return y, odds, weight


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("k", [2, 4])
def test_it_is_the_evaluation_of_plain_numpy(weighted, exact, k):
    y, odds, weight = known_rows(weighted, k=k, n=900)
    y = np.where(np.arange(len(y)) % 11 == 3, 77, y)  # a label that the model does not know
    rows = np.arange(k), y, odds, weight
    want = evaluation_of(*rows, thresholds=[0.123], exact=exact, n_bins=1 << 17)
    options = {"thresholds": [0.123], "exact_rows": 10**7 if exact else 0}
    for pieces in (1, 7):
        expect_same(evaluator_of(*rows, pieces=pieces, **options).result(), want)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("exact_rows", [0, 10**7, 500])
def test_eight_pieces_merged_are_one_pass(weighted, exact_rows):
    """In any order and tree of merges, also where the rows that are kept become too many."""
    y, odds, weight = known_rows(weighted, k=3, n=1000, scale=30.0)
    odds[5] = [np.inf, -np.inf, -np.inf]
    y[::13] = 99
    want = evaluator_of(np.arange(3), y, odds, weight, exact_rows=exact_rows).result()
    parts = [
        evaluator_of(
            np.arange(3), y[at], odds[at], None if weight is None else weight[at],
            exact_rows=exact_rows,
        )
        for at in np.array_split(np.arange(len(y)), 8)
    ]  # fmt: skip
    a, b, c, d, e, f, g, h = parts
    merged = ((a + b) + (c + d)) + ((e + f) + (g + h))
    other = h + (g + (f + (e + (d + (c + (b + a))))))
    assert merged.n_rows == len(y)
    assert merged.n_known == int((y != 99).sum())
    expect_same(merged.result(), want)
    expect_same(other.result(), want)


def test_a_merge_leaves_its_parts_as_they_were():
    y, odds, _ = known_rows(False, k=3)
    for exact_rows in (0, 10**7):
        a, b = (evaluator_of(np.arange(3), y, odds, exact_rows=exact_rows) for _ in range(2))
        merged = a + b
        merged.update(y, odds.argmax(axis=1), odds)
        expect_same(a.result(), b.result())
        assert merged.result().n_rows == 3 * a.result().n_rows


def test_a_result_is_not_changed_by_more_rows():
    y, odds, _ = known_rows(False, k=3)
    for exact_rows in (0, 10**7):
        evaluator = evaluator_of(np.arange(3), y, odds, exact_rows=exact_rows)
        before, want = evaluator.result(), evaluator.result()
        evaluator.update(y, odds.argmax(axis=1), odds * 3)
        expect_same(before, want)


def test_kept_rows_become_histograms_when_there_are_too_many():
    y, odds, weight = known_rows(True, k=3, n=600)
    rows = np.arange(3), y, odds, weight
    want = evaluation_of(*rows, exact=False, n_bins=1 << 17)
    expect_same(evaluator_of(*rows, pieces=9, exact_rows=len(y) - 1).result(), want)
    assert evaluator_of(*rows, pieces=9, exact_rows=len(y)).result().curves.is_exact


def test_rows_without_weights_weigh_one_beside_others():
    y, odds, weight = known_rows(True, k=3)
    half = len(y) // 2
    weight[half:] = 1.0
    for exact_rows in (0, 10**7):
        evaluator = evaluator_of(np.arange(3), y[:half], odds[:half], weight[:half],
                                 exact_rows=exact_rows)  # fmt: skip
        evaluator.update(y[half:], odds[half:].argmax(axis=1), odds[half:])
        want = evaluator_of(np.arange(3), y, odds, weight, exact_rows=exact_rows).result()
        expect_same(evaluator.result(), want)


def test_rows_of_weight_zero_are_not_there():
    y, odds, weight = random_rows(weighted=True)
    odds[weight == 0] = 1e6  # they widen no bin either
    kept = weight > 0
    for exact_rows in (0, 10**7):
        found = evaluator_of(np.arange(4), y, odds, weight, exact_rows=exact_rows).result()
        want = evaluator_of(np.arange(4), y[kept], odds[kept], weight[kept],
                            exact_rows=exact_rows).result()  # fmt: skip
        expect_same(found, want)
        assert found.n_rows == kept.sum()


def test_whole_weights_are_rows_that_are_repeated():
    y, odds, _ = random_rows(weighted=False)
    times = np.arange(len(y)) % 4
    at = np.repeat(np.arange(len(y)), times)
    for exact_rows in (0, 10**7):
        found = evaluator_of(np.arange(4), y, odds, times.astype(float), exact_rows=exact_rows)
        want = evaluator_of(np.arange(4), y[at], odds[at], exact_rows=exact_rows)
        a, b = found.result(), want.result()
        assert a.confusion.tolist() == b.confusion.tolist()
        assert a.log_loss == pytest.approx(b.log_loss, rel=1e-14)
        np.testing.assert_allclose(a.cells.square, b.cells.square, rtol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_of_histograms_contain_the_exact_area(weighted):
    y, odds, weight = known_rows(weighted, k=4, n=3000)
    found = evaluator_of(np.arange(4), y, odds, weight, exact_rows=0).result()
    for c in range(4):
        exact = metrics.roc_auc_score(y == c, odds[:, c], sample_weight=weight)
        bounds = found.auc(c)
        assert bounds.lower - 1e-14 <= exact <= bounds.upper + 1e-14
        assert bounds.width < 1e-3


@pytest.mark.parametrize("k", [2, 3, 16, 17, 200])
def test_bins_have_a_bound(k):
    bins = bins_of_no_rows(k)
    groups = bins.weights.shape[1]
    assert groups == (k + 1 if k <= 16 else 2)
    assert bins.weights[:, : min(groups, k)].size <= histograms.MOST_WEIGHTS
    assert bins.weights.shape[2] >= 1 << 13


def test_many_classes_have_bins_against_the_rest_only():
    y, odds, weight = known_rows(True, k=20, n=2000)
    found = evaluator_of(np.arange(20), y, odds, weight, exact_rows=0).result()
    assert not found.curves.has_pairs
    exact = metrics.roc_auc_score(y == 7, odds[:, 7], sample_weight=weight)
    assert found.auc(7).lower <= exact <= found.auc(7).upper
    half = len(y) // 2
    parts = [
        evaluator_of(np.arange(20), y[at], odds[at], weight[at], exact_rows=0)
        for at in (slice(half), slice(half, None))
    ]
    assert (parts[0] + parts[1]).result().auc(7) == pytest.approx(found.auc(7), rel=1e-13)


def test_memory_does_not_grow_with_rows():
    y, odds, weight = known_rows(True, k=3, n=20_000)
    evaluator = evaluator_of(np.arange(3), y, odds, weight, exact_rows=30_000)
    kept = []
    tracemalloc.start()
    try:
        for _ in range(3):
            for _ in range(10):
                evaluator.update(y, odds.argmax(axis=1), odds, weight)
            gc.collect()
            kept.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert kept[2] - kept[1] < 400_000  # log odds of ten updates take 4 MB


def test_log_odds_that_are_kept_have_a_bound(monkeypatch):
    monkeypatch.setattr(module, "MOST_NUMBERS", 1000)
    y, odds, _ = known_rows(False, k=4, n=300)
    assert evaluator_of(np.arange(4), y[:250], odds[:250]).result().curves.is_exact
    assert not evaluator_of(np.arange(4), y, odds).result().curves.is_exact


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "uint64", "bool", "float64"])
@pytest.mark.parametrize("end", ["low", "high"])
def test_labels_at_the_ends_of_their_type_are_encoded(kind, end):
    info = np.iinfo(kind) if kind[0] in "iu" else np.iinfo(np.int8) if kind[0] == "f" else None
    first = 0 if info is None else info.min if end == "low" else info.max - 1
    classes = np.array([first, first + 1], kind)
    for y in (classes[[1, 0, 1]], classes[:1]):
        evaluator = Evaluator(classes)
        evaluator.update(y, np.zeros(len(y), int), np.zeros((len(y), 2)))
        found = evaluator.result()
        assert found.support.tolist() == [(y == label).sum() for label in classes]
        assert found.n_unseen == 0


def test_what_does_not_fit_together_is_an_error():
    a = Evaluator(np.array([0, 1]))
    with pytest.raises(ValueError, match=r"Expected an evaluator of the classes \[0 1\], got"):
        a + Evaluator(np.array([0, 2]))
    with pytest.raises(ValueError, match="Expected an evaluator of the classes"):
        a + Evaluator(np.array([False, True]))
    with pytest.raises(ValueError, match=r"with the thresholds \(\), got \(0.123,\)"):
        a + Evaluator(np.array([0, 1]), thresholds=[0.123])
    with pytest.raises(TypeError):
        a + 1
    with pytest.raises(ValueError, match=r"thresholds must be above 0 and below 1, got 1\.5"):
        Evaluator(np.array([0, 1]), thresholds=[1.5])
    with pytest.raises(ValueError, match="Expected 2 rows of 2 classes, got shapes"):
        a.update(np.array([0, 1]), np.array([0, 1]), np.zeros((2, 3)))
    assert a.n_rows == 0


def test_unseen_labels_merge_up_to_their_bound():
    parts = []
    for start in (0, 60, 120):
        part = Evaluator(np.array(["a"]))
        y = np.array([f"l{i:03}" for i in range(start, start + 60)] + ["a"])
        part.update(y, np.zeros(61, int), np.full((61, 1), np.inf))
        parts.append(part)
    found = (parts[0] + parts[1] + parts[2]).result()
    assert (found.n_rows, found.n_unseen, found.n_unlisted) == (183, 180, 80)
    assert found.support.tolist() == [3, *[1] * 100]
    assert found.labels.tolist() == ["a", *[f"l{i:03}" for i in range(100)]]


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 5])
def test_a_million_weighted_rows(k):
    """Areas lie within intervals of at most 1e-4, also from 8 pieces that are merged."""
    X, y = make_classification(
        1_000_000, 20, n_informative=8, n_classes=k, weights=None, random_state=0
    )
    weight = np.random.default_rng(0).exponential(size=len(y))
    model = GaussianNB().fit(X[:100_000], y[:100_000]).to_model()
    scores = model.score(X, table="log_odds")
    parts = []
    for at in np.array_split(np.arange(len(y)), 8):
        part = Evaluator(model.classes, exact_rows=0)
        part.update(y[at], scores.codes[at], scores.table[at], weight[at])
        parts.append(part)
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    found = merged.result()
    whole = Evaluator(model.classes, exact_rows=0)
    whole.update(y, scores.codes, scores.table, weight)
    expect_same(found, whole.result())
    proba = model.score(X, table="proba").table
    assert found.log_loss == pytest.approx(
        metrics.log_loss(y, proba, sample_weight=weight), rel=1e-11
    )
    for c in range(k):
        exact = metrics.roc_auc_score(y == c, scores.table[:, c], sample_weight=weight)
        bounds = found.auc(c)
        assert bounds.lower <= exact <= bounds.upper
        assert bounds.width <= 1e-4
