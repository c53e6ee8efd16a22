"""`fastgnb.spark.fit_stats`: the bits of one machine, whatever the partitions hold."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
import spark_frames
from spark_frames import FEATURES, KINDS, MEMBERS, PARTITIONS, is_same, partitioned, read_back

import fastgnb.spark


@pytest.fixture(scope="module", params=PARTITIONS)
def frame_and_leaves(request, spark):
    frame = partitioned(spark, spark_frames.make_table(), request.param).persist()
    yield frame, read_back(frame)
    frame.unpersist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.promise("partitions")
def test_statistics_have_the_bits_of_one_merge(frame_and_leaves, kind):
    frame, leaves = frame_and_leaves
    oracle = KINDS[kind].oracle(leaves)
    stats = KINDS[kind].fit(frame)
    assert is_same(stats, oracle)
    for member in MEMBERS[kind]:
        assert is_same(
            member.fit_stats(stats), type(member)(**member.get_params()).fit_stats(oracle)
        )


def test_partitions_differ_as_meant(spark):
    """Some of the 64 are empty, some lack a class, and some a category."""
    leaves = read_back(partitioned(spark, spark_frames.make_table(), 64))
    assert None in leaves
    held = [leaf for leaf in leaves if leaf is not None]
    assert len({tuple(sorted(set(leaf.column("label").to_pylist()))) for leaf in held}) > 2
    assert 0 < sum("rare" in leaf.column("color").to_pylist() for leaf in held) < len(held)


def test_partition_of_several_batches(spark):
    from pyspark.sql import functions as F

    columns = [F.rand(seed).alias(f"x{seed}") for seed in range(16)]
    frame = spark.range(0, 140_000, 1, 2).select(*columns, (F.col("id") % 2).alias("label"))
    kind = spark_frames.Kind([f"x{seed}" for seed in range(16)])
    leaves = read_back(frame)
    assert [leaf.num_rows for leaf in leaves] == [70_000, 70_000]  # 65,536 make a batch
    assert is_same(kind.fit(frame), kind.oracle(leaves))


@pytest.mark.parametrize("ending", ["exception", "kill"])
@pytest.mark.promise("partitions")
def test_task_that_fails_once(spark, tmp_path, ending):
    """Spark tries it again, in another process if need be: rows before the failure count once."""
    marker = str(tmp_path / "failed")
    frame = partitioned(spark, spark_frames.make_table(), 3)

    def fail_once(batches):
        from pyspark import TaskContext

        yield from batches
        if TaskContext.get().partitionId() == 1 and not os.path.exists(marker):
            open(marker, "w").close()
            if ending == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise RuntimeError("this task fails once")

    failing = frame.mapInArrow(fail_once, frame.schema)
    stats = KINDS["diag"].fit(failing)
    assert os.path.exists(marker)
    assert is_same(stats, KINDS["diag"].oracle(read_back(frame)))


def test_other_partitions_give_the_same_to_rounding(spark):
    table = spark_frames.make_table()
    expected = KINDS["diag"].of_rows(table)
    stats = KINDS["diag"].fit(spark.createDataFrame(table).repartition(5))
    np.testing.assert_allclose(stats.mean, expected.mean, rtol=1e-13)
    np.testing.assert_allclose(stats.variance, expected.variance, rtol=1e-13)


def as_arrays(frame):
    from pyspark.sql import functions as F

    return frame.select("label", F.array(*FEATURES).alias("features"))


def test_arrays_and_vectors_are_columns_without_names(spark):
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions as F

    frame = partitioned(spark, spark_frames.make_table(), 2)
    arrays = as_arrays(frame)
    vectors = arrays.select("label", array_to_vector("features").alias("features"))
    floats = arrays.select("label", F.col("features").cast("array<float>").alias("features"))
    named = spark_frames.Kind(FEATURES).fit(frame)
    expected = fastgnb.spark.fit_stats(arrays)
    assert expected.feature_names is None
    np.testing.assert_array_equal(expected.mean, named.mean)
    np.testing.assert_array_equal(expected.variance, named.variance)
    assert is_same(fastgnb.spark.fit_stats(vectors), expected)
    rounded = fastgnb.spark.fit_stats(floats)
    np.testing.assert_allclose(rounded.mean, named.mean, rtol=1e-6, atol=1e-6)


def test_nulls_in_arrays_are_missing_values(spark):
    rows = [([1.0, None], 0), (None, 0), ([3.0, 5.0], 0), ([2.0, 4.0], 1)]
    frame = spark.createDataFrame(rows, "features array<double>, label int")
    stats = fastgnb.spark.fit_stats(frame, missing="skip")
    np.testing.assert_array_equal(stats.mean, [[2.0, 5.0], [2.0, 4.0]])
    np.testing.assert_array_equal(stats.feature_count, [[2.0, 1.0], [1.0, 1.0]])


@pytest.mark.parametrize("kind", ["int", "double", "string", "boolean", "smallint"])
def test_types_of_labels(spark, kind):
    table = spark_frames.make_table(60)
    frame = spark.createDataFrame(table).selectExpr("a", f"cast(label > 0 as {kind}) as label")
    stats = fastgnb.spark.fit_stats(frame)
    kinds = {"int": "i", "smallint": "i", "double": "f", "string": "U", "boolean": "b"}
    assert stats.classes.dtype.kind in kinds[kind] + ("O" if kind == "string" else "")
    assert len(stats.classes) == 2


def test_default_features_are_numbers_and_booleans(spark):
    frame = spark.createDataFrame(
        [(1, True, "x", 2.0, 0)], "i int, b boolean, s string, w double, label int"
    )
    assert fastgnb.spark.fit_stats(frame, weight="w").feature_names == ("i", "b")
    stats = fastgnb.spark.fit_stats(frame, weight="w", categorical="s")
    assert stats.feature_names == ("i", "b", "s")


def test_names_with_dots_and_backticks(spark):
    frame = spark.createDataFrame([(1.0, 0), (2.0, 1)], "`a.b``c` double, label int")
    assert fastgnb.spark.fit_stats(frame).feature_names == ("a.b`c",)


def test_decimals_and_columns_without_a_type(spark):
    frame = spark.sql("select cast(1.5 as decimal(10, 2)) as x, null as n, 1 as label")
    stats = fastgnb.spark.fit_stats(frame, features=["x", "n"], missing="skip")
    assert stats.mean[0, 0] == 1.5
    assert stats.feature_count.tolist() == [[1.0, 0.0]]
