"""Labels by several models in turn, against the labels by each of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from fastgnb import GaussianNB
from fastgnb.kernels.score import certificate
from fastgnb.kernels.score.many_models import label_in_turn

OPTIONS = [{}, {"var_smoothing": 1.0}, {"tied": True}, {"priors": "last"}]


def models_of(rng, n, d, k):
    y = np.arange(n) % k
    X = np.round(16 * (rng.normal(size=(n, d)) + rng.normal(size=(k, d))[y])) / 16
    last = [0.0] * (k - 1) + [1.0]
    options = [{**each, **({"priors": last} if "priors" in each else {})} for each in OPTIONS]
    models = [GaussianNB(**each).fit(X, y) for each in options]
    likelihood = models[0]._member.likelihood
    label = likelihood.label_by_models(models[0].stats_, [m._checked_options() for m in models])
    return X, models, label


@pytest.mark.parametrize("is_certified", [False, pytest.param(True, marks=pytest.mark.compiled)])
def test_labels_are_those_of_each_model(rng, monkeypatch, is_certified):
    """Of rows in any layout, also where float32 scores are proved to decide."""
    if is_certified:
        monkeypatch.setattr(certificate, "CALL_WORK", 0)
    X, models, label = models_of(rng, *((5000, 10, 9) if is_certified else (77, 3, 3)))
    wanted = [model.predict(X) for model in models]
    for rows in (X, np.asfortranarray(X), X.astype(np.float32), np.repeat(X, 2, axis=0)[::2]):
        assert_array_equal(label(rows), wanted)


def test_models_that_give_a_row_no_score(rng):
    """Squares that overflow, and values that are not finite."""
    X, _, label = models_of(rng, 40, 2, 3)
    terms = label.keywords["models"]
    # Wide variances, by which the row has a score.
    wide = terms[1]._replace(scale=1e-9 * terms[1].scale)
    X[7] = 1e160
    with np.errstate(over="ignore"):
        found = label_in_turn(X, [terms[0], wide])
    assert_array_equal(found[0], -1)
    assert (found[1] >= 0).all()
    X[7, 0] = np.nan
    with np.errstate(invalid="ignore"):
        assert_array_equal(label_in_turn(X, [wide]), -1)


def test_what_is_not_labelled_in_turn(rng):
    _, models, _ = models_of(rng, 40, 2, 3)
    options = models[0]._checked_options()
    likelihood = models[0]._member.likelihood
    assert likelihood.label_by_models(models[0].stats_, [{**options, "missing": "skip"}]) is None
    with pytest.raises(ValueError, match="prior"):
        likelihood.label_by_models(models[0].stats_, [{**options, "priors": [0.0, 0.0, 0.0]}])
