"""Tasks that score a partition, and the lazy collections that they make up.

What comes out has the dtypes that the model says. Nothing is run on rows that are made up.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from .._system import optional
from ..estimators.base import GaussianClassifier
from ..estimators.checks import dtype_of
from ..files.models.as_bytes import from_bytes, to_bytes
from ..input.rows import as_numbers
from ..kernels.score.outputs import Table
from .collections import Collections, work_name
from .partition import run_on_frame

__all__ = ["lazy_model", "model_of", "scored"]

_TABLES: dict[str, Table | None] = {
    "predict_proba": "proba",
    "predict_log_proba": "log_proba",
    "predict_joint_log_proba": "joint",
    "predict_log_evidence": None,
}


def scored(model: GaussianClassifier, rows: Collections, method: str) -> Any:
    """The answers of a method of the model to all rows, as a lazy collection of their kind."""
    meta = _meta_of_frame(model, rows, method) if rows.is_frame else _meta(model, rows, method)
    work = partial(score_partition, method=method, meta=meta, names=rows.names)
    if not rows.is_frame:
        index = "i" if meta.ndim == 1 else "ik"
        return rows.blocks(work, index, meta, len(model.classes_), model=lazy_model(model))
    return optional.dd.map_partitions(
        partial(run_on_frame, work=work, layout=rows.layout), *rows.parts, model=lazy_model(model),
        meta=meta, enforce_metadata=False, align_dataframes=False, token=work_name(work),
    )  # fmt: skip


def lazy_model(model: GaussianClassifier) -> Any:
    """The bytes of a model (Delayed), which all tasks share."""
    data = to_bytes(model)
    token = optional.require("dask.base").tokenize(data)
    return optional.require("dask").delayed(data, name=f"model-{token}", pure=True, traverse=False)


@lru_cache(maxsize=4)
def model_of(data: bytes, names: tuple[str, ...] | None) -> Any:
    """The estimator of bytes, kept with what it has derived for scoring.

    Its feature names are those of the rows, or none: where a model and rows differ in having names,
    scikit-learn has warned once, and would warn in each task.
    """
    model = from_bytes(data)
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_
    return model


def score_partition(
    X: Any, y: None, weight: None, number: int, *, model: bytes, method: str, meta: Any,
    names: tuple[str, ...] | None,
) -> Any:  # fmt: skip
    """The answers to the rows of a partition, in the dtype and with the names of `meta`."""
    if not X.shape[0]:
        return _empty(meta, X)
    values = getattr(model_of(model, names), method)(X)
    if isinstance(meta, np.ndarray):
        return values.astype(meta.dtype, copy=False)
    pandas, index = optional.pd, X.index
    if meta.ndim == 1:
        return pandas.Series(values, index=index, name=meta.name, dtype=meta.dtype)
    return pandas.DataFrame(values.astype(meta.dtypes.iloc[0], copy=False), index, meta.columns)


def _empty(meta: Any, X: Any) -> Any:
    return meta if isinstance(meta, np.ndarray) else meta.set_axis(X.index)


def _meta(model: GaussianClassifier, rows: Collections, method: str) -> NDArray[Any]:
    """The answers to no rows, as an array."""
    if method == "predict":
        return np.empty(0, model.classes_.dtype)
    table = _TABLES[method]
    dtype = dtype_of(_continuous(model, rows), table)
    return np.empty((0, len(model.classes_)) if table is not None else 0, dtype)


def _continuous(model: GaussianClassifier, rows: Collections) -> NDArray[Any]:
    """No rows of the dtype that the estimator makes of the continuous features."""
    fitted = model.to_model()
    if rows.is_frame and fitted.has_categories:
        found = np.asarray(rows.meta.iloc[:, np.flatnonzero(fitted.is_continuous)])
    else:
        found = check_array(
            rows.meta, dtype="numeric", ensure_all_finite=False, ensure_min_samples=0
        )
    return as_numbers(found)


def _meta_of_frame(model: GaussianClassifier, rows: Collections, method: str) -> Any:
    """The answers to no rows, as a series or a frame: with the index of the rows."""
    pandas, index = optional.pd, rows.meta.index
    if method == "predict":
        dtype = pandas.Series(model.classes_).dtype  # that of text depends on pandas
        return pandas.Series([], index=index, name="prediction", dtype=dtype)
    values = _meta(model, rows, method)
    if values.ndim == 1:
        return pandas.Series(values, index=index, name="log_evidence")
    return pandas.DataFrame(values, index, model.classes_)
