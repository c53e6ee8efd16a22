"""Columns that number or name the rows and are no data: indexes of frames, row numbers.

They are features only where they are named.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterable

from ._arrow import pa

__all__ = ["index_columns", "partition_keys"]

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
    try:
        found = json.loads((schema.metadata or {})[b"pandas"])["index_columns"]
        return {name for name in found if isinstance(name, str)}
    except (KeyError, ValueError, TypeError):
        return set()  # none, or not pandas' own


def partition_keys(paths: Iterable[pathlib.Path]) -> list[str]:
    """Keys of folders such as year=2024, which Hive, Spark and others leave out of the files."""
    parts = (part for path in paths for part in path.parts[:-1])
    keys = (part.partition("=")[0] for part in parts if re.fullmatch(r"[^=]+=.+", part))
    return list(dict.fromkeys(keys))
