"""Bad rows given to every method that takes rows: an error says so, and nothing else happens.

The words are scikit-learn's where it refuses the same input; where ours are others on purpose, the
table says why. After each refusal the model, the statistics and the input are what they were, bit
for bit.
"""

from __future__ import annotations

import array
import datetime
import pickle
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
    STATS_ROWS,
    TOO_LARGE,
    X0,
    Y0,
    Bad,
    assert_refused,
    assert_stats_refuse,
    frame,
    ids,
    put,
    quietly,
    raised,
    same,
    thing,
)
from sklearn.naive_bayes import GaussianNB as Reference

from fastgnb import ClassStats, GaussianNB


def labels_for(X):
    """Good labels, as many as X has rows, where it has rows."""
    shape = getattr(X, "shape", None)
    try:
        n = shape[0] if isinstance(shape, tuple) and shape else len(X)
    except TypeError:
        n = 2
    return np.arange(n) % 2


def polars(column, **keywords):
    return pl.DataFrame({"a": column, "b": [1, 2, 3], "c": [1.0, 2.0, 3.0]}, **keywords)


def arrow(column):
    return pa.table({"a": column, "b": [1, 2, 3], "c": [1.0, 2.0, 3.0]})


def masked(dtype=float):
    mask = np.zeros(X0.shape, bool)
    mask[2, 1] = True
    return np.ma.array(X0.astype(dtype), mask=mask)


NAN = r"Input X contains NaN"
INF = r"Input X contains infinity or a value too large for dtype"
FLAT = "Expected 2D array, got 1D array instead"
LONE = "Expected 2D array, got scalar array instead"
TEXT = "not compatible with arrays of bytes/strings"
DTYPE = "Expected numeric rows, got dtype"
SPARSE = "Sparse data was passed for X, but dense data is required. Use '.toarray"

ARITHMETIC = "scikit-learn fails later, in its arithmetic"
COLUMN = "scikit-learn names no column and no remedy"
DATES = "scikit-learn fails in its arithmetic, or computes with days since 1970"


def rows_bad(name, make, match, why="", stats="", **more):
    return Bad(name, make, match, why, stats, **more)


def nan_stats(row, column):
    return f"contains NaN: the value in row {row}, column {column} is not finite. missing='skip'"


def type_error(name, value, type_name, row=1, column=1):
    return Bad(name, lambda: thing(value, row, column), NO_FLOAT.format(type_name), error=TypeError)


ROWS = [
    Bad("1-d", X0[:, 0].copy, FLAT),
    Bad("0-d array", lambda: np.array(3.0), LONE, stats="2D array, got one ndarray instead"),
    Bad("NumPy number", lambda: np.float64(3), LONE, stats="got one float64 instead. Reshape"),
    Bad("a float", lambda: 3.0, LONE, stats="got one float instead"),
    Bad("an int", lambda: 3, LONE, stats="got one int instead"),
    Bad("3-d", lambda: X0[:, :, None], "Found array with dim 3", stats="got 3D array instead"),
    Bad("4-d", lambda: X0[:, :, None, None], "Found array with dim 4", stats="got 4D array"),
    Bad("empty list", lambda: [], FLAT),
    Bad("list of an empty list", lambda: [[]], r"0 feature\(s\) \(shape=\(1, 0\)\) while a min"),
    Bad("no features", lambda: np.zeros((6, 0)), r"Found array with 0 feature\(s\)"),
    Bad("no rows", lambda: np.zeros((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\)",
        methods=tuple(ROWS_OF)),
    Bad("no rows, float32", lambda: np.zeros((0, 3), np.float32), r"0 sample\(s\)",
        methods=tuple(ROWS_OF)),
    Bad("nothing at all", lambda: np.zeros((0, 0)), r"0 sample\(s\)", stats=r"0 feature\(s\)"),
    Bad("ragged lists", lambda: [[1.0, 2, 3], [4.0, 5]], "inhomogeneous shape after 1 dim"),
    Bad("a row of None", lambda: [[1.0, 2, 3], None], "inhomogeneous shape after 1 dim"),
    Bad("ragged objects", lambda: np.array([[1.0, 2, 3], [4.0, 5]], object),
        "setting an array element with a sequence", stats=FLAT),
    Bad("one feature more", lambda: np.ones((6, 4)), "X has 4 features, but GaussianNB is expec",
        methods=SCORING),
    Bad("one feature less", lambda: np.ones((6, 2)), "X has 2 features, but GaussianNB is expec",
        methods=SCORING),
    Bad("one feature more, a list", lambda: [[1, 2, 3, 4]], "X has 4 features", methods=SCORING),
    Bad("other number of features for statistics", lambda: np.ones((6, 4)), "",
        stats="Statistics of 3 features cannot be combined with 4", methods=("update",)),
    # numbers that are none
    Bad("complex", lambda: X0 * 1j, "Complex data not supported"),
    Bad("complex without imaginary part", lambda: X0.astype(np.complex64), "Complex data not supp"),
    Bad("complex in lists", lambda: [[1j, 2, 3], [4, 5, 6]], "Complex data not supported"),
    type_error("complex object", 1j, "complex", 0, 0),
    Bad("nan in float16", lambda: put(np.nan, 0, 0, np.float16), NAN, stats=nan_stats(0, 0)),
    Bad("nan in long double", lambda: put(np.nan, 5, 2, np.longdouble), NAN, stats=nan_stats(5, 2)),
    Bad("nan object", lambda: thing(np.nan), NAN, stats=nan_stats(1, 1)),
    Bad("None object", lambda: thing(None), NAN, stats=nan_stats(1, 1)),
    Bad("None in lists", lambda: [[1.0, None, 3], [2, 3, 4]], NAN, ARITHMETIC, nan_stats(0, 1)),
    Bad("inf object", lambda: thing(np.inf, 5, 2), INF, stats="infinity: the value in row 5"),
    Bad("a float beyond float64 in lists", lambda: [[1e309, 1, 2], [1, 2, 3]], INF,
        stats="contains infinity: the value in row 0, column 0"),
    Bad("int beyond float64, an object", lambda: thing(HUGE), INF, TOO_LARGE, INF),
    Bad("int beyond float64, in lists", lambda: [[HUGE, 1, 2], [1, 2, 3]], INF, TOO_LARGE, INF),
    Bad("negative int beyond float64", lambda: thing(-HUGE), INF, TOO_LARGE, INF),
    Bad("fraction beyond float64", lambda: thing(Fraction(HUGE)), INF, TOO_LARGE, INF),
    Bad("decimal beyond float64", lambda: thing(Decimal("1e400")), INF, stats="row 1, column 1"),
    Bad("decimal nan", lambda: thing(Decimal("NaN")), NAN, stats=nan_stats(1, 1)),
    Bad("decimal nan in lists", lambda: [[Decimal("NaN"), 1, 2], [1, 2, 3]], NAN, ARITHMETIC,
        nan_stats(0, 0)),
    Bad("decimal infinity", lambda: thing(Decimal("-Infinity")), INF, stats="contains infinity"),
    Bad("decimal signalling nan", lambda: thing(Decimal("sNaN")), "signaling NaN to float"),
    Bad("values that overflow a variance", lambda: put(-1e200, 0, 0),
        "Feature 0 spans values so far apart that its variance overflows float64. Scale it down",
        "scikit-learn's variance is infinite", methods=(*LEARNING, "stats")),
    # text
    Bad("text", lambda: X0.astype(str), TEXT, stats=rf"{DTYPE} <U32. Convert your data"),
    Bad("words in lists", lambda: [["a", "b", "c"], ["d", "e", "f"]], TEXT, stats=f"{DTYPE} <U1"),
    Bad("numbers as text in lists", lambda: [["1", "2", "3"], ["4", "5", "6"]], TEXT, stats=DTYPE),
    Bad("one word in lists", lambda: [["a", 1, 2], ["b", 2, 3]], TEXT, stats=DTYPE),
    Bad("True and False as text", lambda: (X0 > 3).astype(str), TEXT, stats=f"{DTYPE} <U5"),
    Bad("text of length 0", lambda: np.zeros((6, 3), "U0"), TEXT, stats=DTYPE),
    Bad("bytes", lambda: X0.astype("S"), TEXT, stats=rf"{DTYPE} \|S"),
    Bad("words as bytes", lambda: np.full((6, 3), b"a"), TEXT, stats=rf"{DTYPE} \|S1"),
    Bad("word object", lambda: thing("x"), "could not convert string to float: 'x'",
        stats="Expected numeric rows, got text: 'x'. Convert your data"),
    Bad("number as text, an object", lambda: thing("1.5"), "",
        stats="Expected numeric rows, got text: '1.5'", methods=("stats",)),
    Bad("number as bytes, an object", lambda: thing(b"1.5"), "",
        stats="Expected numeric rows, got text: b'1.5'", methods=("stats",)),
    # time
    Bad("dates", lambda: np.zeros((6, 3), "M8[D]"), rf"{DTYPE} datetime64\[D\]", DATES),
    Bad("no dates", lambda: np.full((6, 3), "NaT", "M8[s]"), rf"{DTYPE} datetime64\[s\]", DATES),
    Bad("time spans", lambda: np.zeros((6, 3), "m8[s]"), rf"{DTYPE} timedelta64\[s\]", DATES),
    type_error("date object", datetime.date(2020, 1, 1), "datetime.date"),
    type_error("datetime object", datetime.datetime(2020, 1, 1), "datetime.datetime"),
    type_error("timedelta object", datetime.timedelta(1), "datetime.timedelta"),
    type_error("NaT object", pd.NaT, "NaTType"),
    type_error("NA object", pd.NA, "NAType"),
    # records and objects
    Bad("records", lambda: np.zeros(6, [("a", float), ("b", float)]), FLAT),
    Bad("records in two dimensions", lambda: np.zeros((6, 3), [("a", float)]), TEXT, stats=DTYPE),
    Bad("void", lambda: np.zeros((6, 3), "V8"), TEXT, stats=rf"{DTYPE} \|V8"),
    Bad("one record", lambda: np.zeros(1, [("a", float)])[0], LONE, stats="got one void instead"),
    Bad("record array", lambda: np.rec.array(np.zeros(6, [("a", float)])), FLAT),
    type_error("dict object", {}, "dict"),
    type_error("function object", len, "builtin_function_or_method"),
    type_error("some object", object(), "object"),
    # no table at all
    Bad("None", lambda: None, LONE, stats="got one NoneType instead"),
    Bad("generator", lambda: ([1.0, 2, 3] for _ in range(6)), LONE, stats="got one generator"),
    Bad("map", lambda: map(float, [1, 2]), LONE, stats="got one map instead"),
    Bad("set", lambda: {1, 2}, LONE, stats="got one set instead"),
    Bad("frozenset", lambda: frozenset({1}), LONE, stats="got one frozenset instead"),
    Bad("dict", lambda: {"a": [1, 2, 3]}, "or a frame, got a dict. Make a frame of columns", COLUMN,
        "got one dict instead", error=TypeError, stats_error=ValueError),
    Bad("keys of a dict", {"a": 1}.keys, LONE, stats="got one dict_keys instead"),
    Bad("function", lambda: len, LONE, stats="got one builtin_function_or_method instead"),
    Bad("type", lambda: float, LONE, stats="got one type instead"),
    Bad("Ellipsis", lambda: ..., LONE, stats="got one ellipsis instead"),
    Bad("an object", object, LONE, stats="got one object instead"),
    Bad("str", lambda: "abc", LONE, stats="got one str instead"),
    Bad("bytes alone", lambda: b"abc", LONE, stats="got one bytes instead"),
    Bad("bytearray", lambda: bytearray(b"abc"), FLAT),
    Bad("array.array", lambda: array.array("d", [1, 2, 3]), FLAT),
    Bad("range", lambda: range(6), FLAT),
    Bad("memoryview, 1-d", lambda: memoryview(X0[:, 0].copy()), FLAT),
    Bad("list of sets", lambda: [{1, 2, 3}, {4, 5, 6}], FLAT),
    Bad("list of dicts", lambda: [{"a": 1}, {"a": 2}], FLAT),
    Bad("list of generators", lambda: [(i for i in (1, 2, 3)) for _ in range(2)], FLAT),
    # sparse
    *(
        Bad(f"sparse {kind.__name__}", lambda kind=kind: kind(X0), SPARSE, error=TypeError)
        for kind in (
            sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.dia_matrix, sp.lil_matrix,
            sp.dok_matrix, sp.bsr_matrix, sp.csr_array, sp.csc_array, sp.coo_array, sp.dok_array,
        )
    ),
    Bad("sparse without rows", lambda: sp.csr_matrix((0, 3)), SPARSE, error=TypeError),
    Bad("sparse, too large to be dense", lambda: sp.csr_matrix((10**6, 10**6)), SPARSE,
        error=TypeError),
    # masks
    Bad("masked value", masked, NAN, MASK, nan_stats(2, 1)),
    Bad("masked float32", lambda: masked(np.float32), NAN, MASK, nan_stats(2, 1)),
    Bad("masked int", lambda: masked(np.int64), NAN, MASK, nan_stats(2, 1)),
    Bad("masked bool", lambda: masked(bool), NAN, MASK, nan_stats(2, 1)),
    Bad("masked object", lambda: masked(object), NAN, MASK, nan_stats(2, 1)),
    Bad("all masked", lambda: np.ma.array(X0, mask=True), NAN, MASK, nan_stats(0, 0)),
    Bad("masked text", lambda: masked(str), TEXT, stats=DTYPE),
    Bad("nan beside a clean mask", lambda: np.ma.array(put(np.nan, 0, 0), mask=np.zeros((6, 3))),
        NAN, stats=nan_stats(0, 0)),
    Bad("1-d, masked", lambda: np.ma.array(X0[:, 0], mask=X0[:, 0] > 5), FLAT,
        "what is masked is shown as nan"),
    # pandas
    Bad("Series", lambda: pd.Series(X0[:, 0]), "Expected a 2-dimensional container but got",
        stats=FLAT),
    Bad("Index", lambda: pd.Index([1.0, 2.0]), FLAT),
    Bad("frame of words", lambda: frame(b=list("abcdef")), "text: 'a' in feature 'b'. Convert it",
        COLUMN, stats="Expected numeric rows, got text: 'a'"),
    Bad("frame of strings", lambda: frame(b=pd.array(list("abcdef"), "string")),
        "got text: 'a' in feature 'b'. .*MixedNB learns", COLUMN, stats="got text: 'a'"),
    Bad("frame of categories", lambda: frame(b=pd.Categorical(list("abcabc"))),
        "rows, got text: 'a' in feature 'b'. Convert it to numbers or leave", COLUMN,
        "Expected numeric rows, got text: 'a'. Convert your data to numeric"),
    Bad("frame of categories of digits", lambda: frame(b=pd.Categorical(list("123123"))),
        "Expected numeric rows, got text: '1'", ARITHMETIC),
    Bad("frame with dates", lambda: frame(b=pd.date_range("2020", periods=6)),
        r"got datetime64\[.*\] in feature 'b'. Convert it to numbers, such as days", COLUMN,
        NO_FLOAT.format("Timestamp"), stats_error=TypeError),
    Bad("frame of dates",
        lambda: pd.DataFrame({c: pd.date_range("2020", periods=6) for c in "abc"}),
        r"got datetime64\[.*\] in feature 'a'", DATES, rf"{DTYPE} datetime64"),
    Bad("frame with dates of a zone", lambda: frame(b=pd.date_range("2020", periods=6, tz="UTC")),
        r"got datetime64.* in feature 'b'", ARITHMETIC, NO_FLOAT.format("Timestamp"),
        stats_error=TypeError),
    Bad("frame with time spans", lambda: frame(b=pd.to_timedelta(range(6), "D")),
        r"got timedelta64\[.*\] in feature 'b'", COLUMN, NO_FLOAT.format("Timedelta"),
        stats_error=TypeError),
    Bad("frame with periods", lambda: frame(b=pd.period_range("2020", periods=6)),
        "Feature 'b' holds no numbers: .*Convert it to numbers", ARITHMETIC,
        NO_FLOAT.format("Period"), stats_error=TypeError),
    Bad("frame with intervals", lambda: frame(b=pd.interval_range(0, 6)),
        "Feature 'b' holds no numbers: .*Convert it to numbers", ARITHMETIC,
        NO_FLOAT.format("pandas._libs.interval.Interval"), stats_error=TypeError),
    Bad("frame of complex", lambda: frame(b=[1j] * 6),
        "Feature 'b' holds no numbers: Complex data not supported", COLUMN, "Complex data not"),
    Bad("frame with nan", lambda: frame(b=[1, np.nan, 3, 4, 5, 6]), NAN, stats=nan_stats(1, 1)),
    Bad("frame with inf", lambda: frame(b=[1, -np.inf, 3, 4, 5, 6]), INF, stats="row 1, column 1"),
    Bad("frame with None", lambda: frame(b=pd.Series([1, None, 3, 4, 5, 6], dtype=object)), NAN,
        stats=nan_stats(1, 1)),
    Bad("frame with NA objects", lambda: frame(b=pd.Series([1, pd.NA, 3, 4, 5, 6], dtype=object)),
        NO_FLOAT.format("NAType"), stats=nan_stats(1, 1), error=TypeError),
    *(
        Bad(f"frame with missing {dtype}",
            lambda dtype=dtype: frame(b=pd.array([1, None, 1, 0, 0, 1], dtype=dtype)), NAN,
            stats=nan_stats(1, 1))
        for dtype in ("Int8", "UInt64", "Float32", "Float64", "boolean", "int64[pyarrow]")
    ),
    Bad("sparse frame with nan",
        lambda: frame(b=pd.arrays.SparseArray([1, np.nan, 3, 4, 5, 6])), NAN,
        stats=nan_stats(1, 1)),
    Bad("frame without rows", lambda: pd.DataFrame({"a": [], "b": [], "c": []}), r"0 sample\(s\)",
        methods=tuple(ROWS_OF)),
    Bad("frame without columns", lambda: pd.DataFrame(index=range(6)),
        r"at least one array or dtype is required|0 feature\(s\)", stats=r"0 feature\(s\)"),
    Bad("column names of text and numbers", lambda: pd.DataFrame(X0, columns=["a", 1, "b"]),
        "only supported if all input features have string names", error=TypeError,
        methods=tuple(ROWS_OF)),
    Bad("a column name twice", lambda: pd.DataFrame(X0, columns=["a", "a", "b"]), "",
        stats="Expected distinct feature names, got more than one 'a'", methods=("stats",)),
    # polars and pyarrow
    Bad("polars null", lambda: polars([1.0, None, 3.0]), NAN, stats=nan_stats(1, 0)),
    Bad("polars null of integers", lambda: polars([1, None, 3]), NAN, stats=nan_stats(1, 0)),
    Bad("polars null of booleans", lambda: polars([True, None, False]), NAN, ARITHMETIC,
        nan_stats(1, 0)),
    Bad("polars text", lambda: polars(["x", "y", "z"]), "rows, got text: 'x'", ARITHMETIC),
    Bad("polars numbers as text", lambda: polars(["1", "2", "3"]), "got String in feature 'a'",
        ARITHMETIC, "got text: '1'"),
    Bad("polars categories",
        lambda: polars(["x", "y", "z"], schema_overrides={"a": pl.Categorical}),
        "got text: 'x'", ARITHMETIC),
    Bad("polars date among numbers", lambda: polars([datetime.date(2020, 1, i) for i in (1, 2, 3)]),
        "Expected numeric rows, got Date in feature 'a'. Convert it to numbers, such as", DATES,
        "Expected numeric rows, got column 'a' of Date. Convert"),
    Bad("polars duration", lambda: polars([datetime.timedelta(i) for i in (1, 2, 3)]),
        "Expected numeric rows, got Duration.* in feature 'a'", DATES,
        "Expected numeric rows, got column 'a' of Duration"),
    Bad("polars dates", lambda: pl.DataFrame({c: [datetime.date(2020, 1, 1)] * 3 for c in "abc"}),
        "Expected numeric rows, got Date in feature 'a'", DATES,
        "Expected numeric rows, got column 'a' of Date"),
    Bad("polars lists", lambda: polars([[1], [2], [3]]), "setting an array element with a sequence",
        ARITHMETIC),
    Bad("polars plan", lambda: pl.LazyFrame({"a": [1.0]}), "a polars LazyFrame. Call .collect()",
        COLUMN, "got one LazyFrame", error=TypeError, stats_error=ValueError),
    Bad("polars Series", lambda: pl.Series(X0[:, 0]), FLAT),
    Bad("arrow null", lambda: arrow([1.0, None, 3.0]), NAN, stats=nan_stats(1, 0)),
    Bad("arrow null of integers", lambda: arrow([1, None, 3]), NAN, stats=nan_stats(1, 0)),
    Bad("arrow null of booleans", lambda: arrow([True, None, False]), NAN, ARITHMETIC,
        nan_stats(1, 0)),
    Bad("arrow text", lambda: arrow(["x", "y", "z"]), "rows, got text: 'x'", ARITHMETIC),
    Bad("arrow dictionary", lambda: arrow(pa.array(["x", "y", "z"]).dictionary_encode()),
        "rows, got text: 'x'", ARITHMETIC),
    Bad("arrow dates", lambda: arrow(pa.array([1, 2, 3], pa.date32())),
        "got date32.* in feature", COLUMN, "could not be promoted by", stats_error=TypeError),
    Bad("arrow times", lambda: pa.table({c: pa.array([1, 2], pa.timestamp("s")) for c in "abc"}),
        "got timestamp.* in feature 'a'", DATES, rf"{DTYPE} datetime64"),
    Bad("arrow array", lambda: pa.array(X0[:, 0]), FLAT),
]  # fmt: skip


@pytest.mark.promise("errors")
@pytest.mark.parametrize("bad", ROWS, ids=ids(ROWS))
def test_bad_rows(bad):
    def args():
        X = bad.make()
        return X, labels_for(X)

    methods = {name: method for name, method in ROWS_OF.items() if bad.match}
    assert_refused(bad, methods, args)
    if not bad.methods or {"stats", "update"} & set(bad.methods):
        assert_stats_refuse(bad, STATS_ROWS, args)


LAYOUTS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "float64 by columns": np.asfortranarray,
    "float32 by columns": lambda X: np.asfortranarray(X.astype(np.float32)),
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "other byte order": lambda X: X.astype(">f8"),
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "frame": lambda X: pd.DataFrame(X, columns=list("abcde")),
    "objects": lambda X: X.astype(object),
}


@pytest.mark.parametrize("n", [1, 2, 7, 400, LARGE])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.compiled
def test_one_bad_value_is_found_wherever_it_stands(crowd, layout, n):
    """First, middle and last row and feature; the statistics name the place."""
    X, y = crowd[n]
    if n == LARGE and layout in ("frame", "objects"):
        X, y = X[:20_000], y[:20_000]
    good = LAYOUTS[layout](X)
    model = GaussianNB().fit(good, y)
    stats = ClassStats.from_rows(good, y)
    before = pickle.dumps(model), pickle.dumps(stats)
    theirs = Reference().fit(good, y)
    last = len(X) - 1
    places = [(0, 0), (last // 2, 2), (last, 4)]
    for (row, column), value in zip(places, [np.nan, np.inf, -np.inf], strict=True):
        rows = X.copy()
        rows[row, column] = value
        rows = LAYOUTS[layout](rows)
        want = quietly(lambda: theirs.predict(rows))  # noqa: B023
        methods = [lambda name=name: ROWS_OF[name](model, rows, y) for name in ROWS_OF]  # noqa: B023
        for call in (*methods, lambda: GaussianNB().fit(rows, y)):  # noqa: B023
            got = raised(call)
            assert got is not None, (row, column, value)
            assert same(got, want), (got, want)
        what = "NaN" if np.isnan(value) else "infinity"
        for learn in (ClassStats.from_rows, stats.update):
            with pytest.raises(
                ValueError, match=f"contains {what}: the value in row {row}, column {column} is not"
            ):
                learn(rows, y)
    assert (pickle.dumps(model), pickle.dumps(stats)) == before


@pytest.mark.parametrize("n", [1, 7, 400, LARGE])
@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name not in ("frame", "objects")])
@pytest.mark.compiled
def test_infinity_is_not_a_missing_value(crowd, layout, n):
    X, y = crowd[n]
    model = GaussianNB(missing="skip").fit(X, y)
    before = pickle.dumps(model)
    last = len(X) - 1
    for (row, column), value in zip([(0, 0), (last // 2, 2), (last, 4)], [1, -1, 1], strict=True):
        rows = X.copy()
        rows[:, 1] = np.nan
        rows[row, column] = value * np.inf
        rows = LAYOUTS[layout](rows)
        for name, method in ROWS_OF.items():
            got = raised(lambda: method(model, rows, y))  # noqa: B023
            assert isinstance(got, ValueError), name
            assert re.search("Input X contains infinity", str(got)), (name, got)
        with pytest.raises(ValueError, match=f"infinity: the value in row {row}, column {column}"):
            ClassStats.from_rows(rows, y, missing="skip")
    assert pickle.dumps(model) == before


def test_a_virtual_table_of_a_billion_rows_is_not_copied():
    """Lengths are compared before anything is made of the rows."""
    for one in (X0[:1], X0[:1].astype(np.float32), X0[:1].astype(np.int8)):
        rows = np.broadcast_to(one, (10**9, 3))
        assert not rows.flags.writeable
        for learn in (GaussianNB().fit, ClassStats.from_rows):
            with pytest.raises(ValueError, match=r"numbers of samples: \[1000000000, 6\]"):
                learn(rows, Y0)


NO_LABEL = "Unknown label type: {}. Labels are whole numbers or text"


def test_the_table_is_long_enough():
    assert len(ROWS) >= 100
