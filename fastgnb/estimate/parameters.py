"""Parameters: what scoring needs of a model, in the form that the kernels take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..input.rows import check_unmasked
from ..kernels.logs import log, log_densities

if TYPE_CHECKING:
    from ..stats.mixed_stats import MixedStats
    from .categorical import CategoryEstimate

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GaussianParams:
    """k Gaussian densities with diagonal covariance, and their priors, as scoring needs them.

    log_prior : (k,), logarithms of the priors, -inf for a class that never wins.
    mean : (k, d).
    inv_sd : (k, d), 1 / standard deviation.
    log_det : (k,), sums of the logarithms of the variances.
    """

    log_prior: Floats
    mean: Floats
    inv_sd: Floats
    log_det: Floats

    @classmethod
    def from_estimate(
        cls,
        class_prior: ArrayLike,
        theta: ArrayLike,
        var: ArrayLike,
        *,
        classes: NDArray[Any],
        n_features: int | None = None,
        count: Floats | None = None,
        feature_names: Sequence[str] | None = None,
        noun: str = "Feature",
    ) -> GaussianParams:
        """Parameters of priors (k,), means (k, d) and variances (k, d).

        A class of prior 0, or without rows where their `count` (k,) is given, never wins and its
        variances are not looked at; where that is every class, scoring raises. `noun` is what
        messages call a feature. Raises ValueError that names class and feature where the variance
        of a class that can win is not positive, for priors and means that are not finite, for
        priors of 0 only, and for other shapes than of these classes and n_features (None: those
        of the means), which a kernel would read beyond.
        """
        k = len(classes)
        d = np.shape(theta)[-1] if n_features is None else n_features
        prior = check_prior(class_prior, k)
        mean = np.ascontiguousarray(check_attribute(theta, "theta_", (k, d)))
        variance = check_attribute(var, "var_", (k, d))
        if count is not None and np.shape(count) != (k,):
            raise ValueError(f"Expected weights of {k} classes, got shape {np.shape(count)}.")
        possible = prior > 0 if count is None else (prior > 0) & (count > 0)
        if not (prior > 0).any() or not np.isfinite(mean).all():
            raise ValueError(
                "Expected finite means and priors, with at least one prior above 0 among classes "
                f"that have rows; got priors {prior}."
            )
        usable = (variance > 0) & (variance < np.inf)
        if not usable.all():
            _check_variance(usable | ~possible[:, None], variance, classes, feature_names, noun)
            variance = np.where(usable, variance, 1.0)
        log_prior, log_det = log_densities(prior, possible, variance)
        return cls(log_prior, mean, 1.0 / np.sqrt(variance), log_det)


@dataclass(frozen=True, eq=False)
class WhitenedParams:
    """k Gaussian densities, each of independent variables along the axes of a basis.

    Along axis j a row x is at (whitener (x - centre))_j, and its deviation from the mean times the
    scale is standard normal.

    log_prior, log_det : (k,), logarithms of the priors, and of the determinants of covariances.
    centre : (g, d), of each class, or with g = 1 of all.
    whitener : (g, r, d).
    mean, scale : (k, r), along the axes.
    """

    log_prior: Floats
    log_det: Floats
    centre: Floats
    whitener: Floats
    mean: Floats
    scale: Floats


@dataclass(frozen=True, eq=False)
class MixedParams:
    """Gaussian densities and a table of log probabilities, as scoring needs them.

    gaussian : densities of the continuous features.
    table : (k, width), for each categorical feature m + 2 numbers a class: of its categories, of
        an unseen one, and 0 for a missing one. Best laid out as by `terms_by_slot`.
    limit : (k, width), the same, where -inf is replaced by what stays finite of it as smoothing
        tends to 0.
    """

    gaussian: GaussianParams
    table: Floats
    limit: Floats

    @classmethod
    def from_estimate(
        cls, gaussian: GaussianParams, categorical: Sequence[CategoryEstimate], stats: MixedStats
    ) -> MixedParams:
        """The table of log probabilities. Raises ValueError for other shapes than the counts',
        which a kernel would read beyond, and for NaN and infinity.
        """
        from ..kernels.slots import terms_by_slot

        k = len(stats.classes)
        tables, limits = [np.zeros((k, 0))], [np.zeros((k, 0))]
        for (log_prob, unseen), counts in zip(categorical, stats.counts, strict=True):
            known = check_attribute(log_prob, "feature_log_prob_", counts.shape)
            other = check_attribute(unseen, "unseen_log_prob_", (k,))
            part = np.column_stack([known, other, np.zeros(k)])
            if not (part < np.inf).all():
                raise ValueError("Expected log probabilities of categories, got NaN or infinity.")
            total = check_attribute(counts, "counts", np.shape(counts)).sum(axis=1)
            finite_part = -log(np.where(total > 0, total, 1.0))
            tables.append(part)
            limits.append(np.where(part == -np.inf, finite_part[:, None], part))
        return cls(gaussian, terms_by_slot(np.hstack(tables)), np.hstack(limits))


def check_possible(possible: NDArray[np.bool_]) -> None:
    """Raise ValueError where no class (k,) can win: each has prior 0, or no rows.

    That is for scoring and sampling to say. Learning goes on, since rows may come.
    """
    if not possible.any():
        raise ValueError(
            "Expected finite means and priors, with at least one prior above 0 among classes that "
            f"have rows; got none among {len(possible)} classes. Learn rows of such a class, or "
            "give other priors."
        )


def check_attribute(values: Any, name: str, shape: tuple[int, ...]) -> Floats:
    """A fitted attribute, edited or not, as float64 of its shape. Raises ValueError."""
    if type(values) is not np.ndarray or values.dtype != np.float64:
        check_unmasked(values, name)
        given = np.asarray(values)
        if given.dtype.kind not in "fiubO":
            raise ValueError(f"Expected {name} of numbers, got dtype {given.dtype}.")
        try:
            values = given.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"Expected {name} of numbers that fit float64: {error}.") from error
    if values.shape != shape:
        raise ValueError(f"Expected {name} of shape {shape}, got {values.shape}.")
    return np.asarray(values)


def check_prior(values: Any, k: int) -> Floats:
    """class_prior_, edited or not, as float64 (k,). Raises ValueError."""
    prior = check_attribute(values, "class_prior_", (k,))
    if not ((prior >= 0) & (prior < np.inf)).all():
        raise ValueError(f"Expected class_prior_ of finite numbers from 0 up, got {prior}.")
    return prior


def _check_variance(
    usable: NDArray[np.bool_],
    variance: Floats,
    classes: NDArray[Any],
    feature_names: Sequence[str] | None,
    noun: str,
) -> None:
    """Raise ValueError for the first variance (k, d) that makes no density."""
    if usable.all():
        return
    c, j = (int(v) for v in np.argwhere(~usable)[0])
    name = f"{j}" if feature_names is None else f"{j} ({feature_names[j]!r})"
    raise ValueError(
        f"{noun} {name} of class {classes[c : c + 1].tolist()[0]!r} has variance "
        f"{variance[c, j]:g}, and a density needs one above 0 and finite. Fit with var_smoothing "
        f"above 0, or leave the {noun.lower()} out."
    )
