"""Parameters of `SparkClassifier` and its model, as pyspark.ml has them.

Those of columns have the names of pyspark.ml. Those of the estimator have the names that the
registry of members gives them, such as ``var_smoothing``, so that grids of parameters vary them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import engine  # noqa: F401  (before pyspark)

from pyspark.ml.param import Param, Params, TypeConverters  # isort: skip
from pyspark.ml.param.shared import (  # isort: skip
    HasFeaturesCol,
    HasLabelCol,
    HasPredictionCol,
    HasProbabilityCol,
    HasRawPredictionCol,
    HasWeightCol,
)

__all__ = ["ColumnParams", "add_options"]


class ColumnParams(
    HasFeaturesCol, HasLabelCol, HasWeightCol, HasPredictionCol,  # type: ignore[misc]
    HasProbabilityCol, HasRawPredictionCol,  # type: ignore[misc]
):  # fmt: skip
    """The parameters that name columns. An empty name stands for no column."""

    featuresCols = Param(
        Params._dummy(),
        "featuresCols",
        "columns of the features, one each; instead of featuresCol",
        typeConverter=TypeConverters.toListString,
    )
    dropNullLabels = Param(
        Params._dummy(),
        "dropNullLabels",
        "whether rows without a label are left out; they are an error otherwise",
        typeConverter=TypeConverters.toBoolean,
    )

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(featuresCols=[], weightCol="", dropNullLabels=False)

    def feature_columns(self) -> tuple[str, ...]:
        """Return the columns of features.

        Returns
        -------
        tuple of str
            A column of arrays or vectors, or the columns of the features.
        """
        names = self.getOrDefault(self.featuresCols) or [self.getFeaturesCol()]
        return tuple(names)


def add_options(params: Any, options: tuple[Any, ...], values: Mapping[str, Any]) -> None:
    """Make a parameter of each option of a member, and set those that have other values."""
    for option in options:
        setattr(params, option.name, Param(params, option.name, option.help))
        params._setDefault(**{option.name: option.default})
        if option.name in values and values[option.name] != option.default:
            params._set(**{option.name: values[option.name]})
