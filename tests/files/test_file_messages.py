"""What is wrong with a file or with the names of columns is told before a row is read."""

from __future__ import annotations

import bz2
import io
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fastgnb.cli.entry import main
from fastgnb.cli.parser import build_parser
from fastgnb.files.errors import SourceError
from fastgnb.files.tables.columns import ColumnRoles
from fastgnb.files.tables.sources import open_source


def put(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def saved(write):
    held = io.BytesIO()
    write(held)
    return held.getvalue()


def zipped(held):
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")


SEMICOLONS = "are separated by ';', a semicolon, expected ','; say --sep ';'"
GROUPED = "write numbers without separators of thousands"
NUL_BYTES = "got NUL bytes, as UTF-16 has them; name its encoding, or"
TEXT = "a,b,y\n1.5,2,0\n2.5,3,1\n"
NO_CSV = {
    "bzip2": (bz2.compress(TEXT.encode()), "got a bzip2 file; name it .csv.bz2, or"),
    "lz4": (b"\x04\x22\x4d\x18" + TEXT.encode(), "got an lz4 file; unpack it first"),
    "xlsx": (saved(zipped), "got a zip archive; unpack it first, or save an Excel workbook as CSV"),
    "xls": (b"\xd0\xcf\x11\xe0" + TEXT.encode(), "got an Excel workbook; save it as CSV first"),
    "parquet": (
        saved(lambda held: pq.write_table(pa.table({"a": [1]}), held)),
        "got a Parquet file; name it .parquet",
    ),
    "arrow": (b"ARROW1\0\0", "got an Arrow file; name it .arrow"),
    "npy": (saved(lambda held: np.save(held, np.zeros(3))), "got a NumPy array; name it .npy"),
    "utf-16": (TEXT.encode("utf-16"), "got text in UTF-16; say --encoding utf-16, or"),
    "utf-16, no mark": (TEXT.encode("utf-16-le"), NUL_BYTES),
    "utf-32": (TEXT.encode("utf-32-be")[3:], NUL_BYTES),
    "semicolons": (TEXT.replace(",", ";"), SEMICOLONS),
    "decimal commas": ("a;b;y\n1,5;2;0\n", SEMICOLONS),
    "write.csv2": ('"";"a";"y"\n"1";1,5;"u"\n', SEMICOLONS),
    "tabs": (TEXT.replace(",", "\t"), r"by '\\t', a tab, expected ','; say --sep tab"),
    "bars": ("\ufeff" + TEXT.replace(",", "|"), "by '|', a bar, expected ','; say --sep '|'"),
    "row names": ("a,y\n1,1.5,0\n2,2.5,1\n", "row 1: .* got 3.*; the names are one fewer than the"),
    "a comma inside": ("a,y\n1,0\n1,234,1\n", "row 2: .*; a value that holds a comma, such as"),
    "header in Latin-1": (b"caf\xe9,y\n1,0\n", "is not UTF-8: .*; write the file in UTF-8"),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_CSV)
@pytest.mark.parametrize("columns", [ColumnRoles(), ColumnRoles(target="y", features=("a",))])
def test_files_that_are_no_csv_say_what_they_are(tmp_path, name, columns):
    content, message = NO_CSV[name]
    path = put(tmp_path / "data.csv", content)
    message = message.replace("|", r"\|") if name == "bars" else message
    with pytest.raises(SourceError, match=rf"data\.csv: .*{message}"):
        open_source([path], columns)


@pytest.mark.parametrize("name", ["data.csv.xz", "data.parquet.ZST", "data.csv.zip"])
def test_endings_of_packed_files(tmp_path, name):
    path = put(tmp_path / name, TEXT)
    with pytest.raises(SourceError, match=r"unknown ending .*; expected .*; unpack it first$"):
        open_source([path])


@pytest.mark.parametrize(
    "text", ['"a;b",y\n1,0\n', '"a;""b"\n1\n', '"a;b"\n1\n', "a;b,y\n1,0\n", "a b\n1\n"]
)
def test_separators_inside_names(tmp_path, text):
    path = put(tmp_path / "data.csv", text)
    assert len(open_source([path]).features) == text.split("\n")[0].count(",") + 1


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        ("?", "write a missing value as an empty field or NA, or name the word in --na-values"),
        ('"1,234"', f"{GROUPED}, or name theirs with --thousands"),
        ('"1,5"', "write numbers with a decimal point, or name theirs with --decimal"),
        ("12%", "write numbers without their unit"),
    ],
)
def test_values_that_are_nearly_numbers(tmp_path, capsys, value, advice):
    """By default such a column is left out, and that is told with --quiet too."""
    path = put(tmp_path / "data.csv", f"a,b,y\n1.5,2,0\n2.5,{value},1\n")
    plain = value.strip('"')
    source = open_source([path], ColumnRoles(target="y"))
    assert source.features == ("a",)
    assert source.warnings == (f"column 'b' is left out, as it holds {plain!r}; {advice}",)
    for features in [None, ("a", "b")]:
        source = open_source([path], ColumnRoles(target="y", features=features, categorical="auto"))
        assert source.features == ("a", "b")
        assert source.warnings == (
            f"column 'b' is taken for categories, as it holds {plain!r}; {advice}",
        )
    assert open_source([path], ColumnRoles(target="y", categorical=("b",))).warnings == ()
    words = ["fit", str(path), "--target", "y", "--model", str(tmp_path / "m"), "--quiet"]
    assert main(words) == 0
    assert f"warning: column 'b' is left out, as it holds {plain!r}; {advice}\n" in (
        capsys.readouterr().err
    )
    assert main([*words, "--features", "a,b"]) == 1
    assert f"column 'b', row 2: expected a number, got {plain!r}; {advice}\n" in (
        capsys.readouterr().err
    )
    with pytest.raises(SourceError, match=r"no numeric or boolean column .*; column 'b' holds "):
        open_source([path], ColumnRoles(target="y", exclude=("a",)))


def test_text_beside_numbers_is_left_out_without_a_warning(tmp_path):
    path = put(tmp_path / "data.csv", "a,t,u,v,y\n1.5,2,?,none,0\n2.5,A/5 21171,v,missing,1\n")
    source = open_source([path], ColumnRoles(target="y"))
    assert (source.left_out, source.warnings) == (("t", "u", "v"), ())
    put(path, 'a,n,y\n1.5,"1,200",0\n2.5,"3,400",1\n')  # all of them
    assert (
        "column 'n' is left out, as it holds '1,200'"
        in (open_source([path], ColumnRoles(target="y")).warnings[0])
    )


def test_nul_bytes_inside_values(tmp_path):
    path = put(tmp_path / "data.csv", "a,y\n1.5,0\n2\0,1\n")
    with pytest.raises(SourceError, match=r"row 2: expected a number, .*; the file holds NUL by"):
        list(open_source([path], ColumnRoles(features=("a",))))


# ------------------------------------------------------------------ names of columns


@pytest.fixture
def data(tmp_path):
    return put(tmp_path / "data.csv", 'Age, income ,"a,b",Sepal Length,y\n1,2,3,4,0\n')


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            ColumnRoles(target="Y", weight="w", features=("age", "zz"), keep=("k",)),
            "columns 'age', 'zz', 'Y', 'w', 'k' are missing; found 'Age', ' income ', 'a,b', "
            "'Sepal Length', 'y'; did you mean 'Age' for 'age', 'y' for 'Y'?",
        ),
        (ColumnRoles(features=("income",)), "did you mean ' income ' for 'income'?"),
        (
            ColumnRoles(features=("sepal_length",)),
            "did you mean 'Sepal Length' for 'sepal_length'?",
        ),
        (
            ColumnRoles(features=("a", "b")),
            "; a name with a comma stands in double quotes: '\"a,b\"'",
        ),
        (
            ColumnRoles(exclude=("agee",)),
            "column 'agee' is missing; .*did you mean 'Age' for 'agee'?",
        ),
        (ColumnRoles(categorical=("zz",)), "column 'zz' is missing; found 'Age', .* 'y'$"),
    ],
)
def test_all_missing_names_at_once_with_those_that_are_near(data, columns, message):
    message = message.replace("?", r"\?")
    with pytest.raises(SourceError, match=rf"data\.csv: .*{message}"):
        open_source([data], columns)


def test_missing_names_of_later_files(tmp_path, data):
    for i in range(3):
        put(tmp_path / f"later{i}.csv", "age,y\n1,0\n")
    columns = ColumnRoles(target="y", features=("Age", "Sepal Length"))
    with pytest.raises(
        SourceError,
        match=r"later0\.csv: columns 'Age', 'Sepal Length' are missing; found 'age', 'y'; did you "
        r"mean 'age' for 'Age'\?; 2 more of the files lack columns$",
    ):
        open_source([data, *(tmp_path / f"later{i}.csv" for i in range(3))], columns)


@pytest.mark.parametrize("text", ["5.1,3.5,0\n1,2,1\n", "5.1,setosa,1\n1,virginica,1\n"])
def test_a_file_without_names(tmp_path, text):
    path = put(tmp_path / "data.csv", text)
    with pytest.raises(SourceError, match="; the first line of CSV has to hold the names of the c"):
        open_source([path], ColumnRoles(target="y"))


def test_columns_that_are_separated_by_spaces(tmp_path):
    path = put(tmp_path / "data.csv", "a  b y\n1 2 0\n")
    with pytest.raises(SourceError, match="found 'a  b y'; its columns are separated by spaces, e"):
        open_source([path], ColumnRoles(target="y"))


def test_numbers_may_be_names(tmp_path):
    path = put(tmp_path / "data.csv", "0,1,2\n1.5,2,0\n")
    assert open_source([path], ColumnRoles(target="2")).features == ("0", "1")


def test_a_name_that_is_there_twice_may_be_left_out(tmp_path):
    path = put(tmp_path / "data.csv", "a,a,b,y\n1,2,3,0\n")
    with pytest.raises(
        SourceError, match="column 'a' is there 2 times; rename one of them, or lea"
    ):
        open_source([path], ColumnRoles(target="y"))
    assert open_source([path], ColumnRoles(target="y", exclude=("a",))).features == ("b",)


# ------------------------------------------------------------------ options that are repeated


def parsed(*words):
    return build_parser().parse_args(list(words))


def test_lists_of_names_may_be_given_in_parts():
    fit = ["fit", "d.csv", "--target", "y", "--model", "m"]
    args = parsed(*fit, "--features", "a,b", "--features", '"c,d"', "--features", "e")
    assert args.features == ("a", "b", "c,d", "e")
    args = parsed(*fit, "--exclude", "a", "--exclude", '"c,d",e')
    assert args.exclude == ("a", "c,d", "e")
    args = parsed(*fit, "--categorical", "a", "--categorical", "b,c")
    assert list(args.categorical_features) == ["a", "b", "c"]
    assert parsed(*fit, "--categorical", "auto").categorical_features == "auto"
    args = parsed("predict", "m", "d.csv", "--output", "o.csv", "--keep", "a", "--keep", "b,c")
    assert args.keep == ("a", "b", "c")
    assert parsed(*fit).exclude == parsed("predict", "m", "d", "--output", "o.csv").keep == ()
    assert parsed(*fit).features is None


@pytest.mark.parametrize("order", [["auto", "a"], ["a", "auto"]])
def test_automatic_and_named_categories_together(capsys, order):
    words = [word for value in order for word in ("--categorical", value)]
    assert main(["fit", "d.csv", "--target", "y", "--model", "m", *words]) == 2
    assert "argument --categorical: auto stands alone" in capsys.readouterr().err


def test_a_name_that_is_given_in_two_parts_is_told(data, tmp_path, capsys):
    words = ["fit", str(data), "--target", "y", "--model", str(tmp_path / "m")]
    assert main([*words, "--features", "Age", "--features", "Age"]) == 1
    assert "column 'Age' is named 2 times among the features" in capsys.readouterr().err
