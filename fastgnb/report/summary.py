"""What a reader should know first: a sentence, a strip of figures, and findings."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..diagnosis.diagnosis import Diagnosis
from ..evaluation.evaluation import Evaluation
from ..files.jobs.assess_files import Assessed
from ..files.phrases import counted
from .markup import Markup, tag
from .wording import number, percent, short, unit_of

__all__ = ["finding_list", "lede", "strip"]


class Figure(NamedTuple):
    """A number of the strip: what it is, its value, and a note."""

    name: str
    value: str
    note: str


def lede(evaluation: Evaluation) -> Markup:
    """One sentence: how often the model is right, and how often it would be without features."""
    rows, best = counted(evaluation.n_rows, "row"), int(evaluation.support.argmax())
    whole = rows if unit_of(evaluation) == "Rows" else f"the weight of {rows}"
    label, share = (
        evaluation.labels.tolist()[best],
        float(evaluation.support[best]) / evaluation.weight,
    )
    return tag(
        "p",
        f"The model is right for {percent(evaluation.accuracy)} of {whole}; always "
        f"predicting {short(label)}, the most frequent label, would be right for {percent(share)}.",
        class_="lede",
    )


def strip(evaluation: Evaluation) -> Markup:
    """The figures that sum an evaluation up."""
    items = [
        tag("div", tag("dt", each.name), tag("dd", each.value, tag("small", each.note)))
        for each in _figures(evaluation)
    ]
    return tag("dl", *items, class_="strip")


def _figures(evaluation: Evaluation) -> list[Figure]:
    without = f"{number(_entropy(evaluation))} without features"
    what = f"share of {unit_of(evaluation).lower()} predicted correctly"
    figures = [
        Figure("Accuracy", percent(evaluation.accuracy, 2), what),
        Figure("Log loss", number(evaluation.log_loss), without),
        Figure("Brier score", number(evaluation.brier), "0 is best"),
    ]
    if evaluation.curves is not None:
        area = evaluation.mean_auc().value
        figures.append(Figure("AUC", number(area), "mean of each label against the rest"))
    if evaluation.cells is not None:
        error = evaluation.expected_calibration_error()
        figures.append(Figure("Calibration error", number(error), "of the predicted label"))
    figures.append(Figure("Rows", number(evaluation.n_rows), "compared with their labels"))
    figures.append(Figure("Labels", number(len(evaluation.labels)), "of model and rows"))
    return figures


def _entropy(evaluation: Evaluation) -> float:
    """Log loss of a model that knows the shares of the labels only."""
    share = evaluation.support[evaluation.support > 0] / evaluation.weight
    return float(-(share * np.log(share)).sum()) + 0.0


def finding_list(assessed: Assessed) -> Markup:
    """Findings, those first that put the figures in doubt."""
    items = [tag("li", text, class_="warn") for text in _doubts(assessed)]
    items += [tag("li", text) for text in _observations(assessed)]
    return tag("ul", *items, class_="findings") if items else Markup()


def _doubts(assessed: Assessed) -> list[str]:
    known, n = sum(file.was_learned for file in assessed.files), len(assessed.files)
    texts = []
    if known:
        which = "The file compared was" if n == 1 else f"{known} of the {n:,} files compared were"
        texts.append(f"{which} learned by the model: expect worse on new rows.")
    if assessed.evaluation.log_loss > _entropy(assessed.evaluation):
        texts.append(
            "The log loss is above that of a model without features, which predicts the labels' "
            "shares: where this model is wrong, it is overconfident."
        )
    return [*texts, *(_sentence(text) for text in assessed.findings)]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith(".") else ".")


def _observations(assessed: Assessed) -> list[str]:
    texts = [_mistake(assessed.evaluation), _weakest(assessed.evaluation)]
    if isinstance(assessed.diagnosis, Diagnosis):
        texts.append(assessed.diagnosis.suggestion)
    return [text for text in texts if text]


def _mistake(evaluation: Evaluation) -> str:
    """The most frequent mistake."""
    if evaluation.confusion is None:
        return ""
    wrong = np.array(evaluation.confusion)
    np.fill_diagonal(wrong, 0)
    if not wrong.any():
        return "Every row is predicted correctly." if not evaluation.n_unseen else ""
    true, predicted = np.unravel_index(int(wrong.argmax()), wrong.shape)
    labels: list[Any] = evaluation.labels.tolist()
    found = wrong[true, predicted]
    share = percent(float(found / evaluation.support[true]))
    is_rows = unit_of(evaluation) == "Rows"
    much = f"in {counted(int(found), 'row')}" if is_rows else f"with weight {number(found)}"
    return (
        f"The most frequent mistake: {short(labels[true])} predicted as "
        f"{short(labels[predicted])}, {much}, {share} of {'those' if is_rows else 'that'} labelled "
        f"{short(labels[true])}."
    )


def _weakest(evaluation: Evaluation) -> str:
    """The class that is found least, where one is found less than the others."""
    occurs = evaluation.support > 0
    tpr = np.where(occurs, evaluation.tpr, math.inf)
    least = int(tpr.argmin())
    if occurs.sum() < 2 or tpr[least] == tpr[occurs].max():
        return ""
    share = "none" if tpr[least] == 0 else percent(float(tpr[least]))
    whole, verb = "weight", "is"
    if unit_of(evaluation) == "Rows":
        whole, verb = (
            counted(int(evaluation.support[least]), "row"),
            "is" if share == "none" else "are",
        )
    return (
        f"The lowest recall: {short(evaluation.labels.tolist()[least])}, of whose {whole} {share} "
        f"{verb} predicted correctly."
    )
