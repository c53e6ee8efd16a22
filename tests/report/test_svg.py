"""Pictures of matplotlib made to fit a page."""

from __future__ import annotations

import re

import pytest
import report_pages

from fastgnb.plot.svg import GROUND, INK, svg_of
from fastgnb.report.svg import page_svg

plt = pytest.importorskip("matplotlib.pyplot")

HOSTILE = "</text><script>a & b"


class Drawn:
    def __init__(self, figure):
        self.figure_ = figure

    def frame(self):
        return None


def draw(points=3):
    figure, ax = plt.subplots()
    ax.plot(range(points), [(7 * i) % 5 for i in range(points)], "--", marker="o", label=HOSTILE)
    ax.fill_between([0, 1], [0, 1], color="black")
    ax.text(0, 0, "dark", color="black")
    ax.set_title("A title that the page has")
    ax.set_xlabel("A\x07label")
    ax.legend()
    return Drawn(figure)


def picture(prefix="p", **options):
    text, _ = svg_of(draw, longest=10**6)
    return page_svg(text, prefix, "Title <", "Description &", {INK: "currentColor", **options})


def test_the_picture_is_an_image_with_a_title_and_a_description():
    svg = report_pages.parsed(picture()).one("svg")
    assert svg["role"] == "img"
    title, description = svg["aria-labelledby"].split()
    assert svg.one("title", id=title).text == "Title <"
    assert svg.one("desc", id=description).text == "Description &"


def test_text_is_text_and_escaped():
    svg = report_pages.parsed(picture()).one("svg")
    texts = [each.text for each in svg.all("text")]
    assert HOSTILE in texts
    assert "A\ufffdlabel" in texts
    assert "A title that the page has" not in texts
    assert svg.all("script") == []


def test_ids_are_those_referred_to_with_the_prefix():
    text = picture("roc")
    ids = set(re.findall(r' id="([^"]+)"', text))
    referred = set(re.findall(r'(?:href="#|url\(#)([^")]+)', text))
    assert ids - {"roc-title", "roc-desc"} == referred
    assert all(each.startswith("roc-") for each in ids)
    assert referred


def test_no_styles_and_no_metadata():
    text = picture()
    assert "style" not in text
    assert "metadata" not in text
    assert "http" not in text


def test_text_in_the_color_of_the_style_takes_that_of_the_page_and_black_text_stays_black():
    svg = report_pages.parsed(picture()).one("svg")
    fills = {each.text: each["fill"] for each in svg.all("text")}
    assert fills[HOSTILE] == "currentColor"
    assert fills["dark"] == "#000"


def test_placeholders_are_replaced():
    assert GROUND in picture()
    text = picture(**{GROUND: "var(--card)"})
    assert GROUND not in text
    assert 'fill="var(--card)"' in text


def test_the_same_picture_twice():
    assert picture() == picture()


def test_a_long_picture_becomes_pixels_within_its_axes():
    text, _ = svg_of(lambda: draw(30_000), longest=100_000)
    svg = report_pages.parsed(page_svg(text, "p", "T", "D", {})).one("svg")
    assert len(text) < 200_000
    images = {image["href"].split(",")[0] for image in svg.all("image")}
    assert images == {"data:image/png;base64"}
    assert HOSTILE in [each.text for each in svg.all("text")]


def test_figures_are_closed_and_settings_restored():
    before = plt.get_fignums(), plt.rcParams["text.color"]
    picture()
    assert (plt.get_fignums(), plt.rcParams["text.color"]) == before


def test_figures_are_closed_where_drawing_fails():
    def fail():
        plt.subplots()
        raise ValueError("no picture")

    before = plt.get_fignums()
    with pytest.raises(ValueError, match="no picture"):
        svg_of(fail, longest=10)
    assert plt.get_fignums() == before
