"""Judging, tables, figures and comparison of runs."""

from __future__ import annotations

import copy
import json

import pytest

pytestmark = pytest.mark.any_version

pytest.importorskip("pyarrow")


def test_lines_are_judged_with_the_losing_ones(run):
    from bench import runs

    lines = {line.what: line for line in runs.lines_of(run)}
    fit = lines["fit against scikit-learn, geometric mean"]
    predict = lines["predict against scikit-learn, geometric mean"]
    assert fit.measured == pytest.approx(30)
    assert fit.passed is True
    assert predict.passed is False
    assert lines["predict, share of the ceiling, 1M x 20 x 10"].measured == 0.5


@pytest.fixture
def files(run, tmp_path):
    """Results, both READMEs with markers, and the words that name them."""
    from bench import report

    paths = {name: tmp_path / name for name in ("results.json", "bench.md", "README.md")}
    paths["results.json"].write_text(json.dumps(run))
    for name in ("bench.md", "README.md"):
        paths[name].write_text(f"before\n{report.BEGIN}\nearlier tables\n{report.END}\nafter\n")
    words = [str(paths["results.json"]), "--tables", str(paths["bench.md"]), "--no-figures"]
    return paths, [*words, "--readme", str(paths["README.md"])]


def test_report_writes_between_markers(files):
    from bench import report

    paths, words = files
    assert report.main([*words, "--write"]) == 0
    tables, summary = (paths[name].read_text() for name in ("bench.md", "README.md"))
    for text in (tables, summary):
        assert text.startswith("before\n")
        assert text.endswith("\nafter\n")
        assert "earlier tables" not in text
    assert "**fail**" in tables
    assert "| fit against scikit-learn, geometric mean | >= 25 x | 30 x | 30 x | pass |" in tables
    assert "| scikit-learn `GaussianNB` | 30 x | 30 x |" in summary
    assert "Measured 2024-01-01 (commit 0123abc) with 2 threads on a processor" in summary


@pytest.mark.parametrize("name", ["bench.md", "README.md"])
def test_report_writes_nothing_where_markers_are_missing(files, name, capsys):
    from bench import report

    paths, words = files
    paths[name].write_text("no markers")
    before = {path: path.read_text() for path in paths.values()}
    assert report.main([*words, "--write"]) == 1
    assert "put the lines" in capsys.readouterr().err
    assert {path: path.read_text() for path in paths.values()} == before


def test_report_prints_and_writes_nothing_unless_told_to(files, tmp_path, capsys):
    from bench import report

    paths, words = files
    before = {path: path.read_text() for path in paths.values()}
    assert report.main([*words, "--figures", str(tmp_path / "figures")]) == 0
    printed = capsys.readouterr().out
    assert "| fit against scikit-learn, geometric mean | >= 25 x |" in printed
    assert "| scikit-learn `GaussianNB` | 30 x | 30 x |" in printed
    assert {path: path.read_text() for path in sorted(tmp_path.iterdir())} == before


def test_the_readmes_have_markers(bench):
    from bench import report

    assert report.has_markers(bench / "README.md")
    assert report.has_markers(bench.parent / "README.md")


def test_the_summary_keeps_what_loses(run):
    from bench import report

    for row in run["rows"]:
        if row["program"] == "scikit-learn" and row["work"] == "predict":
            row["median"] = 0.5
    assert "| scikit-learn `GaussianNB` | 30 x | **0.5 x** |" in report.summary(run)


def test_runs_of_different_groups_are_joined(run):
    from bench import report, runs

    more = copy.deepcopy(run)
    more["date"], more["neighbours"] = "2024-02-02T00:00:00", {"family": 0.5}
    more["rows"] = [row | {"group": "family X", "program": program} for row in more["rows"][:1]
                    for program in ("fastgnb", "scikit-learn")]  # fmt: skip
    more["rows"] += [row | {"work": "predict"} for row in more["rows"]]
    text = report.tables(runs.joined([run, more]))
    assert "Size quick, 2024-01-01, commit 0123abc" in text
    assert "family: Size quick, 2024-02-02" in text
    assert "| X |  | 1M x 20 x 10 | 1 x | 1 x |" in text
    assert "family 0.50" in text


def test_kept_results_can_be_read(bench):
    from bench import report, runs

    for path in sorted((bench / "results").glob("*.json")):
        assert "| what | target |" in report.tables(runs.read([path])), path


def test_a_contended_run_says_so_beside_every_verdict(run):
    from bench import report

    assert "NOT TO BE QUOTED" not in report.tables(run)
    run["neighbours"]["grid"] = 0.97
    text = report.tables(run)
    assert "NOT TO BE QUOTED: other processes were busy, in cores: grid 0.97." in text
    assert "| pass |" not in text
    assert "| pass? |" in text


@pytest.mark.dev
def test_figures_are_svg(run, tmp_path):
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    from bench import figures

    paths = figures.draw(run, tmp_path / "figures", tmp_path)
    assert [path.name for path in paths] == ["share.svg", "rivals.svg"]
    assert all(path.read_text().startswith("<svg") for path in paths)
