"""Models of files that do not fit in memory: fit, update, predict, evaluate, diagnose, merge.

In: paths of Parquet, CSV, Arrow IPC and .npy files, and of model files. Out: estimators, files of
predictions, evaluations. Rows are read in batches of bounded size, in the order of the files; an
output file appears whole or not at all. Each function does what the command of its name does, with
the same options: the command line is argument parsing and messages around `jobs`.

From Python, messages about likely mistakes are issued as ``UserWarning``, and the rest go to the
logger ``fastgnb.files``. An estimator keeps no record of the files that it learned; a model
file does, and refuses to learn one twice.

Where to start
    learning.py, scoring.py, reading.py    the public functions; arguments.py: their arguments
    diagnosing.py                          `diagnose`
    streaming.py                           `fit_stats` and `predict_stream`, of Arrow streams
    jobs/        what they do: files to statistics, and a model to answers
    tables/      files to batches of rows, and answers to files: the readers of CSV and the rest
    models/      model files: save and load
    errors.py    the error of files that cannot be used; phrases.py: names and numbers in messages
    outputs.py   checks of an output file, before any work

May import: every room but `cli`. Importing it imports none of its dependencies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._system.lazy import lazy_names

_HOMES = {
    "Batches": "tables.streams",
    "CsvDialect": "tables.csv_dialect",
    "Evaluation": ".evaluation.evaluation",
    "RowCounts": "jobs.bad_rows",
    "SourceError": "errors",
    "diagnose": "diagnosing",
    "evaluate": "scoring",
    "fit": "learning",
    "fit_stats": "streaming",
    "merge": "learning",
    "open_rows": "reading",
    "predict": "scoring",
    "predict_stream": "streaming",
    "update": "learning",
}

__all__ = [
    "Batches",
    "CsvDialect",
    "Evaluation",
    "RowCounts",
    "SourceError",
    "diagnose",
    "evaluate",
    "fit",
    "fit_stats",
    "merge",
    "open_rows",
    "predict",
    "predict_stream",
    "update",
]

if TYPE_CHECKING:
    from ..evaluation.evaluation import Evaluation
    from .diagnosing import diagnose
    from .errors import SourceError
    from .jobs.bad_rows import RowCounts
    from .learning import fit, merge, update
    from .reading import open_rows
    from .scoring import evaluate, predict
    from .streaming import fit_stats, predict_stream
    from .tables.csv_dialect import CsvDialect
    from .tables.streams import Batches

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
