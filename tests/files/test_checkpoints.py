"""A checkpoint: what is done is not done again, and the bits are those of an uninterrupted run."""

from __future__ import annotations

import errno
import os
import pathlib
import shutil

import numpy as np
import pandas as pd
import pytest
from command_line import run
from fault_files import content
from file_sets import BATCH_ROWS, estimator, expected_stats, frames, naive_tree, write_frames
from members import CASES, SHAPES
from same_bits import assert_same_bits
from table_files import write

from fastgnb import ClassStats, GaussianNB, MixedNB, files
from fastgnb._system.remote.paths import as_path
from fastgnb.files import SourceError
from fastgnb.files.jobs.file_state import FileLearner
from fastgnb.files.tables.sources import TableRows

pytestmark = [pytest.mark.compiled]


class Stopped(Exception):
    """A run that ends early, as by a crash."""


class Learned:
    """The names of the files that are learned; of more than `most` the run ends."""

    def __init__(self, monkeypatch):
        self.names, self.most = [], None
        learn = FileLearner.learn

        def spy(learner, at, *args):
            if len(self.names) == self.most:
                raise Stopped
            self.names.append(learner.source.paths[at].name)
            return learn(learner, at, *args)

        monkeypatch.setattr(FileLearner, "learn", spy)

    def take(self):
        """The names since the last time."""
        names, self.names = self.names, []
        return names


@pytest.fixture
def learned(monkeypatch):
    return Learned(monkeypatch)


def fit(paths, model=None, **options):
    """The statistics that files give."""
    options = {"target": "y", "batch_rows": BATCH_ROWS} | options
    return files.fit(paths, model=model, **options).to_model().stats


@pytest.fixture
def rows(tmp_path):
    """Paths of four files, one without rows, and a folder of their states."""
    paths = write_frames(frames(4), tmp_path / "data")
    fit(paths, checkpoint=tmp_path / "states")
    return paths, tmp_path / "states"


SETS = [
    *((name, n) for name in SHAPES for n in (1, 2, 7)),
    *((name, 64) for name in ("GaussianNB", "GaussianBayes", "MixedNB")),  # which take time
]
"""Members, and numbers of files."""


@pytest.mark.promise("partitions")
@pytest.mark.parametrize(("name", "n"), SETS)
def test_a_run_that_was_stopped_gives_the_bits_of_one_that_was_not(tmp_path, learned, name, n):
    case = CASES[name]
    tables = frames(n, missing=case.options.get("missing") == "skip")
    paths, folder = write_frames(tables, tmp_path / "data"), tmp_path / "states"
    learned.most = n // 2
    with pytest.raises(Stopped):
        fit(paths, estimator(case), checkpoint=folder)
    learned.most = None
    resumed = fit(paths, estimator(case), checkpoint=folder)
    assert learned.names == [path.name for path in paths]  # each of them once
    assert_same_bits(resumed, expected_stats(tables, case))
    if n < 64:
        assert_same_bits(fit(paths, estimator(case)), resumed)


@pytest.mark.parametrize("ending", ["csv", "arrow", "parquet"])
def test_any_format_has_the_same_bits(tmp_path, ending):
    tables = frames(3)
    paths, folder = write_frames(tables, tmp_path / "data", ending), tmp_path / "states"
    for _ in range(2):
        found = fit(paths, checkpoint=folder)
        assert_same_bits(found, expected_stats(tables, CASES["GaussianNB"]))


def test_a_rerun_learns_nothing_and_says_the_same(rows, learned):
    paths, folder = rows
    before, states = fit(paths), content(folder)
    learned.take()
    assert_same_bits(fit(paths, checkpoint=folder), before)
    assert learned.take() == []
    assert content(folder) == states


def test_a_file_is_looked_at_once_for_its_state(rows, monkeypatch):
    planned, plan_of = [], TableRows.plan_of

    def spy(source, at):
        planned.append(at)
        return plan_of(source, at)

    monkeypatch.setattr(TableRows, "plan_of", spy)
    paths, folder = rows
    for states in (folder.with_name("others"), folder):  # of which all are to be learned, and none
        fit(paths, checkpoint=states)
        assert sorted(planned) == list(range(len(paths)))
        planned.clear()


def test_what_is_told_of_rows_is_told_after_a_rerun(tmp_path, learned):
    """A column that numbers the rows over all files, and one that looks like a key."""
    n = 60
    tables = [
        pd.DataFrame(
            {
                "id": np.arange(n) + i * n,
                "x": np.random.default_rng(i).normal(size=n),
                "key": [f"k{i}-{j}" for j in range(n)],
                "y": np.arange(n) % 2,
            }
        )
        for i in range(3)
    ]
    paths = write_frames(tables, tmp_path / "data")
    told = []
    for options in ({}, {"checkpoint": tmp_path / "s"}, {"checkpoint": tmp_path / "s"}):
        with pytest.warns(UserWarning, match="identifies rows") as warned:
            found = fit(paths, categorical="auto", **options)
        told.append([str(each.message) for each in warned])
        assert found.feature_names == ("id", "x")
    assert told[0] == told[1] == told[2]
    assert any("'id' holds whole numbers that go on increasing" in text for text in told[0])
    assert any("left out, since it identifies rows: 'key'" in text for text in told[0])
    assert len(learned.names) == 6


def test_counts_of_rows_are_those_of_all_files(tmp_path, capsys):
    tables = frames(3)
    tables[0].loc[3, "y"] = None
    tables[2].loc[[1, 5], "x0"] = np.inf
    paths = write_frames(tables, tmp_path / "data")
    words = ["fit", *paths, "--target", "y", "--drop-null-target", "--on-error", "skip"]
    for more in ([], ["--checkpoint", tmp_path / "s"], ["--checkpoint", tmp_path / "s"]):
        run(*words, "--model", tmp_path / "m", *more)
        line = capsys.readouterr().err.splitlines()[-1]
        assert (
            f"fit: {len(tables[0]) + len(tables[2]) - 3} rows, 1 row left out (no label), " in line
        )
        assert "2 rows left out (missing or infinite values)" in line


# ------------------------------------------------------------------ what a state is made from


DIFFERENT = {
    "weight": {"weight": "x2"},
    "features": {"features": ["x0", "x1"]},
    "exclude": {"exclude": ["x2"]},
    "target": {"target": "x2", "features": ["x0", "x1"]},
    "missing": {"model": GaussianNB(missing="skip")},
    "scatter": {"model": CASES["GaussianBayes"].make()},
    "categories": {"categorical": ["x2"]},
    "max_categories": {"model": MixedNB(categorical_features=["x2"], max_categories=50)},
    "auto": {"categorical": "auto"},
    "on_error": {"on_error": "skip"},
    "drop_null_target": {"drop_null_target": True},
    "batch_rows": {"batch_rows": 5},
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_other_options_have_other_states(rows, learned, name):
    paths, folder = rows
    options = DIFFERENT[name]
    expected = fit(paths, **options)
    learned.take()
    for _ in range(2):
        assert_same_bits(fit(paths, checkpoint=folder, **options), expected)
    assert learned.take() == [path.name for path in paths]  # once


def test_each_pair_of_options_has_its_own_states(rows):
    paths, folder = rows
    n = len(paths)
    for count, options in enumerate(DIFFERENT.values(), 2):
        fit(paths, checkpoint=folder, **options)
        assert len(os.listdir(folder)) == count * n


def test_options_of_the_estimate_share_states(rows, learned):
    paths, folder = rows
    learned.take()
    for options in (
        {"model": GaussianNB(var_smoothing=0.1)},
        {"model": GaussianNB(priors=[0.2, 0.3, 0.5])},
        {"max_classes": 3},
        {"again": True},
        {"threads": 1},
        {"progress": lambda n, total: None},
        {"output": folder.with_name("model")},
    ):
        fit(paths, checkpoint=folder, **options)
    assert learned.take() == []


def test_a_file_that_has_changed_is_learned_again(rows, learned):
    paths, folder = rows
    learned.take()
    tables = frames(4)
    tables[2] = tables[2].iloc[:20]
    write_frames(tables[2:3], paths[2].parent / "new")
    os.replace(paths[2].parent / "new" / "part-00.parquet", paths[2])
    found = fit(paths, checkpoint=folder)
    assert learned.take() == [paths[2].name]
    assert_same_bits(found, expected_stats(tables, CASES["GaussianNB"]))


def test_more_files_and_another_order_use_what_is_there(rows, learned):
    paths, folder = rows
    tables = frames(4)
    more = frames(1, seed=7)
    added = write_frames(more, paths[0].parent.parent / "more")
    learned.take()
    found = fit([*added, *paths[::-1]], checkpoint=folder)
    assert learned.take() == [added[0].name]
    assert_same_bits(found, expected_stats([*more, *tables[::-1]], CASES["GaussianNB"]))


def test_a_file_that_changes_what_others_hold_has_them_learned_again(tmp_path, learned):
    """Labels of CSV that are numbers, and text beside a file of text."""
    folder = tmp_path / "states"
    first = write({"x": [1.0, 2.0, 4.0], "y": ["07", "8", "07"]}, tmp_path / "a.csv")
    second = write({"x": [1.0, 3.0], "y": ["07", "u"]}, tmp_path / "b.csv")
    assert fit([first], checkpoint=folder).classes.tolist() in (["07", "8"], [7, 8])
    found = fit([first, second], checkpoint=folder)
    assert_same_bits(found, fit([first, second]))
    assert found.classes.tolist() == ["07", "8", "u"]


def test_states_in_an_object_store(tmp_path, learned):
    pytest.importorskip("fsspec")
    tables, store = frames(3), f"memory://{tmp_path.name}"
    for path in write_frames(tables, tmp_path / "data"):
        as_path(f"{store}/data/{path.name}").write_bytes(path.read_bytes())
    for _ in range(2):
        found = fit(f"{store}/data", checkpoint=f"{store}/states")
        assert_same_bits(found, expected_stats(tables, CASES["GaussianNB"]))
        assert len(learned.names) == 3
    state = next(path for path, _ in as_path(f"{store}/states").files_below())
    state.write_bytes(state.read_bytes()[:-1])
    with pytest.raises(SourceError, match=r"memory://.*\.state: is no state of a checkpoint"):
        fit(f"{store}/data", checkpoint=f"{store}/states")


@pytest.mark.promise("partitions")
def test_labels_of_npy_are_part_of_a_state(tmp_path, learned):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), np.arange(50) % 3
    paths = [tmp_path / "a.npy", tmp_path / "b.npy"]
    np.save(paths[0], X[:20])
    np.save(paths[1], X[20:])
    labels, folder = tmp_path / "y.npy", tmp_path / "states"
    options = {"target": None, "target_npy": labels, "checkpoint": folder, "batch_rows": 8}
    for change in range(2):
        np.save(labels, y + change)
        os.utime(labels, ns=(change * 10**9, change * 10**9))
        parts = [
            _of_batches(X[start:stop], y[start:stop] + change)
            for start, stop in ((0, 20), (20, 50))
        ]
        for _ in range(2):
            assert_same_bits(fit(paths, **options), naive_tree(parts))
        assert len(learned.take()) == 2
    fit(paths[::-1], **options)  # other labels for the same rows
    assert len(learned.take()) == 2


def _of_batches(X, y):
    return naive_tree(
        [ClassStats.from_rows(X[i : i + 8], y[i : i + 8]) for i in range(0, len(X), 8)]
    )


# ------------------------------------------------------------------ states that are not whole


def damaged(data):
    middle = len(data) // 2
    yield "cut", data[:-1]
    yield "empty", b""
    yield "longer", data + b" "
    yield "flipped", data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    yield "foreign", b"PAR1"


@pytest.mark.parametrize("kind", ["cut", "empty", "longer", "flipped", "foreign"])
def test_an_altered_state_is_refused_by_name(rows, tmp_path, learned, kind):
    paths, folder = rows
    expected = fit(paths)
    state = sorted(folder.iterdir())[2]
    whole = state.read_bytes()
    state.write_bytes(dict(damaged(whole))[kind])
    learned.take()
    with pytest.raises(SourceError) as caught:
        fit(paths, checkpoint=folder, output=tmp_path / "model")
    assert str(caught.value) == (
        f"{state}: is no state of a checkpoint, or was altered: its digest does not match; delete "
        "it, and run again to learn its file once more"
    )
    assert not (tmp_path / "model").exists()
    assert learned.take() == []
    state.unlink()
    assert_same_bits(fit(paths, checkpoint=folder), expected)
    assert learned.take() == [paths[2].name]
    assert state.read_bytes() == whole  # the same rows give the same bytes


def test_a_state_under_the_name_of_another_is_refused(rows):
    paths, folder = rows
    first, second = sorted(folder.iterdir())[:2]
    shutil.copy(first, second)
    with pytest.raises(SourceError, match=r"holds another state than its name says; delete it"):
        fit(paths, checkpoint=folder)


def test_a_digest_that_was_forged_over_nonsense_is_refused(rows):
    import hashlib

    paths, folder = rows
    state = sorted(folder.iterdir())[0]
    for body in (b"{}\n", b"[]\n", b'{"rows": [1, 2]}\n', b"not JSON\n", b"\xff\n"):
        digest = hashlib.sha256(body).hexdigest().encode()
        state.write_bytes(b"fastgnb state " + digest + b"\n" + body)
        with pytest.raises(SourceError, match="is no state of a checkpoint, or was altered: "):
            fit(paths, checkpoint=folder)


def test_other_files_in_the_folder_are_left_alone(rows, learned):
    paths, folder = rows
    (folder / "notes.txt").write_text("mine")
    (folder / "old.0123.state").write_text("of another job")
    before = content(folder)
    learned.take()
    fit(paths, checkpoint=folder)
    assert content(folder) == before
    assert learned.take() == []


# ------------------------------------------------------------------ disks, folders, limits


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_disk_that_is_full_leaves_what_was_done(tmp_path, monkeypatch, learned, step):
    tables = frames(4)
    paths, folder = write_frames(tables, tmp_path / "data"), tmp_path / "states"
    fit(paths)  # kernels are written to their cache here
    calls, real = [], getattr(os, step)

    def fail(*args):
        calls.append(1)
        if len(calls) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*args)

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(OSError, match="states that are there are kept, so run again") as caught:
            fit(paths, checkpoint=folder, output=tmp_path / "model")
    assert caught.value.errno == errno.ENOSPC
    state = pathlib.Path(caught.value.filename)
    assert state.parent == folder
    assert not state.exists()
    assert all(name.endswith(".state") for name in os.listdir(folder))  # nothing half-written
    assert not (tmp_path / "model").exists()
    done = len(os.listdir(folder))
    assert 0 < done < 4
    learned.take()
    assert_same_bits(fit(paths, checkpoint=folder), expected_stats(tables, CASES["GaussianNB"]))
    assert len(learned.take()) == 4 - done


def test_folders_that_cannot_be_one(tmp_path, rows):
    paths, _ = rows
    (tmp_path / "file").write_text("rows")
    with pytest.raises(NotADirectoryError, match="file: it is a file, expected a folder"):
        fit(paths, checkpoint=tmp_path / "file")
    with pytest.raises(FileNotFoundError, match=r"the folder .*none does not exist"):
        fit(paths, checkpoint=tmp_path / "none" / "states")


def test_a_folder_without_permission(rows, monkeypatch):
    paths, folder = rows
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match=r"the folder .*states is not writable"):
        fit(paths, checkpoint=folder, target="x2")


def test_too_many_classes_over_states(rows):
    paths, folder = rows
    with pytest.raises(SourceError, match=r"3 distinct labels in the first .* at most 2 classes"):
        fit(paths, checkpoint=folder, max_classes=2)
    with pytest.raises(SourceError, match="3 distinct labels, but 2 priors"):
        fit(paths, GaussianNB(priors=[0.5, 0.5]), checkpoint=folder)


# ------------------------------------------------------------------ shards


@pytest.mark.promise("partitions")
@pytest.mark.parametrize("n", [1, 2, 7])
def test_shards_in_any_order_give_the_same_bits(tmp_path, learned, n):
    tables = frames(7)
    paths, folder = write_frames(tables, tmp_path / "data"), tmp_path / "states"
    options = {"target": "y", "batch_rows": BATCH_ROWS, "checkpoint": folder}
    for i in np.random.default_rng(n).permutation(n) + 1:
        assert files.fit(paths, shard=(int(i), n), **options) is None
        assert learned.take() == [path.name for path in paths[i - 1 :: n]]
        files.fit(paths, shard=(int(i), n), **options)
        assert learned.take() == []
    assert_same_bits(fit(paths, checkpoint=folder), expected_stats(tables, CASES["GaussianNB"]))
    assert learned.take() == []


def test_a_shard_that_is_not_done_is_learned_for_the_model(tmp_path, learned):
    tables = frames(7)
    paths, folder = write_frames(tables, tmp_path / "data"), tmp_path / "states"
    fit_shard = {"target": "y", "batch_rows": BATCH_ROWS, "checkpoint": folder}
    files.fit(paths, shard=(1, 2), **fit_shard)
    learned.take()
    assert_same_bits(fit(paths, checkpoint=folder), expected_stats(tables, CASES["GaussianNB"]))
    assert learned.take() == [path.name for path in paths[1::2]]


@pytest.mark.parametrize("shard", [(0, 2), (3, 2), (1,), 1, (1.0, 2), "1/2", (True, 2)])
def test_shards_that_are_none(tmp_path, rows, shard):
    paths, folder = rows
    with pytest.raises(ValueError, match=r"shard must be \(i, n\) with 1 <= i <= n, got "):
        fit(paths, checkpoint=folder, shard=shard)


@pytest.mark.parametrize("options", [{"shard": (1, 2)}, {"workers": 2}])
def test_shards_and_workers_need_a_checkpoint(rows, options):
    with pytest.raises(ValueError, match="needs a checkpoint: a folder that the processes share"):
        fit(rows[0], **options)


def test_a_state_names_its_file_and_is_small(rows):
    paths, folder = rows
    names = sorted(os.listdir(folder))
    assert [name.split(".")[0] for name in names] == [path.name.replace(".", "-") for path in paths]
    assert all((folder / name).stat().st_size < 20_000 for name in names)
