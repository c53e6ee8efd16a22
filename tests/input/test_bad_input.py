"""Bad input through every door that takes it: an error that says so, and nothing else happens.

The words are scikit-learn's where it refuses the same input; where ours are others on purpose, the
table says why. After each refusal the model, the statistics and the input are what they were, bit
for bit. Then input that looks odd and is good, with the right result.
"""

from __future__ import annotations

import array
import datetime
import enum
import pickle
import re
import warnings
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB as Reference
from sklearn.naive_bayes import MultinomialNB
from sklearn.utils.fixes import parse_version

import fastgnb
from fastgnb import ClassStats, GaussianNB
from fastgnb.estimate.parameters import GaussianParams
from fastgnb.model.model import Model

X0 = np.array([[0.0, 1, 2], [3, 5, 4], [6, 7, 9], [2, 8, 1], [4, 4, 0], [9, 3, 5]])
Y0 = np.array([0, 1, 0, 1, 0, 1])
HUGE = 10**400
# Words are compared with those of releases from here on: before, it has fewer, and worse.
IS_NEW = parse_version(sklearn.__version__) >= parse_version("1.9")


class Bad(NamedTuple):
    """One bad input: how to make it, what our estimator and our statistics say of it, and why
    the estimator's words are not scikit-learn's, where they are not.
    """

    name: str
    make: Callable[[], Any]
    match: str
    why: str = ""
    stats: str = ""
    error: type[Exception] = ValueError
    stats_error: type[Exception] = ValueError
    doors: tuple[str, ...] = ()
    """The doors through which it is bad; empty: all."""


def ids(table):
    names = [bad.name for bad in table]
    assert len(set(names)) == len(names)
    return names


# --- doors ---------------------------------------------------------------------------------------


def fitted(cls):
    return cls().fit(X0, Y0)


def evidence(model, X):
    """`predict_log_evidence` is ours only: scikit-learn's nearest are the joint likelihoods."""
    return getattr(model, "predict_log_evidence", model.predict_joint_log_proba)(X)


def labels_for(X):
    """Good labels, as many as X has rows, where it has rows."""
    shape = getattr(X, "shape", None)
    try:
        n = shape[0] if isinstance(shape, tuple) and shape else len(X)
    except TypeError:
        n = 2
    return np.arange(n) % 2


ROWS_OF = {
    "fit": lambda m, X, y: m.fit(X, y),
    "partial_fit": lambda m, X, y: m.partial_fit(X, y, None if hasattr(m, "theta_") else [0, 1]),
    "predict": lambda m, X, y: m.predict(X),
    "predict_proba": lambda m, X, y: m.predict_proba(X),
    "predict_log_proba": lambda m, X, y: m.predict_log_proba(X),
    "predict_joint_log_proba": lambda m, X, y: m.predict_joint_log_proba(X),
    "predict_log_evidence": lambda m, X, y: evidence(m, X),
    "score": lambda m, X, y: m.score(X, y),
}
LABELS_OF = {name: ROWS_OF[name] for name in ("fit", "partial_fit")}
WEIGHTS_OF = {
    "fit": lambda m, w: m.fit(X0, Y0, w),
    "partial_fit": lambda m, w: (
        m.partial_fit(X0, Y0, sample_weight=w)
        if hasattr(m, "theta_")
        else m.partial_fit(X0, Y0, [0, 1], w)
    ),
}
LEARNING = ("fit", "partial_fit")
SCORING = tuple(ROWS_OF)[2:]


def quietly(call):
    """What a call raises, or None, with warnings that are scikit-learn's or NumPy's put aside."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            call()
        except Exception as error:
            return error
    return None


def raised(call):
    """What our call raises, or None; every warning of arithmetic is an error already."""
    with warnings.catch_warnings():
        for message in ("X has feature names", "X does not have valid", "pandas.DataFrame with sp"):
            warnings.filterwarnings("ignore", message=message, category=UserWarning)
        if not IS_NEW:  # which asks a plan for its columns
            warnings.filterwarnings("ignore", message="Determining the .* of a LazyFrame")
        try:
            call()
        except Exception as error:
            return error
    return None


def words(error):
    """An error's text without addresses in memory, which differ from object to object."""
    return re.sub(r"0x[0-9a-f]+", "0x", str(error))


def same(ours, theirs):
    if not IS_NEW:
        return ours is not None
    if words(theirs).startswith("Input X contains NaN.\n"):  # it recommends other estimators
        is_ours = "missing='skip'" in words(ours) and "HistGradient" not in words(ours)
        return type(ours) is ValueError and is_ours and words(ours).startswith(words(theirs)[:21])
    return issubclass(type(ours), type(theirs)) and words(ours) == words(theirs)


def snapshot(value):
    """A value as something to compare with later."""
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        mask = getattr(value, "mask", None)
        return value.tobytes(), value.shape, value.dtype, None if mask is None else bytes(mask)
    return words(repr(value))


def assert_refused(bad, doors, make_args, *, first=True):
    """The bad input through every door, of a fresh model and of a fitted one."""
    differences = []
    for name, door in doors.items():
        if bad.doors and name not in bad.doors:
            continue
        for is_fresh in (True, False) if name in LEARNING and first else (False,):
            ours, theirs = (cls() if is_fresh else fitted(cls) for cls in (GaussianNB, Reference))
            args = make_args()
            before = pickle.dumps(ours), [snapshot(each) for each in args]
            got = raised(lambda: door(ours, *args))  # noqa: B023
            where = f"{bad.name}: {name} of a {'fresh' if is_fresh else 'fitted'} model"
            assert got is not None, f"{where} accepts it"
            assert isinstance(got, bad.error), f"{where}: {got!r}"
            assert re.search(bad.match, str(got)), f"{where}: {got!r}"
            assert (pickle.dumps(ours), [snapshot(each) for each in args]) == before, where
            want = quietly(lambda: door(theirs, *make_args()))  # noqa: B023
            if not same(got, want):
                differences.append(f"{where}: {got!r}, but scikit-learn's {want!r}")
    if not bad.why:
        assert not differences, "\n".join(differences)


def assert_stats_refuse(bad, calls, make_args):
    """The same through `ClassStats.from_rows` and `update`."""
    for name, call in calls.items():
        if bad.doors and "stats" not in bad.doors and name not in bad.doors:
            continue
        stats = ClassStats.from_rows(X0, Y0)
        args = make_args()
        before = pickle.dumps(stats), [snapshot(each) for each in args]
        got = raised(lambda: call(stats, *args))  # noqa: B023
        where = f"{bad.name}: {name}"
        assert got is not None, f"{where} accepts it"
        assert isinstance(got, bad.stats_error if bad.stats else bad.error), f"{where}: {got!r}"
        assert re.search(bad.stats or bad.match, str(got)), f"{where}: {got!r}"
        assert (pickle.dumps(stats), [snapshot(each) for each in args]) == before, where


STATS_ROWS = {
    "from_rows": lambda stats, X, y: ClassStats.from_rows(X, y),
    "update": lambda stats, X, y: stats.update(X, y),
}
STATS_WEIGHTS = {
    "from_rows": lambda stats, w: ClassStats.from_rows(X0, Y0, w),
    "update": lambda stats, w: stats.update(X0, Y0, w),
}


# --- rows ----------------------------------------------------------------------------------------


def put(value, row, column, dtype=float, order="C"):
    X = np.array(X0, dtype=dtype, order=order)
    X[row, column] = value
    return X


def thing(value, row=1, column=1):
    return put(value, row, column, object)


def frame(**columns):
    return pd.DataFrame({"a": X0[:, 0], "b": X0[:, 1], "c": X0[:, 2]} | columns)


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
NO_FLOAT = r"float\(\) argument must be a string or a real number, not '{}'"

ARITHMETIC = "scikit-learn fails later, in its arithmetic"
TOO_LARGE = "OverflowError does not say which input is too large"
COLUMN = "scikit-learn names no column and no remedy"
MASK = "scikit-learn takes what is under the mask for data"
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
        doors=tuple(ROWS_OF)),
    Bad("no rows, float32", lambda: np.zeros((0, 3), np.float32), r"0 sample\(s\)",
        doors=tuple(ROWS_OF)),
    Bad("nothing at all", lambda: np.zeros((0, 0)), r"0 sample\(s\)", stats=r"0 feature\(s\)"),
    Bad("ragged lists", lambda: [[1.0, 2, 3], [4.0, 5]], "inhomogeneous shape after 1 dim"),
    Bad("a row of None", lambda: [[1.0, 2, 3], None], "inhomogeneous shape after 1 dim"),
    Bad("ragged objects", lambda: np.array([[1.0, 2, 3], [4.0, 5]], object),
        "setting an array element with a sequence", stats=FLAT),
    Bad("one feature more", lambda: np.ones((6, 4)), "X has 4 features, but GaussianNB is expec",
        doors=SCORING),
    Bad("one feature less", lambda: np.ones((6, 2)), "X has 2 features, but GaussianNB is expec",
        doors=SCORING),
    Bad("one feature more, a list", lambda: [[1, 2, 3, 4]], "X has 4 features", doors=SCORING),
    Bad("other number of features for statistics", lambda: np.ones((6, 4)), "",
        stats="Statistics of 3 features cannot be combined with 4", doors=("update",)),
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
        "scikit-learn's variance is infinite", doors=(*LEARNING, "stats")),
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
        stats="Expected numeric rows, got text: '1.5'", doors=("stats",)),
    Bad("number as bytes, an object", lambda: thing(b"1.5"), "",
        stats="Expected numeric rows, got text: b'1.5'", doors=("stats",)),
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
        doors=tuple(ROWS_OF)),
    Bad("frame without columns", lambda: pd.DataFrame(index=range(6)),
        r"at least one array or dtype is required|0 feature\(s\)", stats=r"0 feature\(s\)"),
    Bad("column names of text and numbers", lambda: pd.DataFrame(X0, columns=["a", 1, "b"]),
        "only supported if all input features have string names", error=TypeError,
        doors=tuple(ROWS_OF)),
    Bad("a column name twice", lambda: pd.DataFrame(X0, columns=["a", "a", "b"]), "",
        stats="Expected distinct feature names, got more than one 'a'", doors=("stats",)),
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

    doors = {name: door for name, door in ROWS_OF.items() if bad.match}
    assert_refused(bad, doors, args)
    if not bad.doors or {"stats", "update"} & set(bad.doors):
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
LARGE = 60_011  # rows of five features are more than one thread's work


@pytest.fixture(scope="module")
def crowd():
    draw = np.random.default_rng(5)
    return {n: (draw.normal(size=(n, 5)), np.arange(n) % 3) for n in (1, 2, 7, 400, LARGE)}


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
        doors = [lambda name=name: ROWS_OF[name](model, rows, y) for name in ROWS_OF]  # noqa: B023
        for call in (*doors, lambda: GaussianNB().fit(rows, y)):  # noqa: B023
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
        for name, door in ROWS_OF.items():
            got = raised(lambda: door(model, rows, y))  # noqa: B023
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


# --- labels --------------------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


MISSING_LABEL = "scikit-learn fails when it sorts them, or says no more than 'Input contains NaN'"
KIND = "scikit-learn shows the labels or fails when it sorts them; ours says what they should be"
AS_TEXT = "NumPy makes text of them, and scikit-learn takes it"
TEXT_OR_NUMBERS = r"Labels must be uniformly text or numbers, got \['int', 'str'\]"
CONTINUOUS = "Unknown label type: continuous. Maybe you are trying to fit a classifier"
ONE_D = r"y should be a 1d array, got an array of shape \({}\) instead"
NO_LABEL = "Unknown label type: {}. Labels are whole numbers or text"


def items(*values):
    out = np.empty(len(values), object)
    out[:] = values
    return out


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
    doors = {"partial_fit": LABELS_OF["partial_fit"]}
    assert_refused(bad, doors, lambda: (X0.copy(), bad.make()))
    with pytest.raises(ValueError, match=bad.match):
        ClassStats.from_rows(X0, bad.make(), classes=[0, 1])


# --- weights -------------------------------------------------------------------------------------

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
        doors=LEARNING),
    Bad("zero scalar", lambda: 0, "must contain at least one non-zero number", doors=LEARNING),
    Bad("all -0.0", lambda: -np.zeros(6), "at least one non-zero number", doors=LEARNING),
    Bad("all False", lambda: np.zeros(6, bool), "at least one non-zero number", doors=LEARNING),
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
    if not bad.doors:
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


# --- parameters ----------------------------------------------------------------------------------


def declared(**parameters):
    """Fit, partial_fit, fit_stats and merge of a model with these parameters, fresh or fitted."""
    stats, other = ClassStats.from_rows(X0, Y0), fitted(GaussianNB)
    return {
        "fit": lambda m: m.set_params(**parameters).fit(X0, Y0),
        "partial_fit": lambda m: m.set_params(**parameters).partial_fit(X0, Y0, [0, 1]),
        "fit_stats": lambda m: m.set_params(**parameters).fit_stats(stats),
        "merge": lambda m: m.set_params(**parameters).merge(other),
    }


def attributes(model):
    """What a model has learned, as bytes."""
    return pickle.dumps({k: v for k, v in vars(model).items() if k.endswith("_")})


def assert_parameter_refused(bad, parameter):
    for name, door in declared(**{parameter: bad.make()}).items():
        for is_fresh in (True, False) if name != "merge" else (False,):
            model = GaussianNB() if is_fresh else fitted(GaussianNB)
            before = attributes(model)
            got = raised(lambda: door(model))  # noqa: B023
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
    for name, door in declared(missing=value).items():
        model = fitted(GaussianNB)
        before = attributes(model)
        with pytest.raises(ValueError, match="The 'missing' parameter of GaussianNB must be a str"):
            door(model)
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


# --- classes -------------------------------------------------------------------------------------

NAMED = "scikit-learn does not say which input it means, or fails when it sorts them"
CLASSES_ARE = "classes should be a 1d array, got "
CLASSES_1D = r"classes should be a 1d array, got an array of shape \({}\) instead"

CLASSES = [
    Bad("none at all", lambda: [], "", doors=("strangers",)),
    Bad("one missing", lambda: [0], "", doors=("strangers",)),
    Bad("others", lambda: [5, 6], "", doors=("strangers",)),
    Bad("of text", lambda: ["0", "1"], "", doors=("strangers",)),
    Bad("2-d", lambda: [[0, 1]], CLASSES_1D.format("1, 2"), NAMED),
    Bad("column", lambda: [[0], [1]], CLASSES_1D.format("2, 1"), NAMED),
    Bad("number of classes", lambda: 2, CLASSES_ARE + "2 instead. Pass a list", NAMED),
    Bad("False", lambda: False, CLASSES_ARE + "False instead", NAMED),
    Bad("str", lambda: "ab", CLASSES_ARE + "the text 'ab' instead. Pass a list of all", NAMED),
    Bad("set", lambda: {0, 1}, CLASSES_ARE + "a set instead. Pass a list, which list", NAMED),
    Bad("dict", lambda: {0: 0, 1: 1}, CLASSES_ARE + "a dict instead. Pass a list", NAMED),
    Bad("generator", lambda: (i for i in (0, 1)), CLASSES_ARE + "a generator", NAMED),
    Bad("function", lambda: len, CLASSES_ARE + "a builtin", NAMED),
    Bad("nan", lambda: [0, 1, np.nan], "Input classes contains NaN", NAMED),
    Bad("inf", lambda: [0, 1, np.inf], "Input classes contains infinity", NAMED),
    Bad("None", lambda: [0, 1, None], "Input classes contains NaN or None", NAMED),
    Bad("missing", lambda: pd.array([0, 1, None], "Int64"), "Input classes contains NaN", NAMED),
    Bad("polars null", lambda: pl.Series([0, 1, None]), "Input classes contains NaN", NAMED),
    Bad("continuous", lambda: [0, 1, 0.5], "Unknown label type: continuous", NAMED),
    Bad("text and numbers", lambda: [0, 1, "a"], TEXT_OR_NUMBERS, NAMED, error=TypeError),
    Bad("bytes", lambda: [b"a", b"b"], "represented as bytes is not supported", error=TypeError),
    Bad("dates", lambda: np.array([0, 1], "M8[D]"), "Unknown label type: datetime64", NAMED),
    Bad("complex", lambda: [0j, 1], "Complex data not supported"),
    Bad("ragged", lambda: [[0], [1, 2]], "inhomogeneous shape", NAMED),
    Bad("beyond 64 bits", lambda: [0, 1, HUGE], "cannot be held exactly", NAMED),
    Bad("decimals", lambda: [Decimal(0), Decimal(1)], "Unknown label type: Decimal", NAMED),
    Bad("dicts", lambda: [{}, {}], r"Unknown label type: one of \['dict'\]", NAMED),
    Bad("records", lambda: np.zeros(2, [("a", int)]), "Unknown label type", NAMED),
    Bad("masked", lambda: np.ma.array([0, 1, 2], mask=[0, 0, 1]),
        "Input classes contains masked values, the first at 2", NAMED),
    Bad("sparse", lambda: sp.csr_matrix([[0, 1]]), "Sparse data was passed for classes", NAMED,
        error=TypeError),
]  # fmt: skip


@pytest.mark.promise("errors")
@pytest.mark.parametrize("bad", CLASSES, ids=ids(CLASSES))
def test_bad_classes(bad):
    strange = r"The target label\(s\) .* in y do not exist in the initial classes"
    other = r"`classes=.*` is not the same as on last call to partial_fit, was: array\(\[0, 1\]\)"
    for is_fresh in (True, False):
        ours, theirs = (cls() if is_fresh else fitted(cls) for cls in (GaussianNB, Reference))
        before = pickle.dumps(ours)
        got = raised(lambda: ours.partial_fit(X0, Y0, bad.make()))  # noqa: B023
        want = quietly(lambda: theirs.partial_fit(X0, Y0, bad.make()))  # noqa: B023
        match = bad.match or (strange if is_fresh else other)
        assert isinstance(got, bad.error), got
        assert re.search(match, str(got), re.DOTALL), got
        assert bad.why or same(got, want), (got, want)
        assert pickle.dumps(ours) == before
    with pytest.raises(bad.error, match=bad.match or strange):
        ClassStats.from_rows(X0, Y0, classes=bad.make())


@pytest.mark.parametrize("later", [[0], [0, 1, 2], [1, 2], ["0", "1"], [], [0.0, 2.0]], ids=repr)
def test_classes_that_change_between_calls(later):
    text = "is not the same as on last call to partial_fit, was"
    for cls in (GaussianNB, Reference):
        model = cls().partial_fit(X0, Y0, [1, 0])
        before = pickle.dumps(model)
        with pytest.raises(ValueError, match=text):
            model.partial_fit(X0, Y0, later)
        assert pickle.dumps(model) == before


def test_the_first_partial_fit_needs_classes():
    model = GaussianNB()
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        model.partial_fit(X0, Y0)
    assert vars(model) == vars(GaussianNB())


# --- names of features ---------------------------------------------------------------------------

COLUMNS = {
    "other order": ["b", "a", "c"],
    "one renamed": ["a", "z", "c"],
    "one missing": ["a", "b"],
    "one extra": ["a", "b", "c", "d"],
    "missing and extra": ["a", "b", "d"],
    "only the case": ["A", "b", "c"],
    "text and numbers": ["a", 1, "c"],
}
CONTAINERS = {
    "pandas": lambda names: pd.DataFrame(dict.fromkeys(names, X0[:, 0])),
    "polars": lambda names: pl.DataFrame({str(name): X0[:, 0] for name in names}),
    "arrow": lambda names: pa.table({str(name): X0[:, 0] for name in names}),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("columns", COLUMNS)
def test_columns_that_are_not_those_of_fit(columns, container):
    make = CONTAINERS[container]
    ours, theirs = (cls().fit(make("abc"), Y0) for cls in (GaussianNB, Reference))
    before = pickle.dumps(ours)
    X = make(COLUMNS[columns])
    for name, door in ROWS_OF.items():
        if name == "fit":
            continue
        want = quietly(lambda: door(theirs, X, Y0))  # noqa: B023
        got = raised(lambda: door(ours, X, Y0))  # noqa: B023
        assert got is not None, name
        assert same(got, want), (name, got, want)
        assert re.search("[Ff]eature names", str(got)), got
    assert pickle.dumps(ours) == before
    stats = ClassStats.from_rows(make("abc"), Y0)
    if "text and numbers" not in (columns, container):
        with pytest.raises(ValueError, match=r"Statistics of (different|3) features cannot be"):
            stats.update(X, Y0)
        other = GaussianNB().fit(X, Y0)
        if columns == "other order":  # merged by name: here the columns are equal
            assert pickle.loads(before).merge(other).theta_.tolist() == ours.theta_.tolist()
        else:
            with pytest.raises(ValueError, match="cannot be combined"):
                ours.merge(other)
    assert pickle.dumps(ours) == before


@pytest.mark.parametrize(
    ("names", "error", "text"),
    [
        (["a", "b"], ValueError, "Expected 3 feature names, one a column, got 2"),
        (["a", "b", "a"], ValueError, "Expected distinct feature names, got more than one 'a'"),
        (["a", "b", 1], TypeError, r"Expected feature names, each of them text, got \['a', 'b', 1"),
        ("abc", TypeError, "Expected feature names, each of them text, got 'abc'"),
        ([None] * 3, TypeError, "each of them text"),
        ([], ValueError, "Expected 3 feature names, one a column, got 0"),
    ],
)
def test_bad_feature_names(names, error, text):
    with pytest.raises(error, match=text):
        ClassStats.from_rows(X0, Y0, feature_names=names)


# --- models and other objects --------------------------------------------------------------------

STRANGE = {
    "None": lambda: None,
    "int": lambda: 3,
    "dict": dict,
    "array": lambda: X0,
    "statistics": lambda: ClassStats.from_rows(X0, Y0),
    "unfitted scikit-learn": Reference,
    "scikit-learn": lambda: fitted(Reference),
    "other estimator": lambda: DummyClassifier().fit(X0, Y0),
    "other naive Bayes": lambda: MultinomialNB().fit(X0, Y0),
    "our class": lambda: GaussianNB,
    "unfitted": GaussianNB,
    "fitted": lambda: fitted(GaussianNB),
}


@pytest.mark.parametrize("name", STRANGE)
def test_objects_of_other_kinds(name, tmp_path):
    made = STRANGE[name]()
    kind = type(made).__name__
    model, stats = fitted(GaussianNB), ClassStats.from_rows(X0, Y0)
    before = pickle.dumps((model, stats))
    path = tmp_path / "model"
    if name != "statistics":
        with pytest.raises(TypeError, match=f"Expected ClassStats, got {kind}"):
            model.fit_stats(made)
        for mix in (lambda: stats + made, lambda: stats - made):
            with pytest.raises(TypeError, match="unsupported operand type"):
                mix()
    if name == "unfitted":
        for use in (model.merge, GaussianNB.from_sklearn, lambda m: fastgnb.save(m, path)):
            with pytest.raises(NotFittedError, match="This GaussianNB instance is not fitted yet"):
                use(made)
    elif name != "fitted":
        for use in (model.merge, lambda m: fastgnb.save(m, path)):
            with pytest.raises(TypeError, match=rf"Expected a .*fastgnb.*, got .*{kind}"):
                use(made)
    if name == "unfitted scikit-learn":
        with pytest.raises(NotFittedError, match="not fitted yet"):
            GaussianNB.from_sklearn(made)
    elif name.startswith("other"):
        text = f"Expected a fitted sklearn.naive_bayes.GaussianNB, got {kind}"
        with pytest.raises(TypeError, match=text):
            GaussianNB.from_sklearn(made)
    elif name not in ("scikit-learn", "fitted", "unfitted"):
        with pytest.raises(TypeError, match=r"is not an estimator instance|is a class, not"):
            GaussianNB.from_sklearn(made)
    with pytest.raises(TypeError, match=r"expected str, bytes or os.PathLike object, not"):
        fastgnb.load(made)
    with pytest.raises(TypeError, match=r"expected str, bytes or os.PathLike object, not"):
        fastgnb.save(model, made)
    assert pickle.dumps((model, stats)) == before
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("door", [*SCORING, "merge", "to_sklearn", "save"])
def test_a_model_that_is_not_fitted(door, tmp_path):
    model = GaussianNB(priors=[0.5, 0.5])
    calls = {
        "merge": lambda: model.merge(fitted(GaussianNB)),
        "to_sklearn": model.to_sklearn,
        "save": lambda: fastgnb.save(model, tmp_path / "model"),
    }
    call = calls.get(door) or (lambda: ROWS_OF[door](model, X0, Y0))
    got = raised(call)
    want = quietly(lambda: Reference().predict(X0))
    assert type(got) is NotFittedError
    assert str(got) == str(want)
    assert vars(model) == vars(clone(model))
    assert not list(tmp_path.iterdir())


def edited(name, change):
    model = fitted(GaussianNB)
    setattr(model, name, change(getattr(model, name)))
    return model


EDITS = {
    "theta_ of nan": ("theta_", lambda v: v * np.nan, "Expected finite means and priors"),
    "one nan in theta_": ("theta_", lambda v: put(np.nan, 1, 1)[:2], "Expected finite means"),
    "theta_ of inf": ("theta_", lambda v: v + np.inf, "Expected finite means and priors"),
    "theta_ of fewer classes": ("theta_", lambda v: v[:1], r"theta_ of shape \(2, 3\), got \(1, 3"),
    "theta_ of more features": ("theta_", lambda v: np.c_[v, v], r"shape \(2, 3\), got \(2, 6\)"),
    "theta_ turned": ("theta_", lambda v: v.T.copy(), r"of shape \(2, 3\), got \(3, 2\)"),
    "theta_ of one class": ("theta_", lambda v: v[0], r"of shape \(2, 3\), got \(3,\)"),
    "theta_ in 3-d": ("theta_", lambda v: v[None], r"theta_ of shape \(2, 3\), got \(1, 2, 3\)"),
    "theta_ a number": ("theta_", lambda v: 1.0, r"theta_ of shape \(2, 3\), got \(\)"),
    "theta_ None": ("theta_", lambda v: None, r"theta_ of shape \(2, 3\), got \(\)"),
    "theta_ of text": ("theta_", lambda v: v.astype(str), "theta_ of numbers, got dtype <U"),
    "theta_ complex": ("theta_", lambda v: v + 0j, "theta_ of numbers, got dtype complex128"),
    "theta_ masked": ("theta_", lambda v: np.ma.array(v, mask=v > 4), "theta_ contains masked"),
    "theta_ a dict": ("theta_", lambda v: {}, "Expected theta_ of numbers that fit float64: float"),
    "theta_ too large": ("theta_", lambda v: np.full(v.shape, HUGE, object), "that fit float64"),
    "var_ of nan": ("var_", lambda v: v * np.nan, "Feature 0 of class 0 has variance nan"),
    "var_ of inf": ("var_", lambda v: v + np.inf, "Feature 0 of class 0 has variance inf"),
    "var_ of 0": ("var_", lambda v: v * 0, "Feature 0 of class 0 has variance 0, and a density"),
    "one var_ of 0": ("var_", lambda v: v * (v < v.max()), "Feature . of class . has variance 0"),
    "var_ negative": ("var_", lambda v: -v, "Feature 0 of class 0 has variance -"),
    "var_ of fewer classes": ("var_", lambda v: v[:1], r"var_ of shape \(2, 3\), got \(1, 3\)"),
    "var_ of more features": ("var_", lambda v: np.c_[v, v], r"shape \(2, 3\), got \(2, 6\)"),
    "var_ turned": ("var_", lambda v: v.T.copy(), r"var_ of shape \(2, 3\), got \(3, 2\)"),
    "var_ None": ("var_", lambda v: None, r"var_ of shape \(2, 3\), got \(\)"),
    "var_ complex": ("var_", lambda v: v + 1j, "var_ of numbers, got dtype complex128"),
    "var_ masked": ("var_", lambda v: np.ma.array(v, mask=v > 4), "var_ contains masked"),
    "prior of nan": ("class_prior_", lambda v: v * np.nan, r"from 0 up, got \[nan nan\]"),
    "prior of 0": ("class_prior_", lambda v: v * 0, r"one prior above 0 .* got priors \[0. 0.\]"),
    "prior negative": ("class_prior_", lambda v: -v, r"from 0 up, got \[-0.5 -0.5\]"),
    "one prior nan": ("class_prior_", lambda v: v * [1, np.nan], r"from 0 up, got \[0.5 nan\]"),
    "too few priors": ("class_prior_", lambda v: v[:1], r"of shape \(2,\), got \(1,\)"),
    "too many priors": ("class_prior_", lambda v: np.r_[v, v], r"of shape \(2,\), got \(4,\)"),
    "prior a number": ("class_prior_", lambda v: 0.5, r"of shape \(2,\), got \(\)"),
    "prior None": ("class_prior_", lambda v: None, r"of shape \(2,\), got \(\)"),
    "prior of text": ("class_prior_", lambda v: v.astype(str), "class_prior_ of numbers, got"),
    "prior a column": ("class_prior_", lambda v: v[:, None], r"of shape \(2,\), got \(2, 1\)"),
    "too few classes": ("classes_", lambda v: v[:1], r"classes_ of shape \(2,\), got \(1,\)"),
    "too many classes": ("classes_", lambda v: np.arange(5), r"classes_ of shape \(2,\), got \(5,"),
    "classes None": ("classes_", lambda v: None, r"classes_ of shape \(2,\), got \(\)"),
}  # fmt: skip


SAVED = {
    "theta_": "theta_ of shape|theta_ of numbers|theta_ contains masked|theta is not finite",
    "var_": "var_ of shape|var_ of numbers|var_ contains masked|var is (not finite|negative)",
    "class_prior_": "class_prior_? (of shape|of (finite )?numbers|is (not finite|negative))|"
    "no class has",
}


@pytest.mark.parametrize("name", EDITS)
def test_edits_that_make_no_model(name, tmp_path):
    """Scoring refuses them, and so do files; learning on takes the statistics and is well."""
    attribute, change, text = EDITS[name]
    for door in SCORING:
        model = edited(attribute, change)
        before = pickle.dumps(model)
        with pytest.raises(ValueError, match=text):
            ROWS_OF[door](model, X0, Y0)
        assert pickle.dumps(model) == before
    if attribute != "classes_":
        if name not in ("var_ of 0", "one var_ of 0"):  # a model that cannot score, but learns on
            with pytest.raises(ValueError, match=SAVED[attribute]):
                fastgnb.save(edited(attribute, change), tmp_path / "model")
            assert not list(tmp_path.iterdir())
        model = edited(attribute, change).partial_fit(X0, Y0)
        assert attributes(model) == attributes(fitted(GaussianNB).partial_fit(X0, Y0))


@pytest.mark.parametrize(
    ("name", "change", "text"),
    [
        ("theta_", lambda v: v * np.nan, "Expected theta_ of finite values, got"),
        ("theta_", lambda v: v[:1], r"Expected theta_ of shape \(2, 3\), got \(1, 3\)"),
        ("var_", lambda v: v * np.inf, "Expected var_ of finite values from 0 up, got"),
        ("var_", lambda v: -v, "Expected var_ of finite values from 0 up"),
        ("var_", lambda v: v[:1], r"Expected var_ of shape \(2, 3\), got \(1, 3\)"),
        ("class_count_", lambda v: -v, "Expected class_count_ of finite values from 0 up"),
        ("class_prior_", lambda v: v * np.nan, "Expected class_prior_ of finite values from 0 up"),
        (
            "epsilon_",
            lambda v: np.nan,
            "Expected epsilon_ of finite values from 0 up, got nan. Fit",
        ),
    ],
)
def test_models_of_scikit_learn_that_are_none(name, change, text):
    theirs = fitted(Reference)
    setattr(theirs, name, change(getattr(theirs, name)))
    with pytest.raises(ValueError, match=text):
        GaussianNB.from_sklearn(theirs)


def test_a_model_of_scikit_learn_from_negative_weights():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = Reference().fit(X0, Y0, [-1, 1, -1, 1, -1, 1])
    with pytest.raises(ValueError, match=r"class_count_ of finite values from 0 up, got \[-3.  3."):
        GaussianNB.from_sklearn(theirs)


def test_parameters_of_other_shapes_are_no_parameters():
    good = {"classes": np.arange(2), "n_features": 3}
    with pytest.raises(ValueError, match=r"Expected var_ of shape \(2, 3\), got \(2, 2\)"):
        GaussianParams.from_estimate([0.5, 0.5], np.zeros((2, 3)), np.ones((2, 2)), **good)
    with pytest.raises(ValueError, match=r"Expected theta_ of shape \(2, 3\), got \(2, 2\)"):
        GaussianParams.from_estimate([0.5, 0.5], np.zeros((2, 2)), np.ones((2, 2)), **good)


def test_parameters_edited_after_fitting_are_checked_when_saved(tmp_path):
    for parameters, text in (
        ({"priors": "uniform"}, "Number of priors must match"),
        ({"priors": np.array([0, 1], "M8[D]")}, "Expected numeric priors"),
        ({"var_smoothing": -1}, "var_smoothing must be a number from 0 up"),
        ({"missing": "drop"}, "missing must be 'error' or 'skip'"),
    ):
        with pytest.raises(ValueError, match=text):
            fastgnb.save(fitted(GaussianNB).set_params(**parameters), tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_the_tables_are_long_enough():
    tables = (
        ROWS,
        LABELS,
        STRANGERS,
        WEIGHTS,
        PRIORS,
        SMOOTHINGS,
        MISSING,
        CLASSES,
        EDITS,
        STRANGE,
    )
    assert sum(len(table) for table in tables) >= 150


# --- odd but good --------------------------------------------------------------------------------


def attributes_equal(a, b):
    names = ("theta_", "var_", "class_count_", "class_prior_", "epsilon_")
    return all(np.all(getattr(a, name) == getattr(b, name)) for name in names)


def as_objects(kind):
    return [[kind(int(value)) for value in row] for row in X0]


GOOD_ROWS = {
    "lists": X0.tolist,
    "tuples": lambda: tuple(map(tuple, X0)),
    "list of arrays": lambda: list(X0),
    "memoryview": lambda: memoryview(X0),
    "objects": lambda: X0.astype(object),
    "Decimal in lists": lambda: as_objects(Decimal),
    "Fraction in lists": lambda: as_objects(Fraction),
    "Decimal objects": lambda: np.array(as_objects(Decimal), object),
    "numbers of many types": lambda: [[int(a), np.float32(b), Decimal(int(c))] for a, b, c in X0],
    "a clean mask": lambda: np.ma.array(X0, mask=np.zeros(X0.shape)),
    "no mask": lambda: np.ma.array(X0),
    "float16": lambda: X0.astype(np.float16),
    "long double": lambda: X0.astype(np.longdouble),
    "uint8": lambda: X0.astype(np.uint8),
    "big-endian int16": lambda: X0.astype(">i2"),
    "Fortran int32": lambda: np.asfortranarray(X0.astype(np.int32)),
    "reversed twice": lambda: X0[::-1].copy()[::-1],
    "columns from the right": lambda: X0[:, ::-1].copy()[:, ::-1],
    "one row broadcast in no way": lambda: np.broadcast_to(X0, (6, 3)),
    "read-only": lambda: np.frombuffer(X0.tobytes()).reshape(6, 3),
    "subclass": lambda: X0.view(type("Own", (np.ndarray,), {})),
    "frame": lambda: pd.DataFrame(X0),
    "frame of Int64": lambda: pd.DataFrame(X0).astype("Int64"),
    "frame of arrow integers": lambda: pd.DataFrame(X0).astype("int64[pyarrow]"),
    "frame of categories of numbers": lambda: pd.DataFrame(X0).astype("category"),
    "arrow decimals": lambda: pd.DataFrame(X0).astype(pd.ArrowDtype(pa.decimal128(5, 2))),
    "polars": lambda: pl.DataFrame(dict(zip("abc", X0.T, strict=True))),
    "polars decimals": lambda: pl.DataFrame(
        {c: [Decimal(int(v)) for v in X0[:, j]] for j, c in enumerate("abc")}
    ),
    "polars mixed": lambda: pl.DataFrame(
        {"a": X0[:, 0], "b": X0[:, 1].astype(np.int8), "c": X0[:, 2].astype(np.float32)}
    ),
    "arrow": lambda: pa.table(dict(zip("abc", X0.T, strict=True))),
    "arrow batch": lambda: pa.record_batch(dict(zip("abc", X0.T, strict=True))),
    "columns of tuples": lambda: pd.DataFrame(
        X0, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD_ROWS)
def test_odd_rows_that_are_good(name):
    make = GOOD_ROWS[name]
    want = fitted(GaussianNB)
    models = [
        GaussianNB().fit(make(), Y0),
        GaussianNB().partial_fit(make(), Y0, [0, 1]),
        GaussianNB().fit_stats(ClassStats.from_rows(make(), Y0)),
    ]
    for model in models:
        assert attributes_equal(model, want)
    for door in SCORING[:-1]:
        got = ROWS_OF[door](models[0], make(), Y0)
        assert (got == ROWS_OF[door](want, X0, Y0)).all(), door
        assert type(got) is np.ndarray


def test_text_that_is_a_number_is_one_where_scikit_learn_says_so():
    """In objects only. `ClassStats.from_rows` refuses it."""
    for rows in (thing("5"), thing(b"5"), frame(b=list("157843"))):
        ours, theirs = GaussianNB().fit(rows, Y0), Reference().fit(rows, Y0)
        assert np.allclose(ours.theta_, theirs.theta_, rtol=1e-14)
        assert ours.theta_[1, 1] == np.mean([5, 8, 3])


@pytest.mark.parametrize("big", [2**63, 2**64, -(2**63) - 1, 10**30, 2**1023])
def test_whole_numbers_that_no_integer_type_holds(big):
    rows = [[big, 1], [big, 2], [0, 3], [0, 5]]
    if big == 2**1023:
        with pytest.raises(ValueError, match="overflows float64"):
            GaussianNB().fit(rows, [0, 0, 1, 1])
        assert ClassStats.from_rows(rows[:2], [0, 0]).mean[0, 0] == float(big)
        return
    for given in (rows, np.array(rows, object), [[Fraction(v) for v in row] for row in rows]):
        model = GaussianNB().fit(given, [0, 0, 1, 1])
        assert model.theta_.tolist() == [[float(big), 1.5], [0.0, 4.0]]
        assert model.predict(given).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("dtype", [float, np.float32, np.int64, object])
def test_masked_values_are_missing(dtype):
    """What lies under a mask is never looked at, not even an infinity."""
    rows = np.ma.array(X0.astype(dtype), mask=X0 > 6)
    rows.data[X0 > 6] = np.inf if dtype in (float, np.float32) else 77
    kept = rows.data.tobytes()
    holes = np.where(X0 > 6, np.nan, X0)
    want = GaussianNB(missing="skip").fit(holes, Y0)
    for model in (
        GaussianNB(missing="skip").fit(rows, Y0),
        GaussianNB(missing="skip").partial_fit(rows, Y0, [0, 1]),
        GaussianNB(missing="skip").fit_stats(ClassStats.from_rows(rows, Y0, missing="skip")),
    ):
        assert attributes_equal(model, want)
        assert (model.predict_joint_log_proba(rows) == want.predict_joint_log_proba(holes)).all()
    assert rows.data.tobytes() == kept


def test_missing_objects_are_missing_to_statistics():
    """pandas' NA as an object among others, which scikit-learn cannot convert."""
    rows = frame(b=pd.Series([1, pd.NA, 3, 4, None, 6], dtype=object))
    stats = ClassStats.from_rows(rows, Y0, missing="skip")
    assert stats.feature_count.tolist() == [[3, 2, 3], [3, 2, 3]]
    assert stats.mean[:, 1].tolist() == [2.0, 5.0]


GOOD_LABELS = {
    "bool": ([False, True] * 3, [False, True]),
    "whole floats": ([0.0, 1.0] * 3, [0, 1]),
    "objects of numbers": (np.array([0, 1] * 3, object), [0, 1]),
    "truth and numbers": (items(*[False, 1] * 3), [0, 1]),
    "NumPy numbers": ([np.int8(0), np.int64(1)] * 3, [0, 1]),
    "0-d arrays": ([np.array(0), np.array(1)] * 3, [0, 1]),
    "range": (range(6), [0, 1, 2, 3, 4, 5]),
    "clean mask": (np.ma.array(Y0), [0, 1]),
    "Index": (pd.Index(Y0), [0, 1]),
    "sparse Series": (pd.Series(pd.arrays.SparseArray(Y0)), [0, 1]),
    "Int64": (pd.Series(Y0, dtype="Int64"), [0, 1]),
    "array of Int64": (pd.array(Y0, "Int64"), [0, 1]),
    "arrow Series": (pd.Series(Y0, dtype="int64[pyarrow]"), [0, 1]),
    "misindexed Series": (pd.Series(Y0, index=[5, 4, 3, 2, 1, 0]), [0, 1]),
    "arrow words": (pd.Series(["b", "a"] * 3, dtype="string[pyarrow]"), ["a", "b"]),
    "2**63": ([2**63, 1] * 3, [1, 2**63]),
    "2**63 - 1": ([2**63 - 1, 2**63 - 2] * 3, [2**63 - 2, 2**63 - 1]),
    "large floats": ([1e300, -1e300] * 3, [-1e300, 1e300]),
    "NUL at the end": (["a\0", "a"] * 3, ["a", "a\0"]),
    "lone surrogate": (["\ud800", "b"] * 3, ["b", "\ud800"]),
    "empty words": (["", "b"] * 3, ["", "b"]),
    "long words": (["x" * 500 + "a", "x" * 500 + "b"] * 3, ["x" * 500 + "a", "x" * 500 + "b"]),
}


@pytest.mark.parametrize("name", GOOD_LABELS)
def test_odd_labels_that_are_good(name):
    y, classes = GOOD_LABELS[name]
    model = GaussianNB().fit(X0, y)
    assert model.classes_.tolist() == classes
    assert model.class_count_.tolist() == [6 / len(classes)] * len(classes)
    assert model.partial_fit(X0, y).class_count_.tolist() == [12 / len(classes)] * len(classes)
    assert set(model.predict(X0).tolist()) <= set(classes)
    stats = ClassStats.from_rows(X0, y)
    assert stats.classes.tolist() == classes
    assert (stats.update(X0, y).mean == model.theta_).all()


class Word(str, enum.Enum):  # noqa: UP042
    """Text to which NumPy gives the name, cut to the length of the text."""

    FIRST = "a"
    SECOND = "b"


class Digit(enum.IntEnum):
    ONE = 1
    TWO = 2


def test_enumerations_of_text_and_of_numbers_are_labels(tmp_path):
    for members, values in (
        ([Word.FIRST, Word.SECOND] * 3, ["a", "b"]),
        ([Digit.ONE, Digit.TWO] * 3, [1, 2]),
    ):
        model = GaussianNB().fit(X0, members)
        assert model.classes_.tolist() == values
        fastgnb.save(model, tmp_path / "model")
        loaded = fastgnb.load(tmp_path / "model")
        assert loaded.classes_.tolist() == values
        assert loaded.predict(X0).tolist() == model.predict(X0).tolist()


def test_a_second_call_may_declare_the_classes_in_another_type():
    """As scikit-learn: by value."""
    for first, *others in (
        (
            [0, 1],
            [1, 0, 1],
            [0.0, 1.0],
            [False, True],
            np.array([1, 0], np.uint8),
            pd.Index([0, 1]),
        ),
        (["a", "b"], np.array(["b", "a"], object), pd.Series(["a", "b"]), pl.Series(["a", "b"])),
    ):
        y = np.array(first)[Y0]
        model = GaussianNB().partial_fit(X0, y, first)
        for later in others:
            model.partial_fit(X0, y, later)
        assert model.class_count_.tolist() == [3 * (1 + len(others))] * 2
        assert model.classes_.tolist() == first


GOOD_WEIGHTS = {
    "number": (2, [2] * 6),
    "NumPy number": (np.float32(2), [2] * 6),
    "0-d array": (np.array(2), [2] * 6),
    "fraction": (Fraction(1, 2), [0.5] * 6),
    "bool": ([True, False] * 3, [1, 0] * 3),
    "int8": (np.array([1, 2] * 3, np.int8), [1, 2] * 3),
    "uint64": (np.array([2**63, 1] * 3, np.uint64), [2.0**63, 1] * 3),
    "float16": (np.array([1, 2] * 3, np.float16), [1, 2] * 3),
    "big-endian": (np.array([1, 2] * 3, ">f8"), [1, 2] * 3),
    "every second": (np.array([1, 9, 2, 9] * 3)[::2], [1, 2] * 3),
    "decimals": ([Decimal(1), Decimal(2)] * 3, [1, 2] * 3),
    "tuple": ((1, 2) * 3, [1, 2] * 3),
    "clean mask": (np.ma.array([1, 2] * 3), [1, 2] * 3),
    "Series": (pd.Series([1.0, 2.0] * 3, index=range(6, 0, -1)), [1, 2] * 3),
    "Int64": (pd.Series([1, 2] * 3, dtype="Int64"), [1, 2] * 3),
    "polars": (pl.Series([1, 2] * 3), [1, 2] * 3),
    "arrow": (pa.array([1.0, 2.0] * 3), [1, 2] * 3),
    "-0.0": ([1, -0.0] * 3, [1, 0] * 3),
    "tiny": ([5e-324, 5e-324] * 3, [5e-324] * 6),
    "large": ([1e307, 1e307] * 3, [1e307] * 6),
}


@pytest.mark.parametrize("name", GOOD_WEIGHTS)
def test_odd_weights_that_are_good(name):
    weight, plain = GOOD_WEIGHTS[name]
    y = [0, 0, 1, 1, 0, 1]
    want = GaussianNB().fit(X0, y, np.array(plain, float))
    for model in (
        GaussianNB().fit(X0, y, weight),
        GaussianNB().partial_fit(X0, y, [0, 1], weight),
        GaussianNB().fit_stats(ClassStats.from_rows(X0, y, weight)),
    ):
        assert attributes_equal(model, want)
    assert np.isfinite(want.predict_proba(X0)).all()


GOOD_PRIORS = {
    "tuple": (0.25, 0.75),
    "ints": [0, 1],
    "bools": [True, False],
    "Decimal": [Decimal("0.25"), Decimal("0.75")],
    "Fraction": [Fraction(1, 4), Fraction(3, 4)],
    "text": ["0.25", "0.75"],
    "Series": pd.Series([0.25, 0.75], index=["u", "v"]),
    "polars": pl.Series([0.25, 0.75]),
    "float32": np.array([0.25, 0.75], np.float32),
    "clean mask": np.ma.array([0.25, 0.75]),
}


@pytest.mark.parametrize("name", GOOD_PRIORS)
def test_odd_priors_that_are_good(name):
    priors = GOOD_PRIORS[name]
    model = GaussianNB(priors=priors).fit(X0, Y0)
    assert model.class_prior_.tolist() == [float(value) for value in priors]
    assert model.priors is priors


@pytest.mark.parametrize(
    "value", [True, 0, -0.0, Fraction(1, 8), np.float32(0.5), np.int64(2), np.float16(0.25), 1e300]
)
def test_odd_smoothing_that_is_good(value):
    model = GaussianNB(var_smoothing=value).fit(X0, Y0)
    assert model.epsilon_ == float(value) * X0.var(axis=0).max()
    assert np.isfinite(model.predict_proba(X0)).all()


def test_one_row_one_class_one_feature():
    for X, y in (([[3.0]], ["a"]), ([[3.0, 4.0]], [7]), ([[3.0]] * 5, [True] * 5)):
        model = GaussianNB().fit(X, y)
        assert model.theta_.tolist() == X[:1]
        assert (model.var_ == 1e-9).all()  # nothing varies: var_smoothing itself
        for rows in (X, np.asarray(X) + 1e9, np.asarray(X) * -1e300):
            assert model.predict_proba(rows).tolist() == [[1.0]] * len(X)
            assert model.predict_log_proba(rows).tolist() == [[0.0]] * len(X)
            assert model.predict(rows).tolist() == [y[0]] * len(X)
