"""Cases of searches and cross-validation, and of models that scikit-learn gives and takes."""

# ruff: noqa: B023  (what loops define is called before the loop goes on)
from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit

from fastgnb import GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB
from fastgnb.select import StatsGridSearchCV, cross_validate

from .digest import Record
from .models import fitted_of, look, make, score
from .rows import Shape, rows

GRIDS: dict[type, dict[str, list[Any]]] = {
    GaussianNB: {"var_smoothing": [1e-9, 0.1], "tied": [False, True]},
    GaussianBayes: {"reg_param": [0.0, 0.1], "shrinkage": [None, "oas"], "tied": [False, True]},
    PCAGaussianNB: {"n_components": [1, 3, 99], "rotation": ["total", "class"]},
    MixedNB: {"alpha": [0.1, 1.0], "missing": ["error", "skip"]},
}
SPLITS: dict[str, Any] = {
    "5": 5,
    "kfold": KFold(4, shuffle=True, random_state=0),
    "groups": GroupKFold(3),
    "shuffle": ShuffleSplit(3, random_state=0),
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "one": LeaveOneOut(),
}
BOTH = ["accuracy", "neg_log_loss"]


def selection(record: Record) -> None:
    """Grids of every member on every kind of split, with one score and with two."""
    data = rows(Shape(300, 6, 3))
    for cls, grid in GRIDS.items():
        for kind, cv in SPLITS.items():
            for scoring in (None, "neg_log_loss", BOTH) if kind != "one" else (None,):
                n = 60 if kind == "one" else 300
                params = {"groups": np.arange(n) % 11} if kind == "groups" else {}
                search = StatsGridSearchCV(
                    cls(), grid, cv=cv, scoring=scoring, return_train_score=True,
                    refit="accuracy" if scoring is BOTH else True,
                )  # fmt: skip
                name = f"selection/{cls.__name__}/{kind}/{scoring}"
                search = make(record, name, lambda: search.fit(data.X[:n], data.y[:n], **params))
                record(f"{name}/results", lambda: _without_times(search.cv_results_))
                record(f"{name}/best", lambda: _best(search))
                record(f"{name}/proba", lambda: search.predict_proba(data.more))
        for kind in ("5", "kfold", "shuffle"):
            name = f"selection/{cls.__name__}/{kind}/cross_validate"
            params = {"cv": SPLITS[kind], "scoring": BOTH}
            record(name, lambda: _without_times(cross_validate(cls(), data.X, data.y, **params)))


def _best(search: Any) -> list[Any]:
    params = repr(sorted(search.best_params_.items()))
    return [search.best_index_, search.best_score_, params]


def _without_times(results: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _without_masks(name, value)
        for name, value in results.items()
        if not name.endswith("_time")
    }


def _without_masks(name: str, value: Any) -> Any:
    if name == "params":
        return [repr(sorted(params.items())) for params in value]
    return np.ma.filled(value.astype(object), "masked") if np.ma.isMaskedArray(value) else value


def neighbours(record: Record) -> None:
    """Models taken over from scikit-learn's GaussianNB, and given to it."""
    from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

    for shape in (Shape(65, 9, 4), Shape(1000, 5, 3)):
        data = rows(shape)
        name = f"neighbours/{shape}"
        theirs = SklearnGaussianNB().fit(data.X, data.y)
        model = make(record, f"{name}/from", lambda: GaussianNB.from_sklearn(theirs))
        look(record, f"{name}/from", model)
        score(record, f"{name}/from", model, data.more)
        ours = GaussianNB().fit(data.X, data.y)
        record(f"{name}/to", lambda: fitted_of(ours.to_sklearn()))


GROUPS = (selection, neighbours)
