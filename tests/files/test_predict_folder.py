"""Predictions into a folder: a file for each input, a manifest, and no work that is done twice."""

from __future__ import annotations

import errno
import json
import os
import pathlib
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from command_line import error_line
from fault_files import content, read
from file_sets import frames, write_frames
from table_files import write

from fastgnb import GaussianNB, files, save
from fastgnb._system.remote.paths import as_path
from fastgnb.files import SourceError
from fastgnb.files.jobs import manifest as manifest_module
from fastgnb.files.jobs.file_scorer import FileScorer

pytestmark = [pytest.mark.compiled]


@pytest.fixture
def model():
    rows = frames(3)[0]
    return GaussianNB().fit(rows[["x0", "x1"]], rows["y"].to_numpy(str))


@pytest.fixture
def scored(monkeypatch):
    """The names of the outputs that are written, in order."""
    names, score = [], FileScorer.score

    def spy(self, at, *args):
        names.append(self.names[at])
        return score(self, at, *args)

    monkeypatch.setattr(FileScorer, "score", spy)
    return names


@pytest.fixture
def data(tmp_path):
    """A folder of four files in two folders, one of them without rows."""
    folder = tmp_path / "data"
    folder.mkdir()
    for year, tables in (("2025", frames(2)), ("2026", frames(2, seed=1))):
        write_frames(tables, folder / year)
    return folder


NAMES = ["2025/part-00.parquet", "2025/part-01.parquet", "2026/part-00.parquet",
         "2026/part-01.parquet"]  # fmt: skip


def manifest_of(folder):
    return json.loads((folder / "_manifest.json").read_text())


def test_each_input_has_an_output_of_its_name(tmp_path, model, data, scored):
    out = f"{tmp_path / 'out'}/"
    counts = files.predict(model, data, out, proba=True, evidence=True, keep=["x0", "y"])
    folder = pathlib.Path(out)
    found = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.*"))]
    assert found == sorted([*NAMES, "_manifest.json"])
    assert scored == NAMES
    files.predict(
        model, data, tmp_path / "all.parquet", proba=True, evidence=True, keep=["x0", "y"]
    )
    together = pa.concat_tables([read(folder / name) for name in NAMES])
    assert together.equals(read(tmp_path / "all.parquet"))
    assert read(folder / NAMES[1]).num_rows == 0
    assert counts.n_rows == together.num_rows == 60


@pytest.mark.parametrize("ending", ["csv", "arrow", "npy"])
def test_outputs_are_of_the_kind_of_the_inputs(tmp_path, ending):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["a", "b"])
    model = GaussianNB().fit(X, np.arange(40) % 2)
    paths = [tmp_path / f"{i}.{ending}" for i in range(2)]
    for i, path in enumerate(paths):
        if ending == "npy":
            np.save(path, X[i::2].to_numpy())
        else:
            write({name: X[name].to_numpy()[i::2] for name in X}, path)
    files.predict(model, paths, f"{tmp_path}/out/")
    for i, path in enumerate(paths):
        output = tmp_path / "out" / path.name
        found = np.load(output) if ending == "npy" else read(output)["prediction"].to_numpy()
        assert np.array_equal(found, model.predict(X[i::2]))


def test_a_rerun_writes_nothing(tmp_path, model, data, scored):
    out = tmp_path / "out"
    first = files.predict(model, data, f"{out}/")
    before = content(out), {path: path.stat().st_mtime_ns for path in out.rglob("*.parquet")}
    scored.clear()
    assert files.predict(model, data, f"{out}/") == first
    assert scored == []
    assert before == (
        content(out), {path: path.stat().st_mtime_ns for path in out.rglob("*.parquet")}
    )  # fmt: skip
    assert files.predict(model, data, out) == first  # it is a folder, and needs no slash


def test_the_manifest_says_what_was_made_of_what(tmp_path, model, data):
    out = tmp_path / "out"
    files.predict(model, data, f"{out}/", keep="x0", on_error="skip")
    found = manifest_of(out)
    assert [entry["output"] for entry in found["files"]] == NAMES
    for entry in found["files"]:
        path = pathlib.Path(entry["input"])
        assert path == data / entry["output"]
        assert (entry["size"], entry["changed"]) == (path.stat().st_size, path.stat().st_mtime_ns)
        assert entry["rows"] == read(out / entry["output"]).num_rows
        assert entry["bytes"] == (out / entry["output"]).stat().st_size
    assert found["options"]["keep"] == ["x0"]
    assert found["options"]["on_error"] == "skip"
    save(model, tmp_path / "model")
    files.predict(tmp_path / "model", data, f"{tmp_path}/other/", keep="x0", on_error="skip")
    assert manifest_of(tmp_path / "other") == found  # by the model, not by where it comes from


def test_only_what_is_not_the_same_is_done_again(tmp_path, model, data, scored):
    out = tmp_path / "out"
    files.predict(model, data, f"{out}/")
    expected = content(out)
    changes = {
        NAMES[0]: (out / NAMES[0]).unlink,
        NAMES[2]: lambda: os.truncate(out / NAMES[2], 100),
        NAMES[3]: lambda: shutil.copy(data / NAMES[3], out / NAMES[3]),
    }
    for name, change in changes.items():
        scored.clear()
        change()
        files.predict(model, data, f"{out}/")
        assert scored == [name]
        assert content(out) == expected
    scored.clear()
    os.utime(data / NAMES[1])
    files.predict(model, data, f"{out}/")
    assert scored == [NAMES[1]]
    write_frames(frames(1, seed=9), data / "2027")
    scored.clear()
    files.predict(model, data, f"{out}/")
    assert scored == ["2027/part-00.parquet"]


@pytest.mark.parametrize(
    "options", [{"proba": True}, {"evidence": True}, {"keep": "x0"}, {"on_error": "null"}]
)
def test_other_options_do_all_again(tmp_path, model, data, scored, options):
    files.predict(model, data, f"{tmp_path}/out/")
    scored.clear()
    files.predict(model, data, f"{tmp_path}/out/", **options)
    assert scored == NAMES
    files.predict(model, data, f"{tmp_path}/new/", **options)
    assert content(tmp_path / "out").keys() == {
        tmp_path / "out" / path.relative_to(tmp_path / "new") for path in content(tmp_path / "new")
    }
    assert [*content(tmp_path / "out").values()] == [*content(tmp_path / "new").values()]


def test_options_that_change_no_output_do_nothing_again(tmp_path, model, data, scored):
    files.predict(model, data, f"{tmp_path}/out/")
    scored.clear()
    seen = []
    files.predict(
        model, data, f"{tmp_path}/out/", batch_rows=5, threads=1,
        progress=lambda n, total: seen.append((n, total)),
    )  # fmt: skip
    assert scored == []
    assert seen == [(60, 60)]


def test_another_model_does_all_again(tmp_path, model, data, scored, caplog):
    files.predict(model, data, f"{tmp_path}/out/")
    scored.clear()
    with caplog.at_level("INFO", "fastgnb.files"):
        files.predict(model.merge(model), data, f"{tmp_path}/out/")
    assert scored == NAMES
    assert "predictions of another model or with other options are replaced" in caplog.text


def test_outputs_of_another_model_that_stay_are_named(tmp_path, model, data):
    files.predict(model, data, f"{tmp_path}/out/")
    with pytest.warns(
        UserWarning, match="4 files of another model or of other options stay"
    ) as found:
        files.predict(model, data, f"{tmp_path}/out/", output_format="csv")
    assert str(found[0].message).endswith(f"stay there, and should be deleted: {', '.join(NAMES)}")
    assert len(list((tmp_path / "out").rglob("part*"))) == 8
    files.predict(model, data, f"{tmp_path}/out/", output_format="csv")  # told once


def test_standard_input_cannot_be_read_again(tmp_path, capsys):
    for words in (
        ["fit", "-", "--target", "y", "--model", "m", "--checkpoint", tmp_path / "s"],
        ["predict", "m", "-", "--output", f"{tmp_path}/out/"],
    ):
        assert "standard input (-) cannot be read again" in error_line(capsys, *words)
    assert os.listdir(tmp_path) == []


def test_two_sets_of_files_share_a_folder(tmp_path, model, data, scored):
    for year in ("2025", "2026"):
        (data / year / "part-01.parquet").unlink()
        os.rename(data / year / "part-00.parquet", data / year / f"{year}.parquet")
    for year in ("2025", "2026", "2025"):
        files.predict(model, data / year, f"{tmp_path}/out/")
    assert scored == ["2025.parquet", "2026.parquet"]
    assert len(manifest_of(tmp_path / "out")["files"]) == 2


def test_counts_of_rows_that_are_not_scored(tmp_path, model):
    tables = frames(3)
    tables[0].loc[[1, 4], "x0"] = np.nan
    tables[2].loc[7, "x1"] = np.inf
    write_frames(tables, tmp_path / "data")
    for _ in range(2):
        counts = files.predict(model, tmp_path / "data", f"{tmp_path}/out/", on_error="null")
        assert (counts.n_rows, counts.n_bad_rows) == (62, 3)


# ------------------------------------------------------------------ names


def test_two_outputs_of_one_name_are_an_error(tmp_path, model, data):
    with pytest.raises(SourceError) as caught:
        files.predict(model, [data / "2025", data / "2026"], f"{tmp_path}/out/")
    assert str(caught.value) == (
        f"{data / '2026' / 'part-00.parquet'}: its output would have the name 'part-00.parquet', "
        f"as that of {data / '2025' / 'part-00.parquet'}; give the folder that holds both, or "
        "score them into two folders"
    )
    with pytest.raises(SourceError, match="its output would have the name"):
        files.predict(model, [data, data / NAMES[0], data / NAMES[0]], f"{tmp_path}/out/")
    assert not (tmp_path / "out").exists()


def test_a_folder_in_the_data_is_refused(tmp_path, model, data):
    with pytest.raises(SourceError, match=r"out: is in .*data, so that the next run would take"):
        files.predict(model, data, f"{data}/out/")
    with pytest.raises(SourceError, match=r"data: is in .*data, so that"):
        files.predict(model, data, f"{data}/")
    with pytest.raises(SourceError, match="the output would replace an input"):
        files.predict(model, data / NAMES[0], f"{data}/2025/")
    files.predict(model, data, f"{data}/_out/")  # which no reader takes for data
    files.predict(model, data, f"{data}/_out/")
    assert len(manifest_of(data / "_out")["files"]) == 4


def test_workers_need_a_folder(tmp_path, model, data):
    with pytest.raises(ValueError, match="workers write to a folder, a file for each input"):
        files.predict(model, data, tmp_path / "o.csv", workers=2)


def test_patterns_keep_the_names_below_their_fixed_part(tmp_path, model, data, scored):
    files.predict(model, f"{data}/*/part-00.parquet", f"{tmp_path}/out/")
    files.predict(model, f"{data}/2025/part-0?.parquet", f"{tmp_path}/other/")
    assert scored == [NAMES[0], NAMES[2], "part-00.parquet", "part-01.parquet"]


def test_outputs_that_are_neither(tmp_path, model, data):
    with pytest.raises(ValueError, match=r"does not end in one of .*; a folder ends in /"):
        files.predict(model, data, tmp_path / "o")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="file: it is a file, expected a folder"):
        files.predict(model, data, f"{tmp_path}/file/")
    with pytest.raises(FileNotFoundError, match=r"the folder .*none does not exist"):
        files.predict(model, data, f"{tmp_path}/none/out/")


def test_object_stores_have_the_same_names(tmp_path, model, data):
    pytest.importorskip("fsspec")
    out, store = "memory://folder/out", "memory://folder/data"
    for name in NAMES:
        as_path(f"{store}/{name}").write_bytes((data / name).read_bytes())
    files.predict(model, data, f"{tmp_path}/out/")
    for given in (store, f"{store}/", f"{store}/*/*.parquet"):
        files.predict(model, given, f"{out}/")
    for name in NAMES:
        assert as_path(f"{out}/{name}").read_bytes() == (tmp_path / "out" / name).read_bytes()
    found = json.loads(as_path(f"{out}/_manifest.json").read_bytes())
    assert [entry["input"] for entry in found["files"]] == [f"{store}/{name}" for name in NAMES]
    with pytest.raises(SourceError, match="so that the next run would take its files for data"):
        files.predict(model, store, f"{store}/2025/out/")


# ------------------------------------------------------------------ what goes wrong in the middle


def test_a_bad_row_keeps_what_is_done(tmp_path, model, scored):
    tables = frames(6)
    tables[3].loc[5, "x0"] = np.inf
    paths = write_frames(tables, tmp_path / "data")
    out = tmp_path / "out"
    with pytest.raises(SourceError, match=r"part-03.parquet: column 'x0', row 6: inf is not"):
        files.predict(model, tmp_path / "data", f"{out}/")
    done = [path.name for path in paths[:3]]
    assert sorted(os.listdir(out)) == ["_manifest.json", *done]
    assert [entry["output"] for entry in manifest_of(out)["files"]] == done
    tables[3].loc[5, "x0"] = 0.0
    write_frames(tables[3:4], tmp_path / "new")
    os.replace(tmp_path / "new" / "part-00.parquet", paths[3])
    scored.clear()
    files.predict(model, tmp_path / "data", f"{out}/")
    assert scored == [path.name for path in paths[3:]]
    files.predict(model, tmp_path / "data", f"{tmp_path}/once/")
    assert [*content(out).values()] == [*content(tmp_path / "once").values()]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_keeps_what_is_done(tmp_path, model, monkeypatch, scored, step):
    paths, out = write_frames(frames(4), tmp_path / "data"), tmp_path / "out"
    files.predict(
        model, paths[0], tmp_path / "first.csv"
    )  # kernels are written to their cache here
    scored.clear()
    real = getattr(os, step)

    def fail(*args):
        if len(scored) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(OSError, match="cannot be written: No space left") as caught:
            files.predict(model, tmp_path / "data", f"{out}/")
    assert caught.value.filename == os.fspath(out / paths[2].name)
    assert sorted(os.listdir(out)) == [paths[0].name, paths[1].name]  # and no manifest, for now
    files.predict(model, tmp_path / "data", f"{out}/")
    assert len(manifest_of(out)["files"]) == 4


def test_a_manifest_is_written_now_and_then(tmp_path, model, monkeypatch):
    """So that a run that is killed loses little."""
    write_frames(frames(5), tmp_path / "data")
    monkeypatch.setattr(manifest_module, "_EVERY", 0.0)
    sizes, write_ = [], manifest_module.Manifest.write

    def spy(self, **options):
        write_(self, **options)
        sizes.append(len(manifest_of(tmp_path / "out")["files"]))

    monkeypatch.setattr(manifest_module.Manifest, "write", spy)
    files.predict(model, tmp_path / "data", f"{tmp_path}/out/")
    assert sizes == [1, 2, 3, 4, 5, 5]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "not JSON", '{"manifest": 1, "fastgnb": "0", "model": "", "options": {}}',
     "half", "entry"],
)  # fmt: skip
def test_an_altered_manifest_is_refused_by_name(tmp_path, model, data, scored, text):
    out = tmp_path / "out"
    files.predict(model, data, f"{out}/")
    path = out / "_manifest.json"
    whole = path.read_text()
    text = {
        "half": whole[: len(whole) // 2],
        "entry": whole.replace('"rows": 30', '"rows": "x"'),
    }.get(text, text)
    path.write_text(text)
    before = content(out)
    with pytest.raises(SourceError) as caught:
        files.predict(model, data, f"{out}/")
    assert str(caught.value).startswith(f"{path}: is no manifest of predictions, or was altered (")
    assert "name another folder, or delete it to score all files again" in str(caught.value)
    assert content(out) == before
    path.unlink()
    scored.clear()
    files.predict(model, data, f"{out}/")
    assert scored == NAMES
    assert path.read_text() == whole
