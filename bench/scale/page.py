"""The tables of docs/scale.md, from the figures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["BEGIN", "END", "PAGE", "tables", "write"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scale.md"
BEGIN, END = "<!-- scale:begin -->\n", "<!-- scale:end -->\n"

_TRILLION = 1e12


def write(run: dict[str, Any]) -> None:
    """Put the tables of a run between the markers of the page."""
    before, found, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (found and end):
        raise SystemExit(f"{PAGE} lacks {BEGIN.strip()} or {END.strip()}")
    PAGE.write_text(before + BEGIN + tables(run) + END + after, encoding="utf-8")


def tables(run: dict[str, Any]) -> str:
    """The tables of a run in Markdown; a part that failed is a sentence that says so."""
    makers = {"billion": _billion, "dask": _engine, "spark": _engine}
    blocks = []
    for part, figures in run["parts"].items():
        title = _title(part, figures)
        if "error" in figures:
            body = f"This part failed: {figures['error']}\n"
        else:
            body = makers[part](figures)
        blocks.append(f"### {title}\n\n{body}")
    return "\n".join([*blocks, _versions(run)])


def _title(part: str, figures: dict[str, Any]) -> str:
    name = {"billion": "A stream in one process", "dask": "Dask", "spark": "Spark"}[part]
    if "error" in figures:
        return name
    return f"{name}: {figures['rows']:,} rows of {figures['features']} features"


def _billion(figures: dict[str, Any]) -> str:
    rows = [("", "seconds", "rows a second", "1e12 rows, in hours of this machine")]
    for word, key in (("learn", "fit"), ("score", "predict")):
        rate = figures[f"{key}_rows_per_second"]
        hours = _TRILLION / rate / 3600
        rows.append((word, f"{figures[f'{key}_seconds']:.1f}", f"{rate:,.0f}", f"{hours:,.0f}"))
    far = figures["deviations"]
    most, before = figures["memory_peak_mb"], figures["memory_before_mb"]
    facts = [
        f"Memory: {most:,.0f} MB at the peak, of which {before:,.0f} MB after the first million "
        "rows.",
        f"Making the rows is part of both times; alone it reaches "
        f"{figures['rows_made_per_second']:,.0f} rows a second.",
        f"Rows counted: {figures['rows_counted']:,.0f}. Largest deviation from the distribution, "
        f"in standard errors: {far['count']:.1f} of the counts of classes, {far['mean']:.1f} of "
        f"the means, {far['variance']:.1f} of the variances.",
        f"Labels predicted: {figures['accuracy']:.4f} of all rows; by the distribution itself "
        f"{figures['accuracy_of_the_distribution']:.4f} of {figures['sample']:,}.",
    ]
    return _table(rows) + "\n" + "".join(f"- {fact}\n" for fact in facts)


def _engine(figures: dict[str, Any]) -> str:
    first = figures["clusters"][0]
    rows = [("", "fit, s", "speed-up", "predict, s", "speed-up", "rows a second", "bits")]
    rows += [_cluster(one, first, figures["rows"]) for one in figures["clusters"]]
    rival, last = figures["rival"], figures["clusters"][-1]
    rate = rival["rows"] / rival["fit_seconds"]
    rows.append(
        (
            f"{rival['name']}, {_cores(last['workers'])}, {rival['rows']:,} rows",
            f"{rival['fit_seconds']:.1f}", "", "", "", f"{rate:,.0f}", "",
        )
    )  # fmt: skip
    far = figures["deviations"]
    accuracy = [
        ("mean/sd of 1e6", "variances", "labels predicted"),
        (
            "fastgnb",
            f"{far['variance']:.1f} standard errors from the distribution",
            f"{figures['accuracy']:.4f}",
        ),
        (
            rival["name"],
            f"relative error {rival['variance_error']:.1e}",
            f"{rival['accuracy']:.4f}",
        ),
        ("the distribution itself", "", f"{figures['accuracy_of_the_distribution']:.4f}"),
    ]
    return _table(rows) + "\n" + _table(accuracy)


def _cluster(one: dict[str, Any], first: dict[str, Any], n_rows: int) -> tuple[str, ...]:
    """The line of one cluster, whose speed-up is over the first one."""
    cells = [f"fastgnb, {_cores(one['workers'])}"]
    for key in ("fit_seconds", "predict_seconds"):
        cells += [f"{one[key]:.1f}", f"{first[key] / one[key]:.2f}"]
    bits = "those of one process" if one["same_bits"] else "**others**"
    return (*cells, f"{n_rows / one['fit_seconds']:,.0f}", bits)


def _cores(n: int) -> str:
    return "one core" if n == 1 else f"{n} cores"


def _table(rows: list[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "".join(f"{line}\n" for line in lines)


def _versions(run: dict[str, Any]) -> str:
    machine = run["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return (
        f"Measured {run['date'][:10]} on {machine['cores']} cores of {machine['cpu']}, with Python "
        f"{machine['python']}, {versions}.\n"
    )
