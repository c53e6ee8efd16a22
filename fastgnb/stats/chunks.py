"""Chunks of rows into statistics whose classes are known, with little work around the kernel.

What does not change from one chunk to the next is prepared once: a table of the labels, and the
statistics in one array where they are those of `RunningStats`. Rows that need any check or
conversion are left to `ClassStats.from_rows` and `+`, whose bits this way has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..input.known_labels import KnownLabels
from ..input.labels import Labels
from ..input.plain import are_plain
from ..kernels.learn.chunk import is_one_call, merge_chunk, pack, same_sums, unpack
from ..kernels.learn.encode import EncodedLabels
from ..kernels.learn.merge import Parts
from .accumulation import accumulate_rows
from .checks import check_shapes, is_usual
from .merging import merge_rows

if TYPE_CHECKING:
    from .class_stats import ClassStats

Floats = NDArray[np.float64]

_F8 = np.dtype(np.float64)

# Flags of arrays: contiguous by rows, contiguous by rows or by columns, and aligned.
_BY_ROWS, _CONTIGUOUS, _ALIGNED = 1, 3, 256

# Weights within these bounds, of which one is not below the third, keep all digits as they are.
_LEAST, _MOST, _LARGEST_FROM = 2.0**-100, 2.0**100, 0.25


class _Known(NamedTuple):
    """What stays the same from one chunk to the next. classes: their bytes."""

    labels: KnownLabels
    classes: bytes
    made: type[ClassStats]
    feature_names: tuple[str, ...] | None


class Running:
    """Statistics to which chunks of plain rows are added, of classes whose labels are known.

    The labels are whole numbers in a small range. Nothing changes an instance.
    """

    __slots__ = ("_known", "classes", "d")

    skips: bool
    _known: _Known
    classes: NDArray[Any]
    d: int

    @staticmethod
    def of(stats: ClassStats) -> Running | None:
        """Statistics as they take chunks, or None where they do not."""
        running: Running | None = getattr(stats, "_running", None)
        if running is None:
            running = _running_of(stats)
            if type(running) is RunningStats:  # the other kind refers to them
                object.__setattr__(stats, "_running", running)
        return running

    def _after(self) -> Self:
        """A new instance of the same classes and features."""
        new = object.__new__(type(self))
        new._known, new.classes, new.d = self._known, self.classes, self.d
        return new

    def has_classes(self, classes: NDArray[Any]) -> bool:
        """Whether these are the classes, in their order and of their type."""
        return classes.dtype == self.classes.dtype and classes.tobytes() == self._known.classes

    def stats(self) -> ClassStats:
        """These as `ClassStats`."""
        raise NotImplementedError

    def add(self, X: Any, y: Any, weight: Any = None, *, declared: bool = True) -> Self | None:
        """The statistics with rows added, or None where these are for the long way.

        The long way is taken for anything but native arrays of rows and of integer labels that are
        known, with usual weights, as many as one call may take; and for values that are not finite,
        or so large that what is derived of them may overflow. declared: whether the bits are those
        of rows whose classes are declared, or of rows of which only those classes are known that
        occur. Cost: one read of the rows, and a few microseconds.
        """
        if not (are_plain(X, y) and X.shape[1] == self.d and is_one_call(len(y), self.d)):
            return None
        if weight is not None and not _is_usual_weight(weight, len(y)):
            return None
        labels = self._known.labels.encode(y)
        return None if labels is None else self._with(X, labels, weight, declared)

    def _with(
        self, X: NDArray[Any], labels: EncodedLabels, weight: Floats | None, declared: bool
    ) -> Self | None:
        raise NotImplementedError


class RunningStats(Running):
    """Statistics of diagonal scatter, without missing values and without what was subtracted.

    They stand in one array, and one compiled call adds a chunk.
    """

    __slots__ = ("_packed",)

    skips = False
    _packed: Floats

    @property
    def packed(self) -> Floats:
        """The array of the statistics."""
        return self._packed

    def encoded(self, y: NDArray[Any]) -> EncodedLabels | None:
        """Labels with the table of those known, or None where they are no whole numbers."""
        return self._known.labels.encode(y)

    def with_packed(self, packed: Floats) -> Self:
        """Other statistics of the same classes and features."""
        new = self._after()
        new._packed = packed
        return new

    def stats(self) -> ClassStats:
        """These as `ClassStats`."""
        weight, mean, mean_lo, variance = unpack(self._packed, len(self.classes), self.d)
        new = object.__new__(self._known.made)
        new.__dict__.update(
            classes=self.classes, count=weight[:, 0], mean=mean, variance=variance,
            mean_lo=mean_lo, feature_count=None, feature_names=self._known.feature_names,
            max_scatter=None, covariance=None,
        )  # fmt: skip
        object.__setattr__(new, "_running", self)
        return new

    def _with(
        self, X: NDArray[Any], labels: EncodedLabels, weight: Floats | None, declared: bool
    ) -> Self | None:
        flags = X.flags.num
        if not flags & _ALIGNED or not flags & _CONTIGUOUS:
            return None
        rows, k = (X.ravel("K"), not flags & _BY_ROWS), len(self.classes)
        found, packed = merge_chunk(*rows, labels, weight, self._packed, k, self.d)
        if found & 7 or not (declared or same_sums(len(X), self.d, found >> 3, k)):
            return None
        return self.with_packed(packed)


class WideStats(Running):
    """Statistics with full scatter, or with missing values."""

    __slots__ = ("_stats",)

    _stats: ClassStats

    @property
    def skips(self) -> bool:  # type: ignore[override]
        """Whether missing values are left out."""
        return self._stats.feature_count is not None

    def stats(self) -> ClassStats:
        """These as `ClassStats`."""
        return self._stats

    def _with(
        self, X: NDArray[Any], labels: EncodedLabels, weight: Floats | None, declared: bool
    ) -> Self | None:
        before = self._stats
        full, skip = before.covariance is not None, self.skips
        if not _are_known(labels):
            return None
        try:
            fields = accumulate_rows(X, Labels(self.classes, labels), weight, skip=skip, full=full)
        except ValueError:  # the long way says which, and why
            return None
        if not (declared or fields["count"].all()):
            return None
        new = self._after()
        new._stats = self._made(merge_rows(before, self._made(fields)))
        return new if is_usual(new._stats) else None

    def _made(self, fields: dict[str, Any]) -> ClassStats:
        names = self._known.feature_names
        return self._known.made(self.classes, feature_names=names, **fields)


def _running_of(stats: ClassStats) -> Running | None:
    special = stats.feature_count, stats.covariance
    is_wide = any(value is not None for value in special)
    if stats.max_scatter is not None:
        return None
    check_shapes(stats)
    arrays = stats.count, stats.mean, stats.mean_lo, stats.variance
    if not stats.mean.size or not all(map(_is_float_array, arrays)):
        return None
    labels = KnownLabels.of(stats.classes)
    if labels is None:
        return None
    new: Any = object.__new__(WideStats if is_wide else RunningStats)
    new._known = _Known(labels, stats.classes.tobytes(), type(stats), stats.feature_names)
    new.classes, new.d = stats.classes, stats.n_features
    if is_wide:
        new._stats = stats
    else:
        new._packed = pack(Parts(stats.count, stats.mean, stats.mean_lo, stats.variance))
    return new  # type: ignore[no-any-return]


def _are_known(labels: EncodedLabels) -> bool:
    """Whether all labels have a code from 0 up in the lookup table."""
    low, high = int(labels.values.min()), int(labels.values.max())
    if low < labels.offset or high >= labels.offset + len(labels.lookup):
        return False
    return bool((labels.lookup[low - labels.offset : high - labels.offset + 1] >= 0).all()) or bool(
        (labels.lookup[labels.values - labels.offset] >= 0).all()
    )


class PreparedStats:
    """Base of statistics: a place for what is prepared, which is no field, and in no pickle."""

    __slots__ = ("_running",)

    _running: Running

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__


def _is_usual_weight(weight: Any, n: int) -> bool:
    """Whether weights need no conversion, no check of values and no other units."""
    if type(weight) is not np.ndarray or weight.dtype is not _F8 or weight.shape != (n,):
        return False
    if not (weight.flags.c_contiguous and weight.flags.aligned):
        return False
    least, most = weight.min(), weight.max()
    return bool(least >= _LEAST and _LARGEST_FROM <= most < _MOST)


def _is_float_array(values: Any) -> bool:
    return type(values) is np.ndarray and values.dtype is _F8
