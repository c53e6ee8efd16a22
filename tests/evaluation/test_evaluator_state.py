"""An evaluator as arrays and plain values, and back: nothing is lost, and it adds on."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from fastgnb.evaluation.evaluator import Evaluator
from fastgnb.evaluation.state import evaluator_from, state_of

CLASSES = np.array([2, 5, 9])


def evaluator(rng, n, exact_rows, *, weighted=False, classes=CLASSES):
    found = Evaluator(classes, thresholds=[0.125], exact_rows=exact_rows)
    y = rng.choice([*classes.tolist(), 77, 78], n)
    odds = rng.normal(size=(n, len(classes))) * 3
    found.update(y, odds.argmax(axis=1), odds, rng.uniform(0, 2, n) if weighted else None)
    return found


def plain_types(value):
    """The types of all that a state holds."""
    if isinstance(value, dict):
        return set().union(*map(plain_types, value.values()))
    if isinstance(value, (tuple, list)):
        return set().union({type(value)}, *map(plain_types, value))
    return {type(value)}


def sent(state):
    """A state as it comes out of a message: its arrays are read-only."""
    copy = pickle.loads(pickle.dumps(state, protocol=5))

    def frozen(value):
        if isinstance(value, dict):
            return {key: frozen(each) for key, each in value.items()}
        if isinstance(value, (tuple, list)):
            return type(value)(map(frozen, value))
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        return value

    return frozen(copy)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("exact_rows", [0, 100, 10_000])
@pytest.mark.parametrize("n", [1, 400])
def test_nothing_is_lost(n, exact_rows, weighted, rng):
    one, two = (evaluator(rng, n, exact_rows, weighted=weighted) for _ in range(2))
    state = sent(state_of(one))
    assert plain_types(state) <= {np.ndarray, tuple, list, int, float, bool, type(None)}
    again = evaluator_from(state, CLASSES)
    assert_same(again.result(), one.result())
    assert_same((again + two).result(), (one + two).result())
    assert_same((two + again).result(), (two + one).result())
    again.update(np.array([2, 77]), np.array([0, 0]), np.zeros((2, 3)))
    one.update(np.array([2, 77]), np.array([0, 0]), np.zeros((2, 3)))
    assert_same(again.result(), one.result())


def test_no_rows(rng):
    empty = Evaluator(CLASSES, thresholds=[0.125], exact_rows=100)
    again = evaluator_from(sent(state_of(empty)), CLASSES)
    more = evaluator(rng, 50, 100)
    assert_same((again + more).result(), more.result())


def test_few_rows_in_many_bins_are_small(rng):
    few, many = (state_of(evaluator(rng, n, 0)) for n in (50, 300_000))
    size = [len(pickle.dumps(state)) for state in (few, many)]
    assert size[0] < 1e5
    assert size[1] < 20e6


def assert_same(a, b):
    assert np.array_equal(a.confusion, b.confusion)
    assert (a.accuracy, a.log_loss, a.brier) == (b.accuracy, b.log_loss, b.brier)
    assert (a.n_rows, a.n_unseen) == (b.n_rows, b.n_unseen)
    for label in CLASSES:
        assert a.auc(label) == b.auc(label)
        assert a.rates(0.125, label) == b.rates(0.125, label)
