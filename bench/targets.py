"""Measure every target and print the table: `python -m bench.targets [--quick] [--json FILE]`.

Programs are timed in interleaved rounds of one run, every answer is checked, and lines that miss
their target stay in the table.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from . import environment, family, measure, measure_outside, problems
from .lines import Line, judge
from .measure import Row

RESULTS = Path(__file__).parent / "results"

GROUPS: dict[str, Callable[[str], Iterator[Row]]] = {
    "grid": measure.grid,
    "others": measure.others,
    "noise": measure.noise,
    "labels": measure.labels,
    "stream": measure.streaming,
    "one-row": measure.one_row,
    "memory": measure_outside.memory,
    "files": measure_outside.in_files,
    "startup": measure_outside.startup,
    "cold": measure_outside.cold,
    "threads": measure.threads,
    "busy": measure_outside.beside_busy_processes,
    "accuracy": measure.accurate,
    "family": family.family,
    "mixed": family.mixed,
    "scatter": family.statistics,
    "selection": family.selection,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; exit code 0 whatever was missed, since a table is not a test."""
    args = _parser().parse_args(argv)
    result = run(args.size, args.only or [name for name in GROUPS if _is_usual(name, args.size)])
    print(table([as_line(line) for line in result["lines"]], contended(result)))
    for warning in warnings(result):
        print(f"\n{warning}")
    missed = [line["what"] for line in result["lines"] if line["passed"] is False]
    print(f"\n{len(missed)} lines missed; size {args.size}, {result['seconds']:.0f} s")
    if args.json is not None:
        name = f"{result['date'][:19].replace(':', '')}-{args.size}.json"
        path = Path(args.json or RESULTS / name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0


def run(size: str, groups: Sequence[str]) -> dict[str, Any]:
    """Measure groups at a size: environment before and load after, rows and judged lines."""
    start = time.perf_counter()
    rows: list[Row] = []
    neighbours: dict[str, float | None] = {}
    where = environment.with_ceilings()
    for group in groups:
        began = time.perf_counter()
        before = environment.busy_seconds()
        rows += GROUPS[group](size)
        spent = time.perf_counter() - began
        after = environment.busy_seconds()
        neighbours[group] = None if before is None or after is None else (after - before) / spent
        print(f"{group}: {spent:.1f} s", file=sys.stderr)
    lines = judge(rows)
    return {
        "schema": 1,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "size": size,
        "seconds": time.perf_counter() - start,
        "environment": where | {"load_after": environment.load()},
        "neighbours": neighbours,
        "rows": [row._asdict() for row in rows],
        "lines": [line._asdict() | {"passed": line.passed} for line in lines],
    }


def as_line(found: dict[str, Any]) -> Line:
    """A line as it is kept in results."""
    return Line(*[found[name] for name in Line._fields])


def _is_usual(group: str, size: str) -> bool:
    """Compiling everything cold takes a third of the quick set's time: only when asked for."""
    return group != "cold" or size == "full"


CONTENDED = 0.1  # cores that other processes use, from which on verdicts are in doubt


def contended(result: dict[str, Any]) -> list[str]:
    """Groups that were measured while other processes were busy, but for the one that wants it."""
    found = [name for name, cores in result["neighbours"].items() if (cores or 0.0) > CONTENDED]
    return [name for name in found if name != "busy"]


def warnings(result: dict[str, Any]) -> list[str]:
    """What a reader must know before believing the table."""
    found = []
    groups = contended(result)
    if groups:
        cores = ", ".join(f"{name} {result['neighbours'][name]:.2f}" for name in groups)
        found.append(f"NOT TO BE QUOTED: other processes were busy, in cores: {cores}.")
    over = [
        line["what"] for line in result["lines"]
        if "share of the ceiling" in line["what"] and line["measured"] > 1
    ]  # fmt: skip
    if over:
        found.append(
            f"Above the ceiling, so in cache, ruled out early or wrong: {'; '.join(over)}."
        )
    return found


def table(lines: list[Line], doubtful: Sequence[str] = ()) -> str:
    """Lines as Markdown: target, median, best, pass or fail, and where it was measured.

    Verdicts have a question mark where groups of the run are doubtful.
    """
    head = ["| what | target | median | best | | detail |", "|---|---|---|---|---|---|"]
    doubt = "?" if doubtful else ""
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
    """Three digits and a unit."""
    text = f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:.3g}"
    if abs(value) >= 1000:
        text = f"{value:,.0f}"
    return f"{text} {unit}".strip()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.targets", description=__doc__)
    parser.add_argument("--size", choices=problems.SIZES, default="full")
    parser.add_argument("--quick", dest="size", action="store_const", const="quick")
    names = ", ".join(GROUPS)
    parser.add_argument("--only", nargs="+", choices=GROUPS, metavar="GROUP", help=names)
    help_ = "write results; without FILE, to bench/results/ under date and size"
    parser.add_argument("--json", nargs="?", const="", metavar="FILE", help=help_)
    return parser


if __name__ == "__main__":
    sys.exit(main())
