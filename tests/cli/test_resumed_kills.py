"""kill -9 at any moment: what is there is whole, and a rerun gives what one run would have."""

from __future__ import annotations

import os
import random

import pytest
from fault_files import POSIX, content, run
from file_sets import frames, write_frames
from kills import SOON, killed

pytestmark = [pytest.mark.compiled, pytest.mark.fresh, pytest.mark.any_version]

N = 12
"""Files, some without rows."""


def words_of(verb, folder):
    """A command over the files, whose work goes to folder/work."""
    if verb == "fit":
        return ["fit", folder / "data", "--target", "y", "--model", folder / "model",
                "--checkpoint", folder / "work", "--quiet"]  # fmt: skip
    return ["predict", folder / "fitted", folder / "data", "--proba", "--quiet", "--output",
            f"{folder / 'work'}/"]  # fmt: skip


@pytest.mark.promise("whole")
@POSIX
@pytest.mark.parametrize("kills", [6, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("verb", ["fit", "predict"])
def test_a_killed_run_leaves_whole_files_and_is_completed(tmp_path, verb, kills):
    write_frames(frames(N), tmp_path / "data")
    run("fit", tmp_path / "data", "--target", "y", "--model", tmp_path / "fitted", "--quiet")
    words, work = words_of(verb, tmp_path), tmp_path / "work"
    run(*words)
    expected = content(work)
    model = (tmp_path / "fitted").read_bytes()
    rng = random.Random(f"{verb} {kills}")
    with killed([words]) as children:
        for i in range(kills):
            for path in rng.sample(sorted(expected), rng.randint(1, len(expected))):
                path.unlink(missing_ok=True)
            if i % 3 == 0:
                children.once(rng.uniform(0, 0.15))
            elif i % 3 == 1:
                children.once(rng.choice(SOON), work)
            else:
                children.half_written()
            for path, data in content(work).items():
                if path.suffix == ".tmp":
                    assert path.name.startswith(".")
                elif path.name != "_manifest.json":  # which says what was done by then
                    assert data == expected[path]
            if i % 2:
                run(*words)
                assert {p: d for p, d in content(work).items() if p.suffix != ".tmp"} == expected
    for path in expected:
        path.unlink(missing_ok=True)
    run(*words)
    assert content(work) == expected  # nothing of the killed ones is left
    if verb == "fit":
        assert (tmp_path / "model").read_bytes() == model
    assert sorted(os.listdir(tmp_path)) == sorted(
        ["data", "fitted", "work", *(["model"] if verb == "fit" else [])]
    )
