"""Spark on this machine, with one core and with two, and Spark ML beside it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fastgnb import GaussianNB

from .clusters import SAMPLE, run_clusters
from .expectation import relative_error
from .measured import timed
from .partitions import bounds, local_stats
from .rows import TARGET, Problem, batches, schema

__all__ = ["run"]

ROOT = Path(__file__).resolve().parents[2]


def run(n_rows: int, cores: Sequence[int] = (1, 2)) -> dict[str, Any]:
    """Learn and score as many rows with each number of cores; the last one also runs Spark ML."""
    return run_clusters(n_rows, cores, _session, _ours, _spark_ml)


@contextlib.contextmanager
def _session(n: int) -> Iterator[Any]:
    """A session of n cores, each of which runs one task and its Python process."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    settings = {
        "spark.driver.memory": "4g", "spark.ui.enabled": "false", "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "4", "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1", "spark.ui.showConsoleProgress": "false",
        "spark.executorEnv.NUMBA_NUM_THREADS": "1", "spark.executorEnv.PYTHONPATH": str(ROOT),
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
    }  # fmt: skip
    builder = SparkSession.builder.master(f"local[{n}]").appName("bench.scale")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def _frame(problem: Problem, parts: Sequence[tuple[int, int]], spark: Any) -> Any:
    """Rows as a DataFrame, whose partitions are made by the tasks."""
    import pyarrow as pa

    def make(numbers: Iterator[Any]) -> Iterator[Any]:
        for batch in numbers:
            for i in batch.column("id").to_pylist():
                yield from batches(problem, *parts[i])

    columns = schema(problem)
    kinds = {pa.float64(): "double", pa.int64(): "bigint"}
    text = ", ".join(f"{field.name} {kinds[field.type]}" for field in columns)
    return spark.range(0, len(parts), 1, len(parts)).mapInArrow(make, text)


def _ours(problem: Problem, n_rows: int, spark: Any) -> tuple[dict[str, float], Any]:
    """Times of `fit_stats` and `transform`, and the statistics."""
    from fastgnb.spark import fit_stats, transform

    def score(model: GaussianNB, frame: Any) -> int:
        return int(transform(model, frame).where(f"prediction = {TARGET}").count())

    small = _frame(problem, [(1000 * i, 1000) for i in range(8)], spark)  # workers load all
    score(GaussianNB().fit_stats(fit_stats(small, label=TARGET)), small)
    frame = _frame(problem, bounds(n_rows), spark)
    learning, stats = timed(lambda: fit_stats(frame, label=TARGET))
    model = GaussianNB().fit_stats(stats)
    scoring, right = timed(lambda: score(model, frame))
    figures = {"fit_seconds": learning, "predict_seconds": scoring, "accuracy": right / n_rows}
    return figures, stats


def _spark_ml(problem: Problem, n_rows: int, spark: Any) -> dict[str, Any]:
    """Time and accuracy of Spark ML on the first of these rows, in the same session.

    It reads rows one by one as vectors, so that it is given fewer.
    """
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import VectorAssembler

    n_rows = max(min(n_rows, 1000), n_rows // 10)
    wanted = local_stats(problem, n_rows)
    names = [field.name for field in schema(problem) if field.name != TARGET]
    assembler = VectorAssembler(inputCols=names, outputCol="vector")
    rival = NaiveBayes(
        modelType="gaussian", featuresCol="vector", labelCol=TARGET, predictionCol="prediction"
    )

    def vectors(parts: Sequence[tuple[int, int]]) -> Any:
        frame = assembler.transform(_frame(problem, parts, spark))
        return frame.selectExpr("vector", f"cast({TARGET} as double) as {TARGET}")

    learning, model = timed(lambda: rival.fit(vectors(bounds(n_rows))))
    head = min(n_rows, SAMPLE)
    scored = model.transform(vectors([(0, head)]))
    return {
        "name": "Spark ML", "rows": n_rows, "fit_seconds": learning,
        "variance_error": relative_error(np.asarray(model.sigma.toArray()), wanted.variance),
        "accuracy": scored.where(f"prediction = {TARGET}").count() / head,
    }  # fmt: skip
