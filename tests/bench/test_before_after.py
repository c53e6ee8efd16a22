"""Two environments in turns: what is asked for is measured in both, and the table says of what."""

from __future__ import annotations

import sys

import pytest

pytestmark = pytest.mark.any_version

pytest.importorskip("pyarrow")


def rows_of(program, seconds):
    from bench import problems
    from bench.timing import Row

    extra = problems.Problem(1000, 20, 10)._asdict()
    return Row("grid", "fit", "1k x 20 x 10", program, 1000, 1.0, 1.0, seconds, extra)


def test_lines_are_of_our_programs_in_either_run(bench):
    from bench import before_after

    before = [rows_of("fastgnb", [2.0, 2.2, 2.1]), rows_of("scikit-learn", [9.0])]
    after = [rows_of("fastgnb", [1.0, 1.1, 1.05]), rows_of("fastgnb float32", [0.5])]
    lines = before_after.lines_of(before, after)
    assert [line.what for line in lines] == [
        "grid, fit, 1k x 20 x 10, fastgnb", "grid, fit, 1k x 20 x 10, fastgnb float32",
    ]  # fmt: skip
    assert lines[0].ratios == (2.0, 2.0)
    assert lines[0].is_beyond_noise
    assert lines[1].ratios is None
    printed = before_after.table(lines)
    assert "| grid, fit, 1k x 20 x 10, fastgnb | 2.1 s | 1.05 s | 2 x | 2 x |" in printed
    assert "| grid, fit, 1k x 20 x 10, fastgnb float32 |  | 0.5 s |  |  |" in printed


def test_a_change_within_the_rounds_is_in_brackets(bench):
    from bench import before_after

    line = before_after.Line("x", [1.0, 1.3, 1.1, 0.9, 1.2], [1.05, 1.0, 1.25, 1.1, 0.95])
    assert not line.is_beyond_noise
    assert "(1.05 x)" in before_after.table([line])


@pytest.mark.slow
@pytest.mark.compiled
def test_an_environment_against_itself(bench, capsys, tmp_path):
    from bench import before_after

    words = ["--before", sys.executable, "--after", sys.executable, "--size", "toy"]
    path = tmp_path / "table.md"
    assert before_after.main([*words, "--only", "selection", "--output", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "| selection GaussianNB, cross-validation, 2k x 20 x 3, fastgnb |" in printed
    assert "scikit-learn" not in printed
    assert path.read_text().strip() == printed.strip()
