"""Processes that do nothing but some commands, and are killed in the middle."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

from children import PATIENCE, first_line, started

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


@contextlib.contextmanager
def killed(commands):
    """A warm process that forks one child after another; each does nothing but `commands`."""
    environment = dict(
        os.environ,
        PYTHONPATH=str(pathlib.Path(__file__).parents[1]),
        NUMBA_NUM_THREADS="1",  # threads do not live on in a fork
        PYTHONWARNINGS="ignore",
    )
    with started(
        [sys.executable, "-c", FORKS], env=environment, bufsize=1,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as parent:  # fmt: skip
        parent.stdin.write("||".join("|".join(map(str, words)) for words in commands) + "\n")
        first_line(parent, "ready")
        yield Killed(parent)
        parent.stdin.close()
        assert parent.wait(PATIENCE) == 0


class Killed:
    """What kills the children of that process."""

    def __init__(self, parent):
        self.parent = parent

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
        deadline = time.monotonic() + PATIENCE
        # Without a pause: a small file is there under its temporary name for a millisecond.
        while folder and not set(os.listdir(folder)) - known and time.monotonic() < deadline:
            pass
        if seconds:
            time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        assert int(self.parent.stdout.readline()) == -signal.SIGKILL
