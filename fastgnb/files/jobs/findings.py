"""What is odd about the features of a model, as sentences that say what to do."""

from __future__ import annotations

from collections.abc import Sequence

from ...model.findings import Numbering, drowned, uneven
from ..models.saved import SavedModel

__all__ = ["finding_texts"]

_FEATURES = 6
"""Most features that are named in a sentence."""


def finding_texts(saved: SavedModel, keys: Sequence[Numbering] = ()) -> list[str]:
    """What is odd about the features of a model, a sentence or two each. See `findings`.

    keys : features that number the rows.
    """
    found = [_drowned_text(saved), _uneven_text(saved)]
    return [text for text in found if text] + [_key_text(saved, key) for key in keys]


def _name(saved: SavedModel, j: int) -> str:
    names = saved.feature_names
    return f"column {j} (from 0)" if names is None else repr(names[j])


def _drowned_text(saved: SavedModel) -> str | None:
    if saved.options.get("standardize"):  # there epsilon is in other units than the features
        return None
    found = drowned(saved.stats, saved.epsilon, saved.var_smoothing)
    if found is None:
        return None
    n, d = len(found.features), saved.n_features
    names = ", ".join(_name(saved, j) for j in found.features[:_FEATURES])
    more = f", and {n - _FEATURES} more" if n > _FEATURES else ""
    widest = _name(saved, found.widest)
    source = "the first axis" if saved.model == "PCAGaussianNB" else widest
    return (
        f"smoothing adds {found.epsilon:.3g} to each variance, {saved.var_smoothing:g} of that "
        f"of {source}. That is more than the variance of {n} of {d} features that do vary "
        f"({names}{more}), which hardly count. Leave {widest} out (--exclude) or scale it, or "
        f"set --var-smoothing to {found.remedy:.0e}"
    )


def _uneven_text(saved: SavedModel) -> str | None:
    remedy = _remedy_of_units(saved)
    apart = uneven(saved.stats) if remedy else None
    if apart is None:
        return None
    return (
        f"standard deviations go from {apart.sd[0]:.3g} ({_name(saved, apart.least)}) to "
        f"{apart.sd[1]:.3g} ({_name(saved, apart.largest)}), and this model compares features with "
        f"each other, so that the largest decide. {remedy}"
    )


def _remedy_of_units(saved: SavedModel) -> str | None:
    """What to do about features of different units, where the model depends on them."""
    options = saved.options
    if saved.model == "PCAGaussianNB":
        return None if options.get("standardize") else "Take --standardize"
    if options.get("covariance_type") == "spherical":
        return "Scale the features first, or take --covariance-type diag"
    if options.get("shrinkage") is not None and options.get("shrinkage_target") == "spherical":
        return "Take --shrinkage-target diagonal"
    return None


def _key_text(saved: SavedModel, key: Numbering) -> str:
    feature, how = key
    values = f"whole numbers that go on {how} from row to row"
    if how == "distinct":
        values = "a different whole number in every row"
    return (
        f"{_name(saved, feature)} holds {values}: if it identifies rows, leave it out (--exclude)"
    )
