"""Rows and parameters to labels, probabilities and densities: the one way to every answer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .kernels.logs import log
from .kernels.mixed import score_mixed as score_mixed_rows
from .kernels.outputs import Scores, Table
from .kernels.score import score as score_rows
from .kernels.whitened import Basis, score_rotated
from .mixed_params import MixedParams
from .params import GaussianParams, RotatedParams, check_possible

_SQRT_HALF = math.sqrt(0.5)
_LOG_2PI = math.log(2.0 * math.pi)


def score(
    X: NDArray[Any],
    params: GaussianParams | RotatedParams,
    *,
    codes: bool = True,
    values: NDArray[np.int64] | None = None,
    table: Table | None = None,
    evidence: bool = False,
    skip: bool = False,
    dtype: Any = np.float64,
) -> Scores:
    """Score rows X (n, d), real and of any dtype and layout, in one pass. See `Scores`.

    With `values` (k,) these are returned in the place of the codes. The caller looks at
    `Scores.bad` and reports the row. With `skip`, a NaN's term is absent, which needs diagonal
    covariances. Raises ValueError where no class can win.
    """
    check_possible(params.log_prior > -np.inf)
    if isinstance(params, RotatedParams):
        basis = Basis(params.centre, params.whitener, params.mean, params.scale * _SQRT_HALF)
        const = params.log_prior - 0.5 * (params.log_det + params.mean.shape[1] * _LOG_2PI)
        return score_rotated(
            X, basis, const,
            codes=codes, values=values, table=table, evidence=evidence, dtype=dtype,
        )  # fmt: skip
    return score_rows(
        X, *_diagonal(params, skip=skip),
        codes=codes, values=values, table=table, evidence=evidence, dtype=dtype,
    )  # fmt: skip


def score_mixed(
    X: NDArray[Any],
    slots: NDArray[np.int32],
    params: MixedParams,
    *,
    codes: bool = True,
    values: NDArray[np.int64] | None = None,
    table: Table | None = None,
    evidence: bool = False,
    skip: bool = False,
    dtype: Any = np.float64,
) -> Scores:
    """As `score`, of continuous features X (n, c) and categorical ones, slots (q, n) of a table."""
    check_possible(params.gaussian.log_prior > -np.inf)
    return score_mixed_rows(
        X, slots, *_diagonal(params.gaussian, skip=skip), params.table, params.limit,
        codes=codes, values=values, output=table, evidence=evidence, dtype=dtype,
    )  # fmt: skip


def _diagonal(params: GaussianParams, *, skip: bool) -> tuple[Any, Any, Any, Any]:
    """Mean, scale, log_norm and const as kernels want them. See `kernels.score.score`."""
    scale = params.whitener * _SQRT_HALF
    log_norm = 0.5 * _LOG_2PI - log(params.whitener) if skip else None
    const = params.log_prior
    if not skip:
        const = const - 0.5 * (params.log_det + params.mean.shape[1] * _LOG_2PI)
    return params.mean, scale, log_norm, const
