"""A local .npy array, whose rows are read.

They are read into memory that is used again: to touch the pages of a map for the first time takes
longer, the more so in several threads, and to touch one that the file has lost ends the process.
"""

from __future__ import annotations

import pathlib
from io import FileIO
from typing import Any

import numpy as np

from ..errors import SourceError
from .csv_errors import short_line
from .table_file import changed

__all__ = ["NpyFile"]

_LONGEST_HEADER = 1 << 16


class NpyFile:
    """An array in a .npy file. No file stays open.

    The header is read once; nothing in it is executed. Raises SourceError for a file that holds no
    array, or that has become shorter.
    """

    def __init__(self, path: pathlib.Path) -> None:
        array = _mapped(path)
        self.path, self.shape, self.dtype = path, array.shape, array.dtype
        self.ndim = array.ndim
        self._offset = array.offset
        self.is_by_row = bool(array.flags.c_contiguous)

    def __len__(self) -> int:
        return int(self.shape[0])

    def read(self, start: int, stop: int, rows: np.ndarray) -> np.ndarray:
        """Rows of a matrix, in memory ((stop - start) * d,), in the order of the file."""
        n, d = self.shape
        try:
            with open(self.path, "rb", buffering=0) as file:
                if self.is_by_row:
                    self._fill(file, start * d, rows)
                    return rows.reshape(stop - start, d)
                for j, column in enumerate(rows.reshape(d, stop - start)):
                    self._fill(file, j * n + start, column)
                return rows.reshape(d, stop - start).T
        except OSError as error:
            raise SourceError(f"{self.path}: {error.strerror or error}") from error

    def read_values(self, start: int, stop: int) -> np.ndarray:
        """Some values of an array (n,)."""
        values = np.empty(stop - start, self.dtype)
        if values.nbytes:
            try:
                with open(self.path, "rb", buffering=0) as file:
                    self._fill(file, start, values)
            except OSError as error:
                raise SourceError(f"{self.path}: {error.strerror or error}") from error
        return values

    def _fill(self, file: FileIO, first: int, numbers: np.ndarray) -> None:
        file.seek(self._offset + first * self.dtype.itemsize)
        left = numbers.view(np.uint8).data
        while left:
            n = file.readinto(left)
            if not n:
                raise changed(self.path)
            left = left[n:]


def _mapped(path: pathlib.Path) -> np.memmap[Any, Any]:
    try:
        _check_header(path)
        with np.errstate(all="ignore"):  # the size of an absurd shape overflows
            array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error
    except Exception as error:  # its header goes through Python's parser, which raises all sorts
        reason = short_line(str(error) or type(error).__name__)
        raise SourceError(f"{path}: not a .npy array that can be mapped: {reason}") from error
    if not isinstance(array, np.memmap):
        raise SourceError(f"{path}: not a .npy array but an archive of several")
    return array


def _check_header(path: pathlib.Path) -> None:
    """NumPy makes room for a header of any length before it reads it, and takes 10,000 letters."""
    with open(path, "rb") as file:
        start = file.read(12)
    long = start.startswith(b"\x93NUMPY") and start[6:7] > b"\x01"  # a length of four bytes
    if long and (length := int.from_bytes(start[8:12], "little")) > _LONGEST_HEADER:
        raise ValueError(f"its header is said to take {length} bytes")
