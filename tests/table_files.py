"""Tables written in the format that the ending of a path names."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq


def write(table, path):
    """Write a table in the format that the ending of `path` names."""
    table = table if isinstance(table, pa.Table) else pa.table(table)
    ending = path.suffix
    if ending == ".parquet":
        pq.write_table(table, path)
    elif ending == ".csv":
        pacsv.write_csv(table, path)
    elif ending == ".feather":
        feather.write_feather(table, path)
    else:
        with ipc.new_file(path, table.schema) as sink:
            sink.write_table(table)
    return path
