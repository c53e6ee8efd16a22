"""Labels of any container to sorted classes and a code a row, and the errors about labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.learn.encode import EncodedLabels, encode_fixed, encode_integers
from .arrow import plain_values
from .label_types import EXACT, exact_numbers, positions, same_labels
from .rows import TOO_LARGE, check_dense, check_unmasked
from .type_names import described, labels_remedy


class Labels(NamedTuple):
    """Labels of n rows.

    classes : (k,), sorted and distinct.
    coded : the position of each row's label in them.
    """

    classes: NDArray[Any]
    coded: EncodedLabels

    @property
    def codes(self) -> NDArray[np.int32]:
        """Positions (n,) in `classes`."""
        return self.coded.codes()


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
    """Whether NumPy may have changed labels of a list: numbers to text, integers to floats."""
    if labels.dtype.kind == "U":
        return any(type(v) not in (str, np.str_) or v.endswith("\0") for v in items)
    return labels.dtype.kind == "f" and bool((np.abs(labels) >= EXACT).any())


def classes_of(values: Any) -> NDArray[Any]:
    """Declared classes of any container, sorted and distinct. Raises as labels do."""
    return encode_labels(as_labels(values, "classes"), "classes").classes


def encode_labels(labels: NDArray[Any], name: str = "y") -> Labels:
    """Classes and codes of labels (n,). Raises ValueError or TypeError for invalid labels.

    Labels are booleans, whole numbers (as floats too), text, or objects of one of these kinds.
    Cost: a few reads of the labels; nothing is sorted but the k classes.
    """
    if len(labels) == 0:
        return Labels(labels, EncodedLabels.from_codes(np.empty(0, np.int32)))
    if not labels.dtype.isnative:
        labels = labels.astype(labels.dtype.newbyteorder("="))
    kind = labels.dtype.kind
    if kind == "b":
        encoded = _encode_integers(labels.view(np.uint8))
        return encoded._replace(classes=encoded.classes.astype(np.bool_))
    if kind in "iu":
        return _encode_integers(labels)
    if kind == "f":
        return _encode_floats(labels, name)
    if kind == "U" and labels.dtype.itemsize:
        return Labels(*encode_fixed(labels))
    if kind in "cmMV":
        raise ValueError(f"Unknown label type: {labels.dtype}. Labels are whole numbers or text.")
    return _encode_objects(labels, name)


def locate_labels(labels: Labels, classes: NDArray[Any]) -> Labels:
    """Labels as positions in given sorted classes (k,). Raises ValueError for other labels."""
    if labels.classes is classes or same_labels(labels.classes, classes):
        return Labels(classes, labels.coded)
    codes = positions(labels.classes, classes, absent=-1)
    unknown = labels.classes[codes < 0]
    if len(unknown):
        raise ValueError(
            f"The target label(s) {unknown} in y do not exist in the initial classes {classes}"
        )
    return Labels(classes, labels.coded.remap(codes.astype(np.int32)))


def _encode_integers(labels: NDArray[Any]) -> Labels:
    """Whole numbers by a table where their range is small, else by hashing."""
    encoded = encode_integers(labels)
    if encoded is not None:
        return Labels(*encoded)
    wide = labels.astype(np.uint64 if labels.dtype.kind == "u" else np.int64, copy=False)
    classes, coded = encode_fixed(wide)
    return Labels(classes.astype(labels.dtype), coded)


def _encode_floats(labels: NDArray[Any], name: str) -> Labels:
    values = labels.astype(np.float64) + 0.0  # -0.0 and 0.0 are one label
    classes, coded = encode_fixed(values)
    if not np.isfinite(classes).all():
        what = "NaN" if np.isnan(classes).any() else "infinity"
        raise ValueError(f"Input {name} contains {what}{TOO_LARGE if what != 'NaN' else ''}.")
    if (classes != np.floor(classes)).any():
        raise ValueError(
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which "
            "expects discrete classes on a regression target with continuous values."
        )
    return Labels(classes.astype(labels.dtype), coded)


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
        return encode_labels(_as_numbers(items, distinct), name)
    distinct.sort()
    table = {value: code for code, value in enumerate(distinct)}
    codes = np.fromiter(map(table.__getitem__, items), np.int32, len(items))
    return Labels(np.asarray(distinct, labels.dtype), EncodedLabels.from_codes(codes))


def _as_numbers(items: list[Any], distinct: list[Any]) -> NDArray[Any]:
    """Number objects as an array. Raises ValueError where no type holds all of them exactly."""
    numbers = exact_numbers(items)
    if numbers is None:
        raise ValueError(
            f"Labels {distinct[:5]} cannot be held exactly by one numeric type. Make text of them."
        )
    return numbers


def is_missing(value: object) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas' NA is neither equal to itself nor not
        return True
