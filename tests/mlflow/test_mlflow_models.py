"""Models in MLflow: data only, loaded by this package and by mlflow.pyfunc."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from engines import need
from members import CASES, with_categories
from sklearn.exceptions import NotFittedError

import fastgnb
import fastgnb.mlflow
from fastgnb import GaussianNB, MixedNB

pytestmark = [
    pytest.mark.engine,
    pytest.mark.filterwarnings("ignore::UserWarning"),  # hints of MLflow
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of pandas, for MLflow
]

FILES = {"MLmodel", "conda.yaml", "model.fgnb", "python_env.yaml", "requirements.txt"}


@pytest.fixture(scope="module")
def mlflow():
    need("mlflow.pyfunc")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mlflow
        import mlflow.pyfunc
        import mlflow.sklearn
    return mlflow


@pytest.fixture
def store(mlflow, tmp_path, monkeypatch):
    """A tracking store of files."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.chdir(tmp_path)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield mlflow
    mlflow.set_tracking_uri(before)


def rows_with_labels(n=300):
    draw = np.random.default_rng(3)
    y = draw.integers(0, 3, n)
    return with_categories(draw.normal(size=(n, 4)) + y[:, None]), y


X, Y = rows_with_labels()
FRAME = pd.DataFrame(
    {"width": X[:, 0], "größe": X[:, 1], "colour": np.array(["red", "it's", "x"])[Y]}
)


@pytest.mark.parametrize("name", CASES)
def test_every_member_is_saved_and_loaded(mlflow, tmp_path, name):
    model = CASES[name].make().fit(X, Y)
    path = tmp_path / "new" / "model"
    fastgnb.mlflow.save_model(model, path)
    assert {each.name for each in path.iterdir()} == FILES
    again = fastgnb.mlflow.load_model(os.fspath(path))
    assert type(again) is type(model)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    function = mlflow.pyfunc.load_model(os.fspath(path))
    assert np.array_equal(function.predict(X), model.predict(X))
    assert function.metadata.flavors["fastgnb"]["member"] == type(model).__name__


def test_the_model_file_is_that_of_save(mlflow, tmp_path):
    model = GaussianNB().fit(X, Y)
    fastgnb.mlflow.save_model(model, tmp_path / "model")
    again = fastgnb.load(tmp_path / "model" / "model.fgnb")
    assert np.array_equal(again.predict(X), model.predict(X))
    text = (tmp_path / "model" / "requirements.txt").read_text()
    assert f"fastgnb=={fastgnb.__version__}" in text.splitlines()


def test_models_are_logged_registered_and_loaded(store):
    model = GaussianNB().fit(X, Y)
    with store.start_run():
        info = fastgnb.mlflow.log_model(
            model, name="model", registered_model_name="flights", input_example=X[:3],
            metadata={"team": "blue"}, tags={"stage": "test"},
        )  # fmt: skip
    for uri in (info.model_uri, "models:/flights/1"):
        assert np.array_equal(fastgnb.mlflow.load_model(uri).predict(X), model.predict(X))
        assert np.array_equal(store.pyfunc.load_model(uri).predict(X), model.predict(X))
    described = store.models.get_model_info(info.model_uri)
    assert described.metadata == {"team": "blue"}
    assert described.signature.inputs.input_types()[0] == np.dtype(np.float64)


def test_frames_have_a_signature_by_name(mlflow, tmp_path):
    model = MixedNB(categorical_features=["colour"]).fit(FRAME, Y)
    path = os.fspath(tmp_path / "model")
    fastgnb.mlflow.save_model(model, path, input_example=FRAME[:4])
    function = mlflow.pyfunc.load_model(path)
    assert function.metadata.signature.inputs.input_names() == list(FRAME)
    assert np.array_equal(function.predict(FRAME), model.predict(FRAME))
    assert np.array_equal(
        function.predict(FRAME[["colour", "width", "größe"]]), model.predict(FRAME)
    )
    assert function.input_example.equals(FRAME[:4])
    with pytest.raises(mlflow.exceptions.MlflowException, match="schema"):
        function.predict(FRAME[["width"]])


def test_frames_for_models_without_names(mlflow, tmp_path):
    path = os.fspath(tmp_path / "model")
    model = GaussianNB().fit(X, Y)
    fastgnb.mlflow.save_model(model, path)
    frame = pd.DataFrame(X, columns=list("abcd"))
    assert np.array_equal(mlflow.pyfunc.load_model(path).predict(frame), model.predict(X))


@pytest.mark.parametrize("method", ["predict_proba", "predict_log_evidence"])
def test_other_answers(mlflow, tmp_path, method):
    model = GaussianNB().fit(X, Y)
    path = os.fspath(tmp_path / "model")
    fastgnb.mlflow.save_model(model, path, pyfunc_predict_fn=method, input_example=X[:2])
    function = mlflow.pyfunc.load_model(path)
    assert np.array_equal(function.predict(X), getattr(model, method)(X))
    assert type(function.get_raw_model()) is GaussianNB


def test_signatures_of_ones_own_and_none(mlflow, tmp_path):
    model = GaussianNB().fit(X, Y)
    signature = mlflow.models.infer_signature(X, Y)
    fastgnb.mlflow.save_model(model, tmp_path / "a", signature=signature)
    fastgnb.mlflow.save_model(model, tmp_path / "b", signature=False, input_example=X[:2])
    loaded = [mlflow.models.Model.load(os.fspath(tmp_path / name)) for name in "ab"]
    assert loaded[0].signature == signature
    assert loaded[1].signature is None


def test_requirements(mlflow, tmp_path):
    model = GaussianNB().fit(X, Y)
    fastgnb.mlflow.save_model(model, tmp_path / "a", extra_pip_requirements=["pandas"])
    fastgnb.mlflow.save_model(model, tmp_path / "b", pip_requirements=["mlflow", "numpy"])
    found = [(tmp_path / name / "requirements.txt").read_text().split() for name in "ab"]
    assert {"pandas", f"fastgnb=={fastgnb.__version__}"} <= set(found[0])
    assert set(found[1]) == {"mlflow", "numpy"}


def test_failures_leave_nothing(mlflow, tmp_path):
    model = GaussianNB().fit(X, Y)
    with pytest.raises(ValueError, match="features, but GaussianNB is expecting 4"):
        fastgnb.mlflow.save_model(model, tmp_path / "model", input_example=X[:2, :3])
    with pytest.raises(TypeError, match="pip_requirements"):
        fastgnb.mlflow.save_model(model, tmp_path / "model", pip_requirements=3)
    with pytest.raises(ValueError, match=r"Expected a pyfunc_predict_fn of .*, got 'fit'"):
        fastgnb.mlflow.save_model(model, tmp_path / "model", pyfunc_predict_fn="fit")
    with pytest.raises(NotFittedError):
        fastgnb.mlflow.save_model(GaussianNB(), tmp_path / "model")
    with pytest.raises(TypeError, match="Expected a model of fastgnb's, got"):
        fastgnb.mlflow.save_model(object(), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_folders_are_not_overwritten(mlflow, tmp_path):
    model = GaussianNB().fit(X, Y)
    (tmp_path / "model").mkdir()
    fastgnb.mlflow.save_model(model, tmp_path / "model")
    before = (tmp_path / "model" / "MLmodel").read_bytes()
    with pytest.raises(FileExistsError, match=r"exists and is not empty\. Give another path"):
        fastgnb.mlflow.save_model(model, tmp_path / "model")
    assert (tmp_path / "model" / "MLmodel").read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["model"]


def test_a_failed_model_is_not_logged(store):
    with store.start_run() as run, pytest.raises(NotFittedError):
        fastgnb.mlflow.log_model(GaussianNB(), name="model")
    assert not store.search_logged_models(output_format="list")
    assert run.info.run_id


def test_altered_folders(mlflow, tmp_path):
    fastgnb.mlflow.save_model(GaussianNB().fit(X, Y), tmp_path / "model")
    path = os.fspath(tmp_path / "model")
    description = tmp_path / "model" / "MLmodel"
    text = description.read_text()
    description.write_text(text.replace("predict_fn: predict", "predict_fn: partial_fit"))
    with pytest.raises(ValueError, match=r"expected a predict_fn of .*, got 'partial_fit'"):
        mlflow.pyfunc.load_model(path)
    description.write_text(text.replace("fastgnb:", "other:", 1))
    with pytest.raises(ValueError, match="has no flavour 'fastgnb', but"):
        fastgnb.mlflow.load_model(path)
    description.write_text(text)
    data = bytearray((tmp_path / "model" / "model.fgnb").read_bytes())
    data[-1] ^= 1
    (tmp_path / "model" / "model.fgnb").write_bytes(data)
    for load in (fastgnb.mlflow.load_model, mlflow.pyfunc.load_model):
        with pytest.raises(fastgnb.ModelFileError):
            load(path)


@pytest.mark.parametrize("name", CASES)
def test_mlflow_sklearn_with_trusted_types(mlflow, tmp_path, name):
    model = CASES[name].make().fit(X, Y)
    path = os.fspath(tmp_path / "model")
    mlflow.sklearn.save_model(
        model, path, skops_trusted_types=fastgnb.skops_types(), pip_requirements=["fastgnb"]
    )
    assert (Path(path) / "model.skops").exists()
    again = mlflow.sklearn.load_model(path)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(mlflow.pyfunc.load_model(path).predict(X), model.predict(X))


def test_mlflow_sklearn_refuses_without_them(mlflow, tmp_path):
    model = GaussianNB().fit(X, Y)
    with pytest.raises(mlflow.exceptions.MlflowException, match="skops_trusted_types"):
        mlflow.sklearn.save_model(model, tmp_path / "model", pip_requirements=["fastgnb"])


def test_mlflow_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    monkeypatch.setitem(sys.modules, "mlflow.models", None)
    monkeypatch.setitem(sys.modules, "mlflow.artifacts", None)
    with pytest.raises(ImportError, match=r"fastgnb.mlflow needs mlflow.*'fastgnb\[mlflow\]'"):
        fastgnb.mlflow.load_model("model")
