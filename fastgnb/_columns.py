"""Which column of a table plays which part, and what types it may have.

Everything here looks at names and types only; no row is read.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from ._arrow import pa
from ._readers import SourceError, TableFile

__all__ = [
    "Columns",
    "category_kinds",
    "check_columns",
    "check_present",
    "csv_types",
    "default_features",
    "find_categorical",
    "is_numeric",
    "is_single",
    "is_text",
    "keep_schema",
    "plain",
    "target_kind",
]


@dataclasses.dataclass(frozen=True)
class Columns:
    """The part of each column. `features` None stands for every numeric or categorical one left.

    categorical : features that hold categories; "auto" for every one of text, booleans or a
        dictionary type. kinds : which of these are known to hold "text" or "number".
    drop_null_target : leave out rows whose label is null, NaN or, in CSV, an empty field;
        otherwise such a row is an error.
    """

    target: str | None = None
    weight: str | None = None
    features: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categorical: tuple[str, ...] | str = ()
    kinds: Mapping[str, str] = dataclasses.field(default_factory=dict)
    drop_null_target: bool = False

    def __post_init__(self) -> None:
        for part, names in [
            ("features", self.features or ()),
            ("kept columns", self.keep),
            ("categorical columns", self.marked),
        ]:
            for name, times in Counter(names).items():
                if times > 1:
                    raise SourceError(f"column {name!r} is named {times} times among the {part}")
        for part, single in [("target", self.target), ("weight", self.weight)]:
            if single is not None and single in (*(self.features or ()), *self.marked):
                raise SourceError(f"column {single!r} is the {part}; it cannot be a feature too")
        for name in self.marked:
            if name in self.exclude:
                raise SourceError(f"column {name!r} cannot be both categorical and excluded")
            if self.features is not None and name not in self.features:
                raise SourceError(f"column {name!r} is categorical, but not among the features")
        if self.target is not None and self.target == self.weight:
            raise SourceError(f"column {self.target!r} cannot be both target and weight")

    @property
    def marked(self) -> tuple[str, ...]:
        """The categorical columns that are named."""
        return () if isinstance(self.categorical, str) else self.categorical

    def continuous(self) -> tuple[str, ...]:
        """The features that are not categorical."""
        marked = set(self.marked)
        return tuple(name for name in self.features or () if name not in marked)

    def named(self) -> list[str]:
        """Every column that a file must have, once, in a fixed order."""
        singles = [name for name in (self.target, self.weight) if name is not None]
        return list(dict.fromkeys([*(self.features or ()), *self.marked, *singles, *self.keep]))


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
    """Take every numeric or boolean column not otherwise used, and the categorical ones; also
    return the rest."""
    apart, marked = {columns.target, columns.weight, *columns.exclude}, set(columns.marked)
    fields = [field for field in file.schema if field.name not in apart]
    chosen = [field.name for field in fields if is_numeric(field.type) or field.name in marked]
    if not chosen:
        raise SourceError(f"{file.path}: no numeric or boolean column to use as a feature")
    left_out = tuple(field.name for field in fields if field.name not in set(chosen))
    return dataclasses.replace(columns, features=tuple(dict.fromkeys(chosen))), left_out


def find_categorical(file: TableFile, columns: Columns) -> Columns:
    """Name the categorical columns of "auto": those of text, booleans or a dictionary type."""
    if not isinstance(columns.categorical, str):
        return columns
    if columns.features is not None:
        check_present(file, columns.features)
        fields = [file.schema.field(name) for name in columns.features]
    else:
        apart = {columns.target, columns.weight, *columns.exclude}
        fields = [field for field in file.schema if field.name not in apart]
    found = [field.name for field in fields if _holds_categories(field.type)]
    return dataclasses.replace(columns, categorical=tuple(dict.fromkeys(found)))


def _holds_categories(kind: pa.DataType) -> bool:
    return pa.types.is_dictionary(kind) or pa.types.is_boolean(kind) or is_text(kind)


def check_columns(file: TableFile, columns: Columns) -> None:
    """The columns are there and, where the file has types, can play their parts."""
    check_present(file, columns.named())
    if file.is_text:
        return  # the types are only those of the first block; reading decides
    for name in columns.continuous():
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


def category_kinds(files: Sequence[TableFile], columns: Columns) -> dict[str, str]:
    """Whether each categorical column holds "text" or "number", the same in every file.

    Booleans are numbers, as True is 1. A column of CSV is text where it is text in another file or
    in the model, whatever its values look like. Raises SourceError for other types, and for files
    that differ, since 1 and "1" are different categories.
    """
    return {name: _category_kind(files, name, columns.kinds.get(name)) for name in columns.marked}


def _category_kind(files: Sequence[TableFile], name: str, known: str | None) -> str:
    found = {file.path: kind for file in files if (kind := _kind_in(file, name))}
    wanted = known or ("text" if "text" in found.values() or not found else "number")
    for file in files:
        kind = found.get(file.path, wanted)
        if kind != wanted and not (file.is_text and wanted == "text"):
            there = [path for path, other in found.items() if other == wanted]
            where = "as the model has" if known else f"as in {there[0]}"
            raise SourceError(
                f"{file.path}: column {name!r} holds categories of kind {kind}, expected {wanted}, "
                f"{where}"
            )
    return wanted


def _kind_in(file: TableFile, name: str) -> str | None:
    """The kind of the categories in a file, or None where no value tells."""
    types, kind = pa.types, plain(file.schema.field(name).type)
    if types.is_null(kind):
        return None
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return "number"
    if is_text(kind) or file.is_text:  # dates of CSV are text
        return "text"
    raise SourceError(
        f"{file.path}: column {name!r} is {kind}; categories are text, booleans or whole numbers"
    )


def csv_types(
    file: TableFile, columns: Columns, kept: pa.Schema, kinds: Mapping[str, str]
) -> dict[str, pa.DataType]:
    """Types to read CSV columns as, since Arrow would stay with those of the first block.

    A feature is float64, so that 1 may be followed by 1.5, but for the categorical ones. A kept
    column stays what it was in the first block, so that identifiers are exact, unless it is also
    a feature and was no number there.
    """
    types = {name: _or_text(file.schema.field(name).type) for name in columns.named()}
    as_kept = {field.name: field.type for field in kept}
    for name, kind in kinds.items():
        if kind == "text":
            types[name] = pa.string()
        elif not is_numeric(types[name]):  # an error that says where
            types[name] = pa.int64()
            as_kept.pop(name, None)
    for name in columns.continuous():
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


def keep_schema(
    files: Sequence[TableFile], keep: Sequence[str], texts: Collection[str] = ()
) -> pa.Schema:
    """One type for each kept column, wide enough for every file; `texts` are text in CSV."""
    return pa.schema([_kept_field(files, name, name in texts) for name in keep])


def _kept_field(files: Sequence[TableFile], name: str, text_in_csv: bool) -> pa.Field:
    where: dict[pa.DataType, pathlib.Path] = {}
    for file in files:
        kind = _or_text(plain(file.schema.field(name).type))
        where.setdefault(pa.string() if text_in_csv and file.is_text else kind, file.path)
    schemas = [pa.schema([(name, kind)]) for kind in where]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field(0)
    except pa.ArrowException as error:
        found = ", ".join(f"{kind} in {path}" for kind, path in list(where.items())[:2])
        raise SourceError(f"column {name!r} cannot be kept, its types differ: {found}") from error
