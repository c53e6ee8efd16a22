"""The members of the family, without scikit-learn: their parameters, and how each is estimated.

What an estimator is besides its face stands here once, for files and commands too. A further
member needs an entry here, and an estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..estimate.axes import estimate_pca
from ..estimate.categorical import estimate_mixed_bayes
from ..estimate.diagonal import Estimate, estimate_naive_bayes
from ..estimate.full import estimate_gaussian_bayes
from ..estimate.options import (
    check_alpha,
    check_categorical_spec,
    check_components,
    check_fraction,
    check_max_categories,
    check_min_categories,
    check_sharing,
    check_shrinkage,
    check_shrinkage_target,
)
from ..stats.mixed_stats import MAX_CATEGORIES

__all__ = ["MEMBERS", "ROTATIONS", "Member"]

ROTATIONS = frozenset({"total", "within", "class"})


class Member(NamedTuple):
    """Whether full scatter is needed; options besides priors, smoothing and missing, as they are by
    default; `check`, which raises ValueError for options; default smoothing; `estimate`."""

    needs_full: bool
    options: Mapping[str, Any]
    check: Callable[[Mapping[str, Any]], None]
    var_smoothing: float
    estimate: Callable[..., Estimate]


def _check_naive(options: Mapping[str, Any]) -> None:
    check_sharing(
        options["covariance_type"], options["tied"], options["ddof"], {"diag", "spherical"}
    )


def _check_full(options: Mapping[str, Any]) -> None:
    kinds = {"full", "diag", "spherical"}
    check_sharing(options["covariance_type"], options["tied"], options["ddof"], kinds)
    check_fraction(options["reg_param"], "reg_param")
    check_shrinkage(options["shrinkage"])
    check_shrinkage_target(options["shrinkage_target"])


def _check_axes(options: Mapping[str, Any]) -> None:
    check_components(options["n_components"])
    if options["rotation"] not in ROTATIONS:
        raise ValueError(
            f"rotation must be one of {sorted(ROTATIONS)}, got {options['rotation']!r}."
        )
    if not isinstance(options["standardize"], (bool, np.bool_)):
        raise ValueError(f"standardize must be True or False, got {options['standardize']!r}.")
    _check_naive(options)


def _check_mixed(options: Mapping[str, Any]) -> None:
    check_categorical_spec(options["categorical_features"])
    check_alpha(options["alpha"])
    check_min_categories(options["min_categories"], None)
    check_max_categories(options["max_categories"])


_SHARING = {"tied": False, "ddof": 0}

MEMBERS: dict[str, Member] = {
    "GaussianNB": Member(
        False, {"covariance_type": "diag"} | _SHARING, _check_naive, 1e-9, estimate_naive_bayes
    ),
    "GaussianBayes": Member(
        True,
        {"covariance_type": "full", "reg_param": 0.0, "shrinkage": None,
         "shrinkage_target": "diagonal"} | _SHARING,
        _check_full, 0.0, estimate_gaussian_bayes,
    ),
    "PCAGaussianNB": Member(
        True,
        {"n_components": None, "rotation": "total", "standardize": False,
         "covariance_type": "diag"} | _SHARING,
        _check_axes, 1e-9, estimate_pca,
    ),
    "MixedNB": Member(
        False,
        {"categorical_features": None, "alpha": 1.0, "min_categories": None,
         "max_categories": MAX_CATEGORIES},
        _check_mixed, 1e-9, estimate_mixed_bayes,
    ),
}  # fmt: skip
