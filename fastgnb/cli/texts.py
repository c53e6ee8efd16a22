"""Evaluations and models as text for a terminal, of bounded size; JSON has everything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..evaluation.curves import Interval
from ..evaluation.evaluation import Evaluation
from ..files.jobs.findings import finding_texts
from ..files.models.model_file import ModelFile
from ..files.phrases import cell
from ..model.model import Model

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


def evaluation_text(evaluation: Evaluation) -> str:
    """Scores, confusion matrix, rates and areas of each label, and rates at cut-offs."""
    parts = [align(_scores(evaluation)), _confusion(evaluation), _rates(evaluation)]
    if evaluation.thresholds:
        parts.append(_cutoffs(evaluation))
    return "\n\n".join(parts)


def _scores(evaluation: Evaluation) -> list[tuple[str, str]]:
    scores = [("rows", str(evaluation.n_rows))]
    if evaluation.total_weight is not None:
        scores.append(("weight", f"{evaluation.weight:.12g}"))
    scores += [
        ("accuracy", f"{evaluation.accuracy:.6f}"),
        ("MCC", f"{evaluation.mcc:.6f}"),
        ("log loss", f"{evaluation.log_loss:.6g}"),
        ("Brier score", f"{evaluation.brier:.6g}"),
        ("calibration error", f"{evaluation.expected_calibration_error():.6g}"),
        ("mean AUC", _bounds(evaluation.mean_auc(), 6)),
    ]
    if evaluation.n_unseen:
        scores.append(("rows of unseen labels", str(evaluation.n_unseen)))
    if evaluation.n_unlisted:
        scores.append(("of these not listed", str(evaluation.n_unlisted)))
    return scores


def _bounds(interval: Interval, digits: int) -> str:
    """A number, or both of its bounds where they differ at this many digits."""
    lower, upper = (f"{bound:.{digits}f}" for bound in interval)
    return lower if lower == upper else f"{lower} to {upper}"


def _confusion(evaluation: Evaluation) -> str:
    k = len(evaluation.labels)
    if evaluation.confusion is None:
        return f"confusion matrix: {k} x {k}, not counted for so many classes"
    if k > MATRIX:
        return f"confusion matrix: {k} x {k}, see --json"
    labels = [cell(label) for label in evaluation.labels.tolist()]
    rows = [
        [label, *map(_number, counts)]
        for label, counts in zip(labels, evaluation.confusion.tolist(), strict=True)
    ]
    return "confusion matrix (rows true, columns predicted)\n" + align([["", *labels], *rows])


def _number(count: float) -> str:
    """A number of rows, or a weight."""
    return str(count) if isinstance(count, int) else f"{count:.6g}"


def _rates(evaluation: Evaluation) -> str:
    rates = [evaluation.tpr, evaluation.fpr, evaluation.ppv, evaluation.npv, evaluation.f1]
    areas = (evaluation.auc, evaluation.average_precision)
    counted = "rows" if evaluation.total_weight is None else "weight"
    rows = [["class", counted, "TPR", "FPR", "PPV", "NPV", "F1", "AUC", "AP"]]
    support = evaluation.support.tolist()
    for i, label in enumerate(evaluation.labels.tolist()[:ROWS]):
        rows.append(
            [cell(label), _number(support[i]), *(f"{rate[i]:.4f}" for rate in rates),
             *(_bounds(area(label), 4) for area in areas)]
        )  # fmt: skip
    return "\n".join([align(rows), *_more(len(evaluation.labels), ROWS, "classes")])


def _cutoffs(evaluation: Evaluation) -> str:
    """Rates of the second of two classes, or of every class, at the cut-offs asked for."""
    classes = evaluation.classes.tolist()
    classes = classes[1:] if len(classes) == 2 else classes
    pairs = [(tau, label) for tau in evaluation.thresholds for label in classes]
    rows = [["cut-off", "class", "TPR", "FPR", "PPV", "NPV", "F1", "MCC"]]
    for tau, label in pairs[:ROWS]:
        rates = evaluation.rates(tau, label)
        shown = (rates.tpr, rates.fpr, rates.ppv, rates.npv, rates.f1, rates.mcc)
        rows.append([f"{tau:g}", cell(label), *(_bounds(rate, 4) for rate in shown)])
    return "\n".join([align(rows), *_more(len(pairs), ROWS, "cut-offs and classes")])


# ------------------------------------------------------------------ models


def model_text(saved: ModelFile) -> str:
    """Classes, parameters, versions, and means with standard deviations."""
    model, moments = saved.model, saved.model.moments
    k, d = len(model.classes), f"{model.n_features}"
    if model.member.takes_categories:
        d += f", {len(model.stats.categories)} of them categorical"
    versions = ", ".join(f"{name} {v}" for name, v in saved.versions.items())
    facts = [
        ("model", model.member.label or model.member.name),
        ("classes", str(k)),
        ("features", d if model.feature_names is not None else f"{d}, without names"),
        ("total weight", f"{model.stats.count.sum():.12g}"),
        ("var_smoothing", f"{model.options['var_smoothing']:g}"),
        ("epsilon", f"{moments.epsilon:.6g}"),
        ("missing", model.missing),
        ("target", saved.target or "not from a table"),
        *([("files learned", f"{len(saved.learned)}")] if saved.learned else []),
        ("priors", "from the data" if model.options["priors"] is None else "given"),
        *((name, f"{value}") for name, value in _own_options(model) if _is_chosen(model, name)),
        ("written by", versions),
    ]
    # Texts, not numbers: all to the left.
    width = max(13, *(len(name) for name, _ in facts))
    listed = "\n".join(f"{name:<{width}}  {value}" for name, value in facts)
    tables = [listed, _classes(model)]
    if moments.theta.shape[1]:
        tables.append(_features(model))
    if model.has_categories:
        tables.append(_categories(model))
    tables += [f"note: {text}" for text in finding_texts(model)]
    return "\n\n".join(tables)


def _is_chosen(model: Model, name: str) -> bool:
    """Whether an option is worth a line: the usual ones of GaussianNB are not."""
    return model.member.label is None or model.options[name] != model.member.defaults[name]


def _own_options(model: Model) -> list[tuple[str, Any]]:
    """Options but for those that every member has."""
    common = "priors", "var_smoothing", "missing"
    return sorted((name, value) for name, value in model.options.items() if name not in common)


def _classes(model: Model) -> str:
    rows = [["class", "weight", "prior"]]
    for label, count, prior in zip(
        model.classes.tolist()[:ROWS], model.stats.count, model.moments.class_prior, strict=False
    ):
        rows.append([cell(label), f"{count:.12g}", f"{prior:.6g}"])
    return "\n".join([align(rows), *_more(len(model.classes), ROWS, "classes")])


def _features(model: Model) -> str:
    theta, var = model.moments.theta, model.moments.var
    k, d = theta.shape
    names = model.feature_names or tuple(map(str, range(d)))
    if model.member.takes_categories:
        names = _names(model, False)
    if model.member.likelihood.along_axes:
        names = tuple(f"axis {j + 1}" for j in range(d))
    spread = np.sqrt(var)
    rows = [["mean (sd)", *(cell(label) for label in model.classes.tolist()[:CLASSES])]]
    for j in range(min(d, ROWS)):
        pairs = zip(theta[:CLASSES, j], spread[:CLASSES, j], strict=True)
        rows.append([cell(names[j]), *(f"{mean:.4g} ({sd:.3g})" for mean, sd in pairs)])
    return "\n".join(
        [align(rows), *_more(d, ROWS, "features"), *_more(k, CLASSES, "classes of the table")]
    )


def _names(model: Model, categorical: bool) -> tuple[str, ...]:
    """Names, or positions, of the features of one kind."""
    mask = model.stats.is_categorical.tolist()
    names = model.feature_names or tuple(map(str, range(len(mask))))
    return tuple(name for name, marked in zip(names, mask, strict=True) if marked == categorical)


def _categories(model: Model) -> str:
    """How many categories each feature has, and those of most weight with their shares."""
    rows = [["categories", "number", "most frequent"]]
    names, stats = _names(model, True), model.stats
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


def _mixed_dict(model: Model) -> dict[str, Any]:
    stats = model.stats
    return {
        "is_categorical": stats.is_categorical.tolist(),
        "categories": [labels.tolist() for labels in stats.categories],
        "category_count": [counts.tolist() for counts in stats.counts],
        "feature_log_prob": [_plain(each) for each in model.attributes["feature_log_prob_"]],
        "unseen_log_prob": [_plain(each) for each in model.attributes["unseen_log_prob_"]],
    }


def model_dict(saved: ModelFile) -> dict[str, Any]:
    """Everything in a model, as plain Python values."""
    model, moments = saved.model, saved.model.moments
    is_mixed = model.member.takes_categories
    stats = model.stats.gaussian if is_mixed else model.stats
    counts = stats.feature_count
    return (_mixed_dict(model) if is_mixed else {}) | {
        "model": model.member.name,
        "options": dict(_own_options(model)),
        "classes": model.classes.tolist(),
        "feature_names": None if model.feature_names is None else list(model.feature_names),
        "n_features": model.n_features,
        "class_count": stats.count.tolist(),
        "feature_count": None if counts is None else counts.tolist(),
        "class_prior": moments.class_prior.tolist(),
        "theta": moments.theta.tolist(),
        "var": moments.var.tolist(),
        "epsilon": moments.epsilon,
        "priors": model.options["priors"],
        "var_smoothing": model.options["var_smoothing"],
        "missing": model.missing,
        "target": saved.target,
        "weight": saved.weight,
        "versions": dict(saved.versions),
        "learned": [file._asdict() for file in saved.learned],
        "findings": finding_texts(model),
    }
