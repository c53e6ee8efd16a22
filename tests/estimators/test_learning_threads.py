"""One model, threads that learn and threads that ask: every answer is of the model before a call or
after it, and no rows are lost."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from members import SHAPES

from fastgnb import GaussianNB, load, save

CLASSES = [0, 1, 2]


@pytest.fixture(autouse=True)
def hasty():
    """Threads change as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def rows(i, n=30):
    draw = np.random.default_rng([7, i])
    y = np.arange(n) % 3
    X = draw.normal(size=(n, 5)) * (1 + i % 5) + y[:, None] + i % 7
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["g"] = [f"c{v}" for v in draw.integers(0, 3 + 2 * i, n)]
    return frame, y


def make(name):
    case = SHAPES[name]
    return case.make(categorical_features=["g"]) if case.has_categories else case.make()


def batch(name, i):
    X, y = rows(i)
    return (X, y) if SHAPES[name].has_categories else (X.iloc[:, :5].to_numpy(), y)


def answers(model, X):
    """What the methods of a model say, each of one call."""
    return {
        "proba": lambda: model.predict_proba(X).tobytes(),
        "joint": lambda: model.predict_joint_log_proba(X).tobytes(),
        "labels": lambda: model.predict(X).tobytes(),
        "evidence": lambda: model.predict_log_evidence(X).tobytes(),
        "decision": lambda: model.decision_function(X).tobytes(),
        "sample": lambda: repr([each.tolist() for each in model.sample(3, 0)]),
        "pickle": lambda: pickle.loads(pickle.dumps(model)).predict_proba(X).tobytes(),
        "copy": lambda: copy.deepcopy(model).predict_proba(X).tobytes(),
        "reestimate": lambda: model.reestimate().predict_proba(X).tobytes(),
    }


def race(model, steps, X, learn, names=None):
    """Let threads ask while one learns; any answer that is of no state of the model."""
    asked = {name: set() for name in answers(model, X) if names is None or name in names}
    known = {name: {answers(model, X)[name]()} for name in asked}
    twin = copy.deepcopy(model)
    for step in steps:
        learn(twin, step)
        for name in asked:
            known[name].add(answers(twin, X)[name]())
    errors, done = [], threading.Event()

    def ask(name, found):
        try:
            while not done.is_set():
                found.add(answers(model, X)[name]())
        except Exception as error:
            errors.append((name, error))

    threads = [threading.Thread(target=ask, args=each) for each in asked.items()]
    for thread in threads:
        thread.start()
    try:
        for step in steps:
            learn(model, step)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert not errors, errors[0]
    assert {name for name in asked if not asked[name] <= known[name]} == set()


@pytest.mark.promise("turns")
@pytest.mark.parametrize("name", SHAPES)
def test_answers_while_a_thread_learns(name):
    model = make(name).partial_fit(*batch(name, 0), classes=CLASSES)
    steps = [batch(name, i) for i in range(1, 25)]
    race(model, steps, batch(name, 3)[0][:10], lambda m, step: m.partial_fit(*step))


@pytest.mark.parametrize("name", SHAPES)
def test_answers_while_the_classes_change(name):
    model = make(name).fit(*batch(name, 0))
    steps = []
    for i in range(40):
        X, y = batch(name, i)
        steps.append((X, y % (2 + i % 2) + i % 3))
    names = {"proba", "labels", "sample", "copy"}
    race(model, steps, batch(name, 3)[0][:10], lambda m, step: m.fit(*step), names)


@pytest.mark.parametrize("name", SHAPES)
def test_answers_while_models_merge_in(name):
    model = make(name).fit(*batch(name, 0))
    steps = [make(name).fit(X, y + i) for i, (X, y) in
             ((i, batch(name, i)) for i in range(20))]  # fmt: skip
    names = {"proba", "labels", "reestimate", "pickle"}
    race(model, steps, batch(name, 3)[0][:10], lambda m, step: m.merge(step), names)


def test_answers_while_names_and_widths_change():
    """fit with other features: old rows are refused, or answered by the old model."""
    model = GaussianNB().fit(*batch("GaussianNB", 0))
    X = batch("GaussianNB", 1)[0]
    wide = np.hstack([X, X])
    known = {model.predict_proba(X).tobytes()}
    errors, done = set(), threading.Event()

    def ask():
        while not done.is_set():
            try:
                known.add(model.predict_proba(X).tobytes())
            except ValueError as error:
                errors.add(str(error))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for i in range(60):
        model.fit(wide if i % 2 else X, batch("GaussianNB", 0)[1])
    done.set()
    for thread in threads:
        thread.join()
    assert len(known) <= 2
    assert errors <= {"X has 5 features, but GaussianNB is expecting 10 features as input."}


@pytest.mark.promise("turns")
@pytest.mark.parametrize("name", SHAPES)
def test_threads_that_learn_lose_no_rows(name):
    """Each row is learned once, in some order: the sum of all batches, to rounding."""
    batches = [batch(name, i) for i in range(16)]
    model = make(name)
    start = threading.Barrier(4)
    errors = []

    def learn(own):
        start.wait()
        try:
            for X, y in own:
                model.partial_fit(X, y, classes=CLASSES)  # also the first one is a race
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=learn, args=(batches[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors[0]
    alone = make(name)
    for X, y in batches:
        alone.partial_fit(X, y, classes=CLASSES)
    assert (model.class_count_ == alone.class_count_).all()
    np.testing.assert_allclose(
        model.predict_log_proba(batches[0][0]), alone.predict_log_proba(batches[0][0]), atol=1e-9
    )


def test_models_that_merge_into_each_other():
    """Neither waits for the other, whichever comes first."""
    a, b = (GaussianNB().fit(*batch("GaussianNB", i)) for i in (0, 1))
    threads = [
        threading.Thread(target=one.merge, args=(other,)) for one, other in ((a, b), (b, a)) * 4
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
        assert not thread.is_alive()
    assert a.stats_.count.sum() >= 150
    assert b.stats_.count.sum() >= 150


def test_a_call_that_fails_changes_nothing():
    model = GaussianNB().fit(*batch("GaussianNB", 0))
    before = vars(model)
    kept = dict(before)
    X, y = batch("GaussianNB", 1)
    for call in (
        lambda: model.fit(X * np.nan, y),
        lambda: model.partial_fit(X[:, :3], y),
        lambda: model.partial_fit(X, y, classes=[0, 1]),
        lambda: model.set_params(priors=[0.5, 0.5]).fit(X, y),
        lambda: model.merge(GaussianNB().fit(X[:, :2], y)),
    ):
        with pytest.raises(ValueError, match=r"NaN|features|classes|priors"):
            call()
        model.set_params(priors=None)
        assert vars(model) is before
        assert before.keys() == kept.keys()
        assert all(before[name] is kept[name] for name in kept)


def test_saving_while_a_thread_learns(tmp_path):
    model = GaussianNB().partial_fit(*batch("GaussianNB", 0), classes=CLASSES)
    done = threading.Event()

    def learn():
        for i in range(60):
            model.partial_fit(*batch("GaussianNB", i))
        done.set()

    thread = threading.Thread(target=learn)
    thread.start()
    while not done.is_set():
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        wanted = again.reestimate()
        assert np.array_equal(again.theta_, wanted.theta_)
        assert np.array_equal(again.var_, wanted.var_)
        assert np.array_equal(again.class_prior_, wanted.class_prior_)
    thread.join()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_child_does_not_wait_for_a_thread_that_is_not_there():
    from fastgnb.estimators.locks import TURNS

    model = GaussianNB().fit(*batch("GaussianNB", 0))
    taken, leave = threading.Event(), threading.Event()

    def hold():
        with TURNS.of(model):
            taken.set()
            leave.wait(300)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(300)
    child = multiprocessing.get_context("fork").Process(
        target=model.partial_fit, args=batch("GaussianNB", 1)
    )
    child.start()
    child.join(300)
    leave.set()
    thread.join()
    assert child.exitcode == 0
