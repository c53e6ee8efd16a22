"""Names of what came instead of what was expected, and what to do about it, for error messages."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Number
from typing import Any

__all__ = ["described", "labels_remedy", "model_remedy", "stats_remedy", "type_name"]


def type_name(value: Any) -> str:
    """The type of a value as a user imports it: `dict`, `fastgnb.GaussianNB`,
    `sklearn.naive_bayes.GaussianNB`."""
    kind = type(value)
    module = kind.__module__
    if module == "builtins":
        return kind.__name__
    if module.startswith("fastgnb."):
        return f"fastgnb.{kind.__name__}"
    public = []
    for part in module.split("."):
        if part.startswith("_"):
            break
        public.append(part)
    return ".".join([*public, kind.__name__])


def model_remedy(value: Any) -> str:
    """What to do with something that is no model of the expected kind; empty, or a sentence."""
    if isinstance(value, type):
        return " Pass a fitted model, not its class."
    if all(hasattr(value, name) for name in ("partial_fit", "var_smoothing")) and not hasattr(
        value, "fit_stats"
    ):
        return " fastgnb.GaussianNB.from_sklearn(model) makes one of it."
    if hasattr(value, "fit_stats"):
        return " Members that learn the same statistics share them: fit_stats(a.stats_ + b.stats_)."
    if hasattr(value, "n_features") and hasattr(value, "__radd__"):
        return " Add statistics by model.fit_stats(model.stats_ + stats)."
    if hasattr(value, "best_estimator_"):
        return " Pass its best_estimator_."
    if hasattr(value, "steps"):
        return " Pass the model that is its last step."
    return ""


def stats_remedy(value: Any, wanted: str) -> str:
    """What to do with something that is no statistics of the `wanted` kind."""
    if hasattr(value, "stats_"):
        return " Pass its stats_."
    if hasattr(value, "gaussian") and wanted == "ClassStats":
        return " Those of its continuous features are stats.gaussian."
    if wanted == "MixedStats":
        return " MixedStats.from_rows(X, y, categorical_features=...) makes them of rows."
    return " ClassStats.from_rows(X, y) makes them of rows."


def described(value: Any) -> str:
    """A value that is no array, in a few words."""
    if isinstance(value, (str, bytes)):
        return f"the text {value!r:.40}"
    if value is None or isinstance(value, Number):
        return f"{value!r:.40}"
    name = type_name(value)
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def labels_remedy(value: Any, name: str) -> str:
    """What to pass in the place of a value that is no list of labels."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return f"Pass a list, which list({name}) makes of it."
    return "Pass a list of all labels, such as [0, 1]."
