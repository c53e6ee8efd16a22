"""What a diagnosis adds up, as arrays and back; and parts that add up to one pass over all rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from members import SHAPES
from numpy.testing import assert_allclose, assert_array_equal

from fastgnb import diagnose
from fastgnb.diagnosis.candidates import CandidateLosses
from fastgnb.diagnosis.diagnose import GivenRows
from fastgnb.diagnosis.second_look import contest_for, losses_of
from fastgnb.diagnosis.state import (
    diagnoser_from,
    losses_from,
    state_of_diagnoser,
    state_of_losses,
)


@pytest.fixture
def fitted(make_data):
    X, y = make_data(301, 4, 3)
    X[:, 2] = np.floor(X[:, 2])
    return X, y, np.random.default_rng(1).uniform(0, 2, len(X))


def looks(model, X, y, weight, cuts):
    """The first looks at parts of the rows, and the parts."""
    bounds = [0, *cuts, len(X)]
    parts = [GivenRows(model, X[a:b], y[a:b], weight[a:b]) for a, b in itertools.pairwise(bounds)]
    return [part.first_look() for part in parts], parts


@pytest.mark.parametrize("name", SHAPES)
def test_parts_add_up_to_one_pass(name, fitted):
    """To the same halves too: rows take turns as if the parts had come one after the other."""
    X, y, weight = fitted
    model = SHAPES[name].make().fit(X, y)
    wanted = diagnose(model, X, y, weight)
    (first, *others), parts = looks(model, X, y, weight, [7, 100, 211])
    total, before = first, [np.zeros(3, np.int64), first.seen]
    for each in others:
        total = total + each
        before.append(total.seen)
    contest, _ = contest_for(total)
    losses = [
        losses_of(part.model, contest, part.batches(), seen)
        for part, seen in zip(parts, before, strict=False)
    ]
    found = sum(losses[1:], losses[0]).result(total.effective_total)
    for one, other in zip(found, wanted.candidates, strict=True):
        assert one.name == other.name
        assert_allclose(one[1:], other[1:], rtol=1e-9, atol=1e-13)


def test_an_odd_number_of_rows_makes_the_next_ones_change_sides(fitted):
    X, y, weight = fitted
    model = SHAPES["GaussianNB"].make().fit(X, y)
    whole = GivenRows(model, X, y, weight).first_look().halves()
    (a, b), _ = looks(model, X, y, weight, [7])
    assert (a.seen % 2 == 1).any()
    for found, wanted in zip((a + b).halves(), whole, strict=True):
        assert_allclose(found.count, wanted.count, rtol=1e-12)
        assert_allclose(found.mean, wanted.mean, rtol=1e-12, atol=1e-12)
        assert_allclose(found.covariance, wanted.covariance, rtol=1e-9, atol=1e-12)


def test_states_hold_everything(fitted):
    X, y, weight = fitted
    model = SHAPES["GaussianNB"].make().fit(X, y)
    given = GivenRows(model, X, y, weight)
    diagnoser = given.first_look()
    again = diagnoser_from(state_of_diagnoser(diagnoser), diagnoser.model)
    assert vars(again).keys() == vars(diagnoser).keys()
    for name in ("counts", "rows", "weight", "norm", "_seen"):
        assert_array_equal(getattr(again, name), getattr(diagnoser, name))
    assert_array_equal(again.moments, diagnoser.moments)
    assert again.n_known == diagnoser.n_known
    contest, _ = contest_for(again)
    losses = losses_of(given.model, contest, given.batches())
    copy = losses_from(state_of_losses(losses), contest)
    assert copy.result(300.0) == losses.result(300.0)
    empty = losses_from(state_of_losses(CandidateLosses(contest, 3)), contest)
    assert (empty + copy).result(300.0) == losses.result(300.0)
