"""Kinds of failures that naive Bayes libraries and compiled libraries had, each with neighbours.

Each test is of one kind: right values, exact to rationals and 60-digit decimals, for inputs that
differ in type, layout, method, magnitude or order of calls from those of other tests.
"""

from __future__ import annotations

import concurrent.futures
import pickle

import numpy as np
import pandas as pd
import pytest
from kinds import TABLES, assert_answers, assert_is, exact, pieces

from fastgnb import ClassStats, GaussianNB

MIXED = [[1000, 0.0625], [5000, 0.25], [2000, 0.125], [7000, 0.5], [3000, 0.375], [9000, 0.75]]
HALVES = [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
@pytest.mark.parametrize("smoothing", [1e-9, 0.5])
def test_epsilon_is_a_share_of_the_largest_variance_of_all_rows(dtype, smoothing):
    """Not of each feature's, nor of each class's, nor a constant that is added raw."""
    rows = np.array(MIXED, dtype)
    for weight in (None, [1.0, 2, 0, 3, 0.5, 1]):
        want = exact(rows.tolist(), HALVES, weight, smoothing=smoothing)
        model = GaussianNB(var_smoothing=smoothing)
        assert_is(model.fit(rows, HALVES, weight), want)
        assert_answers(model, rows.tolist(), want, given=rows)
        for part in pieces(6, [1, 4]):
            model = GaussianNB(var_smoothing=smoothing) if part.start == 0 else model
            given = None if weight is None else weight[part]
            model.partial_fit(rows[part], HALVES[part], [0, 1], given)
        assert_is(model, want)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i2"])
def test_constant_inside_a_class_and_a_class_of_one_row(dtype):
    """Variances of nothing but epsilon, where digits of 1e9 sd are at stake."""
    X = [[4, 15], [4, 25], [4, 5], [2, 10], [3, 30], [5, 20], [9, 70]]
    y = ["a", "a", "a", "b", "b", "b", "c"]
    want = exact(X, y)
    rows = np.array(X, dtype)
    model = GaussianNB().fit(rows, y)
    assert_is(model, want)
    asked = [[4, 17], [3, 20], [9, 70], [8, 70], [4, 15]]
    assert_answers(model, asked, want, given=np.array(asked, dtype))


@pytest.mark.parametrize("power", [-500, -200, -60, 60, 200, 400])
def test_the_unit_of_the_features_does_not_matter(power):
    """Powers of two are exact, so posteriors have the same bits, all features scaled alike."""
    t = np.arange(40)
    X = np.c_[np.cos(t / 13) + t % 3 / 8, np.sin(t / 13) + t % 5 / 16, t % 7]
    y = (t >= 20).astype(int)
    asked = X[::3] + 0.25
    unit = 2.0**power
    plain, scaled = GaussianNB().fit(X, y), GaussianNB().fit(X * unit, y)
    streamed = (
        GaussianNB().partial_fit(X[:7] * unit, y[:7], [0, 1]).partial_fit(X[7:] * unit, y[7:])
    )
    assert (scaled.theta_ == plain.theta_ * unit).all()
    assert scaled.predict(asked * unit).tolist() == plain.predict(asked).tolist()
    for model in (scaled, streamed):
        np.testing.assert_allclose(
            model.predict_log_proba(asked * unit), plain.predict_log_proba(asked), rtol=1e-10
        )
    # each feature in a unit of its own, where no epsilon ties them together
    units = 2.0 ** np.array([power, -power, 3])
    bare, own = (GaussianNB(var_smoothing=0).fit(rows, y) for rows in (X, X * units))
    np.testing.assert_allclose(
        own.predict_log_proba(asked * units), bare.predict_log_proba(asked), rtol=1e-10
    )


@pytest.mark.parametrize("offset", [2**30, -3 * 2**40, 2**52])
@pytest.mark.parametrize("how", ["fit", "chunks", "merge", "int64"])
def test_far_from_zero_in_every_way_to_learn(offset, how):
    X = [[offset + a, b - offset] for a, b in [(0, 1), (1, 4), (2, 2), (7, 9), (8, 12), (9, 10)]]
    want = exact(X, HALVES, smoothing=0)
    rows, model = (
        np.array(X, np.int64 if how == "int64" else np.float64),
        GaussianNB(var_smoothing=0),
    )
    if how in ("fit", "int64"):
        model.fit(rows, HALVES)
    elif how == "chunks":
        for part in pieces(6, [1, 2, 4]):
            model.partial_fit(rows[part], HALVES[part], [0, 1])
    else:
        halves = [GaussianNB(var_smoothing=0).fit(rows[s::2], HALVES[s::2]) for s in (0, 1)]
        model = halves[0].merge(halves[1])
    assert_is(model, want, rtol=1e-12 if abs(offset) < 2**50 else 1e-6)
    assert model.predict(rows).tolist() == HALVES


@pytest.mark.parametrize("value", [0.1, 1e6 + 0.3, -1e-200 / 3, 1e200 / 3])
def test_a_stream_of_one_value_has_no_variance(value):
    model = GaussianNB(var_smoothing=0)
    for k in range(200):
        n = 1 + k % 5
        weight = None if k % 3 else np.arange(1, n + 1) / 7
        model.partial_fit(np.full((n, 2), value), [k % 2] * n, [0, 1], weight)
    assert (model.var_ == 0).all()
    assert (model.theta_ == value).all()


EXTREMES = {
    "u1": [[0, 255], [255, 0], [250, 5], [10, 200], [3, 254], [128, 127]],
    "i1": [[-128, 127], [127, -128], [100, -100], [-90, 90], [0, 1], [5, -7]],
    "u2": [[0, 65535], [65535, 0], [60000, 1], [1, 60000], [400, 500], [65000, 7]],
    "i2": [[-32768, 32767], [32767, -32768], [30000, -30000], [-1, 1], [9, 8], [-7, 6]],
    "u4": [[0, 2**32 - 1], [2**32 - 1, 0], [2**31, 5], [1, 2**31], [4, 5], [2**32 - 2, 7]],
    "i4": [[-(2**31), 2**31 - 1], [2**31 - 1, -(2**31)], [3, -3], [-1, 1], [9, 8], [-7, 6]],
    "u8": [[0, 2**64 - 2048], [2**63, 0], [2**63 + 2048, 5], [1, 2**63], [4, 5], [2**62, 7]],
    "i8": [[-(2**63), 2**62], [2**62, -(2**63)], [3, -3], [-1, 1], [9, 8], [-7, 6]],
    "?": [[0, 1], [1, 0], [1, 1], [0, 1], [0, 0], [1, 0]],
    "f2": [[-65504, 65504], [65504, -65504], [3, -3], [-1, 1], [9, 8], [-7, 6]],
}


@pytest.mark.parametrize("dtype", EXTREMES)
def test_narrow_types_do_not_wrap_when_learned_or_scored(dtype):
    """Differences and squares of the ends of each type are taken in float64."""
    X = EXTREMES[dtype]
    want = exact(X, HALVES)
    for order in "CF":
        rows = np.array(X, dtype, order=order)
        streamed = GaussianNB()
        for part in pieces(6, [2, 4]):
            streamed.partial_fit(rows[part], HALVES[part], [0, 1])
        for model in (GaussianNB().fit(rows, HALVES), streamed):
            assert_is(model, want)
            assert_answers(model, X, want, given=rows)


def test_a_stream_whose_types_change():
    """Each chunk in another type; a column without fractions is integers in some files."""
    parts = [
        (np.array([[1, 0], [4, 1], [2, 1], [9, 0]], np.int64), [0, 0, 1, 1]),
        (np.array([[1.25, 0.5], [4.75, 1.0], [2.5, 0.25]]), [0, 1, 1]),
        (np.array([[250, 3], [200, 1], [7, 9]], np.uint8), [1, 1, 0]),
        (np.array([[0.5, 1], [1.5, 0]], np.float32), [0, 1]),
        (np.array([[True, False], [False, False]]), [1, 0]),
        (pd.DataFrame([[5, 0.5], [7, 1.5]]), [1, 0]),
        ([[3, 4], [5, 6]], [1, 0]),
        (np.array([[300.5, 1.5]], ">f4"), [1]),
    ]
    for order in (parts, parts[::-1]):
        model = GaussianNB(var_smoothing=0.125)
        for X, y in order:
            model.partial_fit(X, y, classes=[0, 1])
        whole = [list(map(float, row)) for X, _ in order for row in np.asarray(X).tolist()]
        assert_is(model, exact(whole, [v for _, y in order for v in y], smoothing=0.125))


def test_single_rows_are_counted_beyond_two_to_the_24th():
    X = np.array([[1.0], [2.0]], np.float32)
    model = GaussianNB().partial_fit(X, [0, 1], [0, 1], [2.0**24, 2.0**53 - 16])
    stats = ClassStats.from_rows(X, [0, 1], [2.0**24, 2.0**53 - 16])
    for _ in range(7):
        model.partial_fit(X, [0, 1])
        stats = stats.update(X, np.array([0, 1], np.int8))
    assert model.class_count_.tolist() == [2**24 + 7, 2**53 - 9]
    assert stats.count.tolist() == [2**24 + 7, 2**53 - 9]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_two_thousand_features(dtype):
    d = 2000
    j = np.arange(d)
    X = np.array([(i * 7 + j * 3) % 16 / 8 + (i >= 3) * (j % 5 == 0) / 8 for i in range(6)], dtype)
    model = GaussianNB().fit(X, HALVES)
    want = exact(X.tolist(), HALVES)
    asked = np.vstack([X.mean(axis=0), X[2] + dtype(0.25)]).astype(dtype)
    assert_answers(model, asked.tolist(), want, given=asked)


@pytest.mark.parametrize("far", [1e6, 1e9, 1e12, 1e100])
def test_rows_a_million_deviations_away(far):
    X, y = [[-1, 0], [0, 1], [1, -1], [0, 0], [3, 5], [5, 4], [4, 6], [4, 3]], list("aaaabbbb")
    want = exact(X, y)
    rows = [[far, -far], [-far, far], [far, 0.5], [-far, -far], [0.0, far]]
    for order in "CF":
        assert_answers(GaussianNB().fit(X, y), rows, want, given=np.array(rows, order=order))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_undecided_row_gets_the_smallest_label(dtype, order):
    """At every place of a batch of every size, for two classes and for four."""
    X = np.array([[-3, 0], [-1, 0], [1, 0], [3, 0], [0, 1], [0, 3], [0, -1], [0, -3]], dtype)
    y = np.array(["r", "r", "l", "l", "u", "u", "d", "d"])
    for k in (4, 8):
        model = GaussianNB().fit(X[:k], y[:k])
        first = "l" if k == 4 else "d"
        for n in (1, 2, 3, 5, 8, 9, 17, 33, 64, 257, 1001):
            rows = np.zeros((n, 2), dtype, order=order)
            assert set(model.predict(rows)) == {first}
            assert (model.predict_proba(rows) == 2 / k).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("how", ["fit", "partial_fit", "fit_stats"])
def test_a_given_prior_of_zero(dtype, how):
    X, y = np.array([[0], [1], [10], [11], [20], [22]], dtype), [0, 0, 1, 1, 2, 2]
    priors = [0.25, 0.0, 0.75]
    model = GaussianNB(priors=priors)
    if how == "fit_stats":
        model.fit_stats(ClassStats.from_rows(X, y))
    else:
        model = model.fit(X, y) if how == "fit" else model.partial_fit(X, y, [0, 1, 2])
    want = exact(X.tolist(), y, priors=priors)
    rows = [[10.5], [0.5], [21.0], [8.0], [1e15]]
    given = np.array(rows, dtype)
    assert_answers(model, given.tolist(), want, given=given)
    assert (model.predict_proba(rows)[:, 1] == 0).all()
    assert np.isneginf(model.predict_log_proba(rows)[:, 1]).all()


@pytest.mark.parametrize("labels", ["numbers", "words", "bools", "objects"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_all_ways_to_ask_tell_one_story(labels, dtype):
    names = {
        "numbers": np.array([-40, -3, 2, 7, 11, 500, 501]),
        "words": np.array(["", "B", "a", "aa", "b", "z" * 40, "ß"]),
        "bools": np.array([False, True]),
        "objects": np.array(["q", "qq", "r"], object),
    }[labels]
    draw = np.random.default_rng(5)
    codes = draw.integers(0, len(names), 700)
    X = (draw.normal(size=(700, 5)) + codes[:, None] / 6).astype(dtype)
    asked = (draw.normal(size=(4097, 5)) * 2).astype(dtype)
    model = GaussianNB().fit(X, names[codes])
    joint, log, proba = (getattr(model, name)(asked) for name in TABLES[::-1])
    assert (model.classes_ == names).all()
    assert (names[joint.argmax(axis=1)] == model.predict(asked)).all()
    whole = np.logaddexp.reduce(joint, axis=1)
    np.testing.assert_allclose(model.predict_log_evidence(asked), whole, rtol=1e-12)
    tolerance = 1e-12 if dtype is np.float64 else 1e-5
    np.testing.assert_allclose(joint - whole[:, None], log, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(np.exp(log), proba, rtol=10 * tolerance, atol=1e-30)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=tolerance)
    assert (log <= 0).all()
    assert (proba >= 0).all()
    assert (proba <= 1).all()


SIZES = [255, 257, 511, 513, 1023, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 16383, 16385]


@pytest.mark.parametrize("n", SIZES)
def test_each_row_counts_once_around_the_edges_of_blocks(n):
    d = 1 + n % 17
    i = np.arange(n)
    X = np.stack([(i * (3 + 2 * j)) % 31 + j for j in range(d)], axis=1).astype(float)
    y, weight = i % 3, 1.0 + i % 4
    stats = ClassStats.from_rows(X, y, weight)
    for c in range(3):
        rows, w = X[y == c], weight[y == c]
        assert stats.count[c] == w.sum()
        np.testing.assert_allclose(stats.mean[c], (w @ rows) / w.sum(), rtol=1e-14)
        spread = (w @ (rows - (w @ rows) / w.sum()) ** 2) / w.sum()
        np.testing.assert_allclose(stats.variance[c], spread, rtol=1e-13)
    model = GaussianNB(var_smoothing=1e-3).fit(X, y, weight)
    joint = np.log(model.class_prior_) - 0.5 * (
        np.log(2 * np.pi * model.var_).sum(axis=1)
        + ((X[:, None] - model.theta_) ** 2 / model.var_).sum(axis=2)
    )
    for rows in (X, np.asfortranarray(X), X.astype(np.int16)):
        np.testing.assert_allclose(model.predict_joint_log_proba(rows), joint, rtol=1e-12)
    order = np.sort(joint, axis=1)
    sure = order[:, -1] - order[:, -2] > 1e-9
    assert (model.predict(X) == joint.argmax(axis=1))[sure].all()


@pytest.mark.parametrize(("n", "d", "k"), [(60_000, 1, 2), (60_000, 3, 5), (20_000, 2, 40)])
def test_whole_numbers_sum_exactly_every_time(n, d, k):
    """Threads that added into one place would lose some."""
    i = np.arange(n)
    X = np.stack([(i * (7 + 2 * j)) % 101 for j in range(d)], axis=1).astype(float)
    y, weight = (i * 13) % k, (i % 4 + 1).astype(float)
    first = ClassStats.from_rows(X, y, weight)
    assert (first.count == np.bincount(y, weight)).all()
    for j in range(d):
        sums = np.bincount(y, weight * X[:, j])
        np.testing.assert_allclose(first.mean[:, j] * first.count, sums, rtol=1e-15)
        about = sums / first.count
        squares = np.bincount(y, weight * (X[:, j] - about[y]) ** 2)
        np.testing.assert_allclose(first.scatter[:, j], squares, rtol=1e-13)
    for _ in range(5):
        assert pickle.dumps(ClassStats.from_rows(X, y, weight)) == pickle.dumps(first)


def test_blocks_of_all_sizes_in_threads():
    """As tasks of a scheduler call: rows in blocks of one to thousands, from several threads."""
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(40_000, 5)), draw.integers(0, 3, 40_000)
    model = GaussianNB().fit(X, y)
    proba, labels = model.predict_proba(X), model.predict(X)
    cuts = pieces(len(X), [1, 8, 10_000, 20_000, 39_999])
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        tables = list(pool.map(lambda part: model.predict_proba(X[part]), cuts))
        codes = list(pool.map(lambda part: model.predict(X[part]), cuts))
        parts = list(pool.map(lambda s: GaussianNB().fit(X[s::4], y[s::4]), range(4)))
    assert np.concatenate(tables).tobytes() == proba.tobytes()
    assert np.concatenate(codes).tobytes() == labels.tobytes()
    for s, part in enumerate(parts):
        assert part.theta_.tobytes() == GaussianNB().fit(X[s::4], y[s::4]).theta_.tobytes()
