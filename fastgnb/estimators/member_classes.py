"""The estimator of each member, and scikit-learn's parameter constraints of its options."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from ..model.family import MEMBERS, Member
from ..model.options import ArrayLike, Flag, Nothing, Number, OneOf, Option, Values, Whole, Words

__all__ = ["constraints_of", "estimator_of", "register_estimator"]

_PACKAGE = __name__.partition(".")[0]
_ESTIMATORS: dict[str, Any] = {}


def register_estimator(name: str, estimator: type) -> Member:
    """Make a class the estimator of a member, which is returned. Raises KeyError."""
    member = MEMBERS[name]
    _ESTIMATORS[name] = estimator
    return member


def estimator_of(member: Member) -> Any:
    """Return the estimator class of a member. Raises LookupError if none was defined."""
    if member.name not in _ESTIMATORS:
        package = importlib.import_module(_PACKAGE)
        if getattr(package, member.name, None) is None:  # which imports those of this package
            raise LookupError(
                f"{member.name} has no estimator: define a GaussianClassifier with "
                f"member={member.name!r}."
            )
    return _ESTIMATORS[member.name]


def constraints_of(member: Member) -> dict[str, Any]:
    """Return scikit-learn's parameter constraints of a member, made from its options."""
    return {option.name: _constraints(option) for option in member.options}


def _constraints(option: Option) -> Any:
    if any(isinstance(each, ArrayLike) for each in option.values) and any(
        isinstance(each, Words) for each in option.values
    ):
        return "no_validation"  # but by the option's own rule, in its own words
    return [_constraint(each) for each in option.values]


def _constraint(values: Values) -> Any:
    match values:
        case Nothing():
            return None
        case Words(words):
            return StrOptions(set(words))
        case Flag():
            return "boolean"
        case OneOf(numbers):
            return _interval(Integral, numbers)
        case Whole(low):
            return Interval(Integral, low, None, closed="left")
        case Number(low, high, is_open):
            if is_open:
                return Interval(Real, low, high, closed="neither")
            if high < float("inf"):
                return Interval(Real, low, high, closed="both")
            return Interval(Real, low, None, closed="left")
        case _:
            return "array-like"


def _interval(kind: type, numbers: Sequence[int]) -> Interval:
    return Interval(kind, min(numbers), max(numbers), closed="both")
