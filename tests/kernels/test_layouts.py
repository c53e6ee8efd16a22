"""The same bits for any layout of the same numbers, at sizes around every block's end."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import oracles
import pytest

from fastgnb import ClassStats
from fastgnb.kernels import chunks
from fastgnb.kernels.learn import diagonal as accumulate
from fastgnb.kernels.learn import full as scatter
from fastgnb.stats.mixed_stats import MixedStats

pytestmark = pytest.mark.compiled

FIELDS = (
    "classes",
    "count",
    "mean",
    "variance",
    "mean_lo",
    "feature_count",
    "max_scatter",
    "covariance",
)


def layouts(X):
    """The rows in other places of memory, by names."""
    n, d = X.shape
    wide = np.zeros((2 * n, d + 3), X.dtype)
    wide[::2, 1 : d + 1] = X
    columns = np.zeros((n, 2 * d), X.dtype)
    columns[:, ::2] = X
    bytes_ = np.zeros(X.nbytes + 1, np.uint8)
    misaligned = bytes_[1:].view(X.dtype).reshape(n, d)
    misaligned[:] = X
    fixed = X.copy()
    fixed.setflags(write=False)
    yield "columns", np.asfortranarray(X)
    yield "strided rows", wide[::2, 1 : d + 1]
    yield "strided columns", columns[:, ::2]
    yield "reversed rows", X[::-1].copy()[::-1]
    yield "reversed columns", X[:, ::-1].copy()[:, ::-1]
    yield "reversed, by columns", np.asfortranarray(X[::-1])[::-1]
    yield "misaligned", misaligned
    yield "other byte order", X.astype(X.dtype.newbyteorder())
    yield "read-only", fixed


def different(a, b):
    """Names of the fields that differ in any bit."""
    pairs = ((name, getattr(a, name), getattr(b, name)) for name in FIELDS)
    return [
        name
        for name, x, y in pairs
        if (x is None) != (y is None) or (x is not None and x.tobytes() != y.tobytes())
    ]


def around(*ends):
    """Sizes on both sides of the ends of groups of eight rows, tiles, blocks and tables."""
    steps = -9, -8, -7, -1, 0, 1, 7, 8, 9
    return sorted({n + step for n in ends for step in steps if n + step > 0})


@pytest.fixture
def short_chunks(monkeypatch):
    """Rows that are copied come in the shortest chunks, of two blocks."""
    monkeypatch.setattr(chunks, "BUFFER_BYTES", 1)


def data(n, d, k, seed=0):
    draw = np.random.default_rng([seed, n, d, k])
    return draw.normal(3, 1, (n, d)), draw.integers(0, k, n), draw.random(n)


@pytest.mark.promise("bits")
@pytest.mark.parametrize(("d", "k"), [(7, 3), (4, 3), (1, 1), (8, 4), (3, 2), (9, 3), (20, 6)])
@pytest.mark.parametrize("how", ["plain", "weighted", "skip"])
def test_diagonal_statistics(short_chunks, d, k, how):
    block = accumulate.rows_per_block(1, k)
    for n in around(8, 64, block, 2 * block, 4 * block):
        X, y, weight = data(n, d, k)
        if how == "skip":
            X[np.random.default_rng(n).random(X.shape) < 0.1] = np.nan
        arguments = {"sample_weight": None if how == "plain" else weight}
        arguments["missing"] = "skip" if how == "skip" else "error"
        wanted = ClassStats.from_rows(X, y, **arguments)
        for name, other in layouts(X):
            found = ClassStats.from_rows(other, y, **arguments)
            assert not different(found, wanted), (n, name)


@pytest.mark.promise("bits")
@pytest.mark.parametrize(("d", "k"), [(35, 70), (41, 3), (35, 140), (20, 40), (20, 80)])
def test_diagonal_statistics_of_many_classes_and_features(d, k):
    """Tiles of every length, and panels of every width."""
    for n in (500, accumulate.rows_per_block(1, k) + 515):
        X, y, _ = data(n, d, k)
        wanted = ClassStats.from_rows(X, y)
        c = int(np.bincount(y).argmax())
        exact = oracles.sums(X[y == c, d - 1])
        at = wanted.classes.tolist().index(c)
        assert wanted.count[at] == exact.weight
        assert abs(Fraction(wanted.scatter[at, d - 1]) / exact.scatter - 1) < 1e-13
        for name, other in layouts(X):
            assert not different(ClassStats.from_rows(other, y), wanted), (n, name)


@pytest.mark.promise("bits")
@pytest.mark.parametrize(("d", "k"), [(7, 3), (1, 1), (17, 2), (16, 1)])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_full_statistics(short_chunks, d, k, is_weighted):
    tile = scatter._rows_per_tile(k, d)
    for n in around(8, tile, 2 * tile, 3 * tile):
        X, y, weight = data(n, d, k)
        weight = weight if is_weighted else None
        wanted = ClassStats.from_rows(X, y, weight, scatter="full")
        for name, other in layouts(X):
            found = ClassStats.from_rows(other, y, weight, scatter="full")
            assert not different(found, wanted), (n, name)


def test_pieces_of_the_usual_size():
    X, y, _ = data(300_001, 7, 3)
    wanted = ClassStats.from_rows(X, y)
    for name, other in layouts(X):
        assert not different(ClassStats.from_rows(other, y), wanted), name


@pytest.mark.parametrize("kind", ["f2", "f4", "i1", "u2", "i4", "i8", "?"])
@pytest.mark.parametrize("scatter", ["diag", "full"])
def test_other_types_of_the_same_numbers(short_chunks, kind, scatter):
    for n in (9, 1290, 2571):
        X, y, weight = data(n, 7, 3)
        X = (10 * X).astype(kind)
        wanted = ClassStats.from_rows(X.astype(np.float64), y, weight, scatter=scatter)
        for name, other in [("rows", X), *layouts(X)]:
            found = ClassStats.from_rows(other, y, weight, scatter=scatter)
            assert not different(found, wanted), (n, name)


@pytest.mark.parametrize("scatter", ["diag", "full"])
def test_labels_and_weights_in_other_places(short_chunks, scatter):
    for n in (9, 1290, 2571):
        X, y, weight = data(n, 7, 3)
        wanted = ClassStats.from_rows(X, y, weight, scatter=scatter)
        every = np.repeat(y, 2)[::2], y[::-1].copy()[::-1], y.astype(">i2"), list(y)
        for labels in every:
            w = np.repeat(weight, 3)[::3]
            found = ClassStats.from_rows(X[::-1].copy()[::-1], labels, w, scatter=scatter)
            assert found.classes.tolist() == wanted.classes.tolist()
            assert not different(replace(found, classes=wanted.classes), wanted), n
        for w in (weight[::-1].copy()[::-1], weight.astype(">f8"), list(weight)):
            assert not different(ClassStats.from_rows(X, y, w, scatter=scatter), wanted), n


@pytest.mark.promise("bits")
@pytest.mark.parametrize("missing", ["error", "skip"])
def test_mixed_statistics(short_chunks, missing):
    for n in (9, 1290, 2571, 5143):
        X, y, weight = data(n, 8, 3)
        X[:, 5] = np.random.default_rng(n).integers(0, 4, n)
        if missing == "skip":
            X[np.random.default_rng(n).random(X.shape) < 0.1] = np.nan
        arguments = {"categorical_features": [5], "missing": missing}
        wanted = MixedStats.from_rows(X, y, weight, **arguments)
        for name, other in layouts(X):
            found = MixedStats.from_rows(other, y, weight, **arguments)
            assert not different(found.gaussian, wanted.gaussian), (n, name)
            assert found.counts[0].tobytes() == wanted.counts[0].tobytes(), (n, name)


def test_rows_that_lie_between_the_places_of_floats_are_moved():
    """Kernels read whole float64; where memory is not laid out for that, there is a copy."""
    odd = np.frombuffer(bytearray(8 * 12 + 1), np.uint8)[1:].view(np.float64).reshape(6, 2)
    odd[...] = np.arange(12).reshape(6, 2)
    assert not odd.flags.aligned
    parts = list(chunks.contiguous_chunks(odd, np.array([0, 3, 6])))
    assert all(part.data.flags.aligned for part in parts)
    rows = [part.data[: 2 * (part.stop - part.start)] for part in parts]
    assert np.concatenate(rows).tolist() == list(range(12))
