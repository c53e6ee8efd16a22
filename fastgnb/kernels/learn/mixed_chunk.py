"""A chunk of rows of continuous and categorical features into statistics, with little around it.

The blocks of `mixed` are merged with the statistics before, as `chunk` does it. All categories must
be known, so that statistics only grow in their numbers. Counts stand in one array (slots k,), in
which a feature has a slot for each category, one for any other number, and one for a missing value.

Flags: FMA contraction only. Two-sum must not be reassociated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._numba.decorators import serial_kernel, warmup_call
from ..._numba.direct import entry_point
from ..rows import round_up
from ..slots import Table, table_of
from .chunk import addresses, bounds_of_chunk, kernel_of, merge_states
from .diagonal import tail_of as tail_of_sums
from .encode import EncodedLabels
from .mixed import NOT_KEPT, Parts, sum_mixed
from .tiles import Source

# Numbers from which threads share a chunk.
_SHARED = 1 << 17
_NO_COUNTER = np.zeros(1, np.int64)


@serial_kernel
def _merge_mixed(parts, refused, width, before, after, counts_before, counts_after):
    """Merge blocks with the packed statistics before, of `width` continuous features, and counts.

    refused: slots that no row may have. Returns what `chunk.merge_states` does, or 1 where a row
    has one of those, or a block has rows that are not to be summed.
    """
    n_blocks, size = parts.counts.shape
    k = len(before) // (3 * round_up(width, 8) + 1)
    for b in range(n_blocks):
        if parts.odd[b] != 0:
            return 1
    for p in range(size):
        total = 0
        for b in range(n_blocks):
            total += parts.counts[b, p]
        counts_after[p] = counts_before[p] + total
    for q in range(len(refused)):
        for p in range(refused[q] * k, refused[q] * k + k):
            if counts_after[p] != 0.0:
                return 1
    return merge_states(parts.states, k, width, before, after)


def merge_mixed_chunk(
    table: Table,
    labels: EncodedLabels,
    before: tuple[NDArray[np.float64], NDArray[np.float64]],
    refused: NDArray[np.int64],
    k: int,
) -> tuple[int, NDArray[np.float64], NDArray[np.float64]]:
    """What `_merge_mixed` returns, packed statistics and counts of the rows and those before.

    Labels are as in `merge_chunk`; before: packed statistics, and counts (slots k,).
    """
    (data, by_columns), (n, d) = table.flat(), table.X.shape
    packed, counts = before
    c, bounds = d - len(table.columns.place), bounds_of_chunk(n, k)
    n_blocks = len(bounds) - 1
    parts = Parts(
        np.empty((n_blocks, 4 * k * round_up(c, 8))),
        np.zeros((n_blocks, len(counts)), np.int32),
        np.zeros(n_blocks, np.int64),
        NOT_KEPT,
    )
    source = Source(data, by_columns, n, d, tail_of_sums(n), k, False)
    address = addresses.of(data.dtype, kernel_of(False, k, c))
    args = address, source, labels.as_readonly(), table.columns, c, bounds, parts
    if n_blocks > 1 and n * d >= _SHARED:
        sum_mixed(n_blocks, *args, work=8 * n * d)
    else:
        _entries.sums(args)(0, n_blocks, 0, _NO_COUNTER, *args)
    after, counts_after = np.empty(len(packed)), np.empty(len(counts))
    merged = parts, refused, c, packed, after, counts, counts_after
    return _entries.merge(merged)(*merged), after, counts_after


class _Entries:
    """Compiled calls, from the first call on. A pickle of it, as of modules, starts anew."""

    def __init__(self) -> None:
        self._sums: dict[int, Any] = {}
        self._merge: Any = None

    def sums(self, args: Any) -> Any:
        """That of `sum_mixed` for arguments like these."""
        dtype = args[1].data.dtype.num
        known = self._sums.get(dtype)
        if known is None:
            known = self._sums[dtype] = entry_point(sum_mixed.loop, 0, 1, 0, _NO_COUNTER, *args)
        return known

    def merge(self, args: Any) -> Any:
        """That of `_merge_mixed` for arguments like these."""
        if self._merge is None:
            self._merge = entry_point(_merge_mixed, *args)
        return self._merge

    def __reduce__(self) -> tuple[type[_Entries], tuple[()]]:
        return _Entries, ()


_entries = _Entries()


@warmup_call
def _warm() -> None:
    labels = EncodedLabels(np.zeros(1, np.int64), 0, np.zeros(1, np.int32), np.empty(0, np.int32))
    one = np.zeros(1, np.int64)
    table = table_of(np.zeros((1, 2)), one, (one, one + 1, one))
    merge_mixed_chunk(table, labels, (np.zeros(25), np.zeros(3)), one + 2, 1)
