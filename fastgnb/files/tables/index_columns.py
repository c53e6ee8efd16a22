"""Columns that number or name the rows and are no data: indexes of frames, row numbers.

They are features only where they are named. What else pandas' metadata say of columns is here too.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ..._system.optional import pa

__all__ = ["index_columns", "pandas_categoricals"]

_NAMES = re.compile(
    r"""
    \s*                                 # the first column that pandas and R write to CSV
    | Unnamed:\ \d+(\.\d+)*(_level_\d+)?  # the same, as pandas reads it
    | \.\.\.\d+                         # ... and as readr does
    | __index_level_\d+__               # pandas, also where other tools dropped its metadata
    | __null_dask_index__
    | __(fragment|batch)_index | __last_in_fragment  # of pyarrow's scanner
    """,
    re.VERBOSE,
)


def index_columns(schema: pa.Schema) -> set[str]:
    """Names of columns that pandas' metadata call an index, or that have the name of one."""
    by_name = {name for name in schema.names if _NAMES.fullmatch(name)}
    return by_name | (_pandas_index(schema) & set(schema.names))


def _pandas_index(schema: pa.Schema) -> set[str]:
    """The index columns of pandas' metadata; a RangeIndex, a dict there, is no column."""
    return {name for name in _pandas(schema, "index_columns") if isinstance(name, str)}


def pandas_categoricals(schema: pa.Schema) -> set[str]:
    """Names of columns that pandas had as categoricals: of numbers, Parquet has no dictionary."""
    columns = [each for each in _pandas(schema, "columns") if isinstance(each, dict)]
    coded = [each.get("field_name") for each in columns if each.get("pandas_type") == "categorical"]
    return {name for name in coded if isinstance(name, str)} & set(schema.names)


def _pandas(schema: pa.Schema, key: str) -> list[Any]:
    """A list in pandas' metadata, empty where there is none."""
    try:
        entries = json.loads((schema.metadata or {})[b"pandas"])[key]
    except (KeyError, ValueError, TypeError):
        return []  # none, or not pandas' own
    return entries if isinstance(entries, list) else []
