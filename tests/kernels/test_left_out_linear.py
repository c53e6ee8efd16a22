"""Labels of rows by the model of all others, where classes share a full covariance.

They are those of the closed form, and of refits, whether a row's lead is enough or not.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fastgnb import GaussianBayes
from fastgnb.kernels.score import left_out_linear
from fastgnb.model.left_out import LearnedRows

OPTIONS = {
    "plain": {},
    "ddof": {"ddof": 1},
    "priors": {"priors": [0.2, 0.3, 0.5]},
    "impossible": {"priors": [0.5, 0.0, 0.5]},
}


@pytest.fixture
def scored(monkeypatch):
    """Numbers of rows that are scored in closed form. Sets of any size take this way."""
    numbers, score = [], left_out_linear.score_left_out_full

    def counted(X, *args, **options):
        numbers.append(len(X))
        return score(X, *args, **options)

    monkeypatch.setattr(left_out_linear, "is_worth_it", lambda *_: True)
    monkeypatch.setattr(left_out_linear, "_MOST_OPEN", 1.0)
    monkeypatch.setattr(left_out_linear, "score_left_out_full", counted)
    return numbers


def correlated(rng, n, d, k=3, spread=1.0):
    """Rows of k classes, and the classes (n,)."""
    y = rng.integers(0, k, n).astype(np.int32)
    y[:k] = np.arange(k)
    mix = np.eye(d) + 0.5 * np.eye(d, k=1)
    return (rng.normal(size=(n, d)) + spread * rng.normal(size=(k, d))[y]) @ mix, y


def left_out(X, y, *, joint=False, **options):
    model = GaussianBayes(tied=True, **options).fit(X, y).to_model()
    return model.leave_one_out(LearnedRows(X, y, None), joint=joint)


def check(X, y, **options):
    """Labels of all layouts are those of the scores; return those, and which need a refit."""
    for rows in (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X.astype(np.float32)):
        wanted = left_out(rows, y, joint=True, **options)
        found = left_out(rows, y, **options)
        assert_array_equal(found.redo, wanted.redo)
        assert_array_equal(found.codes[~found.redo], wanted.codes[~found.redo])
        assert found.codes.dtype == np.int64
        assert found.joint.shape == (0, y.max() + 1)
    return wanted


@pytest.mark.parametrize("d", [1, 5, 8])
@pytest.mark.parametrize("name", OPTIONS)
def test_labels_of_few_rows(rng, scored, name, d):
    """Two groups of rows and a tail. Rows of a class that is never the best are for a refit."""
    X, y = correlated(rng, 77, d)
    redo = check(X, y, **OPTIONS[name]).redo
    assert_array_equal(redo, (name == "impossible") & (y == 1))
    assert all(0 < n <= 77 for n in scored)


def test_labels_that_lead(rng, scored):
    """Rows far from other classes are not scored in closed form; an outlier is."""
    X, y = correlated(rng, 200, 5, spread=30.0)
    X[11] += 300.0
    check(X, y)
    assert all(0 < n < 100 for n in scored)


def test_small_classes(rng, scored):
    """The only row of a class is for a refit, and those of a class of two are always scored."""
    X, y = correlated(rng, 80, 4, spread=8.0)
    y[[7, 8, 9]] = 3, 4, 4
    X[[8, 9]] += 50.0
    assert_array_equal(np.flatnonzero(check(X, y).redo), [7])
    assert all(3 <= n < 40 for n in scored)


@pytest.mark.parametrize("name", ["plain", "priors"])
def test_labels_are_those_of_refits(rng, scored, name):
    X, y = correlated(rng, 200, 4)
    found = left_out(X, y, **OPTIONS[name])
    assert not found.redo.any()
    for i in range(0, 200, 5):
        rest = np.arange(200) != i
        model = GaussianBayes(tied=True, **OPTIONS[name]).fit(X[rest], y[rest])
        assert model.predict(X[i : i + 1])[0] == found.codes[i]
    assert 0 < sum(scored) < 200


def between_classes(rng, n, d, k):
    """Correlated rows, the first of which are moved to where two classes nearly score the same."""
    X, y = correlated(rng, n, d, k)
    m = n // 8
    a = rng.integers(0, k, m)
    b = (a + rng.integers(1, k, m)) % k
    lead = rng.choice([-1, 1], m) * 10.0 ** rng.uniform(-9, 0, m)
    for _ in range(8):
        # Each time the model of the rows is another one, by less.
        model = GaussianBayes(tied=True).fit(X, y)
        step = model.means_[a] - model.means_[b]
        steep = np.linalg.solve(model.covariance_, step.T).T
        scores = model.predict_joint_log_proba(X[:m])
        now = scores[np.arange(m), a] - scores[np.arange(m), b]
        X[:m] += ((lead - now) / (steep * step).sum(axis=1))[:, None] * step
    return X, y


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["plain", "ddof"])
@pytest.mark.parametrize(("d", "k"), [(2, 2), (6, 3), (20, 5)])
def test_near_ties(rng, scored, name, d, k):
    """Of any two classes, by as much as scores change as a row leaves."""
    X, y = between_classes(rng, 20_000, d, k)
    before = GaussianBayes(tied=True, **OPTIONS[name]).fit(X, y).predict(X)
    wanted = check(X, y, **OPTIONS[name])
    assert (wanted.codes != before).sum() > 10
    assert all(300 < n < 15_000 for n in scored)


@pytest.mark.compiled
def test_rows_between_classes_of_the_same_rows(rng, scored):
    """Exact ties of classes other than the row's own."""
    X, y = correlated(rng, 1500, 6, k=2)
    X, y = np.vstack([X, X, X[:9] + 1.0]), np.concatenate([y, 2 * (y > 0), np.full(9, 3)])
    y[1500:3000] += 4 * (y[1500:3000] == 2)
    y = np.unique(y, return_inverse=True)[1].astype(np.int32)
    check(X, y)
    check(np.round(4 * X) / 4, y)


@pytest.mark.compiled
@pytest.mark.parametrize("size", [0.001, 0.01, 0.3, 3.0])
def test_ill_conditioned_covariances(rng, scored, size):
    """Where the bound on distances is loose, all rows are scored in closed form."""
    X, y = correlated(rng, 5000, 6)
    X[:, 5] = X[:, 0] - 2 * X[:, 1] + size * X[:, 5]
    check(X * np.exp(rng.normal(size=6) * 2), y)
    assert (min(scored) < 4000) == (size > 0.1)


def test_ways_of_few_and_of_open_rows(rng, monkeypatch):
    """Where it does not pay, all rows are scored in closed form."""
    X, y = correlated(rng, 150, 8)
    asked = []

    def noted(*args):
        asked.append(original(*args))
        return asked[-1]

    original = left_out_linear.label_left_out_linear
    monkeypatch.setattr("fastgnb.estimate.downdate.label_left_out_linear", noted)
    found = left_out(X, y)
    monkeypatch.setattr(left_out_linear, "is_worth_it", lambda *_: True)
    monkeypatch.setattr(left_out_linear, "_MOST_OPEN", 0.0)
    assert_array_equal(left_out(X, y).codes, found.codes)
    assert asked == [None, None]


def test_bounds_hold(rng):
    """Distances are below their bounds, and rows that are not open lead by more than they lose."""
    X, y = correlated(rng, 400, 5)
    kept = []

    def keep(*args):
        kept.append(args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fastgnb.estimate.downdate.label_left_out_linear", keep)
        before = left_out(X, y).codes
    X, y, terms, changes, means = kept[0]
    linear = left_out_linear.linear_terms(terms)
    limits = left_out_linear._limits(terms, linear, changes, means)
    table = limits.numbers[: 4 * 8].reshape(4, 8)[:, :5]
    beta, constant, more, extra = limits.numbers[32:].reshape(3, 4)[y].T
    q = ((X - table[1:][y]) ** 2 @ table[0]) + extra
    axes = terms.scale[0] * ((X - terms.centre[0]) @ terms.whitener[0].T)
    z = axes[:, None] - terms.scale[0] * terms.mean
    scores = terms.const - (z**2).sum(axis=2)
    every = np.arange(400)
    exact = 2 * (terms.const[y] - scores[every, y])
    assert (exact < q).all()
    least = constant + q * (more + beta * q) * (0.5 + beta * q)
    after = left_out(X, y, joint=True)
    assert_array_equal(after.codes, before)
    best = scores.argmax(axis=1)
    lead = scores[every, best][:, None] - scores
    lost = lead - (after.joint[every, best][:, None] - after.joint)
    # Leads shrink by a share, too: what is left of one above the least is not below 0.
    scale = changes.numbers[y, 1]
    assert (scale * least + (1 - scale) * lead.T + 1e-12 >= lost.T).all()
    assert (lost.max(axis=1) / least).max() > 0.05
