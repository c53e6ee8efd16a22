"""Whether a result is correct: labels up to near-ties, probabilities, parameters.

The reference is computed here in float64, in two passes over centred rows, and not by any of the
programs that are timed. A label that differs from the reference's is correct where its joint log
likelihood is within `TIE` of the best one, relative to the size of the terms that are added.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from .problems import Problem
from .rivals import Rival

TIE = 1e-10  # float64 programs: two roundings of sums of d terms
TIE_32 = 2e-3  # scikit-learn learns float32 rows in float32

# Largest relative error of float64 parameters. The NumPy formulation expands the square.
FIT_ERROR = {"fastgnb": 1e-9, "scikit-learn": 1e-9, "numpy matrix": 1e-6}


class Reference(NamedTuple):
    """Parameters of a problem: classes (k,), log priors (k,), means and variances (k, d)."""

    classes: np.ndarray
    log_prior: np.ndarray
    mean: np.ndarray
    var: np.ndarray

    def joint(self, X: np.ndarray) -> np.ndarray:
        """Joint log likelihoods (n, k) of a few rows, one class at a time, squares unexpanded."""
        out = np.empty((len(X), len(self.classes)))
        for c, (mean, var) in enumerate(zip(self.mean, self.var, strict=True)):
            square = ((X - mean) ** 2 / var).sum(axis=1)
            out[:, c] = self.log_prior[c] - 0.5 * (np.log(2 * np.pi * var).sum() + square)
        return out


def fit_reference(X: np.ndarray, y: np.ndarray) -> Reference:
    """Fit the reference: means, then squares of centred rows, class by class in float64."""
    classes, codes = np.unique(y, return_inverse=True)
    k, d = len(classes), X.shape[1]
    mean, var = np.empty((k, d)), np.empty((k, d))
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=k))
    for c, rows in enumerate(np.split(order, ends[:-1])):
        X_c = X[rows].astype(np.float64)
        mean[c] = X_c.mean(axis=0)
        var[c] = ((X_c - mean[c]) ** 2).mean(axis=0)
    largest = max(np.var(column.astype(np.float64)) for column in X.T)
    prior = np.diff(ends, prepend=0) / len(y)
    return Reference(classes, np.log(prior), mean, var + 1e-9 * largest)


@functools.lru_cache(maxsize=4)
def reference(problem: Problem) -> Reference:
    """The reference model of all rows of a problem."""
    return fit_reference(*problem.data())


def sample(n: int, limit: int = 2_000) -> np.ndarray:
    """Rows to check: all of a small problem, else those at both ends and random ones."""
    if n <= limit:
        return np.arange(n)
    rng = np.random.default_rng(0)
    ends = np.r_[0:64, n - 64 : n]
    return np.unique(np.r_[ends, rng.integers(0, n, limit - len(ends))])


def check_fit(model: Any, rival: Rival, problem: Problem) -> None:
    """Raise AssertionError unless a fitted model has the problem's parameters.

    Libraries that hide their parameters, or define them differently, are checked by their labels.
    """
    if rival.max_rows is None and hasattr(model, "theta_") and rival.agreement == 1.0:
        expected = reference(problem)
        rtol = FIT_ERROR[rival.name] if _is_exact(rival, problem) else 2e-2
        scale = np.sqrt(expected.var)
        np.testing.assert_array_less(np.abs(model.theta_ - expected.mean) / scale, rtol)
        np.testing.assert_allclose(model.var_, expected.var, rtol=rtol)
        return
    X, _ = rival.head(*problem.data())
    rows = sample(len(X))
    check_labels(model.predict(np.ascontiguousarray(X[rows])), rival, problem, rows)


def check_labels(
    labels: np.ndarray, rival: Rival, problem: Problem, rows: np.ndarray | None = None
) -> None:
    """Raise AssertionError unless the labels of a problem's rows are correct, near-ties aside.

    `labels` are those of all rows (n,), of which a sample is checked, or those of `rows`.
    """
    X, _ = rival.head(*problem.data())
    if rows is None:
        assert len(labels) == len(X)
        rows = sample(len(X))
        labels = labels[rows]
    expected = _reference_for(rival, problem)
    joint = expected.joint(X[rows].astype(np.float64))
    codes = np.searchsorted(expected.classes, labels)
    assert (expected.classes[codes] == labels).all(), f"{rival.name}: labels of no class"
    best = joint.max(axis=1)
    gap = best - joint[np.arange(len(rows)), codes]
    tie = TIE if _is_exact(rival, problem) else TIE_32
    is_correct = gap <= tie * (problem.d + np.abs(best))
    assert is_correct.mean() >= rival.agreement, (
        f"{rival.name} on {problem.name}: {(~is_correct).sum()} of {len(rows)} labels are wrong"
    )


def check_proba(proba: np.ndarray, rival: Rival, problem: Problem) -> None:
    """Raise AssertionError unless the probabilities (n, k) of a problem's rows are correct."""
    X, _ = rival.head(*problem.data())
    expected = _reference_for(rival, problem)
    assert proba.shape == (len(X), len(expected.classes))
    rows = sample(len(X))
    np.testing.assert_allclose(proba[rows].sum(axis=1), 1.0, rtol=1e-5)
    joint = expected.joint(X[rows].astype(np.float64))
    exact = np.exp(joint - joint.max(axis=1, keepdims=True))
    exact /= exact.sum(axis=1, keepdims=True)
    atol = (1e-8 if problem.dtype == "float64" else 1e-6) if _is_exact(rival, problem) else 3e-2
    is_correct = (np.abs(proba[rows] - exact) <= atol).all(axis=1)
    least = 1.0 if rival.agreement == 1.0 else 0.9
    assert is_correct.mean() >= least, f"{rival.name} on {problem.name}: wrong probabilities"


def _reference_for(rival: Rival, problem: Problem) -> Reference:
    if rival.max_rows is None or rival.max_rows >= problem.n:
        return reference(problem)
    return fit_reference(*rival.head(*problem.data()))


def _is_exact(rival: Rival, problem: Problem) -> bool:
    """Whether the library computes in float64 for these rows."""
    return problem.dtype == "float64" or rival.name in ("fastgnb", "numpy matrix")
