"""`cross_validate`, and the search as an estimator among others of scikit-learn."""

from __future__ import annotations

import doctest
import inspect
import pickle
import warnings

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from searches import GRIDS, SCORINGS, assert_same_search, rows
from sklearn import model_selection
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneOut, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import fastgnb.estimators.cross_validation
import fastgnb.estimators.selection
from fastgnb import GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB
from fastgnb.estimators.selection import StatsGridSearchCV, cross_validate

# --- cross_validate ----------------------------------------------------------------------------


def assert_same_scores(found, wanted):
    assert list(found) == list(wanted)
    for key, values in wanted.items():
        if key == "indices":
            assert list(found[key]) == list(values)
            for part in values:
                for a, b in zip(found[key][part], values[part], strict=True):
                    assert_array_equal(a, b)
        elif key == "estimator":
            assert [type(one) for one in found[key]] == [type(one) for one in values]
        elif "time" in key:
            assert found[key].shape == values.shape
            assert (found[key] >= 0).all()
        else:
            assert found[key].dtype == values.dtype
            assert_allclose(found[key], values, rtol=1e-9, err_msg=key)


def both(model, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cross_validate(model, X, y, **options)
        wanted = model_selection.cross_validate(model, X, y, **options)
    assert_same_scores(found, wanted)
    return found, wanted


@pytest.mark.promise("selection")
@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("name", GRIDS)
def test_scores_are_those_of_scikit_learn(name, scoring):
    X, y = rows(name)
    both(GRIDS[name][0], X, y, scoring=SCORINGS[scoring], cv=4, return_train_score=True)


@pytest.mark.parametrize("name", GRIDS)
def test_models_and_indices_are_returned(name):
    X, y = rows(name)
    model = GRIDS[name][0]
    found, wanted = both(model, X, y, return_estimator=True, return_indices=True)
    for a, b in zip(found["estimator"], wanted["estimator"], strict=True):
        assert a.get_params() == b.get_params()
        assert set(vars(a)) == set(vars(b))
        assert_array_equal(a.classes_, b.classes_)
        assert a.classes_.dtype == b.classes_.dtype
        assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-9)
    assert len({id(one) for one in found["estimator"]}) == 5


def test_auto_stays_what_it_was():
    pd = pytest.importorskip("pandas")
    X, y = rows("MixedNB")
    frame = pd.DataFrame({"a": X[:, 0], "b": np.array(["x", "y", "z"])[y]})
    model = MixedNB(categorical_features="auto")
    found, _ = both(model, frame, y, return_estimator=True, cv=3)
    for one in found["estimator"]:
        assert one.categorical_features == "auto"
        assert one.is_categorical_.tolist() == [False, True]


@pytest.mark.parametrize("cv", [GroupKFold(3), KFold(2), LeaveOneOut(), None])
def test_groups_weights_and_splits(rng, cv):
    X, y = rows("GaussianNB")
    X, y = X[:80], y[:80]
    both(GaussianNB(), X, y, cv=cv, groups=rng.integers(0, 4, 80),
         params={"sample_weight": rng.random(80)}, return_train_score=True)  # fmt: skip


def test_the_model_is_not_changed():
    X, y = rows("GaussianNB")
    model = GaussianNB().fit(X, y)
    before = dict(vars(model))
    cross_validate(model, X, y)
    StatsGridSearchCV(model, {"ddof": [0, 1]}).fit(X, y)
    assert vars(model) == before


def test_failures_of_some_splits():
    """One fold has all of what makes the others fail: rows that are refused."""
    X, y = rows("GaussianNB")
    X[3, 0] = np.nan
    for scoring in (None, ["accuracy", "f1_macro"], SCORINGS["callable of dict"]):
        found, _ = both(GaussianNB(), X, y, cv=KFold(3), scoring=scoring)
        for key in set(found) - {"fit_time", "score_time"}:
            assert np.isnan(found[key]).all()
        with pytest.raises(ValueError, match="Input X contains NaN"):
            cross_validate(GaussianNB(), X, y, error_score="raise", scoring=scoring)
    with pytest.raises(ValueError, match="All the 3 fits failed"):
        cross_validate(GaussianNB(var_smoothing=-1.0), X, y, cv=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"error_score": "ignore"}, "'error_score' parameter of cross_validate must be"),
        ({"scoring": "nothing"}, "'scoring' parameter of cross_validate must be"),
        ({"cv": "loo"}, "'cv' parameter of cross_validate must be"),
        ({"params": {"prior": 1}}, "unexpected keyword argument 'prior'"),
    ],
)
def test_options_that_are_refused(options, message):
    X, y = rows("GaussianNB")
    for function in (cross_validate, model_selection.cross_validate):
        with pytest.raises(ValueError, match=message):
            function(GaussianNB(), X, y, **options)


def test_parameters_are_those_of_scikit_learn():
    wanted = inspect.signature(model_selection.cross_validate).parameters
    found = inspect.signature(cross_validate).parameters
    assert list(found) == list(wanted)
    for name, one in wanted.items():
        assert (one.kind, repr(one.default)) == (found[name].kind, repr(found[name].default))
    ours, theirs = (inspect.signature(one).parameters for one in (StatsGridSearchCV, GridSearchCV))
    assert {name: repr(one.default) for name, one in ours.items()} == {
        name: repr(one.default) for name, one in theirs.items()
    }


# --- metadata routing --------------------------------------------------------------------------


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("weighs_scores", [True, False])
@pytest.mark.parametrize("multiple", [True, False])
def test_weights_and_groups_are_routed(rng, weighs_scores, multiple):
    X, y = rows("GaussianNB")
    params = {"sample_weight": rng.random(150), "groups": rng.integers(0, 5, 150)}
    model = GaussianNB().set_fit_request(sample_weight=True)
    scorer = make_scorer(accuracy_score).set_score_request(sample_weight=weighs_scores)
    scoring = {"a": scorer, "b": "accuracy"} if multiple and not weighs_scores else scorer
    how = {"scoring": scoring, "cv": GroupKFold(3)}
    if isinstance(scoring, dict):
        scoring["b"] = make_scorer(accuracy_score).set_score_request(sample_weight=True)
    grid, refit = {"ddof": [0, 1]}, "a" if isinstance(scoring, dict) else True
    ours = StatsGridSearchCV(model, grid, refit=refit, **how).fit(X, y, **params)
    theirs = GridSearchCV(model, grid, refit=refit, **how).fit(X, y, **params)
    assert_same_search(ours, theirs)
    weight = {"sample_weight": params["sample_weight"]} if weighs_scores else {}
    assert_allclose(ours.score(X, y, **weight), theirs.score(X, y, **weight))
    both(model, X, y, params=params, **how)


@pytest.mark.usefixtures("routing")
def test_the_score_method_gets_what_it_requests(rng):
    X, y = rows("GaussianNB")
    w = rng.random(150)
    model = GaussianNB().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    ours = StatsGridSearchCV(model, {"ddof": [0, 1]}).fit(X, y, sample_weight=w)
    assert_same_search(ours, GridSearchCV(model, {"ddof": [0, 1]}).fit(X, y, sample_weight=w))
    plain = StatsGridSearchCV(GaussianNB(), {"ddof": [0, 1]}).fit(X, y)
    assert plain.best_score_ != ours.best_score_


@pytest.mark.usefixtures("routing")
def test_what_is_not_requested_is_refused(rng):
    X, y = rows("GaussianNB")
    w = rng.random(150)
    text = r"\[sample_weight\] are passed but are not explicitly set .* for GaussianNB\.fit"
    with pytest.raises(ValueError, match=text):
        StatsGridSearchCV(GaussianNB(), {}).fit(X, y, sample_weight=w)
    errors = []
    for function in (cross_validate, model_selection.cross_validate):
        with pytest.raises(ValueError, match=r"sample_weight'?\] are passed") as caught:
            function(GaussianNB(), X, y, params={"sample_weight": w})
        errors.append(str(caught.value))
    assert errors[0] == errors[1] or "to cross validation" in errors[1]  # scikit-learn 1.6
    with pytest.raises(ValueError, match="`groups` can only be passed if metadata routing is not"):
        cross_validate(GaussianNB(), X, y, groups=np.ones(150))


# --- among other estimators --------------------------------------------------------------------


@pytest.mark.parametrize("name", GRIDS)
def test_check_estimator(name):
    model, grid = GRIDS[name]
    model = MixedNB() if name == "MixedNB" else model
    grid = {"n_components": [1, None]} if name == "PCAGaussianNB" else grid
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that fits fail, which becomes an error before it is one
        results = check_estimator(StatsGridSearchCV(model, grid), on_fail=None, on_skip=None)
    assert len(results) > 40
    assert not [r for r in results if r["status"] == "failed"]


def test_copies_and_pickles():
    X, y = rows("GaussianNB")
    grid = {"tied": [False, True]}
    search = StatsGridSearchCV(
        GaussianNB(), grid, cv=3, scoring="f1_macro", return_train_score=True
    )
    copy = clone(search)
    assert copy.get_params().keys() == search.get_params().keys()
    copy.fit(X, y)
    assert not hasattr(search, "cv_results_")
    again = pickle.loads(pickle.dumps(copy))
    assert_array_equal(again.predict_proba(X), copy.predict_proba(X))
    assert again.best_params_ == copy.best_params_
    assert list(again.cv_results_) == list(copy.cv_results_)
    assert is_classifier(search)
    search.set_params(estimator__ddof=1, cv=4)
    assert search.fit(X, y).best_estimator_.ddof == 1
    assert search.n_splits_ == 4


def test_not_fitted_yet():
    X, _ = rows("GaussianNB")
    search = StatsGridSearchCV(GaussianNB(), {})
    for name in ("predict", "predict_proba", "predict_joint_log_proba", "predict_log_evidence"):
        with pytest.raises(NotFittedError, match="This StatsGridSearchCV instance is not fitted"):
            getattr(search, name)(X)
    assert not hasattr(search, "classes_")
    assert not hasattr(search, "n_features_in_")


@pytest.mark.parametrize("kind", [GaussianNB, GaussianBayes, PCAGaussianNB, MixedNB])
def test_every_way_to_predict(kind):
    X, y = rows("GaussianNB")
    search = StatsGridSearchCV(kind(), {"priors": [None, [0.6, 0.2, 0.2]]}).fit(X, y)
    for name in ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba",
                 "predict_log_evidence", "decision_function"):  # fmt: skip
        best = search.best_estimator_
        assert hasattr(search, name) == hasattr(best, name)
        if hasattr(best, name):
            assert_array_equal(getattr(search, name)(X), getattr(best, name)(X))


def test_nested_searches():
    X, y = rows("GaussianBayes")
    grid = {"reg_param": [0.0, 0.01, 0.5]}
    ours = StatsGridSearchCV(GaussianBayes(), grid, cv=3)
    theirs = GridSearchCV(GaussianBayes(), grid, cv=3)
    assert_allclose(cross_val_score(ours, X, y), cross_val_score(theirs, X, y))
    assert_allclose(
        cross_val_score(make_pipeline(StandardScaler(), ours), X, y),
        cross_val_score(make_pipeline(StandardScaler(), theirs), X, y),
    )
    outer = GridSearchCV(ours, {"estimator__tied": [False, True]}, cv=2).fit(X, y)
    wanted = GridSearchCV(theirs, {"estimator__tied": [False, True]}, cv=2).fit(X, y)
    assert outer.best_params_ == wanted.best_params_
    assert_allclose(outer.best_score_, wanted.best_score_)


def test_jobs_have_no_effect_and_verbose_says_what_there_is_to_do(capsys):
    X, y = rows("GaussianNB")
    quiet = StatsGridSearchCV(GaussianNB(), {"ddof": [0, 1]}, n_jobs=2, pre_dispatch=1).fit(X, y)
    assert capsys.readouterr().out == ""
    loud = StatsGridSearchCV(GaussianNB(), {"ddof": [0, 1]}, verbose=1).fit(X, y)
    said = capsys.readouterr().out
    assert_same_search(quiet, loud)
    GridSearchCV(GaussianNB(), {"ddof": [0, 1]}, verbose=1).fit(X, y)
    assert said == capsys.readouterr().out
    assert said.startswith("Fitting 5 folds for each of 2 candidates, totalling 10 fits")


@pytest.mark.parametrize("thing", [StatsGridSearchCV, cross_validate])
def test_examples_run(thing):
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    module = inspect.getmodule(thing)
    (test,) = finder.find(thing, thing.__name__, module=module)
    assert test.examples
    assert runner.run(test).failed == 0


def test_public_names():
    assert fastgnb.estimators.selection.__all__ == ["StatsGridSearchCV", "cross_validate"]
    assert (
        fastgnb.estimators.selection.cross_validate
        is fastgnb.estimators.cross_validation.cross_validate
    )
