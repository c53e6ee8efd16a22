"""Models to MLflow and back: `save_model`, `log_model`, `load_model`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from .._system.optional import require
from .._version import __version__
from ..files.models.model_file import load, save
from ..files.models.model_file import to_model as check_model
from .folder import MODEL_FILE, new_folder, write_environment
from .python_function import ANSWERS, PythonFunction

__all__ = ["load_model", "log_model", "save_model"]

FLAVOR = "fastgnb"


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: Any = None,
    extra_pip_requirements: Any = None,
    metadata: dict[str, Any] | None = None,
    pyfunc_predict_fn: str = "predict",
    mlflow_model: Any = None,
) -> None:
    """Save a fitted estimator as an MLflow model: a folder of data.

    Parameters
    ----------
    model : GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
        A fitted estimator.
    path : str or os.PathLike
        The folder, which appears whole or not at all. It must not be there, or be empty.
    signature : mlflow.models.ModelSignature, False or None, default=None
        Types of input and output. None: inferred from the example, if there is one.
    input_example : array-like or dict, default=None
        Rows that MLflow keeps with the model, such as ``X[:5]``.
    pip_requirements : str or sequence of str, default=None
        Requirements, or the path of a file of them, in the place of ``fastgnb`` in this version.
    extra_pip_requirements : str or sequence of str, default=None
        Requirements besides those.
    metadata : dict, default=None
        What MLflow keeps with the model.
    pyfunc_predict_fn : str, default="predict"
        The method that ``mlflow.pyfunc`` calls: ``predict``, ``predict_proba``,
        ``predict_log_proba``, ``predict_joint_log_proba`` or ``predict_log_evidence``.
    mlflow_model : mlflow.models.Model, default=None
        The description to write; MLflow gives it.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If it is of another kind.
    ValueError
        If a model file cannot hold it, or for another method.
    FileExistsError
        If the folder is there and not empty.
    ImportError
        Without the extra ``mlflow``.

    See Also
    --------
    log_model : Save a model in a tracking store.
    load_model : Load it.
    fastgnb.save : Only the model file.

    Examples
    --------
    >>> import fastgnb.mlflow
    >>> from fastgnb import GaussianNB
    >>> model = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["a", "a", "b", "b"])
    >>> fastgnb.mlflow.save_model(model, "model")  # doctest: +SKIP
    >>> fastgnb.mlflow.load_model("model").predict([[5.5]])  # doctest: +SKIP
    array(['b'], dtype='<U1')
    """
    check_model(model)
    if pyfunc_predict_fn not in ANSWERS:
        raise ValueError(
            f"Expected a pyfunc_predict_fn of {list(ANSWERS)}, got {pyfunc_predict_fn!r:.80}."
        )
    described = require("mlflow.models").Model() if mlflow_model is None else mlflow_model
    with new_folder(path) as folder:
        save(model, folder / MODEL_FILE)
        example = _save_example(described, input_example, folder)
        if signature is None and example is not None:
            signature = _inferred(model, example, pyfunc_predict_fn)
        if signature:
            described.signature = signature
        if metadata is not None:
            described.metadata = metadata
        _add_flavors(described, pyfunc_predict_fn, model)
        write_environment(folder, pip_requirements, extra_pip_requirements)
        described.model_size_bytes = sum(
            each.stat().st_size for each in folder.rglob("*") if each.is_file()
        )
        described.save(os.fspath(folder / "MLmodel"))


def log_model(
    model: Any,
    name: str | None = None,
    *,
    registered_model_name: str | None = None,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: Any = None,
    extra_pip_requirements: Any = None,
    metadata: dict[str, Any] | None = None,
    pyfunc_predict_fn: str = "predict",
    **kwargs: Any,
) -> Any:
    """Log a fitted estimator to the current run of MLflow, or to a new one.

    Parameters
    ----------
    model : GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
        A fitted estimator.
    name : str, default=None
        The name of the logged model.
    registered_model_name : str, default=None
        The name of a registered model, of which this becomes a version.
    signature, input_example, pip_requirements, extra_pip_requirements, metadata : object
        See `save_model`.
    pyfunc_predict_fn : str, default="predict"
        See `save_model`.
    **kwargs : dict
        Other arguments of ``mlflow.models.Model.log``, such as ``params``, ``tags`` and ``step``.

    Returns
    -------
    mlflow.models.model.ModelInfo
        Where the model is: ``model_uri`` and more.

    Raises
    ------
    ValueError
        And others: as by `save_model`, before anything is logged.
    ImportError
        Without the extra ``mlflow``.

    See Also
    --------
    save_model : Save a model to a folder.
    load_model : Load it, by ``model_uri``.

    Examples
    --------
    >>> import fastgnb.mlflow
    >>> from fastgnb import GaussianNB
    >>> X = [[1.0], [2.0], [5.0], [6.0]]
    >>> model = GaussianNB().fit(X, ["a", "a", "b", "b"])
    >>> info = fastgnb.mlflow.log_model(model, name="model")  # doctest: +SKIP
    >>> fastgnb.mlflow.load_model(info.model_uri).predict(X[:1])  # doctest: +SKIP
    array(['a'], dtype='<U1')
    """
    check_model(model)
    return require("mlflow.models").Model.log(
        artifact_path=None, name=name, flavor=sys.modules[__package__ or ""], model=model,
        registered_model_name=registered_model_name, signature=signature,
        input_example=input_example, pip_requirements=pip_requirements,
        extra_pip_requirements=extra_pip_requirements, metadata=metadata,
        pyfunc_predict_fn=pyfunc_predict_fn, **kwargs,
    )  # fmt: skip


def load_model(model_uri: str, dst_path: str | None = None) -> Any:
    """Load an estimator from a folder, a run or the registry of MLflow. Nothing is executed.

    Parameters
    ----------
    model_uri : str
        Where it is: a folder, ``runs:/<run_id>/<name>``, ``models:/<name>/<version>``, ...
    dst_path : str, default=None
        An existing folder to which it is downloaded. None: a temporary one.

    Returns
    -------
    GaussianNB, GaussianBayes, PCAGaussianNB or MixedNB
        The estimator, which predicts, learns on, and merges.

    Raises
    ------
    ValueError
        If it is no model that this module saved.
    fastgnb.ModelFileError
        If its model file is not valid.
    ImportError
        Without the extra ``mlflow``.

    See Also
    --------
    save_model : Save a model.
    fastgnb.load : Load a model file.

    Examples
    --------
    >>> import fastgnb.mlflow
    >>> fastgnb.mlflow.load_model("models:/flights/1")  # doctest: +SKIP
    GaussianNB()
    """
    folder = Path(
        require("mlflow.artifacts").download_artifacts(artifact_uri=model_uri, dst_path=dst_path)
    )
    flavors = require("mlflow.models").Model.load(os.fspath(folder)).flavors
    if FLAVOR not in flavors:
        raise ValueError(
            f"{model_uri} has no flavour {FLAVOR!r}, but {sorted(flavors)}. Models of "
            "mlflow.sklearn are loaded by mlflow.sklearn.load_model."
        )
    return load(folder / MODEL_FILE)


def _save_example(described: Any, example: Any, folder: Path) -> Any:
    return require("mlflow.models.utils")._save_example(described, example, os.fspath(folder))


def _inferred(model: Any, example: Any, answer: str) -> Any:
    """The signature of a model for rows such as those of an example."""
    rows = example.inference_data
    found = PythonFunction(model, answer).predict(rows)
    return require("mlflow.models").infer_signature(rows, found)


def _add_flavors(described: Any, answer: str, model: Any) -> None:
    require("mlflow.pyfunc").add_to_model(
        described, loader_module=(__package__ or ""), data=MODEL_FILE, conda_env="conda.yaml",
        python_env="python_env.yaml",
    )  # fmt: skip
    described.add_flavor(
        FLAVOR, data=MODEL_FILE, fastgnb_version=__version__, predict_fn=answer,
        member=type(model).__name__,
    )  # fmt: skip
