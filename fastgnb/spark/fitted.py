"""`SparkClassifierModel`: a fitted estimator as a model of pyspark.ml."""

from __future__ import annotations

from typing import Any

from ..files.models.model_file import to_model
from . import engine  # noqa: F401  (before pyspark)
from .columns import column
from .params import ColumnParams, add_options
from .saved import ModelReader, ModelWriter
from .scored import Answers
from .scoring import score_frame

from pyspark.ml.base import Model  # isort: skip
from pyspark.ml.util import MLReadable, MLWritable  # isort: skip

__all__ = ["SparkClassifierModel"]


class SparkClassifierModel(Model, ColumnParams, MLReadable, MLWritable):  # type: ignore[misc]
    """A fitted estimator of this package as a model of pyspark.ml.

    `SparkClassifier.fit` returns it. It can also be made of an estimator that was fitted without
    Spark, which then scores DataFrames in a pipeline.

    Parameters
    ----------
    estimator : GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
        A fitted estimator.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator, whose attributes tell everything about the model.

    Raises
    ------
    TypeError
        If the estimator is none of this package.
    sklearn.exceptions.NotFittedError
        If it is not fitted.

    See Also
    --------
    SparkClassifier : The estimator of pyspark.ml.

    Examples
    --------
    >>> from fastgnb import GaussianNB
    >>> from fastgnb.spark import SparkClassifierModel
    >>> fitted = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], [0, 0, 1, 1])
    >>> SparkClassifierModel(fitted).transform(df)  # doctest: +SKIP
    """

    def __init__(self, estimator: Any) -> None:
        super().__init__()
        model = to_model(estimator)
        self.estimator_ = estimator
        add_options(self, model.member.options, model.options)

    @property
    def numClasses(self) -> int:
        """The number of classes."""
        return len(self.estimator_.classes_)

    @property
    def numFeatures(self) -> int:
        """The number of features."""
        return int(self.estimator_.n_features_in_)

    def write(self) -> ModelWriter:
        """Return a writer, which saves this model to a folder.

        Returns
        -------
        MLWriter
            Its ``save`` writes to a path of any file system that Spark knows.
        """
        return ModelWriter(self)

    @classmethod
    def read(cls) -> ModelReader:
        """Return a reader, which loads what was saved.

        Returns
        -------
        MLReader
            Its ``load`` reads a path. Nothing that it reads is executed.
        """
        return ModelReader(cls)

    def _transform(self, dataset: Any) -> Any:
        from pyspark.ml.functions import array_to_vector

        answers = Answers(
            self.getPredictionCol(),
            self.getProbabilityCol() or None,
            self.getRawPredictionCol() or None,
        )
        scored = score_frame(self.estimator_, dataset, answers, self.feature_columns())
        vectors = (answers.probability, answers.log_odds)
        new = {name: array_to_vector(column(name)) for name in vectors if name is not None}
        if self.estimator_.classes_.dtype.kind in "iuf":
            new[answers.prediction] = column(answers.prediction).cast("double")
        return scored.withColumns(new)
