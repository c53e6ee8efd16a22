"""Files of earlier schemas hold what they held, predict and learn on."""

from __future__ import annotations

import json
import pathlib
import re

import numpy as np
import oracles
import pytest
from model_file_cases import GAPS, ROWS, SEVENS, TEXT, models, objects, state
from model_files import file_of
from oracles import class_stats, exact
from same_bits import assert_same_bits
from sklearn.base import clone

from fastgnb import (
    ClassStats,
    GaussianBayes,
    GaussianNB,
    MixedNB,
    MixedStats,
    ModelFileError,
    PCAGaussianNB,
    from_bytes,
    load,
    to_bytes,
)
from fastgnb.files.models import container as _model_file
from fastgnb.files.models import model_file as persist
from fastgnb.files.models.tensors import tensors_of

DATA = pathlib.Path(__file__).parents[1] / "data"
WEIGHT = np.array([1, 2, 4, 0.5, 1, 1, 2, 4])
NAMED = ("a, b", "größe\n")

# What each file of tests/data was made of: rows, labels, weights, and what is particular about it.
PAST = {
    "schema1_plain": (ROWS, SEVENS, None, {}),
    "schema1_names_text": (ROWS, TEXT, None, {"feature_names": NAMED, "var_smoothing": 2.0**-20}),
    "schema1_skip": (GAPS, SEVENS.astype(np.int8), None, {"missing": "skip"}),
    "schema1_priors": (ROWS, SEVENS == 7, None, {"priors": [0.25, 0.75], "var_smoothing": 0.0}),
    "schema1_edited": (ROWS, TEXT.astype(object), None, {"theta": 0.125, "class_prior": [0.5] * 2}),
    "schema1_columns": (
        ROWS, SEVENS * 1.0, WEIGHT,
        {"feature_names": ("u", "v"), "target": "label", "weight": "w"},
    ),
    "schema1_peak": (ROWS, SEVENS, None, {"peak": True}),
}  # fmt: skip


def floats(values):
    return np.array([[float(value) for value in row] for row in values])


@pytest.mark.promise("model files")
@pytest.mark.parametrize("name", PAST)
def test_files_of_the_past_hold_what_they_held(name):
    X, y, weight, odd = PAST[name]
    saved, truth = persist.read(DATA / f"{name}.fgnb"), class_stats(X, y, weight)
    model = saved.model
    stats, moments = model.stats, model.moments
    assert model.classes.tolist() == truth.classes
    assert model.classes.dtype == y.dtype
    assert stats.count.tolist() == truth.count
    assert (stats.weight == floats(truth.weight)).all()
    for got, low, want in zip(
        stats.mean.ravel(), stats.mean_lo.ravel(), np.ravel(truth.mean), strict=True
    ):
        assert abs(exact(got) + exact(low) - want) <= abs(want) * 1e-15
    want = floats(truth.scatter) / floats(truth.weight)
    np.testing.assert_allclose(stats.variance, want, rtol=1e-14)
    assert model.feature_names == odd.get("feature_names")
    assert model.options["priors"] == odd.get("priors")
    assert model.options["var_smoothing"] == odd.get("var_smoothing", 1e-9)
    assert model.missing == odd.get("missing", "error")
    assert (saved.target, saved.weight) == (odd.get("target"), odd.get("weight"))
    assert (stats.max_scatter is not None) == odd.get("peak", False)
    share = stats.count / stats.count.sum()
    assert moments.class_prior.tolist() == odd.get("class_prior", odd.get("priors", share.tolist()))
    theta = stats.mean.copy()
    theta[0, 1] = odd.get("theta", theta[0, 1])
    assert (moments.theta == theta).all()
    assert (moments.var == stats.variance + moments.epsilon).all()


@pytest.mark.parametrize("name", PAST)
def test_files_of_the_past_predict_and_learn_on(name):
    X, y, weight, odd = PAST[name]
    model = load(DATA / f"{name}.fgnb")
    far = pytest.importorskip("pandas").DataFrame(X, columns=odd["feature_names"]) if (
        "feature_names" in odd
    ) else X  # fmt: skip
    joint = model.predict_joint_log_proba(far)
    for row, got in zip(X, joint, strict=True):
        want = oracles.joint(row, model.class_prior_, model.theta_, model.var_)
        np.testing.assert_allclose(got, [float(v) for v in want], rtol=1e-12)
    assert model.predict(far).tolist() == model.classes_[joint.argmax(axis=1)].tolist()
    model.partial_fit(far, y, sample_weight=weight)
    both = np.ones(len(y)) if weight is None else weight
    truth = class_stats(X, y, 2 * both)
    assert model.class_count_.tolist() == truth.count
    np.testing.assert_allclose(model.stats_.mean, floats(truth.mean), rtol=1e-14)
    np.testing.assert_allclose(model.stats_.scatter, floats(truth.scatter), rtol=1e-14)


# The same of other members: rows, labels, the estimator.
PAST_MEMBERS = {
    "schema2_tied": (ROWS, SEVENS, GaussianNB(tied=True, covariance_type="spherical", ddof=1)),
    "schema2_full": (
        ROWS,
        TEXT,
        GaussianBayes(reg_param=0.125, shrinkage="oas", shrinkage_target="spherical"),
    ),
    "schema2_shared": (
        ROWS,
        SEVENS,
        GaussianBayes(tied=True, ddof=1, priors=[0.25, 0.75], shrinkage_target="spherical"),
    ),
    "schema2_axes": (ROWS, SEVENS, PCAGaussianNB(n_components=1, rotation="within")),
    "schema2_own_axes": (ROWS, SEVENS, PCAGaussianNB(n_components=0.875, rotation="class")),
    "schema3_shrunk": (ROWS, TEXT, GaussianBayes(reg_param=0.125, shrinkage="oas")),
    "schema3_scaled": (ROWS, SEVENS, PCAGaussianNB(n_components=1, standardize=True)),
    "schema2_mixed": (
        objects(GAPS[:, 0], [None, *TEXT[1:]], SEVENS == 7, np.arange(8) // 3),
        TEXT,
        MixedNB(
            categorical_features=[1, 2, 3],
            alpha=0.25,
            min_categories=[2, 2, 9],
            max_categories=None,
            missing="skip",
        ),
    ),
    "schema3_mixed": (
        objects(ROWS[:, 0], TEXT, np.arange(8) // 3),
        SEVENS,
        MixedNB(categorical_features=[1, 2], max_categories=99),
    ),
}


@pytest.mark.promise("model files")
@pytest.mark.parametrize("name", PAST_MEMBERS)
def test_members_of_the_past_predict_and_learn_on(name):
    X, y, estimator = PAST_MEMBERS[name]
    model, truth = load(DATA / f"{name}.fgnb"), clone(estimator).fit(X, y)
    assert repr(model) == repr(estimator)
    np.testing.assert_allclose(
        model.predict_joint_log_proba(X), truth.predict_joint_log_proba(X), rtol=1e-9
    )
    more = X[::-1] if X.dtype == object else X + 1
    model.partial_fit(more, y)
    truth.partial_fit(more, y)
    np.testing.assert_allclose(
        model.predict_joint_log_proba(X), truth.predict_joint_log_proba(X), rtol=1e-9
    )


PAST_STATISTICS = {
    "schema4_plain": lambda: ClassStats.from_rows(ROWS, TEXT, WEIGHT, feature_names=NAMED),
    "schema4_full": lambda: ClassStats.from_rows(ROWS, SEVENS, scatter="full"),
    "schema4_skip": lambda: ClassStats.from_rows(GAPS, SEVENS, missing="skip"),
    "schema4_peak": lambda: less(ROWS, SEVENS),
    "schema4_no_rows": lambda: ClassStats.from_rows(ROWS[:0], SEVENS[:0], classes=[7, 8]),
    "schema4_mixed": lambda: MixedStats.from_rows(
        objects(ROWS[:, 0], TEXT), SEVENS, categorical_features=[1]
    ),
}


def less(X, y):
    return ClassStats.from_rows(X, y) - ClassStats.from_rows(X[:1], y[:1])


@pytest.mark.promise("model files")
@pytest.mark.parametrize("name", PAST_STATISTICS)
def test_statistics_of_the_past_are_what_they_were(name):
    stats, data = PAST_STATISTICS[name](), (DATA / f"{name}.stats").read_bytes()
    assert_same_bits(from_bytes(data), stats)
    assert to_bytes(stats) == data


def test_a_schema_has_its_files():
    """Whoever raises SCHEMA adds files of the new number to tests/data, and to what is above."""
    past = [*PAST, *PAST_MEMBERS, *PAST_STATISTICS]
    numbers = {int(re.match(r"schema(\d+)_", name)[1]) for name in past}
    assert numbers == set(range(1, _model_file.SCHEMA + 1))
    paths = [path for path in DATA.iterdir() if path.suffix in (".fgnb", ".stats")]
    assert {path.stem for path in paths} == set(past)
    for name, path in [(path.stem, path) for path in paths]:
        document, _, _ = _model_file.unpack(path)
        assert name.startswith(f"schema{document['schema']}_")


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (_model_file.SCHEMA + 1, r"has schema 5, and this version of fastgnb reads 4\. Update"),
        (0, "has schema 0, expected a number from 1 to 4"),
        (-1, "has schema -1, expected a number"),
        (True, "has schema True, expected a number"),
        (1.0, "has schema 1.0, expected a number"),
        ("1", "has schema '1', expected a number"),
        (None, "has schema None, expected a number"),
    ],
)
def test_other_schemas(path, schema, message):
    """A file of the future need not be laid out as ours, so its number is looked at first."""
    text = json.dumps({"schema": schema, "what": "knows who?"})
    path.write_bytes(_model_file.pack(text, {"new": np.zeros(3, np.float32)}))
    with pytest.raises(ModelFileError, match=message):
        load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, d: t.update(mean=t["mean"][0]), r"mean is float64 \(2,\), expected \(2, featur"),
        (
            lambda t, d: t.update(mean=t["mean"][:, :0]),
            r"mean_low is float64 \(2, 2\), exp",
        ),
        (lambda t, d: t.update(more=t["mean"]), "not valid: 'more' is unknown"),
        (lambda t, d: t.update(count=np.full(2, 1e308)), "count overflows in sum"),
        (lambda t, d: t.update(mean_low=t["mean"]), "mean_low is more than the rounding error"),
        (lambda t, d: t.update(feature_count=t["mean"] + 9), "feature_count is more than count"),
        (lambda t, d: t.update(peak=t["mean"] * np.nan), "peak is not finite"),
        (lambda t, d: t.update(peak=t["mean"] - 99), "peak is negative"),
        (lambda t, d: t.update(var=t["var"].astype("f4")), "var is F32, expected F64"),
        (lambda t, d: d.update(more=1), "not valid: 'more' is unknown"),
        (lambda t, d: d.pop("epsilon"), "not valid: 'epsilon' is missing"),
        (
            lambda t, d: d.update(model="Other"),
            r"model is 'Other', expected one of \['GaussianNB'\]",
        ),
        (lambda t, d: d.update(epsilon=np.nan), "epsilon must be a number from 0 up, got nan"),
        (lambda t, d: d.update(epsilon=-1.0), "epsilon must be a number from 0 up, got -1.0"),
        (lambda t, d: d.update(var_smoothing=True), "var_smoothing must be a number .* got True"),
        (lambda t, d: d.update(feature_names="ab"), "feature_names are not a list of str"),
        (lambda t, d: d.update(feature_names=[1, 2]), "feature_names are not a list of str"),
        (lambda t, d: d.update(priors=[0.5, 0.6]), "The sum of the priors should be 1"),
        (lambda t, d: d.update(priors=[-1.0, 2.0]), "Priors must be non-negative"),
        (lambda t, d: d.update(priors=[np.nan, 1.0]), "The sum of the priors should be 1"),
        (lambda t, d: d.update(priors=["0.5", "0.5"]), "priors are not a list of float"),
        (lambda t, d: d.update(priors=1.0), "priors are not a list of float"),
        (lambda t, d: d.update(versions=["1"]), "versions are not an object"),
        (lambda t, d: d.update(versions={"a": 1}), "versions are not a list of str"),
        (lambda t, d: d.update(columns={}), "'target' is missing"),
        (lambda t, d: d.update(columns=[]), "columns is a list, expected dict"),
        (lambda t, d: d["columns"].update(target=1), "target is a int, expected str"),
        (lambda t, d: d["classes"].update(dtype=1), "dtype is a int, expected str"),
        (lambda t, d: d["classes"].update(dtype="(1,"), r"labels of dtype '\(1,'"),
        (lambda t, d: d["classes"].update(dtype="|i1", values=[0, 300]), "do not fit dtype .i1"),
        (lambda t, d: d["classes"].update(values=[0.5, 1.5]), "classes are not a list of int"),
        (lambda t, d: d["classes"].update(values=[False, 7]), "classes are not a list of int"),
        (lambda t, d: d["classes"].update(values=[7]), r"expected \(1,\)"),
        (lambda t, d: d["classes"].update(dtype="<f8", values=[0.0, np.nan]), "not whole numbers"),
        (lambda t, d: d["classes"].update(dtype="<f8", values=[0.0, 0.5]), "not whole numbers"),
        (lambda t, d: d["classes"].update(dtype="<f2", values=[0.0, 1e9]), "do not fit dtype <f2"),
        (lambda t, d: d["classes"].update(dtype="<U1", values=["a", "bc"]), "do not fit dtype <U1"),
        (lambda t, d: d["classes"].update(dtype="<U1", values=["b", "a"]), "sorted and distinct"),
    ],
)
def test_what_makes_no_model_is_named(path, change, message):
    document = json.loads(json.dumps(models()["whole numbers"].document()))
    tensors = tensors_of(models()["whole numbers"].model)
    change(tensors, document)
    path.write_bytes(
        _model_file.pack(
            json.dumps(document), {n: np.ascontiguousarray(t) for n, t in tensors.items()}
        )
    )
    with pytest.raises(ModelFileError, match=message):
        load(path)


def test_a_saved_model_unlearns_on_as_it_would_have(path):
    """What is left after subtracting has the rounding error of what there was: `peak` tells."""
    X = np.array([[1e8], [0.3], [0.8], [0.3], [-1.3]])
    kept = ClassStats.from_rows(X, [0] * 5)
    loaded = kept
    for i in range(4):
        one = ClassStats.from_rows(X[i : i + 1], [0])
        file_of(loaded).write(path)
        loaded = persist.read(path).model.stats - one
        kept = kept - one
    assert state(file_of(loaded)) == state(file_of(kept))
    assert loaded.max_scatter.tobytes() == kept.max_scatter.tobytes()


def test_a_model_that_subtracted_nothing_stores_no_peak(path):
    models()["text"].write(path)
    assert "peak" not in _model_file.unpack(path)[1]
    assert persist.read(path).model.stats.max_scatter is None
