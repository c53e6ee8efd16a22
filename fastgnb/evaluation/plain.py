"""An evaluation as plain Python values, ready for JSON: all numbers, and curves of few points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .curves import Interval
from .rates import Rates
from .thinning import thin

if TYPE_CHECKING:
    from .evaluation import Evaluation

__all__ = ["evaluation_dict"]

_COLUMNS = 50
"""Columns of a curve, each of up to four points."""

_TOP = 10
"""Most numbers k of the top-k accuracy."""

_RATES = ("support", "tpr", "fpr", "ppv", "npv", "f1")


def evaluation_dict(evaluation: Evaluation) -> dict[str, Any]:
    """Return every number, under the names that ``fastgnb evaluate --json`` writes."""
    return _counts(evaluation) | _more_counts(evaluation) | _curve_numbers(evaluation)


def _counts(evaluation: Evaluation) -> dict[str, Any]:
    columns = {name: getattr(evaluation, name).tolist() for name in _RATES}
    confusion = evaluation.confusion
    return {
        "n_rows": evaluation.n_rows,
        "accuracy": evaluation.accuracy,
        "log_loss": evaluation.log_loss,
        "brier_score": evaluation.brier,
        "labels": evaluation.labels.tolist(),
        "confusion_matrix": None if confusion is None else confusion.tolist(),
        "per_class": [
            {"label": label} | {name: columns[name][i] for name in _RATES}
            for i, label in enumerate(evaluation.labels.tolist())
        ],
        "n_unseen_rows": evaluation.n_unseen,
        "n_unlisted_rows": evaluation.n_unlisted,
        "n_skipped_rows": evaluation.n_skipped,
        "n_null_labels": evaluation.n_null_labels,
    }


def _more_counts(evaluation: Evaluation) -> dict[str, Any]:
    ranks = evaluation.rank_weight
    top = range(1, 1 + min(_TOP, 0 if ranks is None else len(ranks)))
    return {
        "weight": evaluation.weight,
        "mcc": evaluation.mcc,
        "prediction_rate": evaluation.prediction_rate.tolist(),
        "top_k_accuracy": {str(k): evaluation.top_k_accuracy(k) for k in top},
    }


def _curve_numbers(evaluation: Evaluation) -> dict[str, Any]:
    """What needs curves and cells; nothing without them."""
    if evaluation.curves is None or evaluation.cells is None:
        return {}
    averages = ["macro", "weighted"] + ["pairs"] * evaluation.curves.has_pairs
    return {
        "is_exact": evaluation.curves.is_exact,
        "mean_auc": {name: _pair(evaluation.mean_auc(name)) for name in averages},
        "expected_calibration_error": _plain(evaluation.expected_calibration_error()),
        "brier_parts": _brier(evaluation, None),
        "calibration": _columns(evaluation.calibration()),
        "thresholds": list(evaluation.thresholds),
        "curves": [_curve(evaluation, label) for label in evaluation.curves.classes.tolist()],
    }


def _curve(evaluation: Evaluation, label: Any) -> dict[str, Any]:
    """Numbers of one class of the model against the rest."""
    return {
        "label": label,
        "auc": _pair(evaluation.auc(label)),
        "average_precision": _pair(evaluation.average_precision(label)),
        "expected_calibration_error": _plain(evaluation.expected_calibration_error(label)),
        "brier_parts": _brier(evaluation, label),
        "calibration": _columns(evaluation.calibration(label)),
        "rates": [_rates(evaluation.rates(tau, label)) for tau in evaluation.thresholds],
        "counts": _cut_off_counts(evaluation, label),
        **_thinned(evaluation, label),
    }


def _thinned(evaluation: Evaluation, label: Any) -> dict[str, Any]:
    roc, lift = evaluation.roc(label), evaluation.lift(label)
    curve = evaluation.precision_recall(label)
    kept = thin(roc.fpr, roc.tpr, _COLUMNS)
    also = thin(curve.recall, curve.precision, _COLUMNS)
    more = thin(lift.share, lift.gain, _COLUMNS)
    end = np.append(curve.log_odds, np.inf)
    return {
        "roc": {name: _list(getattr(roc, name)[kept]) for name in roc._fields},
        "precision_recall": {
            "precision": _list(curve.precision[also]),
            "recall": _list(curve.recall[also]),
            "log_odds": _list(end[also]),
        },
        "lift": {name: _list(getattr(lift, name)[more]) for name in lift._fields},
    }


def _cut_off_counts(evaluation: Evaluation, label: Any) -> dict[str, Any]:
    """Weight of true and false positives at every cut-off that was counted."""
    cells = evaluation._cells()
    rates = evaluation.rates(cells.thresholds, label)
    return {
        "threshold": cells.thresholds.tolist(),
        "tp": _list(rates.tp.value),
        "fp": _list(rates.fp.value),
    }


def _rates(rates: Rates) -> dict[str, Any]:
    named = {name: getattr(rates, name) for name in Rates._fields[1:]}
    return {"threshold": float(rates.threshold)} | {n: _pair(v) for n, v in named.items()}


def _brier(evaluation: Evaluation, label: Any) -> dict[str, Any]:
    parts = evaluation.brier_parts(label)
    named = parts._asdict() | {"resolution": parts.resolution}
    return {name: _plain(value) for name, value in named.items()}


def _columns(table: Any) -> dict[str, Any]:
    return {name: _list(values) for name, values in table._asdict().items()}


def _pair(interval: Interval) -> list[float | None]:
    """Lower and upper bound."""
    return [_plain(bound) for bound in interval]


def _list(values: Any) -> list[float | None]:
    return [_plain(value) for value in values.tolist()]


def _plain(value: float) -> float | None:
    """A number as JSON has it: NaN and infinity are None."""
    return float(value) if math.isfinite(value) else None
