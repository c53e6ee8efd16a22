"""What model files of each schema hold.

A file of schema 1 to `container.SCHEMA` can be read for ever (tests/data holds some of each). It
holds the fields and tensors of its schema and no others, of which `feature_count` and `peak` may be
absent. Whatever a reader of today would not understand raises the number, and it then says to
update.

Schema 1 holds a GaussianNB with its first options. Schema 2 adds the other members of the family,
with `options` and full scatter; their parameters are estimated anew from the statistics. A member
that takes categories has `categorical`, its features with categories, and their counts side by side
in one tensor; the others are of its continuous features, which may be none. Schema 3 adds the
options `shrinkage_target`, `standardize` and `max_categories`; what they are in earlier schemas
stands in the registry (`Option.before`). What an earlier schema can hold is still written in it.
Schema 4 adds statistics without a model, of any number of rows and classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...model.family import MEMBERS, Member
from ...model.model import Model

__all__ = [
    "COMMON", "FIELDS", "FIRST_OF_STATISTICS", "MOMENTS", "OF_CLASSES", "OF_FEATURES", "OPTIONAL",
    "STATISTICS", "before", "fields_of", "member_of", "own_options", "schema_of", "tensor_names",
    "tensor_names_of_stats",
]  # fmt: skip

FIELDS = {
    "schema", "model", "classes", "feature_names", "priors", "var_smoothing", "missing",
    "epsilon", "columns", "versions",
}  # fmt: skip
STATISTICS = {"schema", "statistics", "classes", "feature_names"}
FIRST_OF_STATISTICS = 4
OF_CLASSES = {"count", "class_prior"}
OF_FEATURES = {"mean", "mean_low", "variance", "theta", "var"}
MOMENTS = {"class_prior", "theta", "var"}  # of members that store their edits
OPTIONAL = {"feature_count", "peak"}
COMMON = ("priors", "var_smoothing", "missing")
"""Options that are fields of a file, whatever the member."""

_FIRST = "GaussianNB"  # the only member of schema 1


def own_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a member that are no fields of their own."""
    return {name: value for name, value in options.items() if name not in COMMON}


def before(member: Member, schema: int) -> dict[str, Any]:
    """Options that files of a schema lack, and what they are there."""
    options = [option for option in member.options if option.name not in COMMON]
    if schema == 1:
        return {option.name: option.default for option in options}
    return {option.name: option.before for option in options if option.since > schema}


def schema_of(model: Model) -> int:
    """The earliest schema that can hold a model."""
    options = own_options(model.options)
    if (
        model.member.name == _FIRST
        and options == own_options(model.member.defaults)
        and model.stats.covariance is None
    ):
        return 1
    later = before(model.member, 2)
    return 2 if all(options[name] == value for name, value in later.items()) else 3


def member_of(schema: int, name: Any) -> Member:
    """The member of that name, in files of a schema. Raises ValueError where there is none."""
    expected = [_FIRST] if schema == 1 else sorted(MEMBERS)
    if type(name) is not str or name not in expected:
        raise ValueError(f"model is {name!r:.40}, expected one of {expected}")
    return MEMBERS[name]


def fields_of(schema: int, member: Member | None) -> set[str]:
    """The fields of a file; of an unknown member those that all have."""
    fields = FIELDS if schema == 1 else FIELDS | {"options"}
    takes_categories = member is not None and member.takes_categories
    return fields | {"categorical"} if takes_categories and schema > 1 else fields


def tensor_names(schema: int, member: Member) -> tuple[set[str], set[str]]:
    """The tensors of a file: those that it has, and those that it may have."""
    names = (OF_CLASSES | OF_FEATURES) - MOMENTS
    optional = set(OPTIONAL)
    if member.stores_edits:
        names |= MOMENTS
    if member.takes_categories:
        names |= {"category_count"}
    elif member.needs_full_scatter:
        names |= {"covariance"}
    elif schema > 1:
        optional |= {"covariance"}
    return names, optional


def tensor_names_of_stats(*, mixed: bool) -> tuple[set[str], set[str]]:
    """The tensors of statistics without a model: those that they have, and may have."""
    names = (OF_CLASSES | OF_FEATURES) - MOMENTS
    return (names | {"category_count"}, OPTIONAL) if mixed else (names, OPTIONAL | {"covariance"})
