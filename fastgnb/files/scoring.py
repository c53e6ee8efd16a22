"""`predict` and `evaluate`: a model on the rows of files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._system.thread_limits import using_threads
from ..model.evaluation import Evaluation
from .arguments import (
    Path,
    as_names,
    as_paths,
    check_count,
    check_ending,
    check_one_of,
    check_target,
    opened,
)
from .jobs.bad_rows import RowCounts
from .jobs.messages import collect_messages
from .jobs.options import ReadOptions
from .jobs.progress import Progress
from .jobs.score_files import evaluate_files, predict_files

__all__ = ["evaluate", "predict"]


def predict(
    model: Any,
    paths: Path | Iterable[Path],
    output: Path,
    *,
    proba: bool = False,
    evidence: bool = False,
    keep: str | Iterable[str] = (),
    on_error: str = "fail",
    batch_rows: int | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> RowCounts:
    """Score the rows of files into a file, which appears whole or not at all.

    Parameters
    ----------
    model : estimator or path
        A fitted estimator, or a model file.
    paths : path or iterable of path
        Files and folders of rows; see `fit`.
        Columns are matched by name; those of .npy are in the order of the model.
    output : path
        Parquet, CSV, Arrow IPC or .npy file to write, by ending. It has the kept columns and a
        column ``prediction``.
    proba : bool, default=False
        Add a column ``proba_<class>`` for each class.
    evidence : bool, default=False
        Add log p(x) as a column ``log_evidence``.
    keep : str or iterable of str, default=()
        Input columns to copy, those of CSV as text.
    on_error : {"fail", "null", "skip"}, default="fail"
        What happens to rows with values that the model cannot take: raise, write nulls for them,
        or leave them out.
    batch_rows, threads : int, default=None
        Most rows in memory, and most threads; see `fit`.
    progress : bool or callable, default=False
        Whether to show a bar, or what to call after each batch; see `fit`.

    Returns
    -------
    RowCounts
        How many rows were written, and how many were not scored.

    Raises
    ------
    SourceError
        If the files cannot be used. The message names file, column and row.
    ModelFileError
        If the model file is not valid.
    OSError
        If a file cannot be read or written.

    Warns
    -----
    UserWarning
        For a column of categories none of which the model knows.

    See Also
    --------
    evaluate : Compare predictions with true labels.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fastgnb import files
    >>> _ = Path("rows.csv").write_text("x,y\\n1,a\\n2,a\\n5,b\\n6,b\\n")
    >>> model = files.fit("rows.csv", target="y")
    >>> files.predict(model, "rows.csv", "scored.csv", keep="x").n_rows
    4
    >>> Path("scored.csv").read_text().splitlines()[:2]
    ['"x","prediction"', '"1","a"']
    """
    check_ending(output)
    check_one_of(on_error, ("fail", "null", "skip"), "on_error")
    check_count(batch_rows, "batch_rows")
    check_count(threads, "threads")
    options = ReadOptions(
        paths=as_paths(paths), on_error=on_error, batch_rows=batch_rows, progress=progress
    )
    names = as_names(keep, "keep")
    with using_threads(threads), collect_messages() as tell:
        done = predict_files(
            opened(model), output, options, tell, proba=proba, evidence=evidence, keep=names
        )
    return done.counts


def evaluate(
    model: Any,
    paths: Path | Iterable[Path],
    *,
    target: str | None = None, target_npy: Path | None = None, drop_null_target: bool = False,
    on_error: str = "fail", batch_rows: int | None = None, threads: int | None = None,
    progress: Progress = False,
) -> Evaluation:  # fmt: skip
    """Compare predictions for the rows of files with their labels.

    Parameters
    ----------
    model : estimator or path
        A fitted estimator, or a model file.
    paths : path or iterable of path
        Files and folders of rows; see `fit`.
    target : str, default=None
        Column of the true labels. By default that which the model file learned from.
    target_npy : path, default=None
        File of the true labels, of shape (n_samples,), for .npy data.
    drop_null_target : bool, default=False
        Leave out rows without a label. They are an error otherwise.
    on_error : {"fail", "skip"}, default="fail"
        What happens to rows with values that the model cannot take.
    batch_rows, threads : int, default=None
        Most rows in memory, and most threads; see `fit`.
    progress : bool or callable, default=False
        Whether to show a bar, or what to call after each batch; see `fit`.

    Returns
    -------
    Evaluation
        Accuracy, log loss, Brier score, confusion matrix and rates of each class.

    Raises
    ------
    SourceError
        If the files cannot be used, or the model knows none of their labels.
    ModelFileError
        If the model file is not valid.

    Warns
    -----
    UserWarning
        For rows with labels that the model does not know, which count as wrong.

    See Also
    --------
    predict : Score files into a file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fastgnb import files
    >>> _ = Path("rows.csv").write_text("x,y\\n1,a\\n2,a\\n5,b\\n6,b\\n")
    >>> model = files.fit("rows.csv", target="y")
    >>> files.evaluate(model, "rows.csv", target="y").accuracy
    1.0
    """
    check_one_of(on_error, ("fail", "skip"), "on_error")
    check_target(target, target_npy)
    check_count(batch_rows, "batch_rows")
    check_count(threads, "threads")
    options = ReadOptions(
        paths=as_paths(paths), target=target, target_npy=target_npy, on_error=on_error,
        drop_null_target=drop_null_target, batch_rows=batch_rows, progress=progress,
    )  # fmt: skip
    with using_threads(threads), collect_messages() as tell:
        return evaluate_files(opened(model), options, tell).evaluation
