"""A further member of the family, added from outside of the package: it has everything that the
others have, from a dozen lines of estimation."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

import fastgnb
from fastgnb import ClassStats
from fastgnb.cli import main
from fastgnb.estimators.base import GaussianClassifier
from fastgnb.model import family
from fastgnb.model.diagonal import DiagonalLikelihood
from fastgnb.model.family import Member
from fastgnb.model.options import Number, Option
from fastgnb.select import StatsGridSearchCV


class PooledLikelihood(DiagonalLikelihood):
    """Naive Bayes whose variances are shrunk towards those that all classes share."""

    def estimate(self, stats, *, shrink, **options):
        own, shared = (super(PooledLikelihood, self).estimate(stats, tied=tied, **options)
                       for tied in (False, True))  # fmt: skip
        return own | {"var_": (1 - shrink) * own["var_"] + shrink * shared["var_"]}


POOLED = Member(
    "PooledNB", "naive Bayes with variances shrunk towards the pooled ones",
    (
        Option("shrink", 0.5, (Number(0, 1),), "share of the pooled variances", metavar="F"),
        family.PRIORS, family.var_smoothing(), family.MISSING,
    ),
    PooledLikelihood,
)  # fmt: skip

family.register(POOLED)
try:

    class PooledNB(GaussianClassifier, member="PooledNB"):
        def __init__(self, *, shrink=0.5, priors=None, var_smoothing=1e-9, missing="error"):
            self.shrink = shrink
            self.priors = priors
            self.var_smoothing = var_smoothing
            self.missing = missing
finally:
    family.unregister("PooledNB")


@pytest.fixture(autouse=True)
def _registered():
    family.register(POOLED)
    yield
    family.unregister("PooledNB")


@pytest.fixture
def rows(rng):
    y = np.arange(300) % 3
    return rng.normal(size=(300, 4)) * (1 + y[:, None]) + 2 * y[:, None], y


def test_it_is_estimated_as_defined(rows):
    X, y = rows
    model = PooledNB(shrink=0.25).fit(X, y)
    own = np.array([X[y == c].var(axis=0) for c in range(3)])
    wanted = 0.75 * own + 0.25 * own.mean(axis=0)
    assert_allclose(model.var_, wanted + model.epsilon_, rtol=1e-12)
    joint = np.log(1 / 3) - 0.5 * (
        (X[:, None] - model.theta_) ** 2 / model.var_ + np.log(2 * np.pi * model.var_)
    ).sum(axis=2)
    assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-12)
    assert model.sample(5, random_state=0)[0].shape == (5, 4)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_is_an_estimator():
    check_estimator(PooledNB())


def test_it_streams_merges_and_reestimates(rows):
    X, y = rows
    whole = PooledNB().fit(X, y)
    streamed = PooledNB().partial_fit(X[:100], y[:100], classes=[0, 1, 2]).partial_fit(
        X[100:], y[100:]
    )  # fmt: skip
    merged = PooledNB().fit(X[:150], y[:150]).merge(PooledNB().fit(X[150:], y[150:]))
    of_stats = PooledNB().fit_stats(ClassStats.from_rows(X, y))
    copies = pickle.loads(pickle.dumps(whole)), clone(whole).fit(X, y)
    for other in (streamed, merged, of_stats, *copies):
        assert_allclose(other.var_, whole.var_, rtol=1e-12)
    alone = whole.reestimate(shrink=0.0)
    assert np.array_equal(alone.var_, fastgnb.GaussianNB().fit_stats(whole.stats_).var_)


def test_edits_are_obeyed_and_not_saved(rows, tmp_path):
    X, y = rows
    model = PooledNB().fit(X, y)
    before = model.predict_joint_log_proba(X)
    model.var_[:] *= 4.0
    assert not np.allclose(model.predict_joint_log_proba(X), before)
    with pytest.raises(ValueError, match=r"^var_ is not what the statistics"):
        fastgnb.save(model, tmp_path / "m")
    model.var_ = -model.var_
    with pytest.raises(ValueError, match="has variance"):
        model.predict(X)


def test_parameters_are_checked(rows):
    for value in (-0.1, 1.5, "half", None, True):
        with pytest.raises(ValueError, match="shrink"):
            PooledNB(shrink=value).fit(*rows)


def test_its_model_file_loads_again(rows, tmp_path):
    X, y = rows
    model = PooledNB(shrink=0.75, priors=[0.2, 0.3, 0.5]).fit(X, y)
    fastgnb.save(model, tmp_path / "m")
    again = fastgnb.load(tmp_path / "m")
    assert type(again) is PooledNB
    assert again.get_params() == model.get_params()
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    family.unregister("PooledNB")
    try:
        with pytest.raises(fastgnb.ModelFileError, match="model is 'PooledNB', expected one of"):
            fastgnb.load(tmp_path / "m")
    finally:
        family.register(POOLED)


def test_cross_validation(rows):
    X, y = rows
    grid = {"shrink": [0.0, 0.5, 1.0], "var_smoothing": [1e-9, 0.1]}
    ours = StatsGridSearchCV(PooledNB(), grid, cv=3, scoring="neg_log_loss").fit(X, y)
    theirs = GridSearchCV(PooledNB(), grid, cv=3, scoring="neg_log_loss").fit(X, y)
    name = "mean_test_score"
    assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], rtol=1e-9)
    assert ours.best_params_ == theirs.best_params_


def test_the_command_line_has_it(rows, tmp_path, capsys):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    X, y = rows
    path, model = tmp_path / "d.parquet", str(tmp_path / "m")
    pd.DataFrame(X, columns=list("abcd")).assign(y=y).to_parquet(path)
    words = ["--target", "y", "--model-type", "PooledNB", "--quiet"]
    assert main(["fit", str(path), *words, "--shrink", "0.25", "--model", model]) == 0
    loaded = fastgnb.load(model)
    assert loaded.get_params()["shrink"] == 0.25
    assert_allclose(loaded.var_, PooledNB(shrink=0.25).fit(X, y).var_, rtol=1e-12)
    assert main(["reestimate", model, "--output", f"{model}2", "--shrink", "1", "--quiet"]) == 0
    assert fastgnb.load(f"{model}2").shrink == 1.0
    assert main(["predict", model, str(path), "--output", f"{model}.csv", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["show", f"{model}2"]) == 0
    assert "PooledNB" in capsys.readouterr().out
    assert main(["fit", str(path), *words, "--shrink", "2", "--model", model]) == 1
    assert "shrink must be a number from 0 to 1, got 2.0" in capsys.readouterr().err
    assert main(["fit", "--help"]) == 0
    assert "share of the pooled variances" in capsys.readouterr().out


def test_a_name_is_taken_once():
    assert family.register(POOLED) is POOLED
    with pytest.raises(ValueError, match="has a member GaussianNB already"):
        family.register(Member("GaussianNB", "another", (), PooledLikelihood))


def test_a_member_without_an_estimator(tmp_path, rows):
    from fastgnb.estimators.member_classes import estimator_of

    with pytest.raises(LookupError, match="Lonely has no estimator: define a GaussianClassifier"):
        estimator_of(Member("Lonely", "", (), PooledLikelihood))


def test_the_table_of_the_readme():
    assert "`PooledNB`" in family.markdown_table()
    assert len(inspect.signature(PooledNB).parameters) == len(POOLED.options)
