"""Models that the same statistics give, and their log loss on rows that they have not learned.

A model whose statistics have full scatter is compared with others of these statistics, on the rows
that are given. Otherwise, or where the model has learned just these rows, the rows of each class
are cut in two halves, row by row in turn, and models of the statistics of one half score the rows
of the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..kernels.learn.standardized import take_turns
from ..model.family import MEMBERS, Member, default_member
from ..model.model import Model
from ..stats.class_stats import ClassStats

__all__ = ["Candidate", "CandidateLosses", "Contest", "contest_of", "title_of"]

Floats = NDArray[np.float64]

_LARGEST = -float(np.log(np.finfo(np.float64).eps))
_LEAST = -float(np.log1p(-np.finfo(np.float64).eps))


class Candidate(NamedTuple):
    """A model of the family, and its log loss on rows that it has not learned.

    Parameters
    ----------
    name : str
        The estimator with the options that differ from its defaults.
    log_loss : float
        Mean of -log p(true label) in nats, with p clipped to [eps, 1 - eps].
    gain : float
        By how much that is below the log loss of the first candidate, which is the model itself.
    standard_error : float
        Standard error of the gain, of the paired differences of rows.
    n_rows : int
        Rows that were scored.
    """

    name: str
    log_loss: float
    gain: float
    standard_error: float
    n_rows: int


class Contest(NamedTuple):
    """Models to compare: a list for each half of the rows, of one that scores all rows.

    names : of each model, the first one being the model that is diagnosed. is_halved : whether
    models were estimated from halves of the rows.
    """

    names: tuple[str, ...]
    models: tuple[tuple[Model, ...], ...]
    is_halved: bool


def title_of(member: Member, options: Mapping[str, Any]) -> str:
    """An estimator with options that differ from its defaults: GaussianNB(tied=True).

    Without priors, which all candidates have in common.
    """
    changed = [
        f"{name}={value!r}"
        for name, value in options.items()
        if name != "priors" and value != member.defaults.get(name)
    ]
    return f"{member.name}({', '.join(changed)})" if changed else member.name


def contest_of(model: Model, halves: tuple[ClassStats, ClassStats]) -> Contest:
    """What to compare a model with. Raises ValueError where nothing can be estimated.

    halves : statistics of the continuous features of two halves of the rows, over the model's
    classes. Members that need full scatter are left out where these have none.
    """
    own, rows = model.stats, halves[0] + halves[1]
    is_full = isinstance(own, ClassStats) and own.covariance is not None
    is_halved = not (is_full and rows.covariance is not None) or _same_rows(own, rows)
    sources = (halves[1], halves[0]) if is_halved else (own,)
    entries = _entries(model, full=sources[0].covariance is not None)
    names, kept = list[str](), list[list[Model]]()
    for member, options in entries:
        try:
            kept.append([Model.of(member, stats, **options) for stats in sources])
            _ = [each.params for each in kept[-1]]
        except ValueError:
            if not names:  # the model itself, without which there is nothing to compare with
                raise
            del kept[len(names) :]
            continue
        names.append(title_of(member, options))
    return Contest(tuple(names), tuple(zip(*kept, strict=True)), is_halved)


def _entries(model: Model, *, full: bool) -> list[tuple[Member, dict[str, Any]]]:
    """Members with options: that of the model first, and then those that the registry names."""
    member, options = model.member, dict(model.options)
    if member.takes_categories:  # which of its features are continuous are left
        member = default_member(categories=False)
        options = {name: options[name] for name in member.defaults if name in options}
    priors = options.get("priors")
    found = [(member, _plain(member, options))]
    for each in MEMBERS.values():
        for given in each.alternatives:
            wanted = _plain(each, {**given, "priors": priors})
            if (full or not each.needs_full_scatter) and (each, wanted) not in found:
                found.append((each, wanted))
    return found


def _plain(member: Member, options: Mapping[str, Any]) -> dict[str, Any]:
    """Every option of a member that decides how whole rows are scored."""
    given = {**member.defaults, **options}
    return {k: v for k, v in given.items() if not member.option(k).is_learned}


def _same_rows(own: ClassStats, rows: ClassStats) -> bool:
    """Whether statistics are of the same rows, to rounding."""
    if own.mean.shape != rows.mean.shape:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        sd = np.sqrt(rows.variance)
        near = np.abs(own.mean - rows.mean) <= 1e-9 * (np.abs(rows.mean) + sd)
    return bool(np.allclose(own.count, rows.count, rtol=1e-9, atol=0.0) and near.all())


class CandidateLosses:
    """Adds up the log losses of the models of a contest over batches of rows.

    Merged by `+`. A batch comes with the codes of its rows; the rows take turns within their class
    as they did when the statistics of the halves were made. `seen`: how many rows of each class
    (k,) came before these; None: none.
    """

    def __init__(self, contest: Contest, k: int, seen: NDArray[np.int64] | None = None) -> None:
        self._contest = contest
        self._seen = np.zeros(k, np.int64) if seen is None else seen.copy()
        self._stats: ClassStats | None = None
        self.n_rows = 0

    def update(self, X: NDArray[Any], codes: NDArray[np.int32], weight: Floats | None) -> None:
        """Add rows X (n, d), all of them finite, with codes of the model's classes and weights."""
        turns = take_turns(codes, self._seen)
        parts = [turns == 0, turns == 1] if self._contest.is_halved else [slice(None)]
        for mask, models in zip(parts, self._contest.models, strict=True):
            rows, own = X[mask], codes[mask]
            if len(own):
                losses = np.column_stack([_loss(each, rows, own) for each in models])
                self._add(losses, None if weight is None else weight[mask])

    def _add(self, losses: Floats, weight: Floats | None) -> None:
        zeros = np.zeros(len(losses), np.int64)
        stats = ClassStats.from_rows(losses, zeros, weight, scatter="full")
        self._stats = stats if self._stats is None else self._stats + stats
        self.n_rows += len(losses)

    def __add__(self, other: Self) -> Self:
        """The losses of the rows of both, of one contest."""
        both = type(self)(self._contest, len(self._seen))
        known = [each._stats for each in (self, other) if each._stats is not None]
        both._stats = sum(known[1:], known[0]) if known else None
        both.n_rows = self.n_rows + other.n_rows
        return both

    def result(self, rows: float) -> tuple[Candidate, ...]:
        """The candidates; `rows` is the effective number of rows. Without rows there are none."""
        stats = self._stats
        if stats is None or stats.covariance is None:
            return ()
        loss, spread = stats.mean[0], stats.covariance[0]
        variance = np.diagonal(spread) + spread[0, 0] - 2.0 * spread[0]
        error = np.sqrt(np.maximum(variance, 0.0) / max(rows, 1.0))
        return tuple(
            Candidate(name, float(loss[i]), float(loss[0] - loss[i]), float(error[i]), self.n_rows)
            for i, name in enumerate(self._contest.names)
        )


def _loss(model: Model, X: NDArray[Any], codes: NDArray[np.int32]) -> Floats:
    """-log p(true label) of each row (n,), clipped as `sklearn.metrics.log_loss` does."""
    table = model.score(X, table="log_proba").table
    assert table is not None
    return np.asarray(np.clip(-table[np.arange(len(codes)), codes], _LEAST, _LARGEST))


def best_of(candidates: Sequence[Candidate]) -> Candidate | None:
    """The candidate to take instead of the first, or None.

    Its log loss is the least, or above the least by no more than a standard error: of those, the
    first, since the registry has the ones of fewer parameters first. It has to gain twice its
    standard error.
    """
    if not candidates:
        return None
    least = min(candidates, key=lambda each: each.log_loss)
    limit = least.log_loss + least.standard_error
    for each in candidates:
        if each.log_loss <= limit and each.gain > 2.0 * each.standard_error:
            return each
    return None
