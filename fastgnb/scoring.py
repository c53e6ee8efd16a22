"""Rows and parameters to labels, probabilities and densities: the one way to every answer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .kernels.logs import log
from .kernels.score import Scores, Table
from .kernels.score import score as score_rows
from .kernels.whitened import Basis, score_rotated
from .params import GaussianParams, RotatedParams

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
    covariances.
    """
    if isinstance(params, RotatedParams):
        basis = Basis(params.centre, params.whitener, params.mean, params.scale * _SQRT_HALF)
        const = params.log_prior - 0.5 * (params.log_det + params.mean.shape[1] * _LOG_2PI)
        return score_rotated(
            X, basis, const,
            codes=codes, values=values, table=table, evidence=evidence, dtype=dtype,
        )  # fmt: skip
    scale = params.whitener * _SQRT_HALF
    log_norm = 0.5 * _LOG_2PI - log(params.whitener) if skip else None
    const = params.log_prior
    if not skip:
        const = const - 0.5 * (params.log_det + params.mean.shape[1] * _LOG_2PI)
    return score_rows(
        X, params.mean, scale, log_norm, const,
        codes=codes, values=values, table=table, evidence=evidence, dtype=dtype,
    )  # fmt: skip
