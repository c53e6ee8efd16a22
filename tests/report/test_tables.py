"""Tables of the page: structure for screen readers, and bounded size."""

from __future__ import annotations

import numpy as np
import pandas as pd
import report_pages

from fastgnb.report.tables import COLUMNS, ROWS, Table, from_frame, render


def made(table, **options):
    return report_pages.parsed(render(table, "t", **options))


def test_a_table_has_a_caption_and_scopes():
    root = made(
        Table("What", ("Name", "Count", "Word"), [("<a>", 1, "x"), ("b", 2.5, "y")], "Some")
    )
    assert root.one("caption").text == "What. Some"
    assert [th["scope"] for th in root.all("th")] == ["col"] * 3 + ["row"] * 2
    assert [row.text for row in root.one("tbody").all("tr")] == ["<a>1x", "b2.5y"]


def test_it_scrolls_in_a_region_that_takes_the_focus():
    region = made(Table("What", ("Name",), [("a",)])).one("div")
    assert (region["role"], region["aria-label"], region["tabindex"]) == ("region", "What", "0")


def test_text_is_to_the_left_and_numbers_to_the_right():
    root = made(Table("What", ("Name", "Count", "Word"), [("a", 1, "x")]))
    assert [th.get("class") for th in root.one("thead").all("th")] == ["t", None, "t"]
    assert [td.get("class") for td in root.all("td")] == [None, "t"]


def test_a_table_without_rows_is_a_table():
    assert made(Table("What", ("Name", "Count"), [])).one("tbody").children == []


def test_a_long_frame_shows_its_first_rows_and_says_so():
    table = from_frame(pd.DataFrame({"x": np.arange(1000)}), "Numbers")
    assert [row[0] for row in table.rows] == list(range(ROWS))
    assert table.note == f"The first {ROWS} rows of 1,000"


def test_of_a_curve_evenly_spaced_rows_are_shown():
    table = from_frame(pd.DataFrame({"x": np.arange(1001)}), "Curve", is_curve=True)
    assert [table.rows[0][0], table.rows[-1][0], len(table.rows)] == [0, 1000, ROWS]
    assert max(np.diff([row[0] for row in table.rows])) <= 11
    assert "evenly spaced" in table.note


def test_a_wide_frame_shows_its_first_columns_and_says_so():
    frame = pd.DataFrame(np.zeros((2, 40)), columns=[f"c{j}" for j in range(40)])
    table = from_frame(frame, "Wide")
    assert len(table.head) == COLUMNS
    assert table.note == f"the first {COLUMNS} columns of 40"


def test_a_named_index_is_a_column():
    frame = pd.DataFrame({"x": [1.0]}, index=pd.Index(["a"], name="class_name"))
    table = from_frame(frame, "Indexed")
    assert list(table.head) == ["class_name", "x"]
    assert table.rows == [("a", 1.0)]


def test_an_index_named_as_a_column_is_a_column():
    frame = pd.DataFrame({"a": [1.0], "b": [2.0]}, index=pd.Index(["x"], name="a"))
    table = from_frame(frame, "Indexed")
    assert (list(table.head), table.rows) == (["a", "a", "b"], [("x", 1.0, 2.0)])
