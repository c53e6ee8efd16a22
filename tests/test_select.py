"""Cross-validation from statistics against scikit-learn's, which fits again and again."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB as Plain

from fastgnb import ClassStats, GaussianBayes, GaussianNB, PCAGaussianNB
from fastgnb.select import cross_validate

GRIDS = {
    "naive": (GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 0.1], "tied": [False, True]}),
    "full": (GaussianBayes(reg_param=0.01), [{"tied": [True], "ddof": [0, 1]},
                                             {"shrinkage": [None, 0.5, "oas"]}]),
    "axes": (PCAGaussianNB(), {"n_components": [1, 3, 0.9], "rotation": ["total", "class"]}),
}  # fmt: skip


def same(found, theirs):
    assert found["params"] == theirs["params"]
    keys = {key for key in theirs if "time" not in key}
    assert keys == {key for key in found if "time" not in key}
    assert {key for key in theirs if "time" in key} == {key for key in found if "time" in key}
    for key in keys - {"params"}:
        if key.startswith("param_"):
            assert found[key].tolist() == theirs[key].tolist()
        else:
            assert_allclose(found[key], theirs[key], rtol=1e-12, err_msg=key)


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_grids_are_grid_search(name, load):
    X, y = load(return_X_y=True)
    model, grid = GRIDS[name]
    theirs = GridSearchCV(model, grid, cv=5).fit(X, y).cv_results_
    same(cross_validate(model, X, y, cv=5, param_grid=grid), theirs)


@pytest.mark.parametrize(
    "cv",
    [
        2,
        KFold(7),
        StratifiedKFold(4, shuffle=True, random_state=3),
        ShuffleSplit(3, test_size=0.4, random_state=1),
        [(np.arange(50, 150), np.arange(50))],
        [(np.arange(100), np.arange(50, 150)), (np.arange(100, 150), np.arange(10))],
    ],
    ids=["2", "kfold", "stratified", "shuffle", "one pair", "overlap"],
)
def test_every_kind_of_split(cv):
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    X, y = X[order], y[order]
    grid = {"priors": [None, [0.2, 0.3, 0.5]]}
    theirs = GridSearchCV(GaussianNB(), grid, cv=cv).fit(X, y).cv_results_
    same(cross_validate(GaussianNB(), X, y, cv=cv, param_grid=grid), theirs)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "balanced_accuracy", None])
def test_scores_of_any_kind(scoring):
    X, y = load_wine(return_X_y=True)
    grid = {"var_smoothing": [1e-9, 0.01]}
    theirs = GridSearchCV(Plain(), grid, cv=3, scoring=scoring).fit(X, y).cv_results_
    found = cross_validate(GaussianNB(), X, y, cv=3, param_grid=grid, scoring=scoring)
    assert_allclose(found["mean_test_score"], theirs["mean_test_score"], rtol=1e-7)


def test_rows_are_learned_once(monkeypatch):
    X, y = load_iris(return_X_y=True)
    learned = []
    plain = ClassStats.from_rows

    def counted(X, *args, **keywords):
        learned.append(len(X))
        return plain(X, *args, **keywords)

    monkeypatch.setattr(ClassStats, "from_rows", counted)
    cross_validate(GaussianNB(), X, y, cv=5, param_grid={"var_smoothing": np.logspace(-9, 0, 10)})
    assert sum(learned) == len(X)


@pytest.mark.parametrize("cv", ["loo", LeaveOneOut()])
@pytest.mark.parametrize("name", GRIDS)
def test_leaving_one_out(cv, name):
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    model, grid = GRIDS[name]
    found = cross_validate(model, X, y, cv=cv, param_grid=grid)
    for params, score in zip(found["params"], found["mean_test_score"], strict=True):
        theirs = cross_val_score(clone(model).set_params(**params), X, y, cv=LeaveOneOut())
        assert score == pytest.approx(theirs.mean(), abs=1e-12)
    assert not any(key.startswith("split") for key in found)


def test_a_class_of_one_row_left_out():
    X, y = np.array([[0.0], [1.0], [5.0], [6.0], [50.0]]), np.array([0, 0, 1, 1, 2])
    found = cross_validate(GaussianNB(), X, y, cv="loo")
    wanted = [GaussianNB().fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[i : i + 1]) == y[i]
              for i in range(5)]  # fmt: skip
    assert found["mean_test_score"][0] == np.mean(wanted)


def test_a_fold_that_lacks_a_class():
    X, y = load_iris(return_X_y=True)
    theirs = GridSearchCV(GaussianNB(), {"tied": [False]}, cv=KFold(3)).fit(X, y).cv_results_
    same(cross_validate(GaussianNB(), X, y, cv=KFold(3), param_grid={"tied": [False]}), theirs)
    assert theirs["mean_test_score"][0] == 0  # sorted labels: each fold is a class of its own


def test_weights_frames_and_missing_values(rng):
    pd = pytest.importorskip("pandas")
    X, y = load_wine(return_X_y=True)
    w = rng.random(len(y))
    found = cross_validate(
        GaussianNB(), pd.DataFrame(X).add_prefix("c"), pd.Series(y), cv=4,
        param_grid={"ddof": [0, 1]}, sample_weight=w,
    )  # fmt: skip
    for i, (train, test) in enumerate(StratifiedKFold(4).split(X, y)):
        wanted = [
            GaussianNB(ddof=ddof).fit(X[train], y[train], w[train]).score(X[test], y[test], w[test])
            for ddof in (0, 1)
        ]
        assert_allclose(found[f"split{i}_test_score"], wanted, rtol=1e-12)
    loo = cross_validate(GaussianNB(), X[::5], y[::5], cv="loo", sample_weight=w[::5])
    own = cross_val_predict(GaussianNB(), X[::5], y[::5], cv=LeaveOneOut(),
                            params={"sample_weight": w[::5]})  # fmt: skip
    assert_allclose(loo["mean_test_score"], np.average(own == y[::5], weights=w[::5]))
    X[::7, 2] = np.nan
    skip = GaussianNB(missing="skip")
    theirs = GridSearchCV(skip, {"ddof": [0]}, cv=4).fit(X, y).cv_results_
    same(cross_validate(skip, X, y, cv=4, param_grid={"ddof": [0]}), theirs)


def test_groups_by_their_splits(rng):
    X, y = load_iris(return_X_y=True)
    groups = rng.integers(0, 6, 150)
    splits = list(GroupKFold(3).split(X, y, groups))
    grid = {"tied": [False, True]}
    theirs = GridSearchCV(GaussianNB(), grid, cv=splits).fit(X, y).cv_results_
    same(cross_validate(GaussianNB(), X, y, cv=splits, param_grid=grid), theirs)


def test_the_model_is_not_changed():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, y)
    before = dict(model.__dict__)
    found = cross_validate(model, X, y)
    assert model.__dict__ == before
    assert found["params"] == [{}]
    assert found["rank_test_score"].tolist() == [1]


def test_what_cannot_be_validated():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match=r"Expected an estimator of fastgnb's, got GaussianNB\."):
        cross_validate(Plain(), X, y)
    with pytest.raises(ValueError, match=r"missing cannot vary among candidates"):
        cross_validate(GaussianNB(), X, y, param_grid={"missing": ["error", "skip"]})
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        cross_validate(GaussianNB(), X, y, param_grid={"depth": [1]})
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        cross_validate(GaussianNB(), X, y[:-1])
    with pytest.raises(ValueError, match="Input X contains NaN"):
        cross_validate(GaussianNB(), np.where(X > 7, np.nan, X), y)
