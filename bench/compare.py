"""Compare two runs: `python -m bench.compare OLD.json NEW.json`, as Markdown.

Only ratios are compared, to rivals and to ceilings of the same run: times of two runs on machines
that others share say nothing. A drop is reported and is no failure, for the same reason.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .targets import as_line, number, warnings


class Change(NamedTuple):
    """A line of both runs; `factor` above 1 is better."""

    what: str
    old: float
    new: float
    unit: str
    factor: float


def main(argv: Sequence[str] | None = None) -> int:
    """Print the comparison; exit code 0 in any case."""
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("old", metavar="OLD.json")
    parser.add_argument("new", metavar="NEW.json")
    parser.add_argument("--drop", type=float, default=0.8, help="report ratios below this share")
    args = parser.parse_args(argv)
    old, new = (json.loads(Path(p).read_text(encoding="utf-8")) for p in (args.old, args.new))
    print(text(old, new, args.drop))
    return 0


def changes(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    """Ratios that both runs have."""
    before = {line["what"]: as_line(line) for line in old["lines"]}
    for line in map(as_line, new["lines"]):
        was = before.get(line.what)
        is_ratio = "against" in line.what or "share" in line.what
        if was is not None and is_ratio and was.measured > 0 and line.measured > 0:
            factor = line.measured / was.measured
            factor = 1 / factor if line.at_most else factor
            yield Change(line.what, was.measured, line.measured, line.unit, factor)


def text(old: dict[str, Any], new: dict[str, Any], drop: float) -> str:
    """Drops first, then all changes, as Markdown."""
    if old["size"] != new["size"]:
        return f"Not compared: the runs have sizes {old['size']} and {new['size']}."
    found = sorted(changes(old, new), key=lambda change: change.factor)
    dropped = [change for change in found if change.factor < drop]
    head = f"### {len(dropped)} of {len(found)} ratios fell below {drop:g} of the previous run's"
    doubts = [note for run in (old, new) for note in warnings(run) if note.startswith("NOT")]
    lines = [head, "", *doubts, "", "| what | before | now | change |", "|---|---|---|---|"]
    for change in found:
        mark = "**" if change.factor < drop else ""
        cells = [number(change.old, change.unit), number(change.new, change.unit)]
        lines.append(f"| {change.what} | {' | '.join(cells)} | {mark}{change.factor:.2f}{mark} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
