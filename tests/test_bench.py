"""Every benchmark once at toy size, for its answers only; the report of a small run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).resolve().parents[1]

pytest.importorskip("pytest_benchmark")
pytest.importorskip("pyarrow")


@pytest.fixture
def bench(monkeypatch):
    """The `bench` package, which lies beside the tests and is not installed."""
    if not (ROOT / "bench").is_dir():
        pytest.skip("the tests stand without the benchmarks beside them")
    monkeypatch.syspath_prepend(str(ROOT))


def result():
    """A run of two programs at one problem, as `bench.targets` keeps it."""
    from bench import targets_table
    from bench.measure import Row

    extra = {"d": 20, "k": 10, "moving": 0.5, "arithmetic": 0.1}
    seconds = {"fastgnb": 1.0, "scikit-learn": 30.0, "ceiling": 0.5}
    rows = [
        Row("grid", work, "1M x 20 x 10", program, 10**6, s, s, [s], extra)
        for work in ("fit", "predict")
        for program, s in seconds.items()
    ]
    rates = {"threads": 2, "read": 1e10, "write": 1e10, "fma": 1e10}
    environment = {
        "cpu": "a processor", "python": "3", "threading_layer": "omp", "load": 0.0,
        "load_after": 0.0, "versions": {"numpy": "2"}, "ceilings": [rates],
    }  # fmt: skip
    return {
        "date": "2024-01-01T00:00:00", "size": "quick", "environment": environment,
        "neighbours": {"grid": 0.0},
        "rows": [row._asdict() for row in rows],
        "lines": [line._asdict() | {"passed": line.passed} for line in targets_table.judge(rows)],
    }  # fmt: skip


def run_pytest(*words):
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_every_benchmark_gives_right_answers(bench):
    done = run_pytest("bench", "-q", "--size", "toy", "--benchmark-disable")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


def test_the_default_run_collects_no_benchmark(bench):
    done = run_pytest("-q", "--collect-only")
    assert "test_bench.py" in done.stdout
    assert "bench_fit" not in done.stdout


def test_lines_are_judged_with_the_losing_ones(bench):
    found = {line["what"]: line for line in result()["lines"]}
    fit = found["fit against scikit-learn, geometric mean"]
    predict = found["predict against scikit-learn, geometric mean"]
    assert fit["measured"] == pytest.approx(30)
    assert fit["passed"] is True
    assert predict["passed"] is False
    assert found["predict, share of the ceiling, 1M x 20 x 10"]["measured"] == 0.5


def test_report_writes_between_markers(bench, tmp_path, capsys):
    from bench import report

    results, readme = tmp_path / "results.json", tmp_path / "README.md"
    results.write_text(json.dumps(result()))
    words = [str(results), "--readme", str(readme), "--no-figures", "--write"]
    readme.write_text("no markers")
    assert report.main(words) == 1
    assert "put the lines" in capsys.readouterr().err
    readme.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    assert report.main(words) == 0
    text = readme.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert "**fail**" in text
    assert "| fit against scikit-learn, geometric mean | >= 25 x | 30 x | 30 x | pass |" in text


def test_report_prints_and_writes_nothing_unless_told_to(bench, tmp_path, capsys):
    from bench import report

    results, readme = tmp_path / "results.json", tmp_path / "README.md"
    results.write_text(json.dumps(result()))
    readme.write_text(f"{report.BEGIN}\nold\n{report.END}\n")
    figures = ["--figures", str(tmp_path / "figures")]
    assert report.main([str(results), "--readme", str(readme), *figures]) == 0
    assert "| fit against scikit-learn, geometric mean | >= 25 x |" in capsys.readouterr().out
    assert readme.read_text() == f"{report.BEGIN}\nold\n{report.END}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "results.json"]


def test_runs_of_different_groups_are_joined(bench):
    from bench import report

    more = result()
    more["date"], more["neighbours"] = "2024-02-02T00:00:00", {"family": 0.5}
    more["rows"] = [row | {"group": "family X", "program": p} for row in more["rows"][:1]
                    for p in ("fastgnb", "twin")]  # fmt: skip
    more["rows"] += [row | {"work": "predict"} for row in more["rows"]]
    more["lines"] = []
    text = report.tables(report.joined([result(), more]))
    assert "Size quick, 2024-01-01" in text
    assert "family: Size quick, 2024-02-02" in text
    assert "| X | 1M x 20 x 10 | 1 x | 1 x |" in text
    assert "family 0.50" in text


def test_a_contended_run_says_so_beside_every_verdict(bench):
    from bench import report

    run = result()
    assert "NOT TO BE QUOTED" not in report.tables(run)
    run["neighbours"]["grid"] = 0.97
    text = report.tables(run)
    assert "NOT TO BE QUOTED: other processes were busy, in cores: grid 0.97." in text
    assert "| pass |" not in text
    assert "| pass? |" in text


def test_rivals_are_given_arrays_that_own_their_memory(bench):
    from bench import problems, rivals

    data = problems.standard("toy").data()
    for rival in rivals.RIVALS:
        assert all(array.flags.owndata for array in rival.head(*data)), rival.name


def test_figures_are_svg(bench, tmp_path):
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    from bench import figures

    paths = figures.draw(result(), tmp_path / "figures", tmp_path)
    assert [path.name for path in paths] == ["share.svg", "rivals.svg"]
    assert all(path.read_text().startswith("<svg") for path in paths)


def test_compare_reports_a_drop_and_does_not_fail(bench, tmp_path, capsys):
    from bench import compare

    old, new = result(), result()
    new["lines"][0]["measured"] /= 2
    paths = [tmp_path / name for name in ("old.json", "new.json")]
    for path, run in zip(paths, (old, new), strict=True):
        path.write_text(json.dumps(run))
    assert compare.main([str(path) for path in paths]) == 0
    printed = capsys.readouterr().out
    assert "### 1 of " in printed
    assert "| 30 x | 15 x | **0.50** |" in printed
