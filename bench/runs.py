"""Results of a run, as `bench.targets` writes them: a dict of JSON types.

`schema` is 3; `commit` is what was measured, and `dirty` whether files differed from it (None where
that was not recorded); `environment` describes the machine, with versions and load; `neighbours`
are the cores that other processes used meanwhile, by group; `rows` are `timing.Row`s; `lines` are
what `targets_table.judge` made of the rows, for readers of the file. Everything here judges the
rows anew, with today's targets. `convert` brings files of earlier schemas to this one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .targets_table import Line, judge
from .timing import Row

SCHEMA = 3
CONTENDED = 0.1  # cores used by other processes, from which on verdicts are in doubt

Run = dict[str, Any]


def read(paths: Sequence[str | Path]) -> Run:
    """Read results. Several files hold different groups, which were measured in separate runs."""
    return joined([read_file(path) for path in paths])


def read_file(path: str | Path) -> Run:
    """The results of one file, which must be of the newest schema."""
    run: Run = json.loads(Path(path).read_text(encoding="utf-8"))
    schema = run.get("schema") if isinstance(run, dict) else None
    if schema != SCHEMA:
        raise ValueError(
            f"{path}: expected results of schema {SCHEMA}, got {schema!r}. "
            f"Convert earlier ones: python -m bench.convert {path}"
        )
    return run


def write(run: Run, path: str | Path) -> None:
    """Write results, one measured row a line."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    lists = {name: ",\n".join(map(json.dumps, run[name])) for name in ("rows", "lines")}
    head = json.dumps({name: value for name, value in run.items() if name not in lists}, indent=1)
    body = "".join(f',\n "{name}": [\n{text}\n ]' for name, text in lists.items())
    path.write_text(f"{head[:-2]}{body}\n}}\n", encoding="utf-8")


def file_name(run: Run) -> str:
    """The name of the file that keeps a run: when it was measured, and its size."""
    return f"{run['date'][:19].replace(':', '')}-{run['size']}.json"


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
    return [Row(**row) for row in run["rows"]]


def lines_of(run: Run) -> list[Line]:
    """The judged lines."""
    return judge(rows_of(run))


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
    name = commit_name(run)
    commit = f", commit {name}" if name else ""
    return (
        f"Size {run['size']}, {run['date'][:10]}{commit}, {machine['cpu']}, {rates['threads']} "
        f"threads ({machine['threading_layer']}), load {machine['load']:.1f} to "
        f"{machine['load_after']:.1f}; reads {rates['read'] / 1e9:.0f} GB/s, "
        f"{rates['fma'] / 1e9:.0f} G multiply-adds/s; Python {machine['python']}, {versions}. "
        "Medians of interleaved rounds."
    )


def commit_name(run: Run) -> str:
    """The commit, with a + where files differed from it; empty where it was not recorded."""
    return f"{run['commit']}{'+' if run['dirty'] else ''}" if run["commit"] else ""
