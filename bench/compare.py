"""Compare two runs: `python -m bench.compare OLD.json NEW.json`, as Markdown.

Only ratios to other programs and to ceilings of the same run are compared: times of two runs on a
shared machine are not comparable. A change is marked where it is beyond the noise of both runs, and
is no failure. `--runs` names earlier results, which tell the noise between runs better.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from fastgnb.dashboard import Run, Task
from fastgnb.dashboard.history import noises, series_of
from fastgnb.dashboard.noise import Change, change

from . import runs
from .dashboard.model import run_of
from .targets import number

MOST = 40


class Line(NamedTuple):
    """A ratio that both runs have; `before` and `after` are times as fast, or shares."""

    task: Task
    library: str
    before: float
    after: float
    change: Change

    @property
    def what(self) -> str:
        """The task in words."""
        options = (self.task.dtype, "" if self.task.layout == "C" else self.task.layout)
        member = "" if self.task.member == "GaussianNB" else self.task.member
        words = [self.task.operation, member, self.task.problem, self.task.detail, *options]
        return ", ".join(word for word in words if word not in ("", "float64"))


def main(argv: Sequence[str] | None = None) -> int:
    """Print the comparison. The exit code is 0 in any case."""
    args = _parser().parse_args(argv)
    old, new = runs.read([args.old]), runs.read([args.new])
    print(text(old, new, [runs.read_file(path) for path in args.runs]))
    return 0


def lines_of(old: Run, new: Run, earlier: Sequence[Run] = ()) -> list[Line]:
    """Ratios of both runs, the largest changes for their noise first."""
    kept = [run for run in earlier if run.name not in (old.name, new.name)]
    before, after = _with_noise([old, new, *kept])[:2]
    result = []
    for series, (ratio, noise) in after.items():
        if series in before:
            earlier_ratio, earlier_noise = before[series]
            found = change(earlier_ratio, ratio, earlier_noise, noise)
            result.append(Line(*series, earlier_ratio, ratio, found))
    return sorted(result, key=lambda line: -line.change.size)


def _with_noise(kept: list[Run]) -> list[dict[tuple[Task, str], tuple[float, float | None]]]:
    """Ratio and noise by series, for each run."""
    return [
        {series: (ratio, noise) for (series, ratio), noise in zip(items, values, strict=True)}
        for items, values in zip(
            [series_of(run).items() for run in kept], noises(kept), strict=True
        )
    ]


def text(old: runs.Run, new: runs.Run, earlier: Sequence[runs.Run] = ()) -> str:
    """Changes beyond the noise as Markdown, and all others folded."""
    if old["size"] != new["size"]:
        return f"Not compared: the runs have sizes {old['size']} and {new['size']}."
    lines = lines_of(run_of(old), run_of(new), [run_of(run) for run in earlier])
    beyond = [line for line in lines if line.change.direction]
    worse = sum(line.change.direction < 0 for line in beyond)
    counts = f"{worse} worse, {len(beyond) - worse} better"
    parts = [f"### {len(beyond)} of {len(lines)} ratios changed beyond the noise: {counts}"]
    parts += [note for run in (old, new) for note in runs.warnings(run) if note.startswith("NOT")]
    if old["environment"]["cpu"] != new["environment"]["cpu"]:
        parts += ["The runs are of different processors, so ratios differ for that reason too."]
    if beyond:
        parts += [table(beyond)]
    rest = [line for line in lines if not line.change.direction]
    head = f"{len(rest)} ratios within the noise, or whose noise is not known"
    shown = table(rest[:MOST])
    parts += [f"<details><summary>{head}; the largest changes</summary>\n\n{shown}\n\n</details>"]
    parts += [f"Before: {runs.description(old)}", f"After: {runs.description(new)}"]
    return "\n\n".join(parts)


def table(lines: Sequence[Line]) -> str:
    """Lines as a Markdown table."""
    rows = [
        "| what | beside | before | after | change | noise up to | |",
        "|---|---|---|---|---|---|---|",
    ]
    marks = {1: "better", 0: "", -1: "**worse**"}
    for line in lines:
        limit = line.change.limit
        cells = [
            line.what, line.library, number(line.before, "x"), number(line.after, "x"),
            f"{line.change.factor - 1:+.0%}", "?" if limit is None else f"{limit - 1:.0%}",
            marks[line.change.direction],
        ]  # fmt: skip
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("old", metavar="OLD.json")
    parser.add_argument("new", metavar="NEW.json")
    parser.add_argument("--runs", nargs="+", default=[], type=Path, metavar="EARLIER.json")
    return parser


if __name__ == "__main__":
    sys.exit(main())
