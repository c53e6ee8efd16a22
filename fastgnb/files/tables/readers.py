"""Table files as record batches: Parquet, CSV and Arrow IPC, each in bounded memory.

One class a format, all with the same three things: `schema` (for CSV the types of the
first block), `n_rows` (None where only reading tells) and `batches`. No file stays open
between them, so that a plan over ten thousand files holds none.

pyarrow.dataset is not used: its Parquet scan decodes a whole row group before the first
batch (320 MB for two million rows of 20 columns, against 12 MB here), and its CSV scan
does not say in which file a value was wrong.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable

from .arrow_file import ArrowFile
from .csv_file import CsvFile
from .parquet_file import ParquetFile
from .table_file import TableFile, prefix_path

__all__ = ["open_table"]

_READERS: dict[str, Callable[[pathlib.Path], TableFile]] = {
    ".parquet": ParquetFile,
    ".csv": CsvFile,
    ".arrow": ArrowFile,
    ".feather": ArrowFile,
    ".ipc": ArrowFile,
}


def open_table(path: pathlib.Path) -> TableFile:
    """The reader for the ending of `path`; SourceError where the file cannot be opened."""
    with prefix_path(path):
        file = _READERS[path.suffix.lower()](path)
        _ = file.schema.names  # now, while a name that is not text can be told of this file
        return file
