"""Bad weights, priors and parameters are refused in words that help."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from bad_input import (
    HUGE,
    LARGE,
    LEARNING,
    MASK,
    NO_FLOAT,
    ROWS_OF,
    SCORING,
    TOO_LARGE,
    X0,
    Y0,
    Bad,
    assert_refused,
    assert_stats_refuse,
    attributes,
    fitted,
    ids,
    items,
    quietly,
    raised,
    same,
)
from sklearn.naive_bayes import GaussianNB as Reference

from fastgnb import ClassStats, GaussianNB
from fastgnb.model.model import Model

WEIGHTS_OF = {
    "fit": lambda m, w: m.fit(X0, Y0, w),
    "partial_fit": lambda m, w: (
        m.partial_fit(X0, Y0, sample_weight=w)
        if hasattr(m, "theta_")
        else m.partial_fit(X0, Y0, [0, 1], w)
    ),
}
STATS_WEIGHTS = {
    "from_rows": lambda stats, w: ClassStats.from_rows(X0, Y0, w),
    "update": lambda stats, w: stats.update(X0, Y0, w),
}

NO_WEIGHT = "Expected numeric sample_weight, got"
WEIGHT_NAN = "Input sample_weight contains NaN"
WEIGHT_INF = "Input sample_weight contains infinity or a value too large"
NEGATIVE = r"Negative values in data passed to `sample_weight`: weight {} of row {}; weights must"
WEIGHT_SHAPE = r"sample_weight.shape == \({},\), expected \(6,\)!"
ACCEPTED = "scikit-learn accepts it, and its variances become negative or NaN"
WEIGHT_TEXT = "scikit-learn converts text where it can"
WEIGHT_DTYPE = "scikit-learn converts it, or speaks of complex data without a name"

WEIGHTS = [
    Bad("negative", lambda: [1, 1, -1, 1, 1, 1], NEGATIVE.format("-1.0", 2), ACCEPTED),
    Bad("negative, first", lambda: [-2, 1, 1, 1, 1, 1], NEGATIVE.format("-2.0", 0), ACCEPTED),
    Bad("negative, last", lambda: [1, 1, 1, 1, 1, -3], NEGATIVE.format("-3.0", 5), ACCEPTED),
    Bad("barely negative", lambda: [1, 1, -5e-324, 1, 1, 1], NEGATIVE.format("-5e-324", 2),
        ACCEPTED),
    Bad("negative scalar", lambda: -1.0, NEGATIVE.format("-1.0", 0), ACCEPTED),
    Bad("all negative", lambda: -np.ones(6), NEGATIVE.format("-1.0", 0), ACCEPTED),
    Bad("nan", lambda: [1, 1, np.nan, 1, 1, 1], WEIGHT_NAN),
    Bad("nan, first", lambda: [np.nan, 1, 1, 1, 1, 1], WEIGHT_NAN),
    Bad("nan, last", lambda: np.array([1, 1, 1, 1, 1, np.nan], np.float32), WEIGHT_NAN),
    Bad("nan scalar", lambda: np.nan, WEIGHT_NAN, ACCEPTED),
    Bad("inf", lambda: [1, 1, np.inf, 1, 1, 1], WEIGHT_INF),
    Bad("-inf", lambda: [1, 1, -np.inf, 1, 1, 1], WEIGHT_INF),
    Bad("inf in float16", lambda: np.array([1, 1, np.inf, 1, 1, 1], np.float16), WEIGHT_INF),
    Bad("inf scalar", lambda: np.inf, WEIGHT_INF, ACCEPTED),
    Bad("long double beyond float64", lambda: np.full(6, np.longdouble("1e400")), WEIGHT_INF,
        "where long double is no longer, scikit-learn says the same")
    if np.finfo(np.longdouble).maxexp > 1024
    else Bad("float beyond float64", lambda: [1e309] * 6, WEIGHT_INF),
    Bad("int beyond float64", lambda: [HUGE, 1, 1, 1, 1, 1], WEIGHT_INF, TOO_LARGE),
    Bad("int scalar beyond float64", lambda: HUGE, WEIGHT_INF, TOO_LARGE),
    Bad("sum beyond float64", lambda: [1e308] * 6,
        "The sum of the weights overflows float64. Scale them down", ACCEPTED),
    Bad("too few", lambda: [1, 1], WEIGHT_SHAPE.format(2)),
    Bad("too many", lambda: [1] * 9, WEIGHT_SHAPE.format(9)),
    Bad("none at all", lambda: [], WEIGHT_SHAPE.format(0), "scikit-learn speaks of samples"),
    Bad("one in a list", lambda: [1.0], WEIGHT_SHAPE.format(1)),
    Bad("a column", lambda: np.ones((6, 1)), "Sample weights must be 1D array or scalar, got 2D"),
    Bad("a row", lambda: np.ones((1, 6)), "must be 1D array or scalar, got 2D array"),
    Bad("3-d", lambda: np.ones((6, 1, 1)), "must be 1D array or scalar, got 3D array",
        "scikit-learn speaks of dim 3, not of weights"),
    Bad("frame", lambda: pd.DataFrame({"w": [1.0] * 6}), "must be 1D array or scalar, got 2D"),
    Bad("all zero", lambda: np.zeros(6), "Sample weights must contain at least one non-zero num",
        methods=LEARNING),
    Bad("zero scalar", lambda: 0, "must contain at least one non-zero number", methods=LEARNING),
    Bad("all -0.0", lambda: -np.zeros(6), "at least one non-zero number", methods=LEARNING),
    Bad("all False", lambda: np.zeros(6, bool), "at least one non-zero number", methods=LEARNING),
    Bad("words", lambda: ["a"] * 6, f"{NO_WEIGHT} dtype <U1", WEIGHT_TEXT),
    Bad("numbers as text", lambda: ["1"] * 6, f"{NO_WEIGHT} dtype <U1", WEIGHT_TEXT),
    Bad("word", lambda: "balanced", f"{NO_WEIGHT} dtype <U8", WEIGHT_TEXT),
    Bad("number as bytes", lambda: np.array([b"1"] * 6), rf"{NO_WEIGHT} dtype \|S1", WEIGHT_TEXT),
    Bad("text objects", lambda: items(1, 1, "1", 1, 1, 1), f"{NO_WEIGHT} text", WEIGHT_TEXT),
    Bad("Series of words", lambda: pd.Series(["a"] * 6), f"{NO_WEIGHT} text", WEIGHT_TEXT),
    Bad("complex", lambda: np.ones(6, complex), f"{NO_WEIGHT} dtype complex128", WEIGHT_DTYPE),
    Bad("complex scalar", lambda: 1j, f"{NO_WEIGHT} dtype complex128", WEIGHT_DTYPE),
    Bad("dates", lambda: np.zeros(6, "M8[D]"), rf"{NO_WEIGHT} dtype datetime64\[D\]", WEIGHT_DTYPE),
    Bad("time spans", lambda: np.ones(6, "m8[s]"), f"{NO_WEIGHT} dtype timedelta64", WEIGHT_DTYPE),
    Bad("records", lambda: np.ones(6, [("a", float)]), rf"{NO_WEIGHT} dtype \[", WEIGHT_DTYPE),
    Bad("None among numbers", lambda: [1, None, 1, 1, 1, 1], WEIGHT_NAN),
    Bad("NA object", lambda: items(1, pd.NA, 1, 1, 1, 1), NO_FLOAT.format("NAType"),
        error=TypeError),
    Bad("dict", lambda: {0: 1.0, 1: 2.0}, NO_FLOAT.format("dict"), error=TypeError),
    Bad("dicts", lambda: [{}] * 6, NO_FLOAT.format("dict"), error=TypeError),
    Bad("set", lambda: {1, 2}, NO_FLOAT.format("set"), error=TypeError),
    Bad("generator", lambda: (1 for _ in range(6)), NO_FLOAT.format("generator"), error=TypeError),
    Bad("function", lambda: len, NO_FLOAT.format("builtin_function_or_method"), error=TypeError),
    Bad("Ellipsis", lambda: ..., NO_FLOAT.format("ellipsis"), error=TypeError),
    Bad("ragged", lambda: [[1], [1, 2], 1, 1, 1, 1], "inhomogeneous shape"),
    Bad("decimal nan", lambda: [Decimal("NaN")] * 6, WEIGHT_NAN),
    Bad("masked", lambda: np.ma.array(np.ones(6), mask=[0, 1, 0, 0, 0, 0]),
        "Input sample_weight contains masked values, the first at 1. Leave them out", MASK),
    Bad("sparse", lambda: sp.csr_matrix(np.ones((6, 1))), "Sparse data was passed for sample_wei",
        error=TypeError),
    Bad("missing Float64", lambda: pd.Series([1, None] * 3, dtype="Float64"), WEIGHT_NAN),
    Bad("missing Int64", lambda: pd.Series([1, None] * 3, dtype="Int64"), WEIGHT_NAN),
    Bad("missing in an array of Int64", lambda: pd.array([1, None] * 3, "Int64"), WEIGHT_NAN),
    Bad("missing in a Series", lambda: pd.Series([1, None] * 3), WEIGHT_NAN),
    Bad("polars null", lambda: pl.Series([1.0, None] * 3), WEIGHT_NAN),
    Bad("arrow null", lambda: pa.array([1.0, None] * 3), WEIGHT_NAN),
    Bad("arrow null of booleans", lambda: pa.array([True, None] * 3), WEIGHT_NAN),
]  # fmt: skip


@pytest.mark.promise("errors")
@pytest.mark.parametrize("bad", WEIGHTS, ids=ids(WEIGHTS))
def test_bad_weights(bad):
    assert_refused(bad, WEIGHTS_OF, lambda: (bad.make(),))
    if not bad.methods:
        assert_stats_refuse(bad, STATS_WEIGHTS, lambda: (bad.make(),))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_bad_weight_is_found_wherever_it_stands(crowd, value, dtype):
    X, y = crowd[LARGE]
    for row in (0, LARGE // 2, LARGE - 1):
        weight = np.ones(LARGE, dtype)
        weight[row] = value
        for learn in (GaussianNB().fit, ClassStats.from_rows):
            text = f"weight -1.0 of row {row}" if value == -1 else "Input sample_weight contains"
            with pytest.raises(ValueError, match=text):
                learn(X, y, weight)


def declared(**parameters):
    """Fit, partial_fit, fit_stats and merge of a model with these parameters, fresh or fitted."""
    stats, other = ClassStats.from_rows(X0, Y0), fitted(GaussianNB)
    return {
        "fit": lambda m: m.set_params(**parameters).fit(X0, Y0),
        "partial_fit": lambda m: m.set_params(**parameters).partial_fit(X0, Y0, [0, 1]),
        "fit_stats": lambda m: m.set_params(**parameters).fit_stats(stats),
        "merge": lambda m: m.set_params(**parameters).merge(other),
    }


def assert_parameter_refused(bad, parameter):
    for name, method in declared(**{parameter: bad.make()}).items():
        for is_fresh in (True, False) if name != "merge" else (False,):
            model = GaussianNB() if is_fresh else fitted(GaussianNB)
            before = attributes(model)
            got = raised(lambda: method(model))  # noqa: B023
            assert isinstance(got, bad.error), (bad.name, name, got)
            assert re.search(bad.match, str(got)), (bad.name, name, got)
            assert attributes(model) == before, name
    want = quietly(lambda: Reference(**{parameter: bad.make()}).fit(X0, Y0))
    got = raised(lambda: GaussianNB(**{parameter: bad.make()}).fit(X0, Y0))
    assert bad.why or same(got, want), (got, want)


NUMBER = "Number of priors must match number of classes"
SUM = "The sum of the priors should be 1"
ARRAY_LIKE = "The 'priors' parameter of GaussianNB must be an array-like or None. Got"
BY_LENGTH = "scikit-learn fails in NumPy"

PRIORS = [
    Bad("too few", lambda: [1.0], NUMBER),
    Bad("too many", lambda: [0.2, 0.3, 0.5], NUMBER),
    Bad("none at all", lambda: [], NUMBER),
    Bad("2-d", lambda: [[0.5, 0.5]], NUMBER),
    Bad("column", lambda: [[0.5], [0.5]], NUMBER, "scikit-learn accepts it"),
    Bad("0-d", lambda: np.array(1.0), NUMBER, BY_LENGTH),
    Bad("dict", lambda: {0: 0.5, 1: 0.5}, NUMBER, BY_LENGTH),
    Bad("set", lambda: {0.5}, NUMBER, BY_LENGTH),
    Bad("sum below 1", lambda: [0.5, 0.4], SUM),
    Bad("sum above 1", lambda: [1.0, 1.0], SUM),
    Bad("sum not quite 1", lambda: np.array([0.5, 0.5001]), SUM),
    Bad("nan", lambda: [0.5, np.nan], SUM),
    Bad("inf", lambda: [np.inf, 0.5], SUM),
    Bad("inf and -inf", lambda: [np.inf, -np.inf], SUM),
    Bad("all zero", lambda: [0, 0], SUM),
    Bad("None among them", lambda: [None, 1.0], SUM),
    Bad("missing", lambda: pd.Series([0.5, None], dtype="Float64"), SUM),
    Bad("beyond float64", lambda: [HUGE, 1], SUM, TOO_LARGE),
    Bad("negative", lambda: [1.5, -0.5], "Priors must be non-negative"),
    Bad("barely negative", lambda: [1.0, -1e-12], "Priors must be non-negative"),
    Bad("ragged", lambda: [[0.5], [0.2, 0.3]], "inhomogeneous shape"),
    Bad("words", lambda: ["a", "b"], "could not convert string to float: 'a'"),
    Bad("word", lambda: "uniform", f"{ARRAY_LIKE} 'uniform'"),
    Bad("number", lambda: 0.5, f"{ARRAY_LIKE} 0.5"),
    Bad("True", lambda: True, f"{ARRAY_LIKE} True"),
    Bad("bytes", lambda: b"ab", f"{ARRAY_LIKE} b'ab'"),
    Bad("function", lambda: len, f"{ARRAY_LIKE} <built-in function len>"),
    Bad("generator", lambda: (0.5 for _ in range(2)), f"{ARRAY_LIKE} <generator"),
    Bad("sparse", lambda: sp.csr_matrix([[0.5, 0.5]]), ARRAY_LIKE),
    Bad("masked", lambda: np.ma.array([0.5, 0.5], mask=[0, 1]),
        "Input priors contains masked values, the first at 1", MASK),
    Bad("NA", lambda: [pd.NA, 0.5], NO_FLOAT.format("NAType"), error=TypeError),
    Bad("complex", lambda: np.array([0.5 + 0j, 0.5]), "Expected numeric priors, got dtype complex",
        "scikit-learn drops the imaginary part with a warning"),
    Bad("time spans", lambda: np.array([0, 1], "m8[s]"), "Expected numeric priors, got dtype time",
        "scikit-learn accepts it"),
    Bad("dates", lambda: np.array([0, 1], "M8[D]"), "Expected numeric priors, got dtype datetime",
        "scikit-learn accepts it"),
]  # fmt: skip


@pytest.mark.promise("errors")
@pytest.mark.parametrize("bad", PRIORS, ids=ids(PRIORS))
def test_bad_priors(bad):
    assert_parameter_refused(bad, "priors")


SMOOTHING = r"The 'var_smoothing' parameter of GaussianNB must be a float in the range \[0.0, inf\)"
FAILS = "scikit-learn's check of parameters fails"

SMOOTHINGS = [
    *(
        Bad(f"{type(value).__name__} {value!r}", lambda value=value: value, SMOOTHING)
        for value in (
            -1e-9, -1, -5e-324, np.nan, np.inf, -np.inf, "auto", "1e-9", "", None, [1e-9], (), {},
            b"1", len, 1e-9 + 0j, Decimal("1e-9"), np.float32(np.nan), np.int64(-1), pd.NA,
            np.array([1e-9]), np.array(1e-9), np.bool_(True), set(), ...,
        )
    ),
    Bad("masked", lambda: np.ma.masked, SMOOTHING),
    Bad("int beyond float64", lambda: HUGE, "var_smoothing must be a number from 0 up, got 1000",
        FAILS),
    Bad("fraction beyond float64", lambda: Fraction(HUGE), "must be a number from 0 up", FAILS),
    Bad("negative fraction", lambda: Fraction(-1, 2), r"from 0 up, got Fraction\(-1, 2\)", FAILS),
    Bad("time span", lambda: np.timedelta64(1, "s"), "must be a number from 0 up, got", FAILS),
    Bad("product beyond float64", lambda: 1e308, r"largest variance .* overflows float64. Scale th",
        "scikit-learn's variances are infinite"),
]  # fmt: skip


@pytest.mark.parametrize("bad", SMOOTHINGS, ids=ids(SMOOTHINGS))
def test_bad_smoothing(bad):
    assert_parameter_refused(bad, "var_smoothing")


MISSING = ["drop", "Skip", "", None, True, 0, np.nan, ["skip"], b"skip", np.array("skip"), pd.NA]


@pytest.mark.parametrize("value", MISSING, ids=repr)
def test_bad_words_for_missing(value):
    for name, method in declared(missing=value).items():
        model = fitted(GaussianNB)
        before = attributes(model)
        with pytest.raises(ValueError, match="The 'missing' parameter of GaussianNB must be a str"):
            method(model)
        assert attributes(model) == before, name
    text = "missing must be 'error' or 'skip', got"
    for name in SCORING:
        model = fitted(GaussianNB).set_params(missing=value)
        with pytest.raises(ValueError, match=text):
            ROWS_OF[name](model, X0, Y0)
    with pytest.raises(ValueError, match=text):
        ClassStats.from_rows(X0, Y0, missing=value)
    with pytest.raises(ValueError, match=text):
        Model.of("GaussianNB", ClassStats.from_rows(X0, Y0), missing=value)


def test_the_tables_are_long_enough():
    assert len(WEIGHTS) + len(PRIORS) + len(SMOOTHINGS) + len(MISSING) >= 100
