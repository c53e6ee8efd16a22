"""Which columns are features, and which of these hold categories, where they are not named.

All files decide, in any order alike: a feature is a column of numbers wherever it has a value.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ..._system.optional import pa
from ..errors import SourceError
from .column_kinds import has_values, kind_of_type
from .columns import ColumnRoles, check_present
from .index_columns import index_columns, pandas_categoricals
from .partitions import key_names
from .table_file import TableFile
from .texts import advice, kind_of, nearly_numbers

__all__ = ["Plan", "planned"]

_Contents = dict[str, dict[int, str]]
"""What columns hold, "number", "boolean", "text" or "other", by their names and files."""


_NUMBERS = {"number", "boolean"}


class Plan(NamedTuple):
    """Columns with their features, and what was decided about the others.

    left_out : columns that are no features since they hold no numbers.
    notes : other decisions. warnings : decisions that may well be wrong, to tell in any case.
    """

    columns: ColumnRoles
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def planned(files: Sequence[TableFile], columns: ColumnRoles) -> Plan:
    """The columns with their features, and the categorical ones of "auto".

    By default every column of numbers or booleans that is not otherwise used is a feature, and so
    are the categorical ones. Raises SourceError where files contradict each other: a column of
    numbers here and of text there, or columns of numbers that only some files have, unless a file
    has just those that all have. Cost: reads on in CSV where a column is blank in the first block
    of every file.
    """
    automatic = isinstance(columns.categorical, str)
    if columns.features is not None:
        contents = _contents_of(files, columns.features if automatic else ())
        columns = _with_categorical(files, columns, contents)
        near_numbers = _nearly_numbers(
            files, {name: contents[name] for name in columns.categorical_names if automatic}
        )
        return Plan(columns, warnings=tuple(_odd_warnings(near_numbers, columns.categorical_names)))
    apart = {columns.target, columns.weight, *columns.exclude}
    keys = key_names(files) - apart - set(columns.categorical_names)
    indexes = _indexes(files) - apart - set(columns.categorical_names) - keys
    rest = (name for name in _names(files) if name not in apart | indexes | keys)
    contents = _contents_of(files, rest)
    named = columns.categorical_names
    columns = _with_categorical(files, columns, contents)
    return _default_features(files, columns, contents, indexes, named)


def _with_categorical(
    files: Sequence[TableFile], columns: ColumnRoles, contents: _Contents
) -> ColumnRoles:
    if not isinstance(columns.categorical, str):
        return columns
    coded = {name for file in files for name in pandas_categoricals(file.schema)}
    categorical = tuple(
        name
        for name, kinds in contents.items()
        if _is_categorical(files, name, kinds, coded=name in coded)
    )
    return dataclasses.replace(columns, categorical=categorical)


def _default_features(
    files: Sequence[TableFile],
    columns: ColumnRoles,
    contents: _Contents,
    indexes: Collection[str],
    named: Collection[str],
) -> Plan:
    """`named` are the categorical columns that the user named, which need no warning."""
    categorical, names = set(columns.categorical_names), list(contents)
    numeric = [
        name for name in names if name in categorical or _is_feature(files, name, contents[name])
    ]
    partly = _not_everywhere(files, numeric)
    chosen = tuple(name for name in numeric if name not in partly)
    near_numbers = _nearly_numbers(
        files, {name: contents[name] for name in names if name not in named}
    )
    if not chosen:
        what = "no numeric or boolean column" if any(contents.values()) else "no column with values"
        advice_ = _held(near_numbers)
        if indexes:
            advice_ += f"; an index or a row number is one only by --features: {_listed(indexes)}"
        raise SourceError(f"{files[0].path}: {what} to use as a feature{advice_}")
    left_out = tuple(name for name in names if name not in set(numeric))
    warnings = _odd_warnings(near_numbers, categorical)
    if partly:
        warnings.append(f"left out, as not every file has them: {_listed(partly)}")
    notes = _key_notes(key_names(files) - _used(columns) - set(columns.exclude))
    if indexes:
        told = warnings if _is_contested(files, indexes) else notes
        listed = _listed(indexes)
        told.insert(0, f"left out, an index or a row number, unless --features names it: {listed}")
    return Plan(
        dataclasses.replace(columns, features=chosen), left_out, tuple(notes), tuple(warnings)
    )


def _odd_warnings(near_numbers: Mapping[str, str], categorical: Collection[str]) -> list[str]:
    warnings = []
    for name, text in near_numbers.items():
        fate = "taken for categories" if name in categorical else "left out"
        warnings.append(f"column {name!r} is {fate}, as it holds {text!r}{advice(text)}")
    return warnings


def _is_feature(files: Sequence[TableFile], name: str, contents: dict[int, str]) -> bool:
    kinds = {i: "numbers" if kind in _NUMBERS else "text" for i, kind in contents.items()}
    _check_agree(files, name, kinds, contents, "leave it out with --exclude")
    return "numbers" in kinds.values()


def _is_categorical(
    files: Sequence[TableFile], name: str, contents: dict[int, str], *, coded: bool
) -> bool:
    """`coded` says whether the column was a categorical in pandas."""
    kinds = {i: f"{kind}s" for i, kind in contents.items() if kind in _NUMBERS}
    coded = coded or any(pa.types.is_dictionary(kind) for kind in _types(files, name))
    if not coded:
        _check_agree(files, name, kinds, contents, "name it in --categorical or --exclude")
    return coded or bool(set(contents.values()) & {"boolean", "text"})


def _check_agree(
    files: Sequence[TableFile],
    name: str,
    kinds: dict[int, str],
    contents: dict[int, str],
    remedy: str,
) -> None:
    """Raise SourceError unless `kinds`, words for `contents`, are one."""
    if len(set(kinds.values())) > 1:
        first = min(kinds)
        other = next(i for i in sorted(kinds) if kinds[i] != kinds[first])
        raise SourceError(
            f"{files[other].path}: column {name!r} holds {kinds[other]}, but {kinds[first]} in "
            f"{files[first].path}; {remedy}{_held(_nearly_numbers(files, {name: contents}))}"
        )


def _contents_of(files: Sequence[TableFile], names: Iterable[str]) -> _Contents:
    """What each column holds in the files that have a value of it."""
    contents: _Contents = {name: {} for name in names}
    for i, file in enumerate(files):
        for field in file.schema:
            if field.name in contents and (kind := kind_of_type(field.type)):
                contents[field.name][i] = kind
    for name, kinds in contents.items():
        if len({kind in _NUMBERS for kind in kinds.values()}) > 1:
            contents[name] = {
                i: kind
                for i, kind in kinds.items()
                if files[i].is_text or has_values(files[i], name)
            }
    _look_further(files, contents)
    return contents


def _look_further(files: Sequence[TableFile], contents: _Contents) -> None:
    """Read on in CSV for columns that are blank in the first block of every file."""
    blank = [name for name, kinds in contents.items() if not kinds]
    for i, file in enumerate(files):
        names = [name for name in blank if file.is_text and name in file.schema.names]
        for name, texts in file.first_values(names, beyond=True).items():
            if (kind := kind_of(texts)) is not None:
                contents[name][i] = kind


def _names(files: Sequence[TableFile]) -> list[str]:
    """All columns, in the order of the file whose path is the first by name, whatever was given
    first, and then those of the next."""
    by_name = sorted(files, key=lambda file: file.path)
    return list(dict.fromkeys(name for file in by_name for name in file.schema.names))


def _types(files: Sequence[TableFile], name: str) -> list[pa.DataType]:
    """The types of a column in the files that have it."""
    return [
        file.schema.field(i).type for file in files for i in file.schema.get_all_field_indices(name)
    ]


def _indexes(files: Sequence[TableFile]) -> set[str]:
    return {name for file in files for name in index_columns(file.schema)}


def _is_contested(files: Sequence[TableFile], indexes: Collection[str]) -> bool:
    """Whether one of the indexes is a column like others in some file."""
    return any(
        not set(indexes).isdisjoint(set(file.schema.names) - index_columns(file.schema))
        for file in files
    )


def _not_everywhere(files: Sequence[TableFile], numeric: Sequence[str]) -> list[str]:
    """Features that some file lacks, where another file has just those that all have.

    Raises SourceError where each file has some of its own: a column was renamed, perhaps.
    """
    times = Counter(name for file in files for name in set(file.schema.names))
    partly = [name for name in numeric if times[name] < len(files)]
    if partly and not any(set(partly).isdisjoint(file.schema.names) for file in files):
        check_present(files, [name for name in numeric if name in set(files[0].schema.names)])
    return partly


def _used(columns: ColumnRoles) -> set[str]:
    """The columns that play a part, kept ones apart."""
    return {columns.target or "", columns.weight or "", *columns.categorical_names}


def _key_notes(keys: Collection[str]) -> list[str]:
    if not keys:
        return []
    return [f"keys of folders are no features unless --features names them: {_listed(keys)}"]


def _nearly_numbers(files: Sequence[TableFile], contents: _Contents) -> dict[str, str]:
    """Columns of text in CSV that would be numbers but for values such as the one that is given.

    One file tells of each column: the first by name that holds text in it.
    """
    told: dict[int, list[str]] = {}
    for name, kinds in contents.items():
        texts = [i for i, kind in kinds.items() if kind == "text" and files[i].is_text]
        if texts:
            told.setdefault(min(texts, key=lambda i: files[i].path), []).append(name)
    near_numbers = {}
    for i, names in told.items():
        for name, values in files[i].first_values(names, beyond=False).items():
            if (text := nearly_numbers(values)) is not None:
                near_numbers[name] = text
    return near_numbers


def _held(near_numbers: Mapping[str, str]) -> str:
    """What the first such column holds, and what to do."""
    return next(
        (f"; column {name!r} holds {text!r}{advice(text)}" for name, text in near_numbers.items()),
        "",
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(names)))
