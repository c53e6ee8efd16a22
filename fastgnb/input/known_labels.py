"""Labels of classes that are known before: no search for which labels there are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.learn.encode import EncodedLabels, lookup_table

__all__ = ["KnownLabels"]

_NO_CODES = np.empty(0, np.int32)
_I8, _U8 = np.dtype(np.int64), np.dtype(np.uint64)


class KnownLabels(NamedTuple):
    """Classes (k,) that are whole numbers or booleans in a small range, in a lookup table.

    offset, lookup : the code of label v is lookup[v - offset], or -1 for what is no class.
    """

    offset: int
    lookup: NDArray[np.int32]

    @classmethod
    def of(cls, classes: NDArray[Any]) -> KnownLabels | None:
        """The table of sorted classes; None where they are text or floats, or spread too far."""
        if type(classes) is not np.ndarray or classes.dtype.kind not in "iub" or not len(classes):
            return None
        low, high = int(classes[0]), int(classes[-1])
        if high >= 1 << 62 or low <= -(1 << 62):
            return None
        lookup = lookup_table(classes.astype(np.int64))
        return None if lookup is None else cls(low, lookup)

    def encode(self, y: NDArray[Any]) -> EncodedLabels | None:
        """Labels y (n,) with this table, which says nothing about whether they are known.

        None for labels that are no whole numbers, nor booleans.
        """
        dtype = y.dtype
        if dtype.kind not in "iub" or dtype == _U8:
            return None
        values = y
        if dtype is not _I8 or not (y.flags.c_contiguous and y.flags.aligned):
            values = np.array(y, np.int64)
        return EncodedLabels(values, self.offset, self.lookup, _NO_CODES)
