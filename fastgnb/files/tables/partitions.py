"""Keys of folders such as year=2026/month=11, which Hive, Spark and others leave out of the files.

They are columns: whole numbers where every folder's value is one, and else text, over all files
alike. Values are decoded as URLs are; `__HIVE_DEFAULT_PARTITION__`, or no value, is missing. A key
stands for a column of the same name in the file. Keys are features only where they are named.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from ..._system.optional import pa, pc
from ..._system.remote.paths import AnyPath
from ..errors import SourceError
from .column_kinds import plain
from .csv_errors import short_line
from .cutting import Pieces
from .table_file import TableFile
from .texts import kind_of

__all__ = ["KeyedFile", "key_names", "keys_in", "partition_values"]

Value = int | str | None

_NULL = "__HIVE_DEFAULT_PARTITION__"
_FOLDER = re.compile(r"([^=]+)=(.*)", re.DOTALL)
_WHOLE = re.compile(r"-?[0-9]{1,19}")
_MARK = {b"fastgnb": b"key of folders"}


def partition_values(
    paths: Sequence[AnyPath], as_text: Collection[str] = ()
) -> tuple[list[dict[str, Value]], dict[str, pa.DataType]]:
    """The keys of the folders of each file with their values, and the types of all keys.

    `as_text` are the keys that are text however they look, as a model learned them.
    """
    texts = [_texts(path) for path in paths]
    names = dict.fromkeys(name for each in texts for name in each)
    whole = {
        name
        for name in names
        if name not in as_text and all(map(_is_whole, (each.get(name) for each in texts)))
    }
    types = {name: pa.int64() if name in whole else pa.string() for name in names}
    return [
        {
            name: int(text) if text is not None and name in whole else text
            for name, text in each.items()
        }
        for each in texts
    ], types


def _texts(path: AnyPath) -> dict[str, str | None]:
    """The keys in the folders of a path, and their values as text."""
    values: dict[str, str | None] = {}
    for folder in path.parts[:-1]:
        match = _FOLDER.fullmatch(folder)
        if match is None:
            continue
        name, text = _decoded(match[1], path), _decoded(match[2], path)
        value = None if text in ("", _NULL) else text
        if values.get(name, value) != value:
            raise SourceError(f"{path}: two folders name the key {name!r}, with other values")
        values[name] = value
    return values


def _decoded(text: str, path: AnyPath) -> str:
    try:
        decoded = unquote(text, errors="strict")
        decoded.encode()
    except UnicodeError as error:
        raise SourceError(f"{path}: the name of folder {text!r} is not UTF-8") from error
    return decoded


def _is_whole(text: str | None) -> bool:
    return text is None or (_WHOLE.fullmatch(text) is not None and -(2**63) <= int(text) < 2**63)


def keys_in(schema: pa.Schema) -> set[str]:
    """The columns of a file that are keys of its folders."""
    return {field.name for field in schema if (field.metadata or {}).items() >= _MARK.items()}


class KeyedFile:
    """A file of rows with the keys of its folders as further columns."""

    def __init__(
        self, file: TableFile, values: Mapping[str, Value], types: Mapping[str, pa.DataType]
    ) -> None:
        self.path, self.n_rows = file.path, file.n_rows
        self.is_text, self.dialect = file.is_text, file.dialect
        self.base, self.keys = file, dict(values)
        fields = [field for field in file.schema if field.name not in values]
        keys = [
            pa.field(name, _type_of(values[name], types[name]), metadata=_MARK) for name in values
        ]
        self.schema = pa.schema([*fields, *keys], metadata=file.schema.metadata)

    def first_values(self, columns: Sequence[str], *, beyond: bool) -> dict[str, list[Any]]:
        inside = [name for name in columns if name not in self.keys]
        found = self.base.first_values(inside, beyond=beyond)
        return {name: found[name] if name in found else self._first(name) for name in columns}

    def _first(self, name: str) -> list[Any]:
        value = self.keys[name]
        if value is None or self.n_rows == 0:
            return []
        return [str(value) if self.is_text else value]

    def first_kind(self, name: str, along: Sequence[str]) -> str | None:
        if name not in self.keys:
            return self.base.first_kind(name, [each for each in along if each not in self.keys])
        return kind_of(self._first(name))

    def batches(
        self, columns: Sequence[str], types: Mapping[str, pa.DataType], rows: int
    ) -> Generator[Pieces, None, None]:
        names = self.base.schema.names
        inside = [name for name in columns if name not in self.keys or name in names]
        read = inside or names[:1]  # one column tells how many rows there are
        own = {n: pa.string() if n in self.keys else kind for n, kind in types.items()}
        own = {name: own[name] for name in read if name in own}
        first_row = 0
        for batch in self.base.batches(read, own, rows):
            parts = []
            for part in batch.parts:
                for name in self.keys.keys() & set(inside):
                    self._check(name, part.column(name), first_row)
                first_row += part.num_rows
                arrays = [
                    self._column(name, types, part.num_rows)
                    if name in self.keys
                    else part.column(name)
                    for name in columns
                ]
                parts.append(pa.RecordBatch.from_arrays(arrays, list(columns)))
            yield Pieces(parts)

    def _column(self, name: str, types: Mapping[str, pa.DataType], n: int) -> pa.Array:
        """A key in every row; in files of text as text, or as the type that is asked for."""
        value = self.keys[name]
        if not self.is_text:
            kind = self.schema.field(name).type
            return pa.nulls(n, kind) if value is None else pa.repeat(pa.scalar(value, kind), n)
        text = pa.scalar("" if value is None else str(value), pa.string())
        kind = types.get(name, pa.string())
        if value is None and not pa.types.is_string(kind):
            return pa.nulls(n, kind)
        try:
            return pa.repeat(pc.cast(text, kind), n)
        except pa.ArrowException as error:
            raise SourceError(
                f"{self.path}: column {name!r}, a key of folders: {short_line(str(error))}"
            ) from error

    def _check(self, name: str, column: pa.Array, first_row: int) -> None:
        """Raise SourceError where the file's column of the same name contradicts the folder."""
        value = self.keys[name]
        column = pc.cast(column, plain(column.type))
        try:
            cast = pc.cast(column, pa.string() if value is None else pa.scalar(value).type)
            differs = pc.fill_null(pc.not_equal(cast, pa.scalar(value, cast.type)), False)
            is_null = column.null_count == len(column)
        except pa.ArrowException:
            differs, is_null = pa.repeat(pa.scalar(True), len(column)), False
        if value is None and not is_null:
            differs = pc.is_valid(column)
        mask = differs.to_numpy(zero_copy_only=False)
        if mask.any():
            row = int(mask.argmax())
            raise SourceError(
                f"{self.path}: column {name!r}, row {first_row + row + 1}: the file holds "
                f"{column[row].as_py()!r}, but its folder {value!r}; leave it out of the file"
            )


def _type_of(value: Value, kind: pa.DataType) -> pa.DataType:
    """The type of a key in one file: a missing value says nothing."""
    return pa.null() if value is None else kind


def key_names(files: Iterable[TableFile]) -> set[str]:
    """The keys of the folders of any file."""
    return {name for file in files for name in keys_in(file.schema)}
