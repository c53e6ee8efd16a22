"""Which member of the family statistics become, and with which parameters: merge, reestimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...model.family import MEMBERS
from ...stats.mixed_stats import MixedStats
from ..models.saved import SavedModel
from ..phrases import counted, listed

__all__ = ["Choice", "check_allowed", "check_priors", "choose", "differing", "option_of"]

_PARAMETERS = ("priors", "var_smoothing", "missing")

_DECIDED = "categorical_features"
"""An option that statistics have decided."""


class Choice(NamedTuple):
    """A member of the family with all of its parameters."""

    model: str
    parameters: dict[str, Any]
    options: dict[str, Any]

    def of(self, stats: Any, target: str | None, weight: str | None) -> SavedModel:
        """The model of statistics that were learned from these columns."""
        return SavedModel.from_stats(
            stats, model=self.model, target=target, weight=weight, **self.parameters, **self.options
        )


def choose(given: Mapping[str, Any], model_type: str | None, saved: SavedModel) -> Choice:
    """The model's own choice, and the parameters that are given instead.

    Another member has its own defaults for what is not given, priors and missing apart. Raises
    ValueError for options that the member lacks, and for values that it cannot have.
    """
    kind = model_type or saved.model
    member = MEMBERS[kind]
    changed = {name: given[name] for name in sorted(given) if name not in _PARAMETERS}
    for name in changed:
        if name not in member.options or name == _DECIDED:
            raise ValueError(f"{option_of(name)} is not an option of {kind}")
    options = {**(saved.options if kind == saved.model else member.options), **changed}
    member.check(options)
    smoothing = saved.var_smoothing if kind == saved.model else member.var_smoothing
    parameters = {"priors": saved.priors, "var_smoothing": smoothing, "missing": saved.missing}
    parameters |= {name: given[name] for name in _PARAMETERS if name in given}
    if parameters["missing"] == "skip" and member.needs_full:
        raise ValueError(f"--missing skip is not an option of {kind}")
    return Choice(kind, parameters, options)


def differing(
    given: Mapping[str, Any], model_type: str | None, models: Sequence[SavedModel]
) -> dict[str, list[Any]]:
    """Parameters that differ between models and that are not given, with their values."""
    found: dict[str, list[Any]] = {"model": [saved.model for saved in models]}
    found |= {name: [getattr(saved, name) for saved in models] for name in _PARAMETERS}
    if len({saved.model for saved in models}) == 1:
        # Which features are categorical is in the statistics, by name.
        names = [name for name in models[0].options if name != _DECIDED]
        found |= {name: [saved.options[name] for saved in models] for name in names}
    if model_type:
        if len(set(found["model"])) > 1:
            del found["var_smoothing"]  # the members' defaults differ, too
        del found["model"]
    return {
        name: values
        for name, values in found.items()
        if any(value != values[0] for value in values) and name not in given
    }


def option_of(name: str) -> str:
    """How the command line calls a parameter."""
    return {"model": "--model-type"}.get(name, "--" + name.replace("_", "-"))


def check_allowed(kind: str, stats: Any, name: str) -> None:
    """Raise ValueError where a member of the family needs more than the statistics hold.

    `name` is what the model is called in the message.
    """
    allowed = _allowed(stats)
    if kind not in allowed:
        held = "diagonal scatter" if getattr(stats, "covariance", None) is None else "full scatter"
        held = "categories" if isinstance(stats, MixedStats) else held
        raise ValueError(
            f"{name}: {kind} cannot be made of its statistics, which hold {held} "
            f"({' or '.join(allowed)} can). Fit again with --model-type {kind}."
        )


def _allowed(stats: Any) -> list[str]:
    """The members that can be made of statistics."""
    if isinstance(stats, MixedStats):
        return ["MixedNB"]
    full = stats.covariance is not None
    return [
        name for name in MEMBERS if name != "MixedNB" and (full or not MEMBERS[name].needs_full)
    ]


def check_priors(choice: Choice, stats: Any) -> None:
    """Raise ValueError, which names the classes in their order, unless each has a prior."""
    priors, classes = choice.parameters["priors"], stats.classes.tolist()
    if priors is not None and len(priors) != len(classes):
        raise ValueError(
            f"{counted(len(priors), 'prior')}; expected one for each class, in this order: "
            f"{listed(classes)}; choose with --priors"
        )
