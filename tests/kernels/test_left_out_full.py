"""Scores of rows by the model of all others, where covariances are full: against models of these.

Sets of a few dozen rows run every line of the kernel, also without the compiler.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from fastgnb import GaussianBayes
from fastgnb.model.left_out import LearnedRows

N = 43
MODELS = {
    "full": GaussianBayes(),
    "ddof": GaussianBayes(ddof=1),
    "priors": GaussianBayes(priors=[0.2, 0.3, 0.5]),
    "tied": GaussianBayes(tied=True),
    "impossible": GaussianBayes(tied=True, priors=[0.5, 0.0, 0.5]),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_a_refit(rng, name, weighted):
    y = rng.integers(0, 3, N).astype(np.int32)
    X = rng.normal(size=(N, 3)) @ rng.normal(size=(3, 3)) + y[:, None]
    weight = rng.uniform(0.5, 1.5, N) if weighted else None
    model = MODELS[name]
    whole = model.fit(X, y, weight).to_model()
    rows = LearnedRows(X, y, weight)
    found = whole.leave_one_out(rows, joint=True)
    assert_array_equal(found.redo, (name == "impossible") & (y == 1))
    for i in np.flatnonzero(~found.redo)[::6]:
        rest = np.arange(N) != i
        model.fit(X[rest], y[rest], None if weight is None else weight[rest])
        wanted = model.predict_joint_log_proba(X[i : i + 1])[0]
        assert_allclose(found.joint[i], wanted, rtol=1e-11, atol=1e-11)
    known = ~found.redo
    assert_array_equal(found.codes[known], found.joint.argmax(axis=1)[known])
    labels = whole.leave_one_out(rows)
    assert_array_equal(labels.codes[known], found.codes[known])
    assert_array_equal(labels.redo, found.redo)
    assert labels.joint.shape == (0, 3)


@pytest.mark.parametrize("name", ["full", "tied"])
def test_rows_that_are_for_a_refit(rng, name):
    """The only row of a class, and one that is nearly all of the scatter along an axis."""
    y = np.r_[rng.integers(0, 3, N - 1), 3].astype(np.int32)
    X = rng.normal(size=(N, 2)) + y[:, None]
    X[5] = [1e9, -1e9]
    found = MODELS[name].fit(X, y).to_model().leave_one_out(LearnedRows(X, y, None), joint=True)
    assert found is None or set(np.flatnonzero(found.redo)) >= {5, N - 1}
