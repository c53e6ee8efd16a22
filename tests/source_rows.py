"""All rows of files at once, for the tests of reading."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc

from fastgnb.files.tables.sources import open_source

FORMATS = ["parquet", "csv", "arrow", "feather", "ipc"]
TELL_ROWS = ["parquet"]  # formats whose metadata say how many rows there are
if hasattr(ipc.RecordBatchFileReader, "count_rows"):  # a newer pyarrow
    TELL_ROWS += ["arrow", "feather", "ipc"]


def read(data, columns=None, **options):
    """All rows at once: (X, y, weight, kept table), copied out of the batches."""
    source = open_source([data] if not isinstance(data, list) else data, columns, **options)
    X, y, weight, kept = [np.empty((0, source.n_features), source.dtype)], [], [], []
    for batch in source:
        X.append(batch.X.copy())
        y.append(batch.y)
        weight.append(batch.weight)
        kept.append(batch.kept)
    joined = [np.concatenate(v) if v and v[0] is not None else None for v in (y, weight)]
    return np.concatenate(X), *joined, pa.Table.from_batches(kept) if kept and kept[0] else None
