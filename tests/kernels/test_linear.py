"""Labels by linear scores are those of whitened scores, and what decides that is a true bound."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from fastgnb.kernels import chunks
from fastgnb.kernels.score import linear, whitened
from fastgnb.kernels.score.linear import label_linear, linear_terms
from fastgnb.kernels.score.outputs import Wanted
from fastgnb.kernels.score.whitened import WhitenedTerms, score_whitened


def terms_of(rng, k, d, r=None, spread=2.0, offset=0.0):
    """Classes that share a triangular whitener, or r axes of one, and scales."""
    r = r or d
    W = np.tril(rng.normal(size=(r, d))) + 2 * np.eye(r, d)
    mean, scale = spread * rng.normal(size=(k, r)), np.tile(rng.uniform(0.5, 2, r), (k, 1))
    return WhitenedTerms(rng.normal(size=(1, d)) + offset, W[None], mean, scale, rng.normal(size=k))


def rows_of(rng, terms, n):
    """Rows around the classes, and rows in the middle between two of them, as near as floats go."""
    (k, _), W, centre = terms.mean.shape, terms.whitener[0], terms.centre[0]
    inverse = np.linalg.pinv(W)
    near = terms.mean[rng.integers(0, k, n)] + rng.normal(size=(n, W.shape[0]))
    a, b = terms.mean[rng.integers(0, k, (2, n))]
    share = np.array([0.5, 0.5 + 1e-15, 0.5 + 1e-12])[rng.integers(0, 3, n), None]
    between = share * a + (1 - share) * b
    rows = np.where(rng.random((n, 1)) < 0.5, near, between) @ inverse.T + centre
    return np.asarray(rows)


def full(terms, X, wanted=Wanted()):  # noqa: B008
    return whitened._score(whitened._pack(terms, wanted), terms.whitener.shape, X, wanted)


def label(terms, X, wanted=Wanted()):  # noqa: B008
    """Labels, and the rows that linear scores did not decide."""
    asked = []

    def rescore(rows, wanted):
        asked.append(rows)
        return full(terms, rows, wanted)

    scores = label_linear(X, linear_terms(terms), wanted, rescore)
    return scores, sum(map(len, asked))


@pytest.mark.compiled
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("k", "d", "r"), [(2, 1, 1), (3, 7, 7), (4, 8, 8), (9, 20, 5), (5, 150, 150)]
)
def test_labels_are_those_of_whitened_scores(rng, k, d, r, dtype):
    terms = terms_of(rng, k, d, r)
    X = rows_of(rng, terms, 5003).astype(dtype)
    values = rng.permutation(k)
    for rows in (X, np.asfortranarray(X), X[::-1]):
        scores, _ = label(terms, rows, Wanted(values=values))
        np.testing.assert_array_equal(scores.codes, full(terms, rows, Wanted(values=values)).codes)
        assert scores.bad == -1


@pytest.mark.parametrize(
    ("k", "d", "r", "dtype"),
    [(2, 1, 1, np.float64), (3, 7, 7, np.float32), (5, 20, 4, np.float64), (5, 131, 2, np.float64)],
)
def test_labels_of_a_few_rows(rng, k, d, r, dtype):
    """In few enough steps to run without the compiler: two groups, and rows past the last."""
    terms = terms_of(rng, k, d, r)
    X = rows_of(rng, terms, 70).astype(dtype)
    values = rng.permutation(k)
    want = full(terms, X, Wanted(values=values)).codes
    for rows in (X, np.asfortranarray(X)):
        scores, _ = label(terms, rows, Wanted(values=values))
        np.testing.assert_array_equal(scores.codes, want)


def test_a_tie_and_bad_values_of_a_few_rows(rng):
    """Rows that linear scores cannot decide, in one group of three, and the first bad one."""
    terms = terms_of(rng, 3, 4)
    terms.mean[1], terms.const[1] = -terms.mean[0], terms.const[0]  # which share the centre
    terms.mean[2] *= 50.0
    X = rng.normal(size=(90, 4)) * 3
    X[40] = terms.centre[0]
    scores, n = label(terms, X)
    np.testing.assert_array_equal(scores.codes, full(terms, X).codes)
    assert n == 32
    X[:] = terms.centre[0]
    X[-1] += 1e-3
    np.testing.assert_array_equal(label(terms, X)[0].codes, full(terms, X).codes)
    X[51, 1] = X[70, 0] = np.nan
    assert label(terms, X)[0].bad == 51


@pytest.mark.compiled
@pytest.mark.parametrize("offset", [0.0, 1e8, 1e200])
@pytest.mark.parametrize("spread", [0.0, 1e-9, 1.0, 1e6, 1e90])
def test_ties_and_sizes(rng, offset, spread):
    """Classes that nothing or nearly nothing tells apart, and numbers that overflow."""
    terms = terms_of(rng, 4, 6, spread=spread, offset=offset)
    terms = terms._replace(const=np.array([0.0, 0.0, 0.0, -np.inf]))
    X = np.concatenate([rows_of(rng, terms, 300), offset + rng.normal(size=(300, 6))])
    scores, _ = label(terms, X)
    np.testing.assert_array_equal(scores.codes, full(terms, X).codes)
    assert (scores.codes < 3).all()


@pytest.mark.compiled
def test_few_rows_are_left_to_whitened_scores(rng):
    terms = terms_of(rng, 5, 20)
    X = rng.normal(size=(20000, 20)) * 3
    assert label(terms, X)[1] == 0
    # Two classes in one place share every row there: each block is soon left alone.
    terms.mean[1], terms.const[1] = terms.mean[0], terms.const[0]
    scores, n = label(terms, X)
    np.testing.assert_array_equal(scores.codes, full(terms, X).codes)
    assert n > 0
    assert 1 not in scores.codes


@pytest.mark.compiled
def test_pieces_that_begin_anywhere(rng, monkeypatch):
    """Rows that are copied come in chunks, whose groups do not begin at multiples of 32 rows."""
    monkeypatch.setattr(chunks, "BUFFER_BYTES", 1)
    terms = terms_of(rng, 3, 5)
    X = rng.normal(size=(9001, 5)) * 3
    hard = rng.integers(0, len(X), 40)
    X[hard] = terms.centre[0]
    terms.mean[1], terms.const[1] = -terms.mean[0], terms.const[0]  # which share the centre
    terms.mean[2] *= 50.0
    out = np.full(len(X), -7)
    scores, n = label(terms, np.repeat(X, 2, axis=1)[:, ::2], Wanted(out=out))
    np.testing.assert_array_equal(scores.codes, full(terms, X).codes)
    assert len(np.unique(hard)) <= n < len(X)
    assert (out >= 0).all()


@pytest.mark.compiled
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_bad_rows_are_found_where_they_are(rng, value):
    terms = terms_of(rng, 3, 5)
    X = rng.normal(size=(5000, 5))
    X[4001, 2] = X[4500, 0] = value
    assert label(terms, X)[0].bad == 4001
    X[4001] = X[4500] = 1e300  # which overflow, and are no errors
    scores, n = label(terms, X)
    assert scores.bad == -1
    assert n >= 64
    np.testing.assert_array_equal(scores.codes, full(terms, X).codes)


def exact(x):
    return np.vectorize(Fraction, otypes=[object])(x)


@pytest.mark.compiled
@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("spread", [1e-6, 3.0, 1e4])
def test_the_bound_is_one(rng, offset, spread):
    """Differences of computed scores, whitened and linear, against exact ones."""
    k, d = 4, 6
    terms = terms_of(rng, k, d, spread=spread, offset=offset)
    found = linear_terms(terms)
    X = rows_of(rng, terms, 40) + rng.normal(size=(40, d)) * rng.choice([0.0, 1.0, 1e5], (40, 1))
    u = X - terms.centre[0]
    joint = exact(full(terms, X, Wanted(table="joint")).table)
    W, mean, scale = exact(terms.whitener[0]), exact(terms.mean), exact(terms.scale)
    z = np.array([[sum(w * v) for w in W] for v in exact(u)])
    best = exact(terms.const) - (((z[:, None] - mean) * scale) ** 2).sum(axis=2)
    rounded = found.offset + (u[:, None] * found.slope).sum(axis=2)
    size = found.base + ((np.abs(u) * found.span).sum(axis=1) + found.reach) ** 2
    for i in range(len(X)):
        for a in range(k):
            for b in range(a):
                true, scored = best[i, a] - best[i, b], joint[i, a] - joint[i, b]
                line = Fraction(rounded[i, a]) - Fraction(rounded[i, b])
                assert abs(true - scored) + abs(true - line) < Fraction(found.error * size[i])


def test_what_is_not_linear_is_left_alone(rng):
    terms = terms_of(rng, 3, 4)
    assert linear_terms(terms) is not None
    assert linear_terms(terms._replace(scale=terms.scale * [[1.0], [1.0], [2.0]])) is None
    several = np.repeat(terms.whitener, 3, axis=0), np.repeat(terms.centre, 3, axis=0)
    assert linear_terms(terms._replace(whitener=several[0], centre=several[1])) is None
    for size in (1e-120, 1e120, np.inf):
        with np.errstate(invalid="ignore"):
            assert linear_terms(terms._replace(whitener=terms.whitener * size)) is None
    assert linear_terms(terms._replace(mean=terms.mean * 1e170)) is None
    assert linear_terms(terms._replace(const=np.full(3, -np.inf))) is None


def test_large_batches_take_this_path(rng, monkeypatch):
    terms, calls = terms_of(rng, 3, 6), []
    X = rng.normal(size=(512, 6))
    monkeypatch.setattr(linear, "_LEAST_WORK", 512 * 6 * 9)
    monkeypatch.setattr(
        whitened, "label_linear", lambda *args: calls.append(args) or label_linear(*args)
    )
    for wanted in (Wanted(), Wanted(table="proba"), Wanted(evidence=True)):
        scores = score_whitened(X, terms, wanted)
        np.testing.assert_array_equal(scores.codes, full(terms, X).codes)
    score_whitened(X[:-1], terms, Wanted())
    assert len(calls) == 1
