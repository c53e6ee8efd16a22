"""Squares of 32 rows: numbers of classes and features around what is scored side by side."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from fastgnb.kernels.score import squares
from fastgnb.kernels.score.diagonal import DiagonalTerms, score
from fastgnb.kernels.score.outputs import Wanted

PART = squares.PART
# Around four features, around a part of them, and more than two parts.
FEATURES = [1, 3, 4, 5, 8, PART - 1, PART, PART + 1, 2 * PART + 6]
# One group and a tail, in which lanes of the second half are the last.
N = 77
CHECKED = [0, 8, 17, 31, 32, 63, 64, 76]


def problem(d, k, dtype):
    rng = np.random.default_rng(1000 * d + k)
    mean, scale = rng.normal(size=(k, d)), rng.uniform(0.5, 1.5, (k, d))
    X = (mean[rng.integers(0, k, N)] + rng.normal(size=(N, d))).astype(dtype)
    return X, DiagonalTerms(mean, scale, None, rng.normal(size=k))


def exact_scores(x, terms):
    """Scores of one row by exact rationals."""
    scores = []
    for mean, scale, const in zip(terms.mean, terms.scale, terms.const, strict=True):
        pairs = zip(x.tolist(), mean.tolist(), scale.tolist(), strict=True)
        squared = sum(((Fraction(v) - Fraction(m)) * Fraction(a)) ** 2 for v, m, a in pairs)
        scores.append(Fraction(const) - squared)
    return scores


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 7, 10])
@pytest.mark.parametrize("d", FEATURES)
def test_scores_of_every_shape(d, k, dtype):
    X, terms = problem(d, k, dtype)
    table = score(X, terms, Wanted(table="joint")).table
    for i in CHECKED if d < PART else CHECKED[1::3]:
        exact = exact_scores(X[i], terms)
        for got, want in zip(table[i].tolist(), exact, strict=True):
            assert abs(Fraction(got) - want) <= (d + 3) * 2.0**-53 * (abs(want) + 4)
    # Labels alone are a kernel of their own, with the same operations.
    codes = score(X, terms, Wanted()).codes
    assert np.array_equal(codes, table.argmax(axis=1))
    for rows in (np.asfortranarray(X), X.astype(np.float64)):
        assert score(rows, terms, Wanted(table="joint")).table.tobytes() == table.tobytes()
        assert np.array_equal(score(rows, terms, Wanted()).codes, codes)


@pytest.mark.parametrize("d", [3, 20, PART + 1])
def test_missing_values_leave_the_other_features_bits(d):
    """Where nothing is missing, scores with normalisers apart differ by these alone."""
    X, terms = problem(d, 6, np.float64)
    skipping = terms._replace(log_norm=np.zeros((6, d)))
    full, skipped = (score(X, each, Wanted(table="joint")) for each in (terms, skipping))
    assert np.allclose(skipped.table, full.table, rtol=1e-14, atol=1e-12)
    assert np.array_equal(skipped.codes, full.codes)
    X[:, 1] = np.nan
    without = [np.delete(each, 1, axis=1) for each in (X, terms.mean, terms.scale)]
    rest = DiagonalTerms(without[1], without[2], np.zeros((6, d - 1)), terms.const)
    want = score(without[0], rest, Wanted(table="joint"))
    got = score(X, skipping, Wanted(table="joint"))
    assert got.table.tobytes() == want.table.tobytes()
    assert np.array_equal(got.codes, want.codes)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 6, 9])
def test_a_tie_keeps_the_first_class(k):
    """The last class is counted twice where their number is not even."""
    X, terms = problem(5, 1, np.float64)
    same = DiagonalTerms(*[np.repeat(each, k, axis=0) for each in terms[:2]], None, np.zeros(k))
    assert not score(X, same, Wanted()).codes.any()
    last = same._replace(const=np.arange(k) * 0.5)
    assert (score(X, last, Wanted()).codes == k - 1).all()
