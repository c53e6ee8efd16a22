"""Arrow's dictionaries and runs stand for their values, nulls included, wherever they are given."""

from __future__ import annotations

import numpy as np
import pytest

from fastgnb import ClassStats, GaussianNB, MixedNB

pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")

X = np.arange(8.0).reshape(4, 2)


def encodings(values):
    """A column with these values behind a dictionary, or in runs."""
    plain = pa.array(values)
    coded = plain.dictionary_encode()
    runs = pa.RunEndEncodedArray.from_arrays(pa.array(range(1, len(values) + 1)), coded)
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
