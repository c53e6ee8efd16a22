"""The files of a job as they are read: with keys of folders, and only rows that meet `where`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..._system.remote.paths import AnyPath
from ..errors import SourceError
from ..phrases import counted, listed
from .columns import ColumnRoles
from .file_options import FileOptions
from .filtered_file import FilteredFile, file_condition
from .partitions import KeyedFile, partition_values
from .readers import open_table
from .table_file import TableFile
from .where_text import parse_where
from .where_tree import Node, columns_of

__all__ = ["OpenedFiles", "open_files"]


class OpenedFiles(NamedTuple):
    """The files that are read, and what was skipped of those that were given, as notes."""

    files: list[TableFile]
    notes: list[str]


def open_files(paths: Sequence[AnyPath], columns: ColumnRoles, options: FileOptions) -> OpenedFiles:
    """Open the files that may hold rows. Raises SourceError where no file is left."""
    node = None if options.where is None else parse_where(options.where)
    values, types = partition_values(paths, _text_keys(columns))
    conditions: list[Node | bool] = [True] * len(paths)
    if node is not None:
        conditions = [
            file_condition(node, keys, path) for path, keys in zip(paths, values, strict=True)
        ]
    files: list[TableFile] = []
    for path, keys, condition in zip(paths, values, conditions, strict=True):
        if condition is False:
            continue
        file = open_table(path, options)
        if keys and (file.schema.names or not file.is_text):
            file = KeyedFile(file, keys, types)
        if not isinstance(condition, bool) and (file.schema.names or not file.is_text):
            file = FilteredFile(file, condition)
        files.append(file)
    if not files:
        raise SourceError(_nothing_left(paths, values, node, options.where))
    return OpenedFiles(files, _notes(files, len(paths)))


def _text_keys(columns: ColumnRoles) -> set[str]:
    """The keys that a model knows as text, whatever their values look like."""
    known = {name for name, kind in columns.kinds.items() if kind == "text"}
    return known | ({columns.target} if columns.target and columns.text_labels else set())


def _notes(files: Sequence[TableFile], n_given: int) -> list[str]:
    filtered = [file for file in files if isinstance(file, FilteredFile)]
    groups = sum(file.n_groups for file in filtered)
    skipped = sum(file.n_skipped for file in filtered)
    parts = []
    if len(files) < n_given:
        parts.append(f"{n_given - len(files):,} of {counted(n_given, 'file')} by their folders")
    if skipped:
        parts.append(f"{skipped:,} of {counted(groups, 'row group')} by their statistics")
    return [f"skipped, as no row meets --where: {' and '.join(parts)}"] if parts else []


def _nothing_left(
    paths: Sequence[AnyPath],
    values: Sequence[dict[str, int | str | None]],
    node: Node | None,
    where: str | None,
) -> str:
    """That no file is left, and which values the keys of the condition have."""
    names = [] if node is None else columns_of(node)
    keys = [name for name in names if any(name in each for each in values)]
    held = "".join(
        f"; {name} is {listed(sorted({str(each[name]) for each in values if name in each}))}"
        for name in keys
    )
    return f"{paths[0]}: --where {where!r} skips {counted(len(paths), 'file')}, all of them{held}"
