"""Rows beside a model's densities: a few columns of them, and the positions of their classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..input.categorical import check_table, split_columns, table_indices
from ..input.frames import in_memory, is_frame, numbers_of, select_columns
from ..input.rows import as_numbers, feature_names_of, unmasked
from ..input.targets import encode_targets
from ..model.model import Model
from .names import listed

__all__ = ["category_positions", "check_both", "class_codes", "columns"]


def check_both(X: Any, y: Any) -> bool:
    """Whether rows were given. Raises ValueError for rows without labels, or labels alone."""
    if (X is None) != (y is None):
        raise ValueError("Expected both X and y, the rows and their labels, or neither of them.")
    return X is not None


def class_codes(X: Any, y: Any, model: Model) -> NDArray[np.int64]:
    """Positions (n,) of the labels of rows among the model's classes.

    Raises ValueError for labels that the model does not know, and for another number than of rows.
    """
    labels, _ = encode_targets(in_memory(X), y, None, model.classes)
    return np.asarray(labels.codes, np.int64)


def columns(X: Any, features: Sequence[int], model: Model) -> NDArray[np.float64]:
    """Values (n, m) of continuous features of rows X (n, d), NaN where missing.

    Columns of a frame are found by name where the model has names. Raises ValueError for another
    number of features, and for values that are no numbers.
    """
    table, places = _located(X, features, model)
    if is_frame(table):
        return np.asarray(numbers_of(table, np.array(places)), np.float64)
    part = table[:, places]
    return np.asarray(as_numbers(np.asarray(unmasked(part))), np.float64)


def category_positions(X: Any, feature: int, model: Model) -> NDArray[np.int64]:
    """Position (n,) of each row's category of a feature among the m that were learned.

    A category that was not learned has position m, and a missing value -1.
    """
    table, places = _located(X, [feature], model)
    one = select_columns(table, np.array(places)) if is_frame(table) else table[:, places]
    rows = split_columns(one, np.ones(1, np.bool_), skip=True)
    stats = model.stats
    order = int(stats.is_categorical[:feature].sum())
    known = np.asarray(model.attributes["categories_"][order])
    name = stats.categorical_names()[order]
    position = table_indices(rows.columns, [known], [name])[0].astype(np.int64)
    return np.where(position > len(known), -1, position)


def _located(X: Any, features: Sequence[int], model: Model) -> tuple[Any, list[int]]:
    """X as a frame or an array (n, d), and where these features of the model are in it."""
    table = check_table(in_memory(X))
    names = feature_names_of(table) if is_frame(table) else None
    if names is not None and model.feature_names is not None:
        wanted = [model.feature_names[j] for j in features]
        missing = [name for name in wanted if name not in names]
        if missing:
            raise ValueError(
                f"Expected X to have a column {missing[0]!r}, got columns {listed(names)}."
            )
        return table, [names.index(name) for name in wanted]
    if table.shape[1] != model.n_features:
        raise ValueError(
            f"X has {table.shape[1]} features, but the model is expecting {model.n_features}."
        )
    return table, list(features)
