"""String views of Arrow, each of which says where its text is: the texts brought together.

Texts of up to 12 bytes are in the view itself. Polars writes text so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._system.optional import pa

__all__ = ["Runs", "runs_of_texts"]

_INLINE = 12
"""Most bytes of a text that is in the view."""

_GAP = 64
"""Bytes between texts that are read rather than passed over."""


class Runs(NamedTuple):
    """Where the texts of views are, and the views once these runs stand one after the other.

    starts, sizes : addresses and bytes. views : (n, 4), of one buffer.
    """

    starts: list[int]
    sizes: list[int]
    views: NDArray[np.int32]


def runs_of_texts(
    views: NDArray[np.int32], null: NDArray[np.intp], texts: Sequence[pa.Buffer]
) -> Runs:
    """The runs of memory that hold the texts of views (n, 4), `null` of which have none.

    Raises IndexError for a view beyond its buffer, or for more text than one buffer holds.
    """
    is_long = views[:, 0] > _INLINE
    is_long[null] = False
    length, _, number, offset = views[is_long].astype(np.int64).T
    if not length.size:
        return Runs([], [], views)
    places = [(text.size, text.address) if text else (0, 0) for text in texts]
    sizes, addresses = np.array(places, np.int64).reshape(-1, 2).T
    if (number < 0).any() or (offset < 0).any() or (offset + length > sizes[number]).any():
        raise IndexError
    start = addresses[number] + offset
    order = np.argsort(start, kind="stable")
    first, end = start[order], np.maximum.accumulate((start + length)[order])
    begins = np.flatnonzero(np.append(True, first[1:] > end[:-1] + _GAP))
    n_bytes = end[np.append(begins[1:], len(order)) - 1] - first[begins]
    before = np.cumsum(n_bytes) - n_bytes
    if before[-1] + n_bytes[-1] > np.iinfo(np.int32).max:
        raise IndexError
    run = np.searchsorted(begins, np.arange(len(order)), "right") - 1
    offset[order] = first - first[begins][run] + before[run]
    moved = views.copy()
    moved[is_long, 2:] = np.column_stack([np.zeros_like(offset), offset])
    return Runs(first[begins].tolist(), n_bytes.tolist(), moved)
