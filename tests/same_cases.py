"""Digests of results, and rows, for tests of equal bits and of algebra."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracles
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from fastgnb import ClassStats

TOLERANCE = 1e-13
NAMES = ("count", "mean", "mean_lo", "variance")


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


# Prints a digest of all results for shapes that take every way through the kernels: few classes
# and many, one feature, more than a register holds and 200, alone and above the thread threshold.
BITS = """
import hashlib, warnings
import numpy as np
warnings.simplefilter("error")
from fastgnb import GaussianNB
from fastgnb.estimate.parameters import GaussianParams

METHODS = ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba",
           "predict_log_evidence")

def stats_bits(s):
    arrays = [s.classes, s.count, s.mean, s.mean_lo, s.variance, s.weight, s.within(),
              s.between(), s.total(), s.as_one_class().mean]
    return [np.ascontiguousarray(a) for a in arrays]

def results():
    for n, d, k in ((40_000, 5, 3), (2003, 200, 7), (9000, 9, 100), (70_000, 1, 2), (31, 17, 2)):
        r = np.random.default_rng([n, d, k])
        y, w = np.arange(n) % k, r.random(n)
        X = r.normal(size=(n, d)) * r.uniform(0.1, 9, d) + y[:, None] % 3
        big = X.astype(">f4") if d == 5 else X.astype("f4")
        for rows in (X, np.asfortranarray(X), big, (X * 9).astype("i2")[::-1]):
            for missing in ("error", "skip"):
                m = GaussianNB(missing=missing).fit(rows, y, w if missing == "error" else None)
                yield from stats_bits(m.stats_)
                m.partial_fit(rows[: n // 3], y[: n // 3], sample_weight=w[: n // 3])
                other = GaussianNB(missing=missing).fit(rows[n // 2 :], y[n // 2 :])
                yield from stats_bits(m.merge(other).stats_)
                yield from stats_bits(m.stats_ - other.stats_)
                yield from (m.class_prior_, m.theta_, m.var_, np.array(m.epsilon_))
                p = GaussianParams.from_estimate(
                    m.class_prior_, m.theta_, m.var_, classes=m.classes_)
                yield from (p.log_prior, p.mean, p.inv_sd, p.log_det)
                yield from (getattr(m, name)(rows) for name in METHODS)

def full_results():
    from fastgnb import ClassStats
    from fastgnb.kernels.score.outputs import Wanted
    from fastgnb.kernels.score.whitened import WhitenedTerms, score_whitened

    r = np.random.default_rng(0)
    axes = r.normal(size=(3, 4, 6))
    X = r.normal(size=(60_001, 6)) + np.arange(60_001)[:, None] % 3
    y, w = np.arange(60_001) % 3, r.random(60_001)
    for rows in (X, np.asfortranarray(X), X.astype("f4"), (X * 9).astype("i2")):
        full = ClassStats.from_rows(rows, y, w, scatter="full")
        yield from (full.count, full.mean, full.mean_lo, full.covariance)
        terms = WhitenedTerms(full.mean, axes, np.zeros((3, 4)), np.ones((3, 4)), np.zeros(3))
        for table in ("joint", "proba"):
            yield score_whitened(rows, terms, Wanted(table=table)).table

def digest(*made):
    sha = hashlib.sha256()
    for arrays in made or (results(),):
        for array in arrays:
            sha.update(array.tobytes())
    return sha.hexdigest()

def digest_of_all():
    return digest(results(), full_results())
"""

deterministic = settings(
    max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


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
