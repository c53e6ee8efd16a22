"""`cross_validate`: scores of one estimator on every split, and checks shared with the search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, check_cv
from sklearn.model_selection._validation import (
    _aggregate_score_dicts,
    _insert_error_scores,
    _normalize_score_results,
    _warn_or_raise_about_fit_failures,
)
from sklearn.utils import indexable
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from ..input.arrow import plain_values
from ..input.frames import sliceable
from ..input.labels import plain_text
from .base import GaussianClassifier
from .fold_accuracy import quick_scorer
from .fold_stats import Task
from .folds import evaluate
from .left_out import is_leave_one_out, scores_left_out
from .strata import stratified


def cross_validate(
    estimator: GaussianClassifier,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: Mapping[str, Any] | None = None,
    pre_dispatch: int | str = "2*n_jobs",
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: Any = np.nan,
) -> dict[str, Any]:
    """Score an estimator on every split, each time by a model of the other folds.

    It is scikit-learn's ``cross_validate`` for an estimator of this package, and learns each fold
    once.

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
    scoring : str, callable, list, tuple, dict or None, default=None
        One score, or several. None: the estimator's ``score``, which is accuracy.
    cv : int, splitter, iterable of (train, test) indices or None, default=None
        How rows are split, as everywhere in scikit-learn. None: 5 folds, stratified.
    n_jobs : int or None, default=None
        Has no effect: learning and scoring use the threads of ``fit`` and ``predict``.
    verbose : int, default=0
        Has no effect.
    params : dict, default=None
        Keywords of ``fit``, such as ``sample_weight``; scores are not weighted by it. With metadata
        routing also those of the scorer and the splitter.
    pre_dispatch : int or str, default='2*n_jobs'
        Has no effect.
    return_train_score : bool, default=False
        Whether training rows are scored too.
    return_estimator : bool, default=False
        Whether the model of each split is returned.
    return_indices : bool, default=False
        Whether the indices of the rows of each split are returned.
    error_score : 'raise' or float, default=nan
        Score of a split whose model cannot be fitted or scored, with a ``FitFailedWarning`` or a
        ``UserWarning``. "raise": that is an error.

    Returns
    -------
    dict of str to ndarray of shape (n_splits,)
        ``test_score``, or ``test_<name>`` for each of several scores; ``fit_time`` and
        ``score_time`` in seconds; ``train_score``, ``estimator`` and ``indices`` if they are asked
        for.

    Raises
    ------
    TypeError
        If the estimator is not one of this package.
    ValueError
        If parameters are invalid, or every fit fails.

    See Also
    --------
    StatsGridSearchCV : Score several candidates, and choose the best one.

    Notes
    -----
    Scores equal those of scikit-learn to rounding. See `StatsGridSearchCV` for this and for the
    cost.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import GaussianNB
    >>> from fastgnb.select import cross_validate
    >>> X, y = load_iris(return_X_y=True)
    >>> cross_validate(GaussianNB(), X, y, cv=3)["test_score"]
    array([0.92, 0.94, 0.96])
    """
    check_family(estimator, "cross_validate")
    given = {"error_score": error_score, "scoring": scoring, "cv": cv}
    constraints = {name: GridSearchCV._parameter_constraints[name] for name in given}
    validate_parameter_constraints(constraints, given, "cross_validate")
    X, y = indexable(sliceable(X), plain_values(plain_text(y)))
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    scorers = check_scoring(estimator, scoring=scoring, raise_exc=error_score == "raise")
    fit, score, split = routed_params(
        "cross_validate", estimator, scorers, splitter, groups, dict(params or {})
    )
    quick = quick_scorer(scorers, scoring, estimator)
    task = Task(X, y, quick, error_score, fit, score, return_train_score, return_estimator)
    if is_leave_one_out(splitter, X) and not return_indices:
        left_out = scores_left_out(clone(estimator), [{}], task)
        if left_out is not None:
            return dict(left_out[0])
    splits = stratified(cv, y, split) or list(splitter.split(X, y, **split))
    out = evaluate(clone(estimator), [{}], splits, task)
    check_failures(out, scoring, error_score)
    found = _aggregate_score_dicts(out)
    result = {name: found[name] for name in ("fit_time", "score_time")}
    if return_estimator:
        result["estimator"] = found["estimator"]
    if return_indices:
        result["indices"] = dict(zip(("train", "test"), zip(*splits, strict=True), strict=True))
    test = _normalize_score_results(found["test_scores"])
    train = _normalize_score_results(found["train_scores"]) if return_train_score else {}
    for name, values in test.items():
        result[f"test_{name}"] = values
        if return_train_score:
            result[f"train_{name}"] = train[name]
    return result


def check_family(estimator: Any, instead: str) -> None:
    """Raise TypeError unless it is an estimator of this package."""
    if isinstance(estimator, type):
        name = estimator.__name__
        raise TypeError(
            f"Expected an estimator of fastgnb, got the class {name}. Pass an instance: {name}()."
        )
    if not isinstance(estimator, GaussianClassifier):
        raise TypeError(
            f"Expected an estimator of fastgnb, got {type(estimator).__name__}. Only these learn "
            f"from statistics that add; use sklearn.model_selection.{instead} for others."
        )


def check_failures(out: list[dict[str, Any]], scoring: Any, error_score: Any) -> None:
    """Warn of fits that failed, raise if all did, and fill in their error scores."""
    _warn_or_raise_about_fit_failures(out, error_score)
    if callable(scoring):
        _insert_error_scores(out, error_score)


def routed_params(
    caller: str, estimator: Any, scorers: Any, splitter: Any, groups: Any, params: dict[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]:
    """Return the keywords of `fit`, of the scorer and of the splitter."""
    if not get_config()["enable_metadata_routing"]:
        return params, {}, {"groups": groups}
    if groups is not None:
        raise ValueError(
            "`groups` can only be passed if metadata routing is not enabled via "
            "`sklearn.set_config(enable_metadata_routing=True)`. When routing is enabled, pass "
            "`groups` alongside other metadata via the `params` argument instead."
        )
    router = MetadataRouter(owner=caller)
    parts = {"splitter": (splitter, "split"), "estimator": (estimator, "fit")}
    if scorers is not None:
        parts["scorer"] = (scorers, "score")
    for name, (part, method) in parts.items():
        mapping = MethodMapping().add(caller="fit", callee=method)
        router.add(**{name: part}, method_mapping=mapping)
    try:
        routed = process_routing(router, "fit", **params)
    except UnsetMetadataPassedError as error:
        raise UnsetMetadataPassedError(
            message=str(error).replace(f"{caller}.fit", caller),
            unrequested_params=error.unrequested_params,
            routed_params=error.routed_params,
        ) from error
    score = {} if scorers is None else routed.scorer.score
    return routed.estimator.fit, score, routed.splitter.split
