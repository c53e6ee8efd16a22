"""The tables and figures of a run: `python -m bench.report RESULTS.json` prints the tables.

With `--write` the tables go between the markers of bench/README.md, a summary between those of the
main README.md, and the figures, which need the extra `bench`, into their folder. Nothing else
writes into the repository. Results where fastgnb loses are kept. Groups that were measured in
separate runs come in files of their own, after the first.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import runs
from .family import MEMBERS
from .runs import Run
from .targets import number, table
from .targets_table import Ratio, Table, family_groups, geometric_mean, reading
from .timing import Row

HERE = Path(__file__).parent
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
SPEED = ["fastgnb", "scikit-learn", "fastgnb float32", "scikit-learn float32", "fastgnb F"]
WORKS = ("fit", "predict")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. The exit code is 1 where a README to write to has no markers."""
    args = _parser().parse_args(argv)
    run = runs.read(args.results)
    texts = {Path(args.tables): tables(run), Path(args.readme): summary(run)}
    if not args.write:
        print("\n\n".join(texts.values()))
        return 0
    unmarked = [path for path in texts if not has_markers(path)]
    if unmarked:
        names = " and ".join(map(str, unmarked))
        print(f"{names}: put the lines {BEGIN} and {END} where tables belong", file=sys.stderr)
        return 1
    if not args.no_figures:
        from . import figures

        for path in figures.draw(run, Path(args.figures), HERE / "results"):
            print(path)
    for path, new in texts.items():
        path.write_text(replace(path.read_text(encoding="utf-8"), new), encoding="utf-8")
        print(path)
    return 0


def has_markers(path: Path) -> bool:
    """Whether a file has both markers, in order."""
    _, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    return bool(begin) and END in rest


def replace(text: str, new: str) -> str:
    """The text with what is between the markers replaced."""
    before, rest = text.split(BEGIN, 1)
    return f"{before}{BEGIN}\n{new}\n{END}{rest.split(END, 1)[1]}"


def tables(run: Run) -> str:
    """Where it was measured, the targets, and rows per second of every program, as Markdown."""
    rows = Table(runs.rows_of(run))
    parts = [runs.description(run), *run.get("apart", []), *runs.warnings(run)]
    parts += [table(runs.lines_of(run), runs.contended(run))]
    for work in (*WORKS, "predict_proba"):
        parts += _titled(f"Million rows per second, {work}", speeds(rows, "grid", work, SPEED))
    parts += _titled("All libraries on one problem, million rows per second", libraries(rows))
    parts += _titled("Members of the family, times as fast as scikit-learn's", family(rows))
    return "\n\n".join(parts)


def _titled(title: str, body: str) -> list[str]:
    return [f"### {title}", body] if body else []


def speeds(rows: Table, group: str, work: str, programs: Sequence[str]) -> str:
    """Million rows per second by shape and program."""
    body = []
    for ours in rows.of(group, work, "fastgnb"):
        others = [rows.rows.get((group, work, ours.shape, program)) for program in programs]
        cells = ["" if row is None else speed(row) for row in others]
        body.append([ours.shape, *cells])
    return markdown(["rows x features x classes", *programs], body)


def libraries(rows: Table) -> str:
    """Million rows per second of every library at the standard problem."""
    group = [row for row in rows.rows.values() if row.group == "others"]
    programs = dict.fromkeys(row.program for row in group if row.program != "ceiling")
    body = []
    for program in programs:
        cells = {row.work: speed(row) for row in group if row.program == program}
        body.append([program, *(cells[work] for work in WORKS)])
    return markdown(["library", *WORKS], body)


def family(rows: Table) -> str:
    """How often the counterpart's time is that of each member, by shape."""
    body = []
    for group in family_groups(rows):
        ratios = {work: rows.ratios(group, work, "fastgnb", "scikit-learn") for work in WORKS}
        for fit, predict in zip(*ratios.values(), strict=True):
            member = group.removeprefix("family ")
            cells = [number(ratio.median, "x") for ratio in (fit, predict)]
            body.append([member, counterpart(member), fit.shape, *cells])
    return markdown(["member", "scikit-learn", "rows x features x classes", *WORKS], body)


def counterpart(member: str) -> str:
    """What scikit-learn has in the place of a member."""
    return {entry.name: entry.counterpart for entry in MEMBERS}.get(member, "")


def summary(run: Run) -> str:
    """Times as fast as each competitor, where fastgnb loses too: a table for the main README."""
    rows = Table(runs.rows_of(run))
    body = [["scikit-learn `GaussianNB`", *_cells(rows, "grid", "scikit-learn")]]
    for program, title in LIBRARIES.items():
        body += [[title, *_cells(rows, "others", program)]]
    for group in family_groups(rows):
        name = counterpart(group.removeprefix("family "))
        if name:
            body.append([f"scikit-learn {name}", *_cells(rows, group, "scikit-learn")])
    for name in ("GaussianNB", "GaussianBayes"):
        ratios = rows.ratios(f"selection {name}", "cross-validation", "fastgnb", "scikit-learn")
        body.append([f"`GridSearchCV`, for `StatsGridSearchCV` of {name}", cell(ratios), ""])
    chunks = rows.ratios("stream", "fit", "fastgnb in chunks", "fastgnb")
    body.append(["one `fit`, for `partial_fit` in chunks of 10,000 rows", cell(chunks), ""])
    body.append(["only reading the Parquet file, for commands", *_file_cells(rows)])
    body = [[title, *cells] for title, *cells in body if any(cells)]
    return f"{markdown(['times as fast as', *WORKS], body)}\n\n{_legend(run)}"


def _legend(run: Run) -> str:
    """How to read the summary, and what it was measured with."""
    machine = run["environment"]
    n_threads = machine["ceilings"][-1]["threads"]
    names = ("fastgnb", "scikit-learn", "numba")
    versions = [
        f"{name} {machine['versions'][name]}" for name in names if name in machine["versions"]
    ]
    name = runs.commit_name(run)
    commit = f" (commit {name})" if name else ""
    apart = " Some rows come from separate runs: see bench/README.md." if run.get("apart") else ""
    return (
        "Geometric means over problems, with the worst problem in brackets; **bold** where fastgnb "
        f"is slower. Measured {run['date'][:10]}{commit} with {n_threads} threads on "
        f"{machine['cpu']}: {', '.join(versions)}.{apart}"
    )


# Libraries of the table `rivals`, as the summary calls them.
LIBRARIES = {
    "numpy matrix": "NumPy, by matrix products",
    "mlpack": "mlpack",
    "dask-ml": "dask-ml",
    "river": "river",
}


def _cells(rows: Table, group: str, program: str) -> list[str]:
    """How many times as fast as a program fit and predict are, over both types of rows."""
    cells = []
    for work in WORKS:
        ratios = rows.ratios(group, work, "fastgnb", program)
        ratios += rows.ratios(group, work, "fastgnb float32", f"{program} float32")
        cells.append(cell(ratios))
    return cells


def _file_cells(rows: Table) -> list[str]:
    """The share of only reading a Parquet file in the time of each command."""
    cells = []
    for work in WORKS:
        commands = rows.of("files parquet", work, "fastgnb")
        read = [reading(rows, "parquet") for _ in commands]
        shares = [r.median / row.median for r, row in zip(read, commands, strict=True)]
        cells.append(cell([Ratio(share, share, "") for share in shares]))
    return cells


def cell(ratios: Sequence[Ratio]) -> str:
    """The geometric mean of ratios, and the worst of several in brackets; bold below 1."""
    if not ratios:
        return ""
    medians = [ratio.median for ratio in ratios]
    values = [geometric_mean(medians), min(medians)][: len(medians)]
    mean, *worst = (
        f"**{number(value, 'x')}**" if value < 1 else number(value, "x") for value in values
    )
    return f"{mean} ({worst[0]})" if worst else mean


def speed(row: Row) -> str:
    """Million rows per second."""
    return number(row.rows / row.median / 1e6, "")


def markdown(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A table, or nothing where it has no rows."""
    if not body:
        return ""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.report", description=__doc__)
    parser.add_argument("results", nargs="+", metavar="RESULTS.json")
    parser.add_argument("--write", action="store_true", help="into the READMEs and the figures")
    parser.add_argument("--tables", default=HERE / "README.md", metavar="FILE")
    parser.add_argument("--readme", default=HERE.parent / "README.md", metavar="FILE")
    parser.add_argument("--figures", default=HERE / "figures", metavar="FOLDER")
    parser.add_argument("--no-figures", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
