"""Work for processes of a test: they import this module by its name."""

from __future__ import annotations

import os
import signal
import time

from fastgnb._system import thread_limits
from fastgnb.files.jobs import fill_checkpoint, score_folder

START_OF = {"predict": score_folder._start, "fit": fill_checkpoint._start}


class Stubborn(Exception):
    """An error that cannot be sent to another process."""

    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")


def doubled(spec):
    """Work that depends on the item alone."""

    def work(item):
        if item == "raise":
            raise ValueError(f"no {item} in {spec}")
        if item == "stubborn":
            raise Stubborn("this", "that")
        if item == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if item == "exit":
            os._exit(3)
        if item == "threads":
            return thread_limits.thread_limit()
        if item == "sleep":
            time.sleep(600)
        return 2 * item, os.getpid()

    return work


def fails_to_start(spec):
    raise OSError(f"cannot start with {spec}")


def dying_predict(spec):
    return _dying(START_OF["predict"](spec))


def dying_fit(spec):
    return _dying(START_OF["fit"](spec))


def _dying(work):
    """The work, but the process is killed before the fourth file, as one without memory is."""

    def die(at):
        if at == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return work(at)

    return die
