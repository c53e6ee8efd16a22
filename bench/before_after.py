"""Two commits in one run: `python -m bench.before_after --before PYTHON --after PYTHON`.

Each is installed in an environment of its own, whose interpreter is given::

    git worktree add ../before COMMIT
    python -m venv /tmp/before && /tmp/before/bin/pip install '../before[cli,bench]'
    python -m venv /tmp/after && /tmp/after/bin/pip install '.[cli,bench]'
    python -m bench.before_after --before /tmp/before/bin/python --after /tmp/after/bin/python

Both run this commit's benchmarks, and take turns call by call: at no time do both run, and a slow
drift of the machine affects both alike. Every result is checked. The table has the seconds of
each program of ours, and how many times as fast it is after as before.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from fastgnb.dashboard.noise import LIMIT, within

from . import problems
from .targets import GROUPS, number
from .timing import Row
from .turns import is_ours

HERE = Path(__file__).parent
LEAST_ROUNDS = 3
NAMES = ("before", "after")


class Line(NamedTuple):
    """A task of a program of ours: seconds of each round before and after, or none."""

    what: str
    before: list[float]
    after: list[float]

    @property
    def ratios(self) -> tuple[float, float] | None:
        """How many times as fast it is after as before: by medians, and by the fastest calls."""
        if not (self.before and self.after):
            return None
        return median(self.before) / median(self.after), min(self.before) / min(self.after)

    @property
    def is_beyond_noise(self) -> bool:
        """Whether the ratio of medians differs from 1 by more than the rounds do."""
        noise, found = within(self.after, self.before), self.ratios
        if noise is None or found is None:
            return False
        return abs(found[0] - 1) > LIMIT * max(noise, 0.01)


class Worker:
    """A process of one environment, which waits for its turn except when it is told to go on."""

    def __init__(self, name: str, python: Path, folder: Path) -> None:
        self.name = name
        environment = dict(os.environ, PYTHONPATH=str(folder), OMP_WAIT_POLICY="PASSIVE")
        environment.setdefault("FASTGNB_QUIET", "1")
        self.process = subprocess.Popen(
            [str(python), "-P", "-m", "bench.turns"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=environment, cwd=folder,
        )  # fmt: skip
        self.message = self._read()

    def tell(self, **answer: Any) -> None:
        """Answer the last message, and wait for the next one."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(answer) + "\n")
        self.process.stdin.flush()
        self.message = self._read() if answer.get("group", True) else {}

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"The worker of {self.name} ended with {self.process.wait()}.")
        return dict(json.loads(line))

    def end(self) -> None:
        """End the process."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def main(argv: Sequence[str] | None = None) -> int:
    """Measure both, and print the table. The exit code is 0 whatever became slower."""
    args = _parser().parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        # A copy, beside which there is no `fastgnb` that would hide the installed one.
        ignored = shutil.ignore_patterns("results", "figures", "__pycache__")
        shutil.copytree(HERE, Path(folder, "bench"), ignore=ignored)
        workers: list[Worker] = []
        try:
            for name in NAMES:  # each is ended, also if the next one does not start
                workers += [Worker(name, getattr(args, name), Path(folder))]
            about = [worker.message["ready"] for worker in workers]
            lines = _measured(workers, args.only or [*GROUPS], args.size)
        finally:
            for worker in workers:
                worker.end()
    text = table(lines)
    for name, each in zip(NAMES, about, strict=True):
        text += f"\n\n{name}: " + ", ".join(f"{key} {value}" for key, value in each.items())
    print(text)
    if args.output is not None:
        args.output.write_text(text + "\n", encoding="utf-8")
    return 0


def _measured(workers: list[Worker], groups: Sequence[str], size: str) -> list[Line]:
    lines = []
    for group in groups:
        for worker in workers:
            worker.tell(group=group, size=size)
        while "task" in workers[0].message or "task" in workers[1].message:
            _take_turns(workers)
        rows = []
        for worker in workers:
            if worker.message["error"]:
                print(f"{group}, {worker.name}: {worker.message['error']}", file=sys.stderr)
            rows.append([Row(**row) for row in worker.message["rows"]])
        print(f"{group}: {len(rows[0])} and {len(rows[1])} rows", file=sys.stderr)
        lines += lines_of(*rows)
    for worker in workers:
        worker.tell(group=None)
    return lines


def _take_turns(workers: list[Worker]) -> None:
    """One task in alternating rounds; a task that only one of both has is its own."""
    tasks = [worker.message.get("task") for worker in workers]
    if None not in tasks and tasks[0] != tasks[1]:
        # They are at different tasks: the first one's comes alone, as if the other had none.
        tasks[1] = None
    here = [worker for worker, task in zip(workers, tasks, strict=True) if task is not None]
    task, (rounds, budget) = here[0].message["task"], here[0].message["effort"]
    spent, done = 0.0, 0
    while done < rounds and (done < min(LEAST_ROUNDS, rounds) or spent < budget):
        for worker in here if done % 2 == 0 else here[::-1]:
            worker.tell(more=True)
            assert worker.message.get("task") == task
            spent += worker.message["seconds"] / len(here)
        done += 1
    for worker in here:
        worker.tell(more=False)


def lines_of(before: list[Row], after: list[Row]) -> list[Line]:
    """The lines of rows of both: one for each program of ours at each task."""
    found: dict[str, list[list[float]]] = {}
    for i, rows in enumerate((before, after)):
        for row in rows:
            if is_ours(row.program):
                what = ", ".join([row.group, row.work, row.shape, row.program])
                found.setdefault(what, [[], []])[i] = row.seconds
    return [Line(what, *seconds) for what, seconds in found.items()]


def table(lines: list[Line]) -> str:
    """Lines as Markdown; changes within the noise of the rounds are in brackets."""
    rows = ["| what | before | after | times as fast | best |", "|---|---|---|---|---|"]
    for line in lines:
        times = [number(median(part), "s") if part else "" for part in line[1:]]
        if line.ratios is None:
            rows.append(f"| {' | '.join([line.what, *times, '', ''])} |")
            continue
        middle, best = (number(ratio, "x") for ratio in line.ratios)
        shown = middle if line.is_beyond_noise else f"({middle})"
        rows.append(f"| {' | '.join([line.what, *times, shown, best])} |")
    return "\n".join(rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.before_after", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    for name in NAMES:
        parser.add_argument(f"--{name}", type=Path, required=True, metavar="PYTHON")
    parser.add_argument("--size", choices=problems.SIZES, default="full")
    parser.add_argument("--only", nargs="+", choices=GROUPS, metavar="GROUP")
    parser.add_argument("--output", type=Path, metavar="FILE.md")
    return parser


if __name__ == "__main__":
    sys.exit(main())
