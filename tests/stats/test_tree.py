"""`merge`: one tree over positions, the same bits however its parts are grouped."""

from __future__ import annotations

import operator

import numpy as np
import oracles
import pytest
from mixed_cases import CATEGORICAL, mixed_data
from same_bits import assert_same_bits
from stats_cases import TOLERANCE, errors, offset_rows

import fastgnb
from fastgnb import ClassStats, MixedStats, merge
from fastgnb.stats.tree import MergeTree, batch_rows

SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 33]


def tree_of(parts, combine=operator.add):
    """The definition, level by level: the slow exact twin of `MergeTree`."""
    level = list(parts)
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [pair[0] if len(pair) == 1 else sum_of(*pair, combine) for pair in pairs]
    return level[0]


def sum_of(a, b, combine):
    if a is None or b is None:
        return b if a is None else a
    return combine(a, b)


def bracket(a, b):
    return f"({a} {b})"


def added(parts, combine=operator.add):
    tree = MergeTree(combine)
    for part in parts:
        tree.add(part)
    return tree.result()


# ------------------------------------------------------------------ the shape of the tree


@pytest.mark.parametrize("n", SIZES)
def test_tree_is_that_of_the_definition(n):
    leaves = [str(i) for i in range(n)]
    assert added(leaves, bracket) == tree_of(leaves, bracket)


def test_seven_leaves_in_words():
    assert added("abcdefg", bracket) == "(((a b) (c d)) ((e f) g))"


@pytest.mark.parametrize("n", SIZES)
def test_parts_without_rows_keep_their_positions(rng, n):
    for _ in range(5):
        leaves = [str(i) if rng.random() < 0.6 else None for i in range(n)]
        assert added(leaves, bracket) == tree_of(leaves, bracket)
    assert added([None] * n, bracket) is None


@pytest.mark.promise("partitions")
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("group", [1, 2, 4, 8])
def test_aligned_groups_may_be_added_elsewhere(n, group):
    leaves = [None if i % 5 == 3 else str(i) for i in range(n)]
    groups = [added(leaves[i : i + group], bracket) for i in range(0, n, group)]
    assert added(groups, bracket) == added(leaves, bracket)


def test_groups_of_another_size_are_another_tree():
    leaves = "abcdef"
    groups = [added(leaves[i : i + 3], bracket) for i in (0, 3)]
    assert added(groups, bracket) != added(leaves, bracket)


def test_result_may_be_read_between_parts():
    tree = MergeTree(bracket)
    seen = []
    for leaf in "abc":
        tree.add(leaf)
        seen.append(tree.result())
    assert seen == ["a", "(a b)", "((a b) c)"]
    assert len(tree) == 3


def test_a_sum_that_fails_leaves_the_tree_as_it_was():
    def combine(a, b):
        if "x" in (a, b):
            raise ValueError("x")
        return bracket(a, b)

    tree = MergeTree(combine)
    for leaf in "abc":
        tree.add(leaf)
    with pytest.raises(ValueError, match="x"):
        tree.add("x")
    assert len(tree) == 3
    tree.add("d")
    assert tree.result() == "((a b) (c d))"


def test_memory_is_that_of_a_binary_counter():
    tree = MergeTree()
    for i in range(1000):
        tree.add(i)
        assert sum(node is not None for node in tree._nodes) == (i + 1).bit_count()
    assert tree.result() == sum(range(1000))


# ------------------------------------------------------------------ statistics


def class_parts(rng, kind, n_parts=13):
    """Statistics of consecutive rows, some of few classes, and those of all rows, exactly."""
    X, y = offset_rows(rng, 400, 1e4)
    y[:60] = 0
    cuts = np.sort(rng.integers(0, len(X), n_parts - 1))
    ranges = zip([0, *cuts], [*cuts, len(X)], strict=True)
    options = {"scatter": "full"} if kind == "full" else {}
    if kind == "skip":
        X[rng.random(X.shape) < 0.2] = np.nan
        options = {"missing": "skip"}
    parts = [ClassStats.from_rows(X[a:b], y[a:b], **options) for a, b in ranges if b > a]
    return parts, X, y


@pytest.mark.promise("partitions")
@pytest.mark.parametrize("kind", ["diag", "full", "skip"])
def test_merge_is_the_tree_over_its_parts(rng, kind):
    parts, X, y = class_parts(rng, kind)
    total = merge(iter(parts))
    assert_same_bits(total, tree_of(parts))
    for group in (2, 4, 8):
        groups = [merge(parts[i : i + group]) for i in range(0, len(parts), group)]
        assert_same_bits(merge(groups), total)
    if kind == "diag":
        assert max(errors(total, oracles.class_stats(X, y))) < TOLERANCE
    np.testing.assert_allclose(sum(parts).mean, total.mean, rtol=1e-13)
    np.testing.assert_allclose(sum(parts).variance, total.variance, rtol=1e-12)


def test_merge_of_mixed_statistics():
    X, y = mixed_data(300)
    parts = [
        MixedStats.from_rows(X[i : i + 37], y[i : i + 37], categorical_features=CATEGORICAL)
        for i in range(0, 300, 37)
    ]
    total = merge(parts)
    assert_same_bits(total, tree_of(parts))
    assert_same_bits(merge([merge(parts[:4]), merge(parts[4:8]), merge(parts[8:])]), total)


def empties(stats):
    """Statistics without rows that go with `stats`: of no class, of its classes, and of others."""
    mixed = isinstance(stats, MixedStats)
    make = MixedStats.from_rows if mixed else ClassStats.from_rows
    inner = stats.gaussian if mixed else stats
    options = {"missing": "error" if inner.feature_count is None else "skip"}
    if mixed:
        options["categorical_features"] = stats.is_categorical
    elif inner.covariance is not None:
        options["scatter"] = "full"
    X, y = np.empty((0, stats.n_features)), np.empty(0, np.int64)
    for classes in (None, [0, 1, 2], [1]):
        yield make(X, y, classes=classes, **options)


@pytest.mark.promise("partitions")
@pytest.mark.parametrize("kind", ["diag", "full", "skip", "mixed", "mixed skip"])
@pytest.mark.parametrize("order", ["first", "second"])
def test_statistics_without_rows_change_no_bit(rng, kind, order):
    """Their classes may be fewer, and those of `stats` have all sorts of weights."""
    X, y = mixed_data(60)
    X[:, 0] = 1.0  # of no scatter
    X[:, 3] *= np.where(y == 1, -1e-200, 1e8)
    if kind.endswith("skip"):
        X[rng.random(len(X)) < 0.3, 3] = np.nan
    options = {"missing": "skip"} if kind.endswith("skip") else {}
    if kind.startswith("mixed"):
        stats = MixedStats.from_rows(X, y, categorical_features=CATEGORICAL, **options)
    else:
        options |= {"scatter": "full"} if kind == "full" else {}
        stats = ClassStats.from_rows(X, y, rng.random(len(X)), **options)
    found = list(empties(stats))
    for empty in found:
        both = empty + stats if order == "first" else stats + empty
        assert_same_bits(both, stats)
    assert len(found) == 3


def test_statistics_without_rows_keep_the_sign_of_zero():
    """Covariances of -0, and what a subtraction left."""
    rows = [[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]]
    stats = ClassStats.from_rows(rows, [0, 0, 0], scatter="full")
    covariance = stats.covariance.copy()
    covariance[0, 0, 1] = covariance[0, 1, 0] = -0.0
    stats = fastgnb.ClassStats(
        stats.classes, stats.count, stats.mean, stats.variance, stats.mean_lo,
        covariance=covariance, max_scatter=stats.variance * 4,
    )  # fmt: skip
    for empty in empties(stats):
        if set(empty.classes) <= {0}:
            assert_same_bits(empty + stats, stats)
            assert_same_bits(stats + empty, stats)


# ------------------------------------------------------------------ bad input, and how rows are cut


def test_nothing_to_merge():
    with pytest.raises(ValueError, match=r"No statistics to merge: there is no part\."):
        merge([])
    with pytest.raises(ValueError, match="there are 3 parts, none of which has rows"):
        merge([None] * 3)


def test_parts_that_are_no_statistics():
    stats = ClassStats.from_rows([[1.0]], [0])
    with pytest.raises(TypeError, match="Part 1 is int, expected ClassStats or MixedStats"):
        merge([stats, 0])
    with pytest.raises(TypeError, match="Part 0 is str"):
        merge("ab")


@pytest.mark.parametrize("n_after", [0, 1, 2])
def test_parts_that_do_not_fit_are_named(n_after):
    stats = ClassStats.from_rows([[1.0]], [0])
    wide = ClassStats.from_rows([[1.0, 2.0]], [0])
    mixed = MixedStats.from_rows([[1.0]], [0], categorical_features=[0])
    last = 2 + min(n_after, 1)  # a third part is added to the fourth first
    told = rf"Parts 0 to {last} cannot be merged: Statistics of \d features cannot be combined"
    with pytest.raises(ValueError, match=told) as caught:
        merge([stats, stats, wide, *[stats] * n_after])
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(TypeError, match=rf"Parts 0 to {last} cannot be merged: .*MixedStats"):
        merge([stats, stats, mixed, *[stats] * n_after])


@pytest.mark.parametrize(
    ("n_features", "rows"),
    [(0, 2**16), (1, 2**16), (16, 2**16), (17, 61680), (20, 52428), (4096, 256), (10**6, 256)],
)
def test_rows_of_a_batch(n_features, rows):
    assert batch_rows(n_features) == rows


# ------------------------------------------------------------------ threads


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2"])
def test_bad_numbers_of_threads(n):
    with pytest.raises(ValueError, match="threads must be a whole number, 1 or more, got"):
        fastgnb.threads(n).__enter__()


def test_threads_are_limited_within_the_block():
    from fastgnb._numba.threads import n_threads

    before = n_threads()
    with fastgnb.threads(1):
        assert n_threads() == 1
        with fastgnb.threads(None):
            assert n_threads() == 1
        with fastgnb.threads(10**6):
            assert n_threads() == before
        assert n_threads() == 1
    assert n_threads() == before
