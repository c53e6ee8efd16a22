"""Leave-one-out in closed form: which options have one, and the parameters that it needs.

Members import this when it is first used, since the kernel is one of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimate.diagonal import estimate_diagonal
from ..estimate.downdate import is_certain, score_full
from ..estimate.full import estimate_full, whiten
from ..estimate.left_out import DiagonalOptions, LeftOutScores, score_diagonal, without_missing
from .scoring import whitened_terms

__all__ = ["LearnedRows", "leave_out_diagonal", "leave_out_full"]

Floats = NDArray[np.float64]


class LearnedRows(NamedTuple):
    """Rows (n, d) that statistics were learned from, the codes (n,) of their classes, and their
    weights (n,), or None where all are 1."""

    X: NDArray[Any]
    codes: NDArray[np.int32]
    weight: Floats | None


def leave_out_diagonal(
    stats: Any, options: Mapping[str, Any], rows: LearnedRows, *, joint: bool
) -> LeftOutScores | None:
    """Naive Bayes: any options, where no value is missing."""
    stats = without_missing(stats)
    if stats is None:
        return None
    estimated = {name: value for name, value in options.items() if name != "missing"}
    moments = estimate_diagonal(stats, **estimated)
    diagonal = _diagonal_options(options, moments.epsilon)
    return score_diagonal(*rows, stats, moments.class_prior, diagonal, joint=joint)


def leave_out_full(
    stats: Any, options: Mapping[str, Any], rows: LearnedRows, *, joint: bool
) -> LeftOutScores | None:
    """Discriminant analysis: full covariances that nothing is added to, and diagonal ones that are
    not shrunk."""
    is_full = options["covariance_type"] == "full"
    is_regular = options["reg_param"] or options["var_smoothing"]
    if options["shrinkage"] is not None or (is_full and is_regular):
        return None
    moments = estimate_full(stats, **options)
    if not is_full:
        diagonal = _diagonal_options(options, moments.epsilon)
        plain = stats.to_diag()
        return score_diagonal(*rows, plain, moments.class_prior, diagonal, joint=joint)
    params = whiten(stats, moments)
    if not is_certain(params, moments.covariance):
        return None

    return score_full(
        *rows, stats, params, whitened_terms(params), tied=options["tied"], ddof=options["ddof"],
        has_priors=options["priors"] is not None, joint=joint,
    )  # fmt: skip


def _diagonal_options(options: Mapping[str, Any], epsilon: float) -> DiagonalOptions:
    return DiagonalOptions(
        options["var_smoothing"], epsilon, options["covariance_type"] == "spherical",
        options["tied"], options["ddof"], options["priors"] is not None,
        options.get("reg_param", 0.0),
    )  # fmt: skip
