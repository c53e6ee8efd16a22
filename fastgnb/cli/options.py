"""Options of a command line as parameters of a member of the family."""

from __future__ import annotations

import argparse
from typing import Any

from ..files.jobs.choices import Choice
from ..model.family import MEMBERS

__all__ = ["categorical_names", "choice_of", "given_options"]

_PARAMETERS = ("priors", "var_smoothing", "missing")

_WORDS = ("data", "none", "all")
"""What stands for None, the absence of a choice."""


def choice_of(args: argparse.Namespace) -> Choice:
    """The member that `fit` estimates. Raises ValueError for an option that it lacks."""
    kind = args.model_type
    if kind is None:
        kind = "GaussianNB" if args.categorical_features is None else "MixedNB"
    member, given = MEMBERS[kind], _given(args, _option_names())
    for name in given:
        if name not in member.options:
            option = "categorical" if name == "categorical_features" else name.replace("_", "-")
            others = [each for each, other in MEMBERS.items() if name in other.options]
            raise ValueError(
                f"--{option} is not an option of {kind}, but of {' and '.join(others)}"
            )
    if args.missing == "skip" and member.needs_full:
        raise ValueError(
            f"--missing skip is not an option of {kind}; --on-error skip leaves out rows with "
            "missing values"
        )
    options = {**member.options, **given}
    member.check(options)
    smoothing = member.var_smoothing if args.var_smoothing is None else args.var_smoothing
    parameters = {"priors": args.priors, "var_smoothing": smoothing, "missing": args.missing}
    return Choice(kind, parameters, options)


def given_options(args: argparse.Namespace) -> dict[str, Any]:
    """The parameters that `merge` and `reestimate` are told."""
    return _given(args, [*_option_names(), *_PARAMETERS])


def categorical_names(args: argparse.Namespace) -> tuple[str, ...] | str:
    """The columns that --categorical names, or "auto"."""
    return args.categorical_features or ()


def _option_names() -> list[str]:
    return sorted({name for member in MEMBERS.values() for name in member.options})


def _given(args: argparse.Namespace, names: list[str]) -> dict[str, Any]:
    values = {name: getattr(args, name, None) for name in names}
    return {name: _value(value) for name, value in values.items() if value is not None}


def _value(value: Any) -> Any:
    if isinstance(value, str) and value in _WORDS:
        return None
    return list(value) if isinstance(value, tuple) else value  # a list, as JSON has it
