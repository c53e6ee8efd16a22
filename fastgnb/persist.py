"""Model files: safetensors with a schema number, JSON metadata and the statistics.

Loading executes nothing, takes memory in proportion to the file, and believes nothing: types,
shapes, ranges and the order of classes are checked. A digest over all that is read makes an
altered file an error. It is no signature: who forges a file can forge its digest, and parameters
that differ from the statistics' own are legal, since edited models are.

A file of schema 1 to SCHEMA can be read for ever (tests/data holds some of each). It holds the
fields and tensors of its schema and no others, of which `feature_count` and `peak` may be absent.
Whatever a reader of today would not understand raises the number, and it then says to update.

Pickle and joblib files of models work too, but loading one runs whatever code its writer chose:
exchange model files, not pickles.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import __version__
from ._atomic import replacing
from ._model_file import SCHEMA, ModelFileError, pack, unpack
from ._validate import NotFiniteError, check_finite, check_missing, same_labels
from .kernels.score import Scores, Table
from .params import (
    GaussianParams,
    Moments,
    as_priors,
    check_moment,
    check_priors,
    check_smoothing,
    estimate,
)
from .scoring import score
from .stats import ClassStats

if TYPE_CHECKING:
    from .naive_bayes import GaussianNB

Floats = NDArray[np.float64]

_FIELDS = {
    "schema", "model", "classes", "feature_names", "priors", "var_smoothing", "missing",
    "epsilon", "columns", "versions",
}  # fmt: skip
_OF_CLASSES = {"count", "class_prior"}
_OF_FEATURES = {"mean", "mean_low", "variance", "theta", "var"}
_OPTIONAL = {"feature_count", "peak"}
# Python's types of labels by NumPy's kinds, "O" being text as objects.
_LABELS: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "U": str, "O": str}


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted GaussianNB without its scikit-learn face: parameters, statistics and moments.

    priors, var_smoothing and missing are the estimator's; class_prior (k,), theta (k, d),
    var (k, d) and epsilon are its fitted attributes, edited or not; versions says what wrote it.
    target and weight name the columns of labels and weights in the files that it learned from.
    """

    stats: ClassStats
    class_prior: Floats
    theta: Floats
    var: Floats
    epsilon: float
    priors: list[float] | None = None
    var_smoothing: float = 1e-9
    missing: str = "error"
    versions: Mapping[str, str] | None = None
    target: str | None = None
    weight: str | None = None

    @classmethod
    def from_stats(
        cls,
        stats: ClassStats,
        *,
        priors: ArrayLike | None = None,
        var_smoothing: float = 1e-9,
        missing: str = "error",
        target: str | None = None,
        weight: str | None = None,
    ) -> SavedModel:
        """The model of statistics. Raises ValueError for bad parameters or no rows."""
        check_missing(missing)
        if not stats.count.sum() > 0:
            raise ValueError("The statistics hold no rows: their total weight is 0.")
        moments = estimate(stats, priors=priors, var_smoothing=var_smoothing)
        given = None if priors is None else np.asarray(priors, np.float64).tolist()
        smoothing = float(var_smoothing)
        return cls(stats, *moments, given, smoothing, missing, _versions(), target, weight)

    def with_stats(self, stats: ClassStats) -> SavedModel:
        """The model of other statistics, with these parameters."""
        return SavedModel.from_stats(
            stats, priors=self.priors, var_smoothing=self.var_smoothing, missing=self.missing,
            target=self.target, weight=self.weight,
        )  # fmt: skip

    @property
    def classes(self) -> NDArray[Any]:
        """Sorted labels (k,)."""
        return self.stats.classes

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the d features, or None."""
        return self.stats.feature_names

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return self.stats.n_features

    def score(
        self, X: NDArray[Any], *, table: Table | None = None, evidence: bool = False
    ) -> Scores:
        """Score rows X (n, d) in one pass, see `Scores`.

        Raises ValueError for another number of features and NotFiniteError for a NaN or infinity
        that `missing` does not allow.
        """
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"X has {X.shape[1]} features, but the model is expecting {self.n_features}."
            )
        params = GaussianParams.from_moments(
            self.class_prior, self.theta, self.var,
            classes=self.classes, n_features=self.n_features, count=self.stats.count,
            feature_names=self.feature_names,
        )  # fmt: skip
        skip = self.missing == "skip"
        scores = score(X, params, table=table, evidence=evidence, skip=skip)
        if scores.bad >= 0:
            check_finite(X, None, skip=skip)
        return scores

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; it appears whole or not at all.

        Raises OSError, and ValueError for labels or parameters that make no model.
        """
        tensors, document = _tensors(self), _document(self)
        text = json.dumps(document, sort_keys=True)
        again = json.loads(text)
        _restore(again, tensors)  # what could not be loaded is not written
        if again != document:
            raise ValueError(
                "A label or name holds two surrogates that JSON reads as one character. Write that "
                "character itself."
            )
        data = pack(text, tensors)
        with replacing(Path(path), last=True) as temporary:
            temporary.write_bytes(data)


def read(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model file. Raises ModelFileError, and OSError where it cannot be read at all."""
    document, tensors = unpack(path)
    try:
        return _restore(document, tensors)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        name = os.fspath(path)
        raise ModelFileError(f"{name}: the model in it is not valid: {error}") from error


def save(model: GaussianNB, path: str | os.PathLike[str]) -> None:
    """Save a fitted GaussianNB. The file appears whole or not at all.

    Loading it executes nothing, whereas a pickle or joblib file runs its writer's code.
    Raises NotFittedError for a model that is not fitted, TypeError for another kind of model,
    ValueError for what makes no model file, OSError where the file cannot be written.
    """
    from sklearn.utils.validation import check_is_fitted

    from .naive_bayes import GaussianNB

    if not isinstance(model, GaussianNB):
        raise TypeError(f"Expected a fastgnb.GaussianNB, got {type(model).__name__}.")
    check_is_fitted(model)
    if not same_labels(np.asarray(model.classes_), model.stats_.classes):
        raise ValueError(
            "classes_ was edited, and a model file holds those of stats_, which are sorted. "
            "Set classes_ back, save, and edit it again after loading."
        )
    names = getattr(model, "feature_names_in_", None)
    SavedModel(
        replace(model.stats_, feature_names=None if names is None else tuple(names)),
        check_moment(model.class_prior_, "class_prior_", model.stats_.count.shape),
        check_moment(model.theta_, "theta_", model.stats_.mean.shape),
        check_moment(model.var_, "var_", model.stats_.mean.shape),
        float(model.epsilon_),
        None if model.priors is None else as_priors(model.priors).tolist(),
        check_smoothing(model.var_smoothing),
        model.missing,
        _versions(),
    ).write(path)


def load(path: str | os.PathLike[str]) -> GaussianNB:
    """Load a fitted GaussianNB that predicts as the saved one did, learns on and merges.

    Nothing in the file is executed, so that a stranger's file is safe to load, as a pickle or
    joblib file is not. Raises ModelFileError for a file that is truncated, altered or not ours,
    OSError where it cannot be read.
    """
    from .naive_bayes import GaussianNB

    saved = read(path)
    model = GaussianNB(
        priors=saved.priors, var_smoothing=saved.var_smoothing, missing=saved.missing
    )
    moments = Moments(saved.class_prior, saved.theta, saved.var, saved.epsilon)
    model._adopt(saved.stats, moments)
    return model._keep_names(saved.stats)


def _versions() -> dict[str, str]:
    return {"fastgnb": __version__, "numpy": np.__version__, "python": platform.python_version()}


def _tensors(model: SavedModel) -> dict[str, Floats]:
    stats = model.stats
    tensors = {
        "count": stats.count,
        "mean": stats.mean,
        "mean_low": stats.mean_low,
        "variance": stats.variance,
        "class_prior": model.class_prior,
        "theta": model.theta,
        "var": model.var,
    }
    if stats.feature_count is not None:
        tensors["feature_count"] = stats.feature_count
    if stats.peak is not None:
        tensors["peak"] = stats.peak
    return {name: np.ascontiguousarray(value, "<f8") for name, value in tensors.items()}


def _document(model: SavedModel) -> dict[str, Any]:
    classes = model.classes
    values = classes.tolist()
    is_text = all(isinstance(value, str) for value in values)
    is_object = classes.dtype.kind in "OT" and is_text  # T: NumPy 2's text of any length
    if is_object:
        values = [str.__str__(value) for value in values]  # an enumeration's text, not its name
    elif classes.dtype.kind not in "biufU" or (classes.dtype.itemsize > 8 and not is_text):
        raise ValueError(
            f"Labels of dtype {classes.dtype} cannot be saved: use text, whole numbers or booleans."
        )
    return {
        "schema": SCHEMA,
        "model": "GaussianNB",
        "classes": {
            "dtype": "object" if is_object else classes.dtype.str,
            "values": values,
        },
        "feature_names": None if model.feature_names is None else list(model.feature_names),
        "priors": model.priors,
        "var_smoothing": float(model.var_smoothing),
        "missing": model.missing,
        "epsilon": float(model.epsilon),
        "columns": {"target": model.target, "weight": model.weight},
        "versions": dict(model.versions or _versions()),
    }


def _restore(document: dict[str, Any], tensors: Mapping[str, NDArray[Any]]) -> SavedModel:
    """The model of a description and tensors. Raises ValueError for all that makes none."""
    _check_names(document, _FIELDS)
    _check_names(tensors, _OF_CLASSES | _OF_FEATURES, _OPTIONAL)
    if document["model"] != "GaussianNB":
        raise ValueError(f"model is {document['model']!r:.40}, expected 'GaussianNB'")
    classes = _restore_classes(document["classes"])
    _check_tensors(tensors, len(classes))
    native = {name: tensor.astype(np.float64, copy=False) for name, tensor in tensors.items()}
    stats = ClassStats(
        classes,
        native["count"],
        native["mean"],
        native["variance"],
        native["mean_low"],
        native.get("feature_count"),
        _restore_names(document["feature_names"], native["mean"].shape[1]),
        native.get("peak"),
    )
    moments = Moments(
        native["class_prior"], native["theta"], native["var"], _from_zero_up(document, "epsilon")
    )
    check_missing(document["missing"])
    columns = _typed(document, "columns", dict)
    _check_names(columns, {"target", "weight"})
    return SavedModel(
        stats, *moments, _restore_priors(document["priors"]),
        _from_zero_up(document, "var_smoothing"), document["missing"],
        _restore_versions(document["versions"]), _text(columns, "target"), _text(columns, "weight"),
    )  # fmt: skip


def _check_names(
    found: Mapping[str, Any], required: Collection[str], optional: Collection[str] = ()
) -> None:
    for name in sorted(required):
        if name not in found:
            raise ValueError(f"{name!r} is missing")
    for name in found:
        if name not in required and name not in optional:
            raise ValueError(f"{name!r:.40} is unknown")


def _typed(fields: Mapping[str, Any], name: str, kind: type) -> Any:
    value = fields[name]
    if type(value) is not kind:  # not isinstance, since True is an int
        raise ValueError(f"{name} is a {type(value).__name__}, expected {kind.__name__}")
    return value


def _from_zero_up(fields: Mapping[str, Any], name: str) -> float:
    value = fields[name]
    if type(value) is not float or not 0.0 <= value < float("inf"):
        raise ValueError(f"{name} must be a number from 0 up, got {value!r:.40}")
    return value


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    return None if fields[name] is None else _typed(fields, name, str)


def _list_of(values: Any, kind: type, name: str) -> list[Any]:
    if type(values) is not list or not all(type(value) is kind for value in values):
        raise ValueError(f"{name} are not a list of {kind.__name__}")
    return values


def _restore_classes(field: Any) -> NDArray[Any]:
    """Labels (k,) in native byte order. Raises ValueError unless they are sorted and distinct."""
    _check_names(field, {"dtype", "values"})
    name = str(_typed(field, "dtype", str))
    match = re.fullmatch(r"[<>=|]?(?:b1|[iu][1248]|f[248]|U[1-9][0-9]{0,7})", name, re.ASCII)
    if name != "object" and not match:  # NumPy would take arrays, records and more in its place
        raise ValueError(f"labels of dtype {name!r:.40}")
    dtype = np.dtype(object if name == "object" else name).newbyteorder("=")
    values = _list_of(field["values"], _LABELS[dtype.kind], "classes")
    if not values or any(a >= b for a, b in pairwise(values)):
        raise ValueError("classes are not sorted and distinct")
    if dtype.kind == "f" and not all(value.is_integer() for value in values):
        raise ValueError("classes are not whole numbers")
    limits = np.iinfo(dtype.str) if dtype.kind in "iu" else None
    if limits and not limits.min <= values[0] <= values[-1] <= limits.max:
        raise ValueError(f"classes do not fit dtype {name}")
    with np.errstate(over="ignore"):
        classes = np.array(values, _bounded(dtype, values))
    if classes.tolist() != values:
        raise ValueError(f"classes do not fit dtype {name}")
    return classes


def _bounded(dtype: np.dtype[Any], values: list[str]) -> np.dtype[Any]:
    """The dtype, unless that takes far more memory than its text: a narrower one, or objects."""
    if dtype.kind != "U":
        return dtype
    longest = max(map(len, values))
    most = (1 << 18) + 8 * sum(map(len, values))
    if len(values) * dtype.itemsize // 4 <= most:
        return dtype
    return np.dtype(f"U{longest or 1}" if len(values) * longest <= most else object)


def _check_tensors(tensors: Mapping[str, NDArray[Any]], k: int) -> None:
    """Raise ValueError unless all are finite, of one k and d, and can be those of some rows."""
    mean = tensors["mean"]
    d = mean.shape[1] if mean.ndim == 2 else 0
    if d == 0:
        raise ValueError(f"mean is {mean.dtype} {mean.shape}, expected ({k}, features)")
    for name, tensor in tensors.items():
        expected = (k,) if name in _OF_CLASSES else (k, d)
        if tensor.shape != expected or tensor.dtype != np.float64:
            raise ValueError(f"{name} is {tensor.dtype} {tensor.shape}, expected {expected}")
        # A scatter may overflow where its weight and its variance do not.
        if np.isnan(tensor).any() or (name != "peak" and np.isinf(tensor).any()):
            raise ValueError(f"{name} is not finite")
    for name in ({"count", "variance", "var", "class_prior"} | _OPTIONAL) & tensors.keys():
        if (tensors[name] < 0).any():
            raise ValueError(f"{name} is negative")
    if not tensors["class_prior"].any() or not tensors["count"].any():
        raise ValueError("no class has a prior above 0 and rows")
    with np.errstate(over="ignore"):
        if not np.isfinite(tensors["count"].sum()):
            raise ValueError("count overflows in sum")
    if (np.abs(tensors["mean_low"]) > 2.0**-50 * np.abs(mean)).any():
        raise ValueError("mean_low is more than the rounding error of mean")
    present = tensors.get("feature_count")
    if present is not None and (present > tensors["count"][:, None] * (1 + 1e-6)).any():
        raise ValueError("feature_count is more than count")


def _restore_names(names: Any, d: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    if len(_list_of(names, str, "feature_names")) != d:
        raise ValueError(f"{len(names)} feature names for {d} features")
    return tuple(names)


def _restore_priors(priors: Any) -> list[float] | None:
    """Priors for a fit to come: of any number of classes, since that fit may see others."""
    if priors is not None:
        check_priors(_list_of(priors, float, "priors"), len(priors))
    return None if priors is None else priors


def _restore_versions(versions: Any) -> dict[str, str]:
    if type(versions) is not dict:
        raise ValueError("versions are not an object")
    _list_of(list(versions.values()), str, "versions")
    return versions


__all__ = ["ModelFileError", "NotFiniteError", "SavedModel", "load", "read", "save"]
