"""Tables written in the format that the ending of a path names, and files that are open."""

from __future__ import annotations

import contextlib
import os

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


def open_files():
    """The open files of this process, where the system lists them as Linux does."""
    found = []
    for link in os.scandir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        with contextlib.suppress(FileNotFoundError):  # closed since, as the folder itself is
            found.append(os.readlink(link))
    return found
