"""Streams of DuckDB: a relation is learned and scored, and reads the answers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from engines import engine_module
from same_bits import assert_same_bits

from fastgnb import GaussianNB, MixedNB, files
from fastgnb.files import SourceError

duckdb = engine_module("duckdb")
pytestmark = [pytest.mark.engine, pytest.mark.compiled]

N = 300_000


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, N)
    return pa.table(
        {
            "a": rng.normal(y),
            "b": rng.normal(y).astype(np.float32),
            "c": rng.choice(["u", "v"], N),
            "y": y,
        }
    )


@pytest.fixture
def connection(rows):
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE flowers AS FROM rows")
        yield connection


@pytest.mark.promise("partitions")
@pytest.mark.parametrize("kind", [{}, {"scatter": "full"}, {"categorical": "c"}])
def test_statistics_of_a_relation_have_the_bits_of_those_of_a_table(connection, rows, kind):
    relation = connection.sql("FROM flowers")
    options = {"target": "y", "features": ["a", "b", *kind.get("categorical", "")], **kind}
    expected = files.fit_stats(rows, **options)
    assert_same_bits(files.fit_stats(relation, **options), expected)
    assert_same_bits(files.fit_stats(relation.to_arrow_reader(2048), **options), expected)
    assert_same_bits(files.fit_stats(relation.to_arrow_table(), **options), expected)


def test_answers_come_back_in_order(connection, rows):
    stats = files.fit_stats(rows, target="y", features=["a", "b"])
    model = GaussianNB().fit_stats(stats)
    answers = files.predict_stream(model, connection.sql("FROM flowers"), proba=True, keep="y")
    cursor = connection.cursor()
    cursor.register("answers", answers)
    cursor.execute("CREATE TABLE scored AS FROM answers")
    table = connection.sql("FROM scored").to_arrow_table()
    X = rows.select(["a", "b"]).to_pandas()
    np.testing.assert_array_equal(table["prediction"].to_numpy(), model.predict(X))
    np.testing.assert_array_equal(table["y"].to_numpy(), rows["y"].to_numpy())
    proba = np.column_stack([table[f"proba_{label}"].to_numpy() for label in range(3)])
    np.testing.assert_array_equal(proba, model.predict_proba(X))


def test_categories_and_decimals(connection, rows):
    frame = rows.select(["a", "c"]).to_pandas()
    model = MixedNB(categorical_features=["c"]).fit(frame, rows["y"].to_numpy())
    relation = connection.sql("SELECT c::ENUM('u', 'v') AS c, a FROM flowers")
    result = files.predict_stream(model, relation).read_all()
    np.testing.assert_array_equal(result["prediction"].to_numpy(), model.predict(frame))
    decimals = connection.sql("SELECT a::DECIMAL(9, 3) AS a, b, y FROM flowers")
    exact = connection.sql("SELECT a::DECIMAL(9, 3)::DOUBLE AS a, b::DOUBLE AS b, y FROM flowers")
    assert_same_bits(files.fit_stats(decimals, target="y"), files.fit_stats(exact, target="y"))


def test_nulls_and_no_rows(connection):
    holes = connection.sql("SELECT if(a > 0, a, NULL) AS a, y FROM flowers")
    with pytest.raises(SourceError, match=r"stream: column 'a', row .*: missing value"):
        files.fit_stats(holes, target="y")
    stats = files.fit_stats(holes, target="y", missing="skip")
    positive = connection.sql("SELECT count(*) FROM flowers WHERE a > 0").fetchall()[0][0]
    assert stats.feature_count.sum() == positive
    nothing = connection.sql("SELECT a, y FROM flowers WHERE a > 1e9")
    assert files.fit_stats(nothing, target="y").count.sum() == 0


def test_an_error_of_the_query_is_the_cause(connection):
    wrong = connection.sql("SELECT if(a < -3, error('a is negative'), a) AS a, y FROM flowers")
    with pytest.raises(
        SourceError, match=r"stream: the stream failed with .*: .*negative"
    ) as caught:
        files.fit_stats(wrong, target="y")
    assert caught.value.__cause__ is not None
