"""Priors and smoothing, from statistics."""

from __future__ import annotations

import numpy as np
import pytest

from fastgnb import ClassStats
from fastgnb.estimate.diagonal import estimate_diagonal
from fastgnb.estimate.options import check_priors
from fastgnb.estimate.parameters import GaussianParams


@pytest.fixture
def stats():
    return ClassStats.from_rows([[0.0, 5.0], [2.0, 5.0], [7.0, 5.0]], ["a", "a", "b"])


def test_estimate(stats):
    moments = estimate_diagonal(stats, var_smoothing=0.5)
    assert moments.class_prior.tolist() == [2 / 3, 1 / 3]
    assert moments.theta.tolist() == [[1, 5], [7, 5]]
    assert moments.epsilon == 0.5 * np.var([0, 2, 7])
    assert moments.var.tolist() == [[1 + moments.epsilon, moments.epsilon], [moments.epsilon] * 2]


def test_smoothing_is_absolute_where_nothing_varies():
    stats = ClassStats.from_rows([[3.0]], [1])
    assert estimate_diagonal(stats, var_smoothing=1e-9).epsilon == 1e-9
    assert estimate_diagonal(stats, var_smoothing=0).epsilon == 0


def test_estimates_are_copies(stats):
    moments = estimate_diagonal(stats)
    moments.theta[:] = 99
    moments.class_prior[:] = 99
    assert stats.mean[0, 0] == 1
    assert stats.count[0] == 2


def test_priors_whose_sum_is_rounded_are_accepted():
    priors = [0.15, 0.11, 0.09, 0.19, 0.08, 0.07, 0.13, 0.07, 0.11, 0.0]
    assert check_priors(priors, 10).tolist() == priors
    given = np.array([0.5, 0.5])
    assert check_priors(given, 2) is not given


def test_params_of_moments():
    params = GaussianParams.from_estimate(
        [0.25, 0.75, 0.0], [[0.0], [1.0], [2.0]], [[4.0], [1.0], [0.0]], classes=np.arange(3)
    )
    assert params.log_prior.tolist() == [np.log(0.25), np.log(0.75), -np.inf]
    assert params.inv_sd[:2, 0].tolist() == [0.5, 1.0]
    assert params.log_det[:2].tolist() == [np.log(4.0), 0.0]


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_bad_variances_name_class_and_feature(value):
    with pytest.raises(ValueError, match=r"Feature 1 \('w'\) of class 'b' has variance"):
        GaussianParams.from_estimate(
            [0.5, 0.5], np.zeros((2, 2)), [[1.0, 1.0], [1.0, value]],
            classes=np.array(["a", "b"]), feature_names=["v", "w"],
        )  # fmt: skip
