"""Model files: safetensors with a schema number, JSON metadata and the statistics.

Loading executes nothing. A digest over everything but itself makes an altered file an error.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import __version__
from ._atomic import replacing
from ._validate import NotFiniteError, check_finite, check_missing
from .kernels.score import Scores, Table
from .params import (
    GaussianParams,
    Moments,
    as_priors,
    check_moment,
    check_smoothing,
    estimate,
)
from .scoring import score
from .stats import ClassStats

if TYPE_CHECKING:
    from .naive_bayes import GaussianNB

SCHEMA = 1
Floats = NDArray[np.float64]


class ModelFileError(ValueError):
    """A file that is not a whole, unaltered model file of a schema that is known here."""


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
        from safetensors.numpy import save as dump

        tensors, document = _tensors(self), _document(self)
        _restore(document, tensors)  # what could not be loaded is not written
        text = json.dumps(document, sort_keys=True)
        meta = {"fastgnb": text, "sha256": _digest(text, tensors)}
        data = dump(tensors, metadata=meta)
        with replacing(Path(path)) as temporary:
            temporary.write_bytes(data)


def read(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model file. Raises ModelFileError, and OSError where it cannot be read at all."""
    name = os.fspath(path)
    with open(name, "rb"):  # a missing or unreadable file is the system's error, in its words
        pass
    try:
        text, digest, tensors = _contents(name)
    except ModelFileError:
        raise
    except Exception as error:
        raise ModelFileError(f"{name}: not a whole fastgnb model file ({error}).") from error
    if _digest(text, tensors) != digest:
        raise ModelFileError(f"{name}: altered after it was written: its digest does not match.")
    try:
        return _restore(json.loads(text), tensors)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"{name}: the model in it is not valid: {error}") from error


def save(model: GaussianNB, path: str | os.PathLike[str]) -> None:
    """Save a fitted GaussianNB. The file appears whole or not at all.

    Raises NotFittedError for a model that is not fitted, TypeError for another kind of model,
    ValueError for labels that JSON cannot hold, OSError where the file cannot be written.
    """
    from sklearn.utils.validation import check_is_fitted

    from .naive_bayes import GaussianNB

    if not isinstance(model, GaussianNB):
        raise TypeError(f"Expected a fastgnb.GaussianNB, got {type(model).__name__}.")
    check_is_fitted(model)
    SavedModel(
        model.stats_,
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

    Nothing in the file is executed. Raises ModelFileError for a file that is truncated, altered
    or not ours, OSError where it cannot be read.
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
    return {name: np.ascontiguousarray(value, "<f8") for name, value in tensors.items()}


def _document(model: SavedModel) -> dict[str, Any]:
    classes = model.classes
    values = classes.tolist()
    is_text = all(isinstance(value, str) for value in values)
    if classes.dtype.kind == "O" and is_text:
        values = [str.__str__(value) for value in values]  # an enumeration's text, not its name
    elif classes.dtype.kind not in "biufU" or (classes.dtype.itemsize > 8 and not is_text):
        raise ValueError(
            f"Labels of dtype {classes.dtype} cannot be saved: use text, whole numbers or booleans."
        )
    return {
        "schema": SCHEMA,
        "model": "GaussianNB",
        "classes": {
            "dtype": "object" if classes.dtype.kind == "O" else classes.dtype.str,
            "values": values,
        },
        "feature_names": None if model.feature_names is None else list(model.feature_names),
        "priors": model.priors,
        "var_smoothing": model.var_smoothing,
        "missing": model.missing,
        "epsilon": model.epsilon,
        "columns": {"target": model.target, "weight": model.weight},
        "versions": dict(model.versions or _versions()),
    }


def _digest(text: str, tensors: Mapping[str, NDArray[Any]]) -> str:
    sha = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        sha.update(f"{name} {tensors[name].shape} {tensors[name].dtype.str}".encode())
        sha.update(tensors[name].tobytes())
    return sha.hexdigest()


def _contents(name: str) -> tuple[str, str, dict[str, NDArray[Any]]]:
    from safetensors import safe_open

    with safe_open(name, framework="numpy") as file:
        meta = file.metadata() or {}
        if "fastgnb" not in meta or "sha256" not in meta:
            raise ModelFileError(f"{name}: a safetensors file, but not a fastgnb model.")
        document = json.loads(meta["fastgnb"])
        schema = document.get("schema")
        if schema != SCHEMA:
            raise ModelFileError(
                f"{name}: has schema {schema!r}, and this version of fastgnb reads {SCHEMA}. "
                "Update fastgnb."
            )
        return meta["fastgnb"], meta["sha256"], {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118


def _restore(document: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> SavedModel:
    dtype = np.dtype(document["classes"]["dtype"])
    classes = np.array(document["classes"]["values"], dtype=dtype)
    names = document["feature_names"]
    k, d = len(classes), tensors["mean"].shape[1]
    shapes = {"count": (k,), "class_prior": (k,)}
    for name, tensor in tensors.items():
        expected = shapes.get(name, (k, d))
        if tensor.shape != expected or tensor.dtype != np.float64:
            raise ValueError(f"{name} is {tensor.dtype} {tensor.shape}, expected {expected}")
        if not np.isfinite(tensor).all():
            raise ValueError(f"{name} is not finite")
    if k == 0 or len(set(classes.tolist())) != k or classes.tolist() != sorted(classes.tolist()):
        raise ValueError("classes are not sorted and distinct")
    if names is not None and len(names) != d:
        raise ValueError(f"{len(names)} feature names for {d} features")
    for name in ("count", "variance", "var", "class_prior"):
        if (tensors[name] < 0).any():
            raise ValueError(f"{name} is negative")
    if not tensors["class_prior"].any() or not tensors["count"].any():
        raise ValueError("no class has a prior above 0 and rows")
    stats = ClassStats(
        classes,
        tensors["count"],
        tensors["mean"],
        tensors["variance"],
        tensors["mean_low"],
        tensors.get("feature_count"),
        None if names is None else tuple(str(name) for name in names),
    )
    moments = Moments(
        tensors["class_prior"], tensors["theta"], tensors["var"], float(document["epsilon"])
    )
    check_missing(document["missing"])
    columns = document["columns"]
    return SavedModel(
        stats, *moments, document["priors"], check_smoothing(document["var_smoothing"]),
        document["missing"], document["versions"], columns["target"], columns["weight"],
    )  # fmt: skip


__all__ = ["ModelFileError", "NotFiniteError", "SavedModel", "load", "read", "save"]
