"""Tasks of `evaluate` and `diagnose`: partitions to sums, which add up in the tree.

The sums travel as arrays and plain values, see `evaluation.state` and `diagnosis.state`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._system import optional
from ..diagnosis.candidates import CandidateLosses, Contest
from ..diagnosis.diagnose import GivenRows
from ..diagnosis.diagnoser import Diagnoser
from ..diagnosis.diagnosis import Diagnosis
from ..diagnosis.second_look import (
    check_known,
    contest_for,
    diagnosis_of,
    losses_of,
    origin_of,
)
from ..diagnosis.state import diagnoser_from, losses_from, state_of_diagnoser, state_of_losses
from ..estimators.base import GaussianClassifier
from ..evaluation.cells import check_thresholds
from ..evaluation.evaluate import add_rows, check_exact_rows
from ..evaluation.evaluation import Evaluation
from ..evaluation.state import evaluator_from, state_of
from ..files.models.as_bytes import from_bytes, to_bytes
from ..files.models.model_file import to_estimator
from ..model.model import Model
from .collections import Collections
from .scoring import lazy_model, model_of
from .tree import merge_states, merged

__all__ = ["diagnosis_of_partitions", "evaluation_of_partitions"]

State = dict[str, Any]
Names = tuple[str, ...] | None
ContestData = tuple[tuple[str, ...], tuple[tuple[bytes, ...], ...], bool]


# ------------------------------------------------------------------------------------ evaluation


def evaluation_of_partitions(
    model: GaussianClassifier,
    rows: Collections,
    split_every: int,
    *,
    thresholds: Iterable[float] | None,
    exact_rows: int,
) -> Evaluation:
    """The evaluation of a model on all rows, in one read of them."""
    check_exact_rows(exact_rows)
    asked = None if thresholds is None else check_thresholds(thresholds).tolist()
    classes = model.to_model().classes
    work = partial(evaluate_partition, thresholds=asked, exact_rows=exact_rows, names=rows.names)
    shared = {"model": lazy_model(model)}
    found = merged(
        rows.tasks(work, **shared), merge_evaluations, split_every, shared["model"]
    ).compute()
    if found is None:
        raise ValueError(f"Expected rows, found none: {rows.n_partitions} partitions are empty.")
    return evaluator_from(found, classes).result()


def evaluate_partition(
    X: Any, y: Any, weight: Any, number: int, *, model: bytes, thresholds: Any, exact_rows: int,
    names: Names,
) -> State | None:  # fmt: skip
    """What an `Evaluator` holds of a partition."""
    if not X.shape[0]:
        return None
    fitted = model_of(model, names)
    return state_of(add_rows(fitted, X, y, weight, thresholds=thresholds, exact_rows=exact_rows))


def merge_evaluations(states: list[State | None], model: bytes) -> State | None:
    """The sums of neighbours."""
    classes = model_of(model, None).to_model().classes
    total: State | None = merge_states(states, partial(evaluator_from, classes=classes), state_of)
    return total


# ------------------------------------------------------------------------------------- diagnosis


def diagnosis_of_partitions(
    model: GaussianClassifier, rows: Collections, split_every: int
) -> Diagnosis:
    """The diagnosis of a model on all rows, which are read twice."""
    fitted = model.to_model()
    shared = {"model": lazy_model(model)}
    tasks = rows.tasks(partial(look_at_partition, names=rows.names), **shared)
    first = merged(tasks, merge_looks, split_every, shared["model"]).compute()
    if first is None:
        raise ValueError(f"Expected rows, found none: {rows.n_partitions} partitions are empty.")
    diagnoser = _diagnoser_of(first, fitted)
    check_known(diagnoser)
    contest, reason = contest_for(diagnoser)
    if contest is None:
        return diagnosis_of(diagnoser, None, reason)
    others = {"contest": _shared_by_tasks(_contest_data(contest), "contest")}
    before = _shared_by_tasks(_rows_before(first["turns"], rows.n_partitions), "turns")
    tasks = rows.tasks(partial(score_contest, names=rows.names), before=before, **shared, **others)
    second = merged(tasks, merge_losses, split_every, others["contest"]).compute()
    return diagnosis_of(diagnoser, _losses_of(second, contest), origin_of(contest))


def look_at_partition(
    X: Any, y: Any, weight: Any, number: int, *, model: bytes, names: Names
) -> State | None:
    """What a `Diagnoser` holds of a partition, and how many rows of it took turns."""
    if not X.shape[0]:
        return None
    diagnoser = GivenRows(model_of(model, names), X, y, weight).first_look()
    turns = {number: np.packbits(diagnoser.seen % 2 == 1)}
    return _with_bytes({**state_of_diagnoser(diagnoser), "turns": turns}, "halves")


def merge_looks(states: list[State | None], model: bytes) -> State | None:
    """The sums of neighbours."""
    fitted = model_of(model, None).to_model()
    turns = {number: odd for each in states if each for number, odd in each["turns"].items()}
    found = merge_states(states, partial(_diagnoser_of, model=fitted), state_of_diagnoser)
    return None if found is None else _with_bytes({**found, "turns": turns}, "halves")


def score_contest(
    X: Any, y: Any, weight: Any, number: int, *, model: bytes, contest: ContestData, before: Any,
    names: Names,
) -> State | None:  # fmt: skip
    """The losses of other models on a partition."""
    if not X.shape[0]:
        return None
    given = GivenRows(model_of(model, names), X, y, weight)
    seen = np.unpackbits(before[number], count=len(given.model.classes)).astype(np.int64)
    losses = losses_of(given.model, _contest_of(contest), given.batches(), seen)
    return _with_bytes(state_of_losses(losses), "stats")


def merge_losses(states: list[State | None], contest: ContestData) -> State | None:
    """The losses of neighbours."""
    load = partial(_losses_of, contest=_contest_of(contest))
    found = merge_states(states, load, state_of_losses)
    return None if found is None else _with_bytes(found, "stats")


def _rows_before(turns: dict[int, NDArray[np.uint8]], n_partitions: int) -> NDArray[np.uint8]:
    """Whether the rows of each class before each partition are odd in number, as bits (n, k / 8).

    So rows take turns as they do where all of them are in memory.
    """
    width = len(next(iter(turns.values())))
    odd = np.zeros((n_partitions + 1, width), np.uint8)
    for number, bits in turns.items():
        odd[number + 1] = bits
    return np.bitwise_xor.accumulate(odd, axis=0)[:-1]


def _with_bytes(state: State, name: str) -> State:
    """The state with statistics as bytes."""
    return {**state, name: None if state[name] is None else to_bytes(state[name])}


def _with_statistics(state: State, name: str) -> State:
    """The state with statistics from their bytes."""
    return {**state, name: None if state[name] is None else from_bytes(state[name])}


def _diagnoser_of(state: State, model: Model) -> Diagnoser:
    return diagnoser_from(_with_statistics(state, "halves"), model)


def _losses_of(state: State, contest: Contest) -> CandidateLosses:
    return losses_from(_with_statistics(state, "stats"), contest)


def _shared_by_tasks(data: Any, what: str) -> Any:
    """Plain data as a Delayed."""
    token = optional.require("dask.base").tokenize(data)
    task = optional.require("dask").delayed
    return task(data, name=f"{what}-{token}", pure=True, traverse=False)


def _contest_data(contest: Contest) -> ContestData:
    """A contest as names, models as bytes, and whether it is of halves."""
    models = [tuple(to_bytes(to_estimator(model)) for model in half) for half in contest.models]
    return contest.names, tuple(models), contest.is_halved


@lru_cache(maxsize=2)
def _contest_of(data: ContestData) -> Contest:
    """The contest, kept with what its models have derived for scoring."""
    names, models, is_halved = data
    halves = [tuple(from_bytes(one).to_model() for one in half) for half in models]
    return Contest(names, tuple(halves), is_halved)
