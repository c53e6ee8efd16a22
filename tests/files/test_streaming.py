"""`files.fit_stats` and `files.predict_stream`: Arrow streams of any engine."""

from __future__ import annotations

import weakref

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from same_bits import assert_same_bits
from table_files import write

from fastgnb import ClassStats, GaussianBayes, GaussianNB, MixedNB, MixedStats, files, merge
from fastgnb.files import SourceError
from fastgnb.stats.tree import batch_rows

N = 1000


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, N)
    return pa.table(
        {
            "a": rng.normal(size=N) + y,
            "b": rng.normal(size=N),
            "c": rng.choice(["u", "v", "w"], N),
            "w": rng.integers(0, 3, N),
            "y": np.array(["x", "y", "z"])[y],
        }
    )


def arrays(table):
    X = np.column_stack([table["a"].to_numpy(), table["b"].to_numpy().astype(float)])
    return X, table["y"].to_numpy(zero_copy_only=False)


@pytest.fixture(scope="module")
def model(table):
    X, y = arrays(table)
    return GaussianNB().fit_stats(ClassStats.from_rows(X, y, feature_names=["a", "b"]))


def parts_of(table, lengths=(0, 1, 300, 0, 7, 690, 2)):
    """Record batches of these lengths, as an engine may give them."""
    start = 0
    for n in lengths:
        yield pa.record_batch(
            table.slice(start, n).combine_chunks().to_pydict(), schema=table.schema
        )
        start += n


# ------------------------------------------------------------------ statistics


@pytest.mark.promise("partitions")
@pytest.mark.parametrize("rows", [64, 1000, None])
@pytest.mark.parametrize("kind", [{}, {"scatter": "full"}, {"categorical": "c"}])
def test_streams_and_files_of_every_format_give_the_same_bits(tmp_path, table, kind, rows):
    options = {"target": "y", "weight": "w", "batch_rows": rows, **kind}
    features = ["a", "b", "c"] if "categorical" in kind else ["a", "b"]
    expected = _by_hand(table, features, rows, **kind)
    results = [
        files.fit_stats(data, features=features, **options)
        for data in (table, table.to_batches(max_chunksize=9), parts_of(table), pl.DataFrame(table))
    ]
    for ending in ("parquet", "csv", "arrow"):
        path = write(table, tmp_path / f"rows.{ending}")
        results.append(files.fit_stats(path, features=features, **options))
        results.append(files.fit_stats([path], features=features, **options))
    for result in results:
        assert_same_bits(result, expected)


def _by_hand(table, features, rows, scatter="diag", categorical=None):
    """The slow twin: rows in lists, cut and merged as `merge` says."""
    rows = rows or batch_rows(len(features))
    parts = []
    for start in range(0, len(table), rows):
        part = table.slice(start, rows)
        y, weight = part["y"].to_numpy(zero_copy_only=False), part["w"].to_numpy()
        if categorical is None:
            X, kind = arrays(part)[0], {"scatter": scatter}
            parts.append(ClassStats.from_rows(X, y, weight, feature_names=features, **kind))
        else:
            frame = part.select(features)
            parts.append(MixedStats.from_rows(frame, y, weight, categorical_features=["c"]))
    return merge(parts)


def test_features_are_chosen_as_those_of_files_are(table):
    assert files.fit_stats(table, target="y").feature_names == ("a", "b", "w")
    assert files.fit_stats(table, target="y", exclude="w").feature_names == ("a", "b")
    auto = files.fit_stats(table, target="y", categorical="auto")
    assert auto.feature_names == ("a", "b", "c", "w")
    assert auto.is_categorical.tolist() == [False, False, True, False]


def test_a_lazy_frame_is_read_in_batches(tmp_path, table):
    if not hasattr(pl.LazyFrame, "collect_batches"):
        pytest.skip("this polars has no batches")
    path = write(table, tmp_path / "rows.parquet")
    query = pl.scan_parquet(path).filter(pl.col("w") > 0).with_columns(a=pl.col("a") * 2)
    expected = pl.read_parquet(path).filter(pl.col("w") > 0).with_columns(a=pl.col("a") * 2)
    result = files.fit_stats(query, target="y", features=["a", "b"])
    assert_same_bits(result, files.fit_stats(expected, target="y", features=["a", "b"]))


@pytest.mark.parametrize("categorical", [None, "c"])
@pytest.mark.parametrize("classes", [None, ["x", "y"]])
def test_without_rows(table, categorical, classes):
    options = {"target": "y", "features": ["a", "b", "c"] if categorical else ["a", "b"]}
    options |= {"categorical": categorical, "classes": classes}
    for stream in ([], table[:0], [table[:0].to_batches()] and parts_of(table, [0, 0])):
        empty = files.fit_stats(stream, **options)
        assert empty.classes.tolist() == (classes or [])
        assert empty.count.sum() == 0
        assert empty.feature_names == tuple(options["features"])
        rows = files.fit_stats(table[:100], **{**options, "classes": classes and ["x", "y", "z"]})
        assert_same_bits(merge([empty, rows]), rows)


def test_declared_classes(table):
    some = table.filter(pa.compute.not_equal(table["y"], "z"))
    stats = files.fit_stats(some, target="y", classes=["z", "y", "x"])
    assert stats.classes.tolist() == ["x", "y", "z"]
    assert stats.count[2] == 0
    with pytest.raises(
        SourceError, match=r"stream: column 'y': The target label\(s\) \['z'\] in y"
    ):
        files.fit_stats(table, target="y", classes=["x", "y"])


def test_rows_without_labels_and_bad_rows(table):
    y = table["y"].to_pylist()
    y[5], y[700] = None, None
    a = table["a"].to_numpy().copy()
    a[3] = np.inf
    odd = pa.table({"a": a, "y": y})
    with pytest.raises(SourceError, match="stream: column 'a', row 4: inf is not a finite number"):
        files.fit_stats(odd, target="y", drop_null_target=True)
    with pytest.raises(SourceError, match="stream: column 'y', row 6: the label is null"):
        files.fit_stats(odd, target="y", on_error="skip")
    stats = files.fit_stats(odd, target="y", drop_null_target=True, on_error="skip")
    assert stats.count.sum() == N - 3


def test_missing_values(table):
    a = pa.array([None if i % 3 else value for i, value in enumerate(table["a"].to_pylist())])
    holes = pa.table({"a": a, "b": table["b"], "y": table["y"]})
    with pytest.raises(SourceError, match="stream: column 'a', row 2: missing value"):
        files.fit_stats(holes, target="y")
    stats = files.fit_stats(holes, target="y", missing="skip")
    assert stats.feature_count.sum(axis=0).tolist() == [334.0, 1000.0]


def test_categories_seen_in_one_batch_only():
    pieces = [
        pa.record_batch({"c": ["u", "v"], "y": [0, 1]}),
        pa.record_batch({"c": pa.array([None, None], pa.string()), "y": [0, 0]}),
        pa.record_batch({"c": ["w", "u"], "y": [0, 2]}),
    ]
    options = {"target": "y", "categorical": "c", "missing": "skip"}
    expected = files.fit_stats(pa.Table.from_batches(pieces), batch_rows=2, **options)
    stats = files.fit_stats(iter(pieces), batch_rows=2, **options)
    assert_same_bits(stats, expected)
    assert stats.categories[0].tolist() == ["u", "v", "w"]
    assert stats.counts[0].sum(axis=0).tolist() == [2.0, 1.0, 1.0]
    with pytest.raises(SourceError, match="3 categories"):
        files.fit_stats(iter(pieces), max_categories=2, **options)


class Lost(Exception):
    pass


def failing(table):
    yield from parts_of(table, [400])
    raise Lost("gone")


def test_a_stream_that_fails(table, model):
    with pytest.raises(SourceError, match="stream: the stream failed with Lost: gone") as caught:
        files.fit_stats(failing(table), target="y", exclude="w")
    assert isinstance(caught.value.__cause__, Lost)
    reader = files.predict_stream(model, failing(table), batch_rows=100)
    for _ in range(4):
        assert len(reader.read_next_batch()) == 100
    with pytest.raises(SourceError, match="stream: the stream failed with Lost: gone") as caught:
        reader.read_next_batch()
    assert isinstance(caught.value.__cause__, Lost)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"target": 3}, TypeError, "target must be the name of a column, got 3"),
        ({"weight": ["w"]}, TypeError, r"weight must be the name of a column, got \['w'\]"),
        ({"scatter": "both"}, ValueError, r"scatter must be one of \['diag', 'full'\], got 'both'"),
        ({"missing": "drop"}, ValueError, "missing must be 'error' or 'skip', got 'drop'"),
        ({"on_error": "null"}, ValueError, r"on_error must be one of \['fail', 'skip'\]"),
        ({"categorical": "c", "scatter": "full"}, ValueError, "scatter must be 'diag' where there"),
        ({"features": "a", "exclude": "b"}, ValueError, "features and exclude exclude each other"),
        ({"batch_rows": 0}, ValueError, "batch_rows must be a whole number, 1 or more"),
        ({"max_categories": 0}, ValueError, "max_categories must be a whole number, 1 or more"),
        ({"max_classes": 2}, SourceError, "3 distinct labels .* expected at most 2 classes"),
        ({"categorical": [0]}, TypeError, "categorical must be names of columns, got 0"),
        ({"features": ["a", "d"]}, SourceError, "stream: column 'd' is missing; found 'a', 'b'"),
        (
            {"features": ["a", "c"]},
            SourceError,
            "stream: column 'c', row 1: a value of type string",
        ),
    ],
)
def test_bad_arguments(table, options, error, message):
    with pytest.raises(error, match=message):
        files.fit_stats(table, **{"target": "y", **options})


@pytest.mark.parametrize("data", [3, None, {"a": [1.0]}])
def test_other_data(data):
    with pytest.raises(TypeError, match="Expected a stream of Arrow data"):
        files.fit_stats(data, target="y")


# ------------------------------------------------------------------ answers


@pytest.mark.parametrize("rows", [1, 64, None])
def test_answers_are_those_of_the_estimator(table, model, rows):
    X = table.select(["a", "b"]).to_pandas()
    reader = files.predict_stream(
        model, parts_of(table), proba=True, evidence=True, keep=["y", "c"], batch_rows=rows
    )
    assert reader.schema.names == [
        "y", "c", "prediction", "proba_x", "proba_y", "proba_z", "log_evidence",
    ]  # fmt: skip
    result = reader.read_all()
    assert result.schema == reader.schema
    assert result.select(["y", "c"]).equals(table.select(["y", "c"]))
    assert result["prediction"].to_pylist() == model.predict(X).tolist()
    proba = np.column_stack([result[f"proba_{label}"].to_numpy() for label in "xyz"])
    np.testing.assert_array_equal(proba, model.predict_proba(X))
    np.testing.assert_array_equal(result["log_evidence"].to_numpy(), model.predict_log_evidence(X))


def test_a_model_file_and_a_model_without_names(tmp_path, table, model):
    from fastgnb import save

    save(model, tmp_path / "model.fgnb")
    expected = files.predict_stream(model, table).read_all()
    assert files.predict_stream(tmp_path / "model.fgnb", table).read_all().equals(expected)
    plain = GaussianNB().fit(*arrays(table))
    with pytest.raises(SourceError, match="fitted without column names; name the columns that are"):
        files.predict_stream(plain, table)
    with pytest.raises(SourceError, match="stream: 1 feature, expected 2"):
        files.predict_stream(plain, table, features="a")
    assert files.predict_stream(plain, table, features=["a", "b"]).read_all().equals(expected)
    renamed = table.rename_columns(["A", "B", "c", "w", "y"])
    result = files.predict_stream(model, renamed, features=["A", "B"]).read_all()
    assert result.equals(expected)


@pytest.mark.parametrize("names", [True, False])
def test_categories(table, names):
    frame = table.select(["a", "c"]).to_pandas()
    X, features = (frame, None) if names else (frame.to_numpy(object), ["a", "c"])
    model = MixedNB(categorical_features=["c"] if names else [1]).fit(X, arrays(table)[1])
    result = files.predict_stream(model, table, features=features).read_all()
    assert result["prediction"].to_pylist() == model.predict(X).tolist()


def test_categories_that_are_not_known(table):
    frame = table.select(["a", "c"]).to_pandas()
    model = MixedNB(categorical_features=["c"]).fit(frame, arrays(table)[1])
    other = pa.table({"a": [1.0] * 2000, "c": ["new"] * 2000})
    with pytest.warns(UserWarning, match="knows none of the categories of 'c'"):
        assert len(files.predict_stream(model, other).read_all()) == 2000


def test_bad_rows(table, model):
    a = table["a"].to_numpy().copy()
    a[[0, 500]] = np.nan
    odd = table.set_column(0, "a", pa.array(a))
    reader = files.predict_stream(model, odd)
    with pytest.raises(SourceError, match="stream: column 'a', row 1: missing value"):
        reader.read_all()
    assert len(files.predict_stream(model, odd, on_error="skip").read_all()) == N - 2
    nulls = files.predict_stream(model, odd, on_error="null", proba=True).read_all()
    assert nulls["prediction"].is_null().to_numpy().nonzero()[0].tolist() == [0, 500]
    assert nulls["proba_x"].null_count == 2


def test_a_stream_without_rows(table, model):
    for stream in (table[:0], [], parts_of(table, [0, 0])):
        reader = files.predict_stream(model, stream, proba=True)
        assert reader.schema.names == ["prediction", "proba_x", "proba_y", "proba_z"]
        assert len(reader.read_all()) == 0


def test_columns_of_answers_that_are_kept_too(table, model):
    named = table.append_column("prediction", table["y"])
    with pytest.raises(SourceError, match="column 'prediction' is both kept and written"):
        files.predict_stream(model, named, keep="prediction")
    evidence = table.append_column("log_evidence", table["a"])
    result = files.predict_stream(model, evidence, keep="log_evidence").read_all()
    assert result["log_evidence"].equals(table["a"])


def test_only_a_few_batches_are_in_memory_and_nothing_before_it_is_asked_for(table, model):
    alive: list[weakref.ref] = []
    made = most = 0

    def stream():
        nonlocal made, most
        for _ in range(200):
            values = np.zeros(500)
            alive.append(weakref.ref(values))
            made += 1
            most = max(most, sum(each() is not None for each in alive))
            yield pa.record_batch({"a": values, "b": values})

    reader = files.predict_stream(model, stream(), batch_rows=1000)
    assert made == 1  # which tells the columns
    rows = 0
    while True:
        try:
            rows += len(reader.read_next_batch())
        except StopIteration:
            break
        assert made <= rows // 500 + 1
    assert (rows, made) == (100_000, 200)
    assert most <= 5


def test_another_library_reads_the_answers(table, model):
    frame = pl.from_arrow(files.predict_stream(model, pl.DataFrame(table), keep="w"))
    assert (
        frame["prediction"].to_list()
        == model.predict(table.select(["a", "b"]).to_pandas()).tolist()
    )
    assert frame["w"].to_list() == table["w"].to_pylist()


def test_full_scatter_of_a_stream_makes_any_member(table):
    stats = files.fit_stats(parts_of(table), target="y", features=["a", "b"], scatter="full")
    X, y = arrays(table)
    fitted = GaussianBayes().fit_stats(stats)
    np.testing.assert_allclose(fitted.covariance_, GaussianBayes().fit(X, y).covariance_, 1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_error": "drop"}, "on_error must be one of"),
        ({"batch_rows": 0}, "batch_rows must be a whole number"),
        ({"threads": 0}, "threads must be a whole number"),
    ],
)
def test_bad_arguments_of_scoring(table, model, options, message):
    with pytest.raises(ValueError, match=message):
        files.predict_stream(model, table, **options)
