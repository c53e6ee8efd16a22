"""Tensors of a model file: what they are of a model, and whether they can be those of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...model.model import Model
from ...stats.class_stats import ClassStats
from ...stats.mixed_stats import MixedStats
from .schemas import OF_CLASSES, OPTIONAL

__all__ = [
    "check_counts", "check_learned", "check_tensors", "class_stats_of", "tensors_of",
    "tensors_of_stats",
]  # fmt: skip

Floats = NDArray[np.float64]


def tensors_of(model: Model) -> dict[str, Floats]:
    """The numbers of a model that its file holds."""
    tensors = tensors_of_stats(model.stats)
    if model.member.stores_edits:
        moments = model.moments
        edits = {"class_prior": moments.class_prior, "theta": moments.theta, "var": moments.var}
        tensors |= {name: np.ascontiguousarray(value, "<f8") for name, value in edits.items()}
    return tensors


def tensors_of_stats(stats: ClassStats | MixedStats) -> dict[str, Floats]:
    """The numbers of statistics."""
    own = {}
    if isinstance(stats, MixedStats):
        own["category_count"] = np.hstack([np.zeros((len(stats.count), 0)), *stats.counts])
        stats = stats.gaussian
    k, d = np.shape(stats.mean)
    tensors = own | {
        "count": stats.count,
        "mean": stats.mean,
        "mean_low": stats.mean_lo,
        "variance": stats.variance,
    }
    if stats.covariance is not None:
        tensors["covariance"] = stats.covariance.reshape(k * d, d)
    if stats.feature_count is not None:
        tensors["feature_count"] = stats.feature_count
    if stats.max_scatter is not None:
        tensors["peak"] = stats.max_scatter
    return {name: np.ascontiguousarray(value, "<f8") for name, value in tensors.items()}


def check_tensors(
    tensors: Mapping[str, NDArray[Any]], k: int, categories: Mapping[int, NDArray[Any]]
) -> None:
    """Raise ValueError unless all are finite, of one k and d, and can be those of rows, or none."""
    mean = tensors["mean"]
    if mean.ndim != 2:
        raise _wrong_mean(mean, k)
    d = mean.shape[1]
    for name, tensor in tensors.items():
        expected = (k,) if name in OF_CLASSES else (k, d)
        expected = (k * d, d) if name == "covariance" else expected
        if name == "category_count":
            expected = k, sum(map(len, categories.values()))
        if tensor.shape != expected or tensor.dtype != np.float64:
            raise ValueError(f"{name} is {tensor.dtype} {tensor.shape}, expected {expected}")
        # A scatter may overflow where its weight and its variance do not.
        if np.isnan(tensor).any() or (name != "peak" and np.isinf(tensor).any()):
            raise ValueError(f"{name} is not finite")
    weights = {"count", "variance", "var", "class_prior", "category_count"}
    for name in (weights | OPTIONAL) & tensors.keys():
        if (tensors[name] < 0).any():
            raise ValueError(f"{name} is negative")
    with np.errstate(over="ignore"):
        if not np.isfinite(tensors["count"].sum()):
            raise ValueError("count overflows in sum")
    if (np.abs(tensors["mean_low"]) > 2.0**-50 * np.abs(mean)).any():
        raise ValueError("mean_low is more than the rounding error of mean")
    if "covariance" in tensors:
        _check_covariance(tensors["covariance"].reshape(k, d, d), tensors)
    present = tensors.get("feature_count")
    if present is not None and (present > tensors["count"][:, None] * (1 + 1e-6)).any():
        raise ValueError("feature_count is more than count")


def check_learned(tensors: Mapping[str, NDArray[Any]], *, n_features: int) -> None:
    """Raise ValueError where checked tensors are of no row, or of no feature: of no model."""
    mean, count = tensors["mean"], tensors["count"]
    if not n_features:
        raise _wrong_mean(mean, len(count))
    if not tensors.get("class_prior", count).any() or not count.any():
        raise ValueError("no class has a prior above 0 and rows")


def _wrong_mean(mean: NDArray[Any], k: int) -> ValueError:
    return ValueError(f"mean is {mean.dtype} {mean.shape}, expected ({k}, features)")


def _check_covariance(covariance: Floats, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Raise ValueError unless covariances can be those of rows with these variances."""
    if "feature_count" in tensors:
        raise ValueError("covariance and feature_count exclude each other")
    if not np.array_equal(covariance, covariance.transpose(0, 2, 1)):
        raise ValueError("covariance is not symmetric")
    if not np.array_equal(np.diagonal(covariance, axis1=1, axis2=2), tensors["variance"]):
        raise ValueError("the diagonal of covariance is not variance")
    sd = np.sqrt(tensors["variance"] + 2.0**-1070) * (1 + 1e-9)  # of variances that underflow, too
    if "peak" in tensors:  # what was subtracted leaves rounding errors
        count = np.where(tensors["count"] > 0, tensors["count"], 1.0)[:, None]
        with np.errstate(over="ignore"):
            sd = sd + np.sqrt(1e-9 * np.minimum(tensors["peak"] / count, 1e300))
    # Numbers below 2^-1022 have few digits.
    if (np.abs(covariance) > sd[:, :, None] * sd[:, None, :] + 2.0**-1040).any():
        raise ValueError("covariance is more than variances allow")


def check_counts(counts: Floats, count: Floats, j: int) -> None:
    """Raise ValueError unless counts (k, m) can be those of feature j in rows of such weight."""
    if not counts.any(axis=0).all():
        raise ValueError(f"category_count has a category of feature {j} without rows")
    with np.errstate(over="ignore"):
        # Subtracting may leave a rounding error where no row is left.
        if (counts.sum(axis=1) > count * (1 + 1e-6) + 1e-9 * count.sum()).any():
            raise ValueError(f"category_count of feature {j} is more than count")


def class_stats_of(
    classes: NDArray[Any], native: Mapping[str, Floats], names: tuple[str, ...] | None
) -> ClassStats:
    k, d = native["mean"].shape
    covariance = native.get("covariance")
    return ClassStats(
        classes,
        native["count"],
        native["mean"],
        native["variance"],
        native["mean_low"],
        native.get("feature_count"),
        names,
        native.get("peak"),
        None if covariance is None else covariance.reshape(k, d, d),
    )
