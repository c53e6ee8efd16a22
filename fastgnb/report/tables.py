"""Tables of bounded size. The script sorts and filters them; without it they read as they are."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .markup import Markup, tag
from .wording import number, short

__all__ = ["COLUMNS", "ROWS", "Table", "from_frame", "render", "scroll_region"]

ROWS = 100
"""Most rows of a table under a chart."""

COLUMNS = 14
"""Most columns of it."""


class Table(NamedTuple):
    """A table, before it is HTML.

    caption : what it lists. head : names of the columns. rows : values; the first one heads its
    row, `Markup` is prose, and other text a name. note : what was left out. has_filter : whether
    the script adds a search field.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""
    has_filter: bool = False


def render(table: Table, id_: str, *, is_sortable: bool = True) -> Markup:
    """The table with its caption, in a region that scrolls by itself."""
    caption = f"{table.caption}. {table.note}" if table.note else table.caption
    names = zip(table.head, _text_columns(table), strict=True)
    head = tag(
        "tr",
        *(tag("th", name, scope="col", class_="t" if is_text else None) for name, is_text in names),
    )
    body = [_row(row) for row in table.rows]
    element = tag(
        "table", tag("caption", caption), tag("thead", head), tag("tbody", *body),
        id_=id_, class_="sortable" if is_sortable else None,
        data_filter=True if table.has_filter else None,
    )  # fmt: skip
    return scroll_region(element, table.caption)


def _text_columns(table: Table) -> list[bool]:
    """Which columns hold text, by the first row."""
    if not table.rows:
        return [True] * len(table.head)
    return [not _is_number(value) for value in table.rows[0]]


def scroll_region(element: Markup, label: str) -> Markup:
    """An element that may be wider than a small screen: the keyboard scrolls it, too."""
    return tag("div", element, class_="scroll", tabindex="0", role="region", aria_label=label)


def _row(row: Sequence[Any]) -> Markup:
    first, *others = row
    return tag("tr", tag("th", _text(first), scope="row"), *map(_cell, others))


def _cell(value: Any) -> Markup:
    """Numbers are to the right, which is the rule; text has a class, and prose may wrap."""
    if isinstance(value, Markup):
        return tag("td", value, class_="t w")
    return tag("td", _text(value), class_=None if _is_number(value) else "t")


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, (numbers.Number, np.bool_))


def _text(value: Any) -> str:
    return short(value) if isinstance(value, str) else number(value)


def from_frame(frame: Any, caption: str, *, is_curve: bool = False) -> Table:
    """The data frame under a chart, bounded. Of a curve, evenly spaced rows are shown."""
    n_rows, n_columns = frame.shape
    notes = []
    if n_rows > ROWS:
        at = np.linspace(0, n_rows - 1, ROWS).round().astype(int) if is_curve else slice(ROWS)
        frame = frame.iloc[at]
        which = f"{ROWS} evenly spaced rows" if is_curve else f"The first {ROWS} rows"
        notes.append(f"{which} of {n_rows:,}")
    if n_columns > COLUMNS:
        frame = frame.iloc[:, :COLUMNS]
        notes.append(f"the first {COLUMNS} columns of {n_columns:,}")
    head = [short(name) for name in frame.columns]
    rows: list[Any] = list(frame.itertuples(index=False, name=None))
    index = frame.index
    if index.name is not None or index.dtype.kind not in "iu":  # names, and no mere numbers
        head = [short("name" if index.name is None else index.name), *head]
        rows = [(name, *row) for name, row in zip(index.tolist(), rows, strict=True)]
    return Table(caption, head, rows, "; ".join(notes))
