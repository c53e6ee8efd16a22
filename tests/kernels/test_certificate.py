"""The bound on the error of float32 scores, against exact rationals, and the models it is for."""

from __future__ import annotations

import certified_cases as cases
import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastgnb._numba.decorators import uncached_kernel
from fastgnb._numba.singles import as_singles, splat_single, store_singles
from fastgnb._numba.vectors import pointer
from fastgnb.kernels.rows import OVERREAD, Rows
from fastgnb.kernels.score import certified, float32
from fastgnb.kernels.score.certificate import LARGEST_SCALE, certificate, pays
from fastgnb.kernels.score.diagonal import DiagonalTerms, score
from fastgnb.kernels.score.outputs import Wanted

N = 32


@uncached_kernel
def _scores(data, d, packed, tile, out):
    model = certified.unpack(packed, d)
    place, to = as_singles(pointer(tile)), pointer(out)
    rows = Rows(pointer(data), False, N, d)
    float32.fill(rows, 0, model.centre, place)
    ahead = float32.ahead_of(rows, 0, 0)
    for i in range(0, model.live, 2):
        s, z, p = splat_single(model.start[i]), splat_single(model.start[i + 1]), 2 * i * d
        s0, s1, z0, z1 = float32.score_two(place, d, model.pairs, p, s, z, ahead)
        store_singles(to, i * N, s0)
        store_singles(to, i * N + 16, s1)
        store_singles(to, i * N + N, z0)
        store_singles(to, i * N + N + 16, z1)


def float32_scores(X, model, found):
    """Scores (n, live) of up to 32 rows, as the kernel computes them."""
    d = X.shape[1]
    packed = certified.pack(model, Wanted(), found)
    data, tile = np.zeros(N * d + OVERREAD, X.dtype), np.zeros(N * (d + 8) // 2)
    data[: X.size] = X.reshape(-1)
    out = np.zeros((len(found.classes) + 1, N), np.float32)
    _scores(data, d, packed, tile, out)
    return out[:-1, : len(X)].T


def margins(X, model, found):
    """The largest share of the bound that an exact error of a float32 or float64 score takes."""
    narrow = float32_scores(X, model, found)
    wide = score(X, model, Wanted(table="joint")).table[:, found.classes]
    worst = 0.0
    for x, s, t in zip(X, narrow, wide, strict=True):
        live = (each[found.classes] for each in (model.mean, model.scale, model.const))
        exact = oracles.diagonal_scores(x, *live)
        for a, b, c in zip(s, t, exact, strict=True):
            bound = oracles.exact(found.floor) + oracles.exact(found.slope) * abs(oracles.exact(a))
            error = abs(oracles.exact(a) - (c - oracles.exact(found.base)))
            error += abs(oracles.exact(b) - c)
            worst = max(worst, float(error / bound))
    return worst


@pytest.mark.parametrize("kind", cases.KINDS)
@pytest.mark.parametrize(("d", "k"), [(1, 2), (3, 5), (8, 4), (13, 3), (40, 7)])
def test_errors_are_within_the_bound(kind, d, k):
    """The errors of both scores together, of rows of the classes and of ties."""
    model = cases.terms(kind, d, k)
    found = certificate(model.mean, model.scale, model.const)
    if found is None:
        assert kind in ("ratios", "constants", "impossible", "wide")
        return
    X = cases.rows(model, 12)
    assert margins(X, model, found) < 1.0


@pytest.mark.parametrize("kind", cases.KINDS)
def test_errors_of_float32_rows_are_within_the_bound(kind):
    """Whose centre is a float32 number, and may be at some distance from the means therefore."""
    model = cases.terms(kind, 9, 4)
    found = certificate(model.mean, model.scale, model.const, is_narrow=True)
    if found is None:
        assert kind in ("ratios", "constants", "far")
        return
    np.testing.assert_array_equal(found.centre, found.centre.astype(np.float32))
    assert margins(cases.rows(model, 12).astype(np.float32), model, found) < 1.0


def test_a_centre_beyond_float32_has_no_certificate_for_its_rows():
    model = cases.terms("plain", 5, 4)
    model.mean[:] = 1e39
    assert certificate(model.mean, model.scale, model.const) is not None
    assert certificate(model.mean, model.scale, model.const, is_narrow=True) is None


@settings(max_examples=40)
@given(st.data())
def test_errors_of_any_rows_are_within_the_bound(data):
    """Rows and means of any size, at which scores are finite."""
    d, k = data.draw(st.integers(1, 4)), data.draw(st.integers(2, 3))
    numbers = st.floats(-1e3, 1e3) | st.floats(-1e-3, 1e-3) | st.floats(-1e12, 1e12)
    table = st.lists(numbers, min_size=k * d, max_size=k * d)
    mean = np.array(data.draw(table)).reshape(k, d)
    scale = np.abs(np.array(data.draw(table)).reshape(k, d)) + 1e-6
    const = np.array(data.draw(st.lists(st.floats(-50, 50), min_size=k, max_size=k)))
    found = certificate(mean, scale, const)
    if found is None:
        return
    X = np.array(data.draw(table)).reshape(k, d)
    s = float32_scores(X, DiagonalTerms(mean, scale, None, const), found)
    X = X[np.isfinite(s).all(axis=1)]
    if len(X):
        assert margins(X, DiagonalTerms(mean, scale, None, const), found) < 1.0


def test_the_bound_is_not_loose():
    """Errors come within a factor of the bound for long chains of equal terms."""
    model = cases.terms("plain", 40, 7)
    found = certificate(model.mean, model.scale, model.const)
    assert margins(cases.rows(model, 24), model, found) > 0.01


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda m: m.const.__setitem__(slice(1, None), -np.inf), "one class is possible"),
        (lambda m: m.scale.__setitem__((0, 0), np.inf), "a variance of zero"),
        (lambda m: m.scale.__setitem__((0, 0), np.nan), "no number"),
        (lambda m: m.scale.__setitem__((0, 0), 2.0 * LARGEST_SCALE), "a scale out of range"),
        (lambda m: m.scale.__setitem__((0, 0), 0.5 / LARGEST_SCALE), "a scale out of range"),
        (lambda m: m.mean.__setitem__((0, 0), 1e308), "a mean far from the others"),
        (lambda m: m.mean.__setitem__((0, 0), 1e6), "a bound above what is of use"),
        (lambda m: m.const.__setitem__(0, 1e300), "constants far apart"),
    ],
)
def test_models_without_a_certificate(change, reason):
    model = cases.terms("plain", 5, 4)
    assert certificate(model.mean, model.scale, model.const) is not None
    change(model)
    assert certificate(model.mean, model.scale, model.const) is None, reason


def test_units_do_not_matter():
    """Features in other units, and from another zero, give the same coefficients and bound."""
    model = cases.terms("plain", 6, 4)
    unit = 2.0 ** np.arange(-30, 30, 10)
    found = certificate(model.mean, model.scale, model.const)
    other = certificate(model.mean * unit, model.scale / unit, model.const)
    np.testing.assert_array_equal(found.b, other.b)
    assert (found.floor, found.slope) == (other.floor, other.slope)


def test_small_work_is_not_worth_it():
    assert pays(10**6, (10, 20))
    assert pays(10**4, (1000, 50))
    assert not pays(10**4, (10, 20))
    assert not pays(10**7, (4, 40))
    assert pays(10**7, (4, 40), is_narrow=True)
    assert not pays(10**7, (2, 40), is_narrow=True)
    assert not pays(10**9, (3, 4))
