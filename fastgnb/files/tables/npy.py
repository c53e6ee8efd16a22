"""Rows of .npy matrices, as memory maps."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Iterator

import numpy as np

from ..._system.optional import pa
from ..errors import SourceError
from .batch import ADVICE, Batch, RowSource, check_unchanged, rows_in_batch, stamp_of
from .columns import ColumnRoles
from .csv_errors import short_line
from .paths import check_no_pipe

__all__ = ["NpyRows"]


class NpyRows(RowSource):
    """Rows of .npy matrices, whose columns have no names, and labels of a 1-D .npy array."""

    def __init__(
        self,
        paths: list[pathlib.Path],
        columns: ColumnRoles,
        target_npy: str | os.PathLike[str] | None,
        batch_rows: int | None,
    ) -> None:
        _check_columns(paths[0], columns)
        self._stamps = [stamp_of(path) for path in paths]
        # Shapes and types, not the maps themselves: each of them holds a file open.
        shapes, dtypes = zip(*((m.shape, m.dtype) for m in map(_map_matrix, paths)), strict=True)
        self.paths = paths
        # A matrix without rows says nothing about columns and types, unless all are without.
        with_rows = [i for i, (n, _) in enumerate(shapes) if n] or list(range(len(shapes)))
        first = with_rows[0]
        self.features, self.n_features = None, shapes[first][1]
        for i in with_rows:
            if shapes[i][1] != self.n_features:
                expected = f"expected {self.n_features} as in {paths[first]}"
                raise SourceError(f"{paths[i]}: {shapes[i][1]} columns, {expected}")
        single = all(dtypes[i] in (np.float16, np.float32) for i in with_rows)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.keep_schema = pa.schema([])
        self._lengths = [n for n, _ in shapes]
        self.n_rows = sum(self._lengths)
        self._drops = columns.drop_null_target
        self._target = None if target_npy is None else pathlib.Path(target_npy)
        if self._target is not None:
            check_no_pipe(self._target)
            self._target_stamp = stamp_of(self._target)
            self.target_kind = _check_targets(self._target, self.n_rows)
        self._batch_rows = batch_rows or rows_in_batch(self.n_features, self.dtype)

    def __iter__(self) -> Iterator[Batch]:
        self.n_dropped = 0
        before = 0  # rows of the files before this one
        for path, n, stamp in zip(self.paths, self._lengths, self._stamps, strict=True):
            for start in range(0, n, self._batch_rows):
                stop = min(n, start + self._batch_rows)
                check_unchanged(path, stamp)
                batch = self._batch(path, before, start, stop)
                if len(batch.X):
                    yield batch
            check_unchanged(path, stamp)
            before += n

    def _batch(self, path: pathlib.Path, before: int, start: int, stop: int) -> Batch:
        # A new map for every batch: pages already read no longer count as our memory.
        rows = _map_matrix(path)[start:stop]
        by_row = rows.flags.c_contiguous
        X = np.asarray(rows, self.dtype, order="C" if by_row else "F")  # not copied if it can be
        batch = Batch(X, None, None, None, path, start, None)
        if self._target is None:
            return batch
        check_unchanged(self._target, self._target_stamp)
        y = np.array(_map(self._target)[before + start : before + stop])
        check_unchanged(self._target, self._target_stamp)
        batch = dataclasses.replace(batch, y=y.astype(object) if y.dtype.kind == "U" else y)
        if y.dtype.kind != "f" or not (is_nan := np.isnan(y)).any():
            return batch
        if not self._drops:
            row = before + start + int(np.argmax(is_nan)) + 1
            raise SourceError(f"{self._target}: row {row}: the label is NaN; {ADVICE}")
        self.n_dropped += int(is_nan.sum())
        return batch.select(~is_nan)


def _check_columns(path: pathlib.Path, columns: ColumnRoles) -> None:
    """Raise SourceError for columns by name, which a matrix does not have."""
    if columns.categorical:
        raise SourceError(
            f"{path}: --categorical is about columns of tables; the columns of a .npy "
            "matrix have no names"
        )
    if columns != ColumnRoles(drop_null_target=columns.drop_null_target):
        raise SourceError(
            f"{path}: a .npy matrix has no column names; give labels with --target-npy "
            "and no other column"
        )


def _map(path: pathlib.Path) -> np.ndarray:
    """A .npy file as a read-only memory map; nothing in it is executed."""
    try:
        _check_header(path)
        with np.errstate(all="ignore"):  # the size of an absurd shape overflows
            array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    except Exception as error:  # its header goes through Python's parser, which raises all sorts
        reason = short_line(str(error) or type(error).__name__)
        raise SourceError(f"{path}: not a .npy array that can be mapped: {reason}") from error
    if not isinstance(array, np.ndarray):
        raise SourceError(f"{path}: not a .npy array but an archive of several")
    return array


def _check_header(path: pathlib.Path) -> None:
    """NumPy makes room for a header of any length before it reads it, and takes 10,000 letters."""
    with open(path, "rb") as file:
        start = file.read(12)
    long = start.startswith(b"\x93NUMPY") and start[6:7] > b"\x01"  # a length of four bytes
    if long and (length := int.from_bytes(start[8:12], "little")) > 1 << 16:
        raise ValueError(f"its header is said to take {length} bytes")


def _map_matrix(path: pathlib.Path) -> np.ndarray:
    matrix = _map(path)
    if matrix.ndim != 2 or matrix.dtype.kind not in "iubf" or matrix.shape[1] == 0:
        raise SourceError(
            f"{path}: expected a matrix (n, d) of numbers, got {matrix.dtype} {matrix.shape}"
        )
    return matrix


def _check_targets(path: pathlib.Path, n_rows: int) -> str:
    """The kind of the labels in `path`, of which there must be one for each row."""
    y = _map(path)
    kinds = {"i": "number", "u": "number", "f": "number", "b": "boolean", "U": "text"}
    if y.ndim != 1 or y.dtype.kind not in kinds:
        raise SourceError(
            f"{path}: expected labels (n,) of int, float, bool or str, got {y.dtype} {y.shape}"
        )
    if len(y) != n_rows:
        raise SourceError(f"{path}: {len(y)} labels, expected {n_rows}, one for each row")
    return kinds[y.dtype.kind]
