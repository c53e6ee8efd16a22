"""Edited attributes of members whose files hold none: they are refused by name."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...estimate.parameters import check_attribute, check_prior
from ...input.label_types import same_labels
from ...model.model import Model

__all__ = ["storable"]


def storable(model: Model) -> Model:
    """The model as a file holds it. Raises ValueError for edits that it cannot hold."""
    if model.member.stores_edits:
        return _checked(model)
    fresh = Model.of(model.member, model.stats, **model.options)
    for name in model.member.likelihood.decisive:
        exact = model.member.likelihood.is_exact
        if not _are_same(model.attributes[name], fresh.attributes[name], name, exact=exact):
            raise ValueError(
                f"{name} is not what the statistics and parameters of this model give, and a model "
                "file holds those. Where a parameter was set after fit, save model.reestimate()."
            )
    return fresh


def _checked(model: Model) -> Model:
    """The model with attributes of float64 and of the right shapes."""
    given, shape = model.attributes, model.stats.mean.shape
    attributes = {
        "class_prior_": check_prior(given["class_prior_"], shape[0]),
        "theta_": check_attribute(given["theta_"], "theta_", shape),
        "var_": check_attribute(given["var_"], "var_", shape),
        "epsilon_": float(given["epsilon_"]),
    }
    return model.edited(model.stats, attributes)


def _are_same(found: Any, wanted: Any, name: str, *, exact: bool) -> bool:
    """Whether two attributes, arrays or lists of them, are the same, or to rounding.

    The last bits of what comes out of LAPACK depend on the machine that a model was made on: those
    of an axis in units of the longest component, and of other numbers in units of themselves, which
    may be those of a feature that is small beside the others.
    """
    if isinstance(wanted, list):
        alike = isinstance(found, (list, tuple)) and len(found) == len(wanted)
        return alike and all(map(partial(_are_same, name=name, exact=exact), found, wanted))
    if wanted is None or np.shape(found) != np.shape(wanted):
        return found is wanted
    if np.asarray(wanted).dtype.kind != "f":
        return same_labels(np.asarray(found), np.asarray(wanted))
    values = check_attribute(found, name, wanted.shape)
    if exact:
        return bool(np.array_equal(values, wanted))
    size = np.max(np.abs(wanted), initial=0.0, where=np.isfinite(wanted))
    least = 1e-12 * size if name in ("components_", "theta_") else 0.0
    return bool(np.allclose(values, wanted, rtol=1e-9, atol=least))
