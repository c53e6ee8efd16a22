"""The model itself: facts, classes, and means with standard deviations, in bounded tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.models.model_file import ModelFile
from ..model.model import Model
from .markup import Markup, tag
from .tables import Table, render
from .wording import number, short

__all__ = ["facts", "feature_names", "model_section"]

PARAMETERS = 1000
"""Most rows of the table of parameters."""

CLASSES = 200
"""Most classes of the table of classes."""

CATEGORIES = 400
"""Most rows of the table of categories."""


def facts(pairs: Any) -> Markup:
    """Names with values, as a list of definitions."""
    items = [
        tag(name, text) for pair in pairs for name, text in zip(("dt", "dd"), pair, strict=True)
    ]
    return tag("dl", *items, class_="facts")


def feature_names(model: Model) -> list[str]:
    """Names of all features, or their positions."""
    if model.feature_names is not None:
        return list(model.feature_names)
    return [f"feature {j}" for j in range(model.n_features)]


def model_section(saved: ModelFile, order: NDArray[np.int64]) -> Markup:
    """Facts and tables. `order` are the positions of features, those that matter most first."""
    model = saved.model
    parts = [facts(_model_facts(saved)), render(_class_table(model), "classes")]
    if model.moments.theta.shape[1]:
        parts.append(render(_parameter_table(model, order), "parameters"))
    if model.has_categories:
        parts.append(render(_category_table(model), "categories"))
    return Markup("".join(tag("div", part, class_="card") for part in parts))


def _model_facts(saved: ModelFile) -> list[tuple[str, str]]:
    model = saved.model
    options = {name: value for name, value in model.options.items() if name != "priors"}
    return [
        ("Model", f"{model.member.name}: {model.member.summary}"),
        ("Classes", number(len(model.classes))),
        ("Features", number(model.n_features)),
        ("Weight learned", number(float(model.stats.count.sum()), 12)),
        ("Priors", "from the data" if model.options.get("priors") is None else "given"),
        ("Smoothing", f"{model.moments.epsilon:.4g} was added to each variance"),
        ("Options", ", ".join(f"{name}={_option(value)}" for name, value in options.items())),
        ("Written by", ", ".join(f"{name} {each}" for name, each in saved.versions.items())),
    ]


def _option(value: Any) -> str:
    return short(value)


def _class_table(model: Model) -> Table:
    heaviest = np.sort(np.argsort(-model.stats.count, kind="stable")[:CLASSES]).tolist()
    labels, prior = model.classes.tolist(), model.moments.class_prior
    rows = [[short(labels[c]), float(model.stats.count[c]), prior[c]] for c in heaviest]
    k = len(labels)
    note = "" if k <= CLASSES else f"The {CLASSES} classes of most weight, of {k:,}"
    return Table("Classes", ("Class", "Weight learned", "Prior"), rows, note, k > 10)


def _parameter_table(model: Model, order: NDArray[np.int64]) -> Table:
    theta, spread = model.moments.theta, np.sqrt(model.moments.var)
    k, d = theta.shape
    names = _continuous_names(model, d)
    is_axis = model.member.likelihood.along_axes
    features = range(d) if is_axis or len(order) != d else order.tolist()
    rows: list[Any] = []
    labels = [short(label) for label in model.classes.tolist()]
    for j in features:
        if len(rows) >= PARAMETERS:
            break
        name = short(names[j])
        rows += [[name, labels[c], theta[c, j], spread[c, j]] for c in range(k)]
    rows = rows[:PARAMETERS]
    which = "the most important features first" if features is not range(d) else "in order"
    note = "" if len(rows) == k * d else f"{len(rows):,} of {k * d:,} rows, {which}"
    head = ("Axis" if is_axis else "Feature", "Class", "Mean", "Standard deviation")
    return Table("Means and standard deviations", head, rows, note, len(rows) > 10)


def _continuous_names(model: Model, d: int) -> list[str]:
    """Names of the features that have means, or of the axes."""
    if model.member.likelihood.along_axes:
        return [f"axis {j + 1}" for j in range(d)]
    names = feature_names(model)
    if model.member.takes_categories:
        mask = model.stats.is_categorical.tolist()
        names = [name for name, is_marked in zip(names, mask, strict=True) if not is_marked]
    return names


def _category_table(model: Model) -> Table:
    """The heaviest categories of each feature, as many of each as there is room for."""
    names, mask = feature_names(model), model.stats.is_categorical.tolist()
    names = [name for name, is_marked in zip(names, mask, strict=True) if is_marked]
    most = max(1, CATEGORIES // len(names))
    rows: list[Any] = []
    total = 0
    for name, labels, counts in zip(names, model.stats.categories, model.stats.counts, strict=True):
        weight = counts.sum(axis=0)
        total += len(labels)
        for i in np.argsort(-weight, kind="stable")[:most].tolist():
            share = weight[i] / (weight.sum() or 1.0)
            rows.append([short(name), short(labels.tolist()[i]), float(weight[i]), float(share)])
    rows = rows[:CATEGORIES]
    note = "" if len(rows) == total else f"{len(rows):,} of {total:,}, the most frequent ones"
    head = ("Feature", "Category", "Weight learned", "Share")
    return Table("Categories", head, rows, note, len(rows) > 10)
