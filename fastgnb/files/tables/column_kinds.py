"""What the columns of a set of files hold, so that the order of the files does not matter.

A file without rows says nothing, and neither does a column without values: neither makes a column
of numbers one of text. Types are looked at first; values only where types leave it open, as they
do in CSV.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ..._system.optional import pa, pc
from ..errors import SourceError
from .columns import ColumnRoles
from .table_file import TableFile
from .texts import is_ambiguous, kind_of

__all__ = [
    "Kinds",
    "category_kinds",
    "check_numbers",
    "csv_types",
    "is_numeric",
    "is_single",
    "is_text",
    "keep_schema",
    "kinds_in",
    "label_kinds",
    "plain",
]


class Kinds(NamedTuple):
    """What a column of labels or categories holds: "number", "boolean" or "text".

    kind : of all files; None where no file holds a value.
    of_text : what the text of each file of CSV stands for, by its position among the files.
    example : a text of CSV that makes it text, if known.
    widths_differ : whether files store the numbers as more than one type.
    """

    kind: str | None
    of_text: dict[int, str]
    example: str | None = None
    widths_differ: bool = False


def is_numeric(kind: pa.DataType) -> bool:
    """Whether a column of this type, or of a dictionary of it, can be a feature."""
    types, kind = pa.types, plain(kind)
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )


def is_text(kind: pa.DataType) -> bool:
    """Whether the values are strings, however Arrow stores them."""
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def plain(kind: pa.DataType) -> pa.DataType:
    """The type of the values: what a dictionary (a pandas categorical) stands for."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def kind_of_type(kind: pa.DataType) -> str | None:
    """ "number", "boolean" or "text", "other", or None for a type of nulls."""
    kind = plain(kind)
    if pa.types.is_null(kind):
        return None
    if pa.types.is_boolean(kind):
        return "boolean"
    if is_numeric(kind):
        return "number"
    return "text" if is_text(kind) else "other"


def has_values(file: TableFile, name: str) -> bool:
    """Whether a value is there that is not null. Cost: reads the column up to the first one."""
    return bool(file.first_values([name], beyond=True)[name])


# ------------------------------------------------------------------ labels and categories


def label_kinds(files: Sequence[TableFile], columns: ColumnRoles) -> Kinds:
    """The kind of label, the same in every file, since 1 and "1" are different labels.

    Labels of CSV are read as text, and are text where those of another file, or of a model, are
    text that could be a number or a boolean: 7 beside 007.
    """
    name = columns.target
    if name is None:
        return Kinds(None, {})
    by_file = kinds_in(files, name, _label_type, columns.coded())
    as_text = any(map(is_ambiguous, columns.text_labels))
    if as_text or (len(set(by_file.values())) > 1 and _has_ambiguous(files, name, by_file)):
        by_file = {i: "text" if files[i].is_text else kind for i, kind in by_file.items()}
    first = min(by_file, default=0)
    for i in sorted(by_file):
        if by_file[i] != by_file[first]:
            raise SourceError(
                f"{files[i].path}: column {name!r} holds labels of kind {by_file[i]}, "
                f"but {by_file[first]} in {files[first].path}; write them all as text or as numbers"
            )
    kind = by_file.get(first)
    text = next((file for file in files if file.is_text), None) if kind == "text" else None
    example = None if text is None or as_text else _example(text, name)
    widths = {pa.int64() if files[i].is_text else _width(files[i], name) for i in by_file}
    of_text = _of_text(
        files, by_file, "text" if as_text or (columns.text_labels and not kind) else kind
    )
    return Kinds(kind, of_text, example, kind == "number" and len(widths) > 1)


def _width(file: TableFile, name: str) -> pa.DataType:
    return plain(file.schema.field(name).type)


def _label_type(file: TableFile, name: str) -> str | None:
    kind, type_ = _kind_of_labels(file, name), plain(file.schema.field(name).type)
    if kind == "other" and file.is_text and not pa.types.is_binary(type_):
        return "text"  # as dates of CSV are
    if kind == "other":
        is_bytes = file.is_text and pa.types.is_binary(type_)
        remedy = "; name its encoding, or write the file in UTF-8" if is_bytes else ""
        raise SourceError(
            f"{file.path}: column {name!r} is {type_}; labels are integers, floats, booleans or "
            f"text{remedy}"
        )
    return kind


def _kind_of_labels(file: TableFile, name: str) -> str | None:
    """The kind by the type of labels or categories, which are no decimals; None without values."""
    type_ = plain(file.schema.field(name).type)
    kind = "other" if pa.types.is_decimal(type_) else kind_of_type(type_)
    if kind == "other" and not file.is_text and not has_values(file, name):
        return None
    return kind


def _has_ambiguous(files: Sequence[TableFile], name: str, by_file: Mapping[int, str]) -> bool:
    """Whether some label that is text could be another kind, in any file."""
    return any(
        any(map(is_ambiguous, files[i].first_values([name], beyond=True)[name]))
        for i, kind in by_file.items()
        if kind == "text"
    )


def category_kinds(files: Sequence[TableFile], columns: ColumnRoles) -> dict[str, Kinds]:
    """Whether each categorical column holds "text" or "number", the same in every file.

    Booleans are numbers, as True is 1. A column of CSV is text where it is text in another file or
    in the model, whatever its values look like. Raises SourceError for other types, and for files
    that differ, since 1 and "1" are different categories.
    """
    return {name: _category_kind(files, name, columns) for name in columns.categorical_names}


def _category_kind(files: Sequence[TableFile], name: str, columns: ColumnRoles) -> Kinds:
    known = columns.kinds.get(name)
    by_file = kinds_in(files, name, _category_type, columns.coded(), known)
    coarse = {i: "text" if kind == "text" else "number" for i, kind in by_file.items()}
    wanted = known or ("text" if "text" in coarse.values() or not coarse else "number")
    for i, kind in coarse.items():
        if kind != wanted and not (files[i].is_text and wanted == "text"):
            there = [files[j].path for j, other in coarse.items() if other == wanted]
            where = "as the model has" if known else f"as in {there[0]}"
            raise SourceError(
                f"{files[i].path}: column {name!r} holds categories of kind {kind}, expected "
                f"{wanted}, {where}{_because(files[i], name, kind)}"
            )
    spelled = set(by_file.values()) - {"text"}
    kind = wanted if wanted == "text" or len(spelled) != 1 else next(iter(spelled))
    return Kinds(wanted, _of_text(files, by_file, kind if coarse or known else None))


def _because(file: TableFile, name: str, kind: str) -> str:
    example = _example(file, name) if kind == "text" and file.is_text else None
    return "" if example is None else f"; {example!r} is not spelled as a number is"


def _example(file: TableFile, name: str) -> str | None:
    """The first text of CSV that is no number."""
    texts = file.first_values([name], beyond=True)[name]
    return next((text for text in texts if kind_of([text]) == "text"), None)


def _category_type(file: TableFile, name: str) -> str | None:
    kind = _kind_of_labels(file, name)
    if kind == "other" and file.is_text:  # dates of CSV are text
        return "text"
    if kind == "other":
        type_ = plain(file.schema.field(name).type)
        raise SourceError(
            f"{file.path}: column {name!r} is {type_}; categories are text, booleans or whole "
            "numbers"
        )
    return kind


def kinds_in(
    files: Sequence[TableFile],
    name: str,
    type_in: Callable[[TableFile, str], str | None],
    along: Sequence[str],
    known: str | None = None,
) -> dict[int, str]:
    """The kind of a column by the position of its file, without files that hold no value of it.

    `along` are all columns whose kinds will be asked for. Where neither a file tells nor a model
    (`known`), CSV is read on to the first value.
    """
    by_file: dict[int, str] = {}
    open_: list[int] = []
    for i, file in enumerate(files):
        kind = type_in(file, name)
        if file.is_text and kind in ("number", "boolean"):
            kind = file.first_kind(name, along)
        if kind is not None:
            by_file[i] = kind
        elif file.is_text:
            open_.append(i)
    if not by_file and known is None:
        for i in open_:
            kind = kind_of(files[i].first_values([name], beyond=True)[name])
            if kind is not None:
                by_file[i] = kind
    return _of_values(files, name, by_file)


def _of_values(files: Sequence[TableFile], name: str, by_file: dict[int, str]) -> dict[int, str]:
    """Where kinds differ, those of the files that hold a value."""
    if len(set(by_file.values())) < 2:
        return by_file
    return {
        i: kind for i, kind in by_file.items() if files[i].is_text or has_values(files[i], name)
    }


def _of_text(
    files: Sequence[TableFile], by_file: Mapping[int, str], kind: str | None
) -> dict[int, str]:
    """What text stands for in each file of CSV: what its first values are, or those of others.

    Where no file has a value (`kind` is None), NA is no text either.
    """
    texts = [i for i, file in enumerate(files) if file.is_text]
    if kind == "text":
        return dict.fromkeys(texts, "text")
    return {i: by_file.get(i, kind or "number") for i in texts}


# ------------------------------------------------------------------ features, weights, kept columns


def check_numbers(files: Sequence[TableFile], columns: ColumnRoles) -> None:
    """Features and weights are numbers where files have types; reading decides about CSV."""
    for file in files:
        if file.is_text:
            continue
        for name in columns.continuous():
            kind = file.schema.field(name).type
            if not _may_be_numbers(file, name):
                raise SourceError(
                    f"{file.path}: column {name!r} is {kind}, expected numbers or booleans"
                    + (", as the model has" if columns.of_model else _advice(kind))
                )
        if columns.weight is not None and not _may_be_numbers(file, columns.weight):
            kind = file.schema.field(columns.weight).type
            raise SourceError(f"{file.path}: column {columns.weight!r} is {kind}, expected numbers")


def _advice(kind: pa.DataType) -> str:
    out = "; leave it out of the features"
    return out + (
        ", or name it in --categorical, for a MixedNB" if kind_of_type(kind) == "text" else ""
    )


def _may_be_numbers(file: TableFile, name: str) -> bool:
    kind = file.schema.field(name).type
    return is_numeric(kind) or pa.types.is_null(kind) or not has_values(file, name)


def is_single(files: Iterable[TableFile], features: Sequence[str]) -> bool:
    """Whether float32 holds every feature of every file without loss."""
    return all(
        not file.is_text and file.schema.field(name).type in (pa.float32(), pa.float16(), pa.null())
        for file in files
        for name in features
    )


def csv_types(file: TableFile, columns: ColumnRoles) -> dict[str, pa.DataType]:
    """Types to read CSV columns as, since Arrow would stay with those of the first block.

    A feature is float64, so that 1 may be followed by 1.5, or booleans. All else is text, which
    `_texts` explains, and so is a feature that is kept, or blank in the first block, for it may
    hold either.
    """
    types = dict.fromkeys(columns.named(), pa.string())
    for name in columns.continuous():
        kind = file.schema.field(name).type
        if not pa.types.is_null(kind):
            types[name] = kind if pa.types.is_boolean(kind) else pa.float64()
    if columns.weight is not None:
        types[columns.weight] = pa.float64()
    return types | {name: _kept_type(file, name) for name in columns.keep}


def keep_schema(files: Sequence[TableFile], keep: Sequence[str]) -> pa.Schema:
    """One type for each kept column, wide enough for every file; text where one is CSV."""
    return pa.schema([_kept_field(files, name) for name in keep])


def _kept_field(files: Sequence[TableFile], name: str) -> pa.Field:
    kinds = [(file, _kept_type(file, name)) for file in files]
    if len({kind for _, kind in kinds if not pa.types.is_null(kind)}) > 1:
        kinds = [(file, kind) for file, kind in kinds if file.is_text or has_values(file, name)]
    where = {kind: file.path for file, kind in reversed(kinds)}
    try:
        if any(file.is_text for file, _ in kinds):
            text = pa.binary() if pa.binary() in where else pa.string()
            for kind in where:
                pc.cast(pc.cast(pa.nulls(0, kind), pa.string()), text)
            return pa.field(name, text)
        schemas = [pa.schema([(name, kind)]) for kind in where]
        field = pa.unify_schemas(schemas, promote_options="permissive").field(0)
    except pa.ArrowException as error:
        types = ", ".join(f"{kind} in {path}" for kind, path in reversed(list(where.items())[-2:]))
        raise SourceError(f"column {name!r} cannot be kept, its types differ: {types}") from error
    return field if not pa.types.is_null(field.type) else pa.field(name, pa.string())


def _kept_type(file: TableFile, name: str) -> pa.DataType:
    """The type to keep a column as; CSV is copied, as bytes where it is not UTF-8."""
    kind = plain(file.schema.field(name).type)
    as_text = pa.types.is_string_view(kind) or (file.is_text and not pa.types.is_binary(kind))
    return pa.string() if as_text else kind
