"""Frames of pandas, polars and pyarrow: which they are, and the values of one column.

Nothing here imports these libraries but pyarrow, for its own tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrow import plain_column
from .rows import check_loaded, check_rows

_POLARS_KINDS = {"Boolean", "Categorical", "Enum", "String"}
_IF_TEXT = (
    "Name it in categorical_features, or pass categorical_features='auto', if it holds categories; "
    "else convert it to numbers or leave it out."
)
_IF_TEXT_ALONE = (
    "Convert it to numbers or leave it out; fastgnb.MixedNB learns columns of categories."
)
_IF_OTHER = "Convert it to numbers, such as days, or leave it out."


def is_frame(X: Any) -> bool:
    """Whether X is a frame of pandas, polars or pyarrow, whose columns have types of their own."""
    kind = type(X)  # since a column may have the name of an attribute
    return _is_arrow(X) or hasattr(kind, "iloc") or hasattr(kind, "get_columns")


def in_memory(X: Any) -> Any:
    """X, where a record batch is a table. Raises TypeError for rows that are not there yet."""
    kind = type(X).__name__
    check_loaded(X, "X")
    if hasattr(type(X), "collect_schema") and not is_frame(X):
        raise TypeError(f"Expected rows in memory, got a polars {kind}. Call .collect() first.")
    if isinstance(X, Mapping) and not hasattr(X, "tocsr"):  # SciPy has sparse ones
        raise TypeError(
            f"Expected rows (n, d) or a frame, got a {kind}. Make a frame of columns first, as "
            "pandas.DataFrame(X) does."
        )
    if _is_arrow(X) and not hasattr(X, "to_batches"):
        from .._system.optional import pa

        return pa.Table.from_batches([X])
    return X


def sliceable(X: Any) -> Any:
    """X, of which rows can be selected: pyarrow selects none of batches, runs and string views."""
    X = in_memory(X)
    if not _is_arrow(X):
        return X
    from .._system.optional import pa

    types = pa.types
    columns = [
        _decoded(column)
        if types.is_run_end_encoded(column.type) or types.is_string_view(column.type)
        else column
        for column in X.columns
    ]
    return pa.table(columns, names=X.column_names)


def label_of(X: Any, j: int) -> str:
    """The name of column j of a frame, for messages."""
    return repr((X.column_names if _is_arrow(X) else X.columns)[j])


def columns_of(X: Any) -> list[Any]:
    """The columns of a frame, as objects of its library."""
    if _is_arrow(X):
        return list(X.columns)
    if hasattr(X, "iloc"):
        return [X.iloc[:, j] for j in range(X.shape[1])]
    return list(X.get_columns())


def select_columns(X: Any, features: NDArray[np.int64]) -> Any:
    """The frame of these columns."""
    if _is_arrow(X):
        from .._system.optional import pa

        columns = [_decoded(X.column(j)) for j in features.tolist()]
        return pa.table(columns, names=[X.column_names[j] for j in features.tolist()])
    return X.iloc[:, features] if hasattr(X, "iloc") else X[:, features.tolist()]


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
    from .._system.optional import pa

    types, kind = pa.types, _without_runs(column.type)
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
        place, values = column.factorize()
        return np.asarray(values, object), np.asarray(place)
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


def numbers_of(X: Any, features: NDArray[np.int64]) -> NDArray[Any]:
    """Continuous columns of a frame as an array. Raises ValueError, which names the column."""
    check_numeric(X, features)
    try:
        return check_rows(select_columns(X, features))
    except Exception as error:  # each library has its own
        for j in features.tolist():
            try:
                check_rows(select_columns(X, np.array([j])))
            except Exception as reason:
                raise ValueError(
                    f"Feature {label_of(X, j)} is not in categorical_features and holds no "
                    f"numbers: {reason}"
                ) from error
        raise


def check_numeric_columns(X: Any, *, takes_categories: bool) -> None:
    """Raise ValueError, which names it, for the first column of a frame that holds no numbers.
    Called for rows that were refused."""
    if not is_frame(in_memory(X)) or len(np.shape(X)) != 2 or not np.shape(X)[1]:
        if takes_categories:
            _check_cells(X)
        return
    try:
        numbers_of(X, np.arange(X.shape[1]))
    except ValueError as error:
        if takes_categories:
            raise
        text = str(error).replace(_IF_TEXT, _IF_TEXT_ALONE)
        text = text.replace(" is not in categorical_features and", "")
        raise ValueError(text if text.endswith(".") else f"{text}. {_IF_OTHER}") from error


def _check_cells(X: Any) -> None:
    """Raise ValueError, which numbers its column, for the first text or date of an array (n, d)."""
    cells = X if isinstance(X, np.ndarray) else np.asarray(X, object)
    if cells.ndim != 2 or not cells.size:
        return
    if cells.dtype.kind in "Mm":
        raise non_numeric_error(f"dtype {cells.dtype}", "0")
    for j in range(cells.shape[1]):
        text = _first_text(cells[:, j].tolist()) if cells.dtype.kind in "OUST" else None
        if text is not None:
            raise non_numeric_error(text, f"{j}")


def check_numeric(X: Any, features: NDArray[np.int64]) -> None:
    """Raise ValueError, which names it, for a continuous column of text, dates or such."""
    columns = columns_of(X)
    for j in features.tolist():
        what = _non_numeric_content(columns[j])
        if what is not None:
            raise non_numeric_error(what, label_of(X, j))


def non_numeric_error(what: str, feature: str) -> ValueError:
    """What to raise for a continuous feature that holds no numbers."""
    advice = _IF_TEXT if what.startswith("text") else _IF_OTHER
    return ValueError(f"Expected numeric rows, got {what} in feature {feature}. {advice}")


def _non_numeric_content(column: Any) -> str | None:
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
    from .._system.optional import pa

    types, kind = pa.types, _without_runs(column.type)
    if not (_is_arrow_text(kind) or types.is_temporal(kind) or types.is_binary(kind)):
        return None
    return _first_text(_decoded(column).drop_null()[:1].to_pylist()) or f"{kind}"


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
    return hasattr(type(X), "column_names") and hasattr(type(X), "schema")


def _without_runs(kind: Any) -> Any:
    """The type of the values of a column of pyarrow that may be in runs."""
    from .._system.optional import pa

    return _without_runs(kind.value_type) if pa.types.is_run_end_encoded(kind) else kind


def _is_arrow_text(kind: Any) -> bool:
    """Whether values are text, by themselves or by a dictionary."""
    from .._system.optional import pa

    types = pa.types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _decoded(column: Any) -> Any:
    """A column of pyarrow as what its dictionary stands for."""
    from .._system.optional import pa

    column = plain_column(column)
    return column.cast(pa.string()) if pa.types.is_string_view(column.type) else column


def _polars_values(column: Any) -> NDArray[Any]:
    if column.dtype.is_integer() and column.dtype.base_type().__name__.endswith("128"):
        return np.array(column.to_list(), object)
    return np.asarray(column.to_numpy())
