"""Checks of options that estimates make themselves: of priors, smoothing, axes and categories.

Which options a member has, and their ranges, is declared in `model.family`.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..input.categorical import spec_kind
from ..input.rows import check_dense, check_unmasked

Floats = NDArray[np.float64]


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


def check_smoothing(var_smoothing: object) -> float:
    """var_smoothing as a float. Raises ValueError unless it is a number from 0 up."""
    value = as_float(var_smoothing)
    if not 0.0 <= value < math.inf:
        raise ValueError(f"var_smoothing must be a number from 0 up, got {var_smoothing!r}.")
    return value


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


def check_components(n_components: Any) -> None:
    """Raise ValueError unless it is None, a whole number from 1 up or a number within 0 to 1."""
    if n_components is None:
        return
    is_whole = isinstance(n_components, Integral) and not isinstance(n_components, bool)
    number: Any = n_components
    is_share = isinstance(n_components, Real) and 0 < number < 1
    if not (is_share or (is_whole and int(n_components) >= 1)):
        raise ValueError(
            "n_components must be None, a whole number from 1 up, or a number between 0 and 1, "
            f"got {n_components!r}."
        )


def check_categorical_spec(categorical_features: Any) -> None:
    """Raise ValueError unless it is None, "auto", or an array-like of bool, int or str."""
    if categorical_features is None or (
        isinstance(categorical_features, str) and categorical_features == "auto"
    ):
        return
    spec_kind(categorical_features)


def check_alpha(alpha: object) -> float:
    """Alpha as a float. Raises ValueError unless it is a number from 0 up."""
    value = math.nan if isinstance(alpha, bool) else as_float(alpha)
    if not 0.0 <= value < math.inf:
        raise ValueError(f"alpha must be a number from 0 up, got {alpha!r}.")
    return value


def check_min_categories(min_categories: Any, q: int | None) -> NDArray[np.int64]:
    """min_categories for each of q categorical features; q None: any number of them.

    Raises ValueError, in the words of scikit-learn's CategoricalNB.
    """
    if min_categories is None:
        return np.zeros(q or 0, np.int64)
    given = np.asarray(min_categories)
    if given.dtype.kind not in "iu":
        raise ValueError(f"'min_categories' should have integral type. Got {given.dtype} instead.")
    if given.size and given.max() > np.iinfo(np.int64).max:
        raise ValueError(f"min_categories must be below 2^63, got {min_categories!r:.80}.")
    if given.size and given.min() < (1 if isinstance(min_categories, Integral) else 0):
        raise ValueError(f"min_categories must be from 1 up, got {min_categories!r:.80}.")
    if given.ndim == 0:
        return np.full(q or 0, given, np.int64)
    if given.ndim != 1 or (q is not None and len(given) != q):
        raise ValueError(
            f"'min_categories' should have shape ({q},), one number a categorical feature, when "
            f"an array-like is provided. Got {given.shape} instead."
        )
    return given.astype(np.int64)
