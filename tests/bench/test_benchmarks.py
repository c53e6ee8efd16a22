"""Every benchmark once at toy size, for its results only; the tables that benchmarks go through."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = [pytest.mark.compiled, pytest.mark.fresh, pytest.mark.any_version]

ROOT = Path(__file__).resolve().parents[2]

pytest.importorskip("pytest_benchmark")
pytest.importorskip("pyarrow")


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
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    options = settings["tool"]["pytest"]["ini_options"]
    assert options["testpaths"] == ["tests"]
    assert "python_files" not in options  # test_*.py, and benchmarks are bench_*.py
    assert all(path.name.startswith("bench_") for path in bench.rglob("*.py") if is_run(path))


def is_run(path):
    return "def test_" in path.read_text(encoding="utf-8")


def test_rivals_are_given_arrays_that_own_their_memory(bench):
    from bench import problems, rivals

    data = problems.standard("toy").data()
    for rival in rivals.RIVALS:
        assert all(array.flags.owndata for array in rival.head(*data)), rival.name


def test_every_member_of_the_registry_is_benchmarked(bench):
    from bench import family
    from fastgnb.model.family import MEMBERS

    assert {member.estimator for member in family.MEMBERS} == set(MEMBERS)


def test_targets_are_measured_and_written(bench, tmp_path, capsys):
    from bench import runs, targets

    path = tmp_path / "results.json"
    words = ["--size", "toy", "--only", "labels", "family", "selection", "--json", str(path)]
    assert targets.main(words) == 0
    printed = capsys.readouterr().out
    assert "| fit with object labels against scikit-learn | >= 5 x |" in printed
    assert "| MixedNB: predict against scikit-learn, 2k x 20 x 3 |" in printed
    run = runs.read([path])
    assert run["size"] == "toy"
    assert targets.table(runs.lines_of(run), runs.contended(run)) in printed
