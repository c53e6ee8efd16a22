"""Fused scoring against 60-digit arithmetic; bits that do not depend on a row's neighbours."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import oracles
import pytest

from fastgnb._numba.decorators import uncached_kernel
from fastgnb._numba.vectors import LANES, load, pointer, store
from fastgnb.estimate.parameters import GaussianParams
from fastgnb.kernels.score.posterior import exp
from fastgnb.model.scoring import score


def params_of(prior, theta, var):
    return GaussianParams.from_estimate(prior, theta, var, classes=np.arange(len(prior)))


def problem(rng, k, d, offset):
    """Moments of k classes at `offset` from 0, in units of the sd, and rows near and far."""
    prior = rng.dirichlet(np.ones(k) * 3)
    var = rng.uniform(0.5, 4, size=(k, d))
    theta = rng.normal(size=(k, d)) * 3 + offset
    X = theta[rng.integers(0, k, 40)] + rng.normal(size=(40, d)) * rng.choice([1, 30], size=(40, 1))
    return prior, theta, var, X


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize(("k", "d"), [(1, 1), (2, 3), (3, 4), (7, 5), (4, 16), (11, 33)])
def test_joint_log_likelihood_is_exact_to_1e12(rng, k, d, offset):
    prior, theta, var, X = problem(rng, k, d, offset)
    got = score(X, params_of(prior, theta, var), table="joint", evidence=True)
    want = [oracles.joint(x, prior, theta, var) for x in X]
    for row, exact in zip(got.table, want, strict=True):
        for a, b in zip(row, exact, strict=True):
            assert abs(Decimal(float(a)) - b) <= Decimal("1e-12") * abs(b)
    for a, exact in zip(got.evidence, want, strict=True):
        b = oracles.log_evidence(exact)
        assert abs(Decimal(float(a)) - b) <= Decimal("1e-12") * max(abs(b), *map(abs, exact))
    assert got.codes.tolist() == [int(np.argmax(exact)) for exact in want]
    assert got.bad == -1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_probabilities_are_exact(rng, dtype):
    prior, theta, var, X = problem(rng, 6, 5, 0.0)
    X = X.astype(np.float32).astype(dtype)
    params = params_of(prior, theta, var)
    proba = score(X, params, table="proba", dtype=dtype).table
    logs = score(X, params, table="log_proba", dtype=dtype).table
    assert proba.dtype == logs.dtype == dtype
    eps = np.finfo(dtype).eps
    for x, p, log in zip(X, proba, logs, strict=True):
        jll = oracles.joint(x, prior, theta, var)
        exact = oracles.log_proba(jll)
        slack = 20 * eps + 1e-15 * float(max(map(abs, jll)))
        for a, b, e in zip(p, log, exact, strict=True):
            assert abs(float(b) - float(e)) <= slack + eps * abs(float(e))
            assert abs(float(a) - float(e.exp())) <= slack
        assert abs(float(p.sum()) - 1) < 10 * eps


@uncached_kernel
def exponential(x, out):
    for at in range(0, len(x), LANES):
        store(pointer(out), at, exp(load(pointer(x), at)))


def test_exponential_is_right_over_its_whole_range(rng):
    x = -np.concatenate([[0.0, 2000.0, np.inf], rng.uniform(0, 1, 509), rng.uniform(0, 750, 512)])
    got = np.empty(len(x))
    exponential(x, got)
    for value, a in zip(x.tolist(), got.tolist(), strict=True):
        want = Decimal(value).exp() if value > -np.inf else Decimal(0)
        # one unit in the last place, which has a fixed size below the normal range
        assert abs(Decimal(a) - want) <= Decimal("2.3e-16") * want + Decimal("4.95e-324")


@pytest.mark.promise("neighbours")
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
@pytest.mark.parametrize("skip", [False, True])
def test_a_row_has_the_same_bits_alone_and_anywhere(rng, order, dtype, skip):
    prior, theta, var, _ = problem(rng, 5, 6, 1.0)
    params = params_of(prior, theta, var)
    rows = np.array(rng.normal(size=(4099, 6)) * 50, dtype=dtype, order=order)
    whole = score(rows, params, table="joint", evidence=True, skip=skip)
    for start, stop in [(0, 1), (1, 64), (63, 65), (100, 2200), (4098, 4099), (2047, 2049)]:
        part = np.array(rows[start:stop], order=order)
        some = score(part, params, table="joint", evidence=True, skip=skip)
        assert some.table.tobytes() == whole.table[start:stop].tobytes()
        assert some.evidence.tobytes() == whole.evidence[start:stop].tobytes()
        assert some.codes.tolist() == whole.codes[start:stop].tolist()


def test_layouts_agree(rng):
    prior, theta, var, _ = problem(rng, 5, 6, 1.0)
    params = params_of(prior, theta, var)
    rows = rng.normal(size=(3001, 6))
    wide = np.repeat(rows, 2, axis=1)
    want = score(rows, params, table="proba")
    for other in (np.asfortranarray(rows), wide[:, ::2], rows[::-1].copy()[::-1]):
        got = score(other, params, table="proba")
        assert got.table.tobytes() == want.table.tobytes()
        assert got.codes.tobytes() == want.codes.tobytes()


def test_ties_go_to_the_first_class():
    params = params_of([0.5, 0.5], [[-2.0], [2.0]], [[1.0], [1.0]])
    for n in (1, 63, 64, 65, 1000):
        got = score(np.zeros((n, 1)), params, table="proba")
        assert not got.codes.any()
        assert (got.table == 0.5).all()


def test_skipped_values_leave_their_term_out(rng):
    prior, theta, var, X = problem(rng, 4, 5, 10.0)
    X[rng.random(X.shape) < 0.4] = np.nan
    X[0] = np.nan
    params = params_of(prior, theta, var)
    got = score(X, params, table="joint", skip=True)
    for x, row in zip(X, got.table, strict=True):
        for a, b in zip(row, oracles.joint(x, prior, theta, var), strict=True):
            assert abs(Decimal(float(a)) - b) <= Decimal("1e-12") * max(abs(b), 1)
    np.testing.assert_allclose(np.exp(got.table[0]), prior, rtol=1e-13)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 63, 64, 3000, 4999])
@pytest.mark.parametrize("table", [None, "proba"])
def test_bad_values_are_found_where_they_are(rng, value, row, table):
    prior, theta, var, _ = problem(rng, 3, 4, 0.0)
    params = params_of(prior, theta, var)
    X = rng.normal(size=(5000, 4))
    X[row, 2] = value
    for rows in (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        assert score(rows, params, table=table).bad == row
    skipped = score(X, params, table=table, skip=True)
    assert skipped.bad == (-1 if np.isnan(value) else row)


def test_rows_too_far_for_float64_belong_to_the_nearest_class():
    theta, var = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 0.0]]), np.ones((3, 2))
    var[2] = 4.0
    params = params_of([0.5, 0.3, 0.2], theta, var)
    X = np.array([[1e200, 0.0], [0.0, -1e300], [1.7e308, 1.7e308], [1.0, 1.0]])
    for skip in (False, True):
        got = score(X, params, table="proba", evidence=True, skip=skip)
        assert got.bad == -1
        assert got.table[:3].tolist() == [[0, 0, 1]] * 3  # the widest class is the nearest
        assert got.codes.tolist() == [2, 2, 2, 0]
        assert np.isneginf(got.evidence[:3]).all()
        assert np.isfinite(got.evidence[3])
        assert np.isneginf(score(X, params, table="joint", skip=skip).table[:3]).all()
    same = params_of([0.5, 0.25, 0.25], np.zeros((3, 1)), np.ones((3, 1)))
    shared = score(np.array([[1e250]]), same, table="proba").table
    np.testing.assert_allclose(shared, [[0.5, 0.25, 0.25]], rtol=1e-15)
    logs = score(np.array([[1e250]]), same, table="log_proba").table
    np.testing.assert_allclose(logs, np.log([[0.5, 0.25, 0.25]]), rtol=1e-15)


def test_far_rows_do_not_choose_an_impossible_class():
    params = params_of([1.0, 0.0], [[0.0], [1e200]], [[1.0], [1.0]])
    got = score(np.array([[1e200]]), params, table="proba")
    assert got.codes.tolist() == [0]
    assert got.table.tolist() == [[1.0, 0.0]]


def test_very_small_variances_keep_a_scale():
    params = params_of([0.5, 0.5], [[0.0], [1e-159]], [[1e-318], [1e-318]])
    got = score(np.array([[0.0], [1e-159]]), params, table="proba")
    assert got.codes.tolist() == [0, 1]
    assert np.isfinite(got.table).all()


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8, 63, 130, 2000])
def test_many_features_sum_logs(rng, d):
    prior, theta, var, X = problem(rng, 3, d, 0.0)
    got = score(X[:3], params_of(prior, theta, var), table="joint").table
    for x, row in zip(X[:3], got, strict=True):
        for a, b in zip(row, oracles.joint(x, prior, theta, var), strict=True):
            assert abs(Decimal(float(a)) - b) <= Decimal("1e-12") * abs(b)


@pytest.mark.no_new_lines
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_small_shape(rng, dtype):
    """Tails of rows, features and classes have paths of their own."""
    for n in (*range(1, 10), 31, 32, 33, 38, 39, 40, 71, 100):
        for d in (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 17):
            k = int(rng.integers(1, 19))
            prior, var = rng.dirichlet(np.ones(k) * 5), rng.uniform(0.5, 4, size=(k, d))
            theta = rng.normal(size=(k, d))
            X = rng.normal(size=(n, d)).astype(dtype)
            params = params_of(prior, theta, var)
            got = score(X, params, table="joint", evidence=True)
            wide = X.astype(np.longdouble)[:, None, :]
            squares = ((wide - theta) ** 2 / var + np.log(2 * np.pi * var)).sum(axis=2)
            want = np.log(prior) - squares / 2
            np.testing.assert_allclose(got.table, want.astype(float), rtol=1e-13, atol=1e-14)
            assert (got.codes == got.table.argmax(axis=1)).all()
            top = want.max(axis=1)
            total = np.exp(want - top[:, None]).sum(axis=1)
            log_evidence = (top + np.log(total)).astype(float)
            np.testing.assert_allclose(got.evidence, log_evidence, rtol=1e-13, atol=1e-14)
            for type_ in (np.float64, np.float32):
                proba = score(X, params, codes=False, table="proba", dtype=type_)
                assert proba.codes.shape == (0,)
                exact = (np.exp(want - top[:, None]) / total[:, None]).astype(float)
                np.testing.assert_allclose(
                    proba.table,
                    exact,
                    rtol=20 * np.finfo(type_).eps + 1e-15 * float(abs(want).max()),
                    atol=1e-300,
                )
