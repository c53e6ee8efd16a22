"""Model files: safetensors with a schema number, JSON metadata and the statistics.

Loading executes nothing, takes memory in proportion to the file, and believes nothing: types,
shapes, ranges and the order of classes are checked. A digest over all that is read makes an
altered file an error. It is no signature: who forges a file can forge its digest, and parameters
that differ from the statistics' own are legal, since edited models are.

A file of schema 1 to SCHEMA can be read for ever (tests/data holds some of each). It holds the
fields and tensors of its schema and no others, of which `feature_count` and `peak` may be absent.
Whatever a reader of today would not understand raises the number, and it then says to update.
Schema 2 adds the other members of the family, with `options` and full scatter; their parameters
are estimated anew from the statistics. A MixedNB has `categorical`, its features with categories,
and their counts side by side in one tensor; the others are of its continuous features, which may
be none. Schema 3 adds the options `shrinkage_target`, `standardize` and `max_categories`; without
them, as in schema 2, they are "spherical", False and None. What an earlier schema can hold is still
written in it.

Beside the model a file may name the files that were learned by commands, see `_learned`: earlier
versions of this package pass over them. They are lost where a model is loaded into an estimator.

Pickle and joblib files of models work too, but loading one runs whatever code its writer chose:
exchange model files, not pickles.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._system.atomic import atomic_write
from ..._version import __version__
from ...estimate.categorical import CategoryEstimate, MixedParams
from ...estimate.diagonal import (
    DiagonalEstimate,
    GaussianParams,
    WhitenedParams,
    as_plain,
    as_priors,
    check_attribute,
    check_prior,
    check_priors,
    check_smoothing,
)
from ...input.categorical import MixedRows, exact_table, slots, split
from ...input.frames import in_memory, is_frame
from ...input.label_types import same_labels
from ...input.rows import NotFiniteError, check_finite, check_missing
from ...input.type_names import model_remedy, type_name
from ...kernels.score.outputs import Scores, Table
from ...model.family import MEMBERS, Member
from ...model.scoring import score, score_mixed
from ...stats.class_stats import ClassStats
from ...stats.mixed_stats import MixedStats
from . import learned as _learned
from .container import ModelFileError, pack, unpack
from .learned import LearnedFile

if TYPE_CHECKING:
    from ...estimators.base import GaussianClassifier

Floats = NDArray[np.float64]

_FIELDS = {
    "schema", "model", "classes", "feature_names", "priors", "var_smoothing", "missing",
    "epsilon", "columns", "versions",
}  # fmt: skip
_OF_CLASSES = {"count", "class_prior"}
_OF_FEATURES = {"mean", "mean_low", "variance", "theta", "var"}
_MOMENTS = {"class_prior", "theta", "var"}  # of GaussianNB, whose attributes may be edited
_OPTIONAL = {"feature_count", "peak"}
_LONGEST_REASON = 240
_PACKAGE = str(__package__).partition(".")[0]
_PLAIN = MEMBERS["GaussianNB"].options
# Attributes that decide, of any member: what scoring and sampling use.
_DECISIVE = (
    "class_prior_", "theta_", "var_", "means_", "covariance_", "components_", "mean_", "scale_",
    "categories_", "feature_log_prob_", "unseen_log_prob_", "is_categorical_",
)  # fmt: skip
# Options that came with schema 3, and what files without them mean.
_SINCE_3: dict[str, Any] = {
    "shrinkage_target": "spherical",
    "standardize": False,
    "max_categories": None,
}
_LISTS = {"categorical_features", "min_categories"}  # options that may be lists
_KINDS_OF_CATEGORIES = {"<i8", "<u8", "<f8", "|b1", "object"}
# Python's types of labels by NumPy's kinds, "O" being text as objects.
_LABELS: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "U": str, "O": str}


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted member of the family without its scikit-learn face: parameters and statistics.

    priors, var_smoothing and missing are the estimator's, as are the other `options` of the
    `model`; class_prior (k,), theta (k, d), var (k, d) and epsilon are GaussianNB's fitted
    attributes, edited or not, and of other members those of features, or (k, r) of axes, with
    `rotated` for scoring, or of the continuous features, with `categorical` for the others;
    versions says what wrote it. target and weight name the columns of labels
    and weights in the files that it learned from, and learned are fingerprints of these files.
    """

    stats: Any
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
    model: str = "GaussianNB"
    options: Mapping[str, Any] = field(default_factory=lambda: dict(_PLAIN))
    rotated: WhitenedParams | None = None
    categorical: Sequence[CategoryEstimate] | None = None
    learned: tuple[LearnedFile, ...] = ()

    @classmethod
    def from_stats(
        cls,
        stats: ClassStats | MixedStats,
        *,
        priors: ArrayLike | None = None,
        var_smoothing: float | None = None,
        missing: str = "error",
        target: str | None = None,
        weight: str | None = None,
        model: str = "GaussianNB",
        **options: Any,
    ) -> SavedModel:
        """The model of statistics. Raises ValueError for bad parameters or no rows.

        var_smoothing and what is left out of the options are the member's by default.
        """
        check_missing(missing)
        if not stats.count.sum() > 0:
            raise ValueError("The statistics hold no rows: their total weight is 0.")
        member = MEMBERS[model]
        chosen = {name: as_plain(value) for name, value in {**member.options, **options}.items()}
        member.check(chosen)
        smoothing = float(member.var_smoothing if var_smoothing is None else var_smoothing)
        fitted = member.estimate(stats, priors=priors, var_smoothing=smoothing, **chosen)
        given = None if priors is None else np.asarray(priors, np.float64).tolist()
        return cls(
            stats, *fitted.diagonal, given, smoothing, missing, _versions(), target, weight, model,
            chosen, fitted.params, fitted.categorical,
        )  # fmt: skip

    def with_stats(self, stats: ClassStats | MixedStats) -> SavedModel:
        """The model of other statistics, with these parameters."""
        found = SavedModel.from_stats(
            stats, priors=self.priors, var_smoothing=self.var_smoothing, missing=self.missing,
            target=self.target, weight=self.weight, model=self.model, **self.options,
        )  # fmt: skip
        return replace(found, learned=self.learned)

    @property
    def classes(self) -> NDArray[Any]:
        """Sorted labels (k,)."""
        return np.asarray(self.stats.classes)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the d features, or None."""
        names: tuple[str, ...] | None = self.stats.feature_names
        return names

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.stats.n_features)

    def score(self, X: Any, *, table: Table | None = None, evidence: bool = False) -> Scores:
        """Score rows X (n, d) in one pass, see `Scores`. With categorical features X may be a
        frame, or rows that are taken apart already.

        Raises ValueError for another number of features and NotFiniteError for a NaN or infinity
        that `missing` does not allow; TypeError, too, for values that are no categories.
        """
        d = len(X.is_categorical) if isinstance(X, MixedRows) else X.shape[1]
        if d != self.n_features:
            raise ValueError(f"X has {d} features, but the model is expecting {self.n_features}.")
        if self.categorical:
            return self._score_mixed(X, table=table, evidence=evidence)
        rows = X.continuous if isinstance(X, MixedRows) else X
        skip = self.missing == "skip"
        params = self.rotated or self._gaussian()
        scores = score(rows, params, table=table, evidence=evidence, skip=skip)
        if scores.bad >= 0:
            can_skip = not MEMBERS[self.model].needs_full
            check_finite(rows, None, skip=skip, can_skip=can_skip)
        return scores

    def _gaussian(self) -> GaussianParams:
        names, d, of = self.feature_names, self.n_features, "Feature"
        if self.categorical is not None:
            names, d = self.stats.gaussian.feature_names, self.theta.shape[1]
        elif MEMBERS[self.model].needs_full:  # not rotated, since a variance makes no density
            names, d, of = None, self.theta.shape[1], "Axis"
        return GaussianParams.from_moments(
            self.class_prior, self.theta, self.var, classes=self.classes, n_features=d,
            count=self.stats.count, feature_names=names, of=of,
        )  # fmt: skip

    def _score_mixed(self, X: Any, *, table: Table | None, evidence: bool) -> Scores:
        skip, stats = self.missing == "skip", self.stats
        rows = X
        if not isinstance(X, MixedRows):
            given = in_memory(X)
            given = given if is_frame(given) else np.asarray(exact_table(given))
            rows = split(given, stats.is_categorical, skip=skip)
        if not skip:
            rows.check_present()
        params = MixedParams.from_moments(self._gaussian(), self.categorical or (), stats)
        scores = score_mixed(
            rows.continuous,
            slots(rows.columns, stats.categories, stats.categorical_names()), params,
            table=table, evidence=evidence, skip=skip,
        )  # fmt: skip
        if scores.bad >= 0:
            rows.check_finite(skip=skip)
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
        data = pack(text, tensors, json.dumps(self.learned) if self.learned else None)
        with atomic_write(Path(path), final=True) as temporary:
            temporary.write_bytes(data)


def read(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model file. Raises ModelFileError, and OSError where it cannot be read at all."""
    document, tensors, learned = unpack(path)
    try:
        saved = _restore(document, tensors)
        return saved if learned is None else replace(saved, learned=_learned.restore(learned))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        name, reason = os.fspath(path), str(error)
        if len(reason) > _LONGEST_REASON:  # of values that a file may hold at any length
            reason = f"{reason[: _LONGEST_REASON - 4]} ..."
        raise ModelFileError(f"{name}: the model in it is not valid: {reason}") from error


def save(model: GaussianClassifier, path: str | os.PathLike[str]) -> None:
    """Save a fitted member of the family. The file appears whole or not at all.

    Loading it executes nothing, whereas a pickle or joblib file runs its writer's code.
    Raises NotFittedError for a model that is not fitted, TypeError for another kind of model,
    ValueError for what makes no model file, as edited attributes do not but those of a GaussianNB,
    OSError where the file cannot be written.
    """
    from_estimator(model).write(path)


def from_estimator(model: Any) -> SavedModel:
    """What a model file of a fitted estimator holds. Raises as `save` does."""
    from ...estimators.base import GaussianClassifier

    if not isinstance(model, GaussianClassifier):
        raise TypeError(
            f"Expected a model of fastgnb's, got {type_name(model)}.{model_remedy(model)}"
        )
    if model._member not in MEMBERS:
        raise TypeError(
            f"A model file holds one of {sorted(MEMBERS)}, got {type(model).__name__}. Pickle it."
        )
    now = model._fitted()
    if not same_labels(np.asarray(now.classes_), now.stats_.classes):
        raise ValueError(
            "classes_ was edited, and a model file holds those of stats_, which are sorted. "
            "Set classes_ back, save, and edit it again after loading."
        )
    now._check_n_features()
    return _saved_of(now)


def _saved_of(model: GaussianClassifier) -> SavedModel:
    found = getattr(model, "feature_names_in_", None)
    names = None if found is None else tuple(found)
    stats: Any = model.stats_
    is_mixed = isinstance(stats, MixedStats)
    stats = stats.renamed(names) if is_mixed else replace(stats, feature_names=names)
    kind, given = model._member, model._options()
    options = {name: _plain(given[name]) for name in MEMBERS[kind].options}
    priors = None if model.priors is None else as_priors(model.priors).tolist()
    smoothing = check_smoothing(model.var_smoothing)
    if kind != "GaussianNB":
        saved = SavedModel.from_stats(
            stats, priors=priors, var_smoothing=smoothing, model=kind,
            missing=getattr(model, "missing", "error"), **options,
        )  # fmt: skip
        _check_unedited(model)
        return saved
    MEMBERS[kind].check(options)
    return SavedModel(
        stats,
        check_prior(model.class_prior_, len(stats.count)),
        check_attribute(model.theta_, "theta_", stats.mean.shape),
        check_attribute(model.var_, "var_", stats.mean.shape),
        float(model.epsilon_), priors, smoothing, model.missing, _versions(), options=options,
    )  # fmt: skip


def _check_unedited(model: GaussianClassifier) -> None:
    """Raise ValueError unless the attributes are those that loading will find again."""
    fresh = model.reestimate()
    for name in _DECISIVE:
        found, wanted = getattr(model, name, None), getattr(fresh, name, None)
        if not _are_same(found, wanted, name, exact=not MEMBERS[model._member].needs_full):
            raise ValueError(
                f"{name} is not what the statistics and parameters of this model give, and a model "
                "file holds those. Where a parameter was set after fit, save model.reestimate()."
            )


def _are_same(found: Any, wanted: Any, name: str, *, exact: bool) -> bool:
    """Whether two attributes, arrays or lists of them, are the same, or to rounding.

    The last bits of what comes out of LAPACK depend on the machine that a model was made on: those
    of an axis in units of the longest component, and of other numbers in units of themselves, which
    may be those of a feature that is small beside the others.
    """
    if isinstance(wanted, list):
        alike = isinstance(found, (list, tuple)) and len(found) == len(wanted)
        return alike and all(map(partial(_are_same, name=name, exact=exact), found, wanted))
    if wanted is None or np.shape(found) != np.shape(wanted):
        return found is wanted
    if np.asarray(wanted).dtype.kind != "f":
        return same_labels(np.asarray(found), np.asarray(wanted))
    values = check_attribute(found, name, wanted.shape)
    if exact:
        return bool(np.array_equal(values, wanted))
    size = np.max(np.abs(wanted), initial=0.0, where=np.isfinite(wanted))
    least = 1e-12 * size if name in ("components_", "theta_") else 0.0
    return bool(np.allclose(values, wanted, rtol=1e-9, atol=least))


def skops_types() -> list[str]:
    """The types to trust in a skops file of any member of the family.

    ``skops.io.load(path, trusted=fastgnb.skops_types())`` loads a model that skops wrote. Loading
    these types runs no code that a file brings; what the file says of a model is checked when it
    scores. Types of scikit-learn and NumPy are trusted by skops itself.
    """
    from ... import _HOMES

    models = sorted({*MEMBERS, "ClassStats", "MixedStats"})
    return [f"{_PACKAGE}.{_HOMES[name]}.{name}" for name in models]


def load(path: str | os.PathLike[str]) -> Any:
    """Load a fitted model that predicts as the saved one did, learns on and merges.

    Returns the estimator that was saved, such as a GaussianNB. Nothing in the file is executed, so
    that a stranger's file is safe to load, as a pickle or joblib file is not. Raises ModelFileError
    for a file that is truncated, altered or not ours, OSError where it cannot be read.
    """
    return to_estimator(read(path))


def to_estimator(saved: SavedModel) -> Any:
    """The fitted estimator of a model."""
    model = getattr(import_module(_PACKAGE), saved.model)(
        priors=saved.priors, var_smoothing=saved.var_smoothing, **saved.options
    )
    if saved.model == "MixedNB":
        model.missing = saved.missing
    if saved.model != "GaussianNB":
        return model.fit_stats(saved.stats)
    moments = DiagonalEstimate(saved.class_prior, saved.theta, saved.var, saved.epsilon)
    model.missing = saved.missing
    model._adopt(saved.stats, moments)
    model._keep_names(saved.stats)
    return model


def _plain(value: Any) -> Any:
    """A parameter as Python has it, for JSON."""
    value = as_plain(value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return np.asarray(value).tolist()


def _versions() -> dict[str, str]:
    return {"fastgnb": __version__, "numpy": np.__version__, "python": platform.python_version()}


def _tensors(model: SavedModel) -> dict[str, Floats]:
    stats, own = model.stats, {}
    if isinstance(stats, MixedStats):
        own["category_count"] = np.hstack([np.zeros((len(stats.count), 0)), *stats.counts])
        stats = stats.gaussian
    tensors = own | {
        "count": stats.count,
        "mean": stats.mean,
        "mean_low": stats.mean_lo,
        "variance": stats.variance,
    }
    if model.model == "GaussianNB":
        tensors |= {"class_prior": model.class_prior, "theta": model.theta, "var": model.var}
    if stats.covariance is not None:
        tensors["covariance"] = stats.covariance.reshape(-1, stats.n_features)
    if stats.feature_count is not None:
        tensors["feature_count"] = stats.feature_count
    if stats.max_scatter is not None:
        tensors["peak"] = stats.max_scatter
    return {name: np.ascontiguousarray(value, "<f8") for name, value in tensors.items()}


def _document(model: SavedModel) -> dict[str, Any]:
    is_old = (
        model.model == "GaussianNB" and model.options == _PLAIN and model.stats.covariance is None
    )
    options = dict(model.options)
    is_second = all(options.get(name, value) == value for name, value in _SINCE_3.items())
    if is_second:
        options = {name: value for name, value in options.items() if name not in _SINCE_3}
    head: dict[str, Any] = {"schema": 1 if is_old else 2 if is_second else 3}
    if not is_old:
        head["options"] = options
    if model.model == "MixedNB":
        at = np.flatnonzero(model.stats.is_categorical).tolist()
        head["categorical"] = [
            {"position": j, **_labels_as_json(labels)}
            for j, labels in zip(at, model.stats.categories, strict=True)
        ]
    return head | {
        "model": model.model,
        "classes": _labels_as_json(model.classes),
        "feature_names": None if model.feature_names is None else list(model.feature_names),
        "priors": model.priors,
        "var_smoothing": float(model.var_smoothing),
        "missing": model.missing,
        "epsilon": float(model.epsilon),
        "columns": {"target": model.target, "weight": model.weight},
        "versions": dict(model.versions or _versions()),
    }


def _labels_as_json(labels: NDArray[Any]) -> dict[str, Any]:
    """Labels by their type. Raises ValueError where a file cannot hold them."""
    values = labels.tolist()
    is_text = all(isinstance(value, str) for value in values)
    is_object = labels.dtype.kind in "OT" and is_text  # T: NumPy 2's text of any length
    if is_object:
        values = [str.__str__(value) for value in values]  # an enumeration's text, not its name
    elif labels.dtype.kind not in "biufU" or (labels.dtype.itemsize > 8 and not is_text):
        raise ValueError(
            f"Labels of dtype {labels.dtype} cannot be saved: use text, whole numbers or booleans."
        )
    return {"dtype": "object" if is_object else labels.dtype.str, "values": values}


def _restore(document: dict[str, Any], tensors: Mapping[str, NDArray[Any]]) -> SavedModel:
    """The model of a description and tensors. Raises ValueError for all that makes none."""
    is_old = document["schema"] == 1
    name = document["model"]
    is_mixed = name == "MixedNB" and not is_old
    fields = _FIELDS if is_old else _FIELDS | {"options"}
    _check_names(document, fields | {"categorical"} if is_mixed else fields)
    member = (
        MEMBERS.get(name) if type(name) is str and (not is_old or name == "GaussianNB") else None
    )
    if member is None:
        expected = ["GaussianNB"] if is_old else sorted(MEMBERS)
        raise ValueError(f"model is {name!r:.40}, expected one of {expected}")
    own = _MOMENTS if name == "GaussianNB" else {"covariance"}
    own = {"category_count"} if is_mixed else own
    optional = _OPTIONAL if is_old or name != "GaussianNB" else _OPTIONAL | {"covariance"}
    _check_names(tensors, (_OF_CLASSES | _OF_FEATURES) - _MOMENTS | own, optional)
    classes = _restore_labels(document["classes"], "classes")
    categories = _restore_categories(document["categorical"]) if is_mixed else {}
    _check_tensors(tensors, len(classes), categories)
    native = {key: tensor.astype(np.float64, copy=False) for key, tensor in tensors.items()}
    stats: ClassStats | MixedStats
    if is_mixed:
        stats = _restore_mixed(document, classes, native, categories)
    else:
        names = _restore_names(document["feature_names"], native["mean"].shape[1])
        stats = _restore_stats(classes, native, names)
    if check_missing(document["missing"]) and member.needs_full:
        raise ValueError("missing='skip' needs diagonal scatter")
    columns = _typed(document, "columns", dict)
    _check_names(columns, {"target", "weight"})
    rest = {
        "priors": _restore_priors(document["priors"]),
        "var_smoothing": _from_zero_up(document, "var_smoothing"),
        "missing": document["missing"],
        "target": _text(columns, "target"),
        "weight": _text(columns, "weight"),
    }
    versions = _restore_versions(document["versions"])
    epsilon = _from_zero_up(document, "epsilon")
    options = _restore_options(document, member)
    if name != "GaussianNB":
        return replace(
            SavedModel.from_stats(stats, model=name, **rest, **options), versions=versions
        )
    moments = native["class_prior"], native["theta"], native["var"], epsilon
    return SavedModel(stats, *moments, versions=versions, options=options, **rest)


def _restore_options(document: Mapping[str, Any], member: Member) -> dict[str, Any]:
    """Options of exactly the member's names, each of a kind and value that it can have."""
    if document["schema"] == 1:
        return dict(member.options)
    options = document["options"]
    if type(options) is not dict:
        raise ValueError("options are not an object")
    later = _SINCE_3.keys() & member.options if document["schema"] == 2 else set()
    _check_names(options, member.options.keys() - later)
    options = options | {name: _SINCE_3[name] for name in later}
    for name, value in options.items():
        items = value if type(value) is list and name in _LISTS else [value]
        kinds = set(map(type, items))
        if len(kinds) > 1 or not kinds <= {bool, int, float, str, type(None)}:
            raise ValueError(f"{name} is a {type(value).__name__}")
    member.check(options)
    return options


def _restore_categories(features: Any) -> dict[int, NDArray[Any]]:
    """The categories (m,) of features by their positions. Raises ValueError for wrong ones."""
    out: dict[int, NDArray[Any]] = {}
    last = -1
    for feature in _list_of(features, dict, "categorical"):
        _check_names(feature, {"position", "dtype", "values"})
        j = _typed(feature, "position", int)
        if j <= last:
            raise ValueError("positions of categorical features are not sorted and distinct")
        if str(feature["dtype"]) not in _KINDS_OF_CATEGORIES:
            raise ValueError(f"categories of dtype {feature['dtype']!r:.40}")
        labels = {name: feature[name] for name in ("dtype", "values")}
        out[j] = _restore_labels(labels, f"categories of feature {j!r:.20}", least=0)
        last = j
    return out


def _restore_mixed(
    document: dict[str, Any],
    classes: NDArray[Any],
    native: Mapping[str, Floats],
    categories: Mapping[int, NDArray[Any]],
) -> MixedStats:
    d = native["mean"].shape[1] + len(categories)
    if max(categories, default=-1) >= d:
        raise ValueError(f"a categorical feature at {max(categories)!r:.40}, of {d} features")
    is_categorical = np.zeros(d, np.bool_)
    is_categorical[list(categories)] = True
    ends = np.cumsum([len(each) for each in categories.values()])
    parts = np.split(native["category_count"], ends, axis=1)[: len(categories)]
    for j, counts in zip(categories, parts, strict=True):
        _check_counts(counts, native["count"], j)
    stats = MixedStats(
        _restore_stats(classes, native, None), tuple(categories.values()),
        tuple(np.ascontiguousarray(each) for each in parts), is_categorical,
    )  # fmt: skip
    return stats.renamed(_restore_names(document["feature_names"], d))


def _check_counts(counts: Floats, count: Floats, j: int) -> None:
    """Raise ValueError unless counts (k, m) can be those of feature j in rows of such weight."""
    if not counts.any(axis=0).all():
        raise ValueError(f"category_count has a category of feature {j} without rows")
    with np.errstate(over="ignore"):
        # Subtracting may leave a rounding error where no row is left.
        if (counts.sum(axis=1) > count * (1 + 1e-6) + 1e-9 * count.sum()).any():
            raise ValueError(f"category_count of feature {j} is more than count")


def _restore_stats(
    classes: NDArray[Any], native: Mapping[str, Floats], names: tuple[str, ...] | None
) -> ClassStats:
    k, d = native["mean"].shape
    covariance = native.get("covariance")
    return ClassStats(
        classes,
        native["count"],
        native["mean"],
        native["variance"],
        native["mean_low"],
        native.get("feature_count"),
        names,
        native.get("peak"),
        None if covariance is None else covariance.reshape(k, d, d),
    )


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


def _restore_labels(field: Any, what: str, *, least: int = 1) -> NDArray[Any]:
    """Labels (k,) in native byte order. Raises ValueError unless they are sorted and distinct."""
    _check_names(field, {"dtype", "values"})
    name = str(_typed(field, "dtype", str))
    match = re.fullmatch(r"[<>=|]?(?:b1|[iu][1248]|f[248]|U[1-9][0-9]{0,7})", name, re.ASCII)
    if name != "object" and not match:  # NumPy would take arrays, records and more in its place
        raise ValueError(f"labels of dtype {name!r:.40}")
    dtype = np.dtype(object if name == "object" else name).newbyteorder("=")
    values = _list_of(field["values"], _LABELS[dtype.kind], what)
    if len(values) < least or any(a >= b for a, b in pairwise(values)):
        raise ValueError(f"{what} are not sorted and distinct")
    if dtype.kind == "f" and not all(value.is_integer() for value in values):
        raise ValueError(f"{what} are not whole numbers")
    limits = np.iinfo(dtype.str) if dtype.kind in "iu" and values else None
    if limits and not limits.min <= values[0] <= values[-1] <= limits.max:
        raise ValueError(f"{what} do not fit dtype {name}")
    with np.errstate(over="ignore"):
        labels = np.array(values, _bounded(dtype, values))
    if labels.tolist() != values:
        raise ValueError(f"{what} do not fit dtype {name}")
    return labels


def _bounded(dtype: np.dtype[Any], values: list[str]) -> np.dtype[Any]:
    """The dtype, unless that takes far more memory than its text: a narrower one, or objects."""
    if dtype.kind != "U":
        return dtype
    longest = max(map(len, values))
    most = (1 << 18) + 8 * sum(map(len, values))
    if len(values) * dtype.itemsize // 4 <= most:
        return dtype
    return np.dtype(f"U{longest or 1}" if len(values) * longest <= most else object)


def _check_tensors(
    tensors: Mapping[str, NDArray[Any]], k: int, categories: Mapping[int, NDArray[Any]]
) -> None:
    """Raise ValueError unless all are finite, of one k and d, and can be those of some rows."""
    mean = tensors["mean"]
    d = mean.shape[1] if mean.ndim == 2 else 0
    if mean.ndim != 2 or (d == 0 and not categories):
        raise ValueError(f"mean is {mean.dtype} {mean.shape}, expected ({k}, features)")
    for name, tensor in tensors.items():
        expected = (k,) if name in _OF_CLASSES else (k, d)
        expected = (k * d, d) if name == "covariance" else expected
        if name == "category_count":
            expected = k, sum(map(len, categories.values()))
        if tensor.shape != expected or tensor.dtype != np.float64:
            raise ValueError(f"{name} is {tensor.dtype} {tensor.shape}, expected {expected}")
        # A scatter may overflow where its weight and its variance do not.
        if np.isnan(tensor).any() or (name != "peak" and np.isinf(tensor).any()):
            raise ValueError(f"{name} is not finite")
    weights = {"count", "variance", "var", "class_prior", "category_count"}
    for name in (weights | _OPTIONAL) & tensors.keys():
        if (tensors[name] < 0).any():
            raise ValueError(f"{name} is negative")
    if not tensors.get("class_prior", tensors["count"]).any() or not tensors["count"].any():
        raise ValueError("no class has a prior above 0 and rows")
    with np.errstate(over="ignore"):
        if not np.isfinite(tensors["count"].sum()):
            raise ValueError("count overflows in sum")
    if (np.abs(tensors["mean_low"]) > 2.0**-50 * np.abs(mean)).any():
        raise ValueError("mean_low is more than the rounding error of mean")
    if "covariance" in tensors:
        _check_covariance(tensors["covariance"].reshape(k, d, d), tensors)
    present = tensors.get("feature_count")
    if present is not None and (present > tensors["count"][:, None] * (1 + 1e-6)).any():
        raise ValueError("feature_count is more than count")


def _check_covariance(covariance: Floats, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Raise ValueError unless covariances can be those of rows with these variances."""
    if "feature_count" in tensors:
        raise ValueError("covariance and feature_count exclude each other")
    if not np.array_equal(covariance, covariance.transpose(0, 2, 1)):
        raise ValueError("covariance is not symmetric")
    if not np.array_equal(np.diagonal(covariance, axis1=1, axis2=2), tensors["variance"]):
        raise ValueError("the diagonal of covariance is not variance")
    sd = np.sqrt(tensors["variance"])
    most = sd[:, :, None] * sd[:, None, :]
    # What was subtracted leaves rounding errors of what there was.
    slack = 1e-9 * most
    if "peak" in tensors:
        count = np.where(tensors["count"] > 0, tensors["count"], 1.0)[:, None]
        with np.errstate(over="ignore"):
            had = np.sqrt(1e-9 * np.minimum(tensors["peak"] / count, 1e300))
        slack = slack + had[:, :, None] * had[:, None, :]
    if (np.abs(covariance) > most + slack).any():
        raise ValueError("covariance is more than variances allow")


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


__all__ = ["ModelFileError", "NotFiniteError", "SavedModel", "load", "read", "save", "skops_types"]
