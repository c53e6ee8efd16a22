"""Copies and pickles of models, in this process and another, predict and learn on alike."""

from __future__ import annotations

import copy
import functools
import pickle

import pytest
from model_file_cases import GAPS, ROWS, SEVENS, TEXT, models, state
from model_files import file_of
from sklearn.exceptions import NotFittedError

from fastgnb import (
    GaussianNB,
    load,
    save,
)

FRAME = {"a, b": ROWS[:, 0], "größe\n": ROWS[:, 1]}


def learners():
    """Fitted and unfitted things that people pickle."""
    pandas = pytest.importorskip("pandas")
    half, rest = slice(0, 6), slice(6, 8)
    names = GaussianNB(priors=[0.25, 0.75]).fit(pandas.DataFrame(FRAME)[half], TEXT[half])
    return {
        "unfitted": (GaussianNB(var_smoothing=1e-3), ROWS[rest], SEVENS[rest]),
        "plain": (GaussianNB().fit(ROWS[half], SEVENS[half]), ROWS[rest], SEVENS[rest]),
        "named": (names, pandas.DataFrame(FRAME)[rest], TEXT[rest]),
        "skip": (GaussianNB(missing="skip").fit(GAPS, SEVENS), GAPS[rest], SEVENS[rest]),
        "objects": (GaussianNB().fit(ROWS, TEXT.astype(object)), ROWS[rest], TEXT[rest]),
    }


def pickled(thing, _):
    return pickle.loads(pickle.dumps(thing))


def oldest_protocol(thing, _):
    return pickle.loads(pickle.dumps(thing, 0))


def joblibbed(thing, path, compress=0, mmap_mode=None):
    joblib = pytest.importorskip("joblib")
    joblib.dump(thing, path, compress=compress)
    return joblib.load(path, mmap_mode=mmap_mode)


WAYS = {
    "pickle": pickled,
    "oldest protocol": oldest_protocol,
    "copy": lambda thing, _: copy.copy(thing),
    "deepcopy": lambda thing, _: copy.deepcopy(thing),
    "joblib": joblibbed,
    "joblib compressed": functools.partial(joblibbed, compress=3),
    "joblib mapped read-only": functools.partial(joblibbed, mmap_mode="r"),
    "joblib mapped copy-on-write": functools.partial(joblibbed, mmap_mode="c"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["unfitted", "plain", "named", "skip", "objects"])
def test_copies_of_all_kinds_predict_and_learn_on_alike(tmp_path, name, way):
    model, X, y = learners()[name]
    again = WAYS[way](model, tmp_path / "model.joblib")
    assert again.get_params() == model.get_params()
    if name == "unfitted":
        with pytest.raises(NotFittedError):
            again.predict(X)
        model.fit(ROWS, SEVENS)
        again.fit(ROWS, SEVENS)
    before = model.predict_joint_log_proba(X).tobytes()
    assert again.predict_joint_log_proba(X).tobytes() == before
    assert again.predict(X).tolist() == model.predict(X).tolist()
    model_after = copy.deepcopy(model).partial_fit(X, y)
    again.partial_fit(X, y)
    assert again.predict_joint_log_proba(X).tobytes() != before
    assert (
        again.predict_joint_log_proba(X).tobytes()
        == model_after.predict_joint_log_proba(X).tobytes()
    )
    assert model.predict_joint_log_proba(X).tobytes() == before  # nothing is shared
    save(again, tmp_path / "model.fgnb")
    assert load(tmp_path / "model.fgnb").var_.tobytes() == model_after.var_.tobytes()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["subtracted", "missing", "text"])
def test_statistics_and_saved_models_are_copied_whole(tmp_path, name, way):
    saved = models()[name]
    again = WAYS[way](saved, tmp_path / "saved.joblib")
    assert state(again) == state(saved)
    stats = WAYS[way](saved.model.stats, tmp_path / "stats.joblib")
    twice = file_of(stats + stats)
    assert state(twice) == state(file_of(saved.model.stats + saved.model.stats))
    with pytest.raises(AttributeError, match="cannot assign to field"):
        stats.count = None


ELSEWHERE = """
import pickle, sys
import numpy as np
with open(sys.argv[1], "rb") as file:
    model, X, y, answers, after = pickle.load(file)
assert model.predict_joint_log_proba(X).tobytes() == answers
assert model.partial_fit(X, y).predict_joint_log_proba(X).tobytes() == after
print(model.predict(X).tolist())
"""


def test_another_process_unpickles_predicts_and_learns_the_same_bits(python, tmp_path):
    model = GaussianNB().fit(ROWS, TEXT)
    answers = model.predict_joint_log_proba(ROWS).tobytes()
    after = copy.deepcopy(model).partial_fit(ROWS, TEXT).predict_joint_log_proba(ROWS).tobytes()
    (tmp_path / "p").write_bytes(pickle.dumps((model, ROWS, TEXT, answers, after)))
    labels = [model.predict(ROWS).tolist()]
    assert python(ELSEWHERE, str(tmp_path / "p"), PYTHONUTF8="1").strip() == str(labels[0])


@pytest.mark.parametrize("name", ["unfitted", "plain", "named", "skip"])
def test_skops_needs_to_trust_two_names(name):
    """Loading with these runs nothing of the file's: they are classes of plain arrays."""
    io = pytest.importorskip("skops.io")
    model, X, y = learners()[name]
    data = io.dumps(model)
    trusted = ["fastgnb.estimators.naive_bayes.GaussianNB", "fastgnb.stats.class_stats.ClassStats"]
    assert set(io.get_untrusted_types(data=data)) <= set(trusted)
    again = io.loads(data, trusted=trusted)
    assert again.get_params() == model.get_params()
    if name != "unfitted":
        answers = model.predict_joint_log_proba(X).tobytes()
        assert again.predict_joint_log_proba(X).tobytes() == answers
        assert (again.partial_fit(X, y).var_ == model.partial_fit(X, y).var_).all()
