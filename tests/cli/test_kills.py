"""kill -9 at any moment: the old output or the new one."""

from __future__ import annotations

import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest
from fault_files import POSIX, run
from table_files import write

from fastgnb.files.models import model_file as persist
from fastgnb.files.tables.paths import expand

pytestmark = [pytest.mark.compiled, pytest.mark.fresh, pytest.mark.any_version]


# ------------------------------------------------------------------ kill -9

FORKS = """
import os, signal, sys
from fastgnb._system import atomic as _atomic
from fastgnb.cli import main
commands = [line.split("|") for line in sys.stdin.readline().rstrip("\\n").split("||")]
for words in commands:
    assert main(words) == 0
print("ready", flush=True)

def die_half_written(path, target):
    os.truncate(path, os.path.getsize(path) // 2)
    os.kill(os.getpid(), signal.SIGKILL)

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        if line == "half\\n":
            _atomic._flush_file = die_half_written
        while True:
            for words in commands:
                if main(words) != 0:
                    os._exit(9)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


SOON = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0003, 0.002]
"""Seconds after a new file has appeared; a file is written within one or a few thousandths."""


class Killed:
    """A warm process that forks one child after another; each does nothing but `commands`."""

    def __init__(self, commands):
        environment = dict(
            os.environ,
            PYTHONPATH=str(pathlib.Path(__file__).parents[2]),
            NUMBA_NUM_THREADS="1",  # threads do not live on in a fork
            PYTHONWARNINGS="ignore",
        )
        self.parent = subprocess.Popen(
            [sys.executable, "-c", FORKS], env=environment, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.parent.stdin.write("||".join("|".join(map(str, words)) for words in commands) + "\n")
        assert self.parent.stdout.readline() == "ready\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.parent.stdin.close()
        try:
            self.parent.wait(timeout=300)
        finally:
            self.parent.kill()
            self.parent.stdout.close()

    def half_written(self):
        """Start a child that dies when it has written half of its file, however busy we are."""
        self.parent.stdin.write("half\n")
        self.parent.stdout.readline()
        assert int(self.parent.stdout.readline()) == -signal.SIGKILL

    def once(self, seconds, folder=None):
        """Start a child and kill it after so long, from when a new file is in `folder`."""
        known = set() if folder is None else set(os.listdir(folder))
        self.parent.stdin.write("\n")
        child = int(self.parent.stdout.readline())
        deadline = time.monotonic() + 300
        # Without a pause: a small file is there under its temporary name for a millisecond.
        while folder and not set(os.listdir(folder)) - known and time.monotonic() < deadline:
            pass
        if seconds:
            time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        assert int(self.parent.stdout.readline()) == -signal.SIGKILL


@pytest.fixture
def wide(tmp_path):
    """Rows of 200 classes and 100 features in two files, and models of them: 100s of kB each."""
    rng = np.random.default_rng(0)
    for i in range(2):
        X = rng.normal(size=(2000, 100))
        data = pa.table({f"x{j}": X[:, j] for j in range(100)} | {"y": np.arange(2000) % 200})
        write(data, tmp_path / f"{i}.parquet")
        run("fit", tmp_path / f"{i}.parquet", "--target", "y", "--model", tmp_path / f"m{i}")
    return tmp_path


def kill_commands(verb, folder, output):
    """Two commands with the same output, which is different; one, where it changes itself."""
    data, models = [folder / f"{i}.parquet" for i in range(2)], [folder / "m0", folder / "m1"]
    if verb == "fit":
        return [["fit", path, "--target", "y", "--model", output] for path in data]
    if verb == "update":
        return [["update", output, data[0], "--again"]]
    if verb == "merge":
        others = models[::-1]
        return [["merge", models[0], m, "--model", output, "--again"] for m in others]
    return [["predict", m, data[0], "--proba", "--output", output, "--quiet"] for m in models]


def meaning(output, verb):
    """What an output says; the order of the entries in a model's header may differ."""
    if verb == "predict":
        return output.read_bytes()
    return persist.read(output).model.moments.theta.tobytes()  # its digest is checked


@pytest.mark.promise("whole")
@POSIX
@pytest.mark.parametrize("kills", [12, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("verb", ["fit", "update", "merge", "predict"])
def test_a_kill_leaves_the_old_file_or_the_new_one(wide, verb, kills):
    folder = wide / "out"
    folder.mkdir()
    output = folder / "o.parquet"
    if verb == "update":
        shutil.copy(wide / "m0", output)
    commands = kill_commands(verb, wide, output)
    whole = []
    for words in commands:
        run(*words)
        whole.append(meaning(output, verb))
    rng = random.Random(f"{verb} {kills}")
    with Killed(commands) as killed:
        for i in range(kills):
            # A third of them anywhere, at or soon after a new file has appeared, and within one.
            if i % 3 == 0:
                killed.once(rng.uniform(0, 0.15))
            elif i % 3 == 1:
                killed.once(rng.choice(SOON), folder)
            else:
                killed.half_written()
            left = [name for name in os.listdir(folder) if name != output.name]
            assert left or i % 3 < 2
            assert all(name.startswith(".") and name.endswith(".tmp") for name in left)
            assert expand([folder]) == [output]  # what is left over is no data
            if verb == "update":
                assert persist.read(output).model.stats.count.sum() % 2000 == 0
            else:
                assert meaning(output, verb) in whole
            for name in rng.sample(sorted(left), len(left) // 2):  # later runs meet the others
                (folder / name).unlink()
    for words in commands:
        run(*words)
    assert os.listdir(folder) == [output.name]  # nothing of the killed ones is left
    if verb == "predict":
        run("fit", folder, "--target", "prediction", "--model", wide / "again")
        assert persist.read(wide / "again").model.stats.count.sum() == 2000
