"""What is odd about the features of a model, as sentences that say what to do."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.findings import Numbering, drowned, uneven
from ...model.model import Model

__all__ = ["finding_texts"]

_FEATURES = 6
"""Most features that are named in a sentence."""


def finding_texts(model: Model, keys: Sequence[Numbering] = ()) -> list[str]:
    """What is odd about the features of a model, a sentence or two each. See `findings`.

    keys : features that number the rows.
    """
    found = [_drowned_text(model), _uneven_text(model)]
    return [text for text in found if text] + [_key_text(model, key) for key in keys]


def _name(model: Model, j: int) -> str:
    names = model.feature_names
    return f"column {j} (from 0)" if names is None else repr(names[j])


def _drowned_text(model: Model) -> str | None:
    if model.options.get("standardize"):  # there epsilon is in other units than the features
        return None
    smoothing = model.options["var_smoothing"]
    found = drowned(model.stats, model.moments.epsilon, smoothing)
    if found is None:
        return None
    n, d = len(found.features), model.n_features
    names = ", ".join(_name(model, j) for j in found.features[:_FEATURES])
    more = f", and {n - _FEATURES} more" if n > _FEATURES else ""
    widest = _name(model, found.widest)
    source = "the first axis" if model.member.likelihood.along_axes else widest
    return (
        f"smoothing adds {found.epsilon:.3g} to each variance, {smoothing:g} of that "
        f"of {source}. That is more than the variance of {n} of {d} features that do vary "
        f"({names}{more}), which hardly count. Leave {widest} out (--exclude) or scale it, or "
        f"set --var-smoothing to {found.remedy:.0e}"
    )


def _uneven_text(model: Model) -> str | None:
    compares = model.member.compares_features
    remedy = None if compares is None else compares(model.options)
    apart = uneven(model.stats) if remedy else None
    if apart is None:
        return None
    return (
        f"standard deviations go from {apart.sd[0]:.3g} ({_name(model, apart.least)}) to "
        f"{apart.sd[1]:.3g} ({_name(model, apart.largest)}), and this model compares features with "
        f"each other, so that the largest decide. {remedy}"
    )


def _key_text(model: Model, key: Numbering) -> str:
    feature, how = key
    values = f"whole numbers that go on {how} from row to row"
    if how == "distinct":
        values = "a different whole number in every row"
    return (
        f"{_name(model, feature)} holds {values}: if it identifies rows, leave it out (--exclude)"
    )
