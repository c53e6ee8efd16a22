"""Which columns are features, and which of these hold categories, where they are not named.

All files decide, in any order alike: a feature is a column of numbers wherever it has a value.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ._arrow import pa
from ._column_kinds import has_values, is_numeric, is_text
from ._columns import Columns, check_present
from ._index_columns import index_columns, partition_keys
from ._readers import SourceError, TableFile
from ._texts import advice, kind_of

__all__ = ["Plan", "booleans_in", "default_features", "find_categorical"]

_Found = dict[str, dict[int, str]]
"""What columns hold, "number", "boolean", "text" or "other", by their names and files."""


class Plan(NamedTuple):
    """Columns with their features, and what was decided about the others.

    left_out : columns that are no features since they hold no numbers.
    notes : other decisions. warnings : decisions that may well be wrong, to tell in any case.
    """

    columns: Columns
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def default_features(files: Sequence[TableFile], columns: Columns) -> Plan:
    """Take every column of numbers or booleans not otherwise used, and the categorical ones.

    Raises SourceError where files contradict each other: a column of numbers here and of text
    there, or columns of numbers that only some files have, unless a file has just those that all
    have. Cost: reads on in CSV where a column is blank in the first block of every file.
    """
    marked = set(columns.marked)
    apart = {columns.target, columns.weight, *columns.exclude}
    indexes = _indexes(files) - apart - marked
    names = [name for name in _names(files) if name not in apart | indexes]
    found = _found(files, names)
    numeric = [name for name in names if name in marked or _is_feature(files, name, found[name])]
    partly = _not_everywhere(files, numeric)
    chosen = tuple(name for name in numeric if name not in partly)
    if not chosen and not any(found.values()):
        raise SourceError(f"{files[0].path}: no rows with values, which features would be known by")
    if not chosen:
        raise SourceError(
            f"{files[0].path}: no numeric or boolean column to use as a feature"
            + _odd_values(files, names)
        )
    left_out = tuple(name for name in names if name not in set(numeric))
    warnings = [text for name in left_out if (text := _odd_values(files, [name], name))]
    if partly:
        warnings.append(f"left out, as not every file has them: {_listed(partly)}")
    notes = [f"{_listed(indexes)}: left out, as they number or name rows"] if indexes else []
    return Plan(
        dataclasses.replace(columns, features=chosen),
        left_out,
        (*notes, *_partition_notes(files)),
        tuple(warnings),
    )


def find_categorical(files: Sequence[TableFile], columns: Columns) -> Columns:
    """Name the categorical columns of "auto": those of text, booleans or a dictionary type.

    Raises SourceError where a column is of booleans here and of numbers there.
    """
    if not isinstance(columns.categorical, str):
        return columns
    if columns.features is not None:
        check_present(files, columns.features)
        names: Iterable[str] = columns.features
    else:
        apart = {columns.target, columns.weight, *columns.exclude} | _indexes(files)
        names = [name for name in _names(files) if name not in apart]
    found = _found(files, names)
    chosen = tuple(name for name in names if _is_categorical(files, name, found[name]))
    return dataclasses.replace(columns, categorical=chosen)


def booleans_in(files: Sequence[TableFile], names: Collection[str]) -> set[str]:
    """The features that hold booleans wherever they have values."""
    found = _found(files, names)
    return {name for name in names if set(found[name].values()) == {"boolean"}}


def _is_feature(files: Sequence[TableFile], name: str, found: dict[int, str]) -> bool:
    kinds = {i: "numbers" if kind in _NUMBERS else "text" for i, kind in found.items()}
    _check_agree(files, name, kinds, "name what it is with --features or --exclude")
    return "numbers" in kinds.values()


def _is_categorical(files: Sequence[TableFile], name: str, found: dict[int, str]) -> bool:
    kinds = {i: kind for i, kind in found.items() if kind in ("boolean", "number")}
    dictionary = any(pa.types.is_dictionary(kind) for kind in _types(files, name))
    if not dictionary:
        _check_agree(files, name, kinds, "name it in --categorical or --exclude")
    return dictionary or bool(set(found.values()) & {"boolean", "text"})


_NUMBERS = {"number", "boolean"}


def _check_agree(files: Sequence[TableFile], name: str, kinds: dict[int, str], remedy: str) -> None:
    if len(set(kinds.values())) > 1:
        first = min(kinds)
        other = next(i for i in sorted(kinds) if kinds[i] != kinds[first])
        odd = other if kinds[other] == "text" else first
        raise SourceError(
            f"{files[other].path}: column {name!r} holds {kinds[other]}, but {kinds[first]} in "
            f"{files[first].path}; {remedy}{_odd_values([files[odd]], [name])}"
        )


def _found(files: Sequence[TableFile], names: Iterable[str]) -> _Found:
    """What each column holds in the files that have a value of it."""
    found: _Found = {name: {} for name in names}
    for i, file in enumerate(files):
        for field in file.schema:
            if field.name in found and (kind := _kind_of_type(field.type)):
                found[field.name][i] = kind
    for name, kinds in found.items():
        if len({kind in _NUMBERS for kind in kinds.values()}) > 1:
            found[name] = {
                i: kind
                for i, kind in kinds.items()
                if files[i].is_text or has_values(files[i], name)
            }
    _look_further(files, found)
    return found


def _look_further(files: Sequence[TableFile], found: _Found) -> None:
    """Read on in CSV for columns that are blank in the first block of every file."""
    blank = [name for name, kinds in found.items() if not kinds]
    for i, file in enumerate(files):
        names = [name for name in blank if file.is_text and name in file.schema.names]
        for name, texts in file.first_values(names, beyond=True).items():
            if (kind := kind_of(texts)) is not None:
                found[name][i] = kind


def _kind_of_type(kind: pa.DataType) -> str | None:
    if pa.types.is_null(kind):
        return None
    if pa.types.is_boolean(kind):
        return "boolean"
    if is_numeric(kind):
        return "number"
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return "text" if is_text(value) else "other"


def _names(files: Sequence[TableFile]) -> list[str]:
    """All columns, those of the first file first, as they stand in it."""
    return list(dict.fromkeys(name for file in files for name in file.schema.names))


def _types(files: Sequence[TableFile], name: str) -> list[pa.DataType]:
    """The types of a column in the files that have it."""
    return [
        file.schema.field(i).type for file in files for i in file.schema.get_all_field_indices(name)
    ]


def _indexes(files: Sequence[TableFile]) -> set[str]:
    return {name for file in files for name in index_columns(file.schema)}


def _not_everywhere(files: Sequence[TableFile], numeric: Sequence[str]) -> list[str]:
    """Features that some file lacks, where another file has just those that all have.

    Raises SourceError where each file has some of its own: a column was renamed, perhaps.
    """
    times = Counter(name for file in files for name in set(file.schema.names))
    partly = [name for name in numeric if times[name] < len(files)]
    if partly and not any(set(partly).isdisjoint(file.schema.names) for file in files):
        check_present(files, [name for name in numeric if name in set(files[0].schema.names)])
    return partly


def _partition_notes(files: Sequence[TableFile]) -> list[str]:
    keys = partition_keys(file.path for file in files)
    there = {name for file in files for name in file.schema.names}
    keys = [key for key in keys if key not in there]
    if not keys:
        return []
    return [f"{_listed(keys)}: in the names of folders, which are not read as columns"]


def _odd_values(files: Sequence[TableFile], names: Sequence[str], column: str = "") -> str:
    """Advice about columns of CSV whose values are numbers but for some that are easily mended."""
    for file in files:
        there = [name for name in names if file.is_text and name in file.schema.names]
        texts = file.first_values(there, beyond=False)
        for name in there:
            odd = [text for text in texts[name] if kind_of([text]) == "text"]
            if odd and all(map(advice, odd)):
                left = f"column {name!r} is left out, as it holds {odd[0]!r}"
                return (left if column else f"; column {name!r} holds {odd[0]!r}") + advice(odd[0])
    return ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(names)))
