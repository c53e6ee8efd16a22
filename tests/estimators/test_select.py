"""The search over statistics against scikit-learn's, which fits again and again."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from searches import (
    GRIDS,
    SCORINGS,
    assert_same_search,
    both,
    rows,
    run,
    two_scores,
)
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    LeavePGroupsOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from fastgnb import ClassStats, GaussianBayes, GaussianNB, MixedNB, MixedStats, PCAGaussianNB
from fastgnb.estimators import fold_stats
from fastgnb.estimators.selection import StatsGridSearchCV
from fastgnb.model.family import MEMBERS


@pytest.mark.promise("selection")
@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_grids_are_grid_search(name, load):
    X, y = rows(name, load)
    model, grid = GRIDS[name]
    ours, theirs = both(model, grid, X, y, cv=5, return_train_score=True)
    assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))  # fitted to rows, both


@pytest.mark.promise("selection")
@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("name", GRIDS)
def test_scores_of_any_kind(name, scoring):
    X, y = rows(name)
    model, grid = GRIDS[name]
    both(model, grid, X, y, cv=3, scoring=SCORINGS[scoring], refit=False, return_train_score=True)


@pytest.mark.parametrize(
    ("scoring", "refit"),
    [
        (None, True),
        (None, False),
        (None, "anything"),
        ("f1_macro", lambda results: len(results["params"]) - 1),
        (["accuracy", "f1_macro"], "f1_macro"),
        (["accuracy", "f1_macro"], lambda results: int(results["mean_test_accuracy"].argmin())),
        (two_scores, "right"),
        (two_scores, False),
    ],
)
@pytest.mark.parametrize("name", GRIDS)
def test_ways_to_refit(name, scoring, refit):
    X, y = rows(name)
    model, grid = GRIDS[name]
    ours, theirs = both(model, grid, X, y, cv=4, scoring=scoring, refit=refit)
    if refit:
        assert_array_equal(ours.predict(X), theirs.predict(X))
        assert ours.refit_time_ > 0
        assert_array_equal(ours.classes_, theirs.classes_)
        assert ours.n_features_in_ == theirs.n_features_in_ == X.shape[1]
    if refit and not callable(refit):
        assert_allclose(ours.score(X, y), theirs.score(X, y), rtol=1e-12)


@pytest.mark.parametrize(
    "cv",
    [
        None,
        2,
        KFold(7),
        StratifiedKFold(4, shuffle=True, random_state=3),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=5),
        ShuffleSplit(3, test_size=0.4, random_state=1),
        LeaveOneOut(),
        TimeSeriesSplit(4),
        PredefinedSplit(np.arange(150) % 4 - 1),
        [(np.arange(50, 150), np.arange(50))],
        [(np.arange(100), np.arange(50, 150)), (np.arange(100, 150), np.arange(10))],
        [([*range(1, 99)], [0, 0]), ([0, *range(99)], [*range(99, 150)])],
        [(np.arange(-100, 0), np.arange(-150, -100)), (np.arange(50), np.arange(-100, 0))],
        [(np.arange(150) < 100, np.arange(150) >= 100), (np.arange(150) > 9, np.arange(150) < 10)],
    ],
    ids=["None", "2", "kfold", "stratified", "repeated", "shuffle", "one row", "time",
         "predefined", "one pair", "overlap", "twice", "negative", "masks"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["GaussianNB", "GaussianBayes"])
def test_every_kind_of_split(cv, name):
    X, y = rows(name)
    if isinstance(cv, LeaveOneOut):
        X, y = X[::2], y[::2]  # more than 64 folds
    both(GRIDS[name][0], {"priors": [None, [0.2, 0.3, 0.5]]}, X, y, cv=cv)


def test_splits_of_an_iterator():
    X, y = rows("GaussianNB")
    pairs = list(KFold(3).split(X, y))
    found = StatsGridSearchCV(GaussianNB(), {}, cv=iter(pairs)).fit(X, y)
    assert_same_search(found, GridSearchCV(GaussianNB(), {}, cv=pairs).fit(X, y))


@pytest.mark.parametrize("cv", [GroupKFold(3), LeavePGroupsOut(2)])
@pytest.mark.parametrize("name", GRIDS)
def test_groups(rng, name, cv):
    X, y = rows(name)
    groups = rng.integers(0, 4, len(y))
    model, grid = GRIDS[name]
    both(model, grid, X, y, cv=cv, params={"groups": groups})


WEIGHTS_SCORES = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 7)


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("scoring", ["none", "accuracy", "text", "list"])
def test_weights(rng, name, scoring):
    X, y = rows(name)
    model, grid = GRIDS[name]
    w = rng.random(len(y)) * (rng.random(len(y)) > 0.1)
    how = {"cv": 4, "scoring": SCORINGS[scoring], "refit": False, "return_train_score": True}
    ours, _ = both(model, grid, X, y, params={"sample_weight": w}, **how)
    plain = StatsGridSearchCV(model, grid, **how).fit(X, y)
    if WEIGHTS_SCORES:  # earlier versions weight learning alone, which may change no score
        key = next(key for key in plain.cv_results_ if key.startswith("mean_test"))
        assert (ours.cv_results_[key] != plain.cv_results_[key]).any()


def test_a_scorer_without_weights(rng):
    X, y = rows("GaussianNB")
    scoring = SCORINGS["callable"]
    ours, told = run(StatsGridSearchCV(GaussianNB(), {"ddof": [0, 1]}, scoring=scoring), X, y,
                     sample_weight=rng.random(150))  # fmt: skip
    both(GaussianNB(), {"ddof": [0, 1]}, X, y, scoring=scoring,
         params={"sample_weight": rng.random(150)})  # fmt: skip
    for _, text in told:  # of scikit-learn from 1.7 on
        assert "does not support sample_weight" in text[0]
    assert np.isfinite(ours.best_score_)


@pytest.mark.parametrize("weight", [2.0, None, 3])
def test_a_number_as_weight(weight):
    X, y = rows("GaussianNB")
    scoring = SCORINGS["callable"]  # which gets no weights
    both(GaussianNB(), {}, X, y, scoring=scoring, params={"sample_weight": weight})


def test_a_fold_of_weight_0():
    X, y = rows("GaussianNB")
    w = np.ones(150)
    w[:50] = 0
    both(GaussianNB(), {"ddof": [0, 1]}, X, y, cv=KFold(3), scoring=SCORINGS["callable"],
         params={"sample_weight": w})  # fmt: skip


@pytest.mark.parametrize("name", GRIDS)
def test_folds_without_a_class(name):
    X, y = rows(name)
    order = np.argsort(y, kind="stable")
    model, grid = GRIDS[name]
    ours, _ = both(model, grid, X[order], y[order], cv=KFold(3))
    assert ours.best_score_ == 0  # each fold is a class of its own
    both(model, grid, X[order], y[order], cv=KFold(6), return_train_score=True)


@pytest.mark.parametrize("name", GRIDS)
def test_splits_that_train_on_one_class(name):
    X, y = rows(name)
    order = np.argsort(y, kind="stable")[:100]
    model, grid = GRIDS[name]
    both(model, grid, X[order], y[order], cv=KFold(2))


def test_folds_without_a_category():
    draw = np.random.default_rng(3)
    X = np.column_stack([draw.normal(size=60), np.repeat([0, 1, 2], 20), draw.integers(0, 3, 60)])
    y = draw.integers(0, 2, 60)
    model = MixedNB(categorical_features=[1, 2])
    both(model, {"alpha": [0.0, 1.0], "min_categories": [None, 4]}, X, y, cv=KFold(3),
         scoring="neg_brier_score")  # fmt: skip


@pytest.mark.parametrize("labels", ["text", "objects", "booleans", "floats", "list", "column"])
def test_labels_of_any_kind(labels):
    X, y = rows("GaussianNB")
    names = np.array(["a", "bb", "ccc"])
    y = {
        "text": names[y], "objects": names.astype(object)[y], "booleans": y > 0,
        "floats": y.astype(float), "list": names[y].tolist(), "column": y[:, None],
    }[labels]  # fmt: skip
    ours, theirs = run(StatsGridSearchCV(GaussianNB(), {"ddof": [0, 1]}), X, y)
    wanted, others = run(GridSearchCV(GaussianNB(), {"ddof": [0, 1]}), X, y)
    assert_same_search(ours, wanted)
    assert {one[0] for one in theirs} == {one[0] for one in others}  # of a column, for each fit
    assert_array_equal(ours.classes_, wanted.classes_)
    assert ours.classes_.dtype == wanted.classes_.dtype


@pytest.mark.parametrize("kind", ["pandas", "polars", "list", "fortran", "float32", "readonly"])
@pytest.mark.parametrize("name", ["GaussianNB", "GaussianBayes", "MixedNB"])
def test_rows_of_any_kind(kind, name):
    X, y = rows(name)
    if kind in ("pandas", "polars"):
        frames = pytest.importorskip(kind)
        X = frames.DataFrame({f"c{j}": X[:, j] for j in range(X.shape[1])})
        y = frames.Series(y)
    elif kind == "readonly":
        X.flags.writeable = False
    else:
        X = {"list": X.tolist(), "fortran": np.asfortranarray(X), "float32": X.astype("f4")}[kind]
    model, grid = GRIDS[name]
    ours, theirs = both(model, grid, X, y, cv=3)
    assert hasattr(ours, "feature_names_in_") == hasattr(theirs, "feature_names_in_")
    if hasattr(theirs, "feature_names_in_"):
        assert_array_equal(ours.feature_names_in_, theirs.feature_names_in_)


def test_missing_values():
    X, y = rows("GaussianNB")
    X[::7, 2] = np.nan
    both(GaussianNB(missing="skip"), {"ddof": [0, 1]}, X, y, cv=4)


def test_masked_columns_of_parameters():
    X, y = rows("GaussianBayes")
    grid = [
        {"priors": [[0.2, 0.3, 0.5], [0.4, 0.3, 0.3]], "ddof": [1]},
        {"shrinkage": ["oas", 0.5, None]},
        {"reg_param": [0, 0.5, np.float32(0.25)]},
        {"tied": [True]},
        {},
    ]
    ours, _ = both(GaussianBayes(), grid, X, y, cv=2, refit=False)
    columns = ours.cv_results_
    assert columns["param_priors"].dtype == columns["param_shrinkage"].dtype == object
    assert columns["param_reg_param"].dtype == np.float64
    assert columns["param_tied"].tolist() == [None] * 8 + [True, None]


# --- what is shared ----------------------------------------------------------------------------


@pytest.fixture
def learned(monkeypatch):
    """Numbers of rows from which statistics were learned."""
    counts = []
    for owner in (GaussianNB, MixedNB):
        plain = owner._sum

        def counted(self, rows, *args, plain=plain):
            counts.append(len(rows))
            return plain(self, rows, *args)

        monkeypatch.setattr(owner, "_sum", counted)
    return counts


def test_rows_are_learned_once(learned):
    X, y = rows("GaussianNB")
    grid = {"var_smoothing": np.logspace(-9, 0, 10), "tied": [False, True]}
    StatsGridSearchCV(GaussianNB(), grid, cv=5, refit=False).fit(X, y)
    assert learned == [150]
    del learned[:]
    StatsGridSearchCV(GaussianNB(), grid, cv=5, refit=True).fit(X, y)
    assert learned == [150] * 2
    del learned[:]
    StatsGridSearchCV(GaussianNB(), grid, cv=KFold(5), refit=False).fit(X, y)
    assert learned == [30] * 5


def test_rows_are_learned_once_a_repetition(learned):
    X, y = rows("GaussianNB")
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0)
    StatsGridSearchCV(GaussianNB(), {"ddof": [0, 1]}, cv=cv, refit=False).fit(X, y)
    assert learned == [50] * 12
    del learned[:]
    cv = ShuffleSplit(3, test_size=0.2, random_state=0)
    StatsGridSearchCV(GaussianNB(), {"ddof": [0, 1]}, cv=cv, refit=False).fit(X, y)
    assert learned == [120] * 3


def test_what_needs_statistics_of_its_own_is_learned_once_a_value(learned):
    X, y = rows("MixedNB")
    grid = {
        "missing": ["error", "skip"],
        "categorical_features": [None, [0], ["c2"]],
        "alpha": [1.0, 2.0, 3.0],
    }
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X).add_prefix("c")
    ours = StatsGridSearchCV(MixedNB(), grid, cv=3, refit=False).fit(frame, y)
    assert learned == [50] * 3 * 6
    theirs = GridSearchCV(MixedNB(), grid, cv=3, refit=False).fit(frame, y)
    assert_same_search(ours, theirs)


VALUES = {  # other values of each constructor parameter than its default
    "priors": [0.5, 0.25, 0.25], "var_smoothing": 0.5, "missing": "skip", "tied": True, "ddof": 1,
    "covariance_type": "spherical", "reg_param": 0.5, "shrinkage": 0.5, "n_components": 2,
    "rotation": "within", "categorical_features": [0, 2], "alpha": 7.0, "min_categories": 20,
    "shrinkage_target": "spherical", "standardize": True, "max_categories": 50,
}  # fmt: skip


@pytest.mark.parametrize("kind", [GaussianNB, GaussianBayes, PCAGaussianNB, MixedNB])
def test_every_parameter_may_vary(kind, learned):
    """A new parameter needs an entry above, and `is_learned` in the registry where it is that."""
    X, y = rows("MixedNB")
    model = kind()
    for name, before in model.get_params().items():
        if name not in VALUES:
            assert name in NOT_TRIED, f"{name} is not among the values tried"
            continue
        grid = {name: [before, VALUES[name]]}
        del learned[:]
        ours = StatsGridSearchCV(model, grid, cv=3, scoring="neg_log_loss").fit(X, y)
        shares = (
            kind in (GaussianNB, MixedNB) and not MEMBERS[kind.__name__].option(name).is_learned
        )
        once = [150] if kind is GaussianNB else [50] * 3
        assert not shares or learned == [*once, 150]
        theirs = GridSearchCV(model, grid, cv=3, scoring="neg_log_loss").fit(X, y)
        assert_same_search(ours, theirs)


NOT_TRIED: set[str] = set()


@pytest.mark.parametrize("n", [2, 3, 5, 64, 65, 200])
def test_sums_of_all_other_folds(n):
    """Of integers, which add without error; the sums are in the order of the folds."""
    values = [3**i for i in range(n)]
    assert list(fold_stats.other_folds(values, 0)) == [sum(values) - value for value in values]
    broken = [*values[:1], None, *values[2:]]
    sums = list(fold_stats.other_folds(broken, 0))
    assert sums[1] == sum(values) - 3
    assert sums[0] is None
    assert sums[2:] == [None] * (n - 2)


@pytest.mark.parametrize(
    ("pairs", "lengths"),
    [
        ([([2, 3], [0, 1]), ([0, 1], [2, 3])], [2]),
        ([([2, 3], [0, 1]), ([0, 1], [2, 3])] * 3, [2, 2, 2]),
        ([([1, 2, 3], [0]), ([2, 3], [0, 1]), ([0, 1], [2, 3])], [1, 2]),  # starts late
        ([([2, 3], [0, 1]), ([0], [2, 3])], [1, 1]),  # row 1 is left out
        ([([1, 2], [0, 0]), ([0], [1, 2, 3])], [1, 1]),  # lengths are right, rows are not
        ([([1, 1, 2], [0]), ([0], [1, 2, 3])], [1, 1]),
        ([([0, 1, 2, 3], []), ([], [0, 1, 2, 3])], [2]),
    ],
)
def test_splits_whose_folds_add_up(pairs, lengths):
    pairs = [tuple(np.array(one, np.intp) for one in pair) for pair in pairs]
    assert [len(run) for run in fold_stats._runs(pairs, 4)] == lengths


def test_a_fit_of_ones_own_is_called():
    class Shifted(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            return super().fit(np.asarray(X) + 100.0, y, sample_weight)

    X, y = rows("GaussianNB")
    ours, _ = both(Shifted(), {"ddof": [0, 1]}, X, y, cv=3, scoring="neg_log_loss")
    assert ours.best_score_ < -1  # the rows that are scored are not shifted


def test_statistics_that_do_not_add_are_fitted_from_rows(monkeypatch):
    X, y = rows("GaussianNB")
    wanted = GridSearchCV(GaussianNB(), {"ddof": [0, 1]}, cv=3).fit(X, y)

    def refuse(self, other):
        raise ValueError("These do not add.")

    monkeypatch.setattr(ClassStats, "__add__", refuse)
    ours = StatsGridSearchCV(GaussianNB(), {"ddof": [0, 1]}, cv=3).fit(X, y)
    assert_same_search(ours, wanted)


# --- "auto" ------------------------------------------------------------------------------------


def test_auto_where_a_fold_has_no_text():
    """An object column that is mostly None: only all rows say what it holds."""
    pd = pytest.importorskip("pandas")
    draw = np.random.default_rng(2)
    y = np.tile([0, 1], 50)
    note = np.full(100, None, object)
    note[[3, 28, 29, 50, 51]] = ["late", "early", "late", "early", "late"]
    frame = pd.DataFrame({"x": draw.normal(size=100) + y, "note": pd.Series(note, dtype=object)})
    model = MixedNB(categorical_features="auto", missing="skip")
    ours, _ = both(model, {"alpha": [1.0, 0.1]}, frame, y, cv=KFold(5))
    assert np.isfinite(ours.cv_results_["mean_test_score"]).all()
    rare = KFold(20)  # most folds have no text, and so has all but one training set of these pairs
    pairs = [(test, train) for train, test in rare.split(frame)]
    found = StatsGridSearchCV(model, {"alpha": [1.0, 0.1]}, cv=pairs, error_score="raise")
    assert np.isfinite(found.fit(frame, y).cv_results_["mean_test_score"]).all()


def test_auto_is_decided_once_where_rows_are_fitted(monkeypatch):
    pd = pytest.importorskip("pandas")
    X, y = rows("MixedNB")
    frame = pd.DataFrame({"a": X[:, 0], "b": np.array(["x", "y", "z"])[y]})
    model = MixedNB(categorical_features="auto")
    wanted = StatsGridSearchCV(model, {"alpha": [1.0, 2.0]}, cv=3).fit(frame, y)
    monkeypatch.setattr(MixedNB, "_gather", lambda *rows: 1 / 0)
    decided = []
    plain = MixedNB.fit

    def fit(self, *args, **keywords):
        decided.append(self.categorical_features)
        return plain(self, *args, **keywords)

    monkeypatch.setattr(GaussianNB.__base__, "fit", fit)
    ours = StatsGridSearchCV(model, {"alpha": [1.0, 2.0]}, cv=3).fit(frame, y)
    assert_same_search(ours, wanted)
    assert [np.asarray(one).tolist() for one in decided] == [[False, True]] * 6 + ["auto"]


def test_auto_is_decided_once(monkeypatch):
    pd = pytest.importorskip("pandas")
    X, y = rows("MixedNB")
    frame = pd.DataFrame({"a": X[:, 0], "b": np.array(["x", "y", "z"])[y]})
    model = MixedNB(categorical_features="auto")
    asked = []
    plain = MixedStats.__add__

    def counted(self, other):
        asked.append(self.is_categorical.tolist())
        return plain(self, other)

    monkeypatch.setattr(MixedStats, "__add__", counted)
    ours, _ = both(model, {"alpha": [1.0, 2.0]}, frame, y, cv=3)
    assert asked
    assert all(one == [False, True] for one in asked)
    assert ours.best_estimator_.categorical_features == "auto"
    assert ours.best_score_ == 1
