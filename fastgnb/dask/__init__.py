"""The same models over the partitions of Dask arrays and dataframes.

In: Dask collections, whose rows are never all in memory. Out: statistics, estimators, and for
scoring lazy collections of the kind that came. Each partition becomes statistics in a task of its
own, a tree adds them by the position of their partitions, and scoring is a map. So the bits do not
depend on the scheduler, on the number of workers, or on tasks that are run again. Needs the extra
``dask``: ``pip install 'fastgnb[dask]'``.

Tasks are pure functions of a partition, its number and plain options. They exchange arrays and the
bytes of statistics and models, and no objects of this package.

Where to start
    fit_stats.py     `fit_stats`: collections to statistics
    estimator.py     `Distributed`: an estimator of the family, which learns and scores collections
    answers.py       what it says of collections: lazy scores, evaluations, diagnoses
    collections.py   rows, labels and weights that are checked, aligned and cut alike
    partition.py     one partition in a task: its rows, batches, and errors that name it
    learning.py      tasks that learn a partition, and that merge statistics
    scoring.py       tasks that score a partition, and the collections that they make up
    assessing.py     tasks of `evaluate` and `diagnose`
    tree.py          results of partitions merged in a tree of tasks
    workers.py       how many threads a task may use
    errors.py        the error of a partition whose rows cannot be used

May import: every room but `cli`, `dashboard`, `report` and `plot`. Importing it imports none of its
dependencies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._system.lazy import lazy_names

_HOMES = {"Distributed": "estimator", "PartitionError": "errors", "fit_stats": "fit_stats"}

__all__ = ["Distributed", "PartitionError", "fit_stats"]

if TYPE_CHECKING:
    from .errors import PartitionError
    from .estimator import Distributed
    from .fit_stats import fit_stats

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
