"""Damaged tables and hostile .npy files: a clear line or the right rows, never a crash."""

from __future__ import annotations

import shutil
import struct
import tracemalloc

import numpy as np
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from fault_files import (
    PARQUET_IS_CHECKED,
    attempt,
    command,
    content,
    fails,
    pieces,
    run,
    table,
    varied,
    write_rows,
)
from table_files import write

pytestmark = [pytest.mark.compiled, pytest.mark.fresh, pytest.mark.any_version]


def write_checked(path, compression, pages):
    pq.write_table(
        varied(), path, row_group_size=80, compression=compression, data_page_size=200,
        write_page_checksum=True, data_page_version=pages,
    )  # fmt: skip
    whole = path.read_bytes()
    return whole, len(whole) - 8 - struct.unpack("<I", whole[-8:-4])[0]


@pytest.mark.parametrize(
    ("compression", "pages", "step"),
    [
        ("snappy", "1.0", 19),
        ("none", "2.0", 19),
        pytest.param("none", "1.0", 3, marks=pytest.mark.slow),
        pytest.param("zstd", "2.0", 3, marks=pytest.mark.slow),
        pytest.param("snappy", "1.0", 3, marks=pytest.mark.slow),
    ],
)
@PARQUET_IS_CHECKED
def test_damage_to_a_page_with_a_checksum_is_an_error_or_harmless(
    tmp_path, compression, pages, step
):
    """A byte of every page, and of every page's header, is flipped."""
    path = tmp_path / "data.parquet"
    whole, footer = write_checked(path, compression, pages)
    expected = pieces(path)
    errors = 0
    for at in range(4, footer, step):
        for flip in (0x01, 0x80):
            spoilt = bytearray(whole)
            spoilt[at] ^= flip
            path.write_bytes(spoilt)
            found, said = attempt(path)
            assert found == expected or said.startswith(f"{path}: "), (at, flip)
            errors += found is None
    assert errors > 0.8 * 2 * len(range(4, footer, step))  # else nothing was damaged


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
@PARQUET_IS_CHECKED
def test_damage_to_the_footer_is_a_clear_error_or_no_error(tmp_path, step):
    """It has no checksum, so what it says may be believed; what cannot be is told in one line."""
    path = tmp_path / "data.parquet"
    whole, footer = write_checked(path, "snappy", "1.0")
    errors = 0
    for at in range(footer, len(whole), step):
        spoilt = bytearray(whole)
        spoilt[at] ^= 0xFF
        path.write_bytes(spoilt)
        found, said = attempt(path)
        assert "\n" not in said
        errors += found is None
    assert errors > 50


CUTS = [0, 1, 3, 4, 12, 100, 0.25, 0.5, 0.75, -100, -9, -8, -4, -1]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "stream.arrow", "npy"])
@pytest.mark.parametrize("verb", ["fit", "predict"])
def test_a_file_cut_anywhere(tmp_path, model, out, capsys, ending, verb):
    path = tmp_path / f"data.{ending}"
    labels = write_rows(path)
    if ending == "stream.arrow":
        with ipc.new_stream(path, table().schema) as sink:
            sink.write_table(table(), max_chunksize=20)
    whole, before = path.read_bytes(), content(out)
    words = command(verb, model, path, out, labels)
    for cut in CUTS:
        if ending == "stream.arrow" and cut in (-8, -4):
            continue  # without its mark of the end a stream is whole all the same
        path.write_bytes(whole[: int(cut * len(whole)) if isinstance(cut, float) else cut])
        line = fails(capsys, *words)
        assert line.startswith(f"fastgnb: error: {path}: "), cut
    assert content(out) == before


FLIPS = """
import sys
from fault_files import attempt, varied
import pathlib, collections, pyarrow.ipc as ipc
path = pathlib.Path(sys.argv[1])
data = varied()
with ipc.new_file(path, data.schema) as sink:
    sink.write_table(data, max_chunksize=80)
whole = path.read_bytes()
found = collections.Counter()
for at in range(0, len(whole), int(sys.argv[2])):
    for flip in (0x01, 0x80, 0xFF):
        spoilt = bytearray(whole)
        spoilt[at] ^= flip
        path.write_bytes(spoilt)
        rows, said = attempt(path)
        assert "\\n" not in said, said
        found["read" if rows else "refused"] += 1
print(found["read"], found["refused"])
"""


@pytest.mark.parametrize("step", [41, pytest.param(3, marks=pytest.mark.slow)])
def test_damage_to_arrow_files_never_crashes(tmp_path, python, step):
    """They have no checksums: a wrong number is read as it is, but never from another's memory."""
    counts = python(FLIPS, str(tmp_path / "data.arrow"), str(step)).split()
    read, refused = map(int, counts)
    assert read > 100
    assert refused > 100


def test_predictions_are_written_with_checksums(tmp_path, model, capsys):
    write(table(2000), tmp_path / "data.parquet")
    output = tmp_path / "o.parquet"
    run("predict", model, tmp_path / "data.parquet", "--proba", "--output", output, "--quiet")
    spoilt = bytearray(output.read_bytes())
    spoilt[len(spoilt) // 2] ^= 1
    output.write_bytes(spoilt)
    ask = ["fit", output, "--target", "prediction", "--model", tmp_path / "second"]
    assert "o.parquet: could not verify page integrity, CRC" in fails(capsys, *ask)


# ------------------------------------------------------------------ .npy that attacks


def npy(header, data=b"\0" * 64):
    text = header.encode("latin1")
    return b"\x93NUMPY\x02\0" + struct.pack("<I", len(text)) + text + data


def shaped(shape, descr="'<f8'"):
    return npy(f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}\n")


class Marker:
    """What a pickle of it does when it is loaded is seen in the folder."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


ATTACKS = {
    "terabytes": shaped((10**12, 4)),
    "beyond memory": shaped((2**62, 4)),
    "beyond 64 bits": shaped((10**40, 4)),
    "negative": shaped((-1, 4)),
    "twice negative": shaped((-4, -2)),
    "wide and empty": shaped((0, 2**63 - 1)),
    "no columns": shaped((2**63 - 1, 0)),
    "truth for a number": shaped((True, 2)),
    "float for a number": shaped("(2.0, 2)"),
    "objects": shaped((2, 2), "'|O'"),
    "huge items": shaped((2, 2), "'|V99999999999'"),
    "sub-arrays": shaped((1, 2), "('<f8', (1000000000, 1000000000))"),
    "no dtype": shaped((1, 2), "5"),
    "dates": shaped((1, 2), "'<M8[ns]'"),
    "a call": npy("__import__('os').system('touch pwned')"),
    "brackets": npy("(" * 5000),
    "lists": npy("[" * 3000 + "]" * 3000),
    "minus": npy("-" * 9000 + "1"),
    "open": npy('{"a":'),
    "keys": npy("{1: 2}"),
    "blank": npy(" " * 9990),
    "zeros": npy("\0" * 100),
    "long header": b"\x93NUMPY\x02\0\xff\xff\xff\xff{",
    "future": b"\x93NUMPY\x09\0" + b"\0" * 100,
    "four bytes": b"\x93NUM",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_npy_headers_that_attack(tmp_path, model, out, capsys, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.npy").write_bytes(ATTACKS[name])
    np.save(tmp_path / "y.npy", np.array([0, 1]))
    np.save(tmp_path / "X.npy", np.zeros((2, 2)))
    before = content(tmp_path)
    tracemalloc.start()
    try:
        for words in [
            ["fit", "bad.npy", "--target-npy", "y.npy", "--model", out / "model"],
            ["fit", "X.npy", "--target-npy", "bad.npy", "--model", out / "model"],
            ["predict", model, "bad.npy", "--output", out / "o.csv"],
        ]:
            line = fails(capsys, *words)
            assert line.startswith("fastgnb: error: bad.npy: "), line
            assert len(line) < 500
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()
    assert content(tmp_path) == before


def test_pickles_in_npy_are_not_run(tmp_path, model, out, capsys):
    mark = tmp_path / "mark"
    np.save(tmp_path / "bad.npy", np.array([[Marker(mark)]], dtype=object))
    np.savez(tmp_path / "bad.npz", a=np.array([[Marker(mark)]], dtype=object))
    for name in ["bad.npy", "bad.npz"]:
        shutil.copy(tmp_path / name, tmp_path / "data.npy")
        line = fails(capsys, "predict", model, tmp_path / "data.npy", "--output", out / "o.csv")
        assert "data.npy: not a .npy array" in line
    assert not mark.exists()
    import pickle

    pickle.loads(pickle.dumps(Marker(mark))).close()
    assert mark.exists()  # so a load would have been seen
