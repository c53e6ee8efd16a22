"""Properties that every member of the family has, for rows, weights and cuts of any kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from members import CASES, with_categories
from numpy.testing import assert_allclose
from sklearn.base import clone

from fastgnb import GaussianBayes, GaussianNB, PCAGaussianNB

# Cases that see no features, only directions: turning all rows turns nothing else.
TURNED = [
    "GaussianNB, spherical", "GaussianBayes", "GaussianBayes, tied", "PCAGaussianNB",
    "PCAGaussianNB, within", "PCAGaussianNB, by class",
]  # fmt: skip
RIDGED = [name for name, case in CASES.items() if "reg_param" in case.options]
MOVED = [name for name, case in CASES.items() if not case.has_categories]
FEW = settings(max_examples=12)
SEEDS = st.integers(0, 2**20)


def rows(seed, n=48, d=3, k=3):
    """Rows of k classes that differ in covariance, each class with several rows."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    mix = rng.normal(size=(k, d, d)) + 2 * np.diag(np.arange(1.0, d + 1))
    X = np.einsum("nd,nde->ne", rng.normal(size=(n, d)), mix[y]) + 3 * y[:, None]
    return with_categories(X), y, rng


def make(name):
    return CASES[name].make(**({"var_smoothing": 1e-3} if name not in RIDGED else {}))


def same(found, wanted, X, Z=None):
    assert_allclose(
        found.predict_joint_log_proba(X if Z is None else Z), wanted.predict_joint_log_proba(X),
        rtol=1e-7, atol=1e-7,
    )  # fmt: skip


@pytest.mark.promise("twins")
@pytest.mark.parametrize("name", CASES)
@FEW
@given(seed=SEEDS, cuts=st.lists(st.integers(1, 47), max_size=4))
def test_any_chunks_are_one_fit(name, seed, cuts):
    X, y, _ = rows(seed)
    stream = make(name)
    for a, b in zip([0, *sorted(set(cuts))], [*sorted(set(cuts)), 48], strict=True):
        stream.partial_fit(X[a:b], y[a:b], classes=[0, 1, 2])
    same(stream, make(name).fit(X, y), X)


@pytest.mark.promise("twins")
@pytest.mark.parametrize("name", CASES)
@FEW
@given(seed=SEEDS)
def test_order_of_rows_and_of_merging_is_nothing(name, seed):
    X, y, rng = rows(seed)
    whole, order = make(name).fit(X, y), rng.permutation(48)
    same(make(name).fit(X[order], y[order]), whole, X)
    parts = [make(name).fit(X[i::3], y[i::3]) for i in rng.permutation(3)]
    same(clone(parts[0]).fit_stats(parts[0].stats_).merge(parts[1]).merge(parts[2]), whole, X)


@pytest.mark.parametrize("name", CASES)
@FEW
@given(seed=SEEDS)
def test_weights_are_repetitions_and_zero_is_absence(name, seed):
    X, y, rng = rows(seed)
    times = rng.integers(0, 4, 48)
    times[:9] = 2
    weighted = make(name).fit(X, y, times)
    same(make(name).fit(np.repeat(X, times, axis=0), np.repeat(y, times)), weighted, X)


@pytest.mark.parametrize("name", CASES)
@FEW
@given(seed=SEEDS)
def test_labels_are_names(name, seed):
    X, y, rng = rows(seed)
    names = rng.permutation(np.array(["x", "y", "z"]))
    model, other = make(name).fit(X, y), make(name).fit(X, names[y])
    order = np.argsort(names)
    assert_allclose(other.predict_proba(X), model.predict_proba(X)[:, order], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", MOVED)
@FEW
@given(seed=SEEDS)
def test_moving_and_stretching_all_rows_alike(name, seed):
    """Smoothing is relative, but for reg_param, which is in the units of the features."""
    X, y, rng = rows(seed)
    scale = 1.0 if "reg_param" in CASES[name].options else float(rng.choice([0.01, 7.0]))
    Z = X * scale + rng.normal(size=3) * 10
    model, other = make(name).fit(X, y), make(name).fit(Z, y)
    assert_allclose(other.predict_proba(Z), model.predict_proba(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", TURNED)
@FEW
@given(seed=SEEDS)
def test_turning_all_rows_turns_nothing_else(name, seed):
    X, y, rng = rows(seed)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    # Smoothing is a share of the largest variance of a feature, or of an axis.
    smoothing = 1e-3 if CASES[name].member == "PCAGaussianNB" else 0.0
    one, other = (CASES[name].make(var_smoothing=smoothing) for _ in range(2))
    same(one.fit(X @ turn, y), other.fit(X, y), X, X @ turn)


@FEW
@given(seed=SEEDS)
def test_the_family_nests(seed):
    """Each is another with less freedom, where the data have no more."""
    X, y, _ = rows(seed)
    own = GaussianBayes().fit(X, y)
    axes = PCAGaussianNB(rotation="class", var_smoothing=0.0).fit(X, y)
    same(axes, own, X)
    diag = GaussianBayes(covariance_type="diag").fit(X, y)
    same(diag, GaussianNB(var_smoothing=0.0).fit(X, y), X)
    # Equal scatter in each class: pooling changes nothing.
    Z = np.vstack([X[:16] + 9 * c for c in range(3)])
    z = np.repeat([0, 1, 2], 16)
    same(GaussianBayes(tied=True).fit(Z, z), GaussianBayes().fit(Z, z), Z)
    same(GaussianNB(tied=True).fit(Z, z), GaussianNB().fit(Z, z), Z)


@pytest.mark.parametrize("name", CASES)
@FEW
@given(seed=SEEDS)
def test_taking_rows_out_again(name, seed):
    X, y, _ = rows(seed, n=60)
    whole, part = make(name).fit(X, y), make(name).fit(X[:18], y[:18])
    left = make(name).fit_stats(whole.stats_ - part.stats_)
    same(left, make(name).fit(X[18:], y[18:]), X)
