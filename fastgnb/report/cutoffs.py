"""Rates at a movable cut-off: a row is taken as a class if the class has at least that probability.

The page holds exact counts at each cut-off, and the script computes the rates. Without a script the
rates at 0.5 stand there.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .markup import Markup, json_block, tag
from .wording import number, rate, short

__all__ = ["CLASSES", "Counts", "cutoff_panel", "rates_of"]

CLASSES = 60
"""Most classes whose counts the page holds: those with the most rows."""

Floats = NDArray[np.float64]

_RATES = {
    "tpr": ("TPR", "recall: share of the class that is predicted as it"),
    "fpr": ("FPR", "share of the other rows that are predicted as the class"),
    "tnr": ("TNR", "specificity: share of the other rows that are not"),
    "fnr": ("FNR", "share of the class that is missed"),
    "ppv": ("PPV", "precision: share of the positive predictions that are right"),
    "npv": ("NPV", "share of the negative predictions that are right"),
    "acc": ("ACC", "accuracy: share of all rows that are predicted correctly"),
    "f1": ("F1", "harmonic mean of precision and recall"),
    "mcc": ("MCC", "Matthews correlation: 1 is best, 0 is chance"),
}


class Counts(NamedTuple):
    """Weights of rows at each of m cut-offs for each of k classes, against the rest.

    labels : (k,). thresholds : (m,). tp, fp : (k, m), true and false positives. positives,
    negatives : (k,), those of all rows. unit : what is counted.
    """

    labels: list[Any]
    thresholds: Floats
    tp: Floats
    fp: Floats
    positives: Floats
    negatives: Floats
    unit: str = "Rows"


def rates_of(tp: float, fp: float, positives: float, negatives: float) -> dict[str, float]:
    """The rates, as the script computes them; NaN where there is nothing to divide by."""
    fn, tn = positives - tp, negatives - fp
    root = math.sqrt(tp + fp) * math.sqrt(positives) * math.sqrt(negatives) * math.sqrt(tn + fn)
    return {
        "tpr": _ratio(tp, positives),
        "fpr": _ratio(fp, negatives),
        "tnr": _ratio(tn, negatives),
        "fnr": _ratio(fn, positives),
        "ppv": _ratio(tp, tp + fp),
        "npv": _ratio(tn, tn + fn),
        "acc": _ratio(tp + tn, positives + negatives),
        "f1": _ratio(2 * tp, 2 * tp + fp + fn),
        "mcc": _ratio(tp * tn - fp * fn, root),
    }


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan


def cutoff_panel(counts: Counts) -> Markup:
    """Slider, choice of a class, counts and rates."""
    k = len(counts.labels)
    order = np.sort(np.argsort(-counts.positives, kind="stable")[:CLASSES])
    counts = Counts(
        [counts.labels[c] for c in order], counts.thresholds, counts.tp[order], counts.fp[order],
        counts.positives[order], counts.negatives[order], counts.unit,
    )  # fmt: skip
    shown = (
        int(np.argmax(counts.positives)),
        int(np.abs(counts.thresholds - 0.5).argmin()),
    )
    note = "" if k <= CLASSES else f"The {CLASSES} classes with the most rows, of {k:,}."
    return tag(
        "div",
        _controls(counts, shown, note),
        tag("div", _matrix(counts, shown), _rates(counts, shown), class_="cards"),
        json_block(_data(counts), "cutoff-data"),
        class_="card",
    )


def _data(counts: Counts) -> dict[str, Any]:
    return {
        "thresholds": _plain(counts.thresholds),
        "tp": [_plain(row) for row in counts.tp],
        "fp": [_plain(row) for row in counts.fp],
        "positives": _plain(counts.positives),
        "negatives": _plain(counts.negatives),
    }


def _plain(values: Floats) -> list[float | int]:
    """Numbers of at most twelve digits, whole ones without a point."""
    rounded = [float(f"{value:.12g}") for value in values.tolist()]
    return [int(value) if value.is_integer() else value for value in rounded]


def _controls(counts: Counts, shown: tuple[int, int], note: str) -> Markup:
    options = [
        tag("option", short(label), value=i, selected=i == shown[0])
        for i, label in enumerate(counts.labels)
    ]
    choice = tag(
        "div", tag("label", "Class", for_="cutoff-class"),
        tag("select", *options, id_="cutoff-class", autocomplete="off"),
    )  # fmt: skip
    slider = tag(
        "div",
        tag("label", "Cut-off of its probability", for_="cutoff"),
        tag("input", type_="range", id_="cutoff", min_=0, max_=len(counts.thresholds) - 1, step=1,
            value=shown[1], autocomplete="off"),
        class_="wide",
    )  # fmt: skip
    first = f"{counts.thresholds[shown[1]]:.2f}"
    value = tag(
        "div", tag("span", "Cut-off ", class_="hint"),
        tag("output", first, id_="cutoff-value", class_="big", for_="cutoff cutoff-class"),
    )  # fmt: skip
    controls = tag("div", choice, slider, class_="controls", id_="cutoff-controls", hidden=True)
    without = tag(
        "noscript", tag("p", f"Of class {short(counts.labels[shown[0]])}; a script moves it.")
    )
    return Markup(controls + value + without + tag("p", note, class_="hint" if note else None))


def _matrix(counts: Counts, shown: tuple[int, int]) -> Markup:
    tp, fp, positives, negatives = _at(counts, *shown)
    fn, tn = positives - tp, negatives - fp
    columns = counts.unit, "predicted", "not predicted"
    head = tag("tr", *(tag("th", text, scope="col") for text in columns))
    rows = [("of the class", ("tp", tp), ("fn", fn)), ("of others", ("fp", fp), ("tn", tn))]
    body = [
        tag("tr", tag("th", name, scope="row"), *(_count_cell(*cell) for cell in cells))
        for name, *cells in rows
    ]
    caption = tag("caption", f"{counts.unit} at this cut-off")
    return tag("table", caption, tag("thead", head), tag("tbody", *body))


def _at(counts: Counts, c: int, at: int) -> tuple[float, float, float, float]:
    """True and false positives, positives and negatives of a class at a cut-off.

    They are rounded as in the data for the script, so that differences of sums are 0 where sums
    differ by their errors only.
    """
    sums = counts.tp[c, at], counts.fp[c, at], counts.positives[c], counts.negatives[c]
    tp, fp, positives, negatives = map(float, _plain(np.array(sums)))
    return tp, fp, positives, negatives


def _count_cell(name: str, value: float) -> Markup:
    is_right = name in ("tp", "tn")
    return tag("td", number(value, 12), data_cell=name, class_="hit" if is_right else None)


def _rates(counts: Counts, shown: tuple[int, int]) -> Markup:
    found = rates_of(*_at(counts, *shown))
    names = ("Rate", None), ("Value", None), ("What it is", "t")
    head = tag("tr", *(tag("th", text, scope="col", class_=class_) for text, class_ in names))
    body = []
    for name, (title, meaning) in _RATES.items():
        cell = tag("td", rate(found[name]), data_cell=name)
        body.append(
            tag("tr", tag("th", title, scope="row"), cell, tag("td", meaning, class_="t w"))
        )
    caption = tag("caption", "Rates at this cut-off")
    table = tag("table", caption, tag("thead", head), tag("tbody", *body))
    return tag(
        "div", table, class_="scroll", tabindex="0", role="region",
        aria_label="Rates at this cut-off",
    )  # fmt: skip
