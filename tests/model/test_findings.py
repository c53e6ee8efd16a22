"""Features that smoothing drowns, and features that number the rows."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from command_line import run, write

from fastgnb import GaussianNB, MixedNB
from fastgnb.model.findings import Drowned, KeyWatch, Numbering, drowned, uneven
from fastgnb.stats.class_stats import ClassStats


def numberings(*columns, pieces=1, dtype=np.float64):
    X = np.column_stack(columns).astype(dtype)
    watch = KeyWatch()
    for part in np.array_split(X, pieces):
        watch.update(part)
    return {found.feature: found.how for found in watch.found()}


@pytest.mark.parametrize("pieces", [1, 3, 250])
def test_columns_that_number_the_rows(pieces):
    n = 500
    order = np.random.default_rng(0).permutation(n)
    columns = {
        "increasing": np.arange(n) * 60,
        "decreasing": -np.arange(n) - 7,
        "distinct": order * 3,
    }
    found = numberings(*columns.values(), pieces=pieces)
    assert [found[j] for j in range(3)] == list(columns)


@pytest.mark.parametrize("pieces", [1, 3, 250])
def test_columns_that_do_not(pieces):
    n = 500
    order = np.random.default_rng(0).permutation(n)
    columns = [
        np.arange(n) // 2,
        np.append(np.arange(n - 1), 0),  # the last one is there already
        np.append(np.arange(n - 1), 0.5 + n),
        np.append(order[:-1], order[7]),
        np.linspace(0.1, 1, n),
        np.ones(n),
        np.arange(n) % 2 == 0,
    ]
    assert numberings(*columns, pieces=pieces) == {}


def test_the_first_piece_rules_out_no_later_one():
    watch = KeyWatch()
    for start in range(0, 300, 100):
        watch.update(np.arange(start, start + 100.0)[:, None])
    watch.update(np.arange(100.0)[:, None])  # the second file numbers its rows anew
    assert watch.found() == []


def test_missing_values_are_passed_over():
    column = np.arange(400.0)
    column[::7] = np.nan
    assert numberings(column, np.full(400, np.nan), pieces=5) == {0: "increasing"}


@pytest.mark.parametrize(("dtype", "start"), [(np.float64, 2**60), (np.float32, 2**25)])
def test_large_numbers_that_rounding_makes_equal(dtype, start):
    rows = np.arange(300)
    assert len(np.unique((start + rows).astype(dtype))) < 300
    assert numberings(start + rows, dtype=dtype) == {0: "increasing"}
    assert numberings(start + rows[::-1] % 299, dtype=dtype) == {}


def test_few_rows_say_nothing():
    assert numberings(np.arange(19)) == {}
    assert numberings(np.arange(20)) == {0: "increasing"}
    order = np.random.default_rng(0).permutation(100)
    assert numberings(order[:99]) == {}
    assert numberings(order) == {0: "distinct"}


def test_many_rows_are_sampled_and_memory_is_bounded():
    n = 300_000
    order = np.random.default_rng(0).permutation(n)
    watch = KeyWatch()
    for part in np.array_split(np.column_stack([order, order // 2]).astype(float), 9):
        watch.update(part)
    assert watch.found() == [Numbering(0, "distinct")]
    assert len(watch._columns[0]._sample) <= 1 << 14


# ------------------------------------------------------------------ smoothing


def test_drowned_is_by_the_variances_of_all_rows():
    X = np.array([[0.0, 1, 5, 2], [60, 2, 5, 2.5], [120, 4, 5, 1e9], [180, 1, 5, 0]])
    stats = ClassStats.from_rows(X, [0, 0, 1, 1])
    epsilon = GaussianNB().fit(X, [0, 0, 1, 1]).epsilon_
    exact = [[Fraction(value) for value in column] for column in X.T]
    variance = [sum(v * v for v in column) / 4 - (sum(column) / 4) ** 2 for column in exact]
    assert epsilon == pytest.approx(float(variance[3]) / 1e9, rel=1e-12)
    found = drowned(stats, epsilon, 1e-9)
    assert found.features == (0, 1)  # and not 2, which does not vary at all
    assert (found.widest, found.epsilon) == (3, epsilon)
    assert found.variance == pytest.approx(float(variance[3]), rel=1e-13)
    assert found.remedy == pytest.approx(float(variance[1] / variance[3]) / 1000, rel=1e-12)
    assert drowned(stats, found.epsilon * found.remedy / 1e-9, found.remedy) is None
    assert isinstance(found, Drowned)


def test_nothing_is_drowned_where_all_vary_alike(rng):
    X, y = rng.normal(size=(100, 3)), rng.integers(2, size=100)
    assert drowned(ClassStats.from_rows(X, y), 1e-9, 1e-9) is None
    same = ClassStats.from_rows(np.ones((4, 2)), [0, 0, 1, 1])
    assert drowned(same, 1e-9, 1e-9) is None
    assert drowned(same, 0.0, 0.0) is None


def test_positions_count_categorical_features(rng):
    X = np.column_stack([rng.integers(3, size=90), *rng.normal(size=(2, 90)) * [[1], [1e9]]])
    X = X[:, [0, 1, 0, 2]]
    model = MixedNB(categorical_features=[0, 2]).fit(X, X[:, 0] > 1)
    found = drowned(model.stats_, model.epsilon_, model.var_smoothing)
    assert (found.features, found.widest) == ((1,), 3)


# ------------------------------------------------------------------ on the command line


def with_identifier(n=600):
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=n)
    return {
        "row_id": np.arange(n) * 10**6,
        "a": rng.normal(y, 1.0),
        "b": rng.normal(-y, 1.0),
        "shop": rng.permutation(n),
        "y": y,
    }


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_fit_and_show_say_it(tmp_path, capsys, ending):
    path = write(with_identifier(), tmp_path / f"d.{ending}")
    words = ["fit", path, "--target", "y", "--model", tmp_path / "m", "--batch-rows", 100]
    run(*words)
    notes = [line for line in capsys.readouterr().err.splitlines() if "note:" in line]
    smoothing, first, second = notes
    assert "smoothing adds 3e+07 to each variance, 1e-09 of that of 'row_id'." in smoothing
    assert "more than the variance of 3 of 4 features that do vary ('a', 'b', 'shop')" in smoothing
    assert "Leave 'row_id' out (--exclude) or scale it, or set --var-smoothing to " in smoothing
    assert "'row_id' holds whole numbers that go on increasing from row to row" in first
    assert "'shop' holds a different whole number in every row" in second
    run("show", tmp_path / "m")
    assert smoothing.removeprefix("fastgnb: ") in capsys.readouterr().out
    run("show", tmp_path / "m", "--json")
    assert json.loads(capsys.readouterr().out)["findings"] == [smoothing[len("fastgnb: note: ") :]]
    remedy = smoothing.split()[-1]
    run(*words, "--var-smoothing", remedy, "--exclude", "shop")
    assert "smoothing adds" not in capsys.readouterr().err
    run(*words, "--exclude", "row_id,shop")
    assert "note" not in capsys.readouterr().err
    run(*words, "--quiet")
    assert capsys.readouterr().err == ""


def test_principal_axes(tmp_path, capsys):
    path = write(with_identifier(), tmp_path / "d.parquet")
    words = ["fit", path, "--target", "y", "--model", tmp_path / "m", "--model-type"]
    run(*words, "PCAGaussianNB")
    assert "of the first axis. That is more than the variance of 3 of 4" in capsys.readouterr().err
    run(*words, "PCAGaussianNB", "--standardize")  # where each feature has a variance of 1
    assert "smoothing adds" not in capsys.readouterr().err
    run(*words, "GaussianBayes")  # which does not smooth
    assert "smoothing adds" not in capsys.readouterr().err


def test_columns_of_npy_go_by_position(tmp_path, capsys):
    data = with_identifier()
    np.save(tmp_path / "X.npy", np.column_stack([data["a"], data["row_id"]]))
    np.save(tmp_path / "y.npy", data["y"])
    run("fit", tmp_path / "X.npy", "--target-npy", tmp_path / "y.npy", "--model", tmp_path / "m")
    shown = capsys.readouterr().err
    assert "column 1 (from 0) holds whole numbers that go on increasing" in shown
    assert "1e-09 of that of column 1 (from 0). That" in shown


def test_features_of_other_units_are_uneven(rng):
    X = rng.normal(size=(200, 3)) * [1.0, 1e4, 99.0]
    X = np.column_stack([X, np.full(200, 5.0)])
    y = np.arange(200) % 2
    found = uneven(ClassStats.from_rows(X, y))
    assert (found.least, found.largest) == (0, 1)
    np.testing.assert_allclose(found.sd, [X[:, 0].std(), X[:, 1].std()], rtol=1e-12)
    assert uneven(ClassStats.from_rows(X[:, [0, 3]], y)) is None
    assert uneven(ClassStats.from_rows(X[:, [2, 1]] * [1.5, 1.0], y)) is None
    assert uneven(ClassStats.from_rows(X[:, [3]], y)) is None


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (["--model-type", "PCAGaussianNB", "--n-components", 1], "Take --standardize"),
        (["--model-type", "PCAGaussianNB", "--standardize"], None),
        (["--covariance-type", "spherical"], "Scale the features first, or take"),
        (["--model-type", "GaussianBayes", "--shrinkage", "oas"], None),
        (
            ["--model-type", "GaussianBayes", "--shrinkage", "oas", "--shrinkage-target",
             "spherical"],
            "Take --shrinkage-target diagonal",
        ),
        ([], None),
    ],
)  # fmt: skip
def test_units_are_told_where_they_matter(rng, tmp_path, capsys, words, remedy):
    X = rng.normal(size=(200, 2)) * [1.0, 1e4]
    path = write({"a": X[:, 0], "b": X[:, 1], "y": np.arange(200) % 2}, tmp_path / "rows.parquet")
    run("fit", path, "--target", "y", "--model", tmp_path / "m", *words)
    err = capsys.readouterr().err
    assert ("compares features with each other" in err) == (remedy is not None)
    if remedy is not None:
        assert "('a') to" in err
        assert "('b')" in err
        assert remedy in err
