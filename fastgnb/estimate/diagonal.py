"""Statistics to parameters: priors and smoothing live here only."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..input.rows import check_dense, check_unmasked
from ..kernels.logs import log_densities
from ..stats.class_stats import ClassStats
from ..stats.pooling import mean_of, pooled

Floats = NDArray[np.float64]


class DiagonalEstimate(NamedTuple):
    """What a Gaussian naive Bayes model decides by, as scikit-learn names it.

    class_prior (k,), theta (k, d) means, var (k, d) smoothed variances, epsilon added to them.
    """

    class_prior: Floats
    theta: Floats
    var: Floats
    epsilon: float


@dataclass(frozen=True, eq=False)
class GaussianParams:
    """k Gaussian densities with diagonal covariance, and their priors, as scoring needs them.

    log_prior (k,), mean (k, d), inv_sd (k, d) = 1 / sd, log_det (k,) = sum of log variances.
    """

    log_prior: Floats
    mean: Floats
    inv_sd: Floats
    log_det: Floats

    @classmethod
    def from_moments(
        cls,
        class_prior: ArrayLike,
        theta: ArrayLike,
        var: ArrayLike,
        *,
        classes: NDArray[Any],
        n_features: int | None = None,
        count: Floats | None = None,
        feature_names: Sequence[str] | None = None,
        of: str = "Feature",
    ) -> GaussianParams:
        """Parameters of priors (k,), means (k, d) and variances (k, d).

        A class of prior 0, or without rows where their `count` (k,) is given, never wins and its
        variances are not looked at; where that is every class, scoring raises. `of` is what
        messages call a feature. Raises ValueError
        that names class and feature where the variance of a class that can win is not positive,
        for priors and means that are not finite, for priors of 0 only, and for other shapes than
        of these classes and n_features (None: those of the means), which a kernel would read
        beyond.
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
        good = (variance > 0) & (variance < np.inf)
        if not good.all():
            _check_variance(good | ~possible[:, None], variance, classes, feature_names, of)
            variance = np.where(good, variance, 1.0)
        log_prior, log_det = log_densities(prior, possible, variance)
        return cls(log_prior, mean, 1.0 / np.sqrt(variance), log_det)


@dataclass(frozen=True, eq=False)
class WhitenedParams:
    """k Gaussian densities, each of independent variables along the axes of a basis.

    log_prior, log_det (k,); centre (g, d) and whitener (g, r, d), of each class, or with g = 1 of
    all; mean and scale (k, r). Along axis j a row x is at (whitener (x - centre))_j, and its
    deviation from the mean times the scale is standard normal.
    """

    log_prior: Floats
    log_det: Floats
    centre: Floats
    whitener: Floats
    mean: Floats
    scale: Floats


def estimate_diagonal(
    stats: ClassStats,
    *,
    priors: ArrayLike | None = None,
    var_smoothing: float = 1e-9,
    covariance_type: str = "diag",
    tied: bool = False,
    ddof: int = 0,
) -> DiagonalEstimate:
    """Class priors, means and smoothed variances of statistics.

    The smoothing epsilon is var_smoothing times the largest variance that a feature has over all
    rows, weights counted. Where no feature varies at all it is var_smoothing itself, so that the
    densities exist. Variances are scatter / (weight - ddof), and 0 for no more weight than that;
    with `tied` the scatter within all classes over the weight less ddof a class; "spherical" ones
    are the mean over the features. A feature that was missing in every row of a class takes the
    mean and variance of all rows there. Cost: O(k d).
    Raises ValueError for bad priors and a smoothing that is negative or not finite.
    """
    whole = stats.as_one_class()
    epsilon = epsilon_of(whole, var_smoothing)
    prior = prior_of(stats, priors)
    plain = _variances(stats, covariance_type, tied=tied, ddof=ddof)
    with np.errstate(over="ignore"):  # scoring says which variance is not finite
        theta, var = stats.mean.copy(), plain + epsilon
    if stats.feature_count is not None:
        unseen = (stats.feature_count == 0) & (stats.count > 0)[:, None]
        theta = np.where(unseen, whole.mean, theta)
        var = np.where(unseen, whole.variance + epsilon, var)
    return DiagonalEstimate(prior, theta, var, epsilon)


def whitened_params(
    moments: DiagonalEstimate, centre: Floats, components: Floats, stats: ClassStats
) -> WhitenedParams:
    """The parameters of moments (k, r) along axes (g, r, d) that cross at centre (g, d).

    stats : of the k classes. Raises ValueError where the variance of a class that can win is not
    positive, and finite.
    """
    diag = GaussianParams.from_moments(
        moments.class_prior, moments.theta, moments.var,
        classes=stats.classes, count=stats.count, of="Axis",
    )  # fmt: skip
    mean, scale = diag.mean, diag.inv_sd
    if len(centre) == 1:
        return WhitenedParams(diag.log_prior, diag.log_det, centre, components, mean, scale)
    own = components * scale[:, :, None]
    unit = np.ones_like(scale)
    return WhitenedParams(diag.log_prior, diag.log_det, centre, own, mean * scale, unit)


def _variances(stats: ClassStats, covariance_type: str, *, tied: bool, ddof: int) -> Floats:
    """Variances (k, d) without smoothing."""
    variance, weight = stats.variance, stats.weight
    if tied:
        variance = np.broadcast_to(pooled(weight, variance, ddof), variance.shape)
    elif ddof:
        left = weight - ddof
        with np.errstate(over="ignore"):  # a weight just above ddof may leave none in range
            variance = np.where(left > 0, variance * (weight / np.where(left > 0, left, 1.0)), 0.0)
    if covariance_type == "spherical":
        variance = np.broadcast_to(mean_of(variance)[:, None], variance.shape)
    return variance


def prior_of(stats: ClassStats, priors: ArrayLike | None) -> Floats:
    """Priors (k,) as given, or the classes' shares of the weight. Raises ValueError."""
    if priors is None:
        return np.asarray(stats.count / stats.count.sum())
    return check_priors(priors, len(stats.classes))


def epsilon_of(whole: ClassStats, var_smoothing: float) -> float:
    """What is added to variances, for the statistics of all rows as one class."""
    smoothing = check_smoothing(var_smoothing)
    spread = float(whole.variance.max(initial=0.0))
    epsilon = smoothing * spread if spread > 0 else smoothing
    if not math.isfinite(epsilon):
        raise ValueError(
            f"The largest variance {spread} times var_smoothing {smoothing} overflows float64. "
            "Scale the features down."
        )
    return epsilon


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


def check_smoothing(var_smoothing: object) -> float:
    """var_smoothing as a float. Raises ValueError unless it is a number from 0 up."""
    value = as_float(var_smoothing)
    if not 0.0 <= value < math.inf:
        raise ValueError(f"var_smoothing must be a number from 0 up, got {var_smoothing!r}.")
    return value


def as_plain(value: Any) -> Any:
    """A parameter as Python has it: numbers and text of other types, such as NumPy's, converted.

    A number of less precision would have what it is combined with rounded to that, in memory and
    not after it was saved. What is no number or text, an array for example, is returned as it is.
    """
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, np.timedelta64):  # NumPy counts time spans among whole numbers
        return value
    try:
        if isinstance(value, Integral):
            return int(value)
        return float(value) if isinstance(value, Real) else value
    except (OverflowError, ValueError):  # no number of Python's, which the checks refuse
        return value


def as_float(value: object) -> float:
    """A number as a float; NaN for what is none, or is beyond float64."""
    try:
        return float(value) if isinstance(value, Real) else math.nan
    except (OverflowError, TypeError):  # huge whole numbers, NumPy's time spans
        return math.nan


def check_sharing(covariance_type: object, tied: object, ddof: object, kinds: Set[str]) -> None:
    """Raise ValueError unless a covariance type of `kinds`, a boolean, and 0 or 1 are given."""
    if covariance_type not in kinds:
        raise ValueError(
            f"covariance_type must be one of {sorted(kinds)}, got {covariance_type!r}."
        )
    if not isinstance(tied, (bool, np.bool_)):
        raise ValueError(f"tied must be True or False, got {tied!r}.")
    if isinstance(ddof, (bool, np.bool_)) or ddof not in (0, 1):
        raise ValueError(f"ddof must be 0 or 1, got {ddof!r}.")


def check_unit(value: object, name: str) -> float:
    """A number within 0 to 1 as a float. Raises ValueError."""
    number = math.nan if isinstance(value, bool) else as_float(value)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}.")
    return number


def check_shrinkage(shrinkage: object) -> None:
    """Raise ValueError unless it is None, "oas", or a number within 0 to 1."""
    if shrinkage is not None and shrinkage != "oas":
        check_unit(shrinkage, "shrinkage")


def check_priors(priors: ArrayLike, k: int) -> Floats:
    """Priors (k,) as float64. Raises ValueError with scikit-learn's texts."""
    values = as_priors(priors)
    if values.shape != (k,):
        raise ValueError("Number of priors must match number of classes.")
    if not np.isfinite(values).all() or not np.isclose(values.sum(), 1.0):
        raise ValueError("The sum of the priors should be 1.")
    if (values < 0).any():
        raise ValueError("Priors must be non-negative.")
    return values


def as_priors(priors: ArrayLike) -> Floats:
    """Priors of any number of classes, in an array of their own. Raises ValueError, TypeError."""
    check_dense(priors, "priors")
    check_unmasked(priors, "priors")
    given = np.asarray(priors)
    if given.ndim != 1:
        raise ValueError("Number of priors must match number of classes.")
    if given.dtype.kind in "cmMV":
        raise ValueError(f"Expected numeric priors, got dtype {given.dtype}.")
    try:
        return np.array(priors, np.float64)
    except OverflowError as error:  # whole numbers beyond float64
        raise ValueError("The sum of the priors should be 1.") from error


def _check_variance(
    good: NDArray[np.bool_],
    variance: Floats,
    classes: NDArray[Any],
    feature_names: Sequence[str] | None,
    of: str,
) -> None:
    if good.all():
        return
    c, j = (int(v) for v in np.argwhere(~good)[0])
    name = f"{j}" if feature_names is None else f"{j} ({feature_names[j]!r})"
    raise ValueError(
        f"{of} {name} of class {classes[c : c + 1].tolist()[0]!r} has variance "
        f"{variance[c, j]:g}, and a density needs one above 0 and finite. Fit with var_smoothing "
        f"above 0, or leave the {of.lower()} out."
    )
