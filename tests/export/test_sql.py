"""Scoring as SQL gives what the library gives, in each database."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from members import CASES, SHAPES, with_categories
from numpy.testing import assert_allclose

from fastgnb import GaussianBayes, GaussianNB, MixedNB, PCAGaussianNB
from fastgnb.export.sql_dialects import DIALECTS

TEXT = np.array(["blue", "it's", 'a "b"', "null", "select"], object)


def columns_of(X):
    """Columns x0, x1, ... of rows."""
    return {f"x{j}": X[:, j] for j in range(X.shape[1])}


def load(database, X, **more):
    database.table("rows", {"id": np.arange(len(X)), **columns_of(X), **more})


def labels_of(database, model, table="rows", **options):
    """Predictions by the expression, and by the SELECT, which must agree."""
    expression = model.to_sql(database.dialect, **options)
    found = database.run(f"SELECT id, {expression} FROM {database.name(table)} ORDER BY id")
    query = model.to_sql(database.dialect, table=table, keep=["id"], **options)
    assert sorted(database.run(query)) == found
    return [label for _, label in found]


def answers_of(database, model):
    """Labels, joint log likelihoods, probabilities and log evidence by a SELECT."""
    query = model.to_sql(
        database.dialect, table="rows", keep=["id"], joint=True, proba=True, evidence=True
    )
    rows = sorted(database.run(query))
    k = len(model.classes_)
    labels = [row[1] for row in rows]
    numbers = np.array([row[2:] for row in rows], np.float64)
    return labels, numbers[:, :k], numbers[:, k : 2 * k], numbers[:, -1]


def assert_same_answers(database, model, X):
    labels, joint, proba, evidence = answers_of(database, model)
    assert labels == model.predict(X).tolist()
    assert_allclose(joint, model.predict_joint_log_proba(X), rtol=1e-12, atol=1e-12)
    assert_allclose(proba, model.predict_proba(X), rtol=1e-10, atol=1e-12)
    assert_allclose(evidence, model.predict_log_evidence(X), rtol=1e-12, atol=1e-12)


def rows_with_labels(n, d=4, k=3, seed=3):
    draw = np.random.default_rng(seed)
    y = draw.integers(0, k, n)
    centres = draw.normal(size=(k, d))
    return with_categories(draw.normal(size=(n, d)) + centres[y]), y


@pytest.mark.promise("exports")
@pytest.mark.parametrize("name", CASES)
def test_every_member_in_every_database(database, name):
    X, y = rows_with_labels(1500)
    model = CASES[name].make().fit(X, y)
    if CASES[name].options.get("missing") == "skip":
        X[::7, 0] = np.nan
        X[::5, 2] = np.nan
    load(database, X)
    assert labels_of(database, model) == model.predict(X).tolist()
    assert_same_answers(database, model, X)


@pytest.mark.promise("exports")
@pytest.mark.engine
def test_labels_of_100_000_rows(database):
    """In one table, and so that every tenth row is close to the border between two classes."""
    X, y = rows_with_labels(100_000, d=6, k=4, seed=8)
    X = X.round(3)
    load(database, X)
    for name, case in SHAPES.items():
        model = case.make().fit(X[:5000], y[:5000])
        query = model.to_sql(database.dialect, table="rows", keep=["id"])
        found = np.array(sorted(database.run(query)))
        assert np.array_equal(found[:, 1], model.predict(X)), name


@pytest.mark.promise("exports")
def test_numbers_keep_every_bit(database, rng):
    bits = rng.integers(0, 2**63, 400).view(np.float64)
    plain = np.exp(rng.normal(size=400) * 30) * rng.normal(size=400)
    edges = [
        0.0,
        5e-324,
        2.2250738585072014e-308,
        1.7976931348623157e308,
        1 / 3,
        0.1,
        1e22,
        2.0**53,
    ]
    sql = DIALECTS[database.dialect]
    numbers = [float(v) for v in (*bits, *plain, *rng.normal(size=400), *edges) if np.isfinite(v)]
    numbers += [-v for v in numbers] + [math.inf, -math.inf]
    for at in range(0, len(numbers), 100):
        some = numbers[at : at + 100]
        (found,) = database.run("SELECT " + ", ".join(map(sql.number, some)))
        assert struct.pack(f"{len(some)}d", *found) == struct.pack(f"{len(some)}d", *some)


NAMES = [
    'a "b"', "select", "x'; DROP TABLE rows; --", "größe µ", "a.b", "`tick`", "line\nbreak", "%s",
    "[x]", "/* x", "s0", "f0", "ORDER",
]  # fmt: skip


@pytest.mark.promise("exports")
def test_names_are_quoted(database):
    X, y = rows_with_labels(60, d=len(NAMES))
    model = GaussianNB().fit(X, y)
    columns = dict(zip(NAMES, X.T, strict=True))
    table = 'odd "table"; --'
    database.table(table, {"id": np.arange(60), **columns})
    assert labels_of(database, model, table, columns=NAMES) == model.predict(X).tolist()
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(columns)
    named = GaussianNB().fit(frame, y)
    assert labels_of(database, named, table) == model.predict(X).tolist()
    kept = model.to_sql(database.dialect, columns=NAMES, table=table, keep=NAMES[:3])
    assert len(database.run(kept)) == 60


@pytest.mark.parametrize(
    "labels",
    [
        ["it's", 'a "b"', "c\\' OR 1=1 --"],
        ["\\", "\\\\", "\\'"],
        ["größe", "日本", "🎲"],
        ["", " ", "NULL"],
        [-(2**63), 0, 2**63 - 1],
        [-5, -1, 3],
        [0.0, 1.0, 2.0],
    ],
    ids=repr,
)
def test_labels_of_any_kind(database, labels):
    X, y = rows_with_labels(60)
    y[:3] = [0, 1, 2]
    model = GaussianNB().fit(X, np.array(labels)[y])
    load(database, X)
    found = labels_of(database, model)
    assert found == model.predict(X).tolist()
    assert {type(label) for label in found} == {type(labels[0])}


def test_labels_with_backslashes_under_the_old_setting(database):
    if database.dialect != "postgres":
        pytest.skip("a setting of PostgreSQL")
    X, y = rows_with_labels(60)
    model = GaussianNB().fit(X, np.array(["a\\", "\\' || 'x", "c"])[y])
    load(database, X)
    database.run("SET escape_string_warning = off")
    database.run("SET standard_conforming_strings = off")
    try:
        assert labels_of(database, model) == model.predict(X).tolist()
    finally:
        database.run("RESET standard_conforming_strings")


def test_labels_that_are_booleans(database):
    X, y = rows_with_labels(60, k=2)
    model = GaussianNB().fit(X, y == 1)
    load(database, X)
    found = labels_of(database, model)
    assert found == model.predict(X).tolist()
    assert type(found[0]) is (int if database.dialect == "sqlite" else bool)


def test_labels_beyond_int64(database):
    X, y = rows_with_labels(60, k=2)
    model = GaussianNB().fit(X, np.array([5, 2**64 - 1], np.uint64)[y])
    load(database, X)
    if database.dialect == "sqlite":
        with pytest.raises(ValueError, match="SQLite has whole numbers below 2\\^63 only"):
            model.to_sql("sqlite")
    else:
        assert [int(v) for v in labels_of(database, model)] == model.predict(X).tolist()


def test_rows_that_predict_refuses_are_null(database):
    X, y = rows_with_labels(60)
    model = GaussianNB().fit(X, y)
    bad = X[:6].copy()
    bad[[1, 2, 3, 4], [0, 1, 2, 3]] = [np.nan, np.inf, -np.inf, 1e200]
    load(database, bad)
    database.run("UPDATE rows SET x1 = NULL WHERE id = 5")
    found = labels_of(database, model)
    assert found == [model.predict(X[:1])[0], None, None, None, None, None]
    _, joint, proba, evidence = answers_of(database, model)
    assert np.isfinite(joint[0]).all()
    for part in (joint[1:], proba[1:], evidence[1:]):
        assert np.isnan(part).all()


def test_missing_values_are_skipped(database):
    X, y = rows_with_labels(300)
    gaps = X.copy()
    gaps[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    gaps[0] = np.nan
    model = GaussianNB(missing="skip").fit(gaps, y)
    load(database, gaps)
    database.run("UPDATE rows SET x1 = NULL WHERE x1 <> x1 OR x1 IS NULL OR x1 = 'NaN'")
    assert_same_answers(database, model, gaps)
    assert labels_of(database, model) == model.predict(gaps).tolist()
    database.run("UPDATE rows SET x0 = 1e999 WHERE id = 3") if database.dialect == "sqlite" else (
        database.run("UPDATE rows SET x0 = 'Infinity' WHERE id = 3")
    )
    assert [i for i, label in enumerate(labels_of(database, model)) if label is None] == [3]


def test_values_of_another_type_are_null_in_sqlite(database):
    if database.dialect != "sqlite":
        pytest.skip("columns have types")
    X, y = rows_with_labels(60)
    model = GaussianNB().fit(X, y)
    load(database, X)
    database.run("UPDATE rows SET x0 = 'text' WHERE id = 1")
    database.run("UPDATE rows SET x0 = x'00' WHERE id = 2")
    found = labels_of(database, model)
    assert [i for i, label in enumerate(found) if label is None] == [1, 2]
    with pytest.raises(Exception, match="no such column"):  # and no text of that name
        database.run(f"SELECT {model.to_sql('sqlite', columns=['x0', 'x1', 'x2', 'y'])} FROM rows")


def test_columns_of_any_numeric_type(database):
    X, y = rows_with_labels(200)
    X = np.floor(X * 10)
    model = GaussianNB().fit(X, y)
    kinds = {"x0": "SMALLINT", "x1": "REAL", "x2": "NUMERIC(9, 3)", "x3": "BIGINT"}
    columns = {key: values.astype(int) for key, values in columns_of(X).items()}
    database.table("rows", {"id": np.arange(200), **columns}, **kinds)
    assert labels_of(database, model) == model.predict(X).tolist()


def test_categories(database):
    X, y = rows_with_labels(400, d=5)
    draw = np.random.default_rng(1)
    table = np.empty((400, 5), object)
    table[:, :2] = X[:, :2]
    table[:, 2] = TEXT[(draw.integers(0, 4, 400) + y) % 5]
    table[:, 3] = draw.integers(-2, 3, 400) * 2**60
    table[:, 4] = draw.random(400) < 0.3 + 0.2 * y
    model = MixedNB(categorical_features=[2, 3, 4]).fit(table, y)
    table[0, 2], table[1, 2], table[2, 3] = "never seen", "", 77
    columns = columns_of(table)
    for j, kind in ((0, float), (1, float), (3, np.int64), (4, bool)):
        columns[f"x{j}"] = columns[f"x{j}"].astype(kind)
    database.table("rows", {"id": np.arange(400), **columns})
    assert labels_of(database, model) == model.predict(table).tolist()
    assert_same_answers(database, model, table)
    database.run("UPDATE rows SET x2 = NULL WHERE id = 0")
    database.run("UPDATE rows SET x4 = NULL WHERE id = 1")
    found = labels_of(database, model)
    assert [i for i, label in enumerate(found) if label is None] == [0, 1]
    skipping = model.reestimate(missing="skip")
    table[0, 2] = table[1, 4] = None
    assert labels_of(database, skipping) == skipping.predict(table).tolist()
    assert_same_answers(database, skipping, table)


def test_text_is_compared_by_its_bytes(database):
    table = np.array([["Red", 1.0], ["red", 2.0], ["blue", 9.0], ["blue", 8.0]], object)
    model = MixedNB(categorical_features=[0], alpha=0.01).fit(table, ["r", "r", "b", "b"])
    draw = np.random.default_rng(1)
    words = np.array(["Red", "red", "RED", "blue", "Blue"], object)
    Z = np.column_stack([words[np.arange(50) % 5], draw.normal(size=50) * 4 + 5]).astype(object)
    columns = {"id": np.arange(50), "x0": Z[:, 0], "x1": Z[:, 1].astype(float)}
    kinds = {
        "sqlite": ["TEXT", "TEXT COLLATE NOCASE"],
        "duckdb": ["TEXT", "TEXT COLLATE NOCASE", "ENUM ('Red', 'red', 'RED', 'blue', 'Blue')"],
        "postgres": ["TEXT", "VARCHAR(9)", 'TEXT COLLATE "und-x-icu"'],
    }
    for kind in kinds[database.dialect]:
        database.table("rows", columns, x0=kind)
        assert labels_of(database, model) == model.predict(Z).tolist()
        assert_same_answers(database, model, Z)


def test_numbers_where_text_was_learned(database):
    """They are no category that was not seen: `predict` raises TypeError."""
    table = np.array([["red", 1.0], ["red", 2.0], ["blue", 9.0], ["blue", 8.0]], object)
    model = MixedNB(categorical_features=[0]).fit(table, ["r", "r", "b", "b"])
    database.table("rows", {"id": np.arange(3), "x0": np.arange(3), "x1": np.arange(3.0)})
    if database.dialect == "postgres":
        with pytest.raises(Exception, match="collations are not supported by type bigint"):
            labels_of(database, model)
    else:
        assert labels_of(database, model) == [None, None, None]


def test_tables_in_a_schema(database):
    X, y = rows_with_labels(60)
    load(database, X)
    model = GaussianNB().fit(X, y)
    schema = "public" if database.dialect == "postgres" else "main"
    query = model.to_sql(database.dialect, table=(schema, "rows"), keep=["id"])
    assert [label for _, label in sorted(database.run(query))] == model.predict(X).tolist()


def test_categories_that_all_classes_exclude(database):
    """With alpha=0: the classes win that exclude the fewest, as smoothing tends to 0."""
    draw = np.random.default_rng(4)
    X = np.column_stack([draw.normal(size=300), draw.integers(0, 6, (300, 3))])
    y = draw.integers(0, 3, 300)
    X[:, 1] = np.where(y == 0, X[:, 1] // 2, X[:, 1])
    X[:, 2] = np.where(y == 1, 3 + X[:, 2] // 2, X[:, 2])
    X[:, 3] = np.where(y == 2, X[:, 3] // 3, X[:, 3])
    for options in ({}, {"missing": "skip"}, {"priors": [0, 0.5, 0.5]}):
        model = MixedNB(categorical_features=[1, 2, 3], alpha=0, **options).fit(X, y)
        Z = X.copy()
        Z[:, 1:] = draw.integers(-1, 7, (300, 3))
        if options.get("missing"):
            Z[::4, 1] = np.nan
        load(database, Z)
        assert np.isneginf(model.predict_joint_log_proba(Z)).all(axis=1).sum() > 10
        assert_same_answers(database, model, Z)
        with pytest.raises(ValueError, match="needs a SELECT: give table"):
            model.to_sql(database.dialect)
        column = "NULL" if not options.get("missing") else "x0"
        database.run(f"UPDATE rows SET x0 = {column} WHERE id = 0")
        query = model.to_sql(database.dialect, table="rows", keep=["id"])
        assert (sorted(database.run(query))[0][1] is None) == (column == "NULL")


def test_a_feature_without_categories(database):
    table = np.array([[1.0, np.nan], [2.0, np.nan], [5.0, np.nan]], object)
    model = MixedNB(categorical_features=[1], missing="skip").fit(table, [0, 0, 1])
    database.table("rows", {"id": np.arange(3), "x0": np.array([1.0, 2.0, 5.0]), "x1": TEXT[:3]})
    unseen = np.array([[1.0, "a"], [2.0, "b"], [5.0, "c"]], object)
    assert labels_of(database, model) == model.predict(unseen).tolist()


def test_classes_that_never_win(database):
    X, y = rows_with_labels(200)
    load(database, X)
    for model in (
        GaussianNB(priors=[0, 0.4, 0.6]),
        GaussianBayes(priors=[0.4, 0, 0.6]),
        PCAGaussianNB(rotation="class", priors=[0, 0, 1]),
    ):
        model.fit(X, y)
        assert labels_of(database, model) == model.predict(X).tolist()
        assert_same_answers(database, model, X)
    empty = GaussianNB().partial_fit(X, y, classes=[0, 1, 2, 7])
    assert_same_answers(database, empty, X)


def test_one_class(database):
    X, _ = rows_with_labels(40)
    for model in (GaussianNB(), GaussianBayes()):
        model.fit(X, np.full(40, "a"))
        load(database, X)
        assert_same_answers(database, model, X)
        load(database, np.where(np.arange(40)[:, None] == 3, np.nan, X))
        found = labels_of(database, model)
        assert [i for i, label in enumerate(found) if label is None] == [3]


def test_ties_go_to_the_first_class(database):
    X, y = rows_with_labels(200)
    model = GaussianNB(priors=[0.2, 0.4, 0.4]).fit(X, y)
    model.theta_[2], model.var_[2] = model.theta_[1], model.var_[1]
    load(database, X)
    found = labels_of(database, model)
    assert found == model.predict(X).tolist()
    assert set(found) == {0, 1}


def test_many_features_and_many_classes(database):
    """More than databases take in one call or one nested expression, unless it is cut up."""
    d = 1100 if database.dialect == "sqlite" else 300
    X, y = rows_with_labels(700, d=d, k=2)
    wide = GaussianNB().fit(X[:60], y[:60])
    load(database, X[:60])
    assert labels_of(database, wide) == wide.predict(X[:60]).tolist()
    k = 260 if database.dialect == "sqlite" else 90
    X, y = rows_with_labels(700, d=3, k=k)
    y[:k] = np.arange(k)
    many = GaussianNB(var_smoothing=0.1).fit(X, y)
    load(database, X)
    assert labels_of(database, many) == many.predict(X).tolist()
    assert_same_answers(database, many, X)


def test_values_around_zero_and_the_ends_of_float64(database):
    """PostgreSQL raises where a result underflows or overflows."""
    model = GaussianNB().fit([[0.0, 0.0], [1.0, 2.0]], [0, 1])
    model.theta_ = np.array([[0.0, 1e-200], [1.0, 0.0]])
    model.var_ = np.array([[1.0, 1.0], [1e-8, 1e12]])
    tiny = [0.0, 5e-324, -1e-310, 1e-200, 1e-160, 1e-154, 1e-150, 1.0, -1.0, 1e100]
    X = np.array([[a, b] for a in tiny for b in tiny])
    load(database, X)
    assert labels_of(database, model) == model.predict(X).tolist()
    assert_same_answers(database, model, X)
    rows = np.random.default_rng(5).normal(size=(60, 2))
    y = np.arange(60) % 2
    for full in (GaussianBayes(), GaussianBayes(tied=True), PCAGaussianNB()):
        full.fit(rows - rows.mean(axis=0) + y[:, None], y)
        assert labels_of(database, full) == full.predict(X).tolist()


def test_far_apart_data_keep_their_digits(database):
    draw = np.random.default_rng(7)
    y = np.arange(300) % 3
    X = 1e9 + draw.normal(size=(300, 3)) @ draw.normal(size=(3, 3)) + y[:, None]
    load(database, X)
    for model in (GaussianNB(), GaussianBayes(), PCAGaussianNB()):
        model.fit(X, y)
        assert labels_of(database, model) == model.predict(X).tolist()


def test_edited_attributes_decide(database):
    X, y = rows_with_labels(100)
    load(database, X)
    model = GaussianNB().fit(X, y)
    before = model.predict(X).tolist()
    model.class_prior_ = np.array([1e-9, 1e-9, 1.0])
    assert labels_of(database, model) == model.predict(X).tolist() != before
    model.var_[0, 0] = -1
    with pytest.raises(ValueError, match="variance -1"):
        model.to_sql(database.dialect)
