"""The bound on the error of scores in fixed point, against exact rationals."""

from __future__ import annotations

import certified_cases as cases
import numpy as np
import oracles
import pytest

from fastgnb._numba.decorators import uncached_kernel
from fastgnb._numba.singles import as_singles, store_singles
from fastgnb._numba.vectors import pointer
from fastgnb._numba.words import as_words, splat_word, store_words
from fastgnb.kernels.rows import OVERREAD, Rows
from fastgnb.kernels.score import certified, fixed_point, float32, int16
from fastgnb.kernels.score.certificate import certificate
from fastgnb.kernels.score.outputs import Wanted

N = 32


@uncached_kernel
def _scores(data, d, packed, tile, out, sums):
    model = certified.unpack(packed, d)
    place, to = as_words(pointer(tile)), pointer(out)
    rows = Rows(pointer(data), False, N, d)
    low, high = int16.fill_words(rows, 0, model, place)
    ahead = float32.ahead_of(rows, 0, 0)
    p = as_singles(pointer(sums))
    for i in range(3):
        store_singles(p, i * N, low[i])
        store_singles(p, i * N + 16, high[i])
    for c in range(0, model.fixed, 4):
        s = (
            splat_word(model.begin[c]),
            splat_word(model.begin[c + 1]),
            splat_word(model.begin[c + 2]),
            splat_word(model.begin[c + 3]),
        )
        s0, s1 = int16.score_four(place, d, model.words, c * d, s, ahead)
        for i in range(4):
            store_words(to, (c + i) * N, s0[i])
            store_words(to, (c + i) * N + 16, s1[i])


def words_of(X, model, monkeypatch):
    """Scores (n, live) in fixed point, sums over features (3, n), and their parameters."""
    monkeypatch.setattr(fixed_point, "FEWEST_CLASSES", 2)
    found = certificate(model.mean, model.scale, model.const)
    fixed = fixed_point.fixed_point(found, model.mean, model.scale, model.const)
    if fixed is None:
        return found, None, None, None
    d = X.shape[1]
    data, tile = np.zeros(N * d + OVERREAD), np.zeros(N * (d + 8) // 2)
    data[: X.size] = X.reshape(-1)
    out, sums = np.zeros((len(fixed.start), N), np.int32), np.zeros(3 * N // 2)
    with np.errstate(all="ignore"):
        _scores(data, d, certified.pack(model, Wanted(), found), tile, out, sums)
    sums = sums.view(np.float32).reshape(3, N)[:, : len(X)]
    return found, fixed, out[: len(found.classes), : len(X)].T, sums


@pytest.mark.parametrize("kind", cases.KINDS)
@pytest.mark.parametrize(("d", "k"), [(1, 2), (3, 5), (8, 4), (13, 3), (40, 7)])
def test_errors_are_within_the_bound(kind, d, k, monkeypatch):
    """Of rows of the classes, of ties, and of rows at the ends of the range."""
    model = cases.terms(kind, d, k)
    if certificate(model.mean, model.scale, model.const) is None:
        return
    X = np.concatenate((cases.rows(model, 12), np.zeros((4, d))))
    found, fixed, scores, sums = words_of(X, model, monkeypatch)
    if fixed is None:
        assert kind in ("wide", "ratios", "constants")
        return
    X[12:] = found.centre + np.array([[0.99], [-0.99], [1.01], [0.3]]) * fixed_point.REACH / (
        fixed.unit.astype(np.float64)
    )
    found, fixed, scores, sums = words_of(X, model, monkeypatch)
    most, total, norm = sums.astype(np.float64)
    usable = (most < fixed_point.REACH + 0.5) & (norm < fixed.limit)
    assert usable[:12].mean() > 0.8
    assert not usable[14]
    live = [each[found.classes] for each in (model.mean, model.scale, model.const)]
    worst = 0.0
    for x, row, size in zip(X[usable], scores[usable], total[usable], strict=True):
        bound = fixed.floor + 0.501 * size
        for got, exact in zip(row, oracles.diagonal_scores(x, *live), strict=True):
            want = (exact - oracles.exact(found.base)) * oracles.exact(fixed.scale)
            assert -(2**31) <= want < 2**31
            worst = max(worst, float(abs(int(got) - want)) / bound)
    assert worst < 1.0
    assert worst > 0.005


def test_few_classes_and_large_errors_have_no_fixed_point(monkeypatch):
    model = cases.terms("plain", 8, 4)
    found = certificate(model.mean, model.scale, model.const)
    arguments = (found, model.mean, model.scale, model.const)
    assert fixed_point.fixed_point(*arguments) is None
    monkeypatch.setattr(fixed_point, "FEWEST_CLASSES", 2)
    assert fixed_point.fixed_point(*arguments) is not None
    monkeypatch.setattr(fixed_point, "_LARGEST_ERROR", 1e-6)
    assert fixed_point.fixed_point(*arguments) is None


def test_impossible_classes_fill_fours(monkeypatch):
    """Their scores are the lowest whole number for any row."""
    model = cases.terms("plain", 5, 6)
    X = cases.rows(model, 20)
    _, fixed, _, _ = words_of(X, model, monkeypatch)
    assert len(fixed.start) == 8
    assert not fixed.words[6:].any()
    assert (fixed.start[6:] == -(2**31)).all()
