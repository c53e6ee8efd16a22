"""Rows of normal classes, made by their numbers, so that any of them can be made again.

A row's label and values come from a hash of its number and of the seed: the finalizer of splitmix64
(Steele, Lea and Flood 2014) over a counter. Normal values come from the ziggurat of Marsaglia and
Tsang (2000) in Doornik's form (2005), of 128 layers, which needs one hash for 97 of 100 values.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["TARGET", "Problem", "batches", "make_labels", "make_rows", "schema"]

TARGET = "y"

_LAYERS, _TAIL, _AREA = 128, 3.442619855899, 9.91256303526217e-3


class Problem(NamedTuple):
    """A distribution of rows: d features of three normal classes.

    Attributes
    ----------
    n_features : d.
    offset : mean of each feature in units of its standard deviations.
    seed : of all rows.
    """

    n_features: int = 20
    offset: float = 0.0
    seed: int = 14

    @property
    def prior(self) -> NDArray[np.float64]:
        """Shares (k,) of the classes."""
        return np.array([0.5, 0.3, 0.2])

    @property
    def sd(self) -> NDArray[np.float64]:
        """Standard deviations (k, d): from 0.5 to 1.5."""
        c, j = np.indices((len(self.prior), self.n_features))
        return 0.5 + (7 * c + 3 * j) % 5 / 4

    @property
    def mean(self) -> NDArray[np.float64]:
        """Means (k, d), of classes that overlap."""
        c, j = np.indices((len(self.prior), self.n_features))
        return self.offset + (c - 1) * (1 + j % 3) / 10


def make_rows(problem: Problem, first: int, n: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Rows first to first + n, as (n, d) float64 by columns, and their labels (n,)."""
    y = make_labels(problem, first, n)
    columns = np.empty((problem.n_features, n))
    _fill(*_keys(problem, first), problem.mean, problem.sd, y, columns, *_ZIGGURAT)
    return columns.T, y


def make_labels(problem: Problem, first: int, n: int) -> NDArray[np.int64]:
    """The labels (n,) alone."""
    y = np.empty(n, np.int64)
    _fill_labels(*_keys(problem, first), problem.n_features, np.cumsum(problem.prior), y)
    return y


def schema(problem: Problem) -> Any:
    """Columns x0, x1, ... and y of Arrow."""
    import pyarrow as pa

    names = [f"x{j}" for j in range(problem.n_features)]
    return pa.schema([*((name, pa.float64()) for name in names), (TARGET, pa.int64())])


def batches(
    problem: Problem, first: int, n: int, rows: int = 1 << 16, threads: int = 1
) -> Iterator[Any]:
    """Rows first to first + n as record batches, which as many threads make ahead."""
    import pyarrow as pa

    names = schema(problem)

    def make(start: int) -> Any:
        X, y = make_rows(problem, start, min(rows, first + n - start))
        return pa.RecordBatch.from_arrays([*map(pa.array, (*X.T, y))], schema=names)

    starts = iter(range(first, first + n, rows))
    with ThreadPoolExecutor(threads, "rows") as makers:
        coming = [makers.submit(make, start) for start in itertools.islice(starts, threads + 1)]
        while coming:
            batch = coming.pop(0).result()
            coming += [makers.submit(make, start) for start in itertools.islice(starts, 1)]
            yield batch


# ------------------------------------------------------------------ hashes and normal values


def _tables() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Right ends (129,) of the ziggurat's layers, and the ratio (128,) of each to the one below."""
    x = np.zeros(_LAYERS + 1)
    x[0], x[1] = _AREA / math.exp(-0.5 * _TAIL**2), _TAIL
    for i in range(2, _LAYERS):
        x[i] = math.sqrt(-2 * math.log(_AREA / x[i - 1] + math.exp(-0.5 * x[i - 1] ** 2)))
    return x, x[1:] / x[:-1]


_ZIGGURAT = _tables()
_STEP = 0x9E3779B97F4A7C15


def _keys(problem: Problem, first: int) -> tuple[np.uint64, np.uint64]:
    """The counter of the first row's label, and the key of the seed. A row has d + 1 counters."""
    key = (problem.seed + 1) * 0xD1342543DE82EF95 % 2**64
    return np.uint64(first * (problem.n_features + 1) % 2**64), np.uint64(key)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _mix(z):  # type: ignore[no-untyped-def]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _uniform(bits):  # type: ignore[no-untyped-def]
    """A number in (0, 1) of the upper 52 bits."""
    return (np.float64(bits >> np.uint64(12)) + 0.5) * 2.0**-52


@njit  # type: ignore[untyped-decorator]
def _rejected(bits, x):  # type: ignore[no-untyped-def]
    """A normal value where the first hash does not give one: from the tail, or from an edge."""
    while True:
        layer = np.int64(bits & np.uint64(127))
        u = 2.0 * _uniform(bits) - 1.0
        if abs(u) * x[layer] < x[layer + 1]:
            return u * x[layer]
        if layer == 0:
            while True:
                bits = _mix(bits + np.uint64(_STEP))
                a = np.log(_uniform(bits)) / 3.442619855899
                bits = _mix(bits + np.uint64(_STEP))
                if -2.0 * np.log(_uniform(bits)) >= a * a:
                    return a - 3.442619855899 if u < 0 else 3.442619855899 - a
        value = u * x[layer]
        bits = _mix(bits + np.uint64(_STEP))
        upper = np.exp(-0.5 * (x[layer] ** 2 - value**2))
        lower = np.exp(-0.5 * (x[layer + 1] ** 2 - value**2))
        if lower + _uniform(bits) * (upper - lower) < 1.0:
            return value
        bits = _mix(bits + np.uint64(_STEP))


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _fill(first, key, mean, sd, y, columns, x, ratio):  # type: ignore[no-untyped-def]
    d, n = columns.shape
    for j in range(d):
        column = columns[j]
        for i in range(n):
            counter = first + np.uint64(i) * np.uint64(d + 1) + np.uint64(j + 1)
            bits = _mix(key + counter * np.uint64(_STEP))
            layer = np.int64(bits & np.uint64(127))
            u = 2.0 * _uniform(bits) - 1.0
            value = u * x[layer] if abs(u) < ratio[layer] else _rejected(bits, x)
            column[i] = mean[y[i], j] + sd[y[i], j] * value


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _fill_labels(first, key, d, cumulative, y):  # type: ignore[no-untyped-def]
    for i in range(len(y)):
        counter = first + np.uint64(i) * np.uint64(d + 1)
        u = _uniform(_mix(key + counter * np.uint64(_STEP)))
        label = 0
        while u > cumulative[label]:
            label += 1
        y[i] = label
