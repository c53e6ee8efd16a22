"""Statistics obey the algebra of weighted rows, on rationals."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from same_cases import (
    NAMES,
    TOLERANCE,
    assert_exact,
    bits_of,
    data,
    deterministic,
    exact_of,
    stats_of,
)

from fastgnb import ClassStats, GaussianNB
from fastgnb.estimate.diagonal import estimate_diagonal

pytestmark = pytest.mark.no_new_lines


@pytest.mark.promise("exact", "merging")
@deterministic
@given(data(), st.randoms(use_true_random=False))
def test_any_cut_order_and_tree_of_merges_is_one_pass(rows, random):
    """Merging is associative and commutative, and rows have no order, to 1e-13."""
    X, y, weight = rows
    exact = exact_of(X, y, weight)
    assert_exact(stats_of(X, y, weight), exact)
    order = list(range(len(X)))
    random.shuffle(order)
    cuts = sorted(random.choices(range(len(X) + 1), k=random.randint(0, 8)))
    trees = []
    for a, b in itertools.pairwise([0, *cuts, len(X)]):
        i = order[a:b]
        mode = random.choice(["error", "skip"])
        trees.append(ClassStats.from_rows(X[i], y[i], weight[i], missing=mode))
    while len(trees) > 1:
        a = trees.pop(random.randrange(len(trees)))
        b = trees.pop(random.randrange(len(trees)))
        trees.append(a + b)
    assert_exact(trees[0] + stats_of(X[:0], y[:0]), exact)


@deterministic
@given(data(), st.randoms(use_true_random=False))
def test_missing_values_merge_as_exactly(rows, random):
    X, y, weight = rows
    X = np.where([[random.random() < 0.3 for _ in row] for row in X], np.nan, X)
    exact = exact_of(X, y, weight)
    cuts = sorted(random.choices(range(len(X) + 1), k=random.randint(0, 8)))
    pieces = [
        ClassStats.from_rows(X[a:b], y[a:b], weight[a:b], missing="skip")
        for a, b in itertools.pairwise([0, *cuts, len(X)])
    ]
    random.shuffle(pieces)
    for stats in (stats_of(X, y, weight, missing="skip"), sum(pieces)):
        assert_exact(stats + stats_of(X[:0], y[:0]), exact)


@deterministic
@given(data(), st.permutations([0, 1, 2]))
def test_renamed_classes_permute_the_statistics(rows, new):
    X, y, weight = rows
    want = stats_of(X, y, weight)
    for names in (np.array(new), np.array(["x", "a", "μ"])[new], np.array([2**62, -7, 0])[new]):
        got = ClassStats.from_rows(X, names[y], weight, classes=names)
        at = np.searchsorted(got.classes, names)
        for name in NAMES:
            assert getattr(got, name)[at].tobytes() == getattr(want, name).tobytes()


@deterministic
@given(data(features=3), st.permutations(range(3)))
def test_permuted_features_permute_the_statistics(rows, order):
    X, y, weight = rows
    want, got = stats_of(X, y, weight), stats_of(X[:, order], y, weight)
    for name in NAMES[1:]:
        assert getattr(got, name).tobytes() == getattr(want, name)[:, order].tobytes()
    merged = got + got.update(X[:, order], y, weight)
    plain = want + want.update(X, y, weight)
    for name in NAMES[1:]:
        assert getattr(merged, name).tobytes() == getattr(plain, name)[:, order].tobytes()


@deterministic
@given(data(), st.integers(1, 4))
def test_whole_weights_are_repetitions(rows, times):
    X, y, weight = rows
    whole = (weight > 0) * (1 + np.arange(len(y)) % times)
    exact = exact_of(X, y, whole.astype(float))
    assert_exact(stats_of(X, y, whole), exact)
    assert_exact(stats_of(np.repeat(X, whole, axis=0), np.repeat(y, whole)), exact)


def normal(X, factor):
    """X in units in which its squares times weights of this factor are far from 1e-308 and 1e308.

    Weights between 1e-30 and 1e30 are taken as they are, and all others are brought near 1.
    """
    if 1e-31 < factor < 1 and abs(X).max() < 1e-120:
        return X * 1e150
    return X / 1e150 if 1 < factor < 1e31 and abs(X).max() > 1e120 else X


@deterministic
@given(data(), st.integers(-700, 700))
def test_weights_times_a_power_of_two_change_no_bit_of_the_moments(rows, power):
    X, y, weight = rows
    X = normal(X, 2.0**power)
    weight = np.where(weight > 0, 1.0 + np.arange(len(y)) % 3, 0.0)
    for mode in ("error", "skip"):
        plain, scaled = (stats_of(X, y, w, missing=mode) for w in (weight, weight * 2.0**power))
        for name in NAMES[1:]:
            assert getattr(scaled, name).tobytes() == getattr(plain, name).tobytes()
        assert (scaled.count == plain.count * 2.0**power).all()
        assert (scaled.weight == plain.weight * 2.0**power).all()
        twice = scaled + scaled.update(X[::2], y[::2], weight[::2] * 2.0**power)
        once = plain + plain.update(X[::2], y[::2], weight[::2])
        for name in NAMES[1:]:
            assert getattr(twice, name).tobytes() == getattr(once, name).tobytes()


@deterministic
@given(data(), st.floats(1e-290, 1e290), st.sampled_from([0.0, 0.5, 1e-9]))
def test_weights_times_any_factor_leave_moments_and_model(rows, factor, smoothing):
    X, y, weight = rows
    X = normal(X, factor)
    weight = np.where(weight > 0, 1.0 + np.arange(len(y)) % 3, 0.0)
    exact = exact_of(X, y, weight)
    stats = stats_of(X, y, weight * factor)
    scaled = [[w * Fraction(factor) for w in row] for row in exact.weight]
    count = [w * Fraction(factor) for w in exact.count]
    scatter = [[s * Fraction(factor) for s in row] for row in exact.scatter]
    assert_exact(stats, exact._replace(weight=scaled, count=count, scatter=scatter))
    if weight.any():
        one, two = (
            estimate_diagonal(s, var_smoothing=smoothing) for s in (stats, stats_of(X, y, weight))
        )
        np.testing.assert_allclose(one.class_prior, two.class_prior, rtol=1e-13)
        np.testing.assert_allclose(one.var, two.var, rtol=2e-13)


@deterministic
@given(data())
def test_rows_of_weight_zero_are_not_there_whatever_they_hold(rows):
    X, y, weight = rows
    kept = weight > 0
    filled = np.where(kept[:, None], X, np.resize([1e300, np.nan, -np.inf], X.shape))
    exact = exact_of(X[kept], y[kept], weight[kept])
    assert_exact(stats_of(filled, y, weight), exact)
    assert_exact(stats_of(X[kept], y[kept], weight[kept]), exact)


@deterministic
@given(data(), st.integers(-900, 900))
def test_units_of_features_that_are_powers_of_two_change_exponents_only(rows, power):
    X, y, weight = rows
    X = np.rint(X / X.ravel()[np.argmax(abs(X))] * 2**20) if X.any() else X
    power //= 2 if abs(power) > 450 else 1
    plain, scaled = stats_of(X, y, weight), stats_of(X * 2.0**power, y, weight)
    assert scaled.mean.tobytes() == (plain.mean * 2.0**power).tobytes()
    assert scaled.variance.tobytes() == (plain.variance * 4.0**power).tobytes()


@deterministic
@given(data(), st.integers(-(10**9), 10**9))
def test_a_constant_added_to_a_feature_moves_means_only(rows, constant):
    """Here all sums are exact, so that nothing but the library can round."""
    X, y, weight = rows
    X = np.rint(X / abs(X).max() * 1000) / 8 if X.any() else X
    exact, moved = exact_of(X, y, weight), exact_of(X + constant, y, weight)
    assert moved.scatter == exact.scatter
    stats = stats_of(X + constant, y, weight)
    assert_exact(stats, moved)
    parts = [stats_of(X[i::3] + constant, y[i::3], weight[i::3]) for i in range(3)]
    assert_exact(sum(parts), moved)
    np.testing.assert_allclose(stats.variance, stats_of(X, y, weight).variance, rtol=TOLERANCE)


@pytest.mark.parametrize("unit", [1e-162, 1e-160, 1e-158, 1e-155, 1e-153])
def test_variances_below_the_normal_range_round_to_what_there_is(rng, unit):
    """A variance of 1e-320 has three digits; a merge may lose one unit of them."""
    X, y = rng.normal(size=(200, 2)) * unit, np.arange(200) % 3
    exact = exact_of(X, y)
    pieces = [stats_of(X[a : a + 7], y[a : a + 7]) for a in range(0, 200, 7)]
    for stats, merges in ((stats_of(X, y), 1), (sum(pieces), len(pieces))):
        for c, j in np.ndindex(3, 2):
            variance = exact.scatter[c][j] / exact.weight[c][j]
            wrong = abs(Fraction(stats.variance[c, j]) - variance)
            assert wrong <= Fraction(TOLERANCE) * variance + 2 * merges * Fraction(5e-324)


@pytest.mark.parametrize("k", [3, 9, 40])
@pytest.mark.parametrize("d", [1, 5, 8, 9, 20])
def test_renamed_classes_and_permuted_features_permute_scores(make_data, rng, k, d):
    X, y = make_data(2000, d, k)
    weight = rng.integers(1, 5, len(y))
    new, order = rng.permutation(k), rng.permutation(d)
    plain = GaussianNB(var_smoothing=0).fit(X, y, weight)
    renamed = GaussianNB(var_smoothing=0).fit(X, new[y], weight)
    names = [f"class {c:03}" for c in new]
    texts = GaussianNB(var_smoothing=0).fit(X, np.array(names)[y], weight)
    joint = plain.predict_joint_log_proba(X)
    for model in (renamed, texts):
        assert bits_of(model.stats_) == [
            getattr(plain.stats_, name)[np.argsort(new)].tobytes() for name in NAMES
        ] + [b""]
        assert model.predict_joint_log_proba(X)[:, new].tobytes() == joint.tobytes()
        np.testing.assert_allclose(
            model.predict_proba(X)[:, new], plain.predict_proba(X), rtol=1e-12, atol=1e-300
        )
    assert (renamed.predict(X) == new[plain.predict(X)]).all()
    assert (texts.predict(X) == np.array(names)[plain.predict(X)]).all()
    turned = GaussianNB(var_smoothing=0).fit(X[:, order], y, weight)
    for name in NAMES[1:]:
        own, other = getattr(plain.stats_, name), getattr(turned.stats_, name)
        assert other.tobytes() == own[:, order].tobytes()
    np.testing.assert_allclose(turned.predict_joint_log_proba(X[:, order]), joint, rtol=1e-13)


def test_weights_and_rows_whose_scatter_overflows_and_variance_does_not(rng):
    """One pass says what pieces of the rows say: the variance fits, the scatter alone does not."""
    X, y = rng.normal(size=(300, 2)) * [1e150, 1e-140], np.arange(300) % 3
    for weight in (np.full(300, 1e10), np.full(300, 1e50), rng.random(300) * 1e29):
        exact = exact_of(X, y, weight)
        pieces = (stats_of(X[i : i + 1], y[i : i + 1], weight[i : i + 1]) for i in range(300))
        assert_exact(stats_of(X, y, weight), exact)
        assert_exact(functools.reduce(ClassStats.__add__, pieces), exact)
    X[:, 0] *= 3e3  # the squares of a few hundred rows of weight 1
    missing = X.copy()
    missing[::5, 1] = np.nan
    assert_exact(stats_of(X, y), exact_of(X, y))
    assert_exact(stats_of(missing, y, missing="skip"), exact_of(missing, y))


def test_light_weights_keep_the_digits_of_small_variances(rng):
    X, y = rng.normal(size=(300, 2)) * 1e-130, np.arange(300) % 3
    for unit in (1e-29, 1e-35, 1e-58, 1e-200):
        weight = rng.random(300) * unit
        assert_exact(stats_of(X, y, weight), exact_of(X, y, weight))


def test_the_weight_of_a_class_of_missing_values_can_overflow_too():
    with pytest.raises(ValueError, match="sum of the weights overflows float64"):
        ClassStats.from_rows([[np.nan], [np.nan]], [0, 0], [1e308, 1e308], missing="skip")


def test_counts_with_missing_values_are_those_without():
    n = 3_000_000
    X, y, weight = np.zeros((n, 1), np.float32), np.zeros(n, np.int8), np.full(n, 0.1)
    plain, skip = (ClassStats.from_rows(X, y, weight, missing=m) for m in ("error", "skip"))
    assert skip.count.tobytes() == plain.count.tobytes()
    assert abs(Fraction(skip.count[0]) / (Fraction(0.1) * n) - 1) < TOLERANCE
