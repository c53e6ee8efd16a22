"""Compare two runs: `python -m bench.compare OLD.json NEW.json`, as Markdown.

Only ratios to other programs and to ceilings of the same run are compared: times of two runs on a
shared machine are not comparable. A drop is reported, and for the same reason is no failure.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from . import runs
from .runs import Run
from .targets import number


class Change(NamedTuple):
    """A line of both runs; `factor` above 1 is better."""

    what: str
    old: float
    new: float
    unit: str
    factor: float


def main(argv: Sequence[str] | None = None) -> int:
    """Print the comparison. The exit code is 0 in any case."""
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("old", metavar="OLD.json")
    parser.add_argument("new", metavar="NEW.json")
    parser.add_argument("--drop", type=float, default=0.8, help="report ratios below this share")
    args = parser.parse_args(argv)
    print(text(runs.read([args.old]), runs.read([args.new]), args.drop))
    return 0


def changes(old: Run, new: Run) -> Iterator[Change]:
    """Ratios that both runs have."""
    before = {line.what: line for line in runs.lines_of(old)}
    for line in runs.lines_of(new):
        previous = before.get(line.what)
        is_ratio = "against" in line.what or "share" in line.what
        if previous is not None and is_ratio and previous.measured > 0 and line.measured > 0:
            factor = line.measured / previous.measured
            factor = 1 / factor if line.at_most else factor
            yield Change(line.what, previous.measured, line.measured, line.unit, factor)


def text(old: Run, new: Run, drop: float) -> str:
    """All changes as Markdown, the largest drops first."""
    if old["size"] != new["size"]:
        return f"Not compared: the runs have sizes {old['size']} and {new['size']}."
    ordered = sorted(changes(old, new), key=lambda change: change.factor)
    dropped = [change for change in ordered if change.factor < drop]
    head = f"### {len(dropped)} of {len(ordered)} ratios fell below {drop:g} of the previous run's"
    doubts = [note for run in (old, new) for note in runs.warnings(run) if note.startswith("NOT")]
    lines = [head, "", *doubts, "", "| what | before | now | change |", "|---|---|---|---|"]
    for change in ordered:
        mark = "**" if change.factor < drop else ""
        cells = [number(change.old, change.unit), number(change.new, change.unit)]
        lines.append(f"| {change.what} | {' | '.join(cells)} | {mark}{change.factor:.2f}{mark} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
