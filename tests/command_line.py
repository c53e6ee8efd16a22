"""Run the `fastgnb` command in this process, as several test files do."""

from __future__ import annotations

import pathlib

import pyarrow.csv as pacsv
import pyarrow.feather as feather
import pyarrow.parquet as pq
from table_files import write as write_table

from fastgnb.cli import main


def run(*words, code=0):
    assert main([str(word) for word in words]) == code


def fails(capsys, *words):
    """What a command that fails writes on standard error."""
    capsys.readouterr()
    run(*words, code=1)
    return capsys.readouterr().err


def write(data, path):
    return str(write_table(data, path))


def read(path):
    path = pathlib.Path(path)
    if path.suffix == ".parquet":
        return pq.read_table(path)
    if path.suffix == ".csv":
        return pacsv.read_csv(path)
    return feather.read_table(path)


def error_line(capsys, *argv, code=1):
    """The one line on stderr of a command that fails."""
    capsys.readouterr()
    assert main([str(arg) for arg in argv]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Traceback" not in shown.err
    if code == 1:
        assert shown.err.startswith("fastgnb: error: ")
        assert shown.err.count("\n") == 1
    return shown.err
