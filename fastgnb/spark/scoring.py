"""`transform`: a DataFrame with the answers of a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from ..files.errors import SourceError
from ..files.models.as_bytes import to_bytes
from ..files.models.model_file import to_model
from ..model.model import Model
from .columns import Columns, aliases, array_columns, as_names, check_free, scored_columns
from .engine import check_frame
from .scored import ARRAYS, Answers, ScoreTask, label_kind, score_partition

__all__ = ["score_frame", "transform"]


def transform(
    model: Any,
    df: Any,
    prediction: str = "prediction",
    probability: str | None = None,
    evidence: str | None = None,
    *,
    features: str | Iterable[str] | None = None,
) -> Any:
    """Score the rows of a DataFrame: the same DataFrame with further columns, lazily.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package.
    df : pyspark.sql.DataFrame
        Rows, of classic Spark or Spark Connect.
    prediction : str, default="prediction"
        Column of predicted labels, which are of type bigint, double, boolean or string.
    probability : str, default=None
        Column of probabilities, an array<double> with one for each of ``model.classes_``.
    evidence : str, default=None
        Column of log p(x), a double.
    features : str or iterable of str, default=None
        Columns of the features in the order of the model, or one column of arrays or of vectors of
        ``pyspark.ml.linalg``. By default the columns that have the names of the model's features;
        for a model without names the only column of arrays or vectors.

    Returns
    -------
    pyspark.sql.DataFrame
        All columns of `df`, and the new ones.

    Raises
    ------
    SourceError
        If a column is missing or of a type that the model does not take, or a new one is there
        already. For a value that the model cannot take, Spark's PythonException as soon as the
        DataFrame is computed, with a message that names partition, column and row.
    TypeError
        If `df` is no DataFrame of Spark, or `model` no estimator of this package.
    ValueError
        If the model has other features.

    See Also
    --------
    fit_stats : Statistics of a DataFrame.

    Notes
    -----
    Answers are those of ``predict``, ``predict_proba`` and ``predict_log_evidence``, to the last
    bit. The model travels as bytes, and each Python worker reads it once. A task holds two batches
    of rows at a time, whose size ``spark.sql.execution.arrow.maxRecordsPerBatch`` sets.

    Examples
    --------
    >>> from fastgnb.spark import transform
    >>> transform(model, df, probability="p").show()  # doctest: +SKIP
    """
    answers = Answers(prediction, probability, None, evidence)
    return score_frame(model, df, answers, as_names(features, "features"))


def score_frame(model: Any, df: Any, answers: Answers, features: tuple[str, ...] | None) -> Any:
    """A DataFrame with some answers of an estimator. Raises as `transform` does."""
    from pyspark.sql.types import StructField, StructType

    check_frame(df)
    fitted, schema = to_model(model), df.schema
    check_free(schema, answers.names())
    columns, added = _columns(fitted, schema, features), _added_fields(fitted, answers)
    names = list(schema.names)
    if columns.is_vector:
        df = df.select("*", columns.feature(columns.features[0]))
        names.append(ARRAYS)
    task = ScoreTask(to_bytes(model), columns, answers, tuple(names), len(schema.names))
    fields = [*schema.fields, *added]
    short = [
        StructField(alias, field.dataType, field.nullable, field.metadata)
        for alias, field in zip(aliases(len(fields)), fields, strict=True)
    ]
    scored = df.toDF(*aliases(len(names))).mapInArrow(
        partial(score_partition, task), StructType(short)
    )
    return scored.toDF(*(field.name for field in fields))


def _columns(model: Model, schema: Any, features: Sequence[str] | None) -> Columns:
    """The columns that a model takes. Raises SourceError and ValueError."""
    if features is None:
        features = model.feature_names or _only_array(schema)
    marked = ~model.is_continuous
    categorical = [name for name, is_marked in zip(features, marked, strict=False) if is_marked]
    columns = scored_columns(schema, features, categorical)
    if not columns.is_array and len(features) != model.n_features:
        raise ValueError(
            f"The DataFrame has {len(features)} features, but the model is expecting "
            f"{model.n_features}."
        )
    return columns


def _only_array(schema: Any) -> tuple[str, ...]:
    arrays = array_columns(schema)
    if len(arrays) != 1:
        found = ", ".join(map(repr, arrays)) or "none"
        raise SourceError(
            "the model has no names of features, so that one column of arrays or vectors was "
            f"expected; found {found}; name the columns with features="
        )
    return (arrays[0],)


def _added_fields(model: Model, answers: Answers) -> list[Any]:
    """The new columns."""
    from pyspark.sql import types as T

    labels = {"bigint": T.LongType, "boolean": T.BooleanType, "double": T.DoubleType}
    fields = [
        T.StructField(answers.prediction, labels.get(label_kind(model.classes), T.StringType)())
    ]
    fields += [
        T.StructField(name, T.ArrayType(T.DoubleType()))
        for name in (answers.probability, answers.log_odds)
        if name is not None
    ]
    if answers.evidence is not None:
        fields.append(T.StructField(answers.evidence, T.DoubleType()))
    return fields
