"""Sums of plain rows: the three ways to add them, chosen by the numbers of classes and features."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracles
import pytest

from fastgnb.kernels.learn import few_classes, in_order, plain
from fastgnb.kernels.learn.diagonal import accumulate
from fastgnb.kernels.learn.encode import EncodedLabels

# Shapes (k, d) of each way, and of its branches: groups of vectors, sets of records, lengths of
# tiles.
WAYS = {
    plain._sum_few: [(2, 4), (3, 3), (4, 8)],
    plain._sum_in_order: [(1, 1), (5, 9), (7, 20), (23, 27)],
    plain._sum_by_class: [(3, 41), (14, 70), (101, 8), (51, 16), (34, 24), (26, 32), (130, 9)],
}
SHAPES = [shape for shapes in WAYS.values() for shape in shapes]


def sums_of(X, codes, k):
    return accumulate(X, EncodedLabels.from_codes(codes), None, k)


def test_the_shape_alone_chooses_the_way():
    for kernel, shapes in WAYS.items():
        assert all(plain.plain_kernel(k, d) is kernel for k, d in shapes)
    assert {in_order.n_sets(k, d) for k, d in WAYS[plain._sum_in_order]} == {2, 4}
    assert not any(few_classes.has_few(k, d) for k, d in WAYS[plain._sum_in_order])


@pytest.mark.parametrize(("k", "d"), SHAPES)
def test_sums_are_exact_and_the_same_in_every_layout(rng, k, d):
    codes = np.concatenate([np.arange(k), rng.integers(0, k, 40)]).astype(np.int32)
    n = len(codes)
    X = (rng.normal(size=(n, d)) + 50 * rng.normal(size=(k, d))[codes]).astype(np.float32)
    found = sums_of(X, codes, k)
    np.testing.assert_array_equal(found.weight[:, 0], np.bincount(codes, minlength=k))
    for c, j in ((0, 0), (k - 1, d - 1), (int(codes[-1]), d // 2)):
        exact = oracles.sums(X[codes == c, j])
        mean = Fraction(found.mean[c, j]) + Fraction(found.mean_lo[c, j])
        assert abs(mean - exact.mean) <= abs(exact.mean) / 10**15
        assert abs(Fraction(found.scatter[c, j]) - exact.scatter) <= exact.scatter / 10**13
    for other in (X.astype(np.float64), np.asfortranarray(X)):
        for got, want in zip(sums_of(other, codes, k), found, strict=True):
            assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("d", [8, 20, 32, 41, 100])
def test_same_order_means_the_same_bits(rng, d):
    """Classes that have no rows change nothing where the order of additions stays the same."""
    n = 300
    X, codes = rng.normal(size=(n, d)), rng.integers(0, 2, n).astype(np.int32)
    few = sums_of(X, codes, 2)
    for k in (3, 7, 20, 41):
        if plain.same_order(2, k, d):
            for got, want in zip(sums_of(X, codes, k), few, strict=True):
                assert got[:2].tobytes() == want.tobytes()
    assert plain.same_order(2, 2, d)
    assert not plain.same_order(2, 300, d)
    assert plain.same_order(200, 200, d)
    assert not plain.same_order(200, 300, d)
