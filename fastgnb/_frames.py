"""Frames of pandas, polars and pyarrow: which they are, and the values of one column.

Nothing here imports these libraries but pyarrow, for its own tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_POLARS_KINDS = {"Boolean", "Categorical", "Enum", "String"}
_ADVICE = (
    "Name it in categorical_features, or pass categorical_features='auto', if it holds categories; "
    "else convert it to numbers or leave it out."
)


def is_frame(X: Any) -> bool:
    """Whether X is a frame of pandas, polars or pyarrow, whose columns have types of their own."""
    if _is_arrow(X):
        return True
    return hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "get_columns"))


def in_memory(X: Any) -> Any:
    """X, where a record batch is a table. Raises TypeError for rows that are not there yet."""
    kind = type(X).__name__
    if hasattr(X, "__dask_graph__") and hasattr(X, "columns"):
        raise TypeError(
            f"Expected rows in memory, got a dask {kind}. Call .compute() first, or add up the "
            "MixedStats of its partitions."
        )
    if hasattr(X, "collect_schema") and not is_frame(X):
        raise TypeError(f"Expected rows in memory, got a polars {kind}. Call .collect() first.")
    if isinstance(X, Mapping) and not hasattr(X, "tocsr"):  # SciPy has sparse ones
        raise TypeError(
            f"Expected rows (n, d) or a frame, got a {kind}. Make a frame of columns first, as "
            "pandas.DataFrame(X) does."
        )
    if _is_arrow(X) and not hasattr(X, "to_batches"):
        from ._arrow import pa

        return pa.Table.from_batches([X])
    return X


def label_of(X: Any, j: int) -> str:
    """Column j of a frame as a message names it."""
    return repr((X.column_names if _is_arrow(X) else X.columns)[j])


def columns_of(X: Any) -> list[Any]:
    """The columns of a frame, each as its library has it."""
    if _is_arrow(X):
        return list(X.columns)
    if hasattr(X, "iloc"):
        return [X.iloc[:, j] for j in range(X.shape[1])]
    return list(X.get_columns())


def part_of(X: Any, at: NDArray[np.int64]) -> Any:
    """The frame of some columns."""
    if _is_arrow(X):
        from ._arrow import pa

        columns = [_decoded(X.column(j)) for j in at.tolist()]
        return pa.table(columns, names=[X.column_names[j] for j in at.tolist()])
    return X.iloc[:, at] if hasattr(X, "iloc") else X[:, at.tolist()]


def holds_categories(column: Any) -> bool:
    """Whether the type of a column is for categories, text or booleans; of a column of Python
    objects, whether one of them is text or a boolean."""
    if hasattr(column, "iloc"):
        dtype = column.dtype
        kind, scalar = getattr(dtype, "kind", "O"), getattr(dtype, "type", None)
        if hasattr(column, "cat") or kind in "bUT" or scalar is str:
            return True
        if getattr(scalar, "__name__", "") == "CategoricalDtypeType":  # a dictionary of Arrow's
            return True
        return kind == "O" and any(isinstance(value, (str, bool)) for value in column)
    if hasattr(column, "dtype"):
        return column.dtype.base_type().__name__ in _POLARS_KINDS
    from ._arrow import pa

    types, kind = pa.types, column.type
    return bool(types.is_dictionary(kind) or types.is_boolean(kind) or _is_arrow_text(kind))


def values_of(column: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """What a column holds, exactly: values (m,), none of them a null, and the position of each row
    in them (n,), -1 for a null; None where row i has value i.

    Whole numbers beside nulls stay whole numbers, which a float64 array would round. A column of
    NumPy's own types comes as it is, with its NaN.
    """
    if hasattr(column, "iloc"):
        if isinstance(column.dtype, np.dtype):
            return column.to_numpy(), None
        at, found = column.factorize()
        return np.asarray(found, object), np.asarray(at)
    if hasattr(column, "dtype"):
        is_null = column.is_null().to_numpy()
        values = _polars_values(column.drop_nulls() if is_null.any() else column)
    else:
        column = _decoded(column)
        is_null = column.is_null().to_numpy(zero_copy_only=False)
        values = column.drop_null().to_numpy(zero_copy_only=False)
    if not is_null.any():
        return values, None
    return values, np.where(is_null, -1, np.cumsum(~is_null) - 1)


def check_numeric(X: Any, at: NDArray[np.int64]) -> None:
    """Raise ValueError, which names it, for a continuous column of text, dates or such."""
    for j, column in zip(at.tolist(), columns_of(part_of(X, at)), strict=True):
        what = _not_numeric(column)
        if what is not None:
            raise not_numeric(what, label_of(X, j))


def not_numeric(what: str, feature: str) -> ValueError:
    """What to raise for a continuous feature that holds no numbers."""
    return ValueError(f"Expected numeric rows, got {what} in feature {feature}. {_ADVICE}")


def _not_numeric(column: Any) -> str | None:
    """What a column holds that is no number, as far as its type or its objects tell."""
    if hasattr(column, "iloc"):
        scalar = getattr(column.dtype, "type", None)
        if getattr(column.dtype, "kind", "O") in "Mm":
            return f"{column.dtype}"
        if hasattr(column, "cat"):
            return _first_text(column.cat.categories)
        return _first_text(column) if column.dtype == object or scalar is str else None
    if hasattr(column, "dtype"):
        is_text = column.dtype.base_type().__name__ in _POLARS_KINDS - {"Boolean"}
        if not (is_text or column.dtype.is_temporal()):
            return None
        return _first_text(column.drop_nulls().head(1).to_list()) or f"{column.dtype}"
    from ._arrow import pa

    types, kind = pa.types, column.type
    if not (_is_arrow_text(kind) or types.is_temporal(kind) or types.is_binary(kind)):
        return None
    return _first_text(column.drop_null()[:1].to_pylist()) or f"{kind}"


def _first_text(values: Any) -> str | None:
    """Text among objects that is no number; scikit-learn takes "5" as one."""
    for value in values:
        if isinstance(value, (str, bytes)):
            try:
                float(value)
            except ValueError:
                return f"text: {value!r:.40}"
    return None


def _is_arrow(X: Any) -> bool:
    return hasattr(X, "column_names") and hasattr(X, "schema") and not hasattr(X, "iloc")


def _is_arrow_text(kind: Any) -> bool:
    from ._arrow import pa

    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _decoded(column: Any) -> Any:
    """A column of pyarrow as what its dictionary stands for."""
    from ._arrow import pa

    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


def _polars_values(column: Any) -> NDArray[Any]:
    if column.dtype.is_integer() and column.dtype.base_type().__name__.endswith("128"):
        return np.array(column.to_list(), object)
    return np.asarray(column.to_numpy())
