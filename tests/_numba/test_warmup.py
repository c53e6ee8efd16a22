"""What is compiled, and when."""

from __future__ import annotations

import sys

import pytest

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.fresh,
    pytest.mark.skipif(sys.platform == "win32", reason="paths and layers are POSIX"),
]


# Each takes up to a second or two to compile, for everybody.
MOST = 56


def test_importing_compiles_nothing(python):
    code = (
        "import fastgnb.estimators.naive_bayes\n"
        "from fastgnb._numba.warmup import n_compiled\nprint(n_compiled())"
    )
    assert python(code).strip() == "0"


@pytest.mark.promise("kernels")
def test_the_number_of_variants_is_bounded(python, tmp_path):
    """Whatever comes in, kernels see float32 or float64 in C order, read-only."""
    code = """
import numpy as np
from fastgnb import GaussianNB, kernels
from fastgnb._numba import decorators, threads, warmup
threads.PARALLEL_WORK = threads.LARGE_WORK = 0
before = kernels.warmup()
y = np.array([0, 0, 1, 1])
for dtype in ("f2", "f4", "f8", "i1", "u2", "i4", "i8", "?"):
    for make in (np.ascontiguousarray, np.asfortranarray, lambda a: a.repeat(2, axis=1)[:, ::2]):
        for writeable in (True, False):
            X = make(np.array([[0, 1], [1, 0], [7, 1], [6, 0]]).astype(dtype))
            X.flags.writeable = writeable
            for missing in ("error", "skip"):
                for w in (None, np.ones(4), np.ones(4, "f4")):
                    m = GaussianNB(missing=missing).fit(X, y, w)
                for name in ("predict", "predict_proba", "predict_log_proba",
                             "predict_joint_log_proba", "predict_log_evidence"):
                    getattr(m, name)(X)
print(before, warmup.n_compiled(), warmup.n_variants())
"""
    out = python(code, NUMBA_THREADING_LAYER="omp")
    before, after, declared = map(int, out.split())
    assert before == after == declared <= MOST


TOUR = """
import sys, warnings
import numpy as np, pandas as pd, polars as pl
warnings.simplefilter("error")
from sklearn.naive_bayes import GaussianNB as Plain
from sklearn.model_selection import LeaveOneOut
from fastgnb import ClassStats, GaussianNB, cli, evaluate, files, kernels, load, save, select
from fastgnb._numba import compiler, threads, warmup
folder = sys.argv[1]
threads.PARALLEL_WORK = threads.LARGE_WORK = 0
warm = kernels.warmup()
ASK = ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba",
       "predict_log_evidence")

def laid_out(a):
    yield np.ascontiguousarray(a)
    yield np.asfortranarray(a)
    yield a.repeat(2, axis=-1)[..., ::2]
    yield a[::-1].copy()[::-1]
    yield a[..., ::-1].copy()[..., ::-1]
    yield a.astype(a.dtype.newbyteorder("S"))
    odd = np.frombuffer(bytearray(a.nbytes + 1), np.uint8)[1:].view(a.dtype).reshape(a.shape)
    odd[...] = a
    yield odd
    still = a.copy()
    still.flags.writeable = False
    yield still

def mapped(a, order):
    name = f"{folder}/{order}{a.dtype}"
    file = np.memmap(name, a.dtype, "w+", shape=a.shape, order=order)
    file[...] = a
    yield file
    yield np.memmap(name, a.dtype, "r", shape=a.shape, order=order)

def learn(X, y, w=None, missing="error"):
    stats = ClassStats.from_rows(X, y, w, missing=missing)
    return GaussianNB(missing=missing).fit(X, y, w).partial_fit(X, y, sample_weight=w), stats

def visit(X, y, w=None, missing="error"):
    model, stats = learn(X, y, w, missing)
    for name in ASK:
        getattr(model, name)(X)
    stats = stats.update(X, y) + stats
    stats.total(), stats.within(), stats.between()
    model.merge(GaussianNB(missing=missing).fit_stats(stats))

r = np.random.default_rng(0)
base, y = r.integers(0, 2, (12, 3)), np.arange(12) % 3
base[:3] = np.eye(3)
X, text, some = base + r.normal(size=base.shape), np.array(["a", "bc", "d"])[y], r.random(12) + 0.5

# Rows: dtypes and layouts, sizes, memory maps, frames.
for dtype in ("f8", "f4", "f2", "g", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"):
    for rows in laid_out(base.astype(dtype)):
        visit(rows, y)
        visit(rows, y, some, "skip")
    if dtype != "g":
        for order in "CF":
            for rows in mapped(base.astype(dtype), order):
                visit(rows, y)
for n, d, k in ((1, 1, 1), (3000, 1, 1), (3000, 3, 2), (3000, 9, 4), (3000, 40, 50)):
    full = r.normal(size=(n, d))
    for rows in (full, np.asfortranarray(full.astype("f4")), full.astype("f2"), full[:, ::-1]):
        visit(rows, np.arange(n) % k, r.random(n) + 0.1)
        visit(rows, np.arange(n) % k, None, "skip")
frame = pd.DataFrame(X, columns=list("abc"))
for rows in (frame, frame.astype("f4"), frame.assign(b=base[:, 0], c=y > 0),
             frame.astype("Float64"), pl.DataFrame({"a": X[:, 0], "b": base[:, 0]}), X.tolist()):
    visit(rows, y)
    visit(rows, y, None, "skip")

# Labels and weights.
numbers = [y.astype(t) for t in "bhilBHILefdg"]
wide = [y == 0, y * 10**6, y * (1 << 61), np.array([0, 1, 2**64 - 1], np.uint64)[y], y - 2.0, text]
for kind in numbers + wide:
    for labels in laid_out(kind):
        learn(X, labels)
for labels in (y.tolist(), text.tolist(), text.astype(object), y.astype(object), pd.Series(y),
               pd.Series(text), pd.Series(text, dtype="category"), pd.Series(y, dtype="Int64"),
               pd.Series(y == 1, dtype="boolean"), pl.Series(y), pl.Series(text)):
    visit(X, labels)
[GaussianNB().fit(X, labels).score(X, labels) for labels in (y, text, y == 0)]
for kind in "fdegiB":
    for weight in laid_out((some * 9).astype(kind)):
        learn(X, y, weight)
for weight in (2.0, 3, y >= 0, some.tolist(), some.astype(object), some * 1e-250, pd.Series(some),
               pl.Series(some)):
    learn(X, y, weight)

# Ends of the ranges, and statistics that others made.
ClassStats.from_rows(np.empty((0, 3)), [])
ClassStats.from_rows(X, y, classes=np.arange(9)).as_one_class()
GaussianNB().partial_fit(X[:1], y[:1], classes=[0, 1, 2]).partial_fit(X, y)
far = np.full((1, 3), 1e200)
[getattr(GaussianNB(missing=m).fit(X, y), name)(far) for m in ("error", "skip") for name in ASK]
stats = ClassStats.from_rows(X, y)
stats - ClassStats.from_rows(X[:6], y[:6])
own = stats.count, stats.mean, stats.variance, stats.mean_lo
for parts in zip(*map(laid_out, own)):
    odd = ClassStats(stats.classes, *parts)
    odd + odd, stats + odd, odd + stats, odd.as_one_class(), odd.between()
    GaussianNB().fit_stats(odd).predict(X)
odd = ClassStats(stats.classes, *(part.astype("f4") for part in own))
odd + stats, odd.as_one_class()
plain = Plain().fit(X, y)
plain.theta_, plain.var_ = np.asfortranarray(plain.theta_), np.asfortranarray(plain.var_)
taken = GaussianNB.from_sklearn(plain).partial_fit(X, y)
taken.theta_, taken.var_ = np.asfortranarray(taken.theta_).astype("f4"), taken.var_[:, ::-1]
[getattr(taken, name)(X) for name in ASK]

# Files, and the command.
save(taken, f"{folder}/taken.fgnb")
load(f"{folder}/taken.fgnb").partial_fit(X, y).merge(taken)
for kind in ("f4", "f8", "i8"):
    data, model, out = (f"{folder}/{kind}.{end}" for end in ("parquet", "fgnb", "csv"))
    (frame * 9).astype(kind).assign(y=text).to_parquet(data)
    for command in (["fit", data, "--target", "y", "--model", model],
                    ["update", model, data, "--target", "y", "--again"],
                    ["predict", model, data, "--proba", "--evidence", "--output", out]):
        assert cli.main([*command, "--quiet"]) == 0
    files.evaluate(model, data, target="y", thresholds=[0.123])

# Evaluations, of rows that are kept and in bins.
model = GaussianNB().fit(X, y)
for rows in (X, np.asfortranarray(X), X.astype("f4"), X.repeat(2, axis=1)[:, ::2]):
    for w in (None, np.ones(len(y)), np.ones(len(y), "f4")[::-1]):
        for exact_rows in (0, 2, 10):
            evaluate(model, rows, y, w, exact_rows=exact_rows).auc(y[0])
for rows in (X, np.asfortranarray(X), X.astype("f4"), X.repeat(2, axis=1)[:, ::2]):
    for w in (None, some):
        for method in ("predict", "predict_proba"):
            params = {} if w is None else {"sample_weight": w}
            select.cross_val_predict(model, rows, y, cv=LeaveOneOut(), params=params, method=method)
print(warm, warmup.n_compiled(), warmup.n_variants())
# Kernels with other variants than they are declared to have.
for compiled, variants in compiler.DISPATCHERS.items():
    if len(compiled.overloads) != variants:
        print(compiled.py_func.__module__, compiled.py_func.__name__, compiled.signatures)
"""


@pytest.mark.promise("kernels")
def test_warming_up_compiles_all_that_any_input_needs(python, tmp_path):
    """As many variants of each kernel as it is declared to have, and no more."""
    counts, *wrong = python(TOUR, str(tmp_path), NUMBA_THREADING_LAYER="omp").splitlines()
    assert not wrong
    warmed, compiled, declared = map(int, counts.split())
    assert warmed == compiled == declared <= MOST
