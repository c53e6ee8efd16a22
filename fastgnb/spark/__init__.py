"""Spark: statistics of a DataFrame, its rows scored, and an estimator of pyspark.ml.

In: DataFrames of classic Spark or Spark Connect, and models. Out: `ClassStats` or `MixedStats`, as
one machine would have made them, and DataFrames with further columns. Executors make statistics of
each partition by `mapInArrow`, and merge them by `applyInArrow` in the order of the partitions, in
the tree of `fastgnb.merge`. They exchange bytes as model files hold them; nothing of this package
is pickled but names of functions. Needs the extra ``spark``, here and on executors.

Where to start
    learning.py     `fit_stats`, and scoring.py: `transform`, the public functions
    classifier.py   `SparkClassifier`, and fitted.py: `SparkClassifierModel`, for pyspark.ml
    params.py       their parameters; saved.py: how they are saved
    columns.py      which columns of a DataFrame play which part, by its schema
    partitions.py   what executors do with a partition to learn it; merging.py: with statistics
    scored.py       what executors do with a partition to score it
    arrays.py       columns of arrays as one column for each feature
    engine.py       pyspark itself, checked, and its errors explained

May import: every room but `cli`, `report`, `plot` and `dask`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._system.lazy import lazy_names

_HOMES = {
    "SparkClassifier": "classifier",
    "SparkClassifierModel": "fitted",
    "fit_stats": "learning",
    "transform": "scoring",
}

__all__ = ["SparkClassifier", "SparkClassifierModel", "fit_stats", "transform"]

if TYPE_CHECKING:
    from .classifier import SparkClassifier
    from .fitted import SparkClassifierModel
    from .learning import fit_stats
    from .scoring import transform

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
