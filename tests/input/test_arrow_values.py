"""Arrow's dictionaries and runs stand for their values, nulls included, wherever they are given."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils import _safe_indexing

from fastgnb import ClassStats, GaussianNB, MixedNB
from fastgnb.estimators.selection import StatsGridSearchCV, cross_validate

pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")

X = np.arange(8.0).reshape(4, 2)


def encodings(values):
    """A column with these values behind a dictionary, or in runs."""
    plain = pa.array(values)
    coded = plain.dictionary_encode()
    runs = pa.RunEndEncodedArray.from_arrays(list(range(1, len(values) + 1)), coded)
    return {
        "dictionary": coded,
        "chunks": pa.chunked_array([coded.slice(0, 1), coded.slice(1)]),
        "null in the dictionary": pa.DictionaryArray.from_arrays(range(len(values)), plain),
        "runs": pc.run_end_encode(plain),
        "runs in chunks": pa.chunked_array([pc.run_end_encode(plain)]),
        "dictionary in runs": runs,
        "slice of runs": pa.chunked_array([runs.slice(0, 2), runs.slice(2)]),
    }


NAMES = list(encodings([1, 2]))


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("name", NAMES)
def test_a_null_label_is_missing(name):
    for values in ([5, 6, None, 7], ["a", "b", None, "c"]):
        y = encodings(values)[name]
        for labels in (y, pa.table({"y": y})):
            with pytest.raises(ValueError, match="Input y contains NaN"):
                GaussianNB().fit(X, labels)
    with pytest.raises(ValueError, match="Input sample_weight contains NaN"):
        GaussianNB().fit(X, [0, 1, 0, 1], sample_weight=encodings([1, 2, None, 1])[name])


@pytest.mark.parametrize("name", NAMES)
def test_a_null_feature_is_missing(name):
    table = pa.table({"x": encodings([5, 6, None, 7])[name], "z": X[:, 0]})
    y = [0, 1, 0, 1]
    for model in (GaussianNB(missing="skip"), MixedNB(missing="skip")):
        np.testing.assert_array_equal(model.fit(table, y).theta_, [[5, 2], [6.5, 4]])
    with pytest.raises(ValueError, match="Input X contains NaN"):
        GaussianNB().fit(table, y)
    stats = ClassStats.from_rows(table, y, missing="skip")
    np.testing.assert_array_equal(stats.mean, [[5, 2], [6.5, 4]])
    plain = pa.table({"x": pa.array([5, 6, None, 7]), "z": X[:, 0]})
    fitted = GaussianNB(missing="skip").fit(plain, y)
    np.testing.assert_array_equal(fitted.predict_proba(table), fitted.predict_proba(plain))


@pytest.mark.parametrize("name", NAMES)
def test_a_null_category_is_missing(name):
    table = pa.table({"x": encodings([2**53, 2**53 + 1, None, 7])[name]})
    model = MixedNB(categorical_features=["x"], missing="skip").fit(table, [0, 1, 0, 1])
    assert model.categories_[0].tolist() == [7, 2**53, 2**53 + 1]
    counts = np.exp(model.feature_log_prob_[0])
    np.testing.assert_allclose(counts, [[1 / 4, 2 / 4, 1 / 4], [2 / 5, 1 / 5, 2 / 5]], rtol=1e-12)


def tables():
    """Tables of one content that pyarrow itself cannot select rows of."""
    draw = np.random.default_rng(3)
    text = pa.array(np.array(["p", "q", "r"], object)[draw.integers(0, 3, 90)])
    rows = {"x": draw.normal(size=90), "t": text, "b": pa.array(np.arange(90) % 4 == 0)}
    yield pa.table(rows)
    yield pa.record_batch(rows)
    yield pa.table(rows | {"t": text.cast(pa.string_view())})
    yield pa.table({name: pc.run_end_encode(column) for name, column in rows.items()})


def test_auto_and_folds_see_every_table():
    try:
        _safe_indexing(pa.table({"x": [1.0]}), np.array([0]))
    except TypeError:
        pytest.skip("this version of scikit-learn takes no rows of pyarrow's tables")
    y = np.arange(90) % 2
    model = MixedNB(categorical_features="auto")
    expected = None
    for table in tables():
        assert model.fit(table, y).is_categorical_.tolist() == [False, True, True]
        scores = cross_validate(model, table, y, cv=3, scoring="neg_log_loss")["test_score"]
        search = StatsGridSearchCV(model, {"alpha": [1.0, 2.0]}, cv=3).fit(table, y)
        found = (*scores, *search.cv_results_["mean_test_score"])
        expected = expected or found
        assert found == expected
        with pytest.raises(ValueError, match=r"got text: '[pqr]' in feature 't'"):
            MixedNB().fit(table, y)
    scores = cross_validate(model, table, pc.run_end_encode(pa.array(y)), cv=3)["test_score"]
    assert not np.isnan(scores).any()
