"""The palette: contrast, distances as colour-blind readers see them, and distinct combinations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from color_vision import contrast, difference, linear, simulated

from fastgnb.plot import palette

PAIRS = list(itertools.combinations(palette.COLORS, 2))


@pytest.mark.parametrize("color", palette.COLORS)
@pytest.mark.parametrize("background", ["#ffffff", "#000000"])
def test_contrast_is_enough_for_graphics(color, background):
    """WCAG 2.2, 1.4.11: at least 3 to 1."""
    assert contrast(color, background) >= 3.0


@pytest.mark.parametrize("vision", ["normal", "protan", "deutan", "tritan"])
def test_colors_differ_in_every_kind_of_vision(vision):
    least = min(difference(simulated(a, vision), simulated(b, vision)) for a, b in PAIRS)
    assert least >= 18.0


def test_difference_is_ciede2000():
    """Against values that Sharma, Wu and Dalal (2005) publish for pairs of Lab colors."""
    known = [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ]
    for a, b, expected in known:
        assert difference(a, b) == pytest.approx(expected, abs=1e-4)


def test_contrast_of_white_and_black():
    assert contrast("#ffffff", "#000000") == pytest.approx(21.0)
    assert linear("#ff0000") == pytest.approx([1.0, 0.0, 0.0])


@pytest.mark.parametrize("style", [palette.line_style, palette.marker_style])
def test_twenty_classes_have_their_own_styles(style):
    """By color and dash, or by color and marker: either alone tells all of them apart."""
    styles = {tuple(map(repr, style(i).values())) for i in range(28)}
    assert len(styles) == 28


def test_neighbours_differ_in_color():
    colors = [palette.line_style(i)["color"] for i in range(100)]
    assert all(a != b for a, b in itertools.pairwise(colors))
    assert colors == [palette.marker_style(i)["color"] for i in range(100)]


def test_colormaps_are_there():
    import matplotlib

    for name in (palette.SEQUENTIAL, palette.DIVERGING):
        assert np.shape(matplotlib.colormaps[name](0.5)) == (4,)
