"""Error against exact arithmetic, for rows whose mean is many standard deviations from 0.

The exact values come from the slow references that the tests use.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from .rivals import Rival

_ORACLES = Path(__file__).resolve().parents[1] / "tests" / "oracles.py"
D, K = 5, 3


class Errors(NamedTuple):
    """Largest relative errors: of variances, and of joint log likelihoods, parameters given."""

    var: float
    joint: float


def rows(offset: float, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, 5) of sd 1 around `offset`, and labels of three classes."""
    draw = np.random.default_rng(7)
    y = np.arange(n) % K
    return draw.normal(size=(n, D)) + y[:, None] + offset, y


def measure(rival: Rival, offset: float) -> tuple[Any, Errors]:
    """The rival's model of `rows(offset)`, and how far it is from exact arithmetic."""
    X, y = rows(offset)
    model = rival.fit(X, y)
    exact = oracles()
    stats = exact.class_stats(X, y)
    smoothing = exact.epsilon(X)
    var = [
        [s / w + smoothing for s, w in zip(scatter, weight, strict=True)]
        for scatter, weight in zip(stats.scatter, stats.weight, strict=True)
    ]
    want = [exact.joint(x, model.class_prior_, model.theta_, model.var_) for x in X[:40]]
    got = joint_of(model)(X[:40])
    return model, Errors(exact.relative_error(model.var_, var), _joint_error(got, want))


def joint_of(model: Any) -> Callable[[np.ndarray], np.ndarray]:
    """The method that gives joint log likelihoods, by whatever name."""
    return getattr(model, "predict_joint_log_proba", None) or model.joint


def _joint_error(got: np.ndarray, want: list[list[Any]]) -> float:
    """Largest error relative to the row's largest term."""
    right = np.array(want, dtype=np.float64)
    return float((np.abs(got - right) / np.abs(right).max(axis=1, keepdims=True)).max())


def oracles() -> ModuleType:
    """tests/oracles.py, which is no part of a package."""
    spec = importlib.util.spec_from_file_location("fastgnb_oracles", _ORACLES)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
