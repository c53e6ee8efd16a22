"""Which member of the family statistics become, and with which parameters: merge, reestimate."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...model.family import MEMBERS
from ...stats.mixed_stats import MixedStats
from .saved import SavedModel

__all__ = ["Choice", "allowed", "choose", "differing", "option_of"]

_PARAMETERS = ("priors", "var_smoothing", "missing")


class Choice(NamedTuple):
    """A member of the family with all of its parameters."""

    model: str
    parameters: dict[str, Any]
    options: dict[str, Any]

    def of(self, stats: Any, saved: SavedModel) -> SavedModel:
        """The model of statistics, with the columns of another."""
        return SavedModel.from_stats(
            stats, model=self.model, target=saved.target, weight=saved.weight, **self.parameters,
            **self.options,
        )  # fmt: skip


def choose(args: argparse.Namespace, saved: SavedModel) -> Choice:
    """The model's own choice, and what the command line says instead.

    Another member has its own defaults for what is not given, priors and missing apart. Raises
    ValueError for options that the member lacks, and for values that it cannot have.
    """
    kind = args.model_type or saved.model
    member = MEMBERS[kind]
    given = {name: _value(getattr(args, name)) for name in _names() if _is_given(args, name)}
    for name in given:
        if name not in member.options:
            raise ValueError(f"{option_of(name)} is not an option of {kind}")
    options = {**(saved.options if kind == saved.model else member.options), **given}
    member.check(options)
    smoothing = saved.var_smoothing if kind == saved.model else member.var_smoothing
    parameters = {"priors": saved.priors, "var_smoothing": smoothing, "missing": saved.missing}
    parameters |= {n: _value(getattr(args, n)) for n in _PARAMETERS if _is_given(args, n)}
    if parameters["missing"] == "skip" and member.needs_full:
        raise ValueError(f"--missing skip is not an option of {kind}")
    return Choice(kind, parameters, options)


def allowed(stats: Any) -> list[str]:
    """The members that can be made of statistics."""
    if isinstance(stats, MixedStats):
        return ["MixedNB"]
    full = stats.covariance is not None
    return [
        name for name in MEMBERS if name != "MixedNB" and (full or not MEMBERS[name].needs_full)
    ]


def differing(args: argparse.Namespace, models: Sequence[SavedModel]) -> dict[str, list[Any]]:
    """Parameters that differ between models and that no option decides, with their values."""
    found: dict[str, list[Any]] = {"model": [saved.model for saved in models]}
    found |= {name: [getattr(saved, name) for saved in models] for name in _PARAMETERS}
    if len({saved.model for saved in models}) == 1:
        # Which features are categorical is in the statistics, by name.
        names = [name for name in models[0].options if name != "categorical_features"]
        found |= {name: [saved.options[name] for saved in models] for name in names}
    if args.model_type and len(set(found["model"])) > 1:
        del found["var_smoothing"]  # the members' defaults differ, too
    return {
        name: values
        for name, values in found.items()
        if any(value != values[0] for value in values) and not _is_given(args, name)
    }


def option_of(name: str) -> str:
    """How the command line calls a parameter."""
    return {"model": "--model-type"}.get(name, "--" + name.replace("_", "-"))


def _names() -> list[str]:
    return sorted({n for member in MEMBERS.values() for n in member.options} - {_DECIDED})


_DECIDED = "categorical_features"  # by the statistics


def _is_given(args: argparse.Namespace, name: str) -> bool:
    return getattr(args, {"model": "model_type"}.get(name, name), None) is not None


def _value(value: Any) -> Any:
    """What an option says: some words stand for None, the absence of a choice."""
    if isinstance(value, str) and value in ("data", "none", "all"):
        return None
    return list(value) if isinstance(value, tuple) else value
