"""Names and numbers as text."""

from __future__ import annotations

import numpy as np
import pytest

from fastgnb.report.wording import (
    LONGEST,
    NOTHING,
    bytes_text,
    first_of,
    number,
    percent,
    rate,
    short,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0"),
        (1234567, "1,234,567"),
        (np.int64(-5), "\N{MINUS SIGN}5"),
        (2.0, "2"),
        (-1234.0, "\N{MINUS SIGN}1,234"),
        (0.123456, "0.1235"),
        (1e-12, "1e-12"),
        (-1.5e-7, "\N{MINUS SIGN}1.5e-07"),
        (1e300, "1e+300"),
        (float("nan"), NOTHING),
        (None, NOTHING),
        (float("inf"), "\N{INFINITY}"),
        (float("-inf"), "\N{MINUS SIGN}\N{INFINITY}"),
        (np.bool_(True), "yes"),
        (np.float32(0.5), "0.5"),
        ("text", "text"),
    ],
)
def test_number(value, expected):
    assert number(value) == expected


def test_number_with_more_digits():
    assert number(1234.5678901, 12) == "1234.5678901"


def test_rate_has_four_decimals():
    assert [rate(x) for x in (1.0, 0.00004, -0.25, float("nan"))] == [
        "1.0000", "0.0000", "\N{MINUS SIGN}0.2500", NOTHING
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, "100.0%"),
        (0.9999999, "over 99.9%"),
        (0.0, "0.0%"),
        (1e-9, "under 0.1%"),
        (0.625, "62.5%"),
        (float("nan"), NOTHING),
    ],
)
def test_a_share_reads_as_all_or_nothing_only_where_it_is(value, expected):
    assert percent(value) == expected


def test_long_names_lose_their_middle():
    name = "a" * 1000 + "end"
    assert len(short(name)) == LONGEST
    assert short(name).endswith("end")
    assert short("a" * LONGEST) == "a" * LONGEST


def test_names_that_take_many_bytes_are_half_as_long():
    for character in ('"', "漢", "\N{GRINNING FACE}"):
        assert len(short(character * 1000)) <= LONGEST // 2
    assert short("é" * LONGEST) == "é" * LONGEST


def test_names_are_on_one_line_and_visible():
    assert short("a\nb") == r"'a\nb'"
    assert short("\u202eabc") == r"'\u202eabc'"
    assert short("") == "''"


def test_sizes():
    assert [bytes_text(n) for n in (0, 999, 1000, 2_500_000, 3 * 10**15)] == [
        "0 bytes", "999 bytes", "1.0 kB", "2.5 MB", "3000.0 TB"
    ]  # fmt: skip


def test_first_of():
    assert first_of(["a", "b"], 2) == "a, b"
    assert first_of("abcd", 2) == "a, b and 2 more"
