"""SVG figures of a run: share of the ceiling, ratio to each rival, and the history of ratios."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair as alt

from .lines import Table, fit_share, predict_share
from .measure import Row

_WORKS = ["fit", "predict", "predict_proba"]


def draw(result: dict[str, Any], folder: Path, history: Path) -> list[Path]:
    """Write the figures that results allow into `folder`; `history` holds earlier results."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [Row(**row) for row in result["rows"]]
    charts = {"share": share(rows), "rivals": rivals(rows), "history": past(history, result)}
    written = []
    for name, chart in charts.items():
        if chart is not None:
            path = folder / f"{name}.svg"
            chart.save(path)
            written.append(path)
    return written


def share(rows: list[Row]) -> alt.Chart | None:
    """Bars of the share of the ceiling by shape, a tick at each target."""
    found = Table(rows)
    values = []
    for work, target in (("fit", fit_share), ("predict", predict_share)):
        for ratio in found.ratios("grid", work, "fastgnb", "ceiling"):
            row = found.rows["grid", work, ratio.shape, "fastgnb"]
            goal = target(row.extra["d"], row.extra["k"])
            values.append(
                {"work": work, "shape": ratio.shape, "share": ratio.median, "target": goal}
            )
    if not values:
        return None
    shape = alt.Y("shape:N", sort=None, title="rows x features x classes")
    base = alt.Chart(alt.Data(values=values)).encode(y=shape)
    bars = base.mark_bar().encode(x=alt.X("share:Q", title="share of the machine's ceiling"))
    ticks = base.mark_tick(color="black", thickness=2).encode(x="target:Q")
    return (bars + ticks).properties(width=280).facet(column=alt.Column("work:N", title=None))


def rivals(rows: list[Row]) -> alt.Chart | None:
    """Points of seconds over ours, for each rival and shape, on a logarithmic axis."""
    values = list(_ratios(Table(rows)))
    if not values:
        return None
    return (
        alt.Chart(alt.Data(values=values))
        .mark_point(filled=True, size=60)
        .encode(
            x=alt.X("ratio:Q", scale=alt.Scale(type="log"), title="time over fastgnb's"),
            y=alt.Y("shape:N", sort=None, title="rows x features x classes"),
            color=alt.Color("rival:N", title=None),
        )
        .properties(width=220)
        .facet(column=alt.Column("work:N", title=None, sort=_WORKS))
    )


def _ratios(found: Table) -> Iterator[dict[str, Any]]:
    programs = {row.program for row in found.rows.values()} - {"ceiling", "fastgnb"}
    for work in _WORKS:
        for group, names in (("grid", ["scikit-learn"]), ("others", sorted(programs))):
            for name in names:
                for ratio in found.ratios(group, work, "fastgnb", name):
                    yield {
                        "work": work, "rival": name, "shape": ratio.shape, "ratio": ratio.median,
                    }  # fmt: skip


def past(folder: Path, result: dict[str, Any]) -> alt.Chart | None:
    """Ratios to scikit-learn over the runs of the same size; None for a single run."""
    runs = {result["date"]: result}
    for path in sorted(folder.glob("*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        if run["size"] == result["size"]:
            runs[run["date"]] = run
    values = [
        {"date": date, "work": line["what"].split()[0], "ratio": line["measured"]}
        for date, run in runs.items()
        for line in run["lines"]
        if line["what"].endswith("against scikit-learn, geometric mean")
    ]
    if len(runs) < 2 or not values:
        return None
    return (
        alt.Chart(alt.Data(values=values))
        .mark_line(point=True)
        .encode(
            x=alt.X("date:T", title=None),
            y=alt.Y("ratio:Q", title="scikit-learn's time over fastgnb's, geometric mean"),
            color=alt.Color("work:N", title=None, sort=_WORKS),
        )
        .properties(width=500)
    )
