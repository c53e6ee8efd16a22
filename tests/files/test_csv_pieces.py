"""CSV cut between rows: a reader that takes one byte after the other says where rows end."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastgnb.files.tables import csv_file
from fastgnb.files.tables.csv_dialect import CsvDialect
from fastgnb.files.tables.csv_file import CsvFile
from fastgnb.files.tables.csv_pieces import cut_text, row_end


def ends_of_rows(text, sep, quote):
    """Where rows end, as Arrow reads them: the slow twin."""
    ends, at, state = [], 0, "start"  # of a field, "plain" or "quoted"
    while at < len(text):
        byte = text[at : at + 1]
        if state == "quoted":
            if byte == quote and text[at + 1 : at + 2] == quote:
                at += 1
            elif byte == quote:
                state = "plain"
        elif byte == quote and state == "start":
            state = "quoted"
        elif byte == sep:
            state = "start"
        elif byte in (b"\n", b"\r"):
            state = "start"
            if byte == b"\n":
                ends.append(at + 1)
        else:
            state = "plain"
        at += 1
    return ends


ALPHABET = st.sampled_from([b"a", b"1", b",", b"\n", b'"', b'""', b"\r\n", b" ", b'"a,\n"'])
TEXTS = st.lists(ALPHABET, max_size=40).map(b"".join)


@given(TEXTS)
@settings(max_examples=300)
def test_a_text_is_cut_only_where_a_row_ends(text):
    end = row_end(text, b",", b'"')
    assert end == 0 or end in ends_of_rows(text, b",", b'"')


@given(TEXTS, st.integers(1, 50), st.integers(1, 9))
@settings(max_examples=300)
def test_pieces_are_the_text_and_all_but_the_last_end_where_rows_do(text, size, at_once):
    file = io.BytesIO(text)
    pieces = list(cut_text(lambda n: file.read(min(n, at_once)), size, b",", b'"'))
    ends, read = ends_of_rows(text, b",", b'"'), 0
    for i, (piece, is_cut) in enumerate(pieces):
        read += len(piece)
        assert len(piece) <= size
        assert is_cut or i == len(pieces) - 1
        assert not is_cut or read in ends or read == len(text)
    assert b"".join(piece for piece, _ in pieces) + file.read() == text


def test_a_mark_of_the_byte_order_is_left_out():
    file = io.BytesIO(b'\xef\xbb\xbf"a","b"\n1,2\n')
    assert list(cut_text(file.read, 100, b",", b'"')) == [(b'"a","b"\n1,2\n', True)]


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (b'1,"a\nb"\n2,"c\n', 8),  # a break within quotes that are open
        (b'1,"a""b"\n2', 9),
        (b'1,5" pipe\n2,3" pipe\n', 0),  # quotes that quote nothing
        (b'1, "a"\n', 0),
        (b'1,"a"b\n', 0),
        (b"1,2", 0),
        (b'""\n"', 3),
    ],
)
def test_where_rows_end(text, end):
    assert row_end(text, b",", b'"') == end


def test_a_quote_is_a_letter_where_nothing_is_quoted():
    assert row_end(b'1,"a\n2', b",", None) == 5


# ------------------------------------------------------------------ files


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(csv_file, "CSV_BLOCK_BYTES", 64)
    before = pa.cpu_count()
    pa.set_cpu_count(3)
    yield
    pa.set_cpu_count(before)


def rows_of(text, path, columns=("a", "t"), rows=7):
    path.write_bytes(text)
    types = {"a": pa.float64(), "t": pa.string()}
    file = CsvFile(path, dialect=CsvDialect())
    batches = [batch.joined() for batch in file.batches(list(columns), types, rows)]
    return pa.Table.from_batches(batches)


def written(texts):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=len(texts)).round(4)
    lines = [f"{a},{t},{i}" for i, (a, t) in enumerate(zip(numbers, texts, strict=True))]
    return "\n".join(["a,t,n", *lines, ""]).encode()


KINDS = {
    "plain": ["u", "vw", "", "x y"],
    "quoted": ['"u"', '"v, w"', '""', '"x ""y"""'],
    "line breaks": ['"u\nv"', "w", '"\n"', '"x\r\ny"'],
    "mixed": ["u", '"v"', 'a 5" pipe', '"w\nx"'],
    "late quotes": ["u"] * 40 + ['5" pipe', "v"],
}


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_pieces_in_threads_give_the_rows_of_arrow(tmp_path, small_blocks, kind, ends):
    text = written((KINDS[kind] * 60)[:200])
    if kind != "line breaks":
        text = text.replace(b"\n", ends)
    expected = csv.read_csv(
        io.BytesIO(text),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            include_columns=["a", "t"], column_types={"a": pa.float64(), "t": pa.string()}
        ),
    )
    result = rows_of(text, tmp_path / "data.csv")
    assert result.combine_chunks().equals(expected.combine_chunks())


@pytest.mark.parametrize("ending", [b"", b"\n", b"\n\n\n", b"\n" * 200])
def test_blank_lines_at_the_end_are_no_rows(tmp_path, small_blocks, ending):
    text = written(["u"] * 30).rstrip(b"\n") + ending
    assert rows_of(text, tmp_path / "data.csv").num_rows == 30
