"""Searches to compare: ours over statistics, and scikit-learn's, which fits again."""

from __future__ import annotations

import warnings

import members
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV

import fastgnb
from fastgnb.select import StatsGridSearchCV

GRIDS = {
    member: (getattr(fastgnb, member)(**options), grid)
    for member, (options, grid) in members.GRIDS.items()
}


def two_scores(model, X, y):
    """What `scoring` may be: one callable that gives several scores."""
    return {"right": float(model.score(X, y)), "rows": float(len(X))}


SCORINGS = {
    "none": None,
    "text": "neg_log_loss",
    "accuracy": "accuracy",
    "list": ["accuracy", "f1_macro", "roc_auc_ovr"],
    "tuple": ("balanced_accuracy", "accuracy"),
    "dict": {"f": "f1_macro", "a": make_scorer(accuracy_score)},
    "callable": lambda model, X, y: float((model.predict(X) == y).mean()),
    "callable of dict": two_scores,
}


def rows(name, load=load_iris):
    """Rows and labels in no order; whole numbers where the member has categories."""
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X = np.round(X) if name == "MixedNB" else X
    return X[order], y[order]


def run(search, X, y, **params):
    """The search fitted, and what it warned of, without tracebacks."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, y, **params)
    told = []
    for one in caught:
        text = str(one.message).replace("StatsGridSearchCV", "GridSearchCV")
        lines = text.strip().splitlines()
        said = [line for line in lines if not line.startswith((" ", "Traceback"))]
        told.append((one.category, said))
    return search, sorted(told, key=str)


def assert_same_search(ours, theirs):
    """Every fitted attribute, and what the best estimator answers."""
    assert_same_results(ours.cv_results_, theirs.cv_results_)
    for name in ("multimetric_", "n_splits_"):
        assert getattr(ours, name) == getattr(theirs, name)
    fitted = {name for name in vars(theirs) if name.endswith("_")} - {"refit_time_"}
    assert fitted - {"_checked_cv_orig"} == {n for n in vars(ours) if n.endswith("_")} - {
        "refit_time_"
    }
    for name in ("best_index_", "best_params_"):
        assert hasattr(ours, name) == hasattr(theirs, name)
        assert getattr(ours, name, None) == getattr(theirs, name, None)
    assert hasattr(ours, "best_score_") == hasattr(theirs, "best_score_")
    if hasattr(theirs, "best_score_"):
        assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-12)
    assert type(ours.scorer_) is type(theirs.scorer_)


def assert_same_results(found, wanted):
    assert list(found) == list(wanted)
    assert found["params"] == wanted["params"]
    for key in found:
        a, b = found[key], wanted[key]
        assert type(a) is type(b)
        if key.startswith("param_"):
            assert a.dtype == b.dtype
            assert_array_equal(a.mask, b.mask)
            assert a.tolist() == b.tolist()
        elif "time" in key:
            assert a.shape == b.shape
            assert np.isfinite(a).all()
            assert (a >= 0).all()
        elif key.startswith("rank"):
            assert a.dtype == b.dtype
            assert_array_equal(a, b)
        elif key != "params":
            assert a.dtype == b.dtype
            assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=key)


def both(model, grid, X, y, *, params=None, **options):
    """Both searches, which must agree."""
    ours, told = run(StatsGridSearchCV(model, grid, **options), X, y, **params or {})
    theirs, wanted = run(GridSearchCV(model, grid, **options), X, y, **params or {})
    assert told == wanted
    assert_same_search(ours, theirs)
    return ours, theirs
