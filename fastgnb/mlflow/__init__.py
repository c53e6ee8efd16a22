"""MLflow: models as data in a tracking store or a registry, and as Python functions.

In: a fitted estimator. Out: a folder that holds a model file, see `fastgnb.save`, and what MLflow
says of it: the flavour ``fastgnb``, the flavour ``python_function``, a signature, an example and
requirements. Nothing in it is pickled, and loading it executes nothing. Needs the extra ``mlflow``:
``pip install 'fastgnb[mlflow]'``.

``mlflow.pyfunc`` loads such a model by this module's name. ``mlflow.sklearn`` can save the same
estimators by skops, if it is told to trust `fastgnb.skops_types`.

Where to start
    flavor.py  save_model, log_model and load_model
    folder.py  a folder that appears whole or not at all, and what MLflow finds in it
    python_function.py  what mlflow.pyfunc calls

May import: every room but `cli`, `dashboard`, `report` and `plot`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._system.lazy import lazy_names

_HOMES = {
    "_load_pyfunc": "python_function",  # the name that MLflow asks for
    "load_model": "flavor",
    "log_model": "flavor",
    "save_model": "flavor",
}

__all__ = ["load_model", "log_model", "save_model"]

if TYPE_CHECKING:
    from .flavor import load_model, log_model, save_model

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
