"""Exact answers that tests of kinds of failures compare with."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import oracles

TABLES = ("predict_proba", "predict_log_proba", "predict_joint_log_proba")


class Exact(NamedTuple):
    """The model that rows give in exact arithmetic, as nested lists of rationals."""

    classes: list[Any]
    count: list[Fraction]
    prior: list[Fraction]
    theta: list[list[Fraction]]
    var: list[list[Fraction]]
    epsilon: Fraction

    def joint(self, row):
        return oracles.joint(row, self.prior, self.theta, self.var)


def exact(X, y, weight=None, *, smoothing=1e-9, priors=None, classes=None):
    X = [[Fraction(v) if isinstance(v, int) else v for v in row] for row in X]
    stats = oracles.class_stats(np.array(X, object), y, weight, classes)
    epsilon = oracles.epsilon(np.array(X, object), smoothing, weight)
    var = [
        [s / n + epsilon if n else epsilon for s, n in zip(*rows, strict=True)]
        for rows in zip(stats.scatter, stats.weight, strict=True)
    ]
    total = sum(stats.count)
    prior = [n / total for n in stats.count] if priors is None else list(map(Fraction, priors))
    return Exact(stats.classes, stats.count, prior, stats.mean, var, epsilon)


def assert_is(model, want, *, rtol=1e-12):
    """All learned attributes are the exact ones; a mean near 0 is as exact as its values are."""
    assert model.classes_.tolist() == want.classes
    assert oracles.relative_error(model.class_count_, want.count) < 1e-14
    assert oracles.relative_error(model.class_prior_, want.prior) < 1e-14
    for got, mean, var in zip(
        model.theta_.ravel(), oracles.flat(want.theta), oracles.flat(want.var), strict=True
    ):
        assert abs(Fraction(got) - mean) <= 1e-14 * (abs(mean) + math.sqrt(var))
    assert oracles.relative_error(model.var_, want.var) < rtol
    assert oracles.relative_error(model.epsilon_, want.epsilon) < rtol
    for name in ("class_count_", "class_prior_", "theta_", "var_"):
        assert getattr(model, name).dtype == np.float64


def assert_answers(model, rows, want, *, rtol=1e-11, given=None):
    """All five ways to ask give the exact answer of the exact model for each row."""
    joint = [want.joint(row) for row in rows]
    given = rows if given is None else given
    for got, row in zip(model.predict_joint_log_proba(given), joint, strict=True):
        np.testing.assert_allclose(got, [float(v) for v in row], rtol=rtol)
    for got, row in zip(model.predict_log_evidence(given), joint, strict=True):
        assert math.isclose(got, float(oracles.log_evidence(row)), rel_tol=rtol)
    logs = model.predict_log_proba(given)
    narrow = 3e-6 if logs.dtype == np.float32 else 0.0
    size = [max(abs(float(v)) for v in row if v.is_finite()) for row in joint]
    for got, row, top in zip(logs, joint, size, strict=True):
        wanted = [float(v) for v in oracles.log_proba(row)]
        np.testing.assert_allclose(got, wanted, rtol=max(rtol, narrow), atol=rtol * top + narrow)
    for got, row, top in zip(model.predict_proba(given), joint, size, strict=True):
        wanted = [float(v.exp()) if v.is_finite() else 0.0 for v in oracles.log_proba(row)]
        np.testing.assert_allclose(
            got, wanted, rtol=rtol * (1 + top) + narrow, atol=narrow and 1e-37
        )
    for label, row, top in zip(model.predict(given).tolist(), joint, size, strict=True):
        assert float(max(row) - row[want.classes.index(label)]) <= 1e-15 * top


def pieces(n, cuts):
    return [slice(a, b) for a, b in itertools.pairwise([0, *cuts, n])]
