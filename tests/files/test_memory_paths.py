"""Files, models and outputs in memory://, which needs no server: what local ones give."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pytest
from command_line import error_line, run
from same_bits import assert_same_bits
from table_files import write

from fastgnb import files, load, save

ENDINGS = ["parquet", "csv", "arrow"]


@pytest.fixture
def memory(tmp_path):
    """The file system memory://, with the files of `tmp_path`: a folder `rows`, and arrays."""
    fsspec = pytest.importorskip("fsspec")
    rng = np.random.default_rng(0)
    (tmp_path / "rows").mkdir()
    for ending in ENDINGS:
        y = rng.integers(0, 2, 400)
        write(pa.table({"a": rng.normal(y), "b": rng.normal(y), "y": y}),
              tmp_path / "rows" / f"x.{ending}")  # fmt: skip
    np.save(tmp_path / "x.npy", rng.normal(size=(50, 2)))
    np.save(tmp_path / "y.npy", rng.integers(0, 2, 50))
    filesystem = fsspec.filesystem("memory")
    for path in filter(lambda path: path.is_file(), tmp_path.rglob("*")):
        filesystem.pipe_file(f"/{path.relative_to(tmp_path).as_posix()}", path.read_bytes())
    yield filesystem
    for name in filesystem.find("/"):
        filesystem.rm_file(name)


@pytest.mark.promise("partitions")
def test_the_same_rows_give_the_same_model(memory, tmp_path):
    here = files.fit(tmp_path / "rows", target="y")
    there = files.fit("memory://rows", target="y", output="memory://models/m.fgnb")
    assert_same_bits(here.stats_, there.stats_)
    assert_same_bits(here.stats_, load("memory://models/m.fgnb").stats_)
    save(there, "memory://models/copy.fgnb")
    assert_same_bits(here.stats_, load("memory://models/copy.fgnb").stats_)
    for ending in ENDINGS:
        here = files.fit_stats(tmp_path / "rows" / f"x.{ending}", target="y")
        assert_same_bits(here, files.fit_stats(f"memory://rows/x.{ending}", target="y"))


def test_arrays(memory, tmp_path):
    here = files.fit(tmp_path / "x.npy", target_npy=tmp_path / "y.npy")
    there = files.fit("memory://x.npy", target_npy="memory://y.npy")
    assert_same_bits(here.stats_, there.stats_)
    mixed = files.fit(tmp_path / "x.npy", target_npy="memory://y.npy")
    assert_same_bits(here.stats_, mixed.stats_)


def test_rows_are_read_again_as_often_as_asked(memory):
    source = files.open_rows("memory://rows", target="y")
    assert [batch.y.tolist() for batch in source] == [batch.y.tolist() for batch in source]
    assert [path.name for path in source.paths] == ["x.arrow", "x.csv", "x.parquet"]


@pytest.mark.parametrize("ending", [*ENDINGS, "npy"])
def test_predictions(memory, tmp_path, ending):
    model = files.fit("memory://rows", target="y")
    files.predict(model, tmp_path / "rows", tmp_path / f"p.{ending}", evidence=True)
    files.predict(model, "memory://rows", f"memory://out/p.{ending}", evidence=True)
    assert memory.cat_file(f"/out/p.{ending}") == (tmp_path / f"p.{ending}").read_bytes()
    assert memory.find("/out") == [f"/out/p.{ending}"]


def test_an_output_that_fails_leaves_nothing(memory):
    model = files.fit("memory://rows", target="y")
    memory.pipe_file("/bad.csv", b"a,b\n1,2\n3,oops\n")
    with pytest.raises(files.SourceError, match=r"memory://bad\.csv: column 'b'.*'oops'"):
        files.predict(model, "memory://bad.csv", "memory://out/p.csv")
    assert memory.find("/out") == []


def test_commands(memory, tmp_path, capsys):
    run("fit", "memory://rows", "--target", "y", "--model", tmp_path / "m.fgnb")
    run("evaluate", tmp_path / "m.fgnb", "memory://rows", "--json", "memory://e.json")
    assert memory.cat_file("/e.json").startswith(b"{")
    run("fit", f"file://{tmp_path}/rows", "--target", "y", "--model", "memory://m.fgnb")
    assert memory.cat_file("/m.fgnb") != b""
    text = error_line(capsys, "fit", "nothing://x.csv", "--target", "y", "--model", "m.fgnb")
    assert "nothing://x.csv: unknown scheme 'nothing'" in text


def test_an_empty_arrow_file_and_an_empty_csv_decide_nothing(memory, tmp_path):
    for ending in ENDINGS:
        path = tmp_path / f"empty.{ending}"
        write(pa.table({"a": pa.array([], pa.string()), "y": pa.array([], pa.int64())}), path)
        memory.pipe_file(f"/rows/empty.{ending}", path.read_bytes())
    assert files.fit("memory://rows", target="y").stats_.count.sum() == 1200
    memory.pipe_file("/nothing.arrow", b"")
    with pytest.raises(files.SourceError, match=r"memory://nothing\.arrow: "):
        files.fit("memory://nothing.arrow", target="y")


def test_patterns_and_keys_of_folders(memory, tmp_path):
    for year in (2025, 2026):
        memory.cp_file("/rows/x.csv", f"/years/year={year}/x.csv")
    memory.pipe_file("/years/year=2026/_SUCCESS", b"")

    def names(*data, **options):
        return [str(path) for path in files.open_rows(data, **options).paths]

    assert names("memory://rows/x.[ap]*") == ["memory://rows/x.arrow", "memory://rows/x.parquet"]
    both = [f"memory://years/year={year}/x.csv" for year in (2025, 2026)]
    assert names("memory://years/*/*.csv") == names("memory://years/**") == both
    assert names("memory://years/year=*") == names("memory://years") == both
    assert names("memory://years", where="year >= 2026") == both[1:]
    with pytest.raises(files.SourceError, match=r"memory://years/\*\.csv: no file matches"):
        names("memory://years/*.csv")


def test_compressed_csv(memory, tmp_path):
    model = files.fit("memory://rows", target="y")
    files.predict(model, "memory://rows/x.csv", "memory://out/p.csv.gz")
    files.predict(model, tmp_path / "rows" / "x.csv", tmp_path / "p.csv")
    assert gzip.decompress(memory.cat_file("/out/p.csv.gz")) == (tmp_path / "p.csv").read_bytes()
