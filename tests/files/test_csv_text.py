"""CSV has no types: labels, categories and kept columns keep what distinguishes their texts."""

from __future__ import annotations

import csv
import itertools
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from fastgnb.cli import main
from fastgnb.files.errors import SourceError
from fastgnb.files.models.model_file import read as read_model
from fastgnb.files.tables import csv_file
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.sources import open_source
from fastgnb.files.tables.texts import NULLS, OddText, advice, decoded, kind_of


def put(path, name, values, *, x=None):
    """A CSV file of a column `x` and another."""
    rows = [f"{i if x is None else x},{value}" for i, value in enumerate(values)]
    path.write_text(f"x,{name}\n" + "".join(f"{row}\n" for row in rows))
    return path


def labels_of(paths, **options):
    source = open_source(paths, ColumnRoles(target="y", features=("x",), **options))
    return source.target_kind, [label for batch in source for label in batch.y.tolist()]


# ------------------------------------------------------------------ the rule


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        (["7", "12"], "number", [7, 12]),
        (["1", "1.0", " 1", "1\t", "1e0"], "number", [1, 1, 1, 1, 1]),
        (["-1", "0", "-0"], "number", [-1, 0, 0]),
        ([str(2**63 - 1), str(-(2**63))], "number", [2**63 - 1, -(2**63)]),
        ([str(2**64 - 1), str(2**64 - 2)], "number", [2**64 - 1, 2**64 - 2]),
        ([str(2**53 + 1), f"{2**53}.0"], "number", [2**53 + 1, 2**53]),
        (["0.5", ".5", "5.", "1e-3"], "number", [0.5, 0.5, 5.0, 1e-3]),
        (["true", "False", " TRUE"], "boolean", [True, False, True]),
        (["007", "7"], "text", None),
        (["+7", "7"], "text", None),
        (["-07"], "text", None),
        (["00"], "text", None),
        (["1_000", "5"], "text", None),
        (["0x1F"], "text", None),
        (["٣"], "text", None),  # a digit, though not one of CSV
        (["1", "true"], "text", None),
        ([str(2**64), "1"], "text", None),
        ([str(2**63), "-1"], "text", None),
        ([str(2**53 + 1), "0.5"], "text", None),
        (["9" * 5000], "text", None),
        (["a", "1"], "text", None),
        (["inf", "1"], "text", None),
        (["", "NA", " ", "null"], None, None),
    ],
)
def test_what_texts_are(texts, kind, values):
    assert kind_of(texts) == kind
    assert kind_of([*texts, *NULLS]) == kind  # what is missing has no say
    if values is not None:
        found = decoded(texts, kind)
        assert found.tolist() == values
        assert {type(value) for value in found.tolist()} == {type(value) for value in values}


def test_an_odd_text_is_told_by_its_place():
    with pytest.raises(OddText, match="expected a number, got 'x'") as error:
        decoded(["1", "x", "2"], "number")
    assert error.value.at == 1
    with pytest.raises(OddText, match="got '007', which as a number would lose its spelling"):
        decoded(["1", "007"], "number")
    with pytest.raises(OddText, match="got '18446744073709551616', which as a number would lose"):
        decoded(["1", str(2**64)], "number")
    with pytest.raises(OddText, match="expected true or false, got '1'"):
        decoded(["true", "1"], "boolean")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("?", "write a missing value as an empty field or NA"),
        ("-", "write a missing value as an empty field or NA"),
        ("1,234", "write numbers without separators of thousands"),
        ("1 234 567.5", "write numbers without separators of thousands"),
        ("1,5", "write numbers with a decimal point"),
        ("1.234,56", "write numbers with a decimal point"),
        ("$5.20", "write numbers without their unit"),
        ("12 %", "write numbers without their unit"),
        ("1\0", "the file holds NUL bytes"),
    ],
)
def test_advice(text, what):
    assert advice(text).startswith(f"; {what}")
    assert advice("oops") == advice("1.5") == ""


# ------------------------------------------------------------------ labels


def test_leading_zeros_make_labels(tmp_path):
    path = put(tmp_path / "a.csv", "y", ["007", "7", "12"])
    assert labels_of([path]) == ("text", ["007", "7", "12"])


def test_one_file_with_zeros_makes_all_text_in_any_order(tmp_path):
    zeros = put(tmp_path / "a.csv", "y", ["007", "7"])
    plain = put(tmp_path / "b.csv", "y", ["7", "12"])
    blank = put(tmp_path / "c.csv", "y", [])
    for paths in ([zeros, plain, blank], [blank, plain, zeros]):
        kind, found = labels_of(paths)
        assert kind == "text"
        assert sorted(found) == ["007", "12", "7", "7"]


def test_labels_that_could_be_numbers_beside_text_of_parquet(tmp_path):
    text = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": [0.0, 1.0], "y": ["007", "7"]}), text)
    path = put(tmp_path / "b.csv", "y", ["7"])
    for paths in ([text, path], [path, text]):
        assert sorted(labels_of(paths)[1]) == ["007", "7", "7"]
    pq.write_table(pa.table({"x": [0.0, 1.0], "y": ["no", "yes"]}), text)
    with pytest.raises(SourceError, match=r"labels of kind .*; write them all as text or as numb"):
        labels_of([text, path])


def test_a_label_that_contradicts_after_the_first_block_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "CSV_BLOCK_BYTES", 64)
    for late, kind in [("007", "number"), ("x", "number"), ("1_0", "number"), ("1", "boolean")]:
        usual = "7" if kind == "number" else "true"
        path = put(tmp_path / "a.csv", "y", [usual] * 60 + [late, usual])
        with pytest.raises(SourceError, match=rf"a\.csv: column 'y', row 61: expected .*'{late}'"):
            labels_of([path])


def test_labels_that_are_blank_in_the_first_block_take_the_kind_of_what_follows(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(csv_file, "CSV_BLOCK_BYTES", 64)
    path = put(tmp_path / "a.csv", "y", [""] * 60 + ["7", "12"])
    other = put(tmp_path / "b.csv", "y", ["7"])
    assert labels_of([path], drop_null_target=True) == ("number", [7, 12])
    assert labels_of([path, other], drop_null_target=True) == ("number", [7, 12, 7])
    with pytest.raises(SourceError, match=r"column 'y', row 1: the label is null"):
        labels_of([path])


@pytest.mark.promise("labels")
def test_numbers_in_any_spelling_are_one_class_of_a_model(tmp_path):
    first = put(tmp_path / "a.csv", "y", ["1", "2", "1"])
    second = put(tmp_path / "b.csv", "y", ["1.0", " 2", "2.00"])
    model = tmp_path / "m"
    assert main(["fit", str(first), str(second), "--target", "y", "--model", str(model)]) == 0
    assert read_model(model).model.classes.tolist() == [1, 2]
    assert read_model(model).model.classes.dtype.kind == "i"
    third = put(tmp_path / "c.csv", "y", ["1.00", "2", "2.0 "])
    assert main(["update", str(model), str(third)]) == 0
    assert read_model(model).model.classes.tolist() == [1, 2]
    assert read_model(model).model.stats.count.tolist() == [4, 5]


def test_a_model_of_numbers_and_labels_that_are_none(tmp_path, capsys):
    model, data = tmp_path / "m", tmp_path / "a.csv"
    put(data, "y", ["7", "12", "7"])
    assert main(["fit", str(data), "--target", "y", "--model", str(model)]) == 0
    before = model.read_bytes()
    put(data, "y", ["007", "12", "7"])
    for command in ("update", "evaluate"):
        words = ["--target", "y"] if command == "evaluate" else []
        assert main([command, str(model), str(data), *words]) == 1
        assert "labels of kind text, expected number, as the model has; '007' is" in (
            capsys.readouterr().err
        )
    assert model.read_bytes() == before


def test_a_model_of_text_takes_a_file_that_holds_only_numbers(tmp_path, capsys):
    model, data = tmp_path / "m", tmp_path / "a.csv"
    put(data, "y", ["007", "12", "7"])
    assert main(["fit", str(data), "--target", "y", "--model", str(model)]) == 0
    put(data, "y", ["12", "7", "7"])
    assert main(["update", str(model), str(data)]) == 0
    saved = read_model(model).model
    assert saved.classes.tolist() == ["007", "12", "7"]
    assert saved.stats.count.tolist() == [1, 2, 3]
    assert main(["evaluate", str(model), str(data), "--target", "y"]) == 0
    put(data, "y", ["no", "yes", "no"])
    assert main(["fit", str(data), "--target", "y", "--model", str(model)]) == 0
    put(data, "y", ["0", "1", "0"])
    assert main(["evaluate", str(model), str(data), "--target", "y"]) == 1
    assert "labels of kind number, expected text" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["TRUE", "FALSE"], ["true", "false"]])
def test_booleans(tmp_path, words):
    path = put(tmp_path / "a.csv", "y", words)
    assert labels_of([path]) == ("boolean", [True, False])
    assert labels_of([path], text_labels=tuple(sorted(words))) == ("text", words)


# ------------------------------------------------------------------ categories


def categories_of(paths, **options):
    columns = ColumnRoles(features=("x", "k"), categorical=("k",), **options)
    found = []
    for batch in open_source(paths, columns):
        (column,) = batch.categorical
        found += [None if c < 0 else column.labels[c] for c in column.codes]
        assert column.labels.tolist() == sorted(set(column.labels.tolist()))
    return found


def test_categories_with_leading_zeros_are_text(tmp_path):
    path = put(tmp_path / "a.csv", "k", ["007", "7", "", "12"])
    plain = put(tmp_path / "b.csv", "k", ["7", "12"])
    assert categories_of([path]) == ["007", "7", None, "12"]
    assert categories_of([plain, path]) == ["7", "12", "007", "7", None, "12"]
    assert categories_of([path], kinds={"k": "text"}) == ["007", "7", None, "12"]
    with pytest.raises(
        SourceError, match="kind text, expected number, as the model has; '007' is not spelled as"
    ):
        categories_of([path], kinds={"k": "number"})


def test_whole_numbers_of_any_spelling_are_one_category(tmp_path):
    path = put(tmp_path / "a.csv", "k", ["1.0", "2.0", "NA", "1", " 2", "1e0"])
    assert categories_of([path]) == [1, 2, None, 1, 2, 1]
    assert all(isinstance(v, np.int64) for v in categories_of([path], kinds={"k": "number"}) if v)


def test_categories_beyond_53_bits_beside_blanks_are_exact(tmp_path):
    ids = [2**53, 2**53 + 1, 2**62 + 1, -(2**62) - 1]
    path = put(tmp_path / "a.csv", "k", [ids[0], "", *ids[1:]])
    assert categories_of([path]) == [ids[0], None, *ids[1:]]
    table = tmp_path / "b.parquet"
    pq.write_table(pa.table({"x": [0.0] * 5, "k": pa.array([None, *ids])}), table)
    assert categories_of([table]) == [None, *ids]
    wide = [2**63, 2**64 - 1]
    path = put(tmp_path / "c.csv", "k", [wide[0], "", wide[1]])
    assert categories_of([path]) == [wide[0], None, wide[1]]


def test_a_category_that_is_no_whole_number(tmp_path, monkeypatch):
    path = put(tmp_path / "a.csv", "k", ["1", "2.5"])
    with pytest.raises(SourceError, match=r"column 'k', row 2: 2\.5 is no category"):
        categories_of([path])
    monkeypatch.setattr(csv_file, "CSV_BLOCK_BYTES", 64)
    put(path, "k", ["1"] * 60 + ["01"])
    with pytest.raises(SourceError, match="column 'k', row 61: expected a number, got '01', which"):
        categories_of([path])
    table = tmp_path / "b.parquet"
    pq.write_table(pa.table({"x": [0.0, 0.0], "k": [2.0**60, None]}), table)
    with pytest.raises(SourceError, match=r"row 1: 1\.15.*floats beyond 2\^53 are not exact"):
        categories_of([table])


# ------------------------------------------------------------------ any texts, any order

POOL = ["7", "007", "1.0", "1", " 1", "-0", "+5", "5", "1e3", "1000", "true", "True", "FALSE", "0",
        "NA", "", "?", "a", "18446744073709551616", "9223372036854775808", "9007199254740993",
        "0x1F", "2020-01-01", "1,234", "nan", "inf"]  # fmt: skip


def meant(path, texts, batch, values):
    """Pairs of a text and what it was read as."""
    return [(texts[path][batch.row_number(i) - 1], value) for i, value in enumerate(values)]


def read_labels(paths, texts):
    columns = ColumnRoles(target="k", features=("x",), drop_null_target=True)
    return [p for b in open_source(paths, columns) for p in meant(b.path, texts, b, b.y.tolist())]


def read_categories(paths, texts):
    columns = ColumnRoles(features=("x", "k"), categorical=("k",))
    found = []
    for b in open_source(paths, columns):
        labels = [*b.categorical[0].labels.tolist(), None]
        found += meant(b.path, texts, b, [labels[code] for code in b.categorical[0].codes])
    return found


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("read", [read_labels, read_categories])
def test_texts_are_kept_apart_or_refused_in_any_order(tmp_path, monkeypatch, read, seed):
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(csv_file, "CSV_BLOCK_BYTES", int(rng.choice([64, 1 << 21])))
    pool, texts = rng.choice(POOL, rng.integers(1, 4), replace=False), {}
    for i in range(rng.integers(1, 4)):
        path = tmp_path / f"{i}.csv"
        texts[path] = rng.choice(pool, rng.choice([0, 1, 30])).tolist()
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([("x", "k"), *((j, t) for j, t in enumerate(texts[path]))])
    outcomes = set()
    for paths in itertools.permutations(texts):
        try:
            pairs = set(read(paths, texts))
        except SourceError:
            outcomes.add("an error")
            continue
        outcomes.add(repr(sorted(map(repr, pairs))))
        for (text, value), (other, same) in itertools.combinations(pairs, 2):
            if value == same and text != other and value is not None:
                assert are_one(text.strip(), other.strip()), (text, other, value)
    assert len(outcomes) == 1


def are_one(a, b):
    """Whether two texts are one value of JSON, or one boolean in other letters."""
    if {a.lower(), b.lower()} <= {"true", "false"}:
        return a.lower() == b.lower()
    return json.loads(a) == json.loads(b)  # which takes no 007, +5 or 0x1F


# ------------------------------------------------------------------ kept columns

ODD = ["01234", "00501", str(2**64 + 5), "-0", " a ", "1.50", "NA", "", 'é, "q"', "TRUE", "1e3"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_kept_columns_are_copied_as_they_are_written(tmp_path, ending):
    data, model, output = tmp_path / "a.csv", tmp_path / "m", tmp_path / f"o.{ending}"
    with open(data, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x", "k", "y"])
        writer.writerows([i, text, "ab"[i % 2]] for i, text in enumerate(ODD))
    words = [str(data), "--target", "y", "--features", "x", "--model", str(model)]
    assert main(["fit", *words, "--quiet"]) == 0
    assert main(["predict", str(model), str(data), "--output", str(output), "--keep", "k"]) == 0
    if ending == "csv":
        with open(output, newline="") as file:
            assert [row["k"] for row in csv.DictReader(file)] == ODD
    else:
        read = pq.read_table if ending == "parquet" else feather.read_table
        table = read(output)
        assert table["k"].type == pa.string()
        assert table["k"].to_pylist() == ODD


def test_kept_columns_may_change_their_type_after_the_first_block(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "CSV_BLOCK_BYTES", 64)
    values = ["5"] * 60 + ["12.75", "late", ""]
    path = put(tmp_path / "a.csv", "k", values)
    columns = ColumnRoles(features=("x",), keep=("k", "x"))
    kept = [batch.kept for batch in open_source([path], columns)]
    assert [v for table in kept for v in table["k"].to_pylist()] == values
    assert [v for table in kept for v in table["x"].to_pylist()] == [str(i) for i in range(63)]


def test_a_feature_that_is_kept_is_a_number_too(tmp_path):
    values = ["1", " 2.50 ", "NA", "", "inf", "1e3", "007"]
    path = tmp_path / "a.csv"
    path.write_text("x,z\n" + "".join(f"{value},1\n" for value in values))
    (batch,) = open_source([path], ColumnRoles(features=("x",), keep=("x",)))
    assert np.array_equal(batch.X[:, 0], [1, 2.5, np.nan, np.nan, np.inf, 1000, 7], equal_nan=True)
    assert batch.kept["x"].to_pylist() == values
    path.write_text("x,z\ntrue,1\nfalse,1\n")
    (batch,) = open_source([path], ColumnRoles(features=("x",), keep=("x",)))
    assert batch.X[:, 0].tolist() == [1, 0]
    path.write_text('x,z\n5,1\n"1,234",1\n')
    with pytest.raises(SourceError, match="'x', row 2: expected a number, got '1,234'; write numb"):
        list(open_source([path], ColumnRoles(features=("x",), keep=("x",))))


def test_kept_columns_of_csv_and_of_parquet_are_text_together(tmp_path):
    path = put(tmp_path / "a.csv", "k", ["01", ""])
    table = tmp_path / "b.parquet"
    pq.write_table(pa.table({"x": [0.0] * 2, "k": pa.array([2**53 + 1, None])}), table)
    for paths in ([path, table], [table, path]):
        kept = [b.kept for b in open_source(paths, ColumnRoles(features=("x",), keep=("k",)))]
        found = pa.Table.from_batches(kept)["k"].to_pylist()
        assert sorted(map(str, found)) == sorted(["01", "", "9007199254740993", "None"])


def test_kept_columns_that_one_type_would_round(tmp_path):
    pq.write_table(pa.table({"x": [0.0], "k": [2**53 + 1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": [0.0], "k": [0.5]}), tmp_path / "b.parquet")
    source = open_source([tmp_path], ColumnRoles(features=("x",), keep=("k",)))
    with pytest.raises(SourceError, match=r"a\.parquet: column 'k' cannot be kept as double: .*on"):
        list(source)


def test_bytes_that_are_no_text_name_the_column_of_csv_output(tmp_path, capsys):
    data, model, output = tmp_path / "a.parquet", tmp_path / "m", tmp_path / "o.csv"
    table = pa.table({"x": [0.0, 1.0], "y": [0, 1], "raw": [b"ok", b"\xff\xfe"]})
    pq.write_table(table, data)
    assert main(["fit", str(data), "--target", "y", "--model", str(model), "--quiet"]) == 0
    words = ["predict", str(model), str(data), "--output", str(output), "--keep", "raw"]
    assert main(words) == 1
    assert "column 'raw' is binary and holds b'\\xff\\xfe', which is not UTF-8" in (
        capsys.readouterr().err
    )
    assert not output.exists()
    pq.write_table(table.slice(0, 1), data)
    assert main(words) == 0
    assert pacsv.read_csv(output)["raw"].to_pylist() == ["ok"]
