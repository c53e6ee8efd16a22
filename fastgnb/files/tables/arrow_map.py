"""A local Arrow file as a map, which says where columns are. They are read instead.

To touch a page of a map for the first time is slow, the more so in several threads; and to touch
one that the file has lost since ends the process. Reading copies numbers to where they are needed,
which would be done with them anyway, and of a file that has become shorter it is an error.

Pages of the map are touched for metadata and for what is compressed, right after the size was
checked, and for values of types that are rare in files: nested ones and extensions.
"""

from __future__ import annotations

import mmap
import os
import pathlib
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._system.optional import pa
from ...kernels.file_columns import read_columns
from .bitmaps import byte_range, null_rows
from .table_file import changed
from .view_texts import runs_of_texts

__all__ = ["ArrowMap", "Numbers"]


class Numbers(NamedTuple):
    """Where the numbers of a column begin in a file, and their type.

    validity : where its bitmap begins, in bits; None of a column without nulls.
    """

    start: int
    dtype: np.dtype[Any]
    validity: int | None


class ArrowMap:
    """The bytes of a file. Arrays may point to them; they go with the last one that does.

    content : a map, or b"" of an empty file, which cannot be mapped.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        self._size = os.fstat(self._file).st_size
        self.content: mmap.mmap | bytes = b""
        self._address, self._scratch = 0, threading.local()
        if self._size:
            try:
                self.content = mmap.mmap(self._file, self._size, access=mmap.ACCESS_READ)
            except ValueError as error:  # it is shorter by now
                raise changed(path) from error
            self._address = self.buffer().address

    def __del__(self) -> None:
        file = self.__dict__.pop("_file", None)
        if file is not None:
            os.close(file)

    def starts_with(self, mark: bytes) -> bool:
        """Whether these are the first bytes."""
        return self._size >= len(mark) and self._bytes(0, len(mark)).to_pybytes() == mark

    def buffer(self) -> pa.Buffer:
        """The map for Arrow, which looks at metadata only until values are asked for."""
        return pa.py_buffer(self.content)

    def check_size(self) -> None:
        """Raise SourceError where the file has shrunk: to touch what is gone ends the process."""
        if os.fstat(self._file).st_size < self._size:
            raise changed(self.path)

    def forget(self) -> None:
        """Pages already read need not count as memory of this process; they can be read again."""
        if isinstance(self.content, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            self.content.madvise(mmap.MADV_DONTNEED)

    def numbers(self, column: pa.Array) -> Numbers | None:
        """Where the numbers of a column are; None of other columns, and of those in memory."""
        kind = column.type
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if not is_number or not len(column) or not hasattr(os, "preadv"):
            return None
        try:
            column.validate()
        except pa.ArrowException:  # which is explained when the column is checked
            return None
        dtype = np.dtype(kind.to_pandas_dtype())
        bitmap, values = column.buffers()
        if not self._has(values):  # it was compressed
            return None
        start = values.address - self._address + column.offset * dtype.itemsize
        if not column.null_count:
            return Numbers(start, dtype, None)
        if not self._has(bitmap):
            return None
        return Numbers(start, dtype, 8 * (bitmap.address - self._address) + column.offset)

    def read(self, numbers: Sequence[Numbers], first: int, rows: np.ndarray) -> None:
        """Read numbers of columns, from the first one on, into rows (d, n) of the same type.

        Raises SourceError where the file has shrunk.
        """
        self._read_rows([each.start + first * rows.itemsize for each in numbers], rows)

    def _read_rows(self, starts: Sequence[int], rows: np.ndarray) -> None:
        """Read each of some rows (m, n) from its place in the file."""
        addresses = rows.ctypes.data + rows.strides[0] * np.arange(len(rows))
        n_bytes = rows.shape[1] * rows.itemsize
        done = read_columns(self._file, np.array(starts, np.int64), addresses, n_bytes)
        for start, row in zip(starts[done:], rows[done:], strict=True):
            self._read_one(start, row)

    def scratch(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> np.ndarray:
        """Memory for numbers that are converted, which this thread has until it asks again."""
        n_bytes = shape[0] * shape[1] * dtype.itemsize
        if len(getattr(self._scratch, "memory", "")) < n_bytes:
            self._scratch.memory = np.empty(n_bytes, np.uint8)
        memory: np.ndarray = self._scratch.memory
        return memory[:n_bytes].view(dtype).reshape(shape)

    def nulls(self, numbers: Sequence[Numbers], first: int, n: int) -> list[NDArray[np.intp]]:
        """Which of n rows, from the first one on, are null, in order: for each of some columns.

        Raises SourceError where the file has shrunk.
        """
        found = [np.empty(0, np.intp)] * len(numbers)
        starts = {
            q: each.validity + first for q, each in enumerate(numbers) if each.validity is not None
        }
        for bit in {start % 8 for start in starts.values()}:
            alike = [q for q, start in starts.items() if start % 8 == bit]
            begin, stop = byte_range(bit, n)
            bitmaps = np.empty((len(alike), stop - begin), np.uint8)
            self._read_rows([starts[q] // 8 for q in alike], bitmaps)
            for q, bitmap in zip(alike, bitmaps, strict=True):
                found[q] = null_rows(bitmap, bit, n)
        return found

    def with_dictionary(self, column: pa.Array) -> pa.Array:
        """The column, whose dictionary, if it has one, is read: for all slices of it.

        Raises ArrowInvalid where the dictionary is damaged.
        """
        if not pa.types.is_dictionary(column.type):
            return column
        column.dictionary.validate()  # nobody has yet: even its length may be negative
        return self._with(column.indices, column)

    def in_memory(self, column: pa.Array) -> pa.Array:
        """A column whose values are read; itself where its type is rare, or where it is damaged.

        Raises SourceError where the file has shrunk.
        """
        if pa.types.is_dictionary(column.type):
            return self._with(self.in_memory(column.indices), column)
        width, is_text = _width(column.type)
        is_here = any(buffer and self._has(buffer) for buffer in column.buffers())
        if not width or not len(column) or not is_here:
            return column
        try:
            return self._copy(column, width, is_text)
        except (IndexError, pa.ArrowInvalid):  # which is told when the column is checked
            return column

    def _with(self, indices: pa.Array, column: pa.Array) -> pa.Array:
        values, is_ordered = self.in_memory(column.dictionary), column.type.ordered
        return pa.DictionaryArray.from_arrays(indices, values, ordered=is_ordered, safe=False)

    def _copy(self, column: pa.Array, width: int, is_text: bool) -> pa.Array:
        before = column.offset % 8  # so that the bits of nulls begin with a byte
        start, stop = column.offset - before, column.offset + len(column)
        valid, *buffers = column.buffers()
        nulls = None if valid is None else self._part(valid, start // 8, -(-stop // 8))
        if _is_view(column.type):
            values = self._views(buffers, start, stop, nulls)
        else:
            n_bits = start * width, (stop + is_text) * width
            values = [self._part(buffers[0], n_bits[0] // 8, -(-n_bits[1] // 8))]
        if is_text:
            offsets = np.frombuffer(values[0], f"i{width // 8}")
            first, last = int(offsets[0]), int(offsets[-1])
            values = [pa.py_buffer(offsets - first), self._part(buffers[1], first, last)]
        return pa.Array.from_buffers(column.type, len(column), [nulls, *values], offset=before)

    def _views(
        self, buffers: Sequence[pa.Buffer], start: int, stop: int, nulls: pa.Buffer | None
    ) -> list[pa.Buffer]:
        """Views `start` to `stop`, and their texts in one buffer."""
        (views, *texts), n = buffers, stop - start
        null = np.empty(0, np.intp) if nulls is None else null_rows(nulls, 0, n)
        numbers = np.frombuffer(self._part(views, 16 * start, 16 * stop), np.int32)
        if not all(self._has(text) for text in texts if text):
            raise IndexError
        runs = runs_of_texts(numbers.reshape(n, 4), null, texts)
        memory = pa.allocate_buffer(sum(runs.sizes))
        rest = np.frombuffer(memory, np.uint8)
        for address, size in zip(runs.starts, runs.sizes, strict=True):
            self._read_one(address - self._address, rest[:size])
            rest = rest[size:]
        return [pa.py_buffer(runs.views), memory]

    def _part(self, buffer: pa.Buffer | None, start: int, stop: int) -> pa.Buffer:
        """Some bytes of a buffer, in memory. Raises IndexError where it does not have them."""
        buffer = pa.py_buffer(b"") if buffer is None else buffer
        if not 0 <= start <= stop <= buffer.size:
            raise IndexError
        if not self._has(buffer):
            return buffer[start:stop]
        return self._bytes(buffer.address - self._address + start, stop - start)

    def _has(self, buffer: pa.Buffer) -> bool:
        """Whether a buffer is in the map."""
        place = int(buffer.address) - self._address
        return 0 <= place <= self._size - int(buffer.size)

    def _bytes(self, start: int, n_bytes: int) -> pa.Buffer:
        """Bytes of the file, in memory. Raises SourceError where the file has shrunk."""
        buffer = pa.allocate_buffer(n_bytes)
        self._read_one(start, np.frombuffer(buffer, np.uint8))
        return buffer

    def _read_one(self, start: int, row: np.ndarray) -> None:
        left = row.view(np.uint8).data
        while left:
            n = os.preadv(self._file, [left], start)
            if n == 0:
                raise changed(self.path)
            left, start = left[n:], start + n


def _width(kind: pa.DataType) -> tuple[int, bool]:
    """The bits of each number in the second buffer of an array; whether it is an offset of text.

    (0, False) of types that have other buffers.
    """
    if isinstance(kind, pa.BaseExtensionType) or kind.num_fields or pa.types.is_null(kind):
        return 0, False
    if _is_view(kind):
        return 128, False
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return 32, True
    if pa.types.is_large_string(kind) or pa.types.is_large_binary(kind):
        return 64, True
    try:
        return kind.bit_width, False
    except ValueError:
        return 0, False


def _is_view(kind: pa.DataType) -> bool:
    return bool(getattr(kind, "has_variadic_buffers", False))  # which pyarrow 16 cannot make
