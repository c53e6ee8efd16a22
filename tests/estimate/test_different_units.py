"""Features of very different units: sampling and axes are those of like units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fastgnb import GaussianBayes, PCAGaussianNB

UNITS = np.array([1e-150, 1.0, 1e150])
COVARIANCE = np.array([[1.0, 0.9, 0.3], [0.9, 1.0, 0.5], [0.3, 0.5, 1.0]])
Y = np.repeat([0, 1], 400)


def _rows() -> Any:
    draw = np.random.default_rng(3)
    X = draw.multivariate_normal(np.zeros(3), COVARIANCE, len(Y))
    X[Y == 1] += [2.0, 0.0, 1.0]
    return X


@pytest.mark.parametrize("tied", [False, True])
def test_samples_have_the_correlations_of_the_model(tied: bool) -> None:
    X = _rows()
    model = GaussianBayes(tied=tied).fit(X * UNITS, Y)
    drawn, classes = model.sample(40_000, random_state=0)
    covariance = np.broadcast_to(model.covariance_, (2, 3, 3))
    for c in range(2):
        rows = drawn[classes == c] / UNITS
        expected = covariance[c] / UNITS / UNITS[:, None]
        assert np.allclose(rows.mean(axis=0), model.means_[c] / UNITS, atol=0.05)
        assert np.allclose(np.cov(rows.T), expected, atol=0.05)


def test_samples_of_a_feature_that_does_not_vary_are_its_mean() -> None:
    X = _rows()
    X[:, 1] = 7.0
    drawn, _ = GaussianBayes().fit(X * UNITS, Y).sample(100, random_state=0)
    assert (drawn[:, 1] == 7.0).all()


@pytest.mark.parametrize("rotation", ["total", "within", "class"])
def test_axes_of_the_smallest_unit_exist(rotation: str) -> None:
    X = _rows()
    model = PCAGaussianNB(rotation=rotation, var_smoothing=0.0).fit(X * UNITS, Y)
    assert model.n_components_ == 3
    within = model.stats_.covariance[0] if rotation == "class" else model.stats_.total() / len(Y)
    if rotation == "within":
        within = model.stats_.within() / len(Y)
    scaled = within / UNITS / UNITS[:, None]
    # The last variance is the determinant over the one of the others, in whatever units.
    last = np.linalg.det(scaled) / np.linalg.det(scaled[1:, 1:])
    variance = model.explained_variance_[0] if rotation == "class" else model.explained_variance_
    count = 400 if rotation == "class" else 800
    assert variance[-1] * (count - 1) / count / 1e-300 == pytest.approx(last, rel=1e-9)
