"""Values of an Arrow column as the library takes them: numbers, labels, categories, weights."""

from __future__ import annotations

import numpy as np

from . import _columns
from ._arrow import pa, pc
from ._batch import Batch
from ._categories import Column, plain_labels

__all__ = ["categories", "fill", "has_label", "labels", "weights"]


def fill(row: np.ndarray, column: pa.Array) -> None:
    """Write a column into its row of the feature-major buffer; nulls become NaN."""
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        column = pc.cast(column, pa.float64(), safe=False)
    row[:] = column.to_numpy(zero_copy_only=False)


def has_label(column: pa.Array, *, blank_is_null: bool) -> np.ndarray:
    """Which rows (n,) hold a label: not null, not NaN and, with `blank_is_null`, not empty."""
    mask = pc.is_valid(column)
    kind = _columns.plain(column.type)
    if pa.types.is_floating(kind):
        mask = pc.and_(mask, pc.invert(pc.fill_null(pc.is_nan(pc.cast(column, kind)), True)))
    elif blank_is_null and _columns.is_text(kind):
        mask = pc.and_(mask, pc.fill_null(pc.not_equal(column, ""), False))
    found: np.ndarray = mask.to_numpy(zero_copy_only=False)
    return found


def labels(batch: Batch, name: str, column: pa.Array, blank_is_null: bool) -> np.ndarray:
    """Labels as numpy has them; text as Python strings, of which equal ones are one object."""
    kind = _columns.plain(column.type)
    column = pc.cast(column, pa.string() if _columns.is_text(kind) else kind)
    if column.null_count:
        null = column.is_null().to_numpy(zero_copy_only=False)
        raise batch.error(int(np.argmax(null)), f"column {name!r}", "the label is null")
    if _columns.is_text(kind):
        return _texts(batch, name, column, blank_is_null)
    y: np.ndarray = column.to_numpy(zero_copy_only=False)
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise batch.error(int(np.argmax(np.isnan(y))), f"column {name!r}", "the label is NaN")
    return y


def _texts(batch: Batch, name: str, column: pa.Array, blank_is_null: bool) -> np.ndarray:
    coded = column.dictionary_encode()
    values = np.array(coded.dictionary.to_pylist(), dtype=object)
    codes = coded.indices.to_numpy()
    blank = np.flatnonzero(values == "")
    if blank_is_null and blank.size:
        raise batch.error(
            int(np.argmax(codes == blank[0])), f"column {name!r}", "the label is empty"
        )
    texts: np.ndarray = values[codes]
    return texts


def categories(batch: Batch, name: str, column: pa.Array, blank_is_null: bool) -> Column:
    """Categories by label, sorted; a missing one is -1, and so is an empty field of CSV."""
    kind = _columns.plain(column.type)
    if pa.types.is_null(kind):
        return Column(np.empty(0, object), np.full(len(column), -1, np.int32))
    is_text = _columns.is_text(kind)
    column = pc.cast(column, pa.string() if is_text else kind)
    if pa.types.is_floating(kind):
        column = _whole(batch, name, column)
    coded = column.dictionary_encode()
    found = coded.dictionary
    labels = (
        np.array(found.to_pylist(), object) if is_text else found.to_numpy(zero_copy_only=False)
    )
    order = np.argsort(labels, kind="stable")
    ranks = np.empty(len(labels) + 1, np.int32)  # the last one for what is missing
    ranks[order], ranks[-1] = np.arange(len(labels)), -1
    if blank_is_null and is_text:
        ranks[:-1][labels == ""] = -1
    codes = ranks[pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)]
    return Column(plain_labels(labels[order]), codes)


def _whole(batch: Batch, name: str, column: pa.Array) -> pa.Array:
    """Floats as whole numbers, where NaN is null."""
    values = column.to_numpy(zero_copy_only=False).astype(np.float64)
    with np.errstate(invalid="ignore"):
        odd = ~np.isnan(values) & ((values != np.floor(values)) | (np.abs(values) > 2.0**53))
    if odd.any():
        row = int(np.argmax(odd))
        reason = f"{values[row]} is no category; these are text, booleans or whole numbers"
        raise batch.error(row, f"column {name!r}", reason)
    return pa.array(values, mask=np.isnan(values)).cast(pa.int64())


def weights(batch: Batch, name: str, column: pa.Array) -> np.ndarray:
    weight = np.empty(len(column))
    fill(weight, column)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        reason = f"the weight is {weight[row]}, expected a finite number, 0 or more"
        raise batch.error(row, f"column {name!r}", reason)
    return weight
