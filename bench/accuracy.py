"""Errors against exact arithmetic, for rows whose mean is many standard deviations from 0.

The exact values come from tests/oracles.py, the slow reference implementations of the tests.
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
    """Largest relative errors of variances, and of joint log likelihoods given the parameters."""

    var: float
    joint: float


def rows(offset: float, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, 5) of standard deviation 1 around `offset`, and labels of three classes."""
    rng = np.random.default_rng(7)
    y = np.arange(n) % K
    return rng.normal(size=(n, D)) + y[:, None] + offset, y


def measure(rival: Rival, offset: float) -> tuple[Any, Errors]:
    """The library's model of `rows(offset)`, and its errors against exact arithmetic."""
    X, y = rows(offset)
    model = rival.fit(X, y)
    exact = oracles()
    stats = exact.class_stats(X, y)
    smoothing = exact.epsilon(X)
    var = [
        [s / w + smoothing for s, w in zip(scatter, weight, strict=True)]
        for scatter, weight in zip(stats.scatter, stats.weight, strict=True)
    ]
    expected = [exact.joint(x, model.class_prior_, model.theta_, model.var_) for x in X[:40]]
    result = joint_of(model)(X[:40])
    return model, Errors(exact.relative_error(model.var_, var), _joint_error(result, expected))


def joint_of(model: Any) -> Callable[[np.ndarray], np.ndarray]:
    """The method that returns joint log likelihoods, whatever its name."""
    return getattr(model, "predict_joint_log_proba", None) or model.joint


def _joint_error(result: np.ndarray, expected: list[list[Any]]) -> float:
    """Largest error, relative to the row's largest term."""
    exact = np.array(expected, dtype=np.float64)
    return float((np.abs(result - exact) / np.abs(exact).max(axis=1, keepdims=True)).max())


def oracles() -> ModuleType:
    """tests/oracles.py, which is not part of a package."""
    spec = importlib.util.spec_from_file_location("fastgnb_oracles", _ORACLES)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
