"""Headers that are made up, files that change or are none, and paths of all kinds."""

from __future__ import annotations

import errno
import json
import os
import pickle
import struct
import sys
import tracemalloc

import numpy as np
import pytest
from model_file_cases import NAMES, POSIX, contents, models, of_rows, read_or_refuse, state

from fastgnb import (
    ModelFileError,
    load,
)
from fastgnb.files.models import container as _model_file
from fastgnb.files.models import model_file as persist
from fastgnb.files.models.tensors import tensors_of


def container(header, body=b"", length=None):
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw + body


def entry(shape=(1,), offsets=(0, 8), dtype="F64"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def meta(text=None):
    text = json.dumps({"schema": 1}) if text is None else text
    return {"fastgnb": text, "sha256": "0" * 64}


def with_tensors(**entries):
    return {"__metadata__": meta(), **entries}


HEADERS = {
    "longer than the file": container(b"{}", length=2**63),
    "as long as a number can say": container(b"{}", length=2**64 - 1),
    "a byte longer than the file": container(b"{}", length=3),
    "not JSON": container(b"{" * 50),
    "not UTF-8": container('{"ü": 1}'.encode("latin-1")),
    "UTF-16": container('{"__metadata__": {}}'.encode("utf-16")),
    "a list": container([]),
    "a number": container(b"1e999"),
    "nested lists": container(b"[" * 200_000),
    "nested objects": container(b'{"a":' * 200_000),
    "a number of many digits": container(b'{"a": ' + b"9" * 100_000 + b"}"),
    "no metadata": container({}),
    "metadata is null": container({"__metadata__": None}),
    "metadata is a text": container({"__metadata__": "fastgnb sha256"}),
    "metadata is a list": container({"__metadata__": ["fastgnb", "sha256"]}),
    "text is a number": container({"__metadata__": {"fastgnb": 1, "sha256": ""}}),
    "text is a list": container({"__metadata__": meta("[]")}),
    "text is null": container({"__metadata__": meta("null")}),
    "text is nested": container({"__metadata__": meta("[" * 200_000)}),
    "text nested in an object": container({"__metadata__": meta('{"schema":' * 200_000)}),
    "text of many digits": container({"__metadata__": meta('{"schema": ' + "9" * 100_000 + "}")}),
    "text with a surrogate": container({"__metadata__": meta('{"schema": 1, "a": "\ud800"}')}),
    "schema of many digits": container({"__metadata__": meta('{"schema": ' + "9" * 4000 + "}")}),
    "schema is true": container({"__metadata__": meta('{"schema": true}')}),
    "schema is 1.0": container({"__metadata__": meta('{"schema": 1.0}')}),
    "schema is NaN": container({"__metadata__": meta('{"schema": NaN}')}),
    "schema is a long text": container({"__metadata__": meta(json.dumps({"schema": "x" * 9999}))}),
    "entry is null": container(with_tensors(mean=None)),
    "entry without a shape": container(with_tensors(mean={"dtype": "F64"})),
    "shape of floats": container(with_tensors(mean=entry([1.0])), bytes(8)),
    "shape of booleans": container(with_tensors(mean=entry([True])), bytes(8)),
    "shape of texts": container(with_tensors(mean=entry(["aaaa", 10**9])), bytes(8)),
    "shape of lists": container(with_tensors(mean=entry([[1], 10**9])), bytes(8)),
    "shape is huge": container(with_tensors(mean=entry([2**40], [0, 2**43])), bytes(8)),
    "shape overflows": container(with_tensors(mean=entry([2**62, 2**62])), bytes(8)),
    "shape is huge and empty": container(with_tensors(mean=entry([0, 2**47], [0, 0]))),
    "shape is negative": container(with_tensors(mean=entry([-1, -1])), bytes(8)),
    "shape of many axes": container(with_tensors(mean=entry([1] * 1000)), bytes(8)),
    "shape of no axes": container(with_tensors(mean=entry([])), bytes(8)),
    "offsets overlap": container(with_tensors(a=entry(), b=entry()), bytes(8)),
    "offsets leave a gap": container(with_tensors(a=entry(offsets=[8, 16])), bytes(16)),
    "offsets run backwards": container(with_tensors(a=entry(offsets=[8, 0])), bytes(8)),
    "offsets are negative": container(with_tensors(a=entry(offsets=[-8, 0])), bytes(8)),
    "offsets lie behind the end": container(with_tensors(a=entry(offsets=[0, 8])), bytes(7)),
    "offsets are of mixed types": container(
        with_tensors(a=entry(), b=entry(offsets=["0", None])), bytes(8)
    ),
    "bytes that no tensor takes": container(with_tensors(a=entry()), bytes(9)),
    "type is unknown": container(with_tensors(a=entry(dtype="F7")), bytes(8)),
    "type is a list": container(with_tensors(a=entry(dtype=["F64"] * 10_000)), bytes(8)),
    "type is smaller": container(with_tensors(a=entry([4], dtype="BF16")), bytes(8)),
    "name is odd": container(with_tensors(**{"\0" * 50: entry()}), bytes(8)),
    "name is a lone surrogate": container(
        b'{"__metadata__":{"fastgnb":"{\\"schema\\":1}","sha256":""},'
        b'"\\ud800":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}', bytes(8)
    ),
    "many small lists": container(b'{"a":[' + b"[]," * 100_000 + b"[]]}"),
    "many zeros": bytes(100_000),
    "a PNG": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "a pickle": pickle.dumps({"a": [1, 2, 3]}),
    "a zip": b"PK\3\4" + bytes(100),
    "a text": b"hello, world\n",
    "nothing": b"",
}  # fmt: skip


@pytest.mark.promise("model files")
@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_made_up_headers_are_refused_in_little_memory(path, header):
    path.write_bytes(header)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError) as caught:
            persist.read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(str(caught.value)) < 300 + len(str(path))
    assert peak < 32 * len(header) + 500_000


TYPES = [
    "<U99999999999", "<U999999999", "<U99999999", "f2,(1000000000,)f8", "(1000000000,)f8",
    "V999999999", "S999999999", "(1,", "O", "object", "object ", "f8\n",
]  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
def test_a_type_of_labels_takes_no_memory_that_the_labels_do_not(path, dtype):
    def widen(document):
        document["classes"]["dtype"] = dtype
        return document

    saved = models()["text"]
    text = json.dumps(widen(saved.document()))
    path.write_bytes(_model_file.pack(text, tensors_of(saved.model)))
    tracemalloc.start()
    try:
        again, _ = read_or_refuse(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (again is not None) == (dtype in ("object", "<U99999999"))
    assert again is None or again.model.classes.tolist() == saved.model.classes.tolist()
    assert peak < 3_000_000


def test_one_long_label_among_many_takes_no_memory_for_each(path):
    labels = np.array([f"{i:04}" for i in range(999)] + ["long" * 5000], object)
    of_rows(np.zeros((1000, 1)), labels).write(path)
    document, tensors, _ = _model_file.unpack(path)
    document["classes"]["dtype"] = "<U20000"
    path.write_bytes(_model_file.pack(json.dumps(document), tensors))
    tracemalloc.start()
    try:
        again = persist.read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert again.model.classes.tolist() == sorted(labels)
    assert peak < 20 * path.stat().st_size + 2_000_000  # 80 MB as an array of text


@pytest.mark.parametrize("name", NAMES)
def test_any_reader_of_safetensors_reads_a_model(path, name):
    from safetensors.numpy import load_file

    path.write_bytes(contents()[name])
    for key, tensor in tensors_of(models()[name].model).items():
        assert load_file(path)[key].tobytes() == tensor.tobytes()


def test_a_header_that_no_reader_of_safetensors_takes_is_not_written(path):
    models()["whole numbers"].write(path)
    before = path.read_bytes()
    longest = "n" * 100_000_000
    with pytest.raises(ValueError, match=r"a header of 10\d{7} bytes, .* at most 100000000"):
        of_rows(np.zeros((1, 1)), [0], names=[longest]).write(path)
    assert path.read_bytes() == before
    of_rows(np.zeros((1, 1)), [0], names=[longest[3000:]]).write(path)
    assert persist.read(path).model.feature_names == (longest[3000:],)


SPECIAL = """
import os, resource, sys
from fastgnb import load
from fastgnb.files.models import model_file as persist
from fastgnb.files.models import schemas
from fastgnb.files.models.model_file import ModelFile
from fastgnb.files.models.tensors import tensors_of
limit = 2**30 + int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for path in sys.argv[1:]:
    for read in (load, persist.read):
        try:
            read(path)
        except Exception as error:
            print(type(error).__name__, error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_what_is_no_file_is_refused_at_once(python, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "empty").touch()
    for name, start in {
        "zeros": b"",
        "long header": struct.pack("<Q", 2**39),
        "model": contents()["text"],
    }.items():
        (tmp_path / name).write_bytes(start)
        os.truncate(tmp_path / name, 2**40)  # takes no room on the disk
    names = ["pipe", "link", "empty", "zeros", "long header", "model", "."]
    paths = [*(str(tmp_path / name) for name in names), "/dev/zero", "/dev/null"]
    lines = python(SPECIAL, *paths).splitlines()
    assert len(lines) == 2 * len(paths)
    for path, said in zip(paths, lines[::2], strict=True):
        if path == str(tmp_path):
            assert said.startswith("IsADirectoryError")
            continue
        assert said.startswith(f"ModelFileError {path}: not a ")
        is_special = "/dev" in path or path.endswith(("pipe", "link"))
        assert is_special == ("not a regular file" in said)


def test_a_file_that_is_cut_while_it_is_read(path, monkeypatch):
    """A mapped file would end the process with SIGBUS."""
    of_rows(np.zeros((2, 20_000)), [0, 1]).write(path)
    sizes = _model_file._sizes

    def cut_first(values):
        os.truncate(path, 100_000)
        return sizes(values)

    monkeypatch.setattr(_model_file, "_sizes", cut_first)
    with pytest.raises(ModelFileError, match=r"not a whole fastgnb model file \(it ends within"):
        load(path)


@POSIX
def test_a_file_that_is_replaced_while_it_is_read_is_the_old_one(tmp_path, monkeypatch):
    old, new = (of_rows(np.full((2, 20_000), v), [0, 1]) for v in (1.0, 2.0))
    path = tmp_path / "model"
    old.write(path)
    monkeypatch.setattr(_model_file, "_check_schema", lambda _: new.write(path))
    assert state(persist.read(path)) == state(old)
    assert state(persist.read(path)) == state(new)


def test_a_failing_disk_is_not_called_a_bad_file(path, monkeypatch):
    path.write_bytes(contents()["text"])
    for error in (OSError(errno.EIO, "Input/output error"), MemoryError("no room")):

        def fail(*_, error=error):
            raise error

        monkeypatch.setattr(_model_file, "_header", fail)
        with pytest.raises(type(error), match=str(error)[-8:]):
            persist.read(path)


def test_links_paths_of_all_kinds_and_relative_names(tmp_path, monkeypatch):
    path = tmp_path / "model with ü.fgnb"
    path.write_bytes(contents()["text"])
    monkeypatch.chdir(tmp_path)
    for name in (path, str(path), os.fsencode(path), path.name):
        assert load(name).classes_.tolist() == ["no", "yé\n"]
    if sys.platform != "win32":
        (tmp_path / "link").symlink_to(path.name)
        assert load("link").classes_.tolist() == ["no", "yé\n"]
