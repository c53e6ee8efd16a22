"""Which member of the family statistics become, and with which options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...model.family import MEMBERS, Member, all_options, members_with
from ...model.model import Model
from ...stats.mixed_stats import MixedStats
from ..phrases import counted, listed

__all__ = [
    "Choice",
    "check_allowed",
    "check_priors",
    "choose",
    "choose_for_fit",
    "differing",
    "option_of",
]

_DECIDED = ("categorical_features",)
"""Options that statistics have decided."""


class Choice(NamedTuple):
    """A member of the family with options, those that are not given being its defaults."""

    member: Member
    options: dict[str, Any]

    def of(self, stats: Any) -> Model:
        """The model of statistics."""
        return Model.of(self.member, stats, **self.options)

    def value(self, name: str) -> Any:
        """An option, or its default; None where the member lacks it."""
        return {**self.member.defaults, **self.options}.get(name)


def choose_for_fit(given: Mapping[str, Any], member: Member) -> Choice:
    """A member with options. Raises ValueError for one that it lacks."""
    for name in given:
        if not member.has(name) and name != "missing":
            raise ValueError(
                f"{option_of(name)} is not an option of {member.name}, but of "
                f"{' and '.join(members_with(name))}"
            )
    options = dict(given)
    if not member.has("missing") and options.pop("missing", "error") == "skip":
        raise ValueError(
            f"--missing skip is not an option of {member.name}; --on-error skip leaves out rows "
            "with missing values"
        )
    member.check(options)
    return Choice(member, options)


def choose(given: Mapping[str, Any], model_type: str | None, model: Model) -> Choice:
    """The model's own choice, and the options that are given instead.

    Another member has its own defaults for what is not given, priors and missing apart. Raises
    ValueError for options that the member lacks, and for values that it cannot have.
    """
    member = model.member if model_type is None else MEMBERS[model_type]
    for name in given:
        if (not member.has(name) and name != "missing") or name in _DECIDED:
            raise ValueError(f"{option_of(name)} is not an option of {member.name}")
    kept = dict(model.options)
    if member.name != model.member.name:
        kept = {"priors": model.options["priors"], "missing": model.missing}
    options = {**kept, **given}
    if not member.has("missing") and options.pop("missing", "error") == "skip":
        raise ValueError(f"--missing skip is not an option of {member.name}")
    member.check(options)
    return Choice(member, options)


def differing(
    given: Mapping[str, Any], model_type: str | None, models: Sequence[Model]
) -> dict[str, list[Any]]:
    """Options that differ between models and that are not given, with their values."""
    values_of: dict[str, list[Any]] = {"model": [model.member.name for model in models]}
    names = ["priors", "var_smoothing", "missing"]
    if len(set(values_of["model"])) == 1:
        # Which features are categorical is in the statistics, by name.
        others = [name for name in models[0].options if name not in names]
        names += sorted(name for name in others if name not in _DECIDED)
    values_of |= {name: [_value(model, name) for model in models] for name in names}
    if model_type is not None:
        if len(set(values_of["model"])) > 1:
            del values_of["var_smoothing"]  # the members' defaults differ, too
        del values_of["model"]
    return {
        name: values
        for name, values in values_of.items()
        if any(value != values[0] for value in values) and name not in given
    }


def _value(model: Model, name: str) -> Any:
    return model.missing if name == "missing" else model.options[name]


def option_of(name: str) -> str:
    """How the command line calls an option."""
    if name == "model":
        return "--model-type"
    members = all_options().get(name)
    if members is None:
        return "--" + name.replace("_", "-")
    return next(iter(members.values())).option_string


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
    return [
        member.name
        for member in MEMBERS.values()
        if isinstance(stats, member.likelihood.stats_class)
        and not (member.needs_full_scatter and stats.covariance is None)
    ]


def check_priors(choice: Choice, stats: Any) -> None:
    """Raise ValueError, which names the classes in their order, unless each has a prior."""
    priors, classes = choice.options.get("priors"), stats.classes.tolist()
    if priors is not None and len(priors) != len(classes):
        raise ValueError(
            f"{counted(len(priors), 'prior')}; expected one for each class, in this order: "
            f"{listed(classes)}; choose with --priors"
        )
