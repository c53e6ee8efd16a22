"""Rows of .npy matrices, local ones or, by ranges of bytes, remote ones."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Generator
from functools import partial
from typing import Any

import numpy as np

from ..._system.optional import pa
from ..._system.remote.paths import AnyPath, RemotePath, as_path, identity_of
from ...stats import tree
from ..errors import SourceError
from ..phrases import counted
from .batch import ADVICE, Batch, Buffer, Read, RowSource, check_unchanged, stamp_of
from .columns import ColumnRoles
from .npy_file import NpyFile
from .npy_ranges import NpyRanges
from .paths import check_no_pipe

__all__ = ["NpyRows"]


class NpyRows(RowSource):
    """Rows of .npy matrices, whose columns have no names, and labels of a 1-D .npy array."""

    def __init__(
        self,
        paths: list[AnyPath],
        columns: ColumnRoles,
        target_npy: str | os.PathLike[str] | None,
        batch_rows: int | None,
    ) -> None:
        super().__init__()
        _check_columns(paths[0], columns)
        self._stamps = [stamp_of(path) for path in paths]
        matrices = [_matrix(path) for path in paths]
        shapes, dtypes = zip(*((m.shape, m.dtype) for m in matrices), strict=True)
        self._matrices = matrices
        self.paths = paths
        # A matrix without rows says nothing about columns and types, unless all are without.
        with_rows = [i for i, (n, _) in enumerate(shapes) if n] or list(range(len(shapes)))
        first = with_rows[0]
        self.features, self.n_features = None, shapes[first][1]
        for i in with_rows:
            if shapes[i][1] != self.n_features:
                expected = f"expected {self.n_features} as in {paths[first]}"
                raise SourceError(f"{paths[i]}: {counted(shapes[i][1], 'column')}, {expected}")
        single = all(dtypes[i] in (np.float16, np.float32) for i in with_rows)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.keep_schema = pa.schema([])
        self._lengths = [n for n, _ in shapes]
        self.n_rows = sum(self._lengths)
        self._drops = columns.drop_null_target
        self._target = None if target_npy is None else as_path(target_npy)
        if self._target is not None:
            check_no_pipe(self._target)
            self._target_stamp = stamp_of(self._target)
            self._labels = _array(self._target)
            self.target_kind = _check_targets(self._target, self._labels, self.n_rows)
        self.batch_rows = batch_rows or tree.batch_rows(self.n_features)

    def reads(self, at: int) -> Generator[Read, None, None]:
        n, before = self._lengths[at], sum(self._lengths[:at])
        self._check_unchanged(at)
        for start in range(0, n, self.batch_rows):
            yield partial(self._read, at, before, start, min(n, start + self.batch_rows))
        self._check_unchanged(at)

    def _check_unchanged(self, at: int, *, within: bool = False) -> None:
        check_unchanged(self.paths[at], self._stamps[at], within=within)
        if self._target is not None:
            check_unchanged(self._target, self._target_stamp, within=within)

    def plan_of(self, at: int) -> dict[str, Any]:
        plan = {"dtype": self.dtype.str, "batch_rows": self.batch_rows, "drops": self._drops}
        if self._target is None:
            return plan
        labels = [identity_of(self._target), *self._target_stamp[:2], sum(self._lengths[:at])]
        return plan | {"labels": labels}

    def _read(self, at: int, before: int, start: int, stop: int, buffer: Buffer) -> Batch | None:
        """Rows `start` to `stop` of a file, `before` which there are rows of other files."""
        self._check_unchanged(at, within=True)
        path, matrix = self.paths[at], self._matrices[at]
        if isinstance(matrix, NpyFile):
            size = (stop - start) * self.n_features
            rows = matrix.read(start, stop, buffer.array(size, matrix.dtype))
        else:
            rows = matrix[start:stop]
        by_row = rows.flags.c_contiguous
        X = np.asarray(rows, self.dtype, order="C" if by_row else "F")  # not copied if it can be
        batch = Batch(X, None, None, None, path, start, None)
        if self._target is not None:
            batch = self._with_labels(batch, self._target, before)
        self._check_unchanged(at, within=True)
        return batch if len(batch.X) else None

    def _with_labels(self, batch: Batch, target: AnyPath, before: int) -> Batch:
        start = before + batch.first_row
        stop = start + len(batch.X)
        if isinstance(self._labels, NpyFile):
            y = self._labels.read_values(start, stop)
        else:
            y = np.array(self._labels[start:stop])
        check_unchanged(target, self._target_stamp, within=True)
        batch = dataclasses.replace(batch, y=y.astype(object) if y.dtype.kind == "U" else y)
        if y.dtype.kind != "f" or not (is_nan := np.isnan(y)).any():
            return batch
        if not self._drops:
            row = start + int(np.argmax(is_nan)) + 1
            raise SourceError(f"{target}: row {row}: the label is NaN; {ADVICE}")
        self.count(n_dropped=int(is_nan.sum()))
        return batch.select(~is_nan)


def _check_columns(path: AnyPath, columns: ColumnRoles) -> None:
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


def _array(path: AnyPath) -> NpyFile | NpyRanges:
    """A .npy file whose rows are read when they are asked for."""
    return NpyRanges(path) if isinstance(path, RemotePath) else NpyFile(path)


def _matrix(path: AnyPath) -> NpyFile | NpyRanges:
    matrix = _array(path)
    if matrix.ndim != 2 or matrix.dtype.kind not in "iubf" or matrix.shape[1] == 0:
        raise SourceError(
            f"{path}: expected a matrix (n, d) of numbers, got {matrix.dtype} {matrix.shape}"
        )
    return matrix


def _check_targets(path: AnyPath, y: NpyFile | NpyRanges, n_rows: int) -> str:
    """The kind of the labels in `path`, of which there must be one for each row."""
    kinds = {"i": "number", "u": "number", "f": "number", "b": "boolean", "U": "text"}
    if y.ndim != 1 or y.dtype.kind not in kinds:
        raise SourceError(
            f"{path}: expected labels (n,) of int, float, bool or str, got {y.dtype} {y.shape}"
        )
    if len(y) != n_rows:
        found = counted(len(y), "label")
        raise SourceError(f"{path}: {found}, expected {n_rows}, one for each row")
    return kinds[y.dtype.kind]
