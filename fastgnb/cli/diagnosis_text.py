"""A diagnosis as text for a terminal, of bounded size; JSON has everything."""

from __future__ import annotations

import textwrap

import numpy as np

from ..diagnosis.diagnosis import Diagnosis
from ..files.phrases import cell, listed
from .texts import align

__all__ = ["diagnosis_text"]

FEATURES = 20
"""Most features of the table."""

PAIRS = 10
"""Most pairs of features, and most classes."""


def diagnosis_text(found: Diagnosis) -> str:
    """What was looked at, what is wrong, the worst features and pairs, and a suggestion."""
    parts = [_facts(found), _features(found), _classes(found), _pairs(found), _candidates(found)]
    texts = [*found.findings, found.suggestion]
    parts += [textwrap.fill(text, 100, break_on_hyphens=False) for text in texts]
    return "\n\n".join(part for part in parts if part)


def _facts(found: Diagnosis) -> str:
    facts = [
        ("rows", f"{found.n_rows}"),
        ("total correlation, nats per row", _number(found.dependence)),
        *([("rows of unknown labels", f"{found.n_unknown}")] if found.n_unknown else []),
    ]
    if found.n_whole_rows < found.n_rows:
        facts.append(("rows without missing values", f"{found.n_whole_rows}"))
    return align(facts)


def _features(found: Diagnosis) -> str:
    """The features whose normality fails most, with the class in which each does."""
    rows = [["normality", "nats", "p", "class", "nats", "skewness", "kurtosis", "> 3 sd", "KS"]]
    for j in found.ranking[:FEATURES].tolist():
        c = int(np.nan_to_num(found.negentropy[:, j] * found.class_weight).argmax())
        tables = found.negentropy, found.skewness, found.excess_kurtosis
        rows.append(
            [
                listed([found.feature_names[j]]), _number(found.feature_negentropy[j]),
                _number(found.p_value[j]), listed([found.classes[c]]),
                *(_number(table[c, j]) for table in tables),
                f"{100 * found.beyond_3sd[c, j]:.2f}%", _number(found.kolmogorov[c, j]),
            ]
        )  # fmt: skip
    note = f"(a normal distribution has {100 * found.normal_beyond_3sd:.2f}% beyond 3 sd)"
    return "\n".join([align(rows), *_more(len(found.feature_names), FEATURES, "features"), note])


def _classes(found: Diagnosis) -> str:
    """Total correlation of each class, the largest first."""
    if found.correlation is None:
        return f"no correlations: {found.no_pairs}"
    rows = [["class", "rows", "total correlation", "by chance"]]
    order = np.argsort(-np.nan_to_num(found.total_correlation), kind="stable")
    for c in order[:PAIRS].tolist():
        least = "at least " if found.is_bound[c] else ""
        total = found.total_correlation[c]
        rows.append(
            [
                listed([found.classes[c]]), str(found.class_rows[c]),
                f"{least}{_number(total)}" if np.isfinite(total) else "too few rows",
                _number(found.total_by_chance[c]),
            ]
        )  # fmt: skip
    return "\n".join([align(rows), *_more(len(found.classes), PAIRS, "classes")])


def _pairs(found: Diagnosis) -> str:
    d = len(found.feature_names)
    if found.correlation is None or d < 2:
        return ""
    rows = [["dependence", "and", "r", "nats"]]
    for pair in found.pairs(PAIRS):
        names = [listed([pair.first]), listed([pair.second])]
        rows.append([*names, f"{pair.correlation:.3f}", _number(pair.nats)])
    return "\n".join([align(rows), *_more(d * (d - 1) // 2, PAIRS, "pairs")])


def _candidates(found: Diagnosis) -> str:
    if not found.candidates:
        return found.candidates_from
    rows = [["model", "log loss", "gain", "standard error"]]
    for each in found.candidates:
        numbers = each.log_loss, each.gain, each.standard_error
        rows.append([cell(each.name), *(f"{number:.4f}" for number in numbers)])
    return f"{align(rows)}\n({found.candidates_from})"


def _number(value: float) -> str:
    return f"{value:.3g}" if np.isfinite(value) else "-"


def _more(total: int, shown: int, what: str) -> list[str]:
    return [f"... and {total - shown} more {what}; --json has all"] if total > shown else []
