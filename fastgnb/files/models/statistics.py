"""Statistics as JSON and tensors, and back: a part of each model, and a content of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...stats.class_stats import ClassStats
from ...stats.mixed_stats import MixedStats
from .labels import check_names, labels_as_json, list_of, restore_labels, typed
from .schemas import FIRST_OF_STATISTICS, STATISTICS, tensor_names_of_stats
from .tensors import check_counts, check_tensors, class_stats_of

__all__ = ["document_of_stats", "fields_of_stats", "restore_statistics", "restore_stats"]

Floats = NDArray[np.float64]
Stats = ClassStats | MixedStats

_KINDS = {"ClassStats": False, "MixedStats": True}  # and whether they have categories
_KINDS_OF_CATEGORIES = {"<i8", "<u8", "<f8", "|b1", "object"}


def document_of_stats(stats: Stats) -> dict[str, Any]:
    """What JSON holds of statistics that are stored alone. Raises ValueError for labels that it
    cannot hold."""
    kind = next(name for name, mixed in _KINDS.items() if mixed == isinstance(stats, MixedStats))
    return {"schema": FIRST_OF_STATISTICS, "statistics": kind, **fields_of_stats(stats)}


def fields_of_stats(stats: Stats) -> dict[str, Any]:
    """What JSON holds of statistics: labels and names, and the categories where there are some."""
    fields: dict[str, Any] = {
        "classes": labels_as_json(stats.classes),
        "feature_names": None if stats.feature_names is None else list(stats.feature_names),
    }
    if isinstance(stats, MixedStats):
        at = np.flatnonzero(stats.is_categorical).tolist()
        fields["categorical"] = [
            {"position": j, **labels_as_json(labels)}
            for j, labels in zip(at, stats.categories, strict=True)
        ]
    return fields


def restore_statistics(document: dict[str, Any], tensors: Mapping[str, NDArray[Any]]) -> Stats:
    """Statistics that were stored alone. Raises ValueError for all that makes none."""
    kind = document["statistics"]
    if type(kind) is not str or kind not in _KINDS:
        raise ValueError(f"statistics are {kind!r:.40}, expected one of {sorted(_KINDS)}")
    if document["schema"] < FIRST_OF_STATISTICS:
        raise ValueError(f"statistics of schema {document['schema']}")
    mixed = _KINDS[kind]
    check_names(document, STATISTICS | {"categorical"} if mixed else STATISTICS)
    check_names(tensors, *tensor_names_of_stats(mixed=mixed))
    return restore_stats(document, tensors, mixed=mixed, least=0)


def restore_stats(
    document: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]], *, mixed: bool, least: int
) -> Stats:
    """Statistics of at least so many classes, from fields and tensors that are there.

    Raises ValueError for all that makes none.
    """
    classes = restore_labels(document["classes"], "classes", least=least)
    categories = _restore_categories(document["categorical"]) if mixed else {}
    check_tensors(tensors, len(classes), categories)
    native = {key: tensor.astype(np.float64, copy=False) for key, tensor in tensors.items()}
    if mixed:
        return _restore_mixed(document, classes, native, categories)
    names = _restore_names(document["feature_names"], native["mean"].shape[1])
    return class_stats_of(classes, native, names)


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
    document: Mapping[str, Any],
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
        class_stats_of(classes, native, None), tuple(categories.values()),
        tuple(np.ascontiguousarray(each) for each in parts), is_categorical,
    )  # fmt: skip
    return stats.renamed(_restore_names(document["feature_names"], d))


def _restore_names(names: Any, d: int) -> tuple[str, ...] | None:
    if names is None:
        return None
    if len(list_of(names, str, "feature_names")) != d:
        raise ValueError(f"{len(names)} feature names for {d} features")
    return tuple(names)
