"""The options of the members as arguments of commands, made of what the registry declares.

Only argparse and the registry are imported, so that `--help` is instant.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from ..model.family import MEMBERS, all_options
from ..model.options import ArrayLike, Flag, Nothing, Number, OneOf, Option, Values, Whole, Words
from .argument_types import AddNames, names_or_auto, number, positive, priors, smoothing

__all__ = ["add_common_options", "add_family_options"]

COMMON = ("priors", "var_smoothing", "missing")
"""Options that every model has, whatever the member."""


def add_common_options(parser: argparse.ArgumentParser, *, of_model: bool) -> None:
    """Those that every model has. `of_model`: they change a model, and are its own by default."""
    options = all_options()
    missing = options["missing"]
    words = next(each.words for each in _values(missing) if isinstance(each, Words))
    parser.add_argument(
        "--missing", choices=words, default=None if of_model else _default(missing),
        help=_help(missing, says_default=not of_model),
    )  # fmt: skip
    given = options["priors"]
    word = next(iter(given.values())).nothing()
    assert word is not None
    parser.add_argument(
        "--priors", type=_word_or(priors, word) if of_model else priors,
        metavar=f"P,P|{word.word}" if of_model else "P,P",
        help=_help(given) + (f"; {word.word}: {word.meaning}" if of_model else ""),
    )  # fmt: skip
    smooth = options["var_smoothing"]
    default = "" if of_model else "; default: the model's"
    parser.add_argument(
        "--var-smoothing", type=smoothing, metavar="F", help=_help(smooth) + default
    )


def add_family_options(parser: argparse.ArgumentParser, default: str, *, of_data: bool) -> None:
    """Options of the members; with `of_data` those too that statistics have decided already.

    `default` says which member is taken where none is named.
    """
    family = parser.add_argument_group(
        "family", "which Gaussian Bayes classifier; see help(fastgnb)"
    )
    family.add_argument("--model-type", choices=list(MEMBERS), help=f"default: {default}")
    for name, options in all_options().items():
        decided = any(option.flag is not None for option in options.values())
        if name not in COMMON and (of_data or not decided):
            _add(family, name, options)


def _add(group: Any, name: str, options: Mapping[str, Option]) -> None:
    """Add the argument of an option, as the members that have it declare it."""
    option = next(iter(options.values()))
    values = _values(options)
    text = {"help": _help(options), "dest": name, "default": None}
    if all(isinstance(each, Flag) for each in values):
        group.add_argument(option.option_string, action=argparse.BooleanOptionalAction, **text)
    elif all(isinstance(each, Words) for each in values):
        words = [word for each in values if isinstance(each, Words) for word in each.words]
        group.add_argument(option.option_string, choices=list(dict.fromkeys(words)), **text)
    elif all(isinstance(each, OneOf) for each in values):
        numbers = sorted({n for each in values if isinstance(each, OneOf) for n in each.numbers})
        group.add_argument(option.option_string, type=int, choices=numbers, **text)
    elif any(isinstance(each, ArrayLike) for each in values) and any(
        isinstance(each, Words) for each in values
    ):
        text["metavar"] = option.metavar
        group.add_argument(option.option_string, type=names_or_auto, action=AddNames, **text)
    else:
        text["metavar"] = option.metavar
        group.add_argument(option.option_string, type=_reader(values), **text)


def _reader(values: list[Values]) -> Callable[[str], Any]:
    """What reads numbers of these values from text, and words as they are."""
    words = {word for each in values if isinstance(each, Words) for word in each.words}
    words |= {each.word for each in values if isinstance(each, Nothing) and each.word}
    has_whole = any(isinstance(each, Whole) for each in values)
    has_number = any(isinstance(each, Number) for each in values)

    def read(text: str) -> Any:
        if text in words:
            return text
        if has_whole and (text.isdecimal() or not has_number):
            return int(text) if has_number else positive(text)
        return number(text)

    return read


def _word_or(read: Callable[[str], Any], nothing: Nothing) -> Callable[[str], Any]:
    return lambda text: text if text == nothing.word else read(text)


def _values(options: Mapping[str, Option]) -> list[Values]:
    return [each for option in options.values() for each in option.values]


def _default(options: Mapping[str, Option]) -> Any:
    return next(iter(options.values())).default


def _help(options: Mapping[str, Option], *, says_default: bool = True) -> str:
    """The line of the first member that has it, who has it, and its default where it is one."""
    option = next(iter(options.values()))
    of = "" if len(options) == len(MEMBERS) else f"of {' and '.join(_listed(list(options)))}: "
    defaults = {repr(each.default) for each in options.values()}
    is_said = says_default and len(defaults) == 1 and option.default not in (None, False) and of
    return f"{of}{option.help}" + (f"; default: {option.default}" if is_said else "")


def _listed(names: list[str]) -> list[str]:
    """Names to be joined by "and"."""
    return [", ".join(names[:-1]), names[-1]] if len(names) > 1 else names
