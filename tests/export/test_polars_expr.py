"""`polars_expr`: a model in queries of Polars."""

from __future__ import annotations

import cloudpickle
import numpy as np
import polars as pl
import pytest
from members import CASES, with_categories
from sklearn.exceptions import NotFittedError

from fastgnb import GaussianNB, MixedNB

N, D = 3000, 4


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, N)
    X = with_categories(rng.normal(size=(N, D)) + y[:, None])
    return X, np.array(["a", "b", "c"])[y]


def frame_of(X):
    return pl.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])})


def streamed(query):
    """The result of a streaming query, which old versions of Polars ask for by another name."""
    try:
        return query.collect(engine="streaming")
    except (TypeError, ValueError):  # pragma: no cover
        return query.collect(streaming=True)


WAYS = {
    "eager": lambda frame, expr: frame.select(expr),
    "lazy": lambda frame, expr: frame.lazy().select(expr).collect(),
    "streaming": lambda frame, expr: streamed(frame.lazy().select(expr)),
}

Refused = (ValueError, pl.exceptions.ComputeError)  # by old versions of Polars


@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("name", list(CASES))
def test_answers_are_those_of_the_estimator(data, name, way):
    X, y = data
    model = CASES[name].make().fit(X, y)
    result = WAYS[way](frame_of(X), model.polars_expr(proba=True, evidence=True)).unnest(
        "prediction"
    )
    assert result.columns == ["prediction", "proba_a", "proba_b", "proba_c", "log_evidence"]
    assert result["prediction"].to_list() == model.predict(X).tolist()
    np.testing.assert_array_equal(result[:, 1:4].to_numpy(), model.predict_proba(X))
    np.testing.assert_array_equal(result["log_evidence"].to_numpy(), model.predict_log_evidence(X))
    labels = WAYS[way](frame_of(X), model.polars_expr())
    assert labels.columns == ["prediction"]
    assert labels["prediction"].to_list() == model.predict(X).tolist()


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ([3, -1], pl.Int64), ([True, False], pl.Boolean), (["x", "y"], pl.String),
        ([1.0, 2.0], pl.Float64), (np.array([1, 2], np.uint8), pl.Int64),
        (np.array([1, 2**64 - 1], np.uint64), pl.UInt64),
    ],
)  # fmt: skip
def test_labels_of_every_kind(labels, kind):
    model = GaussianNB().fit([[0.0], [5.0]], labels)
    frame = pl.DataFrame({"x0": [0.1, 4.9]})
    query = frame.lazy().select(model.polars_expr())
    assert query.collect_schema() == {"prediction": kind}
    result = query.collect()
    assert result.schema == {"prediction": kind}
    assert result["prediction"].to_list() == list(np.asarray(labels).tolist())


def test_columns_by_name_by_feature_and_as_expressions(data):
    X, y = data
    model = GaussianNB().fit(frame_of(X).to_pandas(), y)
    frame = frame_of(X)
    expected = frame.select(model.polars_expr())
    renamed = frame.rename({"x1": "B", "x3": "D"})
    assert renamed.select(model.polars_expr(["x0", "B", "x2", "D"])).equals(expected)
    assert renamed.select(model.polars_expr({"x1": "B", "x3": "D"})).equals(expected)
    halves = frame.with_columns(pl.all() / 2)
    doubled = {name: pl.col(name) * 2 for name in frame.columns}
    assert halves.select(model.polars_expr(doubled)).equals(expected)
    for columns in (["x0"], "x0", ["x0"] * 5):
        with pytest.raises(ValueError, match="Expected columns for 4 features, got"):
            model.polars_expr(columns)
    with pytest.raises(ValueError, match="columns has 'z', which is no feature"):
        model.polars_expr({"z": "x0"})


def test_a_query_goes_on_with_the_answers(data):
    X, y = data
    model = GaussianNB().fit(X, y)
    frame = frame_of(X).with_columns(y=pl.Series(y))
    query = (
        frame.lazy().with_columns(model.polars_expr()).filter(pl.col("x0") > 0)
        .group_by("prediction").agg(pl.len(), hits=(pl.col("prediction") == pl.col("y")).sum())
        .sort("prediction")
    )  # fmt: skip
    chosen = X[:, 0] > 0
    predicted = model.predict(X)[chosen]
    classes, counts = np.unique(predicted, return_counts=True)
    for result in (query.collect(), streamed(query)):
        assert result["prediction"].to_list() == classes.tolist()
        assert result["len"].to_list() == counts.tolist()
        assert result["hits"].sum() == (predicted == y[chosen]).sum()


def test_a_streaming_query_scores_in_batches(data, monkeypatch):
    import fastgnb.export.polars_expr as module

    sizes, score = [], module._score
    monkeypatch.setattr(
        module, "_score", lambda *given: sizes.append(len(given[-1])) or score(*given)
    )
    X, y = data
    model = GaussianNB().fit(X, y)
    frame = pl.concat([frame_of(X)] * 200)
    result = streamed(frame.lazy().select(model.polars_expr()))
    assert sum(sizes) == len(frame)
    assert max(sizes) < len(frame)
    assert result["prediction"].to_list() == np.tile(model.predict(X), 200).tolist()


TYPES = [pl.Int8, pl.UInt64, pl.Float32, pl.Boolean, pl.Decimal(9, 3)]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_numbers_of_every_type(kind):
    model = GaussianNB().fit([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]], [0, 1, 2])
    column = pl.Series([0, 1, 0, 1, 1]).cast(kind)
    result = pl.DataFrame({"x0": column, "x1": column}).select(model.polars_expr())
    assert (
        result["prediction"].to_list() == model.predict([[v, v] for v in [0, 1, 0, 1, 1]]).tolist()
    )


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(["u", "v", "new"])], ids=str)
def test_categories(kind):
    colors = ["u", "v", "v", "u"] * 5
    train = pl.DataFrame({"c": colors, "z": np.arange(20.0)})
    model = MixedNB(categorical_features=["c"]).fit(train, np.arange(20) % 3)
    test = pl.DataFrame({"c": pl.Series(["u", "new", "v"]).cast(kind), "z": [1.0, 2.0, 3.0]})
    result = streamed(test.lazy().select(model.polars_expr()))
    assert result["prediction"].to_list() == model.predict(test).tolist()


def test_without_rows(data):
    X, y = data
    model = GaussianNB().fit(X, y)
    for way in WAYS:
        result = WAYS[way](frame_of(X[:0]), model.polars_expr(proba=True))
        assert result.unnest("prediction").shape == (0, 4)


def test_nulls_are_missing_values(data):
    X, y = data
    frame = frame_of(X).with_columns(x1=pl.Series([None, *X[1:, 1]]))
    model = GaussianNB(missing="skip").fit(X, y)
    expected = model.predict(np.where(np.arange(N)[:, None] + [1, 0, 1, 1] == 0, np.nan, X))
    assert frame.select(model.polars_expr())["prediction"].to_list() == expected.tolist()
    strict = GaussianNB().fit(X, y)
    with pytest.raises(Refused, match="Column 'x1': the value in row 0 of a batch is missing"):
        frame.select(strict.polars_expr())
    infinite = frame_of(X).with_columns(x2=pl.Series([*X[:-1, 2], np.inf]))
    with pytest.raises(Refused, match=r"Column 'x2': the value in row .* of a batch is infinite"):
        infinite.lazy().select(strict.polars_expr()).collect()


def test_text_is_no_number(data):
    X, y = data
    frame = frame_of(X).with_columns(x1=pl.lit("1"))
    with pytest.raises(Refused, match="Expected numeric rows, got String in feature 'x1'"):
        frame.select(GaussianNB().fit(X, y).polars_expr())


def test_a_model_that_is_not_fitted():
    with pytest.raises(NotFittedError):
        GaussianNB().polars_expr()


def test_an_expression_is_pickled_by_value(data):
    X, y = data
    query = frame_of(X).lazy().select(GaussianNB().fit(X, y).polars_expr())
    again = cloudpickle.loads(cloudpickle.dumps(query))
    assert again.collect().equals(query.collect())
