"""Properties that every member of the family has, for rows, weights and cuts of any kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone

from fastgnb import GaussianBayes, GaussianNB, PCAGaussianNB

pytestmark = pytest.mark.no_new_lines

MEMBERS = [
    GaussianNB(var_smoothing=1e-3),
    GaussianNB(tied=True, ddof=1, var_smoothing=1e-3),
    GaussianNB(covariance_type="spherical", var_smoothing=1e-3),
    GaussianBayes(reg_param=0.1),
    GaussianBayes(tied=True, ddof=1, reg_param=0.1),
    GaussianBayes(shrinkage="oas", var_smoothing=1e-3),
    PCAGaussianNB(var_smoothing=1e-3),
    PCAGaussianNB(n_components=2, rotation="within", var_smoothing=1e-3),
    PCAGaussianNB(n_components=2, rotation="class", var_smoothing=1e-3),
]
# Members that see no features, only directions: turning all rows turns nothing else.
TURNED = [MEMBERS[2], *MEMBERS[3:5], *MEMBERS[6:]]
NAMES = [repr(member) for member in MEMBERS]
FEW = settings(max_examples=12, deadline=None, derandomize=True)
SEEDS = st.integers(0, 2**20)


def rows(seed, n=48, d=3, k=3):
    """Rows of k classes that differ in covariance, each class with several rows."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    mix = rng.normal(size=(k, d, d)) + 2 * np.diag(np.arange(1.0, d + 1))
    return np.einsum("nd,nde->ne", rng.normal(size=(n, d)), mix[y]) + 3 * y[:, None], y, rng


def same(found, wanted, X, Z=None):
    assert_allclose(
        found.predict_joint_log_proba(X if Z is None else Z), wanted.predict_joint_log_proba(X),
        rtol=1e-7, atol=1e-7,
    )  # fmt: skip


@pytest.mark.promise("twins")
@pytest.mark.parametrize("member", MEMBERS, ids=NAMES)
@FEW
@given(seed=SEEDS, cuts=st.lists(st.integers(1, 47), max_size=4))
def test_any_chunks_are_one_fit(member, seed, cuts):
    X, y, _ = rows(seed)
    stream = clone(member)
    for a, b in zip([0, *sorted(set(cuts))], [*sorted(set(cuts)), 48], strict=True):
        stream.partial_fit(X[a:b], y[a:b], classes=[0, 1, 2])
    same(stream, clone(member).fit(X, y), X)


@pytest.mark.promise("twins")
@pytest.mark.parametrize("member", MEMBERS, ids=NAMES)
@FEW
@given(seed=SEEDS)
def test_order_of_rows_and_of_merging_is_nothing(member, seed):
    X, y, rng = rows(seed)
    whole, order = clone(member).fit(X, y), rng.permutation(48)
    same(clone(member).fit(X[order], y[order]), whole, X)
    parts = [clone(member).fit(X[i::3], y[i::3]) for i in rng.permutation(3)]
    same(clone(parts[0]).fit_stats(parts[0].stats_).merge(parts[1]).merge(parts[2]), whole, X)


@pytest.mark.parametrize("member", MEMBERS, ids=NAMES)
@FEW
@given(seed=SEEDS)
def test_weights_are_repetitions_and_zero_is_absence(member, seed):
    X, y, rng = rows(seed)
    times = rng.integers(0, 4, 48)
    times[:9] = 2
    weighted = clone(member).fit(X, y, times)
    same(clone(member).fit(np.repeat(X, times, axis=0), np.repeat(y, times)), weighted, X)


@pytest.mark.parametrize("member", MEMBERS, ids=NAMES)
@FEW
@given(seed=SEEDS)
def test_labels_are_names(member, seed):
    X, y, rng = rows(seed)
    names = rng.permutation(np.array(["x", "y", "z"]))
    model, other = clone(member).fit(X, y), clone(member).fit(X, names[y])
    order = np.argsort(names)
    assert_allclose(other.predict_proba(X), model.predict_proba(X)[:, order], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("member", MEMBERS, ids=NAMES)
@FEW
@given(seed=SEEDS)
def test_moving_and_stretching_all_rows_alike(member, seed):
    """Smoothing is relative, but for reg_param, which is in the units of the features."""
    X, y, rng = rows(seed)
    scale = 1.0 if getattr(member, "reg_param", 0.0) else float(rng.choice([0.01, 7.0]))
    Z = X * scale + rng.normal(size=3) * 10
    model, other = clone(member).fit(X, y), clone(member).fit(Z, y)
    assert_allclose(other.predict_proba(Z), model.predict_proba(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("member", TURNED, ids=map(repr, TURNED))
@FEW
@given(seed=SEEDS)
def test_turning_all_rows_turns_nothing_else(member, seed):
    X, y, rng = rows(seed)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    spread = isinstance(member, GaussianNB) and member.var_smoothing
    smoothing = {"var_smoothing": 0.0} if spread else {}  # that is of the largest feature
    one = clone(member).set_params(**smoothing)
    same(clone(one).fit(X @ turn, y), clone(one).fit(X, y), X, X @ turn)


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


@pytest.mark.parametrize("member", MEMBERS, ids=NAMES)
@FEW
@given(seed=SEEDS)
def test_taking_rows_out_again(member, seed):
    X, y, _ = rows(seed, n=60)
    whole, part = clone(member).fit(X, y), clone(member).fit(X[:18], y[:18])
    left = clone(member).fit_stats(whole.stats_ - part.stats_)
    same(left, clone(member).fit(X[18:], y[18:]), X)
