"""CSV that is compressed: the same rows, in bounded memory, or an error where it is damaged."""

from __future__ import annotations

import bz2
import gzip
import os

import numpy as np
import pyarrow as pa
import pytest
from source_rows import read

from fastgnb import files
from fastgnb.files.errors import SourceError
from fastgnb.files.tables import csv_file
from fastgnb.files.tables.columns import ColumnRoles

pytestmark = pytest.mark.any_version


def zstd(data):
    return pa.compress(data, codec="zstd", asbytes=True)


PACK = {"gz": gzip.compress, "bz2": bz2.compress, "zst": zstd}
NAMES = {"gz": "gzip", "bz2": "bz2", "zst": "zstd"}
ROLES = ColumnRoles("y")


def text(n=3000):
    rng = np.random.default_rng(0)
    lines = [f"{a:.17g},{b},{y}" for a, b, y in zip(
        rng.normal(size=n), rng.integers(0, 9, n), rng.choice(["u", "v"], n), strict=True
    )]  # fmt: skip
    return ("a,b,y\n" + "\n".join(lines) + "\n").encode()


def put(folder, ending, data, sep="csv"):
    path = folder / f"data.{sep}.{ending}"
    path.write_bytes(data)
    return path


def same(a, b):
    np.testing.assert_array_equal(a[0], b[0])
    assert a[1].tolist() == b[1].tolist()


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("block", [1 << 12, 1 << 21])
def test_rows_are_those_of_the_plain_file(tmp_path, monkeypatch, ending, block):
    monkeypatch.setattr(csv_file, "CSV_BLOCK_BYTES", block)
    plain = tmp_path / "plain.csv"
    plain.write_bytes(text())
    expected = read(plain, ROLES)
    same(read(put(tmp_path, ending, PACK[ending](text())), ROLES), expected)
    same(read(put(tmp_path, ending.upper(), PACK[ending](text())), ROLES), expected)
    tabs = PACK[ending](text().replace(b",", b"\t"))
    same(read(put(tmp_path, ending, tabs, "tsv"), ROLES), expected)


@pytest.mark.parametrize("ending", PACK)
def test_files_of_several_parts(tmp_path, ending):
    """As `cat a.gz b.gz` and parallel compressors write them."""
    data = text()
    parts = b"".join(PACK[ending](data[i : i + 10_000]) for i in range(0, len(data), 10_000))
    same(
        read(put(tmp_path, ending, parts), ROLES),
        read(put(tmp_path, ending, PACK[ending](data)), ROLES),
    )


@pytest.mark.parametrize("ending", PACK)
def test_truncated_files_are_an_error_that_says_so(tmp_path, ending):
    """Cut anywhere, within the part that is looked at first or within the last bytes."""
    packed = PACK[ending](text())
    for size in [1, 10, len(packed) // 3, len(packed) - 8, len(packed) - 1]:
        path = put(tmp_path, ending, packed[:size])
        with pytest.raises(SourceError) as caught:
            read(path, ROLES)
        found = f"{path}: the {NAMES[ending]} file is damaged or not complete: "
        assert str(caught.value).startswith(found), size


@pytest.mark.parametrize("ending", PACK)
def test_corrupt_files_are_an_error_or_keep_their_rows(tmp_path, ending):
    """A checksum holds in gzip and bzip2; zstd as written here has none, but its frame has."""
    packed, rng = PACK[ending](text()), np.random.default_rng(1)
    plain = read(put(tmp_path, ending, packed), ROLES)
    for at in rng.integers(0, len(packed), 20):
        damaged = bytearray(packed)
        damaged[at] ^= 0x10
        path = put(tmp_path, ending, bytes(damaged))
        try:
            found = read(path, ROLES)
        except SourceError:  # which names the file, see above
            pass
        else:
            if ending != "zst":
                same(found, plain)


@pytest.mark.parametrize("ending", PACK)
def test_another_compression_than_the_ending_says(tmp_path, ending):
    for other, pack in PACK.items():
        if other != ending:
            with pytest.raises(SourceError, match=f"the {NAMES[ending]} file is damaged"):
                read(put(tmp_path, ending, pack(text())), ROLES)
    with pytest.raises(SourceError, match=f"the {NAMES[ending]} file is damaged or not complete"):
        read(put(tmp_path, ending, text()), ROLES)


def test_compressed_files_that_say_they_are_plain(tmp_path):
    for ending, pack in PACK.items():
        path = tmp_path / "data.csv"
        path.write_bytes(pack(text()))
        with pytest.raises(SourceError, match=rf"name it \.csv\.{ending}, or unpack it first"):
            read(path, ROLES)


@pytest.mark.parametrize("ending", PACK)
def test_rows_in_errors_are_those_of_the_text(tmp_path, ending):
    lines = text().splitlines(keepends=True)
    data = b"".join([*lines[:2001], b"bad,1,u\n", *lines[2001:]])
    path = put(tmp_path, ending, PACK[ending](data))
    with pytest.raises(SourceError, match="column 'a', row 2001: expected a number, got 'bad'"):
        read(path, ColumnRoles("y", features=("a", "b")))


@pytest.mark.parametrize("ending", PACK)
def test_blank_files_and_names_only(tmp_path, ending):
    with pytest.raises(SourceError, match="the file is empty, expected a line of column names"):
        read(put(tmp_path, ending, PACK[ending](b"\n\n")), ROLES)
    for names in [b"a,b,y", b"a,b,y\n"]:
        path = put(tmp_path, ending, PACK[ending](names))
        other = tmp_path / "other.csv"
        other.write_bytes(text(10))
        X, *_ = read([path, other], ROLES)
        assert len(X) == 10


@pytest.mark.parametrize("ending", PACK)
def test_a_model_of_it_is_learned_once(tmp_path, ending):
    plain = tmp_path / "plain.csv"
    plain.write_bytes(text())
    path, model = put(tmp_path, ending, PACK[ending](text())), tmp_path / "m.fgnb"
    fitted = files.fit(path, target="y", output=model)
    expected = files.fit(plain, target="y")
    assert fitted.theta_.tobytes() == expected.theta_.tobytes()
    assert fitted.var_.tobytes() == expected.var_.tobytes()
    with pytest.raises(ValueError, match=f"has learned {os.path.basename(path)} already"):
        files.update(model, path)
