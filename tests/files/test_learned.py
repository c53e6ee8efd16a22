"""A job that is run again: files that a model has learned are refused a second time."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import fails, run

from fastgnb import load, save
from fastgnb.files.models import container as _model_file
from fastgnb.files.models import learned as _learned
from fastgnb.files.models import model_file as persist
from fastgnb.files.models.container import ModelFileError
from fastgnb.files.models.learned import LearnedFile, fingerprint, joined


def rows(path, n=20, seed=0):
    draw = np.random.default_rng(seed)
    lines = [f"{draw.normal():.6f},{'ab'[i % 2]}" for i in range(n)]
    path.write_text("\n".join(["x,y", *lines, ""]))
    return path


@pytest.fixture
def days(tmp_path):
    return [rows(tmp_path / f"{i}.csv", seed=i) for i in range(3)]


@pytest.fixture
def model(tmp_path, days):
    run("fit", days[0], "--target", "y", "--model", tmp_path / "m", "--quiet")
    return tmp_path / "m"


def weight(path):
    return float(persist.read(path).model.stats.count.sum())


@pytest.mark.promise("once")
def test_an_update_that_is_run_again_is_refused(model, days, capsys):
    run("update", model, days[1], "--quiet")
    before = model.read_bytes()
    line = fails(capsys, "update", model, days[1], "--quiet")
    assert line == (
        f"fastgnb: error: {model}: has learned 1.csv already, so that these rows would count "
        "twice. Leave them out, or say --again.\n"
    )
    assert model.read_bytes() == before
    assert weight(model) == 40
    run("update", model, days[1], "--again", "--quiet")
    assert weight(model) == 60
    run("update", model, days[2], "--quiet")
    assert weight(model) == 80


def test_what_fit_learned_counts_too(model, days, capsys):
    line = fails(capsys, "update", model, *days)
    assert "has learned 0.csv already" in line
    assert weight(model) == 20


def test_a_copy_under_another_name_is_the_same_file(model, days, tmp_path, capsys):
    (tmp_path / "retry").mkdir()
    copied = shutil.copy(days[0], tmp_path / "retry" / "part-7.csv")
    assert "has learned part-7.csv already" in fails(capsys, "update", model, copied)
    with open(copied, "a") as file:
        file.write("0.25,a\n")
    run("update", model, copied, "--quiet")


def test_a_file_given_twice_is_refused(days, tmp_path, capsys):
    words = ["--target", "y", "--model", tmp_path / "m"]
    link = tmp_path / "link.csv"
    link.symlink_to(days[0])
    for again in (days[0], link):
        line = fails(capsys, "fit", days[0], days[1], again, *words)
        assert f"{again}: given twice, so that its rows would count twice" in line
    assert not (tmp_path / "m").exists()
    run("fit", days[0], days[0], *words, "--again", "--quiet")
    assert weight(tmp_path / "m") == 40


def test_files_without_rows_are_never_known(model, tmp_path, capsys):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x,y\n")
        run(
            "update",
            model,
            tmp_path / name,
            rows(tmp_path / f"of {name}", seed=ord(name[0])),
            "--quiet",
        )
    assert [file.name for file in persist.read(model).learned] == ["0.csv", "of a.csv", "of b.csv"]


def test_arrays_with_other_labels_are_other_rows(tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(20, 2))
    for name, array in {"X": X, "y": np.arange(20) % 2, "z": np.arange(20) // 10}.items():
        np.save(tmp_path / f"{name}.npy", array)
    data, model = tmp_path / "X.npy", tmp_path / "m"
    run("fit", data, "--target-npy", tmp_path / "y.npy", "--model", model, "--quiet")
    line = fails(capsys, "update", model, data, "--target-npy", tmp_path / "y.npy")
    assert "has learned X.npy already" in line
    run("update", model, data, "--target-npy", tmp_path / "z.npy", "--quiet")


@pytest.mark.promise("once")
def test_merging_models_of_the_same_files_is_refused(model, days, tmp_path, capsys):
    """As when both have learned on from one model."""
    for i in (1, 2):
        run("update", model, days[i], "--model", tmp_path / f"m{i}", "--quiet")
    ask = ["merge", tmp_path / "m1", tmp_path / "m2", "--model", tmp_path / "all", "--quiet"]
    line = fails(capsys, *ask)
    assert f"{tmp_path / 'm2'}: has learned, as a model before it has, 0.csv already" in line
    run(*ask, "--again")
    assert weight(tmp_path / "all") == 80
    assert {file.name for file in persist.read(tmp_path / "all").learned} == {
        "0.csv", "1.csv", "2.csv",
    }  # fmt: skip
    assert "has learned 2.csv already" in fails(capsys, "update", tmp_path / "all", days[2])


def test_models_of_other_files_merge_and_know_all_of_them(days, tmp_path, capsys):
    for i in (0, 1):
        run("fit", days[i], "--target", "y", "--model", tmp_path / f"m{i}", "--quiet")
    ask = ["merge", tmp_path / "m0", tmp_path / "m1", "--model", tmp_path / "all", "--quiet"]
    run(*ask)
    assert "has learned 0.csv, 1.csv already" in fails(capsys, "update", tmp_path / "all", *days)
    line = fails(capsys, "merge", tmp_path / "all", tmp_path / "m1", "--model", tmp_path / "x")
    assert "1.csv" in line
    run("reestimate", tmp_path / "all", "--tied", "--output", tmp_path / "tied", "--quiet")
    assert "has learned 0.csv" in fails(capsys, "update", tmp_path / "tied", days[0])


def test_the_order_of_files_does_not_matter(days, tmp_path):
    for name, order in {"a": days, "b": days[::-1]}.items():
        run("fit", *order, "--target", "y", "--model", tmp_path / name, "--quiet")
    a, b = (persist.read(tmp_path / name).learned for name in "ab")
    assert a == b


def test_no_more_than_a_bounded_number_is_kept():
    files = [LearnedFile(f"{i}", i, f"{i:032x}") for i in range(_learned.MOST + 5)]
    kept = joined(files[:10], files[5:])
    assert kept == tuple(files[-_learned.MOST :])
    assert joined(files[:3], files[1:2]) == tuple(files[:3])


def test_long_files_are_looked_at_in_parts(tmp_path):
    path = tmp_path / "long.bin"
    path.write_bytes(bytes(20_000_000))
    whole = fingerprint(path)
    for at in (0, 19_999_999):
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(b"1")
        assert fingerprint(path).digest != whole.digest
        whole = fingerprint(path)
    with open(path, "ab") as file:
        file.write(b"1")
    assert fingerprint(path).size == 20_000_001
    read = []
    monkey = _learned._read_at
    _learned._read_at = lambda file, start: read.append(len(monkey(file, start))) or b""
    try:
        fingerprint(path)
    finally:
        _learned._read_at = monkey
    assert sum(read) == 1 << 22


def test_any_changed_byte_of_a_short_file_shows(tmp_path):
    path, seen = tmp_path / "short.bin", set()
    for at in range(0, 100_000, 997):
        data = bytearray(100_000)
        data[at] = 1
        path.write_bytes(data)
        seen.add(fingerprint(path).digest)
    assert len(seen) == 101


def test_show_says_how_many_files_and_json_which(model, days, capsys):
    run("update", model, days[1], "--quiet")
    capsys.readouterr()
    run("show", model)
    assert "\nfiles learned  2\n" in capsys.readouterr().out
    run("show", model, "--json")
    shown = json.loads(capsys.readouterr().out)["learned"]
    assert [file["name"] for file in shown] == ["0.csv", "1.csv"]
    assert shown[0] == fingerprint(days[0])._asdict()


# ------------------------------------------------------------------ the model file


def test_earlier_versions_read_the_file(model):
    """They look at two texts of the metadata, and pass over others."""
    with open(model, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        meta = json.loads(file.read(length))["__metadata__"]
    assert set(meta) == {"fastgnb", "sha256", "learned", "learned_sha256"}
    document = json.loads(meta["fastgnb"])
    assert document["schema"] == 1
    assert "learned" not in document


def test_a_file_without_fingerprints_is_as_before(model, tmp_path):
    saved = replace(persist.read(model), learned=())
    saved.write(tmp_path / "old")
    assert b"learned" not in (tmp_path / "old").read_bytes()
    assert persist.read(tmp_path / "old").learned == ()
    run("update", tmp_path / "old", tmp_path / "0.csv", "--quiet")
    assert [file.name for file in persist.read(tmp_path / "old").learned] == ["0.csv"]


def test_an_estimator_knows_nothing_of_files(model, tmp_path):
    save(load(model), tmp_path / "again")
    assert persist.read(tmp_path / "again").learned == ()


def packed(path, learned, sha=None):
    """A model file whose fingerprints are this text, with a right digest or another."""
    document, tensors, _ = _model_file.unpack(path)
    data = _model_file.pack(json.dumps(document), tensors, learned)
    return data if sha is None else data.replace(_sha(data, "learned_sha256"), sha)


def _sha(data, name):
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length])["__metadata__"][name].encode()


GOOD = ["a.csv", 10, "0" * 32]
BAD = {
    "an object": {},
    "a text": "a.csv",
    "a list of texts": ["a.csv"],
    "a short item": [GOOD[:2]],
    "a true size": [["a.csv", True, "0" * 32]],
    "a negative size": [["a.csv", -1, "0" * 32]],
    "a digest of other letters": [["a.csv", 1, "G" * 32]],
    "a digest with a line end": [["a.csv", 1, "0" * 32 + "\n"]],
    "too many": [GOOD] * (_learned.MOST + 1),
}


@pytest.mark.parametrize("what", BAD)
def test_fingerprints_that_are_none_make_no_model(model, tmp_path, what):
    path = tmp_path / "bad"
    path.write_bytes(packed(model, json.dumps(BAD[what])))
    with pytest.raises(ModelFileError, match=r"the model in it is not valid: .*learned"):
        persist.read(path)
    path.write_bytes(packed(model, json.dumps([GOOD])))
    assert persist.read(path).learned == (LearnedFile(*GOOD),)


def test_altered_fingerprints_are_an_error(model, tmp_path):
    path: Path = tmp_path / "bad"
    path.write_bytes(packed(model, json.dumps([GOOD]), hashlib.sha256(b"").hexdigest().encode()))
    with pytest.raises(ModelFileError, match="altered after it was written"):
        persist.read(path)
    data = model.read_bytes()
    for old, new in (
        (b"0.csv", b"9.csv"),
        (b'"learned"', b'"learnef"'),
        (b'"learned_sha256"', b'"lost_sha256___"'),
    ):
        assert data.count(old) == 1
        path.write_bytes(data.replace(old, new))
        with pytest.raises(ModelFileError, match=r"altered|not a whole"):
            persist.read(path)


def test_every_flipped_bit_of_the_header_is_noticed(model, tmp_path):
    data, path = model.read_bytes(), tmp_path / "bad"
    start, end = data.index(b"learned"), data.index(b"learned_sha256") + 90
    for at in range(start, end, 3):
        flipped = bytearray(data)
        flipped[at] ^= 1
        path.write_bytes(flipped)
        with pytest.raises(ModelFileError):
            persist.read(path)
