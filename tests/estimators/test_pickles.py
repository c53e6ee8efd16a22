"""Pickles hold what was learned, and nothing of the process or of its caches."""

from __future__ import annotations

import copy
import importlib
import pickle

import cloudpickle
import joblib
import numpy as np
import pandas as pd
import pytest
from members import SHAPES

import fastgnb
from fastgnb import GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB
from fastgnb._numba import threads
from fastgnb.estimators.locks import TURNS

WAYS = {
    "pickle": lambda m: pickle.loads(pickle.dumps(m)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


@pytest.fixture
def rows(make_data):
    X, y = make_data(200, 4, 3)
    X[:, 2] = np.floor(X[:, 2])
    return X, y


@pytest.mark.compiled
@pytest.mark.parametrize(
    "members",
    [
        "fastgnb.GaussianNB()",
        pytest.param(
            "fastgnb.MixedNB(categorical_features=[2]), fastgnb.GaussianBayes(), "
            "fastgnb.PCAGaussianNB(n_components=3)",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["one", "others"],
)
def test_a_pickle_by_value_works_in_another_process(python, tmp_path, members):
    """cloudpickle.register_pickle_by_value takes along the module's globals, kernels among them.

    The other process compiles those anew.
    """
    write = (
        f"import fastgnb\nmade = [{members}]"
        + """
import sys, numpy as np, cloudpickle
cloudpickle.register_pickle_by_value(fastgnb)
X = np.random.default_rng(0).normal(size=(200_000, 8))
y = (X[:, 0] > 0).astype(int)
X[:, 2] = y
answers = [m.fit(X, y).predict_joint_log_proba(X) for m in made]  # on threads
with open(sys.argv[1], "wb") as file:
    cloudpickle.dump((made, X, y, answers, fastgnb.ClassStats.from_rows), file)
"""
    )
    read = """
import sys, pickle, numpy as np
with open(sys.argv[1], "rb") as file:
    made, X, y, answers, from_rows = pickle.load(file)
same = [np.array_equal(m.predict_joint_log_proba(X), a) for m, a in zip(made, answers)]
print(all(same), from_rows(X, y).count.sum())
"""
    python(write, str(tmp_path / "models"))
    printed = python(read, str(tmp_path / "models"))
    assert printed.strip() == "True 200000.0"


@pytest.mark.compiled
def test_process_state_starts_anew(monkeypatch):
    monkeypatch.setattr(threads._process, "is_forked", True)
    monkeypatch.setitem(threads._process.running, "kernel", object())
    again = pickle.loads(pickle.dumps(threads._process))
    assert vars(again) == vars(threads._Process())


def test_turns_hold_locks_beside_models(rows):
    model = GaussianNB().fit(*rows)
    assert TURNS.of(model) is TURNS.of(model)
    assert TURNS.of(model) is not TURNS.of(GaussianNB())
    assert not any(value is TURNS.of(model) for value in vars(model).values())
    with pickle.loads(pickle.dumps(TURNS)).of(model):
        pass

    class Equal(GaussianNB):  # noqa: PLW1641
        def __eq__(self, other):
            return True

    assert Equal().fit(*rows).partial_fit(*rows).stats_.count.sum() == 400


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SHAPES)
def test_copies_answer_learn_and_draw_alike(rows, name, way):
    model = SHAPES[name].make().fit(*rows)
    again = WAYS[way](model)
    assert np.array_equal(again.predict_log_proba(rows[0]), model.predict_log_proba(rows[0]))
    assert np.array_equal(again.sample(5, 0)[0], model.sample(5, 0)[0])
    again.partial_fit(*rows)
    assert (again.stats_.count == 2 * model.stats_.count).all()
    assert model.stats_.count.sum() == 200


@pytest.mark.parametrize("mmap_mode", [None, "r"])
@pytest.mark.parametrize("name", SHAPES)
def test_joblib_gives_the_same_answers(rows, name, mmap_mode, tmp_path):
    model = SHAPES[name].make().fit(*rows)
    joblib.dump(model, tmp_path / "model")
    again = joblib.load(tmp_path / "model", mmap_mode=mmap_mode)
    for _ in range(2):
        assert np.array_equal(again.predict_proba(rows[0]), model.predict_proba(rows[0]))


@pytest.mark.parametrize("way", WAYS)
def test_a_pickle_holds_no_whitener(rows, way):
    """What is computed from attributes is computed again, so that it cannot disagree with them."""
    model = GaussianBayes().fit(*rows)
    assert not {"_prepared", "_rotated"} & set(model.__getstate__())
    again = WAYS[way](model)
    with pytest.raises(ValueError, match="read-only"):
        again.means_[0, 0] = 7.0
    assert joblib.hash(again) == joblib.hash(model)
    again.predict(rows[0])
    assert joblib.hash(again) == joblib.hash(model)


SKOPS = {
    "GaussianNB": lambda: GaussianNB(priors=[0.2, 0.3, 0.5]),
    "GaussianNB, array of priors": lambda: GaussianNB(priors=np.array([0.2, 0.3, 0.5])),
    "GaussianNB, skip": lambda: GaussianNB(missing="skip"),
    "GaussianBayes": lambda: GaussianBayes(shrinkage="oas"),
    "GaussianBayes, tied": lambda: GaussianBayes(tied=True, priors=(0.2, 0.3, 0.5)),
    "PCAGaussianNB": lambda: PCAGaussianNB(n_components=0.9),
    "PCAGaussianNB by class": lambda: PCAGaussianNB(rotation="class"),
    "MixedNB, no category": MixedNB,
    "MixedNB, positions": lambda: MixedNB(categorical_features=[2], min_categories=9),
    "MixedNB, names": lambda: MixedNB(categorical_features=["c", "text"], missing="skip"),
    "MixedNB, auto": lambda: MixedNB(categorical_features="auto"),
}


@pytest.mark.parametrize("labels", ["int", "text", "object"])
@pytest.mark.parametrize("member", SKOPS)
def test_skops_files_of_every_member_load(rows, member, labels):
    skops = pytest.importorskip("skops.io")
    X, y = rows
    y = np.array(["p", "q", "r"], {"object": object}.get(labels))[y] if labels != "int" else y
    if "names" in member or "auto" in member:
        X = pd.DataFrame(X, columns=list("abcd")).assign(text=np.array(["u", "v"])[rows[1] % 2])
    elif "array" in member:
        X = pd.DataFrame(X, columns=list("abcd"))
    model = SKOPS[member]().fit(X, y)
    data = skops.dumps(model)
    assert set(skops.get_untrusted_types(data=data)) <= set(fastgnb.skops_types())
    again = skops.loads(data, trusted=fastgnb.skops_types())
    assert type(again) is type(model)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(again.predict(X), model.predict(X))
    again.partial_fit(X, y)
    assert (again.stats_.count == 2 * model.stats_.count).all()


def test_types_for_skops_are_ours_and_importable():
    for name in fastgnb.skops_types():
        module, _, kind = name.rpartition(".")
        assert module.split(".")[0] == "fastgnb"
        assert getattr(importlib.import_module(module), kind).__name__ == kind


def test_dir_shows_public_names_only():
    assert dir(fastgnb) == sorted(fastgnb.__all__)


def test_functions_can_be_pickled_by_value():
    cloudpickle.register_pickle_by_value(fastgnb)
    try:
        for function in (fastgnb.load, fastgnb.save):
            assert cloudpickle.dumps(function)
    finally:
        cloudpickle.unregister_pickle_by_value(fastgnb)


@pytest.mark.parametrize("model", [GaussianNB(), MixedNB()], ids=str)
def test_an_edit_in_place_of_a_copy_is_obeyed(rows, model):
    """Parameters are kept for attributes that are as they were, in a copy too."""
    model = model.fit(*rows)
    X = rows[0]
    before = model.predict_joint_log_proba(X)
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.predict_joint_log_proba(X), before)
        again.class_prior_ *= 2.0
        np.testing.assert_allclose(again.predict_joint_log_proba(X), before + np.log(2.0))
        again.class_prior_ /= 2.0
        assert np.array_equal(again.predict_joint_log_proba(X), before)
    assert np.array_equal(model.predict_joint_log_proba(X), before)
