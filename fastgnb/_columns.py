"""Which column of a table plays which part, and what types it may have.

Everything here looks at names and types only; no row is read.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections import Counter
from collections.abc import Iterable, Sequence

from ._arrow import pa
from ._readers import SourceError, TableFile

__all__ = [
    "Columns",
    "check_columns",
    "check_present",
    "csv_types",
    "default_features",
    "is_numeric",
    "is_single",
    "is_text",
    "keep_schema",
    "plain",
    "target_kind",
]


@dataclasses.dataclass(frozen=True)
class Columns:
    """The part of each column. `features` None stands for every numeric one left."""

    target: str | None = None
    weight: str | None = None
    features: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for part, names in [("features", self.features or ()), ("kept columns", self.keep)]:
            for name, times in Counter(names).items():
                if times > 1:
                    raise SourceError(f"column {name!r} is named {times} times among the {part}")
        for part, single in [("target", self.target), ("weight", self.weight)]:
            if single is not None and single in (self.features or ()):
                raise SourceError(f"column {single!r} is the {part}; it cannot be a feature too")
        if self.target is not None and self.target == self.weight:
            raise SourceError(f"column {self.target!r} cannot be both target and weight")

    def named(self) -> list[str]:
        """Every column that a file must have, once, in a fixed order."""
        singles = [name for name in (self.target, self.weight) if name is not None]
        return list(dict.fromkeys([*(self.features or ()), *singles, *self.keep]))


def check_present(file: TableFile, names: Iterable[str]) -> None:
    """Every name is there, and once: a name that stands for two columns stands for none."""
    times = Counter(file.schema.names)
    for name in names:
        if times[name] == 0:
            there = ", ".join(map(repr, file.schema.names[:10]))
            more = ", ..." if len(file.schema.names) > 10 else ""
            raise SourceError(f"{file.path}: column {name!r} is missing; found {there}{more}")
        if times[name] > 1:
            raise SourceError(f"{file.path}: column {name!r} is there {times[name]} times")


def default_features(file: TableFile, columns: Columns) -> tuple[Columns, tuple[str, ...]]:
    """Take every numeric or boolean column not otherwise used; also return the rest."""
    apart = {columns.target, columns.weight, *columns.exclude}
    fields = [field for field in file.schema if field.name not in apart]
    features = tuple(dict.fromkeys(field.name for field in fields if is_numeric(field.type)))
    left_out = tuple(field.name for field in fields if not is_numeric(field.type))
    if not features:
        raise SourceError(f"{file.path}: no numeric or boolean column to use as a feature")
    return dataclasses.replace(columns, features=features), left_out


def check_columns(file: TableFile, columns: Columns) -> None:
    """The columns are there and, where the file has types, can play their parts."""
    check_present(file, columns.named())
    if file.is_text:
        return  # the types are only those of the first block; reading decides
    for name in columns.features or ():
        kind = file.schema.field(name).type
        if not (is_numeric(kind) or pa.types.is_null(kind)):
            raise SourceError(
                f"{file.path}: column {name!r} is {kind}, expected numbers or booleans; "
                "leave it out of the features"
            )
    if columns.weight is not None:
        kind = file.schema.field(columns.weight).type
        if not is_numeric(kind):
            raise SourceError(f"{file.path}: column {columns.weight!r} is {kind}, expected numbers")


def csv_types(file: TableFile, columns: Columns, kept: pa.Schema) -> dict[str, pa.DataType]:
    """Types to read CSV columns as, since Arrow would stay with those of the first block.

    A feature is float64, so that 1 may be followed by 1.5. A kept column stays what it was in
    the first block, so that identifiers are exact, unless it is also a feature and was no
    number there.
    """
    types = {name: _or_text(file.schema.field(name).type) for name in columns.named()}
    as_kept = {field.name: field.type for field in kept}
    for name in columns.features or ():
        types[name] = types[name] if pa.types.is_boolean(types[name]) else pa.float64()
        if name in as_kept and not is_numeric(as_kept[name]):
            del as_kept[name]
    if columns.weight is not None:
        types[columns.weight] = pa.float64()
    return types | as_kept


def is_numeric(kind: pa.DataType) -> bool:
    """Whether a column of this type can be a feature."""
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )


def is_single(files: Iterable[TableFile], features: Sequence[str]) -> bool:
    """Whether float32 holds every feature of every file without loss."""
    return all(
        not file.is_text and file.schema.field(name).type in (pa.float32(), pa.float16())
        for file in files
        for name in features
    )


def is_text(kind: pa.DataType) -> bool:
    """Whether the values are strings, however Arrow stores them."""
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def plain(kind: pa.DataType) -> pa.DataType:
    """The type of the values: what a dictionary (a pandas categorical) stands for."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _or_text(kind: pa.DataType) -> pa.DataType:
    """A column without a value so far is taken as text, which may hold anything."""
    return pa.string() if pa.types.is_null(kind) else kind


def target_kind(files: Sequence[TableFile], target: str | None) -> str | None:
    """The kind of label, the same in every file, since 1 and "1" are different labels."""
    if target is None:
        return None
    first = _label_kind(files[0], target)
    for file in files[1:]:
        kind = _label_kind(file, target)
        if kind != first:
            raise SourceError(
                f"{file.path}: column {target!r} holds labels of kind {kind}, "
                f"but {first} in {files[0].path}"
            )
    return first


def _label_kind(file: TableFile, target: str) -> str:
    types, kind = pa.types, plain(file.schema.field(target).type)
    if types.is_integer(kind) or types.is_floating(kind):
        return "number"
    if types.is_boolean(kind):
        return "boolean"
    if types.is_null(kind) or is_text(kind):
        return "text"
    raise SourceError(
        f"{file.path}: column {target!r} is {kind}; labels are integers, floats, booleans or text"
    )


def keep_schema(files: Sequence[TableFile], keep: Sequence[str]) -> pa.Schema:
    """One type for each kept column, wide enough for every file."""
    return pa.schema([_kept_field(files, name) for name in keep])


def _kept_field(files: Sequence[TableFile], name: str) -> pa.Field:
    where: dict[pa.DataType, pathlib.Path] = {}
    for file in files:
        where.setdefault(_or_text(plain(file.schema.field(name).type)), file.path)
    schemas = [pa.schema([(name, kind)]) for kind in where]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field(0)
    except pa.ArrowException as error:
        found = ", ".join(f"{kind} in {path}" for kind, path in list(where.items())[:2])
        raise SourceError(f"column {name!r} cannot be kept, its types differ: {found}") from error
