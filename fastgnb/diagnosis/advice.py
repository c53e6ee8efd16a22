"""A diagnosis in sentences: what is wrong, and what to do about it.

An effect is mentioned if it is worth `NOTABLE` nats per row and is more than chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..stats.pooling import shares
from .candidates import Candidate, best_of
from .diagnosis import Diagnosis

__all__ = ["findings_of", "suggestion_of"]

Floats = NDArray[np.float64]

NOTABLE = 0.01
"""Nats a row below which neither negentropy nor total correlation is mentioned."""

_CHANCE = 1e-3
"""p-value, times the number of features, from which normality may fail by chance alone."""

_NOISE = 3.0
"""Standard deviations of total correlation that may be chance."""

_CUT_OFF = 0.4
"""The mean of total correlation by chance, in standard deviations: what is below 0 counts as 0."""

_SHIFT, _SPREAD = 0.25, 1.25
"""Mean of z, and ratio of its standard deviation to 1, from which rows differ from the model."""

_CERTAIN = 5.0
"""Standard errors by which they have to."""

_NAMES = 5
"""Most names in a sentence."""


def findings_of(
    found: Diagnosis, effective: Floats, *, is_naive: bool, along_axes: bool
) -> tuple[str, ...]:
    """What is wrong, a sentence each.

    effective : the effective number of rows of each class (k,). is_naive: whether the model takes
    features for independent. along_axes: whether it has variances along axes, and none of features.
    """
    rows = np.maximum(effective, 1.0)[:, None]
    texts = [
        _normality(found),
        _independence(found) if is_naive else "",
        _copies(found),
        _constants(found),
        _shifted(found, rows),
        "" if along_axes else _spread(found, rows),
    ]
    return tuple(text for text in texts if text)


def suggestion_of(found: Diagnosis) -> str:
    """What to do, in one sentence."""
    best = best_of(found.candidates)
    if best is not None:
        own = found.candidates[0]
        times = best.gain / best.standard_error if best.standard_error > 0 else np.inf
        return (
            f"Take {best.name}: on rows that it has not learned its log loss is "
            f"{best.log_loss:.4g} nats per row and that of {own.name} {own.log_loss:.4g}, a gain "
            f"of {best.gain:.3g}, {times:.1f} times its standard error."
        )
    compared = _compared(found.candidates)
    if found.findings:
        return f"Keep the model, though its assumptions fail: {compared}."
    return f"Nothing wrong was found in normality and independence, and {compared}."


def _compared(candidates: Sequence[Candidate]) -> str:
    if len(candidates) < 2:
        return "there is no other model to compare it with"
    return (
        f"none of the {len(candidates) - 1} other members has a log loss below its "
        f"{candidates[0].log_loss:.4g} nats per row by twice the standard error"
    )


def _normality(found: Diagnosis) -> str:
    d = len(found.feature_names)
    nats, p = np.nan_to_num(found.feature_negentropy), np.nan_to_num(found.p_value, nan=1.0)
    fails = (nats >= NOTABLE) & (p * d < _CHANCE)
    if not fails.any():
        return ""
    j = int(np.where(fails, nats, 0.0).argmax())
    c = int(np.nan_to_num(found.negentropy[:, j] * found.class_weight).argmax())
    return (
        f"Normality within classes fails in {int(fails.sum())} of {d} features, most in "
        f"{found.feature_names[j]}: {nats[j]:.3g} nats per row (in class {found.classes[c]} "
        f"skewness {found.skewness[c, j]:.2g}, excess kurtosis {found.excess_kurtosis[c, j]:.2g})."
    )


def _independence(found: Diagnosis) -> str:
    known = np.isfinite(found.total_noise)
    if not known.any() or not found.dependence >= NOTABLE:
        return ""
    noise = shares(found.class_weight[known]) * found.total_noise[known]
    if found.dependence < _CUT_OFF * noise.sum() + _NOISE * np.sqrt((noise**2).sum()):
        return ""
    least = "at least " if found.is_bound[known].any() else ""
    pair = found.pairs(1)[0]
    return (
        f"Independence within classes fails: features share {least}{found.dependence:.3g} nats per "
        f"row, most of them {pair.first} and {pair.second} (r = {pair.correlation:.2f}, "
        f"{pair.nats:.2g} nats)."
    )


def _copies(found: Diagnosis) -> str:
    if not found.copies:
        return ""
    names = found.feature_names
    parts = [
        f"{names[j]} is a copy of {names[i]}" if i >= 0 else f"others determine {names[j]}"
        for j, i in found.copies
    ]
    return f"Features say nothing that others do not: {_listed(parts)}."


def _constants(found: Diagnosis) -> str:
    at = np.argwhere(found.constant & (found.class_rows > 1)[:, None])
    if not len(at):
        return ""
    parts = [f"{found.feature_names[j]} in class {found.classes[c]}" for c, j in at]
    return f"Features do not vary within a class: {_listed(parts)}."


def _shifted(found: Diagnosis, rows: Floats) -> str:
    """Classes whose rows have another mean than the model's.

    Few rows may lie close together by chance: their spread counts as the model's at least.
    """
    size = np.abs(np.nan_to_num(found.mean_z))
    spread = np.maximum(np.nan_to_num(found.sd_z), 1.0)
    fails = (size > _SHIFT) & (size * np.sqrt(rows) > _CERTAIN * spread)
    if not fails.any():
        return ""
    c, j = _largest(np.where(fails, size, 0.0))
    return (
        f"Rows differ from the model in the means of {int(fails.sum())} of {fails.size} pairs of "
        f"class and feature, most in {found.feature_names[j]} of class {found.classes[c]}: by "
        f"{found.mean_z[c, j]:.2g} of the model's standard deviations."
    )


def _spread(found: Diagnosis, rows: Floats) -> str:
    """Classes whose rows have another standard deviation than the model's.

    The logarithm of one that is above 1 has the lighter tail by chance, and half of 1 - variance
    where it is below 1: it is the smaller of both that has to be more than chance.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = np.abs(np.log(found.sd_z))
        least = np.minimum(size, 0.5 * np.abs(1.0 - found.sd_z**2))
    size = np.where(found.constant | ~np.isfinite(size), 0.0, size)
    # The standard error of either.
    error = np.sqrt((2.0 + np.nan_to_num(found.excess_kurtosis).clip(0.0)) / (4.0 * rows))
    fails = (size > np.log(_SPREAD)) & (least > _CERTAIN * error)
    if not fails.any():
        return ""
    c, j = _largest(np.where(fails, size, 0.0))
    return (
        f"Rows differ from the model in the standard deviations of {int(fails.sum())} of "
        f"{fails.size} pairs of class and feature, most in {found.feature_names[j]} of class "
        f"{found.classes[c]}: it is {found.sd_z[c, j]:.2g} times the model's, which smoothing and "
        "tied or spherical variances change."
    )


def _largest(size: Any) -> tuple[int, int]:
    c, j = np.unravel_index(size.argmax(), size.shape)
    return int(c), int(j)


def _listed(parts: Sequence[Any]) -> str:
    more = len(parts) - _NAMES
    return ", ".join([*map(str, parts[:_NAMES]), *([f"and {more} more"] if more > 0 else [])])
