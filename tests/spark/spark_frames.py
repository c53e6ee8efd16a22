"""Sessions, frames and an oracle for tests of Spark, in this process and in others."""

from __future__ import annotations

import os
import sys
import warnings

import numpy as np
import pyarrow as pa

import fastgnb
from fastgnb.stats.tree import batch_rows

# pyspark says so of any call that takes Arrow, and it is right to tell its users.
PANDAS_WARNING = "PySpark does not yet fully support pandas"

PARTITIONS = (1, 2, 7, 64)
FEATURES = ["a", "b", "c"]


def session(master="local[2,4]", *, remote=False, conf=()):
    """A small session, whose workers run this Python."""
    warnings.filterwarnings("ignore", PANDAS_WARNING, FutureWarning)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1"  # compiles less, for short runs
    from pyspark.sql import SparkSession

    if remote:
        _take_a_free_port()
        spark = SparkSession.builder.remote("local[2]").getOrCreate()
    else:
        builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        for name, value in dict(conf).items():
            builder = builder.config(name, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    return spark


def _take_a_free_port():
    """Let Spark Connect have any port: another server, as of other tests, may have 15002."""
    from pyspark import SparkContext

    SparkContext._ensure_initialized()  # Java first, which would check each plan in Spark's tests
    os.environ["SPARK_TESTING"] = "1"


def make_table(n=600, seed=0):
    """Rows of three classes, one of which is in few partitions, with a category and holes."""
    rng = np.random.default_rng(seed)
    group = np.sort(rng.integers(0, 40, n))
    label = np.where(group < 5, 2, rng.integers(0, 2, n))
    X = rng.normal(size=(n, 3)) * [1.0, 1e-3, 1e3] + label[:, None] * [1.0, 0.0, -500.0]
    holes = X[:, 1].copy()
    holes[::7] = np.nan
    color = np.array(["red", "green", "blue", "rare"], object)[
        np.where(group == 3, 3, rng.integers(0, 3, n))
    ]
    return pa.table(
        {
            "id": np.arange(n), "group": group, **dict(zip(FEATURES, X.T, strict=True)),
            "holes": pa.array(holes, from_pandas=True), "none": pa.nulls(n, pa.float64()),
            "color": color, "label": label, "weight": rng.integers(0, 4, n) / 2,
        }
    )  # fmt: skip


def partitioned(spark, table, parts):
    """The rows over some partitions, the same ones in the same order in each run."""
    frame = spark.createDataFrame(table)
    return frame.repartition(parts, "group").sortWithinPartitions("id")


def read_back(frame):
    """The rows of each partition, in order; None for an empty one."""
    from pyspark.sql import functions as F

    table = frame.select("*", F.spark_partition_id().alias("partition")).toArrow()
    at = table.column("partition").to_numpy()
    leaves = [table.filter(pa.array(at == i)) for i in range(at.max(initial=-1) + 1)]
    return [leaf if leaf.num_rows else None for leaf in leaves]


def to_rows(frame):
    """A pandas frame in which vectors are arrays; toPandas would warn with pandas 3."""
    from pyspark.ml.functions import vector_to_array
    from pyspark.ml.linalg import VectorUDT

    vectors = [field.name for field in frame.schema.fields if isinstance(field.dataType, VectorUDT)]
    return (
        frame.withColumns({name: vector_to_array(name) for name in vectors}).toArrow().to_pandas()
    )


class Kind:
    """A kind of statistics: arguments of fit_stats, and the same from rows in memory."""

    def __init__(self, features, **arguments):
        self.features, self.arguments = features, arguments

    def fit(self, frame):
        return fastgnb.spark.fit_stats(frame, features=self.features, **self.arguments)

    def of_rows(self, table):
        given = dict(self.arguments)
        label, weight = given.pop("label", "label"), given.pop("weight", None)
        categorical = given.pop("categorical", None)
        given.pop("drop_null_labels", None)
        X, cls = table.select(self.features).to_pandas(), fastgnb.ClassStats
        if categorical is not None:
            cls, given["categorical_features"] = fastgnb.MixedStats, categorical
        y = table.column(label).to_pandas()
        return cls.from_rows(X, y, None if weight is None else table.column(weight), **given)

    def oracle(self, leaves):
        """The rows of each partition cut in order, and merged by the tree of fastgnb.merge."""
        rows = batch_rows(len(self.features))
        parts = [
            None if leaf is None
            else fastgnb.merge(
                self.of_rows(leaf.slice(start, rows)) for start in range(0, leaf.num_rows, rows)
            )
            for leaf in leaves
        ]  # fmt: skip
        return fastgnb.merge(parts)


KINDS = {
    "diag": Kind(FEATURES, weight="weight"),
    "full": Kind(FEATURES, scatter="full"),
    "skip": Kind(["a", "holes", "none"], missing="skip"),
    "mixed": Kind(["a", "color"], categorical=["color"], weight="weight"),
}

MEMBERS = {
    "diag": [fastgnb.GaussianNB(), fastgnb.GaussianNB(tied=True, ddof=1)],
    "full": [fastgnb.GaussianBayes(reg_param=0.1), fastgnb.PCAGaussianNB(n_components=2)],
    "skip": [fastgnb.GaussianNB(missing="skip")],
    "mixed": [fastgnb.MixedNB(categorical_features=["color"])],
}
"""Every member, by the statistics that it takes."""


def is_same(stats, others):
    """Whether two objects have the same bits."""
    return fastgnb.to_bytes(stats) == fastgnb.to_bytes(others)
