"""partial_fit of many chunks: what is called, what waits until it is read, and the same bits."""

from __future__ import annotations

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from members import SHAPES
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from fastgnb import ClassStats, GaussianBayes, GaussianNB
from fastgnb._numba import threads
from fastgnb.estimators import base
from fastgnb.kernels.learn import chunk
from fastgnb.model.family import MEMBERS
from fastgnb.stats import class_stats
from fastgnb.stats.chunks import Running, WideStats

CLASSES = np.arange(3)


@pytest.fixture
def rows(make_data):
    X, y = make_data(400, 4, 3)
    X[:, 2] = np.floor(X[:, 2] % 3)
    return X, y


@pytest.fixture
def calls(monkeypatch):
    """Names of what is called: compiled functions, estimates, and encoding of labels."""
    made = []

    def noted(module, name, label):
        inner = getattr(module, name)

        def outer(*args, **keywords):
            made.append(label)
            return inner(*args, **keywords)

        monkeypatch.setattr(module, name, outer)

    variants = chunk._variants.of

    def of(dtype, has_weight):
        entry, *addresses = variants(dtype, has_weight)
        return lambda *args: made.append("one call") or entry(*args), *addresses

    monkeypatch.setattr(chunk._variants, "of", of)
    noted(threads.Kernel, "__call__", "kernel")
    noted(base, "encode_labels", "encode")
    noted(class_stats, "accumulate_rows", "accumulate")
    noted(class_stats, "merge_rows", "merge")
    for member in MEMBERS.values():
        noted(type(member.likelihood), "estimate", "estimate")
        noted(type(member.likelihood), "params", "params")
    return made


@pytest.mark.compiled
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("labels", [np.int64, np.int32, np.uint8])
def test_a_chunk_takes_one_compiled_call(rows, calls, dtype, labels):
    X, y = rows[0].astype(dtype), rows[1].astype(labels)
    model = GaussianNB().partial_fit(X, y, CLASSES)
    calls.clear()
    for start in range(0, 400, 100):
        model.partial_fit(X[start : start + 100], y[start : start + 100], CLASSES)
    model.partial_fit(np.asfortranarray(X), y).partial_fit(X[:1], y[:1])
    model.partial_fit(X, y, sample_weight=np.linspace(1, 2, 400))
    assert calls == ["one call"] * 7
    model.theta_, model.var_, model.epsilon_, model.class_prior_  # noqa: B018
    assert calls[7:] == ["estimate"]
    model.predict(X)
    model.predict_proba(X)
    assert [call for call in calls[8:] if call != "kernel"] == ["params"]


@pytest.mark.compiled
def test_large_chunks_share_their_blocks_among_threads(make_data, calls):
    X, y = make_data(40_000, 20, 3)
    model = GaussianNB().partial_fit(X, y, CLASSES)
    calls.clear()
    model.partial_fit(X[:10_000], y[:10_000])
    assert calls == ["one call"]
    model.partial_fit(X, y)
    assert calls[1:] == ["one call"]


@pytest.mark.parametrize("name", SHAPES)
def test_no_member_estimates_before_it_is_read(rows, calls, name):
    model = SHAPES[name].make().partial_fit(*rows, CLASSES)
    model.partial_fit(*rows).partial_fit(rows[0][:5], rows[1][:5])
    model.merge(SHAPES[name].make().fit(*rows))
    assert "estimate" not in calls
    model.predict(rows[0])
    assert (calls.count("estimate"), calls.count("params")) == (1, 1)
    assert set(MEMBERS[SHAPES[name].member].estimated).isdisjoint(vars(model))
    assert model.class_prior_.shape == (3,)
    model.predict(rows[0])
    assert (calls.count("estimate"), calls.count("params")) == (1, 1)


@pytest.mark.parametrize("name", SHAPES)
def test_declared_attributes_are_those_estimated(rows, name):
    model = SHAPES[name].make().fit(*rows)
    member = MEMBERS[SHAPES[name].member]
    given = member.likelihood.estimate(model.stats_, **model._checked_options())
    assert tuple(given) == member.estimated
    assert not hasattr(clone(model), member.estimated[0])
    with pytest.raises(AttributeError, match=f"object has no attribute '{member.estimated[0]}'"):
        getattr(clone(model), member.estimated[0])
    check_is_fitted(model)
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(model))


@pytest.mark.parametrize("name", SHAPES)
def test_copies_and_pickles_before_and_after_reading(rows, name):
    model = SHAPES[name].make().partial_fit(*rows, CLASSES).partial_fit(*rows)
    attributes = MEMBERS[SHAPES[name].member].estimated
    unread, hashed = pickle.dumps(model), joblib.hash(model)
    assert set(attributes).isdisjoint(vars(model))
    wanted = model.predict_proba(rows[0]).tobytes()
    for make in (copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))):
        assert set(attributes) <= set(vars(make(model)))
        assert make(model).predict_proba(rows[0]).tobytes() == wanted
    for attribute in attributes:
        value = getattr(model, attribute)
        assert getattr(model, attribute) is value
        setattr(model, attribute, value)
    assert set(attributes) <= set(vars(model))
    assert (pickle.dumps(model), joblib.hash(model)) == (unread, hashed)
    assert model.predict_proba(rows[0]).tobytes() == wanted


def long_way(monkeypatch):
    monkeypatch.setattr(base, "held_after_chunk", lambda *args: None)
    monkeypatch.setattr(Running, "of", lambda stats: None)


CHUNKS = {
    "plain": lambda X, y: (X, y),
    "one row": lambda X, y: (X[:1], y[:1]),
    "by columns": lambda X, y: (np.asfortranarray(X), y),
    "float32": lambda X, y: (X.astype("f4"), y.astype("i2")),
    "weights": lambda X, y: (X, y, None, np.linspace(0.1, 3, len(X))),
    "weights of 0": lambda X, y: (X, y, None, np.arange(len(X)) % 2.0),
    "tiny weights": lambda X, y: (X, y, None, np.full(len(X), 1e-200)),
    "one class": lambda X, y: (X, np.full(len(X), 1)),
    "strided": lambda X, y: (X[::2], y[::2]),
    "lists": lambda X, y: (X.tolist(), y.tolist()),
    "far away": lambda X, y: (X * 1e152, y),
    "floats": lambda X, y: (X, y.astype(float)),
    "booleans": lambda X, y: (X, y > 1),
}


@pytest.mark.parametrize("name", CHUNKS)
@pytest.mark.parametrize("labels", [[0, 1, 2], [-4, 0, 1, 2, 9], [0, 1, 2, 1 << 40]], ids=str)
def test_bits_are_those_of_the_long_way(rows, monkeypatch, name, labels):
    """Labels in a table, in one with gaps, and too far apart for one."""
    model = GaussianNB(var_smoothing=1e-3).partial_fit(*rows, labels)
    stats = ClassStats.from_rows(*rows, classes=labels)
    twin = copy.deepcopy(model)
    X, y, *more = CHUNKS[name](*rows)
    for _ in range(2):
        model.partial_fit(X, y, *more)
        stats = stats.update(X, y, *more[1:])
    long_way(monkeypatch)
    wanted = ClassStats.from_rows(*rows, classes=labels)
    for _ in range(2):
        twin.partial_fit(X, y, *more)
        wanted = wanted.update(X, y, *more[1:])
    assert pickle.dumps(model.__getstate__()) == pickle.dumps(twin.__getstate__())
    assert pickle.dumps(stats) == pickle.dumps(wanted)


def test_updates_with_labels_that_are_new(rows, monkeypatch):
    X, y = rows
    got = ClassStats.from_rows(X, y).update(X, y + 1).update(X, y)
    long_way(monkeypatch)
    wanted = ClassStats.from_rows(X, y).update(X, y + 1).update(X, y)
    assert pickle.dumps(got) == pickle.dumps(wanted)


def test_rows_without_the_names_of_those_before_are_noted(rows):
    X, y = rows
    model = GaussianNB().partial_fit(pd.DataFrame(X, columns=list("abcd")), y, CLASSES)
    for _ in range(2):
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            model.partial_fit(X, y)
    assert model.stats_.feature_names == ("a", "b", "c", "d")


def test_classes_that_were_edited_are_compared_with_those_declared(rows):
    model = GaussianNB().partial_fit(*rows, CLASSES).partial_fit(*rows, CLASSES)
    model.classes_[0] = -5
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(*rows, CLASSES)
    assert model.partial_fit(*rows).classes_.tolist() == [0, 1, 2]


WIDE = {
    "full": (GaussianBayes, {"scatter": "full"}),
    "skip": (lambda: GaussianNB(missing="skip"), {"missing": "skip"}),
}


@pytest.mark.parametrize("name", CHUNKS)
@pytest.mark.parametrize("kind", WIDE)
def test_bits_of_full_scatter_and_of_missing_values(rows, monkeypatch, kind, name):
    make, options = WIDE[kind]
    X, y = rows
    model = make().partial_fit(X, y, CLASSES)
    stats = ClassStats.from_rows(X, y, **options)
    twin, wanted = copy.deepcopy(model), stats
    assert type(Running.of(stats)) is WideStats
    chunk, labels, *more = CHUNKS[name](X, y)
    if kind == "skip" and isinstance(chunk, np.ndarray):
        chunk = chunk.copy()
        chunk[::3, 1] = np.nan
    for _ in range(2):
        model.partial_fit(chunk, labels, *more)
        stats = stats.update(chunk, labels, *more[1:])
    long_way(monkeypatch)
    for _ in range(2):
        twin.partial_fit(chunk, labels, *more)
        wanted = wanted.update(chunk, labels, *more[1:])
    assert pickle.dumps(model.__getstate__()) == pickle.dumps(twin.__getstate__())
    assert pickle.dumps(stats) == pickle.dumps(wanted)


@pytest.mark.parametrize("kind", WIDE)
def test_a_chunk_of_either_kind_takes_the_short_way(rows, calls, kind):
    model = WIDE[kind][0]().partial_fit(*rows, CLASSES).partial_fit(*rows)
    calls.clear()
    model.partial_fit(*rows, CLASSES)
    assert {"encode", "estimate", "accumulate"}.isdisjoint(calls)
    model.partial_fit(rows[0], rows[1].astype(float))
    assert "encode" in calls


@pytest.mark.parametrize("priors", [[0.5, 0.25, 0.25], np.array([0.5, 0.25, 0.25])], ids=type)
def test_priors_in_a_list_take_the_short_way_as_long_as_they_do_not_change(rows, calls, priors):
    model = GaussianNB(priors=priors).partial_fit(*rows, CLASSES)
    calls.clear()
    model.partial_fit(*rows).partial_fit(*rows)
    assert "encode" not in calls
    priors[0], priors[1] = 0.25, 0.5
    model.partial_fit(*rows)
    assert "encode" in calls
    assert model.class_prior_.tolist() == [0.25, 0.5, 0.25]
    priors[0] = 0.5
    with pytest.raises(ValueError, match="sum"):
        model.partial_fit(*rows)


def test_missing_values_are_refused_where_statistics_would_leave_them_out(rows):
    X, y = rows
    model = GaussianNB().fit_stats(ClassStats.from_rows(X, y, missing="skip")).partial_fit(X, y)
    with pytest.raises(ValueError, match="contains NaN"):
        model.partial_fit(np.where(X > 1, np.nan, X), y)


@pytest.mark.parametrize("make", [GaussianBayes, lambda: GaussianNB(missing="skip")])
@pytest.mark.parametrize("bad", ["infinity", "a label", "too wide"])
def test_a_chunk_of_either_kind_that_is_refused_changes_nothing(rows, make, bad):
    X, y = rows
    model = make().partial_fit(X, y, CLASSES).partial_fit(X, y)
    before = model.stats_
    wrong = {
        "infinity": (np.where(X > 1, np.inf, X), y),
        "a label": (X, y + 1),
        "too wide": (X[:, 1:], y),
    }
    with pytest.raises(ValueError, match=r"infinity|initial classes|features"):
        model.partial_fit(*wrong[bad])
    assert model.stats_ is before


BAD = {
    "NaN": (lambda X, y: (np.where(X > 1, np.nan, X), y), "contains NaN"),
    "a label": (lambda X, y: (X, y + 1), "do not exist in the initial classes"),
    "too wide": (lambda X, y: (X[:, :3], y), "3 features"),
    "too short": (lambda X, y: (X, y[1:]), "inconsistent numbers of samples"),
    "classes": (lambda X, y: (X, y, [0, 1]), "not the same as on last call"),
    "weights": (lambda X, y: (X, y, None, -np.ones(len(X))), "Negative values"),
    "no weight": (lambda X, y: (X, y, None, np.zeros(len(X))), "at least one non-zero"),
    "variances": (lambda X, y: (X * 1e200, y), "overflow"),
}


@pytest.mark.promise("errors")
@pytest.mark.parametrize("name", BAD)
def test_a_chunk_that_is_refused_changes_nothing(rows, name):
    make, text = BAD[name]
    model = GaussianNB().partial_fit(*rows, CLASSES).partial_fit(*rows)
    before, dump = dict(vars(model)), pickle.dumps(model)
    with pytest.raises(ValueError, match=text):
        model.partial_fit(*make(*rows))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[each] is value for each, value in before.items())
    assert pickle.dumps(model) == dump


@pytest.mark.parametrize(
    ("parameter", "value", "text"),
    [("priors", [0.5, 0.5], "Number of priors"), ("var_smoothing", -1.0, "var_smoothing"),
     ("ddof", 3, "ddof"), ("missing", "no", "missing"), ("tied", "yes", "tied")],
)  # fmt: skip
def test_parameters_that_become_invalid_are_refused_by_the_next_chunk(rows, parameter, value, text):
    model = GaussianNB().partial_fit(*rows, CLASSES).partial_fit(*rows)
    before = model.stats_
    model.set_params(**{parameter: value})
    with pytest.raises(ValueError, match=text):
        model.partial_fit(*rows)
    assert model.stats_ is before


def test_parameters_of_the_last_chunk_count(rows):
    """As they do where estimates do not wait."""
    model = GaussianNB().partial_fit(*rows, CLASSES).partial_fit(*rows)
    model.set_params(var_smoothing=0.5)
    small = model.epsilon_
    assert model.partial_fit(*rows).epsilon_ > 1e6 * small
    priors = [0.25, 0.25, 0.5]
    model.set_params(priors=priors).partial_fit(*rows)
    priors[:] = [0.5, 0.25, 0.25]
    assert model.class_prior_.tolist() == [0.25, 0.25, 0.5]
    assert model.partial_fit(*rows).class_prior_.tolist() == priors


def test_edits_before_anything_was_read(rows):
    X, y = rows
    model, twin = (GaussianNB().partial_fit(X, y, CLASSES).partial_fit(X, y) for _ in range(2))
    prior = np.array([0.5, 0.25, 0.25])
    for each in (model, twin):
        theta = each.theta_ if each is twin else None
        each.class_prior_ = prior
        assert theta is None or each.theta_ is theta
    assert model.predict_proba(X).tobytes() == twin.predict_proba(X).tobytes()
    assert model.class_prior_ is prior
    model.var_[0] *= 4.0
    changed = model.predict_proba(X)
    assert changed.tobytes() != twin.predict_proba(X).tobytes()
    assert pickle.loads(pickle.dumps(model)).predict_proba(X).tobytes() == changed.tobytes()
    assert model.partial_fit(X, y).class_prior_.tolist() != prior.tolist()
    model.theta_ = None
    del model.theta_
    assert model.theta_.shape == (3, 4)


def test_statistics_by_hand_are_checked(rows):
    """What a kernel reads without a look has the shapes and types that it was compiled for."""
    X, y = rows
    model = GaussianNB().partial_fit(X, y, CLASSES).partial_fit(X, y)
    wanted = copy.deepcopy(model).partial_fit(X, y).stats_.variance
    for name in ("mean", "variance", "mean_lo"):
        value = getattr(model.stats_, name)
        for other in (np.asfortranarray(value), value.astype(">f8"), value.repeat(2, 1)[:, ::2]):
            edited = copy.copy(model)
            edited.stats_ = copy.copy(model.stats_)
            object.__setattr__(edited.stats_, name, other)
            assert edited.partial_fit(X, y).stats_.variance.tobytes() == wanted.tobytes()
        edited.stats_ = copy.copy(model.stats_)
        object.__setattr__(edited.stats_, name, value[:, :2])
        with pytest.raises(ValueError, match=r"Expected statistics of|cannot be combined"):
            edited.partial_fit(X, y)
