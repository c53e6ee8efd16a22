"""Checks at the door: labels to codes, weights, plain rows. scikit-learn's texts where it has one.

Nothing here imports scikit-learn, which takes longer than scoring a million rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .kernels.encode import Coded, encode_fixed, encode_integers

_TOO_LARGE = " or a value too large for dtype('float64')"


class Labels(NamedTuple):
    """Labels of n rows: `classes` (k,) sorted and distinct, and each row's position in them."""

    classes: NDArray[Any]
    coded: Coded

    @property
    def codes(self) -> NDArray[np.int32]:
        """Positions (n,) in `classes`."""
        return self.coded.all()


def check_missing(missing: object) -> bool:
    """Whether missing values are skipped. Raises ValueError unless "error" or "skip"."""
    if not isinstance(missing, str) or missing not in ("error", "skip"):
        raise ValueError(f"missing must be 'error' or 'skip', got {missing!r:.80}.")
    return missing == "skip"


def check_rows(X: Any) -> NDArray[Any]:
    """X as a real numeric (n, d) array. Raises ValueError or TypeError."""
    if hasattr(X, "tocsr"):
        raise TypeError(
            "Sparse data was passed, but dense data is required. Use X.toarray() to convert "
            "to a dense numpy array."
        )
    rows = np.asarray(X)
    if rows.dtype.kind == "O" and hasattr(X, "iloc"):  # pandas' nullable columns
        rows = X.to_numpy(np.float64, na_value=np.nan)
    if rows.ndim != 2:
        raise ValueError(f"Expected 2D array, got {rows.ndim}D array instead.")
    if rows.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if rows.dtype.kind == "O":
        rows = rows.astype(np.float64)
    if rows.dtype.kind not in "fiub":
        raise ValueError(f"Expected numeric rows, got dtype {rows.dtype}.")
    if rows.shape[1] == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={rows.shape}).")
    return rows.astype(np.float64) if rows.dtype.itemsize > 8 else rows


def names_of(X: Any) -> tuple[str, ...] | None:
    """Column names of a frame where all of them are text, else None."""
    columns = getattr(X, "columns", None)
    if hasattr(X, "column_names"):
        columns = X.column_names
    if columns is None or callable(columns):
        return None
    names = tuple(columns)
    return tuple(map(str, names)) if all(isinstance(name, str) for name in names) else None


class NotFiniteError(ValueError):
    """A NaN or an infinity in X, at `row` and `column`."""

    def __init__(self, value: float, row: int, column: int, *, skip: bool) -> None:
        self.row, self.column = row, column
        what = "NaN" if np.isnan(value) else "infinity"
        allowed = "finite" if not skip else "finite or missing"
        hint = "" if skip or what != "NaN" else " missing='skip' leaves missing values out."
        super().__init__(
            f"Input X contains {what}: the value in row {row}, column {column} is not "
            f"{allowed}.{hint}"
        )


def check_finite(X: NDArray[Any], weight: NDArray[np.float64] | None, *, skip: bool) -> None:
    """Raise NotFiniteError for the first value of X (n, d) that is not finite.

    Rows of weight 0 are not looked at; with `skip` a NaN is allowed. Called after a kernel found
    something, so that the usual case never pays for this read.
    """
    for start in range(0, len(X), 4096):
        part = X[start : start + 4096]
        wrong = np.isinf(part) if skip else ~np.isfinite(part)
        if weight is not None:
            wrong &= (weight[start : start + 4096] > 0)[:, None]
        if wrong.any():
            row, column = (int(v) for v in np.argwhere(wrong)[0])
            raise NotFiniteError(float(part[row, column]), start + row, column, skip=skip)


def check_lengths(*arrays: Any) -> None:
    """Raise ValueError unless all arrays have one length."""
    lengths = [len(array) for array in arrays]
    if len(set(lengths)) > 1:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {lengths}")


def check_weight(weight: Any, n: int) -> NDArray[np.float64] | None:
    """Weights (n,) as float64, or None where all are 1. A number stands for equal weights.

    Raises ValueError for wrong shapes and for weights that are negative or not finite.
    """
    if weight is None:
        return None
    values = np.asarray(weight)
    if values.dtype.kind not in "fiubO":
        raise ValueError(f"Expected numeric sample_weight, got dtype {values.dtype}.")
    if values.ndim == 0:
        values = np.full(n, values, np.float64)
    values = np.ascontiguousarray(values, np.float64)
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
            f"Input sample_weight contains {what}{_TOO_LARGE if what != 'NaN' else ''}."
        )
    if n and values.min() < 0:
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: weight {values.min()} of row "
            f"{int(values.argmin())}; weights must be 0 or more."
        )
    return values


def as_labels(y: Any) -> NDArray[Any]:
    """Labels y of any container as an array (n,). Raises ValueError for missing labels."""
    numpy_dtype = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if numpy_dtype is not None and hasattr(y, "isna"):  # pandas' nullable numbers
        if y.isna().any():
            raise ValueError("Input y contains NaN.")
        return np.asarray(y.to_numpy(dtype=numpy_dtype))
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {labels.shape} instead.")
    return labels


def encode(labels: NDArray[Any]) -> Labels:
    """Classes and codes of labels (n,). Raises ValueError or TypeError for labels of no class.

    Labels are booleans, whole numbers (as floats too), text, or objects of one of these kinds.
    Cost: a few reads of the labels; nothing is sorted but the k classes.
    """
    if len(labels) == 0:
        return Labels(labels, Coded.of(np.empty(0, np.int32)))
    if not labels.dtype.isnative:
        labels = labels.astype(labels.dtype.newbyteorder("="))
    kind = labels.dtype.kind
    if kind == "b":
        classes, coded = encode_integers(labels.view(np.uint8)) or _unreachable()
        return Labels(classes.astype(np.bool_), coded)
    if kind in "iu":
        found = encode_integers(labels)
        wide = labels.astype(np.uint64 if kind == "u" else np.int64, copy=False)
        if found is None:
            classes, coded = encode_fixed(wide)
            found = classes.astype(labels.dtype), coded
        return Labels(*found)
    if kind == "f":
        return _encode_floats(labels)
    if kind == "U" and labels.dtype.itemsize:
        return Labels(*encode_fixed(labels))
    if kind in "cmMV":
        raise ValueError(f"Unknown label type: {labels.dtype}. Labels are whole numbers or text.")
    return _encode_objects(labels)


def locate(labels: Labels, classes: NDArray[Any]) -> Labels:
    """Labels by their positions in given classes (k,), sorted. Raises ValueError for a stranger."""
    if labels.classes is classes or same_labels(labels.classes, classes):
        return Labels(classes, labels.coded)
    position = {value: code for code, value in enumerate(classes.tolist())}
    codes = [position.get(value, -1) for value in labels.classes.tolist()]
    strange = [value for value, code in zip(labels.classes, codes, strict=True) if code < 0]
    if strange:
        raise ValueError(
            f"The target label(s) {np.asarray(strange)} in y do not exist in the initial classes "
            f"{classes}"
        )
    return Labels(classes, labels.coded.renamed(np.asarray(codes, np.int32)))


def same_labels(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether two label arrays hold the same labels of one kind, in one order."""
    return a.shape == b.shape and a.dtype.kind == b.dtype.kind and bool(np.all(a == b))


def _unreachable() -> Any:
    raise AssertionError("two values always fit the table")


def _encode_floats(labels: NDArray[Any]) -> Labels:
    values = labels.astype(np.float64) + 0.0  # -0.0 and 0.0 are one label
    classes, coded = encode_fixed(values)
    if not np.isfinite(classes).all():
        what = "NaN" if np.isnan(classes).any() else "infinity"
        raise ValueError(f"Input y contains {what}{_TOO_LARGE if what != 'NaN' else ''}.")
    if (classes != np.floor(classes)).any():
        raise ValueError(
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which "
            "expects discrete classes on a regression target with continuous values."
        )
    return Labels(classes.astype(labels.dtype), coded)


def _is_missing(value: object) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas' NA is neither equal to itself nor not
        return True


def _as_numbers(items: list[Any], distinct: list[Any]) -> NDArray[Any]:
    """Number objects as an array. Raises ValueError where no type holds all of them exactly."""
    numbers = np.asarray(items)
    if numbers.dtype.kind not in "biuf" or set(np.unique(numbers).tolist()) != set(distinct):
        raise ValueError(f"Labels {distinct[:5]} cannot be held exactly by one numeric type.")
    return numbers


def _encode_objects(labels: NDArray[Any]) -> Labels:
    items = labels.tolist()
    distinct = list(dict.fromkeys(items))
    missing = [value for value in distinct if _is_missing(value)]
    if missing:
        raise ValueError(f"Input y contains NaN or None: {missing[0]!r}.")
    if len({isinstance(value, str) for value in distinct}) > 1:
        raise TypeError(
            "Labels must be uniformly text or numbers, got "
            f"{sorted({type(value).__name__ for value in distinct})}."
        )
    if any(isinstance(value, bytes) for value in distinct):
        raise TypeError(
            "Support for labels represented as bytes is not supported. Convert the labels to a "
            "string or integer format."
        )
    if not isinstance(distinct[0], str):
        odd = [value for value in distinct if not isinstance(value, (int, float, np.generic))]
        if odd:
            raise ValueError(f"Unknown label type: {type(odd[0]).__name__}.")
        return encode(_as_numbers(items, distinct))
    distinct.sort()
    table = {value: code for code, value in enumerate(distinct)}
    codes = np.fromiter(map(table.__getitem__, items), np.int32, len(items))
    return Labels(np.asarray(distinct, labels.dtype), Coded.of(codes))
