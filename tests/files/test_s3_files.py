"""Files, models and outputs in S3: what they give is what local ones give, to the bit."""

from __future__ import annotations

import io
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from same_bits import assert_same_bits
from table_files import write

from fastgnb import GaussianNB, files, load, save
from fastgnb.files.tables.sources import open_source

pytestmark = [pytest.mark.engine, pytest.mark.any_version]

TABLES = ["parquet", "csv", "arrow"]


def rows(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return pa.table(
        {
            "a": rng.normal(y, 1.0),
            "b": rng.normal(-y, 2.0),
            "t": [f"é{i}" for i in range(n)],
            "y": np.array(["u", "v", "w"])[y],
        }
    )


@pytest.fixture
def put(s3, tmp_path):
    """Write a table, or an array, to a local file and to an object of the same bytes."""

    def put(data, name):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, np.ndarray):
            np.save(path, data)
        else:
            write(data, path)
        s3.put(name, path.read_bytes())
        return path, f"s3://data/{name}"

    return put


@pytest.mark.parametrize("ending", TABLES)
def test_a_model_of_an_object_is_that_of_the_file(put, ending):
    path, url = put(rows(), f"rows.{ending}")
    here = files.fit(path, target="y", exclude=["t"])
    there = files.fit(url, target="y", exclude=["t"])
    assert_same_bits(here.stats_, there.stats_)


@pytest.mark.parametrize("batch_rows", [None, 700])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_read_by_ranges(put, order, batch_rows):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(2000, 3)), rng.integers(0, 2, 2000)
    data = [put(np.asarray(X[part], order=order), f"{i}.npy") for i, part in enumerate([
        slice(0, 1500), slice(1500, None)])]  # fmt: skip
    labels = put(y, "y.npy")
    here, there = (
        files.fit([d[i] for d in data], target_npy=labels[i], batch_rows=batch_rows) for i in (0, 1)
    )
    assert_same_bits(here.stats_, there.stats_)


def test_labels_of_text_in_an_array(put):
    X, y = np.arange(6.0)[:, None], np.array(["a", "b"] * 3)
    data, labels = put(X.astype(np.float32), "x.npy"), put(y, "y.npy")
    model = files.fit(data[1], target_npy=labels[1])
    assert model.classes_.tolist() == ["a", "b"]
    assert model.theta_.tolist() == [[2.0], [3.0]]


def test_a_folder_stands_for_its_files_in_the_order_of_their_names(s3, put, tmp_path):
    for seed, name in enumerate(["f/b.csv", "f/a/x.parquet", "f/a-b.arrow", "f/_log/x.csv"]):
        put(rows(200, seed), name)
    for name in ("f/.hidden.csv", "f/_SUCCESS", "f/readme.txt", "f2/other.csv"):
        s3.put(name, b"nothing")
    there = open_source(["s3://data/f/"])
    here = open_source([tmp_path / "f"])
    assert [str(path) for path in there.paths] == [
        "s3://data/f/a/x.parquet", "s3://data/f/a-b.arrow", "s3://data/f/b.csv",
    ]  # fmt: skip
    assert [path.name for path in here.paths] == [path.name for path in there.paths]
    assert [batch.X.tobytes() for batch in here] == [batch.X.tobytes() for batch in there]


def test_an_empty_folder_and_a_file_of_another_kind(s3):
    s3.put("empty/readme.md", b"nothing")
    s3.put("rows.xlsx", b"nothing")
    with pytest.raises(files.SourceError, match="s3://data/empty: no data file in this folder"):
        files.fit("s3://data/empty", target="y")
    with pytest.raises(files.SourceError, match=r"s3://data/rows\.xlsx: unknown ending '\.xlsx'"):
        files.fit("s3://data/rows.xlsx", target="y")


@pytest.mark.parametrize("ending", [*TABLES, "npy"])
def test_predictions_are_those_of_local_files(s3, put, tmp_path, ending):
    path, url = put(rows(), "rows.parquet")
    model = files.fit(path, target="y", exclude=["t"])
    counts = files.predict(model, url, f"s3://data/out/p.{ending}", proba=True)
    assert counts == files.predict(model, path, tmp_path / f"p.{ending}", proba=True)
    content = s3.get(f"out/p.{ending}")
    assert content == (tmp_path / f"p.{ending}").read_bytes()
    assert s3.uploads() == []


def test_a_long_output_goes_up_in_parts(s3, put, monkeypatch):
    monkeypatch.setattr("fastgnb._system.remote.upload.PART_BYTES", 5 << 20)
    n = 120_000
    _, url = put(pa.table({"x": np.arange(n) * 0.1, "t": ["t" * 120] * n}), "rows.parquet")
    model = GaussianNB().fit(pa.table({"x": [1.0, 2.0, 7.0, 8.0]}).to_pandas(), [0, 0, 1, 1])
    files.predict(model, url, "s3://data/p.csv", keep=["t"])
    assert len(s3.proxy.seen("PUT /data/p.csv.partNumber")) >= 2
    lines = s3.get("p.csv").splitlines()
    assert len(lines) == n + 1
    assert lines[-1] == b'"' + b"t" * 120 + b'",1'


def test_models_are_saved_and_loaded(s3):
    model = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], [0, 0, 1, 1])
    save(model, "s3://data/models/m.fgnb")
    assert s3.proxy.seen("PUT|POST") == ["PUT /data/models/m.fgnb"]
    s3.proxy.forget()
    assert_same_bits(load("s3://data/models/m.fgnb").stats_, model.stats_)
    assert len(s3.proxy.seen("GET")) == 1
    as_path = load(pathlib.Path("s3://data/models/m.fgnb"))  # which is s3:/data/...
    assert_same_bits(as_path.stats_, model.stats_)


def test_a_model_of_a_table_says_what_it_is(s3, put):
    put(rows(), "rows.parquet")
    model = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], [0, 0, 1, 1])
    with pytest.raises(files.SourceError, match="no such file"):
        files.predict(model, "s3://data/nothing.csv", "s3://data/p.csv")
    with pytest.raises(
        ValueError, match=r"s3://data/rows\.parquet: not a whole fastgnb model file"
    ):
        load("s3://data/rows.parquet")
    before = s3.get("rows.parquet")
    with pytest.raises(ValueError, match="holds rows, which a model would replace"):
        files.merge([model], output="s3://data/rows.parquet")
    assert s3.get("rows.parquet") == before


def test_update_merge_evaluate_and_diagnose(put):
    (first, first_url), (second, second_url) = put(rows(), "a.csv"), put(rows(900, 7), "b.csv")
    model = files.fit(first_url, target="y", features=["a", "b"], output="s3://data/m.fgnb")
    updated = files.update("s3://data/m.fgnb", second_url, output="s3://data/m2.fgnb")
    with pytest.raises(ValueError, match=r"has learned a\.csv already"):
        files.update("s3://data/m.fgnb", first)  # the same content, wherever it is
    other = files.fit(second, target="y", features=["a", "b"])
    merged = files.merge(["s3://data/m.fgnb", other])
    np.testing.assert_allclose(merged.theta_, updated.theta_, rtol=1e-13)
    here = files.evaluate(model, second, target="y")
    assert files.evaluate("s3://data/m.fgnb", second_url).as_dict() == here.as_dict()
    found = files.diagnose("s3://data/m.fgnb", second_url)
    assert found.as_dict() == files.diagnose(model, second, target="y").as_dict()


def test_an_output_would_replace_an_input_under_another_name(put):
    _, url = put(rows(), "rows.csv")
    model = files.fit(url, target="y", exclude=["t"])
    with pytest.raises(ValueError, match="the output would replace an input"):
        files.predict(model, url, "s3a://data/rows.csv")
    with pytest.raises(ValueError, match="given twice"):
        files.fit([url, "s3a://data/rows.csv"], target="y", exclude=["t"])


def test_no_request_asks_for_more_than_a_buffer(s3, monkeypatch):
    """So memory does not grow with an object."""
    from fastgnb._system.remote import reader
    from fastgnb.files.tables import parquet_file

    monkeypatch.setattr(reader, "AHEAD", 1 << 16)
    monkeypatch.setattr(parquet_file, "REMOTE_BUFFER_BYTES", 1 << 16)
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=100_000), "y": rng.integers(0, 2, 100_000)})
    sink = io.BytesIO()
    pq.write_table(table, sink, use_dictionary=False, compression="none")
    s3.put("rows.parquet", sink.getvalue())
    assert sum(len(batch.X) for batch in open_source(["s3://data/rows.parquet"])) == 100_000
    ranges = [each.headers["Range"] for each in s3.proxy.requests if each.method == "GET"
              and "rows.parquet" in each.path]  # fmt: skip
    sizes = [1 + int(text.rpartition("-")[2]) - int(text[6:].partition("-")[0]) for text in ranges]
    assert len(sizes) > 10
    assert max(sizes) <= 1 << 17


def test_a_web_server_is_read_from_and_not_written_to(s3, put):
    """The proxy answers requests without a signature as the store's web site does."""
    path, _ = put(rows(), "rows.csv")
    s3.call("PUT", "/data?acl", headers={"x-amz-acl": "public-read"})
    s3.call("PUT", "/data/rows.csv?acl", headers={"x-amz-acl": "public-read"})
    url = f"{s3.proxy.url}/data/rows.csv"
    there = files.fit(url, target="y", exclude=["t"])
    assert_same_bits(files.fit(path, target="y", exclude=["t"]).stats_, there.stats_)
    with pytest.raises(OSError, match=r"cannot write http.*: a web server takes no files"):
        save(there, f"{s3.proxy.url}/data/m.fgnb")
    with pytest.raises(files.SourceError, match=r"none\.csv: no such file or folder"):
        files.fit(f"{s3.proxy.url}/data/none.csv", target="y")


def test_feather_with_compression_and_an_arrow_stream(s3, put):
    table = rows()
    sink = io.BytesIO()
    feather.write_feather(table, sink, compression="zstd")
    s3.put("rows.feather", sink.getvalue())
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=500)
    s3.put("rows.arrow", sink.getvalue())
    path, _ = put(table, "rows.parquet")
    here = files.fit(path, target="y", exclude=["t"])
    for name in ("rows.feather", "rows.arrow"):
        there = files.fit(f"s3://data/{name}", target="y", exclude=["t"])
        np.testing.assert_allclose(there.theta_, here.theta_, rtol=1e-13)
