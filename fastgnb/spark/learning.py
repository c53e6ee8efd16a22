"""`fit_stats`: a DataFrame to statistics."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from ..files.jobs.learn_rows import StatsKind
from ..input.rows import check_missing
from ..stats.category_counts import check_few_categories
from ..stats.checks import check_scatter
from .columns import as_names, learned_columns
from .engine import check_frame, explained
from .merging import merged, statistics_of, total
from .partitions import SCHEMA, LearnTask, learn_partition

__all__ = ["fit_stats", "learn_frame"]


def fit_stats(
    df: Any,
    label: str = "label",
    features: str | Iterable[str] | None = None,
    weight: str | None = None,
    categorical: str | Iterable[str] = (),
    missing: str = "error",
    scatter: str = "diag",
    *,
    max_categories: int | None = 50_000,
    drop_null_labels: bool = False,
) -> Any:
    """Make statistics of the rows of a DataFrame, in one read of them by the executors.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Rows, of classic Spark or Spark Connect.
    label : str, default="label"
        Column of labels: whole numbers, floats, booleans or text.
    features : str or iterable of str, default=None
        Columns of the features; or one column of arrays or of vectors of ``pyspark.ml.linalg`` that
        holds all of them. By default every numeric or boolean column that has no other use, and
        the categorical ones; where there is none, the only column of arrays or vectors.
    weight : str, default=None
        Column of row weights.
    categorical : str or iterable of str, default=()
        Columns that hold categories; the statistics are then `fastgnb.MixedStats`.
    missing : {"error", "skip"}, default="error"
        What to do with nulls and NaN among features: raise, or leave each out of its feature.
    scatter : {"diag", "full"}, default="diag"
        Keep one number for each feature, or one for each pair of features.
    max_categories : int, default=50000
        Most categories of a feature, beyond which it is refused. None: any number.
    drop_null_labels : bool, default=False
        Leave out rows whose label is null or NaN. They are an error otherwise.

    Returns
    -------
    ClassStats or MixedStats
        Statistics of all rows, with the names of the columns; those of arrays have no names.

    Raises
    ------
    SourceError
        If a column is missing or of a type that cannot play its part; if rows have no label, whose
        number is told; if a value cannot be learned. The message names partition, column and row.
    TypeError
        If `df` is no DataFrame of Spark, or a streaming one.
    ValueError
        If an argument is wrong.
    RuntimeError
        If Python on the executors lacks this package.

    See Also
    --------
    transform : Score a DataFrame.
    fastgnb.merge : The order in which statistics of partitions are added.

    Notes
    -----
    The statistics of partitions are merged in their order by the tree of `fastgnb.merge`. The same
    rows in the same partitions, in the same order, give the same bits for any number of executors,
    and after tasks that failed. After a shuffle Spark promises no order of rows, and results may
    then differ by their rounding, about 1e-13.

    Each task uses as many threads as Spark sets cores aside for it (``spark.task.cpus``). Executors
    need this package, and send about ``24 * n_classes * n_features`` bytes for each partition.

    Examples
    --------
    >>> from fastgnb import GaussianNB
    >>> from fastgnb.spark import fit_stats
    >>> stats = fit_stats(df, label="y")  # doctest: +SKIP
    >>> model = GaussianNB().fit_stats(stats)  # doctest: +SKIP
    """
    skip, full = check_missing(missing), check_scatter(scatter)
    marked = as_names(categorical, "categorical") or ()
    if full and (marked or skip):
        other = "categorical columns" if marked else "missing='skip'"
        raise ValueError(f"scatter='full' does not go with {other}.")
    return learn_frame(
        df,
        StatsKind(skip, full, bool(marked)),
        target=label,
        weight=weight,
        features=as_names(features, "features"),
        categorical=marked,
        max_categories=max_categories,
        drop_null_labels=drop_null_labels,
    )


def learn_frame(
    df: Any,
    kind: StatsKind,
    *,
    target: str,
    weight: str | None,
    features: tuple[str, ...] | None,
    categorical: tuple[str, ...],
    max_categories: int | None,
    drop_null_labels: bool,
) -> Any:
    """Statistics of some kind of the rows of a DataFrame. Raises as `fit_stats` does."""
    check_frame(df)
    columns = learned_columns(df.schema, target, weight, features, categorical)
    task = LearnTask(columns, kind, max_categories)
    rows = columns.selected(df)
    with explained():
        outcomes = merged(rows.mapInArrow(partial(learn_partition, task), SCHEMA))
    stats = statistics_of(total(outcomes), target, drop_null_labels=drop_null_labels)
    if kind.mixed:  # each partition may have held few of many
        check_few_categories(stats, max_categories)
    return stats
