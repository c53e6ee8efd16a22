"""Models of files that do not fit in memory: fit, update, predict, evaluate, merge.

In: paths of Parquet, CSV, Arrow IPC and .npy files, and of model files. Out: estimators, files of
predictions, evaluations. Rows are read in batches of bounded size, in the order of the files; an
output file appears whole or not at all. Each function does what the command of its name does, with
the same options: the command line is argument parsing and messages around `jobs`.

What the commands print comes as warnings (``UserWarning``), if it may well be wrong, and otherwise
by the logger ``fastgnb.files``. An estimator keeps no record of the files that it learned; a model
file does, and refuses to learn one twice.

Where to start
    learning.py, scoring.py, reading.py    the public functions; arguments.py: checks of theirs
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
    "Evaluation": ".model.evaluation",
    "RowCounts": "jobs.bad_rows",
    "SourceError": "errors",
    "evaluate": "scoring",
    "fit": "learning",
    "merge": "learning",
    "open_rows": "reading",
    "predict": "scoring",
    "update": "learning",
}

__all__ = [
    "Evaluation",
    "RowCounts",
    "SourceError",
    "evaluate",
    "fit",
    "merge",
    "open_rows",
    "predict",
    "update",
]

if TYPE_CHECKING:
    from ..model.evaluation import Evaluation
    from .errors import SourceError
    from .jobs.bad_rows import RowCounts
    from .learning import fit, merge, update
    from .reading import open_rows
    from .scoring import evaluate, predict

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
