"""kill -9 at any moment: the old output or the new one."""

from __future__ import annotations

import os
import random
import shutil

import numpy as np
import pyarrow as pa
import pytest
from fault_files import POSIX, run
from kills import SOON, killed
from table_files import write

from fastgnb.files.models import model_file as persist
from fastgnb.files.tables.paths import expand

pytestmark = [pytest.mark.compiled, pytest.mark.fresh, pytest.mark.any_version]


# ------------------------------------------------------------------ kill -9


@pytest.fixture
def wide(tmp_path):
    """Rows of 200 classes and 100 features in two files, and models of them: 100s of kB each."""
    rng = np.random.default_rng(0)
    for i in range(2):
        X = rng.normal(size=(2000, 100))
        data = pa.table({f"x{j}": X[:, j] for j in range(100)} | {"y": np.arange(2000) % 200})
        write(data, tmp_path / f"{i}.parquet")
        run("fit", tmp_path / f"{i}.parquet", "--target", "y", "--model", tmp_path / f"m{i}")
    return tmp_path


def kill_commands(verb, folder, output):
    """Two commands with the same output, which is different; one, where it changes itself."""
    data, models = [folder / f"{i}.parquet" for i in range(2)], [folder / "m0", folder / "m1"]
    if verb == "fit":
        return [["fit", path, "--target", "y", "--model", output] for path in data]
    if verb == "update":
        return [["update", output, data[0], "--again"]]
    if verb == "merge":
        others = models[::-1]
        return [["merge", models[0], m, "--model", output, "--again"] for m in others]
    return [["predict", m, data[0], "--proba", "--output", output, "--quiet"] for m in models]


def meaning(output, verb):
    """What an output says; the order of the entries in a model's header may differ."""
    if verb == "predict":
        return output.read_bytes()
    return persist.read(output).model.moments.theta.tobytes()  # its digest is checked


@pytest.mark.promise("whole")
@POSIX
@pytest.mark.parametrize("kills", [12, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("verb", ["fit", "update", "merge", "predict"])
def test_a_kill_leaves_the_old_file_or_the_new_one(wide, verb, kills):
    folder = wide / "out"
    folder.mkdir()
    output = folder / "o.parquet"
    if verb == "update":
        shutil.copy(wide / "m0", output)
    commands = kill_commands(verb, wide, output)
    whole = []
    for words in commands:
        run(*words)
        whole.append(meaning(output, verb))
    rng = random.Random(f"{verb} {kills}")
    with killed(commands) as children:
        for i in range(kills):
            # A third of them anywhere, at or soon after a new file has appeared, and within one.
            if i % 3 == 0:
                children.once(rng.uniform(0, 0.15))
            elif i % 3 == 1:
                children.once(rng.choice(SOON), folder)
            else:
                children.half_written()
            left = [name for name in os.listdir(folder) if name != output.name]
            assert left or i % 3 < 2
            assert all(name.startswith(".") and name.endswith(".tmp") for name in left)
            assert expand([folder]) == [output]  # what is left over is no data
            if verb == "update":
                assert persist.read(output).model.stats.count.sum() % 2000 == 0
            else:
                assert meaning(output, verb) in whole
            for name in rng.sample(sorted(left), len(left) // 2):  # later runs meet the others
                (folder / name).unlink()
    for words in commands:
        run(*words)
    assert os.listdir(folder) == [output.name]  # nothing of the killed ones is left
    if verb == "predict":
        run("fit", folder, "--target", "prediction", "--model", wide / "again")
        assert persist.read(wide / "again").model.stats.count.sum() == 2000
