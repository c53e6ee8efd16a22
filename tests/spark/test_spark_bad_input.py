"""What Spark cannot do, and what rows cannot be: errors that say what to do."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from types import SimpleNamespace

import pandas as pd
import pytest
import spark_frames
from engines import need
from spark_frames import partitioned

import fastgnb.spark
from fastgnb.files import SourceError


def test_null_labels_are_counted(spark):
    frame = partitioned(spark, spark_frames.make_table(), 3)
    some = frame.selectExpr("a", "if(id % 10 = 0, null, cast(label as double)) as label")
    with pytest.raises(
        SourceError, match="the label is null or NaN in 60 rows; drop_null_labels=True"
    ):
        fastgnb.spark.fit_stats(some)
    stats = fastgnb.spark.fit_stats(some, drop_null_labels=True)
    assert stats.count.sum() == 540
    none = frame.selectExpr("a", "cast(null as int) as label")
    with pytest.raises(SourceError, match="holds no rows to learn; 600 left out"):
        fastgnb.spark.fit_stats(none, drop_null_labels=True)


def test_value_is_named_by_partition_column_and_row(spark):
    frame = partitioned(spark, spark_frames.make_table(), 3)
    some = frame.selectExpr("a", "if(id = 77, double('inf'), b) as b", "holes", "label")
    with pytest.raises(
        SourceError, match=r"^partition \d: column 'b', row \d+: inf is not.*filter"
    ) as caught:
        fastgnb.spark.fit_stats(some, features=["a", "b"])
    assert str(caught.value.__cause__).startswith("NotFiniteError: Input X contains infinity")
    with pytest.raises(SourceError, match=r"^partition 0: column 'holes', row .*missing='skip'"):
        fastgnb.spark.fit_stats(some, features=["a", "holes"])


def test_weights(spark):
    frame = spark.createDataFrame([(1.0, 0, -1.0)], "x double, label int, w double")
    with pytest.raises(
        SourceError, match=r"column 'w', row 1: the weight is -1.0, expected a finite"
    ):
        fastgnb.spark.fit_stats(frame, weight="w")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"label": "y"}, "column 'y' is missing; found 'x', 's', 'label', 'day', 'm', 'v'"),
        ({"features": ["x", "z"]}, "column 'z' is missing"),
        ({"features": ["s"]}, "column 's' is string; expected numbers or booleans; leave it out"),
        ({"features": ["day"]}, "column 'day' is date; expected numbers"),
        ({"label": "day"}, "column 'day' is date; labels are whole numbers, floats"),
        ({"weight": "s"}, "column 's' is string; weights are numbers"),
        ({"features": ["x", "x"]}, "column 'x' is named 2 times among the features"),
        ({"features": ["label"]}, "column 'label' is the label; it cannot be a feature too"),
        ({"categorical": ["s"], "features": ["x"]}, "'s' is categorical, but not among"),
        ({"features": "v", "categorical": ["v"]}, "'v' holds all features, and categorical ones"),
        ({"features": "m"}, "column 'm' is map<string,int>; expected numbers"),
        ({"features": ["x", "v"]}, "column 'v' is array<double>; expected numbers"),
        ({"weight": "label"}, "column 'label' cannot be both label and weight"),
        ({"scatter": "full", "categorical": ["s"]}, "scatter='full' does not go with categorical"),
        ({"missing": "drop"}, "missing must be"),
    ],
)  # fmt: skip
def test_columns_that_cannot_play_their_part(spark, arguments, message):
    schema = "x double, s string, label int, day date, m map<string,int>, v array<double>"
    frame = spark.createDataFrame([], schema)
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        fastgnb.spark.fit_stats(frame, **arguments)


def test_no_rows_and_no_features(spark):
    frame = spark.createDataFrame([], "x double, label int")
    with pytest.raises(SourceError, match="the DataFrame holds no rows to learn"):
        fastgnb.spark.fit_stats(frame)
    with pytest.raises(
        SourceError, match="no column of numbers is left for features; found 'label'"
    ):
        fastgnb.spark.fit_stats(frame.select("label"))


def test_name_twice(spark):
    frame = spark.createDataFrame([(1.0, 2.0, 0)], "x double, y double, label int")
    with pytest.raises(SourceError, match="column 'x' is there 2 times"):
        fastgnb.spark.fit_stats(frame.toDF("x", "x", "label"), features=["x"])


def test_arrays_of_other_lengths(spark):
    rows = [([1.0, 2.0], 0), ([1.0], 1)]
    frame = spark.createDataFrame(rows, "features array<double>, label int").coalesce(1)
    with pytest.raises(
        SourceError, match="partition 0: column 'features', row 2: 1 features, expected 2"
    ):
        fastgnb.spark.fit_stats(frame)
    apart = frame.repartition(2, "label").unionAll(frame.where("label = 1"))
    with pytest.raises(SourceError, match="features"):
        fastgnb.spark.fit_stats(apart)


def test_arrays_that_are_null():
    import pyarrow as pa

    from fastgnb.files.jobs.learn_rows import StatsKind
    from fastgnb.spark.columns import Columns
    from fastgnb.spark.partitions import LearnTask, learned

    def batch(rows):
        kinds = [pa.list_(pa.float64()), pa.int64()]
        columns = [pa.array(column, kind) for column, kind in zip(rows, kinds, strict=True)]
        return pa.record_batch(columns, ["v", "label"])

    task = LearnTask(Columns(("v",), True, target="label"), StatsKind(skip=True))
    nulls, values = batch([[None, None], [0, 0]]), batch([[[1.0, 2.0]], [0]])
    stats = fastgnb.from_bytes(learned(task, 0, iter([nulls, values])).statistics)
    assert stats.mean.tolist() == [[1.0, 2.0]]
    assert stats.count.tolist() == [3.0]
    error = learned(task, 4, iter([nulls])).error
    assert error.startswith("partition 4: column 'v' holds nulls only")


def test_too_many_categories(spark):
    frame = spark.range(0, 40, 1, 4).selectExpr("string(id) as s", "id % 2 as label", "1.0 as x")
    with pytest.raises(ValueError, match=r"Feature 's' has 40 categories.*max_categories=20"):
        fastgnb.spark.fit_stats(frame, categorical="s", max_categories=20)


def test_other_objects_than_dataframes(spark):
    with pytest.raises(
        TypeError, match=r"Expected a DataFrame of Spark, got pandas.*createDataFrame"
    ):
        fastgnb.spark.fit_stats(pd.DataFrame({"x": [1.0], "label": [1]}))
    stream = spark.readStream.format("rate").load()
    with pytest.raises(TypeError, match=r"got a streaming one.*foreachBatch"):
        fastgnb.spark.fit_stats(stream, label="value")


def test_error_while_rows_are_made_is_sparks_own(spark):
    frame = spark.range(1).selectExpr("id as label", "raise_error('broken source') as x")
    with pytest.raises(Exception, match="broken source"):
        fastgnb.spark.fit_stats(frame.selectExpr("label", "cast(x as double) as x"))


# ------------------------------------------------------------------ what is installed


@pytest.fixture
def engine():
    need("pyspark")
    return importlib.import_module("fastgnb.spark.engine")


@pytest.mark.parametrize("version", ["3.5.1", "2.4"])
def test_old_pyspark(monkeypatch, engine, version):
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(__version__=version))
    message = rf"needs pyspark 4.0 or later, found {version}: pip install -U 'fastgnb\[spark\]'"
    with pytest.raises(ImportError, match=message):
        engine.check_version()


def test_no_pyspark(monkeypatch, engine):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ImportError, match=r"pip install 'fastgnb\[spark\]'"):
        engine.check_version()


def test_development_version_of_pyspark(monkeypatch, engine):
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(__version__="4.0.0.dev1"))
    engine.check_version()


def run(code, *arguments, **env):
    path = os.pathsep.join(sys.path)
    env = {"PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable, **env}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=300,
        env={**os.environ, **env}, check=False,
    )  # fmt: skip


def test_no_java(tmp_path):
    code = "import sys, fastgnb.spark\nfastgnb.spark.SparkClassifierModel.load(sys.argv[1])"
    done = run(code, str(tmp_path), PATH="", JAVA_HOME="")
    assert done.returncode == 1
    assert "RuntimeError: Spark did not start, since Java is missing" in done.stderr
    assert "openjdk-17-jre-headless" in done.stderr


WITHOUT_PACKAGE = """
import sys, spark_frames, fastgnb.spark
spark = spark_frames.session("local[1]", conf={"spark.executorEnv.WITHOUT_FASTGNB": "1"})
try:
    fastgnb.spark.fit_stats(spark.createDataFrame([(1.0, 0)], "x double, label int"))
except RuntimeError as error:
    print(error)
spark.stop()
"""


BLOCK = """
import os, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name == "fastgnb":
            raise ModuleNotFoundError("No module named 'fastgnb'", name=name)

if "WITHOUT_FASTGNB" in os.environ:
    sys.meta_path.insert(0, Blocked())
"""


def test_executors_without_this_package(tmp_path):
    need("java")
    (tmp_path / "sitecustomize.py").write_text(BLOCK)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = run(WITHOUT_PACKAGE, PYTHONPATH=path)
    assert "Python on the executors does not have fastgnb" in done.stdout, done.stderr[-2000:]
    assert "PYSPARK_PYTHON" in done.stdout
