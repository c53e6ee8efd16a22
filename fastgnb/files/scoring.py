"""`predict` and `evaluate`: a model on the rows of files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._system import thread_limits
from ..evaluation.cells import check_thresholds
from ..evaluation.evaluation import Evaluation
from .arguments import (
    Path,
    as_names,
    as_paths,
    check_count,
    check_ending,
    check_one_of,
    check_target,
    file_options,
    opened,
)
from .jobs.bad_rows import RowCounts
from .jobs.file_scorer import Answers
from .jobs.messages import collect_messages
from .jobs.options import EvaluateOptions, ReadOptions
from .jobs.progress import Progress
from .jobs.score_files import evaluate_files
from .jobs.score_folder import predict_into
from .tables.csv_dialect import CsvDialect

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
    workers: int | None = None,
    where: str | None = None,
    file_format: str | None = None,
    csv: CsvDialect | dict[str, Any] | None = None,
    output_format: str | None = None,
    batch_rows: int | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> RowCounts:
    """Score the rows of files into a file, or each file into one in a folder.

    An output file appears whole or not at all.

    Parameters
    ----------
    model : estimator or path
        A fitted estimator, or a model file.
    paths : path or iterable of path
        Files and folders of rows; see `fit`.
        Columns are matched by name; those of .npy are in the order of the model.
    output : path
        Parquet, CSV, Arrow IPC or .npy file to write, by ending; CSV is compressed where the
        ending says so, as in ``.csv.gz``. It has the kept columns and a column ``prediction``. Or a
        folder, which is there or ends in a slash: each input gets a file of its name and kind in
        it, and ``_manifest.json`` says what each was made from. A later call skips files whose
        input, model and options are the same.
    proba : bool, default=False
        Add a column ``proba_<class>`` for each class.
    evidence : bool, default=False
        Add log p(x) as a column ``log_evidence``.
    keep : str or iterable of str, default=()
        Input columns to copy, those of CSV as text.
    on_error : {"fail", "null", "skip"}, default="fail"
        What happens to rows with values that the model cannot take: raise, write nulls for them,
        or leave them out.
    workers : int, default=None
        Processes that score files into a folder, each with its share of the cores. A script that
        is run has to call `predict` under ``if __name__ == "__main__"``.
    where, file_format, csv : str, str and CsvDialect, default=None
        Which rows are read, and how files are written; see `fit`.
    output_format : {"csv", "parquet", "arrow", "npy"}, default=None
        Format of the output, where the ending of its name does not tell.
    batch_rows, threads : int, default=None
        Most rows in memory, and most threads; see `fit`.
    progress : bool or callable, default=False
        Whether to show a bar, or what to call after each batch; see `fit`.

    Returns
    -------
    RowCounts
        How many rows were written, and how many were not scored; in a folder, by this call and
        by those before it.

    Raises
    ------
    SourceError
        If the files cannot be used. The message names file, column and row.
    ModelFileError
        If the model file is not valid.
    OSError
        If a file cannot be read or written, or a worker was killed.

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
    how = file_options(file_format, csv, where, output_format)
    check_ending(output, output_format)
    check_one_of(on_error, ("fail", "null", "skip"), "on_error")
    check_count(batch_rows, "batch_rows")
    check_count(threads, "threads")
    check_count(workers, "workers")
    options = ReadOptions(
        paths=as_paths(paths), on_error=on_error, batch_rows=batch_rows, progress=progress,
        files=how,
    )  # fmt: skip
    answers = Answers(proba, evidence, as_names(keep, "keep"))
    with thread_limits.threads(threads), collect_messages() as tell:
        done = predict_into(opened(model), output, options, tell, answers, workers)
    return done.counts


def evaluate(
    model: Any,
    paths: Path | Iterable[Path],
    *,
    target: str | None = None, target_npy: Path | None = None, weight: str | None = None,
    thresholds: Iterable[float] | None = None, drop_null_target: bool = False,
    on_error: str = "fail", where: str | None = None,
    file_format: str | None = None, csv: CsvDialect | dict[str, Any] | None = None,
    batch_rows: int | None = None, threads: int | None = None,
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
    weight : str, default=None
        Column of row weights. None: 1 each, also if the model learned from weighted rows.
    thresholds : iterable of float, default=None
        Cut-offs of the probability at which rates are counted exactly, besides 0.01, 0.02, ...,
        0.99.
    drop_null_target : bool, default=False
        Leave out rows without a label. They are an error otherwise.
    on_error : {"fail", "skip"}, default="fail"
        What happens to rows with values that the model cannot take.
    where, file_format, csv : str, str and CsvDialect, default=None
        Which rows are read, and how files are written; see `fit`.
    batch_rows, threads : int, default=None
        Most rows in memory, and most threads; see `fit`.
    progress : bool or callable, default=False
        Whether to show a bar, or what to call after each batch; see `fit`.

    Returns
    -------
    Evaluation
        Accuracy, confusion matrix, log loss, Brier score, and all rates, curves, areas and
        calibrations.

    Raises
    ------
    SourceError
        If the files cannot be used, or the model knows none of their labels.
    ModelFileError
        If the model file is not valid.
    ValueError
        If arguments are out of range.

    Warns
    -----
    UserWarning
        For rows with labels that the model does not know, which count as wrong.

    See Also
    --------
    predict : Score files into a file.
    fastgnb.evaluate : Evaluate a model on arrays and data frames.

    Notes
    -----
    Rows are read once, in memory that does not grow with them. Up to 2^21 log odds are kept, such
    as a million rows of two classes, and curves and areas are then exact. Beyond that they go
    into histograms, and areas are bounds.

    Examples
    --------
    >>> from pathlib import Path
    >>> from fastgnb import files
    >>> _ = Path("rows.csv").write_text("x,y\\n1,a\\n2,a\\n5,b\\n6,b\\n")
    >>> model = files.fit("rows.csv", target="y")
    >>> found = files.evaluate(model, "rows.csv", target="y", thresholds=[0.125])
    >>> found.accuracy
    1.0
    >>> found.rates(0.125).tpr.value
    1.0
    """
    check_one_of(on_error, ("fail", "skip"), "on_error")
    check_target(target, target_npy)
    check_count(batch_rows, "batch_rows")
    check_count(threads, "threads")
    options = EvaluateOptions(
        paths=as_paths(paths), target=target, target_npy=target_npy, weight=weight,
        thresholds=None if thresholds is None else check_thresholds(thresholds).tolist(),
        on_error=on_error, drop_null_target=drop_null_target, batch_rows=batch_rows,
        progress=progress, files=file_options(file_format, csv, where),
    )  # fmt: skip
    with thread_limits.threads(threads), collect_messages() as tell:
        return evaluate_files(opened(model), options, tell).evaluation
