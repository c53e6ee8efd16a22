"""Kinds of failures that naive Bayes libraries and compiled libraries had, each with neighbours.

Each test is of one kind: right values, exact to rationals and 60-digit decimals, for inputs that
differ in type, layout, method, magnitude or order of calls from those of other tests.
"""

from __future__ import annotations

import concurrent.futures
import copy
import io
import itertools
import math
import pickle
from fractions import Fraction
from typing import Any, NamedTuple

import joblib
import numpy as np
import oracles
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB as Reference
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fastgnb import ClassStats, GaussianNB

pytestmark = pytest.mark.no_new_lines

TABLES = ("predict_proba", "predict_log_proba", "predict_joint_log_proba")


class Exact(NamedTuple):
    """The model that rows give in exact arithmetic, as nested lists of rationals."""

    classes: list[Any]
    count: list[Fraction]
    prior: list[Fraction]
    theta: list[list[Fraction]]
    var: list[list[Fraction]]
    epsilon: Fraction

    def joint(self, row):
        return oracles.joint(row, self.prior, self.theta, self.var)


def exact(X, y, weight=None, *, smoothing=1e-9, priors=None, classes=None):
    X = [[Fraction(v) if isinstance(v, int) else v for v in row] for row in X]
    stats = oracles.class_stats(np.array(X, object), y, weight, classes)
    epsilon = oracles.epsilon(np.array(X, object), smoothing, weight)
    var = [
        [s / n + epsilon if n else epsilon for s, n in zip(*rows, strict=True)]
        for rows in zip(stats.scatter, stats.weight, strict=True)
    ]
    total = sum(stats.count)
    prior = [n / total for n in stats.count] if priors is None else list(map(Fraction, priors))
    return Exact(stats.classes, stats.count, prior, stats.mean, var, epsilon)


def assert_is(model, want, *, rtol=1e-12):
    """All learned attributes are the exact ones; a mean near 0 is as exact as its values are."""
    assert model.classes_.tolist() == want.classes
    assert oracles.relative_error(model.class_count_, want.count) < 1e-14
    assert oracles.relative_error(model.class_prior_, want.prior) < 1e-14
    for got, mean, var in zip(
        model.theta_.ravel(), oracles.flat(want.theta), oracles.flat(want.var), strict=True
    ):
        assert abs(Fraction(got) - mean) <= 1e-14 * (abs(mean) + math.sqrt(var))
    assert oracles.relative_error(model.var_, want.var) < rtol
    assert oracles.relative_error(model.epsilon_, want.epsilon) < rtol
    for name in ("class_count_", "class_prior_", "theta_", "var_"):
        assert getattr(model, name).dtype == np.float64


def assert_answers(model, rows, want, *, rtol=1e-11, given=None):
    """All five ways to ask give the exact answer of the exact model for each row."""
    joint = [want.joint(row) for row in rows]
    given = rows if given is None else given
    for got, row in zip(model.predict_joint_log_proba(given), joint, strict=True):
        np.testing.assert_allclose(got, [float(v) for v in row], rtol=rtol)
    for got, row in zip(model.predict_log_evidence(given), joint, strict=True):
        assert math.isclose(got, float(oracles.log_evidence(row)), rel_tol=rtol)
    logs = model.predict_log_proba(given)
    narrow = 3e-6 if logs.dtype == np.float32 else 0.0
    size = [max(abs(float(v)) for v in row if v.is_finite()) for row in joint]
    for got, row, top in zip(logs, joint, size, strict=True):
        wanted = [float(v) for v in oracles.log_proba(row)]
        np.testing.assert_allclose(got, wanted, rtol=max(rtol, narrow), atol=rtol * top + narrow)
    for got, row, top in zip(model.predict_proba(given), joint, size, strict=True):
        wanted = [float(v.exp()) if v.is_finite() else 0.0 for v in oracles.log_proba(row)]
        np.testing.assert_allclose(
            got, wanted, rtol=rtol * (1 + top) + narrow, atol=narrow and 1e-37
        )
    for label, row, top in zip(model.predict(given).tolist(), joint, size, strict=True):
        assert float(max(row) - row[want.classes.index(label)]) <= 1e-15 * top


def pieces(n, cuts):
    return [slice(a, b) for a, b in itertools.pairwise([0, *cuts, n])]


# --- smoothing and variances ---------------------------------------------------------------------

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


# --- types ---------------------------------------------------------------------------------------

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


# --- scoring -------------------------------------------------------------------------------------


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


# --- streams, classes and weights ----------------------------------------------------------------


@pytest.mark.parametrize("labels", [[3, 7, 30], ["u", "v", "w"], [-5.0, 0.0, 9.0]])
def test_chunks_that_hold_some_of_the_classes(labels):
    """Codes are of the declared classes, not of the chunk's own."""
    X = [[0, 0], [1, 1], [0, 1], [9, 9], [10, 8], [20, 1], [21, 0], [22, 2], [1, 0], [9, 8], [8, 9]]
    y = [labels[c] for c in (0, 0, 0, 1, 1, 2, 2, 2, 0, 1, 1)]
    want = exact(X, y)
    model = GaussianNB().partial_fit(X[:3], y[:3], classes=labels[::-1])
    stats = ClassStats.from_rows(X[:3], y[:3])
    for part in pieces(11, [3, 5, 8, 9])[1:]:
        model.partial_fit(X[part], y[part])
        stats = stats.update(X[part], y[part])  # whose classes grow
    assert_is(model, want)
    assert_is(GaussianNB().fit_stats(stats), want)
    assert_answers(model, [[0.5, 0.5], [9, 8.5], [21, 1]], want)


@pytest.mark.parametrize("first", [1, 3, 30, 57, 59])
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_a_chunk_larger_than_all_before(first, dtype):
    """The ratio of two counts is no integer."""
    i = np.arange(60)
    X, y = np.c_[i % 7, (i * 5) % 11].astype(dtype), i % 2
    for weight in (None, 1 + i % 3, (1 + i % 3).astype(np.uint8)):
        part = [slice(0, first), slice(first, 60)]
        given = [None, None] if weight is None else [weight[p] for p in part]
        model = GaussianNB(var_smoothing=0.25).partial_fit(X[part[0]], y[part[0]], [0, 1], given[0])
        model.partial_fit(X[part[1]], y[part[1]], sample_weight=given[1])
        plain = None if weight is None else weight.tolist()
        assert_is(model, exact(X.tolist(), y.tolist(), plain, smoothing=0.25))


def test_weighted_chunks_and_one_without_weights():
    i = np.arange(50)
    X, y = np.c_[(i * 13 % 32) / 4 + 100, (i * 7 % 16) / 2], i % 3
    weight = ((i * 11) % 16 + 1) / 16
    weight[20:30] = 1
    want = exact(X.tolist(), y.tolist(), weight)
    model, parts = GaussianNB(), []
    for a in range(0, 50, 10):
        given = None if a == 20 else weight[a : a + 10].astype(np.float32)
        model.partial_fit(X[a : a + 10], y[a : a + 10], [0, 1, 2], given)
        parts.append(ClassStats.from_rows(X[a : a + 10], y[a : a + 10], given))
    for got in (model, GaussianNB().fit(X, y, weight), GaussianNB().fit_stats(sum(parts))):
        assert_is(got, want)


@pytest.mark.parametrize("kind", ["i1", "u8", "f2", "f4", "?", "list", "tuple", "Series", "polars"])
def test_whole_weights_are_repetition(kind):
    i = np.arange(30)
    X, y = np.c_[(i * 11 % 16) / 2, (i * 5 % 32) / 8], (i + i // 4) % 3
    times = i % 2 if kind == "?" else i % 4
    again = np.repeat(i, times)
    want = exact(X[again].tolist(), y[again].tolist())
    containers = {"list": list, "tuple": tuple, "Series": pd.Series, "polars": pl.Series}
    weight = containers[kind](times.tolist()) if kind in containers else times.astype(kind)
    for model in (
        GaussianNB().fit(X, y, weight),
        GaussianNB().partial_fit(X, y, [0, 1, 2], weight),
        GaussianNB().fit_stats(ClassStats.from_rows(X, y, weight)),
        GaussianNB().fit(X[again], y[again]),
    ):
        assert_is(model, want)


@pytest.mark.parametrize("dtype", ["f8", "f4", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", [40, 60_000])
def test_rows_of_weight_zero_may_hold_anything(dtype, order, n):
    i = np.arange(n)
    X, y = np.c_[(i * 13 % 32) / 4, (i * 7 % 16) / 2 - 3], i % 2
    weight = (i % 3 > 0) * (1.0 + i % 2)
    kept = weight > 0
    want = GaussianNB().fit(X[kept], y[kept], weight[kept])
    for fill in (1e30, np.nan, np.inf, -np.inf):
        rows = X.copy()
        rows[~kept] = fill
        rows = np.array(rows, dtype, order=order)
        for model in (
            GaussianNB().fit(rows, y, weight),
            GaussianNB().partial_fit(rows, y, [0, 1], weight),
            GaussianNB(missing="skip").fit(rows, y, weight),
        ):
            np.testing.assert_allclose(model.theta_, want.theta_, rtol=1e-13)
            np.testing.assert_allclose(model.var_, want.var_, rtol=1e-12)
            assert (model.class_count_ == want.class_count_).all()


def test_priors_follow_every_chunk():
    X, y = [[float(i)] for i in range(12)], list("aaaaaaabbbcc")
    model = GaussianNB().fit(X, y)
    assert model.class_prior_.tolist() == [7 / 12, 3 / 12, 2 / 12]
    model.partial_fit([[50.0], [51.0]], ["c", "c"])
    assert model.class_prior_.tolist() == [7 / 14, 3 / 14, 4 / 14]
    model.partial_fit([[1.0], [51.0]], ["a", "b"], sample_weight=[0.5, 2.5])
    assert model.class_prior_.tolist() == [15 / 34, 11 / 34, 8 / 34]
    model.merge(GaussianNB().fit([[2.0]] * 3, ["d"] * 3))
    assert model.class_prior_.tolist() == [15 / 40, 11 / 40, 8 / 40, 6 / 40]


def test_fit_forgets_and_partial_fit_goes_on():
    """Classes, names, width and missing counts are the last fit's only."""
    frame = pd.DataFrame([[1.0, np.nan], [2.0, 4.0], [9.0, 1.0]], columns=["u", "v"])
    model = GaussianNB(missing="skip").partial_fit(frame, [0, 0, 1], classes=[0, 1, 2])
    model.set_params(missing="error", var_smoothing=0.5)
    X, y = [[1.0], [2.0], [4.0], [10.0], [12.0]], ["u", "u", "u", "v", "v"]
    assert model.fit(X, y) is model
    assert vars(model).keys() == vars(GaussianNB().fit(X, y)).keys()
    assert_is(model, exact(X, y, smoothing=0.5))
    assert model.partial_fit([[3.0], [11.0]], ["u", "v"]) is model
    assert_is(model, exact([*X, [3.0], [11.0]], [*y, "u", "v"], smoothing=0.5))
    assert model.stats_.feature_count is None


# --- estimators ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_no_input_is_written_to(dtype, order):
    draw = np.random.default_rng(1)
    X = np.array(draw.integers(0, 90, (50, 4)), dtype, order=order)
    given = [
        X,
        draw.integers(0, 3, 50),
        draw.random(50),
        np.array([2, 0, 1]),
        np.array([0.25, 0.25, 0.5]),
    ]
    before = [each.tobytes() for each in given]
    X, y, weight, classes, priors = given
    for each in given:
        each.flags.writeable = False
    model = GaussianNB(priors=priors).partial_fit(X, y, classes, weight).fit(X, y, weight)
    for name in ("predict", *TABLES, "predict_log_evidence"):
        answer = getattr(model, name)(X)
        assert answer.flags.writeable
        answer[:] = answer[::-1]
    ClassStats.from_rows(X, y, weight, classes=classes).update(X, y, weight)
    model.theta_ += 1
    model.class_prior_ *= 2
    assert [each.tobytes() for each in given] == before


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_files_that_are_mapped_and_must_not_be_written(tmp_path, order, dtype):
    draw = np.random.default_rng(3)
    X, y, weight = (
        draw.normal(size=(400, 5)).astype(dtype),
        draw.integers(0, 3, 400),
        draw.random(400),
    )
    want = GaussianNB().fit(X, y, weight)
    (tmp_path / "x").write_bytes(X.tobytes(order))
    np.save(tmp_path / "y.npy", y)
    np.save(tmp_path / "w.npy", weight)
    rows = np.memmap(tmp_path / "x", dtype=dtype, mode="r", shape=X.shape, order=order)
    labels, w = (np.load(tmp_path / name, mmap_mode="r") for name in ("y.npy", "w.npy"))
    model = GaussianNB().fit(rows, labels, w)
    for name in ("theta_", "var_", "class_count_"):
        assert getattr(model, name).tobytes() == getattr(want, name).tobytes()
    for name in ("predict", *TABLES, "predict_log_evidence"):
        assert getattr(model, name)(rows).tobytes() == getattr(want, name)(X).tobytes()
    state = [*vars(model).values(), *vars(model.stats_).values()]
    assert not any(isinstance(value, np.memmap) for value in state)
    assert type(model.predict(rows)) is type(model.classes_) is np.ndarray


def test_copies_of_every_kind(make_data):
    X, codes = make_data(300, 4, 3)
    y = np.array(["p", "q", "r"])[codes]
    model = GaussianNB(priors=[0.2, 0.3, 0.5], var_smoothing=1e-7).fit(X, y)
    want = model.predict_proba(X).tobytes()
    stream = io.BytesIO()
    joblib.dump(model, stream)
    stream.seek(0)
    copies = [joblib.load(stream), copy.copy(model), copy.deepcopy(model)]
    copies += [pickle.loads(pickle.dumps(model, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1)]
    for other in copies:
        assert other.predict_proba(X).tobytes() == want
        assert (other.partial_fit(X + 5, y).class_count_ == 2 * model.class_count_).all()
    assert model.predict_proba(X).tobytes() == want
    fresh = clone(model)
    assert fresh.get_params() == {
        "priors": [0.2, 0.3, 0.5], "var_smoothing": 1e-7, "missing": "error",
        "covariance_type": "diag", "tied": False, "ddof": 0,
    }  # fmt: skip
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    assert pickle.loads(pickle.dumps(GaussianNB(var_smoothing=0.5))).var_smoothing == 0.5


def test_inside_meta_estimators(make_data):
    """Each gets from ours what it gets from scikit-learn's."""
    X, codes = make_data(180, 3, 3)
    y = np.array(["no", "yes", "maybe"])[codes]
    weight = np.random.default_rng(9).random(180) + 0.1
    grid = {"var_smoothing": [1e-9, 1.0], "priors": [None, [0.2, 0.3, 0.5]]}

    class WithDecisions(Reference):  # which scikit-learn's lacks, and calibration prefers
        def decision_function(self, X):
            return self.predict_joint_log_proba(X)

    def answers(cls):
        decides = cls if hasattr(cls, "decision_function") else WithDecisions
        calibrated = CalibratedClassifierCV(decides(), cv=3).fit(X, y, sample_weight=weight)
        yield calibrated.predict_proba(X)
        yield OneVsRestClassifier(cls()).fit(X, y).predict_proba(X)
        voting = VotingClassifier([("a", cls()), ("b", cls(var_smoothing=0.1))], voting="soft")
        yield voting.fit(X, y).predict_proba(X)
        yield BaggingClassifier(cls(), 3, random_state=0).fit(X, y).predict_proba(X)
        yield GridSearchCV(cls(), grid, cv=3).fit(X, y).cv_results_["mean_test_score"]
        yield cross_val_predict(cls(), X, y, cv=3, method="predict_log_proba")
        pipe = make_pipeline(StandardScaler(), cls()).fit(X, y, gaussiannb__sample_weight=None)
        yield pipe.predict_proba(X)
        yield np.array([cls().fit(X, y, codes + 1).score(X, y, codes + 1)])

    for ours, theirs in zip(answers(GaussianNB), answers(Reference), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)
    assert is_classifier(GaussianNB())


def test_what_other_tools_read_from_a_fitted_model():
    """Names, shapes and kinds that exporters and explainers take for granted."""
    names = ("classes_", "class_count_", "class_prior_", "theta_", "var_", "epsilon_")
    assert not [name for name in (*names, "n_features_in_") if hasattr(GaussianNB(), name)]
    draw = np.random.default_rng(10)
    for dtype in (np.float64, np.float32, np.int16):
        model = GaussianNB().fit(
            (draw.normal(size=(50, 4)) * 9).astype(dtype), np.repeat([5, 3], 25)
        )
        shapes = [(2,), (2,), (2,), (2, 4), (2, 4)]
        for name, shape in zip(names[:-1], shapes, strict=True):
            value = getattr(model, name)
            assert type(value) is np.ndarray
            assert value.shape == shape
            assert value.flags.writeable
            assert value.dtype == (np.int64 if name == "classes_" else np.float64)
        assert isinstance(model.epsilon_, float)
        assert isinstance(model.n_features_in_, int)
        assert model.classes_.tolist() == [3, 5]


def test_a_fit_that_failed_leaves_no_model(make_data):
    """Neither a half-fitted fresh model, nor a fitted one that is half another."""
    X, y = make_data(20, 2, 2)
    fresh = GaussianNB()
    for bad in (lambda m: m.fit(X, y[:-1]), lambda m: m.fit(X[:, :0], y), lambda m: m.fit(X, X)):
        with pytest.raises(ValueError, match=r"inconsistent numbers|0 feature|y should be a 1d"):
            bad(fresh)
        with pytest.raises(NotFittedError):
            fresh.predict(X)
    model = GaussianNB().fit(X, y)
    before = pickle.dumps(model)
    wide = pd.DataFrame(np.full((3, 5), np.inf), columns=list("abcde"))
    with pytest.raises(ValueError, match="contains infinity"):
        model.fit(wide, ["u", "v", "w"])
    assert pickle.dumps(model) == before


def test_constructors_take_what_they_get():
    """Parameters are kept as given, by keyword only, and act at the next fit."""
    with pytest.raises(TypeError, match="positional argument"):
        GaussianNB([0.5, 0.5])
    with pytest.raises(TypeError, match="unexpected keyword argument 'smoothing'"):
        GaussianNB(smoothing=1)
    for value in (-1, "auto", None, [1e-9], np.nan):
        assert GaussianNB(var_smoothing=value).get_params()["var_smoothing"] is value
    X, y = [[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]
    model = GaussianNB().fit(X, y)
    before = model.epsilon_
    assert model.set_params(var_smoothing=1.0).epsilon_ == before
    assert model.partial_fit(X, y).epsilon_ == np.var(X)
