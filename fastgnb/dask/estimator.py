"""`Distributed`: an estimator of the family over the partitions of Dask collections."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from ..estimators.base import GaussianClassifier
from ..estimators.locks import TURNS
from ..input.type_names import type_name
from .answers import LazyAnswers
from .collections import collected
from .learning import Learning, learned
from .tree import check_split_every


class Distributed(MetaEstimatorMixin, LazyAnswers):  # type: ignore[misc]
    """An estimator of this package that learns and scores Dask arrays and dataframes.

    Learning reads each partition once, in a task of its own. Scoring is lazy: an array gives an
    array, and a dataframe a series or a dataframe with the index of the rows.

    Parameters
    ----------
    estimator : GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
        The estimator, with its parameters. It is not changed.
    split_every : int, default=8
        How many results one task merges: a power of two, which changes no bit of the result.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator, for rows in memory.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if the rows had names that are all text.

    See Also
    --------
    fit_stats : Statistics of Dask collections.
    fastgnb.files.fit : A model of files, without Dask.

    Notes
    -----
    Bits: the model depends on how rows are cut in partitions, to rounding, and on nothing else.
    Any scheduler, any number of workers, and workers that die give the same bits. Predictions have
    the bits of those of `estimator_`.

    Memory: a worker holds the partitions that it works on, and what comes out of them.

    Threads: a task uses its share of the cores of its worker. Threads that learn into one model
    take turns.

    Examples
    --------
    >>> import dask.array as da
    >>> from fastgnb import GaussianNB
    >>> from fastgnb.dask import Distributed
    >>> X = da.from_array([[1.0], [2.0], [8.0], [9.0]], chunks=(2, 1))
    >>> y = da.from_array([0, 0, 1, 1], chunks=2)
    >>> model = Distributed(GaussianNB()).fit(X, y)
    >>> model.predict(X).compute()
    array([0, 0, 1, 1])
    >>> model.estimator_.predict([[1.5]])
    array([0])
    """

    def __init__(self, estimator: GaussianClassifier, *, split_every: int = 8) -> None:
        self.estimator = estimator
        self.split_every = split_every

    @classmethod
    def from_fitted(cls, model: GaussianClassifier, *, split_every: int = 8) -> Distributed:
        """Return a model that is fitted already, such as one from a file, to score collections.

        Parameters
        ----------
        model : GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
            A fitted estimator.
        split_every : int, default=8
            How many results one task merges.

        Returns
        -------
        Distributed
            A model whose ``estimator_`` is `model`.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If `model` is not fitted.
        TypeError
            If it is not an estimator of this package.
        """
        check_is_fitted(_checked(model), "stats_")
        new = cls(clone(model), split_every=split_every)
        new.estimator_ = model
        return new

    @property
    def classes_(self) -> NDArray[Any]:
        """Sorted labels (n_classes,)."""
        return np.asarray(self.estimator_.classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features (n_features,)."""
        return np.asarray(self.estimator_.feature_names_in_)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to the rows of all partitions, forgetting what was learned before.

        Parameters
        ----------
        X : dask.array.Array of shape (n_samples, n_features) or dask.dataframe.DataFrame
            Rows.
        y : dask.array.Array of shape (n_samples,), dask.dataframe.Series or str
            Labels, or the name of their column in X.
        sample_weight : dask.array.Array, dask.dataframe.Series, float or str, default=None
            Weights, one for all rows, or the name of their column in X. None: 1 each.

        Returns
        -------
        Self
            The fitted estimator.

        Raises
        ------
        PartitionError
            If the rows of a partition are invalid. The message names it. The model stays as it was.
        ValueError
            If collections cannot be aligned, parameters are invalid, or there are no rows.
        TypeError
            If X is not a Dask collection, or y is of another kind.
        """
        model = _checked(self.estimator)
        model._checked_options()
        rows = collected(X, y, sample_weight)
        validate_data(clone(model), rows.meta, skip_check_array=True)
        stats = learned(rows, _learning(model), check_split_every(self.split_every))
        self.estimator_ = clone(model).fit_stats(stats)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn more rows. The model is then that of all rows so far.

        Parameters
        ----------
        X : dask.array.Array of shape (n_samples, n_features) or dask.dataframe.DataFrame
            Rows.
        y : dask.array.Array of shape (n_samples,), dask.dataframe.Series or str
            Labels, all of them among ``classes``, or the name of their column in X.
        classes : array-like of shape (n_classes,), default=None
            All labels that may ever come. Needed on the first call only.
        sample_weight : dask.array.Array, dask.dataframe.Series, float or str, default=None
            Weights, as ``fit`` takes them.

        Returns
        -------
        Self
            The fitted estimator.

        Raises
        ------
        PartitionError
            As by ``fit``, and for labels that are not among the classes. The model stays as it was.
        ValueError
            As by ``fit``, and if ``classes`` is missing on the first call or differs from that of
            the first call.
        TypeError
            As by ``fit``.
        """
        with TURNS.of(self):
            self.estimator_ = self._learned_on(X, y, classes, sample_weight)
        return self

    def _learned_on(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Any:
        """The estimator of the rows so far and these."""
        before = getattr(self, "estimator_", None)
        model = _checked(self.estimator) if before is None else before
        model._checked_options()
        if before is None and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        declared = model._check_classes(classes, first=before is None)
        rows = collected(X, y, sample_weight)
        first = clone(model) if before is None else before._now()
        validate_data(first, rows.meta, reset=before is None, skip_check_array=True)
        how = _learning(model, before)._replace(classes=declared)
        stats = learned(rows, how, check_split_every(self.split_every))
        total = stats if before is None else before.stats_ + stats
        return clone(model).fit_stats(total)


def _checked(model: Any) -> Any:
    """The model. Raises TypeError unless it is an estimator of this package."""
    if not isinstance(model, GaussianClassifier):
        raise TypeError(
            f"Expected an estimator of fastgnb, such as GaussianNB(), got {type_name(model)}."
        )
    return model


def _learning(model: Any, before: Any = None) -> Learning:
    """Which statistics an estimator learns; `before`: the one that it learns on from, or None."""
    options, missing = model.learned_options(), getattr(model, "missing", "error")
    if model._member.takes_categories:
        known = options["categorical_features"] if before is None else before.is_categorical_
        return Learning(is_mixed=True, categorical=known, missing=missing)
    is_full = model._is_full(before is None)
    return Learning(missing=missing, scatter="full" if is_full else "diag")
