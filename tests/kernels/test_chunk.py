"""One call for a chunk of rows: the bits of the longer way, and what it finds instead."""

from __future__ import annotations

import numpy as np
import pytest

from fastgnb import ClassStats
from fastgnb._numba import awake
from fastgnb.input.known_labels import KnownLabels
from fastgnb.kernels.learn import chunk
from fastgnb.kernels.learn.merge import Parts

SHAPES = [
    (1, 3, 2), (7, 8, 2), (100, 20, 10), (5000, 5, 3), (4000, 9, 12), (300, 100, 10), (90, 3, 1),
]  # fmt: skip


def packed(stats):
    return chunk.pack(Parts(stats.count, stats.mean, stats.mean_lo, stats.variance))


def bits_of(statistics, k, d):
    return [part.tobytes() for part in chunk.unpack(statistics, k, d)]


def case(make_data, n, d, k):
    X, y = make_data(n + k, d, k)
    before = ClassStats.from_rows(X[:k] + 1.0, np.arange(k))
    return X[k:], y[k:], before


def merged(X, y, before, weight=None):
    labels = KnownLabels.of(before.classes).encode(y)
    rows = X.ravel("K"), not X.flags.c_contiguous
    return chunk.merge_chunk(*rows, labels, weight, packed(before), len(before.classes), X.shape[1])


@pytest.mark.parametrize("share", [1 << 60, 0], ids=["one call", "threads"])
@pytest.mark.parametrize("shape", SHAPES)
def test_bits_are_those_of_the_longer_way(make_data, monkeypatch, shape, share):
    X, y, before = case(make_data, *shape)
    _, d, k = shape
    weight = np.linspace(0.5, 2.0, len(X))
    for rows in (X, X.astype(np.float32)):
        for given in (None, weight):
            after = before + ClassStats.from_rows(rows, y, given, classes=before.classes)
            monkeypatch.setattr(awake, "_AWAKE_WORK", share)
            monkeypatch.setattr(awake, "_ASLEEP_WORK", share)
            for laid_out in (rows, np.asfortranarray(rows)):
                found, both = merged(laid_out, y, before, given)
                assert found == 8 * len(set(y.tolist()))
                assert bits_of(both, k, d) == bits_of(packed(after), k, d)
            monkeypatch.undo()


def test_read_only_input(make_data):
    X, y, before = case(make_data, 60, 5, 3)
    wanted = bits_of(merged(X, y, before)[1], 3, 5)
    for array in (X, y, before.count, before.mean, before.variance):
        array.flags.writeable = False
    assert bits_of(merged(X, y, before)[1], 3, 5) == wanted


def test_packed_statistics(make_data):
    _, _, before = case(make_data, 60, 5, 3)
    parts = chunk.unpack(packed(before), 3, 5)
    assert parts.weight[:, 0].tolist() == before.count.tolist()
    for name in ("mean", "mean_lo", "variance"):
        assert getattr(parts, name).tolist() == getattr(before, name).tolist()


@pytest.mark.parametrize("label", [-1, 3, 4, 6, -(1 << 63), (1 << 63) - 1])
def test_labels_that_are_unknown(label):
    before = ClassStats.from_rows(np.eye(3), [0, 2, 5])
    y = np.array([0, 5, 2, label])
    assert merged(np.ones((4, 3)), y, before)[0] == chunk.UNKNOWN_LABEL
    assert merged(np.ones((3, 3)), y[:3], before)[0] == 8 * 3


@pytest.mark.parametrize("share", [1 << 60, 0])
@pytest.mark.parametrize(
    ("value", "wanted"),
    [(np.nan, chunk.NOT_FINITE), (np.inf, chunk.NOT_FINITE), (1e300, chunk.NOT_FINITE),
     (3e152, chunk.EXTREME)],
)  # fmt: skip
def test_values_for_the_longer_way(monkeypatch, value, wanted, share):
    before = ClassStats.from_rows(np.eye(3), [0, 1, 1])
    X = np.ones((5000, 3))
    X[4000, 1] = value
    X[4001, 1] = -value
    monkeypatch.setattr(awake, "_AWAKE_WORK", share)
    monkeypatch.setattr(awake, "_ASLEEP_WORK", share)
    assert merged(X, np.arange(5000) % 2, before)[0] == wanted


@pytest.mark.parametrize("d", [1, 8, 9])
@pytest.mark.parametrize("k", [2, 4, 5, 12])
@pytest.mark.parametrize("n", [40, 3000])
def test_sums_of_fewer_classes_are_the_same_where_it_says_so(make_data, n, d, k):
    X, _ = make_data(n, d, k)
    for few in {1, 2, 4, k - 1, k} & set(range(1, k + 1)):
        y = np.arange(n) % few
        declared = ClassStats.from_rows(X, y, classes=np.arange(k))
        alone = ClassStats.from_rows(X, y)
        if chunk.same_sums(n, d, few, k):
            assert declared.mean[:few].tobytes() == alone.mean.tobytes()
            assert declared.variance[:few].tobytes() == alone.variance.tobytes()
    assert chunk.same_sums(n, d, k, k)


def test_classes_without_rows_before_or_in_the_chunk(make_data):
    X, y = make_data(30, 9, 4)
    before = ClassStats.from_rows(X[y < 2], y[y < 2], classes=np.arange(4))
    for codes in ([0, 2], [1], [3], [0, 1, 2, 3]):
        part = np.isin(y, codes)
        after = before + ClassStats.from_rows(X[part], y[part], classes=before.classes)
        found, both = merged(X[part], y[part], before)
        assert found == 8 * len(codes)
        assert bits_of(both, 4, 9) == bits_of(packed(after), 4, 9)


def test_covariances_of_both_sides(make_data):
    X, y = make_data(40, 3, 3)
    a = ClassStats.from_rows(X[:20], y[:20] % 2, classes=np.arange(3), scatter="full")
    b = ClassStats.from_rows(X[20:], 1 + y[20:] % 2, classes=np.arange(3), scatter="full")
    labels = np.r_[y[:20] % 2, 1 + y[20:] % 2]
    both = (a + b).covariance
    for c in range(3):
        np.testing.assert_allclose(both[c], np.cov(X[labels == c].T, bias=True), rtol=1e-12)
    assert both.tobytes() == both.transpose(0, 2, 1).tobytes()
    assert both[0].tobytes() == a.covariance[0].tobytes()
    assert both[2].tobytes() == b.covariance[2].tobytes()
