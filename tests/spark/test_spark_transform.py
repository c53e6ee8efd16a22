"""`fastgnb.spark.transform`: the answers of one machine, in further columns."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest
import spark_frames
from spark_frames import FEATURES, KINDS, MEMBERS, partitioned

import fastgnb.spark
from fastgnb.files import SourceError


@pytest.fixture(scope="module")
def frame(spark):
    frame = partitioned(spark, spark_frames.make_table(), 7).persist()
    yield frame
    frame.unpersist()


def fitted(kind, index=0):
    """A member, fitted to the rows without Spark."""
    member = MEMBERS[kind][index]
    return type(member)(**member.get_params()).fit_stats(
        KINDS[kind].of_rows(spark_frames.make_table())
    )


@pytest.mark.parametrize("kind", MEMBERS)
def test_answers_have_the_bits_of_the_estimator(frame, kind):
    model = fitted(kind)
    found = fastgnb.spark.transform(model, frame, "y", "p", "e").toArrow()
    table = frame.toArrow()
    assert found.select(table.column_names).equals(table)
    X = table.select(KINDS[kind].features).to_pandas()
    assert found.column("y").to_pylist() == model.predict(X).tolist()
    assert found.column("p").to_pylist() == model.predict_proba(X).tolist()
    assert found.column("e").to_pylist() == model.predict_log_evidence(X).tolist()


def test_small_batches(spark, frame):
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    model, whole = fitted("diag"), spark.conf.get(name)
    expected = fastgnb.spark.transform(model, frame, probability="p").toArrow()
    spark.conf.set(name, "7")
    try:
        found = fastgnb.spark.transform(model, frame, probability="p").toArrow()
    finally:
        spark.conf.set(name, whole)
    assert found.equals(expected)


def test_columns_of_every_type_are_kept(spark):
    from pyspark.ml.linalg import Vectors
    from pyspark.sql import Row

    row = Row(
        **{
            "a.b": 1.5, "back`tick": "text", "when": datetime.datetime(2026, 1, 2, 3, 4, 5),
            "day": datetime.date(2026, 1, 2), "raw": bytearray(b"\0x"),
            "nested": Row(x=1, y=[1, 2]),
            "map": {"k": 1}, "vector": Vectors.sparse(3, [1], [2.0]), "none": None, "i": 3,
        }
    )  # fmt: skip
    schema = (
        "`a.b` double, `back``tick` string, when timestamp, day date, raw binary, "
        "nested struct<x: int, y: array<int>>, map map<string, int>, vector string, none int, i int"
    )
    from pyspark.ml.linalg import VectorUDT
    from pyspark.sql.types import StructField, StructType

    fields = spark.createDataFrame([], schema).schema.fields
    fields[7] = StructField("vector", VectorUDT(), True, {"ml_attr": {"num_attrs": 3}})
    frame = spark.createDataFrame([row], StructType(fields))
    model = fastgnb.GaussianNB().fit([[1.0, 2.0], [3.0, 4.0]], ["x", "y"])
    scored = fastgnb.spark.transform(model, frame, features=["a.b", "i"])
    assert scored.schema.fields[:-1] == frame.schema.fields
    assert scored.schema["vector"].metadata == {"ml_attr": {"num_attrs": 3}}
    assert scored.collect()[0] == Row(**row.asDict(), prediction="x")


@pytest.mark.parametrize("labels", [[0, 1], [0.0, 1.0], ["a", "b"], [False, True]])
def test_types_of_predictions(spark, labels):
    model = fastgnb.GaussianNB().fit([[1.0], [2.0]], labels)
    frame = spark.createDataFrame([([1.1],), ([1.9],)], "features array<double>")
    kinds = {int: "bigint", float: "double", str: "string", bool: "boolean"}
    scored = fastgnb.spark.transform(model, frame)
    assert scored.schema["prediction"].dataType.simpleString() == kinds[type(labels[0])]
    assert [row.prediction for row in scored.collect()] == labels


def test_vectors_arrays_and_columns(spark):
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions as F

    model = fastgnb.GaussianNB().fit([[1.0, 0.0], [2.0, 1.0]], [0, 1])
    frame = spark.createDataFrame([(1.1, 0.2), (1.9, 0.7)], "x double, y double")
    expected = model.predict_proba([[1.1, 0.2], [1.9, 0.7]]).tolist()
    arrays = frame.select(F.array("x", "y").alias("v"))
    vectors = arrays.select(array_to_vector("v").alias("v"))
    for rows, features in ((arrays, None), (vectors, None), (frame, ["x", "y"]), (vectors, "v")):
        scored = fastgnb.spark.transform(model, rows, probability="p", features=features)
        assert [row.p for row in scored.collect()] == expected
        assert scored.columns == [*rows.columns, "prediction", "p"]


def test_value_that_the_model_does_not_take(frame):
    from pyspark.errors import PythonException

    rows = frame.selectExpr("a", "holes as b", "c").coalesce(1)  # no other task to be killed
    scored = fastgnb.spark.transform(fitted("diag"), rows)
    with pytest.raises(PythonException, match=r"partition 0: column 'b', row \d+: missing value"):
        scored.collect()


def test_errors_before_any_task(spark, frame):
    model = fitted("diag")
    transform = fastgnb.spark.transform
    with pytest.raises(SourceError, match="column 'a' is there already; drop it, or give the new"):
        transform(model, frame, prediction="a")
    with pytest.raises(SourceError, match="column 'p' is there already"):
        transform(model, frame, probability="p", evidence="p")
    with pytest.raises(SourceError, match="columns 'a', 'b', 'c' are missing; found 'id'"):
        transform(model, frame.select("id"))
    with pytest.raises(ValueError, match="has 2 features, but the model is expecting 3"):
        transform(model, frame, features=["a", "b"])
    with pytest.raises(SourceError, match="column 'b' is string; expected numbers or booleans"):
        transform(model, frame.selectExpr("a", "string(b) as b", "c"))
    nameless = fastgnb.GaussianNB().fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(SourceError, match="expected; found none; name the columns with features="):
        transform(nameless, frame)
    with pytest.raises(TypeError, match="Expected a DataFrame of Spark, got dict"):
        transform(model, {})
    with pytest.raises(TypeError, match="Expected a model of fastgnb's, got str"):
        transform("model.fgnb", frame)


def test_no_rows(spark):
    frame = spark.createDataFrame([], "a double, b double, c double")
    assert fastgnb.spark.transform(fitted("diag"), frame, probability="p").collect() == []


def test_model_is_read_once_in_a_process(frame):
    from fastgnb.spark.scored import model_of

    data = fastgnb.to_bytes(fitted("diag"))
    assert model_of(data) is model_of(bytes(bytearray(data)))
    assert model_of(data).n_features == len(FEATURES)


def test_two_batches_of_rows_at_a_time():
    """Memory does not grow with the rows of a partition."""
    from fastgnb.spark.columns import Columns
    from fastgnb.spark.scored import Answers, ScoreTask, scored_batches

    alive, most = 0, 0

    def batches():
        nonlocal alive, most
        for _ in range(50):
            alive += 1
            most = max(most, alive)
            yield pa.record_batch({name: np.ones(100) for name in FEATURES})

    task = ScoreTask(
        fastgnb.to_bytes(fitted("diag")), Columns(tuple(FEATURES)), Answers("y"), tuple(FEATURES), 3
    )
    n_rows = 0
    for batch in scored_batches(task, "partition 0", batches()):
        alive -= 1
        n_rows += batch.num_rows
    assert n_rows == 5000
    assert most <= 2
