"""Ways to give rows, labels and weights to estimators, and how they refuse them."""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn
from sklearn.naive_bayes import GaussianNB as Reference
from sklearn.utils.fixes import parse_version

from fastgnb import ClassStats, GaussianNB

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
    methods: tuple[str, ...] = ()
    """The methods for which it is bad; empty: all."""


def ids(table):
    names = [bad.name for bad in table]
    assert len(set(names)) == len(names)
    return names


def fitted(cls):
    return cls().fit(X0, Y0)


def evidence(model, X):
    """`predict_log_evidence` is ours only: scikit-learn's nearest are the joint likelihoods."""
    return getattr(model, "predict_log_evidence", model.predict_joint_log_proba)(X)


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


def assert_refused(bad, methods, make_args, *, first=True):
    """The bad input given to every method, of a fresh model and of a fitted one."""
    differences = []
    for name, method in methods.items():
        if bad.methods and name not in bad.methods:
            continue
        for is_fresh in (True, False) if name in LEARNING and first else (False,):
            ours, theirs = (cls() if is_fresh else fitted(cls) for cls in (GaussianNB, Reference))
            args = make_args()
            before = pickle.dumps(ours), [snapshot(each) for each in args]
            got = raised(lambda: method(ours, *args))  # noqa: B023
            where = f"{bad.name}: {name} of a {'fresh' if is_fresh else 'fitted'} model"
            assert got is not None, f"{where} accepts it"
            assert isinstance(got, bad.error), f"{where}: {got!r}"
            assert re.search(bad.match, str(got)), f"{where}: {got!r}"
            assert (pickle.dumps(ours), [snapshot(each) for each in args]) == before, where
            want = quietly(lambda: method(theirs, *make_args()))  # noqa: B023
            if not same(got, want):
                differences.append(f"{where}: {got!r}, but scikit-learn's {want!r}")
    if not bad.why:
        assert not differences, "\n".join(differences)


def assert_stats_refuse(bad, calls, make_args):
    """The same through `ClassStats.from_rows` and `update`."""
    for name, call in calls.items():
        if bad.methods and "stats" not in bad.methods and name not in bad.methods:
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


def put(value, row, column, dtype=float, order="C"):
    X = np.array(X0, dtype=dtype, order=order)
    X[row, column] = value
    return X


def thing(value, row=1, column=1):
    return put(value, row, column, object)


def frame(**columns):
    return pd.DataFrame({"a": X0[:, 0], "b": X0[:, 1], "c": X0[:, 2]} | columns)


NO_FLOAT = r"float\(\) argument must be a string or a real number, not '{}'"
TOO_LARGE = "OverflowError does not say which input is too large"
MASK = "scikit-learn takes what is under the mask for data"
LARGE = 60_011  # rows of five features are more than one thread's work
TEXT_OR_NUMBERS = r"Labels must be uniformly text or numbers, got \['int', 'str'\]"


def items(*values):
    out = np.empty(len(values), object)
    out[:] = values
    return out


def attributes(model):
    """What a model has learned, as bytes."""
    return pickle.dumps({k: v for k, v in vars(model).items() if k.endswith("_")})
