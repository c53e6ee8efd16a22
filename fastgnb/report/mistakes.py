"""Which classes are taken for which, how each label does, and rates at a movable cut-off."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..evaluation.evaluation import Evaluation
from .charts import card
from .cutoffs import Counts, cutoff_panel
from .markup import Markup, escape, tag
from .tables import Table, render
from .wording import short, unit_of

__all__ = ["counts_of", "cutoff_section", "label_card", "pair_card"]

LABELS = 200
"""Most labels of a table."""

PAIRS = 50
"""Most pairs of classes in the list of mistakes."""


def label_card(evaluation: Evaluation) -> Markup:
    """A table of the rates of each label."""
    labels = evaluation.labels.tolist()
    heaviest = np.sort(np.argsort(-evaluation.support, kind="stable")[:LABELS]).tolist()
    head = ["Label", unit_of(evaluation), "Predicted", "Recall", "FPR", "Precision", "F1"]
    has_curves = evaluation.curves is not None and len(labels) > 1
    rows: list[list[Any]] = []
    for i in heaviest:
        rates = (evaluation.tpr, evaluation.fpr, evaluation.ppv, evaluation.f1)
        row = [short(labels[i]), evaluation.support[i], evaluation.predicted[i]]
        row += [rate[i] for rate in rates]
        if has_curves:
            row += [evaluation.auc(labels[i]).value, evaluation.average_precision(labels[i]).value]
        rows.append(row)
    if has_curves:
        head += ["AUC", "Average precision"]
    n = len(labels)
    most = f"the most {unit_of(evaluation).lower()}"
    note = "" if n <= LABELS else f"The {LABELS} labels with {most}, of {n:,}"
    table = Table("Each label against the rest", head, rows, note, n > 10)
    return card(render(table, "labels"), is_wide=True)


def pair_card(evaluation: Evaluation, *, is_wide: bool) -> Markup:
    """A table of the most frequent mistakes."""
    if evaluation.confusion is None:
        reason = f"Mistakes were not counted pair by pair for {len(evaluation.labels):,} labels."
        return card(tag("p", reason, class_="hint"), is_wide=is_wide)
    wrong = np.array(evaluation.confusion, np.float64)
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:PAIRS]
    labels, n_pairs = evaluation.labels.tolist(), int(np.count_nonzero(wrong))
    rows: list[list[Any]] = []
    for true, predicted in zip(*np.unravel_index(order, wrong.shape), strict=True):
        count = wrong[true, predicted]
        if count:
            share = count / evaluation.support[true]
            rows.append([short(labels[true]), short(labels[predicted]), float(count), float(share)])
    if not rows:
        text = "Every row is predicted correctly."
        return card(tag("p", text, class_="hint"), is_wide=is_wide)
    note = "" if n_pairs <= PAIRS else f"{PAIRS} of {n_pairs:,} kinds that occur"
    unit = unit_of(evaluation)
    head = ("Label", "Predicted as", unit, "Share")
    caption = f"Most frequent mistakes, with their shares of the label's {unit.lower()}"
    table = Table(caption, head, rows, note, len(rows) > 10)
    return card(render(table, "mistakes-table"), is_wide=is_wide)


def brier_card(evaluation: Evaluation, *, is_wide: bool) -> Markup:
    """The Brier score in parts."""
    parts = evaluation.brier_parts()
    texts = {
        "Calibration": (parts.calibration, "what recalibration would remove"),
        "Refinement": (parts.refinement, "what recalibration cannot remove"),
        "Within bins": (parts.within_bin, "the rest, from the width of the bins"),
        "Brier score": (parts.brier, "their sum; 0 is best"),
        "Uncertainty": (parts.uncertainty, "the score of always predicting the labels' shares"),
    }
    rows = [[name, value, escape(text)] for name, (value, text) in texts.items()]
    table = Table("Mean squared error of the probabilities", ("Part", "Value", "What it is"), rows)
    title = tag("h3", "Brier score in parts")
    return card(title, render(table, "brier", is_sortable=False), is_wide=is_wide)


def counts_of(evaluation: Evaluation) -> Counts | None:
    """Exact counts at each cut-off, or None where they were not counted."""
    cells, curves = evaluation.cells, evaluation.curves
    if cells is None or curves is None:
        return None
    positives, negatives = cells.positives[:-1], cells.negatives[:-1]
    tp, fp = (np.cumsum(each[:, :0:-1], axis=1)[:, ::-1] for each in (positives, negatives))
    return Counts(
        curves.classes.tolist(), cells.thresholds, tp, fp, positives.sum(axis=1),
        negatives.sum(axis=1), unit_of(evaluation),
    )  # fmt: skip


def cutoff_section(evaluation: Evaluation) -> Markup:
    """The slider with its rates, or why there is none."""
    counts = counts_of(evaluation)
    if counts is None:
        return tag("p", "Rows were not counted by their probability.", class_="hint")
    return cutoff_panel(counts)
