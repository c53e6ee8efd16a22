"""A remote .npy array, of which rows are read by ranges of bytes."""

from __future__ import annotations

import io
import math
from typing import Any, BinaryIO

import numpy as np

from ..._system.remote.paths import RemotePath
from ..errors import SourceError
from .csv_errors import short_line
from .table_file import prefix_path

__all__ = ["NpyRanges"]

_LONGEST_HEADER = 1 << 16


class NpyRanges:
    """An array in a remote .npy file; a slice of rows is read when it is asked for.

    Raises SourceError for a file that holds none. Cost: a request for the header, then one for each
    slice, or one for each column of a matrix in Fortran order.
    """

    def __init__(self, path: RemotePath) -> None:
        self._path = path
        with prefix_path(path), path.open() as file:
            size = file.seek(0, 2)
            file.seek(0)
            start = file.read(min(size, _LONGEST_HEADER + 12))
        try:
            self.shape, self._by_column, self.dtype, self._offset = _header(start)
        except Exception as error:  # from Python's parser, which raises all sorts
            reason = short_line(str(error) or type(error).__name__)
            raise SourceError(f"{path}: not a .npy array that can be read: {reason}") from error
        self.ndim = len(self.shape)
        expected = self._offset + math.prod(self.shape) * self.dtype.itemsize
        if self.dtype.hasobject or expected > size:
            what = (
                "holds Python objects"
                if self.dtype.hasobject
                else (f"{size} bytes, expected {expected}")
            )
            raise SourceError(f"{path}: not a .npy array that can be read: {what}")

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> np.ndarray:
        start, stop, _ = rows.indices(len(self))
        with prefix_path(self._path), self._path.open() as file:
            if not self._by_column or self.ndim < 2:
                return self._read(file, start * self._width, (stop - start, *self.shape[1:]))
            n = len(self)
            columns = [self._read(file, j * n + start, (stop - start,)) for j in range(self._width)]
            return np.stack(columns).T

    @property
    def _width(self) -> int:
        """Numbers in a row."""
        return math.prod(self.shape[1:])

    def _read(self, file: BinaryIO, first: int, shape: tuple[int, ...]) -> np.ndarray:
        file.seek(self._offset + first * self.dtype.itemsize)
        data = file.read(math.prod(shape) * self.dtype.itemsize)
        return np.frombuffer(data, self.dtype).reshape(shape)


def _header(start: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, whether it is in Fortran order, type, and where the numbers begin."""
    file = io.BytesIO(start)
    version = np.lib.format.read_magic(file)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0,
    }  # fmt: skip
    if version not in readers:
        raise ValueError(f"version {version}, expected that of an array of numbers or of text")
    shape, by_column, dtype = readers[version](file)
    return shape, by_column, dtype, file.tell()
