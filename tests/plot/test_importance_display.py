"""ImportanceDisplay and SeparationDisplay: what is drawn is what `evaluation` computes."""

from __future__ import annotations

import numpy as np
import pytest
from cases import LONG, blobs, named, note_of, texts_of

from fastgnb import ClassStats, GaussianBayes, GaussianNB, MixedNB
from fastgnb.densities.importance import MEASURES, importance
from fastgnb.densities.separation import bhattacharyya_distance, error_bound
from fastgnb.plot import ImportanceDisplay, SeparationDisplay

rank, separate = ImportanceDisplay.from_estimator, SeparationDisplay.from_estimator


@pytest.fixture
def data():
    X, y = blobs(3, 5)
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("by", MEASURES)
def test_bars_are_the_measures_in_their_order(by, data):
    model = GaussianNB().fit(*data)
    values = getattr(importance(model.to_model()), by)
    shown = rank(model, by=by)
    ends = [bar.get_x() + bar.get_width() for bar in shown.bars_]
    assert ends == pytest.approx(sorted(values, reverse=True))
    names = [text.get_text() for text in shown.ax_.get_yticklabels()]
    assert names == [f"feature {j}" for j in np.argsort(-values)]
    assert shown.order_.tolist() == np.argsort(-values).tolist()


def test_marks_of_values_and_of_the_best_pair(data):
    model = GaussianNB().fit(*data)
    shown = rank(model)
    measures = importance(model.to_model())
    values, best = (line.get_xdata() for line in shown.ax_.lines)
    assert values == pytest.approx(measures.value_auc[shown.order_])
    assert best == pytest.approx(measures.best_auc[shown.order_])
    assert shown.ax_.get_xlabel() == "AUC of the feature alone, mean over pairs"
    marks = {"AUC of the feature's value", "AUC of the best pair of classes"}
    assert marks <= {*texts_of(shown.ax_)}


def test_one_pair(data):
    model = GaussianNB().fit(*data)
    shown = rank(model, pair=("c", "a"))
    assert shown.importance.auc == pytest.approx(importance(model.to_model(), (2, 0)).auc)
    assert note_of(shown.ax_) == "classes c and a"
    assert len(shown.ax_.lines) == 1
    for bad, text in ((("a", "x"), "Expected a class among"), (("a", "a"), "two different classes"),
                      (("a",), "two labels"), ("ab", "two labels")):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            rank(model, pair=bad)


def test_importance_frame(data):
    model = GaussianNB().fit(*data)
    frame = rank(model).frame()
    measures = importance(model.to_model())
    assert frame["auc"].is_monotonic_decreasing
    for j in range(5):
        row = frame.loc[f"feature {j}"]
        assert [row[name] for name in MEASURES] == [getattr(measures, name)[j] for name in MEASURES]
        pair = [str(row["best_class"]), str(row["best_other_class"])]
        assert pair == ["abc"[c] for c in measures.best_pair[j]]


def test_hundreds_of_features():
    X, y = blobs(20, 240, n=8)
    model = named(GaussianNB().fit(X, y), [LONG.format(j) for j in range(240)])
    shown = rank(model)
    assert len(shown.bars_) == 30
    assert note_of(shown.ax_) == "top 30 of 240 features"
    names = [text.get_text() for text in shown.ax_.get_yticklabels()]
    assert len(set(names)) == 30
    assert [name.split("…")[1] for name in names] == [str(j) for j in shown.order_]
    assert shown.frame().shape == (240, 7)
    assert len(rank(model, n_features=3).bars_) == 3
    with pytest.raises(ValueError, match="Expected n_features of 1 or more, got 0"):
        rank(model, n_features=0)
    with pytest.raises(ValueError, match="Expected by to be one of"):
        rank(model, by="gain")


def test_measures_of_many_magnitudes_have_a_logarithmic_axis():
    X, y = blobs(2, 3)
    X[:, 1] += 1e6 * y
    shown = rank(GaussianNB(var_smoothing=0.0).fit(X, y), by="jeffreys")
    assert shown.ax_.get_xscale() == "log"
    measures = importance(GaussianNB(var_smoothing=0.0).fit(X, y).to_model()).jeffreys
    ends = [bar.get_x() + bar.get_width() for bar in shown.bars_]
    assert ends == pytest.approx(sorted(measures, reverse=True))


def test_infinite_and_undefined_measures():
    X = np.array([[0, 1.0], [0, 2.0], [1, 1.5], [1, 3.0]])
    model = MixedNB(categorical_features=[0], alpha=0.0).fit(X, [0, 0, 1, 1])
    shown = rank(model, by="jeffreys")
    assert shown.order_.tolist() == [0, 1]
    assert shown.bars_[0].get_width() == shown.ax_.get_xlim()[1]
    values = rank(model, by="value_auc")
    assert values.order_.tolist() == [1, 0]
    assert values.bars_[1].get_width() == 0.0


def test_constant_features_come_last(data):
    X, y = data
    X[:, 2] = 1.0
    shown = rank(GaussianNB().fit(X, y))
    assert shown.order_[-1] == 2
    assert shown.frame().index[-1] == "feature 2"


# ------------------------------------------------------------------------------------ separation


@pytest.mark.parametrize("model", [GaussianNB(), GaussianBayes()], ids=repr)
def test_heat_map_of_bounds(model, data):
    model.fit(*data)
    distance = bhattacharyya_distance(model.to_model())
    bound = error_bound(model.class_prior_, distance)
    shown = separate(model)
    image = np.ma.filled(shown.im_.get_array(), np.nan)
    off = ~np.eye(3, dtype=bool)
    assert image[off] == pytest.approx(bound[off])
    assert np.isnan(np.diagonal(image)).all()
    assert f"sum of all bounds {bound.sum() / 2:.2g}" == note_of(shown.ax_)
    assert f"{bound[0, 1]:.2g}" in texts_of(shown.ax_)
    other = separate(model, kind="coefficient")
    image = np.ma.filled(other.im_.get_array(), np.nan)
    assert image[off] == pytest.approx(np.exp(-distance)[off])


def test_separation_frame(data):
    model = GaussianNB().fit(*data)
    frame = separate(model).frame()
    assert frame["bound"].is_monotonic_decreasing
    assert len(frame) == 3
    assert sorted(frame["class"] + frame["other_class"]) == ["ab", "ac", "bc"]
    row = frame[(frame["class"] == "a") & (frame["other_class"] == "c")].iloc[0]
    distance = bhattacharyya_distance(model.to_model())[0, 2]
    assert row["distance"] == distance
    assert row["coefficient"] == pytest.approx(np.exp(-distance))


def test_thirty_of_many_classes():
    X, y = blobs(40, 3)
    model = GaussianNB().fit(X, y)
    shown = separate(model)
    assert np.shape(shown.im_.get_array()) == (30, 30)
    assert "the most confused 30 of 40 classes" in note_of(shown.ax_)
    worst = error_bound(model.class_prior_, bhattacharyya_distance(model.to_model())).max(axis=1)
    assert set(shown.order_.tolist()) == set(np.argsort(-worst)[:30].tolist())
    assert len(shown.frame()) == 780


def test_from_stats_of_both(data):
    X, y = data
    full = ClassStats.from_rows(X, y, scatter="full")
    expected = separate(GaussianBayes().fit(X, y))
    assert np.array_equal(SeparationDisplay.from_stats(full).distance, expected.distance)
    ranked = ImportanceDisplay.from_stats(full.to_diag())
    assert np.array_equal(ranked.importance.auc, rank(GaussianNB().fit(X, y)).importance.auc)


def test_separation_needs_two_classes(data):
    X, y = data
    one = GaussianNB().fit(X, np.zeros(90, int))
    for draw in (rank, separate):
        with pytest.raises(ValueError, match="got 1: there is nothing to tell apart"):
            draw(one)
    with pytest.raises(ValueError, match="Expected kind to be one of"):
        separate(GaussianNB().fit(X, y), kind="x")
    shown = separate(GaussianNB(priors=[0.5, 0.0, 0.5]).fit(X, y))
    assert shown.classes.tolist() == ["a", "c"]


def test_identical_and_far_classes_are_drawn(data):
    X, _ = data
    far = separate(GaussianNB(var_smoothing=0.0).fit(np.vstack([X, X + 1e9]), np.arange(180) // 90))
    assert far.bound.max() == 0.0
    far.figure_.canvas.draw()
