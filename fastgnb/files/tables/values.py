"""Values of an Arrow column as the library takes them: numbers, labels, categories, weights.

`of_text` is what text of CSV stands for, "number", "boolean" or "text", and None where the column
has a type: see `_texts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._system.optional import pa, pc
from ...input.category_codes import CategoricalColumn, plain_labels
from ...input.labels import Labels
from ...kernels.learn.encode import EncodedLabels
from ..errors import SourceError
from .batch import ADVICE, Batch
from .bitmaps import null_rows
from .column_kinds import is_text, plain
from .csv_dialect import CsvDialect
from .csv_errors import short_line
from .csv_numbers import numbers_of_text
from .cutting import Pieces, join
from .decimals import nearest_floats
from .texts import NULLS, OddText, decoded

__all__ = ["as_int64", "categories", "fill", "has_label", "kept", "labels", "weights"]

_PLAIN = CsvDialect()


def fill(
    row: np.ndarray,
    chunks: Sequence[pa.Array],
    batch: Batch,
    name: str,
    dialect: CsvDialect = _PLAIN,
) -> None:
    """Write a column into its row of the feature-major buffer; nulls become NaN.

    `dialect` says how text spells numbers; only a column of CSV that is also kept comes as text.
    """
    if any(is_text(plain(column.type)) for column in chunks):
        chunks = [join(chunks)]  # all of the text decides what it stands for
    start = 0
    for column in chunks:
        _fill(row[start : start + len(column)], column, batch, name, dialect)
        start += len(column)


def _fill(row: np.ndarray, column: pa.Array, batch: Batch, name: str, dialect: CsvDialect) -> None:
    if column.null_count == len(column):  # of any type
        row[:] = np.nan
        return
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if is_text(column.type):
        parsed, at = numbers_of_text(column, dialect)
        if parsed is None:
            text = str(OddText(at, column[at].as_py(), "number"))
            raise batch.error(at, f"column {name!r}", text)
        column = parsed
    if pa.types.is_decimal(column.type):
        row[:] = nearest_floats(column)
        return
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        column = pc.cast(column, pa.float64(), safe=False)
    n, start, dtype = len(column), column.offset, np.dtype(column.type.to_pandas_dtype())
    validity, values = column.buffers()
    numbers = np.frombuffer(values, dtype, n, start * dtype.itemsize)
    with np.errstate(over="ignore", invalid="ignore"):  # anything may stand where a value is null
        row[:] = numbers
    if column.null_count:
        row[null_rows(validity, start, n)] = np.nan


def kept(batch: Batch, table: Pieces, schema: pa.Schema) -> pa.RecordBatch:
    """The columns that are copied. Raises SourceError for a value that their type cannot hold."""
    arrays = []
    for field in schema:
        try:
            column = table.column(field.name)
            if column.null_count == len(column):  # of any type
                column = pa.nulls(len(column))
            if pa.types.is_binary(field.type) and not pa.types.is_binary(column.type):
                column = pc.cast(column, pa.string())
            arrays.append(pc.cast(column, field.type))
        except pa.ArrowException as error:
            raise SourceError(
                f"{batch.path}: column {field.name!r} cannot be kept as {field.type}: "
                f"{short_line(str(error))}; leave it out, or store it as one type in all files"
            ) from error
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


# ------------------------------------------------------------------ labels


def has_label(column: pa.Array, of_text: str | None) -> np.ndarray:
    """Which rows (n,) hold a label: not null, not NaN and, in CSV, not empty."""
    mask = pc.is_valid(column)
    kind = plain(column.type)
    if of_text == "text":
        mask = pc.and_(mask, pc.not_equal(column, ""))
    elif of_text is not None:
        mask = pc.invert(pc.is_in(pc.ascii_trim(column, " \t"), pa.array(sorted(NULLS))))
    elif pa.types.is_floating(kind):
        mask = pc.and_(mask, pc.invert(pc.fill_null(pc.is_nan(pc.cast(column, kind)), True)))
    has: np.ndarray = mask.to_numpy(zero_copy_only=False)
    return has


def labels(
    batch: Batch, name: str, column: pa.Array, of_text: str | None
) -> tuple[np.ndarray, Labels | None]:
    """Labels as numpy has them, and those of text also by class.

    Text becomes Python strings, of which equal ones are one object.
    """
    where = f"column {name!r}"
    if of_text not in (None, "text"):
        values, codes = _decoded(batch, name, column, str(of_text))
        if (codes < 0).any():
            raise batch.error(int(np.argmax(codes < 0)), where, f"the label is null; {ADVICE}")
        return values[codes], None
    kind = plain(column.type)
    column = pc.cast(column, pa.string() if is_text(kind) else kind)
    if column.null_count:
        null = column.is_null().to_numpy(zero_copy_only=False)
        raise batch.error(int(np.argmax(null)), where, f"the label is null; {ADVICE}")
    if is_text(kind):
        return _texts(batch, name, column, blank_is_null=of_text == "text")
    y = column.to_numpy(zero_copy_only=False)
    if y.dtype.kind == "f" and np.isnan(y).any():
        raise batch.error(int(np.argmax(np.isnan(y))), where, f"the label is NaN; {ADVICE}")
    return y, None


def as_int64(y: np.ndarray) -> np.ndarray:
    """Whole numbers as int64 where it holds them, so that 1 and 1.0 are one type in any order."""
    if y.dtype.kind == "f":
        whole = (y == np.floor(y)) & (np.abs(y) <= 2.0**53)
        return y.astype(np.int64) if whole.all() else y
    fits = not y.size or y.max() <= np.iinfo(np.int64).max
    return y.astype(np.int64) if y.dtype.kind in "iu" and fits else y


def _texts(
    batch: Batch, name: str, column: pa.Array, *, blank_is_null: bool
) -> tuple[np.ndarray, Labels]:
    coded = column.dictionary_encode()
    values = np.array(coded.dictionary.to_pylist(), dtype=object)
    codes = coded.indices.to_numpy()
    blank = np.flatnonzero(values == "")
    if blank_is_null and blank.size:
        raise batch.error(
            int(np.argmax(codes == blank[0])),
            f"column {name!r}",
            f"the label is empty; {ADVICE}",
        )
    order = np.argsort(values)
    ranks = np.empty(len(values), np.int32)
    ranks[order] = np.arange(len(values))
    return values[codes], Labels(values[order], EncodedLabels.from_codes(ranks[codes]))


def _decoded(
    batch: Batch, name: str, column: pa.Array, kind: str
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Values of text, each once by its spelling, and which of them each row (n,) has, -1 for none.

    Raises SourceError for the first row whose text is of another kind.
    """
    coded = column.dictionary_encode()
    codes, is_value = coded.indices.to_numpy(), has_label(coded.dictionary, kind)
    texts = coded.dictionary.filter(pa.array(is_value))
    try:
        values = _canonical(texts) if kind == "number" else None
        if values is None:
            values = decoded(texts.to_pylist(), kind)
    except OddText as error:
        row = int(np.argmax(codes == np.flatnonzero(is_value)[error.at]))
        raise batch.error(row, f"column {name!r}", str(error)) from error
    place = np.where(is_value, np.cumsum(is_value) - 1, -1)
    return values, place[codes]


def _canonical(texts: pa.Array) -> NDArray[np.int64] | None:
    """Whole numbers that are all written in the usual way, the fast case; None where one is not."""
    try:
        whole = pc.cast(texts, pa.int64())
    except pa.ArrowInvalid:
        return None
    values: NDArray[np.int64] = whole.to_numpy()
    return values if pc.cast(whole, pa.string()).equals(texts) else None


# ------------------------------------------------------------------ categories


def categories(batch: Batch, name: str, column: pa.Array, of_text: str | None) -> CategoricalColumn:
    """Categories by label, sorted; a missing one is -1, and so is an empty field of CSV."""
    if column.null_count == len(column):  # of any type
        return CategoricalColumn(np.empty(0, object), np.full(len(column), -1, np.int32))
    if of_text not in (None, "text"):
        values, codes = _decoded(batch, name, column, str(of_text))
        if values.dtype.kind == "f":
            values = _whole(batch, name, values[codes], values)
        distinct, ranks = np.unique(values, return_inverse=True)
        return CategoricalColumn(
            plain_labels(distinct), np.append(ranks, -1).astype(np.int32)[codes]
        )
    kind = plain(column.type)
    column = pc.cast(column, pa.string() if is_text(kind) else kind)
    if pa.types.is_floating(column.type):
        column = _whole_numbers(batch, name, column)
    return _coded(column, is_text(kind), blank_is_null=of_text == "text")


def _coded(column: pa.Array, text: bool, *, blank_is_null: bool) -> CategoricalColumn:
    """Distinct values without a detour by floats, which would merge whole numbers beyond 2^53."""
    coded = column.dictionary_encode()
    distinct = coded.dictionary
    values = (
        np.array(distinct.to_pylist(), object) if text else distinct.to_numpy(zero_copy_only=False)
    )
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values) + 1, np.int32)  # the last one for what is missing
    ranks[order], ranks[-1] = np.arange(len(values)), -1
    if blank_is_null:
        ranks[:-1][values == ""] = -1
    codes = ranks[pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)]
    return CategoricalColumn(plain_labels(values[order]), codes)


def _whole_numbers(batch: Batch, name: str, column: pa.Array) -> pa.Array:
    """Floats as whole numbers, where NaN is null."""
    values = column.to_numpy(zero_copy_only=False).astype(np.float64)
    whole = _whole(batch, name, values, np.where(np.isnan(values), 0.0, values))
    return pa.array(whole, mask=np.isnan(values))


def _whole(
    batch: Batch, name: str, rows: NDArray[np.float64], values: NDArray[np.float64]
) -> NDArray[np.int64]:
    """`values` as whole numbers. Raises SourceError for the first of `rows` that is none."""
    with np.errstate(invalid="ignore"):
        not_whole = ~np.isnan(rows) & ((rows != np.floor(rows)) | (np.abs(rows) > 2.0**53))
    if not_whole.any():
        row = int(np.argmax(not_whole))
        reason = f"{rows[row]} is no category; these are text, booleans or whole numbers"
        if rows[row] == np.floor(rows[row]) and np.isfinite(rows[row]):
            reason += ", and floats beyond 2^53 are not exact; store them as integers or as text"
        raise batch.error(row, f"column {name!r}", reason)
    return values.astype(np.int64)


def weights(batch: Batch, name: str, column: pa.Array, dialect: CsvDialect = _PLAIN) -> np.ndarray:
    """Weights (n,) as float64. Raises SourceError for one that is negative or not finite."""
    weight = np.empty(len(column))
    fill(weight, [column], batch, name, dialect)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        reason = f"the weight is {weight[row]}, expected a finite number, 0 or more"
        raise batch.error(row, f"column {name!r}", reason)
    return weight
