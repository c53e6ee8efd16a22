"""Columns of a file into memory, in one call without the interpreter lock."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._numba.decorators import serial_kernel, warmup_call
from .._numba.positional_reads import call_pread, pread_function

__all__ = ["read_columns"]


def read_columns(
    file: int, starts: NDArray[np.int64], addresses: NDArray[np.int64], n_bytes: int
) -> int:
    """Read n_bytes from each of `starts` (d,) in a file to each of `addresses` (d,) in memory.

    Returns how many were read whole. The next one then could not be, for a reason that has to be
    found out by reading it again. 0 where the system cannot read so.
    """
    pread = pread_function()
    return 0 if pread is None else int(_read(pread, file, starts, addresses, n_bytes))


@serial_kernel
def _read(pread, file, starts, addresses, n_bytes):
    for j in range(len(starts)):
        done = 0
        while done < n_bytes:
            n = call_pread(pread, file, addresses[j] + done, n_bytes - done, starts[j] + done)
            if n <= 0:
                return j
            done += n
    return len(starts)


@warmup_call
def _warm() -> None:
    nothing = np.empty(0, np.int64)
    _read(0, 0, nothing, nothing, 0)
