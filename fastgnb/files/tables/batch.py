"""What reading files gives: `RowSource`, and the `Batch` that it yields."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._system.optional import pa
from ...input.categorical import MixedRows
from ...input.category_codes import CategoricalColumn
from ..errors import SourceError
from .table_file import changed, prefix_path

__all__ = [
    "ADVICE",
    "BATCH_BYTES",
    "Batch",
    "RowSource",
    "check_unchanged",
    "rows_in_batch",
    "stamp_of",
]

BATCH_BYTES = 1 << 23
"""Bytes of features in a batch, unless its number of rows is given."""

ADVICE = "--drop-null-target leaves such rows out"
"""What to do about a label that is null."""


@dataclasses.dataclass(frozen=True, eq=False)
class Batch:
    """Consecutive rows of one file.

    Attributes
    ----------
    X : ndarray (n, d), float32 or float64, missing values as NaN, of the features that are not
        categorical. Valid until the next batch is asked for: the memory is used again.
    y : ndarray (n,) of int, bool, float or object (str), or None without a target.
    weight : ndarray (n,) float64, or None.
    kept : pyarrow.RecordBatch of the kept columns, or None.
    path : the file.
    first_row : number of rows of `path` before this batch.
    features : names of all features, those of `X` and others, or None where the file has none.
    row_numbers : ndarray (n,) int64, the number of each row in `path`, from 0, where rows were
        dropped; else None, and the rows are consecutive.
    categorical : the categorical features, as a `CategoricalColumn` each, in their order.
    is_categorical : which features those are, (d,) bool, or None where there are none.
    """

    X: np.ndarray
    y: np.ndarray | None
    weight: np.ndarray | None
    kept: pa.RecordBatch | None
    path: pathlib.Path
    first_row: int
    features: tuple[str, ...] | None
    categorical: tuple[CategoricalColumn, ...] = ()
    is_categorical: np.ndarray | None = None
    row_numbers: np.ndarray | None = None

    @property
    def rows(self) -> np.ndarray | MixedRows:
        """All features: X, or rows taken apart where some are categorical."""
        if self.is_categorical is None:
            return self.X
        return MixedRows(self.X, self.categorical, self.is_categorical)

    @property
    def categorical_names(self) -> list[str]:
        """Names of the categorical features."""
        mask = self.is_categorical
        if mask is None:
            return []
        pairs = zip(self.features or (), mask, strict=True)
        return [name for name, is_marked in pairs if is_marked]

    def row_number(self, row: int) -> int:
        """The number in the file, from 1, of `row` of the batch, from 0."""
        if self.row_numbers is None:
            return self.first_row + row + 1
        return int(self.row_numbers[row]) + 1

    def error(self, row: int, column: str, reason: str) -> SourceError:
        """The error at `row` of the batch (from 0), located in the file (from 1)."""
        return SourceError(f"{self.path}: {column}, row {self.row_number(row)}: {reason}")

    def select(self, mask: np.ndarray) -> Batch:
        """The batch of the rows (n,) that are marked, which know their numbers in the file."""
        numbers = self.row_numbers
        if numbers is None:
            numbers = np.arange(self.first_row, self.first_row + len(mask))
        return dataclasses.replace(
            self,
            X=self.X.T[:, mask].T,
            y=None if self.y is None else self.y[mask],
            weight=None if self.weight is None else self.weight[mask],
            kept=None if self.kept is None else self.kept.filter(pa.array(mask)),
            categorical=tuple(
                CategoricalColumn(each.labels, each.codes[mask]) for each in self.categorical
            ),
            row_numbers=numbers[mask],
        )

    def not_finite(
        self, row: int, j: int, value: float | None = None, advice: str = ""
    ) -> SourceError:
        """The error for a value of feature j, by default X[row, j], that the model cannot take."""
        value = self.X[row, j] if value is None else value
        reason = f"{value} is not a finite number"
        if np.isnan(value):
            reason = "missing value (null or NaN)"
        reason += f"; {advice}" if advice else ""
        name = f"{j} (from 0)" if self.features is None else repr(self.features[j])
        return self.error(row, f"column {name}", reason)


class RowSource:
    """Rows of one or more files; iterate over it for the batches, as often as you like.

    Attributes
    ----------
    paths : list of pathlib.Path, the files in reading order.
    features : tuple of str, or None (.npy).
    n_features : int, of all kinds.
    dtype : numpy dtype of X, float32 only where every feature is float32 or float16.
    n_rows : int, or None where only reading tells (CSV).
    left_out : tuple of str, columns that are no features by default, since they hold no numbers.
    notes : tuple of str, what else the plan decided, one line each.
    warnings : tuple of str, what it decided and may well be wrong, to tell in any case.
    n_dropped : int, rows without a label that the last iteration left out so far.
    target_kind : "number", "boolean", "text", or None without a target or a label.
    target_example : a label of CSV that makes it "text", or None.
    keep_schema : pyarrow.Schema of the kept columns.
    """

    paths: list[pathlib.Path]
    features: tuple[str, ...] | None
    n_features: int
    dtype: np.dtype[Any]
    n_rows: int | None
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    n_dropped: int = 0
    target_kind: str | None = None
    target_example: str | None = None
    keep_schema: pa.Schema

    def __iter__(self) -> Iterator[Batch]:
        raise NotImplementedError


def stamp_of(path: pathlib.Path) -> tuple[int, ...]:
    """Size, time of change and inode of a file, which tell whether it is still the same."""
    with prefix_path(path):
        found = os.stat(path)
    return found.st_size, found.st_mtime_ns, found.st_ino


def check_unchanged(path: pathlib.Path, stamp: tuple[int, ...]) -> None:
    """The file is the one that was planned with; a map of one that has shrunk would crash."""
    if stamp_of(path) != stamp:
        raise changed(path)


def rows_in_batch(n_features: int, dtype: np.dtype[Any]) -> int:
    """Rows that BATCH_BYTES hold, within limits: few for wide rows, not millions for narrow."""
    return max(256, min(1 << 16, BATCH_BYTES // (max(n_features, 1) * dtype.itemsize)))
