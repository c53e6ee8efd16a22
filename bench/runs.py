"""Results of a run, as `bench.targets` writes them: a dict of JSON types.

`schema` is 2; `rows` are `timing.Row`s; `environment` describes the machine; `neighbours` are the
cores that other processes used meanwhile, by group; `lines` are what `targets_table.judge` made of
the rows, for readers of the file. Everything here judges the rows anew, with today's targets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .targets_table import Line, judge
from .timing import Row

SCHEMA = 2
CONTENDED = 0.1  # cores used by other processes, from which on verdicts are in doubt

RENAMED = {"twin": "scikit-learn", "import fastgnb.naive_bayes": "import fastgnb:GaussianNB"}

Run = dict[str, Any]


def read(paths: Sequence[str | Path]) -> Run:
    """Read results. Several files hold different groups, which were measured in separate runs."""
    return joined([json.loads(Path(path).read_text(encoding="utf-8")) for path in paths])


def joined(runs: Sequence[Run]) -> Run:
    """Runs of different groups as one; `apart` says where and when the later ones were measured."""
    first, *rest = runs
    return first | {
        "schema": SCHEMA,
        "rows": [row._asdict() for run in runs for row in rows_of(run)],
        "neighbours": {group: cores for run in runs for group, cores in run["neighbours"].items()},
        "apart": [f"{', '.join(run['neighbours'])}: {description(run)}" for run in rest],
    }


def rows_of(run: Run) -> list[Row]:
    """The measured rows."""
    rows = [Row(**row) for row in run["rows"]]
    return rows if run["schema"] == SCHEMA else list(_from_schema_1(rows))


def lines_of(run: Run) -> list[Line]:
    """The judged lines."""
    return judge(rows_of(run))


def _from_schema_1(rows: list[Row]) -> Iterator[Row]:
    """Rows with the names of schema 2."""
    for row in rows:
        if row.program == "product" and row.group not in ("family GaussianBayes", "scatter"):
            continue
        extra = dict(row.extra)
        if "found" in extra:
            output = extra["output"] = dict(extra.pop("found"))
            output |= {"steps": output.pop("parts")} if "parts" in output else {}
        program = RENAMED.get(row.program, row.program)
        yield row._replace(program=program, extra=extra)


def contended(run: Run) -> list[str]:
    """Groups during which other processes were busy, except the one that starts such processes."""
    groups = [name for name, cores in run["neighbours"].items() if (cores or 0.0) > CONTENDED]
    return [name for name in groups if name != "busy"]


def warnings(run: Run) -> list[str]:
    """What a reader must know before believing the table."""
    messages = []
    groups = contended(run)
    if groups:
        cores = ", ".join(f"{name} {run['neighbours'][name]:.2f}" for name in groups)
        messages.append(f"NOT TO BE QUOTED: other processes were busy, in cores: {cores}.")
    above = [
        line.what for line in lines_of(run)
        if "share of the ceiling" in line.what and line.measured > 1
    ]  # fmt: skip
    if above:
        messages.append(
            f"Above the ceiling, so in cache, ruled out early or wrong: {'; '.join(above)}."
        )
    return messages


def description(run: Run) -> str:
    """One sentence on what the numbers depend on."""
    machine = run["environment"]
    rates = machine["ceilings"][-1]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    commit = f", commit {run['commit']}" if run.get("commit") else ""
    return (
        f"Size {run['size']}, {run['date'][:10]}{commit}, {machine['cpu']}, {rates['threads']} "
        f"threads ({machine['threading_layer']}), load {machine['load']:.1f} to "
        f"{machine['load_after']:.1f}; reads {rates['read'] / 1e9:.0f} GB/s, "
        f"{rates['fma'] / 1e9:.0f} G multiply-adds/s; Python {machine['python']}, {versions}. "
        "Medians of interleaved rounds."
    )
