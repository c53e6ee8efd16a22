"""Labels by float32 scores are those of the float64 kernel, for any rows and parameters."""

from __future__ import annotations

import certified_cases as cases
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastgnb.kernels.score import certificate, certified, diagonal, driver
from fastgnb.kernels.score.diagonal import DiagonalTerms
from fastgnb.kernels.score.outputs import Wanted

BLOCK = 32 * driver.GROUPS_PER_BLOCK
LAYOUTS = ["C", "F", "strided"]


def check_equal(X, model, wanted=None):
    """Compare the answers of the certified kernel, with fixed point and without, with float64's."""
    wanted = Wanted() if wanted is None else wanted
    with np.errstate(all="ignore"):
        want = diagonal.score(X, model, wanted)
        for fixed in (False, True):
            found = cases.certified(X, model, wanted, fixed=fixed)
            assert found.bad == want.bad
            if want.bad < 0:
                np.testing.assert_array_equal(found.codes, want.codes)
            assert found.table is None
            assert found.evidence is None
    return want


def laid_out(X, layout, dtype=np.float64):
    if layout == "strided":
        wide = np.zeros((len(X), 2 * X.shape[1]), dtype)
        wide[:, ::2] = X
        return wide[:, ::2]
    return np.asarray(X, dtype, order=layout)


@pytest.mark.parametrize("kind", cases.KINDS)
@pytest.mark.parametrize(("d", "k"), [(1, 3), (7, 2), (8, 5), (20, 11)])
def test_labels_of_every_kind_of_model(kind, d, k):
    model = cases.terms(kind, d, k)
    if certificate.certificate(model.mean, model.scale, model.const) is not None:
        check_equal(cases.rows(model, 300), model)


@pytest.mark.compiled
def test_labels_for_any_number_of_features_and_classes():
    for size in range(1, 41):
        model = cases.terms("plain", size, 2 + (7 * size) % 39, size)
        check_equal(cases.rows(model, 66), model)


@pytest.mark.compiled
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_labels_of_every_layout_and_number_of_rows(layout, dtype):
    """Around a group, a group with what is read past it, and a block."""
    model = cases.terms("close", 9, 5)
    X = laid_out(cases.rows(model, BLOCK + 72), layout, dtype)
    for n in [0, 1, 7, 31, 32, 33, 39, 40, 63, 64, 71, 72, BLOCK, BLOCK + 7, BLOCK + 8, BLOCK + 72]:
        check_equal(laid_out(X[:n], layout, dtype), model)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("d", "dtype"), [(9, np.float32), (33, np.float64)])
def test_labels_of_every_layout_of_few_rows(layout, d, dtype):
    """In few enough steps to run without the compiler; many columns are fetched in spans."""
    model = cases.terms("close", d, 5)
    check_equal(laid_out(cases.rows(model, 104), layout, dtype), model)


@pytest.mark.parametrize("values", [[5, 6, 7, 8], [-1, 0, 1, 2], [9, 3, 2**62, -(2**62)]])
@pytest.mark.parametrize("kind", ["plain", "impossible"])
def test_values_are_put_out(values, kind):
    model = cases.terms(kind, 6, 4)
    check_equal(cases.rows(model, 100), model, Wanted(values=np.array(values)))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 40, 99])
def test_the_first_row_that_is_not_finite_is_reported(number, row):
    model = cases.terms("plain", 6, 4)
    X = cases.rows(model, 100)
    X[row, 3] = X[row:, 5] = number
    assert check_equal(X, model).bad == row


@pytest.mark.parametrize("number", [1e300, -1e200, 1e30, 3.5e38, 1e-310, 5e-324, -0.0, 1e19])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_that_overflow_or_underflow(number, dtype):
    model = cases.terms("plain", 6, 4)
    with np.errstate(over="ignore", under="ignore"):
        X = cases.rows(model, 100).astype(dtype)
        X[::7, 2] = X[5::11] = number
        X[3] = 1.0
    check_equal(X, model)


def test_classes_that_tie_give_the_first():
    """In float64 too; no row of them is certain."""
    model = cases.terms("equal", 5, 8)
    X = cases.rows(model, 500)
    assert check_equal(X, model).codes.max() < 4


@pytest.mark.compiled
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 1.0])
def test_rows_that_are_not_certain(share):
    """Some, many or all rows are ties; the kernel stops trying where many are."""
    model = cases.terms("plain", 8, 3)
    X = cases.rows(model, 3 * BLOCK)
    tie = np.arange(len(X)) % 100 < 100 * share
    ties = cases.near_ties(model, *(np.tile(model.mean[c], (1, 1)) for c in (0, 1)))
    X[tie] = ties + np.zeros((int(tie.sum()), 1))
    check_equal(X, model)


@pytest.mark.compiled
@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(cases.KINDS), st.integers(1, 40), st.integers(2, 40))
def test_labels_of_any_model(seed, kind, d, k):
    model = cases.terms(kind, d, k, seed)
    if certificate.certificate(model.mean, model.scale, model.const) is not None:
        check_equal(cases.rows(model, 1 + seed % 131, seed), model)


@settings(max_examples=60)
@given(st.data())
def test_labels_of_any_rows(data):
    """Rows of any finite numbers, at a model whose means any of them may be."""
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    X = np.array(data.draw(st.lists(numbers, min_size=6, max_size=60)))
    X = X[: len(X) // 3 * 3].reshape(-1, 3)
    mean = np.array(data.draw(st.lists(numbers, min_size=6, max_size=6))).reshape(2, 3)
    model = DiagonalTerms(mean, np.full((2, 3), 0.5), None, np.array([-1.0, -2.0]))
    if certificate.certificate(model.mean, model.scale, model.const) is not None:
        check_equal(X, model)


def test_a_model_without_a_certificate_has_no_labels():
    model = cases.terms("plain", 5, 2)
    model.scale[0, 0] = np.inf
    assert certified.labeller(model, Wanted(), np.dtype(float)) is None


def test_labels_alone_of_many_rows_are_certified(monkeypatch):
    """And nothing else is: neither tables nor evidence, missing values, or few rows."""
    asked = []
    labeller = certified.labeller

    def counted(terms, wanted, dtype):
        asked.append(terms)
        return labeller(terms, wanted, dtype)

    monkeypatch.setattr(certified, "labeller", counted)
    monkeypatch.setattr(certificate, "CALL_WORK", 20_000)
    model, n = cases.terms("plain", 20, 10), 100
    X = cases.rows(model, n)
    assert not asked
    diagonal.score(X[:-1], model, Wanted())
    diagonal.score(X, model, Wanted(evidence=True))
    diagonal.score(X, model, Wanted(codes=False, evidence=True))
    diagonal.score(X, model._replace(log_norm=np.zeros((10, 20))), Wanted())
    assert not asked
    codes = diagonal.score(X, model, Wanted()).codes
    assert asked == [model]
    np.testing.assert_array_equal(codes[:-1], diagonal.score(X[:-1], model, Wanted()).codes)


@pytest.mark.slow
@pytest.mark.parametrize("kind", cases.KINDS)
def test_labels_of_a_hundred_thousand_rows(kind):
    for d, k in [(20, 10), (50, 30)]:
        model = cases.terms(kind, d, k)
        if certificate.certificate(model.mean, model.scale, model.const) is not None:
            X = cases.rows(model, 100_000)
            want = np.concatenate([cases.labels(model, part) for part in np.array_split(X, 10)])
            for fixed in (False, True):
                found = cases.certified(X, model, Wanted(), fixed=fixed)
                np.testing.assert_array_equal(found.codes, want)
