"""fastgnb: Gaussian naive Bayes, and the classifiers related to it, from statistics that add.

The whole library is one flow, and its folders are the steps of it::

    rows X, y, weight       arrays, frames, memory maps, files
      | input/              checks; friendly input to plain arrays, labels to codes 0..k-1
      v kernels/learn/      one read of X
    STATISTICS              stats/: numbers that add: weight, mean and scatter of each class
      | merge, subtract     batches, threads, files, workers and folds combine by one operation
      v estimate/           priors, smoothing, sharing, shrinkage, principal axes
    PARAMETERS              numbers that decide
      v kernels/score/      joint log likelihood, fused with what is wanted of it
    ANSWERS                 model/ joins these steps

    export/                 models as SQL and as ONNX graphs
    estimators/             scikit-learn estimators over a model, and model selection
    evaluation/             how good predictions are
    diagnosis/              whether the assumptions of a model hold, and what would help
    densities/              which features and classes a model tells apart, in closed form
    files/                  tables, model files, and jobs over them
    dask/                   the same models over the partitions of Dask collections
    mlflow/                 models in MLflow's stores
    spark/                  the same models over the partitions of Spark's DataFrames
    plot/                   plots of models, diagnoses and evaluations
    report/                 all of it about one model, as one HTML page
    dashboard/              benchmarks of one run or many, as one HTML page
    cli/                    the `fastgnb` command: arguments, messages, exit codes
    _numba/, _system/       compilation, threads and vectors; atomic files, signals, thread limits

Statistics never know about priors, smoothing or estimators. Parameters never know about rows.
Kernels check nothing and raise nothing. Each folder's `__init__.py` says what comes in, what goes
out, and which file does what.

Public names are those of `fastgnb`, `fastgnb.select`, `fastgnb.files`, `fastgnb.dask`,
`fastgnb.mlflow`, `fastgnb.spark`, `fastgnb.plot` and `fastgnb.report`. Importing this package
imports none of its dependencies; each public name is loaded when it is first used, and so are these
packages: ``import fastgnb`` is enough for ``fastgnb.files.fit``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._system.lazy import lazy_names
from ._version import __version__

_HOMES = {
    "ClassStats": "stats.class_stats",
    "GaussianBayes": "estimators.gaussian_bayes",
    "GaussianNB": "estimators.naive_bayes",
    "MixedNB": "estimators.mixed",
    "MixedStats": "stats.mixed_stats",
    "ModelFileError": "files.models.container",
    "PCAGaussianNB": "estimators.pca",
    "diagnose": "diagnosis.diagnose",
    "evaluate": "evaluation.evaluate",
    "from_bytes": "files.models.as_bytes",
    "load": "files.models.model_file",
    "merge": "stats.tree",
    "save": "files.models.model_file",
    "skops_types": "files.models.model_file",
    "threads": "_system.thread_limits",
    "to_bytes": "files.models.as_bytes",
}

__all__ = [
    "ClassStats",
    "GaussianBayes",
    "GaussianNB",
    "MixedNB",
    "MixedStats",
    "ModelFileError",
    "PCAGaussianNB",
    "__version__",
    "diagnose",
    "evaluate",
    "from_bytes",
    "load",
    "merge",
    "save",
    "skops_types",
    "threads",
    "to_bytes",
]

_PACKAGES = "dask", "files", "mlflow", "plot", "report", "select", "spark"

if TYPE_CHECKING:
    from . import dask as dask
    from . import files as files
    from . import mlflow as mlflow
    from . import plot as plot
    from . import report as report
    from . import select as select
    from . import spark as spark
    from ._system.thread_limits import threads
    from .diagnosis.diagnose import diagnose
    from .estimators.gaussian_bayes import GaussianBayes
    from .estimators.mixed import MixedNB
    from .estimators.naive_bayes import GaussianNB
    from .estimators.pca import PCAGaussianNB
    from .evaluation.evaluate import evaluate
    from .files.models.as_bytes import from_bytes, to_bytes
    from .files.models.container import ModelFileError
    from .files.models.model_file import load, save, skops_types
    from .stats.class_stats import ClassStats
    from .stats.mixed_stats import MixedStats
    from .stats.tree import merge

__getattr__, __dir__ = lazy_names(__name__, _HOMES, _PACKAGES)
