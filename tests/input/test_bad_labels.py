"""Bad labels are refused in words that help."""

from __future__ import annotations

import datetime
import enum
import pickle
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
    MASK,
    ROWS_OF,
    STATS_ROWS,
    TEXT_OR_NUMBERS,
    X0,
    Y0,
    Bad,
    assert_refused,
    assert_stats_refuse,
    fitted,
    ids,
    items,
    quietly,
    words,
)
from sklearn.naive_bayes import GaussianNB as Reference

from fastgnb import ClassStats, GaussianNB

LABELS_OF = {name: ROWS_OF[name] for name in ("fit", "partial_fit")}


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


MISSING_LABEL = "scikit-learn fails when it sorts them, or says no more than 'Input contains NaN'"
KIND = "scikit-learn shows the labels or fails when it sorts them; ours says what they should be"
AS_TEXT = "NumPy makes text of them, and scikit-learn takes it"
CONTINUOUS = "Unknown label type: continuous. Maybe you are trying to fit a classifier"
ONE_D = r"y should be a 1d array, got an array of shape \({}\) instead"


def unknown(name, make, type_name):
    return Bad(name, make, f"Unknown label type: {type_name}", KIND)


LABELS = [
    Bad("nan", lambda: [0, 1, np.nan, 1, 0, 1], "Input y contains NaN"),
    Bad("nan, float32", lambda: np.array([0, 1, np.nan, 1, 0, 1], np.float32), "y contains NaN"),
    Bad("nan, first", lambda: [np.nan, 1, 0, 1, 0, 1], "Input y contains NaN"),
    Bad("nan, last", lambda: [0, 1, 0, 1, 0, np.nan], "Input y contains NaN"),
    Bad("inf", lambda: [0, 1, np.inf, 1, 0, 1], "Input y contains infinity or a value too large"),
    Bad("-inf", lambda: [0, 1, -np.inf, 1, 0, 1], "Input y contains infinity"),
    Bad("None among numbers", lambda: [0, 1, None, 1, 0, 1], "NaN or None: None", MISSING_LABEL),
    Bad("None among words", lambda: ["a", None, "b", "a", "b", "a"], "NaN or None", MISSING_LABEL),
    Bad("NA object", lambda: items(0, 1, pd.NA, 1, 0, 1), "NaN or None: <NA>", MISSING_LABEL),
    Bad("NaT object", lambda: items(0, 1, pd.NaT, 1, 0, 1), "NaN or None: NaT", MISSING_LABEL),
    Bad("nan among objects", lambda: items("a", "b", np.nan, "a", "b", "a"), "NaN or None: nan",
        MISSING_LABEL),
    Bad("nan among words in a list", lambda: ["a", "b", np.nan, "a", "b", "a"], "NaN or None: nan",
        AS_TEXT),
    Bad("words and numbers in a list", lambda: [0, "a", 1, 0, "a", 1], TEXT_OR_NUMBERS, AS_TEXT,
        error=TypeError),
    Bad("words and numbers in a tuple", lambda: (0, "a", 1, 0, "a", 1), TEXT_OR_NUMBERS, AS_TEXT,
        error=TypeError),
    Bad("words and numbers, objects", lambda: items(0, "a", 1, 0, "a", 1), TEXT_OR_NUMBERS, KIND,
        error=TypeError),
    Bad("words and truth", lambda: items(True, "a", False, True, "a", True),
        r"got \['bool', 'str'\]", KIND, error=TypeError),
    Bad("continuous", lambda: [0.5, 1.5, 2, 3, 4, 5], CONTINUOUS, KIND),
    Bad("continuous float32", lambda: np.array([0.5, 1, 2] * 2, np.float32), CONTINUOUS, KIND),
    Bad("continuous long double", lambda: np.array([0.5, 1] * 3, np.longdouble), CONTINUOUS, KIND),
    Bad("continuous objects", lambda: items(0.5, 1.0, 0.5, 1.0, 0.5, 1.0), CONTINUOUS, KIND),
    Bad("complex", lambda: np.arange(6) * 1j, "Complex data not supported"),
    Bad("two columns", lambda: np.zeros((6, 2), int), ONE_D.format("6, 2")),
    Bad("several labels a row", lambda: (X0[:, :2] > 3).astype(int), ONE_D.format("6, 2")),
    Bad("3-d", lambda: np.zeros((6, 1, 1), int), ONE_D.format("6, 1, 1"),
        "scikit-learn speaks of dim 3, not of y"),
    Bad("a row", lambda: np.array([Y0]), ONE_D.format("1, 6")),
    Bad("0-d", lambda: np.array(1), ONE_D.format("")),
    Bad("a number", lambda: 1, ONE_D.format("")),
    Bad("a string", lambda: "ababab", ONE_D.format("")),
    Bad("bytes", lambda: b"ababab", ONE_D.format("")),
    Bad("generator", lambda: (i % 2 for i in range(6)), ONE_D.format("")),
    Bad("set", lambda: set(range(6)), ONE_D.format("")),
    Bad("dict", lambda: {i: i for i in range(6)}, ONE_D.format("")),
    Bad("function", lambda: len, ONE_D.format("")),
    Bad("None", lambda: None, "requires y to be passed, but the target y is None",
        stats=ONE_D.format("")),
    Bad("too few", lambda: [0, 1, 0], r"inconsistent numbers of samples: \[6, 3\]"),
    Bad("too many", lambda: [0, 1] * 4, r"inconsistent numbers of samples: \[6, 8\]"),
    Bad("none at all", lambda: [], r"inconsistent numbers of samples: \[6, 0\]"),
    Bad("one label", lambda: [0], r"inconsistent numbers of samples: \[6, 1\]"),
    Bad("array of bytes", lambda: np.array([b"a", b"b"] * 3), "represented as bytes is not supp",
        "scikit-learn's partial_fit says that they are no classes", error=TypeError),
    Bad("bytes objects", lambda: items(*[b"a", b"b"] * 3), "represented as bytes is not supported",
        "scikit-learn's partial_fit says that they are no classes", error=TypeError),
    Bad("arrow binary", lambda: pa.array([b"a", b"b"] * 3), "represented as bytes is not supported",
        "scikit-learn's partial_fit says that they are no classes", error=TypeError),
    unknown("dates", lambda: np.array(["2020", "2021"] * 3, "M8[Y]"), r"datetime64\[Y\]"),
    unknown("time spans", lambda: np.array([1, 2] * 3, "m8[s]"), r"timedelta64\[s\]"),
    unknown("Series of dates", lambda: pd.Series(pd.date_range("2020", periods=6)), "datetime64.*"),
    unknown("date objects", lambda: items(*[datetime.date(2020, 1, 1)] * 6), "date"),
    unknown("Series of periods", lambda: pd.Series(pd.period_range("2020", periods=6)), "Period"),
    unknown("records", lambda: np.zeros(6, [("a", int)]), r"\[\('a', '<i8'\)\]"),
    unknown("void", lambda: np.zeros(6, "V4"), r"\|V4"),
    unknown("tuples", lambda: items(*[(1, 2), (3,)] * 3), "tuple"),
    unknown("dicts", lambda: [{}] * 6, r"one of \['dict'\]"),
    unknown("sets", lambda: [{1}] * 6, r"one of \['set'\]"),
    unknown("lists among numbers", lambda: items(1, [2], 3, 1, [2], 3), r"one of \['int', 'list'"),
    unknown("polars lists", lambda: pl.Series([[1], [2]] * 3), r"one of \['(ndarray|Series)'\]"),
    unknown("objects", lambda: items(*[object() for _ in range(6)]), "object"),
    unknown("functions", lambda: [len] * 6, "builtin_function_or_method"),
    unknown("enumeration", lambda: [Colour.RED, Colour.BLUE] * 3, "Colour"),
    unknown("decimals", lambda: [Decimal(1), Decimal(2)] * 3, "Decimal"),
    unknown("fractions", lambda: [Fraction(1), Fraction(2)] * 3, "Fraction"),
    unknown("signalling decimals", lambda: [Decimal("sNaN")] * 6, r"one of \['Decimal'\]"),
    unknown("arrow scalars", lambda: [pa.scalar(1), pa.scalar(2)] * 3, "Int64Scalar"),
    unknown("arrow decimals", lambda: pa.array([Decimal(1), Decimal(2)] * 3), "Decimal"),
    Bad("decimal nan", lambda: [Decimal("NaN"), Decimal(2)] * 3, "NaN or None", MISSING_LABEL),
    Bad("ragged", lambda: [[0], [1, 2], [0], [1], [0], [1]], "inhomogeneous shape"),
    Bad("whole numbers beyond 64 bits", lambda: [2**64, 1] * 3,
        "cannot be held exactly by one numeric type", KIND),
    Bad("whole numbers that one float would be", lambda: [2**63 + 1, 2**63 + 3, -1] * 2,
        "cannot be held exactly by one numeric type", "NumPy makes one float of two labels"),
    Bad("whole numbers beyond float64", lambda: [HUGE, 1] * 3, "cannot be held exactly", KIND),
    Bad("masked", lambda: np.ma.array(Y0, mask=[0, 0, 1, 0, 0, 0]),
        "Input y contains masked values, the first at 2. Leave them out", MASK),
    Bad("masked words", lambda: np.ma.array(["a", "b"] * 3, mask=[0, 1, 1, 0, 0, 0]),
        "Input y contains masked values, the first at 1", MASK),
    Bad("sparse", lambda: sp.csr_matrix(Y0[:, None]), "Sparse data was passed for y",
        error=TypeError),
    Bad("sparse array", lambda: sp.coo_array(Y0[:, None]), "Sparse data was passed for y, but de",
        error=TypeError),
    *(
        Bad(f"missing {dtype}", lambda dtype=dtype: pd.Series([0, 1, None] * 2, dtype=dtype),
            "Input y contains NaN")
        for dtype in ("Int64", "UInt8", "Float64", "boolean", "int64[pyarrow]")
    ),
    Bad("missing in an array of Int64", lambda: pd.array([0, 1, None] * 2, "Int64"),
        "Input y contains NaN"),
    Bad("missing string", lambda: pd.Series(["a", None, "b"] * 2, dtype="string"), "NaN or None",
        MISSING_LABEL),
    Bad("missing words", lambda: pd.Series(["a", None, "b"] * 2, dtype=object), "NaN or None",
        MISSING_LABEL),
    Bad("missing category", lambda: pd.Series(pd.Categorical(["a", None, "b"] * 2)),
        "NaN or None: nan", MISSING_LABEL),
    Bad("missing category of numbers", lambda: pd.Series(pd.Categorical([0, None, 1] * 2)),
        "Input y contains NaN"),
    Bad("frame of two columns", lambda: pd.DataFrame({"y": Y0, "z": Y0}), ONE_D.format("6, 2")),
    Bad("polars null", lambda: pl.Series([0, 1, None] * 2), "Input y contains NaN"),
    Bad("polars null of words", lambda: pl.Series(["a", None, "b"] * 2), "None", MISSING_LABEL),
    Bad("polars null of booleans", lambda: pl.Series([True, None] * 3), "None", MISSING_LABEL),
    unknown("polars dates", lambda: pl.Series([datetime.date(2020, 1, 1)] * 6), "datetime64.*"),
    Bad("arrow null", lambda: pa.array([0, 1, None] * 2), "Input y contains NaN"),
    Bad("arrow null in chunks", lambda: pa.chunked_array([[0, 1, None], [0, 1, 1]]), "y contains"),
    Bad("arrow null of words", lambda: pa.array(["a", None, "b"] * 2), "None", MISSING_LABEL),
    Bad("arrow null in a dictionary",
        lambda: pa.array(["a", None, "b"] * 2).dictionary_encode(), "None", MISSING_LABEL),
]  # fmt: skip


@pytest.mark.promise("errors")
@pytest.mark.parametrize("bad", LABELS, ids=ids(LABELS))
def test_bad_labels(bad):
    def args():
        return X0.copy(), bad.make()

    assert_refused(bad, LABELS_OF, args)
    assert_stats_refuse(bad, STATS_ROWS, args)
    ours, theirs = fitted(GaussianNB), fitted(Reference)
    before = pickle.dumps(ours)
    got, want = (quietly(lambda m=m: m.score(X0, bad.make())) for m in (ours, theirs))
    assert type(got) is type(want)
    assert words(got) == words(want)
    assert pickle.dumps(ours) == before


STRANGERS = {
    "a number": [0, 1, 7, 1, 0, 1],
    "words": ["x", "y"] * 3,
    "digits": ["0", "1"] * 3,
    "floats": [0.0, 1.0, 2.0, 1.0, 0.0, 1.0],
    "far": [0, 1, 2**62, 1, 0, 1],
    "negative": np.array([0, 1, -1, 1, 0, 1], np.int8),
    "empty words": [""] * 6,
    "2**63": np.array([0, 1, 2**63, 0, 1, 1], np.uint64),
    "objects": np.array([0, 1, 5, 0, 1, 1], object),
    "categories": pd.Series(pd.Categorical(["u", "v"] * 3)),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_labels_of_no_declared_class(name):
    """As scikit-learn's error, which names the strangers; also by `from_rows(classes=...)`."""
    bad = Bad(
        name, lambda: STRANGERS[name], r"The target label\(s\) .* in y do not exist in the in"
    )
    methods = {"partial_fit": LABELS_OF["partial_fit"]}
    assert_refused(bad, methods, lambda: (X0.copy(), bad.make()))
    with pytest.raises(ValueError, match=bad.match):
        ClassStats.from_rows(X0, bad.make(), classes=[0, 1])


def test_the_tables_are_long_enough():
    assert len(LABELS) + len(STRANGERS) >= 80
