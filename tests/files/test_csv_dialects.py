"""CSV as others write it: separators, decimal commas, words for missing values, encodings."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest
from source_rows import read

from fastgnb import files
from fastgnb.files.errors import SourceError
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.csv_dialect import CsvDialect
from fastgnb.files.tables.file_options import FileOptions
from fastgnb.files.tables.sources import open_source

pytestmark = pytest.mark.any_version

LABELLED = ColumnRoles("y", features=("a", "b"))
PANDAS = {"sep": "sep", "decimal": "decimal", "thousands": "thousands", "na_values": "na_values",
          "encoding": "encoding", "quote": "quotechar"}  # fmt: skip


def put(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def rows(path, columns=LABELLED, **dialect):
    return read(path, columns, options=FileOptions(csv=dialect))


def table_text(dialect, n=400, seed=0):
    """Rows spelled in a dialect by hand, with quoted names, missing words and grouped numbers."""
    rng = np.random.default_rng(seed)
    point, group = dialect.get("decimal", "."), dialect.get("thousands")
    words = dialect.get("na_values", ["NA"])
    words = [words] if isinstance(words, str) else list(words)
    quote = dialect.get("quote", '"')

    def number(value):
        text = f"{value:,.3f}".replace(",", "G").replace(".", point)
        return text.replace("G", group or "")

    text = io.StringIO()
    kinds = {"quoting": csv.QUOTE_NONE} if quote is None else {"quotechar": quote}
    writer = csv.writer(text, delimiter=dialect.get("sep", ","), lineterminator="\n", **kinds)
    writer.writerow(["a", "b", "y"])
    for i in range(n):
        a, b = rng.normal(0, 1e6), rng.normal(0, 10)
        shown = words[i % len(words)] if i % 7 == 3 else number(b)
        writer.writerow(
            [number(a), shown, rng.choice(["süd", "Nord", 'a "b"'[: 1 + 4 * (quote == '"')]])]
        )
    return text.getvalue()


DIALECTS = [
    {},
    {"sep": ";"},
    {"sep": "\t"},
    {"sep": "|", "quote": "'"},
    {"sep": ";", "decimal": ","},
    {"sep": ";", "decimal": ",", "thousands": "."},
    {"thousands": ","},
    {"sep": ";", "thousands": "'", "na_values": ["?", "-", "missing"]},
    {"na_values": "-999.000"},
    {"encoding": "latin-1"},
    {"encoding": "cp1252", "sep": ";", "decimal": ",", "thousands": " "},
    {"encoding": "utf-16"},
    {"encoding": "utf-8-sig", "sep": ";"},
    {"sep": "\t", "quote": None},
]


@pytest.mark.parametrize("dialect", DIALECTS, ids=str)
def test_rows_are_those_of_pandas(tmp_path, dialect):
    """pandas is the oracle of numbers; its labels are text, as ours are."""
    encoding = dialect.get("encoding", "utf-8")
    path = put(tmp_path / "data.csv", table_text(dialect), encoding)
    X, y, _, _ = rows(path, **dialect)
    options = {PANDAS[name]: value for name, value in dialect.items() if name != "quote"}
    if "quote" in dialect:
        none = dialect["quote"] is None
        options |= {"quoting": csv.QUOTE_NONE} if none else {"quotechar": dialect["quote"]}
    expected = pd.read_csv(path, **options)
    assert len(X) == len(expected) == 400
    np.testing.assert_allclose(X, expected[["a", "b"]].to_numpy(), rtol=3e-16)
    assert np.isnan(X).any()
    assert y.tolist() == expected["y"].tolist()


@pytest.mark.parametrize("dialect", DIALECTS, ids=str)
def test_columns_of_numbers_are_features(tmp_path, dialect):
    path = put(tmp_path / "data.csv", table_text(dialect), dialect.get("encoding", "utf-8"))
    source = open_source([path], ColumnRoles("y"), options=FileOptions(csv=dialect))
    assert source.features == ("a", "b")
    assert source.warnings == ()


@pytest.mark.parametrize("dialect", DIALECTS, ids=str)
def test_a_kept_feature_is_the_same_number_and_copied_as_it_is_written(tmp_path, dialect):
    path = put(tmp_path / "data.csv", table_text(dialect), dialect.get("encoding", "utf-8"))
    X, _, _, kept = rows(path, ColumnRoles("y", features=("a", "b"), keep=("a",)), **dialect)
    plain, *_ = rows(path, **dialect)
    np.testing.assert_array_equal(X, plain)
    reader = csv.reader(
        io.StringIO(table_text(dialect)), delimiter=dialect.get("sep", ","),
        quotechar=dialect.get("quote", '"'),
        quoting=csv.QUOTE_NONE if dialect.get("quote", "") is None else csv.QUOTE_MINIMAL,
    )  # fmt: skip
    assert kept.column("a").to_pylist() == [line[0] for line in list(reader)[1:]]


def test_tsv_is_separated_by_tabs(tmp_path):
    path = put(tmp_path / "data.TSV", "a\tb\ty\n1\t2\tu\n3\t4\tv\n")
    X, y, _, _ = rows(path)
    assert X.tolist() == [[1, 2], [3, 4]]
    assert y.tolist() == ["u", "v"]
    put(path, "a;b;y\n1;2;u\n")
    assert rows(path, sep=";")[0].tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("name", "text", "dialect", "shown"),
    [
        ("d.csv", "a;b\n1;2\n", {}, r"by ';', a semicolon, expected ','; say --sep ';', and --dec"),
        ("d.csv", "a\tb\n1\t2\n", {}, r"by '\\t', a tab, expected ','; say --sep tab"),
        ("d.csv", "a,b\n1,2\n", {"sep": ";"}, r"by ',', a comma, expected ';'; say --sep ','"),
        ("d.tsv", "a,b\n1,2\n", {}, r"by ',', a comma, expected '\\t'; say --sep ','"),
        ("d.csv", "'a;b';c|d\n", {"sep": "|", "quote": "'"}, None),
    ],
)
def test_another_separator_is_told(tmp_path, name, text, dialect, shown):
    path = put(tmp_path / name, text)
    options = FileOptions(csv=dialect)
    if shown is None:
        open_source([path], ColumnRoles(features=("d",)), options=options)
        return
    with pytest.raises(SourceError, match=f"{name}: the columns are separated {shown}"):
        open_source([path], options=options)


@pytest.mark.parametrize(
    ("dialect", "bad", "row"),
    [
        ({"sep": ";", "decimal": ","}, "1.5", 3),
        ({"sep": ";", "decimal": ",", "thousands": "."}, "1.5", 3),
        ({"sep": ";", "decimal": ",", "thousands": "."}, "1.2345", 3),
        ({"thousands": "'"}, "1'23", 3),
        ({"sep": ";", "thousands": ","}, ",234", 3),
        ({"na_values": "?"}, "??", 3),
    ],
)
def test_what_is_no_number_in_the_dialect_is_an_error_with_its_row(tmp_path, dialect, bad, row):
    """A point where a comma is the decimal must not become 15, nor 1.5."""
    sep, point = dialect.get("sep", ","), dialect.get("decimal", ".")
    good = f"2{point}5{sep}1{sep}u\n"
    path = put(tmp_path / "d.csv", sep.join("aby") + "\n" + good * 2 + f"{bad}{sep}1{sep}v\n")
    found = re.escape(f"d.csv: column 'a', row {row}: expected a number, got {bad!r}")
    with pytest.raises(SourceError, match=found):
        rows(path, **dialect)
    kept = ColumnRoles("y", features=("a", "b"), keep=("a",))
    with pytest.raises(SourceError, match=found):
        rows(path, kept, **dialect)


def test_words_for_missing_values_are_missing_labels_and_categories(tmp_path):
    text = "a,c,y\n1,x,u\n2,?, ?\n3,-,v\n?,y,v\n"
    path = put(tmp_path / "d.csv", text)
    columns = ColumnRoles("y", features=("a", "c"), categorical=("c",), drop_null_target=True)
    options = FileOptions(csv=CsvDialect(na_values=("?", "-")))
    source = open_source([path], columns, options=options)
    (batch,) = source
    assert batch.y.tolist() == ["u", "v", "v"]
    assert source.n_dropped == 1
    (column,) = batch.categorical
    assert [column.labels[code] if code >= 0 else None for code in column.codes] == ["x", None, "y"]
    np.testing.assert_array_equal(batch.X[:, 0], [1, 3, np.nan])


def test_labels_that_are_numbers_but_for_a_word(tmp_path):
    path = put(tmp_path / "d.csv", "a,y\n1,1\n2,2\n3,?\n")
    _, y, _, _ = rows(path, ColumnRoles("y", drop_null_target=True), na_values="?")
    assert y.tolist() == [1, 2]
    with pytest.raises(SourceError, match=r"column 'y', row 3: the label is null"):
        rows(path, ColumnRoles("y"), na_values="?")


def test_text_that_is_not_in_the_encoding(tmp_path):
    path = put(tmp_path / "d.csv", "a,y\n1,ü\n", "latin-1")
    with pytest.raises(SourceError, match=r"column 'y' is binary; .*; name its encoding, or write"):
        rows(path, ColumnRoles("y"))
    with pytest.raises(SourceError, match=r"d\.csv: the text is not ascii: .* can't decode byte"):
        rows(path, ColumnRoles("y"), encoding="ascii")
    late = put(tmp_path / "late.csv", "a,y\n" + "1,x\n" * 200_000 + "1,ü\n", "latin-1")
    with pytest.raises(SourceError, match=r"late\.csv: the text is not ascii: .* can't decode byt"):
        rows(late, ColumnRoles("y"), encoding="ascii")
    assert rows(path, ColumnRoles("y"), encoding="latin-1")[1].tolist() == ["ü"]


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"sep": ";;"}, ValueError, "sep must be one ASCII character, got ';;'"),
        ({"sep": "\n"}, ValueError, "sep must be one ASCII character"),
        ({"decimal": "·"}, ValueError, "decimal must be one ASCII character, got '·'"),
        ({"quote": ""}, ValueError, "quote must be one ASCII character, got ''"),
        ({"decimal": ",", "thousands": ","}, ValueError, "decimal and thousands are both ','"),
        ({"encoding": "utf-9"}, ValueError, "encoding 'utf-9' is not known to Python"),
        ({"encoding": "base64"}, ValueError, "encoding 'base64' is no encoding of text"),
        ({"na_values": [1]}, TypeError, "na_values must be words"),
        ({"seperator": ";"}, TypeError, "unexpected keyword argument 'seperator'"),
    ],
)  # fmt: skip
def test_dialects_that_are_none(tmp_path, fields, error, message):
    path = put(tmp_path / "d.csv", "a,y\n1,0\n")
    with pytest.raises(error, match=message):
        CsvDialect(**fields)
    with pytest.raises(error, match=message):
        files.open_rows(path, csv=fields)


def test_decimal_commas_between_commas(tmp_path):
    path = put(tmp_path / "d.csv", "a,y\n1,0\n")
    with pytest.raises(ValueError, match="both separated by ','; name the separator of fields"):
        files.open_rows(path, csv={"decimal": ","})
    with pytest.raises(TypeError, match="csv must be a CsvDialect or a dict"):
        files.open_rows(path, csv=";")


@pytest.mark.parametrize("name", ["d.csv", "d.npy"])  # also where no file is CSV
def test_fields_of_a_dict_are_checked_before_files_are(tmp_path, name):
    with pytest.raises(TypeError, match="unexpected keyword argument 'separator'"):
        files.open_rows(tmp_path / name, csv={"separator": ";"})
    with pytest.raises(ValueError, match="sep"):
        files.open_rows(tmp_path / name, csv={"sep": ";;"})
