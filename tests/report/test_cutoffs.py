"""Rates at a movable cut-off: what the page shows before the script moves it, and its data."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import report_pages
from sklearn.metrics import confusion_matrix, f1_score, matthews_corrcoef

from fastgnb.report.cutoffs import CLASSES, Counts, cutoff_panel, rates_of
from fastgnb.report.wording import rate


def counts_of(labels, p, y):
    """Counts of rows with probabilities p (n, k) and codes y (n,) at 99 cut-offs."""
    thresholds = np.arange(1, 100) / 100
    taken = p.T[:, None, :] >= thresholds[:, None]
    positive = y == np.arange(len(labels))[:, None]
    tp = (taken & positive[:, None]).sum(axis=2).astype(float)
    fp = (taken & ~positive[:, None]).sum(axis=2).astype(float)
    n = positive.sum(axis=1).astype(float)
    return Counts(labels, thresholds, tp, fp, n, len(y) - n)


@pytest.fixture
def problem(rng):
    k = 3
    y = rng.choice(k, 500, p=[0.3, 0.4, 0.3])
    p = rng.dirichlet(np.ones(k), 500)
    p[np.arange(500), y] += 1
    return ["a", "<b>", "c"], p / p.sum(axis=1, keepdims=True), y


def test_rates_are_those_of_scikit_learn(problem):
    labels, p, y = problem
    counts = counts_of(labels, p, y)
    for at in (19, 37, 49, 69):
        truth, taken = y == 1, p[:, 1] >= counts.thresholds[at]
        tn, fp, fn, tp = confusion_matrix(truth, taken).ravel()
        found = rates_of(counts.tp[1, at], counts.fp[1, at], truth.sum(), (~truth).sum())
        expected = {
            "tpr": tp / (tp + fn), "fpr": fp / (fp + tn), "tnr": tn / (fp + tn),
            "fnr": fn / (tp + fn), "ppv": tp / (tp + fp), "npv": tn / (tn + fn),
            "acc": np.mean(truth == taken), "f1": f1_score(truth, taken),
            "mcc": matthews_corrcoef(truth, taken),
        }  # fmt: skip
        assert found == pytest.approx(expected, rel=1e-13, abs=1e-13)


def test_undefined_rates_are_nan():
    found = rates_of(0.0, 0.0, 0.0, 10.0)
    assert [name for name, value in found.items() if math.isnan(value)] == [
        "tpr", "fnr", "ppv", "f1", "mcc"
    ]  # fmt: skip


def test_the_panel_shows_the_class_with_the_most_rows_at_one_half(problem):
    counts = counts_of(*problem)
    root = report_pages.parsed(cutoff_panel(counts))
    shown = {each["data-cell"]: each.text for each in root.walk() if each.get("data-cell")}
    tp, fp = counts.tp[1, 49], counts.fp[1, 49]
    assert shown["tp"] == f"{tp:.0f}"
    assert shown["tn"] == f"{counts.negatives[1] - fp:.0f}"
    expected = rates_of(tp, fp, counts.positives[1], counts.negatives[1])
    assert {name: shown[name] for name in expected} == {
        name: rate(value) for name, value in expected.items()
    }
    assert root.one(id="cutoff-value").text == "0.50"
    assert root.one("input")["value"] == "49"
    assert [each.text for each in root.all("option")] == ["a", "<b>", "c"]


def test_controls_are_hidden_until_a_script_serves_them(problem):
    root = report_pages.parsed(cutoff_panel(counts_of(*problem)))
    assert "hidden" in root.one(id="cutoff-controls").attributes
    assert {label["for"] for label in root.all("label")} == {"cutoff", "cutoff-class"}


def test_data_are_exact(problem):
    counts = counts_of(*problem)
    data = json.loads(report_pages.parsed(cutoff_panel(counts)).one("script").text)
    for name in ("thresholds", "tp", "fp", "positives", "negatives"):
        np.testing.assert_array_equal(data[name], getattr(counts, name), err_msg=name)


def test_of_many_classes_those_with_the_most_rows_are_kept(rng):
    k = 1000
    y = np.concatenate([np.arange(k), np.repeat([7, 900], 5)])
    counts = counts_of([f"c{c}" for c in range(k)], np.full((len(y), k), 0.4), y)
    text = cutoff_panel(counts)
    options = [each.text for each in report_pages.parsed(text).all("option")]
    assert len(options) == CLASSES
    assert {"c7", "c900"} <= set(options)
    assert "of 1,000" in text
    assert len(text) < 200_000


def test_the_selected_option_is_the_class_that_is_shown(problem):
    root = report_pages.parsed(cutoff_panel(counts_of(*problem)))
    assert ["selected" in each.attributes for each in root.all("option")] == [False, True, False]
