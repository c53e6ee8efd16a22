"""Which columns of a DataFrame play which part: decided once, by its schema, before a task runs."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ..files.errors import SourceError
from . import engine  # noqa: F401  (before pyspark)

__all__ = [
    "Columns",
    "aliases",
    "array_columns",
    "as_names",
    "check_free",
    "column",
    "learned_columns",
    "scored_columns",
]


@dataclasses.dataclass(frozen=True)
class Columns:
    """Columns of a DataFrame.

    features : names of the columns of features; of one column that holds all of them, where
        `is_array`. is_vector : whether that one is of `pyspark.ml.linalg`.
    categorical : those of the features that hold categories.
    """

    features: tuple[str, ...]
    is_array: bool = False
    is_vector: bool = False
    target: str | None = None
    weight: str | None = None
    categorical: tuple[str, ...] = ()

    def names(self) -> list[str]:
        """All of them, in a fixed order."""
        others = [name for name in (self.target, self.weight) if name is not None]
        return [*self.features, *others]

    def selected(self, df: Any) -> Any:
        """The DataFrame with these columns only, vectors as arrays, under the names of `aliases`.

        Spark looks columns of `mapInArrow` up by name, which no dots may be in.
        """
        others = self.names()[len(self.features) :]
        chosen = df.select(*map(self.feature, self.features), *map(column, others))
        return chosen.toDF(*aliases(len(chosen.columns)))

    def feature(self, name: str) -> Any:
        """An expression for a column of features, an array where it is a vector."""
        if not self.is_vector:
            return column(name)
        from pyspark.ml.functions import vector_to_array

        return vector_to_array(column(name)).alias(name)


def aliases(n: int) -> list[str]:
    """What n columns are called on their way to executors and back."""
    return [f"column{i}" for i in range(n)]


def column(name: str) -> Any:
    """The column of that name, which may hold dots."""
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`").alias(name)


def as_names(names: str | Iterable[str] | None, what: str) -> tuple[str, ...] | None:
    """Names of columns, also of one. Raises TypeError for others."""
    if names is None:
        return None
    out = (names,) if isinstance(names, str) else tuple(names)
    for name in out:
        if not isinstance(name, str):
            raise TypeError(f"{what} must be names of columns, got {name!r}.")
    return out


def learned_columns(
    schema: Any,
    target: str,
    weight: str | None,
    features: Sequence[str] | None,
    categorical: Sequence[str],
) -> Columns:
    """The columns to learn from. Raises SourceError for those that cannot play their part."""
    others = [name for name in (target, weight) if name is not None]
    if features is None:
        features = _default_features(schema, others, categorical)
    _check_present(schema, [*features, *categorical, *others])
    _check_parts(features, categorical, target, weight)
    _check_type(schema, target, "labels are whole numbers, floats, booleans or text", _is_label)
    if weight is not None:
        _check_type(schema, weight, "weights are numbers", _is_number)
    return _with_features(schema, features, categorical, target, weight)


def scored_columns(schema: Any, features: Sequence[str], categorical: Sequence[str]) -> Columns:
    """The columns that a model takes. Raises SourceError as `learned_columns` does."""
    _check_present(schema, features)
    return _with_features(schema, features, categorical, None, None)


def array_columns(schema: Any) -> list[str]:
    """The columns of arrays of numbers, and of vectors."""
    return [field.name for field in schema.fields if _is_array(field.dataType)]


def check_free(schema: Any, names: Iterable[str | None]) -> None:
    """Raise SourceError for a name of a new column that is taken, or that stands for two."""
    new = [name for name in names if name is not None]
    for name, times in Counter([*schema.names, *new]).items():
        if name in new and times > 1:
            raise SourceError(
                f"column {name!r} is there already; drop it, or give the new one another name"
            )


def _with_features(
    schema: Any,
    features: Sequence[str],
    categorical: Sequence[str],
    target: str | None,
    weight: str | None,
) -> Columns:
    if len(features) == 1 and _is_array(schema[features[0]].dataType):
        if categorical:
            raise SourceError(
                f"column {features[0]!r} holds all features, and categorical ones are columns of "
                "their own; name each feature"
            )
        is_vector = _is_vector(schema[features[0]].dataType)
        return Columns(tuple(features), True, is_vector, target, weight)
    for name in features:
        if name in categorical:
            _check_type(schema, name, "categories are text, booleans or whole numbers", _is_label)
        else:
            _check_type(schema, name, _EXPECTED_FEATURE, _is_feature)
    return Columns(tuple(features), False, False, target, weight, tuple(categorical))


_EXPECTED_FEATURE = (
    "expected numbers or booleans; leave it out of the features, or name it among the categorical "
    "ones where it holds categories"
)


def _default_features(
    schema: Any, others: Sequence[str], categorical: Sequence[str]
) -> tuple[str, ...]:
    """Columns of numbers and booleans, and the categorical ones; else one of arrays or vectors."""
    features = [
        field.name
        for field in schema.fields
        if field.name not in others
        and (field.name in categorical or _is_number(field.dataType) or _is_bool(field.dataType))
    ]
    arrays = [name for name in array_columns(schema) if name not in others]
    if not features and len(arrays) == 1:
        return (arrays[0],)
    if not features:
        raise SourceError(
            f"no column of numbers is left for features; found {_listed(schema.names)}"
        )
    return tuple(features)


def _check_present(schema: Any, names: Sequence[str]) -> None:
    times = Counter(schema.names)
    if missing := [name for name in dict.fromkeys(names) if not times[name]]:
        what = ", ".join(map(repr, missing))
        verb = f"column {what} is" if len(missing) == 1 else f"columns {what} are"
        raise SourceError(f"{verb} missing; found {_listed(schema.names)}")
    for name in names:
        if times[name] > 1:
            raise SourceError(f"column {name!r} is there {times[name]} times; rename one of them")


def _check_parts(
    features: Sequence[str], categorical: Sequence[str], target: str, weight: str | None
) -> None:
    for name, times in Counter(features).items():
        if times > 1:
            raise SourceError(f"column {name!r} is named {times} times among the features")
    for part, single in (("label", target), ("weight", weight)):
        if single is not None and single in features:
            raise SourceError(f"column {single!r} is the {part}; it cannot be a feature too")
    for name in categorical:
        if name not in features:
            raise SourceError(f"column {name!r} is categorical, but not among the features")
    if target == weight:
        raise SourceError(f"column {target!r} cannot be both label and weight")


def _check_type(schema: Any, name: str, expected: str, is_valid: Any) -> None:
    kind = schema[name].dataType
    if not is_valid(kind):
        raise SourceError(f"column {name!r} is {kind.simpleString()}; {expected}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "") or "no column"


def _is_number(kind: Any) -> bool:
    from pyspark.sql.types import NumericType

    return isinstance(kind, NumericType)


def _is_bool(kind: Any) -> bool:
    from pyspark.sql.types import BooleanType

    return isinstance(kind, BooleanType)


def _is_feature(kind: Any) -> bool:
    """Numbers, booleans, or a column without any value."""
    from pyspark.sql.types import NullType

    return _is_number(kind) or _is_bool(kind) or isinstance(kind, NullType)


def _is_label(kind: Any) -> bool:
    from pyspark.sql.types import CharType, DecimalType, NullType, StringType, VarcharType

    if isinstance(kind, DecimalType):
        return False
    texts = (StringType, CharType, VarcharType, NullType)
    return _is_number(kind) or _is_bool(kind) or isinstance(kind, texts)


def _is_vector(kind: Any) -> bool:
    from pyspark.ml.linalg import VectorUDT

    return isinstance(kind, VectorUDT)


def _is_array(kind: Any) -> bool:
    from pyspark.sql.types import ArrayType

    return _is_vector(kind) or (isinstance(kind, ArrayType) and _is_feature(kind.elementType))
