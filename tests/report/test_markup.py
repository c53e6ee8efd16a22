"""HTML from Python values: everything is escaped but what is HTML already."""

from __future__ import annotations

import json

import pytest
import report_pages

from fastgnb.report.markup import Markup, escape, json_block, tag

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&amp;"


def test_text_and_attributes_come_back_as_they_were():
    made = tag("p", HOSTILE, title=HOSTILE, data_x=HOSTILE)
    paragraph = report_pages.parsed(made).one("p")
    assert paragraph.text == HOSTILE
    assert paragraph["title"] == paragraph["data-x"] == HOSTILE
    assert paragraph.children == []


def test_markup_is_not_escaped_again():
    assert tag("p", tag("b", "<")) == "<p><b>&lt;</b></p>"
    assert isinstance(escape("<"), Markup)


def test_attributes_without_values_and_left_out():
    assert tag("input", type_="range", hidden=True, selected=False, min_=0, title=None) == (
        '<input type="range" hidden min="0">'
    )


def test_nothing_is_no_text():
    assert tag("p", None, 0, "") == "<p>0</p>"


@pytest.mark.parametrize("character", ["\x00", "\x0b", "\x1b", "\x85", "\ud800", "\ufffe"])
def test_characters_that_html_cannot_hold_are_replaced(character):
    assert escape(f"a{character}b") == "a\ufffdb"
    escape(f"a{character}b").encode("utf-8")


def test_data_for_the_script_cannot_end_its_element():
    value = {"labels": [HOSTILE, "<!--", "]]>"]}
    block = json_block(value, "data")
    element = report_pages.parsed(block).one("script")
    assert json.loads(element.text) == value
    assert block.count("<") == 2
    assert "&" not in block


def test_data_for_the_script_are_numbers_that_json_has():
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_block([float("nan")], "data")
