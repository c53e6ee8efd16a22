"""Results as runs of the dashboard, and the command that makes the site."""

from __future__ import annotations

import copy
import json

import pytest

pytestmark = pytest.mark.any_version

pytest.importorskip("pyarrow")


@pytest.fixture
def kept(bench):
    """All kept results, and the same as runs of the dashboard."""
    from bench import runs
    from bench.dashboard.model import run_of

    results = [runs.read_file(path) for path in sorted((bench / "results").glob("*.json"))]
    return [(run, run_of(run)) for run in results]


def test_every_row_of_every_kept_run_is_a_figure(kept):
    for run, shown in kept:
        memory = sum(row["group"] == "memory" for row in run["rows"])
        assert len(shown.figures) == len(run["rows"]) + 2 * memory  # a figure for each method
        keys = [(figure.task, figure.program) for figure in shown.figures]
        assert len(set(keys)) == len(keys)
        assert len(shown.targets) == len(run["lines"])
        assert dict(shown.facts)["Processor"] == run["environment"]["cpu"]
        assert shown.versions["numpy"] == run["environment"]["versions"]["numpy"]


def test_every_group_has_its_question(kept):
    from bench.dashboard.questions import QUESTIONS
    from bench.targets import GROUPS

    assert [question.identifier for question in QUESTIONS] == list(GROUPS)
    asked = {figure.task.question for _, shown in kept for figure in shown.figures}
    assert asked <= set(GROUPS)  # a new group has no figures before the next run


def test_the_question_of_each_group_is_in_the_readme(bench):
    from bench.targets import GROUPS

    text = (bench / "README.md").read_text(encoding="utf-8")
    assert all(f"`{group}`" in text for group in GROUPS)


def test_series_do_not_collide(kept):
    for _, shown in kept:
        keys = [(shown.figures[c.ours].task, c.library) for c in shown.comparisons]
        assert len(set(keys)) == len(keys)


WHAT = {
    # line of the table of targets: operation, member, library, detail
    "fit against mlpack": ("fit", "GaussianNB", "mlpack", "all libraries"),
    "predict against river": ("predict", "GaussianNB", "river", "all libraries"),
    "fit with U labels against scikit-learn": ("fit", "GaussianNB", "scikit-learn", "labels: text"),
    "partial_fit in chunks of 10,000 against one fit": (
        "partial_fit", "GaussianNB", "fastgnb, one fit", "",
    ),
    "StatsGridSearchCV of GaussianNB, 5 folds and 10 candidates, against GridSearchCV": (
        "grid search", "GaussianNB", "scikit-learn", "",
    ),
    "GaussianBayes: predict, share of the matrix product, 50k x 64 x 10": (
        "predict", "GaussianBayes", "matrix product", "",
    ),
    "GaussianBayes, tied: predict against scikit-learn, 50k x 64 x 10": (
        "predict", "GaussianBayes, tied", "scikit-learn", "",
    ),
    "scatter: statistics, share of the matrix product, 200k x 64 x 10": (
        "full scatter", "GaussianBayes", "matrix product", "",
    ),
}  # fmt: skip


def test_ratios_are_those_of_the_table_of_targets(kept):
    """The two are computed apart: by position in the rows, and by the pairs of the dashboard."""
    seen = set()
    for _, shown in kept:
        for line in shown.targets:
            if line.what in WHAT:
                problem = line.what.rpartition(", ")[2]
                ratios = ratios_of(shown, *WHAT[line.what])
                ratio = ratios[problem] if problem in ratios else min(ratios.values())
                assert ratio == pytest.approx(line.measured)
                seen.add(line.what)
    assert seen == set(WHAT)


def ratios_of(shown, operation, member, library, detail):
    """Ratio by problem."""
    result = {}
    for comparison in shown.comparisons:
        task = shown.figures[comparison.ours].task
        key = (task.operation, task.member, comparison.library, task.detail)
        if key == (operation, member, library, detail):
            result[task.problem] = comparison.ratio
    return result


def has_rows(run, group):
    return any(row["group"] == group for row in run["rows"])


def test_lines_that_divide_the_other_way_round(kept):
    """Ours over theirs: shares of scikit-learn's time, and times of only reading."""
    n = 0
    for _, shown in kept:
        lines = {line.what: line.measured for line in shown.targets}
        one_row = ratios_of(shown, "predict, one row", "GaussianNB", "scikit-learn", "")
        reading = ratios_of(shown, "predict from a file", "GaussianNB", "only reading", "parquet")
        for ratio, what in (
            (one_row, "predict of one row, share of scikit-learn's time"),
            (reading, "`fastgnb predict` on parquet, against only reading"),
        ):
            assert list(ratio.values()) == pytest.approx([1 / lines[what]] if what in lines else [])
            n += len(ratio)
    assert n == sum(has_rows(run, "one row") + has_rows(run, "files parquet") for run, _ in kept)
    assert n >= 6


def test_shares_of_the_ceiling(kept):
    n = 0
    for _, shown in kept:
        lines = {line.what: line.measured for line in shown.targets}
        for c in shown.comparisons:
            task = shown.figures[c.ours].task
            if (task.question, task.layout, c.library) == ("grid", "C", "ceiling"):
                what = f"{task.operation}, share of the ceiling, {task.problem}"
                assert c.ratio == pytest.approx(lines[what])
                n += 1
    assert n == sum(2 * 7 * has_rows(run, "grid") for run, _ in kept)
    assert n >= 3 * 2 * 7


@pytest.mark.dev
def test_command_makes_the_site(run, tmp_path, capsys):
    pytest.importorskip("vl_convert")
    from bench.dashboard.__main__ import main

    later = copy.deepcopy(run) | {"date": "2024-01-02T00:00:00"}
    (tmp_path / "results").mkdir()
    for name, content in (("a.json", run), ("b.json", later)):
        (tmp_path / "results" / name).write_text(json.dumps(content))
    words = [str(tmp_path / "results"), "--output", str(tmp_path / "site" / "benchmarks")]
    assert main([*words, "--home", "../index.html"]) == 0
    path = tmp_path / "site" / "benchmarks" / "index.html"
    assert capsys.readouterr().out.strip() == str(path)
    assert [entry.name for entry in path.parent.iterdir()] == ["index.html"]
    text = path.read_text(encoding="utf-8")
    for name in ("2024-01-01T000000", "2024-01-02T000000", "0123abc", "a processor, 2 cores"):
        assert name in text


def test_command_without_results_writes_nothing(bench, tmp_path, capsys):
    from bench.dashboard.__main__ import main

    assert main([str(tmp_path), "--output", str(tmp_path / "site")]) == 1
    assert "expected at least one file of results" in capsys.readouterr().err.lower()
    assert list(tmp_path.iterdir()) == []


def test_command_with_a_foreign_file_writes_nothing(bench, tmp_path, capsys):
    from bench.dashboard.__main__ import main

    (tmp_path / "other.json").write_text("[]")
    words = [str(tmp_path / "other.json"), "--output", str(tmp_path / "site")]
    assert main(words) == 1
    assert "expected results of schema 3, got None" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()
