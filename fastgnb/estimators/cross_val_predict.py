"""`cross_val_predict`: what each row is predicted to be by a model that has not seen it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.model_selection._validation import _check_is_permutation, _enforce_prediction_order
from sklearn.utils import indexable
from sklearn.utils.validation import _num_samples

from ..input.arrow import plain_values
from ..input.frames import sliceable
from ..input.labels import plain_text
from .base import GaussianClassifier
from .cross_validation import check_family, routed_params
from .fold_stats import Task, fitted_to_splits
from .left_out import answers_left_out, is_leave_one_out

__all__ = ["cross_val_predict"]

# Methods whose answers have a column for each class.
_BY_CLASS = (
    "decision_function", "predict_proba", "predict_log_proba", "predict_joint_log_proba",
)  # fmt: skip


def cross_val_predict(
    estimator: GaussianClassifier,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: int | str = "2*n_jobs",
    method: str = "predict",
) -> NDArray[Any]:
    """Predict each row by a model of the folds that it is not in.

    It is scikit-learn's ``cross_val_predict`` for an estimator of this package, and learns each
    fold once. With ``cv=LeaveOneOut()`` all rows are scored in one pass.

    Parameters
    ----------
    estimator : GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
        It is cloned, and not changed.
    X : array-like of shape (n_samples, n_features)
        Rows, or a data frame.
    y : array-like of shape (n_samples,), default=None
        Labels.
    groups : array-like of shape (n_samples,), default=None
        Groups for the splitter. With metadata routing pass them in ``params``.
    cv : int, splitter, iterable of (train, test) indices or None, default=None
        How rows are split, as everywhere in scikit-learn. Each row has to be tested once. None: 5
        folds, stratified.
    n_jobs : int or None, default=None
        Has no effect: learning and scoring use the threads of ``fit`` and ``predict``.
    verbose : int, default=0
        Has no effect.
    params : dict, default=None
        Keywords of ``fit``, such as ``sample_weight``. With metadata routing also those of the
        splitter.
    pre_dispatch : int or str, default='2*n_jobs'
        Has no effect.
    method : str, default='predict'
        Method that is called: "predict", "predict_proba", "predict_log_proba",
        "predict_joint_log_proba", "predict_log_evidence" or "decision_function".

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, n_classes)
        What the method returns for each row, in the order of the rows. Columns are in the sorted
        order of the labels. A class that the model of a row has not seen has probability 0, and the
        lowest number of the dtype in the place of other scores.

    Raises
    ------
    TypeError
        If the estimator is not one of this package.
    ValueError
        If rows are not tested once each, or a model cannot be fitted.

    See Also
    --------
    cross_validate : Score one estimator.

    Notes
    -----
    Numerical error: answers equal those of scikit-learn's function to rounding.

    Leaving one row out is in closed form for `GaussianNB` with any options, and for `GaussianBayes`
    without ``shrinkage``: a row that leaves changes the mean and the covariance of its class by a
    rank-one downdate (Sherman and Morrison), and the smoothing of all. Full covariances have this
    form without ``reg_param`` and ``var_smoothing``, where each feature varies in each class. Joint
    log likelihoods equal those of a refit to 1e-10 of their size, or to rounding times the
    condition of full covariances.

    Rows that made nearly all of a variance, and the last rows of a class, are scored by a refit. So
    are all rows where missing values are left out, where there are principal axes, which turn with
    each row, or categorical features: that takes a fraction of a millisecond a row.

    Cost: two to five times that of ``fit`` and ``predict`` where leaving one out is in closed
    form; else as `cross_validate`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import LeaveOneOut
    >>> from fastgnb import GaussianNB
    >>> from fastgnb.select import cross_val_predict
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = cross_val_predict(GaussianNB(), X, y, cv=LeaveOneOut())
    >>> int((labels != y).sum())
    7
    """
    check_family(estimator, "cross_val_predict")
    X, y = indexable(sliceable(X), plain_values(plain_text(y)))
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    fit, _, split = routed_params(
        "cross_val_predict", estimator, None, splitter, groups, dict(params or {})
    )
    by_class = method in _BY_CLASS and y is not None
    classes, codes = np.unique(np.asarray(y), return_inverse=True) if by_class else (None, y)
    task = Task(X, codes, None, "raise", fit)
    order = partial(_ordered, None if classes is None else len(classes), method)
    model: GaussianClassifier = clone(estimator)
    if is_leave_one_out(splitter, X) and not split.get("groups"):
        answers = answers_left_out(model, task, method, order)
        if answers is not None:
            return answers
    splits = list(splitter.split(X, codes, **split))
    return _predicted(model, task, splits, method, order)


def _predicted(
    model: GaussianClassifier, task: Task, splits: Sequence[Any], method: str, order: Any
) -> NDArray[Any]:
    n = _num_samples(task.X)
    pairs = [(np.arange(n)[train], np.arange(n)[test]) for train, test in splits]
    at = np.concatenate([test for _, test in pairs])
    if not _check_is_permutation(at, n):
        raise ValueError("cross_val_predict only works for partitions")
    answers = [
        order(fitted.classes_, getattr(fitted, method)(task.rows(test)[0]))
        for fitted, (_, test) in zip(fitted_to_splits(model, task, pairs), pairs, strict=True)
    ]
    back = np.empty(n, np.intp)
    back[at] = np.arange(n)
    return np.asarray(np.concatenate(answers)[back])


def _ordered(n_classes: int | None, method: str, classes: Any, answers: Any) -> Any:
    """Answers with a column for each of all classes; as they are where they have no columns."""
    if n_classes is None:
        return answers
    if method == "predict_joint_log_proba":  # which scikit-learn's function does not know
        method = "predict_log_proba"
    return _enforce_prediction_order(classes, answers, n_classes, method)
