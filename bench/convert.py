"""Bring results of earlier schemas to the newest: `python -m bench.convert FILE.json ...`.

Converted files are written beside the others, under the date and size of the run, and the files
given are kept. With `--history`, every version of every result file in Git's history is recovered:
a file that was overwritten becomes one file for each run.

Schemas 1 and 2 did not, or not always, record the commit. It is then the one that the file was
committed with, and whether files differed from it is not known. Names changed from 1 to 2: a
counterpart was called "twin", outputs "found", and products were timed beside every member.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from . import runs
from .runs import Run
from .targets_table import judge
from .timing import Row

RESULTS = Path(__file__).parent / "results"
RENAMED = {"twin": "scikit-learn", "import fastgnb.naive_bayes": "import fastgnb:GaussianNB"}
WITH_PRODUCT = ("family GaussianBayes", "scatter")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    args = _parser().parse_args(argv)
    output = Path(args.output)
    if args.history:
        sources = list(versions(output))
    else:
        sources = [(args.commit, Path(name).read_text(encoding="utf-8")) for name in args.results]
    for commit, text in sources:
        run = upgraded(json.loads(text), commit)
        path = output / runs.file_name(run)
        if not path.exists():
            runs.write(run, path)
            print(path)
    return 0


def upgraded(run: Run, commit: str | None = None) -> Run:
    """A run of any schema as one of the newest. `commit` is used where the run records none."""
    schema = run.get("schema")
    if schema not in range(1, runs.SCHEMA + 1):
        raise ValueError(f"Expected results of schema 1 to {runs.SCHEMA}, got {schema!r}.")
    if schema == runs.SCHEMA:
        return run
    rows = [Row(**row) for row in run["rows"]]
    rows = list(_renamed(rows)) if schema == 1 else rows
    head = {"schema": runs.SCHEMA, "date": run["date"], **_commit(run.get("commit"), commit)}
    return head | {
        **{name: run[name] for name in ("size", "seconds", "environment", "neighbours")},
        "rows": [row._asdict() for row in rows],
        "lines": [line._asdict() | {"passed": line.passed} for line in judge(rows)],
    }


def _commit(recorded: str | None, committed: str | None) -> dict[str, Any]:
    """Schema 2 wrote a commit with a + where files differed from it."""
    if recorded is not None:
        return {"commit": recorded.rstrip("+"), "dirty": recorded.endswith("+")}
    return {"commit": committed, "dirty": None}


def _renamed(rows: Sequence[Row]) -> Iterator[Row]:
    """Rows of schema 1 with the names of schema 2."""
    for row in rows:
        if row.program == "product" and row.group not in WITH_PRODUCT:
            continue
        extra = dict(row.extra)
        if "found" in extra:
            output = extra["output"] = dict(extra.pop("found"))
            output |= {"steps": output.pop("parts")} if "parts" in output else {}
        program = RENAMED.get(row.program, row.program)
        yield row._replace(program=program, extra=extra)


def versions(folder: Path) -> Iterator[tuple[str, str]]:
    """Each version of each result file in a folder's history: its commit and its text."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    commits = git("log", "--reverse", "--format=%h", "--abbrev=10", "--", ".").split()
    for commit in commits:
        changed = git("diff-tree", "--root", "-r", "--no-commit-id", "--relative",
                      "--diff-filter=AM", "--name-only", commit, "--", ".")  # fmt: skip
        for name in changed.splitlines():
            if name.endswith(".json"):
                yield commit, git("show", f"{commit}:./{name}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.convert", description=__doc__)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("results", nargs="*", default=[], metavar="FILE.json")
    which.add_argument("--history", action="store_true", help="all versions that Git has")
    parser.add_argument("--commit", help="what was measured, where a file does not record it")
    parser.add_argument("--output", default=RESULTS, metavar="FOLDER", help="default: %(default)s")
    return parser


if __name__ == "__main__":
    sys.exit(main())
