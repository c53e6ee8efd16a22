"""Pipes, links, folders, names and permissions; outputs that are inputs."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import tempfile

import numpy as np
import pytest
from fault_files import POSIX, TABLES, command, content, expect_one_line, fails, process, run, table
from table_files import write

from fastgnb.files.models import model_file as persist
from fastgnb.files.tables.paths import expand

pytestmark = [pytest.mark.compiled, pytest.mark.fresh, pytest.mark.any_version]


# ------------------------------------------------------------------ which files


@POSIX
def test_pipes_are_refused_at_once(tmp_path, model, out, capsys):
    """Opening one would wait for a writer, and its rows can be read only once."""
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "in").mkdir()
    os.mkfifo(tmp_path / "in" / "pipe.parquet")
    (tmp_path / "null.csv").symlink_to("/dev/null")
    for data in ["pipe.csv", "in", "null.csv"]:
        line = fails(capsys, *command("fit", model, tmp_path / data, out))
        assert ": a pipe or a device, expected a file, which can be read more than once" in line


@POSIX
def test_pipes_of_labels_are_refused_at_once(tmp_path, model, out):
    os.mkfifo(tmp_path / "y.npy")
    np.save(tmp_path / "data.npy", np.ones((4, 2)))
    words = command("fit", model, tmp_path / "data.npy", out)
    at = words.index("--target")
    words[at : at + 2] = ["--target-npy", tmp_path / "y.npy"]
    done = process(*words, code=1)  # a process, so that waiting for a writer ends some time
    expect_one_line(done.stderr)
    assert f"{tmp_path / 'y.npy'}: a pipe or a device, expected a file" in done.stderr


@POSIX
def test_standard_input_is_refused(tmp_path, model, out):
    words = command("predict", model, "/dev/stdin", out)
    for name in ["/dev/stdin", tmp_path / "in.csv"]:
        words[2] = name
        with contextlib.suppress(FileExistsError):
            (tmp_path / "in.csv").symlink_to("/dev/stdin")
        done = process(*words, input="x0,x1\n1,2\n", code=1)
        expect_one_line(done.stderr)
        assert f"{name}: a pipe or a device, expected a file" in done.stderr


@POSIX
def test_links_that_lead_nowhere_are_not_passed_over(tmp_path, model, out, capsys):
    (tmp_path / "in").mkdir()
    write(table(), tmp_path / "in" / "good.csv")
    for target in ["gone.csv", "lost.csv"]:  # to nothing, and to itself
        link = tmp_path / "in" / "lost.csv"
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        for data in [link, tmp_path / "in"]:
            line = fails(capsys, *command("fit", model, data, out))
            assert f"{link}: no such file or folder; it is a link to {target}" in line


@POSIX
def test_linked_folders_count_and_a_circle_of_them_ends(tmp_path):
    for name in ["in/deep", "elsewhere/_not", "elsewhere/.nor"]:
        (tmp_path / name).mkdir(parents=True)
    for name in ["in/a.csv", "in/deep/b.csv", "elsewhere/c.csv", "elsewhere/_not/d.csv",
                 "elsewhere/.nor/e.csv"]:  # fmt: skip
        write(table(), tmp_path / name)
    (tmp_path / "in" / "circle").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "link").symlink_to(tmp_path / "elsewhere")
    found = expand([tmp_path / "in"])
    assert [str(p.relative_to(tmp_path / "in")) for p in found] == [
        "a.csv", "deep/b.csv", "link/c.csv",
    ]  # fmt: skip


def test_a_folder_named_like_a_file(tmp_path, model, out, capsys):
    folder = tmp_path / "part.csv"
    folder.mkdir()
    line = fails(capsys, *command("fit", model, folder, out))
    assert "part.csv: no data file in this folder" in line
    write(table(), folder / "0.csv")
    (folder / "1.parquet").mkdir()
    write(table(seed=1), folder / "1.parquet" / "1.parquet")
    run(*command("fit", model, folder, out))
    assert persist.read(out / "model").model.stats.count.sum() == 120


@POSIX
@pytest.mark.parametrize("ending", TABLES)
def test_names_that_are_not_text(tmp_path, model, ending):
    """POSIX names are bytes; where the file system insists on UTF-8 there is nothing to test."""
    odd = pathlib.Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff." + ending.encode()))
    data = write(table(), tmp_path / f"data.{ending}")
    try:
        shutil.copy(data, odd)
    except OSError:
        pytest.skip("names must be text here")
    output = odd.with_name("o" + odd.name)
    run("predict", model, odd, "--output", output, "--proba")
    run("predict", model, data, "--output", tmp_path / f"plain.{ending}", "--proba")
    assert output.read_bytes() == (tmp_path / f"plain.{ending}").read_bytes()
    run("fit", odd, "--target", "y", "--model", odd.with_name(odd.name + "m"), "--quiet")


UNREADABLE = """
import os, sys
from fastgnb.cli import main
assert main("fit good.csv --target y --model first --quiet".split()) == 0  # kernels are loaded
if os.getuid() == 0:
    os.chmod(".", 0o777)
    os.setuid(65534)  # root may read everything
for line in sys.stdin.read().splitlines():
    print(main(line.split()))
"""

NOT_ALLOWED = {
    "fit closed.csv --target y --model out": "closed.csv: Permission denied",
    "fit closed.parquet --target y --model out": "closed.parquet: Permission denied",
    "fit closed.arrow --target y --model out": "closed.arrow: Permission denied",
    "predict first closed.npy --output out.csv": "closed.npy: Permission denied",
    "fit in --target y --model out": "in/closed: Permission denied",
    "fit in/closed/x.csv --target y --model out": "in/closed/x.csv: Permission denied",
    "show secret": "secret: Permission denied",
    "merge first secret --model out": "secret: Permission denied",
    "predict first good.csv --output wall/o.csv": "wall is not writable",
    "fit good.csv --target y --model in/closed/m": "in/closed/m: Permission denied",
}


@POSIX
def test_what_may_not_be_read_or_written(model):
    """In a folder that others may enter, since pytest's are closed to them."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for ending in TABLES:
            write(table(), folder / f"good.{ending}")
            write(table(), folder / f"closed.{ending}").chmod(0)
        np.save(folder / "closed.npy", np.zeros((2, 2)))
        (folder / "closed.npy").chmod(0)
        shutil.copy(model, folder / "secret")
        (folder / "secret").chmod(0)
        (folder / "in" / "closed").mkdir(parents=True)
        for path in ["in/x.csv", "in/closed/x.csv"]:
            write(table(), folder / path)
        (folder / "wall").mkdir(mode=0o555)
        before = sorted(os.listdir(folder))
        (folder / "in" / "closed").chmod(0)
        try:
            lines = "\n".join(NOT_ALLOWED)
            done = process("-c", UNREADABLE, module=False, input=lines, cwd=folder)
        finally:
            (folder / "in" / "closed").chmod(0o700)
        assert done.stdout.split() == ["1"] * len(NOT_ALLOWED)
        for message, line in zip(NOT_ALLOWED.values(), done.stderr.splitlines(), strict=True):
            assert line.startswith("fastgnb: error: ")
            assert line.endswith(message)
        assert sorted(os.listdir(folder)) == sorted([*before, "first"])


# ------------------------------------------------------------------ outputs that are inputs


@POSIX
@pytest.mark.parametrize("how", ["relative", "around", "symbolic", "hard", "folder", "case"])
def test_an_output_that_is_an_input_by_another_name(tmp_path, model, capsys, monkeypatch, how):
    data = write(table(), tmp_path / "data.csv")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    other = {
        "relative": pathlib.Path("../data.csv"),
        "around": tmp_path / "sub" / ".." / "sub" / ".." / "data.csv",
        "symbolic": tmp_path / "s.csv",
        "hard": tmp_path / "h.csv",
        "folder": tmp_path / "again" / "data.csv",
        "case": tmp_path / "DATA.csv",
    }[how]
    (tmp_path / "s.csv").symlink_to("data.csv")
    os.link(data, tmp_path / "h.csv")
    (tmp_path / "again").symlink_to(tmp_path)
    if how == "case" and not other.exists():
        pytest.skip("names differ by their case here")
    os.link(model, tmp_path / "same_model")
    before = content(tmp_path)
    for words in [
        ["fit", data, "--target", "y", "--model", other],
        ["fit", other, "--target", "y", "--model", data],
        ["predict", model, data, "--output", other],
        ["predict", model, other, "--output", data],
        ["evaluate", model, data, "--target", "y", "--json", other],
        ["update", model, data, "--target", "y", "--model", other],
        ["merge", model, tmp_path / "same_model", "--model", model],
        ["merge", model, model, "--model", tmp_path / "same_model"],
    ]:
        assert fails(capsys, *words).endswith(": the output would replace an input\n")
    assert content(tmp_path) == before
