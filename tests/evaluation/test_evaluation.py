"""Streaming scores against scikit-learn's on the same rows."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest
from sklearn import metrics

from fastgnb.evaluation.cells import logit
from fastgnb.evaluation.evaluator import Evaluator

LABELS = {
    "int": np.array([-3, 0, 7, 9]),
    "float": np.array([0.0, 1.0, 2.0, 4.0]),
    "str": np.array(["", "b", "c d", "é"], dtype=object),
    "unicode": np.array(["a", "b", "c", "d"]),
    "bool": np.array([False, True]),
    "two": np.array([1, 2]),
}


def problem(classes, n=500, seed=0):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.full(len(classes), 0.3), size=n)
    true = np.where(rng.random(n) < 0.6, proba.argmax(axis=1), rng.integers(len(classes), size=n))
    return classes[true], proba.argmax(axis=1).astype(np.int32), proba


def evaluate(classes, y, codes, proba, pieces=1):
    evaluator = Evaluator(classes)
    for part in np.array_split(np.arange(len(y)), pieces):
        evaluator.update(y[part], codes[part], logit(proba[part]))
    return evaluator.result()


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("pieces", [1, 7])
def test_equal_to_scikit_learn(kind, pieces):
    classes = LABELS[kind]
    y, codes, proba = problem(classes)
    found = evaluate(classes, y, codes, proba, pieces)
    expect_sklearn(found, y, classes[codes], proba, classes)


def brier_score(y, proba, labels):
    """scikit-learn's where it has one for several labels (1.7 and later), else by definition."""
    if "labels" in inspect.signature(metrics.brier_score_loss).parameters:
        return metrics.brier_score_loss(y, proba, labels=labels)
    true = y[:, None] == np.array(labels, dtype=y.dtype)
    return np.square(proba - true).sum(axis=1).mean() * (0.5 if len(labels) < 3 else 1)


def expect_sklearn(found, y, predicted, proba, labels):
    close = {"rel": 1e-13, "abs": 1e-15}
    listed = list(labels)
    assert found.n_rows == len(y)
    assert found.labels.tolist() == listed
    assert found.accuracy == metrics.accuracy_score(y, predicted)
    confusion = metrics.confusion_matrix(y, predicted, labels=listed)
    assert found.confusion.tolist() == confusion.tolist()
    assert found.log_loss == pytest.approx(metrics.log_loss(y, proba, labels=listed), **close)
    assert found.brier == pytest.approx(brier_score(y, proba, listed), **close)
    ppv, tpr, f1, support = metrics.precision_recall_fscore_support(
        y, predicted, labels=listed, zero_division=0
    )
    assert found.support.tolist() == support.tolist()
    assert found.tpr == pytest.approx(tpr, **close)
    assert found.ppv == pytest.approx(ppv, **close)
    assert found.f1 == pytest.approx(f1, **close)
    each = metrics.multilabel_confusion_matrix(y, predicted, labels=listed)
    for (tn, fp), (fn, _), fpr, npv in zip(
        *each.transpose(1, 0, 2), found.fpr, found.npv, strict=True
    ):
        assert fpr == (fp / (fp + tn) if fp + tn else 0)
        assert npv == (tn / (tn + fn) if tn + fn else 0)


def test_labels_the_model_never_saw_are_wrong_with_probability_zero():
    classes = np.array([2, 5, 8])
    y, codes, proba = problem(classes, seed=1)
    y = y.copy()
    y[::10] = 6
    y[5::50] = -1
    labels = np.array([-1, 2, 5, 6, 8])
    widened = np.zeros((len(y), 5))
    widened[:, [1, 2, 4]] = proba
    found = evaluate(classes, y, codes, proba, pieces=3)
    expect_sklearn(found, y, classes[codes], widened, labels)


def test_unseen_text_labels_sort_among_the_others():
    classes = np.array(["b", "d"], dtype=object)
    y = np.array(["a", "b", "c", "d", "e"], dtype=object)
    found = evaluate(classes, y, np.array([0, 0, 1, 1, 1]), np.full((5, 2), 0.5))
    assert found.labels.tolist() == ["a", "b", "c", "d", "e"]
    assert found.accuracy == 2 / 5
    assert found.confusion[0].tolist() == [0, 1, 0, 0, 0]
    assert found.confusion[4].tolist() == [0, 0, 0, 1, 0]


def test_an_unseen_float_among_integer_classes():
    found = evaluate(np.array([1, 2]), np.array([1.0, 1.5]), np.array([0, 0]), np.full((2, 2), 0.5))
    assert found.labels.tolist() == [1.0, 1.5, 2.0]
    assert found.accuracy == 0.5


def test_a_class_never_met_and_never_predicted_has_rates_of_zero():
    classes = np.array([0, 1, 2])
    y = np.array([0, 0, 1])
    codes = np.array([0, 0, 0])
    proba = np.tile([0.6, 0.3, 0.1], (3, 1))
    found = evaluate(classes, y, codes, proba)
    expect_sklearn(found, y, codes, proba, classes)
    assert found.tpr[2] == found.ppv[2] == found.f1[2] == 0.0
    assert found.fpr[2] == 0.0
    assert found.npv[2] == 1.0


def test_certain_and_wrong_is_clipped_as_by_scikit_learn():
    y, codes = np.array([0, 1]), np.array([1, 1])
    proba = np.array([[0.0, 1.0], [0.0, 1.0]])
    found = evaluate(np.array([0, 1]), y, codes, proba)
    assert found.log_loss == pytest.approx(metrics.log_loss(y, proba), rel=1e-13)


def test_a_tiny_brier_score_does_not_cancel():
    odds = logit(np.array([[1e-9, 1e-9]] * 4)) * [-1.0, 1.0]
    evaluator = Evaluator(np.array([0, 1]))
    evaluator.update(np.zeros(4, int), np.zeros(4, int), odds)
    assert evaluator.result().brier == pytest.approx(1e-18, rel=1e-12)


def test_many_classes_are_read_in_chunks(monkeypatch):
    monkeypatch.setattr("fastgnb.evaluation.evaluator._LEAST_ROWS", 7)
    monkeypatch.setattr("fastgnb.evaluation.evaluator._CHUNK", 100)
    classes = np.arange(30)
    y, codes, proba = problem(classes, n=200)
    found = evaluate(classes, y, codes, proba, pieces=2)
    expect_sklearn(found, y, classes[codes], proba, classes)


def test_pieces_make_no_difference_to_counts_and_hardly_any_to_sums():
    classes = LABELS["str"]
    y, codes, proba = problem(classes)
    whole = evaluate(classes, y, codes, proba)
    parts = evaluate(classes, y, codes, proba, pieces=len(y))
    assert (whole.confusion == parts.confusion).all()
    assert whole.log_loss == pytest.approx(parts.log_loss, rel=1e-14)
    assert whole.brier == pytest.approx(parts.brier, rel=1e-14)


def test_empty_batches_add_nothing():
    classes = LABELS["int"]
    y, codes, proba = problem(classes)
    evaluator = Evaluator(classes)
    evaluator.update(y[:0], codes[:0], logit(proba[:0]))
    evaluator.update(y, codes, logit(proba))
    assert evaluator.result().n_rows == len(y)


def test_no_rows():
    with pytest.raises(ValueError, match="no rows to evaluate, expected at least one"):
        Evaluator(np.array([0, 1])).result()


@pytest.mark.parametrize("kind", LABELS)
def test_as_dict_survives_json(kind):
    classes = LABELS[kind]
    found = evaluate(classes, *problem(classes))
    read = json.loads(json.dumps(found.as_dict()))
    assert read["accuracy"] == found.accuracy
    assert read["labels"] == classes.tolist()
    assert read["confusion_matrix"] == found.confusion.tolist()
    assert [row["f1"] for row in read["per_class"]] == found.f1.tolist()
    assert [row["label"] for row in read["per_class"]] == classes.tolist()
