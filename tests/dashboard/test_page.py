"""Runs as JSON and as a page: nothing is lost, sizes are bounded, and the file is whole."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import statistics

import pytest
from dashboard_runs import QUESTIONS, synthetic

from fastgnb._system.optional import MissingExtraError
from fastgnb.dashboard import Comparison, Figure, Run, Task, compare, page, write_page
from fastgnb.dashboard.encode import encode, rounded
from fastgnb.dashboard.history import noises

pytestmark = [pytest.mark.any_version]


def decoded(runs, *args):
    """Each run's comparisons and figures as dicts, read as the page's scripts read them."""
    raw = json.loads(encode(runs, *args))
    dimensions = Task._fields
    tasks = [
        Task(**{name: raw["words"][i] for name, i in zip(dimensions, row, strict=True)})
        for row in zip(*raw["tasks"], strict=True)
    ]
    series = list(zip(*raw["series"], strict=True))
    result = []
    for run in raw["runs"]:
        figures = [
            (tasks[series[s][0]], *series[s][1:], median, best, rounds)
            for s, median, best, rounds, _ in zip(*run["figures"], strict=True)
        ]
        comparisons = [
            (figures[ours][0], *raw["libraries"][library], ratio, noise)
            for ours, _, library, ratio, noise in zip(*run["comparisons"], strict=True)
        ]
        result.append((run, figures, comparisons))
    return raw, result


def test_nothing_is_lost():
    runs = synthetic(3, 40)
    raw, result = decoded(list(reversed(runs)), QUESTIONS, "Title")
    assert raw["title"] == "Title"
    assert raw["questions"] == [QUESTIONS[0]._asdict()]
    assert [run["date"] for run, *_ in result] == [run.date for run in runs], "oldest first"
    for run, (kept, figures, comparisons), values in zip(runs, result, noises(runs), strict=True):
        assert kept["versions"] == run.versions
        assert kept["facts"] == [list(fact) for fact in run.facts]
        assert (kept["commit"], kept["dirty"]) == (run.commit, run.dirty)
        assert figures == [
            (f.task, f.program, f.unit, f.rows, rounded(statistics.median(f.values)),
             rounded(min(f.values)), 7)
            for f in run.figures
        ]  # fmt: skip
        assert comparisons == [
            (run.figures[c.ours].task, c.library, c.kind, rounded(c.ratio), rounded(noise, 2))
            for c, noise in zip(run.comparisons, values, strict=True)
        ]
        assert len(kept["targets"][0]) == len(run.targets)


def test_a_run_without_figures_is_shown():
    empty = synthetic(1)[0]._replace(figures=[], comparisons=[], targets=[])
    _, [(run, figures, comparisons)] = decoded_empty(empty)
    assert (run["figures"], figures, comparisons) == ([], [], [])


def decoded_empty(run):
    raw = json.loads(encode([run]))
    return raw, [(raw["runs"][0], [], [])]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (1234567.0, "1235000"), (0.012345, "0.01235"), (2.0, "2"), (3.5e-16, "3.5e-16")],
)
def test_numbers_have_the_digits_that_count(value, text):
    assert json.dumps(rounded(value)) == text


def test_ratios_are_per_row():
    task = Task("others", "fit", "1M x 20 x 10")
    figures = [
        Figure(task, "fastgnb", [1.0, 1.0, 1.0], 1_000_000),
        Figure(task, "river", [0.02, 0.02, 0.02], 1_000),
        Figure(task, "product", [3.0], 1_000_000),
    ]
    assert compare(figures, 0, 1, "river").ratio == pytest.approx(20)
    product = compare(figures, 0, 2, "product", kind="limit", scale=0.1)
    assert product == Comparison(0, 2, "product", pytest.approx(0.3), None, "limit")


def test_noise_of_short_series_is_that_of_the_other_programs():
    """fastgnb became twice as fast, which is no noise; ratios of others vary by 3%."""
    runs = synthetic(4, 300, noise=0.03)
    values = [value for of_run in noises(runs) for value in of_run]
    assert 0.03 < statistics.median(values) < 0.08
    alone = [run._replace(machine=f"machine {i}") for i, run in enumerate(runs)]
    assert max(value for of_run in noises(alone) for value in of_run) < 0.08, "rounds alone"


def test_noise_of_long_series_is_their_own():
    runs = synthetic(30, 40, noise=0.03)
    own = noises(runs)
    assert {len(values) for values in own} == {30}
    by_series = [statistics.median(values) for values in zip(*own, strict=True)]
    assert all(0.02 < value < 0.1 for value in by_series)


@pytest.fixture(scope="module")
def text():
    pytest.importorskip("vl_convert")
    return page.render(synthetic(2, 12), QUESTIONS, "A <title> & more")


@pytest.mark.dev
def test_the_policy_allows_the_scripts_of_the_page_and_nothing_else(text):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none';")
    assert "unsafe-eval" not in policy
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    assert len(scripts) == 2
    for script in [*scripts, re.search(r"<style>(.*?)</style>", text, re.S)[1]]:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


@pytest.mark.dev
def test_the_page_names_no_other_address(text):
    own = text.partition('<script type="application/json"')[0]
    assert not re.search(r'(?:src|href)="(?!#|data:)', own)
    assert "A &lt;title&gt; &amp; more" in own


def test_data_do_not_end_their_element():
    run = synthetic(1)[0]._replace(notes=["</script><b>"])
    text = encode([run])
    assert "<" not in text
    assert json.loads(text)["runs"][0]["notes"] == ["</script><b>"]


@pytest.mark.dev
def test_two_hundred_runs_are_small():
    runs = synthetic(200, 300)
    assert {len(run.figures) for run in runs} == {300}
    pytest.importorskip("vl_convert")
    text = page.render(runs, QUESTIONS, "Benchmarks")
    assert len(gzip.compress(text.encode(), 6)) < 3_000_000


def test_a_missing_package_is_named_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    path = tmp_path / "page.html"
    path.write_text("before")
    message = r"a page of benchmarks needs vl_convert, .*pip install 'fastgnb\[dashboard\]'"
    with pytest.raises(MissingExtraError, match=message):
        write_page(path, synthetic(1))
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.dev
def test_the_file_holds_the_page(tmp_path):
    pytest.importorskip("vl_convert")
    runs = synthetic(1, 12)
    assert isinstance(runs[0], Run)
    write_page(tmp_path / "page.html", runs, QUESTIONS, "Title", "../index.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text == page.render(runs, QUESTIONS, "Title", "../index.html")
    assert '"home":"../index.html"' in text
