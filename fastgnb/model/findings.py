"""Suspicious features of a model: keys, different units, variances below the smoothing.

Estimators do not report them; commands do. `drowned` and `uneven` look at statistics. `KeyWatch`
looks at rows as they pass, for columns that number the rows as an identifier does; its memory does
not grow with the rows.
"""

from __future__ import annotations

import base64
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..stats.class_stats import ClassStats
from ..stats.mixed_stats import MixedStats

__all__ = ["Drowned", "KeyWatch", "Numbering", "Uneven", "drowned", "uneven"]

_UNEVEN = 100.0
"""Ratio of standard deviations from which features are taken to be in different units."""

_FEW = 64
"""Rows that are looked at first, since they rule most columns out."""

_ENOUGH = {"increasing": 20, "decreasing": 20, "distinct": 100}
"""Fewest values for which it is not just chance."""

_SAMPLE = 1 << 14
"""Most values of a column that are kept, to see whether one comes again."""


class Drowned(NamedTuple):
    """Features whose variance is below the smoothing, so that they hardly count.

    features : their positions, at least one. epsilon : what is added to every variance. widest,
    variance : the feature with the largest variance, of which epsilon is a share, and that
    variance. remedy : the `var_smoothing` that makes epsilon a thousandth of the smallest of these
    variances.
    """

    features: tuple[int, ...]
    epsilon: float
    widest: int
    variance: float
    remedy: float


class Numbering(NamedTuple):
    """A feature that numbers the rows: "increasing", "decreasing" or "distinct" whole numbers."""

    feature: int
    how: str


def drowned(stats: ClassStats | MixedStats, epsilon: float, var_smoothing: float) -> Drowned | None:
    """Return the features that vary, over all rows, by less than what smoothing adds; None if none
    does.

    epsilon is the fitted `epsilon_`. Positions count all features. Cost: O(k d).
    """
    gaussian, at = stats, np.arange(stats.n_features)
    if isinstance(stats, MixedStats):
        gaussian, at = stats.gaussian, np.flatnonzero(~stats.is_categorical)
    assert isinstance(gaussian, ClassStats)
    variance = gaussian.to_diag().as_one_class().variance[0]
    low = (variance > 0) & (variance < epsilon)
    if not low.any():
        return None
    widest = int(variance.argmax())
    remedy = var_smoothing * (float(variance[low].min()) / epsilon) / 1000
    places = tuple(int(j) for j in at[low])
    return Drowned(places, float(epsilon), int(at[widest]), float(variance[widest]), remedy)


class Uneven(NamedTuple):
    """The features with the smallest and the largest standard deviation above 0, over all rows."""

    least: int
    largest: int
    sd: tuple[float, float]


def uneven(stats: ClassStats | MixedStats) -> Uneven | None:
    """Return features whose standard deviations differ by a factor of 100 or more; None if none do.

    That matters to members that compare features with each other: those with principal axes, and
    those with variances shared over features. Cost: O(k d).
    """
    gaussian = stats.gaussian if isinstance(stats, MixedStats) else stats
    sd = np.sqrt(gaussian.to_diag().as_one_class().variance[0])
    varies = np.flatnonzero(sd > 0)
    if not len(varies):
        return None
    least, largest = (int(varies[at(sd[varies])]) for at in (np.argmin, np.argmax))
    if sd[largest] < _UNEVEN * sd[least]:
        return None
    return Uneven(least, largest, (float(sd[least]), float(sd[largest])))


class KeyWatch:
    """Finds features that number the rows, over batches of rows X (n, d) in their order.

    Every value of such a feature is an integer, and the values increase, decrease, or are distinct.
    After many rows, distinctness is that of a sample of the values, with all of their rows. Missing
    values are ignored. Memory: 128 KB for each candidate. Time: little, since most features are
    ruled out by the first rows.
    """

    def __init__(self) -> None:
        self._columns: dict[int, _Column] | None = None

    def update(self, X: NDArray[Any]) -> None:
        """Look at the next rows, of finite numbers and NaN."""
        if self._columns is None:
            head = X[:_FEW]
            whole = np.isnan(head) | (head == np.floor(head))
            self._columns = {j: _Column() for j in np.flatnonzero(whole.all(axis=0)).tolist()}
        for j in list(self._columns):
            if not self._columns[j].update(X[:, j]):
                del self._columns[j]

    def following(self, X: NDArray[Any]) -> KeyWatch:
        """What the next rows look like, for `extend`. Other threads may call it meanwhile."""
        after, columns = KeyWatch(), self._columns
        if columns is not None:
            after._columns = {j: _Column() for j in columns}
        after.update(X)
        return after

    def found(self, at: NDArray[np.int64] | None = None) -> list[Numbering]:
        """The columns of X that number the rows so far; `at` (d,) are their features, if others."""
        named = ((j, column.how()) for j, column in (self._columns or {}).items())
        return [
            Numbering(j if at is None else int(at[j]), how) for j, how in named if how is not None
        ]

    def extend(self, after: KeyWatch) -> None:
        """Take the rows that another one has looked at, which come after those so far."""
        if self._columns is None or after._columns is None:
            self._columns = after._columns if self._columns is None else self._columns
            return
        pairs = {j: (self._columns[j], after._columns.get(j)) for j in self._columns}
        self._columns = {j: a for j, (a, b) in pairs.items() if b is not None and a.extend(b)}

    def to_json(self) -> dict[str, Any] | None:
        """What is known so far, as JSON holds it."""
        if self._columns is None:
            return None
        return {str(j): column.to_json() for j, column in self._columns.items()}

    @classmethod
    def from_json(cls, value: dict[str, Any] | None) -> KeyWatch:
        """What `to_json` made. Raises KeyError, TypeError or ValueError for other values."""
        watch = cls()
        if value is not None:
            watch._columns = {int(j): _Column.from_json(column) for j, column in value.items()}
        return watch


class _Column:
    """The state of one feature in a `KeyWatch`."""

    def __init__(self) -> None:
        self._n = 0
        self._first = self._last = np.nan
        self._limit = np.inf  # equal values from here on may have been distinct
        self._rises = self._falls = self._differs = True
        self._shift = 0  # values are in the sample where so many leading bits are 0
        self._sample = np.empty(0, np.uint64)

    def how(self) -> str | None:
        how = "increasing" if self._rises else "decreasing" if self._falls else "distinct"
        return how if self._n >= _ENOUGH[how] else None

    def update(self, column: NDArray[Any]) -> bool:
        """Take further values. Returns whether the feature may still number the rows."""
        for part in (column[:_FEW], column[_FEW:]):
            values = part[~np.isnan(part)]
            if not len(values):
                continue
            # Larger whole numbers of this type are rounded: equal ones may have been distinct.
            self._limit = 2.0 ** (np.finfo(values.dtype).nmant + 1)
            rounded = bool((np.abs(values) >= self._limit).any())
            if not (rounded or (values == np.floor(values)).all()):
                return False
            self._follow(values)
            self._differs = self._differs and not rounded and self._all_new(values)
            if not (self._rises or self._falls or self._differs):
                return False
            self._n += len(values)
        return True

    def _follow(self, values: NDArray[Any]) -> None:
        """Check that the values go on in one direction."""
        if not (self._rises or self._falls):
            return
        a, b = np.append(self._last, values[:-1]), values
        if np.isnan(self._last):
            self._first = float(values[0])
            a, b = a[1:], b[1:]
        self._compare(a, b)
        self._last = float(values[-1])

    def _compare(self, a: NDArray[Any], b: NDArray[Any]) -> None:
        """Note in which directions each value of b may follow that of a."""
        tie = (a == b) & (np.abs(b) >= self._limit)
        self._rises = self._rises and bool((tie | (a < b)).all())
        self._falls = self._falls and bool((tie | (a > b)).all())

    def _all_new(self, values: NDArray[Any]) -> bool:
        """Whether no value of the sample occurred twice."""
        keys = _scrambled(values)
        while len(keys := keys[self._sampled(keys)]) > _SAMPLE:
            self._shift += 1
        return self._join(keys)

    def _join(self, keys: NDArray[np.uint64]) -> bool:
        """Add keys to the sample. Returns whether none occurred twice."""
        every = np.concatenate([self._sample[self._sampled(self._sample)], keys])
        self._sample = np.unique(every)
        if len(self._sample) < len(every):
            return False
        while len(self._sample) > _SAMPLE:
            self._shift += 1
            self._sample = self._sample[self._sampled(self._sample)]
        return True

    def extend(self, after: _Column) -> bool:
        """Take the values of rows that come after these. Returns as `update` does."""
        if not (self._n and after._n):
            if after._n:
                self.__dict__.update(after.__dict__)
            return True
        self._rises, self._falls = self._rises and after._rises, self._falls and after._falls
        self._compare(np.array([self._last]), np.array([after._first]))
        self._last, self._n = after._last, self._n + after._n
        self._differs = self._differs and after._differs
        if self._differs:
            self._shift = max(self._shift, after._shift)
            self._differs = self._join(after._sample[self._sampled(after._sample)])
        return self._rises or self._falls or self._differs

    def to_json(self) -> dict[str, Any]:
        sample = self._sample if self._differs else self._sample[:0]
        return {
            "n": self._n,
            "ends": [self._first, self._last, self._limit] if self._n else None,
            "rises": self._rises,
            "falls": self._falls,
            "differs": self._differs,
            "shift": self._shift,
            "sample": base64.b64encode(sample.astype("<u8").tobytes()).decode(),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> _Column:
        column = cls()
        column._n, column._shift = int(value["n"]), int(value["shift"])
        if column._n:
            column._first, column._last, column._limit = map(float, value["ends"])
        column._rises, column._falls = bool(value["rises"]), bool(value["falls"])
        column._differs = bool(value["differs"])
        sample = np.frombuffer(base64.b64decode(value["sample"], validate=True), "<u8")
        column._sample = sample.astype(np.uint64)
        return column

    def _sampled(self, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
        if not self._shift:
            return np.ones(len(keys), np.bool_)
        return np.asarray(keys >> np.uint64(64 - self._shift) == 0)


def _scrambled(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Map distinct integers to distinct ones with well-mixed leading bits (Fibonacci hashing)."""
    return np.asarray(values.astype(np.int64).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
