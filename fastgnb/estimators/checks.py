"""Checks of rows and labels by estimators, with scikit-learn's errors.

Usual arrays need no check here, since the kernels report values that are not finite: see
`CheckedRows._is_plain`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.validation import validate_data

from ..input.categorical import MixedRows
from ..input.frames import check_numeric_columns
from ..input.labels import as_labels, check_one_dimension, labels_array
from ..input.out import check_out
from ..input.plain import are_plain, is_plain_table
from ..input.rows import (
    NotFiniteError,
    as_numbers,
    check_finite,
    check_lengths,
    check_loaded,
    check_missing,
    check_temporal_columns,
    too_large_error,
    unmasked,
)
from ..kernels.score.outputs import Table
from ..model.family import Member


class CheckedRows(BaseEstimator):  # type: ignore[misc]
    """Checks rows before an estimator learns or scores them."""

    _member: ClassVar[Member]
    n_features_in_: int

    def _skips(self) -> bool:
        """Whether NaN are missing values that are left out."""
        return check_missing(getattr(self, "missing", "error"))

    def _is_plain(self, X: Any) -> bool:
        """Whether X needs no conversion, and no check but those of the kernels."""
        return is_plain_table(X) and not hasattr(self, "feature_names_in_")

    def _check_rows(self, X: Any) -> NDArray[Any]:
        if self._is_plain(X) and X.shape[1] == self.n_features_in_:
            return np.asarray(X)
        return self._checked_rows(X, reset=False)

    def _check_rows_labels(self, X: Any, y: Any, *, first: bool) -> tuple[NDArray[Any], Any]:
        plain = self._is_plain(X) and are_plain(X, y)
        if plain and (first or X.shape[1] == self.n_features_in_):
            self.n_features_in_ = X.shape[1]
            return X, y
        if y is None:
            validate_data(self, X, y, reset=first, ensure_all_finite=False)
        labels = _labels_of(y)
        rows = self._checked_rows(X, reset=first)
        check_lengths(rows, labels)
        return rows, labels

    def _checked_rows(self, X: Any, *, reset: bool) -> NDArray[Any]:
        """Return rows that passed scikit-learn's checks, as real numbers of at most 8 bytes."""
        check_loaded(X, "X")
        plain = unmasked(X)
        try:
            rows = validate_data(self, plain, reset=reset, ensure_all_finite=False, dtype="numeric")
            check_temporal_columns(X)
            return as_numbers(rows)
        except OverflowError as error:
            raise too_large_error() from error
        except Exception:  # each library of frames has its own
            check_numeric_columns(X, takes_categories=self._member.takes_categories)
            raise

    def _refuse(self, rows: Any, weight: NDArray[np.float64] | None = None) -> None:
        """Raise scikit-learn's error for an infinity in rows, or ours for a missing value.

        scikit-learn before 1.9 overlooks values in foreign byte order.
        """
        try:
            check_finite(rows, weight, skip=self._skips())
        except NotFiniteError as error:
            if np.isinf(error.value):  # in words that name the type of the rows
                name = type(self).__name__
                assert_all_finite(rows, allow_nan=True, estimator_name=name, input_name="X")
            self._refuse_value(error)

    def _refuse_value(self, error: NotFiniteError) -> None:
        """Raise for a value that is missing or not finite, and say what to do about it."""
        name, names = type(self).__name__, getattr(self, "feature_names_in_", None)
        found = np.array([[error.value]])
        assert_all_finite(found, allow_nan=True, estimator_name=name, input_name="X")
        feature = f"{error.column}" if names is None else f"{names[error.column]!r}"
        advice = (
            f"{name}(missing='skip') leaves missing values out, in learning and in scoring. Or "
            "fill them in first, as sklearn.impute.SimpleImputer does."
            if hasattr(self, "missing")
            else f"{name} needs whole rows. Fill missing values in first, as "
            "sklearn.impute.SimpleImputer does, or leave such rows out; "
            "GaussianNB(missing='skip') takes them as they are."
        )
        raise ValueError(
            f"Input X contains NaN.\nThe value in row {error.row}, feature {feature} is missing. "
            f"{advice}"
        )


def dtype_of(rows: NDArray[Any] | MixedRows, table: Table | None) -> Any:
    """The dtype of a table of scores: float32 for probabilities of float32 rows, else float64."""
    rows = rows.continuous if isinstance(rows, MixedRows) else rows
    is_single = rows.dtype.kind == "f" and rows.dtype.itemsize == 4
    return np.float32 if is_single and table in ("proba", "log_proba") else np.float64


def check_answers(
    out: Any, rows: NDArray[Any] | MixedRows, classes: NDArray[Any], dtype: Any
) -> None:
    """Check an array for answers: a table (n, k) of `dtype`, or where that is None labels (n,)."""
    rows = rows.continuous if isinstance(rows, MixedRows) else rows
    shape = (len(rows),) if dtype is None else (len(rows), len(classes))
    check_out(out, shape, classes.dtype if dtype is None else np.dtype(dtype), rows)


def _labels_of(y: Any) -> NDArray[Any]:
    """Return y (n,) as labels. A column is flattened with scikit-learn's warning."""
    labels = labels_array(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        # Of a frame of whole numbers that may be missing it would make floats.
        return as_labels(column_or_1d(labels, warn=True))
    check_one_dimension(labels, y)
    return labels
