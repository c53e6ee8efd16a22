"""Which column of a table plays which part, and which files have them: names only."""

from __future__ import annotations

import dataclasses
import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ..errors import SourceError
from .csv_errors import unnamed_header
from .table_file import TableFile

__all__ = ["ColumnRoles", "check_excluded", "check_present", "with_rows"]


@dataclasses.dataclass(frozen=True)
class ColumnRoles:
    """The part of each column. `features` None stands for every numeric or categorical one left.

    categorical : features that hold categories; "auto" for every one of text, booleans or a
        dictionary type. kinds : which of these are known to hold "text" or "number".
    text_labels : classes of a model that learned text, by which labels of CSV are text too.
    of_model : whether the features are those of a model, and not to be chosen.
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
    text_labels: tuple[str, ...] = ()
    drop_null_target: bool = False
    of_model: bool = False

    def __post_init__(self) -> None:
        for part, names in [
            ("features", self.features or ()),
            ("kept columns", self.keep),
            ("categorical columns", self.categorical_names),
        ]:
            for name, times in Counter(names).items():
                if times > 1:
                    raise SourceError(f"column {name!r} is named {times} times among the {part}")
        for part, single in [("target", self.target), ("weight", self.weight)]:
            if single is not None and single in (*(self.features or ()), *self.categorical_names):
                raise SourceError(f"column {single!r} is the {part}; it cannot be a feature too")
        for name in self.categorical_names:
            if name in self.exclude:
                raise SourceError(f"column {name!r} cannot be both categorical and excluded")
            if self.features is not None and name not in self.features:
                raise SourceError(f"column {name!r} is categorical, but not among the features")
        if self.target is not None and self.target == self.weight:
            raise SourceError(f"column {self.target!r} cannot be both target and weight")

    @property
    def categorical_names(self) -> tuple[str, ...]:
        """The categorical columns that are named."""
        return () if isinstance(self.categorical, str) else self.categorical

    def continuous(self) -> tuple[str, ...]:
        """The features that are not categorical."""
        categorical = set(self.categorical_names)
        return tuple(name for name in self.features or () if name not in categorical)

    def coded(self) -> list[str]:
        """The columns of labels and categories."""
        return [*([] if self.target is None else [self.target]), *self.categorical_names]

    def named(self) -> list[str]:
        """Every column that a file must have, once, in a fixed order."""
        singles = [name for name in (self.target, self.weight) if name is not None]
        return list(
            dict.fromkeys([*(self.features or ()), *self.categorical_names, *singles, *self.keep])
        )


def with_rows(files: Sequence[TableFile]) -> list[TableFile]:
    """The files that may hold rows: one without says nothing about columns and their types.

    All of them where none has rows; SourceError where one of these is an empty file.
    """
    found = [file for file in files if file.n_rows != 0]
    if found:
        return found
    for file in files:
        if not file.schema.names and file.is_text:
            raise SourceError(f"{file.path}: the file is empty, expected a line of column names")
    return list(files)


def check_present(files: Sequence[TableFile], names: Iterable[str]) -> None:
    """Every name is in every file, and once: a name that stands for two columns stands for none.

    SourceError tells all that the first such file lacks.
    """
    wanted, lacking = list(names), 0
    first = ""
    for file in files:
        times = Counter(file.schema.names)
        missing = [name for name in wanted if not times[name]]
        if missing:
            first, lacking = first or _missing(file, missing), lacking + 1
        _check_once(file, [name for name in wanted if times[name] > 1], times)
    if first:
        more = lacking - 1
        raise SourceError(first + (f"; {more} more of the files lack columns" if more else ""))


def check_excluded(files: Sequence[TableFile], names: Sequence[str]) -> None:
    """Every excluded name is in one of the files at least."""
    there = {name for file in files for name in file.schema.names}
    if missing := [name for name in names if name not in there]:
        raise SourceError(_missing(files[0], missing))


def _check_once(file: TableFile, twice: Sequence[str], times: Mapping[str, int]) -> None:
    for name in twice:
        raise SourceError(
            f"{file.path}: column {name!r} is there {times[name]} times; rename one of them, or "
            "leave the name out"
        )


def _missing(file: TableFile, missing: Sequence[str]) -> str:
    names = file.schema.names
    there = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
    what = ", ".join(map(repr, missing))
    verb = "column {} is" if len(missing) == 1 else "columns {} are"
    return (
        f"{file.path}: {verb.format(what)} missing; found {there or 'no column'}"
        + (_with_comma(missing, names) or _nearest(missing, names))
        + _without_names(file, missing)
    )


def _with_comma(missing: Sequence[str], names: Sequence[str]) -> str:
    """How to write a name of which only a part was given."""
    parts = (name for name in names if "," in name and set(name.split(",")) & set(missing))
    name = next(parts, None)
    return "" if name is None else f"; a name with a comma stands in double quotes: '\"{name}\"'"


def _nearest(missing: Sequence[str], names: Sequence[str]) -> str:
    """The names that are like those that are missing."""
    plain = {name.strip().casefold(): name for name in reversed(names)}
    pairs = []
    for name in missing:
        like = difflib.get_close_matches(name.strip().casefold(), plain, 1, 0.6)
        pairs += [f"{plain[match]!r} for {name!r}" for match in like]
    return f"; did you mean {', '.join(pairs)}?" if pairs else ""


def _without_names(file: TableFile, missing: Sequence[str]) -> str:
    names = file.schema.names
    if file.is_text and len(names) == 1 and set(missing) <= set(names[0].split()):
        return "; its columns are separated by spaces, expected commas"
    if file.is_text and unnamed_header(names):
        return "; the first line of CSV has to hold the names of the columns"
    return ""
