"""A column of arrays as one column for each feature, as Arrow has both."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from .._system.optional import pa, pc
from ..files.errors import SourceError

__all__ = ["feature_names", "length_of", "spread", "with_length"]


def feature_names(name: str, d: int) -> tuple[str, ...]:
    """What the d features in a column of arrays are called in messages."""
    return tuple(f"{name}[{j}]" for j in range(d))


def length_of(batch: pa.RecordBatch, name: str) -> int | None:
    """How many features there are: the length of the first array; None where all are null."""
    lengths = pc.list_value_length(batch.column(name)).drop_null()
    return lengths[0].as_py() if len(lengths) else None


def with_length(
    batches: Iterator[pa.RecordBatch], name: str, where: str
) -> tuple[Iterator[pa.RecordBatch], int]:
    """The same batches, and the length of the first array among them.

    Raises SourceError where all are null.
    """
    read = []
    for batch in batches:
        read.append(batch)
        d = length_of(batch, name)
        if d is not None:
            return itertools.chain(read, batches), d
    raise SourceError(
        f"{where}: column {name!r} holds nulls only, so that the number of features is not known; "
        "filter such rows out of the DataFrame"
    )


def spread(
    batches: Iterator[pa.RecordBatch], name: str, d: int, where: str
) -> Iterator[pa.RecordBatch]:
    """Batches with d columns in the place of the one of arrays; a null stands for d nulls.

    Raises SourceError for an array of another length; `where` is the partition.
    """
    first_row = 0
    for batch in batches:
        lists = batch.column(name)
        _check_lengths(lists, name, d, where, first_row)
        others = [other for other in batch.schema.names if other != name]
        columns = [*_columns(lists, d), *(batch.column(other) for other in others)]
        yield pa.RecordBatch.from_arrays(columns, [*feature_names(name, d), *others])
        first_row += batch.num_rows


def _check_lengths(lists: pa.Array, name: str, d: int, where: str, first_row: int) -> None:
    lengths = pc.fill_null(pc.list_value_length(lists), d).to_numpy(zero_copy_only=False)
    if (lengths != d).any():
        row = int(np.argmax(lengths != d))
        raise SourceError(
            f"{where}: column {name!r}, row {first_row + row + 1}: {lengths[row]} features, "
            f"expected {d}"
        )


def _columns(lists: pa.Array, d: int) -> list[pa.Array]:
    """The columns of n arrays; nulls within are NaN."""
    values = lists.flatten()  # without those of null arrays
    kind = np.float32 if values.type in (pa.float32(), pa.float16()) else np.float64
    if not pa.types.is_floating(values.type):
        values = pc.cast(values, pa.float64(), safe=False)
    table = np.full((d, len(lists)), np.nan, kind)
    flat = values.to_numpy(zero_copy_only=False).astype(kind, copy=False)
    table[:, np.asarray(lists.is_valid())] = flat.reshape(-1, d).T
    return [pa.array(row) for row in table]
