"""Columns of which the model knows no category: another coding, most likely, such as 1.0 for 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...input.label_types import positions
from ...model.model import Model
from ..phrases import listed
from ..tables.batch import Batch

__all__ = ["UnknownCategories"]

_SHOWN = 20
"""Most labels that are kept of a column, to show some of them."""


class UnknownCategories:
    """Looks at rows as they pass for a known category in each column that has categories.

    Cost: nothing more for a column once a known one is found.
    """

    def __init__(self, model: Model) -> None:
        self._known: dict[str, NDArray[np.generic]] = {}
        self._unknown: dict[str, dict[object, None]] = {}  # in the order in which they were met
        if model.member.takes_categories and model.feature_names is not None:
            at = np.flatnonzero(model.stats.is_categorical).tolist()
            names = [model.feature_names[j] for j in at]
            pairs = zip(names, model.stats.categories, strict=True)
            self._known = {name: labels for name, labels in pairs if len(labels)}

    def look(self, batch: Batch) -> None:
        """Look at a further batch."""
        for name, column in zip(batch.categorical_names, batch.categorical, strict=True):
            if name not in self._known:
                continue
            labels = column.labels[np.unique(column.codes[column.codes >= 0])]
            if (positions(labels, self._known[name], absent=-1) >= 0).any():
                del self._known[name]
                self._unknown.pop(name, None)
            elif len(labels):
                unknown = self._unknown.setdefault(name, {})
                if len(unknown) < _SHOWN:
                    unknown |= dict.fromkeys(labels[:_SHOWN].tolist())

    def texts(self) -> list[str]:
        """What to say of each column that has values, none of which is known."""
        return [
            f"the model knows none of the categories of {name!r}; found {listed(unknown)}, "
            f"expected {listed(self._known[name].tolist())}"
            for name, unknown in self._unknown.items()
        ]
