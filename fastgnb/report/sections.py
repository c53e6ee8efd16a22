"""The sections of a report, in their order."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..densities.importance import importance
from ..diagnosis.diagnosis import Diagnosis
from ..files.jobs.assess_files import Assessed
from ..model.model import Model
from .assumptions import candidate_card, finding_card, independence_card, normality_card
from .charts import Chart, cards, render_chart
from .markup import Markup, tag
from .mistakes import brier_card, cutoff_section, label_card, pair_card
from .page import Section, page
from .parameters import model_section
from .pictures import (
    assumption_charts,
    calibration_charts,
    feature_charts,
    mistake_charts,
    model_charts,
    ranking_charts,
    threshold_charts,
)  # fmt: skip
from .provenance import provenance_section
from .summary import finding_list, lede, strip
from .wording import short

__all__ = ["report_page"]

_FOOT = "Written by fastgnb. This page is self-contained and fetches nothing."


MOST = 2_000_000
"""Most bytes of a page."""

_LONGEST = (250_000, 60_000, 0)
"""Most characters of a picture as matplotlib writes it; the next one where pages are too long."""

Paint = Callable[[Chart], Markup]


def report_page(assessed: Assessed, *, title: str | None, date: datetime.datetime) -> bytes:
    """The page of a model that was assessed, of at most `MOST` bytes."""
    if title is None:
        title = f"{assessed.saved.model.member.name} for {short(assessed.target)}"
    for longest in _LONGEST:
        text = _page(assessed, title, date, partial(render_chart, longest=longest))
        content = text.encode("utf-8")
        if len(content) <= MOST:
            break
    return content


def _page(assessed: Assessed, title: str, date: datetime.datetime, paint: Paint) -> str:
    evaluation = assessed.evaluation
    head = Markup(lede(evaluation) + strip(evaluation) + finding_list(assessed))
    order = _order_of_features(assessed.saved.model)
    intro = "Where these numbers come from."
    sections = [
        _mistakes(assessed, paint),
        _cutoff(assessed, paint),
        _ranking(assessed, paint),
        _probabilities(assessed, paint),
        _features(assessed, order, paint),
        _assumptions(assessed, paint),
        _model(assessed, order, paint),
        Section("provenance", "Provenance", intro, provenance_section(assessed, date)),
    ]
    return page(title, "fastgnb evaluation report", head, sections, _FOOT)


def _mistakes(assessed: Assessed, paint: Paint) -> Section:
    evaluation = assessed.evaluation
    intro = "How often each label is predicted correctly, and which labels are confused."
    charts = mistake_charts(evaluation)
    is_wide = charts[0].is_wide
    parts = [*map(paint, charts), pair_card(evaluation, is_wide=is_wide), label_card(evaluation)]
    return Section("mistakes", "Mistakes", intro, cards(parts))


def _cutoff(assessed: Assessed, paint: Paint) -> Section:
    intro = (
        "A row is predicted as a class if the class has at least this probability. Counts are "
        "exact at each cut-off."
    )
    body = Markup(
        cutoff_section(assessed.evaluation)
        + cards(map(paint, threshold_charts(assessed.evaluation)))
    )
    return Section("cut-off", "Rates at a cut-off", intro, body)


def _ranking(assessed: Assessed, paint: Paint) -> Section:
    intro = "How well each label is ranked above the others, whatever the cut-off."
    return Section(
        "ranking", "Ranking", intro, cards(map(paint, ranking_charts(assessed.evaluation)))
    )


def _probabilities(assessed: Assessed, paint: Paint) -> Section:
    evaluation = assessed.evaluation
    intro = "Whether rows with a predicted probability of 0.8 are right in 80% of cases."
    charts = calibration_charts(evaluation)
    body = cards([*map(paint, charts), brier_card(evaluation, is_wide=charts[0].is_wide)])
    return Section("probabilities", "Probabilities", intro, body)


def _features(assessed: Assessed, order: NDArray[np.intp], paint: Paint) -> Section:
    intro = "Which features tell classes apart, and how they are distributed in each class."
    diagnosis = assessed.diagnosis
    found = diagnosis if isinstance(diagnosis, Diagnosis) else None
    charts = feature_charts(assessed.saved.model, order, found)
    return Section("features", "Features", intro, cards(map(paint, charts)))


def _assumptions(assessed: Assessed, paint: Paint) -> Section:
    intro = (
        "A Gaussian model assumes that features are normal within each class, and a naive one also "
        "assumes that they are independent. This section says how far these rows are from that, in "
        "nats per row: the loss in log density."
    )
    found = assessed.diagnosis
    if not isinstance(found, Diagnosis):
        body = tag("p", f"Not diagnosed: {found}", class_="hint")
        return Section("assumptions", "Assumptions", intro, body)
    normality, correlation = map(paint, assumption_charts(found))
    parts = [
        finding_card(found), candidate_card(found), normality, normality_card(found), correlation,
        independence_card(found),
    ]  # fmt: skip
    return Section("assumptions", "Assumptions", intro, cards(parts))


def _model(assessed: Assessed, order: NDArray[np.intp], paint: Paint) -> Section:
    model = assessed.saved.model
    body = Markup(model_section(assessed.saved, order) + cards(map(paint, model_charts(model))))
    return Section("model", "The model", "What it has learned, and with which options.", body)


def _order_of_features(model: Model) -> NDArray[np.intp]:
    """Positions of the features, those that tell classes apart best first."""
    if int(model.is_possible.sum()) < 2:
        return np.arange(model.n_features)
    return np.argsort(-np.nan_to_num(importance(model).auc), kind="stable")
