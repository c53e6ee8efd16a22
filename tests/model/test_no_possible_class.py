"""Where no class that has rows has a prior above 0, learning goes on and scoring says so."""

from __future__ import annotations

import numpy as np
import pytest

from fastgnb import GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB, cli, load, save

TEXT = (
    r"^Expected finite means and priors, with at least one prior above 0 among classes that have "
    r"rows; got none among 2 classes. Learn rows of such a class, or give other priors\.$"
)
X = np.array([[1.0, 2, 0], [3, 1, 1], [4, 4, 0], [2, 7, 1], [5, 1, 1], [8, 3, 0]])
PRIORS = [0.0, 1.0]
MODELS = {
    "naive": GaussianNB(priors=PRIORS),
    "shared": GaussianNB(priors=PRIORS, tied=True, covariance_type="spherical"),
    "skip": GaussianNB(priors=PRIORS, missing="skip"),
    "full": GaussianBayes(priors=PRIORS),
    "tied": GaussianBayes(priors=PRIORS, tied=True),
    "axes": PCAGaussianNB(priors=PRIORS),
    "own axes": PCAGaussianNB(priors=PRIORS, rotation="class"),
    "mixed": MixedNB(priors=PRIORS, categorical_features=[2]),
}
SCORING = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "predict_joint_log_proba",
    "predict_log_evidence",
)


@pytest.fixture(params=MODELS)
def model(request):
    """A model that has rows of class 0 only, whose prior is 0."""
    from sklearn.base import clone

    return clone(MODELS[request.param]).partial_fit(X, np.zeros(6, int), classes=[0, 1])


def test_every_way_to_score_says_so(model, tmp_path):
    save(model, tmp_path / "model.fgnb")
    for one in (model, load(tmp_path / "model.fgnb")):
        for name in SCORING:
            with pytest.raises(ValueError, match=TEXT):
                getattr(one, name)(X)
        with pytest.raises(ValueError, match=TEXT):
            one.sample(3, random_state=0)


def test_learning_goes_on(model):
    model.partial_fit(X + 1, np.ones(6, int))
    assert model.predict(X).tolist() == [1] * 6
    assert np.array_equal(model.predict_proba(X), np.tile([0.0, 1.0], (6, 1)))
    assert set(model.sample(20, random_state=0)[1]) == {1}


def test_other_priors_are_a_way_out(model):
    assert model.reestimate(priors=[1.0, 0.0]).predict(X).tolist() == [0] * 6


def test_classes_without_rows_are_not_drawn(model):
    assert set(model.reestimate(priors=[0.5, 0.5]).sample(20, random_state=0)[1]) == {0}


def test_commands(model, tmp_path, capsys):
    save(model, tmp_path / "model.fgnb")
    np.save(tmp_path / "rows.npy", X)
    out = tmp_path / "out.npy"
    code = cli.main(["predict", str(tmp_path / "model.fgnb"), str(tmp_path / "rows.npy"),
                     "--output", str(out)])  # fmt: skip
    assert code != 0
    assert "at least one prior above 0 among classes that have rows" in capsys.readouterr().err
    assert not out.exists()
