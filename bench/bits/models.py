"""Members and their options, and what is recorded of each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import fastgnb

from .digest import Record

# A name, an estimator and its parameters.
Maker = tuple[str, type, dict[str, Any]]

METHODS = (
    "predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba",
    "decision_function", "predict_log_evidence",
)  # fmt: skip

FITTED = (
    "classes_", "class_count_", "class_prior_", "epsilon_", "n_features_in_", "feature_names_in_",
    "theta_", "var_", "means_", "covariance_", "components_", "mean_", "scale_",
    "explained_variance_", "explained_variance_ratio_", "n_components_", "is_categorical_",
    "categories_", "category_count_", "feature_log_prob_", "unseen_log_prob_",
)  # fmt: skip

# The fields of ClassStats, each with all names that it has had.
FIELDS = (
    ("classes",), ("count",), ("mean",), ("mean_lo", "mean_low"), ("variance",),
    ("feature_count",), ("max_scatter", "peak"), ("covariance",), ("feature_names",),
)  # fmt: skip
MIXED_FIELDS = ("categories", "counts", "is_categorical", "feature_names")


def _text(cls: type, options: dict[str, Any]) -> str:
    return f"{cls.__name__}({', '.join(f'{k}={v!r}' for k, v in options.items())})"


def _makers(cls: type, options: Iterator[dict[str, Any]]) -> list[Maker]:
    return [(_text(cls, params), cls, params) for params in options]


def _naive() -> Iterator[dict[str, Any]]:
    for shape, tied, ddof in product(("diag", "spherical"), (False, True), (0, 1)):
        yield {"covariance_type": shape, "tied": tied, "ddof": ddof}
    yield {"var_smoothing": 0.0}
    yield {"var_smoothing": 0.01, "tied": True}
    yield {"missing": "skip"}
    yield {"missing": "skip", "tied": True, "covariance_type": "spherical"}


def _full() -> Iterator[dict[str, Any]]:
    for shape, tied, ddof in product(("full", "diag", "spherical"), (False, True), (0, 1)):
        yield {"covariance_type": shape, "tied": tied, "ddof": ddof}
    for shrinkage, target, tied in product(
        ("oas", 0.3, 1.0), ("diagonal", "spherical"), (False, True)
    ):
        yield {"shrinkage": shrinkage, "shrinkage_target": target, "tied": tied}
    yield {"reg_param": 0.1}
    yield {"reg_param": 1.0, "tied": True}
    yield {"var_smoothing": 0.01}
    yield {"reg_param": 0.2, "shrinkage": 0.1, "var_smoothing": 1e-9, "ddof": 1}


def _axes() -> Iterator[dict[str, Any]]:
    for rotation, n, standardize in product(
        ("total", "within", "class"), (None, 1, 3, 0.9), (False, True)
    ):
        yield {"rotation": rotation, "n_components": n, "standardize": standardize}
    yield {"covariance_type": "spherical", "tied": True}
    yield {"tied": True, "ddof": 1, "rotation": "within"}
    yield {"var_smoothing": 0.0}


NAIVE = _makers(fastgnb.GaussianNB, _naive())
FULL = _makers(fastgnb.GaussianBayes, _full())
AXES = _makers(fastgnb.PCAGaussianNB, _axes())
MIXED = _makers(fastgnb.MixedNB, iter([{}, {"missing": "skip"}, {"var_smoothing": 0.01}]))
DEFAULTS = _makers(fastgnb.GaussianNB, iter([{}])) + [
    _makers(cls, iter([{}]))[0]
    for cls in (fastgnb.GaussianBayes, fastgnb.PCAGaussianNB, fastgnb.MixedNB)
]
FEW = DEFAULTS + _makers(fastgnb.GaussianBayes, iter([{"tied": True}]))


def stats_of(stats: Any) -> dict[str, Any]:
    """All fields of statistics, and what they derive."""
    if hasattr(stats, "gaussian"):
        fields = {name: getattr(stats, name) for name in MIXED_FIELDS}
        return fields | {f"gaussian {name}": v for name, v in stats_of(stats.gaussian).items()}
    out = {names[0]: _first(stats, names) for names in FIELDS}
    one = _first(stats, ("as_one_class", "collapse"))()
    out |= {f"one {names[0]}": _first(one, names) for names in FIELDS}
    for name in ("total", "within", "between"):
        out[name] = getattr(stats, name)()
    return out | {"weight": stats.weight, "scatter": stats.scatter}


def fields_of(stats: Any) -> dict[str, Any]:
    """All fields of statistics."""
    if hasattr(stats, "gaussian"):
        fields = {name: getattr(stats, name) for name in MIXED_FIELDS}
        return fields | fields_of(stats.gaussian)
    return {names[0]: _first(stats, names) for names in FIELDS}


def _first(owner: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        if hasattr(owner, name):
            return getattr(owner, name)
    raise AttributeError(f"Expected one of {names} of {type(owner).__name__}.")


def fitted_of(model: Any) -> dict[str, Any]:
    """Fitted attributes of a model."""
    return {name: getattr(model, name) for name in FITTED if hasattr(model, name)}


def fit(record: Record, name: str, model: Any, *args: Any) -> Any:
    """Record a fit: statistics and fitted attributes. Returns the model, None where it failed."""
    return look(record, name, make(record, name, lambda: model.fit(*args)))


class _Quiet(dict[str, Any]):
    """A value whose digest is always the same."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


def make(record: Record, name: str, call: Any) -> Any:
    """Record whether a call raises. Returns the model or statistics that it makes, or None."""
    made = record(f"{name}/made", lambda: _Quiet(call()))
    return None if made is None else made.value


def look(record: Record, name: str, model: Any) -> Any:
    """Record statistics and fitted attributes of a model."""
    if model is not None:
        record(f"{name}/stats", lambda: stats_of(model.stats_))
        record(f"{name}/fitted", lambda: fitted_of(model))
    return model


def score(record: Record, name: str, model: Any, X: Any) -> None:
    """Record every score of rows."""
    for method in METHODS if model is not None else ():
        record(f"{name}/{method}", partial(_call, model, method, X))


def _call(model: Any, method: str, X: Any) -> Any:
    return getattr(model, method)(X)
