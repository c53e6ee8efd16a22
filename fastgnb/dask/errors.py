"""The error of a partition whose rows cannot be used."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

__all__ = ["PartitionError", "naming_partition", "portable"]


class PartitionError(ValueError):
    """Raised where the rows of a partition of a Dask collection cannot be used.

    The message names the partition, counted from 0, and ``__cause__`` is the error of its rows,
    also where the task ran in another process.

    See Also
    --------
    Distributed : An estimator over the partitions of Dask collections.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickle of an exception does not hold its cause.
        return _with_cause, (type(self), self.args, self.__cause__)


def _with_cause(
    kind: type[PartitionError], args: tuple[Any, ...], cause: BaseException | None
) -> PartitionError:
    error = kind(*args)
    error.__cause__ = cause
    return error


def portable(cause: Exception) -> Exception:
    """The cause of an error, or one of its words where that cannot be sent to another process.

    It is looked at when the error is raised, since tblib, where it is installed, pickles errors by
    its own rule.
    """
    try:
        pickle.loads(pickle.dumps(cause))
    except Exception:  # each type has its own
        return ValueError(f"{type(cause).__name__}: {cause}")
    return cause


def naming_partition(number: int, work: Callable[[], Any]) -> Any:
    """Return what work() returns. Raises PartitionError where it raises."""
    try:
        return work()
    except MemoryError:  # no fault of the rows
        raise
    except Exception as error:  # each library has its own
        reason = error
    # Not above, where the reason would be pickled too, as the context of the new error.
    raise PartitionError(f"partition {number}: {reason}") from portable(reason)
