"""What the two looks of a diagnosis add up, as arrays and plain values: to send it to others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.learn.standardized import Moments
from ..model.model import Model
from .candidates import CandidateLosses, Contest
from .diagnoser import Diagnoser

__all__ = ["diagnoser_from", "losses_from", "state_of_diagnoser", "state_of_losses"]

_SUMS = ("counts", "rows", "weight", "norm", "_seen")
_COUNTS = ("n_known", "n_whole", "n_unknown")


def state_of_diagnoser(diagnoser: Diagnoser) -> dict[str, Any]:
    """All that a diagnoser holds but its model; "halves" are statistics, or None."""
    sums = {name: getattr(diagnoser, name) for name in (*_SUMS, *_COUNTS)}
    return {**sums, "moments": tuple(diagnoser.moments), "halves": diagnoser._halves}


def diagnoser_from(state: dict[str, Any], model: Model) -> Diagnoser:
    """The diagnoser of a model that `state_of_diagnoser` was called with."""
    diagnoser = Diagnoser(model)
    for name in _SUMS:
        setattr(diagnoser, name, np.require(state[name], requirements=["C", "W"]))
    for name in _COUNTS:
        setattr(diagnoser, name, state[name])
    diagnoser.moments = Moments(*state["moments"])
    diagnoser._halves = state["halves"]
    return diagnoser


def state_of_losses(losses: CandidateLosses) -> dict[str, Any]:
    """All that the losses of a contest hold; "stats" are statistics, or None."""
    return {"stats": losses._stats, "n_rows": losses.n_rows, "k": len(losses._seen)}


def losses_from(state: dict[str, Any], contest: Contest) -> CandidateLosses:
    """The losses of a contest that `state_of_losses` was called with."""
    losses = CandidateLosses(contest, state["k"])
    losses._stats, losses.n_rows = state["stats"], state["n_rows"]
    return losses
