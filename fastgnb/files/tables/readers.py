"""Table files as record batches: Parquet, CSV and Arrow IPC, each in bounded memory.

One class a format, all with the same three things: `schema` (for CSV the types of the
first block), `n_rows` (None where only reading tells) and `batches`. No file stays open
between them, so that a plan over ten thousand files holds none.

pyarrow.dataset is not used: its Parquet scan decodes a whole row group before the first
batch (320 MB for two million rows of 20 columns, against 12 MB here), and its CSV scan
does not say in which file a value was wrong.
"""

from __future__ import annotations

from ..._system.remote.paths import AnyPath
from ..errors import SourceError
from .arrow_file import ArrowFile
from .csv_file import CsvFile
from .file_options import FileOptions
from .formats import format_of, unknown_ending
from .parquet_file import ParquetFile
from .table_file import TableFile, prefix_path

__all__ = ["open_table"]


def open_table(path: AnyPath, options: FileOptions | None = None) -> TableFile:
    """The reader for the format of `path`; SourceError where the file cannot be opened."""
    options = options or FileOptions()
    found = format_of(path, options.format)
    if found is None:
        raise SourceError(f"{path}: {unknown_ending(path)}")
    with prefix_path(path):
        file: TableFile
        if found.kind == "csv":
            file = CsvFile(path, found, options.dialect)
        else:
            file = ParquetFile(path) if found.kind == "parquet" else ArrowFile(path)
        _ = file.schema.names  # now, while a name that is not text can be told of this file
        return file
