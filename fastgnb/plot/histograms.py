"""Histograms of rows under densities: of rows in memory, or of the bins of a `Diagnosis`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..diagnosis.diagnoser import units_of
from ..files.phrases import counted
from ..model.model import Model
from .class_densities import Densities
from .rows import category_positions, check_both, class_codes, columns

__all__ = ["Histogram", "histogram_of", "of_bins", "of_categories", "of_values"]

Floats = NDArray[np.float64]

BINS = 50
"""Most bins."""


class Histogram(NamedTuple):
    """How the rows of k classes are distributed over bins, or over categories.

    Parameters
    ----------
    edges : ndarray of shape (k, n_bins + 1)
        Bounds of the bins of each class; of categories, their positions.
    density : ndarray of shape (k, n_bins)
        Share of the rows of a class in each bin, over the width of the bin.
    share : ndarray of shape (k,)
        Share of each class of all rows.
    n_rows : float
        Number of rows, or their weight.
    n_outside : float
        Those that are in no bin, or have no value.
    """

    edges: Floats
    density: Floats
    share: Floats
    n_rows: float
    n_outside: float


def histogram_of(
    model: Model, j: int, densities: Densities, X: Any, y: Any, diagnosis: Any
) -> Histogram | None:
    """The histogram of rows, or of a diagnosis, in the classes of the densities."""
    if check_both(X, y):
        position = np.full(len(model.classes), -1)
        position[densities.position] = np.arange(len(densities.position))
        codes = position[class_codes(X, y, model)]
        k = len(densities.position)
        if not densities.is_continuous:
            at = category_positions(X, j, model)
            return of_categories(at[codes >= 0], codes[codes >= 0], k, len(densities.points))
        values = columns(X, [j], model)[codes >= 0, 0]
        low, high = densities.points[0], densities.points[-1]
        return of_values(values, codes[codes >= 0], k, low, high)
    if diagnosis is None or not densities.is_continuous:
        return None
    return _of_diagnosis(model, int(model.is_continuous[:j].sum()), densities, diagnosis)


def _of_diagnosis(model: Model, column: int, densities: Densities, diagnosis: Any) -> Histogram:
    """The histogram of a continuous feature, at `column` among these, of a model's diagnosis."""
    mean, sd = units_of(model)
    if diagnosis.z_counts.shape[:2] != mean.shape:
        raise ValueError(
            f"Expected a diagnosis of this model, of {counted(mean.shape[0], 'class', 'classes')} "
            f"and {counted(mean.shape[1], 'feature')}, got one of {diagnosis.z_counts.shape[:2]}."
        )
    at = densities.position
    edges = mean[at, column, None] + sd[at, column, None] * diagnosis.z_edges
    return of_bins(edges, diagnosis.z_counts[at, column], diagnosis.class_weight[at])


def of_values(values: Floats, codes: NDArray[Any], k: int, low: float, high: float) -> Histogram:
    """Histogram of values (n,) from `low` to `high`, of rows of classes `codes` (n,).

    Bins are equally wide.
    """
    edges = _edges(values, low, high)
    counts = np.array([np.histogram(values[codes == c], edges)[0] for c in range(k)], np.float64)
    rows = np.bincount(codes, minlength=k)[:k].astype(np.float64)
    return _histogram(np.broadcast_to(edges, (k, len(edges))), counts, rows)


def of_bins(edges: Floats, counts: Floats, rows: Floats) -> Histogram:
    """Histogram of weights (k, B) in bins, of classes of total weights `rows` (k,).

    edges : (k, B + 1), whose outermost may be infinite: what is in such bins is outside. Bins are
    put together until there are at most `BINS`.
    """
    inside = np.flatnonzero(np.isfinite(edges).all(axis=0))
    edges, counts = edges[:, inside], counts[:, inside[:-1]]
    step = -(-counts.shape[1] // BINS)
    last = counts.shape[1] // step * step
    counts = counts[:, :last].reshape(len(counts), -1, step).sum(axis=2)
    return _histogram(edges[:, : last + 1 : step], counts, rows)


def of_categories(position: NDArray[np.int64], codes: NDArray[Any], k: int, m: int) -> Histogram:
    """Shares of positions 0..m-1 (n,) in each class.

    A negative one is a missing value, which has no share, and one from m up has no bin.
    """
    is_known = position >= 0
    in_bin = is_known & (position < m)
    counts = np.zeros((k, m))
    np.add.at(counts, (codes[in_bin], position[in_bin]), 1.0)
    known = np.bincount(codes[is_known], minlength=k)[:k].astype(np.float64)
    rows = np.bincount(codes, minlength=k)[:k].astype(np.float64)
    edges = np.broadcast_to(np.arange(m + 1.0), (k, m + 1))
    return _histogram(edges, counts, rows, known=known)


def _histogram(
    edges: Floats, counts: Floats, rows: Floats, known: Floats | None = None
) -> Histogram:
    """known : (k,), what the shares of a class are of; None: all rows."""
    of = rows if known is None else known
    width = np.diff(edges, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.where((of > 0)[:, None] & (width > 0), counts / of[:, None] / width, 0.0)
    total = float(rows.sum())
    share = rows / total if total else rows
    return Histogram(edges, density, share, total, total - float(counts.sum()))


def _edges(values: Floats, low: float, high: float) -> Floats:
    """Edges of bins of equal width from `low` to `high`, or a little beyond.

    Values that are rounded to some digits have bins of as many rounded values each, since others
    would look like a comb.
    """
    inside = values[(values >= low) & (values <= high)]
    step = _resolution(inside, high - low)
    if step is None:
        return np.linspace(low, high, BINS + 1)
    first, last = np.floor(low / step) - 0.5, np.ceil(high / step) + 0.5
    width = np.ceil((last - first) / BINS)
    return np.asarray(np.arange(first, last + width, width)) * step


def _resolution(values: Floats, span: float) -> float | None:
    """The power of ten that values are multiples of, if it is no less than 1/5000 of the span."""
    if not len(values):
        return None
    top = math.floor(math.log10(span)) - 1
    for step in (10.0**power for power in range(top, top - 3, -1)):
        multiple = values / step
        if (np.abs(multiple - np.round(multiple)) < 1e-6).all():
            return step
    return None
