"""Spark Connect, in a process of its own, which cannot have both kinds of sessions."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from engines import need

CODE = """
import json, sys
import numpy as np, spark_frames
spark = spark_frames.session(remote=True)
import fastgnb.spark
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder
from spark_frames import FEATURES, KINDS, is_same

found = {"kind": type(spark).__module__}
for parts in (1, 2, 7, 64):
    frame = spark_frames.partitioned(spark, spark_frames.make_table(), parts).persist()
    leaves = spark_frames.read_back(frame)
    for name in KINDS:
        same = is_same(KINDS[name].fit(frame), KINDS[name].oracle(leaves))
        found[f"{name} of {parts}"] = same
frame = spark_frames.partitioned(spark, spark_frames.make_table(), 2).persist()
stage = fastgnb.spark.SparkClassifier(fastgnb.GaussianNB(var_smoothing=1e-3))
pipeline = Pipeline(stages=[VectorAssembler(inputCols=FEATURES, outputCol="features"), stage])
model = pipeline.fit(frame)
scored = spark_frames.to_rows(model.transform(frame))
local = model.stages[1].estimator_
proba = np.stack(scored["probability"])
found["scored"] = bool((proba == local.predict_proba(scored[FEATURES].to_numpy())).all())
path = sys.argv[1] + "/pipeline"
model.save(path)
found["loaded"] = is_same(PipelineModel.load(path).stages[1].estimator_, local)
alone = sys.argv[1] + "/alone"
for _ in range(2):
    model.stages[1].write().overwrite().save(alone)
found["alone"] = is_same(fastgnb.spark.SparkClassifierModel.load(alone).estimator_, local)
grid = ParamGridBuilder().addGrid(stage.var_smoothing, [1e-9, 10.0]).build()
evaluator = MulticlassClassificationEvaluator(metricName="accuracy")
search = CrossValidator(
    estimator=stage, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2, seed=0
).fit(pipeline.getStages()[0].transform(frame))
found["metrics"] = len(search.avgMetrics)
try:
    fastgnb.spark.fit_stats(frame.selectExpr("a", "if(id < 3, null, label) as label"))
except fastgnb.files.SourceError as error:
    found["error"] = str(error)
print(json.dumps(found))
spark.stop()
"""


def test_connect(tmp_path):
    need("pyspark", "pandas", "grpc", "java")
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path)], capture_output=True, text=True, timeout=500,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert "connect" in found.pop("kind")
    assert found.pop("error").startswith("column 'label': the label is null or NaN in 3 rows")
    assert found.pop("metrics") == 2
    assert len(found) == 4 * 4 + 3
    assert all(found.values()), found


pytestmark = pytest.mark.any_version
