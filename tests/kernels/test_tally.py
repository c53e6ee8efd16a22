"""Sums over rows of log odds against plain loops in extended precision, however rows are cut."""

from __future__ import annotations

import numpy as np
import oracles
import pytest

from fastgnb._numba import threads
from fastgnb._system import thread_limits
from fastgnb.kernels.evaluate.bins import Bins
from fastgnb.kernels.evaluate.cells import CutOffs, keys_of
from fastgnb.kernels.evaluate.tally import Rows, Tally, add_rows, new_bins, new_sums
from fastgnb.kernels.score.log_odds import to_log_odds

CUTS = {
    "none": np.empty(0),
    "one": np.array([0.0]),
    "grid": np.log(np.arange(1, 100) / 100) - np.log1p(-np.arange(1, 100) / 100),
    "close": np.array([-1e9, -1e-12, 0.0, 1e-12, np.nextafter(2e-12, 1), 3.0, 700.0]),
}


def rows_of(rng, n, k, *, weighted=False, scale=3.0):
    """Log odds with ties, certain rows and cut-offs among them, unknown labels, and weights."""
    odds = rng.normal(size=(n, k)) * scale
    odds[rng.random(n) < 0.1] = 0.0
    to_log_odds(odds)
    odds[rng.random((n, k)) < 0.02] = np.inf
    odds[rng.random((n, k)) < 0.02] = -np.inf
    odds[rng.random((n, k)) < 0.02] = CUTS["grid"][3]
    true, predicted = rng.integers(-1, k, n), rng.integers(0, k, n)
    weight = rng.exponential(size=n) if weighted else np.empty(0)
    return Rows(odds, true, predicted, weight)


def empty(k, cuts=CUTS["grid"], *, n_places=1 << 10, by_class=True, has_confusion=True):
    cells, total, low = new_sums(k, len(cuts) + 1, has_confusion=has_confusion)
    bins = new_bins(k, k + 1 if by_class else 2, n_places)
    return Tally(True, bins, CutOffs.of(cuts), cells, total, low)


def part(rows, at):
    return Rows(*(each[at] if len(each) else each for each in rows))


def weights_of(rows):
    return rows.weight if len(rows.weight) else np.ones(len(rows.true))


def expect_sums(tally, rows, cuts):
    want = oracles.tally(rows.log_odds, rows.true, rows.predicted, weights_of(rows), cuts)
    k = rows.log_odds.shape[1]
    got = tally.cells.total + tally.cells.low
    np.testing.assert_allclose(got, want.cells, rtol=1e-14, atol=1e-300)
    if not len(rows.weight):
        assert (got[..., :2] == want.cells[..., :2]).all()
    for name in ("hit", "predicted", "rank"):
        value = getattr(tally.total, name) + getattr(tally.low, name)
        np.testing.assert_allclose(value, getattr(want, name), rtol=1e-15)
    confusion = (tally.total.confusion + tally.low.confusion).reshape(k, k)
    np.testing.assert_allclose(confusion, want.confusion, rtol=1e-15)
    assert (tally.total.loss + tally.low.loss)[0] == pytest.approx(want.loss, rel=1e-14)


def counts_of(bins: Bins, c: int) -> list[dict[int, float]]:
    """The bins of class c that hold weight, by number, of each group."""
    size = bins.weights.shape[2]
    first = int(bins.low[c]) >> int(bins.shift[c])
    found = []
    for group in bins.weights[c]:
        numbers = ((np.flatnonzero(group) - first) % size + first).tolist()
        found.append({b: group[b % size] for b in numbers})
    return found


def expect_bins(bins, rows):
    """The shift that the range of all rows asks for, and the weight of each bin and group."""
    weight, k = weights_of(rows), rows.log_odds.shape[1]
    for c in range(k):
        odds = rows.log_odds[:, c]
        finite = np.isfinite(odds)
        keys = [int(key) for key in keys_of(odds[finite])]
        shift = 0
        while (max(keys) >> shift) - (min(keys) >> shift) >= bins.weights.shape[2]:
            shift += 1
        assert bins.shift[c] == shift
        groups = rows.true if bins.by_class else np.where(rows.true == c, 0, 1)
        for g, got in enumerate(counts_of(bins, c)):
            is_last = bins.by_class and g == k
            member = groups == (-1 if is_last else g)
            want = {}
            for key, w in zip(keys_of(odds[finite & member]), weight[finite & member], strict=True):
                want[int(key) >> shift] = want.get(int(key) >> shift, 0.0) + w
            assert got.keys() == want.keys()
            for number, value in want.items():
                assert got[number] == pytest.approx(value, rel=1e-13)
            ends = [weight[member & (odds == end)].sum() for end in (-np.inf, np.inf)]
            np.testing.assert_allclose(bins.ends[c, g], ends, rtol=1e-13)


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_and_bins_are_those_of_plain_loops(rng, cuts, weighted):
    rows = rows_of(rng, 700, 3, weighted=weighted)
    tally = empty(3, CUTS[cuts])
    add_rows(rows, tally)
    expect_sums(tally, rows, CUTS[cuts])
    expect_bins(tally.bins, rows)


@pytest.mark.parametrize("k", [1, 2, 9])
@pytest.mark.parametrize("by_class", [False, True])
def test_any_number_of_classes(rng, k, by_class):
    rows = rows_of(rng, 300, k)
    tally = empty(k, by_class=by_class or k == 1, n_places=64)
    add_rows(rows, tally)
    expect_sums(tally, rows, CUTS["grid"])
    expect_bins(tally.bins, rows)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3, 1e200])
@pytest.mark.parametrize("n_places", [2, 16, 1 << 12])
def test_bins_are_as_narrow_as_the_range_allows(rng, scale, n_places):
    rows = rows_of(rng, 400, 2, scale=scale)
    tally = empty(2, n_places=n_places)
    for at in np.array_split(np.argsort(np.abs(rows.log_odds[:, 0])), 9):  # a range that grows
        add_rows(part(rows, at), tally)
    expect_bins(tally.bins, rows)


def test_order_and_pieces_of_rows_make_no_difference(rng):
    """Counts and bins are the same, and sums agree to 1e-14."""
    rows = rows_of(rng, 5000, 4, scale=20.0)
    whole = empty(4)
    add_rows(rows, whole)
    for pieces in (1, 3, 50):
        other = empty(4)
        for at in np.array_split(rng.permutation(5000), pieces):
            add_rows(part(rows, at), other)
        for a, b in zip(whole.bins, other.bins, strict=True):
            assert np.array_equal(a, b)
        assert all(map(np.array_equal, whole.total[:3], other.total[:3]))
        assert np.array_equal(whole.total.confusion, other.total.confusion)
        a, b = (each.cells.total + each.cells.low for each in (whole, other))
        assert np.array_equal(a[..., :2], b[..., :2])
        np.testing.assert_allclose(a, b, rtol=1e-14)
        loss = [(each.total.loss + each.low.loss)[0] for each in (whole, other)]
        assert loss[0] == pytest.approx(loss[1], rel=1e-14)


def flat(tally):
    return b"".join(
        np.asarray(each).tobytes()
        for group in (tally.bins, tally.cells, tally.total, tally.low)
        for each in group
    )


def test_any_number_of_threads_gives_the_same_bits(rng, monkeypatch):
    monkeypatch.setattr(threads, "PARALLEL_WORK", 0)
    rows = rows_of(rng, 4000, 5, weighted=True)
    bits = set()
    for n in (1, 2):
        tally = empty(5)
        with thread_limits.threads(n):
            add_rows(rows, tally)
        bits.add(flat(tally))
    assert len(bits) == 1


def test_a_cut_off_is_reached_from_its_own_log_odds_on():
    cut = CUTS["grid"][29]
    odds = np.array([[np.nextafter(cut, -9)], [cut], [np.nextafter(cut, 9)]])
    codes = np.zeros(3, np.int64)
    tally = empty(1, np.array([cut]))
    add_rows(Rows(odds, codes, codes, np.empty(0)), tally)
    assert tally.cells.total[0, :, 1].tolist() == [1.0, 2.0]


def test_small_misses_keep_their_digits():
    odds = np.array([[40.0, -40.0], [700.0, -700.0]])
    codes = np.zeros(2, np.int64)
    tally = empty(2, np.empty(0))
    add_rows(Rows(odds[:1], codes[:1], codes[:1], np.empty(0)), tally)
    miss = np.exp(-40.0)
    for c, field in ((0, 3), (1, 2)):
        assert tally.cells.total[c, 0, field] == pytest.approx(miss, rel=1e-15)
        assert tally.cells.total[c, 0, 4] == pytest.approx(miss**2, rel=1e-15)


def test_without_sums_only_bins_grow(rng):
    rows = rows_of(rng, 100, 3)
    tally = empty(3)._replace(has_sums=False)
    add_rows(rows, tally)
    expect_bins(tally.bins, rows)
    assert not tally.cells.total.any()
    assert not any(each.any() for each in tally.total)


def test_without_places_only_sums_grow(rng):
    rows = rows_of(rng, 100, 3)
    tally = empty(3, n_places=0)
    add_rows(rows, tally)
    expect_sums(tally, rows, CUTS["grid"])
    assert not tally.bins.ends.any()


def test_no_rows_add_nothing():
    tally = empty(2)
    codes = np.empty(0, np.int64)
    add_rows(Rows(np.empty((0, 2)), codes, codes, np.empty(0)), tally)
    assert not tally.cells.total.any()


@pytest.mark.compiled
def test_sums_of_many_rows_do_not_lose_digits():
    """A plain sum of a million tenths is wrong by 1e-11."""
    n = 1_000_000
    codes = np.zeros(n, np.int64)
    rows = Rows(np.zeros((n, 1)), codes, codes, np.full(n, 0.1))
    tally = empty(1, np.empty(0), n_places=2)
    add_rows(rows, tally)
    exact = float(n * oracles.exact(0.1))
    assert (tally.total.predicted + tally.low.predicted)[0] == pytest.approx(exact, rel=1e-15)
    got = (tally.cells.total + tally.cells.low)[0, 0]
    np.testing.assert_allclose(got[[1, 3, 4]], [exact, exact / 2, exact / 4], rtol=3e-14)
