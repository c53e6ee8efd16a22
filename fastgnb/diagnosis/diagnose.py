"""`fastgnb.diagnose`: a model on rows in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..estimators.base import GaussianClassifier
from ..input.categorical import MixedRows
from ..input.labels import as_labels
from ..input.rows import NotFiniteError, check_lengths
from ..input.type_names import type_name
from ..input.weights import check_weight
from ..model.model import Model
from .diagnoser import Diagnoser
from .diagnosis import Diagnosis
from .second_look import Batch, second_look

__all__ = ["GivenRows", "diagnose"]

_BATCH = 1 << 20
"""Numbers of a batch of rows and of its scores: small, so that it is then found in the caches."""


def diagnose(
    model: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> Diagnosis:
    """Check whether labelled rows are as a model assumes: normal, and independent within classes.

    Parameters
    ----------
    model : estimator
        A fitted estimator of fastgnb.
    X : array-like of shape (n_samples, n_features)
        Rows; categorical features are left out.
    y : array-like of shape (n_samples,)
        Labels. Rows with a label that the model does not know are left out and counted.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of 0 or more; None: 1 each. A row of weight 0 is as if it were not there.

    Returns
    -------
    Diagnosis
        Normality of each feature in each class, dependence within classes, the log loss of other
        models of the same statistics, and a suggestion.

    Raises
    ------
    ValueError
        If X is not finite (a NaN only if the model does not skip missing values), shapes or names
        are not those of the model, no row has a label that the model knows, or distributions of so
        many classes and features take more than 128 MB.
    TypeError
        If `model` is not a fitted estimator of fastgnb, or labels are of another kind.

    See Also
    --------
    fastgnb.files.diagnose : Diagnose a model on files.

    Notes
    -----
    Sums take one read of the rows, in bounded memory, and have the same bits for any number of
    threads. Values are counted in 256 bins of a sixteenth of the model's standard deviation (fewer
    bins if there are many classes and features). For PCAGaussianNB, means and standard deviations
    along features, not along axes, are those of its statistics.

    Correlations take 2 k d^2 numbers, and are left out beyond 256 MB. With ``missing="skip"`` they
    are of rows without missing values.

    Other models are compared on rows that they have not learned, in a second look at the rows. If
    the statistics of the model have full scatter and are not of these rows, they are those of the
    candidates. Otherwise the rows of each class are put into two halves in turn, and candidates of
    one half score the other half. Whether rows were learned is judged by counts and means of all of
    them: do not pass a part of the rows that a model of full scatter has learned.

    References
    ----------
    .. [1] S. Watanabe, "Information theoretical analysis of multivariate correlation", IBM Journal
       of Research and Development 4 (1960) 66-82.
    .. [2] P. Pebay, "Formulas for robust, one-pass parallel computation of covariances and
       arbitrary-order statistical moments", Sandia report SAND2008-6212 (2008).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import GaussianNB, diagnose
    >>> X, y = load_iris(return_X_y=True)
    >>> found = diagnose(GaussianNB().fit(X, y), X, y)
    >>> found.dependence > 0.5
    True
    >>> found.pairs(1)[0].first, found.pairs(1)[0].second
    ('feature 0', 'feature 2')
    """
    if not isinstance(model, GaussianClassifier):
        raise TypeError(f"Expected a fitted estimator of fastgnb, got {type_name(model)}.")
    given = GivenRows(model, X, y, sample_weight)
    return second_look(given.first_look(), given.batches)


class GivenRows:
    """Labelled rows in memory, which a diagnosis looks at twice. Raises as `diagnose` does."""

    def __init__(self, model: GaussianClassifier, X: Any, y: Any, sample_weight: Any) -> None:
        self.model, self._rows = model.to_model(), model._check_rows(X)
        self._labels = as_labels(y)
        check_lengths(self._rows, self._labels)
        self._weight = check_weight(sample_weight, len(self._labels))
        is_mixed = isinstance(self._rows, MixedRows)
        self._plain = self._rows.continuous if is_mixed else self._rows  # type: ignore[attr-defined]
        step = max(1024, _BATCH // (self._plain.shape[1] + len(self.model.classes)))
        self._parts = [slice(at, at + step) for at in range(0, len(self._labels), step)]

    def batches(self) -> Iterator[Batch]:
        """The rows in batches, each with its labels and weights."""
        for part in self._parts:
            weight = None if self._weight is None else self._weight[part]
            yield self._plain[part], self._labels[part], weight

    def first_look(self) -> Diagnoser:
        """The sums of all rows."""
        diagnoser = Diagnoser(self.model)
        for part, batch in zip(self._parts, self.batches(), strict=True):
            try:
                diagnoser.update(*batch)
            except NotFiniteError as error:
                raise _located(error, part.start, self._rows, self.model) from None
        return diagnoser


def _located(
    error: NotFiniteError, at: int, rows: NDArray[Any] | MixedRows, model: Model
) -> NotFiniteError:
    """The error of a batch that begins at row `at`, by the positions of all rows and features."""
    column, skip = error.column, model.missing == "skip"
    if isinstance(rows, MixedRows):
        column = int(np.flatnonzero(~rows.is_categorical)[column])
    can_skip = model.member.has("missing")
    return NotFiniteError(error.value, at + error.row, column, skip=skip, can_skip=can_skip)
