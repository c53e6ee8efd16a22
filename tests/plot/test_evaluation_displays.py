"""Pictures of an evaluation: the coordinates of what is drawn, tables, and many classes."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sklearn.calibration
import sklearn.metrics
from evaluations import evaluation_of, random_rows

import fastgnb
from fastgnb.evaluation.evaluation import Evaluation
from fastgnb.evaluation.thinning import thin
from fastgnb.plot import (
    CalibrationDisplay,
    ConfusionMatrixDisplay,
    LiftDisplay,
    PrecisionRecallDisplay,
    RocCurveDisplay,
    ThresholdDisplay,
)

CURVES = [RocCurveDisplay, PrecisionRecallDisplay, CalibrationDisplay, LiftDisplay]
OF_SEVERAL = [*CURVES, ConfusionMatrixDisplay]


def evaluated(k=3, n=300, weighted=True, names=None, **more):
    y, log_odds, weight = random_rows(n=n, k=k, weighted=weighted, **more)
    names = np.arange(k) if names is None else np.array(names)
    return evaluation_of(names, names[y], log_odds, weight)


def points(line):
    return [np.asarray(each).tolist() for each in line.get_data()]


def test_roc_curves():
    found = evaluated()
    shown = RocCurveDisplay.from_evaluation(found)
    assert shown.labels == [0, 1, 2]
    for c, line in enumerate(shown.lines_):
        roc = found.roc(c)
        assert points(line) == [roc.fpr.tolist(), roc.tpr.tolist()]
        assert line.get_label() == f"{c} (AUC {found.auc(c).value:.3f})"
        assert isinstance(shown.displays_[c], sklearn.metrics.RocCurveDisplay)
    assert points(shown.chance_level_) == [[0, 1], [0, 1]]
    frame = shown.frame()
    assert frame.columns.tolist() == ["label", "fpr", "tpr", "log_odds"]
    assert frame["label"].value_counts().to_dict() == {c: len(found.roc(c).fpr) for c in range(3)}


def test_precision_and_recall():
    found = evaluated()
    shown = PrecisionRecallDisplay.from_evaluation(found, labels=[2, 0])
    for label, line in zip([2, 0], shown.lines_, strict=True):
        curve = found.precision_recall(label)
        assert points(line) == [curve.recall.tolist(), curve.precision.tolist()]
        assert line.get_label() == f"{label} (AP {found.average_precision(label).value:.3f})"
        assert line.get_drawstyle() == "steps-post"
    share = found.support[2] / found.weight
    assert shown.prevalence[0] == pytest.approx(share)
    assert shown.frame()["log_odds"].max() == np.inf


def test_prevalence_is_drawn_for_one_label():
    found = evaluated(k=2)
    shown = PrecisionRecallDisplay.from_evaluation(found)
    (line,) = set(shown.ax_.lines) - set(shown.lines_)
    assert line.get_ydata() == pytest.approx([found.support[1] / found.weight] * 2)


def test_calibration():
    found = evaluated()
    shown = CalibrationDisplay.from_evaluation(found, n_bins=5, min_rows=30)
    left_out = 0
    for c, line in enumerate(shown.lines_):
        table = found.calibration(c, 5)
        rows = table.weight * found.n_rows / found.weight
        used = rows >= 30
        left_out += int((~used & (rows > 0)).sum())
        assert points(line) == [table.prob_pred[used].tolist(), table.prob_true[used].tolist()]
        error = found.expected_calibration_error(c, 5)
        assert line.get_label() == f"{c} (ECE {error:.3f})"
        assert isinstance(shown.displays_[c], sklearn.calibration.CalibrationDisplay)
    assert left_out > 0
    assert shown.note == f"{left_out} bins of fewer than 30 rows are left out"
    assert shown.frame().shape == (15, 6)
    assert CalibrationDisplay.from_evaluation(found, min_rows=0).note == ""
    weights = np.concatenate([found.calibration(c, 5).weight for c in range(3)])
    least = np.sort(weights[weights > 0])[1] * found.n_rows / found.weight
    note = CalibrationDisplay.from_evaluation(found, n_bins=5, min_rows=float(least)).note
    assert note == f"1 bin of fewer than {least:g} rows is left out"


@pytest.mark.parametrize("kind", ["lift", "gain"])
def test_lift(kind):
    found = evaluated()
    shown = LiftDisplay.from_evaluation(found, kind=kind)
    for c, line in enumerate(shown.lines_):
        curve = found.lift(c)
        assert points(line) == [curve.share.tolist(), getattr(curve, kind).tolist()]
        tenth = curve.lift[np.searchsorted(curve.share, 0.1)]
        assert line.get_label() == f"{c} ({tenth:.2f} at 10%)"
    assert shown.ax_.get_xscale() == "linear"


def test_steep_lift_is_logarithmic():
    rng = np.random.default_rng(0)
    y = (np.arange(1000) < 10).astype(int)
    odds = rng.normal(size=1000) + 20 * y
    shown = LiftDisplay.from_evaluation(evaluation_of([0, 1], y, np.column_stack([-odds, odds])))
    assert (shown.ax_.get_xscale(), shown.ax_.get_yscale()) == ("log", "log")
    assert max(shown.lift[0]) == pytest.approx(100)


def test_other_kinds_of_lift():
    with pytest.raises(ValueError, match=r"kind must be one of \['lift', 'gain'\], got 'both'"):
        LiftDisplay.from_evaluation(evaluated(), kind="both")


def test_thresholds():
    found = evaluated()
    shown = ThresholdDisplay.from_evaluation(found, label=1, names=["fpr", "mcc"], cost_fn=9)
    taus = [i / 100 for i in range(1, 100)]
    rates = found.rates(taus, 1)
    for name, line in zip(["fpr", "mcc"], shown.lines_, strict=True):
        assert points(line) == [taus, getattr(rates, name).value.tolist()]
    best = found.best_cutoff(1, cost_fn=9)
    assert shown.best_.get_xdata() == [best.threshold, best.threshold]
    assert shown.best_.get_label() == f"best: {best.threshold:.3g}"
    assert shown.frame()["ppv"].tolist() == rates.ppv.value.tolist()
    assert ThresholdDisplay.from_evaluation(found, label=1).best_ is None


def test_cut_offs_beyond_all_probabilities():
    y, odds = np.array([0, 1, 1, 0]), np.array([-3.0, 2, 30, 60])
    found = evaluation_of([0, 1], y, np.column_stack([-odds, odds]))
    none = ThresholdDisplay.from_evaluation(found, cost_fp=99)
    assert none.best_.get_label() == "best: none is positive"
    assert none.best_.get_xdata() == [1, 1]
    odds[:] = [-3, 40, 45, 20]
    found = evaluation_of([0, 1], y, np.column_stack([-odds, odds]))
    one = ThresholdDisplay.from_evaluation(found, max_fpr=0)
    assert one.best_.get_label() == f"best: 1 - {np.exp(-30):.2g}"


def test_other_rates():
    with pytest.raises(ValueError, match=r"names must be some of \['tpr', .*got \['auc'\]"):
        ThresholdDisplay.from_evaluation(evaluated(k=2), names=["auc"])


@pytest.mark.parametrize("normalize", ["true", "pred", "all", None])
def test_confusion_matrix(normalize):
    y, log_odds, weight = random_rows(k=3)
    found = evaluation_of(np.array(["a", "b", "c"]), np.array(["a", "b", "c"])[y], log_odds, weight)
    shown = ConfusionMatrixDisplay.from_evaluation(found, normalize=normalize)
    want = sklearn.metrics.confusion_matrix(
        y, log_odds.argmax(axis=1), sample_weight=weight, normalize=normalize
    )
    np.testing.assert_allclose(shown.im_.get_array(), want, rtol=1e-12)
    np.testing.assert_allclose(shown.frame().to_numpy(), want, rtol=1e-12)
    assert shown.frame().index.tolist() == ["a", "b", "c"]
    assert isinstance(shown, sklearn.metrics.ConfusionMatrixDisplay)
    assert [text.get_text() for text in shown.ax_.get_xticklabels()] == ["a", "b", "c"]
    form = ".4g" if normalize is None else ".2f"
    assert shown.text_[1, 2].get_text() == format(want[1, 2], form)


def test_numbers_of_rows_are_whole():
    found = evaluated(weighted=False)
    shown = ConfusionMatrixDisplay.from_evaluation(found, normalize=None)
    assert [each.get_text() for each in shown.text_.ravel()] == [
        str(each) for each in found.confusion.ravel()
    ]


def test_matrices_that_cannot_be_drawn():
    found = evaluated()
    with pytest.raises(ValueError, match=r"normalize must be one of .* got 'rows'"):
        ConfusionMatrixDisplay.from_evaluation(found, normalize="rows")
    with pytest.raises(ValueError, match="No matrix was counted for 3 labels"):
        ConfusionMatrixDisplay.from_evaluation(
            Evaluation(found.labels, None, *[found.hit] * 3, 1.0, 1.0)
        )


@pytest.mark.parametrize("display", OF_SEVERAL)
def test_many_classes(display):
    found = evaluated(
        k=34, n=2000, names=[f"$a name that is far too long {i:02}" for i in range(34)]
    )
    shown = display.from_evaluation(found)
    shown.figure_.canvas.draw()
    if display is ConfusionMatrixDisplay:
        kept = np.sort(np.argsort(-found.support, kind="stable")[:30])
        assert shown.note == "largest 30 of 34 labels"
        assert shown.frame().columns.tolist() == found.labels[kept].tolist()
        return
    kept = np.sort(np.argsort(-found.support, kind="stable")[:20])
    assert shown.note.startswith("20 of 34 classes")
    assert shown.labels == found.labels[kept].tolist()
    styles = {
        (line.get_color(), str(line._unscaled_dash_pattern), line.get_marker())
        for line in shown.lines_
    }
    assert len(styles) == 20
    legend = shown.ax_.get_legend()
    box = legend.get_window_extent()
    assert box.x1 <= shown.figure_.bbox.x1
    assert box.x0 >= shown.ax_.get_window_extent().x1


@pytest.mark.parametrize("display", OF_SEVERAL)
def test_pictures_of_an_estimator(display, make_data):
    X, y = make_data(300, 3, 3)
    model, weight = fastgnb.GaussianNB().fit(X, y), np.linspace(0, 1, 300)
    shown = display.from_estimator(model, X, y, sample_weight=weight)
    again = display.from_evaluation(fastgnb.evaluate(model, X, y, weight))
    assert shown.frame().equals(again.frame())


def test_thresholds_of_an_estimator(make_data):
    X, y = make_data(300, 3, 2)
    model = fastgnb.GaussianNB().fit(X, y)
    shown = ThresholdDisplay.from_estimator(model, X, y, max_fpr=0.1)
    assert shown.best.rates.fpr.value <= 0.1


@pytest.mark.parametrize("display", [*OF_SEVERAL, ThresholdDisplay])
def test_axes_that_are_given(display):
    fig, (left, right) = plt.subplots(1, 2)
    shown = display.from_evaluation(evaluated(k=2), ax=right)
    assert shown.ax_ is right
    assert shown.figure_ is fig
    assert shown.plot(ax=left) is shown
    assert shown.ax_ is left


@pytest.mark.parametrize("display", [*CURVES, ThresholdDisplay])
def test_keywords_of_curves(display):
    shown = display.from_evaluation(evaluated(k=2), curve_kwargs={"color": "k", "lw": 3})
    assert {(line.get_color(), line.get_linewidth()) for line in shown.lines_} == {("k", 3)}


@pytest.mark.parametrize("display", CURVES)
def test_labels_the_model_does_not_know(display):
    with pytest.raises(ValueError, match="Expected a class among 0, 1, 2; got 7"):
        display.from_evaluation(evaluated(), labels=7)


@pytest.mark.parametrize("display", CURVES)
def test_a_class_without_rows(display):
    y, log_odds, weight = random_rows(k=3)
    y[y == 1] = 0
    found = evaluation_of([0, 1, 2], y, log_odds, weight)
    shown = display.from_evaluation(found)
    shown.figure_.canvas.draw()
    assert len(shown.lines_) == 3


# ------------------------------------------------------------------ fewer points


def test_long_curves_have_few_points_in_the_same_places():
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(100_000))
    y = np.cumsum(rng.normal(size=100_000)) / 100
    kept = thin(x, y)
    assert len(kept) <= 1000
    assert kept[0] == 0
    assert kept[-1] == 99_999
    column = np.minimum(((x - x[0]) / (x[-1] - x[0]) * 250).astype(int), 249)
    for c in (0, 17, 249):
        inside, drawn = y[column == c], y[kept][column[kept] == c]
        assert [drawn.min(), drawn.max()] == [inside.min(), inside.max()]
        assert [drawn[0], drawn[-1]] == [inside[0], inside[-1]]
    assert np.array_equal(thin(-x, y), kept)
    assert thin(x[:900], y[:900]).tolist() == list(range(900))


def test_curves_of_many_rows_are_drawn_by_few_points():
    found = evaluated(k=2, n=20_000)
    for display in CURVES:
        assert len(display.from_evaluation(found).frame()) <= 2000


@pytest.mark.parametrize(
    ("display", "text"),
    [
        (RocCurveDisplay, "AUC undefined"),
        (PrecisionRecallDisplay, "AP undefined"),
        (CalibrationDisplay, "ECE 0."),
        (LiftDisplay, "undefined"),
    ],
)
def test_legends_of_a_label_without_rows(display, text):
    y, log_odds, weight = random_rows(n=60, k=3, weighted=False)
    found = evaluation_of(np.arange(3), np.where(y == 2, 0, y), log_odds, weight)
    shown = display.from_evaluation(found, labels=[2])
    assert f"({text}" in shown.lines_[0].get_label()
