"""Keys of folders, conditions and dialects in every command that reads rows."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import error_line, read, run

from fastgnb import files, load

ROWS = 200


@pytest.fixture
def data(tmp_path):
    """Two years of two months; `x` of the last month is far from the others."""
    rng = np.random.default_rng(0)
    for year in (2025, 2026):
        for month in (1, 2):
            folder = tmp_path / "data" / f"year={year}" / f"month={month}"
            folder.mkdir(parents=True)
            y = rng.choice(["a", "b"], ROWS)
            x = rng.normal((y == "b") * 3.0 + 100 * (year == 2026 and month == 2))
            table = pa.table({"x": x, "z": rng.normal(size=ROWS), "t": np.arange(ROWS), "y": y})
            pq.write_table(table, folder / "part.parquet", row_group_size=50)
    return tmp_path / "data"


@pytest.fixture
def model(data, tmp_path):
    path = tmp_path / "m.fgnb"
    run("fit", data, "--target", "y", "--features", "x,z", "--model", path, "--where", "month = 1")
    return path


def test_fit_tells_what_is_skipped_and_left_out(data, model, capsys):
    words = ["--target", "y", "--features", "x,z", "--model", model, "--where"]
    run("fit", data, *words, "month = 1")
    err = capsys.readouterr().err
    assert "note: skipped, as no row meets --where: 2 of 4 files by their folders" in err
    assert "fit: 400 rows, 2 features (x, z)" in err
    where = "not (month = 2 and year = 2026) and t >= 120"
    run("fit", data, *words, where)
    err = capsys.readouterr().err
    assert "1 of 4 files by their folders and 6 of 12 row groups by their statistics" in err
    assert "fit: 240 rows, 360 rows left out (--where)" in err
    assert load(model).class_count_.sum() == 240


def test_update_learns_the_files_that_were_skipped(data, model):
    run("update", model, data, "--where", "month = 2 and year = 2025")
    expected = files.fit(data, target="y", features=["x", "z"], where="year = 2025 or month = 1")
    assert load(model).class_count_.tolist() == expected.class_count_.tolist()
    np.testing.assert_allclose(load(model).theta_, expected.theta_, rtol=1e-12)
    # A file is learned or not, whatever the rows of it: to learn the rest of it counts it twice.
    with pytest.raises(ValueError, match=r"has learned part\.parquet"):
        files.update(model, data, where="month = 1")


def test_predict_evaluate_diagnose_and_report(data, model, tmp_path, capsys):
    out, where = tmp_path / "o.parquet", "year >= 2026 and month in (1) and t < 30"
    run("predict", model, data, "--output", out, "--keep", "year,month,t", "--where", where)
    table = read(out)
    assert table["t"].to_pylist() == list(range(30))
    assert set(table["year"].to_pylist()) == {2026}
    assert set(table["month"].to_pylist()) == {1}
    assert "170 rows left out (--where)" in capsys.readouterr().err
    run("evaluate", model, data, "--where", where, "--json", tmp_path / "e.json")
    assert json.loads((tmp_path / "e.json").read_text())["n_rows"] == 30
    run("diagnose", model, data, "--where", "month = 1", "--json", tmp_path / "d.json")
    assert json.loads((tmp_path / "d.json").read_text())["n_rows"] == 400
    pytest.importorskip("matplotlib")
    run("report", model, data, "--where", "month = 1", "--output", tmp_path / "r.html")
    assert "400 rows" in capsys.readouterr().err


def test_outputs_in_a_folder_are_those_of_the_files_that_are_read(data, model, tmp_path, capsys):
    out = tmp_path / "out"
    run("predict", model, data, "--output", f"{out}/", "--keep", "month", "--where", "month = 2")
    written = sorted(path.relative_to(out).as_posix() for path in out.rglob("*.parquet"))
    assert written == [f"year={year}/month=2/part.parquet" for year in (2025, 2026)]
    for name in written:
        assert set(read(out / name)["month"].to_pylist()) == {2}
    capsys.readouterr()
    words = ["--output", f"{out}/", "--keep", "month", "--where", "month = 2 and t < 60"]
    run("predict", model, data, *words)
    assert "280 rows left out (--where)" in capsys.readouterr().err
    assert [read(out / name).num_rows for name in written] == [60, 60]
    run("predict", model, data, *words)
    assert "120 rows, 280 rows left out (--where)" in capsys.readouterr().err
    run("predict", model, data, "--output", f"{tmp_path}/csv/", "--output-format", "csv")
    assert sorted(path.name for path in (tmp_path / "csv").rglob("part*")) == ["part.csv"] * 4


def test_a_checkpoint_is_of_a_condition_and_a_dialect(data, tmp_path):
    words = ["fit", data, "--target", "y", "--features", "x,z", "--checkpoint", tmp_path / "c"]
    models = {}
    for where in ["t < 50", "t < 60", "t < 50"]:
        run(*words, "--model", tmp_path / "m", "--where", where, "--quiet")
        fitted = load(tmp_path / "m")
        plain = files.fit(data, target="y", features=["x", "z"], where=where)
        assert fitted.theta_.tobytes() == plain.theta_.tobytes()
        models[where] = fitted.class_count_.sum()
    assert models == {"t < 50": 200, "t < 60": 240}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sep", ";;"], "argument --sep: ';;' is not one ASCII character"),
        (["--sep", ""], "argument --sep: '' is not one ASCII character"),
        (["--decimal", "·"], "argument --decimal: '·' is not one ASCII character"),
        (["--encoding", "utf-9"], "argument --encoding: 'utf-9' is no encoding of text"),
        (["--encoding", "hex"], "argument --encoding: 'hex' is no encoding of text"),
        (["--format", "xlsx"], "argument --format: invalid choice: 'xlsx'"),
    ],
)  # fmt: skip
def test_wrong_usage_of_dialects(capsys, words, message):
    assert message in error_line(
        capsys, "fit", "d", "--target", "y", "--model", "m", *words, code=2
    )


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("year >", "--where 'year >': position 7: expected a value or a column, got the end"),
        ("year > 2030", "--where 'year > 2030' skips 4 files, all of them; year is 2025, 2026"),
        ("t > 5000", "no rows to fit"),
        ("year > 'x'", "column 'year' of --where (position 1): the column is int64, and is"),
        ("yaer > 2025", "column 'yaer' is missing; found 'x', 'z', 't', 'y', 'year', 'month'; did"),
        ("x > 1e9 and y = 3", "column 'y' of --where (position 13): the column is text, and is"),
    ],
)  # fmt: skip
def test_conditions_that_cannot_be_met(data, tmp_path, capsys, where, message):
    words = ["--target", "y", "--model", tmp_path / "n", "--where", where, "--quiet"]
    assert message in error_line(capsys, "fit", data, *words)
    assert not (tmp_path / "n").exists()


def test_options_of_csv_reach_every_command(tmp_path, capsys):
    path = tmp_path / "d.csv"
    path.write_bytes("x;z;y\n1,5;1;süd\n?;2;süd\n5,5;1;nord\n7,5;3;nord\n".encode("latin-1"))
    dialect = ["--sep", ";", "--decimal", ",", "--na-values", "?", "--encoding", "latin-1"]
    model = tmp_path / "m"
    run("fit", path, "--target", "y", "--missing", "skip", "--model", model, *dialect)
    assert load(model).theta_[:, 0].tolist() == [6.5, 1.5]
    assert load(model).classes_.tolist() == ["nord", "süd"]
    run("predict", model, path, "--output", tmp_path / "o.tsv", *dialect)
    assert (tmp_path / "o.tsv").read_text(encoding="utf-8").split()[1:] == [
        '"süd"', '"süd"', '"nord"', '"nord"',
    ]  # fmt: skip
    capsys.readouterr()
    run("evaluate", model, path, *dialect, "--json", "-")
    assert json.loads(capsys.readouterr().out)["n_rows"] == 4
    run("update", model, path, "--again", *dialect)
    assert load(model).class_count_.tolist() == [4, 4]
    none = tmp_path / "none.csv"
    none.write_text('x\ty\n1\t"a\n2\t"b\n')
    run("fit", none, "--target", "y", "--model", model, "--sep", "tab", "--quote", "none")
    assert load(model).classes_.tolist() == ['"a', '"b']


def test_arguments_of_fit_stats(data):
    stats = files.fit_stats(data, target="y", features="x", where="month = 1")
    assert stats.count.sum() == 400
    with pytest.raises(ValueError, match="where, file_format and csv are for files; filter a str"):
        files.fit_stats(pa.table({"x": [1.0], "y": ["a"]}), target="y", where="x > 0")
