"""What errors say to do is true of the member that raises them, and names the column."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.naive_bayes import GaussianNB as Plain
from sklearn.pipeline import make_pipeline

import fastgnb
from fastgnb import ClassStats, GaussianBayes, GaussianNB, MixedNB, MixedStats, PCAGaussianNB

SKIPPING = [GaussianNB, MixedNB]
WHOLE = [GaussianBayes, PCAGaussianNB]
CALLS = {
    "fit": lambda m, X, y: m.fit(X, y),
    "partial_fit": lambda m, X, y: m.partial_fit(X, y, classes=[0, 1]),
    "predict": lambda m, X, y: m.predict(X),
    "decision_function": lambda m, X, y: m.decision_function(X),
}


@pytest.fixture
def table(rng):
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["length", "width", "height"])
    return X, np.arange(40) % 2


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("member", [*SKIPPING, *WHOLE])
def test_missing_values(table, member, call):
    X, y = table
    model = member().fit(X, y)
    X = X.copy()
    X.loc[7, "width"] = np.nan
    where = r"Input X contains NaN\.\nThe value in row 7, feature 'width' is missing\. "
    with pytest.raises(ValueError, match=where) as info:
        CALLS[call](model, X, y)
    text = str(info.value)
    assert "HistGradientBoosting" not in text
    assert (f"{member.__name__}(missing='skip') leaves" in text) == (member in SKIPPING)
    assert ("needs whole rows. Fill missing values in first" in text) == (member in WHOLE)
    if member in SKIPPING:  # and the advice works
        CALLS[call](member(missing="skip").fit(X, y), X, y)


def test_the_row_and_column_that_count(table):
    """Not one of weight 0, and of all columns where only some are continuous."""
    X, y = table
    X = X.assign(kind=["a", "b"] * 20)[["kind", "length", "width", "height"]]
    X.loc[3, "height"] = np.nan
    X.loc[9, "width"] = np.nan
    model = MixedNB(categorical_features=["kind"])
    with pytest.raises(ValueError, match="row 3, feature 'height' is missing"):
        model.fit(X, y)
    plain = X.drop(columns="kind")
    with pytest.raises(ValueError, match="row 9, feature 'width' is missing"):
        GaussianNB().fit(plain, y, sample_weight=np.arange(40) != 3)
    X.loc[:, ["width", "height"]] = 1.0
    X.loc[5, "kind"] = None
    with pytest.raises(ValueError, match="row 5, feature 'kind' is missing"):
        model.fit(X, y)


@pytest.mark.parametrize("member", [*SKIPPING, *WHOLE])
def test_infinities_keep_scikit_learns_words(table, member):
    X, y = table
    X.iloc[2, 2] = -np.inf
    with pytest.raises(ValueError, match=r"^Input X contains infinity or a value too large for"):
        member().fit(X, y)


def test_statistics_of_full_scatter_do_not_advise_what_they_refuse(table):
    X, y = table
    X.iloc[2, 2] = np.nan
    with pytest.raises(ValueError, match=r"column 2 is not finite\. Fill missing values in, or"):
        ClassStats.from_rows(X, y, scatter="full")
    with pytest.raises(ValueError, match=r"column 2 is not finite\. missing='skip' leaves"):
        ClassStats.from_rows(X, y)


TEXT = "got text: 'x' in feature 'extra'. "
COLUMNS = {
    "text": ("x", TEXT),
    "a date": (datetime.datetime(2020, 1, 1), r"datetime.* in feature 'extra'. Convert it to num"),
    "a span": (datetime.timedelta(3), r"(?i)(timedelta|duration).* in feature 'extra'. Convert it"),
}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("case", COLUMNS)
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
@pytest.mark.parametrize("member", [*SKIPPING, *WHOLE])
def test_columns_that_hold_no_numbers(table, member, call, case, library):
    X, y = table
    value, text = COLUMNS[case]
    X = X.assign(extra=[value] * 40)
    if library != "pandas":
        X = pl.from_pandas(X)
        text = text.replace("datetime", "(?i)(datetime|timestamp)")
    if library == "pyarrow":
        X = X.to_arrow()
    if case == "text":
        text += "Name it in categorical_features" if member is MixedNB else "Convert it to numbers"
    with pytest.raises(ValueError, match=text):
        CALLS[call](member(), X, y)


@pytest.mark.parametrize(
    ("X", "text"),
    [
        (np.array([["a", 1.0], ["b", 2.0]], object), r"text: 'a' in feature 0\. Name it in categ"),
        (np.array([[1.0, "c"], [2.0, "d"]], object), r"text: 'c' in feature 1\. Name it in categ"),
        (np.array([["a", "1"], ["b", "2"]]), r"text: 'a' in feature 0\. Name it in categorical_f"),
        ([["a", 1.0], ["b", 2.0]], r"text: 'a' in feature 0\. Name it in categorical_features"),
        (np.zeros((2, 2), "M8[D]"), r"datetime64\[D\] in feature 0\. Convert it to numbers, such"),
    ],
)
def test_arrays_of_text_or_dates_that_no_parameter_names(X, text):
    with pytest.raises(ValueError, match=text):
        MixedNB().fit(X, [0, 1])


class DataFrame:
    """As pyspark's, which has no rows until it is asked for them."""

    __module__ = "pyspark.sql.dataframe"

    def toPandas(self):
        raise AssertionError("nothing is computed unasked")


@pytest.mark.parametrize("member", [*SKIPPING, *WHOLE])
def test_rows_that_are_not_in_memory(table, member):
    X, y = table
    with pytest.raises(TypeError, match=r"got a polars LazyFrame\. Call \.collect\(\) first"):
        member().fit(pl.from_pandas(X).lazy(), y)
    loads = r"in memory, got a pyspark DataFrame\. fastgnb\.spark\.fit_stats makes .*\.toPandas\(\)"
    with pytest.raises(TypeError, match=f"Expected X {loads}"):
        member().fit(DataFrame(), y)
    with pytest.raises(TypeError, match=f"Expected X {loads}"):
        member().fit(X, y).predict(DataFrame())
    with pytest.raises(TypeError, match=f"Expected y {loads}"):
        member().fit(X, DataFrame())
    with pytest.raises(TypeError, match=r"got a dict\. Make a frame of columns first"):
        member().fit({"a": [1.0, 2.0]}, y)


@pytest.mark.parametrize(
    ("classes", "text"),
    [
        ({0, 1}, r"got a set instead\. Pass a list, which list\(classes\) makes of it"),
        ({0: "a", 1: "b"}, r"got a dict instead\. Pass a list, which list\(classes\) makes"),
        ({0: 0, 1: 1}.keys(), r"got a dict_keys instead\. Pass a list, which list\(classes\)"),
        ("01", r"got the text '01' instead\. Pass a list of all labels, such as \[0, 1\]"),
        (2, r"got 2 instead\. Pass a list of all labels, such as \[0, 1\]"),
    ],
)
def test_classes_that_are_no_list(table, classes, text):
    for member in (*SKIPPING, *WHOLE):
        with pytest.raises(ValueError, match="classes should be a 1d array, " + text):
            member().partial_fit(*table, classes=classes)


def test_models_and_statistics_of_other_kinds(table, tmp_path):
    X, y = table
    model = GaussianNB().fit(X, y)
    plain = Plain().fit(X, y)
    twin = (
        r"got sklearn\.naive_bayes\.GaussianNB\. fastgnb\.GaussianNB\.from_sklearn\(model\) makes"
    )
    other = r"got fastgnb\.GaussianBayes\. Members that learn the same statistics share them"
    for value, text in [
        (plain, twin),
        (GaussianBayes().fit(X, y), other),
        (GaussianNB, r"got type\. Pass a fitted model, not its class"),
        (model.stats_, r"got fastgnb\.ClassStats\. Add statistics by model\.fit_stats\(model"),
        (make_pipeline(model), r"got sklearn\.pipeline\.Pipeline\. Pass the model that is its"),
    ]:
        with pytest.raises(TypeError, match=r"Expected a fastgnb\.GaussianNB, " + text):
            model.merge(value)
    model.merge(GaussianNB.from_sklearn(plain))  # the advice works
    with pytest.raises(TypeError, match=r"Expected a model of fastgnb's, " + twin):
        fastgnb.save(plain, tmp_path / "model")
    with pytest.raises(TypeError, match=r"Expected ClassStats, got GaussianNB\. Pass its stats_\."):
        GaussianNB().fit_stats(model)
    with pytest.raises(TypeError, match=r"Expected ClassStats, got ndarray\. ClassStats\.from_r"):
        GaussianNB().fit_stats(np.zeros((3, 2)))
    mixed = MixedStats.from_rows(X, y)
    with pytest.raises(TypeError, match=r"got MixedStats\. Those of its continuous features are"):
        GaussianNB().fit_stats(mixed)
    GaussianNB().fit_stats(mixed.gaussian)
    with pytest.raises(TypeError, match=r"Expected MixedStats, got ClassStats\. MixedStats\.from"):
        MixedNB().fit_stats(model.stats_)
