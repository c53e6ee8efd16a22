"""A model as JSON and tensors, and back. What is read is checked field by field."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._version import __version__
from ...estimate.options import check_priors
from ...input.rows import check_missing
from ...model.family import Member
from ...model.model import Model
from ...stats.class_stats import ClassStats
from ...stats.mixed_stats import MixedStats
from .labels import (
    check_names,
    from_zero_up,
    labels_as_json,
    list_of,
    restore_labels,
    text_or_none,
    typed,
)
from .schemas import before, fields_of, member_of, own_options, schema_of, tensor_names
from .tensors import check_counts, check_tensors, restore_stats

__all__ = ["current_versions", "document_of", "restore_columns", "restore_model"]

Floats = NDArray[np.float64]

_KINDS_OF_CATEGORIES = {"<i8", "<u8", "<f8", "|b1", "object"}


def current_versions() -> dict[str, str]:
    """What writes a file now."""
    return {"fastgnb": __version__, "numpy": np.__version__, "python": platform.python_version()}


def document_of(
    model: Model, target: str | None, weight: str | None, versions: Mapping[str, str]
) -> dict[str, Any]:
    """What JSON holds of a model: all but its numbers. Raises ValueError for labels that it
    cannot hold."""
    schema = schema_of(model)
    later = before(model.member, schema)
    head: dict[str, Any] = {"schema": schema}
    if schema > 1:
        options = own_options(model.options)
        head["options"] = {name: value for name, value in options.items() if name not in later}
    if model.member.takes_categories:
        at = np.flatnonzero(model.stats.is_categorical).tolist()
        head["categorical"] = [
            {"position": j, **labels_as_json(labels)}
            for j, labels in zip(at, model.stats.categories, strict=True)
        ]
    return head | {
        "model": model.member.name,
        "classes": labels_as_json(model.classes),
        "feature_names": None if model.feature_names is None else list(model.feature_names),
        "priors": model.options["priors"],
        "var_smoothing": float(model.options["var_smoothing"]),
        "missing": model.missing,
        "epsilon": float(model.moments.epsilon),
        "columns": {"target": target, "weight": weight},
        "versions": dict(versions),
    }


def restore_model(document: dict[str, Any], tensors: Mapping[str, NDArray[Any]]) -> Model:
    """The model of a description and tensors. Raises ValueError for all that makes none."""
    schema, member = _member(document)
    check_names(tensors, *tensor_names(schema, member))
    classes = restore_labels(document["classes"], "classes")
    has_list = member.takes_categories
    categories = _restore_categories(document["categorical"]) if has_list else {}
    check_tensors(tensors, len(classes), categories)
    native = {key: tensor.astype(np.float64, copy=False) for key, tensor in tensors.items()}
    stats: ClassStats | MixedStats
    if member.takes_categories:
        stats = _restore_mixed(document, classes, native, categories)
    else:
        names = _restore_names(document["feature_names"], native["mean"].shape[1])
        stats = restore_stats(classes, native, names)
    if check_missing(document["missing"]) and not member.has("missing"):
        raise ValueError("missing='skip' needs diagonal scatter")
    restore_columns(document)
    common = {
        "priors": _restore_priors(document["priors"]),
        "var_smoothing": from_zero_up(document, "var_smoothing"),
        "missing": document["missing"],
    }
    _restore_versions(document["versions"])
    epsilon = from_zero_up(document, "epsilon")
    options = common | _restore_options(document, member)
    if not member.stores_edits:
        return Model.of(member, stats, **options)
    attributes: dict[str, Any] = {
        f"{name}_": native[name] for name in ("class_prior", "theta", "var")
    }
    attributes["epsilon_"] = epsilon
    chosen = {name: options[name] for name in member.defaults}
    return Model(member, chosen, stats, attributes, is_edited=True)


def restore_columns(document: Mapping[str, Any]) -> dict[str, str | None]:
    """The names of the columns of labels and weights."""
    columns = typed(document, "columns", dict)
    check_names(columns, {"target", "weight"})
    return {name: text_or_none(columns, name) for name in ("target", "weight")}


def _member(document: Mapping[str, Any]) -> tuple[int, Member]:
    """The schema and the member, of a document that has their fields."""
    schema, name = document["schema"], document["model"]
    try:
        member = member_of(schema, name)
    except ValueError:
        check_names(document, fields_of(schema, None))
        raise
    check_names(document, fields_of(schema, member))
    return schema, member


def _restore_options(document: Mapping[str, Any], member: Member) -> dict[str, Any]:
    """Options of exactly the member's names, each of a kind and value that it can have."""
    later = before(member, document["schema"])
    if document["schema"] == 1:
        return later
    options = document["options"]
    if type(options) is not dict:
        raise ValueError("options are not an object")
    check_names(options, own_options(member.defaults).keys() - later.keys())
    options = options | later
    for name, value in options.items():
        items = value if type(value) is list and member.option(name).is_list else [value]
        kinds = set(map(type, items))
        if len(kinds) > 1 or not kinds <= {bool, int, float, str, type(None)}:
            raise ValueError(f"{name} is a {type(value).__name__}")
    member.check(options)
    return options


def _restore_categories(features: Any) -> dict[int, NDArray[Any]]:
    """The categories (m,) of features by their positions. Raises ValueError for wrong ones."""
    out: dict[int, NDArray[Any]] = {}
    last = -1
    for feature in list_of(features, dict, "categorical"):
        check_names(feature, {"position", "dtype", "values"})
        j = typed(feature, "position", int)
        if j <= last:
            raise ValueError("positions of categorical features are not sorted and distinct")
        if str(feature["dtype"]) not in _KINDS_OF_CATEGORIES:
            raise ValueError(f"categories of dtype {feature['dtype']!r:.40}")
        labels = {name: feature[name] for name in ("dtype", "values")}
        out[j] = restore_labels(labels, f"categories of feature {j!r:.20}", least=0)
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
        check_counts(counts, native["count"], j)
    stats = MixedStats(
        restore_stats(classes, native, None), tuple(categories.values()),
        tuple(np.ascontiguousarray(each) for each in parts), is_categorical,
    )  # fmt: skip
    return stats.renamed(_restore_names(document["feature_names"], d))


def _restore_names(names: Any, d: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    if len(list_of(names, str, "feature_names")) != d:
        raise ValueError(f"{len(names)} feature names for {d} features")
    return tuple(names)


def _restore_priors(priors: Any) -> list[float] | None:
    """Priors for a fit to come: of any number of classes, since that fit may see others."""
    if priors is not None:
        check_priors(list_of(priors, float, "priors"), len(priors))
    return None if priors is None else priors


def _restore_versions(versions: Any) -> dict[str, str]:
    if type(versions) is not dict:
        raise ValueError("versions are not an object")
    list_of(list(versions.values()), str, "versions")
    return versions
