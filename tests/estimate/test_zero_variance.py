"""A variance of 0 is learned by every member, and refused by scoring: one rule, in one place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from fastgnb import GaussianNB, PCAGaussianNB, load, save
from fastgnb.model.model import Model

Y = np.repeat([3, 7], 4)
X = np.array([[0, 1], [1, 0], [2, 2], [3, 1], [5, 5], [5, 5], [5, 5], [5, 5]], np.float64)
MODELS = [
    GaussianNB(var_smoothing=0.0),
    PCAGaussianNB(var_smoothing=0.0),
    PCAGaussianNB(rotation="within", var_smoothing=0.0),
    PCAGaussianNB(rotation="class", n_components=1, var_smoothing=0.0),
]
REFUSED = "(Feature|Axis) 0 of class 7 has variance .*, and a density needs one above 0"


def _asked(model: Any) -> list[Any]:
    return [
        model.predict, model.predict_proba, model.predict_joint_log_proba,
        model.decision_function, model.predict_log_evidence,
    ]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_is_refused_by_scoring_only(model: Any) -> None:
    model.fit(X, Y)
    for answer in _asked(model):
        with pytest.raises(ValueError, match=REFUSED):
            answer(X)
    with pytest.raises(ValueError, match=REFUSED):
        model.sample(2)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_stream_learns_on(model: Any) -> None:
    more = X[4:] + np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 1.5], [0.5, 3.0]])
    model = clone(model).partial_fit(X, Y, classes=[3, 7])
    model.partial_fit(more, Y[4:])
    whole = clone(model).fit(np.vstack([X, more]), [*Y, *Y[4:]])
    assert np.allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_model_files_hold_it(model: Any, tmp_path: Any) -> None:
    save(model.fit(X, Y), tmp_path / "m.fgnb")
    with pytest.raises(ValueError, match=REFUSED):
        load(tmp_path / "m.fgnb").predict(X)
    saved = Model.of(
        type(model).__name__, model.stats_, var_smoothing=0.0, **{
            name: model.get_params()[name] for name in ("n_components", "rotation")
            if name in model.get_params()
        },
    )  # fmt: skip
    with pytest.raises(ValueError, match=REFUSED):
        saved.score(X)
    with pytest.raises(ValueError, match=r"leave the (axis|feature) out"):
        saved.score(X)


def test_a_class_that_cannot_win_may_have_it() -> None:
    model = PCAGaussianNB(var_smoothing=0.0, priors=[1.0, 0.0]).fit(X, Y)
    assert model.predict(X).tolist() == [3] * 8
