"""`bench.bits`: digests tell values apart, and compare lists what differs."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest


def run(folder, *words):
    return subprocess.run(
        [sys.executable, "-m", "bench.bits", *map(str, words)],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_digests_tell_types_shapes_and_bits_apart(bench):
    from bench.bits.digest import digest

    values = [
        0.0, -0.0, 0, False, None, "0", b"0", np.nan, np.float64(0.0), np.float32(0.0),
        np.zeros(2), np.zeros((2, 1)), np.zeros((1, 2)), np.zeros(2, "f4"), np.zeros(2, ">f8"),
        np.array([0.0, -0.0]), np.array([0.0, 5e-324]), np.array(["a", "b"]),
        np.array(["a", "b"], object), np.array(["ab"]), ["a", "b"], ["ab"], [["a"], "b"], [],
        {"a": 1}, {"a": 2}, {"b": 1},
    ]  # fmt: skip
    for a, b in itertools.combinations(values, 2):
        assert digest(a) != digest(b), (a, b)


def test_digests_do_not_depend_on_the_layout(bench):
    from bench.bits.digest import digest

    X = np.arange(12.0).reshape(3, 4)
    assert digest(X) == digest(np.asfortranarray(X)) == digest(np.repeat(X, 2, axis=1)[:, ::2])
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})


def test_values_without_a_digest_are_an_error(bench):
    from bench.bits.digest import digest

    with pytest.raises(TypeError, match="Expected arrays, numbers, text and their containers"):
        digest(object())


def test_a_record_keeps_errors_and_warnings(bench):
    from bench.bits.digest import Record

    def fails():
        warnings.warn("in vain", UserWarning, stacklevel=1)
        raise KeyError("x")

    record = Record()
    assert record("value", lambda: 1.5) == 1.5
    assert record("error", fails) is None
    assert record.cases["value"]["summary"] == "1.5"
    assert record.cases["error"] == {
        "error": "KeyError", "message": "'x'", "warnings": ["UserWarning"],
    }  # fmt: skip
    with pytest.raises(ValueError, match="Expected distinct names of cases, got 'value' twice"):
        record("value", lambda: 2)


@pytest.mark.compiled
def test_two_records_of_one_checkout_are_equal(bench, tmp_path):
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in paths:
        done = run(bench.parent, "record", path, "--only", "neighbours")
        assert done.returncode == 0, done.stderr
    done = run(bench.parent, "compare", *paths)
    assert done.returncode == 0, done.stdout
    assert "20 cases" in done.stdout
    assert "0 differ, 0 only before, 0 only after; 0 errors" in done.stdout


def test_compare_lists_what_differs_or_is_missing(bench, tmp_path, capsys):
    from bench.bits.__main__ import main
    from bench.bits.digest import Record

    def fails(text):
        raise ValueError(text)

    head = {"package": "fastgnb"}
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, (value, text, name) in zip(
        paths, [(1.0, "one", "before"), (1.5, "two", "after")], strict=True
    ):
        record = Record()
        record("same", lambda: 0)
        record("value", lambda: value)  # noqa: B023
        record("text", lambda: fails(text))  # noqa: B023
        record(name, lambda: 0)
        path.write_text(json.dumps({"head": head, "cases": record.cases}))
    assert main(["compare", str(paths[0]), str(paths[0])]) == 0
    capsys.readouterr()
    assert main(["compare", *map(str, paths), "--messages"]) == 1
    printed = capsys.readouterr().out
    assert "only before: before\nonly after: after\ndiffers: value\n  1.0\n  1.5\n" in printed
    assert "reworded: text\n  one\n  two\n" in printed
    assert "1 differ, 1 only before, 1 only after; 1 errors have another text" in printed
    assert main(["compare", *map(str, paths), "--only", "same"]) == 0


def test_another_checkout_is_not_recorded(bench, tmp_path):
    """A copy of the benchmarks without a package beside it finds the one that is installed."""
    shutil.copytree(bench / "bits", tmp_path / "bench" / "bits")
    shutil.copy(bench / "__init__.py", tmp_path / "bench")
    done = run(tmp_path, "record", "out.json", "--only", "neighbours")
    assert done.returncode == 2
    assert "fastgnb is imported from" in done.stderr
    assert not (tmp_path / "out.json").exists()
