"""An edited attribute is an answer, or a ValueError, of scoring, sampling and saving alike."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from fastgnb import ClassStats, GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB, load, save

Y = np.arange(60) % 3
X = np.random.default_rng(5).normal(size=(60, 3)) + Y[:, None]
MIXED = np.column_stack([Y * 2 % 3, X[:, 1:]])
MEMBERS: list[Any] = [
    GaussianNB(),
    GaussianBayes(),
    GaussianBayes(tied=True),
    PCAGaussianNB(n_components=2),
    PCAGaussianNB(rotation="class"),
    MixedNB(categorical_features=[0]),
]
ANSWERS = ("predict", "predict_proba", "predict_joint_log_proba", "predict_log_evidence")


def _fitted(model: Any) -> tuple[Any, Any]:
    rows = MIXED if isinstance(model, MixedNB) else X
    return clone(model).fit(rows, Y), rows


def _refused(model: Any, rows: Any, path: Any, match: str) -> None:
    for name in ANSWERS:
        with pytest.raises(ValueError, match=match):
            getattr(model, name)(rows)
    with pytest.raises(ValueError, match=match):
        model.sample(3)
    with pytest.raises(ValueError, match=f"{match}|is not what the statistics"):
        save(model, path)


@pytest.mark.parametrize("model", MEMBERS, ids=str)
def test_priors_below_0(model: Any, tmp_path: Any) -> None:
    model, rows = _fitted(model)
    model.class_prior_ = np.array([-0.5, 0.5, 1.0])
    _refused(model, rows, tmp_path / "m", "class_prior_ of finite numbers from 0 up")


@pytest.mark.parametrize("model", MEMBERS, ids=str)
def test_priors_that_are_text_or_masked_are_not_saved(model: Any, tmp_path: Any) -> None:
    model, rows = _fitted(model)
    prior = model.class_prior_
    model.class_prior_ = prior.astype(str)
    _refused(model, rows, tmp_path / "m", "Expected class_prior_ of numbers, got dtype")
    model.class_prior_ = np.ma.array(prior, mask=[True, False, False])
    _refused(model, rows, tmp_path / "m", "class_prior_ contains masked values")


@pytest.mark.parametrize("edited", [None, "abc", 0, 2, 4, np.nan])
@pytest.mark.parametrize("model", MEMBERS, ids=str)
def test_numbers_of_features(model: Any, edited: Any, tmp_path: Any) -> None:
    model, rows = _fitted(model)
    model.n_features_in_ = edited
    _refused(model, rows, tmp_path / "m", "features|n_features_in_")


@pytest.mark.parametrize("model", MEMBERS, ids=str)
def test_a_float_number_of_features(model: Any) -> None:
    model, rows = _fitted(model)
    expected = model.predict(rows)
    model.n_features_in_ = 3.0
    assert (model.predict(rows) == expected).all()
    assert model.sample(3)[0].shape == (3, 3)


def test_units_so_small_that_axes_overflow(tmp_path: Any) -> None:
    model, rows = _fitted(PCAGaussianNB(standardize=True))
    model.scale_ = np.array([1e-320, 1.0, 1.0])
    _refused(model, rows, tmp_path / "m", "components_ over scale_ of finite values")


def test_samples_that_overflow() -> None:
    model, _ = _fitted(PCAGaussianNB())
    model.scale_ = np.array([1e308, 1.0, 1.0])
    with pytest.raises(ValueError, match="Rows of this model overflow float64"):
        model.sample(50, random_state=0)


@pytest.mark.parametrize("edited", [None, "abc", np.zeros(3, np.bool_), np.zeros(0)], ids=str)
def test_which_features_are_categorical(edited: Any, tmp_path: Any) -> None:
    model, rows = _fitted(MixedNB(categorical_features=[0]))
    model.is_categorical_ = edited
    _refused(model, rows, tmp_path / "m", "Expected is_categorical_|is_categorical_ is not what")


@pytest.mark.parametrize("kind", [list, np.float32, object])
def test_equal_marks_of_other_types_are_obeyed(kind: Any) -> None:
    model, rows = _fitted(MixedNB(categorical_features=[0]))
    expected, mask = model.predict_proba(rows), model.is_categorical_
    model.is_categorical_ = mask.tolist() if kind is list else mask.astype(kind)
    assert (model.predict_proba(rows) == expected).all()
    assert model.sample(4)[0].shape == (4, 3)


def test_categories_of_another_kind() -> None:
    model, rows = _fitted(MixedNB(categorical_features=[0]))
    model.categories_ = [model.categories_[0].astype(str)]
    for answer in (model.predict, model.predict_proba):
        with pytest.raises(TypeError, match="Categories of feature 0 of types"):
            answer(rows)
    with pytest.raises(TypeError, match="Categories of feature 0 of types"):
        model.sample(3)


def test_missing_means_of_a_mixed_model() -> None:
    model, _ = _fitted(MixedNB(categorical_features=[0]))
    model.theta_ = None
    with pytest.raises(ValueError, match="Expected theta_"):
        model.sample(3)


@pytest.mark.parametrize("name", ["means_", "covariance_"])
def test_edits_of_a_small_feature_are_not_lost_in_saving(name: str, tmp_path: Any) -> None:
    rows = X * [1.0, 1e14, 1e-9]
    model = GaussianBayes().fit(rows, Y)
    edited = getattr(model, name).copy()
    edited[0, ..., 2] *= 0.5
    if name == "covariance_":
        edited[0, 2] = edited[0, :, 2]
    setattr(model, name, edited)
    with pytest.raises(ValueError, match=f"{name} is not what the statistics"):
        save(model, tmp_path / "m")


def test_scikit_learn_gets_float64() -> None:
    model, rows = _fitted(GaussianNB())
    for name in ("class_prior_", "theta_", "var_"):
        setattr(model, name, getattr(model, name).astype(np.float16))
    other = model.to_sklearn()
    assert other.var_.dtype == np.float64
    assert np.allclose(
        other.predict_joint_log_proba(rows), model.predict_joint_log_proba(rows), rtol=1e-12
    )


@pytest.mark.parametrize("model", MEMBERS, ids=str)
def test_no_edit_is_saved(model: Any, tmp_path: Any) -> None:
    model, rows = _fitted(model)
    save(model, tmp_path / "m")
    assert (load(tmp_path / "m").predict_proba(rows) == model.predict_proba(rows)).all()


@pytest.mark.parametrize("shares", [(1.0, -1.0), (1.0, 1.5)], ids=["variance", "correlation"])
def test_negative_eigenvalues_of_a_small_feature(shares: Any, tmp_path: Any) -> None:
    """Beside a variance of 1e28 they were taken for rounding errors."""
    model = GaussianBayes(tied=True).fit(X * [1e14, 1.0, 1.0], Y)
    edited = model.covariance_.copy()
    edited[2, 2] *= shares[1] if shares[1] < 0 else 1.0
    if shares[1] > 0:
        edited[1, 2] = edited[2, 1] = shares[1] * np.sqrt(edited[1, 1] * edited[2, 2])
    model.covariance_ = edited
    _refused(model, X, tmp_path / "m", "without negative eigenvalues")


def test_windows_of_a_stream_are_no_edits() -> None:
    """What subtraction leaves has eigenvalues below 0, by rounding errors of what there was."""
    draw, units = np.random.default_rng(1), 10.0 ** np.array([-60.0, 60.0, 120.0])
    for _ in range(40):
        parts = [
            ClassStats.from_rows((draw.integers(-9, 10, (3, 3)) + 1e8) * units, [0, 0, 1],
                                 10.0 ** draw.integers(-5, 5) * draw.random(3), scatter="full")
            for _ in range(6)
        ]  # fmt: skip
        window = sum(parts[1:], parts[0])
        for part in parts[:4]:
            window = window - part
        model = GaussianBayes().fit_stats(window)
        again = pickle.loads(pickle.dumps(model))
        expected = model.predict_joint_log_proba(1e8 * units[None])
        assert (again.predict_joint_log_proba(1e8 * units[None]) == expected).all()
