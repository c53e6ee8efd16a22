"""The charts of each section: which display of `plot` draws them, and how to read them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import plot
from ..diagnosis.diagnosis import Diagnosis
from ..evaluation.evaluation import Evaluation
from ..model.model import Model
from .charts import Chart
from .wording import short

__all__ = [
    "assumption_charts", "calibration_charts", "feature_charts", "mistake_charts", "model_charts",
    "ranking_charts", "threshold_charts",
]  # fmt: skip

DENSITIES = 4
"""Features whose densities are shown."""

DENSITY_CLASSES = 6
"""Most classes of a picture of densities: those that were learned with the most weight."""

PANELS = 5
"""Most classes whose correlations are shown beside the pooled ones, where features are few."""

_FEW_FEATURES = 8

_LEGEND = 4
"""Most labels whose legend is inside a picture; with more of them it takes the full width."""

_MATRIX = 10
"""Most labels of a matrix that is read at half the width."""

_MATRIX_WIDE = 20
"""As before, of one without numbers in its cells."""

_WORK = 3e10
"""Most operations for distances of classes with covariances of their own: about ten seconds."""

_ONE_CLASS = "There is only one label, and nothing to tell it from."


def mistake_charts(evaluation: Evaluation) -> list[Chart]:
    """Which labels are taken for which."""
    hint = "Each row is a true label, and each cell the share of its rows that gets that label."
    title = "Confusion matrix"
    if evaluation.confusion is None:
        reason = f"It was not counted for {len(evaluation.labels):,} labels."
        return [Chart("confusion", title, hint, None, missing=reason)]
    draw = partial(plot.ConfusionMatrixDisplay.from_evaluation, evaluation)
    return [Chart("confusion", title, hint, draw, is_wide=len(evaluation.labels) > _MATRIX)]


def ranking_charts(evaluation: Evaluation) -> list[Chart]:
    """How well each label is ranked above the others."""
    hints = {
        "roc": "Up and left is better; the diagonal is chance. A cut-off is a point of the curve.",
        "precision-recall": "Up and right is better: the precision against the recall of each "
        "label.",
        "lift": "How many times as many rows of the label are among those ranked first as among as "
        "many chosen at random.",
    }
    displays: dict[str, tuple[str, Any]] = {
        "roc": ("ROC curve", plot.RocCurveDisplay),
        "precision-recall": ("Precision and recall", plot.PrecisionRecallDisplay),
        "lift": ("Lift", plot.LiftDisplay),
    }
    has_ranks = evaluation.curves is not None and len(evaluation.labels) > 1
    return [
        Chart(
            id_, title, hints[id_],
            partial(display.from_evaluation, evaluation) if has_ranks else None,
            is_curve=True, is_wide=len(evaluation.labels) > _LEGEND, missing=_ONE_CLASS,
        )
        for id_, (title, display) in displays.items()
    ]  # fmt: skip


def calibration_charts(evaluation: Evaluation) -> list[Chart]:
    """Whether probabilities are shares."""
    hint = (
        "On the diagonal, rows that are given 0.8 are right in 80% of cases. Below it, "
        "probabilities are overconfident."
    )
    draw = partial(plot.CalibrationDisplay.from_evaluation, evaluation)
    is_wide = len(evaluation.labels) > _LEGEND
    return [Chart("calibration", "Calibration", hint, draw, is_wide=is_wide)]


def threshold_charts(evaluation: Evaluation) -> list[Chart]:
    """Rates over the cut-off, of the label with the most rows that the model knows."""
    assert evaluation.curves is not None
    known, labels = set(evaluation.curves.classes.tolist()), evaluation.labels.tolist()
    order = np.argsort(-evaluation.support, kind="stable").tolist()
    label = next(labels[i] for i in order if labels[i] in known)
    hint = f"Rates of {short(label)} against the rest, at every cut-off of its probability."
    draw = partial(plot.ThresholdDisplay.from_evaluation, evaluation, label=label)
    return [Chart("threshold", f"Rates of {short(label)}", hint, draw, is_curve=True)]


def feature_charts(
    model: Model, order: NDArray[np.intp], diagnosis: Diagnosis | None
) -> list[Chart]:
    """Which features decide, which classes they tell apart, and their densities."""
    importance = "How well each feature alone tells classes apart, by the model's densities."
    has_pairs = int(model.is_possible.sum()) > 1
    charts = [
        Chart(
            "importance", "Importance of features", importance,
            partial(plot.ImportanceDisplay.from_estimator, model) if has_pairs else None,
            missing=_ONE_CLASS,
        ),
        _separation(model),
    ]  # fmt: skip
    return [*charts, *(_density(model, j, diagnosis) for j in order[:DENSITIES].tolist())]


def _separation(model: Model) -> Chart:
    hint = (
        "A bound on the share of rows that the best rule mistakes for each other, by the model's "
        "densities."
    )
    title, k, d = "Separation of classes", int(model.is_possible.sum()), model.n_features
    has_covariances = model.member.needs_full_scatter and not model.member.likelihood.along_axes
    if k < 2:
        return Chart("separation", title, hint, None, missing=_ONE_CLASS)
    if has_covariances and k * k * d**3 > _WORK:
        reason = f"Pairs of {k:,} classes of {d:,} features would take too long."
        return Chart("separation", title, hint, None, missing=reason)
    draw = partial(plot.SeparationDisplay.from_estimator, model)
    return Chart("separation", title, hint, draw, is_wide=k > _MATRIX_WIDE)


def _density(model: Model, j: int, diagnosis: Diagnosis | None) -> Chart:
    names = model.feature_names
    name = f"feature {j}" if names is None else short(names[j])
    weight, labels = model.stats.count, model.classes.tolist()
    classes = [labels[c] for c in _heaviest(weight, DENSITY_CLASSES) if model.is_possible[c]]
    hint = "The model's density in each class"
    hint += "" if diagnosis is None else ", over the histogram of these rows"
    k = len(labels)
    hint += f": the {len(classes)} classes of most weight, of {k:,}." if k > len(classes) else "."
    draw = partial(
        plot.DensityDisplay.from_estimator, model, feature=j, diagnosis=diagnosis, classes=classes
    )
    return Chart(f"density-{j}", f"Density of {name}", hint, draw, is_curve=True)


def _heaviest(weight: NDArray[Any], most: int) -> list[int]:
    """Positions of the `most` largest weights, in their order."""
    found: list[int] = np.sort(np.argsort(-weight, kind="stable")[:most]).tolist()
    return found


def assumption_charts(diagnosis: Diagnosis) -> list[Chart]:
    """How far features are from normal and from independent."""
    normality = (
        "Quantiles of the features that are least normal, within classes, against those of a "
        "normal distribution, whose points lie on the diagonal."
    )
    correlation = "Correlations within classes, first pooled over them: white is none."
    charts = [
        Chart(
            "normality", "Quantiles within classes", normality,
            partial(plot.NormalityDisplay.from_diagnosis, diagnosis), is_curve=True, is_wide=True,
        )
    ]  # fmt: skip
    no_pairs = f"There are no correlations: {diagnosis.no_pairs}."
    has_pairs = diagnosis.pooled_correlation is not None
    draw = partial(plot.CorrelationDisplay.from_diagnosis, diagnosis, classes=_panels(diagnosis))
    charts.append(
        Chart(
            "correlation", "Correlation", correlation, draw if has_pairs else None, is_wide=True,
            missing=no_pairs,
        )
    )  # fmt: skip
    return charts


def _panels(diagnosis: Diagnosis) -> list[Any] | None:
    """Classes that have a panel of their own; None: as many as the display can show."""
    if len(diagnosis.feature_names) > _FEW_FEATURES or len(diagnosis.classes) <= PANELS:
        return None
    labels = diagnosis.classes.tolist()
    return [labels[c] for c in _heaviest(diagnosis.class_weight, PANELS)]


def model_charts(model: Model) -> list[Chart]:
    """The axes of a model that has some."""
    if not model.member.likelihood.along_axes:
        return []
    hint = "How much of the variance each axis takes, and which features make it up."
    draw = partial(plot.AxesDisplay.from_estimator, model)
    return [Chart("axes", "Principal axes", hint, draw, is_wide=True)]
