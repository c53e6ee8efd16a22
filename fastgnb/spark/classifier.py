"""`SparkClassifier`: an estimator of pyspark.ml over one of this package."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..estimators.member_classes import estimator_of
from ..files.jobs.learn_rows import StatsKind
from ..input.type_names import type_name
from ..model.family import Member, default_member
from ..model.model import plain_options
from . import engine  # noqa: F401  (before pyspark)
from .columns import as_names
from .fitted import SparkClassifierModel
from .learning import learn_frame
from .params import ColumnParams, add_options
from .saved import ClassifierReader, ClassifierWriter

from pyspark.ml.base import Estimator  # isort: skip
from pyspark.ml.util import MLReadable, MLWritable  # isort: skip

__all__ = ["SparkClassifier"]


class SparkClassifier(Estimator, ColumnParams, MLReadable, MLWritable):  # type: ignore[misc]
    """Any estimator of this package as one of pyspark.ml, for pipelines and cross-validation.

    Parameters
    ----------
    estimator : GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB, default=None
        Its parameters are taken, and become parameters of this object with the same names. It need
        not be fitted, and stays as it is. None: a `fastgnb.GaussianNB`.
    features_col : str or iterable of str, default="features"
        One column of arrays or of vectors of ``pyspark.ml.linalg``, or the columns of the features.
    label_col : str, default="label"
        Column of labels: numbers, booleans or text.
    weight_col : str, default=None
        Column of row weights.
    prediction_col : str, default="prediction"
        Column of predicted labels. Numbers are double, as evaluators of pyspark.ml expect them.
    probability_col : str, default="probability"
        Column of vectors of probabilities, one for each class in sorted order. None: no column.
    raw_prediction_col : str, default="rawPrediction"
        Column of vectors of log odds of each class against all others. None: no column.
    drop_null_labels : bool, default=False
        Leave out rows whose label is null or NaN. They are an error otherwise.

    Attributes
    ----------
    member : Member
        The entry of the estimator in the registry of members.

    Raises
    ------
    TypeError
        If the estimator is none of this package.
    ValueError
        If it has invalid parameters.

    See Also
    --------
    fit_stats : Statistics of a DataFrame.
    transform : Answers of a model for a DataFrame.

    Notes
    -----
    `fitMultiple`, which ``CrossValidator`` calls, reads the rows once for all grids of parameters
    that share their statistics, such as grids of ``var_smoothing``.

    Features of a `MixedNB` are columns of their own, and ``categorical_features`` are their names.

    Examples
    --------
    >>> from fastgnb import GaussianNB
    >>> from fastgnb.spark import SparkClassifier
    >>> classifier = SparkClassifier(GaussianNB(var_smoothing=1e-6))
    >>> classifier.fit(df).transform(df)  # doctest: +SKIP
    """

    member: Member

    def __init__(
        self,
        estimator: Any = None,
        *,
        features_col: str | Iterable[str] = "features",
        label_col: str = "label",
        weight_col: str | None = None,
        prediction_col: str = "prediction",
        probability_col: str | None = "probability",
        raw_prediction_col: str | None = "rawPrediction",
        drop_null_labels: bool = False,
    ) -> None:
        super().__init__()
        self.member, options = _choice(estimator)
        add_options(self, self.member.options, options)
        features = as_names(features_col, "features_col") or ()
        if isinstance(features_col, str):
            self._set(featuresCol=features_col)
        else:
            self._set(featuresCols=list(features))
        self._set(
            labelCol=label_col,
            weightCol=weight_col or "",
            predictionCol=prediction_col,
            probabilityCol=probability_col or "",
            rawPredictionCol=raw_prediction_col or "",
            dropNullLabels=drop_null_labels,
        )

    @property
    def estimator(self) -> Any:
        """The estimator of this package with the parameters as they are, not fitted."""
        names = [option.name for option in self.member.options]
        return estimator_of(self.member)(**{name: self.getOrDefault(name) for name in names})

    def fitMultiple(
        self,
        dataset: Any,
        paramMaps: Sequence[Mapping[Any, Any]],
    ) -> Iterator[tuple[int, SparkClassifierModel]]:
        """Fit a model for each map of parameters, reading rows as few times as possible.

        Parameters
        ----------
        dataset : pyspark.sql.DataFrame
            Rows.
        paramMaps : sequence of dict
            From parameters to values, for each model.

        Returns
        -------
        iterator of tuple of (int, SparkClassifierModel)
            The position of a map, and the model. Several threads may share the iterator.
        """
        return SharedFits(self.copy(), dataset, paramMaps)

    def write(self) -> ClassifierWriter:
        """Return a writer, which saves this object to a folder.

        Returns
        -------
        MLWriter
            Its ``save`` writes to a path of any file system that Spark knows.
        """
        return ClassifierWriter(self)

    @classmethod
    def read(cls) -> ClassifierReader:
        """Return a reader, which loads what was saved.

        Returns
        -------
        MLReader
            Its ``load`` reads a path. Nothing that it reads is executed.
        """
        return ClassifierReader(cls)

    def _fit(self, dataset: Any) -> SparkClassifierModel:
        return self._fitted(self._statistics(dataset))

    def _statistics(self, dataset: Any) -> Any:
        """Statistics that the parameters ask for."""
        options = plain_options(self.member, self.estimator.get_params(deep=False))
        kind = StatsKind(
            skip=options.get("missing") == "skip",
            full=self.member.needs_full_scatter,
            mixed=self.member.takes_categories,
        )
        return learn_frame(
            dataset,
            kind,
            target=self.getLabelCol(),
            weight=self.getWeightCol() or None,
            features=self.feature_columns(),
            categorical=_categorical(options.get("categorical_features")),
            max_categories=options.get("max_categories"),
            drop_null_labels=self.getOrDefault(self.dropNullLabels),
        )

    def _fitted(self, stats: Any) -> SparkClassifierModel:
        model = SparkClassifierModel(self.estimator.fit_stats(stats))
        return self._copyValues(model._resetUid(self.uid))  # type: ignore[no-any-return]

    def _statistics_key(self) -> str:
        """The parameters that decide which statistics are learned."""
        options = [option.name for option in self.member.options if option.is_learned]
        names = [*options, "featuresCol", "featuresCols", "labelCol", "weightCol", "dropNullLabels"]
        return json.dumps([self.getOrDefault(name) for name in names])


class SharedFits:
    """The models of several maps of parameters, as `SparkClassifier.fitMultiple` returns them."""

    def __init__(
        self, classifier: SparkClassifier, dataset: Any, maps: Sequence[Mapping[Any, Any]]
    ) -> None:
        self._classifiers = [classifier.copy(dict(each)) for each in maps]
        self._dataset = dataset
        self._order = iter(range(len(maps)))
        self._statistics: dict[str, Any] = {}
        self._lock = threading.Lock()

    def __iter__(self) -> SharedFits:
        return self

    def __next__(self) -> tuple[int, SparkClassifierModel]:
        with self._lock:  # also while rows are read: other threads need the same statistics
            i = next(self._order)
            classifier = self._classifiers[i]
            key = classifier._statistics_key()
            if key not in self._statistics:
                self._statistics[key] = classifier._statistics(self._dataset)
        return i, classifier._fitted(self._statistics[key])


def _choice(estimator: Any) -> tuple[Member, dict[str, Any]]:
    """The member and the options of an estimator. Raises TypeError, and ValueError."""
    from ..estimators.base import GaussianClassifier

    if estimator is None:
        member = default_member()
        return member, dict(member.defaults)
    if not isinstance(estimator, GaussianClassifier):
        raise TypeError(f"Expected an estimator of fastgnb's, got {type_name(estimator)}.")
    options = plain_options(estimator._member, estimator.get_params(deep=False))
    return estimator._member, options


def _categorical(spec: Any) -> tuple[str, ...]:
    """The categorical columns. Raises TypeError where they are not named."""
    if spec is None:
        return ()
    if spec == "auto":
        raise TypeError(
            "categorical_features='auto' would need the values of all columns; name the columns."
        )
    return as_names(spec, "categorical_features of columns") or ()
