"""Rows of any container as a plain numeric array (n, d), and the checks of their values and names.

Messages are scikit-learn's where it has one. Nothing in this room imports scikit-learn, which takes
longer than scoring a million rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrow import plain_values

TOO_LARGE = " or a value too large for dtype('float64')"


def check_missing(missing: object) -> bool:
    """Whether missing values are skipped. Raises ValueError unless "error" or "skip"."""
    if not isinstance(missing, str) or missing not in ("error", "skip"):
        raise ValueError(f"missing must be 'error' or 'skip', got {missing!r:.80}.")
    return missing == "skip"


def check_rows(X: Any) -> NDArray[Any]:
    """X as a real numeric (n, d) array of at most 8 bytes a value. Raises ValueError or TypeError.

    What is masked in a masked array is missing, and becomes a NaN.
    """
    check_dense(X, "X")
    check_temporal_columns(X)
    rows = np.asarray(unmasked(X))
    if rows.dtype.kind == "O" and hasattr(X, "iloc"):  # pandas' missing values, of any kind
        rows = X.to_numpy(object, na_value=np.nan)
    if rows.ndim != 2:
        what = f"{rows.ndim}D array" if rows.ndim else f"one {type(X).__name__}"
        raise ValueError(
            f"Expected 2D array, got {what} instead. Reshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it "
            "contains a single sample."
        )
    if rows.shape[1] == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={rows.shape}) while a minimum of 1 is required."
        )
    if rows.dtype.kind == "c":
        raise ValueError("Complex data not supported. Take the real part, or two columns.")
    return as_numbers(rows)


def as_numbers(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows (n, d) as real numbers of at most 8 bytes. Raises ValueError for dates, text and such.

    Raises TypeError for objects that are no numbers.
    """
    if rows.dtype.kind == "O":
        text = next((value for value in rows.flat if isinstance(value, (str, bytes))), None)
        if text is not None:
            raise ValueError(
                f"Expected numeric rows, got text: {text!r}. Convert your data to numeric values."
            )
        try:
            return rows.astype(np.float64)
        except OverflowError as error:
            raise too_large_error() from error
    if rows.dtype.kind not in "fiub":
        raise ValueError(
            f"Expected numeric rows, got dtype {rows.dtype}. Convert your data to numeric values."
        )
    if rows.dtype.itemsize <= 8:
        return rows
    with np.errstate(over="ignore"):  # an infinity, which its kernel finds
        return rows.astype(np.float64)


def too_large_error() -> ValueError:
    """What to raise for a number of X that float64 cannot hold."""
    return ValueError(f"Input X contains infinity{TOO_LARGE}.")


def check_loaded(values: Any, name: str) -> None:
    """Raise TypeError for a collection of Dask, which NumPy would load as a whole, and for a
    DataFrame of Spark, which NumPy takes for one value."""
    if hasattr(type(values), "__dask_graph__"):
        raise TypeError(
            f"Expected {name} in memory, got a dask {type(values).__name__}. "
            "fastgnb.dask.Distributed(model) learns and scores dask arrays and dataframes "
            "partition by partition, and fastgnb.dask.fit_stats makes statistics of them; "
            ".compute() loads all of it."
        )
    if hasattr(type(values), "toPandas"):
        raise TypeError(
            f"Expected {name} in memory, got a {type(values).__module__.split('.')[0]} "
            f"{type(values).__name__}. fastgnb.spark.fit_stats makes statistics of it, and "
            "fastgnb.spark.transform scores it; .toPandas() loads all of it."
        )


def check_dense(values: Any, name: str) -> None:
    """Raise TypeError for sparse values, in scikit-learn's words, and for what is not in memory."""
    check_loaded(values, name)
    if hasattr(values, "tocsr"):
        raise TypeError(
            f"Sparse data was passed for {name}, but dense data is required. Use '.toarray()' to "
            "convert to a dense numpy array."
        )


def check_temporal_columns(X: Any) -> None:
    """Raise ValueError for a Polars frame with dates, which becomes an array of days or more."""
    if not hasattr(X, "get_columns"):
        return
    for name, dtype in zip(X.columns, X.dtypes, strict=True):
        if dtype.is_temporal():
            raise ValueError(
                f"Expected numeric rows, got column {name!r} of {dtype}. Convert your data to "
                "numeric values."
            )


def _is_masked(values: Any) -> bool:
    mask = getattr(values, "mask", None)
    if not isinstance(values, np.ndarray) or not isinstance(mask, np.ndarray):
        return False
    return mask.dtype == np.bool_ and bool(mask.any())


def unmasked(X: Any) -> Any:
    """X, where a masked array's masked values are NaN: their data are not the user's.

    A table of pyarrow has its values as they are, which NumPy would not always find.
    """
    X = plain_values(X)
    if not _is_masked(X) or X.dtype.kind not in "fiubO":
        return X
    return (X if X.dtype.kind in "fO" else X.astype(np.float64)).filled(np.nan)


def check_unmasked(values: Any, name: str) -> None:
    """Raise ValueError for masked values, which are no labels and no weights."""
    if _is_masked(values):
        first = int(np.flatnonzero(values.mask)[0])
        raise ValueError(
            f"Input {name} contains masked values, the first at {first}. Leave them out."
        )


def check_feature_names(names: Any) -> tuple[str, ...]:
    """Given feature names. Raises TypeError unless each is text, ValueError for a name twice."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"Expected feature names, each of them text, got {names!r}.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise ValueError(f"Expected distinct feature names, got more than one {twice!r}.")
    return tuple(names)


def resolve_feature_names(X: Any, names: Any) -> tuple[str, ...] | None:
    """Feature names that were given, or else those of X; None where there are none."""
    names = feature_names_of(X) if names is None else names
    return None if names is None else check_feature_names(names)


def feature_names_of(X: Any) -> tuple[str, ...] | None:
    """Column names of a frame where all of them are text, else None."""
    columns = getattr(X, "columns", None)
    if hasattr(X, "column_names"):
        columns = X.column_names
    if columns is None or callable(columns):
        return None
    names = tuple(columns)
    return tuple(map(str, names)) if all(isinstance(name, str) for name in names) else None


class NotFiniteError(ValueError):
    """A NaN or an infinity in X, `value`, at `row` and `column`."""

    def __init__(
        self, value: float, row: int, column: int, *, skip: bool, can_skip: bool = True
    ) -> None:
        self.value, self.row, self.column = value, row, column
        what = "NaN" if np.isnan(value) else "infinity"
        allowed = "finite" if not skip else "finite or missing"
        hint = ""
        if what == "NaN" and not skip:
            hint = " missing='skip' leaves missing values out."
        if what == "NaN" and not can_skip:
            hint = " Fill missing values in, or leave such rows out."
        super().__init__(
            f"Input X contains {what}: the value in row {row}, column {column} is not "
            f"{allowed}.{hint}"
        )
        self._choices = skip, can_skip

    def __reduce__(self) -> tuple[Any, ...]:
        return _not_finite, (self.value, self.row, self.column, *self._choices)


def _not_finite(value: float, row: int, column: int, skip: bool, can_skip: bool) -> NotFiniteError:
    return NotFiniteError(value, row, column, skip=skip, can_skip=can_skip)


def check_finite(
    X: NDArray[Any], weight: NDArray[np.float64] | None, *, skip: bool, can_skip: bool = True
) -> None:
    """Raise NotFiniteError for the first value of X (n, d) that is not finite.

    Rows of weight 0 are ignored. skip : whether NaN is allowed. can_skip : whether another choice
    of `missing` would help, which the error then says. Called after a kernel has met such a value,
    so that the usual case never pays for this read.
    """
    for start in range(0, len(X), 4096):
        part = X[start : start + 4096]
        wrong = np.isinf(part) if skip else ~np.isfinite(part)
        if weight is not None:
            wrong &= (weight[start : start + 4096] > 0)[:, None]
        if wrong.any():
            row, column = (int(v) for v in np.argwhere(wrong)[0])
            value = float(part[row, column])
            raise NotFiniteError(value, start + row, column, skip=skip, can_skip=can_skip)


def check_lengths(*arrays: Any) -> None:
    """Raise ValueError unless all arrays have one length."""
    lengths = [len(array) for array in arrays]
    if len(set(lengths)) > 1:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {lengths}")
