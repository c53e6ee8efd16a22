"""What fails in S3: cut connections, missing things, refusals, and objects that change."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from s3_server import RETRIES
from same_bits import assert_same_bits

from fastgnb import GaussianNB, files, load, save
from fastgnb._system.remote import reader
from fastgnb._system.remote.errors import RemoteError, RemoteNotFoundError, RemotePermissionError

pytestmark = [pytest.mark.engine, pytest.mark.any_version]

DATA = "s3://data/rows.csv"
N = 20_000


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    return pa.table({"a": rng.normal(y), "b": rng.normal(-y), "y": y})


@pytest.fixture
def data(s3, table):
    """An object of CSV and one of Parquet."""
    for name, write in (("rows.csv", pacsv.write_csv), ("rows.parquet", pq.write_table)):
        sink = io.BytesIO()
        write(table, sink)
        s3.put(name, sink.getvalue())
    s3.proxy.forget()
    return s3


@pytest.fixture
def long_model(data, monkeypatch):
    """A model of rows that are written in several parts."""
    monkeypatch.setattr("fastgnb._system.remote.upload.PART_BYTES", 5 << 20)
    n = 120_000
    sink = io.BytesIO()
    pq.write_table(pa.table({"x": np.zeros(n), "t": ["t" * 120] * n}), sink)
    data.put("long.parquet", sink.getvalue())
    return GaussianNB().fit(pa.table({"x": [1.0, 2.0, 7.0, 8.0]}).to_pandas(), [0, 0, 1, 1])


def fit(path=DATA, **options):
    return files.fit(path, target="y", **options)


@pytest.mark.promise("objects")
@pytest.mark.parametrize("path", [DATA, "s3://data/rows.parquet"])
@pytest.mark.parametrize("times", [1, RETRIES, 2 * RETRIES], ids=["once", "again", "for a while"])
def test_a_cut_connection_is_made_again(data, path, times):
    """First s3fs asks for the range again, then the object is opened again at that place."""
    expected = fit(path)
    rule = data.proxy.cut(f"GET /{path[5:]}", times)
    assert_same_bits(fit(path).stats_, expected.stats_)
    assert rule.used == times


@pytest.mark.parametrize("times", [2 * RETRIES, float("inf")])
def test_a_compressed_object_whose_connection_is_cut(data, times):
    data.put("rows.csv.gz", gzip.compress(data.get("rows.csv")))
    data.proxy.cut("GET /data/rows.csv.gz", times)
    if times == 2 * RETRIES:
        assert_same_bits(fit("s3://data/rows.csv.gz").stats_, fit().stats_)
        return
    with pytest.raises(files.SourceError, match=r"s3://data/rows\.csv\.gz: the connection was cut"):
        fit("s3://data/rows.csv.gz")


def test_a_connection_that_stays_cut_is_an_error_that_names_the_object(data):
    rule = data.proxy.cut("GET /data/rows.csv")
    with pytest.raises(files.SourceError) as caught:
        fit(output="s3://data/model.fgnb")
    text = str(caught.value)
    assert text.startswith(f"{DATA}: the connection was cut at byte 0 of ")
    assert f"{reader.TRIES} times in a row (" in text
    assert isinstance(caught.value.__cause__, RemoteError)
    assert caught.value.__cause__.__cause__ is not None
    assert rule.used == reader.TRIES * RETRIES
    assert (data.names(), data.uploads()) == (["rows.csv", "rows.parquet"], [])


@pytest.mark.promise("objects")
def test_an_output_that_cannot_be_finished_leaves_nothing(data):
    """Neither a part nor an object, and the earlier one stays."""
    data.put("p.csv", b"earlier")
    model = fit()
    data.proxy.cut("GET /data/rows.csv", after=100)
    with pytest.raises(files.SourceError, match="the connection was cut"):
        files.predict(model, DATA, "s3://data/p.csv")
    assert (data.get("p.csv"), data.uploads()) == (b"earlier", [])


@pytest.mark.promise("objects")
@pytest.mark.parametrize("request_", ["PUT /data/p.csv.partNumber=2", "POST /data/p.csv.uploadId"])
def test_parts_are_aborted_where_one_or_the_last_step_fails(data, long_model, request_):
    data.proxy.answer(request_, 500, "InternalError")
    with pytest.raises(RemoteError, match=r"s3://data/p\.csv: InternalError of the test"):
        files.predict(long_model, "s3://data/long.parquet", "s3://data/p.csv", keep=["t"])
    assert len(data.proxy.seen("PUT /data/p.csv.partNumber=1&")) == 1
    assert (data.get("p.csv"), data.uploads()) == (None, [])


@pytest.mark.promise("objects")
def test_an_interrupt_aborts_the_parts(data, long_model):
    def interrupt(*_):
        if data.proxy.seen("PUT /data/p.csv.partNumber=1&"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.predict(
            long_model, "s3://data/long.parquet", "s3://data/p.csv", keep=["t"], batch_rows=10_000,
            progress=interrupt,
        )  # fmt: skip
    assert (data.get("p.csv"), data.uploads()) == (None, [])


def test_an_upload_that_is_cut_is_sent_again(data):
    model = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], [0, 0, 1, 1])
    rule = data.proxy.cut("PUT /data/m.fgnb", times=1, after=0)
    rule.drop = True
    save(model, "s3://data/m.fgnb")
    assert rule.used == 1
    assert_same_bits(load("s3://data/m.fgnb").stats_, model.stats_)


@pytest.mark.promise("objects")
@pytest.mark.parametrize("path", [DATA, "s3://data/rows.parquet"])
def test_an_object_that_changes_before_it_is_read_again(data, path):
    """S3 compares the entity tag with each range."""
    key = path.rpartition("/")[2]
    rule = data.proxy.first(f"GET /data/{key}", lambda: data.put(key, b"a,b,y\n1,2,3\n"))
    with pytest.raises(files.SourceError, match=f"{path}: changed while it was in use"):
        fit(path)
    assert rule.used == 1


def test_an_object_that_changes_while_the_connection_is_cut(data):
    rule = data.proxy.first("HEAD /data/rows.csv", lambda: None, times=0)
    data.proxy.cut("GET /data/rows.csv", times=RETRIES)

    def change():
        if data.proxy.seen("GET /data/rows.csv"):
            data.put("rows.csv", b"a,b,y\n1,2,3\n")

    rule.before, rule.times = change, float("inf")
    with pytest.raises(files.SourceError, match=f"{DATA}: changed while it was in use"):
        fit()


def test_an_object_that_is_removed_while_it_is_read(data):
    data.proxy.first("GET /data/rows.parquet", lambda: data.call("DELETE", "/data/rows.parquet"))
    with pytest.raises(files.SourceError, match=r"s3://data/rows\.parquet: no such file"):
        fit("s3://data/rows.parquet")


def test_missing_buckets_and_keys(data, tmp_path):
    with pytest.raises(files.SourceError, match=r"^s3://nothing/rows\.csv: no such bucket$"):
        fit("s3://nothing/rows.csv")
    with pytest.raises(files.SourceError, match=r"^s3://data/nothing\.csv: no such file or folder"):
        fit("s3://data/nothing.csv")
    with pytest.raises(RemoteNotFoundError, match=r"s3://data/no\.fgnb: no such file"):
        load("s3://data/no.fgnb")
    with pytest.raises(FileNotFoundError, match=r"s3://nothing/m\.fgnb: no such bucket"):
        fit(output="s3://nothing/m.fgnb")
    assert data.proxy.seen("GET /data/rows.csv") == []  # nothing was read before


def test_a_folder_is_no_output(data):
    data.put("models/m.fgnb", b"earlier")
    with pytest.raises(RemoteError, match="cannot write s3://data/models: it is a folder"):
        fit(output="s3://data/models/")


def test_refusals_are_told_before_anything_is_read(data):
    data.proxy.answer("POST /data/m.fgnb", 403, "AccessDenied")
    with pytest.raises(PermissionError, match=r"cannot write s3://data/m\.fgnb: access denied"):
        fit(output="s3://data/m.fgnb")
    assert data.proxy.seen("rows.csv") == []
    data.proxy.forget()
    data.proxy.answer("(HEAD|GET) /data/rows.csv", 403, "AccessDenied")
    with pytest.raises(files.SourceError, match=r"rows\.csv: access denied .*AWS_ACCESS_KEY_ID"):
        fit()


def test_no_credentials(data, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    with pytest.raises(files.SourceError, match=r"no credentials .*AWS_ACCESS_KEY_ID.*FSSPEC_S3="):
        fit()
    with pytest.raises(RemotePermissionError, match=r"s3://data/m\.fgnb: no credentials"):
        fit(output="s3://data/m.fgnb")


def test_nobody_listens(data, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(
        files.SourceError, match=r"rows\.csv: Could not connect to the endpoint URL"
    ):
        fit()


def test_truncated_arrays(data):
    for name, content in (("x.npy", b""), ("y.npy", b"\x93NUMPY\x09\x00"), ("z.npy", _short())):
        data.put(name, content)
        with pytest.raises(files.SourceError, match=f"s3://data/{name}: not a .npy array"):
            files.fit(f"s3://data/{name}", target_npy="s3://data/rows.csv")


def _short():
    sink = io.BytesIO()
    np.save(sink, np.zeros((100, 2)))
    return sink.getvalue()[:-8]
