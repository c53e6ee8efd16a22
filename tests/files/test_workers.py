"""Several processes: the same bits, no process that stays, and a killed one is a clear error."""

from __future__ import annotations

import multiprocessing
import os
import signal

import pytest
import worker_tasks
from fault_files import POSIX, content
from file_sets import BATCH_ROWS, expected_stats, frames, write_frames
from members import CASES
from same_bits import assert_same_bits

from fastgnb import GaussianNB, files, save
from fastgnb._system import thread_limits
from fastgnb.cli import main
from fastgnb.files import SourceError
from fastgnb.files.jobs import fill_checkpoint, score_folder
from fastgnb.files.jobs import workers as jobs_workers
from fastgnb.files.jobs.workers import WorkerError, in_workers, threads_of_each

pytestmark = [pytest.mark.compiled]


@pytest.fixture(autouse=True)
def no_process_stays():
    """Call it to check; processes of other tests, such as joblib's workers, may be there."""
    before = {process.pid for process in multiprocessing.active_children()}

    def check():
        after = {process.pid for process in multiprocessing.active_children()}
        assert after <= before

    yield check
    check()


def work(items, n, start=worker_tasks.doubled, **options):
    return dict(in_workers(start, "the spec", items, n, **options))


def test_results_of_all_items():
    results = work(list(range(9)), 2)
    assert {item: double for item, (double, _) in results.items()} == {i: 2 * i for i in range(9)}
    assert 1 <= len({pid for _, pid in results.values()}) <= 2
    assert os.getpid() not in {pid for _, pid in results.values()}


@pytest.mark.parametrize(
    ("item", "kind", "text"),
    [
        ("raise", ValueError, "no raise in the spec"),
        ("stubborn", RuntimeError, "Stubborn: this and that"),
    ],
)
def test_an_error_of_a_worker_is_raised_here_with_its_cause(item, kind, text):
    with pytest.raises(kind, match=text) as caught:
        work([item], 1)
    assert "Traceback" in str(caught.value.__cause__)
    assert "worker_tasks.py" in str(caught.value.__cause__)


@POSIX
@pytest.mark.parametrize(
    ("item", "how"),
    [
        ("die", "was killed by signal SIGKILL; memory may have run short"),
        ("exit", "ended with exit code 3"),
    ],
)
def test_a_worker_that_ends_is_an_error_which_names_the_item(item, how):
    with pytest.raises(WorkerError) as caught:
        work([item], 1, name_of=lambda item: f"item {item}")
    assert str(caught.value) == (
        f"item {item}: the worker process for it {how}; what is done is kept, so run again"
    )


def test_a_worker_that_cannot_start():
    with pytest.raises(OSError, match="cannot start with the spec"):
        work([1, 2], 1, worker_tasks.fails_to_start)


@POSIX
def test_workers_end_with_the_iteration(no_process_stays):
    running = in_workers(worker_tasks.doubled, "", [1, "sleep", "sleep"], 2)
    assert next(running)[0] == 1
    running.close()
    no_process_stays()


def test_each_worker_has_its_share_of_the_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(12), raising=False)
    assert [threads_of_each(n) for n in (1, 2, 5, 12, 40)] == [12, 6, 2, 1, 1]
    with thread_limits.threads(8):
        assert [threads_of_each(n) for n in (1, 3, 9)] == [8, 2, 1]
        assert work(["threads"], 1) == {"threads": 8}


# ------------------------------------------------------------------ fit and predict


@pytest.mark.promise("partitions")
def test_fit_in_several_processes_has_the_same_bits(tmp_path):
    tables = frames(7)
    paths = write_frames(tables, tmp_path / "data")
    seen = []
    model = files.fit(
        paths, target="y", checkpoint=tmp_path / "states", workers=2, batch_rows=BATCH_ROWS,
        progress=lambda n, total: seen.append((n, total)),
    )  # fmt: skip
    assert_same_bits(model.to_model().stats, expected_stats(tables, CASES["GaussianNB"]))
    rows = sum(map(len, tables))
    assert seen[-1] == (rows, rows)
    assert len(os.listdir(tmp_path / "states")) == 7


def model_of(tables):
    return GaussianNB().fit(tables[0][["x0", "x1"]], tables[0]["y"].to_numpy(str))


@pytest.mark.promise("partitions")
def test_predict_in_several_processes_writes_the_same_bytes(tmp_path):
    tables = frames(7)
    write_frames(tables, tmp_path / "data")
    for name, workers in (("one", None), ("two", 2)):
        files.predict(
            model_of(tables), tmp_path / "data", f"{tmp_path}/{name}/", proba=True, workers=workers
        )
    assert [*content(tmp_path / "one").values()] == [*content(tmp_path / "two").values()]


def test_an_error_in_a_file_is_that_of_one_process(tmp_path):
    tables = frames(3)
    tables[2].loc[4, "x1"] = float("inf")
    write_frames(tables, tmp_path / "data")
    with pytest.raises(SourceError, match=r"part-02.parquet: column 'x1', row 5: inf is not a fin"):
        files.predict(model_of(tables), tmp_path / "data", f"{tmp_path}/out/", workers=1)
    assert sorted(os.listdir(tmp_path / "out")) == [
        "_manifest.json", "part-00.parquet", "part-01.parquet"
    ]  # fmt: skip


@POSIX
def test_a_killed_worker_of_predict_is_told_and_a_rerun_completes(tmp_path, monkeypatch, capsys):
    tables = frames(7)
    write_frames(tables, tmp_path / "data")
    words = ["predict", f"{tmp_path}/model", f"{tmp_path}/data", "--quiet", "--output"]
    save(model_of(tables), tmp_path / "model")
    with monkeypatch.context() as patch:
        patch.setattr(score_folder, "_start", worker_tasks.dying_predict)
        assert main([*words, f"{tmp_path}/out/", "--workers", "2"]) == 1
    line = capsys.readouterr().err
    assert line == (
        f"fastgnb: error: {tmp_path}/data/part-03.parquet: the worker process for it was killed by "
        "signal SIGKILL; memory may have run short; what is done is kept, so run again\n"
    )
    assert main([*words, f"{tmp_path}/out/"]) == 0
    assert main([*words, f"{tmp_path}/once/"]) == 0
    assert [*content(tmp_path / "out").values()] == [*content(tmp_path / "once").values()]


@POSIX
def test_a_killed_worker_of_fit_is_told_and_a_rerun_completes(tmp_path, monkeypatch):
    tables = frames(7)
    paths = write_frames(tables, tmp_path / "data")
    options = {"target": "y", "checkpoint": tmp_path / "states", "batch_rows": BATCH_ROWS}
    with monkeypatch.context() as patch:
        patch.setattr(fill_checkpoint, "_start", worker_tasks.dying_fit)
        with pytest.raises(OSError, match=r"part-03.parquet: the worker process for it was killed"):
            files.fit(paths, workers=2, output=tmp_path / "model", **options)
    assert not (tmp_path / "model").exists()
    model = files.fit(paths, **options)
    assert_same_bits(model.to_model().stats, expected_stats(tables, CASES["GaussianNB"]))


@POSIX
def test_ctrl_c_ends_all_processes(tmp_path, monkeypatch, capsys, no_process_stays):
    tables = frames(7)
    write_frames(tables, tmp_path / "data")
    save(model_of(tables), tmp_path / "model")
    add = score_folder.Manifest.add

    def interrupted(self, entry):
        add(self, entry)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(score_folder.Manifest, "add", interrupted)
    monkeypatch.setattr(jobs_workers, "_PATIENCE", 300.0)  # one may be loading kernels
    words = ["predict", tmp_path / "model", tmp_path / "data", "--output", f"{tmp_path}/out/"]
    assert main([*map(str, words), "--workers", "2"]) == 130
    assert capsys.readouterr().err == "fastgnb: interrupted\n"
    no_process_stays()
    left = os.listdir(tmp_path / "out")
    assert "_manifest.json" in left
    assert not any(name.endswith(".tmp") for name in left)
