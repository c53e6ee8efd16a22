"""Evaluations and models as text for a terminal, of bounded size; JSON has everything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..files.jobs.findings import finding_texts
from ..files.models.saved import SavedModel
from ..files.phrases import cell
from ..model.evaluation import Evaluation

__all__ = [
    "align",
    "evaluation_text",
    "model_dict",
    "model_text",
]

MATRIX = 20
"""Most labels for which a confusion matrix is printed."""

ROWS = 50
"""Most rows of a table."""

CLASSES = 6
"""Most classes side by side in the table of means."""


def align(table: Iterable[Sequence[str]]) -> str:
    """Columns of text, the first to the left and the others to the right."""
    lines = list(table)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _more(total: int, shown: int, what: str) -> list[str]:
    return [f"... and {total - shown} more {what}; --json has all"] if total > shown else []


# ------------------------------------------------------------------ evaluations


def evaluation_text(found: Evaluation) -> str:
    """Scores, confusion matrix and rates of each label."""
    scores = [
        ("rows", str(found.n_rows)),
        ("accuracy", f"{found.accuracy:.6f}"),
        ("log loss", f"{found.log_loss:.6g}"),
        ("Brier score", f"{found.brier:.6g}"),
    ]
    if found.n_unseen:
        scores.append(("rows of unseen labels", str(found.n_unseen)))
    if found.n_unlisted:
        scores.append(("of these not listed", str(found.n_unlisted)))
    return "\n\n".join([align(scores), _confusion(found), _rates(found)])


def _confusion(found: Evaluation) -> str:
    k = len(found.labels)
    if found.confusion is None:
        return f"confusion matrix: {k} x {k}, not counted for so many classes"
    if k > MATRIX:
        return f"confusion matrix: {k} x {k}, see --json"
    labels = [cell(label) for label in found.labels.tolist()]
    rows = [
        [label, *map(str, counts)]
        for label, counts in zip(labels, found.confusion.tolist(), strict=True)
    ]
    return "confusion matrix (rows true, columns predicted)\n" + align([["", *labels], *rows])


def _rates(found: Evaluation) -> str:
    rates = [found.tpr, found.fpr, found.ppv, found.npv, found.f1]
    rows = [["class", "rows", "TPR", "FPR", "PPV", "NPV", "F1"]]
    for i, label in enumerate(found.labels.tolist()[:ROWS]):
        rows.append([cell(label), str(found.support[i]), *(f"{rate[i]:.4f}" for rate in rates)])
    return "\n".join([align(rows), *_more(len(found.labels), ROWS, "classes")])


# ------------------------------------------------------------------ models


def model_text(saved: SavedModel) -> str:
    """Classes, parameters, versions, and means with standard deviations."""
    k, d = len(saved.classes), f"{saved.n_features}"
    if saved.categorical is not None:
        d += f", {len(saved.categorical)} of them categorical"
    versions = ", ".join(f"{name} {v}" for name, v in (saved.versions or {}).items())
    facts = [
        ("model", "Gaussian naive Bayes" if saved.model == "GaussianNB" else saved.model),
        ("classes", str(k)),
        ("features", d if saved.feature_names is not None else f"{d}, without names"),
        ("total weight", f"{saved.stats.count.sum():.12g}"),
        ("var_smoothing", f"{saved.var_smoothing:g}"),
        ("epsilon", f"{saved.epsilon:.6g}"),
        ("missing", saved.missing),
        ("target", saved.target or "not from a table"),
        *([("files learned", f"{len(saved.learned)}")] if saved.learned else []),
        ("priors", "from the data" if saved.priors is None else "given"),
        *((name, f"{value}") for name, value in saved.options.items() if _is_chosen(saved, name)),
        ("written by", versions),
    ]
    # Texts, not numbers: all to the left.
    width = max(13, *(len(name) for name, _ in facts))
    listed = "\n".join(f"{name:<{width}}  {value}" for name, value in facts)
    tables = [listed, _classes(saved)]
    if saved.theta.shape[1]:
        tables.append(_features(saved))
    if saved.categorical:
        tables.append(_categories(saved))
    tables += [f"note: {text}" for text in finding_texts(saved)]
    return "\n\n".join(tables)


def _is_chosen(saved: SavedModel, name: str) -> bool:
    """Whether an option is worth a line: GaussianNB's usual ones are not."""
    return saved.model != "GaussianNB" or saved.options[name] not in ("diag", False, 0)


def _classes(saved: SavedModel) -> str:
    rows = [["class", "weight", "prior"]]
    for label, count, prior in zip(
        saved.classes.tolist()[:ROWS], saved.stats.count, saved.class_prior, strict=False
    ):
        rows.append([cell(label), f"{count:.12g}", f"{prior:.6g}"])
    return "\n".join([align(rows), *_more(len(saved.classes), ROWS, "classes")])


def _features(saved: SavedModel) -> str:
    k, d = saved.theta.shape
    names = saved.feature_names or tuple(map(str, range(d)))
    if saved.categorical is not None:
        names = _names(saved, False)
    if saved.model == "PCAGaussianNB":
        names = tuple(f"axis {j + 1}" for j in range(d))
    spread = np.sqrt(saved.var)
    rows = [["mean (sd)", *(cell(label) for label in saved.classes.tolist()[:CLASSES])]]
    for j in range(min(d, ROWS)):
        pairs = zip(saved.theta[:CLASSES, j], spread[:CLASSES, j], strict=True)
        rows.append([cell(names[j]), *(f"{mean:.4g} ({sd:.3g})" for mean, sd in pairs)])
    return "\n".join(
        [align(rows), *_more(d, ROWS, "features"), *_more(k, CLASSES, "classes of the table")]
    )


def _names(saved: SavedModel, categorical: bool) -> tuple[str, ...]:
    """Names, or positions, of the features of one kind."""
    mask = saved.stats.is_categorical.tolist()
    names = saved.feature_names or tuple(map(str, range(len(mask))))
    return tuple(name for name, marked in zip(names, mask, strict=True) if marked == categorical)


def _categories(saved: SavedModel) -> str:
    """How many categories each feature has, and those of most weight with their shares."""
    rows = [["categories", "number", "most frequent"]]
    names, stats = _names(saved, True), saved.stats
    for name, labels, counts in zip(names[:ROWS], stats.categories, stats.counts, strict=False):
        weight = counts.sum(axis=0)
        first = (-weight).argsort(kind="stable")[:CLASSES]
        total = weight.sum() or 1.0
        shares = [f"{cell(labels.tolist()[i])} ({weight[i] / total:.3g})" for i in first]
        rows.append([cell(name), str(len(labels)), ", ".join(shares)])
    width = [max(len(row[i]) for row in rows) for i in (0, 1)]
    lines = [f"{a:<{width[0]}}  {b:>{width[1]}}  {c}".rstrip() for a, b, c in rows]
    return "\n".join([*lines, *_more(len(names), ROWS, "features")])


def _plain(log_prob: Any) -> list[Any]:
    """Lists of numbers, where None is -inf, which JSON lacks."""
    if log_prob.ndim == 2:
        return [_plain(row) for row in log_prob]
    return [None if value == float("-inf") else value for value in log_prob.tolist()]


def _mixed_dict(saved: SavedModel) -> dict[str, Any]:
    stats = saved.stats
    return {
        "is_categorical": stats.is_categorical.tolist(),
        "categories": [labels.tolist() for labels in stats.categories],
        "category_count": [counts.tolist() for counts in stats.counts],
        "feature_log_prob": [_plain(each.log_prob) for each in saved.categorical or ()],
        "unseen_log_prob": [_plain(each.unseen) for each in saved.categorical or ()],
    }


def model_dict(saved: SavedModel) -> dict[str, Any]:
    """Everything in a model, as plain Python values."""
    is_mixed = saved.categorical is not None
    stats = saved.stats.gaussian if is_mixed else saved.stats
    counts = stats.feature_count
    return (_mixed_dict(saved) if is_mixed else {}) | {
        "model": saved.model,
        "options": dict(saved.options),
        "classes": saved.classes.tolist(),
        "feature_names": None if saved.feature_names is None else list(saved.feature_names),
        "n_features": saved.n_features,
        "class_count": stats.count.tolist(),
        "feature_count": None if counts is None else counts.tolist(),
        "class_prior": saved.class_prior.tolist(),
        "theta": saved.theta.tolist(),
        "var": saved.var.tolist(),
        "epsilon": saved.epsilon,
        "priors": saved.priors,
        "var_smoothing": saved.var_smoothing,
        "missing": saved.missing,
        "target": saved.target,
        "weight": saved.weight,
        "versions": dict(saved.versions or {}),
        "learned": [file._asdict() for file in saved.learned],
        "findings": finding_texts(saved),
    }
