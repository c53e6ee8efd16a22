"""Validation of categories: kinds, whole numbers beside nulls, "auto", bounds, and messages."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import GridSearchCV, KFold

import fastgnb
from fastgnb import MixedNB, MixedStats
from fastgnb.cli import main
from fastgnb.estimators.selection import cross_validate
from fastgnb.files.models import model_file as persist
from fastgnb.input.categorical import looks_like_key
from fastgnb.model.model import Model

BIG = 2**53
Y = np.array([0, 0, 0, 1, 1, 1])
PLAN = np.array([1, 1, 2, 2, 2, 1])
NUMBERS = [0.5, 0.25, 1.0, 3.0, 2.5, 4.0]


def frames(plan):
    """The same rows in every kind of table with column types of their own."""
    columns = {"plan": plan, "x": NUMBERS}
    yield "pandas", pd.DataFrame(columns)
    yield "pandas category", pd.DataFrame(columns).astype({"plan": "category"})
    yield "polars", pl.DataFrame(columns)
    yield "arrow", pa.table(columns)
    yield "arrow batch", pa.record_batch(columns)
    yield "arrow dictionary", pa.table({**columns, "plan": pa.array(plan).dictionary_encode()})


def tables(plan):
    """And in arrays, where columns have no names."""
    yield from frames(plan)
    rows = [[a, b] for a, b in zip(plan, NUMBERS, strict=True)]
    yield "list", rows
    yield "objects", np.array(rows, object)


KINDS = {
    "numbers": PLAN.tolist(),
    "text": [f"{v}" for v in PLAN],
}


def model_of(plan, **params):
    return MixedNB(categorical_features=["plan"], **params).fit(
        pd.DataFrame({"plan": plan, "x": NUMBERS}), Y
    )


@pytest.mark.promise("labels")
@pytest.mark.parametrize("learned", KINDS)
@pytest.mark.parametrize("asked", KINDS)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_categories_of_another_kind_are_an_error_when_asked(tmp_path, learned, asked):
    model = model_of(KINDS[learned])
    wanted = model.predict_proba(pd.DataFrame({"plan": KINDS[learned], "x": NUMBERS}))
    assert len(np.unique(wanted)) > 4
    fastgnb.save(model, tmp_path / "m")
    loaded, saved = fastgnb.load(tmp_path / "m"), persist.read(tmp_path / "m").model
    names = "text such as '1'", "numbers such as 1"
    first, second = names if learned == "text" else names[::-1]
    message = rf"Categories of feature 'plan' of types .* cannot be combined: {first} and {second}"
    for name, table in tables(KINDS[asked]):
        for ask in (
            model.predict_proba, loaded.predict_proba, lambda X: saved.score(X, table="proba").table
        ):  # fmt: skip
            given = np.array(table, object) if name == "list" else table
            if learned == asked:
                np.testing.assert_array_equal(ask(given), wanted)
                continue
            with pytest.raises(TypeError, match=message):
                ask(given)
        if learned != asked and name in dict(frames(PLAN)):
            with pytest.raises(TypeError, match=message):
                model.partial_fit(table, Y)


@pytest.mark.parametrize("learned", KINDS)
@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_files_with_categories_of_another_kind(tmp_path, capsys, learned, ending):
    other = KINDS["text" if learned == "numbers" else "numbers"]
    if ending == "csv":  # "1" is spelled as 1 is
        other = [f"p{v}" for v in PLAN]
    if ending == "csv" and learned == "text":
        return
    fastgnb.save(model_of(KINDS[learned]), tmp_path / "m")
    data = tmp_path / f"d.{ending}"
    frame = pd.DataFrame({"plan": other, "x": NUMBERS, "y": Y})
    if ending == "csv":
        frame.to_csv(data, index=False)
    else:
        {"parquet": frame.to_parquet, "arrow": frame.to_feather}[ending](data)
    for argv in (
        ["predict", tmp_path / "m", data, "--output", tmp_path / "o.csv"],
        ["evaluate", tmp_path / "m", data, "--target", "y"],
        ["update", tmp_path / "m", data, "--target", "y"],
    ):
        assert main(list(map(str, [*argv, "--quiet"]))) == 1
        line = capsys.readouterr().err
        assert f"d.{ending}" in line
        assert "'plan'" in line


@pytest.mark.parametrize("learned", KINDS)
def test_a_column_of_missing_values_has_no_kind(learned):
    model = model_of(KINDS[learned], missing="skip")
    only_x = MixedNB(missing="skip").fit(np.array(NUMBERS)[:, None], Y)
    nothing = {
        "objects": pd.DataFrame({"plan": pd.Series([None] * 6, dtype=object), "x": NUMBERS}),
        "floats": pd.DataFrame({"plan": [np.nan] * 6, "x": NUMBERS}),
        "text": pd.DataFrame({"plan": pd.Series([None] * 6, dtype="string"), "x": NUMBERS}),
        "Int64": pd.DataFrame({"plan": pd.array([None] * 6, "Int64"), "x": NUMBERS}),
        "category": pd.DataFrame(
            {"plan": pd.Categorical([None] * 6, categories=["u", "v"]), "x": NUMBERS}
        ),
        "polars": pl.DataFrame({"plan": [None] * 6, "x": NUMBERS}),
        "polars text": pl.DataFrame({"plan": [None] * 6, "x": NUMBERS}, schema_overrides={
            "plan": pl.String}),
        "arrow": pa.table({"plan": pa.nulls(6), "x": NUMBERS}),
        "arrow text": pa.table({"plan": pa.nulls(6, pa.string()), "x": NUMBERS}),
    }  # fmt: skip
    for table in nothing.values():
        np.testing.assert_array_equal(
            model.predict_proba(table), only_x.predict_proba(np.array(NUMBERS)[:, None])
        )
        more = model_of(KINDS[learned], missing="skip").partial_fit(table, Y)
        assert more.categories_[0].tolist() == model.categories_[0].tolist()
        empty = MixedNB(categorical_features=["plan"], missing="skip").fit(table, Y)
        assert empty.categories_[0].shape == (0,)
        assert empty.partial_fit(
            pd.DataFrame({"plan": KINDS[learned], "x": NUMBERS}), Y
        ).categories_[0].tolist() == model.categories_[0].tolist()  # fmt: skip


@pytest.mark.promise("labels")
def test_numbers_of_any_type_are_one_kind():
    """1, 1.0 and True are one category; text is never one of them."""
    model = model_of(KINDS["numbers"])
    wanted = model.predict_proba(pd.DataFrame({"plan": PLAN, "x": NUMBERS}))
    for dtype in ("i1", "u8", "f4", object, "Int8", "uint64[pyarrow]", "category"):
        table = pd.DataFrame({"plan": pd.Series(PLAN).astype(dtype), "x": NUMBERS})
        np.testing.assert_array_equal(model.predict_proba(table), wanted)
    truth = model_of((PLAN == 1).tolist())
    wanted = truth.predict_proba(pd.DataFrame({"plan": PLAN == 1, "x": NUMBERS}))
    for _, table in frames((PLAN == 1).astype(int).tolist()):
        np.testing.assert_array_equal(truth.predict_proba(table), wanted)
    with pytest.raises(TypeError, match="numbers such as False and text such as 'False'"):
        truth.predict(pd.DataFrame({"plan": ["True", "False"] * 3, "x": NUMBERS}))


def test_edited_categories_in_any_order_are_obeyed_when_scoring():
    """`table_indices` looks labels up whatever the order of those known."""
    from fastgnb.input.categorical import table_indices
    from fastgnb.input.category_codes import CategoricalColumn

    column = CategoricalColumn(np.array(["a", "b", "c"], object), np.array([0, 1, 2, -1], np.int32))
    known = [np.array(["c", "a"], object)]
    assert table_indices([column], known, ["0"]).tolist() == [[1, 2, 0, 3]]


# --- whole numbers beside nulls ------------------------------------------------------------------


def wide(u, v):
    values = [u, v, u, v, None, None]
    masked = np.ma.array([[u], [v], [u], [v], [0], [0]], mask=[[0]] * 4 + [[1]] * 2)
    return {
        "pandas Int64": pd.DataFrame({"id": pd.array(values, "Int64")}),
        "pandas UInt64": pd.DataFrame({"id": pd.array(values, "UInt64")}),
        "pandas arrow": pd.DataFrame({"id": pd.array(values, "int64[pyarrow]")}),
        "pandas unsigned arrow": pd.DataFrame({"id": pd.array(values, "uint64[pyarrow]")}),
        "pandas objects": pd.DataFrame({"id": pd.Series(values, dtype=object)}),
        "pandas category": pd.DataFrame({"id": pd.Categorical(values, categories=[v, u])}),
        "polars": pl.DataFrame({"id": pl.Series(values, dtype=pl.Int64)}),
        "polars unsigned": pl.DataFrame({"id": pl.Series(values, dtype=pl.UInt64)}),
        "arrow": pa.table({"id": pa.array(values)}),
        "arrow unsigned": pa.table({"id": pa.array(values, pa.uint64())}),
        "arrow batch": pa.record_batch({"id": pa.array(values)}),
        "arrow chunks": pa.table({"id": pa.chunked_array([values[:3], values[3:]])}),
        "arrow dictionary": pa.table({"id": pa.array(values).dictionary_encode()}),
        "list": [[each] for each in values],
        "objects": np.array(values, object)[:, None],
        "objects and floats": np.array([u, v, u, v, np.nan, None], object)[:, None],
        "masked": masked,
        "masked unsigned": masked.astype(np.uint64),
    }


@pytest.mark.parametrize("name", wide(0, 1))
@pytest.mark.parametrize(
    "ids", [(BIG, BIG + 1), (6844033375485878447, 6844033375485878550), (2**63 - 2, 2**63 - 1)]
)
def test_wide_whole_numbers_beside_nulls_stay_what_they_are(name, ids):
    table = wide(*ids)[name]
    y = [0, 1] * 3
    model = MixedNB(categorical_features=[0], missing="skip").fit(table, y)
    assert model.categories_[0].tolist() == list(ids)
    assert model.category_count_[0].tolist() == [[2, 0], [0, 2]]
    assert model.predict(table).tolist() == [0, 1, 0, 1, 0, 0]
    stats = MixedStats.from_rows(table, y, categorical_features=[0], missing="skip")
    assert stats.categories[0].tolist() == list(ids)
    assert model.partial_fit(table, y).category_count_[0].tolist() == [[4, 0], [0, 4]]
    with pytest.raises(ValueError, match="Input X contains NaN"):
        MixedNB(categorical_features=[0]).fit(table, y)


def test_a_float_that_may_be_a_rounded_identifier_is_refused():
    """2^53 + 1 became 2^53 before it came here."""
    for value in (2.0**53, -(2.0**53), 2.0**60):
        rows = np.array([[value], [np.nan]])
        with pytest.raises(ValueError, match=r"Feature 0: got .* or make text of it"):
            MixedNB(categorical_features=[0], missing="skip").fit(rows, [0, 1])
    rows = np.array([[2.0**53 - 1], [np.nan]])
    model = MixedNB(categorical_features=[0], missing="skip").fit(rows, [0, 1])
    assert model.categories_[0].tolist() == [2**53 - 1]


# --- "auto" --------------------------------------------------------------------------------------


def test_auto_sees_the_types_of_every_frame():
    truth = [True, False] * 3
    text = ["u", "v", "w"] * 2
    frames = {
        "pandas": pd.DataFrame({"x": NUMBERS, "b": truth, "t": text}),
        "pandas arrow": pd.DataFrame(
            {"x": NUMBERS, "b": pd.array(truth, "bool[pyarrow]"), "t": pd.array(
                text, pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())))}
        ),
        "polars": pl.DataFrame({"x": NUMBERS, "b": truth, "t": text}),
        "arrow": pa.table({"x": NUMBERS, "b": truth, "t": text}),
        "arrow batch": pa.record_batch({"x": NUMBERS, "b": truth, "t": text}),
        "arrow large": pa.table({"x": NUMBERS, "b": truth, "t": pa.array(text, pa.large_string())}),
        "arrow codes": pa.table(
            {"x": NUMBERS, "b": truth, "t": pa.array(text).dictionary_encode()}
        ),
    }  # fmt: skip
    with contextlib.suppress(pa.ArrowNotImplementedError):  # earlier versions read no views
        view = pa.array(text, pa.string_view())
        assert view.cast(pa.string()).to_pylist() == text
        frames["arrow view"] = pa.table({"x": NUMBERS, "b": truth, "t": view})
    wanted = MixedNB(categorical_features=["b", "t"]).fit(frames["pandas"], Y)
    for table in frames.values():
        model = MixedNB(categorical_features="auto").fit(table, Y)
        assert model.feature_names_in_.tolist() == ["x", "b", "t"]
        assert model.is_categorical_.tolist() == [False, True, True]
        np.testing.assert_array_equal(
            model.predict_proba(table), wanted.predict_proba(frames["pandas"])
        )
        stats = MixedStats.from_rows(table, Y, categorical_features="auto")
        assert stats.is_categorical.tolist() == [False, True, True]
    numbers = pa.table({"k": pa.array([1, 2, None] * 2).dictionary_encode(), "x": NUMBERS})
    auto = MixedNB(categorical_features="auto", missing="skip").fit(numbers, Y)
    assert auto.categories_[0].tolist() == [1, 2]


@pytest.mark.parametrize("dtype", ["string", "str", "string[pyarrow]", "category", "boolean"])
def test_auto_takes_a_typed_column_without_a_value(dtype):
    table = pd.DataFrame({"x": NUMBERS, "t": pd.Series([None] * 6, dtype=dtype)})
    if table.dtypes["t"].kind == "O" and isinstance(table.dtypes["t"], np.dtype):
        pytest.skip("pandas before 3 has no type of text by the name of str")
    model = MixedNB(categorical_features="auto", missing="skip").fit(table, Y)
    assert model.is_categorical_.tolist() == [False, True]


def test_auto_is_decided_once_for_all_folds(rng):
    """Text in some folds only, and none in what is tested."""
    n = 100
    note = np.full(n, None, object)
    note[[3, 28, 29, 50, 51]] = ["late", "early", "late", "early", "late"]
    y = np.tile([0, 1], n // 2)
    X = pd.DataFrame({"x": rng.normal(size=n) + y, "note": pd.Series(note, dtype=object)})
    model = MixedNB(categorical_features="auto", missing="skip")
    for cv in (KFold(5), KFold(2), KFold(10)):
        ours = cross_validate(model, X, y, cv=cv)["test_score"]
        grid = GridSearchCV(model, {}, cv=cv, error_score="raise").fit(X, y).cv_results_
        theirs = [grid[f"split{i}_test_score"][0] for i in range(cv.get_n_splits())]
        np.testing.assert_array_equal(ours, theirs)


def test_auto_is_decided_by_the_first_batch(rng):
    first = pd.DataFrame({"x": [1.0, 2.0], "t": ["u", "v"]})
    model = MixedNB(categorical_features="auto", missing="skip").partial_fit(first, [0, 1], [0, 1])
    later = pd.DataFrame({"x": [1.0, 2.0], "t": pd.Series([None, None], dtype=object)})
    model.partial_fit(later, [0, 1])
    assert model.is_categorical_.tolist() == [False, True]
    assert model.category_count_[0].sum() == 2


def test_a_part_without_values_says_nothing_of_kinds(rng):
    """Statistics by "auto" of parts, in any order, are those of all rows."""
    n = 60
    note = np.full(n, None, object)
    note[[3, 28, 50]] = ["late", "early", "late"]
    y = np.arange(n) % 2
    for x in ({"x": rng.normal(size=n)}, {}):
        X = pd.DataFrame({**x, "note": pd.Series(note, dtype=object), "z": rng.normal(size=n)})
        X = X if x else X[["note"]]
        whole = MixedStats.from_rows(X, y, categorical_features="auto", missing="skip")
        parts = [
            MixedStats.from_rows(
                X[a : a + 20],
                y[a : a + 20], categorical_features="auto", missing="skip",
            )
            for a in (0, 20, 40)
        ]  # fmt: skip
        empty = MixedStats.from_rows(X[4:24], y[4:24], categorical_features="auto", missing="skip")
        assert not empty.is_categorical.any()
        for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
            both = empty
            for i in order:
                both = both + parts[i]
            left = both - empty
            for found in (left, parts[order[0]] + parts[order[1]] + parts[order[2]]):
                assert found.is_categorical.tolist() == whole.is_categorical.tolist()
                assert found.categories[0].tolist() == ["early", "late"]
                np.testing.assert_array_equal(found.counts[0], whole.counts[0])
                np.testing.assert_allclose(found.gaussian.mean, whole.gaussian.mean, rtol=1e-9)
                assert found.gaussian.feature_names == whole.gaussian.feature_names
    model = MixedNB(categorical_features="auto", missing="skip").fit_stats(empty)
    other = MixedNB(categorical_features="auto", missing="skip").fit_stats(parts[0])
    assert model.merge(other).categories_[0].tolist() == ["late"]


def test_values_of_two_kinds_do_not_combine():
    text = pd.DataFrame({"x": [1.0, 2.0], "t": ["u", "v"]})
    numbers = pd.DataFrame({"x": [1.0, 2.0], "t": [np.nan, 2.0]})
    a, b = (
        MixedStats.from_rows(X, [0, 1], categorical_features="auto", missing="skip")
        for X in (text, numbers)
    )
    message = r"features \[1\] cannot be combined with \[\]\. Give .* by name"
    with pytest.raises(ValueError, match=message):
        a + b


# --- what is no table of numbers and categories --------------------------------------------------


def odd_tables():
    when = [datetime.date(2020, 1, 1)] * 6
    x = {"x": NUMBERS}
    text = "got text: 'late' in feature 'odd'. Name it in categorical_features"
    yield pd.DataFrame({**x, "odd": ["late", "early"] * 3}), text
    yield pd.DataFrame({**x, "odd": pd.Categorical(["late"] * 6)}), text
    yield pd.DataFrame({**x, "odd": pd.array(["late"] * 6, "string")}), text
    yield pl.DataFrame({**x, "odd": ["late", "early"] * 3}), text
    yield pa.table({**x, "odd": ["late", "early"] * 3}), text
    yield pa.table({**x, "odd": pa.array(["late"] * 6).dictionary_encode()}), text
    yield pd.DataFrame({**x, "odd": pd.to_datetime(when)}), "got datetime64.* in feature 'odd'. Con"
    yield pd.DataFrame({**x, "odd": pd.to_timedelta(range(6), "D")}), "got timedelta64.* 'odd'. Con"
    yield pl.DataFrame({**x, "odd": when}), "got Date in feature 'odd'. Convert it to numbers, such"
    yield pa.table({**x, "odd": when}), r"got date32\[day\] in feature 'odd'. Convert it"
    yield pd.DataFrame({**x, "odd": pd.period_range("2020", periods=6)}), "Feature 'odd' is not in"
    yield pd.DataFrame({**x, "odd": [[1]] * 6}), "Feature 'odd' is not in categorical_features and"
    yield pl.DataFrame({**x, "odd": [[1]] * 6}), "Feature 'odd' is not in categorical_features and"


@pytest.mark.parametrize(("table", "message"), list(odd_tables()))
def test_a_column_that_holds_no_numbers_is_named(table, message):
    """With no categorical feature, and beside one."""
    with pytest.raises(ValueError, match=message):
        MixedNB().fit(table, Y)
    with pytest.raises(ValueError, match=message):
        MixedStats.from_rows(table, Y)
    whole = {"x": [1, 2, 3] * 2}
    if isinstance(table, pd.DataFrame):
        table = table.assign(**whole)
    elif isinstance(table, pl.DataFrame):
        table = table.with_columns(pl.Series("x", whole["x"]))
    else:
        table = table.set_column(0, "x", pa.array(whole["x"]))
    with pytest.raises(ValueError, match=message):
        MixedNB(categorical_features=["x"]).fit(table, Y)
    with pytest.raises(ValueError, match=message):
        MixedStats.from_rows(table, Y, categorical_features=["x"])


def test_text_among_objects_is_named_by_its_position():
    rows = np.array([[1, 2.0, "late"], [2, 3.0, 4.0]], object)
    with pytest.raises(
        ValueError, match=r"got text: 'late' in feature 2\. Name it in categorical_"
    ):
        MixedNB(categorical_features=[0]).fit(rows, [0, 1])
    with pytest.raises(ValueError, match="got dtype <U3 in feature 0"):
        MixedNB(categorical_features=[1]).fit(np.array([["1.5", "u"], ["2.5", "v"]]), [0, 1])


def test_rows_that_are_not_in_memory():
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"plan": KINDS["text"], "x": NUMBERS})
    for table, message in (
        (dd.from_pandas(frame, npartitions=2), r"a dask DataFrame\. fastgnb\.dask\.Distributed"),
        (pl.DataFrame(frame).lazy(), r"got a polars LazyFrame\. Call .collect\(\) first"),
        (dict(frame), r"or a frame, got a dict\. Make a frame of columns first"),
    ):
        for wanted in (["plan"], "auto", None):
            with pytest.raises(TypeError, match=message):
                MixedNB(categorical_features=wanted).fit(table, Y)
            with pytest.raises(TypeError, match=message):
                MixedStats.from_rows(table, Y, categorical_features=wanted)
        with pytest.raises(TypeError, match=message):
            model_of(KINDS["text"]).predict(table)


def test_decimals_are_numbers_but_no_categories():
    table = pl.DataFrame({"d": [decimal.Decimal(1), decimal.Decimal(2)] * 3})
    assert not MixedNB(categorical_features="auto").fit(table, Y).is_categorical_.any()
    with pytest.raises(TypeError, match="Feature 'd': argument must be a string or a real number"):
        MixedNB(categorical_features=["d"]).fit(table, Y)


# --- many categories -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["numbers", "text"])
def test_more_categories_than_allowed(kind):
    ids = np.arange(300)
    column = ids if kind == "numbers" else np.array([f"id{v}" for v in ids], object)
    X = pd.DataFrame({"id": column})
    y = ids % 2
    message = "Feature 'id' has 300 categories so far, more than max_categories=299. Leave it out"
    for params in ({"max_categories": 300}, {"max_categories": None}, {}):
        model = MixedNB(categorical_features=["id"], **params).fit(X, y)
        assert len(model.categories_[0]) == 300
        with pytest.raises(ValueError, match=message):
            model.reestimate(max_categories=299)
    small = MixedNB(categorical_features=["id"], max_categories=299)
    with pytest.raises(ValueError, match=message):
        small.fit(X, y)
    small.partial_fit(X[:200], y[:200], [0, 1])
    before = small.predict_proba(X)
    with pytest.raises(ValueError, match=message):
        small.partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(small.predict_proba(X), before)
    with pytest.raises(ValueError, match=r"Feature 0 has 51000 categories.*max_categories=50000"):
        MixedNB(categorical_features=[0]).fit(np.arange(51_000)[:, None], np.zeros(51_000))


@pytest.mark.parametrize("value", [0, -1, 2.5, "many", True])
def test_wrong_bounds(value):
    with pytest.raises(ValueError, match=r"max_categories.* must be"):
        MixedNB(max_categories=value).fit([[0.0]], [0])
    with pytest.raises(ValueError, match="max_categories must be None or a whole number from 1 up"):
        Model.of(
            "MixedNB",
            MixedStats.from_rows([[0]], [0], categorical_features=[0]),
            max_categories=value,
        )


def test_counts_beyond_memory_are_an_error_at_once(monkeypatch):
    monkeypatch.setattr("fastgnb.stats.checks.MOST_BYTES", 8 * 2 * 99)
    parts = [
        MixedStats.from_rows(
            np.arange(a, a + 50)[:, None], np.arange(50) % 2, categorical_features=[0]
        )
        for a in (0, 50)
    ]
    message = "Counts of 100 categories of feature 0 in 2 classes take 1600 bytes.* limit of 1584"
    with pytest.raises(ValueError, match=message):
        parts[0] + parts[1]
    with pytest.raises(ValueError, match=message):
        MixedStats.from_rows(np.arange(100)[:, None], np.arange(100) % 2, categorical_features=[0])


def test_the_bound_is_saved_and_kept_by_an_update(tmp_path, capsys):
    ids = np.arange(30)
    frame = pd.DataFrame({"id": ids, "y": ids % 2})
    frame[:20].to_parquet(tmp_path / "a.parquet")
    frame.to_parquet(tmp_path / "b.parquet")
    fit = ["fit", "--target", "y", "--categorical", "id", "--model", str(tmp_path / "m"), "--quiet"]
    assert main([*fit, str(tmp_path / "a.parquet"), "--max-categories", "20"]) == 0
    assert fastgnb.load(tmp_path / "m").max_categories == 20
    bits = (tmp_path / "m").read_bytes()
    assert main(["update", str(tmp_path / "m"), str(tmp_path / "b.parquet"), "--quiet"]) == 1
    assert "Feature 'id' has 30 categories so far, more than max_cat" in capsys.readouterr().err
    assert (tmp_path / "m").read_bytes() == bits
    small = [*fit, str(tmp_path / "b.parquet"), "--max-categories", "20", "--batch-rows", "8"]
    assert main(small) == 1
    assert re.search(r"Feature 'id' has (24|30) categories so far", capsys.readouterr().err)
    assert main([*fit, str(tmp_path / "a.parquet"), "--model-type", "MixedNB"]) == 0
    assert fastgnb.load(tmp_path / "m").max_categories == 50_000


def test_what_looks_like_a_key():
    """More than half of the values distinct, and not only a few."""
    assert looks_like_key(100, 100)
    assert looks_like_key(101, 201)
    assert not looks_like_key(99, 99)
    assert not looks_like_key(100, 200)
    assert not looks_like_key(0, 0)


class Counted(str):
    """Text that counts how often it is compared."""

    __slots__ = ()
    times = 0
    __hash__ = str.__hash__

    def __lt__(self, other):
        Counted.times += 1
        return str.__lt__(self, other)

    def __eq__(self, other):
        Counted.times += 1
        return str.__eq__(self, other)

    def __ne__(self, other):
        Counted.times += 1
        return str.__ne__(self, other)


def comparisons(n):
    """Of text, while statistics of n distinct categories are added up in batches of 50."""
    column = np.array([Counted(f"id{v}") for v in np.random.default_rng(0).permutation(n)], object)
    Counted.times = 0
    total = 0
    for a in range(0, n, 50):
        rows = column[a : a + 50, None]
        total = total + MixedStats.from_rows(rows, np.arange(50) % 2, categorical_features=[0])
    assert len(total.categories[0]) == n
    assert total.counts[0].sum(axis=1).tolist() == [n / 2, n / 2]
    assert [str(v) for v in total.categories[0]] == sorted(f"id{v}" for v in range(n))
    return Counted.times


def test_merging_compares_what_comes_and_not_what_is_there():
    """Work in Python grows with n log n, not with n times the number of batches."""
    assert comparisons(4000) < 3 * comparisons(2000)
