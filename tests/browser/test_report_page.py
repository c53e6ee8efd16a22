"""The report in Chromium: accessible, complete in itself, and its script does what it says."""

from __future__ import annotations

import numpy as np
import pages
import pytest
from report_pages import blobs
from table_files import write

from fastgnb import files
from fastgnb.report import write_report

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(path of a page, path of its rows, the model)"""
    folder = tmp_path_factory.mktemp("report")
    rows, page = folder / "rows.parquet", folder / "report.html"
    names = ["x0", HOSTILE, "a very long name of a feature " * 20]
    write(blobs(d=3, k=4, seed=3, names=names), rows)
    model = files.fit(rows, target="label")
    write_report(model, rows, page, target="label")
    return page, rows, model


@pytest.fixture
def opened(made, page):
    page.goto(made[0].as_uri())
    return page


def test_it_is_accessible_in_both_themes_and_sizes(made, check_page):
    def open_details(page):
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")

    check_page(made[0], selector="main")
    check_page(made[0], selector="main", actions=open_details)


def column(page, table, index):
    return page.eval_on_selector_all(
        f"#{table} tbody tr:not([hidden]) > :nth-child({index})",
        "cells => cells.map(cell => cell.textContent)",
    )


def numbers(texts):
    return [float(text.replace(",", "").replace("\N{MINUS SIGN}", "-")) for text in texts]


def test_columns_sort_as_numbers_and_as_text(opened):
    before = column(opened, "parameters", 1)
    head = opened.locator("#parameters th", has_text="Mean")
    head.get_by_role("button").click()
    opened.wait_for_selector("#parameters th[aria-sort=ascending]:has-text('Mean')")
    up = numbers(column(opened, "parameters", 3))
    assert up == sorted(up)
    head.get_by_role("button").press("Enter")
    opened.wait_for_selector("#parameters th[aria-sort=descending]:has-text('Mean')")
    assert numbers(column(opened, "parameters", 3)) == up[::-1]
    opened.locator("#parameters th", has_text="Feature").get_by_role("button").click()
    opened.wait_for_selector("#parameters th[aria-sort=ascending]:has-text('Feature')")
    assert head.get_attribute("aria-sort") is None
    names = column(opened, "parameters", 1)
    assert sorted(names) == sorted(before)
    first, second, third = dict.fromkeys(names)  # each beside itself
    assert (first, second[:6], third) == (HOSTILE, "a very", "x0")


def test_rows_are_filtered_by_all_words(opened):
    field = opened.locator("#parameters-filter")
    every = column(opened, "parameters", 1)
    for words, expected in (("X0 class", ["x0"] * 4), ("nothing like it", []), ("", every)):
        field.fill(words)
        said = f"{len(expected)} of {len(every)} rows"
        opened.wait_for_selector(f"output[for='parameters-filter']:text-is('{said}')")
        assert column(opened, "parameters", 1) == expected


def test_theme_follows_the_system_until_the_button_is_pressed(opened):
    ground = "getComputedStyle(document.body).backgroundColor"
    button = opened.get_by_role("button", name="Dark theme")
    assert button.get_attribute("aria-pressed") == "false"
    light = opened.evaluate(ground)
    opened.emulate_media(color_scheme="dark")
    opened.wait_for_selector("#theme[aria-pressed=true]")  # told with the next frame
    assert opened.evaluate(ground) != light
    button.press("Space")
    opened.wait_for_selector("#theme[aria-pressed=false]")
    assert opened.evaluate(ground) == light
    opened.reload()
    pages.reload_until(opened, f"{ground} === '{light}'")


def test_the_keyboard_reaches_the_report_first(opened):
    opened.keyboard.press("Tab")
    pages.wait_for_focus(opened, "e.textContent === 'Skip to the report'")
    opened.keyboard.press("Enter")
    pages.wait_for_focus(opened, "e.id === 'main'")


def test_wide_tables_scroll_by_the_keyboard_and_the_page_does_not(open_view, made):
    page, watch = open_view("phone")
    page.goto(made[0].as_uri())
    region = page.get_by_role("region", name="Means and standard deviations")
    region.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    pages.wait_until(page, "document.activeElement.scrollLeft > 0")
    assert page.evaluate("document.documentElement.scrollLeft") == 0
    assert watch.problems() == []


def test_print_is_light_and_has_no_controls(opened):
    opened.emulate_media(media="print", color_scheme="dark")
    style = "getComputedStyle(document.body)"
    pages.wait_until(opened, f"{style}.backgroundColor === 'rgb(255, 255, 255)'")
    shown = "element => element.checkVisibility()"
    for selector in ("#theme", ".contents", ".filter"):
        assert not opened.eval_on_selector(selector, shown)
    assert opened.eval_on_selector("#parameters", shown)
    assert len(opened.pdf()) > 10_000


def test_the_slider_shows_the_rates_of_the_rows(opened, made):
    _, rows, model = made
    table = files.open_rows(rows, target="label")
    X, y = (
        np.concatenate(parts) for parts in zip(*((b.X.copy(), b.y) for b in table), strict=True)
    )
    proba = model.to_model().score(X, table="proba").table
    slider, choice = opened.locator("#cutoff"), opened.locator("#cutoff-class")
    for c, tau in ((2, 0.3), (0, 0.99), (3, 0.5)):
        choice.select_option(label=str(model.classes_[c]))
        slider.fill(str(round(tau * 100) - 1))
        truth, taken = y == model.classes_[c], proba[:, c] >= tau
        expected = {
            "tp": str((truth & taken).sum()),
            "fp": str((~truth & taken).sum()),
            "tn": str((~truth & ~taken).sum()),
            "tpr": f"{(truth & taken).sum() / truth.sum():.4f}",
            "acc": f"{np.mean(truth == taken):.4f}",
        }
        opened.wait_for_selector(f"#cutoff-value:text-is('{tau:.2f}')")
        found = {name: opened.locator(f"[data-cell={name}]").inner_text() for name in expected}
        assert found == expected


def test_the_slider_shows_weights_below_one(page, tmp_path):
    table = blobs(k=2, seed=3) | {"w": 1e-4 * np.random.default_rng(0).random(300)}
    write(table, tmp_path / "rows.parquet")
    model = files.fit(tmp_path / "rows.parquet", target="label", weight="w")
    page_path = tmp_path / "report.html"
    write_report(model, tmp_path / "rows.parquet", page_path, target="label", weight="w")
    X = np.column_stack([table[name] for name in ("x0", "x1", "x2")])
    p = model.to_model().score(X, table="proba").table[:, 1]
    truth = np.arange(300) % 2 == 1
    page.goto(page_path.as_uri())
    page.locator("#cutoff-class").select_option(label="class 1")
    page.locator("#cutoff").fill("69")
    page.wait_for_selector("#cutoff-value:text-is('0.70')")
    for name, rows in (("tp", truth & (p >= 0.7)), ("tn", ~truth & (p < 0.7))):
        shown = float(page.locator(f"[data-cell={name}]").inner_text())
        assert shown == pytest.approx(table["w"][rows].sum(), rel=1e-10)


def test_the_slider_moves_by_the_keyboard(opened):
    slider = opened.locator("#cutoff")
    slider.focus()
    for key, expected in (("ArrowRight", "0.51"), ("Home", "0.01"), ("End", "0.99")):
        opened.keyboard.press(key)
        opened.wait_for_selector(f"#cutoff-value:text-is('{expected}')")
        assert slider.get_attribute("aria-valuetext") == f"cut-off {expected}"
