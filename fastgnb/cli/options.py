"""Options of a command line as options of a member of the family."""

from __future__ import annotations

import argparse
from typing import Any

from ..files.jobs.choices import Choice, choose_for_fit
from ..model.family import MEMBERS, all_options, default_member

__all__ = ["categorical_names", "choice_of", "given_options"]


def choice_of(args: argparse.Namespace) -> Choice:
    """The member that `fit` estimates. Raises ValueError for an option that it lacks."""
    given = given_options(args)
    member = default_member(categories="categorical_features" in given)
    return choose_for_fit(given, MEMBERS.get(args.model_type, member))


def given_options(args: argparse.Namespace) -> dict[str, Any]:
    """Options of the command line, of Python's types: some words stand for None."""
    given: dict[str, Any] = {}
    for name, options in all_options().items():
        value = getattr(args, name, None)
        if value is None:
            continue
        nothing = [option.nothing() for option in options.values()]
        words = {each.word for each in nothing if each is not None}
        value = None if isinstance(value, str) and value in words else value
        given[name] = list(value) if isinstance(value, tuple) else value  # as JSON has it
    return given


def categorical_names(args: argparse.Namespace) -> tuple[str, ...] | str:
    """The columns that --categorical names, or "auto"."""
    return args.categorical_features or ()
