"""Candidates that fail, scores that are NaN, and what is refused: as scikit-learn does."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from searches import SCORINGS, assert_same_search, both, rows, run, two_scores
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB as Plain
from sklearn.pipeline import make_pipeline

from fastgnb import GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB
from fastgnb.estimators.selection import StatsGridSearchCV, cross_validate

FAILING = {
    "too many axes": (PCAGaussianNB(), {"n_components": [9, 2]}),
    "a value that is none": (GaussianNB(), {"var_smoothing": [-1.0, 1e-9, "much"]}),
    "too many priors": (GaussianBayes(reg_param=0.1), {"priors": [[0.5, 0.5], None]}),
    "no such missing": (GaussianNB(), {"missing": ["never", "error"], "ddof": [0, 1]}),
    "no such column": (MixedNB(), {"categorical_features": [[7], ["x"], None, np.sum, [[0], [1]]]}),
}


@pytest.mark.promise("selection")
@pytest.mark.parametrize("error_score", [np.nan, 0, -3.5])
@pytest.mark.parametrize("name", FAILING)
def test_one_candidate_cannot_be_fitted(name, error_score):
    X, y = rows(name)
    model, grid = FAILING[name]
    ours, told = run(StatsGridSearchCV(model, grid, cv=3, error_score=error_score), X, y)
    assert FitFailedWarning in {category for category, _ in told}
    assert (ours.cv_results_["mean_test_score"] == error_score).any() or np.isnan(error_score)
    both(model, grid, X, y, cv=3, error_score=error_score, return_train_score=True)


@pytest.mark.promise("selection")
@pytest.mark.parametrize("scoring", ["none", "text", "list", "dict", "callable of dict"])
def test_failures_in_every_score(scoring):
    X, y = rows("PCAGaussianNB")
    model, grid = FAILING["too many axes"]
    how = {"scoring": SCORINGS[scoring], "refit": False, "cv": 3, "return_train_score": True}
    ours, _ = both(model, grid, X, y, **how)
    means = [values for key, values in ours.cv_results_.items() if key.startswith("mean_test")]
    for values in means:
        assert np.isnan(values[0])
        assert np.isfinite(values[1])
    with pytest.raises(ValueError, match="n_components=9 must be between 1 and n_features=4"):
        StatsGridSearchCV(model, grid, **how, error_score="raise").fit(X, y)


@pytest.mark.parametrize("name", FAILING)
def test_an_error_is_raised_if_asked_for(name):
    X, y = rows(name)
    model, grid = FAILING[name]
    errors = []
    for search in (StatsGridSearchCV, GridSearchCV):
        with pytest.raises(Exception) as caught:  # noqa: PT011
            search(model, grid, error_score="raise", cv=3).fit(X, y)
        errors.append(caught.value)
    assert type(errors[0]) is type(errors[1])
    assert str(errors[0]) == str(errors[1])


def test_every_candidate_fails():
    X, y = rows("GaussianNB")
    grid = {"var_smoothing": [-1.0, -2.0]}
    errors = []
    for search in (StatsGridSearchCV, GridSearchCV):
        with pytest.raises(ValueError, match="All the 6 fits failed") as caught:
            search(GaussianNB(), grid, cv=3).fit(X, y)
        lines = str(caught.value).splitlines()
        errors.append([line for line in lines if not line.startswith(" ")])
    assert errors[0] == errors[1]


def test_a_class_that_cannot_be_scored():
    """var_smoothing=0 and a feature that does not vary: no density."""
    X, y = rows("GaussianNB")
    X[:, 1] = 1.0
    grid = {"var_smoothing": [0.0, 1e-9]}
    ours, _ = both(GaussianNB(), grid, X, y, cv=3)
    assert ours.cv_results_["rank_test_score"].tolist() == [2, 1]
    assert ours.best_index_ == 1
    how = {"cv": 3, "scoring": ["accuracy", "f1_macro"], "refit": "f1_macro"}
    ours, _ = both(GaussianNB(), grid, X, y, **how)
    assert np.isnan(ours.cv_results_["mean_test_accuracy"]).tolist() == [True, False]
    with pytest.raises(ValueError, match="Feature 1 of class 0 has variance 0"):
        StatsGridSearchCV(GaussianNB(), grid, error_score="raise", cv=3).fit(X, y)


def test_nan_ranks_last():
    X, y = rows("GaussianNB")

    def odd(model, X, y):
        return np.nan if model.var_smoothing < 1e-8 else -model.var_smoothing

    grid = {"var_smoothing": [1e-9, 0.5, 1e-10, 0.25, 1e-3]}
    ours, _ = both(GaussianNB(), grid, X, y, cv=3, scoring=odd)
    assert ours.cv_results_["rank_test_score"].tolist() == [4, 3, 4, 2, 1]
    assert ours.best_params_ == {"var_smoothing": 1e-3}
    ours, _ = both(GaussianNB(), {"var_smoothing": [1e-9, 1e-10]}, X, y, cv=3, scoring=odd)
    assert ours.cv_results_["rank_test_score"].tolist() == [1, 1]


def test_nan_of_one_split_and_infinite_scores():
    X, y = rows("GaussianNB")

    def odd(model, X, y):
        return {"a": np.nan if X[0, 0] == first else 1.0, "b": -np.inf * (model.ddof == 0)}

    first = X[0, 0]
    X[1:, 0] += 1e-6
    both(GaussianNB(), {"ddof": [0, 1]}, X, y, cv=KFold(3), scoring=odd, refit="a")


@pytest.mark.compiled  # plain Python warns of NaN, which is compared
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["GaussianNB", "GaussianBayes", "MixedNB"])
def test_a_value_that_is_refused_in_one_fold(name, value):
    """The other folds do not train; this one does, and cannot be scored."""
    X, y = rows(name)
    X[4, 1] = value
    model = {"GaussianNB": GaussianNB(), "GaussianBayes": GaussianBayes(), "MixedNB": MixedNB()}[
        name
    ]
    how = {"cv": KFold(3), "error_score": -1.0, "refit": False, "return_train_score": True}
    ours, _ = both(model, {"priors": [None, [0.2, 0.3, 0.5]]}, X, y, **how)
    assert (ours.cv_results_["mean_test_score"] == -1).all()
    assert ours.cv_results_["split0_train_score"].min() > 0


def test_a_fold_without_rows():
    X, y = rows("GaussianNB")
    pairs = [(np.arange(150), np.arange(0)), (np.arange(50), np.arange(50, 150)),
             (np.arange(0), np.arange(150))]  # fmt: skip
    ours, told = run(StatsGridSearchCV(GaussianNB(), {"ddof": [0, 1]}, cv=pairs), X, y)
    wanted, others = run(GridSearchCV(GaussianNB(), {"ddof": [0, 1]}, cv=pairs), X, y)
    assert_same_search(ours, wanted)
    assert [one[0] for one in told] == [one[0] for one in others]


@pytest.mark.parametrize("scoring", [lambda *rows: "much", lambda *rows: {"a": "much"}])
def test_scores_that_are_no_numbers(scoring):
    X, y = rows("GaussianNB")
    with pytest.raises(ValueError, match="scoring must return a number, got much"):
        StatsGridSearchCV(GaussianNB(), {}, scoring=scoring, refit=False).fit(X, y)


def test_a_score_that_raises_for_one_candidate():
    X, y = rows("GaussianNB")

    def fussy(model, X, y):
        if model.tied:
            raise RuntimeError("Not this one.")
        return 0.5

    ours, told = run(StatsGridSearchCV(GaussianNB(), {"tied": [True, False]}, scoring=fussy), X, y)
    assert sum("Scoring failed." in text[0] for _, text in told) == 5
    assert ours.best_params_ == {"tied": False}
    both(GaussianNB(), {"tied": [True, False]}, X, y, scoring=fussy, error_score=-1.0)
    both(GaussianNB(), {"tied": [True, False]}, X, y, scoring={"a": fussy, "b": "accuracy"},
         refit="a", return_train_score=True)  # fmt: skip
    with pytest.raises(RuntimeError, match="Not this one"):
        StatsGridSearchCV(GaussianNB(), {"tied": [True]}, scoring=fussy, error_score="raise").fit(
            X, y
        )


def test_one_of_several_scores_is_not_defined():
    """An area under a curve of two classes where a fold has one."""
    X, y = rows("GaussianNB")
    order = np.argsort(y[:100] > 0, kind="stable")
    X, y = X[order], y[order] > 0
    how = {"scoring": ["accuracy", "roc_auc"], "refit": "accuracy", "cv": KFold(3)}
    ours, told = run(StatsGridSearchCV(GaussianNB(), {"ddof": [0, 1]}, **how), X, y)
    assert told
    assert np.isfinite(ours.best_score_)
    assert np.isnan(ours.cv_results_["mean_test_roc_auc"]).all()
    both(GaussianNB(), {"ddof": [0, 1]}, X, y, **how)


def raised(search, X, y, **params):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        search.fit(X, y, **params)
    return type(caught.value), str(caught.value).replace("StatsGridSearchCV", "GridSearchCV")


@pytest.mark.parametrize(
    "options",
    [
        {"scoring": "nothing"},
        {"scoring": ["accuracy"]},
        {"scoring": {"a": "accuracy"}, "refit": "b"},
        {"scoring": []},
        {"scoring": ["accuracy", "accuracy"], "refit": False},
        {"scoring": two_scores},
        {"scoring": two_scores, "refit": "wrong"},
        {"cv": 1},
        {"cv": 60},
        {"cv": "loo"},
        {"cv": []},
        {"cv": [([0, 1, 400], [2, 3])]},
        {"refit": lambda results: "best"},
        {"refit": lambda results: 5},
        {"error_score": "ignore"},
        {"return_train_score": "yes"},
        {"n_jobs": 1.5},
    ],
    ids=" ".join,
)
def test_options_are_refused_in_the_same_words(options):
    X, y = rows("GaussianNB")
    ours = raised(StatsGridSearchCV(GaussianNB(), {"ddof": [0, 1]}, **options), X, y)
    theirs = raised(GridSearchCV(GaussianNB(), {"ddof": [0, 1]}, **options), X, y)
    assert ours == theirs


@pytest.mark.parametrize(
    "grid",
    [{"depth": [1]}, {"ddof": []}, {"ddof": 1}, {"ddof": "01"}, [], [1], {1: [2]}, None,
     {"ddof": np.zeros((2, 2))}, {"ddof": [0], "tied__x": [1]}],
    ids=str,
)  # fmt: skip
def test_grids_are_refused_in_the_same_words(grid):
    X, y = rows("GaussianNB")
    ours = raised(StatsGridSearchCV(GaussianNB(), grid), X, y)
    assert ours == raised(GridSearchCV(GaussianNB(), grid), X, y)


def test_rows_and_keywords_are_refused_in_the_same_words(rng):
    X, y = rows("GaussianNB")
    cases = [
        (X, y[:-1], {}),
        (X, None, {}),
        (X[:, 0], y, {}),
        (np.where(X > 7, np.nan, X), y, {}),
        (np.char.add(X.astype(str), "x"), y, {}),
        (X, rng.random(150), {}),
        (X, y, {"sample_weight": np.ones(149)}),
        (X, y, {"sample_weight": -np.ones(150)}),
        (X, y, {"groups": np.ones(149)}),
        (X, y, {"prior": [1, 2, 3]}),
    ]
    for one, labels, params in cases:
        results = []
        for search in (StatsGridSearchCV, GridSearchCV):
            scoring = SCORINGS["callable"]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = search(GaussianNB(), {}, cv=3, scoring=scoring)
                kind, text = raised(found, one, labels, **params)
            results.append((kind, [line for line in text.splitlines() if line[:1] != " "]))
        assert results[0] == results[1]


def test_a_splitter_that_changes_its_mind():
    class Splitter(KFold):
        def get_n_splits(self, X=None, y=None, groups=None):
            return 4

    X, y = rows("GaussianNB")
    with pytest.raises(ValueError, match=r"cv\.split and cv\.get_n_splits return"):
        StatsGridSearchCV(GaussianNB(), {}, cv=Splitter(3)).fit(X, y)


@pytest.mark.parametrize(
    "estimator",
    [
        Plain(),
        RandomForestClassifier(),
        make_pipeline(SelectKBest(k=2), GaussianNB()),
        StatsGridSearchCV(GaussianNB(), {}),
    ],
    ids=lambda one: type(one).__name__,
)
def test_other_estimators_are_refused_by_name(estimator):
    X, y = rows("GaussianNB")
    name = type(estimator).__name__
    wanted = rf"Expected an estimator of fastgnb, got {name}\. .*sklearn\.model_selection\."
    with pytest.raises(TypeError, match=wanted + "GridSearchCV"):
        StatsGridSearchCV(estimator, {}).fit(X, y)
    with pytest.raises(TypeError, match=wanted + "cross_validate"):
        cross_validate(estimator, X, y)
    with pytest.raises(ValueError, match="'estimator' parameter of StatsGridSearchCV"):
        StatsGridSearchCV(None, {}).fit(X, y)
    with pytest.raises(TypeError, match=r"the class GaussianNB\. Pass an instance: GaussianNB\(\)"):
        StatsGridSearchCV(GaussianNB, {}).fit(X, y)


class Callback:
    """The least that scikit-learn 1.9 takes for a callback."""

    def setup(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context, **more): ...
    def on_fit_task_end(self, estimator, context, **more): ...
    def teardown(self, estimator, context): ...


def test_callbacks_are_refused():
    pytest.importorskip("sklearn.callback")
    X, y = rows("GaussianNB")
    search = StatsGridSearchCV(GaussianNB(), {}).set_callbacks(Callback())
    with pytest.raises(ValueError, match="StatsGridSearchCV does not call callbacks"):
        search.fit(X, y)
    assert search.set_callbacks().fit(X, y).best_score_ > 0.9


def test_a_search_that_fails_leaves_the_last_one():
    X, y = rows("GaussianNB")
    search = StatsGridSearchCV(GaussianNB(), {"ddof": [0, 1]}).fit(X, y)
    before = dict(vars(search))
    with pytest.raises(ValueError, match="All the 10 fits failed"):
        search.fit(X * np.nan, y)
    assert vars(search) == before
    search.set_params(refit=False, scoring=["accuracy", "f1_macro"]).fit(X, y)
    for name in ("best_estimator_", "best_index_", "refit_time_"):
        assert not hasattr(search, name)  # nothing of an earlier fit
    with pytest.raises(AttributeError, match="has no attribute 'predict'") as caught:
        search.predict(X)
    assert "refit=False" in str(caught.value.__cause__)
    with pytest.raises(AttributeError, match="has no attribute 'predict_log_evidence'") as caught:
        search.predict_log_evidence(X)
    assert "initialized with `refit=False`. predict_log_evidence is" in str(caught.value.__cause__)
