"""Edited fitted attributes: obeyed by scoring and sampling alike, or an error; never memory.

The rule stands in `fastgnb.model.model`. Here each fitted attribute of each member, and
each part of a pickle's state, is replaced by what it should not be.
"""

from __future__ import annotations

import copy
import itertools
from dataclasses import fields, replace

import numpy as np
import oracles
import pytest
from members import SHAPES

import fastgnb
from fastgnb import ClassStats, GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB
from fastgnb.estimate.parameters import GaussianParams, MixedParams, WhitenedParams
from fastgnb.model.scoring import score, score_mixed

METHODS = (
    "predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba",
    "predict_log_evidence",
)  # fmt: skip
D, K = 4, 3


@pytest.fixture(scope="module")
def rows():
    draw = np.random.default_rng(5)
    y = np.arange(120) % K
    X = draw.normal(size=(120, D)) + 2.0 * y[:, None] * np.arange(D)
    X[:, 2] = np.floor(X[:, 2] % 3)
    return X, y


@pytest.fixture(scope="module")
def models(rows):
    return {name: case.make().fit(*rows) for name, case in SHAPES.items()}


def changed(value):
    """What a value might be replaced by: other shapes, types and layouts, and what is no array."""
    yield from (None, "text", 3, -1, [], {}, 1e308, np.nan, object())
    if isinstance(value, list):
        yield from (value[:-1], value + value, [None] * len(value), tuple(value))
        yield from ([other, *value[1:]] for one in value[:1] for other in changed(one))
        return
    if not isinstance(value, np.ndarray):
        yield from (np.array([value, value]), 0, 1, 1_000_000, -1, 5)
        return
    yield from (value.tolist(), np.asfortranarray(value), value.astype(object))
    yield from (value.copy()[::-1], value[..., ::-1], value[:-1], value[:0], value[None], value.T)
    yield from (np.concatenate([value] * 3), value.reshape(-1), value[..., :1], value[..., None])
    yield np.repeat(value, 2, axis=-1)[..., ::2]
    if value.dtype.kind in "fiub":
        kinds = "f4", "f2", ">f8", "i4", "c16", "?", "U8", "M8[D]"
        with np.errstate(all="ignore"):
            yield from (value.astype(kind) for kind in kinds)
        yield from (value * np.nan, value * 0, -value if value.dtype.kind != "b" else ~value)
        yield from (np.full(value.shape, 1e308), np.full(value.shape, np.inf))
        yield np.ma.array(value, mask=np.arange(value.size).reshape(value.shape) == 0)


def attributes(model):
    names = {**vars(model), **model.__getstate__()}
    return [name for name in names if name.endswith("_") or name.startswith("_")]


def outcome(model, method, X):
    """The answer of a model, or the error in its place. Warnings are as NumPy's of odd numbers."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(getattr(model, method)(X))
    except (ValueError, TypeError, IndexError, AttributeError, KeyError, OverflowError) as error:
        return f"{type(error).__name__}: {error}"


def check(model, X, what, *, copied=True):
    """Each method gives the same answer or an error again, of the right shape, and so does a copy:
    what is read beyond arrays would differ with what is in memory there."""
    for method in METHODS:
        first = outcome(model, method, X)
        clutter = [np.random.default_rng(i).normal(size=4096) for i in range(2)]
        again = outcome(copy.deepcopy(model) if copied else model, method, X.copy())
        del clutter
        if isinstance(first, str) or isinstance(again, str):
            assert isinstance(first, str), (what, method)
            assert isinstance(again, str), (what, method)
            continue
        assert first.shape[0] == len(X), (what, method)
        assert first.dtype == again.dtype
        assert first.tobytes() == again.tobytes(), (what, method)
    outcome(model, "sample", 2)


@pytest.mark.promise("edits")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SHAPES)
def test_any_attribute_replaced(models, rows, name):
    for attribute in attributes(models[name]):
        for i, value in enumerate(changed(getattr(models[name], attribute))):
            model = copy.copy(models[name])
            setattr(model, attribute, value)
            check(model, rows[0][:40], (attribute, i))


@pytest.mark.promise("edits")
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SHAPES)
def test_any_two_attributes_replaced(models, rows, name):
    model = models[name]
    draw = np.random.default_rng(1)
    for first, second in itertools.combinations(attributes(model), 2):
        options = [list(changed(getattr(model, each))) for each in (first, second)]
        for _ in range(20):
            edited = copy.copy(model)
            for each, values in zip((first, second), options, strict=True):
                setattr(edited, each, values[draw.integers(len(values))])
            check(edited, rows[0][:40], (first, second))


@pytest.mark.promise("edits")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SHAPES)
def test_any_part_of_a_pickle_replaced(models, rows, name):
    state = models[name].__getstate__()
    for part in state:
        for i, value in enumerate(changed(state[part])):
            model = type(models[name]).__new__(type(models[name]))
            model.__setstate__({**state, part: value})
            check(model, rows[0][:40], (part, i))


@pytest.mark.promise("edits")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SHAPES)
def test_any_part_of_the_statistics_replaced(models, rows, name):
    stats = models[name].stats_
    for part in fields(stats):
        value = getattr(stats, part.name)
        for i, other in enumerate(changed(list(value) if isinstance(value, tuple) else value)):
            model = copy.copy(models[name])
            model.stats_ = replace(stats, **{part.name: other})
            check(model, rows[0][:40], (part.name, i))
            for method in ("merge", "partial_fit"):
                edited = copy.copy(model)
                given = (models[name],) if method == "merge" else rows
                try:
                    with np.errstate(all="ignore"):
                        getattr(edited, method)(*given)
                except (ValueError, TypeError, IndexError, AttributeError, OverflowError):
                    assert edited.stats_ is model.stats_
                    continue
                check(edited, rows[0][:40], (part.name, i, method), copied=False)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("d", [1, 3, 5, 64, 4096])
def test_rows_of_another_width_are_refused(models, name, d):
    """GaussianBayes read out of bounds: two equal calls gave different numbers."""
    model = copy.copy(models[name])
    model.n_features_in_ = d
    wanted = "(theta|components|means)_ of shape|n_features_in_ to be|"
    wanted += "parameters of 3 classes and"
    for method in METHODS:
        with pytest.raises(ValueError, match=wanted):
            getattr(model, method)(np.ones((40, d)))


# What is obeyed, by scoring and by sampling.


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("name", ["class_prior_", "means_", "covariance_"])
def test_replaced_attributes_of_gaussian_bayes_are_obeyed(rows, name, tied):
    model = GaussianBayes(tied=tied).fit(*rows)
    before = model.predict_joint_log_proba(rows[0][:5])
    value = getattr(model, name)
    setattr(model, name, value[::-1].copy() if name != "covariance_" else value * 4.0)
    if name == "means_":
        model.means_ = model.means_ + 1e6
    X = rows[0][:5] + (1e6 if name == "means_" else 0.0)
    covariance = np.broadcast_to(model.covariance_, (K, D, D))
    truth = [oracles.full_joint(x, model.class_prior_, model.means_, covariance) for x in X]
    for _ in range(2):
        np.testing.assert_allclose(
            model.predict_joint_log_proba(X), np.array(truth, float), rtol=1e-9
        )
    if name != "class_prior_":
        assert not np.allclose(model.predict_joint_log_proba(X), before)
    drawn, y = model.sample(20_000, 0)
    for c in range(K):
        share = model.class_prior_[c] / model.class_prior_.sum()
        assert abs((y == c).mean() - share) < 0.02
        sd = np.sqrt(np.diagonal(covariance[c]))
        assert (np.abs(drawn[y == c].mean(axis=0) - model.means_[c]) < 0.1 * sd).all()


def test_a_replaced_array_that_changes_in_place_is_obeyed(rows):
    model = GaussianBayes().fit(*rows)
    prior = np.array([0.2, 0.3, 0.5])
    model.class_prior_ = prior
    first = model.predict_joint_log_proba(rows[0])
    prior[:] = [0.4, 0.3, 0.3]
    moved = model.predict_joint_log_proba(rows[0]) - first
    np.testing.assert_allclose(moved, np.tile(np.log([2.0, 1.0, 0.6]), (120, 1)), atol=1e-12)


@pytest.mark.parametrize("name", ["class_prior_", "means_", "covariance_"])
def test_arrays_of_gaussian_bayes_are_read_only(rows, name):
    model = GaussianBayes().fit(*rows)
    for _ in range(2):
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, name)[...] = 0.0
        with pytest.raises(ValueError, match="WRITEABLE"):
            getattr(model, name).flags.writeable = True
        model.partial_fit(*rows)


@pytest.mark.parametrize("rotation", ["total", "class"])
@pytest.mark.parametrize("name", ["class_prior_", "theta_", "var_", "components_", "mean_"])
def test_edits_of_pca_are_obeyed(rows, name, rotation):
    model = PCAGaussianNB(n_components=2, rotation=rotation).fit(*rows)
    kept = copy.deepcopy(model.stats_)
    value = getattr(model, name)
    new = value[..., ::-1] * 1.5
    with pytest.raises(ValueError, match="read-only"):
        value[...] = new
    setattr(model, name, new)
    components = np.broadcast_to(model.components_, (K, 2, D))
    centre = np.broadcast_to(model.mean_, (K, D))
    X = rows[0][:5]
    along = np.einsum("crd,ncd->ncr", components, X[:, None] - centre)
    squares = ((along - model.theta_) ** 2 / model.var_ + np.log(2 * np.pi * model.var_)).sum(2)
    truth = np.log(model.class_prior_) - squares / 2
    np.testing.assert_allclose(model.predict_joint_log_proba(X), truth, rtol=1e-12)
    drawn, y = model.sample(20_000, 0)
    middle = centre + np.einsum("cr,crd->cd", model.theta_, components)
    for c in range(K):
        assert (np.abs(drawn[y == c].mean(axis=0) - middle[c]) < 0.2).all()
    for part in fields(kept):  # nor does it reach what is learned on
        assert np.array_equal(getattr(model.stats_, part.name), getattr(kept, part.name)) or (
            getattr(kept, part.name) is None
        )


def test_edited_categories_are_obeyed(rows):
    model = MixedNB(categorical_features=[2]).fit(*rows)
    X = rows[0].copy()
    before = model.predict_joint_log_proba(X)
    model.categories_ = [model.categories_[0] + 10]
    X[:, 2] += 10
    assert np.array_equal(model.predict_joint_log_proba(X), before)
    assert set(model.sample(100, 0)[0][:, 2]) <= {10.0, 11.0, 12.0}


# What is refused, in which words.

REFUSED = {
    "not symmetric": (
        GaussianBayes, "covariance_", np.tril, "covariance_ to be symmetric"),
    "indefinite": (
        GaussianBayes, "covariance_", lambda v: v - 9 * np.eye(D), "without negative eigenvalues"),
    "not finite": (GaussianBayes, "covariance_", lambda v: v * np.nan, "covariance_ of finite"),
    "means": (GaussianBayes, "means_", lambda v: v * np.inf, "Expected means_ of finite values"),
    "fewer means": (GaussianBayes, "means_", lambda v: v[1:], r"means_ of shape \(3, 4\), got \(2"),
    "priors": (GaussianBayes, "class_prior_", lambda v: v[1:], r"class_prior_ of shape \(3,\)"),
    "no priors": (GaussianBayes, "class_prior_", lambda v: v * 0, "at least one prior above 0"),
    "three dimensions": (
        GaussianBayes, "covariance_", lambda v: v[:, :3, :3], r"covariance_ of shape \(3, 4, 4\)"),
    "axes": (PCAGaussianNB, "components_", lambda v: v[:, :3], r"components_ of shape \(4, 4\)"),
    "no axes": (PCAGaussianNB, "components_", lambda v: v * np.nan, "components_ and mean_ of fin"),
    "a centre": (PCAGaussianNB, "mean_", lambda v: v[1:], r"mean_ of shape \(4,\), got \(3,\)"),
    "statistics": (GaussianNB, "stats_", lambda v: None, "stats_ of ClassStats, got NoneType"),
    "classes": (GaussianBayes, "classes_", lambda v: v[1:], r"classes_ of shape \(3,\), got \(2,"),
    "scatter": (GaussianBayes, "stats_", ClassStats.to_diag, "Expected stats_ with full scatter"),
    "units": (PCAGaussianNB, "scale_", lambda v: v * 0, "scale_ of finite values above 0, got"),
    "a mask": (MixedNB, "is_categorical_", lambda v: v[1:], "Expected is_categorical_ and n_feat"),
    "categories": (MixedNB, "categories_", lambda v: [v[0][1:]], r"categories_ of shape \(3,\), g"),
    "features": (MixedNB, "unseen_log_prob_", lambda v: v * 2, "of 1 categorical features, got 2"),
}  # fmt: skip


@pytest.mark.parametrize("method", ["predict", "predict_proba", "sample"])
@pytest.mark.parametrize("case", REFUSED)
def test_edits_that_make_no_model_are_refused(rows, case, method):
    member, name, change, text = REFUSED[case]
    model = member(**({"categorical_features": [2]} if member is MixedNB else {})).fit(*rows)
    setattr(model, name, change(getattr(model, name)))
    with pytest.raises((ValueError, TypeError), match=text):
        getattr(model, method)(2 if method == "sample" else rows[0])


# The last check before kernels.


def gaussian(**changes):
    one, two = np.zeros(2), np.ones((2, 3))
    return GaussianParams(
        **{"log_prior": one, "mean": two, "inv_sd": two, "log_det": one} | changes
    )


def rotated(**changes):
    given = {
        "log_prior": np.zeros(2), "log_det": np.zeros(2), "centre": np.zeros((1, 3)),
        "whitener": np.ones((1, 2, 3)), "mean": np.zeros((2, 2)), "scale": np.ones((2, 2)),
    }  # fmt: skip
    return WhitenedParams(**given | changes)


@pytest.mark.parametrize("make", [gaussian, rotated])
def test_parameters_are_checked_before_kernels(make):
    X = np.ones((5, 3))
    assert score(X, make(), table="joint").table.shape == (5, 2)
    for name, value in vars(make()).items():
        if name != "log_prior":
            for wrong in (value[:-1], value[..., :-1], value[None], np.repeat(value, 3, axis=-1)):
                with pytest.raises(ValueError, match="Expected parameters of 2 classes and 3 feat"):
                    score(X, make(**{name: wrong}))
        for wrong in (value.astype("f4"), value.astype(">f8"), value.tolist(), value + 0j, None):
            with pytest.raises(ValueError, match="parameters that are arrays of float64, got"):
                score(X, make(**{name: wrong}))
    with pytest.raises(ValueError, match="Expected parameters of 2 classes and 4 features"):
        score(np.ones((5, 4)), make())
    with pytest.raises(ValueError, match=r"Expected rows of shape \(n, d\), got \(3,\)"):
        score(np.ones(3), make())
    for values in (np.arange(3), np.arange(2, dtype=np.int32), np.zeros((2, 1), int)):
        with pytest.raises(ValueError, match="Expected 2 values of int64, got"):
            score(X, make(), values=values)
    with pytest.raises(ValueError, match="at least one prior above 0 among classes that have"):
        score(X, make(log_prior=np.full(2, -np.inf)))


def test_a_matrix_is_rows():
    """Its rows are matrices too, which a kernel would take for flat memory."""
    with pytest.warns(PendingDeprecationWarning):
        X = np.matrix(np.ones((5, 3)))
    assert score(X, gaussian()).codes.tolist() == [0] * 5


@pytest.mark.parametrize("table", [np.zeros((2, 5)), np.zeros((2, 5), order="F")])
def test_slots_are_checked_before_kernels(table):
    params = MixedParams(gaussian(), table, table)
    slots = np.array([[0, 4, 2, 1, 3]], np.int32)
    X = np.ones((5, 3))
    assert len(score_mixed(X, slots, params).codes) == 5
    for wrong in (slots + 1, slots - 1, slots * 1000):
        with pytest.raises(ValueError, match="Expected categories within a table of 5, got"):
            score_mixed(X, wrong, params)
    for wrong in (slots[:, 1:], slots[0], slots.astype(np.int64)):
        with pytest.raises(ValueError, match="Expected slots of int32 for 5 rows, got"):
            score_mixed(X, wrong, params)
    for wrong in (table[:1], table[:, :3], table.astype("f4")):
        for both in ((table, wrong), (wrong, table)):
            with pytest.raises(ValueError, match=r"Expected a table of shape|within a table of 3"):
                score_mixed(X, slots, MixedParams(gaussian(), *both))


@pytest.mark.parametrize("name", [each.name for each in fields(ClassStats)])
def test_statistics_of_other_shapes_are_refused(rows, name):
    stats = ClassStats.from_rows(*rows, scatter="full")
    if name in ("feature_count", "max_scatter"):
        value = np.ones((K, D))
    elif name == "feature_names":
        return
    else:
        value = getattr(stats, name)
    for wrong in (value[:-1], np.concatenate([value, value]), value[..., None], value[0]):
        broken = replace(stats, covariance=None if name != "covariance" else stats.covariance)
        broken = replace(broken, **{name: wrong})
        for use in (lambda s=broken: s + stats.to_diag(), lambda s=broken: s.as_one_class()):
            with pytest.raises((ValueError, TypeError, IndexError)):
                use()
        with pytest.raises(ValueError, match="Expected statistics of"):
            broken.as_one_class()


def test_a_model_of_statistics_that_do_not_match_is_refused(rows):
    stats = ClassStats.from_rows(*rows)
    with pytest.raises(ValueError, match=r"variance of shape \(3, 4\), got \(3, 2\)"):
        fastgnb.GaussianNB().fit_stats(replace(stats, variance=stats.variance[:, :2]))


# Model files hold the edits of a GaussianNB, and refuse those of others by name.

EDITS = {
    "GaussianBayes": ("class_prior_", "means_", "covariance_", "classes_"),
    "GaussianBayes, tied": ("covariance_",),
    "PCAGaussianNB": ("class_prior_", "theta_", "var_", "components_", "mean_", "scale_"),
    "PCAGaussianNB, by class": ("components_", "mean_"),
    "MixedNB": (
        "class_prior_", "theta_", "var_", "feature_log_prob_", "unseen_log_prob_", "categories_",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("member", "name"), [(m, n) for m, names in EDITS.items() for n in names])
def test_model_files_refuse_edits_by_name(models, rows, member, name, tmp_path):
    model = copy.deepcopy(models[member])
    fastgnb.save(model, tmp_path / "model")  # a copy is no edit
    value = getattr(model, name)
    setattr(model, name, [each - 1 for each in value] if isinstance(value, list) else value + 1e-3)
    with pytest.raises(ValueError, match=f"^{name} (is not what the statistics|was edited)"):
        fastgnb.save(model, tmp_path / "other")
    assert not (tmp_path / "other").exists()
    again = fastgnb.load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(rows[0]), models[member].predict_proba(rows[0]))


def test_model_files_hold_edits_of_gaussian_nb(models, rows, tmp_path):
    model = copy.deepcopy(models["GaussianNB"])
    model.theta_[0, 0] += 0.25
    model.var_ = model.var_ * 2.0
    model.class_prior_ = np.array([0.5, 0.25, 0.25])
    fastgnb.save(model, tmp_path / "model")
    again = fastgnb.load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(rows[0]), model.predict_proba(rows[0]))
    assert np.array_equal(again.sample(5, 0)[0], model.sample(5, 0)[0])
