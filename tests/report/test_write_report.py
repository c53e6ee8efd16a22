"""`fastgnb report` and `write_report`: what is said of rows, and errors that leave no file."""

from __future__ import annotations

import datetime
import os
import sys

import numpy as np
import pyarrow as pa
import pytest
from command_line import fails, run
from report_pages import blobs, parsed
from table_files import write

from fastgnb import files
from fastgnb.files import SourceError
from fastgnb.report import write_report


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with a table and a model of it that knows the file."""
    monkeypatch.chdir(tmp_path)
    write(blobs(), tmp_path / "rows.parquet")
    run("fit", "rows.parquet", "--target", "label", "--model", "model", "--quiet")
    return tmp_path


def findings(page):
    root = parsed(page) if isinstance(page, str) else page
    return root.one("header").one("ul").text


def test_the_command_writes_the_page_and_says_so(folder, capsys):
    capsys.readouterr()
    run("report", "model", "rows.parquet", "--output", "page.html", "--title", "A <title>")
    said = capsys.readouterr().err
    assert said.startswith("fastgnb: report: 300 rows, 3 features (x0, x1, x2), 3 classes (")
    assert "; wrote page.html in " in said
    text = (folder / "page.html").read_text(encoding="utf-8")
    assert parsed(text).one("h1").text == "A <title>"
    assert "The file compared was learned by the model: expect worse on new rows." in findings(text)


def test_rows_that_are_left_out_or_unknown_are_told(folder):
    table = blobs(n=300, k=4, seed=1)
    table["x1"][:7] = np.nan
    labels = table["label"].to_pylist()
    labels[20:25] = [None] * 5
    write(table | {"label": pa.array(labels), "w": np.ones(300)}, folder / "new.parquet")
    with pytest.warns(UserWarning, match="labels that the model does not know: wrong"):
        counts = write_report(
            "model", ["new.parquet", "rows.parquet"], "page.html", target="label",
            on_error="skip", drop_null_target=True,
        )  # fmt: skip
    assert counts == (300 - 7 - 5 + 300, 5, 7, 0)
    text = (folder / "page.html").read_text(encoding="utf-8")
    facts = parsed(text).one("section", id="provenance").text
    assert "5 without a label, 7 with missing or infinite values" in facts
    assert "1 of the 2 files compared were learned by the model" in findings(text)
    assert "with labels that the model does not know: wrong." in findings(text)


def test_the_time_of_the_page_and_of_its_files_is_theirs(folder):
    os.utime("rows.parquet", (0, 86_400))
    date = datetime.datetime(2000, 2, 3, tzinfo=datetime.UTC)
    write_report("model", "rows.parquet", "page.html", date=date)
    facts = parsed((folder / "page.html").read_text(encoding="utf-8")).one(id="provenance").text
    assert "2000-02-03 00:00 UTC" in facts
    assert "1970-01-02 00:00 UTC" in facts


def test_weights_count(folder):
    table = blobs() | {"w": np.where(np.arange(300) < 150, 3.0, 0.0)}
    write(table, folder / "weighted.parquet")
    assert write_report("model", "weighted.parquet", "page.html", weight="w").n_rows == 150
    text = (folder / "page.html").read_text(encoding="utf-8")
    row = parsed(text).one("table", id="labels").one("tbody").all("tr")[0]
    assert row.all("td")[0].text == "150"


def test_weights_below_one_are_weights_and_no_rows(folder):
    rng = np.random.default_rng(5)
    w = 0.01 * rng.random(300)
    write(blobs(seed=3) | {"w": w}, folder / "weighted.parquet")
    write_report("model", "weighted.parquet", "page.html", weight="w")
    root = parsed((folder / "page.html").read_text(encoding="utf-8"))
    evaluation = files.evaluate("model", "weighted.parquet", target="label", weight="w")
    wrong = evaluation.confusion * (1 - np.eye(3))
    true, predicted = np.unravel_index(wrong.argmax(), wrong.shape)
    share = wrong.max() / w[true::3].sum()
    assert (
        f"The most frequent mistake: class {true} predicted as class {predicted}, with weight "
        f"{wrong.max():.4g}, {share:.1%} of that labelled class {true}."
    ) in findings(root)
    least = evaluation.tpr.argmin()
    assert (
        f"The lowest recall: class {least}, of whose weight {evaluation.tpr[least]:.1%} is "
        "predicted correctly."
    ) in findings(root)
    assert "of the weight of 300 rows; always" in root.one("p", class_="lede").text
    for name in ("labels", "mistakes-table"):
        assert "Weight" in [each.text for each in root.one("table", id=name).all("th")]
    assert "Weight at this cut-off" in root.one(id="cut-off").text
    cells = [root.one("td", data_cell=name).text for name in ("tp", "fp", "fn", "tn")]
    assert sum(map(float, cells)) == pytest.approx(w.sum())


ERRORS = {
    "target is not there": (
        ["rows.parquet", "--target", "nothing", "--output", "page.html"],
        "nothing",
    ),
    "no rows": (["empty.parquet", "--output", "page.html"], "no rows to evaluate"),
    "no known label": (
        ["rows.parquet", "--target", "other", "--output", "page.html"],
        "the model knows none of the labels",
    ),
    "missing values": (["missing.parquet", "--output", "page.html"], "missing value"),
    "output is the data": (
        ["rows.parquet", "--output", "rows.parquet"],
        "the output would replace an input",
    ),
    "output is the model": (
        ["rows.parquet", "--output", "model"],
        "the output would replace an input",
    ),
    "no such folder": (["rows.parquet", "--output", "none/page.html"], "does not exist"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_one_line_and_leave_files_as_they_were(folder, capsys, name):
    other = blobs() | {"other": pa.array(["?"] * 300)}
    write(other, folder / "rows.parquet")
    write({key: value[:0] for key, value in blobs().items()}, folder / "empty.parquet")
    missing = blobs()
    missing["x0"][3] = np.nan
    write(missing, folder / "missing.parquet")
    (folder / "page.html").write_text("old")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    words, message = ERRORS[name]
    said = fails(capsys, "report", "model", *words)
    assert message in said
    assert said.count("\n") == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("package", ["matplotlib", "pandas"])
def test_a_missing_package_names_its_extra_before_any_work(folder, monkeypatch, package):
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"needs {package}.*pip install 'fastgnb\[plot\]'"):
        write_report("model", "nothing.parquet", "page.html")


def test_options_are_checked():
    with pytest.raises(ValueError, match="on_error must be one of"):
        write_report("model", "rows", "page.html", on_error="null")
    with pytest.raises(ValueError, match="target and target_npy exclude each other"):
        write_report("model", "rows", "page.html", target="y", target_npy="y.npy")


def test_arrays_without_names(folder):
    X = np.arange(60.0).reshape(30, 2) % 7
    np.save("x.npy", X)
    np.save("y.npy", np.arange(30) % 2)
    run("fit", "x.npy", "--target-npy", "y.npy", "--model", "plain", "--quiet")
    write_report("plain", "x.npy", "page.html", target_npy="y.npy")
    text = (folder / "page.html").read_text(encoding="utf-8")
    assert "feature 1" in text
    with pytest.raises(SourceError, match="does not know its target column"):
        write_report("plain", "x.npy", "page.html")
