"""Whether the model's assumptions hold: findings, candidates, normality, and pairs of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..diagnosis.diagnosis import Diagnosis
from .charts import card
from .markup import Markup, tag
from .tables import Table, render
from .wording import short

__all__ = ["candidate_card", "finding_card", "independence_card", "normality_card"]

FEATURES = 100
"""Most features of the table of normality."""

PAIRS = 50
"""Most pairs of features."""

CLASSES = 200
"""Most classes of the table of independence."""


def finding_card(diagnosis: Diagnosis) -> Markup:
    """What is wrong, and what to do about it."""
    items = [tag("li", text) for text in diagnosis.findings]
    listed = tag("ul", *items, class_="findings") if items else None
    return card(
        tag("h3", "In words"), tag("p", tag("strong", diagnosis.suggestion)), listed, is_wide=True
    )


def candidate_card(diagnosis: Diagnosis) -> Markup:
    """Other models of the same statistics, on rows that they have not learned."""
    title = tag("h3", "Other models of the same statistics")
    source = tag("p", f"{diagnosis.candidates_from[:1].upper()}{diagnosis.candidates_from[1:]}.",
                 class_="hint")  # fmt: skip
    if not diagnosis.candidates:
        return card(title, source, is_wide=True)
    rows: list[list[Any]] = [
        [each.name, each.log_loss, each.gain, each.standard_error, each.n_rows]
        for each in diagnosis.candidates
    ]
    head = ("Model", "Log loss, nats per row", "Gain", "Standard error of the gain", "Rows")
    table = Table("Log loss on rows that were not learned; less is better", head, rows)
    return card(title, source, render(table, "candidates"), is_wide=True)


def normality_card(diagnosis: Diagnosis) -> Markup:
    """Features, those whose normality fails most first, in the class where it fails most."""
    order = diagnosis.ranking[:FEATURES].tolist()
    rows: list[list[Any]] = []
    labels = [short(label) for label in diagnosis.classes.tolist()]
    for j in order:
        entropy = diagnosis.negentropy[:, j]
        c = 0 if np.isnan(entropy).all() else int(np.nanargmax(entropy))
        rows.append(
            [
                short(diagnosis.feature_names[j]), diagnosis.feature_negentropy[j],
                diagnosis.p_value[j], labels[c], entropy[c], diagnosis.skewness[c, j],
                diagnosis.excess_kurtosis[c, j], diagnosis.beyond_3sd[c, j],
                diagnosis.kolmogorov[c, j],
            ]
        )  # fmt: skip
    d = len(diagnosis.feature_names)
    note = "Skewness and the rest are those of the class where it fails most"
    if d > FEATURES:
        note += f"; the first {FEATURES} of {d:,} features"
    head = (
        "Feature", "Negentropy, nats per row", "p-value", "Worst class", "Negentropy there",
        "Skewness", "Excess kurtosis", "Share beyond 3 sd", "Kolmogorov distance",
    )  # fmt: skip
    table = Table("Normality within classes", head, rows, note, d > 10)
    title = tag("h3", "Normality, feature by feature")
    return card(title, render(table, "features-normality"), is_wide=True)


def independence_card(diagnosis: Diagnosis) -> Markup:
    """What features share within classes, by pairs and by classes."""
    title = tag("h3", "Independence within classes")
    if diagnosis.pooled_correlation is None:
        text = f"There are no correlations: {diagnosis.no_pairs}."
        return card(title, tag("p", text, class_="hint"), is_wide=True)
    tables = tag(
        "div",
        tag("div", render(_pair_table(diagnosis), "pairs")),
        tag("div", render(_class_table(diagnosis), "total-correlation")),
        class_="cards",
    )
    return card(title, tables, is_wide=True)


def _pair_table(diagnosis: Diagnosis) -> Table:
    pairs = diagnosis.pairs(PAIRS)
    rows = [[short(a), short(b), correlation, nats] for a, b, correlation, nats in pairs]
    d = len(diagnosis.feature_names)
    total = d * (d - 1) // 2
    note = "" if len(rows) >= total else f"The first {len(rows)} of {total:,}"
    head = ("Feature", "Other feature", "Correlation", "Shared, nats per row")
    return Table("Pairs of features that share most", head, rows, note, len(rows) > 10)


def _class_table(diagnosis: Diagnosis) -> Table:
    labels = diagnosis.classes.tolist()
    heaviest = np.sort(np.argsort(-diagnosis.class_weight, kind="stable")[:CLASSES]).tolist()
    rows = [
        [
            short(labels[c]), int(diagnosis.class_rows[c]), diagnosis.total_correlation[c],
            diagnosis.total_noise[c],
        ]
        for c in heaviest
    ]  # fmt: skip
    k = len(labels)
    note = "What a naive model leaves out"
    if k > CLASSES:
        note += f"; the {CLASSES} classes of most weight, of {k:,}"
    head = ("Class", "Rows", "Total correlation, nats per row", "Its noise")
    return Table("Total correlation of each class", head, rows, note, k > 10)
