"""Cases of what becomes of statistics and models: algebra, streams, other options, edits."""

# ruff: noqa: B023  (what loops define is called before the loop goes on)
from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from fastgnb import ClassStats

from . import models
from .digest import Record
from .models import fields_of, fit, fitted_of, look, make, score, stats_of
from .rows import Rows, Shape, rows, with_missing


def statistics(record: Record) -> None:
    """Statistics added, subtracted and decayed, and members that are made of them."""
    for shape in (Shape(65, 9, 4), Shape(1000, 5, 3), Shape(300, 33, 2), Shape(40, 2, 10)):
        data = rows(shape)
        for scatter, missing in (("diag", "error"), ("diag", "skip"), ("full", "error")):
            params = {"scatter": scatter, "missing": missing}
            _, X = next(with_missing(data.X)) if missing == "skip" else ("", data.X)
            _statistics(record, f"statistics/{shape}/{scatter}/{missing}", data, X, params)


def _statistics(
    record: Record, name: str, data: Rows, X: np.ndarray, params: dict[str, str]
) -> None:
    n, d = X.shape

    def from_slice(start: int, stop: int) -> ClassStats:
        at = slice(start, stop)
        return ClassStats.from_rows(X[at], data.y[at], data.weight[at], **params)

    algebra(record, name, from_slice, n)
    names = [f"c{j}" for j in range(d)]
    more = params | {"classes": range(-1, 14), "feature_names": names}
    record(f"{name}/classes", lambda: stats_of(ClassStats.from_rows(X, data.y, **more)))
    stats = from_slice(0, n)
    for text, cls, options in models.NAIVE + models.FULL[::3] + models.AXES[::3]:
        model = make(record, f"{name}/{text}", lambda: cls(**options).fit_stats(stats))
        if model is not None:
            record(f"{name}/{text}/fitted", lambda: fitted_of(model))
            record(f"{name}/{text}/joint", lambda: model.predict_joint_log_proba(data.more))


def algebra(record: Record, name: str, from_slice: Callable[[int, int], Any], n: int) -> None:
    """Sums and differences of the statistics of slices of n rows."""
    half, third = n // 2, n // 3
    total = from_slice(0, n)
    ends = [*range(0, n, max(1, n // 17)), n]
    pieces = [from_slice(a, b) for a, b in itertools.pairwise(ends) if a < b]
    calls: dict[str, Callable[[], Any]] = {
        "whole": lambda: total,
        "sum": lambda: sum(pieces),
        "two": lambda: from_slice(half, n) + from_slice(0, half),
        "less": lambda: total - from_slice(third, half),
        "less all": lambda: total - total,
        "less strange": lambda: from_slice(0, half) - total,
        "window": lambda: total - pieces[0] + pieces[0] - pieces[1] - pieces[2],
        "decay": lambda: total.decay(0.37),
        "decay half": lambda: (total.decay(0.5) + pieces[0]).decay(0.9) - pieces[0].decay(0.9),
        "decay away": lambda: total.decay(1e-320).decay(1e-10),
        "decay wrong": lambda: total.decay(0.0),
    }
    if hasattr(total, "to_diag"):
        calls["to_diag"] = total.to_diag
    for what, call in calls.items():
        record(f"{name}/{what}", lambda: stats_of(call()))


def streams(record: Record) -> None:
    """partial_fit in chunks, merged models, samples and copies."""
    members = models.NAIVE + models.FULL[::2] + models.AXES[::2] + models.MIXED
    for shape in (Shape(65, 9, 4), Shape(1000, 5, 3), Shape(400, 20, 6)):
        data = rows(shape)
        for text, cls, params in members:
            name = f"streams/{shape}/{text}"
            for size in (7, 64, 333):
                model = _streamed(record, f"{name}/{size}", cls(**params), data, size)
                look(record, f"{name}/{size}", model)
                score(record, f"{name}/{size}", model, data.more)
            X, y, half = data.X, data.y, shape.n // 2
            model = cls(**params).fit(X, y)
            other = cls(**params).fit(X[:half], y[:half] + 1, data.weight[:half])
            rest = cls(**params).fit(X[half:], y[half:])
            merged = make(record, f"{name}/merged", lambda: rest.merge(other))
            look(record, f"{name}/merged", merged)
            record(f"{name}/sample", lambda: model.sample(40, 0))
            again = pickle.loads(pickle.dumps(model))
            record(f"{name}/pickle", lambda: again.predict_proba(data.more))
            copied = copy.deepcopy(model)
            record(f"{name}/copy", lambda: copied.predict_log_evidence(data.more))


def _streamed(record: Record, name: str, model: Any, data: Rows, size: int) -> Any:
    """The model after chunks of `size` rows; the statistics after the first three are recorded."""
    classes = [*np.unique(data.y), 77]
    for start in range(0, len(data.X), size):
        at = slice(start, start + size)
        chunk = data.X[at], data.y[at], classes, data.weight[at]
        if start < 3 * size:
            record(f"{name}/{start}", lambda: fields_of(model.partial_fit(*chunk).stats_))
        else:
            model.partial_fit(*chunk)
    return model


CHANGES: tuple[dict[str, Any], ...] = (
    {}, {"var_smoothing": 1e-3}, {"priors": [0.5, 0.25, 0.25]}, {"tied": True}, {"ddof": 1},
    {"covariance_type": "diag"}, {"covariance_type": "spherical"}, {"covariance_type": "full"},
    {"reg_param": 0.5}, {"shrinkage": "oas"}, {"shrinkage_target": "spherical", "shrinkage": 0.2},
    {"n_components": 2}, {"rotation": "class"}, {"rotation": "within"}, {"standardize": True},
    {"alpha": 0.0}, {"min_categories": 4}, {"max_categories": 1}, {"missing": "skip"},
    {"tied": "yes"}, {"ddof": 2}, {"var_smoothing": -1}, {"reg_param": 2}, {"shrinkage": "other"},
    {"shrinkage": -0.1}, {"n_components": 0}, {"n_components": 1.5}, {"rotation": "other"},
    {"standardize": 3}, {"alpha": -1}, {"missing": "other"}, {"priors": [0.5, 0.5]},
    {"var_smoothing": "1"}, {"var_smoothing": np.nan}, {"covariance_type": "other"},
    {"n_components": np.int64(2)}, {"tied": np.True_}, {"priors": "abc"}, {"priors": [-1, 1, 1]},
)  # fmt: skip


def changes(record: Record) -> None:
    """Options, right and wrong, at a fit and in `reestimate`; edited fitted attributes."""
    data = rows(Shape(300, 6, 3))
    for text, cls, params in models.DEFAULTS:
        model = cls(**params).fit(data.X, data.y)
        for change in CHANGES:
            name = f"changes/{text}/{change}"
            changed = make(record, name, lambda: model.reestimate(**change))
            if changed is not None:
                record(f"{name}/fitted", lambda: fitted_of(changed))
                score(record, name, changed, data.more)
            if cls().get_params().keys() >= change.keys():
                name = f"{name}/fit"
                fitted = fit(record, name, cls(**change), data.X, data.y)
                score(record, name, fitted, data.more)
    _edits(record, data)


EDITS: dict[str, Callable[[np.ndarray], Any]] = {
    "more": lambda values: values * 2 if values.dtype.kind == "f" else values + 1,
    "zero": np.zeros_like,
    "short": lambda values: values[:-1],
    "single": lambda values: values.astype("f4"),
    "list": lambda values: values.tolist(),
    "last": lambda values: values[::-1],
    "nan": lambda values: values * np.nan,
}
EDITED = (
    "class_prior_", "theta_", "var_", "means_", "covariance_", "components_", "mean_", "scale_",
    "classes_", "n_features_in_", "epsilon_", "class_count_",
)  # fmt: skip


def _edits(record: Record, data: Rows) -> None:
    for text, cls, params in models.FEW:
        fitted = cls(**params).fit(data.X, data.y)
        for attribute in EDITED:
            for kind, edit in EDITS.items() if hasattr(fitted, attribute) else ():
                model = copy.deepcopy(fitted)
                try:
                    setattr(model, attribute, edit(np.asarray(getattr(model, attribute))))
                except (IndexError, TypeError):  # of a number
                    continue
                name = f"edits/{text}/{attribute}/{kind}"
                for method in ("predict", "predict_proba", "predict_joint_log_proba"):
                    record(f"{name}/{method}", lambda: getattr(model, method)(data.more))
                record(f"{name}/sample", lambda: model.sample(9, 1))


GROUPS = (statistics, streams, changes)
