"""Checked rows and parameters to labels, probabilities and densities: the one way to every answer.

Scoring kernels read where shapes tell them to, and check nothing. So everything that reaches them
is checked here, wherever it comes from: edited attributes, pickles, files.

Kernels of members other than naive Bayes are imported when they are first used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..estimate.parameters import GaussianParams, MixedParams, WhitenedParams, check_possible
from ..input.arrow import plain_values
from ..kernels.logs import log
from ..kernels.score.diagonal import DiagonalTerms
from ..kernels.score.diagonal import score as score_diagonal
from ..kernels.score.outputs import Scores, Wanted

if TYPE_CHECKING:
    from ..kernels.score.whitened import WhitenedTerms
    from ..kernels.slots import Table

_SQRT_HALF = math.sqrt(0.5)
_LOG_2PI = math.log(2.0 * math.pi)
_FLOAT64 = np.dtype(np.float64)


def score(
    X: NDArray[Any], params: GaussianParams | WhitenedParams, *, skip: bool = False, **wanted: Any
) -> Scores:
    """Score rows X (n, d), real and of any dtype and layout, in one pass; see `Scores`.

    `wanted` are fields of `kernels.score.outputs.Wanted`. The caller has to look at `Scores.bad`,
    and to report the row. With `skip`, the term of a NaN is left out, which needs diagonal
    covariances. Raises ValueError for parameters that are not float64 arrays of the shapes of k
    classes and d features, or in which no class is possible, and for rows that are not
    two-dimensional.
    """
    asked = Wanted(**wanted)
    X = _checked(X, params, asked.values)
    if isinstance(params, WhitenedParams):
        from ..kernels.score.whitened import score_whitened

        return score_whitened(X, whitened_terms(params), asked)
    return score_diagonal(X, diagonal_terms(params, skip=skip), asked)


def score_mixed(
    X: NDArray[Any],
    slots: NDArray[np.int32] | Table,
    params: MixedParams,
    *,
    skip: bool = False,
    **wanted: Any,
) -> Scores:
    """As `score`, of continuous features X (n, c) and categorical ones, as indices (q, n).

    The indices may also be what looks them up in the table (n, d) of which X is the other columns.
    Raises ValueError also for indices beyond the table, and for tables of other classes.
    """
    from ..kernels.score.categorical import CategoricalTerms
    from ..kernels.score.categorical import score_mixed as score_mixed_rows

    asked = Wanted(**wanted)
    X = _checked(X, params.gaussian, asked.values)
    _check_slots(slots, params, len(X))
    categorical = CategoricalTerms(slots, params.table, params.limit)
    return score_mixed_rows(X, diagonal_terms(params.gaussian, skip=skip), categorical, asked)


def whitened_terms(params: WhitenedParams) -> WhitenedTerms:
    """Parameters as the kernel takes them."""
    from ..kernels.score.whitened import WhitenedTerms

    const = params.log_prior - 0.5 * (params.log_det + params.mean.shape[1] * _LOG_2PI)
    scale = params.scale * _SQRT_HALF
    return WhitenedTerms(params.centre, params.whitener, params.mean, scale, const)


def diagonal_terms(params: GaussianParams, *, skip: bool) -> DiagonalTerms:
    """Parameters as the kernel takes them; with `skip` the norm of each feature is apart."""
    scale = params.inv_sd * _SQRT_HALF
    if skip:
        log_norm = 0.5 * _LOG_2PI - log(params.inv_sd)
        return DiagonalTerms(params.mean, scale, log_norm, params.log_prior)
    const = params.log_prior - 0.5 * (params.log_det + params.mean.shape[1] * _LOG_2PI)
    return DiagonalTerms(params.mean, scale, None, const)


def decisions(
    joint: NDArray[np.float64], log_proba: Callable[[], NDArray[Any]]
) -> NDArray[np.float64]:
    """Log odds (n,) of the second of two classes, or joint log likelihoods (n, k), all finite.

    joint (n, k) may become part of the result. log_proba (n, k) is computed only if the joint log
    likelihoods of a row overflow, and then gives the order of the classes.
    """
    lowest = np.finfo(np.float64).min
    if joint.shape[1] == 2:
        with np.errstate(invalid="ignore", over="ignore"):
            odds = joint[:, 1] - joint[:, 0]
        overflows = ~np.isfinite(odds)
        if overflows.any():
            logs = log_proba()[overflows].astype(np.float64)
            odds[overflows] = np.clip(logs[:, 1] - logs[:, 0], lowest, -lowest)
        return np.asarray(odds)
    overflows = joint.max(axis=1) == -np.inf
    out = np.maximum(joint, lowest, out=joint)
    if overflows.any():
        logs = log_proba()[overflows]
        above = (logs[:, None, :] > logs[:, :, None]).sum(axis=2) / logs.shape[1]
        out[overflows] = np.where(logs > -np.inf, lowest * (0.5 + 0.5 * above), lowest)
    return out


def _checked(
    X: Any, params: GaussianParams | WhitenedParams, values: NDArray[np.int64] | None
) -> NDArray[Any]:
    """Return X as a plain array. Raises ValueError where a kernel would read beyond arrays."""
    rows: NDArray[Any] = np.asarray(plain_values(X))
    if rows.ndim != 2:
        raise ValueError(f"Expected rows of shape (n, d), got {rows.shape}.")
    arrays = list(vars(params).values())
    # In the usual case, which a call for one row notices, a type is that very object.
    if [type(each) is np.ndarray and each.dtype is _FLOAT64 for each in arrays].count(False) and (
        not all(isinstance(each, np.ndarray) and each.dtype == _FLOAT64 for each in arrays)
    ):
        kinds = {name: _kind(each) for name, each in vars(params).items()}
        raise ValueError(f"Expected parameters that are arrays of float64, got {kinds}.")
    shapes = tuple([each.shape for each in arrays])
    k, d = len(shapes[0]) and shapes[0][0], rows.shape[1]
    if shapes != _expected(params, k, d):
        named = dict(zip(vars(params), shapes, strict=True))
        raise ValueError(
            f"Expected parameters of {k} classes and {d} features, got shapes {named}."
        )
    if values is not None and (values.shape != (k,) or values.dtype != np.int64):
        raise ValueError(f"Expected {k} values of int64, got {values.dtype} {values.shape}.")
    check_possible(params.log_prior > -np.inf)
    return rows


def _expected(params: GaussianParams | WhitenedParams, k: int, d: int) -> tuple[Any, ...]:
    """The shapes of the parameters of k classes and d features, in the order of their fields."""
    if isinstance(params, GaussianParams):
        return (k,), (k, d), (k, d), (k,)
    g, r = (*params.whitener.shape, 0, 0)[:2]
    g = g if g == 1 else k
    return (k,), (k,), (g, d), (g, r, d), (k, r), (k, r)


def _kind(value: Any) -> str:
    return f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__


def _check_slots(slots: NDArray[np.int32] | Table, params: MixedParams, n: int) -> None:
    k = len(params.gaussian.log_prior)
    width = params.table.shape[-1]
    for each in (params.table, params.limit):
        if each.shape != (k, width) or each.dtype != _FLOAT64:
            raise ValueError(f"Expected a table of shape {(k, width)}, got {_kind(each)}.")
    if not isinstance(slots, np.ndarray):
        rows, places = len(slots.X), slots.slots()
    elif slots.ndim == 2 and slots.dtype == np.int32:
        rows, places = slots.shape[1], slots
    else:
        rows, places = -1, slots
    if rows != n:
        raise ValueError(f"Expected slots of int32 for {n} rows, got {_kind(slots)}.")
    if places.size and not (places.min() >= 0 and places.max() < width):
        raise ValueError(
            f"Expected categories within a table of {width}, got {places.min()} to {places.max()}."
        )
