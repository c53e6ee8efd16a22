"""Rows whose values a model cannot take: an error that says where, or a count of those left out."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...input.categorical import MixedRows
from ...input.rows import NotFiniteError
from ..errors import SourceError
from ..phrases import counted
from ..tables.batch import Batch

__all__ = ["BadRows", "RowCounts", "bad_mask", "left_out_texts"]

T = TypeVar("T")


class BadRows:
    """What a run does with rows that hold infinities, or missing values that count as errors.

    on_error : "fail" raises SourceError, others count the rows in `n`.
    skip : whether the model takes missing values. can_skip : whether such models of its kind do.
    choices : what --on-error may be instead, for the message.
    """

    def __init__(
        self, on_error: str, *, skip: bool, can_skip: bool, choices: tuple[str, ...] = ("skip",)
    ) -> None:
        self.n = 0
        self._counting = threading.Lock()
        self.on_error, self._skip = on_error, skip
        ways = {
            "skip": "--on-error skip leaves such rows out",
            "null": "--on-error null gives them no prediction",
        }
        self._advice = [ways[choice] for choice in choices]
        self._missing = ["a model fitted with --missing skip takes these"] if can_skip else []

    def taken(
        self, batch: Batch, work: Callable[[Batch], T]
    ) -> tuple[NDArray[np.bool_] | None, Batch, T | None]:
        """What `work` makes of the rows of a batch that can be taken, and which these are.

        The mask (n,) is None where all are; without any, there is no result. Raises SourceError.
        Several threads may call it.
        """
        try:
            with prefix_rows(batch):
                return None, batch, work(batch)
        except NotFiniteError as error:
            if self.on_error == "fail":
                raise self._error(batch, error) from error
        good = ~bad_mask(batch, skip=self._skip)
        with self._counting:
            self.n += int(len(good) - good.sum())
        part = batch.select(good)
        if not good.any():
            return good, part, None
        with prefix_rows(part):
            return good, part, work(part)

    def _error(self, batch: Batch, error: NotFiniteError) -> SourceError:
        advice = [*(self._missing if np.isnan(error.value) else []), *self._advice]
        return batch.not_finite(error.row, error.column, error.value, "; ".join(advice))


@contextlib.contextmanager
def prefix_rows(batch: Batch) -> Iterator[None]:
    """Say in which rows of which file the values are that the library cannot take."""
    try:
        yield
    except (NotFiniteError, SourceError):  # located more exactly
        raise
    except (TypeError, ValueError) as error:
        first, last = batch.row_number(0), batch.row_number(len(batch.X) - 1)
        raise SourceError(f"{batch.path}: rows {first} to {last}: {error}") from error


def bad_mask(batch: Batch, *, skip: bool) -> NDArray[np.bool_]:
    """Rows (n,) that hold an infinity or, without `skip`, a missing value."""
    ok = ~np.isinf(batch.X) if skip else np.isfinite(batch.X)
    bad = np.asarray(~ok.all(axis=1))
    if isinstance(batch.rows, MixedRows) and not skip:
        for column in batch.categorical:
            bad |= column.codes < 0
    if batch.weight is not None:  # a row of weight 0 is not looked at
        bad &= batch.weight > 0
    return bad


class RowCounts(NamedTuple):
    """How many rows a job took, and how many it did not.

    Parameters
    ----------
    n_rows : int
        Rows that were learned, written or compared.
    n_null_labels : int, default=0
        Rows that were left out as they have no label.
    n_bad_rows : int, default=0
        Rows that the model cannot take, which hold infinities or missing values. They were left
        out, or written without a prediction.
    n_filtered : int, default=0
        Rows of the files that were read which do not meet the condition `where`.

    See Also
    --------
    fastgnb.files.predict : Score files into a file.

    Examples
    --------
    >>> from fastgnb.files import RowCounts
    >>> RowCounts(100, n_bad_rows=3).n_bad_rows
    3
    """

    n_rows: int
    n_null_labels: int = 0
    n_bad_rows: int = 0
    n_filtered: int = 0


def left_out_texts(counts: RowCounts, on_error: str) -> list[str]:
    """How many rows were left out, and why."""
    texts = []
    if counts.n_filtered:
        texts.append(f"{counted(counts.n_filtered, 'row')} left out (--where)")
    if counts.n_null_labels:
        texts.append(f"{counted(counts.n_null_labels, 'row')} left out (no label)")
    if counts.n_bad_rows:
        what = "predicted null" if on_error == "null" else "left out"
        texts.append(f"{counted(counts.n_bad_rows, 'row')} {what} (missing or infinite values)")
    return texts
