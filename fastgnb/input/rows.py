"""Checks at the door: labels to codes, weights, plain rows. scikit-learn's texts where it has one.

Nothing here imports scikit-learn, which takes longer than scoring a million rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.learn.encode import EncodedLabels, encode_fixed, encode_integers
from .arrow import plain_values
from .label_types import EXACT, exact_numbers, positions, same_labels
from .type_names import described, labels_remedy

_TOO_LARGE = " or a value too large for dtype('float64')"


class Labels(NamedTuple):
    """Labels of n rows: `classes` (k,) sorted and distinct, and each row's position in them."""

    classes: NDArray[Any]
    coded: EncodedLabels

    @property
    def codes(self) -> NDArray[np.int32]:
        """Positions (n,) in `classes`."""
        return self.coded.codes()


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
    check_columns(X)
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
            raise too_large() from error
    if rows.dtype.kind not in "fiub":
        raise ValueError(
            f"Expected numeric rows, got dtype {rows.dtype}. Convert your data to numeric values."
        )
    if rows.dtype.itemsize <= 8:
        return rows
    with np.errstate(over="ignore"):  # an infinity, which its kernel finds
        return rows.astype(np.float64)


def too_large() -> ValueError:
    """What to raise for a number of X that float64 cannot hold."""
    return ValueError(f"Input X contains infinity{_TOO_LARGE}.")


def check_dense(values: Any, name: str) -> None:
    """Raise TypeError for sparse values, in scikit-learn's words."""
    if hasattr(values, "tocsr"):
        raise TypeError(
            f"Sparse data was passed for {name}, but dense data is required. Use '.toarray()' to "
            "convert to a dense numpy array."
        )


def check_columns(X: Any) -> None:
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


def check_names(names: Any) -> tuple[str, ...]:
    """Given feature names. Raises TypeError unless each is text, ValueError for a name twice."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"Expected feature names, each of them text, got {names!r}.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise ValueError(f"Expected distinct feature names, got more than one {twice!r}.")
    return tuple(names)


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


def check_finite(
    X: NDArray[Any], weight: NDArray[np.float64] | None, *, skip: bool, can_skip: bool = True
) -> None:
    """Raise NotFiniteError for the first value of X (n, d) that is not finite.

    can_skip: whether another choice of `missing` would help, which the error then says.
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
            value = float(part[row, column])
            raise NotFiniteError(value, start + row, column, skip=skip, can_skip=can_skip)


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
            f"Input sample_weight contains {what}{_TOO_LARGE if what != 'NaN' else ''}."
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
        raise ValueError(f"Input sample_weight contains infinity{_TOO_LARGE}.") from error


def as_labels(y: Any, name: str = "y") -> NDArray[Any]:
    """Labels y of any container as an array (n,). Raises ValueError for missing labels."""
    labels = labels_array(y, name)
    check_one_dimension(labels, y, name)
    return labels


def check_one_dimension(labels: NDArray[Any], y: Any, name: str = "y") -> None:
    """Raise ValueError unless labels, which NumPy made of y, are (n,)."""
    if labels.ndim == 1:
        return
    # scikit-learn's text for y; it has none for classes.
    is_array = name == "y" or labels.ndim or isinstance(y, (np.ndarray, np.generic))
    what = f"an array of shape {labels.shape}" if is_array else described(y)
    remedy = "" if is_array else f" {labels_remedy(y, name)}"
    raise ValueError(f"{name} should be a 1d array, got {what} instead.{remedy}")


def labels_array(y: Any, name: str = "y") -> NDArray[Any]:
    """Labels y of any container and shape as an array that holds each as it is.

    Raises ValueError for missing labels, TypeError where they are sparse.
    """
    check_dense(y, name)
    check_unmasked(y, name)
    numpy_dtype = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if numpy_dtype is not None and hasattr(y, "isna"):  # pandas' nullable numbers
        if y.isna().any():
            raise ValueError(f"Input {name} contains NaN.")
        return np.asarray(y.to_numpy(dtype=numpy_dtype))
    labels = np.asarray(plain_values(y))
    if labels.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{labels}\n")
    if isinstance(y, (list, tuple)) and labels.ndim == 1 and _is_altered(labels, y):
        return np.array(y, object)
    return np.asarray(plain_text(labels))


def plain_text(y: Any) -> Any:
    """y, as objects where it is NumPy's text of any length, which scikit-learn does not take."""
    is_new = isinstance(y, np.ndarray) and y.dtype.kind == "T"
    return y.astype(object) if is_new else y


def _is_altered(labels: NDArray[Any], items: Sequence[Any]) -> bool:
    """Whether NumPy may have made other labels of a list: text of numbers, floats of integers."""
    if labels.dtype.kind == "U":
        return any(type(v) not in (str, np.str_) or v.endswith("\0") for v in items)
    return labels.dtype.kind == "f" and bool((np.abs(labels) >= EXACT).any())


def classes_of(values: Any) -> NDArray[Any]:
    """Declared classes of any container, sorted and distinct. Raises as labels do."""
    return encode(as_labels(values, "classes"), "classes").classes


def encode(labels: NDArray[Any], name: str = "y") -> Labels:
    """Classes and codes of labels (n,). Raises ValueError or TypeError for labels of no class.

    Labels are booleans, whole numbers (as floats too), text, or objects of one of these kinds.
    Cost: a few reads of the labels; nothing is sorted but the k classes.
    """
    if len(labels) == 0:
        return Labels(labels, EncodedLabels.from_codes(np.empty(0, np.int32)))
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
        return _encode_floats(labels, name)
    if kind == "U" and labels.dtype.itemsize:
        return Labels(*encode_fixed(labels))
    if kind in "cmMV":
        raise ValueError(f"Unknown label type: {labels.dtype}. Labels are whole numbers or text.")
    return _encode_objects(labels, name)


def locate(labels: Labels, classes: NDArray[Any]) -> Labels:
    """Labels by their positions in given classes (k,), sorted. Raises ValueError for a stranger."""
    if labels.classes is classes or same_labels(labels.classes, classes):
        return Labels(classes, labels.coded)
    codes = positions(labels.classes, classes, absent=-1)
    strange = labels.classes[codes < 0]
    if len(strange):
        raise ValueError(
            f"The target label(s) {strange} in y do not exist in the initial classes {classes}"
        )
    return Labels(classes, labels.coded.remap(codes.astype(np.int32)))


def _unreachable() -> Any:
    raise AssertionError("two values always fit the table")


def _encode_floats(labels: NDArray[Any], name: str) -> Labels:
    values = labels.astype(np.float64) + 0.0  # -0.0 and 0.0 are one label
    classes, coded = encode_fixed(values)
    if not np.isfinite(classes).all():
        what = "NaN" if np.isnan(classes).any() else "infinity"
        raise ValueError(f"Input {name} contains {what}{_TOO_LARGE if what != 'NaN' else ''}.")
    if (classes != np.floor(classes)).any():
        raise ValueError(
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which "
            "expects discrete classes on a regression target with continuous values."
        )
    return Labels(classes.astype(labels.dtype), coded)


def is_missing(value: object) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas' NA is neither equal to itself nor not
        return True


def _as_numbers(items: list[Any], distinct: list[Any]) -> NDArray[Any]:
    """Number objects as an array. Raises ValueError where no type holds all of them exactly."""
    numbers = exact_numbers(items)
    if numbers is None:
        raise ValueError(
            f"Labels {distinct[:5]} cannot be held exactly by one numeric type. Make text of them."
        )
    return numbers


def _encode_objects(labels: NDArray[Any], name: str) -> Labels:
    items = labels.tolist()
    try:
        distinct = list(dict.fromkeys(items))
    except TypeError as error:  # lists, arrays, dicts and others that cannot be hashed
        names = sorted({type(value).__name__ for value in items})
        raise ValueError(
            f"Unknown label type: one of {names}. Labels are whole numbers or text."
        ) from error
    missing = [value for value in distinct if is_missing(value)]
    if missing:
        raise ValueError(f"Input {name} contains NaN or None: {missing[0]!r}.")
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
            raise ValueError(
                f"Unknown label type: {type(odd[0]).__name__}. Labels are whole numbers or text."
            )
        return encode(_as_numbers(items, distinct), name)
    distinct.sort()
    table = {value: code for code, value in enumerate(distinct)}
    codes = np.fromiter(map(table.__getitem__, items), np.int32, len(items))
    return Labels(np.asarray(distinct, labels.dtype), EncodedLabels.from_codes(codes))
