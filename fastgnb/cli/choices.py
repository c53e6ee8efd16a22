"""Which member of the family a command makes, and with which options."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..files.models.model_file import ModelFile
from ..model.family import MEMBERS, Member, all_options, default_member, members_with
from ..model.model import Model

__all__ = ["Choice", "allowed", "choose", "choose_for_fit", "differing", "option_of", "value_of"]


class Choice(NamedTuple):
    """A member of the family with options, those that are not given being its defaults."""

    member: Member
    options: dict[str, Any]

    def of(self, stats: Any) -> Model:
        """The model of statistics."""
        return Model.of(self.member, stats, **self.options)


def choose_for_fit(args: argparse.Namespace) -> Choice:
    """What `fastgnb fit` makes. Raises ValueError for an option that the member lacks."""
    given = _given(args)
    member = default_member(categories="categorical_features" in given)
    member = MEMBERS.get(args.model_type, member)
    for name in given:
        if not member.has(name) and name != "missing":
            raise ValueError(
                f"{option_of(name)} is not an option of {member.name}, but of "
                f"{' and '.join(members_with(name))}"
            )
    if not member.has("missing") and given.pop("missing", "error") == "skip":
        raise ValueError(
            f"--missing skip is not an option of {member.name}; --on-error skip leaves out rows "
            "with missing values"
        )
    member.check(given)
    return Choice(member, given)


def choose(args: argparse.Namespace, model: Model) -> Choice:
    """The model's own choice, and what the command line says instead.

    Another member has its own defaults for what is not given, priors and missing apart. Raises
    ValueError for options that the member lacks, and for values that it cannot have.
    """
    member = MEMBERS.get(args.model_type, model.member)
    given = _given(args)
    for name in given:
        if not member.has(name) and name != "missing":
            raise ValueError(f"{option_of(name)} is not an option of {member.name}")
    kept = dict(model.options)
    if member is not model.member:
        kept = {"priors": model.options["priors"], "missing": model.missing}
    options = kept | given
    if not member.has("missing") and options.pop("missing", "error") == "skip":
        raise ValueError(f"--missing skip is not an option of {member.name}")
    member.check(options)
    return Choice(member, options)


def allowed(stats: Any) -> list[str]:
    """The members that can be made of statistics."""
    return [
        member.name
        for member in MEMBERS.values()
        if isinstance(stats, member.likelihood.stats_class)
        and not (member.needs_full_scatter and stats.covariance is None)
    ]


def differing(args: argparse.Namespace, files: Sequence[ModelFile]) -> dict[str, list[Any]]:
    """Options that differ between models and that no option decides, with their values."""
    models = [file.model for file in files]
    found: dict[str, list[Any]] = {"model": [model.member.name for model in models]}
    names = ["priors", "var_smoothing", "missing"]
    if len(set(found["model"])) == 1:
        # Which features are categorical is in the statistics, by name.
        others = [name for name in models[0].options if name not in names]
        names += sorted(name for name in others if name not in _DECIDED)
    found |= {name: [_value(model, name) for model in models] for name in names}
    if args.model_type and len(set(found["model"])) > 1:
        del found["var_smoothing"]  # the members' defaults differ, too
    return {
        name: values
        for name, values in found.items()
        if any(value != values[0] for value in values) and not _is_given(args, name)
    }


def option_of(name: str) -> str:
    """How the command line calls an option."""
    if name == "model":
        return "--model-type"
    return next(iter(all_options()[name].values())).option_string


_DECIDED = ("categorical_features",)  # by the statistics


def _value(model: Model, name: str) -> Any:
    return model.missing if name == "missing" else model.options[name]


def _given(args: argparse.Namespace) -> dict[str, Any]:
    """Options of the command line, of Python's types: some words stand for None."""
    given: dict[str, Any] = {}
    for name, options in all_options().items():
        value = getattr(args, name, None)
        if value is None:
            continue
        words = {option.nothing().word for option in options.values() if option.nothing()}  # type: ignore[union-attr]
        value = None if isinstance(value, str) and value in words else value
        given[name] = list(value) if isinstance(value, tuple) else value
    return given


def _is_given(args: argparse.Namespace, name: str) -> bool:
    return getattr(args, {"model": "model_type"}.get(name, name), None) is not None


def value_of(choice: Choice, name: str) -> Any:
    """An option of a choice, or its default; None where the member lacks it."""
    defaults: Mapping[str, Any] = choice.member.defaults
    return {**defaults, **choice.options}.get(name)
