"""SVG figures of a run: share of the ceiling, ratio to each library, and the history of ratios."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair as alt

from . import runs
from .runs import Run
from .targets_table import Table, fit_share, predict_share

_WORKS = ["fit", "predict", "predict_proba"]


def draw(run: Run, folder: Path, history: Path) -> list[Path]:
    """Write the figures that a run has rows for into `folder`; `history` holds earlier runs."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = Table(runs.rows_of(run))
    charts = {"share": share(rows), "rivals": rivals(rows), "history": past(history, run)}
    written = []
    for name, chart in charts.items():
        if chart is not None:
            path = folder / f"{name}.svg"
            chart.save(path)
            written.append(path)
    return written


def share(rows: Table) -> alt.Chart | None:
    """Bars of the share of the ceiling by shape, with a tick at each target."""
    values = []
    for work, target in (("fit", fit_share), ("predict", predict_share)):
        for ratio in rows.ratios("grid", work, "fastgnb", "ceiling"):
            row = rows.rows["grid", work, ratio.shape, "fastgnb"]
            value = {"work": work, "shape": ratio.shape, "share": ratio.median}
            values.append(value | {"target": target(row.extra["d"], row.extra["k"])})
    if not values:
        return None
    shape = alt.Y("shape:N", sort=None, title="rows x features x classes")
    base = alt.Chart(alt.Data(values=values)).encode(y=shape)
    bars = base.mark_bar().encode(x=alt.X("share:Q", title="share of the machine's ceiling"))
    ticks = base.mark_tick(color="black", thickness=2).encode(x="target:Q")
    return (bars + ticks).properties(width=280).facet(column=alt.Column("work:N", title=None))


def rivals(rows: Table) -> alt.Chart | None:
    """Points of times relative to ours, by library and shape, on a logarithmic axis."""
    values = list(_ratios(rows))
    if not values:
        return None
    return (
        alt.Chart(alt.Data(values=values))
        .mark_point(filled=True, size=60)
        .encode(
            x=alt.X("ratio:Q", scale=alt.Scale(type="log"), title="time divided by fastgnb's"),
            y=alt.Y("shape:N", sort=None, title="rows x features x classes"),
            color=alt.Color("rival:N", title=None),
        )
        .properties(width=220)
        .facet(column=alt.Column("work:N", title=None, sort=_WORKS))
    )


def _ratios(rows: Table) -> Iterator[dict[str, Any]]:
    others = [row.program for row in rows.rows.values() if row.group == "others"]
    programs = set(others) - {"ceiling", "fastgnb"}
    for work in _WORKS:
        for group, names in (("grid", ["scikit-learn"]), ("others", sorted(programs))):
            for name in names:
                for ratio in rows.ratios(group, work, "fastgnb", name):
                    yield {
                        "work": work, "rival": name, "shape": ratio.shape, "ratio": ratio.median,
                    }  # fmt: skip


def past(folder: Path, run: Run) -> alt.Chart | None:
    """Ratios to scikit-learn over the runs of the same size; None for a single run."""
    history = {run["date"]: run}
    for path in sorted(folder.glob("*.json")):
        earlier = runs.read([path])
        if earlier["size"] == run["size"]:
            history[earlier["date"]] = earlier
    values = [
        {"date": date, "work": line.what.split()[0], "ratio": line.measured}
        for date, kept in history.items()
        for line in runs.lines_of(kept)
        if line.what.endswith("against scikit-learn, geometric mean")
    ]
    if len({value["date"] for value in values}) < 2:
        return None
    return (
        alt.Chart(alt.Data(values=values))
        .mark_line(point=True)
        .encode(
            x=alt.X("date:T", title=None),
            y=alt.Y("ratio:Q", title="scikit-learn's time divided by fastgnb's, geometric mean"),
            color=alt.Color("work:N", title=None, sort=_WORKS),
        )
        .properties(width=500)
    )
