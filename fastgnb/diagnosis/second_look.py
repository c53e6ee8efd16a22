"""The sums of a first pass over rows, and a second look at them, to a `Diagnosis`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.model import Model
from .advice import findings_of, suggestion_of
from .candidates import CandidateLosses, Contest, contest_of
from .dependence import Dependence, dependence_of
from .diagnoser import MOST_PAIRS, Diagnoser, known_rows
from .diagnosis import Diagnosis
from .normality import edges_of, normality_of

__all__ = [
    "Batch",
    "check_known",
    "contest_for",
    "diagnosis_of",
    "losses_of",
    "origin_of",
    "second_look",
]

Batch = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]
"""Rows (n, d) of continuous features, labels (n,) and weights (n,), or None."""


def second_look(diagnoser: Diagnoser, batches: Callable[[], Iterator[Batch]]) -> Diagnosis:
    """The diagnosis of the rows of `diagnoser`, which `batches` gives once more, as they were."""
    check_known(diagnoser)
    contest, reason = contest_for(diagnoser)
    if contest is None:
        return diagnosis_of(diagnoser, None, reason)
    losses = losses_of(diagnoser.model, contest, batches())
    return diagnosis_of(diagnoser, losses, origin_of(contest))


def losses_of(
    model: Model,
    contest: Contest,
    batches: Iterable[Batch],
    seen: NDArray[np.int64] | None = None,
) -> CandidateLosses:
    """The losses of the models of a contest on rows of `model`, as they were when first seen.

    seen : how many rows of each class (k,) came before these; None: none.
    """
    losses = CandidateLosses(contest, len(model.classes), seen)
    for X, y, weight in batches:
        found = known_rows(model, X, y, weight)
        found = found.whole() if model.missing == "skip" else found
        losses.update(found.X, found.codes, found.weight)
    return losses


def check_known(diagnoser: Diagnoser) -> None:
    """Raise ValueError unless there are rows with labels that the model knows."""
    if diagnoser.n_known == 0:
        n = diagnoser.n_unknown
        what = f"none of {n} rows has one of them" if n else "found no rows of weight above 0"
        raise ValueError(
            f"Expected rows with labels that the model knows, {diagnoser.model.classes}; {what}."
        )


def contest_for(diagnoser: Diagnoser) -> tuple[Contest | None, str]:
    """The models to compare, or None and why there are none."""
    halves = diagnoser.halves()
    if halves is None:
        return None, "no models were compared: every row has missing values"
    try:
        return contest_of(diagnoser.model, halves), ""
    except ValueError as error:
        return None, f"no models were compared: {error}"


def origin_of(contest: Contest) -> str:
    """What the compared models are estimated from, and which rows they score."""
    if contest.is_halved:
        return "models of one half of each class's rows, on those of the other half"
    return "models of this model's statistics, on the rows given"


def diagnosis_of(
    diagnoser: Diagnoser, losses: CandidateLosses | None, candidates_from: str
) -> Diagnosis:
    """What the sums come to."""
    model = diagnoser.model
    normality = normality_of(diagnoser.moments, diagnoser.counts, diagnoser.effective)
    dependence, no_pairs = _dependence(diagnoser)
    none = np.full(len(model.classes), np.nan)
    found = Diagnosis(
        classes=model.classes,
        feature_names=_names(model),
        n_rows=diagnoser.n_known,
        class_rows=diagnoser.rows.copy(),
        class_weight=diagnoser.weight.copy(),
        **normality._asdict(),
        z_edges=edges_of(diagnoser.counts.shape[2]),
        z_counts=diagnoser.counts.copy(),
        correlation=None if dependence is None else dependence.correlation,
        pooled_correlation=None if dependence is None else dependence.pooled,
        total_correlation=none if dependence is None else dependence.total,
        total_by_chance=none if dependence is None else dependence.chance,
        total_noise=none if dependence is None else dependence.noise,
        is_bound=np.zeros(len(none), np.bool_) if dependence is None else dependence.is_bound,
        constant=(normality.sd_z == 0),
        copies=() if dependence is None else dependence.copies,
        n_whole_rows=diagnoser.n_whole,
        no_pairs=no_pairs,
        candidates=() if losses is None else losses.result(diagnoser.effective_total),
        candidates_from=candidates_from,
        n_unknown=diagnoser.n_unknown,
    )
    texts = findings_of(
        found, diagnoser.effective, is_naive=not model.member.needs_full_scatter,
        along_axes=model.member.likelihood.along_axes,
    )  # fmt: skip
    found = replace(found, findings=texts)
    return replace(found, suggestion=suggestion_of(found))


def _dependence(diagnoser: Diagnoser) -> tuple[Dependence | None, str]:
    """Dependence within classes, or None and why it is not known."""
    halves, d = diagnoser.halves(), diagnoser.counts.shape[1]
    if not diagnoser.has_pairs:
        k = len(diagnoser.rows)
        reason = (
            f"full scatter of two halves of {k} classes and {d} features takes {16 * k * d * d} "
            f"bytes, more than the limit of {8 * MOST_PAIRS}"
        )
        return None, reason
    if halves is None:
        return None, "correlations need whole rows, and every row has missing values"
    return dependence_of(halves[0] + halves[1], diagnoser.effective), ""


def _names(model: Model) -> tuple[str, ...]:
    """Names of the continuous features."""
    names = model.feature_names or tuple(f"feature {j}" for j in range(model.n_features))
    if not model.member.takes_categories:
        return names
    mask = model.stats.is_categorical
    return tuple(name for name, marked in zip(names, mask, strict=True) if not marked)
