"""Evaluations by plain NumPy from log odds of rows, for tests of what is computed from them."""

from __future__ import annotations

import numpy as np

from fastgnb.evaluation.cells import Cells, all_thresholds, logit
from fastgnb.evaluation.curves import ExactCurves, HistogramCurves, key_of
from fastgnb.evaluation.evaluation import Evaluation


def log_odds_of_scores(scores):
    """Log odds (n, k) of joint scores (n, k): s_c - logsumexp of the others."""
    out = np.empty(scores.shape)
    for c in range(scores.shape[1]):
        others = np.delete(scores, c, axis=1)
        out[:, c] = scores[:, c] - np.logaddexp.reduce(others, axis=1, initial=-np.inf)
    return out


def sigmoid(log_odds):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-np.asarray(log_odds, float)))


def cells_of(log_odds, codes, predicted, weight, thresholds=None):
    """Sums over the rows of each cell, a cell at a time."""
    thresholds = all_thresholds(thresholds)
    n, k = log_odds.shape
    columns = np.column_stack([log_odds, log_odds[np.arange(n), predicted]])
    true = np.column_stack([codes[:, None] == np.arange(k), codes == predicted])
    number = np.searchsorted(logit(thresholds), columns, side="right")
    error = sigmoid(np.where(true, -columns, columns))
    sums = np.zeros((5, k + 1, len(thresholds) + 1))
    for c in range(k + 1):
        for i in range(len(thresholds) + 1):
            inside = number[:, c] == i
            for side in (0, 1):
                rows = inside & (true[:, c] == (side == 0))
                sums[side, c, i] = weight[rows].sum()
                sums[2 + side, c, i] = (weight * error[:, c])[rows].sum()
            sums[4, c, i] = (weight * error[:, c] ** 2)[inside].sum()
    return Cells(thresholds, *sums)


def histograms_of(classes, log_odds, codes, weight, n_bins=1 << 16):
    """Weights in bins of each class, of the smallest width that gives so many bins or fewer."""
    k = len(classes)
    keys = key_of(log_odds)
    shift = np.zeros(k, np.int64)
    for c in range(k):
        while (keys[:, c].max() >> shift[c]) - (keys[:, c].min() >> shift[c]) >= n_bins:
            shift[c] += 1
    number = keys >> shift
    first = number.min(axis=0)
    counts = np.zeros((k, k + 1, n_bins))
    for c in range(k):
        np.add.at(counts[c], (codes % (k + 1), number[:, c] - first[c]), weight)
    return HistogramCurves(classes, counts, first, shift)


def evaluation_of(
    classes, y, log_odds, weight=None, *, thresholds=None, exact=True, n_bins=1 << 16
):
    """The `Evaluation` of rows whose labels y may be unknown to the model."""
    classes, y = np.asarray(classes), np.asarray(y)
    labels = np.union1d(classes, y)
    n, k = log_odds.shape
    w = np.ones(n) if weight is None else np.asarray(weight, float)
    codes = np.array(
        [{v: i for i, v in enumerate(classes.tolist())}.get(v, -1) for v in y.tolist()]
    )
    predicted = log_odds.argmax(axis=1)
    true = np.searchsorted(labels, y)
    confusion = np.zeros((len(labels), len(labels)))
    np.add.at(confusion, (true, np.searchsorted(labels, classes)[predicted]), w)
    own = np.where(codes >= 0, log_odds[np.arange(n), codes], -np.inf)
    place = (log_odds > own[:, None]).sum(axis=1)
    place += ((log_odds == own[:, None]) & (np.arange(k) < codes[:, None])).sum(axis=1)
    known = codes >= 0
    eps = np.finfo(float).eps
    p = sigmoid(own).clip(eps, 1 - eps)
    error = sigmoid(np.where(codes[:, None] == np.arange(k), -log_odds, log_odds))
    half = 0.5 if len(labels) < 3 else 1.0
    histograms = None if exact else histograms_of(classes, log_odds, codes, w, n_bins)
    return Evaluation(
        labels,
        confusion if weight is not None else confusion.astype(np.int64),
        np.diag(confusion).copy(), confusion.sum(axis=1), confusion.sum(axis=0),
        log_loss=float(-(w * np.log(p)).sum() / w.sum()),
        brier=half * float(((w[:, None] * error**2).sum() + w[~known].sum()) / w.sum()),
        n_unseen=int((~known).sum()),
        total_rows=None if weight is None else n,
        total_weight=None if weight is None else float(w.sum()),
        curves=histograms or ExactCurves(classes, log_odds, codes, weight),
        cells=cells_of(log_odds, codes, predicted, w, thresholds),
        rank_weight=np.bincount(place[known], w[known], minlength=k),
        thresholds=() if thresholds is None else tuple(thresholds),
    )  # fmt: skip


def random_rows(n=400, k=4, seed=0, weighted=True, scale=2.0, decimals=None):
    """Labels 0 to k - 1, log odds that favour them, and weights with zeros."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    scores = rng.normal(scale=scale, size=(n, k))
    scores[np.arange(n), y] += 1.5
    log_odds = log_odds_of_scores(scores if decimals is None else np.round(scores, decimals))
    if decimals is not None:
        log_odds = np.round(log_odds, decimals)
    weight = np.where(rng.random(n) < 0.1, 0.0, rng.random(n) + 0.1) if weighted else None
    return y, log_odds, weight
