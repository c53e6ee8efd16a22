"""`fastgnb.dask.Distributed`: an estimator by scikit-learn's conventions, lazy in and lazy out."""

from __future__ import annotations

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from dask_cases import frame_of, labelled_rows, lazy_array, lazy_frame
from engines import engine_module
from members import CASES, SHAPES
from numpy.testing import assert_allclose, assert_array_equal
from same_bits import assert_same_bits
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB as Reference

import fastgnb
from fastgnb import GaussianBayes, GaussianNB, MixedNB
from fastgnb.dask import Distributed, PartitionError, fit_stats

dask = engine_module("dask")
da = engine_module("dask.array")
dd = engine_module("dask.dataframe")

pytestmark = pytest.mark.engine

SIZES = (300, 0, 250, 350)
X, Y, W = labelled_rows()
TEXT = np.array(["a", "bb", "ccc"])[np.arange(len(X)) % 3]
METHODS = [
    "predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba",
    "predict_log_evidence",
]  # fmt: skip


def rows_of(values=X):
    return lazy_array(values, SIZES)


def fitted(model=None, y=Y):
    return Distributed(model or GaussianNB()).fit(rows_of(), rows_of(y))


# --------------------------------------------------------------------- scikit-learn's conventions


def test_parameters_and_clones():
    model = Distributed(GaussianNB(var_smoothing=1e-3), split_every=4)
    assert model.get_params()["estimator__var_smoothing"] == 1e-3
    model.set_params(estimator__tied=True, split_every=2)
    assert model.estimator.tied
    copy = clone(model)
    assert copy.estimator is not model.estimator
    assert (copy.split_every, copy.estimator.tied) == (2, True)
    assert is_classifier(model)
    assert "GaussianNB" in repr(model)


def test_fit_leaves_the_parameters_alone():
    plain = GaussianNB()
    model = Distributed(plain)
    assert model.fit(rows_of(), rows_of(Y)) is model
    assert model.estimator is plain
    assert not hasattr(plain, "classes_")
    assert isinstance(model.estimator_, GaussianNB)
    assert model.classes_.tolist() == [3, 5, 7, 11]
    assert model.n_features_in_ == 6
    assert not hasattr(model, "feature_names_in_")


def test_a_model_that_is_not_fitted():
    model = Distributed(GaussianNB())
    for call in (model.predict, model.predict_proba, model.predict_log_evidence):
        with pytest.raises(NotFittedError):
            call(rows_of())
    for call in (model.evaluate, model.diagnose, model.score):
        with pytest.raises(NotFittedError):
            call(rows_of(), rows_of(Y))
    assert not hasattr(model, "classes_")


def test_pickles():
    model = pickle.loads(pickle.dumps(fitted()))
    assert_array_equal(model.predict(rows_of()), model.estimator_.predict(X))


@pytest.mark.parametrize(
    ("model", "error", "match"),
    [
        (Reference(), TypeError, r"Expected an estimator of fastgnb.*got sklearn\.naive_bayes"),
        (GaussianNB, TypeError, r"Expected an estimator of fastgnb, such as GaussianNB\(\)"),
        (GaussianNB(var_smoothing=-1), ValueError, r"var_smoothing"),
        (GaussianNB(priors=[0.5, 0.5]), ValueError, r"Number of priors must match"),
        (MixedNB(categorical_features=["x"]), ValueError, r"categorical_features should be pass"),
    ],
)
def test_other_estimators_and_parameters_are_refused(model, error, match):
    with pytest.raises(error, match=match):
        Distributed(model).fit(rows_of(), rows_of(Y))


def test_a_fitted_estimator_scores_collections(tmp_path):
    plain = GaussianBayes(reg_param=0.1).fit(X, Y)
    fastgnb.save(plain, tmp_path / "model.fgnb")
    model = Distributed.from_fitted(fastgnb.load(tmp_path / "model.fgnb"))
    assert_array_equal(model.predict_proba(rows_of()), plain.predict_proba(X))
    assert model.estimator.reg_param == 0.1
    with pytest.raises(NotFittedError):
        Distributed.from_fitted(GaussianNB())
    with pytest.raises(TypeError, match="Expected an estimator of fastgnb"):
        Distributed.from_fitted(Reference().fit(X, Y))


def test_rows_in_memory_are_scored_at_once():
    model = fitted()
    for method in METHODS:
        found = getattr(model, method)(X)
        assert type(found) is np.ndarray
        assert_array_equal(found, getattr(model.estimator_, method)(X))
    assert model.score(X, Y) == model.score(rows_of(), rows_of(Y))


# ---------------------------------------------------------------------------------------- streams


@pytest.mark.parametrize("name", SHAPES)
def test_partial_fit_learns_on(name):
    case = SHAPES[name]
    model = Distributed(case.make())
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(rows_of(), rows_of(Y))
    first, second = slice(0, 500), slice(500, None)
    for part, size in ((first, (200, 300)), (second, (400,))):
        model.partial_fit(
            *(lazy_array(v[part], size) for v in (X, Y)),
            classes=[3, 5, 7, 11, 99] if part is first else None,
            sample_weight=lazy_array(W[part], size),
        )
    plain = case.make().partial_fit(X[first], Y[first], [3, 5, 7, 11, 99], W[first])
    plain.partial_fit(X[second], Y[second], sample_weight=W[second])
    assert model.classes_.tolist() == [3, 5, 7, 11, 99]
    assert_array_equal(model.estimator_.class_count_, plain.class_count_)
    assert_allclose(model.estimator_.predict_proba(X), plain.predict_proba(X), rtol=1e-9)


def test_partial_fit_that_raises_leaves_the_model_as_it_was():
    model = fitted(MixedNB(categorical_features=[2]))
    before, plain = pickle.dumps(model), model.estimator_
    bad = X.copy()
    bad[600, 0] = np.inf
    with pytest.raises(PartitionError, match=r"^partition 3: "):
        model.partial_fit(rows_of(bad), rows_of(Y))
    with pytest.raises(PartitionError, match=r"target label\(s\) \[4\]"):
        model.partial_fit(rows_of(), rows_of(np.where(Y == 5, 4, Y)))
    with pytest.raises(ValueError, match="is not the same as on last call to partial_fit"):
        model.partial_fit(rows_of(), rows_of(Y), classes=[1, 2])
    with pytest.raises(ValueError, match="X has 5 features, but MixedNB is expecting 6"):
        model.partial_fit(rows_of(X[:, :5]), rows_of(Y))
    with pytest.raises(ValueError, match="split_every must be"):
        model.set_params(split_every=3).partial_fit(rows_of(), rows_of(Y))
    with pytest.raises(PartitionError):
        model.set_params(split_every=8).fit(rows_of(bad), rows_of(Y))
    assert model.estimator_ is plain
    assert pickle.dumps(model) == before


def test_partial_fit_of_a_frame_keeps_categories():
    whole = frame_of(X, Y)
    frame = lazy_frame(whole.astype({"c": "category"}), SIZES)
    model = Distributed(MixedNB(categorical_features="auto")).fit(frame, "label")
    assert model.estimator_.is_categorical_.tolist() == [False, False, True, False, False, False]
    more = lazy_frame(whole, (450, 450))  # numbers, which "auto" takes for no categories
    model.partial_fit(more, "label")
    assert_same_bits(
        model.estimator_.stats_,
        fit_stats(frame, "label", categorical=["c"]) + fit_stats(more, "label", categorical=["c"]),
    )


def test_threads_that_learn_take_turns():
    model = Distributed(GaussianNB())
    labels = rows_of(Y)

    def learn(_):
        model.partial_fit(rows_of(), labels, classes=[3, 5, 7, 11])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(learn, range(8)))
    assert model.estimator_.class_count_.sum() == 8 * len(X)


# ------------------------------------------------------------------------------ what comes out


def unread(part):
    raise AssertionError("a partition was read")


@pytest.mark.parametrize("y", [Y, Y.astype(np.uint8), TEXT, TEXT.astype(object), Y > 5])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_arrays_have_the_dtypes_and_shapes_of_the_model(y, dtype):
    rows = X.astype(dtype)
    model = Distributed(GaussianNB()).fit(rows_of(rows), rows_of(y))
    lazy = rows_of(rows)
    for method in METHODS:
        found, wanted = getattr(model, method)(lazy), getattr(model.estimator_, method)(rows)
        assert isinstance(found, da.Array)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert found.chunks == (SIZES, *((n,) for n in wanted.shape[1:]))
        answers = found.compute()
        assert answers.dtype == wanted.dtype
        assert_array_equal(answers, wanted)


def test_nothing_is_run_before_it_is_asked_for():
    model = fitted()
    rows = rows_of().map_blocks(unread, dtype=X.dtype, meta=X[:0])
    whole = frame_of(X)
    frame = lazy_frame(whole, SIZES).map_partitions(unread, meta=whole.iloc[:0])
    named = Distributed(GaussianNB()).fit(lazy_frame(frame_of(X, Y), SIZES), "label")
    for method in METHODS:
        getattr(model, method)(rows)
        getattr(named, method)(frame)


def test_arrays_of_unknown_sizes_and_several_chunks_of_columns():
    model = fitted()
    rows = da.from_array(X, chunks=(SIZES, (2, 4)))
    rows._chunks = ((np.nan,) * 4, rows.chunks[1])
    for method in METHODS:
        found = getattr(model, method)(rows)
        assert np.isnan(found.shape[0])
        assert_array_equal(found.compute(), getattr(model.estimator_, method)(X))


@pytest.mark.parametrize("y", [Y, TEXT, Y > 5])
@pytest.mark.parametrize("dtypes", [{}, dict.fromkeys("abcdef", np.float32), {"a": np.float32}])
def test_frames_give_frames(y, dtypes):
    whole = frame_of(X, y).astype(dtypes)
    frame = dd.from_pandas(whole, npartitions=5)
    features = whole.drop(columns="label")
    model = Distributed(GaussianNB()).fit(frame, "label")
    for method in METHODS:
        found = getattr(model, method)(frame.drop(columns="label"))
        wanted = getattr(model.estimator_, method)(features)
        answers = found.compute()
        assert found.divisions == frame.divisions
        assert answers.index.equals(whole.index)
        assert_array_equal(answers.to_numpy(), wanted)
        if wanted.ndim == 1:
            assert isinstance(found, dd.Series)
            assert found.name == ("prediction" if method == "predict" else "log_evidence")
            assert (found.name, found.dtype) == (answers.name, answers.dtype)
        else:
            assert isinstance(found, dd.DataFrame)
            assert answers.columns.tolist() == found.columns.tolist() == model.classes_.tolist()
            assert set(answers.dtypes) == set(found.dtypes) == {wanted.dtype}


@pytest.mark.parametrize(
    "dtypes",
    [
        dict(zip("abcdef", ["f4", "i1", "?", "f4", "i2", "u1"], strict=True)),
        dict.fromkeys("abcdef", "Float32"),
        dict.fromkeys("abcdef", "float32[pyarrow]"),
        {"b": "Int64", "c": "boolean"},
        dict.fromkeys("abcdef", "f2"),
    ],
    ids=lambda dtypes: " ".join(dtypes.values()),
)
@pytest.mark.parametrize("name", ["GaussianNB", "MixedNB", "MixedNB, no categories"])
def test_columns_of_other_types(name, dtypes):
    """The dtypes of answers are known in advance, and are those of rows in memory."""
    pytest.importorskip("pyarrow")
    whole = frame_of(np.round(X - 1000, 1) if "c" not in dtypes else np.abs(X) % 2 // 1, Y)
    whole = whole.astype({key: v for key, v in dtypes.items() if key != "c" or name != "MixedNB"})
    frame = dd.from_pandas(whole, npartitions=3)
    features = whole.drop(columns="label")
    options = {"categorical_features": ["c"]} if name == "MixedNB" else {}
    model = Distributed(getattr(fastgnb, name.partition(",")[0])(**options)).fit(frame, "label")
    for method in METHODS:
        found = getattr(model, method)(frame.drop(columns="label"))
        wanted = getattr(model.estimator_, method)(features)
        answers = found.compute()
        assert_array_equal(answers.to_numpy(), wanted)
        assert np.asarray(found._meta).dtype == answers.to_numpy().dtype == wanted.dtype


def test_answers_are_columns_beside_the_rows():
    frame = dd.from_pandas(frame_of(X, TEXT), npartitions=3)
    model = Distributed(GaussianNB()).fit(frame, "label")
    features = frame.drop(columns="label")
    proba = model.predict_proba(features)[["bb", "ccc"]]
    found = frame.assign(prediction=model.predict(features)).join(proba).compute()
    assert found.columns.tolist() == [*"abcdef", "label", "prediction", "bb", "ccc"]
    assert found["prediction"].tolist() == model.estimator_.predict(frame_of(X)).tolist()
    assert_array_equal(found[["bb", "ccc"]], model.estimator_.predict_proba(frame_of(X))[:, 1:])


def test_rows_that_the_model_does_not_take():
    model = fitted()
    with pytest.raises(ValueError, match="X has 5 features, but GaussianNB is expecting 6"):
        model.predict(rows_of(X[:, :5]))
    named = Distributed(GaussianNB()).fit(lazy_frame(frame_of(X, Y), SIZES), "label")
    with pytest.raises(ValueError, match="The feature names should match"):
        named.predict(lazy_frame(frame_of(X).rename(columns={"a": "z"}), SIZES))
    bad = X.copy()
    bad[310, 5] = np.nan
    answers = model.predict(rows_of(bad))
    with pytest.raises(
        PartitionError, match=r"^partition 2: Input X contains NaN.\nThe value in r"
    ):
        answers.compute()


def test_arrays_for_a_model_with_names_warn_once():
    named = Distributed(GaussianNB()).fit(lazy_frame(frame_of(X, Y), SIZES), "label")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = named.predict(rows_of()).compute()
    assert [str(each.message)[:29] for each in caught] == ["X does not have valid feature"]
    assert_array_equal(found, named.estimator_.predict(frame_of(X)))


def test_frames_for_a_model_without_names_warn_once():
    model, frame = fitted(), lazy_frame(frame_of(X, Y), SIZES)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = model.predict(frame[list("abcdef")]).compute()
        assert model.evaluate(frame, "label").n_rows == len(X)
        assert model.diagnose(frame, "label").n_rows == len(X)
    assert [str(each.message)[:20] for each in caught] == ["X has feature names,"] * 3
    assert_array_equal(found, model.estimator_.predict(X))


# --------------------------------------------------------------------- evaluation and diagnosis


@pytest.mark.parametrize("exact_rows", [10_000, 500, 0])
@pytest.mark.parametrize("name", ["GaussianNB", "GaussianBayes", "MixedNB"])
def test_evaluations_are_those_of_rows_in_memory(name, exact_rows):
    y = np.where(np.arange(len(X)) % 50 == 7, 1234, Y)  # with a label that the model lacks
    model = fitted(CASES[name].make())
    arguments = {"thresholds": [0.123], "exact_rows": exact_rows}
    found = model.evaluate(rows_of(), rows_of(y), rows_of(W), **arguments)
    wanted = fastgnb.evaluate(model.estimator_, X, y, W, **arguments)
    assert_array_equal(found.confusion, wanted.confusion)
    assert (found.accuracy, found.n_unseen) == (wanted.accuracy, wanted.n_unseen)
    assert_allclose([found.log_loss, found.brier], [wanted.log_loss, wanted.brier], rtol=1e-13)
    for label in model.classes_:
        assert_allclose(found.auc(label), wanted.auc(label), rtol=1e-13)
    assert model.score(rows_of(), rows_of(y), rows_of(W)) == wanted.accuracy


def test_evaluations_check_arguments_before_reading():
    model = fitted()
    rows = rows_of().map_blocks(unread, dtype=X.dtype, meta=X[:0])
    with pytest.raises(ValueError, match="exact_rows must be a whole number"):
        model.evaluate(rows, rows_of(Y), exact_rows=-1)
    with pytest.raises(ValueError, match="thresholds must be above 0 and below 1, got 2"):
        model.evaluate(rows, rows_of(Y), thresholds=[2.0])
    with pytest.raises(PartitionError, match=r"^partition 0: Expected labels y that are numbers"):
        model.evaluate(lazy_array(X, (900,)), lazy_array(TEXT, (900,)))
    empty = lazy_array(X[:0], (0, 0)), lazy_array(Y[:0], (0, 0))
    for call in (model.evaluate, model.diagnose):
        with pytest.raises(ValueError, match="found none: 2 partitions are empty"):
            call(*empty)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("name", SHAPES)
def test_diagnoses_are_those_of_rows_in_memory(name, is_weighted):
    model = fitted(SHAPES[name].make())
    given, lazy = ((W,), (rows_of(W),)) if is_weighted else ((), ())
    found = model.diagnose(rows_of(), rows_of(Y), *lazy)
    wanted = fastgnb.diagnose(model.estimator_, X, Y, *given)
    assert found.n_rows == wanted.n_rows
    assert_array_equal(found.z_counts, wanted.z_counts)
    if wanted.correlation is not None:
        assert_allclose(found.correlation, wanted.correlation, atol=1e-10)
    assert [each.name for each in found.candidates] == [each.name for each in wanted.candidates]
    for one, other in zip(found.candidates, wanted.candidates, strict=True):
        assert_allclose(one[1:], other[1:], rtol=1e-9, atol=1e-12)
    assert found.findings == wanted.findings


def test_diagnoses_of_rows_with_missing_values():
    rows = X.copy()
    rows[::7, 3] = np.nan
    model = Distributed(GaussianNB(missing="skip")).fit(rows_of(rows), rows_of(Y))
    found = model.diagnose(rows_of(rows), rows_of(Y))
    wanted = fastgnb.diagnose(model.estimator_, rows, Y)
    assert found.n_whole_rows == wanted.n_whole_rows == len(X) - len(X[::7])
    for one, other in zip(found.candidates, wanted.candidates, strict=True):
        assert_allclose(one[1:], other[1:], rtol=1e-9, atol=1e-12)


def test_evaluation_and_diagnosis_of_frames():
    whole = frame_of(X, Y, W)
    frame = lazy_frame(whole, SIZES)
    model = Distributed(GaussianNB()).fit(frame, "label", "weight")
    features = whole[list("abcdef")]
    assert model.evaluate(frame, "label", "weight").accuracy == pytest.approx(
        fastgnb.evaluate(model.estimator_, features, Y, W).accuracy, rel=1e-15
    )
    assert model.diagnose(frame, "label", "weight").feature_names == tuple("abcdef")
    with pytest.raises(ValueError, match="The feature names should match"):
        model.evaluate(frame, "label")
