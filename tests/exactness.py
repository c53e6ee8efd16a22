"""Statistics against exact arithmetic: comparisons, and rows that hypothesis draws."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracles
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from fastgnb import ClassStats

TOLERANCE = 1e-13
NAMES = ("count", "mean", "mean_lo", "variance")
METHODS = (
    "predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba",
    "predict_log_evidence",
)  # fmt: skip


def bits_of(stats):
    """Everything that statistics hold, as bytes."""
    feature_count = b"" if stats.feature_count is None else stats.feature_count.tobytes()
    return [getattr(stats, name).tobytes() for name in NAMES] + [feature_count]


def assert_exact(stats, exact, tolerance=TOLERANCE):
    """Statistics against rationals: means in units of |mean| + sd, variances relative.

    A variance is also right within a few of the smallest number that float64 holds.
    """
    weight = np.broadcast_to(stats.weight, stats.mean.shape)
    least = 8 * Fraction(5e-324)
    for c, j in np.ndindex(stats.mean.shape):
        total, mean, scatter = exact.weight[c][j], exact.mean[c][j], exact.scatter[c][j]
        variance = scatter / total if total else Fraction(0)
        off = abs(Fraction(stats.mean[c, j]) - mean)
        assert off**2 <= Fraction(tolerance) ** 2 * (mean**2 + variance) + least**2
        wrong = abs(Fraction(stats.variance[c, j]) - variance)
        assert wrong <= Fraction(tolerance) * variance + least
        assert abs(Fraction(weight[c, j]) - total) <= Fraction(tolerance) * total
    for got, want in zip(stats.count, exact.count, strict=True):
        assert abs(Fraction(got) - want) <= Fraction(tolerance) * want


deterministic = settings(
    deadline=None, max_examples=150, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip


@st.composite
def data(draw, most=30, features=2):
    """Rows on a grid of 1e-3 around an offset of up to 1e8, in units from 1e-150 to 1e150; labels
    0 to 2; weights that are small whole numbers, in a unit of 1e-300 to 1e300 for each class.
    """
    n = draw(st.integers(1, most))
    unit = draw(st.sampled_from([1.0, 1.0, 1e-150, 1e-100, 1e-3, 1e100, 1e150]))
    offset = draw(st.sampled_from([0.0, 0.0, 1.0, 1e4, 1e8]))
    grid = draw(st.lists(st.integers(-1000, 1000), min_size=n * features, max_size=n * features))
    X = (np.array(grid).reshape(n, features) / 1000 + offset) * unit
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    whole = np.array(draw(st.lists(st.sampled_from([0, 1, 1, 2, 5]), min_size=n, max_size=n)))
    units = draw(
        st.sampled_from([(1.0,) * 3, (1.0,) * 3, (1e-300, 1.0, 1e300), (1e50, 0.1, 1e-40)])
    )
    return X, y, whole * np.array(units)[y]


def stats_of(X, y, weight=None, **keywords):
    return ClassStats.from_rows(X, y, weight, classes=[0, 1, 2], **keywords)


def exact_of(X, y, weight=None):
    return oracles.class_stats(X, y, weight, classes=[0, 1, 2])
