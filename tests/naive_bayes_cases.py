"""Fitted attributes and methods of GaussianNB, for its tests."""

from __future__ import annotations

import numpy as np

FITTED = ("classes_", "class_count_", "class_prior_", "theta_", "var_", "epsilon_")
PREDICTORS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "predict_joint_log_proba",
    "predict_log_evidence",
)


def state(model):
    """All fitted attributes as bytes."""
    kept = {k: v for k, v in model.__dict__.items() if k.endswith("_") and k != "stats_"}
    kept |= {f"stats_.{k}": v for k, v in getattr(model, "stats_", None).__dict__.items()}
    return {k: (np.asarray(v).tobytes(), str(getattr(v, "dtype", ""))) for k, v in kept.items()}


def assert_same_model(a, b, rtol=1e-12):
    for name in FITTED[1:]:
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, err_msg=name)
    assert a.classes_.tolist() == b.classes_.tolist()
