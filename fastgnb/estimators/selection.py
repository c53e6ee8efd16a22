"""StatsGridSearchCV: grid search with statistics of folds that are learned once and added up.

It has the parameters, results, warnings and errors of scikit-learn's `GridSearchCV`, for estimators
of this package. The model of a split is made from the statistics of all other folds, so that rows
are learned once whatever the number of candidates, and each candidate only scores. See `folds`.

It uses private methods of `GridSearchCV` that choose scorers, route metadata and make tables, and
private functions of scikit-learn that warn of failures. These are the same from 1.6 to 1.9, so that
results follow the version that is installed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.utils import indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_method_params, check_is_fitted

from ..input.arrow import plain_values
from ..input.frames import sliceable
from ..input.labels import plain_text
from .cross_validation import check_failures, check_family, cross_validate
from .fold_accuracy import quick_scorer
from .fold_stats import Task
from .folds import candidate_of, evaluate
from .left_out import is_leave_one_out, results_left_out
from .strata import stratified

__all__ = ["StatsGridSearchCV", "cross_validate"]


def _best_has(name: str) -> Any:
    """Whether there is a best estimator, or may be one, that has a method."""

    def check(search: Any) -> bool:
        if not search.refit:
            raise AttributeError(
                f"This {type(search).__name__} instance was initialized with `refit=False`. {name} "
                "is available only after refitting on the best parameters. You can refit an "
                "estimator manually using the `best_params_` attribute"
            )
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


class StatsGridSearchCV(GridSearchCV):  # type: ignore[misc]
    """Grid search with cross-validation that learns each fold once for all candidates.

    A drop-in for scikit-learn's ``GridSearchCV`` if the estimator is one of this package.

    Parameters
    ----------
    estimator : GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
        It is cloned, and not changed.
    param_grid : dict of str to sequence, or list of such dicts
        Constructor parameters and the values to try. Candidates that differ in ``missing`` or
        ``categorical_features`` need statistics of their own, which are learned once for each
        value.
    scoring : str, callable, list, tuple, dict or None, default=None
        One score, or several. None: the estimator's ``score``, which is accuracy.
    n_jobs : int or None, default=None
        Has no effect: learning and scoring use the threads of ``fit`` and ``predict``.
    refit : bool, str or callable, default=True
        Whether the best candidate is fitted to all rows at the end. With several scores: the name
        of the one that decides, or False. A callable takes ``cv_results_`` and returns the index of
        the best candidate.
    cv : int, splitter, iterable of (train, test) indices or None, default=None
        How rows are split, as everywhere in scikit-learn. None: 5 folds, stratified.
    verbose : int, default=0
        If 1 or more, the numbers of folds and of candidates are printed.
    pre_dispatch : int or str, default='2*n_jobs'
        Has no effect.
    error_score : 'raise' or float, default=nan
        Score of a candidate that cannot be fitted or scored, with a ``FitFailedWarning`` or a
        ``UserWarning``. "raise": that is an error. A mean score of NaN ranks last.
    return_train_score : bool, default=False
        Whether training rows are scored too.

    Attributes
    ----------
    cv_results_ : dict of str to ndarray
        Arrays with an entry for each candidate, as in scikit-learn: ``params``, masked arrays
        ``param_<name>``, ``split<i>_test_<score>``, ``mean_test_<score>``, ``std_test_<score>``,
        ``rank_test_<score>``, the same without ranks for train scores, and ``mean_fit_time``,
        ``std_fit_time``, ``mean_score_time``, ``std_score_time`` in seconds. The time of fitting
        includes an equal share of that of learning a fold.
    best_estimator_ : estimator
        The best candidate, fitted to all rows. With ``refit`` only.
    best_index_ : int
        Position of the best candidate. Missing if there are several scores and ``refit`` is False,
        as are the next two.
    best_params_ : dict
        Parameters of the best candidate.
    best_score_ : float
        Mean score of the best candidate. Missing also if ``refit`` is a callable.
    scorer_ : callable or dict of str to callable
        What scores.
    n_splits_ : int
        Number of splits.
    multimetric_ : bool
        Whether there are several scores.
    refit_time_ : float
        Seconds that the fit of the best candidate took.
    classes_ : ndarray of shape (n_classes,)
        Labels of ``best_estimator_``.
    n_features_in_ : int
        Number of features of ``best_estimator_``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features of ``best_estimator_``, if it has names.

    See Also
    --------
    cross_validate : Score one estimator.
    fastgnb.GaussianBayes.reestimate : Change parameters of a fitted model, without any rows.

    Notes
    -----
    ``sample_weight`` and ``groups`` are passed to ``fit``, or routed if metadata routing is
    enabled. Scores are weighted where ``GridSearchCV`` of the installed scikit-learn weights them:
    from 1.7 on, if the scorer takes weights. Callbacks (scikit-learn 1.9) are refused.

    Numerical error: scores equal those of ``GridSearchCV`` on the same splits as far as statistics
    that are added up equal those of rows, which is to rounding. "auto" of `MixedNB` is decided by
    all rows, so that each fold has the same categorical features.

    Cost: one pass of learning over the rows if each row is tested once (KFold, LeaveOneOut and the
    like; repeated ones: once each time), one pass over the training rows of each split elsewhere
    (ShuffleSplit), and one pass of scoring for each candidate. A candidate that cannot be fitted
    from statistics, or splits with rows that are refused, are fitted from rows. Memory: the
    statistics of each fold, and a copy of the rows of one fold.

    An estimator that is not one of this package, such as a Pipeline, is a TypeError of ``fit``: the
    steps before the last one would be fitted again for each fold and candidate, and nothing could
    be shared.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fastgnb import GaussianBayes
    >>> from fastgnb.select import StatsGridSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"tied": [False, True], "reg_param": [0.0, 0.01, 0.1]}
    >>> search = StatsGridSearchCV(GaussianBayes(), grid, cv=5).fit(X, y)
    >>> search.best_params_
    {'reg_param': 0.0, 'tied': False}
    >>> search.predict(X[:2])
    array([0, 0])
    """

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Score every candidate on every split, and fit the best one to all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, or a data frame.
        y : array-like of shape (n_samples,), default=None
            Labels.
        **params : dict of str to object
            ``sample_weight`` of shape (n_samples,) for the estimator, and ``groups`` of shape
            (n_samples,) for the splitter. With metadata routing, what the estimator, the scorer and
            the splitter request.

        Returns
        -------
        Self
            The fitted search.

        Raises
        ------
        TypeError
            If the estimator is not one of this package.
        ValueError
            If parameters are invalid, or every fit fails. The search stays as it was.
        """
        if not get_config()["skip_parameter_validation"]:
            self._validate_params()
        check_family(self.estimator, "GridSearchCV")
        if getattr(self, "_skl_callbacks", None):
            raise ValueError(
                f"{type(self).__name__} does not call callbacks. Remove them with set_callbacks(), "
                "or use sklearn.model_selection.GridSearchCV."
            )
        scorers, metric = self._get_scorers()
        X, y = indexable(sliceable(X), plain_values(plain_text(y)))
        params = _check_method_params(X, params=params)
        routed = self._get_routed_params_for_fit(params)
        fitted = self._search(X, y, scorers, metric, routed)
        for name in [n for n in vars(self) if n.endswith("_") and not n.startswith("_")]:
            delattr(self, name)
        self.__dict__.update(fitted)
        return self

    def _search(self, X: Any, y: Any, scorers: Any, metric: Any, routed: Any) -> dict[str, Any]:
        """The fitted attributes."""
        folds = stratified(self.cv, y, routed.splitter.split)
        cv: Any = None
        if folds is None:
            cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        n_splits = len(folds) if folds else cv.get_n_splits(X, y, **routed.splitter.split)
        candidates = list(ParameterGrid(self.param_grid))
        task = Task(
            X, y, quick_scorer(scorers, self.scoring, self.estimator), self.error_score,
            routed.estimator.fit, routed.scorer.score, self.return_train_score,
        )  # fmt: skip
        out = None
        if candidates and is_leave_one_out(cv, X):
            self._check_work(len(candidates), n_splits, n_splits)
            out = results_left_out(self.estimator, candidates, task)
        if out is None:
            splits = folds or list(cv.split(X, y, **routed.splitter.split))
            self._check_work(len(candidates), len(splits), n_splits)
            out = evaluate(self.estimator, candidates, splits, task)
        check_failures(out, self.scoring, self.error_score)
        first = out[0]["test_scores"]
        fitted: dict[str, Any] = {"multimetric_": isinstance(first, dict), "n_splits_": n_splits}
        if callable(self.scoring) and fitted["multimetric_"]:
            self._check_refit_for_multimetric(first)
            metric = self.refit
        fitted["cv_results_"] = results = self._format_results(candidates, n_splits, out)
        fitted["scorer_"] = getattr(scorers, "_scorers", scorers)
        if self.refit or not fitted["multimetric_"]:
            fitted |= self._best(results, metric)
        if self.refit:
            fitted |= self._refitted(fitted["best_params_"], X, y, routed.estimator.fit)
        return fitted

    def _check_work(self, n_candidates: int, n_found: int, n_splits: int) -> None:
        if n_found != n_splits:
            raise ValueError(
                "cv.split and cv.get_n_splits return inconsistent results. Expected "
                f"{n_splits} splits, got {n_found}"
            )
        if self.verbose > 0:
            print(
                f"Fitting {n_splits} folds for each of {n_candidates} candidates, totalling "
                f"{n_candidates * n_splits} fits"
            )
        if not n_candidates * n_splits:
            raise ValueError(
                "No fits were performed. Was the CV iterator empty? Were there no candidates?"
            )

    def _best(self, results: Mapping[str, Any], metric: Any) -> dict[str, Any]:
        index = self._select_best_index(self.refit, metric, results)
        best = {"best_index_": index, "best_params_": results["params"][index]}
        if not callable(self.refit):
            best["best_score_"] = results[f"mean_test_{metric}"][index]
        return best

    def _refitted(self, params: Any, X: Any, y: Any, fit_params: Any) -> dict[str, Any]:
        model = candidate_of(self.estimator, params)
        start = time.time()
        model.fit(X, y, **fit_params)
        fitted = {"best_estimator_": model, "refit_time_": time.time() - start}
        if hasattr(model, "feature_names_in_"):
            fitted["feature_names_in_"] = model.feature_names_in_
        return fitted

    @available_if(_best_has("predict_joint_log_proba"))  # type: ignore[untyped-decorator]
    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the joint log likelihoods of the best estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Joint log likelihoods in float64, in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict_joint_log_proba(X)  # type: ignore[no-any-return]

    @available_if(_best_has("predict_log_evidence"))  # type: ignore[untyped-decorator]
    def predict_log_evidence(self, X: Any) -> NDArray[np.float64]:
        """Return the log density log p(x) of each row under the best estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log densities in float64.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict_log_evidence(X)  # type: ignore[no-any-return]
