"""Arrays of pyarrow that are dictionaries or runs, decoded to plain values.

NumPy's view of a chunked dictionary gives a null the value of another row, and pyarrow casts
neither runs with nulls nor dictionaries in runs. Nothing here imports pyarrow before it is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["plain_column", "plain_values"]


def plain_values(values: Any) -> Any:
    """An array, a chunked array, a table or a batch of pyarrow with its values as they are.

    Everything else comes back untouched.
    """
    if not type(values).__module__.startswith("pyarrow."):
        return values
    if hasattr(type(values), "column_names"):
        if not any(map(_is_encoded, values.schema.types)):
            return values
        columns = [plain_column(column) for column in values.columns]
        return type(values).from_arrays(columns, names=values.schema.names)
    return plain_column(values) if hasattr(values, "type") else values


def plain_column(column: Any) -> Any:
    """An array or a chunked array of pyarrow as what its dictionary or its runs stand for."""
    from .._system.optional import pa, pc

    if pa.types.is_run_end_encoded(column.type):
        if _is_encoded(column.type.value_type):
            return _without_runs(column)
        return pc.run_end_decode(column)
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _is_encoded(kind: Any) -> bool:
    from .._system.optional import pa

    return bool(pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind))


def _without_runs(column: Any) -> Any:
    """What runs of a dictionary stand for, a value a row."""
    from .._system.optional import pa

    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([_without_runs(chunk) for chunk in column.chunks])
    rows = np.arange(column.offset, column.offset + len(column))
    run = np.searchsorted(column.run_ends.to_numpy(), rows, side="right")
    return plain_column(column.values).take(pa.array(run))
