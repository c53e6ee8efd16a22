"""Scores of rows by the model of all others, where the model's variances are diagonal.

Sets of a few dozen rows run every line of the kernel, also without the compiler; larger ones, and
what estimators make of the scores, are in tests/estimators/test_leave_one_out.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fastgnb import GaussianBayes, GaussianNB
from fastgnb.kernels.score import left_out_labels
from fastgnb.kernels.score.left_out_margin import margin, squares
from fastgnb.model.left_out import LearnedRows

# Two groups of rows and a tail; rows that are read in place end with the first group.
N = 77
MODELS = {
    "naive": GaussianNB(),
    "ddof": GaussianNB(var_smoothing=0.1, ddof=1),
    "priors": GaussianNB(var_smoothing=0, priors=[0.2, 0.3, 0.5]),
    "tied": GaussianNB(tied=True),
    "spherical": GaussianNB(covariance_type="spherical", var_smoothing=1e-3),
    "tied, spherical": GaussianNB(covariance_type="spherical", tied=True, ddof=1),
    "regular": GaussianBayes(covariance_type="diag", reg_param=0.2),
}


def three_classes(rng, n=N, d=11, scale=0.0):
    """Rows of three classes, whose features have standard deviations up to exp(scale)."""
    y = rng.integers(0, 3, n).astype(np.int32)
    X = rng.normal(size=(n, d)) + 0.7 * y[:, None]
    return X * np.exp(np.linspace(0, scale, d)), y


def left_out(model, X, y, weight=None, *, joint=True):
    found = model.fit(X, y, weight).to_model()
    return found.leave_one_out(LearnedRows(X, y, weight), joint=joint)


def moments(X, w):
    """Mean and variance (d,) of weighted rows."""
    mean = w @ X / w.sum()
    return mean, w @ (X - mean) ** 2 / w.sum()


def refitted(model, X, y, i, weight=None):
    """Joint log likelihoods of row i by all others, with 64 bits where a long double has them."""
    options = {"reg_param": 0.0, **model.get_params()}
    X = X.astype(np.longdouble)
    w = np.ones(len(y), np.longdouble) if weight is None else weight.astype(np.longdouble)
    w[i] = 0
    k, total, of_class = y.max() + 1, w.sum(), [w * (y == c) for c in range(y.max() + 1)]
    means, variances = zip(*[moments(X, v) for v in of_class], strict=True)
    count = np.array([v.sum() for v in of_class])
    epsilon = options["var_smoothing"] * moments(X, w)[1].max()
    scatter = np.array(variances) * count[:, None]
    if options["tied"]:
        variance = scatter.sum(axis=0) / (total - k * options["ddof"])
        variance = np.tile(variance, (k, 1))
    else:
        variance = scatter / (count - options["ddof"])[:, None]
    if options["covariance_type"] == "spherical":
        variance = np.broadcast_to(variance.mean(axis=1, keepdims=True), variance.shape)
    reg = options["reg_param"]
    variance = (1 - reg) * variance + reg + epsilon
    prior = count / total if options["priors"] is None else np.array(options["priors"])
    square = (X[i] - np.array(means)) ** 2 / variance
    return np.log(prior) - 0.5 * (square + np.log(2 * np.pi * variance)).sum(axis=1)


def check(model, X, y, weight=None, rows=range(0, N, 4), tolerance=1e-11):
    """All scores of some rows, and the labels alone; return which rows need a refit."""
    found = left_out(model, X, y, weight)
    for i in rows:
        if not found.redo[i]:
            wanted = refitted(model, X, y, i, weight)
            assert_allclose(found.joint[i], wanted.astype(float), rtol=tolerance, atol=tolerance)
    known = ~found.redo
    assert_array_equal(found.codes[known], found.joint.argmax(axis=1)[known])
    labels = left_out(model, X, y, weight, joint=False)
    assert_array_equal(labels.codes[known], found.codes[known])
    assert_array_equal(labels.redo, found.redo)
    return found.redo


@pytest.mark.parametrize("d", [1, 9, 16])
@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_a_refit(rng, name, d):
    X, y = three_classes(rng, d=d)
    assert not check(MODELS[name], X, y).any()


@pytest.mark.parametrize("name", ["naive", "tied", "spherical"])
def test_weights(rng, name):
    X, y = three_classes(rng, d=5)
    assert not check(MODELS[name], X, y, rng.uniform(0.5, 1.5, N)).any()


@pytest.mark.parametrize("scale", [4.0, 9.0])
@pytest.mark.parametrize("name", ["naive", "ddof", "tied", "spherical"])
def test_features_of_any_scale(rng, name, scale):
    """Smoothing is next to nothing beside some variances, and all of others."""
    X, y = three_classes(rng, d=9, scale=scale)
    assert check(MODELS[name], X, y).sum() <= 2


@pytest.mark.parametrize("unit", [1e-120, 1e-60, 1e-40, 1e60, 1e90, 1e120])
@pytest.mark.parametrize("name", ["naive", "ddof", "tied", "spherical"])
def test_units_of_any_size(rng, name, unit):
    """The polynomial of a change of smoothing has its fourth power, which has a unit of its own."""
    X, y = three_classes(rng, d=9)
    assert not check(MODELS[name], X * unit, y).any()


def test_variances_whose_inverse_overflows(rng):
    X, y = three_classes(rng, d=3)
    assert left_out(GaussianNB(var_smoothing=0), X * 2.0**-520, y) is None


def test_another_feature_decides_on_smoothing(rng):
    """Without one row another feature has the largest variance."""
    X, y = three_classes(rng, d=3)
    X[:, 1] *= 0.8
    X[8, 1] = 8.0
    rest = np.arange(N) != 8
    assert X.var(axis=0).argmax() == 1
    assert X[rest].var(axis=0).argmax() != 1
    assert not check(GaussianNB(var_smoothing=0.1), X, y, rows=[8, 12]).any()


@pytest.mark.parametrize("name", ["naive", "tied", "spherical"])
def test_layouts_have_the_same_bits(rng, name):
    X, y = three_classes(rng, d=13)
    X = np.round(8 * X) / 8
    wanted = left_out(MODELS[name], X, y)
    for rows in (np.asfortranarray(X), X.astype(np.float32), np.repeat(X, 2, axis=0)[::2]):
        found = left_out(MODELS[name], rows, y)
        assert_array_equal(found.joint, wanted.joint)
        assert_array_equal(found.codes, wanted.codes)


@pytest.mark.parametrize("name", ["naive", "tied", "spherical"])
def test_rows_that_are_for_a_refit(rng, name):
    """A row that made nearly all of a variance, and the only row of a class."""
    X, y = three_classes(rng, d=3)
    X[5, 1] = 1e6
    y[40] = 3
    redo = check(MODELS[name], X, y, rows=range(1, N, 8))
    assert redo[[5, 40]].all()
    assert redo.sum() <= 4


def test_a_row_whose_variances_have_too_large_ratios_is_for_a_refit(rng):
    """The product of what is left of its class's variances underflows."""
    X, y = three_classes(rng, n=40)
    X[7] = 1e60
    redo = left_out(GaussianNB(var_smoothing=0), X, y).redo
    assert_array_equal(np.flatnonzero(redo), [7])


# --- labels alone --------------------------------------------------------------------------------


@pytest.fixture
def scored(monkeypatch):
    """Numbers of rows that are scored in closed form where labels alone are wanted.

    Sets of any size take that way.
    """
    numbers, places = [], left_out_labels._listed

    def listed(found):
        numbers.append(found[1::2].sum())
        return places(found)

    monkeypatch.setattr(left_out_labels, "_CALL_WORK", 0)
    monkeypatch.setattr(left_out_labels, "_MOST_OPEN", 1.0)
    monkeypatch.setattr(left_out_labels, "_listed", listed)
    return numbers


def many_classes(rng, n, d, k, spread):
    """Rows of k classes, of which the last has one row and the others many."""
    y = rng.integers(0, k - 1, n).astype(np.int32)
    y[n // 2] = k - 1
    return rng.normal(size=(n, d)) + spread * rng.normal(size=(k, d))[y], y


def check_labels(model, X, y):
    """Labels alone of all layouts are those of the scores."""
    wanted = left_out(model, X, y)
    for rows in (X, np.asfortranarray(X), X.astype(np.float16)):
        if rows.dtype != X.dtype:
            wanted = left_out(model, rows, y)
        found = left_out(model, rows, y, joint=False)
        assert_array_equal(found.codes[~wanted.redo], wanted.codes[~wanted.redo])
        assert_array_equal(found.redo, wanted.redo)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "priors"])
def test_labels_of_few_rows(rng, scored, name):
    """Nearly all of them are open."""
    X, y = three_classes(rng, n=150, d=9)
    X = np.round(32 * X) / 32
    check_labels(MODELS[name], X, y)


@pytest.mark.parametrize("k", [3, pytest.param(34, marks=pytest.mark.compiled)])
def test_labels_that_lead(rng, scored, k):
    """Rows far from other classes are not scored; an outlier and the only row of a class are."""
    X, y = many_classes(rng, 200 if k == 3 else 700, 5, k, 30.0)
    X[11] += 40.0
    check_labels(GaussianNB(), X, y)
    assert all(0 < n < len(X) // 3 for n in scored)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["naive", "ddof", "tied", "tied, spherical", "regular"])
@pytest.mark.parametrize("k", [4, 40])
def test_labels_of_many_rows(rng, scored, name, k):
    """Overlapping classes, so that a row in ten changes its label if its class loses a nat."""
    X, y = many_classes(rng, 20_000, 11, k, 0.6)
    check_labels(MODELS[name], np.round(64 * X) / 64, y)
    assert 0 < sum(scored) < 3 * len(X)


@pytest.mark.parametrize("scale", [0.0, 5.0])
@pytest.mark.parametrize("tail", [False, True])
@pytest.mark.parametrize("name", [name for name in MODELS if name != "priors"])
def test_a_margin_is_more_than_scores_move(rng, name, tail, scale):
    """Of every two classes, for every row that the margin is for."""
    X, y = three_classes(rng, n=400, d=6, scale=scale)
    if tail:
        X *= rng.standard_gamma(0.5, size=(400, 1)) + 0.1
    terms = terms_of(MODELS[name], X, y)
    roots = squares(X, y, terms)
    lead = margin(terms, roots, y)
    if lead is None:
        assert tail or scale > 0
        return
    rows = np.flatnonzero((roots < lead.roots[y]) & (np.arange(400) % 5 == 0))
    assert len(rows) > 40
    found = left_out(MODELS[name], X, y)
    before = MODELS[name].predict_joint_log_proba(X)
    lost = before - found.joint
    size = terms.const.max() - before
    for i in rows[~found.redo[rows]]:
        moved = lost[i][:, None] - lost[i]
        most = lead.distance + lead.slope * (size[i][:, None] + size[i])
        assert (moved <= most + 1e-11 * (1 + size[i].max())).all()
    if scale == 0:
        own = lost[rows, y[rows]] - np.median(lost[rows], axis=1)
        assert own.max() > 0.2 * lead.distance


def terms_of(model, X, y):
    """What the kernel is given for a model of rows."""
    kept = []

    def keep(rows, codes, terms):
        kept.append(terms)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fastgnb.estimate.left_out.label_left_out", keep)
        left_out(model, X, y, joint=False)
    return kept[0]
