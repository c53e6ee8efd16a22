"""Model files: what comes back, and what is refused."""

from __future__ import annotations

import json
import os

import numpy as np
import pandas as pd
import pytest
from members import CASES, with_categories
from model_files import file_of
from safetensors.numpy import save as dump
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB as Reference

import fastgnb
from fastgnb import (
    ClassStats,
    GaussianBayes,
    GaussianNB,
    MixedNB,
    ModelFileError,
    PCAGaussianNB,
    load,
    save,
)
from fastgnb.files.models import container as _model_file
from fastgnb.files.models import model_file as persist
from fastgnb.files.models.model_file import ModelFile
from fastgnb.files.models.tensors import tensors_of

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
    with pytest.raises(TypeError, match=r"naive_bayes.GaussianNB. fastgnb.GaussianNB.from_sk"):
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
    model.partial_fit(X, np.tile(LABELS["int"], 2))  # kernels are written to their cache here
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk on fire")))
    with pytest.raises(OSError, match="disk on fire"):
        save(model, path)
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
    saved = file_of(ClassStats.from_rows([[0.0], [1.0], [3.0]], [0, 0, 1]))
    tensors, document = tensors_of(saved.model), saved.document()
    change(tensors, document)
    text = json.dumps(document)
    path = tmp_path / "forged"
    path.write_bytes(_model_file.pack(text, tensors))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, d: d.update(schema=99), "has schema 99, and this version of fastgnb reads 4"),
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
    scores = saved.model.score(X, table="proba", evidence=True)
    assert (scores.table == model.predict_proba(X)).all()
    assert (scores.evidence == model.predict_log_evidence(X)).all()
    assert saved.versions["fastgnb"] == fastgnb.__version__
    with pytest.raises(ValueError, match="X has 2 features, but the model is expecting 3"):
        saved.model.score(X[:, :2])
    with pytest.raises(ValueError, match="Input X contains NaN: the value in row 1, column 2"):
        saved.model.score(np.where(np.arange(18).reshape(6, 3) == 5, np.nan, X))
    with pytest.raises(ValueError, match="total weight is 0"):
        file_of(ClassStats.from_rows(X[:0], LABELS["int"][:0]))


MEMBERS = [
    *(case.make() for case in CASES.values()),
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
    X = with_categories(X)
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
    saved = file_of(
        ClassStats.from_rows(X, y, scatter="full"), model="GaussianBayes", shrinkage=0.5
    )
    document, tensors = saved.document(), dict(tensors_of(saved.model))
    tensors["covariance"] = tensors["covariance"].copy()
    change(tensors, document)
    (tmp_path / "m").write_bytes(_model_file.pack(json.dumps(document), tensors))
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "m")


@pytest.fixture
def mixed_frame(rng):
    n = 90
    return pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "word": rng.choice(["x", "y", 'ü"\n'], n),
            "code": rng.choice([-3, 0, 2**60], n),
            "flag": rng.random(n) > 0.5,
            "b": rng.normal(size=n),
        }
    )


MIXED = {
    "names": (MixedNB(categorical_features=["word", "code"], alpha=0.25), None),
    "auto": (MixedNB(categorical_features="auto", min_categories=4, missing="skip"), None),
    "places": (MixedNB(categorical_features=np.array([1, 2]), min_categories=np.array([3, 7])), 4),
    "mask": (MixedNB(categorical_features=[False, True, True, True], priors=[0.25, 0.75]), 4),
    "nothing": (MixedNB(), None),
    "an empty list": (MixedNB(categorical_features=[], alpha=np.float64(0.0)), None),
    "nothing else": (MixedNB(categorical_features="auto", alpha=0), None),
}


@pytest.mark.parametrize("name", MIXED)
def test_mixed_features_come_back_and_learn_on(tmp_path, mixed_frame, rng, name):
    estimator, width = MIXED[name]
    columns = {"nothing": ["a", "b"], "an empty list": ["b", "a"], "nothing else": ["word", "flag"]}
    frame, y = mixed_frame[columns.get(name, list(mixed_frame))], rng.choice(["n", "y"], 90)
    X = frame if width is None else frame.to_numpy(object)[:, :width]
    model = clone(estimator).fit(X, y)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert type(again) is MixedNB
    assert repr(again.get_params()) == repr(
        {key: value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
         for key, value in model.get_params().items()}
    )  # fmt: skip
    for which in ("predict_joint_log_proba", "predict_log_evidence"):
        assert np.array_equal(getattr(again, which)(X), getattr(model, which)(X))
    assert [each.dtype for each in again.categories_] == [each.dtype for each in model.categories_]
    table = persist.read(tmp_path / "m").model.score(np.asarray(X), table="joint").table
    assert np.array_equal(table, model.predict_joint_log_proba(X))
    again.partial_fit(X[:30], y[:30])
    model.partial_fit(X[:30], y[:30])
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(again.merge(model).class_count_, 2 * model.class_count_)
    save(again, tmp_path / "m")
    assert np.array_equal(load(tmp_path / "m").predict_proba(X), again.predict_proba(X))


def test_a_mixed_model_scores_without_scikit_learn(tmp_path, mixed_frame, rng):
    y = rng.choice(3, 90)
    save(MixedNB(categorical_features="auto").fit(mixed_frame, y), tmp_path / "m")
    saved = persist.read(tmp_path / "m")
    assert saved.model.n_features == 5
    with pytest.raises(ValueError, match="X has 4 features, but the model is expecting 5"):
        saved.model.score(mixed_frame[["a", "word", "code", "flag"]])
    gap = mixed_frame.astype(object)
    gap.loc[7, "word"] = None
    with pytest.raises(ValueError, match="the value in row 7, column 1 is not finite"):
        saved.model.score(gap)
    mixed_frame.loc[5, "b"] = np.inf
    with pytest.raises(ValueError, match="the value in row 5, column 4 is not finite"):
        saved.model.score(mixed_frame)


def test_categories_of_odd_types_come_back(tmp_path):
    class Word(str):
        def __str__(self):
            return "another"

    y = np.array([0, 1, 0, 1])
    for values in (
        [-1, 2**62, 0, 0],
        [2**64 - 1, 2**63, 2**63, 2**63 + 1],
        list(map(Word, "abca")),
    ):
        X = np.array(values, object)[:, None]
        model = MixedNB(categorical_features=[0]).fit(X, y)
        save(model, tmp_path / "m")
        again = load(tmp_path / "m")
        assert again.categories_[0].tolist() == model.categories_[0].tolist()
        assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_feature_without_any_category_comes_back(tmp_path):
    X = np.array([[1.0, np.nan], [2.0, np.nan], [4.0, np.nan]])
    model = MixedNB(categorical_features=[1], missing="skip").fit(X, [0, 1, 0])
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.categories_[0].tolist() == []
    X[:, 1] = 5
    again.partial_fit(X, [0, 1, 0])
    assert np.array_equal(again.predict_proba(X), model.partial_fit(X, [0, 1, 0]).predict_proba(X))


def test_edits_that_a_mixed_file_cannot_hold_are_refused(tmp_path, mixed_frame, rng):
    model = MixedNB(categorical_features="auto").fit(mixed_frame, rng.choice(2, 90))
    model.set_params(alpha=2.0)
    with pytest.raises(ValueError, match=r"feature_log_prob_ is not what .* model\.reestimate"):
        save(model, tmp_path / "m")
    save(model.reestimate(), tmp_path / "m")
    model = load(tmp_path / "m")
    model.theta_[0, 0] += 1
    with pytest.raises(ValueError, match="theta_ is not what the statistics"):
        save(model, tmp_path / "m")
    model = load(tmp_path / "m").set_params(categorical_features=[0])
    with pytest.raises(ValueError, match="The statistics have categorical features"):
        save(model, tmp_path / "m")


def feature(d, j):
    return d["categorical"][j]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, d: d.pop("categorical"), "'categorical' is missing"),
        (lambda t, d: d.update(categorical={}), "categorical are not a list of dict"),
        (lambda t, d: d.update(categorical=[]), r"category_count is float64 \(2, 5\), expected"),
        (lambda t, d: d.update(model="GaussianNB"), "'categorical' is unknown"),
        (lambda t, d: d.update(schema=1), "is unknown|expected one of"),
        (lambda t, d: feature(d, 0).pop("dtype"), "'dtype' is missing"),
        (lambda t, d: feature(d, 0).update(more=1), "'more' is unknown"),
        (lambda t, d: feature(d, 0).update(position=True), "position is a bool, expected int"),
        (lambda t, d: feature(d, 0).update(position=-1), "positions of categorical features are"),
        (lambda t, d: feature(d, 0).update(position=2), "positions of categorical features are"),
        (lambda t, d: feature(d, 1).update(position=3), "a categorical feature at 3, of 3 feature"),
        (lambda t, d: feature(d, 1).update(position=10**400), "a categorical feature at 1000"),
        (lambda t, d: feature(d, 1).update(position=1), "asks for|asks|categorical features"),
        (lambda t, d: feature(d, 0).update(dtype="<U1"), "categories of dtype '<U1'"),
        (lambda t, d: feature(d, 0).update(dtype=["|b1"]), "categories of dtype"),
        (lambda t, d: feature(d, 0).update(values=["b", "a", "c"]), "feature 0 are not sorted"),
        (lambda t, d: feature(d, 0).update(values=["a", "a", "c"]), "feature 0 are not sorted"),
        (lambda t, d: feature(d, 0).update(values=["a", 1, "c"]), "are not a list of str"),
        (lambda t, d: feature(d, 1).update(values=[0, True]), "are not a list of int"),
        (lambda t, d: feature(d, 1).update(values=[0, 2**63]), "feature 2 do not fit dtype <i8"),
        (lambda t, d: feature(d, 1).update(values=[0]), r"category_count is float64 \(2, 5\)"),
        (lambda t, d: t.pop("category_count"), "'category_count' is missing"),
        (lambda t, d: t.update(theta=t["mean"]), "'theta' is unknown"),
        (lambda t, d: t.update(covariance=t["mean"]), "'covariance' is unknown"),
        (lambda t, d: t.update(category_count=t["category_count"][:1]), "category_count is float"),
        (lambda t, d: t["category_count"].__setitem__((0, 0), -1.0), "category_count is negative"),
        (lambda t, d: t["category_count"].__setitem__((0, 0), np.nan), "category_count is not fin"),
        (lambda t, d: t["category_count"].__setitem__((1, 4), 99.0), "count of feature 2 is more"),
        (lambda t, d: t.update(category_count=t["category_count"] + 1e308), "is more than count"),
        (lambda t, d: t["category_count"].__setitem__((..., 1), 0.0), "category of feature 0 with"),
        (lambda t, d: d.update(feature_names=["a"]), "1 feature names for 3 features"),
        (lambda t, d: d["options"].update(alpha=-1.0), "alpha must be a number from 0 up"),
        (lambda t, d: d["options"].update(alpha=[1.0]), "alpha is a list"),
        (lambda t, d: d["options"].update(alpha=1e308), "overflows float64"),
        (lambda t, d: d["options"].update(min_categories=[1]), "'min_categories' should have sha"),
        (lambda t, d: d["options"].update(min_categories=0), "min_categories must be from 1 up"),
        (lambda t, d: d["options"].update(min_categories=2**63), "must be below 2"),
        (lambda t, d: d["options"].update(min_categories=[1, "a"]), "min_categories is a list"),
        (lambda t, d: d["options"].update(categorical_features="all"), "must be 'auto', None, or"),
        (lambda t, d: d["options"].update(categorical_features=[0]), "asks for"),
        (lambda t, d: d["options"].update(categorical_features=["no"]), "not a valid feature name"),
        (lambda t, d: d["options"].update(categorical_features=[[0]]), "categorical_features is a"),
        (lambda t, d: t.update(mean=t["mean"][:, :0]), r"is float64 \(2, 1\), expected \(2, 0\)"),
    ],
)
def test_content_that_makes_no_mixed_model(tmp_path, change, message):
    table = pd.DataFrame({"w": list("abcab"), "x": [1.0, 2.0, 0.5, 3.0, 7.0], "n": [0, 1, 1, 0, 1]})
    model = MixedNB(categorical_features=["w", "n"]).fit(table, [0, 0, 0, 1, 1])
    saved = ModelFile(model.to_model())
    document, tensors = saved.document(), tensors_of(saved.model)
    change(tensors, document)
    (tmp_path / "m").write_bytes(
        _model_file.pack(
            json.dumps(document), {n: np.ascontiguousarray(t) for n, t in tensors.items()}
        )
    )
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "m")


def test_what_earlier_versions_can_read_is_written_for_them(tmp_path, rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    for model, schema in (
        (GaussianNB(), 1), (GaussianNB(tied=True), 2), (PCAGaussianNB(), 2), (GaussianBayes(), 3),
        (GaussianBayes(shrinkage_target="spherical"), 2), (PCAGaussianNB(standardize=True), 3),
    ):  # fmt: skip
        save(model.fit(X, y), tmp_path / "m")
        assert _model_file.unpack(tmp_path / "m")[0]["schema"] == schema


@pytest.mark.parametrize("row", [0, 7])
def test_a_saved_model_names_rows_that_are_not_finite(row):
    model, X = fitted()
    saved = file_of(model.stats_)
    X = np.vstack([X, X])
    X[row, 1] = np.nan
    with pytest.raises(ValueError, match=f"Input X contains NaN: the value in row {row}, column 1"):
        saved.model.score(X)
    with pytest.raises(ValueError, match="X has 2 features, but the model is expecting 3"):
        saved.model.score(X[:, :2])


def test_a_saved_model_keeps_what_it_was_told():
    model, _ = fitted()
    priors = np.array([0.5, 0.25, 0.25])
    saved = file_of(model.stats_, priors=priors, var_smoothing=0.5, target="y", weight="w")
    made = saved.model
    assert made.options["priors"] == [0.5, 0.25, 0.25]
    assert made.moments.class_prior.tolist() == made.options["priors"]
    assert (made.options["var_smoothing"], saved.target, saved.weight) == (0.5, "y", "w")
    assert saved.versions["fastgnb"] == fastgnb.__version__
    assert np.array_equal(made.moments.var, model.stats_.variance + made.moments.epsilon)
    again = made.with_stats(model.stats_ + model.stats_)
    assert again.options == made.options
    assert file_of(model.stats_).model.options["var_smoothing"] == 1e-9
