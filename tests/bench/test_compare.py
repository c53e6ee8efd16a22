"""Two runs compared: what is beyond the noise is marked, and nothing fails."""

from __future__ import annotations

import copy
import json

import pytest

pytestmark = pytest.mark.any_version

pytest.importorskip("pyarrow")


def changed(run, date, factor=1.0, spread=0.01):
    """The run at another time, with five rounds, and fastgnb's fit slower by a factor."""
    result = copy.deepcopy(run) | {"date": date}
    for row in result["rows"]:
        row["median"] *= factor if (row["program"], row["work"]) == ("fastgnb", "fit") else 1.0
        row["seconds"] = [row["median"] * (1 + i * spread) for i in (-2, -1, 0, 1, 2)]
        if row["program"] == "fastgnb":
            row["seconds"].reverse()
    return result


def told(run, tmp_path, capsys, factor, *words):
    from bench import compare

    paths = [tmp_path / name for name in ("old.json", "new.json")]
    runs = [changed(run, "2024-01-01T00:00:00"), changed(run, "2024-01-02T00:00:00", factor)]
    for path, content in zip(paths, runs, strict=True):
        path.write_text(json.dumps(content))
    assert compare.main([*map(str, paths), *words]) == 0
    return capsys.readouterr().out


def test_a_slower_fit_is_told_and_does_not_fail(run, tmp_path, capsys):
    printed = told(run, tmp_path, capsys, 2.0)
    assert "### 2 of 4 ratios changed beyond the noise: 2 worse, 0 better" in printed
    assert "| fit, 1M x 20 x 10 | scikit-learn | 30 x | 15 x | -50% |" in printed
    assert "**worse**" in printed
    assert "2 ratios within the noise" in printed
    assert "commit 0123abc" in printed


def test_a_faster_fit_is_better(run, tmp_path, capsys):
    printed = told(run, tmp_path, capsys, 0.5)
    assert "0 worse, 2 better" in printed
    assert "| 30 x | 60 x | +100% |" in printed


def test_a_change_within_the_rounds_is_none(run, tmp_path, capsys):
    assert "### 0 of 4 ratios" in told(run, tmp_path, capsys, 1.02)


def test_earlier_runs_widen_the_noise(run, tmp_path, capsys):
    """Ratios that went up and down by a third before do not make a third a change."""
    assert "### 2 of 4 ratios" in told(run, tmp_path, capsys, 1.33)
    earlier = []
    for day in range(10, 20):
        earlier.append(tmp_path / f"{day}.json")
        content = changed(run, f"2023-01-{day}T00:00:00", 1.33 if day % 2 else 1.0)
        earlier[-1].write_text(json.dumps(content))
    printed = told(run, tmp_path, capsys, 1.33, "--runs", *map(str, earlier))
    assert "### 0 of 4 ratios" in printed


def test_runs_of_other_sizes_and_processors(run):
    from bench import compare

    other = changed(run, "2024-01-02T00:00:00") | {"size": "full"}
    assert compare.text(run, other) == "Not compared: the runs have sizes quick and full."
    other = changed(run, "2024-01-02T00:00:00")
    other["environment"]["cpu"] = "another"
    assert "The runs are of different processors" in compare.text(run, other)


def test_contended_runs_say_so(run):
    from bench import compare

    other = changed(run, "2024-01-02T00:00:00") | {"neighbours": {"grid": 0.5}}
    assert "NOT TO BE QUOTED: other processes were busy" in compare.text(run, other)
