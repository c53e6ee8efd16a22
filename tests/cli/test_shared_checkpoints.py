"""Processes that fill one checkpoint at the same time, as jobs of a batch system do."""

from __future__ import annotations

import contextlib
import os
import pathlib
import sys

import pytest
from children import PATIENCE, started
from command_line import error_line, run
from fault_files import content
from file_sets import frames, write_frames

pytestmark = [pytest.mark.compiled]


@pytest.mark.promise("partitions")
def test_processes_share_a_checkpoint(tmp_path):
    """Two shards, and one that learns all files at the same time."""
    write_frames(frames(9), tmp_path / "data")
    words = ["fit", tmp_path / "data", "--target", "y", "--quiet"]
    run(*words, "--model", tmp_path / "alone", "--checkpoint", tmp_path / "states of one")
    environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(__file__).parents[2]))
    shared = [*words, "--model", tmp_path / "shared", "--checkpoint", tmp_path / "states"]
    start = [sys.executable, "-m", "fastgnb"]
    with contextlib.ExitStack() as stack:
        children = [
            stack.enter_context(started([*start, *shared, *more], env=environment))
            for more in ([], ["--shard", "1/2"], ["--shard", "2/2"])
        ]
        assert [child.wait(PATIENCE) for child in children] == [0, 0, 0]
    run(*shared)
    assert (tmp_path / "shared").read_bytes() == (tmp_path / "alone").read_bytes()
    names = {path.name: data for path, data in content(tmp_path / "states").items()}
    assert names == {p.name: data for p, data in content(tmp_path / "states of one").items()}


def test_what_a_shard_and_a_rerun_say(tmp_path, capsys):
    write_frames(frames(4), tmp_path / "data")
    words = ["fit", tmp_path / "data", "--target", "y", "--model", tmp_path / "m"]
    words += ["--checkpoint", tmp_path / "states"]
    run(*words, "--shard", "2/3")
    line = capsys.readouterr().err
    assert line.startswith(
        f"fastgnb: fit: shard 2/3, 1 of 4 files; wrote {tmp_path / 'states'} in "
    )
    assert not (tmp_path / "m").exists()
    run(*words)
    assert capsys.readouterr().err.startswith(
        "fastgnb: note: 1 of 4 files were learned before\nfastgnb: fit: "
    )
    assert (tmp_path / "m").exists()


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "1/", "a/b", "-1/2", "1/2/3"])
def test_shards_that_are_none(tmp_path, capsys, shard):
    words = ["fit", "d", "--target", "y", "--model", "m", "--checkpoint", "s", "--shard", shard]
    shown = error_line(capsys, *words, code=2)
    assert (
        "is not a shard such as 2/8, the second of 8" in shown or "expected one argument" in shown
    )


@pytest.mark.parametrize("words", [["--shard", "1/2"], ["--workers", "2"]])
def test_they_need_a_checkpoint(capsys, words):
    line = error_line(capsys, "fit", "d", "--target", "y", "--model", "m", *words, code=2)
    assert f"{words[0]}: needs --checkpoint, a folder that the processes share" in line
