"""Noise of figures, on series whose noise and changes are known."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from fastgnb.dashboard import noise

pytestmark = [pytest.mark.any_version]


def normal(sd, n, seed=0):
    """Ratios around 10 whose logarithms vary with a standard deviation."""
    return (10 * np.exp(sd * np.random.default_rng(seed).normal(size=n))).tolist()


def test_noise_within_a_run_is_the_standard_error_of_the_median():
    rng = np.random.default_rng(0)
    rounds = np.exp(0.1 * rng.normal(size=(4000, 15)))
    truth = np.log(np.median(rounds, axis=1)).std()
    estimates = [noise.within(row.tolist()) for row in rounds]
    assert np.mean(estimates) == pytest.approx(truth, rel=0.15)


def test_what_slows_both_programs_of_a_round_is_no_noise_of_their_ratio():
    slow = np.exp(np.random.default_rng(0).normal(size=9))
    assert noise.within((2 * slow).tolist(), (3 * slow).tolist()) == pytest.approx(0, abs=1e-12)
    assert noise.within((2 * slow).tolist()) > 0.1


def test_rounds_of_a_program_that_dropped_out_are_not_paired():
    ours = [1.0, 1.1, 0.9, 50.0, 50.0]
    assert noise.within(ours, [2.0, 2.0, 2.0]) == noise.within(ours[:3], [2.0, 2.0, 2.0])


def test_few_rounds_tell_no_noise():
    assert noise.within([1.0, 2.0]) is None
    assert noise.within([1.0, 2.0, 3.0], [1.0]) is None


def test_noise_between_runs():
    assert noise.between([normal(0.05, 4000)]) == pytest.approx(0.05, rel=0.1)
    short = [normal(0.05, 20, seed) for seed in range(200)]
    assert noise.between(short) == pytest.approx(0.05, rel=0.1)
    assert noise.between([[1.0, 2.0, 3.0, 4.0, 5.0]]) is None
    assert noise.between([[1.0, 2.0, 1.0], [3.0, 2.0, 1.0], [5.0, 6.0]]) is not None


def test_lasting_changes_and_outliers_hardly_move_it():
    ratios = np.array(normal(0.03, 100))
    ratios[50:] *= 3
    ratios[20] *= 10
    assert noise.between([ratios.tolist()]) == pytest.approx(0.03, rel=0.25)


def test_the_larger_noise_counts_and_none_is_below_the_floor():
    assert noise.combine(0.02, 0.05) == 0.05
    assert noise.combine(None, 0.05) == 0.05
    assert noise.combine(0.0, 0.0) == noise.FLOOR
    assert noise.combine(None, None) is None


def test_changes_beyond_the_noise_have_a_direction():
    limit = math.exp(3 * math.hypot(0.03, 0.04))
    assert noise.change(10, 10 * limit * 1.001, 0.03, 0.04).direction == 1
    assert noise.change(10, 10 * limit * 0.999, 0.03, 0.04).direction == 0
    assert noise.change(10, 10 / limit * 1.001, 0.03, 0.04).direction == 0
    assert noise.change(10, 10 / limit * 0.999, 0.03, 0.04).direction == -1
    assert noise.change(10, 12, 0.03, 0.04).limit == pytest.approx(limit)
    assert noise.change(10, 12, 0.03, 0.04).factor == pytest.approx(1.2)


def test_without_noise_nothing_is_said():
    assert noise.change(10, 1000, None, 0.1) == noise.Change(100, None, 0)


def test_steps_are_found_and_noise_is_not():
    """Of a hundred runs with noise of 4%, a lasting step by 1.5 is marked, and hardly more."""
    ratios = np.array(normal(0.04, 100, seed=1))
    ratios[60:] *= 1.5
    sd = noise.combine(noise.between([ratios.tolist()]))
    marks = [
        noise.change(before, after, sd, sd).direction
        for before, after in itertools.pairwise(ratios.tolist())
    ]
    assert marks[59] == 1
    assert sum(map(abs, marks)) <= 2
