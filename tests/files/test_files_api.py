"""`fastgnb.files`: what the commands do, from Python."""

from __future__ import annotations

import inspect
import json
import logging
import os

import numpy as np
import pyarrow as pa
import pytest
from command_line import run
from table_files import write

import fastgnb
from fastgnb import GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB, files
from fastgnb.cli.parser import build_parser
from fastgnb.files.models.container import unpack

N = 300


def table(seed=0, n=N):
    draw = np.random.default_rng(seed)
    code = draw.integers(2, size=n)
    return {
        "a": draw.normal(code, 1.0),
        "b": draw.normal(-code, 2.0),
        "word": np.array(["p", "q", "r"], object)[(code + draw.integers(2, size=n)) % 3],
        "w": draw.uniform(0.5, 2.0, n),
        "y": np.array(["no", "yes"], object)[code],
    }


@pytest.fixture
def data(tmp_path):
    return write(table(), tmp_path / "data.parquet")


@pytest.fixture
def more(tmp_path):
    return write(table(1), tmp_path / "more.parquet")


def content(folder):
    return {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder))}


def same_file(a, b):
    """Two model files of the same bits; the order of their metadata is not decided."""
    (document, tensors, learned), (other, others, learned_too) = unpack(a), unpack(b)
    assert document == other
    assert learned == learned_too
    assert {name: each.tobytes() for name, each in tensors.items()} == {
        name: each.tobytes() for name, each in others.items()
    }


def same_model(a, b):
    """Two estimators of the same parameters and bits."""
    assert type(a) is type(b)
    assert a.get_params() == b.get_params()
    for name in ("classes_", "class_count_", "class_prior_", "theta_"):
        if hasattr(a, name):
            assert np.array_equal(getattr(a, name), getattr(b, name)), name


# ------------------------------------------------------------------ fit

FITS = {
    "default": (None, {"exclude": "w"}, ["--exclude", "w"]),
    "features": (None, {"features": ["b", "a"]}, ["--features", "b,a"]),
    "weight": (GaussianNB(ddof=1), {"weight": "w"}, ["--weight", "w", "--ddof", 1]),
    "smoothing": (
        GaussianNB(priors=[0.25, 0.75], var_smoothing=0.01), {"exclude": ["w"]},
        ["--exclude", "w", "--priors", "0.25,0.75", "--var-smoothing", 0.01],
    ),
    "missing": (GaussianNB(missing="skip"), {}, ["--missing", "skip"]),
    "full": (
        GaussianBayes(shrinkage="oas", tied=True), {},
        ["--model-type", "GaussianBayes", "--shrinkage", "oas", "--tied"],
    ),
    "axes": (
        PCAGaussianNB(n_components=2, standardize=True), {},
        ["--model-type", "PCAGaussianNB", "--n-components", 2, "--standardize"],
    ),
    "categorical": (None, {"categorical": "word"}, ["--categorical", "word"]),
    "auto": (None, {"categorical": "auto"}, ["--categorical", "auto"]),
    "mixed": (
        MixedNB(categorical_features=["word"], alpha=0.5), {},
        ["--categorical", "word", "--alpha", 0.5],
    ),
    "max_categories": (
        MixedNB(max_categories=7), {"categorical": ["word"], "batch_rows": 50},
        ["--categorical", "word", "--max-categories", 7, "--batch-rows", 50],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FITS)
def test_fit_is_that_of_the_command(tmp_path, data, case):
    model, options, words = FITS[case]
    run("fit", data, "--target", "y", *words, "--model", tmp_path / "want", "--quiet")
    before = None if model is None else repr(model.get_params())
    fitted = files.fit(data, target="y", model=model, output=tmp_path / "got", **options)
    same_file(tmp_path / "got", tmp_path / "want")
    same_model(fitted, fastgnb.load(tmp_path / "want"))
    assert model is None or (repr(model.get_params()) == before and not hasattr(model, "classes_"))
    assert fitted.predict(fitted_rows(fitted)).shape == (N,)


def fitted_rows(model):
    """The rows of the table as the model takes them."""
    columns = table()
    if hasattr(model, "categories_"):
        pd = pytest.importorskip("pandas")
        return pd.DataFrame({name: columns[name] for name in model.feature_names_in_})
    return pytest.importorskip("pandas").DataFrame(columns)[list(model.feature_names_in_)]


def test_fit_without_an_output_writes_nothing(tmp_path, data):
    before = content(tmp_path)
    model = files.fit([data], target="y", threads=1)
    assert content(tmp_path) == before
    columns = table()
    X = np.column_stack([columns["a"], columns["b"], columns["w"]])
    same = GaussianNB().fit(X, columns["y"])
    np.testing.assert_allclose(model.theta_, same.theta_, rtol=1e-12)


def test_fit_of_npy(tmp_path):
    columns = table()
    X, y = np.column_stack([columns["a"], columns["b"]]), columns["y"].astype(str)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    model = files.fit(tmp_path / "X.npy", target_npy=tmp_path / "y.npy")
    np.testing.assert_allclose(model.theta_, GaussianNB().fit(X, y).theta_, rtol=1e-12)
    assert files.evaluate(model, tmp_path / "X.npy", target_npy=tmp_path / "y.npy").n_rows == N


# ------------------------------------------------------------------ update, merge


def test_update_is_that_of_the_command(tmp_path, data, more):
    files.fit(data, target="y", weight="w", output=tmp_path / "m")
    before = (tmp_path / "m").read_bytes()
    run("update", tmp_path / "m", more, "--model", tmp_path / "want", "--quiet")
    updated = files.update(tmp_path / "m", more, output=tmp_path / "got")
    same_file(tmp_path / "got", tmp_path / "want")
    assert (tmp_path / "m").read_bytes() == before
    same_model(updated, fastgnb.load(tmp_path / "want"))
    again = files.update(str(tmp_path / "m"), more, output=tmp_path / "m")
    same_file(tmp_path / "m", tmp_path / "want")
    same_model(again, updated)


def test_update_of_an_estimator_leaves_it_as_it_is(data, more):
    model = files.fit(data, target="y", exclude="w")
    count = model.class_count_.copy()
    updated = files.update(model, more, target="y")
    assert np.array_equal(model.class_count_, count)
    assert updated.class_count_.sum() == 2 * N
    same_model(updated, files.fit([data, more], target="y", exclude="w").reestimate())


def test_update_needs_a_target_and_new_files(tmp_path, data):
    model = files.fit(data, target="y", output=tmp_path / "m")
    with pytest.raises(files.SourceError, match="GaussianNB: does not know its target column"):
        files.update(model, data)
    before = content(tmp_path)
    with pytest.raises(ValueError, match=r"m: has learned data\.parquet already"):
        files.update(tmp_path / "m", data, output=tmp_path / "m")
    assert content(tmp_path) == before
    assert files.update(tmp_path / "m", data, again=True).class_count_.sum() == 2 * N


def test_merge_is_that_of_the_command(tmp_path, data, more):
    a = files.fit(data, target="y", output=tmp_path / "a")
    b = files.fit(more, target="y", output=tmp_path / "b")
    words = ["--var-smoothing", 0.25, "--quiet"]
    run("merge", tmp_path / "a", tmp_path / "b", "--model", tmp_path / "want", *words)
    paths = [tmp_path / "a", tmp_path / "b"]
    merged = files.merge(paths, output=tmp_path / "got", var_smoothing=0.25)
    same_file(tmp_path / "got", tmp_path / "want")
    same_model(merged, fastgnb.load(tmp_path / "want"))
    same_model(files.merge([a, tmp_path / "b"], var_smoothing=0.25), merged)
    same_model(files.merge(iter([a, b]), var_smoothing=0.25), merged)


def test_merge_as_another_member(data, more):
    models = [files.fit(path, target="y", model=GaussianBayes()) for path in (data, more)]
    merged = files.merge(models, model_type="GaussianNB", var_smoothing=0.0)
    assert type(merged) is GaussianNB
    both = files.fit([data, more], target="y", model=GaussianNB(var_smoothing=0.0))
    np.testing.assert_allclose(merged.var_, both.var_, rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"alpha": 1.0, "var_smoothing": 0.0}, "--alpha is not an option of GaussianNB"),
        ({"nothing": 1.0, "var_smoothing": 0.0}, "--nothing is not an option of GaussianNB"),
        ({"model_type": "Bayes"}, r"model_type must be one of \['GaussianBayes', .*, got 'Bayes'"),
        (
            {"model_type": "GaussianBayes", "var_smoothing": 0.0},
            "cannot be made of its statistics, which hold diagonal",
        ),
        ({}, r"model 2 \(GaussianNB\): var_smoothing is 0\.01, but 1e-09 in model 1"),
    ],
)
def test_merge_that_fails(data, options, reason):
    models = [files.fit(data, target="y", model=m) for m in (None, GaussianNB(var_smoothing=0.01))]
    with pytest.raises(ValueError, match=reason):
        files.merge(models, **options)


def test_merge_of_nothing():
    with pytest.raises(ValueError, match="models is empty"):
        files.merge([])


# ------------------------------------------------------------------ predict, evaluate


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
@pytest.mark.parametrize("by_path", [False, True])
def test_predict_is_that_of_the_command(tmp_path, data, ending, by_path):
    model = files.fit(data, target="y", categorical="word", output=tmp_path / "m")
    want, got = tmp_path / f"want.{ending}", tmp_path / f"got.{ending}"
    words = ["--proba", "--evidence", "--keep", "w,y", "--quiet"]
    run("predict", tmp_path / "m", data, "--output", want, *words)
    counts = files.predict(
        tmp_path / "m" if by_path else model, data, got,
        proba=True, evidence=True, keep=["w", "y"], batch_rows=None,
    )  # fmt: skip
    assert counts == files.RowCounts(N)
    assert got.read_bytes() == want.read_bytes()


@pytest.mark.parametrize(("on_error", "n"), [("skip", N - 2), ("null", N)])
def test_rows_that_cannot_be_scored(tmp_path, data, on_error, n):
    columns = table(2)
    columns["a"][[3, 7]] = [np.nan, np.inf]
    bad = write(columns, tmp_path / "bad.parquet")
    model = files.fit(data, target="y")
    counts = files.predict(model, bad, tmp_path / "o.csv", on_error=on_error)
    assert counts == (n, 0, 2, 0)
    found = files.evaluate(model, bad, target="y", on_error="skip")
    assert (found.n_rows, found.n_skipped, found.n_null_labels) == (N - 2, 2, 0)
    before = content(tmp_path)
    with pytest.raises(files.SourceError, match=r"bad\.parquet: column 'a', row 4: missing value"):
        files.predict(model, bad, tmp_path / "o.csv")
    assert content(tmp_path) == before


def test_evaluate_is_that_of_the_command(tmp_path, data, more):
    model = files.fit(data, target="y", output=tmp_path / "m")
    run("evaluate", tmp_path / "m", more, "--json", tmp_path / "j", "--quiet")
    want = json.loads((tmp_path / "j").read_text())
    assert files.evaluate(tmp_path / "m", more).as_dict() == want
    assert files.evaluate(model, more, target="y").as_dict() == want


def test_edited_attributes_decide(tmp_path, data):
    model = files.fit(data, target="y")
    model.class_prior_ = np.array([1.0, 0.0])
    files.predict(model, data, tmp_path / "o.csv")
    assert set((tmp_path / "o.csv").read_text().split()[1:]) == {'"no"'}


# ------------------------------------------------------------------ rows


def test_rows_come_in_batches(data):
    rows = files.open_rows(data, target="y", weight="w", categorical="word", keep="b", batch_rows=7)
    assert (rows.features, rows.n_rows) == (("a", "b", "word"), N)
    for _ in range(2):
        batches = [(batch.X.copy(), batch.y, batch.weight, batch.kept) for batch in rows]
        assert len(batches[0][0]) == 7
        columns = table()
        assert np.array_equal(np.vstack([X for X, *_ in batches])[:, 0], columns["a"])
        assert np.array_equal(np.concatenate([y for _, y, *_ in batches]), columns["y"])
        assert np.array_equal(np.concatenate([w for *_, w, _ in batches]), columns["w"])
        assert pa.Table.from_batches([kept for *_, kept in batches]).column_names == ["b"]


# ------------------------------------------------------------------ progress, messages


def test_progress_is_called_after_each_batch(tmp_path, data):
    calls = []
    options = {"batch_rows": 128, "progress": lambda *numbers: calls.append(numbers)}
    model = files.fit(data, target="y", **options)
    want = [(128, N), (256, N), (N, N)]
    assert calls == want
    files.update(model, data, target="y", **options)
    files.predict(model, data, tmp_path / "o.csv", **options)
    files.evaluate(model, data, target="y", **options)
    assert calls == 4 * want
    calls.clear()
    csv = write(table(), tmp_path / "data.csv")
    files.fit(csv, target="y", **options)
    assert calls[-1] == (N, None)


def test_progress_is_a_bar_on_request(data, capsys):
    files.fit(data, target="y")
    assert capsys.readouterr() == ("", "")
    files.fit(data, target="y", progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "300/300" in shown.err


def test_an_error_in_progress_ends_the_job(tmp_path, data):
    class Stop(Exception):
        pass

    def stop(n, total):
        raise Stop

    model = files.fit(data, target="y")
    before = content(tmp_path)
    with pytest.raises(Stop):
        files.fit(data, target="y", progress=stop, output=tmp_path / "m")
    with pytest.raises(Stop):
        files.predict(model, data, tmp_path / "o.csv", progress=stop)
    assert content(tmp_path) == before


def test_what_may_be_wrong_is_a_warning(tmp_path):
    path = write(table() | {"id": np.arange(N)}, tmp_path / "d.parquet")
    with pytest.warns(UserWarning, match="'id' holds whole numbers that go on increasing") as found:
        files.fit(path, target="y")
    assert [each.filename for each in found] == [__file__] * len(found)


def test_decisions_are_logged(data, caplog, capsys):
    with caplog.at_level(logging.INFO, "fastgnb.files"):
        files.fit(data, target="y")
    assert "left out, not numeric: 'word'" in caplog.text
    assert capsys.readouterr() == ("", "")


# ------------------------------------------------------------------ arguments


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({}, ValueError, "One of target and target_npy is required"),
        ({"target": "y", "target_npy": "y.npy"}, ValueError, "exclude each other"),
        ({"target": "y", "features": "a", "exclude": "b"}, ValueError, "exclude each other"),
        ({"target": "y", "on_error": "null"}, ValueError, "on_error must be one of .*, got 'null'"),
        ({"target": "y", "batch_rows": 0}, ValueError, "batch_rows must be a whole number"),
        ({"target": "y", "batch_rows": True}, ValueError, "batch_rows must be a whole number"),
        ({"target": "y", "max_classes": 1.5}, ValueError, "max_classes must be a whole number"),
        ({"target": "y", "threads": 0}, ValueError, "threads must be a whole number, .*, got 0"),
        ({"target": "y", "features": [0]}, TypeError, "features must be names of columns, got 0"),
        ({"target": "y", "categorical": [2]}, TypeError, "must be names of columns, got 2"),
        (
            {"target": "y", "categorical": "word", "model": GaussianNB()}, ValueError,
            "GaussianNB has no categorical features; take MixedNB",
        ),
        ({"target": "y", "model": GaussianNB(var_smoothing=-1.0)}, ValueError, "var_smoothing"),
        ({"target": "z"}, files.SourceError, "column 'z' is missing; found 'a'"),
        ({"target": "y", "max_classes": 1}, files.SourceError, "expected at most 1 classes"),
        ({"target": "y", "output": "no/m"}, FileNotFoundError, "the folder .*no does not exist"),
        ({"target": "y", "output": "data.parquet"}, ValueError, "would replace an input"),
    ],
)  # fmt: skip
def test_fit_that_fails_writes_nothing(tmp_path, data, monkeypatch, options, error, reason):
    monkeypatch.chdir(tmp_path)
    before = content(tmp_path)
    with pytest.raises(error, match=reason):
        files.fit(data, **{"output": "m", **options})
    assert content(tmp_path) == before


def test_other_arguments_that_are_wrong(tmp_path, data):
    model = files.fit(data, target="y")
    with pytest.raises(ValueError, match=r"'o\.txt' does not end in one of \.parquet, \.csv"):
        files.predict(model, data, "o.txt")
    with pytest.raises(ValueError, match="paths is empty"):
        files.predict(model, [], tmp_path / "o.csv")
    with pytest.raises(TypeError, match=r"Expected a model of fastgnb's, got dict"):
        files.evaluate({}, data)
    with pytest.raises(ValueError, match="would replace an input"):
        files.predict(model, data, data)
    with pytest.raises(fastgnb.ModelFileError, match=r"data\.parquet"):
        files.update(data, data)
    with pytest.raises(ValueError, match="target and target_npy exclude each other"):
        files.open_rows(data, target="y", target_npy="y.npy")


# Options of the command line that Python has by another name, in a model, or by other means.
DIALECT = ["sep", "decimal", "thousands", "na_values", "encoding", "quote"]
READING = {"data": "paths", "format": "file_format"} | dict.fromkeys(DIALECT, "csv")
OTHERWISE = {
    "fit": READING | {"model": "output"},
    "update": READING,
    "predict": READING,
    "evaluate": READING | {"json": "as_dict"},
    "merge": {"first": "models", "others": "models"},
}


@pytest.mark.parametrize("command", OTHERWISE)
def test_every_option_of_the_command_line_is_there(command):
    words = {
        "fit": ["d", "--target", "y", "--model", "m"],
        "update": ["m", "d"],
        "predict": ["m", "d", "--output", "o.csv"],
        "evaluate": ["m", "d"],
        "merge": ["a", "b", "--model", "m"],
    }[command]
    parsed = set(vars(build_parser().parse_args([command, *words]))) - {"command", "quiet"}
    in_models = {"model_type", "missing", *fastgnb_options()}
    parameters = set(inspect.signature(getattr(files, command)).parameters)
    here = {OTHERWISE[command].get(name, name) for name in parsed} - in_models - {"as_dict"}
    assert here <= parameters | {"categorical_features"}, here - parameters


def fastgnb_options():
    from fastgnb.model.family import all_options

    return set(all_options())


def test_importing_loads_no_dependency(python):
    code = (
        "import sys, fastgnb.files\n"
        "print([m for m in ('numpy', 'numba', 'sklearn', 'pyarrow', 'logging')"
        " if m in sys.modules], sorted(fastgnb.files.__all__) == dir(fastgnb.files))"
    )
    assert python(code).strip() == "[] True"
    with pytest.raises(AttributeError, match=r"module 'fastgnb\.files' has no attribute 'nothing'"):
        _ = files.nothing


@pytest.mark.parametrize("role", ["target", "weight"])
@pytest.mark.parametrize("job", [files.evaluate, files.diagnose])
def test_columns_are_named(tmp_path, job, role):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1,a\n2,a\n5,b\n6,b\n")
    model = files.fit(path, target="y")
    with pytest.raises(TypeError, match=f"{role} must be the name of a column, got 3"):
        job(model, path, **{"target": "y", role: 3})
