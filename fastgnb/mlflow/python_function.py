"""What ``mlflow.pyfunc`` calls: a loaded model as a function of rows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .._system.optional import require
from ..files.models.model_file import load
from ..input.frames import is_frame

__all__ = ["ANSWERS", "PythonFunction"]

ANSWERS = (
    "predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba",
    "predict_log_evidence",
)  # fmt: skip


class PythonFunction:
    """A model with one answer, in the shape that MLflow expects."""

    def __init__(self, model: Any, answer: str) -> None:
        self.model = model
        self.answer = answer

    def predict(self, model_input: Any, params: Any = None) -> Any:
        """The answer for rows. `params` is there for MLflow, and ignored."""
        if is_frame(model_input) and not hasattr(self.model, "feature_names_in_"):
            model_input = model_input.to_numpy()  # columns are known by their positions only
        return getattr(self.model, self.answer)(model_input)

    def get_raw_model(self) -> Any:
        """The estimator."""
        return self.model


def _load_pyfunc(path: str) -> PythonFunction:
    """What MLflow calls to load a model file, with the MLmodel file beside it."""
    folder = Path(path).parent
    flavor = require("mlflow.models").Model.load(os.fspath(folder)).flavors["fastgnb"]
    answer = flavor.get("predict_fn", ANSWERS[0])
    if answer not in ANSWERS:
        raise ValueError(f"{folder}: expected a predict_fn of {list(ANSWERS)}, got {answer!r:.80}.")
    return PythonFunction(load(path), answer)
