"""`SparkClassifier` in pipelines, in cross-validation, and on disk."""

from __future__ import annotations

import json

import numpy as np
import pytest
import spark_frames
from spark_frames import FEATURES, is_same, partitioned

import fastgnb.spark
from fastgnb import GaussianBayes, GaussianNB, MixedNB, ModelFileError, PCAGaussianNB


@pytest.fixture(scope="module")
def frame(spark):
    frame = partitioned(spark, spark_frames.make_table(200), 2).persist()
    yield frame
    frame.unpersist()


@pytest.fixture(scope="module")
def assembler(spark):
    from pyspark.ml.feature import VectorAssembler

    return VectorAssembler(inputCols=FEATURES, outputCol="features")


def classifier(*arguments, **options):
    return fastgnb.spark.SparkClassifier(*arguments, **options)


@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(var_smoothing=1e-3, missing="skip"),
        GaussianBayes(reg_param=0.1),
        PCAGaussianNB(n_components=2),
        MixedNB(categorical_features=["color"], alpha=0.5),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_members(frame, estimator):
    columns = ["a", "c", "color"] if isinstance(estimator, MixedNB) else FEATURES
    model = classifier(estimator, features_col=columns, weight_col="weight").fit(frame)
    kind = spark_frames.Kind(columns, weight="weight")
    if isinstance(estimator, MixedNB):
        kind.arguments["categorical"] = ["color"]
    if isinstance(estimator, GaussianBayes | PCAGaussianNB):
        kind.arguments["scatter"] = "full"
    kind.arguments["missing"] = estimator.get_params().get("missing", "error")
    expected = type(estimator)(**estimator.get_params())
    expected.fit_stats(kind.oracle(spark_frames.read_back(frame)))
    assert is_same(model.estimator_, expected)
    assert (model.numClasses, model.numFeatures) == (3, 3)
    scored = spark_frames.to_rows(model.transform(frame))
    X = scored[columns]
    assert scored["prediction"].tolist() == expected.predict(X).tolist()
    assert scored["prediction"].dtype == np.float64
    proba = np.stack(scored["probability"])
    np.testing.assert_array_equal(proba, expected.predict_proba(X))
    odds = np.stack(scored["rawPrediction"])
    np.testing.assert_allclose(odds, np.log(proba) - np.log1p(-proba), rtol=1e-6, atol=1e-6)


def test_columns_that_are_not_wanted(frame):
    model = classifier(
        features_col=FEATURES, prediction_col="y", probability_col=None, raw_prediction_col=None
    ).fit(frame)
    assert model.transform(frame).columns == [*frame.columns, "y"]


def test_text_labels_stay_text(frame):
    named = frame.selectExpr("a", "if(label = 1, 'yes', 'no') as label")
    scored = classifier(features_col=["a"]).fit(named).transform(named)
    assert scored.schema["prediction"].dataType.simpleString() == "string"
    assert {row.prediction for row in scored.select("prediction").collect()} <= {"yes", "no"}


def test_pipeline_and_evaluators(frame, assembler):
    from pyspark.ml import Pipeline
    from pyspark.ml.evaluation import (
        BinaryClassificationEvaluator,
        MulticlassClassificationEvaluator,
    )
    from sklearn.metrics import log_loss, roc_auc_score

    two = frame.where("label < 2")
    scored = Pipeline(stages=[assembler, classifier()]).fit(two).transform(two).persist()
    rows = spark_frames.to_rows(scored)
    truth, proba = rows["label"], np.stack(rows["probability"])
    accuracy = MulticlassClassificationEvaluator(metricName="accuracy").evaluate(scored)
    assert accuracy == pytest.approx((rows["prediction"] == truth).mean())
    loss = MulticlassClassificationEvaluator(metricName="logLoss").evaluate(scored)
    assert loss == pytest.approx(log_loss(truth, proba))
    area = BinaryClassificationEvaluator().evaluate(scored)
    assert area == pytest.approx(roc_auc_score(truth, proba[:, 1]), abs=1e-9)
    scored.unpersist()


def test_cross_validation_reads_each_fold_once(frame, assembler, monkeypatch, tmp_path):
    from pyspark.ml.evaluation import MulticlassClassificationEvaluator
    from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder

    given = assembler.transform(frame).persist()
    reads = []
    stage = classifier()
    original = fastgnb.spark.SparkClassifier._statistics
    monkeypatch.setattr(
        fastgnb.spark.SparkClassifier, "_statistics",
        lambda self, dataset: reads.append(1) or original(self, dataset),
    )  # fmt: skip
    grid = ParamGridBuilder().addGrid(stage.var_smoothing, [1e-9, 10.0]).build()
    search = CrossValidator(
        estimator=stage, estimatorParamMaps=grid, numFolds=2, seed=0,
        evaluator=MulticlassClassificationEvaluator(metricName="accuracy"),
    )  # fmt: skip
    found = search.fit(given)
    assert len(reads) == 3, "two folds, and all rows for the best"
    assert len(found.avgMetrics) == 2
    best = grid[int(np.argmax(found.avgMetrics))][stage.var_smoothing]
    assert found.bestModel.estimator_.var_smoothing == best
    found.save(str(tmp_path / "search"))
    again = CrossValidatorModel.load(str(tmp_path / "search"))
    assert is_same(again.bestModel.estimator_, found.bestModel.estimator_)
    assert again.getEstimatorParamMaps()[1][again.getEstimator().var_smoothing] == 10.0
    given.unpersist()


def test_maps_of_parameters(frame):
    """Those that change what is learned have statistics of their own."""
    stage = classifier(features_col=["a", "holes"], label_col="label")
    maps = [{stage.missing: "skip", stage.var_smoothing: 0.5}, {stage.featuresCols: ["a"]}]
    models = stage.fit(frame, maps)
    assert [model.numFeatures for model in models] == [2, 1]
    assert models[0].estimator_.get_params()["var_smoothing"] == 0.5
    assert stage.estimator.get_params() == GaussianNB().get_params()


def test_saved_and_loaded(spark, frame, tmp_path):
    path = str(tmp_path / "model")
    stage = classifier(GaussianNB(priors=[0.2, 0.3, 0.5]), features_col=FEATURES)
    model = stage.fit(frame)
    model.save(path)
    assert not list(tmp_path.rglob("*.pkl"))
    loaded = fastgnb.spark.SparkClassifierModel.load(path)
    assert loaded.uid == model.uid == stage.uid
    assert is_same(loaded.estimator_, model.estimator_)
    assert loaded.extractParamMap() == model.extractParamMap()
    assert loaded.transform(frame).toArrow().equals(model.transform(frame).toArrow())
    with pytest.raises(Exception, match=r"ALREADY_EXISTS|already exists"):
        model.save(path)
    other = classifier(features_col=["a"]).fit(frame)
    other.write().overwrite().save(path)
    assert fastgnb.spark.SparkClassifierModel.load(path).numFeatures == 1
    stage.save(str(tmp_path / "stage"))
    again = fastgnb.spark.SparkClassifier.load(str(tmp_path / "stage"))
    assert again.estimator.priors == [0.2, 0.3, 0.5]
    assert again.extractParamMap() == stage.extractParamMap()


def test_folders_that_hold_something_else(spark, frame, tmp_path):
    path = tmp_path / "model"
    classifier(features_col=["a"]).fit(frame).save(str(path))
    with pytest.raises(ModelFileError, match=r"holds a .*SparkClassifierModel, expected"):
        fastgnb.spark.SparkClassifier.load(str(path))
    data = bytearray(spark.read.parquet(str(path / "model")).first().model)
    data[-20] ^= 1
    altered = spark.createDataFrame([(data,)], "model binary")
    altered.write.mode("overwrite").parquet(str(path / "model"))
    with pytest.raises(ModelFileError, match=r"model: .*(altered|digest|valid)"):
        fastgnb.spark.SparkClassifierModel.load(str(path))


def test_metadata_is_json_without_code(frame, tmp_path):
    path = tmp_path / "stage"
    classifier(MixedNB(categorical_features=["color"])).save(str(path))
    (part,) = (path / "metadata").glob("part-*")
    metadata = json.loads(part.read_text())
    assert metadata["member"] == "MixedNB"
    assert metadata["paramMap"]["categorical_features"] == ["color"]


def test_model_that_was_fitted_without_spark(frame):
    fitted = GaussianNB().fit([[1.0, 2.0], [3.0, 4.0]], [0, 1])
    model = fastgnb.spark.SparkClassifierModel(fitted)
    named = model._set(featuresCols=["a", "c"])
    expected = fitted.predict(spark_frames.to_rows(frame.select("a", "c")).to_numpy())
    got = [row.prediction for row in named.transform(frame).select("prediction").collect()]
    assert got == expected.tolist()


def test_wrong_estimators(frame):
    from sklearn.naive_bayes import GaussianNB as Other

    with pytest.raises(TypeError, match="Expected an estimator of fastgnb's, got"):
        classifier(Other())
    with pytest.raises(ValueError, match="var_smoothing"):
        classifier(GaussianNB(var_smoothing=-1.0))
    with pytest.raises(TypeError, match="name the columns"):
        classifier(MixedNB(categorical_features="auto"), features_col=FEATURES).fit(frame)
    with pytest.raises(TypeError, match="must be names of columns, got 2"):
        classifier(MixedNB(categorical_features=[2]), features_col=FEATURES).fit(frame)
