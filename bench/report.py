"""The tables and figures of a run: `python -m bench.report RESULTS.json` prints the tables.

With `--write` the tables go between the README's markers, and the figures, which need the extra
`bench`, into their folder; nothing else writes into the repository. Losing rows are shown. Groups
that were measured apart come in files of their own, after the first.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .lines import Table
from .measure import Row
from .targets import as_line, contended, number, table, warnings

HERE = Path(__file__).parent
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
SPEED = ["fastgnb", "scikit-learn", "fastgnb float32", "scikit-learn float32", "fastgnb F"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; exit code 1 where the README to write to has no markers."""
    args = _parser().parse_args(argv)
    result = joined([json.loads(Path(path).read_text(encoding="utf-8")) for path in args.results])
    if not args.write:
        print(tables(result))
        return 0
    readme = Path(args.readme)
    text = readme.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        print(f"{readme}: put the lines {BEGIN} and {END} where tables belong", file=sys.stderr)
        return 1
    if not args.no_figures:
        from . import figures

        for path in figures.draw(result, Path(args.figures), HERE / "results"):
            print(path)
    readme.write_text(replace(text, tables(result)), encoding="utf-8")
    print(readme)
    return 0


def joined(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Runs of different groups as one, with where and when each of them was measured."""
    first, *rest = results
    return first | {
        "rows": [row for result in results for row in result["rows"]],
        "lines": [line for result in results for line in result["lines"]],
        "neighbours": {k: v for result in results for k, v in result["neighbours"].items()},
        "apart": [f"{', '.join(each['neighbours'])}: {where(each)}" for each in rest],
    }


def replace(text: str, new: str) -> str:
    """The text with what is between the markers replaced."""
    before, rest = text.split(BEGIN, 1)
    return f"{before}{BEGIN}\n{new}\n{END}{rest.split(END, 1)[1]}"


def tables(result: dict[str, Any]) -> str:
    """Where it was measured, the targets, and rows per second of every program, as Markdown."""
    rows = rows_of(result)
    lines = [as_line(line) for line in result["lines"]]
    parts = [where(result), *result.get("apart", []), *warnings(result)]
    parts += [table(lines, contended(result))]
    for work in ("fit", "predict", "predict_proba"):
        parts += [f"Million rows a second, {work}:", speeds(Table(rows), "grid", work, SPEED)]
    parts += ["Everybody at one problem, million rows a second:", everybody(rows)]
    parts += ["The family beside its twins in scikit-learn, by times:", family(Table(rows))]
    return "\n\n".join(part for part in parts if part)


def rows_of(result: dict[str, Any]) -> list[Row]:
    """The measured rows that results hold."""
    return [Row(**row) for row in result["rows"]]


def where(result: dict[str, Any]) -> str:
    """One sentence with what the numbers depend on."""
    found = result["environment"]
    rates = found["ceilings"][-1]
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    return (
        f"Size {result['size']}, {result['date'][:10]}, {found['cpu']}, {rates['threads']} threads "
        f"({found['threading_layer']}), load {found['load']:.1f} to {found['load_after']:.1f}; "
        f"reads {rates['read'] / 1e9:.0f} GB/s, {rates['fma'] / 1e9:.0f} G multiply-adds/s; "
        f"Python {found['python']}, {versions}. Medians of interleaved rounds."
    )


def speeds(found: Table, group: str, work: str, programs: Sequence[str]) -> str:
    """Million rows a second by shape and program."""
    head = f"| rows x features x classes | {' | '.join(programs)} |"
    body = [head, "|---" * (len(programs) + 1) + "|"]
    for one in found.of(group, work, "fastgnb"):
        cells = []
        for program in programs:
            row = found.rows.get((group, work, one.shape, program))
            cells.append("" if row is None else rate(row))
        body.append(f"| {one.shape} | {' | '.join(cells)} |")
    return "\n".join(body) if len(body) > 2 else ""


def everybody(rows: list[Row]) -> str:
    """Rows a second of every rival at the standard problem."""
    mine = [row for row in rows if row.group == "others" and row.program != "ceiling"]
    programs = list(dict.fromkeys(row.program for row in mine))
    body = ["| program | fit | predict |", "|---|---|---|"]
    for program in programs:
        cells = {row.work: rate(row) for row in mine if row.program == program}
        body.append(f"| {program} | {cells['fit']} | {cells['predict']} |")
    return "\n".join(body) if programs else ""


def family(found: Table) -> str:
    """Each member's fit and predict, against its twin's time."""
    groups = dict.fromkeys(key[0] for key in found.rows if key[0].startswith("family "))
    body = ["| member | rows x features x classes | fit | predict |", "|---|---|---|---|"]
    for group in groups:
        for one in found.of(group, "fit", "fastgnb"):
            cells = []
            for work in ("fit", "predict"):
                ours = found.rows[group, work, one.shape, "fastgnb"]
                twin = found.rows[group, work, one.shape, "twin"]
                cells.append(number(twin.median / ours.median, "x"))
            member = group.removeprefix("family ")
            body.append(f"| {member} | {one.shape} | {' | '.join(cells)} |")
    return "\n".join(body) if groups else ""


def rate(row: Row) -> str:
    return number(row.rows / row.median / 1e6, "")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.report", description=__doc__)
    parser.add_argument("results", nargs="+", metavar="RESULTS.json")
    parser.add_argument("--write", action="store_true", help="into the README and the figures")
    parser.add_argument("--readme", default=HERE.parent / "README.md", metavar="FILE")
    parser.add_argument("--figures", default=HERE / "figures", metavar="FOLDER")
    parser.add_argument("--no-figures", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
