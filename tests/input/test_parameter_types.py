"""Parameters of NumPy's types give the bits of Python's, in memory and through files."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from fastgnb import GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB, load, save
from fastgnb.estimate.options import as_plain
from fastgnb.model.model import Model

SINGLE = [np.float16, np.float32, np.longdouble]
WHOLE = [np.int8, np.uint8, np.int64]
NUMBERS = [
    (GaussianNB, "var_smoothing", 0.1, SINGLE),
    (GaussianNB, "ddof", 1, WHOLE),
    (GaussianNB, "tied", True, [np.bool_]),
    (GaussianNB, "covariance_type", "spherical", [np.str_]),
    (GaussianNB, "missing", "skip", [np.str_]),
    (GaussianBayes, "reg_param", 0.1, SINGLE),
    (GaussianBayes, "reg_param", 1, WHOLE),
    (GaussianBayes, "shrinkage", 0.3, SINGLE),
    (GaussianBayes, "shrinkage", "oas", [np.str_]),
    (GaussianBayes, "var_smoothing", 0.1, SINGLE),
    (GaussianBayes, "tied", True, [np.bool_]),
    (GaussianBayes, "ddof", 1, WHOLE),
    (GaussianBayes, "shrinkage_target", "spherical", [np.str_]),
    (PCAGaussianNB, "standardize", True, [np.bool_]),
    (MixedNB, "max_categories", 9, WHOLE),
    (PCAGaussianNB, "n_components", 0.9, SINGLE),
    (PCAGaussianNB, "n_components", 2, WHOLE),
    (PCAGaussianNB, "rotation", "class", [np.str_]),
    (PCAGaussianNB, "var_smoothing", 0.1, SINGLE),
    (MixedNB, "alpha", 0.1, SINGLE),
    (MixedNB, "alpha", 2, WHOLE),
    (MixedNB, "min_categories", 7, WHOLE),
    (MixedNB, "var_smoothing", 0.1, SINGLE),
]
PRIORS = [
    np.array([0.1, 0.2, 0.7], np.float32),
    np.array([0.125, 0.125, 0.75], np.float16),
    [np.float32(0.1), np.float32(0.2), np.float32(0.7)],
    (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)),
    [0, 0, 1],
    np.array([0, 1, 0], np.int8),
]


def rows():
    draw = np.random.default_rng(5)
    y = np.arange(150) % 3
    X = draw.normal(size=(150, 4)) + y[:, None] * [1.0, 0.5, 0, 0.2]
    X[:, 3] = draw.integers(0, 4, 150)
    return X, y


def made(member, **params):
    if member is MixedNB:
        params["categorical_features"] = [3]
    return member(**params)


def bits(model, X):
    return model.predict_joint_log_proba(X).tobytes()


@pytest.mark.parametrize(
    ("member", "name", "value", "kind"),
    [(*case[:3], kind) for case in NUMBERS for kind in case[3]],
    ids=lambda v: getattr(v, "__name__", str(v)),
)
def test_same_bits_as_of_python_s_type(tmp_path, member, name, value, kind):
    X, y = rows()
    given = kind(value)
    plain = type(value)(given)
    wanted = bits(made(member, **{name: plain}).fit(X, y), X)
    model = made(member, **{name: given}).fit(X, y)
    assert model.get_params()[name] is given
    assert bits(model, X) == wanted
    save(model, tmp_path / "model.fgnb")
    again = load(tmp_path / "model.fgnb")
    assert bits(again, X) == wanted
    assert type(again.get_params()[name]) in (type(plain), float)
    assert (
        bits(made(member).fit(X, y).reestimate(**{name: given}), X) == wanted or name == "missing"
    )
    if name != "missing":
        options = {name: given} | ({"categorical_features": [3]} if member is MixedNB else {})
        saved = Model.of(member.__name__, model.stats_, **options)
        assert saved.score(X, table="joint").table.tobytes() == wanted


@pytest.mark.parametrize("priors", PRIORS, ids=str)
@pytest.mark.parametrize("member", [GaussianNB, GaussianBayes, PCAGaussianNB, MixedNB])
def test_priors_of_any_type(tmp_path, member, priors):
    X, y = rows()
    plain = [float(each) for each in priors]
    wanted = bits(made(member, priors=plain).fit(X, y), X)
    model = made(member, priors=priors).fit(X, y)
    assert bits(model, X) == wanted
    save(model, tmp_path / "model.fgnb")
    assert bits(load(tmp_path / "model.fgnb"), X) == wanted


@pytest.mark.parametrize("member", [GaussianNB, GaussianBayes])
def test_ddof_of_eight_bits_and_more_classes_than_these_hold(member):
    draw = np.random.default_rng(1)
    X, y = draw.normal(size=(600, 2)), np.arange(600) % 200
    wanted = bits(member(tied=True, ddof=1).fit(X, y), X)
    assert bits(member(tied=True, ddof=np.int8(1)).fit(X, y), X) == wanted


def test_what_is_no_number_stays_what_it_is():
    for value in (None, "oas", True, 3, 0.5):
        assert as_plain(value) is value
    span = np.timedelta64(1, "s")
    assert as_plain(span) is span
    huge = Fraction(10) ** 400
    assert as_plain(huge) is huge
    with pytest.raises(ValueError, match="ddof"):
        GaussianNB(ddof=np.True_).fit(*rows())
    with pytest.raises(ValueError, match="var_smoothing"):
        GaussianNB(var_smoothing=span).fit(*rows())
    for member, name in (
        (GaussianNB, "var_smoothing"),
        (GaussianBayes, "reg_param"),
        (GaussianBayes, "shrinkage"),
        (PCAGaussianNB, "n_components"),
        (MixedNB, "alpha"),
    ):
        for value in (10**400, huge):
            with pytest.raises(ValueError, match=name):
                made(member, **{name: value}).fit(*rows())
