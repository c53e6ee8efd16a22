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

    estimators/             scikit-learn estimators over a model, and model selection
    files/                  tables, model files, and jobs over them
    cli/                    the `fastgnb` command: arguments, messages, exit codes
    _numba/, _system/       compilation, threads and vectors; atomic files, signals, thread limits

Statistics never know about priors, smoothing or estimators. Parameters never know about rows.
Kernels check nothing and raise nothing. Each folder's `__init__.py` says what comes in, what goes
out, and which file does what.

Public names are those of `fastgnb`, `fastgnb.select` and `fastgnb.files`. Importing this package
imports none of its dependencies; each public name is loaded when it is first used.
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
    "load": "files.models.model_file",
    "save": "files.models.model_file",
    "skops_types": "files.models.model_file",
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
    "load",
    "save",
    "skops_types",
]

if TYPE_CHECKING:
    from .estimators.gaussian_bayes import GaussianBayes
    from .estimators.mixed import MixedNB
    from .estimators.naive_bayes import GaussianNB
    from .estimators.pca import PCAGaussianNB
    from .files.models.container import ModelFileError
    from .files.models.model_file import load, save, skops_types
    from .stats.class_stats import ClassStats
    from .stats.mixed_stats import MixedStats

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
