"""Measure every target and print the table: `python -m bench.targets [--quick] [--json FILE]`.

Programs are timed in interleaved rounds of one run, every result is checked, and lines that miss
their target stay in the table.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from . import (
    environment,
    family,
    leave_one_out,
    measure,
    measure_subprocess,
    problems,
    runs,
    selection,
)
from .runs import Run
from .targets_table import Line, judge
from .timing import Row

HERE = Path(__file__).parent
RESULTS = HERE / "results"

GROUPS: dict[str, Callable[[str], Iterator[Row]]] = {
    "grid": measure.grid,
    "others": measure.others,
    "noise": measure.noise,
    "labels": measure.labels,
    "stream": measure.streaming,
    "one-row": measure.one_row,
    "memory": measure_subprocess.memory,
    "files": measure_subprocess.in_files,
    "startup": measure_subprocess.startup,
    "cold": measure_subprocess.cold,
    "threads": measure.threads,
    "busy": measure_subprocess.with_busy_processes,
    "accuracy": measure.accurate,
    "family": family.members,
    "scatter": family.scatter,
    "selection": selection.selection,
    "leave-one-out": leave_one_out.leave_one_out,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. The exit code is 0 whatever was missed: a table is not a test."""
    args = _parser().parse_args(argv)
    groups = args.only or [name for name in GROUPS if _is_default(name, args.size)]
    run = measured(args.size, groups)
    lines = runs.lines_of(run)
    print(table(lines, runs.contended(run)))
    for warning in runs.warnings(run):
        print(f"\n{warning}")
    missed = [line.what for line in lines if line.passed is False]
    print(f"\n{len(missed)} lines missed; size {args.size}, {run['seconds']:.0f} s")
    if args.json is not None:
        runs.write(run, args.json or RESULTS / runs.file_name(run))
    return 0


def measured(size: str, groups: Sequence[str]) -> Run:
    """Measure groups at a size. See `runs` for what is returned."""
    start = time.perf_counter()
    rows: list[Row] = []
    neighbours: dict[str, float | None] = {}
    machine = environment.with_ceilings()
    for group in groups:
        began = time.perf_counter()
        before = environment.busy_seconds()
        rows += GROUPS[group](size)
        spent = time.perf_counter() - began
        after = environment.busy_seconds()
        neighbours[group] = None if before is None or after is None else (after - before) / spent
        print(f"{group}: {spent:.1f} s", file=sys.stderr)
    return {
        "schema": runs.SCHEMA,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        **_commit(),
        "size": size,
        "seconds": time.perf_counter() - start,
        "environment": machine | {"load_after": environment.load()},
        "neighbours": neighbours,
        "rows": [row._asdict() for row in rows],
        "lines": [line._asdict() | {"passed": line.passed} for line in judge(rows)],
    }


def _commit() -> dict[str, Any]:
    """The commit that is measured, and whether files differ from it; None outside of Git."""
    git = ["git", "-C", str(HERE)]
    outputs = []
    for words in (["rev-parse", "--short=10", "HEAD"], ["status", "--porcelain", "-uno"]):
        try:
            done = subprocess.run([*git, *words], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return {"commit": None, "dirty": None}
        outputs.append(done.stdout.strip())
    return {"commit": outputs[0], "dirty": bool(outputs[1])}


def _is_default(group: str, size: str) -> bool:
    """Cold compilation takes a third of the quick run's time: there it is measured on request."""
    return group != "cold" or size == "full"


def table(lines: list[Line], contended: Sequence[str] = ()) -> str:
    """Lines as Markdown: target, median, best, pass or fail, and details.

    Verdicts have a question mark where groups of the run are contended.
    """
    head = ["| what | target | median | best | | detail |", "|---|---|---|---|---|---|"]
    doubt = "?" if contended else ""
    marks = {True: f"pass{doubt}", False: f"**fail**{doubt}", None: ""}
    body = []
    for line in lines:
        sign = "" if line.target is None else "<= " if line.at_most else ">= "
        target = "" if line.target is None else sign + number(line.target, line.unit)
        cells = [
            line.what, target, number(line.measured, line.unit), number(line.best, line.unit),
            marks[line.passed], line.detail,
        ]  # fmt: skip
        body.append(f"| {' | '.join(cells)} |")
    return "\n".join(head + body)


def number(value: float, unit: str) -> str:
    """A value of three digits, with its unit."""
    text = f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:.3g}"
    if abs(value) >= 1000:
        text = f"{value:,.0f}"
    return f"{text} {unit}".strip()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.targets", description=__doc__)
    parser.add_argument("--size", choices=problems.SIZES, default="full")
    parser.add_argument(
        "--quick", dest="size", action="store_const", const="quick", help="as --size quick"
    )
    names = ", ".join(GROUPS)
    parser.add_argument("--only", nargs="+", choices=GROUPS, metavar="GROUP", help=names)
    parser.add_argument(
        "--json", nargs="?", const="", metavar="FILE",
        help="write results; without FILE, to bench/results/ under date and size",
    )  # fmt: skip
    return parser


if __name__ == "__main__":
    sys.exit(main())
