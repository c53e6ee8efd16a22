"""A save that is interrupted, killed or has no room leaves the old file or the new one."""

from __future__ import annotations

import errno
import gc
import os
import pathlib
import re
import stat
import sys
import tempfile
from dataclasses import replace

import numpy as np
import pytest
from model_file_cases import (
    POSIX,
    ROWS,
    SEVENS,
    contents,
    models,
    of_rows,
    read_or_refuse,
    state,
)

from fastgnb import (
    GaussianNB,
    load,
    save,
)
from fastgnb.files.models import model_file as persist
from fastgnb.files.models.model_file import ModelFile


def test_the_order_that_makes_a_save_last(path, monkeypatch):
    """Content to the disk, then the name, then the folder that holds the name."""
    events, flush, rename = [], os.fsync, os.replace
    models()["whole numbers"].write(path)
    size = len(contents()["many"])

    def fsync(descriptor):
        found = os.fstat(descriptor)
        is_folder = stat.S_ISDIR(found.st_mode)
        events.append("flush folder" if is_folder else f"flush {found.st_size}")
        flush(descriptor)

    def replace_file(source, target):
        events.append("rename")
        rename(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace_file)
    models()["many"].write(path)
    folder = [] if sys.platform == "win32" else ["flush folder"]
    assert events == [f"flush {size}", "rename", *folder]


def full_disk(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def half_a_write(path, data):
    with open(path, "wb") as file:
        file.write(data[: len(data) // 2])
    full_disk()


@pytest.mark.parametrize(
    ("owner", "name", "fault"),
    [
        (pathlib.Path, "write_bytes", full_disk),
        (pathlib.Path, "write_bytes", half_a_write),
        (os, "fsync", full_disk),
        (os, "replace", full_disk),
    ],
)
@pytest.mark.parametrize("is_old", [True, False])
def test_a_full_disk_leaves_the_old_file_and_no_other(
    tmp_path, monkeypatch, owner, name, fault, is_old
):
    path = tmp_path / "model"
    if is_old:
        path.write_bytes(contents()["text"])
    monkeypatch.setattr(owner, name, fault)
    with pytest.raises(OSError, match="No space left on device"):
        models()["many"].write(path)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == (["model"] if is_old else [])
    assert not is_old or state(persist.read(path)) == state(models()["text"])


def test_a_folder_that_cannot_be_flushed_is_no_error(tmp_path, monkeypatch):
    """Some network file systems refuse; the file is there, and whole, by then."""
    flush = os.fsync

    def fsync(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    models()["many"].write(tmp_path / "model")
    assert state(persist.read(tmp_path / "model")) == state(models()["many"])


LIMITED = """
import resource, sys
from fastgnb.files.models import model_file as persist
from fastgnb.files.models import schemas
from fastgnb.files.models.model_file import ModelFile
from fastgnb.files.models.tensors import tensors_of
old, new = (persist.read(path) for path in sys.argv[1:3])
old.write(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    new.write(sys.argv[3])
except OSError as error:
    print(error)
"""


@POSIX
def test_a_file_size_limit_is_an_error_that_leaves_the_old_file(python, tmp_path):
    target = tmp_path / "out" / "model"
    target.parent.mkdir()
    for name in ("text", "many"):
        (tmp_path / name).write_bytes(contents()[name])
    said = python(LIMITED, str(tmp_path / "text"), str(tmp_path / "many"), str(target))
    assert "File too large" in said
    assert os.listdir(target.parent) == ["model"]
    assert state(persist.read(target)) == state(models()["text"])


POWERLESS = """
import os, sys
from fastgnb import load
from fastgnb.files.models import model_file as persist
from fastgnb.files.models import schemas
from fastgnb.files.models.model_file import ModelFile
from fastgnb.files.models.tensors import tensors_of
folder = sys.argv[1]
model = persist.read(f"{folder}/model")
load(f"{folder}/model")
model.write(f"{folder}/open/first")  # all that is imported late is imported
if os.geteuid() == 0:
    for name in ("open", "open/model"):
        os.chown(f"{folder}/{name}", 65534, 65534)
    os.setgid(65534)
    os.setuid(65534)
print(load(f"{folder}/model").classes_)
for name in ("new", "model"):
    try:
        model.write(f"{folder}/{name}")
    except PermissionError as error:
        print(error)
model.write(f"{folder}/open/model")
"""


@POSIX
def test_a_user_without_rights(python):
    """Loading needs no right to write; a read-only folder is named; a read-only file stays so."""
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to others
        folder = pathlib.Path(name)
        (folder / "open").mkdir()
        for path in (folder / "model", folder / "open" / "model"):
            path.write_bytes(contents()["booleans"])
            path.chmod(0o444)
        (folder / "open").chmod(0o755)
        folder.chmod(0o555)
        try:
            lines = python(POWERLESS, str(folder)).splitlines()
        finally:
            folder.chmod(0o755)
        assert lines[0] == "[False  True]"
        for line, path in zip(lines[1:], ("new", "model"), strict=True):
            at = folder.resolve()
            assert line == f"cannot write {folder / path}: the folder {at} is not writable"
        assert stat.S_IMODE((folder / "open" / "model").stat().st_mode) == 0o444
        assert sorted(os.listdir(folder / "open")) == ["first", "model"]
        assert sorted(os.listdir(folder)) == ["model", "open"]


def is_of_saving(code):
    place = pathlib.PurePath(code.co_filename)
    ours = place.name == "atomic.py" or code is ModelFile.write.__code__
    return ours or place.name == "contextlib.py" or "pathlib" in str(place)


def interrupted(write, at):
    """write() with KeyboardInterrupt at the line numbered `at` of those that saving runs."""
    lines = 0

    def trace(frame, event, _):
        nonlocal lines
        if not is_of_saving(frame.f_code):
            return None
        if event == "line":
            lines += 1
            if lines == at:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        write()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # between open and `with`
def test_an_interrupt_at_any_line_leaves_a_whole_file_and_no_other(tmp_path):
    path, at = tmp_path / "model", 0
    old, new = models()["text"], models()["booleans"]
    olds = 0
    while True:
        at += 1
        path.write_bytes(contents()["text"])
        if not interrupted(lambda: new.write(path), at):
            break
        if len(os.listdir(tmp_path)) > 1:
            gc.collect()  # a context that was not entered yet ends when it is collected
        assert os.listdir(tmp_path) == ["model"], f"line {at}"
        found = state(persist.read(path))
        assert found in (state(old), state(new))
        olds += found == state(old)
    assert state(persist.read(path)) == state(new)
    assert at > 100  # not a save that was never interrupted
    assert 50 < olds < at - 3  # before the rename, and after it


KILLED = """
import os, random, select, sys, time
from fastgnb.files.models import model_file as persist
from fastgnb.files.models import schemas
from fastgnb.files.models.model_file import ModelFile
from fastgnb.files.models.tensors import tensors_of
one, two, path = sys.argv[1:4]
models = [persist.read(one), persist.read(two)]
models[0].write(path)  # all that is imported late is imported
draw = random.Random(5)
saved, tell = os.pipe()
for _ in range(int(sys.argv[4])):
    child = os.fork()
    if child == 0:
        while True:
            for model in models:
                model.write(path)
                os.write(tell, b".")
    start, saves = time.perf_counter(), draw.randint(1, 3)
    for _ in range(saves):
        os.read(saved, 1)
    time.sleep(draw.random() * (time.perf_counter() - start) / saves)  # within the next one
    os.kill(child, 9)
    os.waitpid(child, 0)
    while select.select([saved], [], [], 0)[0]:
        os.read(saved, 1)
    print(len(persist.read(path).model.classes))
"""


@POSIX
@pytest.mark.parametrize("kills", [30, pytest.param(100, marks=pytest.mark.slow)])
def test_a_killed_save_leaves_one_of_two_files(python, tmp_path, kills):
    large = of_rows(np.ones((3, 3000)) * [[1], [2], [3]], [0, 1, 2])
    small = of_rows(np.ones((2, 5)), [0, 1])
    folder = tmp_path / "out"
    folder.mkdir()
    large.write(tmp_path / "large")
    small.write(tmp_path / "small")
    said = python(
        KILLED, str(tmp_path / "large"), str(tmp_path / "small"), str(folder / "model.fgnb"),
        str(kills), PYTHONWARNINGS="ignore::DeprecationWarning",
    ).split()  # fmt: skip
    assert len(said) == kills
    assert set(said) == {"2", "3"}
    # What the killed ones left is hidden, in no one's way, and no half of it loads.
    left = [name for name in os.listdir(folder) if name != "model.fgnb"]
    ours = re.compile(r"\.model\.fgnb\.[0-9a-f]{8}-\d+\.[0-9a-f]{8}\.tmp")
    assert all(ours.fullmatch(name) for name in left)
    assert not list(folder.glob("*.fgnb"))[1:]
    for name in left:
        again, _ = read_or_refuse(folder / name)
        assert again is None or state(again) in (state(large), state(small))
    large.write(folder / "model.fgnb")
    assert state(persist.read(folder / "model.fgnb")) == state(large)


ALL_KINDS = {
    "int64": np.array([-(2**63), -1, 0, 2**63 - 1]),
    "uint64": np.array([0, 1, 2**64 - 1], np.uint64),
    "int8": np.array([-128, 127], np.int8),
    "uint8": np.array([0, 255], np.uint8),
    "int32": np.array([-(2**31), 2**31 - 1], np.int32),
    "bool": np.array([False, True]),
    "one class": np.array([5]),
    "float64": np.array([-1.7e308, -(2.0**53), 0.0, 1.7e308]),
    "float32": np.array([-(2.0**24), 3.0], np.float32),
    "float16": np.array([-2048.0, 65504.0], np.float16),
    "other byte order": np.array([1, 2, 300], ">i4"),
    "text": np.array(["", " ", "\n", "\t\r", "\x00a", '"', "\\", "ü", "\u2028", "𝕏", "\U0010ffff"]),
    "surrogates": np.array(["\ud800", "\ud800a", "\udfff"]),
    "wide text": np.array(["a", "b"], "U1000"),
    "objects": np.array(["", "a", "a\x00", "a\x00b", "n" * 10_000, "\udc80"], object),
    "subclass": np.array([np.str_("a"), np.str_("b")], object),
    "long text": np.array(["m" * 10_000, "n" * 10_000]),
    "words of JSON": np.array(["NaN", "null", "true", "{}", "1"]),
    "alike": np.array(["e\u0301", "\u00e9", "É"]),
    "many": np.arange(5000),
}


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_labels_of_all_kinds_come_back(tmp_path, kind):
    labels = ALL_KINDS[kind]
    X = np.arange(2.0 * len(labels))[:, None] ** 2
    y = np.concatenate([labels, labels])
    model = GaussianNB().fit(X, y)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist() == sorted(set(labels.tolist()))
    assert {type(label) for label in again.classes_.tolist()} <= {bool, int, float, str}
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.predict(X).dtype == model.predict(X).dtype
    assert again.partial_fit(X, y).class_count_.tolist() == [4.0] * len(model.classes_)


@pytest.mark.parametrize(
    "names",
    [
        ["", "\x00", "a\x00", "\n", "\ud800", "𝕏", "n" * 10_000, '"', "\\", "same", "same "],
        [f"feature {j}" for j in range(5000)],
    ],
    ids=["odd", "many"],
)
def test_names_of_all_kinds_come_back(path, names):
    saved = of_rows(np.arange(2.0 * len(names)).reshape(2, -1), [0, 1], names=names)
    replace(saved, target=names[0], weight=names[1]).write(path)
    again = persist.read(path)
    assert again.model.feature_names == tuple(names)
    assert (again.target, again.weight) == tuple(names[:2])


def test_labels_that_no_file_holds_are_refused_before_it_is_written(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    halves = np.array(["\ud835\udd4f", "a"], object)  # JSON makes one character of the two
    with pytest.raises(ValueError, match="two surrogates that JSON reads as one character"):
        of_rows([[0.0], [1.0]], halves).write(path)
    with pytest.raises(ValueError, match="two surrogates"):
        of_rows([[0.0], [1.0]], [0, 1], names=["\ud835\udd4f"]).write(path)
    whole = models()["whole numbers"].model
    for classes in (np.array([b"a", b"b"]), np.array([1, 2], "M8[s]"), np.array([1, 2j])):
        odd = ModelFile(replace(whole, stats=replace(whole.stats, classes=classes)))
        with pytest.raises(ValueError, match=r"Labels of dtype .* cannot be saved"):
            odd.write(path)
    odd = replace(whole.stats, feature_names=(1, 2, 3))
    with pytest.raises(ValueError, match="feature_names are not a list of str"):
        ModelFile(replace(whole, stats=odd)).write(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["m"]


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 2's text")
def test_text_of_any_length_comes_back_as_objects(path):
    labels = np.array(["b", "a", "longer than most"], np.dtypes.StringDType())
    of_rows([[0.0], [1.0], [2.0]], labels).write(path)
    assert persist.read(path).model.classes.tolist() == ["a", "b", "longer than most"]


def test_what_was_edited_is_saved_or_refused(path):
    model = GaussianNB().fit(ROWS, SEVENS)
    model.classes_ = np.array([7, 0])  # obeyed by predict, and no file could say so
    with pytest.raises(ValueError, match="classes_ was edited"):
        save(model, path)
    model.classes_ = np.array(["a", "b"])
    with pytest.raises(ValueError, match="classes_ was edited"):
        save(model, path)
    model.classes_ = model.stats_.classes.copy()
    model.feature_names_in_ = np.array(["u", "v"], object)
    save(model, path)
    assert load(path).feature_names_in_.tolist() == ["u", "v"]
    model.set_params(priors=[0.5, 0.6])
    with pytest.raises(ValueError, match="The sum of the priors should be 1"):
        save(model, path)
    assert load(path).priors is None
