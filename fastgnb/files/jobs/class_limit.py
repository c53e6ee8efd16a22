"""How many distinct labels a model may have."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._system.remote.paths import AnyPath
from ...input.labels import Labels, encode_labels, locate_labels
from ..errors import SourceError
from ..phrases import counted, listed
from ..tables.batch import Batch

__all__ = ["MAX_CLASSES", "ClassLimit"]

MAX_CLASSES = 10_000
"""Most distinct labels, unless an option says otherwise: more are no classes, but identifiers."""


class ClassLimit:
    """An error as soon as there are more distinct labels than a model is meant to have.

    most : most distinct labels. n_priors : number of --priors, in the order of the labels. target :
    their column, for the message. known : labels that a model has already. only : (k,), the sorted
    labels that may occur, all of which are classes of each batch. `labels`, `n_rows` and `paths`,
    the files with rows, are those so far.
    """

    def __init__(
        self,
        most: int = MAX_CLASSES,
        *,
        n_priors: int | None = None,
        target: str | None = None,
        known: np.ndarray | None = None,
        only: np.ndarray | None = None,
    ) -> None:
        self._only = only
        self._known = [] if known is None else known.tolist()
        self.labels: set[Any] = set(self._known)
        self._most = max(most, len(self._known), 0 if only is None else len(only))
        self._priors = n_priors
        self._column = "labels" if target is None else f"column {target!r}"
        self.n_rows = 0
        self.paths: set[AnyPath] = set()
        self._met: set[Any] = set()

    def encode(self, batch: Batch) -> Labels:
        """The labels of a batch, in any thread; `check` has to see them. Raises SourceError."""
        try:
            labels = batch.coded or encode_labels(np.asarray(batch.y))
            if self._only is not None:
                labels = locate_labels(labels, self._only)
        except (TypeError, ValueError) as error:
            raise SourceError(f"{batch.path}: {self._column}: {error}") from error
        return labels

    def is_broken_by(self, classes: np.ndarray) -> bool:
        """Whether the labels of one batch are too many by themselves."""
        return len(classes) > self._most

    def check(self, path: AnyPath, n_rows: int, classes: np.ndarray) -> None:
        """Raise SourceError where the labels of a further batch make too many."""
        labels = self.labels.union(classes.tolist())
        where = f"{path}: {self._column}: {counted(len(labels), 'distinct label')}"
        if len(labels) > self._most:
            rows = counted(self.n_rows + n_rows, "row")
            raise SourceError(
                f"{where} in the first {rows}, expected at most {self._most:,} classes; name "
                "another target, or raise --max-classes"
            )
        if self._priors is not None and len(labels) > self._priors:
            raise SourceError(f"{where}, but {self._expected(labels)}")

    def add(self, batch: Batch, classes: np.ndarray) -> None:
        """Count the labels of a batch that is learned."""
        self._add(batch.path, len(batch.X), classes)

    def add_file(self, path: AnyPath, n_rows: int, classes: np.ndarray) -> None:
        """Count the labels of a file that was learned before. Raises as `check` does."""
        self.check(path, n_rows, classes)
        self._add(path, n_rows, classes)

    def _add(self, path: AnyPath, n_rows: int, classes: np.ndarray) -> None:
        self.n_rows += n_rows
        self.paths.add(path)
        self.labels.update(classes.tolist())
        self._met.update(classes.tolist())

    def _expected(self, labels: set[Any]) -> str:
        if self._known:
            return (
                f"the model has priors, of {listed(self._known)} alone; classes can be added only "
                "to a model without --priors"
            )
        return (
            f"{counted(self._priors or 0, 'prior')}; expected one for each class, in this order: "
            f"{listed(sorted(labels))}"
        )

    def check_priors(self, path: object) -> None:
        """Raise SourceError where there are more priors than labels."""
        if self._priors is not None and self._priors != len(self.labels):
            number = counted(len(self.labels), "distinct label")
            expected = self._expected(self.labels)
            raise SourceError(f"{path}: {self._column}: {number}, but {expected}")

    def is_all_new(self) -> bool:
        """Whether no label was known before, though some were."""
        return bool(self._known) and bool(self._met) and self._met.isdisjoint(self._known)

    def new(self) -> list[Any]:
        """Labels that were not known before, sorted."""
        return sorted(self.labels.difference(self._known))
