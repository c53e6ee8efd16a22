"""Evaluation in memory and time that do not grow with the distinct labels of the data."""

from __future__ import annotations

import json
import math
import tracemalloc

import numpy as np
import pytest

from fastgnb.evaluation import evaluator as module
from fastgnb.evaluation.cells import logit
from fastgnb.evaluation.evaluator import Evaluator
from fastgnb.evaluation.unseen import UNSEEN


def many_unseen(n=5000):
    """Classes 0 and 1, whose rows come last, behind n labels that are met once each."""
    y = np.concatenate([np.arange(n) + 1000, [0, 1, 1]])
    codes = np.concatenate([np.arange(n) % 2, [0, 0, 1]])
    return y, codes, np.tile([0.25, 0.75], (len(y), 1))


@pytest.mark.parametrize("pieces", [1, 9])
@pytest.mark.parametrize("kind", [int, float, object])
def test_labels_beyond_the_bound_are_counted_together(pieces, kind):
    y, codes, proba = many_unseen()
    if kind is object:
        y = np.array([f"{label:05}" for label in y], object)
        classes = np.array(["00000", "00001"], object)
    else:
        y, classes = y.astype(kind), np.array([0, 1])
    evaluator = Evaluator(classes)
    for part in np.array_split(np.arange(len(y)), pieces):
        evaluator.update(y[part], codes[part], logit(proba[part]))
    found = evaluator.result()
    assert found.labels.tolist() == [*classes.tolist(), *y[:UNSEEN].tolist()]  # those met first
    assert (found.n_rows, found.n_unseen, found.n_unlisted) == (5003, 5000, 5000 - UNSEEN)
    assert found.accuracy == 2 / 5003
    assert found.predicted.tolist() == [2502, 2501] + [0] * UNSEEN
    assert found.support.tolist() == [1, 2] + [1] * UNSEEN
    assert found.hit.tolist() == [1, 1] + [0] * UNSEEN
    assert found.confusion.sum() == 3 + UNSEEN
    assert found.tpr[1] == 0.5
    assert found.fpr[1] == 2500 / 5001
    # Each unseen label has probability 0: (.25^2 + .75^2 + 1) a row, and 3 rows of known ones.
    assert found.brier == pytest.approx((5000 * 1.625 + 2 * 0.125 + 1.125) / 5003, rel=1e-14)


def test_memory_does_not_grow_with_labels():
    evaluator = Evaluator(np.array([0, 1]), exact_rows=0)
    odds, codes = np.zeros((10_000, 2)), np.zeros(10_000, np.int32)
    evaluator.update(np.arange(10_000), codes, odds)
    tracemalloc.start()
    try:
        for start in range(10_000, 200_000, 10_000):
            evaluator.update(np.arange(start, start + 10_000), codes, odds)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 50_000
    assert len(json.dumps(evaluator.result().as_dict())) < 100_000


def test_many_classes_have_no_matrix(monkeypatch):
    monkeypatch.setattr(module, "MATRIX", 3)
    classes = np.arange(4)
    evaluator = Evaluator(classes)
    evaluator.update(np.array([0, 1, 1, 3, 9]), np.array([0, 1, 2, 3, 3]), np.zeros((5, 4)))
    found = evaluator.result()
    assert found.confusion is None
    assert found.as_dict()["confusion_matrix"] is None
    assert found.accuracy == 3 / 5
    assert found.tpr.tolist() == [1, 0.5, 0, 1, 0]
    assert found.ppv.tolist() == [1, 1, 0, 0.5, 0]


def test_scores_of_many_batches_are_those_of_an_exact_sum(rng):
    """Their sum is that of `math.fsum`, in memory that does not grow with the batches."""
    evaluator = Evaluator(np.array([0, 1]), exact_rows=0)
    odds = logit(rng.random(3000) ** 9)[:, None] * [1.0, -1.0]
    losses, squares = [], []
    for row in odds:
        evaluator.update(np.array([0]), np.array([0]), row[None])
        losses.append(min(math.log1p(math.exp(-row[0])), -math.log(np.finfo(float).eps)))
        squares.append(2 * (1 / (1 + math.exp(row[0]))) ** 2)
    found = evaluator.result()
    assert found.log_loss == pytest.approx(math.fsum(losses) / 3000, rel=1e-14)
    assert found.brier == pytest.approx(0.5 * math.fsum(squares) / 3000, rel=1e-14)


@pytest.mark.parametrize("y", [np.array([2.0**53]), np.array([2**53], np.uint64)])
def test_large_labels_of_other_types_are_not_rounded(y):
    evaluator = Evaluator(np.array([2**53 - 1, 2**53 + 1]))
    evaluator.update(y, np.array([1]), np.array([[-np.inf, np.inf]]))
    assert evaluator.n_known == 0
    assert evaluator.unseen == [2**53]
