"""Bad classes, feature names, edits and objects are refused in words that help."""

from __future__ import annotations

import pickle
import re
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from bad_input import (
    HUGE,
    ROWS_OF,
    SCORING,
    TEXT_OR_NUMBERS,
    X0,
    Y0,
    Bad,
    attributes,
    fitted,
    ids,
    put,
    quietly,
    raised,
    same,
)
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB as Reference
from sklearn.naive_bayes import MultinomialNB

import fastgnb
from fastgnb import ClassStats, GaussianNB
from fastgnb.estimate.parameters import GaussianParams

NAMED = "scikit-learn does not say which input it means, or fails when it sorts them"
CLASSES_ARE = "classes should be a 1d array, got "
CLASSES_1D = r"classes should be a 1d array, got an array of shape \({}\) instead"

CLASSES = [
    Bad("none at all", lambda: [], "", methods=("strangers",)),
    Bad("one missing", lambda: [0], "", methods=("strangers",)),
    Bad("others", lambda: [5, 6], "", methods=("strangers",)),
    Bad("of text", lambda: ["0", "1"], "", methods=("strangers",)),
    Bad("2-d", lambda: [[0, 1]], CLASSES_1D.format("1, 2"), NAMED),
    Bad("column", lambda: [[0], [1]], CLASSES_1D.format("2, 1"), NAMED),
    Bad("number of classes", lambda: 2, CLASSES_ARE + "2 instead. Pass a list", NAMED),
    Bad("False", lambda: False, CLASSES_ARE + "False instead", NAMED),
    Bad("str", lambda: "ab", CLASSES_ARE + "the text 'ab' instead. Pass a list of all", NAMED),
    Bad("set", lambda: {0, 1}, CLASSES_ARE + "a set instead. Pass a list, which list", NAMED),
    Bad("dict", lambda: {0: 0, 1: 1}, CLASSES_ARE + "a dict instead. Pass a list", NAMED),
    Bad("generator", lambda: (i for i in (0, 1)), CLASSES_ARE + "a generator", NAMED),
    Bad("function", lambda: len, CLASSES_ARE + "a builtin", NAMED),
    Bad("nan", lambda: [0, 1, np.nan], "Input classes contains NaN", NAMED),
    Bad("inf", lambda: [0, 1, np.inf], "Input classes contains infinity", NAMED),
    Bad("None", lambda: [0, 1, None], "Input classes contains NaN or None", NAMED),
    Bad("missing", lambda: pd.array([0, 1, None], "Int64"), "Input classes contains NaN", NAMED),
    Bad("polars null", lambda: pl.Series([0, 1, None]), "Input classes contains NaN", NAMED),
    Bad("continuous", lambda: [0, 1, 0.5], "Unknown label type: continuous", NAMED),
    Bad("text and numbers", lambda: [0, 1, "a"], TEXT_OR_NUMBERS, NAMED, error=TypeError),
    Bad("bytes", lambda: [b"a", b"b"], "represented as bytes is not supported", error=TypeError),
    Bad("dates", lambda: np.array([0, 1], "M8[D]"), "Unknown label type: datetime64", NAMED),
    Bad("complex", lambda: [0j, 1], "Complex data not supported"),
    Bad("ragged", lambda: [[0], [1, 2]], "inhomogeneous shape", NAMED),
    Bad("beyond 64 bits", lambda: [0, 1, HUGE], "cannot be held exactly", NAMED),
    Bad("decimals", lambda: [Decimal(0), Decimal(1)], "Unknown label type: Decimal", NAMED),
    Bad("dicts", lambda: [{}, {}], r"Unknown label type: one of \['dict'\]", NAMED),
    Bad("records", lambda: np.zeros(2, [("a", int)]), "Unknown label type", NAMED),
    Bad("masked", lambda: np.ma.array([0, 1, 2], mask=[0, 0, 1]),
        "Input classes contains masked values, the first at 2", NAMED),
    Bad("sparse", lambda: sp.csr_matrix([[0, 1]]), "Sparse data was passed for classes", NAMED,
        error=TypeError),
]  # fmt: skip


@pytest.mark.promise("errors")
@pytest.mark.parametrize("bad", CLASSES, ids=ids(CLASSES))
def test_bad_classes(bad):
    strange = r"The target label\(s\) .* in y do not exist in the initial classes"
    other = r"`classes=.*` is not the same as on last call to partial_fit, was: array\(\[0, 1\]\)"
    for is_fresh in (True, False):
        ours, theirs = (cls() if is_fresh else fitted(cls) for cls in (GaussianNB, Reference))
        before = pickle.dumps(ours)
        got = raised(lambda: ours.partial_fit(X0, Y0, bad.make()))  # noqa: B023
        want = quietly(lambda: theirs.partial_fit(X0, Y0, bad.make()))  # noqa: B023
        match = bad.match or (strange if is_fresh else other)
        assert isinstance(got, bad.error), got
        assert re.search(match, str(got), re.DOTALL), got
        assert bad.why or same(got, want), (got, want)
        assert pickle.dumps(ours) == before
    with pytest.raises(bad.error, match=bad.match or strange):
        ClassStats.from_rows(X0, Y0, classes=bad.make())


@pytest.mark.parametrize("later", [[0], [0, 1, 2], [1, 2], ["0", "1"], [], [0.0, 2.0]], ids=repr)
def test_classes_that_change_between_calls(later):
    text = "is not the same as on last call to partial_fit, was"
    for cls in (GaussianNB, Reference):
        model = cls().partial_fit(X0, Y0, [1, 0])
        before = pickle.dumps(model)
        with pytest.raises(ValueError, match=text):
            model.partial_fit(X0, Y0, later)
        assert pickle.dumps(model) == before


def test_the_first_partial_fit_needs_classes():
    model = GaussianNB()
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        model.partial_fit(X0, Y0)
    assert vars(model) == vars(GaussianNB())


COLUMNS = {
    "other order": ["b", "a", "c"],
    "one renamed": ["a", "z", "c"],
    "one missing": ["a", "b"],
    "one extra": ["a", "b", "c", "d"],
    "missing and extra": ["a", "b", "d"],
    "only the case": ["A", "b", "c"],
    "text and numbers": ["a", 1, "c"],
}
CONTAINERS = {
    "pandas": lambda names: pd.DataFrame(dict.fromkeys(names, X0[:, 0])),
    "polars": lambda names: pl.DataFrame({str(name): X0[:, 0] for name in names}),
    "arrow": lambda names: pa.table({str(name): X0[:, 0] for name in names}),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("columns", COLUMNS)
def test_columns_that_are_not_those_of_fit(columns, container):
    make = CONTAINERS[container]
    ours, theirs = (cls().fit(make("abc"), Y0) for cls in (GaussianNB, Reference))
    before = pickle.dumps(ours)
    X = make(COLUMNS[columns])
    for name, method in ROWS_OF.items():
        if name == "fit":
            continue
        want = quietly(lambda: method(theirs, X, Y0))  # noqa: B023
        got = raised(lambda: method(ours, X, Y0))  # noqa: B023
        assert got is not None, name
        assert same(got, want), (name, got, want)
        assert re.search("[Ff]eature names", str(got)), got
    assert pickle.dumps(ours) == before
    stats = ClassStats.from_rows(make("abc"), Y0)
    if "text and numbers" not in (columns, container):
        with pytest.raises(ValueError, match=r"Statistics of (different|3) features cannot be"):
            stats.update(X, Y0)
        other = GaussianNB().fit(X, Y0)
        if columns == "other order":  # merged by name: here the columns are equal
            assert pickle.loads(before).merge(other).theta_.tolist() == ours.theta_.tolist()
        else:
            with pytest.raises(ValueError, match="cannot be combined"):
                ours.merge(other)
    assert pickle.dumps(ours) == before


@pytest.mark.parametrize(
    ("names", "error", "text"),
    [
        (["a", "b"], ValueError, "Expected 3 feature names, one a column, got 2"),
        (["a", "b", "a"], ValueError, "Expected distinct feature names, got more than one 'a'"),
        (["a", "b", 1], TypeError, r"Expected feature names, each of them text, got \['a', 'b', 1"),
        ("abc", TypeError, "Expected feature names, each of them text, got 'abc'"),
        ([None] * 3, TypeError, "each of them text"),
        ([], ValueError, "Expected 3 feature names, one a column, got 0"),
    ],
)
def test_bad_feature_names(names, error, text):
    with pytest.raises(error, match=text):
        ClassStats.from_rows(X0, Y0, feature_names=names)


STRANGE = {
    "None": lambda: None,
    "int": lambda: 3,
    "dict": dict,
    "array": lambda: X0,
    "statistics": lambda: ClassStats.from_rows(X0, Y0),
    "unfitted scikit-learn": Reference,
    "scikit-learn": lambda: fitted(Reference),
    "other estimator": lambda: DummyClassifier().fit(X0, Y0),
    "other naive Bayes": lambda: MultinomialNB().fit(X0, Y0),
    "our class": lambda: GaussianNB,
    "unfitted": GaussianNB,
    "fitted": lambda: fitted(GaussianNB),
}


@pytest.mark.parametrize("name", STRANGE)
def test_objects_of_other_kinds(name, tmp_path):
    made = STRANGE[name]()
    kind = type(made).__name__
    model, stats = fitted(GaussianNB), ClassStats.from_rows(X0, Y0)
    before = pickle.dumps((model, stats))
    path = tmp_path / "model"
    if name != "statistics":
        with pytest.raises(TypeError, match=f"Expected ClassStats, got {kind}"):
            model.fit_stats(made)
        for mix in (lambda: stats + made, lambda: stats - made):
            with pytest.raises(TypeError, match="unsupported operand type"):
                mix()
    if name == "unfitted":
        for use in (model.merge, GaussianNB.from_sklearn, lambda m: fastgnb.save(m, path)):
            with pytest.raises(NotFittedError, match="This GaussianNB instance is not fitted yet"):
                use(made)
    elif name != "fitted":
        for use in (model.merge, lambda m: fastgnb.save(m, path)):
            with pytest.raises(TypeError, match=rf"Expected a .*fastgnb.*, got .*{kind}"):
                use(made)
    if name == "unfitted scikit-learn":
        with pytest.raises(NotFittedError, match="not fitted yet"):
            GaussianNB.from_sklearn(made)
    elif name.startswith("other"):
        text = f"Expected a fitted sklearn.naive_bayes.GaussianNB, got {kind}"
        with pytest.raises(TypeError, match=text):
            GaussianNB.from_sklearn(made)
    elif name not in ("scikit-learn", "fitted", "unfitted"):
        with pytest.raises(TypeError, match=r"is not an estimator instance|is a class, not"):
            GaussianNB.from_sklearn(made)
    with pytest.raises(TypeError, match=r"expected str, bytes or os.PathLike object, not"):
        fastgnb.load(made)
    with pytest.raises(TypeError, match=r"expected str, bytes or os.PathLike object, not"):
        fastgnb.save(model, made)
    assert pickle.dumps((model, stats)) == before
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", [*SCORING, "merge", "to_sklearn", "save"])
def test_a_model_that_is_not_fitted(method, tmp_path):
    model = GaussianNB(priors=[0.5, 0.5])
    calls = {
        "merge": lambda: model.merge(fitted(GaussianNB)),
        "to_sklearn": model.to_sklearn,
        "save": lambda: fastgnb.save(model, tmp_path / "model"),
    }
    call = calls.get(method) or (lambda: ROWS_OF[method](model, X0, Y0))
    got = raised(call)
    want = quietly(lambda: Reference().predict(X0))
    assert type(got) is NotFittedError
    assert str(got) == str(want)
    assert vars(model) == vars(clone(model))
    assert not list(tmp_path.iterdir())


def edited(name, change):
    model = fitted(GaussianNB)
    setattr(model, name, change(getattr(model, name)))
    return model


EDITS = {
    "theta_ of nan": ("theta_", lambda v: v * np.nan, "Expected finite means and priors"),
    "one nan in theta_": ("theta_", lambda v: put(np.nan, 1, 1)[:2], "Expected finite means"),
    "theta_ of inf": ("theta_", lambda v: v + np.inf, "Expected finite means and priors"),
    "theta_ of fewer classes": ("theta_", lambda v: v[:1], r"theta_ of shape \(2, 3\), got \(1, 3"),
    "theta_ of more features": ("theta_", lambda v: np.c_[v, v], r"shape \(2, 3\), got \(2, 6\)"),
    "theta_ turned": ("theta_", lambda v: v.T.copy(), r"of shape \(2, 3\), got \(3, 2\)"),
    "theta_ of one class": ("theta_", lambda v: v[0], r"of shape \(2, 3\), got \(3,\)"),
    "theta_ in 3-d": ("theta_", lambda v: v[None], r"theta_ of shape \(2, 3\), got \(1, 2, 3\)"),
    "theta_ a number": ("theta_", lambda v: 1.0, r"theta_ of shape \(2, 3\), got \(\)"),
    "theta_ None": ("theta_", lambda v: None, r"theta_ of shape \(2, 3\), got \(\)"),
    "theta_ of text": ("theta_", lambda v: v.astype(str), "theta_ of numbers, got dtype <U"),
    "theta_ complex": ("theta_", lambda v: v + 0j, "theta_ of numbers, got dtype complex128"),
    "theta_ masked": ("theta_", lambda v: np.ma.array(v, mask=v > 4), "theta_ contains masked"),
    "theta_ a dict": ("theta_", lambda v: {}, "Expected theta_ of numbers that fit float64: float"),
    "theta_ too large": ("theta_", lambda v: np.full(v.shape, HUGE, object), "that fit float64"),
    "var_ of nan": ("var_", lambda v: v * np.nan, "Feature 0 of class 0 has variance nan"),
    "var_ of inf": ("var_", lambda v: v + np.inf, "Feature 0 of class 0 has variance inf"),
    "var_ of 0": ("var_", lambda v: v * 0, "Feature 0 of class 0 has variance 0, and a density"),
    "one var_ of 0": ("var_", lambda v: v * (v < v.max()), "Feature . of class . has variance 0"),
    "var_ negative": ("var_", lambda v: -v, "Feature 0 of class 0 has variance -"),
    "var_ of fewer classes": ("var_", lambda v: v[:1], r"var_ of shape \(2, 3\), got \(1, 3\)"),
    "var_ of more features": ("var_", lambda v: np.c_[v, v], r"shape \(2, 3\), got \(2, 6\)"),
    "var_ turned": ("var_", lambda v: v.T.copy(), r"var_ of shape \(2, 3\), got \(3, 2\)"),
    "var_ None": ("var_", lambda v: None, r"var_ of shape \(2, 3\), got \(\)"),
    "var_ complex": ("var_", lambda v: v + 1j, "var_ of numbers, got dtype complex128"),
    "var_ masked": ("var_", lambda v: np.ma.array(v, mask=v > 4), "var_ contains masked"),
    "prior of nan": ("class_prior_", lambda v: v * np.nan, r"from 0 up, got \[nan nan\]"),
    "prior of 0": ("class_prior_", lambda v: v * 0, r"one prior above 0 .* got priors \[0. 0.\]"),
    "prior negative": ("class_prior_", lambda v: -v, r"from 0 up, got \[-0.5 -0.5\]"),
    "one prior nan": ("class_prior_", lambda v: v * [1, np.nan], r"from 0 up, got \[0.5 nan\]"),
    "too few priors": ("class_prior_", lambda v: v[:1], r"of shape \(2,\), got \(1,\)"),
    "too many priors": ("class_prior_", lambda v: np.r_[v, v], r"of shape \(2,\), got \(4,\)"),
    "prior a number": ("class_prior_", lambda v: 0.5, r"of shape \(2,\), got \(\)"),
    "prior None": ("class_prior_", lambda v: None, r"of shape \(2,\), got \(\)"),
    "prior of text": ("class_prior_", lambda v: v.astype(str), "class_prior_ of numbers, got"),
    "prior a column": ("class_prior_", lambda v: v[:, None], r"of shape \(2,\), got \(2, 1\)"),
    "too few classes": ("classes_", lambda v: v[:1], r"classes_ of shape \(2,\), got \(1,\)"),
    "too many classes": ("classes_", lambda v: np.arange(5), r"classes_ of shape \(2,\), got \(5,"),
    "classes None": ("classes_", lambda v: None, r"classes_ of shape \(2,\), got \(\)"),
}  # fmt: skip


SAVED = {
    "theta_": "theta_ of shape|theta_ of numbers|theta_ contains masked|theta is not finite",
    "var_": "var_ of shape|var_ of numbers|var_ contains masked|var is (not finite|negative)",
    "class_prior_": "class_prior_? (of shape|of (finite )?numbers|is (not finite|negative))|"
    "no class has",
}


@pytest.mark.parametrize("name", EDITS)
def test_edits_that_make_no_model(name, tmp_path):
    """Scoring refuses them, and so do files; learning on takes the statistics and is well."""
    attribute, change, text = EDITS[name]
    for method in SCORING:
        model = edited(attribute, change)
        before = pickle.dumps(model)
        with pytest.raises(ValueError, match=text):
            ROWS_OF[method](model, X0, Y0)
        assert pickle.dumps(model) == before
    if attribute != "classes_":
        if name not in ("var_ of 0", "one var_ of 0"):  # a model that cannot score, but learns on
            with pytest.raises(ValueError, match=SAVED[attribute]):
                fastgnb.save(edited(attribute, change), tmp_path / "model")
            assert not list(tmp_path.iterdir())
        model = edited(attribute, change).partial_fit(X0, Y0)
        assert attributes(model) == attributes(fitted(GaussianNB).partial_fit(X0, Y0))


@pytest.mark.parametrize(
    ("name", "change", "text"),
    [
        ("theta_", lambda v: v * np.nan, "Expected theta_ of finite values, got"),
        ("theta_", lambda v: v[:1], r"Expected theta_ of shape \(2, 3\), got \(1, 3\)"),
        ("var_", lambda v: v * np.inf, "Expected var_ of finite values from 0 up, got"),
        ("var_", lambda v: -v, "Expected var_ of finite values from 0 up"),
        ("var_", lambda v: v[:1], r"Expected var_ of shape \(2, 3\), got \(1, 3\)"),
        ("class_count_", lambda v: -v, "Expected class_count_ of finite values from 0 up"),
        ("class_prior_", lambda v: v * np.nan, "Expected class_prior_ of finite values from 0 up"),
        (
            "epsilon_",
            lambda v: np.nan,
            "Expected epsilon_ of finite values from 0 up, got nan. Fit",
        ),
    ],
)
def test_models_of_scikit_learn_that_are_none(name, change, text):
    theirs = fitted(Reference)
    setattr(theirs, name, change(getattr(theirs, name)))
    with pytest.raises(ValueError, match=text):
        GaussianNB.from_sklearn(theirs)


def test_a_model_of_scikit_learn_from_negative_weights():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = Reference().fit(X0, Y0, [-1, 1, -1, 1, -1, 1])
    with pytest.raises(ValueError, match=r"class_count_ of finite values from 0 up, got \[-3.  3."):
        GaussianNB.from_sklearn(theirs)


def test_parameters_of_other_shapes_are_no_parameters():
    good = {"classes": np.arange(2), "n_features": 3}
    with pytest.raises(ValueError, match=r"Expected var_ of shape \(2, 3\), got \(2, 2\)"):
        GaussianParams.from_estimate([0.5, 0.5], np.zeros((2, 3)), np.ones((2, 2)), **good)
    with pytest.raises(ValueError, match=r"Expected theta_ of shape \(2, 3\), got \(2, 2\)"):
        GaussianParams.from_estimate([0.5, 0.5], np.zeros((2, 2)), np.ones((2, 2)), **good)


def test_parameters_edited_after_fitting_are_checked_when_saved(tmp_path):
    for parameters, text in (
        ({"priors": "uniform"}, "Number of priors must match"),
        ({"priors": np.array([0, 1], "M8[D]")}, "Expected numeric priors"),
        ({"var_smoothing": -1}, "var_smoothing must be a number from 0 up"),
        ({"missing": "drop"}, "missing must be 'error' or 'skip'"),
    ):
        with pytest.raises(ValueError, match=text):
            fastgnb.save(fitted(GaussianNB).set_params(**parameters), tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_the_tables_are_long_enough():
    assert len(CLASSES) + len(STRANGE) + len(EDITS) >= 70
