"""Arrays that a caller gives for results."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_out(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any], rows: NDArray[Any]) -> None:
    """Check that `out` is an array that takes a result of `shape` and `dtype` as it is.

    Raises TypeError for what is no array. Raises ValueError for another shape or dtype, as
    `numpy.dot` does, and for an array that is read-only, not aligned, not C-contiguous, or that
    may share memory with the rows that are read.
    """
    if not isinstance(out, np.ndarray):
        raise TypeError(f"Expected out to be an ndarray, got {type(out).__name__}.")
    if out.shape != shape or out.dtype != dtype:
        raise ValueError(
            f"Expected out of {dtype} {shape}, as the result has, got {out.dtype} {out.shape}."
        )
    if not out.flags.c_contiguous:
        raise ValueError("out is not C-contiguous. Pass a contiguous array, and copy from it.")
    if not out.flags.writeable:
        raise ValueError("out is read-only. Pass an array that can be written.")
    if not out.flags.aligned:
        raise ValueError("out is not aligned. Pass an array whose memory NumPy allocated.")
    if np.may_share_memory(out, rows):
        raise ValueError("out shares memory with X, which is read while out is written.")
