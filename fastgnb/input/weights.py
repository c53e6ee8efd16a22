"""Sample weights of any container as float64."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrow import plain_values
from .rows import TOO_LARGE, check_dense, check_unmasked


def check_weight(weight: Any, n: int) -> NDArray[np.float64] | None:
    """Weights (n,) as float64, or None where all are 1. A number stands for equal weights.

    Raises ValueError for wrong shapes and for weights that are negative or not finite.
    """
    if weight is None:
        return None
    values = _weight_array(weight)
    if values.ndim == 0:
        values = np.full(n, values)
    values = np.ascontiguousarray(values)
    if values.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {values.ndim}D array. Expected "
            f"either a scalar value or a 1D array of length {n}."
        )
    if values.shape != (n,):
        raise ValueError(f"sample_weight.shape == {values.shape}, expected {(n,)}!")
    if n and not np.isfinite(values).all():
        what = "NaN" if np.isnan(values).any() else "infinity"
        raise ValueError(
            f"Input sample_weight contains {what}{TOO_LARGE if what != 'NaN' else ''}."
        )
    if n and values.min() < 0:
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: weight {values.min()} of row "
            f"{int(values.argmin())}; weights must be 0 or more."
        )
    return values


def _weight_array(weight: Any) -> NDArray[np.float64]:
    check_dense(weight, "sample_weight")
    check_unmasked(weight, "sample_weight")
    values = np.asarray(plain_values(weight))
    if values.dtype.kind == "O" and hasattr(weight, "isna"):  # pandas' missing values
        values = np.asarray(weight.to_numpy(object, na_value=np.nan))
    is_text = values.dtype.kind == "O" and any(isinstance(v, (str, bytes)) for v in values.flat)
    if values.dtype.kind not in "fiubO" or is_text:
        what = "text" if is_text else f"dtype {values.dtype}"
        raise ValueError(f"Expected numeric sample_weight, got {what}.")
    try:
        with np.errstate(over="ignore"):  # an infinity, which is refused
            return values.astype(np.float64, copy=False)
    except OverflowError as error:
        raise ValueError(f"Input sample_weight contains infinity{TOO_LARGE}.") from error
