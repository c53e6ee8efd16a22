"""Models and rows that are hard to decide in float32, for tests of certified labels."""

from __future__ import annotations

from unittest import mock

import numpy as np
from numpy.typing import NDArray

from fastgnb.kernels.score import certificate, diagonal, fixed_point
from fastgnb.kernels.score.diagonal import DiagonalTerms, score
from fastgnb.kernels.score.outputs import Scores, Wanted

# What makes a model hard: see `terms`.
KINDS = (
    "plain", "close", "equal", "far", "tiny", "large", "ratios", "impossible", "constants", "wide",
)  # fmt: skip


def terms(kind: str, d: int, k: int, seed: int = 0) -> DiagonalTerms:
    """Parameters of k classes, of a kind of difficulty."""
    rng = np.random.default_rng([seed, d, k])
    mean, sd = rng.normal(size=(k, d)), rng.uniform(0.5, 2, (k, d))
    const = -np.log(sd).sum(axis=1) + np.log(rng.dirichlet(np.ones(k)))
    if kind == "close":
        mean *= 1e-3
    elif kind == "equal":
        mean[k // 2 :], sd[k // 2 :] = mean[: k - k // 2], sd[: k - k // 2]
        const[k // 2 :] = const[: k - k // 2]
    elif kind == "far":
        mean += 1e8
    elif kind == "tiny":
        mean, sd = mean * 1e-14, sd * 1e-14
    elif kind == "large":
        mean, sd = mean * 1e14, sd * 1e14
    elif kind == "ratios":
        sd *= 10.0 ** rng.uniform(-4, 4, (k, d))
        const = -np.log(sd).sum(axis=1)
    elif kind == "impossible":
        const[:: 2 if k > 2 else 3] = -np.inf
    elif kind == "constants":
        const = const - 1e4 * np.arange(k)
    elif kind == "wide":
        mean *= 30.0
    return DiagonalTerms(mean, np.sqrt(0.5) / sd, None, const)


def rows(model: DiagonalTerms, n: int, seed: int = 0) -> NDArray[np.float64]:
    """Rows (n, d): of the classes, between two of them, and where two of them tie."""
    rng = np.random.default_rng([seed, n])
    possible = np.flatnonzero(model.const > -np.inf)
    first, second = rng.choice(possible, n), rng.choice(possible, n)
    noise = rng.normal(size=(n, model.mean.shape[1])) * np.sqrt(0.5) / model.scale[first]
    X = np.asarray(model.mean[first] + noise)
    between = np.arange(n) % 3
    share = rng.uniform(size=(n, 1))
    middle = model.mean[first] * share + model.mean[second] * (1.0 - share)
    X[between == 1] = middle[between == 1]
    ties = np.flatnonzero(between == 2)
    X[ties] = near_ties(model, X[ties], model.mean[second[ties]])
    return X


def near_ties(
    model: DiagonalTerms, start: NDArray[np.float64], stop: NDArray[np.float64], steps: int = 60
) -> NDArray[np.float64]:
    """Between pairs of rows, the places where the label changes, to float64, by bisection."""
    low, high = np.zeros(len(start)), np.ones(len(start))
    label = labels(model, start)
    for _ in range(steps):
        middle = (low + high) / 2
        same = labels(model, _mix(start, stop, middle)) == label
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return _mix(start, stop, low)


def _mix(
    start: NDArray[np.float64], stop: NDArray[np.float64], share: NDArray[np.float64]
) -> NDArray[np.float64]:
    return start + (stop - start) * share[:, None]


def labels(model: DiagonalTerms, X: NDArray[np.float64]) -> NDArray[np.int64]:
    """The labels of the float64 kernel."""
    return score(X, model, Wanted()).codes


def certified(
    X: NDArray[np.float64], model: DiagonalTerms, wanted: Wanted, *, fixed: bool = False
) -> Scores:
    """The answers of the certified kernel, for however few rows; the model has a certificate.

    `fixed`: fixed point is tried first for however few classes, or else for none.
    """
    assert certificate.certificate(model.mean, model.scale, model.const) is not None
    with (
        mock.patch.object(diagonal, "pays", return_value=True),
        mock.patch.object(fixed_point, "FEWEST_CLASSES", 2 if fixed else 1 << 30),
    ):
        return score(X, model, wanted)
