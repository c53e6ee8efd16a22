"""Model files: what comes back, and what is refused."""

from __future__ import annotations

import json
import os

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save as dump
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB as Reference

import fastgnb
from fastgnb import (
    ClassStats,
    GaussianBayes,
    GaussianNB,
    ModelFileError,
    PCAGaussianNB,
    _model_file,
    load,
    persist,
    save,
)
from fastgnb.persist import SavedModel

LABELS = {
    "int": np.array([3, -7, 2**62]),
    "small int": np.array([3, 1, 2], np.int8),
    "unsigned": np.array([3, 1, 2**64 - 1], np.uint64),
    "bool": np.array([True, False, True]),
    "float": np.array([1.0, -3.0, 1e300]),
    "text": np.array(["b", "a", 'ü — quoted " and \n']),
    "object": np.array(["b", "a", "longer"], object),
}


def fitted(labels=LABELS["int"], **keywords):
    X = np.arange(18.0).reshape(6, 3) ** 1.5
    return GaussianNB(**keywords).fit(X, np.tile(labels, 2)), X


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("missing", ["error", "skip"])
def test_a_loaded_model_is_the_saved_one(tmp_path, kind, missing):
    model, X = fitted(LABELS[kind], missing=missing, var_smoothing=1e-5)
    save(model, tmp_path / "model.fgnb")
    again = load(tmp_path / "model.fgnb")
    assert again.get_params() == model.get_params()
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist()
    for name in ("class_count_", "class_prior_", "theta_", "var_"):
        assert getattr(again, name).tobytes() == getattr(model, name).tobytes()
    assert again.epsilon_ == model.epsilon_
    assert again.predict(X).tolist() == model.predict(X).tolist()
    labels = np.tile(LABELS[kind], 2)
    assert (again.partial_fit(X, labels).var_ == model.partial_fit(X, labels).var_).all()
    assert (again.merge(model).theta_ == model.merge(again).theta_).all()


def test_priors_names_and_edits_are_kept(tmp_path):
    import pandas as pd

    X = pd.DataFrame({"a, b": [0.0, 1.0, 5.0], "ü": [1.0, 2.0, 3.0]})
    model = GaussianNB(priors=[0.25, 0.75]).fit(X, ["n", "n", "y"])
    model.theta_[0, 0] = 0.125
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.feature_names_in_.tolist() == ["a, b", "ü"]
    assert again.theta_[0, 0] == 0.125
    assert again.class_prior_.tolist() == [0.25, 0.75]
    assert again.stats_.mean[0, 0] == 0.5


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        save(GaussianNB(), tmp_path / "m")
    with pytest.raises(TypeError, match=r"Expected a fastgnb.GaussianNB, got GaussianNB"):
        save(Reference(), tmp_path / "m")
    bytes_model, _ = fitted(np.array([1, 2, 3], np.longdouble))
    with pytest.raises(ValueError, match=r"Labels of dtype .* cannot be saved"):
        save(bytes_model, tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_what_is_saved_can_be_loaded(tmp_path):
    model, X = fitted()
    model.class_prior_ = np.array([1.0, 2.0, 0.5])  # edited, and obeyed as it is
    model.set_params(priors=[0.5, 0.5])  # for a fit to come
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert (again.predict_joint_log_proba(X) == model.predict_joint_log_proba(X)).all()
    model.theta_ = model.theta_[:, :2]
    with pytest.raises(ValueError, match=r"Expected theta_ of shape \(3, 3\), got \(3, 2\)"):
        save(model, tmp_path / "m")
    text, X = fitted(np.array([np.str_("a"), np.str_("b"), np.str_("c")], object))
    save(text, tmp_path / "m")
    assert load(tmp_path / "m").classes_.tolist() == ["a", "b", "c"]


def test_a_failed_save_keeps_the_old_file(tmp_path, monkeypatch):
    model, X = fitted()
    path = tmp_path / "m"
    save(model, path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk on fire")))
    with pytest.raises(OSError, match="disk on fire"):
        save(model.partial_fit(X, np.tile(LABELS["int"], 2)), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="No such file"):
        load(tmp_path / "nothing")


def test_truncated_and_foreign_files(tmp_path):
    model, _ = fitted()
    path = tmp_path / "m"
    save(model, path)
    whole = path.read_bytes()
    for size in [0, 1, 7, 8, 9, 100, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(ModelFileError, match="not a whole fastgnb model file"):
            load(path)
    path.write_bytes(whole + b"x")
    with pytest.raises(ModelFileError, match="not a whole fastgnb model file"):
        load(path)
    path.write_bytes(dump({"a": np.zeros(3)}))
    with pytest.raises(ModelFileError, match="a safetensors file, but not a fastgnb model"):
        load(path)


def test_every_altered_byte_is_found(tmp_path):
    model, _ = fitted()
    path = tmp_path / "m"
    save(model, path)
    whole = path.read_bytes()
    for at in range(0, len(whole), 13):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(ModelFileError):
            load(path)


def forged(tmp_path, change):
    """A file whose digest is right and whose content is not."""
    saved = persist.SavedModel.from_stats(ClassStats.from_rows([[0.0], [1.0], [3.0]], [0, 0, 1]))
    tensors, document = persist._tensors(saved), persist._document(saved)
    change(tensors, document)
    text = json.dumps(document)
    path = tmp_path / "forged"
    path.write_bytes(_model_file.pack(text, tensors))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, d: d.update(schema=99), "has schema 99, and this version of fastgnb reads 2"),
        (lambda t, d: t.update(var=-t["var"]), "var is negative"),
        (lambda t, d: t.update(theta=t["theta"] * np.nan), "theta is not finite"),
        (lambda t, d: t.update(count=t["count"][:1]), r"count is float64 \(1,\), expected \(2,\)"),
        (lambda t, d: t.update(class_prior=t["class_prior"] * 0), "no class has a prior above 0"),
        (lambda t, d: t.pop("var"), "not valid: 'var'"),
        (lambda t, d: d["classes"].update(values=[1, 1]), "classes are not sorted and distinct"),
        (lambda t, d: d["classes"].update(values=[1, 0]), "classes are not sorted and distinct"),
        (lambda t, d: d.update(feature_names=["a", "b"]), "2 feature names for 1 features"),
        (lambda t, d: d.update(var_smoothing=-1), "var_smoothing must be a number from 0 up"),
        (lambda t, d: d.update(missing="drop"), "missing must be 'error' or 'skip'"),
        (lambda t, d: d.pop("classes"), "not valid: 'classes'"),
    ],
)
def test_content_that_makes_no_model(tmp_path, change, message):
    with pytest.raises(ModelFileError, match=message):
        load(forged(tmp_path, change))


def test_a_saved_model_scores_without_scikit_learn(tmp_path):
    model, X = fitted()
    save(model, tmp_path / "m")
    saved = persist.read(tmp_path / "m")
    scores = saved.score(X, table="proba", evidence=True)
    assert (scores.table == model.predict_proba(X)).all()
    assert (scores.evidence == model.predict_log_evidence(X)).all()
    assert saved.versions["fastgnb"] == fastgnb.__version__
    with pytest.raises(ValueError, match="X has 2 features, but the model is expecting 3"):
        saved.score(X[:, :2])
    with pytest.raises(ValueError, match="Input X contains NaN: the value in row 1, column 2"):
        saved.score(np.where(np.arange(18).reshape(6, 3) == 5, np.nan, X))
    with pytest.raises(ValueError, match="total weight is 0"):
        persist.SavedModel.from_stats(ClassStats.from_rows(X[:0], LABELS["int"][:0]))


MEMBERS = [
    GaussianNB(tied=True, ddof=1),
    GaussianBayes(shrinkage=0.25, reg_param=np.float64(0.125)),
    GaussianBayes(tied=True, priors=[0.75, 0.25], covariance_type="diag"),
    PCAGaussianNB(n_components=np.int64(2)),
    PCAGaussianNB(n_components=0.5, rotation="class", var_smoothing=0.0),
]


@pytest.mark.parametrize("estimator", MEMBERS, ids=repr)
def test_every_member_comes_back_and_learns_on(tmp_path, rng, estimator):
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    X[:, 1] += X[:, 0]
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = clone(estimator).fit(frame, y)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))
    again.partial_fit(frame + 1, y)
    model.partial_fit(frame + 1, y)
    assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))
    assert np.array_equal(again.merge(model).class_count_, 2 * model.class_count_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda t, d: d.update(model="GaussianMixture"),
            "model is 'GaussianMixture', expected one",
        ),
        (lambda t, d: d.update(model=["GaussianBayes"]), "expected one of"),
        (lambda t, d: d.update(schema=1), "'options' is unknown"),
        (lambda t, d: d.update(options=[]), "options are not an object"),
        (lambda t, d: d["options"].pop("tied"), "'tied' is missing"),
        (lambda t, d: d["options"].update(rotation="total"), "'rotation' is unknown"),
        (lambda t, d: d["options"].update(shrinkage=[0.5]), "shrinkage is a list"),
        (lambda t, d: d["options"].update(reg_param=2.0), "reg_param must be a number from 0 to 1"),
        (lambda t, d: d.update(priors=[1.0]), "Number of priors must match number of classes"),
        (lambda t, d: d.update(missing="skip"), "missing='skip' needs diagonal scatter"),
        (lambda t, d: t.pop("covariance"), "'covariance' is missing"),
        (lambda t, d: t.update(theta=t["mean"]), "'theta' is unknown"),
        (lambda t, d: t.update(covariance=t["covariance"][:2]), r"covariance is float64 \(2, 2\)"),
        (lambda t, d: t.update(covariance=t["covariance"] * np.nan), "covariance is not finite"),
        (lambda t, d: t["covariance"].__setitem__((0, 1), 0.5), "covariance is not symmetric"),
        (lambda t, d: t["covariance"].__setitem__((0, 0), 9.5), "diagonal of covariance is not"),
        (
            lambda t, d: t.update(
                covariance=np.where(np.tile(np.eye(2), (2, 1)), t["covariance"], 99.0)
            ),
            "covariance is more than variances allow",
        ),
        (
            lambda t, d: t.update(feature_count=np.full((2, 2), 3.0)),
            "covariance and feature_count exclude each other",
        ),
    ],
)
def test_content_that_makes_no_member(tmp_path, rng, change, message):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    saved = SavedModel.from_stats(
        ClassStats.from_rows(X, y, scatter="full"), model="GaussianBayes", shrinkage=0.5
    )
    document, tensors = persist._document(saved), dict(persist._tensors(saved))
    tensors["covariance"] = tensors["covariance"].copy()
    change(tensors, document)
    (tmp_path / "m").write_bytes(_model_file.pack(json.dumps(document), tensors))
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "m")


def test_what_earlier_versions_can_read_is_written_for_them(tmp_path, rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    for model, schema in ((GaussianNB(), 1), (GaussianNB(tied=True), 2), (GaussianBayes(), 2)):
        save(model.fit(X, y), tmp_path / "m")
        assert _model_file.unpack(tmp_path / "m")[0]["schema"] == schema


@pytest.mark.parametrize("row", [0, 7])
def test_a_saved_model_names_rows_that_are_not_finite(row):
    model, X = fitted()
    saved = SavedModel.from_stats(model.stats_)
    X = np.vstack([X, X])
    X[row, 1] = np.nan
    with pytest.raises(ValueError, match=f"Input X contains NaN: the value in row {row}, column 1"):
        saved.score(X)
    with pytest.raises(ValueError, match="X has 2 features, but the model is expecting 3"):
        saved.score(X[:, :2])


def test_a_saved_model_keeps_what_it_was_told():
    model, _ = fitted()
    priors = np.array([0.5, 0.25, 0.25])
    saved = SavedModel.from_stats(
        model.stats_, priors=priors, var_smoothing=0.5, target="y", weight="w"
    )
    assert saved.priors == [0.5, 0.25, 0.25]
    assert saved.class_prior.tolist() == saved.priors
    assert (saved.var_smoothing, saved.target, saved.weight) == (0.5, "y", "w")
    assert saved.versions["fastgnb"] == fastgnb.__version__
    assert np.array_equal(saved.var, model.stats_.variance + saved.epsilon)
    again = saved.with_stats(model.stats_ + model.stats_)
    assert (again.priors, again.target, again.weight) == (saved.priors, "y", "w")
    assert SavedModel.from_stats(model.stats_).var_smoothing == 1e-9
