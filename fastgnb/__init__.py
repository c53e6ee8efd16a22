"""fastgnb: Gaussian naive Bayes from statistics that add.

The whole library is one flow, and each step is one file::

    rows X, y, weight         arrays, frames, memory maps, files
      | validate, encode      _validate, sources: friendly input -> plain arrays, labels -> codes
      v accumulate            kernels/accumulate: one read of X
    STATISTICS  ClassStats    stats: numbers that add, subtract and merge
      | rotate                rotation: the same seen along principal axes
      v estimate              params, covariance: priors, smoothing, sharing; family: the members
    PARAMETERS  GaussianParams, RotatedParams    numbers that decide
      v score                 kernels/score, whitened: log likelihood, fused with what is wanted
    outputs                   naive_bayes, gaussian_bayes, pca (scikit-learn), select, cli, persist

Statistics never know about priors, smoothing or estimators. Parameters never know about rows.
Kernels check nothing and raise nothing. Importing this package imports none of its dependencies;
each public name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "ClassStats": "stats",
    "GaussianBayes": "gaussian_bayes",
    "GaussianNB": "naive_bayes",
    "MixedNB": "mixed",
    "MixedStats": "mixed_stats",
    "ModelFileError": "persist",
    "PCAGaussianNB": "pca",
    "load": "persist",
    "save": "persist",
    "skops_types": "persist",
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
    from .gaussian_bayes import GaussianBayes
    from .mixed import MixedNB
    from .mixed_stats import MixedStats
    from .naive_bayes import GaussianNB
    from .pca import PCAGaussianNB
    from .persist import ModelFileError, load, save, skops_types
    from .stats import ClassStats


def __getattr__(name: str) -> Any:
    """Load a public name from its module on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
