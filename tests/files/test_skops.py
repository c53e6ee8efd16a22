"""`skops_types` lists what skops does not trust by itself, for every member in every state."""

from __future__ import annotations

import numpy as np
import pytest
from members import CASES, with_categories

import fastgnb
from fastgnb import GaussianNB, MixedNB

io = pytest.importorskip("skops.io")


@pytest.fixture(scope="module")
def rows():
    draw = np.random.default_rng(3)
    y = draw.integers(0, 3, 300)
    return with_categories(draw.normal(size=(300, 4)) + y[:, None]), y


def states(case, X, y):
    """Models as they come about, by how."""
    text = np.array(["p", "q", "r"])[y]
    yield "not fitted", case.make()
    yield "fitted", case.make().fit(X, y)
    yield "weighted", case.make().fit(X, text, np.arange(len(X)) / 7)
    yield "booleans", case.make().fit(X, y == 1)
    yield "streamed", case.make().partial_fit(X[:9], y[:9], [0, 1, 2]).partial_fit(X, y)
    yield "merged", case.make().fit(X, y).merge(case.make().fit(X[:50], y[:50]))
    yield "decayed", case.make().fit_stats(case.make().fit(X, text).stats_.decay(0.5))
    yield "estimated again", case.make().fit(X, y).reestimate(priors=[0.2, 0.3, 0.5])
    edited = case.make().fit(X, y)
    edited.class_prior_ = [0.2, 0.3, np.float32(0.5)]
    yield "edited", edited


@pytest.mark.parametrize("name", CASES)
def test_every_state_of_every_member(rows, name):
    X, y = rows
    for state, model in states(CASES[name], X, y):
        data = io.dumps(model)
        assert set(io.get_untrusted_types(data=data)) <= set(fastgnb.skops_types()), state
        again = io.loads(data, trusted=fastgnb.skops_types())
        assert again.get_params().keys() == model.get_params().keys()
        if hasattr(model, "stats_"):
            assert np.array_equal(again.predict_proba(X), model.predict_proba(X)), state


def test_statistics_and_options_of_numpy(rows):
    X, y = rows
    options = {"var_smoothing": np.float64(1e-3), "tied": np.bool_(True), "ddof": np.int64(1)}
    mixed = MixedNB(
        categorical_features=np.array([False, False, True, False]), min_categories=np.array([3])
    )
    for model in (GaussianNB(**options).fit(X, y), mixed.fit(X, y)):
        for thing in (model, model.stats_):
            data = io.dumps(thing)
            assert set(io.get_untrusted_types(data=data)) <= set(fastgnb.skops_types())
